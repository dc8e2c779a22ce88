"""A Sphinx extension: the icons that pages show, as a small font inside of the style sheet.

The theme brings Font Awesome whole: a script of 1.5 MB, or three fonts and a rule for each of two
thousand icons. The font draws both tags such as `<i class="fa-solid fa-moon">` and the signs that
rules set before a title.
"""

from __future__ import annotations

import base64
import io
import logging
import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

TAGGED = re.compile(r'<i\b[^>]*\bclass="([^"]*\bfa-[^"]*)"')
RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"(\\[0-9a-f]+|.)"\}')
NAME = re.compile(r"fa-[\w-]+")
SIGN = re.compile(r'"(?:\\([ef][0-9a-f]{3})|([\ue000-\uf8ff]))"')
FACE = re.compile(r"@font-face\{[^}]*vendor/fontawesome/webfonts/([\w-]+)\.woff2[^}]*\}")

# By the file of the theme that holds them: the name of the font, and its weight.
SOLID, REGULAR, BRANDS = "fa-solid-900", "fa-regular-400", "fa-brands-400"
FAMILIES = {SOLID: ("Free", 900), REGULAR: ("Free", 400), BRANDS: ("Brands", 400)}
BY_SCRIPT = "fa-solid fa-xmark"  # set by the theme's own script


def used(pages: Iterable[str]) -> set[str]:
    """Return the classes of all icons of some pages."""
    return {BY_SCRIPT, *(found for page in pages for found in TAGGED.findall(page))}


def font_of(classes: str) -> str:
    """Return the file that holds an icon of these classes."""
    words = classes.split()
    if {"fab", "fa-brands"} & set(words):
        return BRANDS
    return REGULAR if {"far", "fa-regular"} & set(words) else SOLID


def with_icons(styles: str, tags: set[str], fonts: Path) -> str:
    """Return a style sheet whose fonts hold the icons of `tags`, and those that its rules set.

    A program that reads a page aloud skips an icon: what the icon means is said beside it.
    """
    code = {}
    for selectors, sign in RULE.findall(styles):
        point = int(sign[1:], 16) if sign[0] == "\\" else ord(sign)
        code |= dict.fromkeys(NAME.findall(selectors), point)
    points: dict[str, set[int]] = {SOLID: set(), REGULAR: set(), BRANDS: set()}
    shown = set()
    for classes in tags:
        names = {name for name in classes.split() if name in code}
        shown |= names
        points[font_of(classes)] |= {code[name] for name in names}

    def kept(rule: re.Match) -> str:
        if not shown & set(NAME.findall(rule[1])):
            return ""
        return f'{rule[1]}{{content:"{rule[2]}";content:"{rule[2]}"/""}}'

    for digits, sign in SIGN.findall(RULE.sub("", styles)):
        points[SOLID].add(int(digits, 16) if digits else ord(sign))

    def face(rule: re.Match) -> str:
        return font_face(fonts, rule[1], points[rule[1]]) if rule[1] in points else rule[0]

    return FACE.sub(face, RULE.sub(kept, styles))


def font_face(fonts: Path, name: str, points: set[int]) -> str:
    """Return the rule of a font that holds the icons of these code points, or nothing."""
    if not points:
        return ""
    font = TTFont(fonts / f"{name}.ttf", recalcTimestamp=False)
    subset.log.setLevel(logging.WARNING)  # it tells each step, and Jupyter Book prints that
    subsetter = subset.Subsetter(subset.Options(hinting=False, notdef_outline=True))
    subsetter.populate(unicodes=points)
    subsetter.subset(font)
    font.flavor = "woff"
    written = io.BytesIO()
    font.save(written)
    data = base64.b64encode(written.getvalue()).decode()
    family, weight = FAMILIES[name]
    return (
        f"@font-face{{font-display:block;font-family:Font Awesome\\ 6 {family};font-style:normal;"
        f"font-weight:{weight};src:url(data:font/woff;base64,{data})}}"
    )


def write(app, error):
    """Put the font into the style sheet of the book, when `tools/assets.py` has joined it."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    sheet = static / "joined.css"
    tags = used(page.read_text("utf-8") for page in Path(app.outdir).rglob("*.html"))
    fonts = static / "vendor" / "fontawesome" / "webfonts"
    sheet.write_text(with_icons(sheet.read_text("utf-8"), tags, fonts), "utf-8")


def setup(app):
    """Come after the style sheet is joined (`tools/assets.py`, 550)."""
    app.connect("build-finished", write, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
