"""Attack the package for some minutes: `make attack MINUTES=30`, or `python -m tests.attack`.

The seed is printed; with it the same calls come again, as far as the minutes reach.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from tqdm import tqdm

from tests.attack import counted, curved, finite_size, junk, theory, thresholds, ways
from tests.attack.target import judge

ASKED = [theory, thresholds, finite_size, counted, curved, ways]
TARGETS = [target for module in ASKED for target in module.TARGETS]
ROUND = 5  # calls of a target before it is the next one's turn


@dataclass
class Tally:
    """What came of the calls of a target."""

    outcomes: Counter = field(default_factory=Counter)
    longest: float = 0.0
    failures: list = field(default_factory=list)

    def __str__(self):
        told = ", ".join(f"{number} {word}" for word, number in sorted(self.outcomes.items()))
        return f"{told or 'no call'}; longest {self.longest:.1f} s"


def attack(target, seed, calls, tally):
    """Call a target with drawn arguments; note what came of it, and the simplest failure."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @hypothesis.given(arguments=target.arguments)
    def calls_of(arguments):
        try:
            outcome, seconds = judge(target, arguments)
        except Exception as error:
            error.add_note(f"{target.name}({arguments})")
            raise
        tally.outcomes[outcome] += 1
        tally.longest = max(tally.longest, seconds)

    try:
        calls_of()
    except (Exception, Flaky) as error:
        tally.outcomes["failed"] += 1
        tally.failures.append("".join(traceback.format_exception_only(error)))


def attack_all(targets, seed, minutes, calls=ROUND):
    """Attack targets in turn until the time is up, each once at least; return their tallies."""
    tallies = {target.name: Tally() for target in targets}
    began = time.monotonic()
    with tqdm(total=round(60 * minutes), unit="s", disable=not sys.stderr.isatty()) as bar:
        for one in itertools.count():
            turn, number = divmod(one, len(targets))
            if turn and time.monotonic() - began > 60 * minutes:
                break
            target = targets[number]
            attack(target, hash((seed, turn, number)), calls, tallies[target.name])
            bar.update(round(time.monotonic() - began) - bar.n)
    return tallies


def main(arguments=None):
    """Attack, and tell what came of it; the exit status is 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--seed", type=int, default=None, help="of the draws (default: any)")
    parser.add_argument(
        "names", nargs="*", metavar="WORD", help="targets with this in their names"
    )
    asked = parser.parse_args(arguments)
    seed = secrets.randbelow(2**31) if asked.seed is None else asked.seed
    chosen = [t for t in TARGETS if not asked.names or any(w in t.name for w in asked.names)]
    if not chosen:
        parser.error("no target has such a name; there are " + ", ".join(t.name for t in TARGETS))
    print(f"seed {seed}, {len(chosen)} targets", flush=True)
    tallies = attack_all(chosen, seed, asked.minutes)
    failures = []
    for name, tally in tallies.items():
        print(f"{name}: {tally}")
        failures += tally.failures
    if not asked.names:
        for case in junk.cases():
            wrong = junk.accepted(*case)
            if wrong:
                failures.append(f"{case[0].__module__}.{case[0].__name__}: {wrong}")
        print(f"junk: {len(junk.cases())} calls")
    number = sum(tally.outcomes.total() for tally in tallies.values())
    print(f"{number} calls, {len(failures)} failures (seed {seed})")
    for failure in failures:
        print(failure)
    return int(bool(failures))
