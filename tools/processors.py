"""Three other processors, as settings of this one: what `make elsewhere` executes the chapters on.

The last bits of a sum depend on the order of its terms, and those of an exponential on the
routine; libraries choose both by the processor they find. Four of them are told to find another
one: numba (the instructions it compiles for), OpenBLAS (its kernels and its number of threads),
NumPy (its vector loops), and the C library (its exp, log, sin). `SETTINGS` is the table.

`python -m tools.processors` prints what the four say of themselves in the process that asks, and
a fingerprint of the bits that each computes: equal fingerprints, equal arithmetic.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import platform
from dataclasses import dataclass

ARCHITECTURES = {"AMD64": "x86_64", "arm64": "aarch64"}  # other names of the same


@dataclass(frozen=True)
class Setting:
    """A processor to imitate: for each architecture, numba's and OpenBLAS's name of it.

    `threads` are those of OpenBLAS. `baseline` leaves NumPy without the vector instructions that
    not every processor of the architecture has. `without` are features that the C library shall
    not use (x86-64 with glibc; elsewhere it has one routine for all).
    """

    name: str
    what: str
    processors: dict[str, tuple[str, str]]
    threads: int
    baseline: bool
    without: tuple[str, ...] = ()


SETTINGS = (
    Setting(
        "oldest",
        "vectors of two numbers, no fused multiply-add anywhere, one BLAS thread",
        {"x86_64": ("generic", "Nehalem"), "aarch64": ("generic", "ARMV8")},
        threads=1,
        baseline=True,
        without=("AVX2", "FMA", "FMA4"),
    ),
    Setting(
        "older",
        "vectors of four numbers, no fused multiply-add on x86-64, two BLAS threads",
        {"x86_64": ("sandybridge", "Sandybridge"), "aarch64": ("cortex-a57", "CORTEXA57")},
        threads=2,
        baseline=False,
        without=("AVX2", "FMA", "FMA4"),
    ),
    Setting(
        "common",
        "vectors of four numbers with fused multiply-add, two BLAS threads; NumPy without",
        {"x86_64": ("haswell", "Haswell")},
        threads=2,
        baseline=True,
    ),
)


def architecture() -> str:
    """Return the name of this machine's architecture in the table."""
    return ARCHITECTURES.get(platform.machine(), platform.machine())


def chosen(names: list[str]) -> list[Setting]:
    """Return the settings of these names; all of them for none."""
    table = {setting.name: setting for setting in SETTINGS}
    unknown = sorted(set(names) - set(table))
    if unknown:
        raise SystemExit(f"no setting {unknown[0]!r}; there are {', '.join(table)}")
    return [table[name] for name in names] or list(SETTINGS)


def environment(setting: Setting, native: dict) -> dict[str, str]:
    """Return the variables that make this machine another one.

    `native` is what `facts` says without them: NumPy refuses to do without a feature that the
    processor does not have.
    """
    numba, blas = setting.processors[architecture()]
    variables = {
        "NUMBA_CPU_NAME": numba,
        "NUMBA_CPU_FEATURES": "",  # those that every processor of that name has
        "OPENBLAS_CORETYPE": blas,
        "OPENBLAS_NUM_THREADS": str(setting.threads),
    }
    if setting.baseline and native["numpy"]:
        variables["NPY_DISABLE_CPU_FEATURES"] = " ".join(native["numpy"])
    if setting.without and native["libm"] is not None:
        switches = ",".join(f"-{feature}" for feature in setting.without)
        variables["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={switches}"
    return variables


def ineffective(setting: Setting, found: dict) -> list[str]:
    """Return what a process under a setting says that it should not."""
    numba, blas = setting.processors[architecture()]
    threads = min(setting.threads, os.cpu_count() or 1)
    wrong = []
    if found["numba"] != numba:
        wrong.append(f"numba compiles for {found['numba']}, not for {numba}")
    if set(found["blas"]) - {f"{blas} x{threads}".lower()}:
        wrong.append(f"OpenBLAS is {', '.join(found['blas'])}, not {blas} x{threads}")
    if setting.baseline and found["numpy"]:
        wrong.append(f"NumPy uses {' '.join(found['numpy'])}")
    if set(setting.without) & set(found["libm"] or ()):
        wrong.append(f"the C library uses {' '.join(found['libm'])}")
    return wrong


# ------------------------------------------------------------------------------------------------
# What a process says of itself
# ------------------------------------------------------------------------------------------------


def facts() -> dict:
    """Return what the four libraries of this process found, and fingerprints of their bits."""
    import numpy as np
    import scipy.linalg  # noqa: F401  it brings an OpenBLAS of its own
    import threadpoolctl
    from numba.core.registry import cpu_target
    from numpy._core import _multiarray_umath as built

    libraries = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]
    return {
        "numba": cpu_target.target_context.codegen().magic_tuple()[1],
        "blas": sorted(
            {f"{one.get('architecture')} x{one['num_threads']}".lower() for one in libraries}
        ),
        "numpy": [one for one in built.__cpu_dispatch__ if built.__cpu_features__[one]],
        "libm": libm(),
        "bits": fingerprints(np),
    }


def fingerprints(np) -> dict[str, str]:
    """Return, for each library, a short digest of what it computes from the same numbers."""
    import numba

    x = np.random.Generator(np.random.PCG64(1)).uniform(-3, 3, 4096)

    @numba.njit(fastmath=True)
    def total(values):
        added = 0.0
        for value in values:
            added += value * value
        return added

    computed = {
        "numba": np.array([total(x[:n]) for n in range(1, 400)]),
        "blas": x.reshape(64, 64) @ x.reshape(64, 64),
        "numpy": np.concatenate([np.exp(x), np.log(x * x), np.cumsum(x[:9]), np.tanh(x)]),
        "libm": np.array([f(v) for f in (math.exp, math.sin, math.atan) for v in x.tolist()]),
    }
    return {name: hashlib.sha256(one.tobytes()).hexdigest()[:8] for name, one in computed.items()}


def libm() -> list[str] | None:
    """Return which of AVX2, FMA, FMA4 the C library uses; None where it cannot be told to."""
    if architecture() != "x86_64" or platform.libc_ver()[0] != "glibc":
        return None

    class Leaf(ctypes.Structure):
        _fields_ = (("present", ctypes.c_uint * 4), ("active", ctypes.c_uint * 4))

    try:
        leaf = ctypes.CDLL(None).__x86_get_cpuid_feature_leaf  # glibc 2.33 and later
    except AttributeError:
        return None
    leaf.restype = ctypes.POINTER(Leaf)
    _, ebx, ecx = 0, 1, 2  # registers, as <sys/platform/x86.h> numbers them
    places = {"AVX2": (1, ebx, 5), "FMA": (0, ecx, 12), "FMA4": (2, ecx, 16)}
    return [
        name
        for name, (index, register, bit) in places.items()
        if leaf(index).contents.active[register] >> bit & 1
    ]


if __name__ == "__main__":
    print(json.dumps(facts()))
