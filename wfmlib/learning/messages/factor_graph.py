"""The messages on a committee's factor graph, and what one sweep does to them.

`SphericalMessages` and `BinaryMessages` hold the same things under the same names, so that
`belief_propagation` and `focusing_bp` are written once: the patterns, the messages from patterns
to weights, and two fields that do not come from patterns: the pull towards a reference, and the
star's (the other replicas, acting through their centre).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from wfmlib.learning._devices import rows
from wfmlib.learning.messages import binary_messages, spherical_messages
from wfmlib.learning.messages.packed_patterns import PackedPatterns

START = 0.1  # standard deviation of a weight's field at the start, which breaks its symmetry
RENEWAL = 32  # sweeps after which fields are summed up again from the messages
MOST_FIELD = 300.0  # of a binary weight: exp(2 field) stays finite
LEAST_SHARE = 1e-3  # of the coupling that is left where the centre's norm field is negative
UNIFORM_SPHERE = 0.5 * math.log(2.0 * math.pi * math.e)  # log-volume of the sphere, per weight


class Messages(ABC):
    """Messages for `P` patterns and `K` units of `M` weights each.

    Parameters
    ----------
    device : Device
    xi : numpy.ndarray
        Patterns times labels, shape (P, N), int8.
    expanded, gaussian : bool
        The form of the messages, and of the output node.
    rng : numpy.random.Generator
        For the first messages and the orders.
    """

    def __init__(self, device, xi, expanded, gaussian, rng):
        self.device = device
        self.xi = xi
        self.expanded = expanded
        self.gaussian = gaussian
        self.rng = rng
        self.shape = units, width = rows(device, xi.shape[1])
        self.starts = np.arange(units) * (width if device.tree else 0)
        self.reference = np.zeros(self.shape)
        self.coupling = 0.0
        self.star = None
        self._since = 0
        self._packed = PackedPatterns(xi, np.ones(len(xi), dtype=np.int8))

    def errors(self, weights):
        """Return how many patterns weights answer wrongly, by one bit an entry."""
        inputs = np.zeros((self.shape[0], self.xi.shape[1]))
        for unit, start, row in zip(inputs, self.starts, weights.reshape(self.shape), strict=True):
            unit[start : start + self.shape[1]] = row
        fields = np.array([self._packed.fields(unit, threads=1) for unit in inputs])
        votes = np.sign(fields).sum(axis=0) * np.all(fields, axis=0)
        return int(np.count_nonzero(votes <= 0.0))

    def pull(self, reference, coupling):
        """Draw the weights to a reference, shape (K, M), with a strength."""
        self.reference = np.asarray(reference, dtype=float).reshape(self.shape)
        self.coupling = float(coupling)
        self._refresh()

    def focus(self, coupling, replicas):
        """Couple the weights to the centre of `replicas` copies of the network."""
        if self.star is None:
            self.star = self._new_star()
        self.star.coupling, self.star.replicas = float(coupling), float(replicas)
        self._refresh()

    def center(self):
        """Return the means of the centre that `focus` couples to, shape (K, M)."""
        return self.star.means

    def sweep(self, *, damping, in_place):
        """Renew all messages in a fresh random order, and the fields; return the residual."""
        self._since += 1
        if self._since >= RENEWAL:
            self._since = 0
            self._sum_up()
        order = self.rng.permutation(len(self.xi)) if in_place else np.arange(len(self.xi))
        residual = self._sweep(order, 1.0 - damping, float(in_place))
        return max(residual, self._refresh()) if residual < math.inf else residual

    def _first(self, shape):
        """Return small random messages for a start."""
        return self.rng.standard_normal(shape) * (START / math.sqrt(len(self.xi)))

    @abstractmethod
    def _new_star(self):
        """Return a star that does not act yet."""

    @abstractmethod
    def _sweep(self, order, keep, in_place):
        """Renew all messages; return the largest change."""

    @abstractmethod
    def _refresh(self):
        """Renew the fields that do not come from patterns; return their largest change."""

    @abstractmethod
    def _sum_up(self):
        """Sum the weights' fields up from the messages: what the sweeps have rounded goes."""

    @abstractmethod
    def arrays(self):
        """Return the messages' arrays, to start from another time."""

    @abstractmethod
    def means(self):
        """Return the weights' means, shape (K, M)."""

    @abstractmethod
    def variances(self):
        """Return the weights' variances, shape (K, M)."""

    @abstractmethod
    def free_entropy(self):
        """Return the Bethe free entropy per weight, with the fields."""

    @abstractmethod
    def entropy(self):
        """Return the entropy per weight: the free entropy without the fields' energy."""


