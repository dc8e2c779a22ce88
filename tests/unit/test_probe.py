"""What a probe finds is what is known of models: exactly, by counting, or by messages."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import linalg, special

from wfmlib import landscape, learning, patterns, probe
from wfmlib.models import Committee, ParityMachine, Perceptron, Spherical, TreeCommittee
from wfmlib.numerics.gaussian import H
from wfmlib.numerics.solvers import NotConverged
from wfmlib.probe import calibration

SPHERE = Perceptron(Spherical())


def taught(device, N, P, rng=1):
    """Return a teacher's network with its patterns and labels."""
    drawn = np.random.default_rng(rng).standard_normal(device.shape(N))
    net = device.network(np.sign(drawn).astype(int) if device.weights.discrete else drawn)
    xi, _ = patterns.random(P, N, rng=rng)
    return net, xi, net.output(xi)


def bowl(curvatures, power=2, **others):
    """Return the model of a loss ``sum a w^power / power`` around 0."""
    a = np.asarray(curvatures, float)
    return probe.Model(
        np.zeros(len(a)),
        error=lambda w: 0.0,
        loss=lambda w: float(a @ w**power) / power,
        gradient=lambda w: a * w ** (power - 1),
        examples=100_000,
        **others,
    )


# --- a network with rectifiers, of which units and layers can be rescaled -----------------------

SHAPES = [(5, 4), (5,), (3, 5), (3,)]
CUTS = np.cumsum([math.prod(one) for one in SHAPES])[:-1]
RNG = np.random.default_rng(5)
X, START = RNG.standard_normal((30, 4)), RNG.standard_normal(43)


def parts(w):
    return [one.reshape(shape) for one, shape in zip(np.split(w, CUTS), SHAPES, strict=True)]


def outputs(w):
    A, a, B, b = parts(w)
    return np.maximum(X @ A.T + a, 0.0) @ B.T + b


Y = outputs(START).argmax(axis=1)


def gradient(w):
    A, a, B, _ = parts(w)
    hidden = np.maximum(X @ A.T + a, 0.0)
    p = special.softmax(outputs(w), axis=1)
    p[np.arange(30), Y] -= 1.0
    back = (p @ B) * (hidden > 0.0)
    return (
        np.concatenate([(back.T @ X).ravel(), back.sum(0), (p.T @ hidden).ravel(), p.sum(0)]) / 30
    )


def rectifiers(w=START, **others):
    given = {
        "error": lambda w: np.mean(outputs(w).argmax(axis=1) != Y),
        "loss": lambda w: -np.mean(special.log_softmax(outputs(w), axis=1)[np.arange(30), Y]),
        "gradient": gradient,
        "layers": SHAPES,
        "examples": 30,
        "classes": 3,
    }
    return probe.Model(w, **given | others)


def rescaled(w, factors):
    """Return the weights of the same function: units times factors, what reads them divided."""
    A, a, B, b = parts(w)
    A, a, B = A * factors[:, None], a * factors, B / factors
    return np.concatenate([A.ravel(), a, B.ravel(), b])


WHOLE = np.full(5, 8.0)  # powers of two: nothing is rounded
EACH = np.array([8.0, 0.5, 2.0, 0.25, 16.0])


@pytest.mark.parametrize("factors", [WHOLE, EACH], ids=["layer", "units"])
def test_rescaled_rectifiers_have_the_same_energy_and_curvature(factors):
    a, b = rectifiers(), rectifiers(rescaled(START, factors))
    assert b.loss(b.weights) == pytest.approx(a.loss(a.weights), rel=1e-12)
    for per in ("weight", "unit", "layer"):
        same = per == "weight" or factors is WHOLE
        energies = [probe.local_energy(one, noise=[0.3, 1.0], per=per, rng=1) for one in (a, b)]
        equal = np.allclose(energies[0].error_rate, energies[1].error_rate, atol=1e-12)
        assert equal == same
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", probe.ModelWarning)
            bent = [probe.curvature(one, per=per, rng=1).value for one in (a, b)]
        assert np.allclose(bent[0], bent[1], rtol=1e-4) == same
        assert float(energies[0].error_rate[1]) > 0.1  # or it would hold of anything


