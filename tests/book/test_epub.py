"""The EPUB, held on a small book that is built, packed and looked through alike."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from sphinx.application import Sphinx

from tests.conftest import ROOT
from tools import browser, epub, epub_check, epub_pages, mathml, paper

CONFIG = """\
import sys
sys.path.append({tools!r})
extensions = ["myst_parser", "sphinx_exercise", "epub_pages"]
project, author, version, numfig, root_doc = "Small", "A. Author", "1", True, "book/index"
exercise_style, myst_enable_extensions = "solution_follow_exercise", ["dollarmath", "amsmath"]
html_math_renderer, html_static_path = "mathml", [{static!r}]
epub_theme, epub_basename, epub_uid, epub_identifier = "epub", "small", "book", "urn:small:1"
epub_css_files, epub_tocscope, epub_use_index = ["reader.css"], "includehidden", False
epub_contributor = epub_description = epub_publisher = epub_author = epub_copyright = "A. Author"
epub_show_urls = "no"
suppress_warnings = ["myst.xref_missing", "image.not_readable"]
"""
INDEX = "# A small book\n\n```{toctree}\n:hidden:\none\ntwo\n```\n"
ONE = """\
# 1. One

By [](eq-x) and [two](two.md), $\\alpha<\\ln N$ with $\\mathbf w\\in\\mathbb R^N$.
[Away](../gone/page.md) and [outside](https://example.org/).

$$
\\mathcal L&=\\frac12\\\\
&<\\boldsymbol x
$$ (eq-x)

![A curve that falls.](curve.svg)

```{exercise} Do it
:label: ex-do
What is the answer?
```

```{solution} ex-do
:class: dropdown
It is 42.
```

<figure class="wfm-slider"><style>.x{}</style><p class="wfm-asleep">Run.</p>
<div hidden="hidden"><svg viewBox="0 0 9 9" role="img" aria-label="Line">
<path d="M0 0L9 9" style="--wfm-light:#123456;--wfm-dark:#abcdef"/></svg>
<div class="wfm-control"><label><span>load</span><input type="range"></label>
<input type="text"><output>0.5</output></div></div><script>1</script></figure>
"""
CURVE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0L1 1"/></svg>'
needs_chromium = pytest.mark.skipif(browser.executable() is None, reason=browser.MISSING)


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    """Return a small book as an EPUB."""
    if browser.executable() is None:
        pytest.skip(browser.MISSING)
    source = tmp_path_factory.mktemp("small")
    tools = ROOT / "tools"
    (source / "book").mkdir()
    config = CONFIG.format(tools=str(tools), static=str(tools / "epub_static"))
    (source / "conf.py").write_text(config)
    texts = {"index.md": INDEX, "one.md": ONE, "two.md": "# 2. Two\n\nBack.\n", "curve.svg": CURVE}
    for name, text in texts.items():
        (source / "book" / name).write_text(text)
    built = source / "built"
    Sphinx(source, source, built, source / "trees", "epub", status=None).build()
    return built / "small.epub"


@pytest.fixture(scope="module")
def page(packed) -> str:
    with zipfile.ZipFile(packed) as opened:
        return opened.read("book/one.xhtml").decode()


def test_nothing_is_wrong_with_it(packed):
    assert epub_check.problems(packed) == []


def test_epubcheck_agrees(packed):
    if not epub.EPUBCHECK.exists() or shutil.which("java") is None:
        pytest.skip("EPUBCheck or Java is not installed: `make epub` installs the first")
    ran = subprocess.run([epub.EPUBCHECK, packed], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_formulas_are_mathml_with_their_tex(page):
    found = re.findall(r'<math [^>]*alttext="([^"]*)"', page)
    assert found[:2] == [r"\alpha&lt;\ln N", r"\mathbf w\in\mathbb R^N"]
    assert "<mi>𝐰</mi>" in page
    assert "<mi>ℝ</mi>" in page
    assert "<mi>𝒙</mi>" in page
    assert "mathvariant" not in page
    (display,) = re.findall(r'<div class="math"[^>]* id="([^"]+)">', page)
    assert f'href="#{display}"' in page
    assert re.search(r'<span class="eqno">\(1\)</span><math [^>]*display="block"', page)


def test_what_needs_a_script_has_become_static(page):
    assert not re.search("<(script|input|button|style)", page)
    assert re.search(r"<summary[^>]*>.*?Solution.*?</summary>", page, re.DOTALL)
    assert '<svg aria-label="Line" role="img" viewBox="0 0 9 9" xmlns=' in page.replace("\n", " ")
    assert 'style="stroke:#123456"' in page
    assert "load" in page
    assert ": <output>0.5</output>" in page
    assert "hidden=" not in page


def test_links_lead_to_places_of_the_book_or_nowhere(packed, page, tmp_path):
    assert 'href="two.xhtml"' in page
    assert 'href="https://example.org/"' in page
    folder = tmp_path / "pages"
    (folder / "book").mkdir(parents=True)
    text = '<a class="a" href="../api/x.xhtml#y">A</a><a href="#here">B</a><p id="here"/>'
    for site, first in (("", '<a class="a">'), ("https://h/", 'href="https://h/api/x.html#y"')):
        (folder / "book" / "one.xhtml").write_text(text)
        epub_pages.mend_links(folder, site)
        mended = (folder / "book" / "one.xhtml").read_text()
        assert first in mended
        assert '<a href="#here">' in mended


def test_every_page_says_what_it_holds(packed):
    with zipfile.ZipFile(packed) as opened:
        package = opened.read("content.opf").decode()
        contents = opened.read("nav.xhtml").decode()
    items = dict(re.findall(r'href="(book/\w+\.xhtml)"(?: properties="([^"]*)")?', package))
    assert items == {"book/index.xhtml": "", "book/one.xhtml": "mathml svg", "book/two.xhtml": ""}
    assert '<meta property="schema:accessibilityFeature">MathML</meta>' in package
    assert contents.index("1. One") < contents.index("2. Two")


@needs_chromium
def test_formulas_keep_to_mathml_core():
    """A browser draws no more than that: elsewhere words stick together, and labels overlap."""
    convert = mathml.Converter()
    try:
        text = convert(r"2\ln x\xrightarrow{n\to0}\cosh(y)", True)
    finally:
        convert.close()
    assert re.search(r"<mn>2</mn><mspace [^>]*/><mi>ln</mi><mo>[^<]*</mo><mspace ", text)
    assert re.search(r"<mi>cosh</mi><mo>[^<]*</mo><mo[^>]*>\(", text)
    assert "mpadded" not in text
    assert convert(r"2\ln x\xrightarrow{n\to0}\cosh(y)", True) == text, "and each once"


@needs_chromium
@pytest.mark.parametrize("tex", [r"\nosuchmacro x", r"a & b", r"\frac{1"])
def test_a_formula_that_mathjax_does_not_understand_is_refused(tex):
    convert = mathml.Converter()
    try:
        with pytest.raises(ValueError, match="does not understand the formula"):
            convert(tex, False)
    finally:
        convert.close()


def replaced(packed: Path, target: Path, change) -> Path:
    """Write an EPUB anew, each file as a function of its name and its text gives it."""
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(target, "w") as new:
        for one in old.infolist():
            if (data := change(one.filename, old.read(one))) is not None:
                new.writestr(one.filename, data, one.compress_type)
    return target


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("book/one.xhtml", b"</body>", b"", "book/one.xhtml: mismatched tag"),
        ("book/one.xhtml", b'alt="', b'title="', "has no alternative text"),
        ("book/one.xhtml", b'href="two.xhtml"', b'href="six.xhtml"', "six.xhtml is not in the"),
        ("book/one.xhtml", b'href="#eq', b'href="#qe', "leads to no place of that page"),
        ("book/one.xhtml", b'src="', b'src="https://h/', "loads https://h/"),
        ("book/one.xhtml", b"</h1>", b"</h1><p>\\(x\\)</p>", "is left in TeX"),
        ("book/one.xhtml", b"</h1>", b"</h1><script/>", "has a script"),
        ("book/two.xhtml", None, None, "book/two.xhtml: listed, and not there"),
        ("content.opf", b'href="book/two.xhtml"', b'href="book/one.xhtml"', "not listed"),
        ("_static/reader.css", b"body {", b"body { background: url(//h/x.png);", "network"),
        ("mimetype", b"epub", b"zip", "mimetype: not that of an EPUB"),
    ],
)
def test_what_is_wrong_is_found(packed, tmp_path, file, old, new, said):
    def change(name, data):
        if name != file:
            return data
        if old is None:
            return None
        assert old in data
        return data.replace(old, new)

    found = epub_check.problems(replaced(packed, tmp_path / "broken.epub", change))
    assert any(said in one for one in found), found


def test_the_first_file_must_say_what_it_is(packed, tmp_path):
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(tmp_path / "o.epub", "w") as new:
        for one in reversed(old.infolist()):
            new.writestr(one.filename, old.read(one))
    assert "mimetype: not the first file, or compressed" in epub_check.problems(
        tmp_path / "o.epub"
    )


def test_the_settings_are_those_of_the_book(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = epub.settings(tmp_path)
    assert set(epub.KEPT) <= set(config["extensions"])
    assert not {*epub.THEME, "assets", "site_files"} & set(config["extensions"])
    assert config["nb_execution_mode"] == "cache"
    toc = yaml.safe_load((tmp_path / "_toc.yml").read_text())
    kept = paper.parts(toc)
    whole = paper.parts(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    gone = whole.keys() - kept.keys()
    assert gone == {
        page for page in whole if page in paper.SITE_ONLY or page.startswith(paper.API)
    }