def _check_messages(arrays, shapes):
    """Refuse arrays of messages that are not those of this problem."""
    if not isinstance(arrays, dict) or set(arrays) != set(shapes):
        names = sorted(arrays) if isinstance(arrays, dict) else arrays
        raise ValueError(
            f"messages must be those of a run with the same weights ({', '.join(shapes)}), "
            f"got {names!r}"
        )
    for name, allowed in shapes.items():
        array = np.asarray(arrays[name])
        numbers = array.dtype.kind in "iuf" and bool(np.all(np.isfinite(array)))
        if array.shape not in allowed or not numbers:
            raise ValueError(
                f"messages[{name!r}] must be finite numbers of shape {allowed[0]}, "
                f"got {array.dtype} of shape {array.shape}"
            )


class SphericalMessages(Messages):
    """Gaussian messages ``exp(U w - V w^2 / 2)`` to weights on the sphere (P1 App. D).

    The norm field ``chi``, one number per unit, holds ``<|w_k|^2> = M`` [eq-bp-norm].
    """

    strongest = 1e6  # coupling
    # Entropies: solutions closer together than roundings, and up to the Gaussian step's error.
    possible = (-20.0, 0.05)

    def __init__(self, *args):
        super().__init__(*args)
        patterns, (units, width) = len(self.xi), self.shape
        several = 1 if self.expanded else width
        self.U = self._first((patterns, units, width))
        self.V = np.zeros((patterns, units, several))
        self.chi = np.ones((units, 1))
        self._field_U = np.zeros(self.shape)  # from the reference and the star
        self._field_V = np.zeros((units, several))
        self._sum_up()
        self._refresh()

    def load(self, arrays):
        """Take over the messages of another time."""
        patterns, units, width = self.U.shape
        shapes = {"U": [self.U.shape], "chi": [self.chi.shape]}
        shapes["V"] = [(patterns, units, width), (patterns, units, 1)]
        _check_messages(arrays, shapes)
        self.U[:], self.chi[:] = arrays["U"], arrays["chi"]
        several = self.V.shape[-1]
        V = arrays["V"]
        self.V[:] = V if V.shape[-1] == several else V.mean(axis=-1, keepdims=True)
        self._sum_up()
        self._refresh()

    def arrays(self):
        """Return the messages' arrays, to start from another time."""
        return {"U": self.U.copy(), "V": self.V.copy(), "chi": self.chi.copy()}

    def means(self):
        """Return the weights' means, shape (K, M); infinite where a precision passes zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.mu / self.zeta

    def variances(self):
        """Return the weights' variances, shape (K, M)."""
        return np.broadcast_to(1.0 / self.zeta, self.shape)

    def distance(self):
        """Return ``(1 - overlap with the reference) / 2``, half of P1 (D32)."""
        return 0.25 * float(np.mean(self.variances() + (self.means() - self.reference) ** 2))

    def free_entropy(self):
        """Return the Bethe free entropy per weight, with the fields (P1 (D24)-(D27))."""
        patterns, edges = spherical_messages.pattern_and_edge_terms(
            self.xi, self.starts, self.U, self.V, self.mu, self.zeta, self.gaussian
        )
        weights = np.sum(0.5 * np.log(2.0 * np.pi / self.zeta) + 0.5 * self.mu**2 / self.zeta
                         + np.zeros(self.shape))  # fmt: skip
        pull = 0.5 * self.coupling * np.sum(self.reference**2)
        return float(patterns + weights - edges - pull) / self.mu.size

    def entropy(self):
        """Return the log of the solutions' share of the sphere, per weight (P1 (D28), (D33))."""
        fields = 0.5 * float(np.mean(self.chi)) + 2.0 * self.coupling * self.distance()
        return self.free_entropy() + fields - UNIFORM_SPHERE

    def _new_star(self):
        return Star(self.shape, self.zeta.shape)

    def _sweep(self, order, keep, in_place):
        new_mu, new_zeta = (
            messages if in_place else messages.copy() for messages in (self.mu, self.zeta)
        )
        V, zeta, renewed, sweep = self.V, self.zeta, new_zeta, spherical_messages.sweep
        if self.expanded:  # one number for all weights of a unit
            V, zeta, renewed = V[..., 0], zeta[..., 0], renewed[..., 0]
            sweep = spherical_messages.sweep_expanded
        residual = sweep(
            order, self.xi, self.starts, self.U, V, self.mu, zeta, new_mu, renewed, keep,
            self.gaussian,
        )  # fmt: skip
        self.mu, self.zeta = new_mu, new_zeta
        return residual

    def _refresh(self):
        mu = self.mu - self._field_U
        zeta = self.zeta - self._field_V - self.chi
        self._field_U = self.coupling * self.reference
        self._field_V = np.full(zeta.shape, self.coupling)
        if self.star is not None:
            self.star.renew(mu + self._field_U, zeta + self._field_V + self.chi)
            self._field_U += self.star.U
            self._field_V += self.star.V
        mu, zeta, before = mu + self._field_U, zeta + self._field_V, self.chi
        self.chi = _norm_fields(mu, zeta)
        self.mu, self.zeta = mu, zeta + self.chi
        change = np.max(np.abs(self.chi - before) / (1.0 + np.abs(before)))
        return float(change) if np.isfinite(change) else math.inf

    def _sum_up(self):
        self.mu = self.U.sum(axis=0) + self._field_U
        self.zeta = self.V.sum(axis=0) + self._field_V + self.chi


