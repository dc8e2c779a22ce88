"""A Sphinx extension: the built pages carry the wheel, the archives and all notebooks, and say so.

`files/` of the site holds the wheel, all notebooks in one file, those for students in another,
and in `archives/` the archives with their SHA-256. In the pages of `PAGES`
a word such as `@WHEEL@` becomes the address of a file, or a table.

The address of the site is the environment's WFMLIB_SITE. A build that was given none writes
`ADDRESS` in its place, and `book/_static/site.js` replaces it by that at which the page is read.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

import nbformat
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # Sphinx knows this folder only

from tools import attach, citation, crate, exercises, first_cell, launch_buttons, students  # noqa: E402
from tools.notebooks import chapters  # noqa: E402
from wfmlib.book import experiments  # noqa: E402

PAGES = ("book/run", "book/downloads")
UNKNOWN = "ADDRESS/"
RESULTS = ROOT / "book" / "results"
SUMS = "SHA256SUMS"
ALL, STUDENTS = "notebooks.zip", "notebooks-for-students.zip"
EPOCH = (2020, 2, 2, 0, 0, 0)  # of files in a package: equal contents make equal packages


def folder(app) -> Path:
    """Return the folder of the files, below the pages."""
    return Path(app.outdir, first_cell.FILES)


def build_wheel(app) -> None:
    """Write the wheel and the archives, before the pages that name them are read."""
    if app.builder.format != "html":
        return
    target = folder(app)
    shutil.rmtree(target, ignore_errors=True)
    (target / "archives").mkdir(parents=True)
    list(WheelBuilder(str(ROOT)).build(directory=str(target), versions=["standard"]))
    stored = [RESULTS / f"{name}.nc" for name in experiments.names()]
    for path in stored:
        shutil.copyfile(path, target / "archives" / path.name)
    lines = [f"{sha256(path)}  {path.name}\n" for path in stored]
    (target / "archives" / SUMS).write_text("".join(lines))


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def package(app, error) -> None:
    """Write all notebooks into one file, and those for students into another."""
    if error is not None or app.builder.name != "html":
        return
    sources = Path(app.outdir, "_sources", "book")
    executed = {path.name: path.read_bytes() for path in sources.glob("*.ipynb")}
    write_zip(folder(app) / ALL, executed)
    empty = {}
    for chapter in chapters():
        if exercises.of_chapter(chapter):
            notebook = students.downloaded(chapter)
            empty[f"{chapter.stem}.ipynb"] = nbformat.writes(notebook).encode()
    write_zip(folder(app) / STUDENTS, empty)


def write_zip(path: Path, files: dict[str, bytes]) -> None:
    """Write files into a package that is the same whenever they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(f"{path.stem}/{name}", EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(info, data)


def fill(app, docname: str, source: list[str]) -> None:
    """Put addresses and tables into the text of a page that asks for them."""
    if docname in PAGES and app.builder.format == "html":
        site = first_cell.site() or UNKNOWN
        for word, text in words(app, site).items():
            source[0] = source[0].replace(f"@{word}@", text)


def words(app, site: str) -> dict[str, str]:
    """Return what stands for each word."""
    wheel = folder(app) / Path(first_cell.WHEEL).name
    return {
        "SITE": site,
        "ROCKET": rocket(app),
        "WHEEL": site + first_cell.WHEEL,
        "WHEEL_LINK": link(first_cell.WHEEL, wheel.name),
        "WHEEL_SIZE": size(wheel),
        "NOTEBOOKS": link(first_cell.FILES + ALL, ALL),
        "STUDENTS": link(first_cell.FILES + STUDENTS, STUDENTS),
        "ARCHIVES": table(folder(app) / "archives"),
        "CRATE": link(crate.NAME, crate.NAME),
        "CITE": "{}*{}*{}.".format(*citation.suggested(citation.read())),
        "SUMS": link(f"{first_cell.FILES}archives/{SUMS}", SUMS),
        **{name.upper(): attach.absent(name) for name in attach.FILES},
    }


def rocket(app) -> str:
    """Return what the pages say of the button that opens a notebook on Colab, if they have it."""
    url = app.config.html_theme_options.get("repository_url") or ""
    if not url.startswith(launch_buttons.GITHUB):
        return ""
    return "The rocket at the top of each chapter opens its notebook on Colab or on Binder."


def link(address: str, text: str) -> str:
    """Return a link from a page to a file of the site."""
    return f'<a class="reference" href="../{address}" download>{text}</a>'


def size(path: Path) -> str:
    """Return the size of a file in words."""
    kilobytes = path.stat().st_size / 1e3
    return f"{kilobytes / 1e3:.1f}\u00a0MB" if kilobytes > 999 else f"{kilobytes:.0f}\u00a0kB"


def table(there: Path) -> str:
    """Return the archives as a table in Markdown."""
    lines = ["| archive | chapter | what was run | size |", "| --- | --- | --- | --- |"]
    every = [(experiments.get(path.stem), path) for path in there.glob("*.nc")]
    for one, path in sorted(every, key=lambda pair: (pair[0].chapter, pair[0].name)):
        file = link(f"{first_cell.FILES}archives/{path.name}", one.name)
        lines.append(f"| {file} | {one.chapter} | {one.title} | {size(path)} |")
    return "\n".join(lines)


def outdated(app, env, added, changed, removed) -> list[str]:
    """Have the pages read again in each build: the files may have changed."""
    return [page for page in PAGES if page in env.found_docs]


def offer_script(app, pagename, templatename, context, doctree) -> None:
    """Have the address of the site found by a script where the build was given none."""
    if pagename in PAGES and not first_cell.site():
        app.add_js_file("site.js", loading_method="defer")


def setup(app):
    """Register what is written before the pages, in them and after them."""
    app.connect("builder-inited", build_wheel)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", fill)
    app.connect("html-page-context", offer_script)
    app.connect("build-finished", package)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
