"""Rules that train networks on pictures, against their formulas; what is said without torch."""

import sys

import numpy as np
import pytest

from wfmlib.book import experiments, runs
from wfmlib.book.experiments import picture_optimisers as pictures
from wfmlib.book.experiments import picture_rules as rules

SETTINGS = experiments.get("picture-optimisers").scale("paper").settings


def test_without_torch_it_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    task = runs.tasks(experiments.get("picture-optimisers"), "quick")[0]
    outcome = runs.work(task)
    assert outcome.kind == "ImportError"
    assert "needs the extra torch: pip install 'wfmlib[torch]'" in outcome.message


def test_every_rule_has_its_share_of_gradients():
    data = experiments.load("picture-optimisers").isel(data=0, sample=0)
    used = dict(zip(data.rule.values, data.used.values, strict=True))
    steps = dict(zip(data.rule.values, data.steps.values, strict=True))
    whole, third = SETTINGS["gradients"], SETTINGS["gradients"] // 3
    assert steps["SGD"] == steps["SWA"] == 2 * steps["SAM"] == 2 * steps["ASAM"] == whole
    assert steps["Entropy-SGD"] * SETTINGS["inner"] == whole
    assert {used[rule] for rule in rules.RULES[:5]} == {whole}
    replicas = {"1 replica": 1, "replicated SGD": 3, "10 replicas": 10, "20 replicas": 20}
    assert [used[rule] for rule in replicas] == [y * third for y in replicas.values()]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="picture-optimisers needs the extra torch")


def play(torch, rule):
    """Return where a rule ends on the loss |w|^2 (1, 2, ...) / 2, and the points it asked for."""
    points, slopes = [next(rule)[0]], None
    try:
        while True:
            slopes = points[-1] * torch.arange(1.0, points[-1].shape[1] + 1)
            points.append(rule.send(slopes)[0])
    except StopIteration as end:
        return end.value, points


def test_outputs_are_those_of_convolutions(torch):
    f, rng = torch.nn.functional, np.random.default_rng(1)
    for side in (7, 8):
        images = torch.from_numpy(rng.standard_normal((5, side, side), dtype=np.float32))
        w = rules.start(torch.Generator().manual_seed(1))
        w = torch.stack([w, w + 0.1])
        found = rules.answers(w, rules.patches(images))
        for row, one in zip(w, found, strict=True):
            sizes = [int(np.prod(shape)) for shape in rules.shapes()]
            A, a, B, b, C, c, D, d = torch.split(row, sizes)
            h = f.conv2d(images[:, None], A.view(8, 1, 3, 3), a, stride=2, padding=1).relu()
            h = f.conv2d(h, B.view(16, 8, 3, 3), b, stride=2, padding=1).relu()
            h = (h.permute(0, 2, 3, 1).flatten(1) @ C.view(64, 64).T + c).relu()
            torch.testing.assert_close(one, h @ D.view(10, 64).T + d, rtol=1e-4, atol=1e-4)


def test_sgd_against_its_formula(torch):
    rate, w = torch.tensor([[0.1], [0.2]]), torch.ones(2, 3)
    batches = rules.Batches(20, 5, 2, (1,))
    (found, spread), _ = play(torch, rules.sgd(SETTINGS, rate, w, batches, 8))
    for row, eta in zip(found.numpy(), (0.1, 0.2), strict=True):
        one, u = np.ones(3), 0.0
        for k in range(8):
            u = 0.9 * u + one * np.arange(1, 4)
            one = one - eta * max(min(1 - 0.99 * (k / 8 - 0.5) / 0.4, 1), 0.01) * u
        np.testing.assert_allclose(row, one, rtol=1e-5)
    assert not spread.any()


def test_one_replica_is_sgd_and_many_agree_on_equal_gradients(torch):
    rate, w = torch.tensor([[0.1]]), torch.ones(1, 3)
    batches = rules.Batches(20, 5, 1, (1,))
    (alone, _), _ = play(torch, rules.sgd(SETTINGS, rate, w, batches, 8))
    for number in (1, 4):
        rule = rules.replicated(SETTINGS, rate, w, batches, 8, number)
        (centre, spread), _ = play(torch, rule)
        torch.testing.assert_close(centre, alone)
        assert spread.item() < 1e-6


def test_where_sam_and_asam_look(torch):
    w, batches = torch.tensor([[3.0, -2.0]]), rules.Batches(20, 5, 1, (1,))
    for adaptive, rho in ((False, 0.05), (True, 0.5)):
        rule = rules.sam(SETTINGS, torch.tensor([[0.1]]), w, batches, 1, adaptive)
        _, points = play(torch, rule)
        g = np.array([3.0, -4.0])
        T = np.array([3.01, 2.01]) if adaptive else np.ones(2)
        away = rho * T**2 * g / np.linalg.norm(T * g)
        np.testing.assert_allclose((points[1] - w)[0].numpy(), away, rtol=1e-4)