class Star:
    """The field that y - 1 replicas exert through a common centre (P1 (D34)) [eq-fbp-spherical].

    Attributes
    ----------
    U, V : numpy.ndarray
        The field ``exp(U w - V w^2 / 2)``.
    means : numpy.ndarray
        Means of the centre, whose own norm field holds them to the sphere with their variances.
    """

    def __init__(self, shape, precision_shape):
        self.U, self.V = np.zeros(shape), np.zeros(precision_shape)
        self.means = np.zeros(shape)
        self.coupling, self.replicas = 0.0, 1.0

    def renew(self, mu, zeta):
        """Renew the field from the weights' natural parameters without it."""
        strength, y = self.coupling, self.replicas
        zeta = np.maximum(zeta, spherical_messages.LEAST_PRECISION)
        share = strength / (zeta + strength)
        V, U = zeta * share, mu * share
        chi = _norm_fields(y * U, y * V)
        self.means = y * U / (y * V + chi)
        others = np.maximum((y - 1.0) * V + chi, (LEAST_SHARE - 1.0) * strength)
        share = strength / (others + strength)
        self.U, self.V = (y - 1.0) * U * share, others * share


def _norm_fields(mu, zeta):
    """Return the norm field of each unit, shape (K, 1); `zeta` may be one number a unit."""
    whole = np.ascontiguousarray(np.broadcast_to(zeta, mu.shape))
    chi = [spherical_messages.norm_field(*unit) for unit in zip(mu, whole, strict=True)]
    return np.array(chi)[:, None]


