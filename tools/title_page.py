"""The title page of the printed book: title, authors, edition and papers, from `CITATION.cff`."""

from __future__ import annotations

import shutil
import subprocess

from bs4 import BeautifulSoup, Tag

from tools.citation import identifiers, names, read
from tools.notebooks import ROOT


def make(soup: BeautifulSoup) -> Tag:
    """Return the title page, from `CITATION.cff`."""
    cited = read()
    title, _, subtitle = cited["title"].partition(": ")
    page = element(soup, "header", id="title-page")
    page.append(element(soup, "p", title, **{"class": "wfm-title"}))
    page.append(element(soup, "p", subtitle[:1].upper() + subtitle[1:]))
    page.append(element(soup, "p", names(cited), **{"class": "wfm-authors"}))
    page.append(element(soup, "p", edition(cited)))
    for address in identifiers(cited):
        line = element(soup, "p")
        line.append(element(soup, "a", address, href=address))
        page.append(line)
    page.append(element(soup, "p", "The papers that it reproduces", **{"class": "wfm-papers"}))
    papers = element(soup, "ul")
    for paper in sorted(cited["references"], key=lambda one: one["year"]):
        line = element(soup, "li", f"{names(paper)}, ")
        line.append(element(soup, "cite", paper["title"]))
        where = f", {paper['journal']} {paper['volume']}, {paper['start']} ({paper['year']}), "
        line.append(where)
        address = f"https://doi.org/{paper['doi']}"
        line.append(element(soup, "a", f"doi:{paper['doi']}", href=address))
        papers.append(line)
    page.append(papers)
    page.append(element(soup, "p", f"Text and code: {cited['license']} licence."))
    return page


def about() -> dict[str, str]:
    """Return what the PDF says of itself, from `CITATION.cff`."""
    cited = read()
    words = ", ".join(cited["keywords"])
    made = f"wfmlib {cited['version']}"
    return {"Title": cited["title"], "Author": names(cited), "Keywords": words, "Creator": made}


def edition(cited: dict) -> str:
    """Return the version with its commit, or with its date outside of a repository."""
    command = ["git", "log", "-1", "--format=commit %h of %cd", "--date=format:%-d %B %Y"]
    told = ""
    if shutil.which("git"):
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        told = ran.stdout.strip()
    return f"Version {cited['version']}, {told or cited['date-released']}"


def element(soup: BeautifulSoup, name: str, text: str = "", **attributes: str) -> Tag:
    """Return a new element."""
    made = soup.new_tag(name, attrs=attributes)
    if text:
        made.string = text
    return made
