"""A Sphinx extension: what a reader can take from the site, and the site's address.

- The executed notebook of a page is published beside it. In front stands a cell that installs
  what is missing where the notebook is run (`tools/first_cell.py`).
- `files/` holds the wheel, the archives, all notebooks in one file, those for students in another,
  and the printed book and the slides if they were made. In the pages of `PAGES` a word such as
  `@WHEEL@` becomes the address of a file, or a table.
- With WFMLIB_SOLUTIONS=no, pages and notebooks have no solutions. The cells of solutions are
  executed all the same, so that the cache serves both.
- The address of the site is the environment's WFMLIB_SITE. With it pages say what a link to them
  shows elsewhere, and there is a map of the site. A build that was given none writes `ADDRESS`,
  which `book/_static/site.js` replaces on the page.
- The repository stands in `pyproject.toml`; where it does not, and GitHub serves the pages, the
  site's address says it. With it pages lead to their sources, and pages with code get the buttons
  that open them on Binder and on Colab.
"""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
import zipfile
from itertools import takewhile
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import yaml
from docutils import nodes
from hatchling.builders.wheel import WheelBuilder
from sphinx.transforms import SphinxTransform
from sphinx_exercise.nodes import solution_node

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # Sphinx knows this folder only

from tools import bibliography, exercises, first_cell, links, numbering, students  # noqa: E402
from tools.notebooks import chapters, executed, without_terms  # noqa: E402
from wfmlib.book import experiments  # noqa: E402

PAGES = ("book/run", "book/downloads")
UNKNOWN = "ADDRESS/"
RESULTS = ROOT / "book" / "results"
REGISTRY = ROOT / "wfmlib" / "book" / "experiments" / "registry.txt"
ALL, STUDENTS = "notebooks.zip", "notebooks-for-students.zip"
SOLVED = os.environ.get("WFMLIB_SOLUTIONS") != "no"
EPOCH = (2020, 2, 2, 0, 0, 0)  # of files in a package: equal contents make equal packages
# What is made of the built pages, and by which command.
MADE = {
    "PDF": ("wide-flat-minima.pdf", "make pdf"),
    "ARTICLE": ("article.pdf", "make article"),
    "SLIDES": ("slides.zip", "make slides"),
}

GITHUB = "https://github.com/"
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"
BRANCH = "notebooks"  # holds the executed notebooks, which Colab opens: the sources are text


# ------------------------------------------------------------------------------------------------
# The address of the site
# ------------------------------------------------------------------------------------------------


