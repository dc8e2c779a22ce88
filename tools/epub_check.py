"""What can be wrong with an EPUB, as far as it can be seen without Java, which EPUBCheck needs.

The package is one that a reader opens: its first file says what it is, every file is listed and
there, pages are XML. It needs no network: no page loads anything from an address. And it is the
book: figures have alternative texts, links lead to places, and no formula is left in TeX.
"""

from __future__ import annotations

import posixpath
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
LOADING = ("img", "image", "audio", "video", "source", "script", "link", "iframe", "object")
TEX = re.compile(r"\\\(|\\\[|\\begin\{|\\frac|\\alpha")
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


def problems(book: Path) -> list[str]:
    """Return what is wrong with an EPUB, a line each; nothing if it is as it should be."""
    with zipfile.ZipFile(book) as opened:
        first = opened.infolist()[0]
        files = {one.filename: opened.read(one) for one in opened.infolist()}
    found = []
    if first.filename != "mimetype" or first.compress_type != zipfile.ZIP_STORED:
        found.append("mimetype: not the first file, or compressed")
    if files.get("mimetype", b"").strip() != b"application/epub+zip":
        found.append("mimetype: not that of an EPUB")
    trees = {}
    for name, data in files.items():
        if name.endswith((".xhtml", ".opf", ".ncx", ".xml", ".svg")):
            try:
                trees[name] = ET.fromstring(data)
            except ET.ParseError as why:
                found.append(f"{name}: {why}")
    if "META-INF/container.xml" not in trees:
        return [*found, "META-INF/container.xml: missing, or not XML"]
    package = next(trees["META-INF/container.xml"].iter(f"{CONTAINER}rootfile")).get("full-path")
    if package not in trees:
        return [*found, f"{package}: missing, or not XML"]
    found += listed(trees[package], package, files)
    pages = {name: tree for name, tree in trees.items() if name.endswith(".xhtml")}
    places = {
        name: {one.get("id") for one in tree.iter() if one.get("id")}
        for name, tree in pages.items()
    }
    for name, tree in pages.items():
        found += [f"{name}: {said}" for said in of_page(name, tree, files, places)]
    for name, data in files.items():
        if name.endswith(".css") and re.search(rb"url\(\s*['\"]?(?:https?:)?//", data):
            found.append(f"{name}: loads from the network")
    return found


def listed(package: ET.Element, name: str, files: dict[str, bytes]) -> Iterator[str]:
    """Yield the files that are listed and not there, or there and not listed."""
    base = posixpath.dirname(name)
    items = {posixpath.join(base, unquote(one.get("href"))) for one in package.iter(f"{OPF}item")}
    apart = {"mimetype", "META-INF/container.xml", name}
    yield from (f"{one}: listed, and not there" for one in sorted(items - files.keys()))
    yield from (f"{one}: not listed" for one in sorted(files.keys() - items - apart))
    names = {one.get("id") for one in package.iter(f"{OPF}item")}
    for one in package.iter(f"{OPF}itemref"):
        if one.get("idref") not in names:
            yield f"{name}: {one.get('idref')} is to be read, and not listed"


def of_page(name: str, tree: ET.Element, files, places) -> Iterator[str]:
    """Yield what is wrong with a page."""
    for one in tree.iter():
        kind = one.tag.removeprefix(XHTML) if isinstance(one.tag, str) else ""
        for attribute in ("src", "href", "data"):
            address = one.get(attribute)
            if address is None:
                continue
            if OUTSIDE.match(address):
                if kind in LOADING:
                    yield f"loads {address} from the network"
            elif said := missing(name, address, files, places):
                yield said
        if kind == "script":
            yield "has a script"
        if kind == "img" and not (one.get("alt") or "").strip():
            yield f"the figure {one.get('src')} has no alternative text"
    if left := TEX.search(prose(tree)):
        yield f"a formula is left in TeX: {left[0]}"


def prose(element: ET.Element) -> str:
    """Return the text of a page without its code."""
    if element.tag in (f"{XHTML}pre", f"{XHTML}code", f"{XHTML}head"):
        return ""
    inner = "".join(prose(one) + (one.tail or "") for one in element)
    return (element.text or "") + inner


def missing(page: str, address: str, files, places) -> str:
    """Say where a link inside of the book leads to nothing; nothing if it leads somewhere."""
    path, _, place = address.partition("#")
    there = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
    there = there if path else page
    if there not in files:
        return f"{address} is not in the book"
    if place and there in places and unquote(place) not in places[there]:
        return f"{address} leads to no place of that page"
    return ""
