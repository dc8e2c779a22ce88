"""Make what pages compute with: kernels compiled to WebAssembly, and the scripts that call them.

    python -m wfmlib.book.lab.build         # writes book/_static/lab

numba turns each kernel into LLVM's intermediate code, as it does for Python; LLVM optimises and
translates it for WebAssembly; zig links it with the C library's mathematics (musl), so that a
module imports nothing. No formula is written again. Where zig is not installed (the extra ``lab``)
the scripts stand there without a module, and the figures of the pages do not compute.

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
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1]
STATIC = Path("book", "_static", "lab")  # of a checkout

#: What a page may call, by module: its name, the module of `kernels` that holds it, and a letter
#: of `KINDS` for each of its arguments.
EXPORTS = {
    "typical": {
        "H": ("tails", "n"),
        "typical_curve": ("typical", "nnna"),
        "typical_solve": ("typical", "nnna"),
        "typical_capacity": ("typical", "nna"),
        "typical_instability": ("typical", "nna"),
        "typical_last_load": ("typical", "nna"),
        "typical_max_margin": ("typical", "nna"),
        "typical_last_margin": ("typical", "nna"),
        "knotted": ("sampled", "aaa"),
        "knotted_piece": ("sampled", "nnaaa"),
        "look": ("sampled", "a"),
        "looked": ("sampled", "a"),
        "places": ("sampled", "AA"),
        "judged": ("sampled", "nAAa"),
        "straight": ("sampled", "naA"),
        "sampled": ("sampled", "naAa"),
        "sampled_node": ("sampled", "nnnaAaa"),
        "kept": ("sampled", "nnAa"),
    },
    "instance": {
        "drawn": ("drawn", "nBb"),
        "counted": ("counted", "Baab"),
        "started": ("passed", "nwMAa"),
        "focused": ("passed", "nnA"),
        "swept": ("passed", "nnnnBwMAa"),
        "means": ("passed", "Aa"),
        "errors": ("passed", "Ba"),
        "entropy": ("passed", "nBMA"),
        "surrounded": ("passed", "nnnBwMAa"),
        "begun": ("clipped", "nwa"),
        "corrected": ("clipped", "Bwa"),
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
FARTHEST = 38.0  # of ln q_hat on a curve: 1 - q is 1e-8, and the entropy has eight digits left
COUPLING = 1.2  # to the weights around which solutions are counted

TARGET, FEATURES = "wasm32-unknown-unknown", "+simd128,+bulk-memory"
STACK = 1 << 18  # bytes
# numba leaves its code as it is: what it would optimise for is this processor, not the module.
PLAIN = {"NUMBA_OPT": "0", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
COUNTING = re.compile(r"^define [^\n]*@NRT_(incref|decref)\(.*?^}\n", re.MULTILINE | re.DOTALL)


def constants() -> dict[str, dict[str, Any]]:
    """Return what the scripts know of each module besides its kernels."""
    from wfmlib.book.lab.kernels import counted, pcg64, sampled, typical
    from wfmlib.learning.messages.focusing_protocols import atanh_steps
    from wfmlib.models import correlation
    from wfmlib.models.activations import Linear, ReLU, Sign

    menu = {Linear(): sampled.LINEAR, Sign(): sampled.SIGN, ReLU(): sampled.RELU}
    heads = {
        type(unit).__name__: [kind, unit.scale, unit.slope_at_one] for unit, kind in menu.items()
    }
    heads["Sign"][2] = None  # JSON has no infinity
    answers = {
        "weights": {"Binary": typical.BINARY, "Spherical": typical.SPHERICAL},
        "activations": heads,
        "margins": typical.RANGE,
        "belowRange": typical.BELOW_RANGE,
        "along": [typical.LOWEST, FARTHEST],
        "sampling": {
            "head": sampled.HEAD,
            "room": sampled.ROOM,
            "limit": sampled.LIMIT,
            "points": len(sampled.POINTS),
            "narrow": correlation.NARROW,
            "longest": sampled.LONGEST,
            "end": sampled.END,
            "piece": sampled.LENGTH,
            "nodes": sampled.NODES,
        },
    }
    instance = {
        "protocol": atanh_steps().tolist(),
        "coupling": COUPLING,
        "counted": counted.LARGEST,
        "near": counted.NEAR,
        "seeds": pcg64.LARGEST,
    }
    return {"typical": answers, "instance": instance}


def python_kernel(module: str, name: str) -> Any:
    """Return the Python function of a kernel, as numba compiles it."""
    place = "wfmlib.numerics.gaussian" if module == "tails" else f"{__package__}.kernels.{module}"
    kernel = getattr(importlib.import_module(place), name)
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
    if returned != types.float64 and any(number != types.float64 for number in returned):
        raise TypeError(f"{function.__name__} must return float64 numbers, got {returned}")
    return result.library.get_llvm_str(), result.fndesc.llvm_func_name, gives


def translated(exports: dict) -> tuple[bytes, dict]:
    """Return the kernels of a module as one object file, and what each takes and gives."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TARGET)
    machine = target.create_target_machine(cpu="generic", features=FEATURES, opt=3, reloc="static")
    whole = llvm.parse_assembly(f'target triple = "{TARGET}"')
    whole.data_layout = str(machine.target_data)
    signatures = {}
    for name, (module, takes) in exports.items():
        text, symbol, gives = lowered(python_kernel(module, name), takes)
        text = re.sub(r'target (triple|datalayout) = "[^"]*"\n', "", text)
        text = text.replace(" = common ", " = weak ")  # the linker knows no common symbols
        # references are counted by the runtime
        text = COUNTING.sub(lambda match: f"declare void @NRT_{match[1]}(ptr)\n", text)
        part = llvm.parse_assembly(f'target triple = "{TARGET}"\n{text}')
        part.data_layout = str(machine.target_data)
        part.get_function(symbol).name = name
        whole.link_in(part)
        signatures[name] = {"takes": takes, "gives": gives}
    for function in whole.functions:
        if not function.is_declaration and function.name not in exports:
            function.linkage = "internal"
    whole.verify()
    passes = llvm.create_pass_builder(machine, llvm.PipelineTuningOptions(speed_level=3))
    passes.getModulePassManager().run(whole, passes)
    return machine.emit_object(whole), signatures


