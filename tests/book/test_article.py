"""The article on the reproduction: counts of the ledger, references of the book."""

from __future__ import annotations

import re

from tools import article, bibliography
from tools.notebooks import BOOK
from wfmlib.book import claims


def test_tables_are_those_of_the_ledger():
    own = [one for one in claims.load() if one.source.paper in claims.PAPERS]
    differing = [one for one in own if one.expected == claims.DIFFERS]
    assert len(article.listed(claims.DIFFERS).splitlines()) == len(differing) + 2
    assert sum(map(int, re.findall(r"\d+", article.counts()))) == len(own)
    assert article.verdicts().count("\n| P") == len(claims.PAPERS)


def test_what_the_text_asks_for_is_there():
    text = article.SOURCE.read_text("utf-8")
    keys = set(bibliography.keys(text))
    assert keys <= set(bibliography.works())
    labels = [label for label, _ in article.FIGURE.findall(text)]
    assert set(article.REFERENCE.findall(text)) == set(labels)
    for label, page in article.FIGURE.findall(text):
        assert f"name: {label}\n" in (BOOK / f"{page}.md").read_text("utf-8")
    assert article.references(text).count("\n") + 1 == len(keys)