def test_rescaled_layers_have_the_same_volume():
    options = {"distance": 0.05, "rng": 1, "tolerance": 1.0, "runs": 2, "particles": 16}
    for method in ("rays", "splitting", "annealing"):
        a, b = (
            probe.local_volume(rectifiers(w), method=method, **options)
            for w in (START, rescaled(START, WHOLE))
        )
        assert float(a.log_share[0]) == pytest.approx(float(b.log_share[0]), abs=1e-9)
        assert float(a.log_share[0]) < -0.5


def test_methods_agree_on_rectifiers():
    """Where one direction in ten is right all of them count the same."""
    model = rectifiers()
    options = {"distance": 0.02, "tolerance": 0.1, "particles": 32}
    rays = probe.local_volume(model, method="rays", rng=1, **options)
    for method in ("importance", "splitting", "annealing"):
        other = probe.local_volume(model, method=method, rng=2, **options)
        gap = abs(float(rays.log_share[0] - other.log_share[0]))
        assert gap < 4.0 * math.hypot(float(rays.error[0]), float(other.error[0])) + 0.05


# --- volumes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rays", "importance", "splitting", "annealing"])
def test_volume_in_three_dimensions_is_an_arc(method):
    """Directions at a distance are a circle there: the share that is right is measured on it."""
    net, xi, sigma = taught(SPHERE, 3, 3)
    model, distance = probe.Model(net, xi, sigma), 0.3
    w = net.w / np.linalg.norm(net.w)
    one, other = linalg.null_space(w[None]).T
    angle = np.linspace(0.0, 2.0 * math.pi, 200_001)[1:, None]
    around = np.cos(angle) * one + np.sin(angle) * other
    places = (1.0 - 2.0 * distance) * w + 2.0 * math.sqrt(distance * (1.0 - distance)) * around
    share = np.mean(np.all((places @ xi.T) * sigma > 0.0, axis=1))
    assert 0.1 < share < 0.9
    found = probe.local_volume(model, distance=distance, method=method, rng=1, tolerance=0.1)
    exact = math.log(share)
    assert float(found.log_share[0]) == pytest.approx(
        exact, abs=0.02 + 4.0 * float(found.error[0])
    )
    assert float(found.local_entropy[0] - found.log_share[0] / 3) == pytest.approx(
        0.5 * math.log(4.0 * distance * (1.0 - distance))
    )


@pytest.mark.parametrize("flips", [2, 4, 7])
def test_binary_volume_is_a_count(flips):
    xi, sigma, teacher = patterns.teacher_student(15, 21, rng=2)
    found = learning.enumerate_solutions(Perceptron(), xi, sigma, keep=2**21).solutions
    count = np.count_nonzero(np.count_nonzero(found != teacher, axis=1) == flips)
    model = probe.Model(Perceptron().network(teacher), xi, sigma)
    for method in ("rays", "splitting"):
        around = probe.local_volume(
            model, distance=flips / 21, method=method, rng=1, tolerance=0.1
        )
        assert around.distance.values == [flips / 21]
        counted = 21 * float(around.local_entropy[0])
        assert counted == pytest.approx(math.log(count), abs=4.0 * float(around.error[0]))


def test_volume_of_200_weights_is_that_of_messages_where_rays_find_nothing():
    net, xi, sigma = taught(SPHERE, 200, 100)
    model, distance = probe.Model(net, xi, sigma), 0.1
    around = landscape.local_entropy(net, xi, sigma, rng=0)
    truth = 200 * landscape.excess_at(distance, around.distance, around.excess)[0]
    assert truth < -20.0
    found = probe.local_volume(model, distance=distance, rng=1)
    assert found.attrs["method"] == "annealing"
    assert float(found.log_share[0]) == pytest.approx(truth, abs=1.5)
    assert float(found.error[0]) < 1.0
    assert "200 weights" in found.attrs["calibration"]
    with pytest.raises(NotConverged, match="annealing"):
        probe.local_volume(model, distance=distance, method="rays", rng=1)


