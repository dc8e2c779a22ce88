"""A Sphinx extension: what the sources number (`tools/numbering.py`) has that number on its page.

Sphinx numbers by the place in the table of contents, and only below a contents that numbers its
chapters, by figures and not by letters. Its own count is replaced by that of the sources.
"""

from __future__ import annotations

from pathlib import Path

from docutils.nodes import make_id
from numbering import numbers
from sphinx.environment.collectors.toctree import TocTreeCollector

# What Sphinx calls each kind, and what it makes of a label as the name of a place.
KINDS = {
    "equation": ("displaymath", "equation-{}"),
    "exercise": ("exercise", "{}"),
    "figure": ("figure", "{}"),
    "table": ("table", "{}"),
}


def assign(self, env) -> list[str]:
    """Give everything its number; return the pages on which a number changed."""
    before, env.toc_fignumbers = env.toc_fignumbers, {}
    for label, number in numbers(Path(env.srcdir)).items():
        kind, name = KINDS[number.kind]
        page = env.toc_fignumbers.setdefault(number.page, {}).setdefault(kind, {})
        page[make_id(name.format(label))] = (number.chapter, number.count)
    every = before.keys() | env.toc_fignumbers.keys()
    return [one for one in every if before.get(one) != env.toc_fignumbers.get(one)]


def setup(app):
    """Count in the place of Sphinx, which asks for the numbers after it has read all pages."""
    TocTreeCollector.assign_figure_numbers = assign
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
