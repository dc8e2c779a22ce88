"""Compile kernels of the package to WebAssembly: what the pages compute with, without a kernel.

    python -m tools.wasm            # writes _build/wasm/kernels-GROUP.wasm and .js

A group of `EXPORTS` is one module; a page loads the groups that its figures call.

numba turns each kernel into LLVM's intermediate code, as it does for Python; LLVM
optimises and translates it for WebAssembly; zig links it with the C library's mathematics (musl),
so that the module imports nothing. No formula is written again.

A kernel takes float64 numbers and arrays, and returns float64 numbers. In the module it is a
function of numba's own calling convention, ``name(results, failure, *arguments) -> status``: two
addresses, of the results and of a word that it may write, and its arguments; a status other than 0
is an exception of Python, such as a division by zero. An array is several arguments: two that no
kernel uses, the number of elements, the bytes of one, the address, shape and strides.
`take` gives memory, `reset` drops all that was given since the last `keep`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.notebooks import BUILD, ROOT

REPLICAS = "wfmlib.theory.saddles.pages_replicas"
#: What a page may call, by group: its name there, which no other group has, where it stands in the
#: package, and how many numbers it takes, or a letter of `KINDS` for each of its arguments.
EXPORTS = {
    "typical": {
        "G": ("wfmlib.numerics.gaussian:G", 1),
        "H": ("wfmlib.numerics.gaussian:H", 1),
        "log_H": ("wfmlib.numerics.gaussian:log_H", 1),
        "hazard": ("wfmlib.numerics.gaussian:hazard", 1),
        "hazard_derivative": ("wfmlib.numerics.gaussian:hazard_derivative", 1),
        "binary_curve": ("wfmlib.theory.saddles.pages:binary_curve", 2),
        "binary_point": ("wfmlib.theory.saddles.pages:binary_point", 2),
        "binary_capacity": ("wfmlib.theory.saddles.pages:binary_capacity", 1),
        "binary_last_load": ("wfmlib.theory.saddles.pages:binary_last_load", 1),
        "spherical_curve": ("wfmlib.theory.saddles.pages:spherical_curve", 2),
        "spherical_point": ("wfmlib.theory.saddles.pages:spherical_point", 2),
        "spherical_capacity": ("wfmlib.theory.saddles.pages:spherical_capacity", 1),
        "typical_curve": ("wfmlib.theory.typical.pages:typical_curve", "nnna"),
        "typical_solve": ("wfmlib.theory.typical.pages:typical_solve", "nnna"),
        "typical_capacity": ("wfmlib.theory.typical.pages:typical_capacity", "nna"),
        "typical_instability": ("wfmlib.theory.typical.pages:typical_instability", "nna"),
        "typical_last_load": ("wfmlib.theory.typical.pages:typical_last_load", "nna"),
        "typical_max_margin": ("wfmlib.theory.typical.pages:typical_max_margin", "nna"),
        "typical_last_margin": ("wfmlib.theory.typical.pages:typical_last_margin", "nna"),
        "effective_overlap": ("wfmlib.models.sampled:effective", "nna"),
        "knotted": ("wfmlib.models.sampled:knotted", "aaa"),
        "knotted_piece": ("wfmlib.models.sampled:knotted_piece", "nnaaa"),
        "look": ("wfmlib.models.sampled:look", "a"),
        "looked": ("wfmlib.models.sampled:looked", "a"),
        "places": ("wfmlib.models.sampled:places", "AA"),
        "judged": ("wfmlib.models.sampled:judged", "nAAa"),
        "straight": ("wfmlib.models.sampled:straight", "naA"),
        "sampled": ("wfmlib.models.sampled:sampled", "naAa"),
        "sampled_piece": ("wfmlib.models.sampled:sampled_piece", "nnaAaa"),
    },
    "gibbs": {
        "gibbs_curve": ("wfmlib.theory.saddles.pages_gibbs:curve", "nnA"),
        "gibbs_point": ("wfmlib.theory.saddles.pages_gibbs:point", 3),
        "gibbs_zero_entropy": ("wfmlib.theory.saddles.pages_gibbs:zero_entropy", 2),
        "gibbs_instability": ("wfmlib.theory.saddles.pages_gibbs:instability", 2),
    },
    "instance": {
        "drawn": ("wfmlib.learning.pages.drawn:drawn", "nBb"),
        "counted": ("wfmlib.learning.pages.counted:counted", "Baab"),
        "started": ("wfmlib.learning.pages.passed:started", "nwMAa"),
        "focused": ("wfmlib.learning.pages.passed:focused", "nnA"),
        "swept": ("wfmlib.learning.pages.passed:swept", "nnnnBwMAa"),
        "means": ("wfmlib.learning.pages.passed:means", "Aa"),
        "errors": ("wfmlib.learning.pages.passed:errors", "Ba"),
        "entropy": ("wfmlib.learning.pages.passed:entropy", "nBMA"),
        "surrounded": ("wfmlib.learning.pages.passed:surrounded", "nnnBwMAa"),
        "begun": ("wfmlib.learning.pages.clipped:begun", "nwa"),
        "corrected": ("wfmlib.learning.pages.clipped:corrected", "Bwa"),
    },
    "surroundings": {
        "binary_begun": ("wfmlib.theory.saddles.pages_reference:binary_begun", "nnna"),
        "binary_around": ("wfmlib.theory.saddles.pages_reference:binary_around", "nnnnna"),
        "binary_surroundings": ("wfmlib.theory.saddles.pages_reference:binary_surroundings", 4),
        "binary_turn": ("wfmlib.theory.saddles.pages_reference:binary_turn", "nnnnnna"),
        "binary_largest": ("wfmlib.theory.saddles.pages_dips:binary_largest", 1),
        "binary_no_gap": ("wfmlib.theory.saddles.pages_dips:binary_no_gap", 2),
        "binary_monotonic": ("wfmlib.theory.saddles.pages_dips:binary_monotonic", 2),
    },
    "replicas": {
        "binary_replicas_begun": (f"{REPLICAS}:binary_replicas_begun", "nnna"),
        "binary_replicas_around": (f"{REPLICAS}:binary_replicas_around", "nnnnna"),
        "binary_replicas": (f"{REPLICAS}:binary_replicas", 4),
    },
    "committees": {
        "signs_replicas_begun": (f"{REPLICAS}:signs_replicas_begun", "nnna"),
        "signs_replicas_around": (f"{REPLICAS}:signs_replicas_around", "nnnnna"),
        "signs_replicas": (f"{REPLICAS}:signs_replicas", 4),
    },
}
#: A number, and arrays of one to three axes.
KINDS = {
    "n": "float64",
    "a": "float64[::1]",
    "A": "float64[:,::1]",
    "M": "float64[:,:,::1]",
    "b": "int8[::1]",
    "B": "int8[:,::1]",
    "w": "uint64[::1]",
}

MADE = BUILD / "wasm"
PYTHON = ROOT / ".venv-wasm" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
RUNTIME = Path(__file__).with_name("wasm_runtime.c")
TARGET, FEATURES = "wasm32-unknown-unknown", "+simd128,+bulk-memory"
STACK = 1 << 18  # bytes
# numba leaves its code as it is: what it would optimise for is this processor, not the module.
PLAIN = {"NUMBA_OPT": "0", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
COUNTING = re.compile(r"^define [^\n]*@NRT_(incref|decref)\(.*?^}\n", re.MULTILINE | re.DOTALL)


def found(place: str) -> Any:
    """Return the Python function of a kernel, as numba compiles it."""
    module, name = place.split(":")
    kernel = getattr(importlib.import_module(module), name)
    return getattr(kernel, "py_func", None) or kernel.__wrapped__


def lowered(function: Any, takes: str) -> tuple[str, str, int]:
    """Return a kernel's code, its name in it, and how many numbers it returns."""
    from numba import types
    from numba.core import compiler, sigutils
    from numba.core.registry import cpu_target

    flags = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = True
    flags.error_model = "numpy"
    context = cpu_target.typing_context, cpu_target.target_context
    names = ", ".join(KINDS[kind] for kind in takes)
    arguments = sigutils.normalize_signature(f"({names},)")[0]
    result = compiler.compile_extra(*context, function, arguments, None, flags, locals={})
    returned = result.signature.return_type
    gives = 1 if returned == types.float64 else len(returned)
    if returned != types.float64 and any(one != types.float64 for one in returned):
        raise TypeError(f"{function.__name__} must return float64 numbers, got {returned}")
    return result.library.get_llvm_str(), result.fndesc.llvm_func_name, gives