@pytest.mark.parametrize("device", [TreeCommittee, Committee])
def test_volume_of_committees_is_that_of_messages(device):
    net, xi, sigma = taught(device(3, weights=Spherical()), 45, 20)
    model = probe.Model(net, xi, sigma)
    moved = np.random.default_rng(1).standard_normal((4, net.w.size))
    one_by_one = [model.functions["error"](one) for one in moved]
    np.testing.assert_array_equal(model.many("error", moved), one_by_one)
    around = landscape.local_entropy(net, xi, sigma, rng=0)
    truth = landscape.excess_at(0.05, around.distance, around.excess)[0] * net.w.size
    found = probe.local_volume(model, distance=0.05, rng=1, runs=6)
    assert found.attrs["method"] == "splitting"
    assert float(found.log_share[0]) == pytest.approx(truth, abs=0.1 * abs(truth) + 0.5)


def test_volume_with_some_errors_is_larger():
    net, xi, sigma = taught(SPHERE, 30, 30)
    model = probe.Model(net, xi, sigma)
    options = {"distance": 0.1, "method": "splitting", "rng": 1, "tolerance": 0.1}
    found = [probe.local_volume(model, most=most, **options) for most in (0.0, 0.1, 1.0)]
    few = [float(one.log_share[0]) for one in found]
    assert few[0] < few[1] - 1.0
    assert few[2] == 0.0


# --- curvature, learning coefficient, energy, margins -------------------------------------------


def test_curvature_of_a_bowl_is_its_own():
    a = np.random.default_rng(1).uniform(0.0, 2.0, 60)
    found = probe.curvature(bowl(a), per="none", tolerance=1e-8, rng=1)
    top, trace = found.value.values
    assert top == pytest.approx(a.max(), rel=1e-6)
    assert trace == pytest.approx(a.sum(), rel=1e-6)  # a diagonal has one trace for all signs


def test_curvature_of_a_perceptron_is_that_of_the_whole_matrix():
    net, xi, sigma = taught(SPHERE, 40, 60)
    model = probe.Model(net, xi, sigma)
    s = net.stabilities(xi, sigma)
    bend = special.expit(s) * special.expit(-s) / (60 * 40)
    matrix = (xi * bend[:, None]).T @ xi
    for per, scale in (("none", np.ones(40)), ("weight", model.weights), ("unit", np.ones(40))):
        exact = matrix * np.outer(scale, scale)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", probe.ModelWarning)
            found = probe.curvature(model, per=per, probes=100, rng=1)
        assert float(found.value[0]) == pytest.approx(linalg.eigvalsh(exact)[-1], rel=1e-3)
        assert abs(float(found.value[1]) - np.trace(exact)) < 4.0 * float(found.error[1])


def test_curvature_that_does_not_converge_says_so():
    with pytest.raises(NotConverged, match="largest eigenvalue"):
        probe.curvature(
            bowl(np.linspace(1, 2, 500)), tolerance=1e-14, max_iterations=1, per="none"
        )


def test_curvature_of_a_noisy_gradient_is_refused():
    rng, steep = np.random.default_rng(1), bowl(np.ones(50))
    noisy = probe.Model(
        np.zeros(50),
        error=lambda w: 0.0,
        loss=steep.loss,
        gradient=lambda w: w + 1e-7 * rng.standard_normal(50),
    )
    with pytest.raises(NotConverged, match=r"residual|not within"):
        probe.curvature(noisy, per="none", rng=1)


@pytest.mark.parametrize(("power", "share"), [(2, 1 / 2), (4, 1 / 4)])
def test_learning_coefficient_of_a_power_is_its_inverse(power, share):
    model = bowl(np.ones(40), power)
    found = probe.learning_coefficient(model, localization=1e-3, draws=2000, rng=1)
    value, error = float(found.learning_coefficient), float(found.error)
    assert value == pytest.approx(40 * share, abs=5.0 * error + 0.1)
    assert error < 1.0
    assert 0.4 < float(found.acceptance) < 0.8


def test_learning_coefficient_of_a_flat_loss_is_lower():
    found = probe.learning_coefficient(bowl([1.0] * 10 + [0.0] * 30), rng=1)
    assert float(found.learning_coefficient) == pytest.approx(5.0, abs=0.7)