def test_swa_is_the_mean_of_the_second_half(torch):
    w, batches = torch.ones(1, 2), rules.Batches(20, 5, 1, (1,))
    rule = rules.swa(SETTINGS, torch.tensor([[0.1]]), w, batches, 6)
    (mean, _), points = play(torch, rule)
    u, at, late = np.zeros(2), np.ones(2), []
    for k in range(6):
        np.testing.assert_allclose(points[k][0].numpy(), at, rtol=1e-5)
        u = 0.9 * u + at * np.array([1.0, 2.0])
        at = at - 0.1 * (0.5 if k >= 3 else 1.0) * u
        late += [at] if k >= 3 else []
    np.testing.assert_allclose(mean[0].numpy(), np.mean(late, axis=0), rtol=1e-4)


def test_entropy_sgd_moves_to_the_mean_of_its_walk(torch):
    settings = SETTINGS | {"heat": 0.0, "gamma": (1.0, 1.0)}
    w, batches = torch.ones(1, 2), rules.Batches(20, 5, 1, (1,))
    rule = rules.entropy_sgd(settings, torch.tensor([[0.1]]), w, batches, 1, torch.Generator())
    (found, _), _ = play(torch, rule)
    x = mean = np.ones(2)
    for _ in range(SETTINGS["inner"]):
        x = x - 0.1 * (x * np.array([1.0, 2.0]) + (x - 1))
        mean = 0.75 * mean + 0.25 * x
    np.testing.assert_allclose(found[0].numpy(), mean, rtol=1e-5)


def test_batches_go_through_all_pictures_and_replicas_have_their_own(torch):
    batches = rules.Batches(20, 5, 2, (1, 2))
    epoch = np.concatenate([batches(k).numpy() for k in range(4)], axis=1)
    assert (np.sort(epoch, axis=1) == np.arange(20)).all()
    both = batches(1, 3).numpy().reshape(2, 3, 5)
    assert (both[0] == both[1]).all()
    assert (both[0, 0] == batches(1).numpy()[0]).all()
    assert (both[0, 0] != both[0, 1]).any()


def test_a_network_with_its_units_in_another_order_is_matched(torch):
    rng = np.random.default_rng(2)
    w = rules.start(torch.Generator().manual_seed(2))
    for place, least in zip((1, 3, 5, 7), (0.0, 0.0, 30.0, 0.0), strict=True):
        bias = rules.parts(w)[place]
        bias += least + 0.1 * torch.from_numpy(rng.standard_normal(len(bias)))
    for side in (7, 8):
        images = torch.from_numpy(rng.standard_normal((30, side, side), dtype=np.float32))
        x = rules.patches(images)
        A, a, B, b, C, c, D, d = rules.parts(w)
        first, second, third = (torch.from_numpy(rng.permutation(k)) for k in (8, 16, 64))
        B = B.view(16, 8, 9)[second][:, first].reshape(16, 72)
        C = C.view(64, 4, 16)[third][:, :, second].reshape(64, 64)
        other = (A[first], a[first], B, b[second], C, c[third], D[:, third], d)
        other = torch.cat([one.reshape(-1) for one in other])
        torch.testing.assert_close(rules.answers(other[None], x), rules.answers(w[None], x))
        torch.testing.assert_close(rules.matched(w, other, x), w, rtol=0, atol=0)
        assert not torch.equal(other, w)


def test_a_barrier_is_between_ends_and_is_none_after_a_perfect_match(torch):
    (x, y), _ = rules.drawn("digits", 100, np.random.SeedSequence(1))
    w = rules.start(torch.Generator().manual_seed(1))
    for _ in range(100):
        w = w - 0.1 * rules.gradient(w[None], x, y)[0]
    A, a, B, *rest = rules.parts(w)
    turned = (A.flip(0), a.flip(0), B.view(16, 8, 9).flip(1), *rest)
    other = torch.cat([one.reshape(-1) for one in turned])
    plain, matched = pictures.between(SETTINGS, w, other, (x, y))
    assert plain > 0.1
    assert matched == 0.0


def test_the_trace_is_that_of_the_matrix_and_does_not_know_of_a_rescaling(torch):
    (x, y), _ = rules.drawn("digits", 20, np.random.SeedSequence(1))
    w = rules.start(torch.Generator().manual_seed(1))
    few, many = (pictures._trace(w, x, y, probes) for probes in (10, 200))
    product = pictures._hessian(w, x, y)
    places = np.random.default_rng(0).permutation(len(w))[:600]
    diagonal = [product(np.eye(1, len(w), k)[0])[k] * float(w[k]) ** 2 for k in places]
    exact, error = np.mean(diagonal), np.std(diagonal) / 600**0.5
    assert abs(many / len(w) - exact) < 5 * error
    A, a, B, *rest = rules.parts(w)
    rows = (4 * A, 4 * a, B / 4, *rest)
    scaled = torch.cat([one.reshape(-1) for one in rows])
    np.testing.assert_allclose(pictures._trace(scaled, x, y, 10), few, rtol=1e-3)
