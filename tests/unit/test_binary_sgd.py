"""Straight-through gradients against sums written out; training, seeds, refusals."""

import math
import sys

import numpy as np
import pytest

from wfmlib import patterns
from wfmlib.landscape.overlap import match_layers, overlap
from wfmlib.learning.descent.binary_sgd import Descent, binary_sgd
from wfmlib.networks.binary_mlp import BinaryMLP

SIZES = pytest.mark.parametrize(
    "sizes", [(9, 1), (15, 7, 1), (12, 6, 8, 1), (15, 7, 5, 4), (12, 6, 6, 6, 3)], ids=str
)


def make(sizes, P=40, gamma=1.3, seed=0):
    """Return a descent in its first state, patterns in float32 and labels."""
    xi, sigma = patterns.random(P, sizes[0], rng=seed)
    if sizes[-1] > 1:
        sigma = np.random.default_rng(seed).integers(sizes[-1], size=P).astype(np.int8)
    descent = Descent(sizes, gamma, None, np.random.default_rng(seed + 1))
    return descent, xi.astype(np.float32), sigma


def plain_loss(h, label, gamma):
    """Return minus the log of the label's probability, of preactivations h of the outputs."""
    if len(h) == 1:
        return math.log1p(math.exp(-2.0 * gamma * label * h[0]))
    return math.log(sum(math.exp(gamma * (one - h[label])) for one in h))


def plain_gradients(w, x, label, gamma):
    """Return the gradient of one pattern, layer by layer, and the preactivations, in floats."""
    seen, fields = [[float(one) for one in x]], []
    for layer in w:
        if fields:
            seen.append([float((h > 0) - (h < 0)) for h in fields[-1]])
        root = math.sqrt(len(layer[0]))
        signs = [[1.0 if one >= 0 else -1.0 for one in unit] for unit in layer]
        fields.append(
            [sum(b * a for b, a in zip(unit, seen[-1], strict=True)) / root for unit in signs]
        )
    top, step = fields[-1], 1e-6
    delta = []  # of the loss with respect to the last preactivations: finite differences
    for c in range(len(top)):
        up, down = list(top), list(top)
        up[c] += step
        down[c] -= step
        rise = plain_loss(up, label, gamma) - plain_loss(down, label, gamma)
        delta.append(rise / (2 * step))
    found = []
    for layer in reversed(range(len(w))):
        root = math.sqrt(len(w[layer][0]))
        found.append([[d * a / root for a in seen[layer]] for d in delta])
        if layer:
            below = []
            for j, h in enumerate(fields[layer - 1]):
                pull = sum(
                    d * (1.0 if unit[j] >= 0 else -1.0) / root
                    for d, unit in zip(delta, w[layer], strict=True)
                )
                below.append(pull if abs(h) <= 1.0 else 0.0)
            delta = below
    return found[::-1], fields


@SIZES
def test_gradients_written_out(sizes):
    descent, a, sigma = make(sizes)
    found = descent.gradients(a, sigma)
    latent = [w.tolist() for w in descent.latent]
    plain = [plain_gradients(latent, x, int(s), 1.3) for x, s in zip(a, sigma, strict=True)]
    for layer, gradient in enumerate(found):
        expected = np.mean([one[layer] for one, _ in plain], axis=0)
        size = np.abs(expected).max()
        assert size > 1e-3
        # preactivations are in single precision: 6e-8; the grid 1e-10, finite differences 1e-10
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=3e-7 * size)
    hidden = np.abs([h for _, fields in plain for layer in fields[:-1] for h in layer])
    if len(sizes) > 2:
        assert np.any(hidden > 1)  # the window cuts
        assert np.any(hidden <= 1)


@SIZES
def test_forward_is_that_of_the_network(sizes):
    descent, a, sigma = make(sizes)
    net = BinaryMLP([b.astype(int) for b in descent.binary])
    exact = net.preactivations(a)
    for h, integers, w in zip(descent.forward(a)[1], exact, net.w, strict=True):
        root = np.float32(math.sqrt(w.shape[1]))
        np.testing.assert_array_equal(h, integers.astype(np.float32) / root)
    found = descent.measure(a, sigma)
    assert found["errors"] == net.errors(a, sigma) > 0
    h = exact[-1] / math.sqrt(net.w[-1].shape[1])
    loss = np.mean([plain_loss(one, int(s), 1.3) for one, s in zip(h, sigma, strict=True)])
    assert found["loss"] == pytest.approx(loss, rel=1e-5)


