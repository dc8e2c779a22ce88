"""What the files of the site are, in RO-Crate: book, archives, the code and the runs behind them.

`ro-crate-metadata.json` lies beside the pages and makes the folder of the site a research object
that repositories such as Zenodo and WorkflowHub read. Each build of the pages writes it, and
`python -m tools.attach` again when the printed book and the slides have come. Every file that it
lists is there, with its SHA-256. Identifiers are those of `CITATION.cff`, where there are any.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # Sphinx knows this folder only

from tools import citation, numbering  # noqa: E402
from wfmlib.book import experiments  # noqa: E402

NAME = "ro-crate-metadata.json"
FILES = "files"
KINDS = {
    ".epub": "application/epub+zip",
    ".html": "text/html",
    ".ipynb": "application/x-ipynb+json",
    ".json": "application/json",
    ".nc": "application/x-netcdf",
    ".pdf": "application/pdf",
    ".whl": "application/zip",
    ".zip": "application/zip",
}
PRINTED = (".epub", ".pdf")
ABOUT = {
    "notebooks.zip": "All notebooks, executed",
    "notebooks-for-students.zip": "Notebooks for students, without solutions",
    "slides.zip": "Slides of all figures",
    "archives/SHA256SUMS": "SHA-256 of the archives",
}


def write(html: Path) -> Path:
    """Write what the files of a built site are, and return where it stands."""
    make(html).metadata.write(html)
    return html / NAME


def make(html: Path) -> ROCrate:
    """Return the description of a built site: of the files that are there, and of no other."""
    cited = citation.read()
    crate = ROCrate()
    authors = [author(crate, count, one) for count, one in enumerate(cited["authors"])]
    licence = f"https://spdx.org/licenses/{cited['license']}"
    whole = {
        "name": cited["title"],
        "description": f"{cited['title']}: the book, its archived results, and the code.",
        "version": cited["version"],
        "datePublished": str(cited["date-released"]),
        "license": thing(crate, licence, "CreativeWork", name=cited["license"]),
        "author": authors,
        "keywords": ", ".join(cited["keywords"]),
        "citation": [paper(crate, one) for one in cited["references"]],
    }
    if issued := citation.identifiers(cited):
        whole["identifier"] = issued
    for name, said in whole.items():
        crate.root_dataset[name] = said
    package = code(crate, cited, authors)
    book(crate, html, authors)
    for path in sorted((html / FILES).glob("*.whl")):
        file(crate, html, path, name=f"The Python package {path.name}", isPartOf=package)
    for name, told in ABOUT.items():
        if (path := html / FILES / name).is_file():
            file(crate, html, path, name=told)
    for path in sorted((html / FILES / "archives").glob("*.nc")):
        run(crate, html, path, package)
    return crate


def thing(crate: ROCrate, identifier: str, kind: str, **told) -> Entity:
    """Add what is not a file: a person, a paper, a run."""
    return crate.add(ContextEntity(crate, identifier, {"@type": kind, **told}))


def author(crate: ROCrate, count: int, said: dict) -> Entity:
    """Add an author, a group or a person, as `CITATION.cff` names them."""
    name = said.get("orcid", f"#author-{count}")
    if "name" in said:
        return thing(crate, name, "Organization", name=said["name"])
    given, family = said["given-names"], said["family-names"]
    names = {"givenName": given, "familyName": family, "name": f"{given} {family}"}
    return thing(crate, name, "Person", **names)


def paper(crate: ROCrate, said: dict) -> Entity:
    """Add a paper that the book reproduces."""
    told = {"name": said["title"], "datePublished": str(said["year"])}
    told["creditText"] = citation.names(said)
    return thing(crate, f"https://doi.org/{said['doi']}", "ScholarlyArticle", **told)


def code(crate: ROCrate, cited: dict, authors: list[Entity]) -> Entity:
    """Add the package, which is the code of every run."""
    language = thing(
        crate,
        "https://www.python.org/",
        "ComputerLanguage",
        name="Python",
        url="https://www.python.org/",
    )
    told = {"name": "wfmlib", "version": cited["version"], "author": authors}
    return thing(crate, "#wfmlib", "SoftwareSourceCode", programmingLanguage=language, **told)


def book(crate: ROCrate, html: Path, authors: list[Entity]) -> None:
    """Add the pages with their notebooks, and the book for print and for readers of EPUB."""
    whole = thing(crate, "#book", "Book", name=crate.root_dataset["name"], author=authors)
    first = {pages[0]: chapter for chapter, pages in numbering.chapters().items()}
    for page, _ in numbering.pages():
        told = {"name": title(page), "isPartOf": whole}
        told |= {"position": first[page]} if page in first else {}
        path = html / f"{page}.html"
        if not path.is_file():
            continue
        shown = file(crate, html, path, "Chapter" if page in first else "WebPage", **told)
        notebook = html / "_sources" / f"{page}.ipynb"
        if notebook.is_file():
            file(crate, html, notebook, name=f"Notebook: {title(page)}", isBasedOn=shown)
    for path in sorted((html / FILES).glob("*")):
        if path.suffix in PRINTED:
            name = f"{crate.root_dataset['name']} ({path.suffix[1:].upper()})"
            file(crate, html, path, "Book", name=name, exampleOfWork=whole)


def title(page: str) -> str:
    """Return the title of a page, from its source."""
    text = (ROOT / f"{page}.md").read_text("utf-8")
    return next(line[2:] for line in text.splitlines() if line.startswith("# "))


def run(crate: ROCrate, html: Path, archive: Path, package: Entity) -> None:
    """Add an archive, the experiment and the run that made it."""
    told = experiments.load(archive.stem).attrs
    commits, on = json.loads(told["commits"]), json.loads(told["processors"])
    experiment = experiments.get(archive.stem)
    module = experiment.sample.__module__
    made_by = thing(
        crate,
        f"#experiment-{experiment.name}",
        "SoftwareSourceCode",
        name=f"{module.replace('.', '/')}.py",
        description=experiment.title,
        isPartOf=package,
        version=", ".join(commits),
    )
    result = file(crate, html, archive, name=experiment.title, citation=experiment.source)
    versions = [f"{name} {one}" for name, one in json.loads(told["versions"]).items()]
    thing(
        crate,
        f"#run-{experiment.name}",
        "CreateAction",
        name=f"Run of {experiment.name}: {told['samples_done']} samples",
        instrument=made_by,
        result=result,
        endTime=told["date"],
        description=f"{', '.join(versions)}; on {', '.join(on)}",
    )


def file(crate: ROCrate, html: Path, path: Path, kind: str = "", **told) -> Entity:
    """Add a file of the site, with its size and its SHA-256."""
    data = path.read_bytes()
    told |= {
        "@type": ["File", kind] if kind else "File",
        "contentSize": str(len(data)),
        "encodingFormat": KINDS.get(path.suffix, "text/plain"),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return crate.add_file(path, path.relative_to(html).as_posix(), properties=told)


def finish(app, error) -> None:
    """Write it when everything else of a site is there."""
    if error is None and app.builder.name == "html":
        write(Path(app.outdir))


def setup(app):
    """Come last: pages change until `tools/policy.py` has written what they may load (at 900)."""
    app.connect("build-finished", finish, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