def linked(code: bytes, names: list[str]) -> bytes:
    """Return the module: the object file with the runtime and the C library's mathematics."""
    with tempfile.TemporaryDirectory() as folder:
        part, module = Path(folder, "kernels.o"), Path(folder, "kernels.wasm")
        part.write_bytes(code)
        exported = [f"-Wl,--export={name}" for name in [*names, "take", "reset", "keep"]]
        options = ["-target", "wasm32-wasi", "-mexec-model=reactor", "-O2"]
        options += ["-mcpu=generic+simd128+bulk_memory"]
        linker = ["-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z", f"-Wl,stack-size={STACK}"]
        files = [part, HERE / "runtime.c", "-o", module]
        command = [sys.executable, "-m", "ziglang", "cc", *options, *linker, *exported, *files]
        subprocess.run(command, check=True)
        return module.read_bytes()


def compile_here(folder: Path) -> None:
    """Compile in this process, and write the script of each module: pages may not fetch."""
    known = constants()
    for group, exports in EXPORTS.items():
        code, signatures = translated(exports)
        module = base64.b64encode(linked(code, list(exports))).decode()
        data = {"module": module, "kernels": signatures, "constants": known[group]}
        text = f"(window.wfmLab ??= {{}}).{group} = {json.dumps(data, allow_nan=False)};\n"
        (folder / f"kernels-{group}.js").write_text(text)


def state() -> str:
    """Return a digest of all that the modules are made from."""
    from numba import __version__

    digest = hashlib.sha256(__version__.encode())
    parts = ("numerics", "models", "theory", "learning", "book/lab")
    for path in sorted(path for part in parts for path in (PACKAGE / part).rglob("*.[pc]*")):
        if path.suffix in {".py", ".c"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def can_compile() -> bool:
    """Return whether the compiler is installed."""
    return importlib.util.find_spec("ziglang") is not None


def make(folder: Path = STATIC) -> bool:
    """Write modules and scripts into a folder, the modules anew only where something changed.

    Returns
    -------
    bool
        Whether the pages compute: without the compiler, an empty script stands for each module.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for script in (HERE / "scripts").glob("*.js"):
        shutil.copy(script, folder)
    mark = folder / ".made-from"  # Sphinx leaves it out
    if not can_compile():
        mark.unlink(missing_ok=True)
        for group in EXPORTS:
            (folder / f"kernels-{group}.js").write_text("// built without the compiler\n")
        return False
    if not mark.exists() or mark.read_text() != state():
        mark.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as cache:
            plain = os.environ | PLAIN | {"NUMBA_CACHE_DIR": cache}
            command = [sys.executable, "-W", "ignore", "-m", __spec__.name, "--here", folder]
            subprocess.run(command, env=plain, check=True)
        mark.write_text(state())
    return True


def main() -> None:
    """Make the modules, and say how large they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=STATIC)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return compile_here(options.folder)
    if not make(options.folder):
        print("Pages will not compute: the group `lab` (zig) is not installed.")
    return None


if __name__ == "__main__":
    main()