def test_measured_in_pieces(monkeypatch):
    descent, a, sigma = make((15, 7, 5, 4))
    whole = descent.measure(a, sigma)
    monkeypatch.setattr(sys.modules[Descent.__module__], "ROWS", 7)
    found = descent.measure(a, sigma)
    assert found["errors"] == whole["errors"]
    assert found["loss"] == pytest.approx(whole["loss"], rel=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.7])
def test_steps(momentum):
    descent, a, sigma = make((15, 7, 1))
    latent = [w.astype(float) for w in descent.latent]
    velocity = [np.zeros_like(w) for w in latent]
    clipped = 0
    for _ in range(5):
        for w, v, gradient in zip(latent, velocity, descent.gradients(a, sigma), strict=True):
            v *= momentum
            v += gradient
            w -= 10.0 * v
            clipped += np.count_nonzero(np.abs(w) > 1)
            np.clip(w, -1, 1, out=w)
        descent.step(a, sigma, 10.0, momentum)
        for w, b, expected in zip(descent.latent, descent.binary, latent, strict=True):
            np.testing.assert_allclose(w, expected, rtol=0, atol=1e-5)
            np.testing.assert_array_equal(b, np.where(w >= 0, 1, -1))
    assert clipped


def test_a_change_of_input_signs_changes_nothing():
    """Flip inputs and the weights that see them: the same bits, step by step."""
    plain, a, sigma = make((15, 7, 5, 1))
    other, *_ = make((15, 7, 5, 1))
    flips = np.random.default_rng(5).choice(np.float32([-1, 1]), 15)
    other.latent[0] *= flips
    other.binary[0] *= flips
    for _ in range(10):
        plain.step(a, sigma, 1.0, 0.5)
        other.step(a * flips, sigma, 1.0, 0.5)
    np.testing.assert_array_equal(other.latent[0], plain.latent[0] * flips)
    np.testing.assert_array_equal(other.latent[1], plain.latent[1])


def test_first_weights():
    descent = Descent((99, 51, 1), 1.0, None, np.random.default_rng(0))
    for w, b in zip(descent.latent, descent.binary, strict=True):
        edge = w.shape[1] ** -0.5
        assert 0.9 * edge < np.abs(w).max() <= edge
        assert np.all(np.sign(w) == b)
    assert abs(descent.binary[0].mean()) < 5 / math.sqrt(99 * 51)
    wide = Descent((99, 51, 1), 1.0, 0.5, np.random.default_rng(0))
    np.testing.assert_allclose(wide.latent[0], 0.5 * math.sqrt(99) * descent.latent[0], rtol=1e-6)


def test_two_classes_are_learned():
    xi, sigma, _ = patterns.teacher_student(200, 51, rng=3)
    found = binary_sgd(xi, sigma, units=(21, 11), eta=1.0, batch=20, epochs=60, rng=2)
    assert found.converged
    assert [w.shape for w in found.weights] == [(21, 51), (11, 21), (1, 11)]
    assert all(w.dtype == np.int64 and np.all(np.abs(w) == 1) for w in found.weights)
    assert found.errors == 0 == BinaryMLP(found.weights).errors(xi, sigma)
    assert set(found.history) == {"errors", "loss"}
    assert len(found.history["errors"]) == len(found.history["loss"]) == found.epochs == 60
    assert found.history["errors"][-1] == 0
    assert found.history["errors"][0] > 20
    assert found.history["loss"][-1] < 0.1 < found.history["loss"][0]
    # another start ends elsewhere, whatever the names of the units
    other = binary_sgd(xi, sigma, units=(21, 11), eta=1.0, batch=20, epochs=60, rng=3)
    assert other.fewest_errors == 0
    matched = BinaryMLP(match_layers(found.weights, other.weights))
    xi_new, _ = patterns.random(100, 51, rng=8)
    np.testing.assert_array_equal(matched.output(xi_new), BinaryMLP(other.weights).output(xi_new))
    plain = overlap(found.weights, other.weights)
    assert plain < overlap(found.weights, other.weights, match=True) < 0.9


