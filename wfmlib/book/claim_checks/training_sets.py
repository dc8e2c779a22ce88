"""Checks of the claims on what *algorithms* do with pictures (chapter 9, P1's Sec. V).

Ten training sets of P1's two classes, the same for all algorithms: the unit is the set, of which
runs are averaged and algorithms compared pair by pair. The sets overlap, as there are few
dresses, so that intervals are somewhat too short. Bags and coats, whose sets share nothing, are
in the words.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import stats

from wfmlib.book import experiments
from wfmlib.book.claim_checks import evidence
from wfmlib.book.claim_checks.words import listed

PAIR, OTHER = "dress, coat", "bag, coat"
ORDER = ("eLAL", "ceSGD slow", "ceSGD fast", "LAL")
BETA = 90.0  # at which P1 shows eigenvalues
UNIT = "training sets"


def _sets(pair):
    return experiments.complete("image-training-sets").sel(classes=pair)


def _errors(algorithm, pair=PAIR):
    """Return test errors in per cent, of P1's test pictures: a mean over runs for each set."""
    return 100.0 * _sets(pair)["test_error"].sel(algorithm=algorithm).mean("run").values


def _log_eigenvalues(algorithm):
    """Return the mean logarithm of the largest eigenvalue for each set."""
    eigenvalues = _sets(PAIR)["largest"].sel(algorithm=algorithm, beta=BETA)
    return np.log(eigenvalues).mean("run").values


def _rising(values, names, comparisons):
    """Compare neighbours set by set: each less than the next."""
    return [
        evidence.compare(values(second) - values(first), comparisons=comparisons)
        for first, second in pairwise(names)
    ]


def _values_of_p(comparisons):
    return ", ".join(f"{test.p:.1g}" for test in comparisons)


def all_sets_are_learned():
    """Runs that end without an error, on ten training sets of P1's classes, two runs on each."""
    solved = (_sets(PAIR)["errors"] == 0).sum(("sample", "run"))
    runs = _sets(PAIR)["errors"].sel(algorithm=ORDER[0]).size
    text = ", ".join(f"{a} {int(solved.sel(algorithm=a))}" for a in ORDER)
    return bool((solved == runs).all()), f"of {runs} runs on ten sets: {text}"


def flat_minima_generalise_on_each_set():
    """Spearman's correlation of largest eigenvalue and test error, β = 90, on each of ten sets."""
    rows = [_correlations(pair) for pair in (PAIR, OTHER)]
    tested = evidence.compare(rows[0])
    finding = "; ".join(
        f"{pair}: {np.mean(correlations):.2f} on average, {np.min(correlations):.2f} or more"
        for pair, correlations in zip((PAIR, OTHER), rows, strict=True)
    )
    return evidence.decide([tested], finding, UNIT)


def _correlations(pair):
    """Return the correlation over the runs of all algorithms, for each set."""
    data = _sets(pair).sel(beta=BETA).transpose("sample", "algorithm", "run", ...)
    rows = zip(data["largest"].values, data["test_error"].values, strict=True)
    return np.array([stats.spearmanr(x.ravel(), y.ravel())[0] for x, y in rows])


def slow_generalises_better_on_sets():
    """Test errors of both schedules on ten training sets, set by set."""
    names = ("ceSGD slow", "ceSGD fast")
    tested = _rising(_errors, names, 1)
    return evidence.decide(tested, f"{_means(names)}; p = {_values_of_p(tested)}", UNIT)


def replicas_generalise_better_on_sets():
    """Test errors and largest eigenvalues of LAL with replicas and without, set by set."""
    names = ("eLAL", "LAL")
    tested = [*_rising(_errors, names, 2), *_rising(_log_eigenvalues, names, 2)]
    finding = f"test errors {_means(names)}; p = {_values_of_p(tested[:1])}, eigenvalues p = "
    return evidence.decide(tested, finding + _values_of_p(tested[1:]), UNIT)


def _means(names):
    return "; ".join(
        f"{pair} {listed([_errors(a, pair).mean() for a in names], 1)} %" for pair in (PAIR, OTHER)
    )


def curvatures_ordered_on_sets():
    """Largest eigenvalues at β = 90 on ten training sets, set by set."""
    tested = _rising(_log_eigenvalues, ORDER[1:], 2)
    means = [np.exp(_log_eigenvalues(a).mean()) for a in ORDER[1:]]
    finding = f"{listed(means, 0)} (geometric means); p = {_values_of_p(tested)}"
    return evidence.decide(tested, finding, UNIT)
