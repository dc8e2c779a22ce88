"""Call kernels of a module of `tools.wasm` without a browser, with wasmtime.

    .venv-wasm/bin/python tools/wasm_call.py FOLDER < calls.json

`calls.json` lists calls, each a name and its arguments: ``[["H", 0.5], ...]``, an array as its
shape and its numbers. What is printed has `answers`, the numbers returned or null where the kernel
raised an exception; `arrays`, what the arrays of each call hold after it; `imports`, how much the
module asks of its surroundings; `memory`, how many bytes it holds in the end.
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
    kernels = json.loads((folder / "kernels.json").read_text())
    store = wasmtime.Store()
    module = wasmtime.Module.from_file(store.engine, str(folder / "kernels.wasm"))
    exports = wasmtime.Instance(store, module, []).exports(store)
    memory, take = exports["memory"], exports["take"]
    answers: list[list[float] | None] = []
    arrays = []
    for name, *given in json.load(sys.stdin):
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
    told = {"answers": answers, "arrays": arrays, "imports": len(module.imports)}
    told["memory"] = memory.data_len(store)
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
