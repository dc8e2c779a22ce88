"""A Sphinx extension: a claim at the end of its chapter and its line in the scorecard are linked.

The two are rows of tables that the notebooks make, with the claim's name as anchor; a notebook
does not know that it is a page among others, so the links are added to the pages. A line of the
scorecard also says by what `book/_static/scorecard.js` filters it.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from notebooks import BOOK
from numbering import chapters

from wfmlib.book import claims

SCORECARD = "scorecard"
ROW = re.compile(r'<tr id="([\w-]+)"><th scope="row">.*?(?=</th>)', re.DOTALL)
LINE = re.compile(
    r'^<tr id="([\w-]+)">(?=.*<td>\S+ ([a-z ]+?)(?: \(expected[^<]*)?(?:<br>[^\n]*)?</td></tr>$)',
    re.MULTILINE,
)


def pages_of_claims() -> dict[str, str]:
    """Return, for every chapter, the page of it that shows its claims."""
    return {
        chapter: PurePosixPath(page).name
        for chapter, pages in chapters().items()
        for page in pages
        if "claims.scorecard(" in (BOOK.parent / f"{page}.md").read_text("utf-8")
    }


def linked(body: str, page: str) -> str:
    """Return the text of a page, with a link below the statement of every claim."""
    cards = pages_of_claims()
    chapter_of = {one.id: str(one.chapter) for one in claims.load() if str(one.chapter) in cards}

    def link(row: re.Match) -> str:
        name = row[1]
        if name not in chapter_of:
            return row[0]
        chapter = chapter_of[name]
        target = cards[chapter] if page == SCORECARD else SCORECARD
        where = f"chapter {chapter}" if page == SCORECARD else "the scorecard"
        return (
            f'{row[0]}<br><small><a href="{target}.html#{name}" title="its line in {where}">'
            f"{name}</a></small>"
        )

    return ROW.sub(link, body)


def marked(body: str) -> str:
    """Return the text of the scorecard, with chapter, paper and verdict at each line."""
    known = {claim.id: claim for claim in claims.load()}

    def line(row: re.Match) -> str:
        claim, verdict = known[row[1]], row[2]
        if verdict not in claims.VERDICTS:
            raise ValueError(f"{claim.id}: {verdict!r} is no verdict")
        chapter, paper = claim.chapter, claim.source.paper
        return (
            f'<tr id="{claim.id}" data-chapter="{chapter}" data-paper="{paper}" '
            f'data-verdict="{verdict}">'
        )

    return LINE.sub(line, body)


def add(app, pagename, templatename, context, doctree):
    """Link the claims of a page of the book."""
    path = PurePosixPath(pagename)
    if doctree is not None and app.builder.name == "html" and path.parent.name == "book":
        body = linked(context["body"], path.name)
        context["body"] = marked(body) if path.name == SCORECARD else body


def setup(app):
    """Change a page when it is written."""
    app.connect("html-page-context", add)
    app.add_js_file("scorecard.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