def test_chains_that_do_not_mix_say_so():
    model = bowl(np.geomspace(1e-6, 1.0, 20))
    with pytest.raises(NotConverged, match="mix"):
        probe.learning_coefficient(model, localization=0.0, draws=10, burn_in=10, rng=1)


def test_energy_of_a_perceptron_is_a_gaussian_tail():
    net, xi, sigma = taught(SPHERE, 500, 400)
    model, noise = probe.Model(net, xi, sigma), [0.2, 0.5, 1.0]
    found = probe.local_energy(model, noise=noise, directions=200, rng=1)
    s = (model.weights * xi).sum(axis=1) * sigma / math.sqrt(500)
    exact = [np.mean(H(s / one)) for one in noise]  # sum of (w xi)^2 / N is one
    assert np.all(np.abs(found.error_rate - exact) < 4.0 * found.error)
    assert np.all((found.low < exact) & (exact < found.high + 0.01))


def test_energy_per_unit_keeps_the_size_of_the_move():
    seen = []
    model = rectifiers(error=lambda w: seen.append(w) or 0.0)
    probe.local_energy(model, noise=0.1, directions=2, per="unit", rng=1)
    for moved in parts(seen[-1] - START):
        at = parts(START)[[one.shape for one in parts(START)].index(moved.shape)]
        if moved.ndim == 2:
            ratio = np.linalg.norm(moved, axis=1) / np.linalg.norm(at, axis=1)
            np.testing.assert_allclose(ratio, 0.1, rtol=1e-9)


def test_margins_are_stabilities_in_order():
    net, xi, sigma = taught(SPHERE, 50, 30)
    sigma = sigma * np.where(np.arange(30) < 3, -1, 1)
    found = probe.margins(probe.Model(net, xi, sigma))
    np.testing.assert_allclose(found.margin, np.sort(net.stabilities(xi, sigma)))
    assert float(found.wrong) == pytest.approx(0.1)
    assert float(found.low) < 0.1 < float(found.high)


# --- refusals and warnings ----------------------------------------------------------------------


def test_what_no_model_can_be_made_of_is_refused():
    zero = {"error": lambda w: 0.0}
    for weights, given, told in (
        ([[1.0]], zero, "weights must be in one row"),
        ([np.nan], zero, "weights must be finite"),
        ([1.0], {}, "needs error="),
        ([1.0, 2.0], zero | {"layers": [(3,)]}, "layers must hold 2"),
        ([1.0], {"error": 0.5}, "error must be a function"),
        ([1.0], {"error": lambda w: 2.0}, "share from 0 to 1"),
        ([1.0], zero | {"gradient": lambda w: np.ones(3)}, "gradient.* must have shape"),
        ([1.0], zero | {"loss": lambda w: np.inf}, "loss.* must be finite"),
        ([1.0], zero | {"examples": 0}, "examples"),
    ):
        with pytest.raises((TypeError, ValueError), match=told):
            probe.Model(weights, **given)
    net, xi, sigma = taught(SPHERE, 9, 5)
    with pytest.raises(TypeError, match="needs its patterns"):
        probe.Model(net)
    with pytest.raises(TypeError, match="bring"):
        probe.Model(net, xi, sigma, **zero)


def test_measures_name_what_a_model_lacks():
    model = probe.Model(np.ones(4), error=lambda w: 0.0)
    for measure in (probe.curvature, probe.learning_coefficient, probe.margins):
        with pytest.raises(TypeError, match=r"model has no (loss|margins)"):
            measure(model)
    for method, told in (("annealing", "no loss and no gradient"), ("importance", "no gradient")):
        with pytest.raises((TypeError, ValueError), match=told):
            probe.local_volume(model, distance=0.1, method=method)
    net, xi, sigma = taught(Perceptron(), 9, 5)
    with pytest.raises(ValueError, match="error_profile"):
        probe.local_energy(probe.Model(net, xi, sigma), noise=0.1)
    with pytest.raises(ValueError, match="last layer"):
        probe.local_volume(rectifiers(classes=2), distance=0.1, method="annealing")
    with pytest.raises(ValueError, match="three or more weights"):
        probe.local_volume(probe.Model([1.0, 1.0], error=lambda w: 0.0), distance=0.1)