def translated(exports: dict) -> tuple[bytes, dict]:
    """Return the kernels of a group as one object file, and what each takes and gives."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TARGET)
    machine = target.create_target_machine(cpu="generic", features=FEATURES, opt=3, reloc="static")
    whole = llvm.parse_assembly(f'target triple = "{TARGET}"')
    whole.data_layout = str(machine.target_data)
    told = {}
    for name, (place, given) in exports.items():
        takes = given if isinstance(given, str) else "n" * given
        text, symbol, gives = lowered(found(place), takes)
        text = re.sub(r'target (triple|datalayout) = "[^"]*"\n', "", text)
        text = text.replace(" = common ", " = weak ")  # the linker knows no common symbols
        text = COUNTING.sub(declared, text)
        part = llvm.parse_assembly(f'target triple = "{TARGET}"\n{text}')
        part.data_layout = str(machine.target_data)
        part.get_function(symbol).name = name
        whole.link_in(part)
        told[name] = {"takes": takes, "gives": gives}
    for function in whole.functions:
        if not function.is_declaration and function.name not in exports:
            function.linkage = "internal"
    whole.verify()
    passes = llvm.create_pass_builder(machine, llvm.PipelineTuningOptions(speed_level=3))
    passes.getModulePassManager().run(whole, passes)
    return machine.emit_object(whole), told


def declared(found: re.Match) -> str:
    """Return a declaration in place of a definition: the runtime counts references."""
    return f"declare void @NRT_{found[1]}(ptr)\n"


def linked(code: bytes, names: list[str]) -> bytes:
    """Return the module: the object file with the runtime and the C library's mathematics."""
    MADE.mkdir(parents=True, exist_ok=True)
    cache = {f"ZIG_{which}_CACHE_DIR": str(MADE / "zig") for which in ("GLOBAL", "LOCAL")}
    with tempfile.TemporaryDirectory() as folder:
        part, module = Path(folder, "kernels.o"), Path(folder, "kernels.wasm")
        part.write_bytes(code)
        exported = [f"-Wl,--export={name}" for name in [*names, "take", "reset", "keep"]]
        options = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-O2"]
        options += ["-mcpu=generic+simd128+bulk_memory"]
        linker = ["-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z", f"-Wl,stack-size={STACK}"]
        files = [part, RUNTIME, "-o", module]
        subprocess.run(
            [PYTHON, "-m", "ziglang", "cc", *options, *linker, *exported, *files],
            env=os.environ | cache,
            check=True,
        )
        return module.read_bytes()


