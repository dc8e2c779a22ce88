"""`wfm where`: which functions compute an equation of a paper, and which claims stand there."""

from __future__ import annotations

import argparse
import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from wfmlib.book.commands._table import table

#: A paper and what follows its name: up to the next paper, or the end of the sentence.
_MENTION = re.compile(r"\b(P[123])\b(?!')((?:(?!\bP[123]\b)[^;\n]|\n(?!\s*\n))*)")
_END = re.compile(r"(?<!App)(?<!Sec)(?<!Fig)(?<!Eq)\.\s+(?=[A-Z])")  # of a sentence
_RANGE = re.compile(r"\b([A-F]?)(\d+)[a-z]?\)?\s?[-–]\s?\(?\1(\d+)")
_WORDS = {
    r"equations?|eqs?\b\.?": " eq ",
    r"sections?|sec\b\.?": " sec ",
    r"appendi(x|ces)|app\b\.?": " app ",
    r"figures?|figs?\b\.?": " fig ",
    r"[\s().,\[\]:]+": " ",
    r"\beq (?=[a-f]\d)": "",
    r"(?<=\d)[a-z]\b": "",
}


def add(commands):
    """Add `wfm where`."""
    parser = commands.add_parser(
        "where",
        help="find the functions of an equation, section or figure of a paper",
        description=textwrap.dedent(
            """\
            Find what the package computes of a place in a paper: functions whose docstring names
            the equation, section, appendix or figure, then the claims that stand there."""
        ),
        epilog=textwrap.dedent(
            """\
            examples:
              wfm where P3 B12             an equation, also as "P3 (B12)" or "P3, Eq. (B12)"
              wfm where P1 Sec. II.D       a section
              wfm where P3 Fig. 3          a figure
              wfm where P2                 all of a paper

            The exit status is 1 where nothing names the place."""
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "place", nargs="+", metavar="PLACE", help="P1, P2 or P3, and the place in it"
    )
    parser.set_defaults(run=_run)


def _run(args):
    from wfmlib.book import claims

    paper, *place = _words(" ".join(args.place))
    if paper.upper() not in claims.PAPERS:
        raise ValueError(f"PLACE must begin with one of {', '.join(claims.PAPERS)}, got {paper!r}")
    functions = [
        (name, text)
        for name, cited, text in _mentions()
        if cited == paper.upper() and _contains(_words(text), place)
    ]
    stand = [
        (claim.id, claim.source.at)
        for claim in claims.load()
        if claim.source.paper == paper.upper() and _contains(_words(claim.source.at), place)
    ]
    for head, rows in (("computed by", functions), ("claims", stand)):
        if rows:
            print("\n".join(table([(head, f"in {paper.upper()}"), *rows])), end="\n\n")
    if not functions and not stand:
        print(f"nothing names {' '.join(args.place)}")
    return 0 if functions or stand else 1


def _mentions() -> Iterator[tuple[str, str, str]]:
    """Yield the names of what cites a paper, the paper, and the place as its docstring says it."""
    root = Path(__file__).parents[2]
    for file in sorted(root.rglob("*.py")):
        module = ".".join(("wfmlib", *file.relative_to(root).with_suffix("").parts))
        module = module.removesuffix(".__init__")
        if module.startswith("wfmlib.book"):
            continue
        for node, name in _definitions(ast.parse(file.read_text(encoding="utf-8")), module):
            for paper, place in _MENTION.findall(ast.get_docstring(node) or ""):
                text = _END.split(" ".join(place.split()))[0].strip(" ,.:")
                if text.count(")") > text.count("("):  # the paper stands in brackets
                    text = text.rpartition(")")[0]
                yield name, paper, textwrap.shorten(text, 60, placeholder=" ...")


def _definitions(node, name):
    """Yield a module, its classes and functions with their full names, without what is nested."""
    yield node, name
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield from _definitions(child, f"{name}.{child.name}")


def _words(text):
    """Return the words of a place in small letters, a range as the equations that it holds."""

    def spread(match):
        letter, begin, end = match.groups()
        return " ".join(f"eq {letter}{number}" for number in range(int(begin), int(end) + 1))

    text = _RANGE.sub(spread, text).lower()
    for pattern, word in _WORDS.items():
        text = re.sub(pattern, word, text)
    return text.split()


def _contains(words, place):
    """Say whether the words of a place stand among others, side by side."""
    return f" {' '.join(place)} " in f" {' '.join(words)} " or not place
