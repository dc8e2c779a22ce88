"""Does the volume around a solution predict its generalisation? All solutions, nothing sampled.

A teacher labels a few patterns, and every weight vector that answers them as it does is listed.
Each has an error against the teacher, exact for inputs of random signs, and several measures of
flatness, each with the sign that says "flat". What is kept is rank correlations inside one
instance, so that only solutions of the same patterns are compared. By Bayes' rule the teacher is
one of the solutions, each with the same chance: "posterior" is minus the error averaged over all
of them as teachers, what can be known of the error, and "barycentre" the overlap with their mean
(for the perceptron both are sums over distances of the numbers of solutions there).

Volumes count the solution itself. Local energies are exact sums over the numbers of flips. In the
committee the cross-entropy is that of ``t = (tanh 2 x_1 + tanh 2 x_2 + tanh 2 x_3) / sqrt 3``, x
the preactivations, and the margin of a pattern is the second largest of its three preactivations
(signs so that positive is right), because two units decide. A correlation is Spearman's, with
minus the error, over all solutions but the teacher. Where fewer than ten others exist the instance
has none; a measure with one value on all solutions counts as 0.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
from scipy import stats
from scipy.linalg import hadamard

from wfmlib import learning
from wfmlib.book.runs import Agreement, Axis, Experiment, Scale, Variable
from wfmlib.models import Binary, Perceptron, TreeCommittee

DISTANCES = (1, 2, 3, 4, 6, 8)
NOISES = (0.05, 0.1, 0.2)
GAMMAS = (0.5, 2.0, 5.0)
MEASURES = (
    *(f"volume {d}" for d in DISTANCES),
    "posterior",
    "barycentre",
    *(f"local energy {p}" for p in NOISES),
    *(f"cross-entropy {gamma}" for gamma in GAMMAS),
    *(f"curvature {gamma}" for gamma in GAMMAS),
    "smallest margin",
    "mean margin",
)
SETTINGS = {"units": 3, "beta": 2.0, "fewest": 10}
DIGITS = 9  # of a measure: what differs by rounding only is a tie


def sample(settings, point, seed):
    """Return how well each measure of flatness orders the solutions of one instance."""
    N, units = point["N"], settings["units"] if point["machine"] == "committee" else 1
    xi, sigma, teacher = drawn(seed, round(point["alpha"] * N), N, units)
    device = Perceptron() if units == 1 else TreeCommittee(units, weights=Binary())
    found = learning.enumerate_solutions(device, xi, sigma, keep=2**N, threads=1, progress=False)
    w = found.solutions
    error = teacher_errors(w, teacher, units)
    flat, posterior = measures(settings, xi, sigma, w, units)
    others = np.any(w != teacher, axis=1)
    return {
        "solutions": len(w),
        "mean_error": error[others].mean() if others.any() else np.nan,
    } | (_orders(settings, flat, error, others, w, teacher, posterior, units))


def drawn(seed, P, N, units):
    """Return patterns, a teacher's labels and the teacher, the same patterns for every machine."""
    xi_seed, teacher_seed = seed.spawn(2)
    xi = np.random.default_rng(xi_seed).choice([-1, 1], (64, N))[:P]
    teacher = np.random.default_rng(teacher_seed).choice([-1, 1], N)
    return xi, answers(fields(xi, teacher[None], units))[0], teacher


