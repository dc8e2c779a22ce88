"""How the claims on annealing are found: two losses (chapter 2), committees (chapter 5).

All are read from archives. Where means over samples are compared, a difference counts where it
exceeds two standard errors of it.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib import experiments
from wfmlib.claim_checks.words import listed
from wfmlib.theory import ReLU, Sign, stabilities

SIGMAS = 2.0
FAIRLY_HIGH = 0.5  # a load, of a capacity of 0.833
SLIGHT = 0.01  # share of the patterns
NOISES = (0.05, 0.2)  # shares of flipped inputs; at 0.2 a quarter of the answers is wrong
UNITS = {"sign": Sign(), "relu": ReLU()}
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
    excess = (counted - smooth)[high].T
    stuck = np.all(counted[high] > 0)
    more = np.all(np.mean(excess, axis=0) > SIGMAS * _standard_error(excess))
    return bool(reach >= FAIRLY_HIGH and stuck and more), (
        f"at N = {archive['N'].values[-1]} and α = {listed(loads, 1)} annealing the number of "
        f"errors leaves {listed(counted.mean(axis=1), 1)} of them, annealing the cross-entropy "
        f"{listed(smooth.mean(axis=1), 1)}, with half of the samples solved up to α = {reach:g}"
    )


def annealing_cross_entropy_near_best():
    """Cross-entropy against replicas that attract each other, as many sweeps each, ten samples."""
    archive = experiments.complete("annealing-losses")
    loads, sizes = archive["alpha"].values, archive["N"].values
    smooth, together = (_left(archive, loss) for loss in ("cross-entropy", "replicated"))
    patterns = np.round(loads[None, :] * sizes[:, None])[:, :, None]
    excess = np.moveaxis((smooth - together) / patterns, 2, 0)
    mean, error = np.mean(excess, axis=0), _standard_error(excess)
    reach, other = (_reach(archive, loss) for loss in ("cross-entropy", "replicated"))
    slight = np.all(mean - SIGMAS * error < SLIGHT) and np.all(other - reach < 0.11)
    worst = np.unravel_index(np.argmax(mean), mean.shape)
    return bool(slight), (
        f"at N = {', '.join(map(str, sizes))} half of the samples are solved up to α = "
        f"{listed(reach, 1)} by the cross-entropy and {listed(other, 1)} by replicas; it leaves "
        f"at most {100 * mean[worst]:.2f} ± {100 * error[worst]:.2f} % of the patterns more "
        f"wrong (N = {sizes[worst[0]]}, α = {loads[worst[1]]:g}); replicas stand for the local "
        f"entropy"
    )


# ------------------------------------------------------------------------------------------------
# Committees of binary weights: replicas held at an overlap (P2, Fig. 3)
# ------------------------------------------------------------------------------------------------


def replicated_annealing_solves():
    """How many runs end with 20 solutions at mean overlap 0.85 ± 0.01, K = 33 and 32."""
    solved = experiments.complete("replicated-annealing")["solved"].astype(bool)
    counts = [int(solved.sel(machine=name).sum()) for name in UNITS]
    return bool(solved.all()), (
        f"{counts[0]} of {solved.sizes['sample']} with signs, {counts[1]} with rectifiers"
    )


def _solved(archive, variable, **where):
    """Return a variable of the samples that were solved, along the first axis."""
    chosen = archive.sel(**where)
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
    at = (edges - first) / step
    inside = (np.abs(at - np.round(at)) > 1e-6) & (edges > 0.0) & (edges < 4.0)
    places, chosen = np.unique(first + (np.floor(at[inside]) + 0.5) * step, return_index=True)
    below = below[:, inside][:, chosen]
    return places, below.mean(axis=0), _standard_error(below)


def simulated_stabilities_agree():
    """Stabilities of 20 replicas, all samples, against theory: the largest gap of the shares."""
    archive = experiments.complete("replicated-annealing")
    holds, said = True, []
    for machine, unit in UNITS.items():
        places, found, error = _shares_below(archive, machine)
        dense, typical = (
            np.abs(found - stabilities.cumulative(places, 0.4, activation=unit, **options))
            for options in ({"overlap": 0.85, "replicas": 20}, {})
        )
        holds &= np.max(dense) < 0.1 * np.max(typical)
        said.append(
            f"with {NAMES[machine]} at most {np.max(dense):.3f} (standard error "
            f"{np.max(error):.3f}), and {np.max(typical):.2f} from that of typical solutions"
        )
    return bool(holds), (
        f"the share of stabilities below a place differs from that in dense regions "
        f"{'; '.join(said)} (agrees: within a tenth of the latter)"
    )


def _band(archive):
    noise = archive["noise"].values
    return noise, (noise >= NOISES[0] - 1e-9) & (noise <= NOISES[1] + 1e-9)


def _signs_minus_rectifiers(archive, **where):
    """Return whether the signs' reference fails more often throughout the band, and words."""
    noise, band = _band(archive)
    both = [_solved(archive, "reference_failures", machine=name, **where) for name in UNITS]
    difference = both[0].mean(axis=0) - both[1].mean(axis=0)
    error = np.hypot(*map(_standard_error, both))
    fewer = noise[(difference < 0.0) & (noise > NOISES[0]) & (noise < 0.5)]
    crossing = f"; less often from η = {fewer[0]:.3f} on" if len(fewer) else ""
    return bool(np.all((difference > SIGMAS * error)[band])), (
        f"the reference with signs fails more often than that with rectifiers by "
        f"{_at(noise, difference)}, standard error at most {np.max(error):.3f}{crossing}"
    )


