"""Machines of finitely many units: what one evaluation of a pattern costs, and a whole point.

A saddle point at fixed overlap asks for ten to fifteen evaluations.
"""

from __future__ import annotations

import math

import pytest

from wfmlib.models import ParityMachine, TreeCommittee
from wfmlib.theory import large_deviation, typical
from wfmlib.theory.machines.finite_machines import Parity, SignCommittee


@pytest.mark.parametrize("overlap", [0.7, 0.9, 0.98])
def bench_committee_infinitely_many_replicas(benchmark, overlap):
    machine = SignCommittee(3)
    machine.limit_averages(0.5, 0.3, 0.0)  # compiled beforehand
    found = benchmark.pedantic(
        machine.limit_averages, args=(overlap, 2.0 * (1.0 - overlap), 0.0), rounds=3
    )
    assert found.term < 0.0


@pytest.mark.parametrize("replicas", [2, 5, 20, 50])
@pytest.mark.parametrize("overlaps", [(0.3, 0.4, 0.3), (0.5, 0.1, 0.4), (0.5, 0.48, 0.02)])
def bench_committee(benchmark, overlaps, replicas):
    machine = SignCommittee(3)
    machine.pattern_averages(0.3, 0.4, 0.3, 0.0, 2)
    found = benchmark.pedantic(machine.pattern_averages, args=(*overlaps, 0.0, replicas), rounds=3)
    assert found.term < 0.0


@pytest.mark.parametrize("replicas", [2.5, 10.5])
def bench_committee_by_the_tensor(benchmark, replicas):
    machine = SignCommittee(3)
    machine.pattern_averages(0.5, 0.1, 0.4, 0.0, 2.5)
    found = benchmark.pedantic(
        machine.pattern_averages, args=(0.5, 0.1, 0.4, 0.0, replicas), rounds=3
    )
    assert found.term < 0.0


@pytest.mark.parametrize(
    ("units", "replicas"), [(2, 2), (2, 20), (3, 2), (3, 20), (5, 2), (5, 20)]
)
def bench_parity(benchmark, units, replicas):
    machine = Parity(units)
    machine.pattern_averages(0.3, 0.3, 0.4, 0.0, 2)
    found = benchmark.pedantic(
        machine.pattern_averages, args=(0.3, 0.3, 0.4, 0.0, replicas), rounds=3
    )
    assert found.term < 0.0


def bench_symmetric_state(benchmark):
    state = benchmark.pedantic(typical.solve, args=(TreeCommittee(3), 1.5), rounds=3)
    assert state.replicon < 1.0


@pytest.mark.parametrize(
    ("device", "alpha", "overlap", "replicas"),
    [
        (TreeCommittee(3), 1.0, 0.9, math.inf),
        (TreeCommittee(3), 1.0, 0.9, 10.0),
        (ParityMachine(3), 1.0, 0.9, 2.5),
        (ParityMachine(3), 1.0, 0.9, 10.5),
    ],
    ids=["committee-inf", "committee-10", "parity-2.5", "parity-10.5"],
)
def bench_point(benchmark, device, alpha, overlap, replicas):
    point = benchmark.pedantic(
        large_deviation.solve,
        args=(device, alpha, overlap),
        kwargs={"replicas": replicas},
        rounds=2,
        warmup_rounds=1,
    )
    assert point.report.converged