class BinaryMessages(Messages):
    """Messages to binary weights: ``1 + t w`` in the exact form, ``exp(u w)`` in the expanded."""

    strongest = 100.0  # coupling: fields stay below `MOST_FIELD`
    possible = (-1.0, math.log(2.0) + 0.05)  # entropies: up to the error of the Gaussian step

    def __init__(self, *args):
        super().__init__(*args)
        self.messages = self._first((len(self.xi), *self.shape))
        self._field = np.zeros(self.shape)  # from the reference and the star
        self._sum_up()
        self._refresh()

    def load(self, arrays):
        """Take over the messages of another time."""
        _check_messages(arrays, {"u": [self.messages.shape]})
        u = arrays["u"]
        most = binary_messages.MOST
        self.messages[:] = u if self.expanded else np.clip(np.tanh(u), -most, most)
        self._sum_up()

    def arrays(self):
        """Return the messages' arrays, to start from another time."""
        u = self.messages.copy() if self.expanded else np.arctanh(self.messages)
        return {"u": u}

    @property
    def fields(self):
        """The weights' fields, ``arctanh`` of their means, shape (K, M)."""
        return self.h if self.expanded else -0.5 * np.log(self.odds)

    def means(self):
        """Return the weights' means, shape (K, M)."""
        return np.tanh(self.fields)

    def variances(self):
        """Return the weights' variances, shape (K, M)."""
        return np.cosh(np.clip(self.fields, -MOST_FIELD, MOST_FIELD)) ** -2.0

    def distance(self):
        """Return ``(1 - overlap with the reference) / 2``."""
        return 0.5 * (1.0 - float(np.mean(self.reference * self.means())))

    def free_entropy(self):
        """Return the Bethe free entropy per weight, with the fields."""
        h = self.fields
        t = np.tanh(self.messages) if self.expanded else self.messages
        patterns, edges = binary_messages.pattern_and_edge_terms(
            self.xi, self.starts, t, np.exp(-2.0 * h), self.gaussian
        )
        if self.expanded:  # the same without forming 1 - t^2, which may be 0
            lengths = math.log(2.0) - np.logaddexp(self.messages, -self.messages)
        else:
            lengths = 0.5 * np.log1p(-(t**2))
        weights = np.sum(np.logaddexp(h, -h)) + np.sum(lengths)
        return float(patterns + weights - edges) / h.size

    def entropy(self):
        """Return the log of the number of solutions, per weight."""
        return self.free_entropy() - self.coupling * float(np.mean(self.reference * self.means()))

    def _new_star(self):
        return BinaryStar(self.shape)

    def _sweep(self, order, keep, in_place):
        if self.expanded:
            residual = binary_messages.sweep_expanded(
                order, self.xi, self.starts, self.messages, self.h, self.m, keep, in_place,
                self.gaussian,
            )  # fmt: skip
            self.m = np.tanh(self.h)
            return residual
        renewed = self.odds if in_place else self.odds.copy()
        residual = binary_messages.sweep(
            order, self.xi, self.starts, self.messages, self.odds, renewed, keep, self.gaussian
        )
        least = binary_messages.LEAST_ODDS
        if np.min(renewed) > least and np.max(renewed) < 1.0 / least:
            self._set(-0.5 * np.log(renewed))
        else:  # the product was cut off on its way
            self._sum_up()
        return residual

    def _refresh(self):
        before = self._field
        field = self.coupling * self.reference
        change = 0.0
        if self.star is not None:
            was = np.tanh(self.star.u)
            self.star.renew(self.fields - (before - field))
            field = field + self.star.u
            change = float(np.max(np.abs(np.tanh(self.star.u) - was)))
        self._set(self.fields + (field - before))
        self._field = field
        return change if np.all(np.isfinite(field)) else math.inf

    def _sum_up(self):
        u = self.messages if self.expanded else np.arctanh(self.messages)
        self._set(u.sum(axis=0) + self._field)

    def _set(self, fields):
        fields = np.clip(fields, -MOST_FIELD, MOST_FIELD)
        if self.expanded:
            self.h, self.m = fields, np.tanh(fields)
        else:
            self.odds = np.exp(-2.0 * fields)


class BinaryStar:
    """The field that y - 1 replicas exert through a common centre [eq-fbp-binary].

    With f(h) = arctanh(tanh(gamma) tanh(h)), what a field becomes on its way through a coupling
    gamma, it is ``u = f((y - 1) f(h))`` (Baldassi et al. 2016).
    """

    def __init__(self, shape):
        self.u = np.zeros(shape)
        self.means = np.zeros(shape)
        self.coupling, self.replicas = 0.0, 1.0

    def renew(self, h):
        """Renew the field from the weights' fields without it."""
        through = _through(h, self.coupling)
        self.means = np.tanh(self.replicas * through)
        self.u = _through((self.replicas - 1.0) * through, self.coupling)


def _through(h, coupling):
    """Return ``arctanh(tanh(coupling) tanh(h))``, without forming either tanh."""
    return 0.5 * (np.logaddexp(h + coupling, -h - coupling)
                  - np.logaddexp(h - coupling, coupling - h))  # fmt: skip