def _replicas_minus_reference(archive, **where):
    """Return how much more often replicas fail than their reference, with its error."""
    _, band = _band(archive)
    replicas, reference = (
        _solved(archive, f"{which}_failures", **where)[:, band]
        for which in ("replica", "reference")
    )
    return (replicas - reference).mean(axis=0), _standard_error(replicas - reference)


def _at(noise, values):
    """Put three of the values into words."""
    places = [int(np.argmin(np.abs(noise - one))) for one in (0.05, 0.1, 0.2)]
    return f"{listed(values[places], 3)} at η = {listed(noise[places], 2)}"


def relu_more_robust_simulated():
    """Errors on noisy patterns, signs minus rectifiers, at noise from 0.05 to 0.2."""
    return _signs_minus_rectifiers(experiments.complete("replicated-annealing"))


def reference_more_robust():
    """Errors on noisy patterns, replicas minus their reference, at noise from 0.05 to 0.2."""
    archive = experiments.complete("replicated-annealing")
    noise, band = _band(archive)
    holds, said = True, []
    for machine in UNITS:
        difference, error = _replicas_minus_reference(archive, machine=machine)
        holds &= np.all(difference > SIGMAS * error)
        said.append(f"with {NAMES[machine]} by {_at(noise[band], difference)}")
    return bool(holds), f"single replicas fail more often, {'; '.join(said)}"


def connected_same_phenomenology():
    """The same fully connected, K = 9 and 8 units of 201 and 200 weights, α = 0.15."""
    archive = experiments.complete("replicated-annealing-connected")
    where = {"wiring": "connected"}
    noise, band = _band(archive)
    holds, words = _signs_minus_rectifiers(archive, **where)
    said = [words]
    for machine in UNITS:
        apart, error = _replicas_minus_reference(archive, machine=machine, **where)
        solved = len(_solved(archive, "solved", machine=machine, **where))
        holds &= np.all(apart > SIGMAS * error)
        said.append(
            f"{NAMES[machine]}: {solved} of {archive.sizes['sample']} solved, replicas fail more "
            f"often than the reference by {_at(noise[band], apart)}"
        )
    return bool(holds), "; ".join(said)
