"""Truths of the bench, local entropies counted or sampled: ``python -m wfmlib.bench.truths``.

Three ways, by what an instance is:

- *Counting.* Up to 25 binary weights. A connected committee is a tree that sees its patterns
  three times.
- *Drawing.* Up to 15 weights on the sphere: points at the distance, drawn independently.
- *Nested sets.* Larger ones. A population of points at the distance is led from all of them to the
  solutions, through sets each of which is a good part of the one before; the product of the parts
  is the share of solutions, without bias whatever moves the points. On the sphere the solutions of
  a perceptron are convex: whoever solves at an angle from the reference solves at all smaller ones
  in the same direction. So the sets are the directions good up to an angle, and one run serves all
  distances. The error is that of several independent runs.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy
from numba import njit
from scipy.special import gammaln, logsumexp

import wfmlib
from wfmlib import landscape, learning
from wfmlib.bench import INSTANCES, drawn
from wfmlib.models import Binary, Committee, Perceptron, TreeCommittee

FILE = Path(__file__).with_name("truths.json")
FLIPS = (1, 2, 3, 4, 6, 8, 10)  # of what is counted
RUNS = 4
DRAWS, CHUNK = 2_000_000, 200_000


# ------------------------------------------------------------------------------------------------
# Counting
# ------------------------------------------------------------------------------------------------


def enumerated(recipe, **options):
    """Return the enumeration of a binary instance, weights one unit after the other."""
    xi, sigma, _ = drawn(recipe)
    device = recipe.device
    if isinstance(device, Committee):
        device, xi = TreeCommittee(3, weights=Binary()), np.tile(xi, (1, 3))
    return learning.enumerate_solutions(device, xi, sigma, progress=False, **options)


def counted(recipe, reference_kind, rng):
    """Return the reference and the truth of an instance whose solutions are all known."""
    _, _, teacher = drawn(recipe)
    solutions = enumerated(recipe, keep=2**22).solutions
    if reference_kind == "teacher":
        weights = teacher.ravel()
    elif reference_kind == "typical":
        weights = rng.choice(solutions)
    else:
        within = [
            learning.surrounding_counts(solutions, flips, centres="solutions")
            for flips in range(1, 5)
        ]
        weights = solutions[np.argmax(np.sum(within, axis=0))]
    shape = recipe.device.shape(recipe.inputs)
    tree = (3, -1) if recipe.machine is not Perceptron else shape
    enumeration = enumerated(recipe, reference=weights.reshape(tree))
    N, numbers = enumeration.N, enumeration.counts_by_distance
    flips = [n for n in FLIPS if numbers[n]]
    truth = {
        "distance": [n / N for n in flips],
        "local_entropy": [math.log(numbers[n]) / N for n in flips],
        "error": [0.0] * len(flips),
        "solutions": numbers.tolist(),
        "entropy": enumeration.entropy,
        "overlap": float(np.mean(weights * enumeration.magnetisation)),
        "origin": "enumeration",
    }
    return weights.reshape(shape), truth


# ------------------------------------------------------------------------------------------------
# Drawing
# ------------------------------------------------------------------------------------------------


def directions(shape, weights, rng):
    """Return unit vectors orthogonal to the weights of each unit, shape (..., K, M)."""
    unit = weights / np.linalg.norm(weights, axis=-1, keepdims=True)
    u = rng.standard_normal((*shape, *weights.shape))
    u -= np.sum(u * unit, axis=-1, keepdims=True) * unit
    return u / np.linalg.norm(u, axis=-1, keepdims=True)


def around(weights, distance, count, rng):
    """Return points of the product of spheres at a distance, (count, K, M), and their weights.

    The overlaps of the units average to ``1 - 2 distance`` and are drawn uniformly; a point
    counts with the density ``(1 - q^2)^((M - 3) / 2)`` that an overlap has on a sphere.
    """
    units, width = weights.shape
    low = rng.dirichlet(np.ones(units), count) * 2.0 * distance * units
    low = low[np.all(low <= 2.0, axis=1)]
    q = 1.0 - low
    side = np.sqrt(1.0 - q**2)
    share = np.prod((1.0 - q**2) ** (0.5 * (width - 3)), axis=1) if units > 1 else np.ones(len(q))
    unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    return q[..., None] * unit + side[..., None] * directions((len(q),), weights, rng), share


def solving(device, points, xi, sigma):
    """Return which points, (count, K, M), answer every pattern rightly."""
    units = points.shape[1]
    parts = (
        np.stack([xi] * units)
        if isinstance(device, Committee)
        else xi.reshape(len(xi), units, -1).transpose(1, 0, 2)
    )
    signs = np.sign(np.einsum("ckm,kpm->kcp", points, parts))
    if units == 1 or isinstance(device, (Committee, TreeCommittee)):
        votes = signs.sum(axis=0)
    else:
        votes = signs.prod(axis=0)
    return np.all(sigma * votes > 0, axis=1)


def direct(recipe, reference_kind, rng):
    """Return the reference and the truth of a small instance on the sphere."""
    xi, sigma, _ = drawn(recipe)
    shape = (recipe.device.units, recipe.device.shape(recipe.inputs)[-1])
    points = rng.standard_normal((DRAWS // 4, *shape))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    good = np.concatenate(
        [solving(recipe.device, part, xi, sigma) for part in np.array_split(points, 8)]
    )
    all_of_them = points[good]
    weights = all_of_them[0] if reference_kind == "typical" else all_of_them.mean(axis=0)
    weights = tidy(weights)
    unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    values, errors = [], []
    for distance in recipe.distances:
        shares = []
        for _ in range(DRAWS // CHUNK):
            sample, share = around(weights, distance, CHUNK, rng)
            shares.append(share @ solving(recipe.device, sample, xi, sigma) / share.sum())
        mean, error = np.mean(shares), np.std(shares, ddof=1) / math.sqrt(len(shares))
        values.append(math.log(mean) / weights.size + float(recipe.device.weights.bound(distance)))
        errors.append(error / mean / weights.size)
    truth = {
        "distance": list(recipe.distances),
        "local_entropy": values,
        "error": errors,
        "entropy": math.log(good.mean()) / weights.size,
        "overlap": float(np.mean(np.sum(all_of_them * unit, axis=2))),
        "origin": "independent draws",
    }
    return weights.reshape(recipe.device.shape(recipe.inputs)), truth


# ------------------------------------------------------------------------------------------------
# Nested sets
# ------------------------------------------------------------------------------------------------


def turned(u, fields, aligned, centre, tangent, rng, axis=None):
    """Move each point along a great circle, uniformly where ``centre + tangent fields > 0``.

    A random circle through the point, of which an arc is cut back to the point until it holds.
    `u` (count, N) of length 1, `fields` (count, P) are ``u @ aligned.T``; both change in place.
    """
    v = rng.standard_normal(u.shape)
    if axis is not None:
        v -= np.outer(v @ axis, axis)
    v -= np.sum(v * u, axis=1, keepdims=True) * u
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    across = v @ aligned.T
    high = rng.uniform(0.0, 2.0 * math.pi, len(u))
    low, angle = high - 2.0 * math.pi, high.copy()
    open_ = np.arange(len(u))
    while len(open_):
        c, s = np.cos(angle[open_])[:, None], np.sin(angle[open_])[:, None]
        moved = c * fields[open_] + s * across[open_]
        bad = open_[~np.all(centre + tangent * moved > 0.0, axis=1)]
        back = angle[bad] < 0.0
        low[bad[back]] = angle[bad[back]]
        high[bad[~back]] = angle[bad[~back]]
        angle[bad] = rng.uniform(low[bad], high[bad])
        open_ = bad
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    u *= c
    u += s * v
    fields *= c
    fields += s * across


def inside(aligned, start, reference_kind, rng, moves):
    """Return a solution of a perceptron on the sphere: one drawn, or the mean of all."""
    w = start / np.linalg.norm(start)
    while np.any(aligned @ w <= 0.0):
        w = w + aligned[np.argmin(aligned @ w)] / np.linalg.norm(aligned[0])
    u = np.tile(w / np.linalg.norm(w), (8, 1))
    fields, total = u @ aligned.T, np.zeros(len(w))
    for move in range(moves):
        turned(u, fields, aligned, 0.0, 1.0, rng)
        total += u.sum(axis=0) * (move > moves // 4)
    return u[0] if reference_kind == "typical" else total


def angles(aligned, weights, distances, rng, count, moves):
    """Return the log share of solutions at each distance, ascending, by one run."""
    unit = weights / np.linalg.norm(weights)
    centre = aligned @ unit
    across = aligned - np.outer(centre, unit)
    u = directions((count,), unit, rng)
    fields = u @ across.T
    shares, log_share, angle = [], 0.0, 0.0
    for goal in np.tan(np.arccos(1.0 - 2.0 * np.array(distances))):
        while angle < goal:
            with np.errstate(divide="ignore"):
                reach = np.where(fields < 0.0, centre / -fields, math.inf).min(axis=1)
            angle = min(goal, float(np.quantile(reach, 0.5)))
            kept = np.flatnonzero(reach > angle)
            log_share += math.log(len(kept) / count)
            parents = np.concatenate([kept, rng.choice(kept, count - len(kept))])
            u, fields = u[parents], fields[parents]
            for _ in range(moves):
                turned(u, fields, across, centre, angle, rng, axis=unit)
        shares.append(log_share)
    return shares


@njit(cache=True)
def swapped(flipped, fields, aligned, D, beta, sweeps, rng):
    """Exchange who differs from the reference, at inverse temperature `beta`; in place.

    `flipped` (count, N) int32: permutations, of which the first D are flipped; `aligned` (N, P)
    int32: patterns times labels times the reference; `fields` (count, P). A wrong answer costs
    half of what its field lacks to 1.
    """
    count, P = fields.shape
    N = len(aligned)
    for replica in range(count):
        order, field = flipped[replica], fields[replica]
        for _ in range(sweeps * D):
            i, j = int(rng.random() * D), D + int(rng.random() * (N - D))
            back, out = aligned[order[i]], aligned[order[j]]
            change = 0
            for p in range(P):
                old = field[p]
                new = old + 2 * (back[p] - out[p])
                change += max(1 - new, 0) - max(1 - old, 0)
            if change <= 0 or rng.random() < math.exp(-0.5 * beta * change):
                for p in range(P):
                    field[p] += 2 * (back[p] - out[p])
                order[i], order[j] = order[j], order[i]


def cooled(aligned, D, rng, count, sweeps):
    """Return the log share of solutions at D flips, by one run."""
    N = len(aligned)
    flipped = rng.permuted(np.tile(np.arange(N, dtype=np.int32), (count, 1)), axis=1)
    whole = aligned.sum(axis=0)
    fields = np.array([whole - 2 * aligned[order[:D]].sum(axis=0) for order in flipped])
    fields = fields.astype(np.int32)
    log_share, beta = 0.0, 0.0
    while True:
        energy = 0.5 * np.maximum(1 - fields, 0).sum(axis=1)
        solved = np.mean(energy == 0)
        if solved > 0.3:
            return log_share + math.log(solved)
        step = 8.0
        while True:  # so small that nine tenths of the population still count
            weight = np.exp(-step * (energy - energy.min()))
            if weight.sum() ** 2 / np.sum(weight**2) > 0.8 * count:
                break
            step *= 0.8
        beta += step
        log_share += logsumexp(-step * energy) - math.log(count)
        chosen = np.searchsorted(
            np.cumsum(weight / weight.sum()), (rng.random() + np.arange(count)) / count
        )
        chosen = np.minimum(chosen, count - 1)
        flipped, fields = flipped[chosen], fields[chosen]
        swapped(flipped, fields, aligned, D, beta, sweeps, rng)


def nested(recipe, reference_kind, rng):
    """Return the reference and the truth of a larger perceptron."""
    xi, sigma, teacher = drawn(recipe)
    N, aligned = recipe.inputs, xi * sigma[:, None]
    if recipe.weights.discrete:
        weights = teacher
        if reference_kind == "focusing":
            weights = learning.focusing_bp(Perceptron(), xi, sigma, rng=recipe.seed).weights
        flips = [round(N * d) for d in recipe.distances]
        count, sweeps = (2000, 6) if N < 500 else (200, 3)
        columns = np.ascontiguousarray((aligned * weights).T.astype(np.int32))
        runs = [[cooled(columns, D, rng, count, sweeps) for D in flips] for _ in range(RUNS)]
        distances = [D / N for D in flips]
        log_volumes = [gammaln(N + 1) - gammaln(D + 1) - gammaln(N - D + 1) for D in flips]
        kind = "annealed population"
    else:
        start = aligned.sum(axis=0) if teacher is None else teacher
        weights = tidy(inside(aligned, start, reference_kind, rng, 30 * N if N < 500 else 2_000))
        count, moves = {201: (200, 30), 1001: (64, 20)}.get(N, (400, 20))
        runs = [
            angles(aligned.astype(float), weights, recipe.distances, rng, count, moves)
            for _ in range(RUNS)
        ]
        distances = list(recipe.distances)
        log_volumes = [N * float(recipe.device.weights.bound(d)) for d in distances]
        kind = "nested angles"
    values = logsumexp(runs, axis=0) - math.log(RUNS)
    truth = {
        "distance": distances,
        "local_entropy": ((values + log_volumes) / N).tolist(),
        "error": (np.std(runs, axis=0, ddof=1) / math.sqrt(RUNS) / N).tolist(),
        "messages": by_messages(recipe, weights, xi, sigma, distances, log_volumes),
        "origin": f"{kind}, {RUNS} runs",
    }
    return weights, truth


def by_messages(recipe, weights, xi, sigma, distances, log_volumes):
    """Return what belief propagation says is lost of all weights; None where it does not settle.

    Messages know the entropy of all binary weights for N to infinity only: here it is exact.
    """
    network = recipe.device.network(weights)
    with warnings.catch_warnings(action="ignore"):
        curve = landscape.local_entropy(network, xi, sigma, rng=0, progress=False)
    excess = landscape.excess_at(distances, curve.distance, curve.excess)
    values = excess + np.array(log_volumes) / recipe.inputs
    return [float(value) if math.isfinite(value) else None for value in values]


# ------------------------------------------------------------------------------------------------
# All of them
# ------------------------------------------------------------------------------------------------


def tidy(weights):
    """Return weights of a few digits, which the file keeps."""
    scale = np.linalg.norm(weights) / math.sqrt(weights.size)
    return np.round(weights / scale, 5)


def generalisation(recipe, weights, teacher):
    """Return the probability that a random pattern gets another answer than the teacher's."""
    if recipe.machine is Perceptron and not recipe.weights.discrete:
        cosine = teacher @ weights / np.linalg.norm(teacher) / np.linalg.norm(weights)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)) / math.pi)
    if not recipe.weights.discrete:
        return None
    if recipe.machine is Perceptron:  # those that agree, those that differ: two sums of signs
        N, D = len(weights), int(np.count_nonzero(weights != teacher))
        same, differ = np.arange(-(N - D), N - D + 1, 2), np.arange(-D, D + 1, 2)
        log_p = [
            gammaln(n + 1) - gammaln((n + s) / 2 + 1) - gammaln((n - s) / 2 + 1) - n * math.log(2)
            for n, s in ((N - D, same), (D, differ))
        ]
        wrong = np.abs(differ)[None, :] > np.abs(same)[:, None]
        return float(np.sum(np.exp(log_p[0][:, None] + log_p[1]) * wrong))
    patterns = learning.all_weights(recipe.inputs, dtype=np.int8)
    student, rule = recipe.device.network(weights), recipe.device.network(teacher)
    parts = np.array_split(patterns, max(1, len(patterns) // 2**16))
    wrong = sum(np.count_nonzero(student.output(xi) != rule.output(xi)) for xi in parts)
    return wrong / len(patterns)


def make(name):
    """Return everything that the file keeps of one instance."""
    recipe, reference_kind = INSTANCES[name], name.rsplit("-", 1)[1]
    rng = np.random.default_rng([recipe.seed, len(reference_kind)])
    method = counted if not recipe.distances else nested if recipe.inputs > 20 else direct
    weights, truth = method(recipe, reference_kind, rng)
    xi, sigma, teacher = drawn(recipe)
    if recipe.device.network(weights).errors(xi, sigma):
        raise ValueError(f"{name}: the reference is no solution")
    if teacher is not None:
        truth["generalisation"] = generalisation(recipe, weights, teacher)
    if recipe.weights.discrete:
        kept = "".join("+" if sign > 0 else "-" for sign in weights.ravel())
    else:
        kept = weights.ravel().tolist()
    return {key: value for key, value in truth.items() if value is not None} | {"weights": kept}


def main(names):
    """Make these instances, or all, and write them into the file."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"instances": {}}
    for name in names or INSTANCES:
        start = time.perf_counter()
        instance = make(name)
        seconds = time.perf_counter() - start
        commit = subprocess.run(
            ["git", "-C", FILE.parent, "rev-parse", "HEAD"], capture_output=True, text=True
        ).stdout.strip()
        instance["made"] = {
            "seconds": round(seconds, 1),
            "commit": commit,
            "versions": {m.__name__: m.__version__ for m in (wfmlib, np, scipy)},
        }
        kept["instances"][name] = instance
        lines = [f"{json.dumps(n)}: {json.dumps(value)}" for n, value in kept["instances"].items()]
        FILE.write_text('{"instances": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
        print(f"{name}: {seconds:.1f} s", instance["local_entropy"], instance["error"], flush=True)
        if "messages" in instance:
            print("  messages", instance["messages"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
