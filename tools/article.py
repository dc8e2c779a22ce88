"""The article on the reproduction: `article/article.md` with the ledger's tables, printed.

A line `@FIGURE label page@` becomes a figure of an executed page, `@TABLE name@` a table of the
ledger. The text is Markdown; citations stand as they do in the chapters.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

import yaml

from tools import bibliography, rendered
from tools.notebooks import BUILD, ROOT
from tools.pdf import write
from tools.rendered import FIGURE, MARKDOWN
from wfmlib.book import claims

SOURCE = ROOT / "article" / "article.md"
STYLE = SOURCE.with_name("article.css")
OUTPUT = BUILD / "article.pdf"
REFERENCE = re.compile(r"\{numref\}`([^`]+)`")
SAID = {
    claims.HOLDS: "hold",
    claims.DIFFERS: "differ",
    claims.UNDECIDED: "are undecided",
    claims.CALIBRATED: "agree by a setting that was chosen for it",
    claims.NOT_CHECKED: "are not checked",
}
# Nobody is named before somebody signs: `CITATION.cff` has who, once it is known.
FIELDS = ("Authors", "ORCID", "Affiliation", "Corresponding author", "Editor", "Reviewers", "DOI")


def rows(cells: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown; the first row is its head."""
    lines = ["| " + " | ".join(one.replace("|", r"\|") for one in row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])


def own() -> list[claims.Claim]:
    """Return the claims of the three papers."""
    return [one for one in claims.load() if one.source.paper in claims.PAPERS]


def verdicts() -> str:
    """Return how many claims have which verdict, a row a paper."""
    ledger, kinds = claims.load(), tuple(claims.VERDICTS)
    groups = {paper: (paper,) for paper in claims.PAPERS} | {"later papers": tuple(claims.LATER)}
    table = [("", *kinds)]
    for name, papers in groups.items():
        count = Counter(one.expected for one in ledger if one.source.paper in papers)
        table.append((name, *(str(count[kind]) for kind in kinds)))
    return rows(table)


def listed(expected: str) -> str:
    """Return the claims of the three papers that have a verdict, and the reason."""
    found = [one for one in own() if one.expected == expected]
    table = [("where", "what is stated", "what we find, or why not")]
    for one in found:
        table.append((f"{one.source.paper}, {one.source.at}", one.statement, one.reason))
    return rows(table)


def counts() -> str:
    """Return the verdicts of the three papers' claims in a sentence."""
    count = Counter(one.expected for one in own())
    return ", ".join(f"{count[kind]} {words}" for kind, words in SAID.items()) + "."


def shown(label: str, page: str, number: int) -> str:
    """Return a figure of a page with its caption."""
    svg, caption = rendered.figure(label, page)
    caption = MARKDOWN.renderInline(caption)
    return (
        f'<figure id="{label}">{svg}'
        f"<figcaption><b>Figure {number}.</b> {caption}</figcaption></figure>\n"
    )


def references(text: str) -> str:
    """Return the works that a text cites, as a list in Markdown."""
    lines = []
    for key in sorted(bibliography.keys(text), key=bibliography.in_text):
        work = bibliography.works()[key].fields
        title = re.sub(r"[{}]", "", work["title"])
        place = work.get("journal") or work.get("booktitle", "")
        said = f"{bibliography.authors(key)}, *{title}*, {place} {work.get('volume', '')}"
        lines.append(f"- {said.strip()} ({work['year']}). {bibliography.address(key)}")
    return "\n".join(lines)


def article(source: str) -> str:
    """Return the article as a page that stands beside the built pages."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    version = f"Code and data: version {cited['version']}, {cited['date-released']}"
    fields = "".join(f"<dt>{name}</dt><dd></dd>" for name in FIELDS)
    numbers = {label: i for i, (label, _) in enumerate(FIGURE.findall(source), start=1)}
    filled = {
        "@FIELDS@": f"<dl>{fields}</dl>\n\n{version}.",
        "@TOTAL@": str(len(own())),
        "@COUNTS@": counts(),
        "@TABLE verdicts@": verdicts(),
        "@TABLE differs@": listed(claims.DIFFERS),
        "@TABLE unchecked@": listed(claims.NOT_CHECKED),
        "@REFERENCES@": references(source),
    }
    text = FIGURE.sub(lambda one: shown(one[1], one[2], numbers[one[1]]), source)
    for word, value in filled.items():
        text = text.replace(word, value)
    text = REFERENCE.sub(lambda one: f"Figure {numbers[one[1]]}", bibliography.cited(text))
    body = MARKDOWN.render(text)
    title = re.search(r"^# (.+)$", source, re.MULTILINE)[1]
    (script,) = (BUILD / "html" / "_static").glob("**/tex-chtml.js")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE.read_text('utf-8')}</style>"
        f'<script src="{script.relative_to(BUILD)}"></script></head><body>{body}</body></html>\n'
    )


def main() -> None:
    """Print the article; the book must have been built."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    output = parser.parse_args().output
    page = BUILD / "article.html"
    page.write_text(article(SOURCE.read_text("utf-8")), "utf-8")
    print(f"{output} ({write(page, output)} pages)")


if __name__ == "__main__":
    main()
