"""Simulated annealing of networks with binary weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from wfmlib.learning.annealing.moves import metropolis, pulls, waiting
from wfmlib.learning.annealing.state import Loss, Model
from wfmlib.learning.solution import Solution, advised
from wfmlib.models.protocols import Device
from wfmlib.numerics import arguments
from wfmlib.numerics.arguments import Count, Narrower, NotNegative, Positive
from wfmlib.numerics.interrupts import is_interrupt
from wfmlib.numerics.progress import progress_bar
from wfmlib.numerics.types import Seed

Beta: TypeAlias = Annotated[NotNegative, Narrower("where spaced geometrically", Positive)]
Spacing: TypeAlias = Literal["geometric", "linear"]
Moves: TypeAlias = Literal["auto", "metropolis", "waiting"]
Betas: TypeAlias = tuple[Beta, Beta]

RARE = 1 / 500  # share of accepted proposals below which waiting is faster (measured)


@dataclass(frozen=True, eq=False, repr=False)
class Annealing(Solution):
    """What annealing ended with.

    `converged` says whether the weights make no error, `epochs` how many sweeps were begun (a
    sweep is as many proposals as there are weights). `history` holds one entry per step of the
    schedule, as it ended: `beta`, `energy` (sum over the patterns of the loss), `errors`,
    `accepted` (share of the proposals).

    Attributes
    ----------
    energy : float
        The loss of the last weights, summed over the patterns.
    """

    energy: float


@advised("more sweeps, a larger last beta, another rng, or fewer patterns")
@arguments.checked
def simulated_annealing(
    device: Device,
    xi: ArrayLike,
    sigma: ArrayLike,
    *,
    loss: Loss = "cross-entropy",
    gamma: Positive = 1.0,
    beta: Betas = (1.0, 50.0),
    spacing: Spacing = "geometric",
    sweeps: Count = 1000,
    steps: Count | None = None,
    moves: Moves = "auto",
    start: ArrayLike | None = None,
    stop_at_solution: bool = True,
    rng: Seed = None,
    progress: bool | None = None,
) -> Annealing:
    """Look for binary weights without errors by cooling [eq-metropolis].

    Proposals flip one weight. They are accepted with probability ``min(1, exp(-beta dE))``, where
    E is the loss summed over the patterns: the number of errors, or the cross-entropy
    ``ln(1 + exp(-2 gamma x)) / (2 gamma)`` [eq-cross-entropy] of the stabilities x of the
    device's network. beta grows from step to step,
    and is constant in the sweeps of each.

    Parameters
    ----------
    device : Perceptron, TreeCommittee or Committee
        With binary weights, and sign units or an even number of rectified ones.
    xi : array_like
        Patterns, shape (P, N), entries -1 and +1; at most 130 000 patterns and 32 767 weights in
        a unit.
    sigma : array_like
        Labels, shape (P,), entries -1 and +1.
    loss : str, optional
        "cross-entropy" or "errors".
    gamma : float, optional
        Sharpness of the cross-entropy, positive.
    beta : pair of float, optional
        First and last inverse temperature, not negative, positive where spaced geometrically.
    spacing : str, optional
        "geometric" or "linear": how beta grows.
    sweeps : int, optional
        In the whole schedule, at least 1: the limit of the run.
    steps : int, optional
        How many values beta takes, at least 1, at most `sweeps`: 100 by default, or one each
        sweep if there are fewer.
    moves : str, optional
        "metropolis", "waiting" [eq-waiting-time] or, by default, "auto": waiting in the steps
        after one that accepted less than one proposal in 500, where it is the faster. They are
        the same chain in law.
    start : array_like, optional
        Binary weights to start from, in the shape of those returned. By default random ones.
    stop_at_solution : bool, optional
        Stop at the first weights without errors, whatever their loss.
    rng : int, numpy.random.SeedSequence or numpy.random.Generator, optional
        For the first weights and the moves; fresh entropy where None.
    progress : bool, optional
        Show a bar, once two seconds have passed; in a terminal or a notebook where None.

    Returns
    -------
    Annealing

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range; the message names it.

    Notes
    -----
    P1, Sec. II F. The cross-entropy is tabulated in steps of 1/8192 of the largest change that
    one pattern's loss can make: this far is `energy` from the sum of the exact loss, and no
    further, whatever the number of moves. Energies are whole numbers of such steps; chances are
    exponentials of the platform, and one in another last bit decides otherwise once in some 1e15
    proposals.

    Examples
    --------
    >>> from wfmlib import Binary, TreeCommittee, patterns
    >>> xi, sigma = patterns.random(P=30, N=99, rng=1)
    >>> solution = simulated_annealing(TreeCommittee(3, weights=Binary()), xi, sigma, rng=1)
    >>> solution.errors, solution.weights.shape
    (0, (3, 33))
    """
    model = Model(device, xi, sigma, loss, gamma)
    steps = min(100, sweeps) if steps is None else steps
    betas = schedule(beta, spacing, steps, sweeps)
    rng = arguments.generator(rng)
    state = model.state(_first(start, model, rng)[None])
    pull = pulls(0.0, 1)
    history = {name: [] for name in ("beta", "energy", "errors", "accepted")}
    done, share = 0, 1.0
    with progress_bar(progress, total=sweeps, unit="sweep") as bar:
        for inverse, count in zip(betas, shares(sweeps, steps), strict=True):
            if stop_at_solution and state.errors[0] == 0:
                break
            proposed, share = move(
                moves, share, state, rng, count, inverse * model.quantum, pull, stop_at_solution
            )
            done += proposed
            record = inverse, state.energy[0] * model.quantum, state.errors[0], share
            for name, value in zip(history, record, strict=True):
                history[name].append(value)
            bar.set_postfix(errors=int(state.errors[0]))
            bar.update(int(count))
    w = model.device_weights(state.weights[0])
    errors = device.network(w).errors(model.xi, model.sigma)
    return Annealing(
        device=device,
        weights=w,
        errors=errors,
        converged=errors == 0,
        epochs=-(-done // w.size),
        history={name: np.array(values) for name, values in history.items()},
        energy=float(state.energy[0] * model.quantum),
    )


def schedule(beta, spacing, steps, sweeps):
    """Return the inverse temperatures, after checking what describes them."""
    if steps > sweeps:
        raise ValueError(f"steps must be at most the number of sweeps, {sweeps}, got {steps}")
    pair = arguments.reals("beta", beta)
    if pair.shape != (2,):
        raise ValueError(f"beta must be a pair, first and last, got shape {pair.shape}")
    geometric = spacing == "geometric"
    first, last = (arguments.real("beta", end, 0.0, low_open=geometric) for end in pair.tolist())
    return (np.geomspace if geometric else np.linspace)(first, last, steps)


def shares(sweeps, steps):
    """Return how many of the sweeps belong to each step: all, as evenly as can be."""
    return np.diff(np.arange(steps + 1) * sweeps // steps)


def move(moves, share, state, rng, sweeps, beta, pull, stop=False):
    """Move for some sweeps; return the number of proposals, and the share that was accepted.

    `share` is what the step before accepted, `beta` per quantum.
    """
    rare = moves == "auto" and share < RARE
    kernel = waiting if rare or moves == "waiting" else metropolis
    proposals = int(sweeps) * state.weights.size
    try:
        proposed, accepted = kernel(state, rng, proposals, float(beta), pull, bool(stop))
    except SystemError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise
    return proposed, accepted / proposed


def _first(start, model, rng):
    """Return weights to start from, shape (K, n)."""
    if start is None:
        return 2 * rng.integers(2, size=model.shape, dtype=np.int8) - 1
    start = arguments.array("start", start)
    shape = model.device.shape(model.xi.shape[1])
    if start.shape != shape:
        raise ValueError(f"start must have shape {shape}, got {start.shape}")
    return arguments.signs("start", start, start.ndim).reshape(model.shape)
