"""A Sphinx extension: what a page may load and run, said to the browser in the page itself.

A Content-Security-Policy in the head of every page names the only sources of scripts, styles,
pictures and fonts: the site's own files. A script that stands in the page runs if the policy
holds its SHA-256, so a script that finds its way into a page does not. A page with a figure that
computes may compile WebAssembly, and no text as code; one that runs for long may start a worker
from its own text. Handlers in attributes (``onclick``) cannot
be named one by one: the theme's are replaced by a word that `book/_static/buttons.js` listens
for, and any other ends the build.

Styles in the page stay allowed: formulas, figures and tables of data frames set them.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

SOURCES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",  # the rules of speech that MathJax reads for a screen reader
    "base-uri": "'none'",
    "form-action": "'self'",  # the search
}

COMPILING = "'wasm-unsafe-eval'"  # WebAssembly alone, as `tools.live` gives it to a page
FOLLOWING = 'class="wfm-followed"'
RUNNING = ('class="wfm-instance-data"', 'class="wfm-calculator-data"', FOLLOWING)
COMPUTING = ('class="wfm-live"', *RUNNING)
STARTING = ('data-worker="blob"', *RUNNING)  # what starts a worker
WORKERS = {"worker-src": "blob:"}  # a page that is opened as a file can start no other

# What the theme's buttons do, and the word for it.
CLICKS = {"toggleFullScreen()": "fullscreen", "window.print()": "print"}

CHARSET = re.compile(r"<meta charset=[^>]*>", re.IGNORECASE)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
DATA = re.compile(r'\btype="(?!module|text/javascript)[^"]+"')
HANDLER = re.compile(r"""(?<=[\s"'])(on[a-z]+)=("[^"]*"|'[^']*')""")
TAG = re.compile(r"<[a-zA-Z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")


def inline(html: str) -> list[str]:
    """Return the scripts that stand in a page, without data."""
    found = SCRIPT.findall(html)
    return [text for given, text in found if "src=" not in given and not DATA.search(given)]


def digest(script: str) -> str:
    """Return the source that stands for one script."""
    sha256 = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(sha256).decode()}'"


def policy(html: str) -> str:
    """Return the policy of a page."""
    digests = sorted({digest(one) for one in inline(html)})
    compiling = [COMPILING] if any(mark in html for mark in COMPUTING) else []
    scripts = " ".join([SOURCES["script-src"], *compiling, *digests])
    workers = WORKERS if any(mark in html for mark in STARTING) else {}
    allowed = SOURCES | {"script-src": scripts} | workers
    return "; ".join(f"{name} {sources}" for name, sources in allowed.items())


def without_handlers(html: str) -> str:
    """Return a page whose buttons say in a word what they do.

    Raises
    ------
    ValueError
        If an attribute holds a handler that nobody knows.
    """

    def replaced(found: re.Match) -> str:
        name, value = found[1], found[2][1:-1]
        if name != "onclick" or value not in CLICKS:
            raise ValueError(f'the policy of the pages forbids {name}="{value}": use a listener')
        return f'data-click="{CLICKS[value]}"'

    # Outside of scripts: what stands in one is not a tag.
    parts = re.split(r"(<script\b.*?</script>)", html, flags=re.DOTALL | re.IGNORECASE)
    for i in range(0, len(parts), 2):
        parts[i] = TAG.sub(lambda tag: HANDLER.sub(replaced, tag[0]), parts[i])
    return "".join(parts)


def protected(html: str) -> str:
    """Return a page with its policy, which comes before all that it speaks of."""
    html = without_handlers(POLICY.sub("", html))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(html)}">'
    if not CHARSET.search(html):  # the page that leads on to the front page is one tag
        return meta + html
    return CHARSET.sub(lambda found: found[0] + meta, html, count=1)


def write(app, error):
    """Put the policy into all pages, when nobody changes them any more."""
    if error or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        if "_static" not in page.parts:  # templates of the theme, which no reader sees
            page.write_text(protected(page.read_text("utf-8")), "utf-8")


def setup(app):
    """Come last."""
    app.add_js_file("buttons.js", loading_method="defer")
    app.connect("build-finished", write, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
