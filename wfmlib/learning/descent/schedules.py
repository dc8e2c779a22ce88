"""Schedules of gradient descent: how the cross-entropy and the units sharpen as epochs go by.

The text of P1, App. E leaves several readings open. A `Schedule` has a field for each, so that
another reading is another value and no other program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, NotNegative, Positive


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """The values that gradient descent on the cross-entropy runs with [eq-norm-growth].

    All are for unit norm ``|w_k| = 1`` of every unit, preactivations ``w_k . xi_k`` and the
    output ``K^{-1/2} sum_k tanh(beta x_k)``.

    Attributes
    ----------
    eta : float
        Learning rate, positive, the same throughout.
    gamma, beta : float
        Sharpness of the loss, and of the units, in the first epoch; positive. Both multiply a
        preactivation or an output that is dimensionless.
    gamma_growth, beta_growth : float
        The sharpness is multiplied by one plus this after every epoch; not negative.
    stop : float or "errors"
        When to stop: at the end of the first epoch after which sign units (``beta = inf``) make
        no error, or after which the loss is at most this, positive.
    batch : int
        Patterns in a mini-batch, at least 1; the last one of an epoch holds what is left.
    loss : {"divided", "plain"}
        The loss of a pattern: ``ln(1 + exp(-2 gamma x)) / (2 gamma)``, as the papers define it,
        or without the divisor. With the second one steps grow as gamma does.
    step : {"sum", "mean"}
        Whether a step descends the sum or the mean of the losses in its mini-batch.
    normalise : {"batch", "epoch"}
        When weights are brought back to unit norm: after every mini-batch, or every epoch.
    per : {"pattern", "batch", "epoch"}
        The loss that is recorded, and compared with `stop`, is that of one pattern or of `batch`
        patterns, on average, or of all patterns together.

    Raises
    ------
    TypeError, ValueError
        If a value is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> Schedule(eta=0.1, gamma=1.0, beta=1.0, gamma_growth=0.1, beta_growth=0.1).eta
    0.1
    """

    eta: Positive
    gamma: Positive
    beta: Positive
    gamma_growth: NotNegative = 0.0
    beta_growth: NotNegative = 0.0
    stop: Positive | Literal["errors"] = "errors"
    batch: Count = 100
    loss: Literal["divided", "plain"] = "divided"
    step: Literal["sum", "mean"] = "sum"
    normalise: Literal["batch", "epoch"] = "batch"
    per: Literal["pattern", "batch", "epoch"] = "batch"

    def __post_init__(self):
        arguments.check_fields(self)


# The values of P1, App. E. "gamma_1 = 1" of the fast schedules is read as "gamma stays what it
# is": doubled at each epoch it leaves nothing to descend after a dozen. What the text does not
# state was chosen so that the quoted numbers of epochs come out: `step`, `normalise`, `per`, and
# the beta_growth of SLOW.

# Random patterns, N = 999, K = 9 tree, P = 1000.
FAST = Schedule(eta=1e-2, gamma=3.0, beta=1.0, beta_growth=1e-3)
SLOW = Schedule(eta=3e-3, gamma=0.1, beta=0.5, gamma_growth=4e-4, beta_growth=2e-4, stop=1e-7)

# Two classes of Fashion-MNIST, N = 784, K = 9 fully connected, P = 500.
FAST_IMAGES = Schedule(eta=2e-4, gamma=5.0, beta=2.0, beta_growth=1e-4)
SLOW_IMAGES = Schedule(
    eta=3e-5, gamma=0.5, beta=0.5, gamma_growth=1e-3, beta_growth=1e-3, stop=1e-7
)

NAMED = {"fast": FAST, "slow": SLOW}
