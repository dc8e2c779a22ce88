"""What the experiments with replicated annealing measure on the networks that they find."""

import numpy as np
import pytest

from wfmlib import Binary, Committee, ReLU, Sign, TreeCommittee, patterns
from wfmlib.book.experiments.replicated_annealing import histogram, noisy_errors
from wfmlib.book.experiments.replicated_annealing_connected import EXPERIMENT


@pytest.mark.parametrize("wired", [TreeCommittee, Committee])
@pytest.mark.parametrize(("activation", "units"), [(Sign(), 5), (ReLU(), 4)])
def test_noisy_errors_are_those_of_the_networks(activation, units, wired):
    device = wired(units, activation, Binary())
    size, nets, noise = 7, 3, (0.0, 0.2, 0.5)
    N = units * size if device.tree else size
    rng = np.random.default_rng(1)
    weights = rng.choice([-1, 1], size=(nets, units, size)).astype(np.int8)
    xi, sigma = patterns.random(20, N, rng=1)
    settings = {"noise": noise, "perturbations": 2}
    drawn = np.random.default_rng(2)
    found = noisy_errors(device, weights, xi, sigma, settings, np.random.default_rng(2))
    expected = np.zeros((len(noise), nets))
    for _ in range(2):
        rank = drawn.permuted(np.broadcast_to(np.arange(N, dtype=np.int16), xi.shape), axis=1)
        for i, share in enumerate(noise):
            noisy = np.where(rank < round(share * N), -xi, xi)
            assert np.all(np.sum(noisy != xi, axis=1) == round(share * N))
            expected[i] += [device.network(w).errors(noisy, sigma) for w in weights]
    assert np.array_equal(found, expected / 40)
    assert len(np.unique(found)) > 3


def test_histogram_counts_everything():
    centres = np.array([-1.0, 0.0, 1.0])
    shares = histogram(np.array([-9.0, -0.4, 0.4, 0.6, 9.0]), centres)
    assert shares == pytest.approx([0.2, 0.4, 0.4])


def test_connected_machines_have_the_trees_size():
    settings = EXPERIMENT.scale("paper").settings
    assert set(settings["units"]) == set(settings["inputs"]) == {"sign", "relu"}
    for name, units in settings["units"].items():
        odd = name == "sign"  # no unit is undecided, and neither is the majority
        assert units % 2 == odd
        assert settings["inputs"][name] % 2 == odd
