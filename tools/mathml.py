"""Formulas as MathML, by the MathJax of the pages in Chromium: a reader of EPUB runs no script.

Converters in Python know a part of LaTeX; this is what writes the formulas of the pages, so that
each means the same. MathML Core has no `mathvariant`: letters in bold or in script are written as
the characters that Unicode has for them.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path

from playwright.sync_api import sync_playwright

from tools import browser

PAGE = """<script>window.MathJax = {startup: {typeset: false}}</script>
<script src="%s"></script>"""
CONVERT = """async formulas => {
    const made = [];
    for (const [tex, display] of formulas) made.push(await MathJax.tex2mmlPromise(tex, {display}));
    return made;
}"""
REFUSED = re.compile(r'<merror|mathcolor="red"')
VARIANT = re.compile(r'<m([ino]) mathvariant="([a-z-]+)">([^<]*)</m\1>')
# MathML Core sets "ln x" without room, which MathJax adds when it draws.
THIN = '<mspace width="0.17em"/>'
NAMED = re.compile(r"<mi>[A-Za-z]{2,}</mi><mo>&#x2061;</mo>")
ARGUMENT = re.compile(r"(<mo>&#x2061;</mo>)(?!(?:<mrow>)?<mo[^>]*>[(\[{])")
# What stands on an arrow; the Core knows no width that is added to.
WIDER = re.compile(r'<mpadded[^>]* width="\+[^>]*>(.*?)</mpadded>')
FAMILIES = {
    "bold": ("MATHEMATICAL BOLD",),
    "bold-italic": ("MATHEMATICAL BOLD ITALIC", "MATHEMATICAL BOLD"),
    "double-struck": ("MATHEMATICAL DOUBLE-STRUCK", "DOUBLE-STRUCK"),
    "fraktur": ("MATHEMATICAL FRAKTUR", "BLACK-LETTER"),
    "italic": ("MATHEMATICAL ITALIC",),
    "sans-serif": ("MATHEMATICAL SANS-SERIF",),
    "script": ("MATHEMATICAL SCRIPT", "SCRIPT"),
}


class Converter:
    """Chromium with MathJax, started for the first formula; to be closed.

    Playwright may be at work in the caller's thread, and would refuse to be there twice: Chromium
    is driven from a thread of its own.
    """

    def __init__(self):
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._playwright = self._chromium = self._tab = None
        self._known: dict[tuple[str, bool], str] = {}

    def __call__(self, tex: str, display: bool) -> str:
        """Return a formula as MathML that also carries its TeX, as the text for who reads none.

        Raises
        ------
        ValueError
            If MathJax does not understand the formula.
        SystemExit
            If there is no Chromium.
        """
        self.learn([(tex, display)])
        return self._known[tex, display]

    def learn(self, formulas: Iterable[tuple[str, bool]]) -> None:
        """Convert formulas, each once, in one go: to ask Chromium takes longer than the answer."""
        new = [list(one) for one in dict.fromkeys(formulas) if one not in self._known]
        if not new:
            return
        made = self._thread.submit(lambda: self._opened().evaluate(CONVERT, new)).result()
        for (tex, display), text in zip(new, made, strict=True):
            if REFUSED.search(text):
                raise ValueError(f"MathJax does not understand the formula {tex!r}: {text}")
            self._known[tex, display] = mended(tex, text)

    def _opened(self):
        if self._tab is not None:
            return self._tab
        executable = browser.executable()
        if executable is None:
            raise SystemExit(browser.MISSING)
        package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
        script = package / "static" / "mathjax" / "tex-chtml.js"
        self._playwright = sync_playwright().start()
        self._chromium = self._playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox"]
        )
        self._tab = self._chromium.new_page()
        self._tab.goto(script.as_uri())  # a page without an address may load no file
        self._tab.set_content(PAGE % script.as_uri())
        self._tab.evaluate("() => MathJax.startup.promise")
        return self._tab

    def close(self) -> None:
        """End Chromium, if it was started."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _end(self):
        if self._tab is not None:
            self._chromium.close()
            self._playwright.stop()
        self._playwright = self._chromium = self._tab = None


def mended(tex: str, text: str) -> str:
    """Return what MathJax wrote as e-readers draw it: by MathML Core, with its TeX."""
    text = re.sub(r'\sdata-mjx-[a-z-]+="[^"]*"', "", text)
    text = VARIANT.sub(lambda found: _spelled(*found.groups()), re.sub(r"\n\s*", "", text))
    text = ARGUMENT.sub(rf"\1{THIN}", NAMED.sub(rf"{THIN}\g<0>", text))
    text = WIDER.sub(rf"<mrow>{THIN}\1{THIN}</mrow>", text)
    return text.replace("<math ", f'<math alttext="{escape(" ".join(tex.split()))}" ', 1)


def _spelled(element: str, variant: str, text: str) -> str:
    """Return an element with its letters as characters of the variant, if Unicode has them all."""
    if variant == "normal":
        return f'<m{element} mathvariant="normal">{text}</m{element}>'
    letters = [_letter(variant, one) for one in text]
    if not text or None in letters or "&" in text:
        return f'<m{element} mathvariant="{variant}">{text}</m{element}>'
    return f"<m{element}>{''.join(letters)}</m{element}>"


def _letter(variant: str, letter: str) -> str | None:
    """Return a letter or a digit in bold, in script and so on; None where there is none."""
    said = re.sub(r"^(LATIN|GREEK) | LETTER", "", unicodedata.name(letter, ""))
    for family in FAMILIES.get(variant, ()):
        try:
            return unicodedata.lookup(f"{family} {said}")
        except KeyError:
            continue
    return None
