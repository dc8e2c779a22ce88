"""The devices: which function of its inputs a machine computes, and from which weights.

A device says everything about a machine but the values of its weights. Replica theory, algorithms
and experiments take the same device; `network` turns weights that were found into a network.

Patterns have N inputs. A tree gives each of its K units a part of them, N/K inputs, so that K = 1
is the perceptron; fully connected units see them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from wfmlib.models.activations import Activation, EnergeticTerm, Linear, ReLU, Sign
from wfmlib.models.weights import Binary, Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Or

__all__ = ["Committee", "ParityMachine", "Perceptron", "TreeCommittee", "accepted"]

WEIGHTS = (Binary, Spherical)
ACTIVATIONS = (Sign, ReLU, Activation)
PRIOR = ("discrete", "entropy", "entropic")  # of weights: members that typical solutions need


class Device:
    """What all devices share.

    Attributes
    ----------
    tree : bool
        Whether the units see disjoint parts of the input; True for a single one.
    """

    tree = True

    def shape(self, N):
        """Return the shape of the weights for N inputs.

        Parameters
        ----------
        N : int
            Number of inputs; a multiple of `units` for a tree.

        Returns
        -------
        tuple of int
            ``(N,)`` for a perceptron, ``(K, N/K)`` for a tree, ``(K, N)`` fully connected.

        Raises
        ------
        TypeError, ValueError
            If N is not a positive integer, if the units do not divide it, or if there are
            infinitely many units.
        """
        units = self.finite_units()
        N = arguments.integer("N", N, 1)
        if not self.tree:
            return units, N
        if N % units:
            raise ValueError(f"units must divide N, got {units} units with N = {N}")
        return units, N // units

    def finite_units(self):
        """Return the number of units, which only theory may take to infinity."""
        if math.isinf(self.units):
            raise ValueError(f"units must be finite for a network, got {self!r}")
        return self.units

    def network(self, w):
        """Return the network of this device that has the weights w.

        Parameters
        ----------
        w : array_like
            Weights, shape ``(N,)`` for a perceptron, ``(K, N/K)`` for a tree, ``(K, N)`` fully
            connected; -1 and +1 where the device has binary weights.

        Returns
        -------
        PerceptronNetwork or another of `wfmlib.networks`

        Raises
        ------
        TypeError, ValueError
            If `w` does not hold finite real numbers, or not as many units as the device has, or
            anything but -1 and +1 where weights are binary.
        """
        net = self._network(w)
        if net.w.ndim > 1 and len(net.w) != self.units:
            raise ValueError(f"w must have {self.units} rows, one a unit, got shape {net.w.shape}")
        if self.weights.discrete and net.w.dtype.kind != "i":
            has = f"weights {self.weights!r}, and networks hold none of other values"
            has = "binary weights" if isinstance(self.weights, Binary) else has
            raise ValueError(f"w must hold -1 and +1 only: the device has {has}")
        return net

    def _checked(self, activation=None):
        """Check and normalise the fields; called by each device when it is made."""
        _check_weights(self.weights)
        arguments.check_fields(self)
        if activation is not None:
            if isinstance(activation, WEIGHTS):
                raise TypeError(
                    f"activation must be Sign(...) or ReLU(...) or Activation(...), got "
                    f"{activation!r}; name the weights: weights={activation!r}"
                )
            own = isinstance(activation, EnergeticTerm) and activation.one_field
            if not own:
                if callable(activation) and not isinstance(activation, (type, *ACTIVATIONS)):
                    written = getattr(activation, "__name__", None) or repr(activation)
                    raise TypeError(
                        f"activation must be Sign(...) or ReLU(...) or Activation(...), got "
                        f"{activation!r}; write Activation({written})"
                    )
                arguments.member("activation", activation, ACTIVATIONS)


def _check_weights(weights):
    """Refuse what is neither one of the package's weights nor has a prior's members."""
    if isinstance(weights, (type, str)):
        arguments.member("weights", weights, WEIGHTS)
    missing = [name for name in PRIOR if not hasattr(weights, name)]
    if missing:
        lacks = f"{weights!r} lacks {', '.join(missing)}"
        if isinstance(weights, (tuple, list, np.ndarray)):
            lacks = f"got {weights!r}; write Discrete({weights!r}) for weights of these values"
        raise TypeError(
            "weights must be Binary(...) or Spherical(...) or Discrete(...), or have "
            f"{', '.join(PRIOR)}: {lacks}"
        )


@dataclass(frozen=True)
class Perceptron(Device):
    """One threshold unit: the answer is the sign of ``w @ xi``.

    Parameters
    ----------
    weights : Binary, Spherical or Discrete
        What a weight may be; or a prior of one's own, with the members that a question needs.

    Raises
    ------
    TypeError
        If `weights` is of another kind.

    Examples
    --------
    >>> Perceptron().network([1, -1, 1]).output([[1, 1, 1]])
    array([1])
    >>> Perceptron().shape(9), Perceptron().units
    ((9,), 1)
    """

    weights: Binary | Spherical = Binary()

    units = 1  #: number of units
    activation = Linear()  #: a stability is the field itself: effective overlap c(q) = q

    def __post_init__(self):
        _check_weights(self.weights)

    def shape(self, N: int) -> tuple[int, ...]:
        return (arguments.integer("N", N, 1),)

    def _network(self, w):
        from wfmlib import networks

        return networks.PerceptronNetwork(w)


@dataclass(frozen=True)
class TreeCommittee(Device):
    """Units on disjoint parts of the input; the answer is the sign of the sum of theirs.

    Sign units vote [eq-tree-committee]; of other units half of the answers are added and half
    subtracted (P2, eq. 1).

    Parameters
    ----------
    units : int or numpy.inf
        Number K of units, at least 1, or ``math.inf``. Theory for infinitely many
        holds as K tends to infinity after N.
    activation : Sign, ReLU or Activation
        What a unit answers to its preactivation.
    weights : Binary or Spherical
        What a weight may be; the sphere is that of each unit, ``|w_k|^2 = N/K``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> TreeCommittee(np.inf, ReLU())
    TreeCommittee(units=inf, activation=ReLU(), weights=Spherical())
    >>> TreeCommittee(3).shape(999)
    (3, 333)
    >>> TreeCommittee(3).network(np.ones((3, 2))).output([[1, 1, 1, 1, -1, -1]]).tolist()
    [1]
    """

    units: Annotated[int | float, Ge(1), Or(math.inf)]
    activation: Sign | ReLU | Activation = Sign()
    weights: Binary | Spherical = Spherical()

    def __post_init__(self):
        self._checked(self.activation)

    def _network(self, w):
        return _committee(self, w)


@dataclass(frozen=True)
class Committee(Device):
    """Units that see all of the input; the answer is the sign of the sum of theirs.

    Sign units vote; of other units half of the answers are added and half subtracted (P2, eq. 1).

    Parameters
    ----------
    units : int
        Number K of units, at least 1.
    activation : Sign, ReLU or Activation
        What a unit answers to its preactivation.
    weights : Binary or Spherical
        What a weight may be; the sphere is that of each unit, ``|w_k|^2 = N``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> Committee(3).shape(9)
    (3, 9)
    >>> Committee(1).network([[1, 1, -1]]).output([[1, 1, 1]]).tolist()
    [1]
    """

    units: Count
    activation: Sign | ReLU | Activation = Sign()
    weights: Binary | Spherical = Spherical()

    tree = False

    def __post_init__(self):
        if isinstance(self.units, float) and self.units == math.inf:
            raise TypeError(
                "units must be an integer, got inf: infinitely many are those of a tree, "
                "TreeCommittee(math.inf)"
            )
        self._checked(self.activation)

    def _network(self, w):
        return _committee(self, w)


@dataclass(frozen=True)
class ParityMachine(Device):
    """Sign units on disjoint parts of the input; the answer is the product of theirs.

    This is [eq-parity-output].

    Parameters
    ----------
    units : int
        Number K of units, at least 1.
    weights : Binary or Spherical
        What a weight may be; the sphere is that of each unit, ``|w_k|^2 = N/K``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Examples
    --------
    >>> ParityMachine(3).shape(9)
    (3, 3)
    >>> ParityMachine(2).network([[1], [1]]).output([[1, -1]]).tolist()
    [-1]
    """

    units: Count
    weights: Binary | Spherical = Spherical()

    def __post_init__(self):
        self._checked()

    def _network(self, w):
        from wfmlib import networks

        return networks.ParityMachineNetwork(w)


def _committee(device, w):
    """Return the network of a committee, on a tree or fully connected."""
    from wfmlib import networks

    if isinstance(device.activation, ReLU):
        return networks.ReluCommitteeNetwork(w, tree=device.tree)
    if isinstance(device.activation, Sign):
        return networks.TreeCommitteeNetwork(w) if device.tree else networks.CommitteeNetwork(w)
    if not callable(device.activation):
        raise ValueError(
            "activation must be Sign(), ReLU() or Activation(g), or have __call__, for a network: "
            f"{device.activation!r} lacks it"
        )
    return networks.ActivationCommitteeNetwork(w, device.activation, tree=device.tree)


def accepted(device):
    """Return a device as it was given.

    Raises
    ------
    TypeError
        If it is none; the message names `device`, and says so where a class was given.

    Examples
    --------
    >>> accepted(Perceptron())
    Perceptron(weights=Binary())
    """
    if not isinstance(device, Device):
        hint = "; call the class" if isinstance(device, type) else ""
        raise TypeError(
            "device must be a device, such as Perceptron() or TreeCommittee(3), "
            f"got {device!r}{hint}"
        )
    return device
