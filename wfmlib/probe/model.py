"""The model that is probed: a network as functions of a flat array of weights."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike
from scipy import special

from wfmlib.landscape import _configuration
from wfmlib.networks import CommitteeNetwork, PerceptronNetwork, TreeCommitteeNetwork
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array

Function: TypeAlias = Callable[[Array], Any]
SMALL = 0.01  # of the weights' length, and of the loss: how much a model at a minimum may win


class ModelWarning(UserWarning):
    """A model is not what a measure takes it for; the message says by how much.

    Examples
    --------
    >>> issubclass(ModelWarning, UserWarning)
    True
    """


class Model:
    """A network to be probed: its weights in one row, and functions of such rows.

    There are three ways to make one. ``Model(weights, error=, loss=, gradient=, ...)`` takes
    functions. ``Model(solution, xi, sigma)`` takes what an algorithm of `learning` returned, or a
    network such as ``device.network(w)``, and its patterns. ``Model(module, (inputs, labels))``
    takes a ``torch.nn.Module`` that classifies, and tensors; it is copied, in double precision and
    evaluation mode, and stays as it is.

    Parameters
    ----------
    weights : array_like, Solution, network or torch.nn.Module
        Weights, shape (n,), finite; or what has them.
    *data : array_like
        Patterns and labels of a solution or network; inputs and labels of a module, as one pair.
    error : callable, optional
        From weights, shape (n,), to the share of training examples that are wrong.
    loss : callable, optional
        From weights to the mean loss of the training examples.
    gradient : callable, optional
        From weights to the derivatives of `loss` by them, shape (n,).
    margins : callable, optional
        From weights to a number for each example, positive where it is right.
    layers : sequence of tuples, optional
        Shapes of the arrays that the weights consist of, in their order, as ``[(16, 64), (16,),
        (10, 16), (10,)]``. Each row of an array with two or more axes belongs to one unit, as in
        torch; an array with one axis, of biases, is treated as one. By default all weights are
        one unit's.
    examples : int, optional
        Number of training examples, at least 1.
    classes : int, optional
        Number of classes, at least 2: a model that guesses is wrong on ``1 - 1/classes``.

    Attributes
    ----------
    weights : numpy.ndarray
        Shape (n,), float64.
    binary : bool
        Whether weights are -1 and +1, and stay so: of devices whose weights are.
    kind : str
        What it was made of, in words.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or shape; the message names it.

    Warns
    -----
    ModelWarning
        If there is no `error`, or if it is that of a guess.

    Notes
    -----
    The loss of a perceptron on the sphere ``|w|^2 = N`` is the mean of ``ln(1 + exp(-s))``, s the
    stability. Other devices are known by their errors alone: for their curvature make a model of
    a loss that is smooth, such as `landscape.smoothed_loss`.

    Examples
    --------
    >>> import numpy as np
    >>> model = Model(np.zeros(3), error=lambda w: 0.0, loss=lambda w: w @ w, examples=10)
    >>> model
    Model of 3 weights: functions of the weights, error 0
    >>> model.number, model.error(np.ones(3)), model.loss(np.ones(3))
    (10, 0.0, 3.0)
    """

    def __init__(
        self,
        weights: Any,
        *data: Any,
        error: Function | None = None,
        loss: Function | None = None,
        gradient: Function | None = None,
        margins: Function | None = None,
        layers: Sequence[tuple[int, ...]] | None = None,
        examples: Annotated[int, Ge(1)] | None = None,
        classes: Annotated[int, Ge(2)] = 2,
    ) -> None:
        functions = {"error": error, "loss": loss, "gradient": gradient, "margins": margins}
        for name, function in functions.items():
            if function is not None:
                arguments.function(name, function)
        self.examples = None if examples is None else arguments.integer("examples", examples, 1)
        self.classes = arguments.integer("classes", classes, 2)
        self.binary, self.kind, self._many = False, "functions of the weights", {}
        self.functions = {
            name: function for name, function in functions.items() if function is not None
        }
        if hasattr(weights, "named_parameters") or hasattr(weights, "output") or data:
            if self.functions or layers is not None or examples is not None:
                raise TypeError(
                    "functions, layers and examples go with an array of weights; a solution, "
                    "network or module brings its own"
                )
            module = hasattr(weights, "named_parameters")
            read = self._read_module if module else self._read_network
            weights, layers = read(weights, data)
        self.weights = arguments.reals("weights", weights)
        if self.weights.ndim != 1 or self.weights.size == 0:
            raise ValueError(f"weights must be in one row, got shape {self.weights.shape}")
        if not np.all(np.isfinite(self.weights)):
            raise ValueError("weights must be finite")
        if not self.functions:
            raise TypeError("a model needs error=, loss= or another function of its weights")
        self.layers = [tuple(shape) for shape in layers or [self.weights.shape]]
        if sum(map(math.prod, self.layers)) != len(self.weights):
            raise ValueError(f"layers must hold {len(self.weights)} weights, got {self.layers}")
        self.weights.flags.writeable = False
        for name in self.functions:
            self._check_function(name)
        self.cost = 0  # a loss, an error and a gradient count one each, a try nothing
        self._warn()

    def __repr__(self):
        right = f", error {self.error(self.weights):.3g}" if "error" in self.functions else ""
        return f"Model of {len(self.weights)} weights: {self.kind}{right}"

    # --- functions ------------------------------------------------------------------------------

    def needs(self, *names: str) -> None:
        """Refuse a model that lacks one of these functions."""
        for name in names:
            if name not in self.functions and not (name == "examples" and self.examples):
                raise TypeError(
                    f"model has no {name}: write probe.Model(weights, {name}=...). "
                    f"It was made of {self.kind}"
                )

    @property
    def number(self) -> int:
        """Number of training examples."""
        self.needs("examples")
        return self.examples or 0

    def error(self, weights: ArrayLike) -> float:
        """Return the share of training examples that are wrong."""
        return float(self.many("error", np.asarray(weights)[None])[0])

    def loss(self, weights: ArrayLike) -> float:
        """Return the mean loss."""
        return float(self.many("loss", np.asarray(weights)[None])[0])

    def gradient(self, weights: ArrayLike) -> Array:
        """Return the derivatives of the loss, shape (n,)."""
        return self.many("gradient", np.asarray(weights)[None])[0]

    def many(self, name: str, weights: Array) -> Array:
        """Return what a function says of several weights, shape (rows, n), at once."""
        self.cost += len(weights)
        if name in self._many:
            return self._many[name](weights)
        return np.array([self.functions[name](row) for row in weights], dtype=float)

    def _check_function(self, name):
        """Check what a function answers at the weights."""
        value = arguments.reals(f"{name}(weights)", self.functions[name](self.weights))
        shape = {"gradient": self.weights.shape, "margins": value.shape[:1] or (1,)}.get(name, ())
        if value.shape != shape:
            raise ValueError(f"{name}(weights) must have shape {shape}, got {value.shape}")
        if not np.all(np.isfinite(value)):
            raise ValueError(f"{name}(weights) must be finite, got {value}")
        if name == "error" and not 0.0 <= value <= 1.0:
            raise ValueError(f"error(weights) must be a share from 0 to 1, got {value}")

    def _warn(self):
        """Warn of what makes measures mean little."""
        if "error" not in self.functions:
            text = "model has no error: its local energy and volume cannot be measured"
        elif (wrong := self.error(self.weights)) >= 0.95 * (chance := 1.0 - 1.0 / self.classes):
            text = f"model is wrong on {wrong:.3g} of its examples, as a guess is ({chance:.3g})"
        else:
            return
        warnings.warn(text, ModelWarning, stacklevel=3)

    def tell_slope(self) -> None:
        """Warn if the loss still falls: where a measure assumes a minimum.

        To first order a move downhill, by a hundredth of the weights' length, may lower the loss
        by a hundredth of itself at most.
        """
        slope = float(np.linalg.norm(self.gradient(self.weights)))
        step, loss = SMALL * float(np.linalg.norm(self.weights)), self.loss(self.weights)
        if slope * step > SMALL * abs(loss) and slope > 1e-8:
            warnings.warn(
                f"model is not at a minimum: the gradient's norm is {slope:.3g} at a loss of "
                f"{loss:.3g}, and a move by {step:.3g} would lower it by {slope * step:.3g}",
                ModelWarning,
                stacklevel=4,
            )

    # --- units ----------------------------------------------------------------------------------

    def blocks(self, per: str) -> Array:
        """Return where each unit, or each layer, begins in the row of weights."""
        starts, start = [], 0
        for shape in self.layers:
            rows = shape[0] if per == "unit" and len(shape) > 1 else 1
            size = math.prod(shape)
            starts += range(start, start + size, size // rows)
            start += size
        return np.array(starts)

    def scale(self, per: str) -> Array:
        """Return the size of each weight that a perturbation is relative to, shape (n,).

        Its own, or the root mean square of its unit's or layer's.
        """
        if per == "weight":
            return np.abs(self.weights)
        starts = self.blocks(per)
        sizes = np.diff([*starts, len(self.weights)])
        return np.repeat(np.sqrt(np.add.reduceat(self.weights**2, starts) / sizes), sizes)

    def output(self) -> Array:
        """Return which weights the outputs are linear in: the last matrix and what follows."""
        last = max((i for i, shape in enumerate(self.layers) if len(shape) > 1), default=0)
        first = sum(map(math.prod, self.layers[:last]))
        return np.arange(len(self.weights)) >= first

    # --- sources --------------------------------------------------------------------------------

    def _read_network(self, network, data):
        """Take a solution or a network with its patterns."""
        net = _configuration.network(network, "weights")
        if len(data) != 2:
            raise TypeError(
                "a solution or network needs its patterns: probe.Model(net, xi, sigma)"
            )
        xi, sigma = arguments.patterns(*data)
        if not isinstance(getattr(net, "w", None), np.ndarray):
            raise TypeError(f"weights must be in one array, net.w, of the network, got {net!r}")
        shape, starts = net.w.shape, net.w.astype(float)
        self.binary, self.kind, self.examples = net.w.dtype.kind == "i", repr(net), len(xi)
        kind = np.int64 if self.binary else float

        def errors(flat):
            moved = copy.copy(net)
            moved.w = flat.reshape(shape).astype(kind)
            return moved

        self.functions["error"] = lambda flat: errors(flat).errors(xi, sigma) / len(xi)
        if hasattr(net, "stabilities"):
            self.functions["margins"] = lambda flat: errors(flat).stabilities(xi, sigma)
        signed = (xi * sigma[:, None]).astype(float)
        if type(net) is PerceptronNetwork:
            starts *= math.sqrt(starts.size) / np.linalg.norm(starts)
            self._read_perceptron(signed / math.sqrt(starts.size))
        elif type(net) in (TreeCommitteeNetwork, CommitteeNetwork):
            parts = signed.reshape(len(xi), *shape) if net.tree else signed

            def share(rows):
                w = rows.reshape(-1, *shape)
                if net.tree:
                    votes = np.sign(np.einsum("bkm,pkm->bkp", w, parts, optimize=True))
                else:
                    votes = np.sign(w @ signed.T)
                return np.mean((votes.sum(axis=1) <= 0) | np.any(votes == 0, axis=1), axis=1)

            self._many["error"] = share
        return starts.ravel(), [shape]

    def _read_perceptron(self, signed):
        """Take the patterns times their labels, in the unit of stabilities, (P, N)."""
        self._many["error"] = lambda rows: np.mean(rows @ signed.T <= 0.0, axis=1)
        if self.binary:
            return
        P = len(signed)
        many = {
            "loss": lambda rows: np.mean(np.logaddexp(0.0, -(rows @ signed.T)), axis=1),
            "gradient": lambda rows: -special.expit(-(rows @ signed.T)) @ signed / P,
        }
        self._many |= many
        for name, function in many.items():
            self.functions[name] = lambda flat, function=function: function(flat[None])[0]

    def _read_module(self, module, data):
        """Take a torch module with its inputs and labels."""
        import torch

        if len(data) == 1:
            data = tuple(data[0])
        if len(data) != 2:
            raise TypeError("a module needs its data: probe.Model(module, (inputs, labels))")
        inputs, labels = data
        net = copy.deepcopy(module).double().eval()
        inputs = inputs.double() if inputs.is_floating_point() else inputs
        named = dict(net.named_parameters())
        sizes = [parameter.numel() for parameter in named.values()]
        flat = torch.cat([parameter.detach().reshape(-1) for parameter in named.values()])
        self.kind, self.examples = type(module).__name__, len(labels)

        def logits(row):
            pieces = zip(named.items(), torch.split(row, sizes), strict=True)
            return torch.func.functional_call(
                net,
                {name: piece.view_as(parameter) for (name, parameter), piece in pieces},
                (inputs,),
            )

        def measured(function):
            def of_array(weights):
                with torch.no_grad():
                    return function(logits(torch.from_numpy(np.array(weights)))).numpy()

            return of_array

        def gradient(weights):
            row = torch.from_numpy(np.array(weights)).requires_grad_()
            loss = torch.nn.functional.cross_entropy(logits(row), labels)
            return torch.autograd.grad(loss, row)[0].numpy()

        def gaps(answers):
            own = answers.gather(1, labels[:, None])
            others = answers.scatter(1, labels[:, None], -torch.inf)
            return own[:, 0] - others.max(dim=1).values

        self.classes = logits(flat).shape[-1]
        self.functions |= {
            "error": measured(lambda answers: (gaps(answers) <= 0.0).double().mean()),
            "loss": measured(lambda answers: torch.nn.functional.cross_entropy(answers, labels)),
            "gradient": gradient,
            "margins": measured(gaps),
        }
        return flat.numpy(), [tuple(parameter.shape) for parameter in named.values()]
