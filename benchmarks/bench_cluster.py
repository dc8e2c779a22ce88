"""An experiment on a Dask cluster of one and of two processes on this machine: the gain.

Six hundred samples of a twentieth of a second or so, which wait for nothing; kernels are compiled
before.
"""

from __future__ import annotations

import time

import pytest

from wfmlib.book import experiments

NAME = "bp-entropy"
SETTINGS = {"alpha": [0.02 * k for k in range(5, 65)]}


def bench_two_workers_beside_one(benchmark, tell):
    distributed = pytest.importorskip("distributed")
    seconds = {}

    def run(workers):
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            address = cluster.scheduler_address
            experiments.run(NAME, dask=address, cache=False)
            began = time.perf_counter()
            done = experiments.run(NAME, "paper", settings=SETTINGS, dask=address, cache=False)
            seconds[workers] = time.perf_counter() - began
        assert done.done == done.wanted == 600

    benchmark.pedantic(lambda: (run(1), run(2)), rounds=1)
    tell("two workers", seconds=seconds[2], gain=seconds[1] / seconds[2])
