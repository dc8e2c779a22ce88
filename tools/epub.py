"""The book as an EPUB, for readers that fit text to their screen: formulas are MathML.

The pages come from the sources that were executed for the site. As in print, the API reference
and what only a site can show are left out. What was packed is looked through before it is there
(`tools/epub_check.py`), and by EPUBCheck where it is installed.
"""

from __future__ import annotations

import argparse
import copy
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import yaml
from jupyter_book.config import get_final_config
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tools import citation, epub_check, paper
from tools.notebooks import BUILD, ROOT

FOLDER = BUILD / "epub"
OUTPUT = BUILD / "wide-flat-minima.epub"
EPUBCHECK = ROOT / ".venv-epub" / "bin" / "epubcheck"
# Of the extensions of the site: those that are for any form of the book. A page for readers of
# EPUB has no theme, no script, no button and nothing to download.
THEME = ("sphinx_book_theme", "sphinx_thebe", "sphinx_comments", "sphinx_copybutton")
SITE = ("sphinx-mathjax-offline", "sphinx_togglebutton", "sphinx_codeautolink")
KEPT = ("cite_chapter", "claim_links", "gallery", "number_pages", "uncollected")


def contents(whole: dict) -> dict:
    """Return the table of contents without the pages that the printed book leaves out, too."""
    kept = copy.deepcopy(whole)
    for part in kept["parts"]:
        part["chapters"] = [
            one
            for one in part["chapters"]
            if one["file"] not in paper.SITE_ONLY and not one["file"].startswith(paper.API)
        ]
    kept["parts"] = [part for part in kept["parts"] if part["chapters"]]
    return kept


def settings(folder: Path, root: Path = ROOT) -> dict:
    """Return the settings of Sphinx: those of the site, without what only a site can use."""
    config, _ = get_final_config(
        user_yaml=root / "_config.yml", cli_config={"latex_individualpages": False}
    )
    ours = yaml.safe_load((root / "_config.yml").read_text("utf-8"))["sphinx"]["local_extensions"]
    for unused in ("comments_config", "codeautolink_concat_default"):
        config.pop(unused)
    gone = {*THEME, *SITE, *(set(ours) - set(KEPT))}
    cited = citation.read()
    issued = citation.identifiers(cited)
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{cited['title']} {cited['version']}")
    toc = folder / "_toc.yml"
    whole = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    toc.write_text(yaml.safe_dump(contents(whole), sort_keys=False), "utf-8")
    return config | {
        "extensions": [one for one in config["extensions"] if one not in gone] + ["epub_pages"],
        "external_toc_path": str(toc),
        # Pages that are left out: what links to them is text.
        "suppress_warnings": [*config["suppress_warnings"], "myst.xref_missing"],
        "html_theme": "basic",
        "html_theme_options": {},
        "html_css_files": [],
        "html_static_path": [str(ROOT / "tools" / "epub_static")],
        "templates_path": [],
        "html_math_renderer": "mathml",
        "project": cited["title"],
        "version": cited["version"],
        "epub_author": citation.names(cited),
        "epub_basename": OUTPUT.stem,
        "epub_contributor": citation.names(cited),
        "epub_copyright": f"{cited['license']} licence",
        "epub_css_files": ["reader.css"],
        "epub_description": "".join(citation.suggested(cited)),
        "epub_identifier": issued[0] if issued else f"urn:uuid:{name}",
        "epub_publisher": citation.names(cited),
        "epub_show_urls": "no",
        "epub_theme": "epub",
        "epub_tocdup": False,
        "epub_tocdepth": 2,
        "epub_tocscope": "includehidden",
        "epub_uid": "book",
        "epub_use_index": False,
    }


def build(folder: Path, config: dict) -> Path:
    """Build the EPUB and return where it is."""
    sys.path.append(str(ROOT / "tools"))
    os.environ["WFMLIB_DISPLAY"] = "static"
    pages, trees = folder / "pages", folder / ".doctrees"
    shutil.rmtree(pages, ignore_errors=True)
    with patch_docutils(), docutils_namespace():
        app = Sphinx(ROOT, None, pages, trees, "epub", confoverrides=config, status=None)
        app.build(force_all=True)
    return pages / f"{config['epub_basename']}.epub"


def checked(book: Path) -> list[str]:
    """Return what is wrong with the EPUB, also by EPUBCheck where it and Java are installed."""
    found = epub_check.problems(book)
    if EPUBCHECK.exists() and shutil.which("java"):
        command = [EPUBCHECK, book]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            found.append(f"EPUBCheck: {ran.stdout}{ran.stderr}")
    return found


def main() -> None:
    """Make the EPUB."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    output = parser.parse_args().output
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)  # the settings name the cache and the references from here
    made = build(FOLDER, settings(FOLDER))
    if found := checked(made):
        raise SystemExit("\n".join(found))
    shutil.copyfile(made, output)
    print(f"{output} ({output.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
