"""Call kernels of a module of `tools.wasm` without a browser, with wasmtime.

    .venv-wasm/bin/python tools/wasm_call.py FOLDER < calls.json

`calls.json` lists calls, each a name and its numbers: ``[["H", 0.5], ...]``. What is printed has
`answers`, the numbers returned or null where the kernel raised an exception; `imports`, how much
the module asks of its surroundings; `memory`, how many bytes it holds in the end.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import wasmtime


def main() -> None:
    """Answer the calls of standard input."""
    folder = Path(sys.argv[1])
    gives = {
        name: one["gives"]
        for name, one in json.loads((folder / "kernels.json").read_text()).items()
    }
    store = wasmtime.Store()
    module = wasmtime.Module.from_file(store.engine, str(folder / "kernels.wasm"))
    exports = wasmtime.Instance(store, module, []).exports(store)
    answers: list[list[float] | None] = []
    for name, *numbers in json.load(sys.stdin):
        exports["reset"](store)
        size = 8 * gives[name]
        results, failure = exports["take"](store, size), exports["take"](store, 8)
        if exports[name](store, results, failure, *map(float, numbers)):
            answers.append(None)
            continue
        given = exports["memory"].read(store, results, results + size)
        answers.append(list(struct.unpack(f"<{gives[name]}d", given)))
    told = {"answers": answers, "imports": len(module.imports)}
    told["memory"] = exports["memory"].data_len(store)
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
