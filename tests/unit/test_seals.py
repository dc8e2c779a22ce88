"""Archives and provenance hold their own checksum: what is not as it was written is refused."""

from __future__ import annotations

import hashlib
import json
import re

import numpy as np
import pytest

from tests import toy_experiment as toy
from wfmlib.book import cli, experiments
from wfmlib.book.experiments import ArchiveError, DamagedArchiveError, registry
from wfmlib.runs import archive, seals

SEED, FLIPS = 20, 100
BOTH = (archive.read, experiments.read_provenance)


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Keep samples and archives in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WFMLIB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("WFMLIB_TOY", str(tmp_path))
    monkeypatch.setattr(registry, "MODULES", {"toy": "tests.toy_experiment"})


@pytest.fixture
def path(tmp_path):
    """Return the path of the toy's archive."""
    return experiments.run("toy", "paper", output=tmp_path / "results").path


def flip(content, bit):
    place = bit // 8
    return content[:place] + bytes([content[place] ^ 1 << bit % 8]) + content[place + 1 :]


def unnoticed(content, mark):
    """Return the bits that may be flipped without `seals.check` noticing."""
    found = []
    for bit in range(8 * len(content)):
        try:
            seals.check(flip(content, bit), mark)
        except seals.BrokenSealError:
            continue
        found.append(bit)
    return found


def drawn(content):
    """Return the contents with one bit flipped, by a seeded draw over the whole file."""
    bits = np.random.default_rng(SEED).choice(8 * len(content), FLIPS, replace=False)
    return [flip(content, int(bit)) for bit in bits]


def test_no_bit_of_either_file_can_be_flipped_unnoticed(path):
    seals.check(path.read_bytes(), seals.NETCDF)
    assert unnoticed(path.read_bytes(), seals.NETCDF) == []
    assert unnoticed(archive.provenance_path(path).read_bytes(), seals.JSON) == []


@pytest.mark.parametrize("beside", [True, False], ids=["with provenance", "without"])
def test_flipped_bits_of_an_archive_are_refused(path, beside):
    content = path.read_bytes()
    if not beside:
        archive.provenance_path(path).unlink()
    for damaged in drawn(content):
        path.write_bytes(damaged)
        with pytest.raises(DamagedArchiveError, match=r"toy\.nc is damaged"):
            archive.arrays(path)
    with pytest.raises(DamagedArchiveError):
        experiments.load("toy")
    with pytest.raises(ArchiveError, match=r"toy\.nc, or the provenance beside it, cannot"):
        experiments.complete("toy")
    path.write_bytes(content)
    assert archive.arrays(path)["done"].all()


def test_flipped_bits_of_a_provenance_are_refused(path):
    place = archive.provenance_path(path)
    content = place.read_bytes()
    for damaged in drawn(content):
        place.write_bytes(damaged)
        with pytest.raises(DamagedArchiveError, match=r"toy\.provenance\.json is damaged"):
            archive.read_provenance(path)
    place.write_bytes(content)
    assert archive.read_provenance(path)["samples_done"] == 30


def sealed(**changes):
    """Return a change of what a provenance tells, sealed as if we had written it so."""

    def change(path):
        told = archive.read_provenance(path)
        archive.write_provenance(path, told | changes)

    return change


def without(name):
    def change(path):
        told = archive.read_provenance(path)
        del told[name]
        archive.write_provenance(path, told)

    return change


def holding(text):
    return lambda path: archive.provenance_path(path).write_text(text)


