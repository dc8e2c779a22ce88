"""The axes at the public door: which members there are, and in which ranges they are solved."""

from __future__ import annotations

from wfmlib import _validate
from wfmlib.theory.activations import Activation, Perceptron, ReLU, Sign
from wfmlib.theory.constraints import CrossEntropy, Margin
from wfmlib.theory.weights import Binary, Spherical

WEIGHTS = (Binary, Spherical)
ACTIVATIONS = (Perceptron, Sign, ReLU, Activation)
CONSTRAINTS = (Margin, CrossEntropy)

# In units of the activation's scale. From about -2.3 downwards, at loads of hundreds, several
# replica-symmetric saddle points coexist; from -2 on there is one: the load increases with q_hat.
MARGINS = (-2.0, 1e4)
LEAST_LOAD = 1e-7  # other than 0; its largest margin lies within the range


def checked(weights, activation, constraint, constraints=(Margin,)):
    """Return the three axes after checking that each is one of its members, in range."""
    _validate.member("weights", weights, WEIGHTS)
    _validate.member("activation", activation, ACTIVATIONS)
    _validate.member("constraint", constraint, constraints)
    if isinstance(constraint, Margin):
        _validate.real("margin / activation.scale", constraint.kappa / activation.scale, *MARGINS)
    return weights, activation, constraint


def checked_margin(margin):
    """Return the constraint of a margin given as a number."""
    return Margin(_validate.real("margin", margin))


def checked_load(alpha, least=0.0):
    """Return a load as a float: 0, or from `least` upwards."""
    alpha = _validate.real("alpha", alpha, 0.0)
    return alpha and _validate.real("alpha, if not 0,", alpha, least)