def script(group: str, module: bytes, told: dict) -> str:
    """Return the module of a group as a script: pages from files may not fetch."""
    data = {"module": base64.b64encode(module).decode(), "kernels": told}
    return f"(window.wfmKernels ??= {{}}).{group} = {json.dumps(data)};\n"


def state() -> str:
    """Return a digest of all that the modules are made from."""
    digest = hashlib.sha256()
    parts = (ROOT / "wfmlib" / name for name in ("numerics", "models", "theory", "learning"))
    sources = sorted(path for part in parts for path in part.rglob("*.py"))
    locks = [ROOT / "requirements.txt", ROOT / "tools" / "requirements-wasm.txt"]
    for path in [*sources, *locks, RUNTIME, Path(__file__)]:
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make() -> Path:
    """Return the folder with the modules, made in a process of its own unless it is up to date.

    Raises
    ------
    FileNotFoundError
        If the compiler is not installed.
    """
    if not PYTHON.exists():
        raise FileNotFoundError(
            "the pages' kernels have no compiler: run `make .venv-wasm/.ready`"
        )
    mark = MADE / "made-from"
    if not mark.exists() or mark.read_text() != state():
        with tempfile.TemporaryDirectory() as cache:
            plain = os.environ | PLAIN | {"NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-W", "ignore", "-m", "tools.wasm", "--here"]
            subprocess.run(command, cwd=ROOT, env=plain, check=True)
        mark.write_text(state())
    return MADE


def write() -> None:
    """Compile in this process, and write the module and the script of each group."""
    for group, exports in EXPORTS.items():
        code, told = translated(exports)
        module = linked(code, list(exports))
        (MADE / f"kernels-{group}.wasm").write_bytes(module)
        (MADE / f"kernels-{group}.json").write_text(json.dumps(told))
        (MADE / f"kernels-{group}.js").write_text(script(group, module, told))


def called(calls: list) -> dict:
    """Return what calls of kernels give, without a browser; see `tools.wasm_call`.

    Arrays may stand among the arguments.
    """
    calls = [[_plain(one) for one in call] for call in calls]
    command = [PYTHON, ROOT / "tools" / "wasm_call.py", make()]
    done = subprocess.run(
        command, input=json.dumps(calls), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _plain(given: Any) -> Any:
    """Return an argument as `tools.wasm_call` reads it: of an array, shape and numbers."""
    array = getattr(given, "ndim", 0)  # a NumPy number has a shape, too
    return [given.shape, given.ravel().tolist()] if array else given


def main() -> None:
    """Make the modules, and say how large they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    if parser.parse_args().here:
        return write()
    for file in sorted(make().glob("kernels-*.js")):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1000:.1f} kB")
    return None


if __name__ == "__main__":
    main()