def of_another(path):
    other = experiments.run(toy.experiment(seed=8), "paper", output=path.parent / "other").path
    archive.provenance_path(other).replace(archive.provenance_path(path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: archive.provenance_path(path).unlink(), "is missing: an archive without"),
        (holding("[1]"), "is damaged, .*holds no checksum"),
        (holding('[\n "sha256": "' + "0" * 64 + '"]'), "is damaged, .*belongs to other contents"),
        (holding(""), "is damaged, .*holds no checksum"),
        (holding("null"), "is damaged, .*holds no checksum"),
        (without("commit"), "commit is missing, or of the wrong kind"),
        (sealed(samples_done=True), "samples_done is missing, or of the wrong kind"),
        (sealed(versions=[1]), "versions is missing, or of the wrong kind"),
        (sealed(verified={}), "verified is missing, or of the wrong kind"),
        (of_another, r"is not the provenance of toy\.nc \(it belongs to another file\)"),
    ],
)
def test_provenance_that_is_missing_malformed_or_anothers_is_told_by_its_name(
    path, capsys, change, said
):
    change(path)
    content = archive.provenance_path(path)
    for reader in BOTH:
        with pytest.raises(
            DamagedArchiveError, match=rf"results/toy\.provenance\.json {said}|{said}"
        ) as caught:
            reader(path)
        assert str(content) in str(caught.value)
        assert "`wfm run` takes the samples" in str(caught.value)
    for command in ("list", "show toy", "verify toy"):
        assert cli.main(command.split()) == 1
        shown = capsys.readouterr()
        assert str(content) in shown.err
        assert "Traceback" not in shown.err
        assert command != "list" or re.search(r"^toy .* damaged\s*$", shown.out, re.MULTILINE)
    # what it says there: the samples are taken, nothing is computed, both files are whole again
    before = path.read_bytes()
    again = experiments.run("toy", "paper", output=path.parent)
    assert (again.computed, again.done) == (0, 30)
    assert path.read_bytes() == before
    assert archive.read(path)["done"].all()


def test_samples_of_an_archive_whose_provenance_is_lost_count_as_of_unknown_code(path, tmp_path):
    before = path.read_bytes()
    archive.provenance_path(path).unlink()
    for folder in (tmp_path / "cache").rglob("toy-*"):
        folder.rename(tmp_path / folder.name)  # nothing is left but the arrays
    again = experiments.run("toy", "paper", output=path.parent)
    assert again.computed == 0
    assert path.read_bytes() == before
    assert archive.read_provenance(path)["computed_by_code"] == {"unknown": 30}
    assert experiments.state("toy") == "unverified"


def test_archive_can_be_checked_with_nothing_but_its_bytes(path):
    """As the page on downloads says it."""
    for content in (path.read_bytes(), archive.provenance_path(path).read_bytes()):
        digits = re.search(rb"\bsha256\W+([0-9a-f]{64})", content)[1]
        assert content.count(digits) == 1
        assert hashlib.sha256(content.replace(digits, b"0" * 64)).hexdigest().encode() == digits


def test_archive_of_before_is_refused(path, tmp_path):
    data, told = archive.read(path), archive.read_provenance(path)
    path.write_bytes(bytes(data.to_netcdf(engine="scipy", format=archive.FORMAT)))
    with pytest.raises(DamagedArchiveError, match="it holds no checksum of itself"):
        archive.arrays(path)
    archive.put(path, data, told)
    assert archive.read(path).identical(data)
    place = archive.provenance_path(path)
    plain = json.loads(place.read_bytes())
    del plain["sha256"]
    place.write_text(json.dumps(plain, indent=1))
    with pytest.raises(DamagedArchiveError, match="it holds no checksum of itself"):
        archive.read(path)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it holds no checksum"),
        (seals.JSON + seals.ZEROS + seals.JSON + seals.ZEROS, "it holds no checksum"),
        (seals.JSON + b"1" * 64, "no zeros"),
        (seals.JSON + b"0" * 63, "no zeros"),
    ],
)
def test_what_cannot_be_sealed(data, said):
    with pytest.raises(seals.BrokenSealError, match=said):
        seals.sealed(data, seals.JSON)


def test_what_is_cut_short_is_refused(path):
    content = path.read_bytes()
    for length in (0, 10, content.index(seals.NETCDF) + 40, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(DamagedArchiveError):
            archive.arrays(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(DamagedArchiveError):
        archive.arrays(path)