def repository(site: str) -> str:
    """Return the repository: of `pyproject.toml`, or whose pages GitHub serves at an address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if stated := project.get("urls", {}).get("Source"):
        return stated.removesuffix("/")
    address = urlsplit(site)
    owner, _, host = (address.hostname or "").partition(".")
    name = address.path.strip("/").partition("/")[0] or address.hostname
    return f"{GITHUB}{owner}/{name}" if host == "github.io" else ""


def configure(app, config) -> None:
    """Tell the theme where the book is; it then makes the buttons."""
    options, site = config.html_theme_options, first_cell.site()
    options["repository_url"] = repository(site)
    if options["repository_url"]:
        options["use_repository_button"] = options["use_source_button"] = True
        options.setdefault("launch_buttons", {})["binderhub_url"] = BINDER
    if "://" in site:
        config.html_baseurl = config.ogp_site_url = site
        config.ogp_image = "_static/card.png"
        config.sitemap_url_scheme = "{link}"


def offer_colab(app, pagename, templatename, context, doctree) -> None:
    """Add Colab to the buttons: the theme would send it to the text, which Colab cannot open."""
    url = app.config.html_theme_options["repository_url"]
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons" and url.startswith(GITHUB):
            notebook = f"github/{url.removeprefix(GITHUB)}/blob/{BRANCH}/{pagename}.ipynb"
            button = {"type": "link", "text": "Colab", "tooltip": "Launch on Colab"}
            button |= {"url": f"{COLAB}/{notebook}", "icon": "_static/images/logo_colab.png"}
            group["buttons"].append(button)


# ------------------------------------------------------------------------------------------------
# Notebooks
# ------------------------------------------------------------------------------------------------


def offer(app, pagename, templatename, context, doctree) -> None:
    """Name the notebook to the theme, which knows how to offer one for download."""
    if doctree is not None and Path(app.srcdir, f"{pagename}.md") in chapters():
        context["ipynb_source"] = f"{pagename}.ipynb"


def publish(app, pagename, templatename, context, doctree) -> None:
    """Write the executed notebook to the sources of the pages.

    MyST-NB writes one without outputs when they come from the cache.
    """
    if doctree is None or Path(app.srcdir, f"{pagename}.md") not in chapters():
        return
    notebook = executed(Path(app.srcdir, f"{pagename}.md"))
    notebook.metadata.pop("jupytext", None)  # from here on it is a notebook like any other
    known = numbering.numbers()
    fold(notebook, known)
    notebook.cells = list(numbering.captioned(notebook.cells, known))
    notebook.cells[0].source = numbering.titled(notebook.cells[0].source, pagename, known)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = numbering.plain(without_terms(cell.source), known)
            cell.source = bibliography.cited(links.absolute(text, known, pagename))
    first_cell.put(notebook, Path(pagename).name)
    target = Path(app.outdir, "_sources", f"{pagename}.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


class Unsolved(SphinxTransform):
    """Takes the solutions out of a page, and the sentence that says that they are folded.

    The setting `hide_solutions` of sphinx-exercise takes out their first lines alone.
    """

    default_priority = 11  # just after sphinx-exercise has gathered each, and before any label

    def apply(self, **_) -> None:
        """Remove them."""
        for node in list(self.document.findall(solution_node)):
            node.parent.remove(node)
        for node in self.document.findall(nodes.paragraph):
            first = list(takewhile(lambda one: isinstance(one, nodes.Text), node))
            if exercises.FOLDED.search(said := "".join(first)):
                node[: len(first)] = [nodes.Text(exercises.FOLDED.sub("", said))]


def fold(notebook, known: dict[str, numbering.Number], solved: bool = SOLVED) -> None:
    """Fold what the pages fold, and leave of a slider its picture until it is run.

    JupyterLab shows neither style nor SVG of a notebook that it does not trust yet.
    """
    texts: dict[str, str] = {}
    for cell, text, label in exercises.parts(notebook):
        if label is not None and not solved:
            texts.setdefault(cell.id, "")
            continue
        if not solved and cell.cell_type == "markdown":
            text = exercises.FOLDED.sub("", text)
        if cell.cell_type == "code":
            if label is not None:
                cell.metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
            elif "hide-input" in cell.metadata.get("tags", []):
                cell.metadata["jupyter"] = {"source_hidden": True}
            for output in cell.outputs:
                if "image/png" in (data := output.get("data", {})):
                    data.pop("text/html", None)
        elif label is not None:
            summary = f"<summary>Solution of {known[label].spoken}</summary>"
            text = f"<details>{summary}\n\n{text}\n\n</details>" if text else ""
        texts[cell.id] = f"{texts[cell.id]}\n\n{text}" if cell.id in texts else text
    for cell in notebook.cells:
        if cell.cell_type == "markdown" or not texts[cell.id]:
            cell.source = texts[cell.id].strip()
    notebook.cells = [cell for cell in notebook.cells if cell.source]


def package(app, error) -> None:
    """Write all notebooks into one file, and those for students into another."""
    if error is not None or app.builder.name != "html":
        return
    sources = Path(app.outdir, "_sources")
    for source in () if SOLVED else sources.rglob("*.md"):
        source.write_text(exercises.unsolved(source.read_text("utf-8")), "utf-8")
    sources /= "book"
    write_zip(
        folder(app) / ALL, {path.name: path.read_bytes() for path in sources.glob("*.ipynb")}
    )
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


# ------------------------------------------------------------------------------------------------
# Files, and the pages that name them
# ------------------------------------------------------------------------------------------------


def folder(app) -> Path:
    """Return the folder of the files, below the pages."""
    return Path(app.outdir, first_cell.FILES)


def gather(app) -> None:
    """Write the wheel and copy the archives, before the pages that name them are read."""
    if app.builder.format != "html":
        return
    target = folder(app)
    shutil.rmtree(target, ignore_errors=True)
    (target / "archives").mkdir(parents=True)
    list(WheelBuilder(str(ROOT)).build(directory=str(target), versions=["standard"]))
    files = [RESULTS / f"{name}.nc" for name in experiments.names()]
    for path in (*files, REGISTRY):
        if path.exists():
            shutil.copyfile(path, target / "archives" / path.name)
    for name, _ in MADE.values():
        if (built := Path(app.outdir).parent / name).exists():
            shutil.copyfile(built, target / name)


def fill(app, docname: str, source: list[str]) -> None:
    """Put addresses and tables into the text of a page that asks for them."""
    if docname in PAGES and app.builder.format == "html":
        for word, text in words(app, first_cell.site() or UNKNOWN).items():
            source[0] = source[0].replace(f"@{word}@", text)


def words(app, site: str) -> dict[str, str]:
    """Return what stands for each word."""
    wheel = Path(first_cell.WHEEL)
    on_github = app.config.html_theme_options["repository_url"].startswith(GITHUB)
    rocket = "The rocket at the top of each chapter opens its notebook on Colab or on Binder."
    return {
        "SITE": site,
        "ROCKET": rocket if on_github else "",
        "WHEEL": site + first_cell.WHEEL,
        "WHEEL_LINK": link(app, wheel.name),
        "NOTEBOOKS": link(app, ALL),
        "STUDENTS": link(app, STUDENTS),
        "ARCHIVES": table(app),
        "CITE": citation(),
        **{word: link_or_command(app, *file) for word, file in MADE.items()},
    }


def link(app, name: str, text: str = "") -> str:
    """Return a link from a page to a file, with its size if it is there already."""
    path = folder(app) / name
    size = f" ({path.stat().st_size / 1e6:.1f}\u00a0MB)" if path.exists() else ""
    address = f"../{first_cell.FILES}{name}"
    return f'<a class="reference" href="{address}" download>{text or name}</a>{size}'


def link_or_command(app, name: str, command: str) -> str:
    """Return a link to what is made of the pages, or what the page says where it was not."""
    if (folder(app) / name).exists():
        return link(app, name)
    return f"not in this build: `{command}` makes it"


def table(app) -> str:
    """Return the archives as a table in Markdown."""
    lines = ["| archive | chapter | what was run |", "| --- | --- | --- |"]
    files = (folder(app) / "archives").glob("*.nc")
    every = [experiments.get(path.stem) for path in files]
    for experiment in sorted(every, key=lambda experiment: (experiment.chapter, experiment.name)):
        file = link(app, f"archives/{experiment.name}.nc", experiment.name)
        lines.append(f"| {file} | {experiment.chapter} | {experiment.title} |")
    return "\n".join(lines)


def citation() -> str:
    """Return how the book is cited, from `CITATION.cff`, which alone says it."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    names = " and ".join(
        author.get("name") or f"{author['given-names']} {author['family-names']}"
        for author in cited["authors"]
    )
    issued = [
        f"https://doi.org/{identifier['value']}" for identifier in cited.get("identifiers", ())
    ]
    edition = f"version {cited['version']} ({str(cited['date-released'])[:4]})"
    return f"{names}, *{cited['title']}*, {', '.join([edition, *issued])}."


