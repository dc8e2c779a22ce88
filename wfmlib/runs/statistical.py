"""Whether new samples look like those of an archive: a test of ranks.

A new sample and the archived ones at the same point of the grid are exchangeable if the code is
the same in law. Of each variable a sample has one number, and its rank among them is then uniform.
Deviations of the ranks are summed over the new samples; the sum's law follows from the pools, ties
included, and is sampled. P-values of all variables are corrected by Holm's method.

With a dozen samples only gross differences show: a shift of all values by about one standard
deviation, not a tenth of one. The archived sample of the same seed is left out: it shares its
patterns with the new one, which would hide a difference behind the likeness. Where points share
their seeds, ranks of one seed at several points are not independent; they are taken to be, which
makes false alarms likelier, not rarer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.01  # of a false alarm, in all variables together
POWER = 0.9  # at which a shift counts as one that would have been seen
DRAWS = 100_000  # of the sum of ranks


@dataclass(frozen=True)
class Ranks:
    """What the test of ranks says.

    Attributes
    ----------
    p : dict of str to float
        Of each variable that varies, two-sided, corrected for their number.
    least_possible : float
        The least corrected p that these pools could have given: where it is above the level, the
        test cannot fail, and says nothing.
    samples : int
        How many new samples were compared.
    """

    p: dict
    least_possible: float
    samples: int

    @classmethod
    def of(cls, found, pools, seed=0):
        """Test new samples against the archived ones at their points.

        Parameters
        ----------
        found : list of dict of str to ndarray
            The values of each new sample.
        pools : list of list of dict
            For each, those of the archived samples at its point, without that of its seed.
        seed : int, optional
            Of the sampled law.
        """
        rng = np.random.default_rng(seed)
        raw = {}
        for name in found[0]:
            new = [summary(one[name]) for one in found]
            old = [[summary(one[name]) for one in pool] for pool in pools]
            if any({value} != {*pool} for value, pool in zip(new, old, strict=True)):
                raw[name] = _p_value(new, old, rng)
        possible = max(
            math.prod(1.0 / (len(pool) + 1) for pool in pools) * 2.0 * len(raw),
            len(raw) / (DRAWS + 1),
        )
        return cls(_holm(raw), min(possible, 1.0), len(found))

    @property
    def least(self):
        """The least corrected p."""
        return min(self.p.values())

    @property
    def where(self):
        """The variable that it belongs to."""
        return min(self.p, key=self.p.get)

    @property
    def agrees(self):
        """Whether nothing speaks against one law; None where nothing could."""
        if self.least_possible > LEVEL:
            return None
        return bool(self.least > LEVEL)

    @property
    def detectable(self):
        """The shift, in standard deviations, of one variable that would show in nine of ten."""
        size = stats.norm.isf(0.5 * LEVEL / len(self.p)) + stats.norm.ppf(POWER)
        return round(float(size / math.sqrt(self.samples)), 2)


def summary(values):
    """Return one number for what a sample has of a variable: the mean of what is finite.

    Where nothing is, it is -inf: to have no value is a result, too.
    """
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else -math.inf


def _p_value(new, old, rng):
    """Return the two-sided p-value of the summed ranks of new values, each in its pool."""
    total, law = 0.0, np.zeros(DRAWS)
    for value, pool in zip(new, old, strict=True):
        ranks = stats.rankdata([value, *pool])
        deviations = (ranks - ranks.mean()) / len(ranks)
        total += deviations[0]
        law += rng.choice(deviations, DRAWS)
    beyond = np.count_nonzero(np.abs(law) >= abs(total) - 1e-9)
    return float((beyond + 1) / (DRAWS + 1))


def _holm(raw):
    """Return p-values corrected for their number by Holm's method."""
    corrected, last = {}, 0.0
    for place, name in enumerate(sorted(raw, key=raw.get)):
        last = max(last, min(1.0, (len(raw) - place) * raw[name]))
        corrected[name] = last
    return corrected
