"""All weight vectors of a small instance and what they answer, for exact Gibbs averages."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import ArrayLike, DTypeLike

from wfmlib.learning._devices import checked, rows
from wfmlib.learning.exact.enumerate_machines import unit_fields
from wfmlib.models.activations import Activation, ReLU, Sign
from wfmlib.models.devices import ParityMachine, Perceptron, TreeCommittee
from wfmlib.models.protocols import Device
from wfmlib.models.weights import Binary
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array

DEVICES = (Perceptron, TreeCommittee, ParityMachine)
LARGEST = 20  # weights
MOST = 4.0  # GiB of a result


@arguments.checked
def all_weights(N: Annotated[int, Interval(ge=1, le=22)], *, dtype: DTypeLike = np.int64) -> Array:
    """Return all 2^N binary weight vectors, in ascending lexicographic order.

    Parameters
    ----------
    N : int
        Number of weights, from 1 to 22.
    dtype : numpy.dtype, optional
        Of what is returned. The default is wide enough to calculate with, and takes 8 bytes an
        entry: 168 MB at N = 20, 740 MB at 22. ``np.int8`` takes an eighth of that.

    Returns
    -------
    numpy.ndarray
        Shape (2^N, N), entries -1 and +1. Row r has +1 at weight i where the bit of
        ``2^(N - 1 - i)`` is set in r: the first row is all -1, the second differs from it in
        the last weight, row ``2^N - 1 - r`` is the opposite of row r.

    Raises
    ------
    TypeError
        If `N` is not an integer.
    ValueError
        If `N` is out of range, or `dtype` does not hold signs.

    Examples
    --------
    >>> all_weights(2).tolist()
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    """
    kind = arguments.dtype(dtype)
    weights = np.empty((2**N, N), dtype=kind)
    for i in range(N):
        weights[:, i] = 2 * (np.arange(2**N) >> N - 1 - i & 1) - 1
    return weights


@arguments.checked
def enumerate_fields(
    device: Device, xi: ArrayLike, sigma: ArrayLike, *, dtype: DTypeLike = np.int64
) -> Array:
    """Return the fields of all 2^N binary weight vectors on all patterns.

    With them any loss has its Gibbs average [eq-gibbs] exactly, and so its local entropy. At
    loss ``f``, inverse temperature ``beta`` and the perceptron::

        fields = enumerate_fields(Perceptron(), xi, sigma)    # row r belongs to all_weights(N)[r]
        energy = f(fields / np.sqrt(N)).sum(axis=1)
        log_z = scipy.special.logsumexp(-beta * energy)
        weight = np.exp(-beta * energy - log_z)               # Gibbs weight of each vector
        error_rate = weight @ np.mean(fields <= 0, axis=1)    # a tie is an error

    Parameters
    ----------
    device : Perceptron, TreeCommittee or ParityMachine
        With binary weights; what its units answer and decide plays no role.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1, N at most 20.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    dtype : numpy.dtype, optional
        Of the fields. The default takes 8 bytes for each, ``np.int8`` one; squares of that wrap.

    Returns
    -------
    numpy.ndarray
        Exact integers, rows in the order of `all_weights`. For the perceptron shape (2^N,
        P): ``sigma (w . xi)``, that is sqrt(N) times the stability [eq-stability], labels
        included. For a tree shape (2^N, P, K): ``w_l . xi_l``, that is sqrt(N/K) times the
        preactivation of each unit, labels not included, since a unit has none.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If the device is none of those or its units do not divide N, an array does not hold
        signs, shapes do not match, N is above 20, `dtype` does not hold int8, or the result,
        ``2^N P K`` fields, would take more than 4 GiB.

    Examples
    --------
    >>> from wfmlib import Perceptron
    >>> xi, sigma = np.array([[1, 1, 1], [1, -1, 1]]), np.array([1, -1])
    >>> fields = enumerate_fields(Perceptron(), xi, sigma)
    >>> fields[-1].tolist()  # of the weights (1, 1, 1): the second pattern is wrong
    [3, -1]
    >>> int(np.sum(np.all(fields > 0, axis=1)))  # solutions
    2
    """
    checked(
        device, (Binary,), (Perceptron, TreeCommittee, ParityMachine), (Sign, ReLU, Activation)
    )
    xi, sigma = arguments.patterns(xi, sigma)
    P, N = xi.shape
    units, n = rows(device, N)
    kind = arguments.dtype(dtype)
    size = 2.0**N * P * units * kind.itemsize / 2**30
    if N > LARGEST:
        raise ValueError(
            f"xi must have at most {LARGEST} columns, got {N}: the fields would take "
            f"{size:.2g} GiB of memory"
        )
    if size > MOST:
        cure = "; dtype=np.int8 takes less" if kind.itemsize > 1 else ""
        raise ValueError(
            f"xi must have so few rows that the fields take at most {MOST:g} GiB, got {P}: "
            f"{size:.3g} GiB{cure}"
        )
    if isinstance(device, Perceptron):
        return unit_fields(xi * sigma[:, None]).astype(kind)
    fields = np.empty((*(2**n,) * units, P, units), dtype=kind)  # an axis for each unit
    for unit in range(units):
        own = unit_fields(xi[:, unit * n : (unit + 1) * n])
        rest = (1,) * (units - 1 - unit)
        fields[..., unit] = own.reshape(2**n, *rest, P)
    return fields.reshape(2**N, P, units)