def test_four_classes_are_learned():
    rng = np.random.default_rng(4)
    centres = rng.choice([-1, 1], (4, 51))
    labels = rng.integers(4, size=120)
    xi = centres[labels] * np.where(rng.random((120, 51)) < 0.2, -1, 1)
    found = binary_sgd(xi, labels, units=[21], classes=4, eta=1.0, batch=20, epochs=40, rng=0)
    assert found.errors == 0
    assert found.converged
    assert [w.shape for w in found.weights] == [(21, 51), (4, 21)]


def test_the_last_epoch_counts():
    """Too hard a task: the errors are those of the last weights, the fewest are kept apart."""
    xi, sigma = patterns.random(300, 15, rng=1)
    found = binary_sgd(xi, sigma, units=5, eta=1.0, epochs=30, rng=0)
    assert not found.converged
    assert found.errors == found.history["errors"][-1]
    assert found.errors == BinaryMLP(found.weights).errors(xi, sigma) > 0
    assert found.fewest_errors == found.history["errors"].min() < found.errors


def test_a_seed_decides_everything():
    xi, sigma = patterns.random(60, 21, rng=1)
    options = {"units": (9, 5), "epochs": 4, "momentum": 0.5}
    one = binary_sgd(xi, sigma, rng=7, **options)
    for seed in (7, np.random.SeedSequence(7), np.random.default_rng(7)):
        again = binary_sgd(xi, sigma, rng=seed, **options)
        for w, same in zip(one.weights, again.weights, strict=True):
            np.testing.assert_array_equal(w, same)
        for name, values in one.history.items():
            np.testing.assert_array_equal(again.history[name], values)
    other = binary_sgd(xi, sigma, rng=8, **options)
    assert not np.array_equal(other.weights[0], one.weights[0])


def test_progress_changes_nothing(capfd):
    xi, sigma = patterns.random(60, 21, rng=1)
    quiet = binary_sgd(xi, sigma, units=5, epochs=3, rng=0)
    shown = binary_sgd(xi, sigma, units=5, epochs=3, progress=True, rng=0)
    np.testing.assert_array_equal(shown.weights[0], quiet.weights[0])
    assert capfd.readouterr().out == ""


def test_refusals():
    xi, sigma = patterns.random(6, 9, rng=1)
    for error, match, options in [
        (ValueError, "xi must hold -1", {"xi": 0 * xi}),
        (ValueError, "sigma must hold -1", {"sigma": np.arange(6)}),
        (ValueError, "sigma must have one label", {"sigma": sigma[:3]}),
        (ValueError, "sigma must hold labels from 0 to 2, got -1", {"classes": 3}),
        (ValueError, "classes must be from 2 to 127", {"classes": 1}),
        (TypeError, "classes must be an integer", {"classes": 3.0}),
        (TypeError, "units must be a number of hidden units", {"units": ()}),
        (TypeError, "units must be a number of hidden units", {"units": 3.0}),
        (TypeError, "units must be an integer", {"units": (3, 3.0)}),
        (TypeError, "units must be", {"units": True}),
        (ValueError, "units must be >= 1", {"units": (3, 0)}),
        (ValueError, "eta must be", {"eta": 0.0}),
        (ValueError, "eta must be", {"eta": 1e7}),
        (ValueError, "momentum must be", {"momentum": 1.0}),
        (ValueError, "momentum must be", {"momentum": -0.1}),
        (ValueError, "gamma must be", {"gamma": math.nan}),
        (ValueError, "spread must be", {"spread": 0.0}),
        (ValueError, "spread must be", {"spread": 1.5}),
        (ValueError, "batch must be", {"batch": 0}),
        (ValueError, "epochs must be", {"epochs": 0}),
        (TypeError, "epochs must be", {"epochs": 1.0}),
        (TypeError, "rng must be", {"rng": "0"}),
        (ValueError, "progress must be", {"progress": 1.5}),
    ]:
        arguments = {"xi": xi, "sigma": sigma, "units": (3,)} | options
        with pytest.raises(error, match=match):
            binary_sgd(**arguments)
