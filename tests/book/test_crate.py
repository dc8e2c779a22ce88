"""What the site says of its files in RO-Crate, and how the book and its chapters are cited."""

from __future__ import annotations

import hashlib
import json
import re
import shutil

import pytest
from rocrate import vocabs
from rocrate.rocrate import ROCrate

from tests.conftest import ROOT
from tools import citation, cite_chapter, crate, numbering
from wfmlib.book import experiments

ARCHIVES = ("bp-entropy", "image-volume")
DOI, SWHID = "10.5281/zenodo.1", "swh:1:dir:" + "0" * 40
ISSUED = [{"type": "doi", "value": DOI}, {"type": "swh", "value": SWHID}]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a folder like that of the built pages, with two archives and two pages."""
    html = tmp_path_factory.mktemp("site")
    (html / "files" / "archives").mkdir(parents=True)
    (html / "_sources" / "book").mkdir(parents=True)
    (html / "book").mkdir()
    for name in ARCHIVES:
        for path in (ROOT / "book" / "results").glob(f"{name}.*"):
            shutil.copyfile(path, html / "files" / "archives" / path.name)
    for name in ("archives/SHA256SUMS", "wide-flat-minima.pdf", "wfmlib-1-py3-none-any.whl"):
        (html / "files" / name).write_text(name)
    for name in ("index", "07_message_passing"):
        (html / "book" / f"{name}.html").write_text(name)
        (html / "_sources" / "book" / f"{name}.ipynb").write_text(name)
    crate.write(html)
    return html


@pytest.fixture(scope="module")
def read(site):
    return ROCrate(site)


def files(described: ROCrate) -> list:
    return [one for one in described.data_entities if "File" in one.type]


def assert_true_to_files(html, described):
    for one in files(described):
        data = (html / one.id).read_bytes()
        assert one["sha256"] == hashlib.sha256(data).hexdigest()
        assert one["contentSize"] == str(len(data))


def test_every_file_that_is_listed_is_there(site, read):
    there = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    assert sorted(one.id for one in files(read)) == sorted(set(there) - {crate.NAME})
    assert_true_to_files(site, read)


def test_words_are_those_of_the_vocabulary(site):
    """A property that the context does not have says nothing in JSON-LD."""
    known = vocabs.RO_CRATE["@context"]
    graph = json.loads((site / crate.NAME).read_text())["@graph"]
    names = {one["@id"] for one in graph}
    for one in graph:
        kinds = one["@type"] if isinstance(one["@type"], list) else [one["@type"]]
        words = {*kinds, *(name for name in one if not name.startswith("@"))}
        assert words <= known.keys(), words - known.keys()
        links = re.findall(r'"@id": "([^"]+)"', json.dumps(list(one.values())[1:]))
        outside = [link for link in links if link not in names]
        assert all(link.startswith("https://w3id.org/ro/crate/") for link in outside), outside


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_leads_to_the_run_and_the_code_that_made_it(read, name):
    run = read.dereference(f"#run-{name}")
    assert run["result"].id == f"files/archives/{name}.nc"
    source = run["instrument"]["name"]
    assert f'name="{name}"' in (ROOT / source).read_text()
    assert run["instrument"]["isPartOf"]["name"] == "wfmlib"
    told = experiments.load(name).attrs
    assert run["endTime"] == told["date"]
    assert run["instrument"]["version"].split(", ") == list(json.loads(told["commits"]))


def test_it_says_what_the_citation_file_says(read):
    cited = citation.read()
    root = read.root_dataset
    assert root["name"] == cited["title"]
    assert root["license"].id == f"https://spdx.org/licenses/{cited['license']}"
    assert str(cited["date-released"]) == read.metadata.generate()["@graph"][0]["datePublished"]
    assert [one["name"] for one in root["author"]] == [one["name"] for one in cited["authors"]]
    assert [one.id for one in root["citation"]] == [
        f"https://doi.org/{one['doi']}" for one in cited["references"]
    ]
    assert ("identifier" in root) == bool(citation.identifiers(cited))


def test_identifiers_are_named_once_they_are_issued(site, monkeypatch):
    issued = citation.read() | {"identifiers": ISSUED}
    monkeypatch.setattr(citation, "read", lambda: issued)
    addresses = [f"https://doi.org/{DOI}", f"https://archive.softwareheritage.org/{SWHID}"]
    assert crate.make(site).root_dataset["identifier"] == addresses
    assert citation.suggested(issued)[2].endswith(f", {addresses[0]}, {addresses[1]}")


def test_no_identifier_is_named_before():
    none = citation.read() | {"identifiers": []}
    assert citation.identifiers(none) == []
    said = "".join(citation.suggested(none, "7. Message passing"))
    assert "doi" not in said
    assert said == (
        "The wfmlib authors, “7. Message passing”, in Wide Flat Minima: a literate reproduction, "
        f"and wfmlib, version {none['version']} ({str(none['date-released'])[:4]})"
    )


def test_people_are_named_as_people():
    described = ROCrate()
    said = {"given-names": "Ada", "family-names": "Lovelace", "orcid": "https://orcid.org/0"}
    person = crate.author(described, 0, said)
    assert (person.id, person.type, person["name"]) == (said["orcid"], "Person", "Ada Lovelace")


def test_the_site_describes_its_files(html):
    described = ROCrate(html)
    assert_true_to_files(html, described)
    assert len([one for one in files(described) if one.id.endswith(".nc")]) > 15
    pages = {one.id for one in files(described) if one.id.endswith(".html")}
    assert pages == {f"{page}.html" for page, _ in numbering.pages()}


def test_the_first_page_of_a_chapter_ends_with_how_to_cite_it(html):
    first = {pages[0] for pages in numbering.chapters().values()}
    for page, _ in numbering.pages():
        text = (html / f"{page}.html").read_text()
        assert text.count('<p class="wfm-cite">') == (page in first), page


def test_a_citation_gives_the_address_where_there_is_one():
    cited = citation.read()
    plain = cite_chapter.paragraph(cited, "7. Message passing", "").astext()
    assert plain.startswith("To cite this chapter: The wfmlib authors, “7. Message passing”, in")
    assert plain.endswith(").")
    there = cite_chapter.paragraph(cited, "7. Message passing", "https://host/book/07.html")
    assert there.astext().endswith("), https://host/book/07.html.")
