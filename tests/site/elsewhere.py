"""An empty environment on this machine, and the built site served to it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Variables of the one who runs the test that would lead back to the sources.
OURS = ("PYTHON", "VIRTUAL_ENV", "WFMLIB", "JUPYTER", "NUMBA", "PYTEST", "IPYTHON", "MPL")

# Executes a notebook anew and prints how many cells ran, and those that fail. Kernels are compiled
# meanwhile, on a machine that may do much else.
RUN = """
import json, sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
for cell in cells:
    cell.outputs, cell.execution_count = [], None
nbclient.NotebookClient(
    notebook, timeout=1800, startup_timeout=600, kernel_name="python3", allow_errors=True
).execute()
nbformat.write(notebook, sys.argv[1])
failed = [
    f"cell {number}: {output.ename}: {output.evalue}"
    for number, cell in enumerate(cells) for output in cell.outputs
    if output.output_type == "error"
]
print(json.dumps([sum(bool(cell.execution_count) for cell in cells), failed]))
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves files without a word, and notes which."""

    def log_message(self, *_):
        self.server.asked.append(self.path)


@contextmanager
def served(folder: Path) -> Iterator[ThreadingHTTPServer]:
    """Serve a folder on 127.0.0.1; what was asked for is noted in `asked`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        server.asked, server.address = [], f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Elsewhere:
    """An empty environment, with a cache and a folder for work of its own."""

    def __init__(self, folder: Path):
        self.work, self.bin = folder / "work", folder / "env" / "bin"
        self.work.mkdir(parents=True)
        venv.create(folder / "env", with_pip=True)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
        own = {"PATH": f"{self.bin}:/usr/bin:/bin", "XDG_CACHE_HOME": str(folder / "cache")}
        own |= {"PYTHONNOUSERSITE": "1", "IPYTHONDIR": str(folder / "ipython")}
        self.variables = kept | own | {"NO_PROXY": "127.0.0.1"}

    def run(self, *command) -> str:
        """Run a command of the environment; return what it prints."""
        name, *rest = map(str, command)
        done = subprocess.run(
            [str(self.bin / name), *rest],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name} {rest}: {(done.stdout + done.stderr)[-3000:]}"
        return done.stdout

    def install(self, *packages) -> None:
        """Install packages with pip."""
        self.run("python", "-m", "pip", "install", "-qq", *packages)

    def execute(self, address: str, name: str) -> tuple[int, list[str]]:
        """Download a notebook and execute it; return how many cells ran, and those that failed."""
        path = self.work / f"{name}.ipynb"
        urllib.request.urlretrieve(f"{address}/_sources/book/{name}.ipynb", path)
        ran, failed = json.loads(self.run("python", "-c", RUN, path).splitlines()[-1])
        return ran, failed
