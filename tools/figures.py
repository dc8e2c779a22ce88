"""A Sphinx extension: a figure of a cell comes in the colours of the theme, and for phones.

Beside the drawing that a chapter holds stand its sister for dark pages, and one of each for
phones. The page names all of them; a browser
fetches the one that it shows. Around it is a link to the drawing itself, which the page's script
(`figures.js`) opens in a dialog.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from docutils import nodes
from drawings import Drawing

THEMES = ("light", "dark")
PHONE = "(max-width: 40rem)"  # as in book.css


def is_drawing(path: Path) -> bool:
    """Say whether matplotlib drew a file."""
    return path.suffix == ".svg" and path.exists() and 'id="figure_1"' in path.read_text("utf-8")


def write(source: Path, folder: Path) -> dict[str, tuple[str, str]]:
    """Write the versions of a drawing; return of each the name and the size as attributes.

    Returns
    -------
    dict
        ``light`` and ``dark``; ``light phone`` and ``dark phone`` where it is too wide for one.
    """
    drawing = Drawing(source.read_text("utf-8"))
    versions = {"light": drawing.light, "dark": drawing.dark}
    if drawing.phone is not None:
        versions |= {
            f"{theme} phone": text for theme, text in zip(THEMES, drawing.phone, strict=True)
        }
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for kind, text in versions.items():
        name = f"{source.stem[:16]}-{kind.replace(' ', '-')}.svg"
        (folder / name).write_text(text, "utf-8")
        written[kind] = name, size(text)
    return written


def size(text: str) -> str:
    """Return the size of a drawing in pixels, as attributes: it has its place before it comes."""
    width, height = Drawing.size(text)
    return f'width="{width * 4 / 3:.0f}" height="{height * 4 / 3:.0f}"'


def figure(node: nodes.image, versions: dict[str, tuple[str, str]], folder: str) -> str:
    """Return the markup of a figure; a thumbnail of the gallery is no link."""
    thumbnail = "wfm-thumbnail" in node["classes"]
    shown = []
    for theme in THEMES:
        name, place = versions[theme]
        picture = (
            f'<img class="only-{theme}" src="{folder}/{name}" {place} '
            f'alt="{escape(node.get("alt", ""))}" loading="lazy" />'
        )
        if thumbnail:
            shown.append(picture)
            continue
        if f"{theme} phone" in versions:
            phone, place = versions[f"{theme} phone"]
            source = f'<source media="{PHONE}" srcset="{folder}/{phone}" {place} />'
            picture = f"<picture>{source}{picture}</picture>"
        shown.append(f'<a class="only-{theme}" href="{folder}/{name}">{picture}</a>')
    return f'<span class="wfm-figure">{"".join(shown)}</span>'


def visit(translator, node: nodes.image, otherwise) -> None:
    """Write the versions of a drawing instead of the drawing; on the page to print, itself."""
    builder = translator.builder
    if builder.name == "html" and node["uri"] in builder.images:
        made = builder.wfm_figures
        if node["uri"] not in made:
            source = Path(builder.srcdir, node["uri"])
            folder = Path(builder.outdir, builder.imagedir)
            made[node["uri"]] = write(source, folder) if is_drawing(source) else None
        if made[node["uri"]] is not None:
            translator.body.append(figure(node, made[node["uri"]], builder.imgpath))
            raise nodes.SkipNode
    otherwise(translator, node)


def begin(app) -> None:
    """Give the builder a list of what was written; a new build writes all of it again."""
    app.builder.wfm_figures = {}


def finish(app, error) -> None:
    """Take away the drawings whose versions no page shows but these."""
    for uri, versions in getattr(app.builder, "wfm_figures", {}).items():
        if versions is not None:
            name = app.builder.images[uri]
            Path(app.builder.outdir, app.builder.imagedir, name).unlink(missing_ok=True)


def setup(app):
    """Write images as versions of themselves."""

    def image(translator, node):
        visit(translator, node, type(translator).visit_image)

    app.add_node(nodes.image, override=True, html=(image, None))
    app.connect("builder-inited", begin)
    app.connect("build-finished", finish)
    app.add_js_file("figures.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": False}
