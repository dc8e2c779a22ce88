"""The slope of ln Z without a branch: one formula for all arguments, in vector instructions.

`channel.slope` is exact, but its error function and exponential are for one edge at a time. Here
they are a ratio of two short polynomials and one more polynomial, each for the tolerance of an
edge, so that a loop over the edges becomes vector instructions. With ``r = B / A``, ``t = |x|``
and the hazard ``h(t) = G(t) / H(t)``,

    g = (1 - r) h / (h E + (1 - r)),   E = r exp(t^2 / 2) sqrt(2 pi)    where x < 0
    g = (1 - r) h / (h E - (1 - r)),   E = exp(t^2 / 2) sqrt(2 pi)      where x >= 0

In the second ``h E >= 2``, so that never more than half is lost. In the first, r goes into the
exponent: where one answer is all but excluded, ``r exp(t^2 / 2)`` neither over- nor underflows.
"""

from __future__ import annotations

import math

import numpy as np

from wfmlib.learning.messages.channel import fast

# D(t) = h(t) - t = P(t) / Q(t) for t >= 0, lowest power first: best in relative error, 6.1e-11,
# found as the longer one of `wfmlib.numerics.gaussian` was. The leading coefficients are those of
# t^6 and t^7. All are positive: no term cancels another.
GAP_NUMERATOR = (
    4060.2752562185456, 4061.1702598230668, 2044.4384561696204, 637.4943841786163,
    128.66639304253, 16.04442686811925, 1.0000000000603253,
)  # fmt: skip
GAP_DENOMINATOR = (
    5088.800379704041, 7407.512328883415, 5240.692713273993, 2295.735104630758,
    669.5842154448587, 130.66637946440682, 16.04442694006274, 1.0,
)  # fmt: skip

# 2^f for |f| <= 1/2, lowest power first: best in relative error, 4.1e-11.
POWER_OF_TWO = (
    0.9999999999616813, 0.6931471807284465, 0.24022651198159664, 0.055504103534477454,
    0.009618027253498194, 0.0013333922564295747, 0.00015469291181765044, 1.5201921375445404e-05,
)  # fmt: skip

PER_E = 1.0 / math.log(2.0)  # powers of two in a power of e
ROOT = 0.5 * math.log2(2.0 * math.pi)  # sqrt(2 pi), as a power of two
NO_SHARE = -1e100  # stands for r = 0 at every t
LOWEST = -1022.0  # power of two in E: beside 1 - r it is nothing
HIGHEST = 500.0  # the same: slopes end at 1e-151, since those near 1e-308 slow processors down
FARTHEST = 1e30  # t^8 stays finite
TO_EXPONENT = 2.0**52 + 1023.0  # n plus this holds the exponent bits of 2^n in its last bits


@fast
def powers(plus, minus):
    """Return ``1 - r``, and the powers of two that E has at 0, from below and from above.

    For ``plus >= minus >= 0``, not both 0.
    """
    below = NO_SHARE
    if minus > 0.0:  # the ratio itself may be too small for a number
        below = ROOT + PER_E * (math.log(minus) - math.log(plus))
    return (plus - minus) / plus, below, ROOT


@fast
def direct_slope(x, rest, below, above):
    """Return ``d ln Z / dx`` at x, from what `powers` returned; relative error below 2e-10.

    Where it is below 1e-150 it is a number of about that size, or 0; where x is below -1e30, that
    of -1e30. What comes of a NaN is not defined: callers keep them out.
    """
    p0, p1, p2, p3, p4, p5, p6 = GAP_NUMERATOR
    q0, q1, q2, q3, q4, q5, q6, q7 = GAP_DENOMINATOR
    e0, e1, e2, e3, e4, e5, e6, e7 = POWER_OF_TWO
    t = min(abs(x), FARTHEST)
    power = 0.5 * PER_E * t * t + (below if x < 0.0 else above)
    power = min(max(power, LOWEST), HIGHEST)
    n = np.floor(power + 0.5)
    f = power - n
    E = e0 + f * (e1 + f * (e2 + f * (e3 + f * (e4 + f * (e5 + f * (e6 + f * e7))))))
    E *= np.int64(np.float64(n + TO_EXPONENT).view(np.int64) << 52).view(np.float64)  # 2^n
    p = p0 + t * (p1 + t * (p2 + t * (p3 + t * (p4 + t * (p5 + t * p6)))))
    q = q0 + t * (q1 + t * (q2 + t * (q3 + t * (q4 + t * (q5 + t * (q6 + t * q7))))))
    hazard = t * q + p  # times q, which saves a division
    return rest * hazard / (hazard * E + (rest if x < 0.0 else -rest) * q)
