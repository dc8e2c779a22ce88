"""What a page loads: one style sheet, one script, and of the icons those that are shown."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from tools import assets, icons, live

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
FONTS = THEME / "vendor" / "fontawesome" / "webfonts"
SHEET = """\
.fa-solid{font-family:Font Awesome}
@font-face{font-weight:900;src:url(../vendor/fontawesome/webfonts/fa-solid-900.woff2) format("x")}
@font-face{font-weight:400;src:url(vendor/fontawesome/webfonts/fa-brands-400.woff2) format("x")}
.fa-moon:before{content:"\\f186"}.fa-heart:before,.fa-love:before{content:"\\f004"}
.note:after{content:"\\f0f3"}.tip:after{content:"\uf0eb"}
"""


def glyphs(styles: str) -> set[int]:
    """Return the code points of all fonts that stand in a style sheet."""
    fonts = re.findall(r"data:font/woff;base64,([\w+/=]+)", styles)
    return {
        code for one in fonts for code in TTFont(io.BytesIO(base64.b64decode(one))).getBestCmap()
    }


def test_a_page_asks_for_one_style_sheet_and_one_script(html, pages):
    for name in pages:
        text = (html / name).read_text()
        head = text.partition("</head>")[0]
        assert re.findall(r'rel="stylesheet"[^>]*href="([^"]*)', head) == ["../_static/joined.css"]
        loaded = re.findall(r'<script\b[^>]*src="([^"?]*)', text)
        assert loaded[0] == "../_static/joined.js"
        names = [one.rpartition("/")[2] for one in loaded[1:]]
        assert [one for one in names if one != "tex-chtml.js"] == live.loaded(text)
        for tag in re.findall(r"<script\b[^>]*src=[^>]*>", text):
            assert "defer" in tag, "a script that keeps the page from being read"
        assert "THEBE_JS_URL" not in text
        assert "thebe-config" not in text


def test_every_icon_of_the_pages_is_in_the_font(html):
    styles = (html / "_static" / "joined.css").read_text()
    held = glyphs(styles)
    rules = {
        name: int(sign, 16)
        for selectors, sign in re.findall(r'([^{}]*)\{content:"\\([0-9a-f]+)"', styles)
        for name in re.findall(r"\.(fa-[\w-]+):before", selectors)
    }
    shown = icons.used(page.read_text() for page in html.glob("book/**/*.html"))
    assert len(shown) > 10
    for classes in shown:
        assert [name for name in classes.split() if rules.get(name) in held], classes
    # A sign that a rule of the theme sets before the title of a box.
    assert ord("\uf0eb") in held
    assert len(held) < 60


def test_what_the_style_sheet_names_is_there(html):
    styles = (html / "_static" / "joined.css").read_text()
    assert "@import" not in styles
    for address in re.findall(r"url\(\s*[\"']?(?!data:|#)([^)\"']+)", styles):
        assert (html / "_static" / address).is_file(), address


def test_what_no_page_asks_for_is_not_there(html):
    static = html / "_static"
    assert [path.name for path in static.glob("mathjax/*-*.js")] == ["tex-chtml.js"]
    assert not (static / "scripts" / "bootstrap.js").exists()
    assert not (static / "scripts" / "bootstrap.js.map").exists()
    assert not (static / "scripts" / "fontawesome.js").exists()


def test_the_tags_of_what_is_joined_are_taken_out():
    parts = assets.Parts()
    left = parts.take(
        '<link href="../_static/styles/theme.css?digest=5" rel="stylesheet" />\n'
        '<link rel="preload" as="script" href="../_static/scripts/bootstrap.js?digest=5" />'
        '<script defer src="../_static/scripts/fontawesome.js?digest=5"></script>'
        '<script src="../_static/a.js?v=1"></script><script>let hint = 1;</script>'
        '<script src="../searchindex.js"></script>'
        "<script>DOCUMENTATION_OPTIONS.pagename = 'a';</script>"
        '<script defer="defer" src="../_static/mathjax/tex-chtml.js"></script>'
        '<link rel="icon" href="../_static/favicon.svg"/>'
    )
    assert left == (
        "<script>let hint = 1;</script>"
        '<script defer="defer" src="../_static/mathjax/tex-chtml.js"></script>'
        '<link rel="icon" href="../_static/favicon.svg"/>'
    )
    assert list(parts.styles) == ["styles/theme.css"]
    assert list(parts.scripts) == ["a.js"]


def test_a_style_sheet_keeps_what_it_names(tmp_path):
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "a.css").write_text(
        '@import "../b.css";\na{background:url(../images/a.svg)}b{background:url(data:x)}'
    )
    (tmp_path / "b.css").write_text("c{background:url('c.png')}")
    assert assets.style(tmp_path, "styles/a.css") == (
        "c{background:url(c.png)}\na{background:url(images/a.svg)}b{background:url(data:x)}"
    )


def test_making_a_font_is_no_news(caplog):
    with caplog.at_level("INFO"):
        icons.with_icons(SHEET, {"fa-solid fa-moon"}, FONTS)
    assert not caplog.records


def test_only_the_icons_in_use_are_kept():
    styles = icons.with_icons(SHEET, {"theme-switch fa-solid fa-moon fa-lg"}, FONTS)
    assert glyphs(styles) == {0xF186, 0xF0F3, 0xF0EB}
    assert styles.count("@font-face") == 1
    assert "fa-heart" not in styles
    assert '.fa-moon:before{content:"\\f186";content:"\\f186"/""}' in styles


@pytest.mark.parametrize(
    ("classes", "font"),
    [
        ("fas fa-expand", icons.SOLID),
        ("fa-brands fa-github", icons.BRANDS),
        ("far fa-bell", icons.REGULAR),
    ],
)
def test_the_font_of_an_icon(classes, font):
    assert icons.font_of(classes) == font
