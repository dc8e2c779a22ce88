"""Call kernels of the modules of `tools.wasm` without a browser, with wasmtime.

    .venv-wasm/bin/python tools/wasm_call.py FOLDER < calls.json

`calls.json` lists calls, each a name and its arguments: ``[["H", 0.5], ...]``, an array as its
shape and its numbers. What is printed has `answers`, the numbers returned or null where the kernel
raised an exception; `arrays`, what the arrays of each call hold after it; `imports`, how much the
modules called ask of their surroundings; `memory`, how many bytes they hold in the end.
"""

from __future__ import annotations

import array
import json
import math
import sys
from pathlib import Path

import wasmtime

CODES = {"a": "d", "A": "d", "M": "d", "b": "b", "B": "b", "w": "Q"}  # of `array`: `wasm.KINDS`


def main() -> None:
    """Answer the calls of standard input."""
    folder = Path(sys.argv[1])
    files = {file.stem.removeprefix("kernels-"): file for file in folder.glob("kernels-*.json")}
    told = {group: json.loads(file.read_text()) for group, file in files.items()}
    groups = {name: group for group, kernels in told.items() for name in kernels}
    store = wasmtime.Store()
    modules: dict[str, wasmtime.Module] = {}
    instances: dict = {}
    answers: list[list[float] | None] = []
    arrays = []
    for name, *given in json.load(sys.stdin):
        group = groups[name]
        if group not in instances:
            module = wasmtime.Module.from_file(store.engine, str(folder / f"kernels-{group}.wasm"))
            modules[group] = module
            instances[group] = wasmtime.Instance(store, module, []).exports(store)
        kernels, exports = told[group], instances[group]
        memory, take = exports["memory"], exports["take"]
        exports["reset"](store)
        size = 8 * kernels[name]["gives"]
        results, failure = take(store, size), take(store, 8)
        arguments, places = [], []
        for kind, one in zip(kernels[name]["takes"], given, strict=True):
            if kind == "n":
                arguments.append(float(one))
                continue
            shape, held = one[0], array.array(CODES[kind], one[1])
            wide = held.itemsize
            address = take(store, len(held) * wide)
            memory.write(store, held.tobytes(), address)
            strides = [wide * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
            arguments += [0, 0, len(held), wide, address, *shape, *strides]
            places.append((held, address))
        raised = exports[name](store, results, failure, *arguments)
        numbers = array.array("d", memory.read(store, results, results + size)).tolist()
        answers.append(None if raised else numbers)
        for held, address in places:
            end = address + len(held) * held.itemsize
            held[:] = array.array(held.typecode, memory.read(store, address, end))
        arrays.append([held.tolist() for held, _ in places])
    found = {"answers": answers, "arrays": arrays}
    found["imports"] = sum(len(module.imports) for module in modules.values())
    found["memory"] = sum(one["memory"].data_len(store) for one in instances.values())
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