def offer_script(app, pagename, templatename, context, doctree) -> None:
    """Have the address of the site found by a script where the build was given none."""
    if pagename in PAGES and not first_cell.site():
        app.add_js_file("site.js", loading_method="defer")


def outdated(app, env, added, changed, removed) -> list[str]:
    """Have the pages read again in each build: the files may have changed."""
    return [page for page in PAGES if page in env.found_docs]


def setup(app):
    """Connect: what the theme is told, it must hear before it makes its buttons (at 500, 501)."""
    if "://" in first_cell.site():
        app.setup_extension("sphinxext.opengraph")
        app.setup_extension("sphinx_sitemap")
    app.add_config_value("wfm_solved", SOLVED, "env")  # or pages read before keep theirs
    if not SOLVED:
        app.add_transform(Unsolved)
    app.connect("config-inited", configure, priority=400)
    app.connect("builder-inited", gather)
    app.connect("env-get-outdated", outdated)
    app.connect("source-read", fill)
    app.connect("html-page-context", offer_script)
    app.connect("html-page-context", exercises.offer_forms)
    app.connect("html-page-context", offer, priority=400)
    app.connect("html-page-context", offer_colab, priority=550)
    app.connect("html-page-context", publish, priority=600)
    app.connect("build-finished", package)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