def test_models_that_say_little_are_told_so():
    with pytest.warns(probe.ModelWarning, match="wrong on 0.5 .* as a guess"):
        probe.Model(np.ones(3), error=lambda w: 0.5)
    with pytest.warns(probe.ModelWarning, match="no error"):
        probe.Model(np.ones(3), loss=lambda w: 0.0)
    steep = probe.Model(
        np.ones(30), error=lambda w: 0.0, loss=lambda w: w @ w / 2, gradient=lambda w: 100.0 * w
    )
    with pytest.warns(probe.ModelWarning, match="not at a minimum: the gradient's norm is 548"):
        probe.curvature(steep, rng=1)


def test_the_same_seed_gives_the_same_numbers():
    net, xi, sigma = taught(SPHERE, 20, 10)
    model = probe.Model(net, xi, sigma)
    one, other = (probe.local_volume(model, distance=0.1, rng=3, tolerance=0.1) for _ in range(2))
    assert one.drop_vars("cost").equals(other.drop_vars("cost"))
    assert int(one.cost[0]) == int(other.cost[0]) > 0


def test_parity_machines_are_known_by_their_errors():
    net, xi, sigma = taught(ParityMachine(3, weights=Spherical()), 27, 5)
    found = probe.local_volume(probe.Model(net, xi, sigma), distance=0.02, rng=1, tolerance=0.1)
    assert -6.0 < float(found.log_share[0]) < 0.0


# --- calibration --------------------------------------------------------------------------------


def test_the_table_holds_every_measure_and_what_is_far_off():
    lines = calibration.table()
    assert {one["measure"] for one in lines} == {
        "curvature",
        "learning_coefficient",
        "local_energy",
        "local_volume",
    }
    for one in lines:
        value, truth, error = (float(one[name]) for name in ("value", "truth", "error"))
        if one["method"] == "annealing":  # and its size: 3 nats, or one in a hundred
            assert abs(value - truth) < max(3.0, 0.01 * abs(truth)) + error
        if one["method"] == "rays" and int(one["weights"]) >= 200:
            assert value == -math.inf


def test_the_table_is_made_as_it_was():
    """The lines that are quick, anew."""
    stored = [one for one in calibration.table() if one["weights"] == "50"]
    made = calibration._lines(50, 2021)
    for _, old, new in zip(range(4), stored, made, strict=False):
        assert (old["measure"], old["ruler"]) == (new["measure"], new["ruler"])
        assert float(old["truth"]) == pytest.approx(new["truth"], rel=1e-3)
        assert float(old["value"]) == pytest.approx(new["value"], abs=0.02 * abs(new["truth"]))


def test_the_nearest_line_is_quoted():
    line = calibration.nearest("local_volume", "annealing", 300, False, 70.0)
    assert "200 weights, 200 examples, distance 0.2" in line
    assert calibration.nearest("margins", "", 10, False, 1.0).startswith("none")


# --- torch --------------------------------------------------------------------------------------


def test_a_module_is_the_network_of_its_numbers():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(5, 3)
    )
    with torch.no_grad():
        torch.nn.utils.vector_to_parameters(
            torch.tensor(START, dtype=torch.float32), module.parameters()
        )
    before = torch.nn.utils.parameters_to_vector(module.parameters()).clone()
    inputs, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(Y)
    model = probe.Model(module, (inputs, labels))
    own = rectifiers(np.float32(START).astype(float))
    assert model.layers == SHAPES
    for name in ("error", "loss", "gradient"):
        w = own.weights + 0.1
        np.testing.assert_allclose(getattr(model, name)(w), getattr(own, name)(w), atol=1e-6)
    a, b = (probe.local_energy(one, noise=0.5, rng=1) for one in (model, own))
    np.testing.assert_allclose(a.error_rate, b.error_rate, atol=1e-9)
    assert float(probe.margins(model).wrong) == float(model.error(model.weights))
    assert torch.equal(before, torch.nn.utils.parameters_to_vector(module.parameters()))
    assert module.training
