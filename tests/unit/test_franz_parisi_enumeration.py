"""The local entropy against exact enumeration of the binary perceptron at 13 to 21 weights.

Counted: the solutions w of margin kappa at each Hamming distance h from solutions w' of margin kt,
all of the same patterns; averaged: the logarithm, over references and instances. Three things
keep the corrections to the limit of many weights small, so that it can be read off:

- *Margins midway between stabilities.* At odd N those are odd multiples of 1 / sqrt(N); margins
  are even ones, 0 or 2 / sqrt(N). Any other place would bring a correction of order 1 / sqrt(N).
- *Fractions.* The count is divided by the number of places, the binomial coefficient, as is the
  replica value by its limit: the coefficient's own correction, of order ln(N) / N, drops out.
- *Neighbours.* Counts zigzag between even and odd h, by a factor of order one. The weights 1, 2, 1
  over three neighbours average that out.

Each size is compared with the theory at its own load P / N, distance h / N and margins: what is
left is a smooth function of them over N.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import special

from wfmlib import Margin, Perceptron, learning, patterns
from wfmlib.theory import franz_parisi, typical

DEVICE = Perceptron()
REFERENCES = 8  # per instance
WINDOW = (0.2, 0.42)  # distances looked at
CASES = {  # margins kt, kappa in units of 2 / sqrt(N): weights, patterns, samples of each size
    (0, 0): ((13, 3, 450), (17, 4, 250), (21, 5, 110)),
    (1, 0): ((13, 3, 450), (17, 4, 250), (21, 5, 110)),
    (1, 1): ((15, 2, 450), (19, 3, 200), (21, 3, 90)),
}


def words(weights):
    """Rows of signs as integers, one bit a weight."""
    parts = np.packbits(weights > 0, axis=1).astype(np.uint32)
    return parts @ np.uint32(256) ** np.arange(parts.shape[1], dtype=np.uint32)


@cache
def instances(N, P, samples, margin):
    """Solutions of that margin as words, and their smallest integer stabilities."""
    found = []
    for seed in np.random.SeedSequence(7).generate_state(samples):
        xi, sigma = patterns.random(P, N, rng=seed)
        above = {"constraint": Margin(margin), "keep": 2**N}
        solutions = learning.enumerate_solutions(DEVICE, xi, sigma, **above).solutions
        aligned = words(sigma[:, None] * xi)
        w = words(solutions)
        disagreements = np.bitwise_count(w ^ aligned[:, None]).max(axis=0, initial=0)
        found.append((seed, w, N - 2 * disagreements.astype(np.int8)))
    return found


def excess(margins, size):
    """Counted minus predicted, one entry per instance.

    Returns the excess of the local entropy; of what it lies above the entropy of all solutions;
    the zigzag; the two predictions, averaged over the window.
    """
    N, P, samples = size
    reference, counted = (2 * margin for margin in margins)
    kt, kappa = Margin(reference / math.sqrt(N)), Margin(counted / math.sqrt(N))
    h = np.arange(1, N // 2 + 1)
    centre = np.flatnonzero((WINDOW[0] < h / N) & (h / N < WINDOW[1]))
    theory = franz_parisi.curve(DEVICE, P / N, h / N, reference=kt, constraint=kappa)
    predicted = theory.local_entropy - theory.bound
    common = typical.solve(DEVICE, P / N, kappa).entropy - math.log(2.0)
    places = special.gammaln(N + 1) - special.gammaln(h + 1) - special.gammaln(N - h + 1)

    local, total, empty = [], [], []
    for seed, w, smallest in instances(N, P, samples, min(kt.kappa, kappa.kappa)):
        others, near = w[smallest > counted], np.flatnonzero(smallest > reference)
        if len(near) == 0:
            continue
        near = np.random.default_rng(seed).choice(near, min(REFERENCES, len(near)), replace=False)
        flips = np.bitwise_count(others ^ w[near][:, None])
        number = np.array([np.bincount(row, minlength=N + 1) for row in flips])[:, h]
        empty.append(np.mean(number[:, centre] == 0))
        logarithm = np.log(np.maximum(number, 0.5))
        local.append((logarithm.mean(axis=0) - places) / N - predicted)
        total.append(math.log(len(others)) / N - math.log(2.0) - common)
    assert len(local) > 0.9 * samples  # few have no reference
    assert np.mean(empty) < 0.01  # so that it makes no difference what stands for ln 0
    before, here, after = (np.array(local)[:, centre + k] for k in (-1, 0, 1))
    even = np.mean(before + 2.0 * here + after, axis=1) / 4.0
    side = np.where(h[centre] % 2 == 0, 1.0, -1.0)
    zigzag = np.mean(side * (2.0 * here - before - after), axis=1) / 4.0
    mean = predicted[centre].mean()
    return even, even - np.array(total), zigzag, mean, mean - common


def extrapolated(sizes, samples):
    """Value at infinite N of ``a + b / N`` through means with errors, and the error of a."""
    mean = np.array([one.mean() for one in samples])
    error = np.array([one.std(ddof=1) / math.sqrt(len(one)) for one in samples])
    design = np.stack((np.ones(len(sizes)), 1.0 / np.array(sizes)), axis=1) / error[:, None]
    covariance = np.linalg.inv(design.T @ design)
    return (covariance @ design.T @ (mean / error))[0], math.sqrt(covariance[0, 0])


@pytest.mark.parametrize("margins", CASES, ids=str)
def test_counts_tend_to_the_local_entropy(margins):
    sizes, locals_, differences = [], [], []
    for size in CASES[margins]:
        N = size[0]
        local, difference, zigzag, predicted, above = excess(margins, size)
        sizes.append(N)
        locals_.append(local)
        differences.append(difference)
        # a correction of order 1 / N is what the zigzag is: here it takes the scale from there
        scale = abs(zigzag.mean())
        assert 0.1 < N * scale < 0.4
        assert abs(local.mean()) < scale + 4.0 * local.std() / math.sqrt(len(local))
        assert abs(difference.mean()) < scale + 4.0 * difference.std() / math.sqrt(len(local))
        # what is tested is not small beside that: of order 0.1 below all places, and far above
        # the entropy of all solutions
        assert predicted < -0.1
        assert above > 0.035
    # the term 1 / N^2, left out, has a coefficient below 1/2: divided by 13 x 21
    for samples, precision in ((locals_, 0.01), (differences, 0.005)):
        limit, error = extrapolated(sizes, samples)
        assert error < precision
        assert abs(limit) < 4.0 * error + 0.002
