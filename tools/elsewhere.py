"""The pages as other processors would execute them: which checked cells differ?

The last bits of a sum depend on the order of its terms, and those of an exponential on the
routine; libraries choose both by the processor they find. Four of them are told to find another
one: numba (the instructions it compiles for), OpenBLAS (its kernels and its number of threads),
NumPy (its vector loops), and the C library (its exp, log, sin). A setting that this machine cannot
have is skipped with a word; one that is not heard is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys

from numpy._core import _multiarray_umath as numpy_built

from tools.notebooks import BUILD, chapters, execute

MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
# For each setting: what numba and OpenBLAS call the processor, threads of OpenBLAS, whether NumPy
# leaves the vector instructions that not every processor of the architecture has, and what the
# C library leaves (x86-64 with glibc; elsewhere it has one routine for all).
SETTINGS = {
    "x86_64": {
        "oldest": ("generic", "Nehalem", 1, True, "-AVX2,-FMA,-FMA4"),
        "older": ("sandybridge", "Sandybridge", 2, False, "-AVX2,-FMA,-FMA4"),
        "common": ("haswell", "Haswell", 2, True, ""),
    },
    "aarch64": {
        "oldest": ("generic", "ARMV8", 1, True, ""),
        "older": ("cortex-a57", "CORTEXA57", 2, False, ""),
    },
}.get(MACHINE, {})
HEARD = """
import json, scipy.linalg, threadpoolctl
from numba.core.registry import cpu_target
from numpy._core import _multiarray_umath as built
blas = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]
print(json.dumps({
    "numba": [cpu_target.target_context.codegen().magic_tuple()[1]],
    "OpenBLAS": sorted({str(one.get("architecture")).lower() for one in blas}),
    "threads": sorted({one["num_threads"] for one in blas}),
    "NumPy": [one for one in built.__cpu_dispatch__ if built.__cpu_features__[one]],
}))
"""  # scipy brings an OpenBLAS of its own


def environment(name: str) -> dict[str, str]:
    """Return the variables that make this machine another one."""
    numba, blas, threads, baseline, without = SETTINGS[name]
    variables = {
        "NUMBA_CPU_NAME": numba,
        "NUMBA_CPU_FEATURES": "",  # those that every processor of that name has
        "OPENBLAS_CORETYPE": blas,
        "OPENBLAS_NUM_THREADS": str(threads),
    }
    if baseline:  # NumPy refuses to do without a feature that the processor does not have
        features = numpy_built.__cpu_features__
        present = [feature for feature in numpy_built.__cpu_dispatch__ if features[feature]]
        variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(present)
    if without:
        variables["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={without}"
    return variables


def heard(name: str) -> bool:
    """Say whether this machine can be that one.

    Raises
    ------
    RuntimeError
        If it can, but a library does not hear: this processor would be compared with itself.
    """
    numba, blas, threads, baseline, _ = SETTINGS[name]
    command, variables = [sys.executable, "-c", HEARD], os.environ | environment(name)
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode < 0:  # by a signal: an instruction that this processor does not have
        return False
    settings = json.loads(done.stdout) if done.returncode == 0 else done.stderr
    wanted = {"numba": [numba], "NumPy": []} if baseline else {"numba": [numba]}
    if done.returncode == 0 and settings["OpenBLAS"]:  # there may be another BLAS
        wanted |= {"OpenBLAS": [blas.lower()], "threads": [min(threads, os.cpu_count() or 1)]}
    if done.returncode or any(settings[library] != value for library, value in wanted.items()):
        raise RuntimeError(f"{name}: wanted {wanted}, got {settings}")
    return True


def main() -> None:
    """Execute pages under settings: those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="how names begin, such as 09_")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), help="such as oldest")
    parser.add_argument("--jobs", type=int, default=2, help="pages at a time (default: 2)")
    arguments = parser.parse_args()
    beginnings = tuple(arguments.pages) or ("",)
    pages = [page for page in chapters() if page.name.startswith(beginnings)]
    failed = [] if pages else [f"no page begins with {' or '.join(beginnings)}"]
    for name in arguments.settings if pages else ():
        if name not in SETTINGS or not heard(name):
            print(f"{name}: skipped, {MACHINE} or this processor of it cannot be that one")
            continue
        print(f"==== {name}: {environment(name)}", flush=True)
        folder = BUILD / "elsewhere" / name
        shutil.rmtree(folder, ignore_errors=True)
        variables = environment(name) | {"WFMLIB_ANSWERS": str(folder / "answers")}
        if execute(
            pages, True, arguments.jobs, folder / "notebooks", folder / "cache", **variables
        ):
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
