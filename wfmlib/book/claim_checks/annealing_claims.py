"""Checks of the claims on annealing: two losses (chapter 2), committees (chapter 5).

All are read from archives; `evidence` says when a comparison of samples is decided.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed
from wfmlib.models import Binary, ReLU, Sign, TreeCommittee
from wfmlib.theory import stabilities

FAIRLY_HIGH = 0.5  # a load, of a capacity of 0.833
SWEEPS = 40_000  # that `replicated-annealing` allows
DEVICES = {
    "sign": TreeCommittee(np.inf, Sign(), Binary()),
    "relu": TreeCommittee(np.inf, ReLU(), Binary()),
}
NAMES = {"sign": "signs", "relu": "rectifiers"}


def _standard_error(values):
    """Return that of the mean over the first axis."""
    return np.std(values, axis=0, ddof=1) / math.sqrt(len(values))


# ------------------------------------------------------------------------------------------------
# The binary perceptron: errors, cross-entropy, replicas (P1, Sec. II.F)
# ------------------------------------------------------------------------------------------------


def _left(archive, loss):
    """Return the errors that are left, shape (sizes, loads, samples)."""
    return archive["errors"].sel(loss=loss).transpose("N", "alpha", "sample").values


def _reach(archive, loss):
    """Return for each size the largest load of those run at which half of the samples are solved.

    It is 0 where there is none.
    """
    good = np.mean(_left(archive, loss) == 0, axis=2) >= 0.5
    return np.max(np.where(good, archive["alpha"].values, 0.0), axis=1)


def annealing_cross_entropy_succeeds():
    """Errors left by either loss at N = 1001, ten samples, and the loads that are solved."""
    archive = experiments.complete("annealing-losses")
    loads, high = archive["alpha"].values, archive["alpha"].values >= 0.4
    counted, smooth = (_left(archive, loss)[-1] for loss in ("errors", "cross-entropy"))
    reach = _reach(archive, "cross-entropy")[-1]
    rows = (counted - smooth)[high]
    tested = [evidence.compare(row, comparisons=len(rows)) for row in rows]
    words = (
        f"at N = {archive['N'].values[-1]} and α = {listed(loads, 1)} annealing the number of "
        f"errors leaves {listed(counted.mean(axis=1), 1)} of them, annealing the cross-entropy "
        f"{listed(smooth.mean(axis=1), 1)}, with half of the samples solved up to α = {reach:g}"
    )
    if reach < FAIRLY_HIGH or np.any(counted[high] == 0):
        return False, words
    return evidence.decide(tested, words)


# ------------------------------------------------------------------------------------------------
# Committees of binary weights: replicas held at an overlap (P2, Fig. 3)
# ------------------------------------------------------------------------------------------------


def replicated_annealing_solves():
    """How many runs end with 20 solutions at mean overlap 0.85 ± 0.01, K = 33 and 32.

    A run that used all the sweeps it was allowed may end so with more: P2's were slow enough.
    """
    archive = experiments.complete("replicated-annealing")
    solved = archive["solved"].astype(bool)
    capped = int((~solved & (archive["sweeps"] >= SWEEPS)).sum())
    counts = [int(solved.sel(machine=name).sum()) for name in NAMES]
    finding = (
        f"{counts[0]} of {solved.sizes['sample']} with signs, {counts[1]} with rectifiers, within "
        f"{SWEEPS} sweeps"
    )
    if capped and capped == int((~solved).sum()):
        return evidence.Answer(None, finding, capped, "slower runs")
    return bool(solved.all()), finding


def _solved(archive, variable, **selection):
    """Return a variable of the samples that were solved, along the first axis."""
    chosen = archive.sel(**selection)
    return chosen[variable].values[chosen["solved"].values.astype(bool)]


def _shares_below(archive, machine):
    """Return places, and the mean share of the replicas' stabilities below each.

    Stabilities of a finite committee lie on a lattice, ``(2 k + 1) / sqrt(33)`` with 33 signs and
    ``k / 16`` with 32 rectifiers of 32 weights. The places lie halfway between points of it, where
    an edge of the archive's bins lies between the same two.

    Returns
    -------
    tuple of numpy.ndarray
        Places, mean over the solved samples, standard error.
    """
    centres = archive["stability"].values
    edges = (centres[1:] + centres[:-1]) / 2
    below = np.cumsum(_solved(archive, "replica_stabilities", machine=machine), axis=1)[:, :-1]
    step, first = (2 / math.sqrt(33), 1 / math.sqrt(33)) if machine == "sign" else (1 / 16, 0.0)
    position = (edges - first) / step
    inside = (np.abs(position - np.round(position)) > 1e-6) & (edges > 0.0) & (edges < 4.0)
    places, chosen = np.unique(
        first + (np.floor(position[inside]) + 0.5) * step, return_index=True
    )
    below = below[:, inside][:, chosen]
    return places, below.mean(axis=0), _standard_error(below)


def simulated_stabilities_agree():
    """Stabilities of 20 replicas, all samples, against theory: the largest gap of the shares."""
    archive = experiments.complete("replicated-annealing")
    holds, words = True, []
    for machine, device in DEVICES.items():
        places, shares, error = _shares_below(archive, machine)
        dense, typical = (
            np.abs(shares - stabilities.cumulative(device, 0.4, places, **options))
            for options in ({"overlap": 0.85, "replicas": 20}, {})
        )
        holds &= np.max(dense) < 0.1 * np.max(typical)
        words.append(
            f"with {NAMES[machine]} at most {np.max(dense):.3f} (standard error "
            f"{np.max(error):.3f}), and {np.max(typical):.2f} from that of typical solutions"
        )
    return bool(holds), (
        f"the share of stabilities below a place differs from that in dense regions "
        f"{'; '.join(words)} (agrees: within a tenth of the latter)"
    )


def _inside(archive):
    """Return the noises from none to where no answer is better than chance, without these two."""
    noise = archive["noise"].values
    inside = (noise > 1e-9) & (noise < 0.5 - 1e-9)
    return noise[inside], inside


def _signs_minus_rectifiers(archive, **selection):
    """Compare how often the references fail: on average over the noises, and at each of them."""
    noise, inside = _inside(archive)
    sign, relu = (
        _solved(archive, "reference_failures", machine=name, **selection)[:, inside]
        for name in NAMES
    )
    signs = np.array(
        [
            evidence.compare_groups(*pair, comparisons=len(noise)).sign
            for pair in zip(sign.T, relu.T, strict=True)
        ]
    )
    average = evidence.compare_groups(sign.mean(axis=1), relu.mean(axis=1))
    difference = sign.mean(axis=0) - relu.mean(axis=0)
    return (
        average,
        signs,
        (
            f"the reference with signs fails more often than that with rectifiers by "
            f"{_at_three_noises(noise, difference)}: {_ranges(noise, signs)}"
        ),
    )


def _replicas_minus_reference(archive, **selection):
    """Compare how often replicas and their reference fail, like `_signs_minus_rectifiers`."""
    noise, inside = _inside(archive)
    replicas, reference = (
        _solved(archive, f"{kind}_failures", **selection)[:, inside]
        for kind in ("replica", "reference")
    )
    gaps = (replicas - reference).T
    signs = np.array([evidence.compare(gap, comparisons=len(noise)).sign for gap in gaps])
    return (
        evidence.compare(gaps.mean(axis=0)),
        signs,
        f"by {_at_three_noises(noise, gaps.mean(axis=1))}: {_ranges(noise, signs)}",
    )


def _ranges(noise, signs):
    """Put into words at which noises the first fails more, and less."""
    words = []
    for sign, verb in ((1, "more often"), (-1, "less often"), (0, "not told apart")):
        noises = noise[signs == sign]
        if len(noises):
            words.append(f"{verb} at {len(noises)} noises from {noises[0]:g} to {noises[-1]:g}")
    return ", ".join(words)


def _at_three_noises(noise, values):
    """Put three of the values into words."""
    places = [int(np.argmin(np.abs(noise - place))) for place in (0.05, 0.1, 0.2)]
    return f"{listed(values[places], 3)} at η = {listed(noise[places], 2)}"


def _more_robust(rows):
    """Answer whether the first fails more on average, and significantly less at no noise."""
    averages, signs, words = zip(*rows, strict=True)
    answer = evidence.decide(averages, "; ".join(words))
    return answer._replace(agrees=False) if np.min(signs) < 0 else answer


def relu_more_robust_simulated():
    """Errors on noisy patterns, signs minus rectifiers, at all noises below one half."""
    return _more_robust([_signs_minus_rectifiers(experiments.complete("replicated-annealing"))])


def reference_more_robust():
    """Errors on noisy patterns, replicas minus their reference, at all noises below one half."""
    archive = experiments.complete("replicated-annealing")
    rows = []
    for machine in NAMES:
        *tested, words = _replicas_minus_reference(archive, machine=machine)
        rows.append((*tested, f"with {NAMES[machine]} single replicas fail more often {words}"))
    return _more_robust(rows)


def connected_same_phenomenology():
    """The same fully connected, K = 9 and 8 units of 201 and 200 weights, α = 0.15.

    Rectifiers fail less on average over the noises, and the reference less than its replicas.
    """
    archive = experiments.complete("replicated-annealing-connected")
    selection = {"wiring": "connected"}
    average, _, words = _signs_minus_rectifiers(archive, **selection)
    tested, findings = [average], [words]
    for machine in NAMES:
        average, _, words = _replicas_minus_reference(archive, machine=machine, **selection)
        tested.append(average)
        solved = len(_solved(archive, "solved", machine=machine, **selection))
        findings.append(
            f"{NAMES[machine]}: {solved} of {archive.sizes['sample']} solved, replicas fail more "
            f"often than the reference {words}"
        )
    level = [evidence.LEVEL / len(tested)] * len(tested)
    tested = [
        test if test.p < bound else test._replace(sign=0)
        for test, bound in zip(tested, level, strict=True)
    ]
    return evidence.decide(tested, "; ".join(findings))