def fields(xi, w, units):
    """Return the fields of all units, shape (vectors, P, units)."""
    P, N = xi.shape
    parts = xi.reshape(P, units, N // units).astype(float)
    return np.einsum("pkn,wkn->wpk", parts, w.reshape(-1, units, N // units).astype(float))


def answers(h):
    """Return what machines with these fields answer: the sign of most units."""
    return np.sign(np.sign(h).sum(axis=-1)).astype(int)


# ------------------------------------------------------------------------------------------------
# Generalisation
# ------------------------------------------------------------------------------------------------


@cache
def unit_error(n):
    """Return the share of inputs of n signs on which units at each Hamming distance differ.

    On the d inputs where the weights differ the partial field is b, on the others a; the signs of
    a + b and a - b differ where b is larger than a in size. n is odd, so neither is a tie.
    """
    share = np.zeros(n + 1)
    for d in range(n + 1):
        for up in range(d + 1):
            for rest in range(n - d + 1):
                if abs(2 * up - d) > abs(2 * rest - (n - d)):
                    share[d] += math.comb(d, up) * math.comb(n - d, rest) / 2**n
    return share


@cache
def machine_error(N, units):
    """Return the error against a teacher by the Hamming distance of each unit, exactly.

    The units of a tree see different inputs: their answers are independent, each sign as likely.
    """
    own = unit_error(N // units)
    result = np.zeros((N // units + 1,) * units)
    for signs in product((-1, 1), repeat=units):
        for turned in product((-1, 1), repeat=units):
            if sum(signs) * sum(s * t for s, t in zip(signs, turned, strict=True)) < 0:
                chance = np.array(0.5**units)
                for t in turned:
                    chance = np.multiply.outer(chance, own if t < 0 else 1 - own)
                result += chance
    return result


def teacher_errors(w, teacher, units):
    """Return the error of each weight vector against one teacher."""
    n = len(teacher) // units
    apart = (w != teacher).reshape(-1, units, n).sum(axis=2)
    return machine_error(len(teacher), units)[tuple(apart.T)]


# ------------------------------------------------------------------------------------------------
# Flatness
# ------------------------------------------------------------------------------------------------


def measures(settings, xi, sigma, w, units):
    """Return all measures, shape (measures, solutions), larger where it is flatter.

    The second result is the error of each solution, averaged over all solutions as teachers.
    """
    volumes, posterior = surroundings(w, units)
    h = fields(xi, w, units) * sigma[None, :, None]
    n = xi.shape[1] // units
    x = h / math.sqrt(n)
    entropic = np.array([cross_entropy(x, settings["beta"], gamma) for gamma in GAMMAS])
    margin = np.sort(x, axis=2)[:, :, units // 2]  # the field that a majority needs
    rows = [
        *volumes,
        -posterior,
        w @ w.mean(axis=0) / w.shape[1],
        *(-local_energy(h, n, p) for p in NOISES),
        *-entropic[:, 0],
        *-entropic[:, 1],
        margin.min(axis=1),
        margin.mean(axis=1),
    ]
    return np.round(np.array(rows, dtype=float), DIGITS), posterior


def surroundings(w, units, pairs=None):
    """Return the solutions within each distance of each one, and its mean error over teachers.

    By all pairs where they are fewer than weight vectors, by transforms otherwise.
    """
    N = w.shape[1]
    words = (w > 0) @ (1 << np.arange(N - 1, -1, -1))
    kernels = [*(_within(N, d) for d in DISTANCES), _error_kernel(N, units)]
    if (len(w) ** 2 <= 2**N) if pairs is None else pairs:
        apart = words[:, None] ^ words
        rows = [kernel[apart].sum(axis=1) for kernel in kernels]
    else:
        density = np.zeros(2**N)
        density[words] = 1
        spectrum = _hadamard(density)
        rows = [
            _hadamard(spectrum * spectrum_of)[words] / 2**N for spectrum_of in _spectra(N, units)
        ]
    return np.rint(rows[:-1]), rows[-1] / len(w)


@cache
def _within(N, d):
    return (np.bitwise_count(np.arange(2**N)) <= d).astype(float)


@cache
def _error_kernel(N, units):
    n = N // units
    every = np.arange(2**N)
    apart = [np.bitwise_count(every >> n * k & (2**n - 1)) for k in reversed(range(units))]
    return machine_error(N, units)[tuple(apart)]


@cache
def _spectra(N, units):
    kernels = [*(_within(N, d) for d in DISTANCES), _error_kernel(N, units)]
    return [_hadamard(kernel) for kernel in kernels]


def _hadamard(values):
    """Return the Walsh-Hadamard transform: convolutions over flips of signs become products.

    It factorises over the bits, which are taken in three groups, each one matrix product.
    """
    N = len(values).bit_length() - 1
    first, second = hadamard(2 ** (N // 3)), hadamard(2 ** ((N + 1) // 3))
    third = hadamard(2 ** (N - N // 3 - (N + 1) // 3))
    cube = values.reshape(len(first), len(second), len(third)) @ third.astype(float)
    cube = second.astype(float) @ cube
    return (first.astype(float) @ cube.reshape(len(first), -1)).ravel()


def local_energy(h, n, p):
    """Return the mean training error when each weight changes its sign with probability p.

    A unit whose field is h has (n + h)/2 weights on the right side; its new field is a sum of two
    binomial numbers, and units are independent of each other.
    """
    q = _wrong(n, p)[((h + n) / 2).astype(int)]
    units = q.shape[2]
    error = np.zeros(q.shape[:2])
    for bad in product((False, True), repeat=units):
        if 2 * sum(bad) > units:
            error += np.prod(np.where(bad, q, 1 - q), axis=2)
    return error.mean(axis=1)


@cache
def _wrong(n, p):
    """Return the chance that a unit is wrong after the flips, by its weights on the right side."""
    wrong = np.zeros(n + 1)
    for right in range(n + 1):
        lost = stats.binom.pmf(np.arange(right + 1), right, p)
        won = stats.binom.pmf(np.arange(n - right + 1), n - right, p)
        after = right - np.arange(right + 1)[:, None] + np.arange(n - right + 1)
        wrong[right] = (np.multiply.outer(lost, won) * (2 * after < n)).sum()
    return wrong


def cross_entropy(x, beta, gamma):
    """Return the cross-entropy of the margins, and the trace of its Hessian in the weights.

    The perceptron's margin is its stability. A committee's is that of tanh units, as in
    `landscape.smoothed_loss`: t = sum tanh(beta x) / sqrt(units).
    """
    units = x.shape[2]
    if units == 1:
        t, slope, bend = x[:, :, 0], np.ones_like(x), np.zeros_like(x)
    else:
        u = np.tanh(beta * x)
        t = u.sum(axis=2) / math.sqrt(units)
        slope = beta * (1 - u**2) / math.sqrt(units)
        bend = -2 * beta * u * slope
    loss = np.logaddexp(0, -2 * gamma * t) / (2 * gamma)
    down = 1 / (1 + np.exp(2 * gamma * t))  # minus the first derivative
    second = 2 * gamma * down * (1 - down)
    trace = (second[:, :, None] * slope**2 - down[:, :, None] * bend).sum(axis=2)
    return loss.mean(axis=1), trace.mean(axis=1)


# ------------------------------------------------------------------------------------------------
# Orders
# ------------------------------------------------------------------------------------------------


def spearman(a, b):
    """Return the rank correlation: 0 where a measure is the same everywhere and tells nothing."""
    ranks = stats.rankdata(a), stats.rankdata(b)
    if np.ptp(ranks[0]) == 0 or np.ptp(ranks[1]) == 0:
        return 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _orders(settings, flat, error, others, w, teacher, posterior, units):
    """Return the variables that have one value for each measure."""
    missing = np.full(len(MEASURES), np.nan)
    names = ("correlation", "blind", "with_posterior", "with_volume", "best")
    if others.sum() < settings["fewest"]:
        return dict.fromkeys(names, missing)
    blind = flat.copy()
    apart = (w != teacher).sum(axis=1)
    for row, d in enumerate(DISTANCES):
        blind[row] -= apart <= d
    place = MEASURES.index("posterior")
    blind[place] = np.round(-(posterior * len(w) - error) / (len(w) - 1), DIGITS)
    rest = w[others].mean(axis=0)
    blind[place + 1] = np.round(w @ rest / w.shape[1], DIGITS)
    volume = flat[MEASURES.index("volume 4")]
    best = [error[others][one[others] == one[others].max()].mean() for one in flat]
    return {
        "correlation": np.array([spearman(one[others], -error[others]) for one in flat]),
        "blind": np.array([spearman(one[others], -error[others]) for one in blind]),
        "with_posterior": np.array([spearman(one, flat[place]) for one in flat]),
        "with_volume": np.array([spearman(one, volume) for one in flat]),
        "best": np.array(best),
    }


AGREEMENT = Agreement(
    rtol=1e-5,
    atol=1e-7,
    why="all solutions are listed and compared exactly; ties are found at nine digits",
)
GRID = {
    "machine": ("perceptron", "committee"),
    "N": (15, 21),
    "alpha": (0.4, 0.6, 0.8, 1.0, 1.2),
}
EXPERIMENT = Experiment(
    name="exact-flatness",
    title="Generalisation against flatness, over all solutions of a teacher's patterns",
    source="this book",
    chapter=13,
    scales={
        "quick": Scale(
            grid=GRID | {"N": (15,), "alpha": (0.4, 0.6)},
            samples=2,
            settings=SETTINGS,
            coordinates={"measure": MEASURES},
        ),
        "paper": Scale(
            grid=GRID,
            samples=100,
            settings=SETTINGS,
            coordinates={"measure": MEASURES},
        ),
    },
    variables={
        "solutions": Variable("1", "number of solutions, the teacher among them", dtype="int32"),
        "mean_error": Variable("1", "mean error of all solutions but the teacher"),
        "correlation": Variable(
            "1", "rank correlation with minus the error, teacher left out", ("measure",)
        ),
        "blind": Variable(
            "1", "the same where the teacher is not counted as a neighbour", ("measure",)
        ),
        "with_posterior": Variable(
            "1", "rank correlation with minus the error averaged over teachers", ("measure",)
        ),
        "with_volume": Variable("1", "rank correlation with the volume within 4", ("measure",)),
        "best": Variable("1", "error of the solution that a measure calls flattest", ("measure",)),
    },
    axes={
        "machine": Axis("1", "machine"),
        "N": Axis("1", "number of weights"),
        "alpha": Axis("patterns per weight", "load"),
        "measure": Axis("1", "measure of flatness"),
    },
    sample=sample,
    agreement=AGREEMENT,
    seed=2126,
    paired=True,
)
