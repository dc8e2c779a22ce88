"""Attach what is made from the built pages to the site: the printed book, the EPUB and the slides.

The page of downloads says how to make them. `python -m tools.attach` copies those that were made
since the pages were built into the site, and links them on that page. The description of the
site's files (`tools/crate.py`) is written again.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from tools import crate
from tools.notebooks import BUILD

HTML = BUILD / "html"
PAGE = Path("book", "downloads.html")
FILES = {
    "pdf": ("wide-flat-minima.pdf", "make pdf"),
    "epub": ("wide-flat-minima.epub", "make epub"),
    "slides": ("slides.zip", "make slides"),
}


def absent(name: str) -> str:
    """Return what the page says of a file until it is attached, between two marks."""
    command = FILES[name][1]
    return f'<span id="attach-{name}">not in this build: <code>{command}</code> makes it</span>'


def attach(built: Path = BUILD, html: Path = HTML) -> list[str]:
    """Attach the files that are newer than the pages; return their names."""
    slides = built / "slides"
    if slides.is_dir():
        shutil.make_archive(str(built / "slides"), "zip", built, "slides")
    page = html / PAGE
    pages_made = (html / "index.html").stat().st_mtime
    text, attached = page.read_text(encoding="utf-8"), []
    for name, (file, _) in FILES.items():
        path = built / file
        if not path.exists() or path.stat().st_mtime < pages_made:
            continue
        shutil.copyfile(path, html / "files" / file)
        link = (
            f'<a href="../files/{file}" download>{file}</a> ({path.stat().st_size / 1e6:.0f} MB)'
        )
        mark = rf'<span id="attach-{name}">.*?</span>'
        text, count = re.subn(mark, f'<span id="attach-{name}">{link}</span>', text, flags=re.S)
        if count != 1:
            raise SystemExit(f"{PAGE} has {count} places for {file}, not one")
        attached.append(file)
    page.write_text(text, encoding="utf-8")
    crate.write(html)
    return attached


def main() -> None:
    """Attach, and say what is missing."""
    attached = attach()
    missing = [f"{file} ({command})" for file, command in FILES.values() if file not in attached]
    print("attached:", ", ".join(attached) or "nothing")
    if missing:
        sys.exit(f"not made since the pages were built: {', '.join(missing)}")


if __name__ == "__main__":
    main()
