"""Does the built site run from its own address, in an environment that has nothing of the book?

`python -m tools.site_test` serves the pages on 127.0.0.1, installs the wheel from there as the
page "Run it" says, asks `wfm claims` for every claim, downloads the notebook of every page and
executes it. Packages of others come from the package index, as they would for a reader.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import first_cell
from tools.notebooks import BUILD

HTML = BUILD / "html"
# Variables of the one who runs the test that would lead back to the sources.
OURS = ("PYTHON", "VIRTUAL_ENV", "WFMLIB", "JUPYTER", "NUMBA", "PYTEST", "IPYTHON", "MPL")
TIMEOUT = 1800  # seconds for a cell: kernels are compiled, on a machine that may do much else
STARTS = 600  # seconds for the first import of a kernel's packages, which nothing has compiled

# Executes a notebook anew, all of its cells, and prints those that fail.
RUN = f"""
import json, sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
for cell in cells:
    cell.outputs, cell.execution_count = [], None
client = nbclient.NotebookClient(
    notebook, timeout={TIMEOUT}, startup_timeout={STARTS}, kernel_name="python3",
    allow_errors=True)
client.execute()
nbformat.write(notebook, sys.argv[1])
failed = [
    [number, output.ename, output.evalue]
    for number, cell in enumerate(cells) for output in cell.outputs
    if output.output_type == "error"
]
print(json.dumps([sum(bool(cell.execution_count) for cell in cells), failed]))
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves files without a word, and notes which."""

    def log_message(self, *_):
        """Note what was asked for."""
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
    """An empty environment, with a cache and a folder for work of its own.

    Parameters
    ----------
    folder : Path
        Where all of it is kept.
    **variables : str
        Of the environment, besides those of the one who runs the test.
    """

    def __init__(self, folder: Path, **variables: str):
        self.work, self.bin = folder / "work", folder / "env" / "bin"
        self.work.mkdir(parents=True)
        venv.create(folder / "env", with_pip=True)
        kept = {name: text for name, text in os.environ.items() if not name.startswith(OURS)}
        own = {"PATH": f"{self.bin}:/usr/bin:/bin", "XDG_CACHE_HOME": str(folder / "cache")}
        own |= {"PYTHONNOUSERSITE": "1", "IPYTHONDIR": str(folder / "ipython")}
        own |= {"NO_PROXY": "127.0.0.1", "PIP_NO_COMPILE": "1"}  # imports compile what they need
        self.variables = kept | own | variables

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
        if done.returncode:
            said = (done.stdout + done.stderr)[-3000:]
            raise RuntimeError(
                f"{name} {' '.join(rest)[:200]} ended with {done.returncode}: {said}"
            )
        return done.stdout

    def install(self, *packages: str) -> None:
        """Install packages with pip."""
        self.run("python", "-m", "pip", "install", "-qq", *packages)

    def lend(self, *packages: str) -> None:
        """Link installed packages of this Python, and what they need in turn, but no more.

        pip finds them there: what is left out of a package's own list of needs is missing.
        """
        (folder,) = self.bin.parent.glob("lib/python*/site-packages")
        for one in needed(packages):
            for name in {file.parts[0] for file in one.files} - {"..", "__pycache__"}:
                if not (folder / name).exists():
                    (folder / name).symlink_to(one.locate_file(name))

    def execute(self, address: str, name: str) -> tuple[int, list]:
        """Download a notebook and execute it; return how many cells ran, and those that failed."""
        path = self.work / f"{name}.ipynb"
        urllib.request.urlretrieve(f"{address}/_sources/book/{name}.ipynb", path)
        ran, failed = json.loads(self.run("python", "-c", RUN, path).splitlines()[-1])
        return ran, failed


def needed(packages: Iterable[str]) -> list[Distribution]:
    """Return installed distributions of these names, extras allowed, and all that they need."""
    waiting, met, found = [Requirement(one) for one in packages], set(), {}
    while waiting:
        asked = waiting.pop()
        for extra in {"", *asked.extras}:
            if (canonicalize_name(asked.name), extra) in met:
                continue
            met.add((canonicalize_name(asked.name), extra))
            one = found.setdefault(canonicalize_name(asked.name), distribution(asked.name))
            lines = map(Requirement, one.requires or ())
            waiting += [
                line for line in lines if not line.marker or line.marker.evaluate({"extra": extra})
            ]
    return list(found.values())


def check(names: list[str], jobs: int, folder: Path) -> list[str]:
    """Run the site from its own address; return what failed."""
    wrong = []
    with served(HTML) as server:
        began, elsewhere = time.perf_counter(), Elsewhere(folder)
        elsewhere.install(f"wfmlib[book] @ {server.address}/{first_cell.WHEEL}")
        disk = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
        print(f"installed in {time.perf_counter() - began:.0f} s, {disk / 1e6:.0f} MB", flush=True)

        def one(name):
            began = time.perf_counter()
            ran, failed = elsewhere.execute(server.address, name)
            said = f"{name}: {ran} cells, {time.perf_counter() - began:.0f} s"
            print(f"{said}, {len(failed)} failed" if failed else said, flush=True)
            return [f"{name}, cell {number}: {kind}: {why}" for number, kind, why in failed]

        def claims():
            began = time.perf_counter()
            counted = elsewhere.run("wfm", "claims").splitlines()[-1]
            print(f"wfm claims: {time.perf_counter() - began:.0f} s, {counted}", flush=True)
            return [f"wfm claims: {counted}"] if "Archives" in counted else []

        with ThreadPoolExecutor(jobs) as pool:
            for found in [pool.submit(claims), *(pool.submit(one, name) for name in names)]:
                try:
                    wrong += found.result()
                except RuntimeError as error:
                    wrong.append(str(error))
    return wrong


def main() -> None:
    """Check the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as 07_message_passing")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (default: 2)")
    arguments = parser.parse_args()
    every = sorted(path.stem for path in (HTML / "_sources" / "book").glob("*.ipynb"))
    if not every:
        sys.exit("There are no built pages: run `make book`.")
    unknown = sorted(set(arguments.pages) - set(every))
    if unknown:
        parser.error(f"no page {unknown[0]!r}; there are {', '.join(every)}")
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(arguments.pages or every, arguments.jobs, Path(folder))
    sys.exit("\n".join(["failed:", *wrong]) if wrong else None)


if __name__ == "__main__":
    main()
