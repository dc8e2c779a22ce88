"""`wfm compile`: have numba compile what first calls would wait for."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import warnings
from collections.abc import Callable


def add(commands):
    """Add `wfm compile`."""
    parser = commands.add_parser(
        "compile",
        help="compile kernels once, so that no first call waits",
        description=textwrap.dedent(
            """\
            Compile the kernels that the calls of the book need, and keep them.

            A kernel is compiled when it is first called, which takes seconds, and is kept for
            later processes, in the user's cache or where NUMBA_CACHE_DIR says. This command makes
            small calls of many kinds, several at a time. What is there already is only read."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm compile              with all cores, half a minute on two
              wfm compile --jobs 1     one call after the other
              wfm compile --jobs 2     two at a time"""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes at a time (default: one a core)",
    )
    parser.set_defaults(run=_run)


def theory() -> dict[str, Callable[[], object]]:
    """Return small calls of the theory; the first compiles what most of the others need."""
    import wfmlib
    from wfmlib.theory import franz_parisi, large_deviation, stabilities, typical

    edge = wfmlib.Margin(0.1)
    binary = wfmlib.Perceptron()
    spherical = wfmlib.Perceptron(wfmlib.Spherical())
    wide = wfmlib.TreeCommittee(float("inf"), wfmlib.ReLU())
    loss = wfmlib.CrossEntropy(gamma=1.0, beta=2.0)
    return {
        "Franz-Parisi, binary": lambda: franz_parisi.solve(binary, 0.5, 0.1, reference=edge),
        "Franz-Parisi, spherical": lambda: franz_parisi.solve(spherical, 0.5, 0.1, reference=edge),
        "Franz-Parisi, a loss": lambda: franz_parisi.solve(binary, 0.5, 0.1, reference=loss),
        "typical, a loss": lambda: typical.solve(binary, 0.5, loss),
        "typical, three units": lambda: typical.solve(wfmlib.TreeCommittee(3), 0.5),
        "capacity, wide": lambda: typical.capacity(wide),
        "one step": lambda: typical.solve_1rsb(wide, 2.6),
        "groups, infinitely many": lambda: large_deviation.solve(binary, 0.5, 0.8),
        "groups, five": lambda: large_deviation.solve(binary, 0.5, 0.8, replicas=5),
        "stabilities": lambda: stabilities.density(binary, 0.5, [0.0, 1.0]),
    }


def algorithms() -> dict[str, Callable[[], object]]:
    """Return small calls of the algorithms and of the measures of landscapes."""
    import wfmlib
    from wfmlib import landscape, learning

    binary = wfmlib.Perceptron()
    spherical = wfmlib.Perceptron(wfmlib.Spherical())
    committee = wfmlib.TreeCommittee(3, weights=wfmlib.Binary())
    xi, sigma = wfmlib.patterns.random(8, 21, rng=1)
    small = {"rng": 1, "max_sweeps": 2}

    def profile(solution):
        landscape.error_profile(solution, xi, sigma, distances=[0.1], samples=2, rng=1)

    return {
        "messages, binary": lambda: learning.belief_propagation(binary, xi, sigma, **small),
        "messages, spherical": lambda: learning.belief_propagation(spherical, xi, sigma, **small),
        "messages, committee": lambda: learning.belief_propagation(committee, xi, sigma, **small),
        "messages, expanded": lambda: learning.belief_propagation(
            binary, xi, sigma, form="expanded", **small
        ),
        "focusing": lambda: learning.focusing_bp(
            binary, xi, sigma, rng=1, stop_at_solution=True, max_sweeps=5
        ),
        "focusing, to solve": lambda: learning.focusing_bp(
            binary, xi, sigma, rng=1, protocol="solve"
        ),
        "approximate messages": lambda: learning.approximate_message_passing(
            binary, xi, sigma, **small
        ),
        "enumeration": lambda: learning.enumerate_solutions(binary, xi, sigma),
        "least action": lambda: profile(learning.least_action(spherical, xi, sigma, rng=1)),
        "annealing": lambda: learning.simulated_annealing(
            binary, xi, sigma, rng=1, sweeps=2, steps=2
        ),
        "descent": lambda: learning.cross_entropy_sgd(spherical, xi, sigma, rng=1, max_epochs=2),
    }


def call(name: str) -> str:
    """Make one of the calls; return its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few sweeps settle nothing
        ({**theory(), **algorithms()})[name]()
    return name


def _run(args):
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from tqdm import tqdm

    if args.jobs < 1:
        raise ValueError(f"--jobs must be at least 1, not {args.jobs}")
    first, *others = [*theory(), *algorithms()]
    bar = tqdm(total=len(others) + 1, unit="call", file=sys.stderr)
    with bar, ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for names in ([first], others):  # what all share is compiled once
            for _ in pool.map(call, names):
                bar.update()
    return 0
