"""Image data: formats, where files are found, downloads, and what is said of wrong files."""

import gzip
import hashlib
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest

from tests import tiny_images
from tests.tiny_images import idx_bytes, pack
from wfmlib import datasets
from wfmlib.datasets import (
    DamagedDataError,
    MissingDataError,
    cifar,
    download,
    idx,
    sources,
    store,
    transfer,
)

OFFICIAL = os.environ.get("WFMLIB_DATA")  # read before a test takes it away
needs_official = pytest.mark.skipif(
    not OFFICIAL, reason="WFMLIB_DATA is not set: no official files to test with"
)
TRAIN_LABELS = "mnist/train-labels-idx1-ubyte.gz"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep the cache in a folder of the test's own, without a folder of files."""
    monkeypatch.delenv("WFMLIB_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache" / "wfmlib" / "data"


@pytest.fixture
def server(monkeypatch):
    """Put tiny data sets, and a server that gives them, in place of the official ones."""
    with tiny_images.serve() as running:
        running.tiny.install(monkeypatch)
        yield running


@pytest.fixture
def tiny(server):
    return server.tiny


@pytest.fixture
def folder(tiny, tmp_path, monkeypatch):
    """Put all tiny files into the folder that WFMLIB_DATA names."""
    tiny.write(tmp_path / "data")
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def held(cache):
    """Return the files in the cache."""
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*.*"))


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == np.uint8
        assert one.flags.c_contiguous
        assert one.flags.writeable
        np.testing.assert_array_equal(one, other)


# ------------------------------------------------------------------------------------------------
# Formats
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (0,), (3, 4, 6), (1, 28, 28)])
def test_idx(shape):
    array = np.random.default_rng(2).integers(256, size=shape, dtype=np.uint8)
    found = idx.parse(pack(idx_bytes(array)), "a file", len(shape))
    assert_same([found], [array])


EIGHT = np.arange(8)
GOOD = idx_bytes(EIGHT.reshape(2, 2, 2))


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "is no IDX file: it begins with ''"),
        (GOOD, "cannot be decompressed (Not a gzipped file"),
        (pack(GOOD)[:-9], "cannot be decompressed (Compressed file ended before"),
        (pack(GOOD)[:-5] + b"\0\0\0\0\0", "cannot be decompressed (CRC check failed"),
        (pack(GOOD)[:10] + b"\xff" * 20, "cannot be decompressed (Error -3"),
        (pack(b"PK\3\4" + GOOD), "is no IDX file: it begins with '50 4b 03 04'"),
        (pack(idx_bytes(EIGHT, type_code=13)), "holds entries of type 13, not unsigned bytes (8)"),
        (pack(idx_bytes(EIGHT)), "has 1 dimensions instead of 3"),
        (pack(GOOD[:15]), "ends inside its header"),
        (pack(GOOD[:-1]), "announces 8 bytes, of shape (2, 2, 2), and holds only 7"),
        (pack(GOOD + b"\0"), "announces 8 bytes, of shape (2, 2, 2), and holds more"),
        (
            pack(idx_bytes(EIGHT, shape=(2**32 - 1,) * 3)),
            f"announces {(2**32 - 1) ** 3} bytes, more than can be right",
        ),
    ],
)
def test_idx_that_is_wrong(data, wrong):
    with pytest.raises(DamagedDataError, match=f"^some/file {re.escape(wrong)}"):
        idx.parse(data, "some/file", 3)


def test_cifar():
    rng = np.random.default_rng(3)
    images = rng.integers(256, size=(3, 32, 32, 3), dtype=np.uint8)
    labels = np.array([0, 9, 4], np.uint8)
    assert_same(cifar.parse(tiny_images.cifar_bytes(images, labels), "a"), (images, labels))


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "has 0 bytes: no whole number of records of 3073 bytes"),
        (b"\0" * 3072, "has 3072 bytes"),
        (b"\0" * 6147, "has 6147 bytes"),
        (pickle.dumps({"data": [1, 2], "labels": [3]}), "no whole number of records"),
        (b"\0" * 3073 + b"\x0a" + b"\0" * 3072, r"has a label 10 \(record 1\); they go to 9"),
    ],
)
def test_cifar_that_is_wrong(data, wrong):
    with pytest.raises(DamagedDataError, match=f"^some/file .*{wrong}"):
        cifar.parse(data, "some/file")


# ------------------------------------------------------------------------------------------------
# A folder
# ------------------------------------------------------------------------------------------------


def test_all_from_a_folder(folder, tiny, server, cache):
    for split in ("train", "test"):
        assert_same(datasets.mnist(split), tiny.arrays["mnist", split])
        assert_same(datasets.fashion_mnist(split), tiny.arrays["fashion_mnist", split])
    for batch in (1, 2, 3, 4, 5, "test"):
        assert_same(datasets.cifar10(batch), tiny.arrays["cifar10", batch])
    assert server.asked == []
    assert not cache.exists()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_classes_by_name_and_by_number(folder, tiny, order):
    images, labels = tiny.arrays["fashion_mnist", "train"]
    numbers = [int(labels[2]), int(labels[5])]
    names = [datasets.FASHION_MNIST_CLASSES[one] for one in numbers]
    chosen = [numbers[order[0]], names[order[1]].upper()]
    kept = [2, 5]  # in the order of the file, and with its labels
    assert_same(datasets.fashion_mnist("train", chosen), (images[kept], labels[kept]))
    assert_same(datasets.fashion_mnist("train", np.array(numbers)), (images[kept], labels[kept]))


@pytest.mark.parametrize(
    ("call", "error", "wrong"),
    [
        (lambda: datasets.mnist("valid"), ValueError, "split must be one of 'train', 'test'"),
        (lambda: datasets.fashion_mnist(1), ValueError, "split must be one of"),
        (lambda: datasets.fashion_mnist("test", "coat"), TypeError, "classes must be a sequence"),
        (lambda: datasets.fashion_mnist("test", 3), TypeError, "classes must be a sequence"),
        (lambda: datasets.fashion_mnist("test", ["cat"]), ValueError, "t-shirt/top, .*got 'cat'"),
        (lambda: datasets.fashion_mnist("test", [10]), ValueError, "classes must be from 0 to 9"),
        (lambda: datasets.fashion_mnist("test", [0.5]), TypeError, "classes must be an integer"),
        (lambda: datasets.fashion_mnist("test", []), ValueError, "at least one"),
        (lambda: datasets.fashion_mnist("test", [3, "dress"]), ValueError, "different ones"),
        (lambda: datasets.cifar10(0), ValueError, "batch must be from 1 to 5, got 0"),
        (lambda: datasets.cifar10(6), ValueError, "batch must be from 1 to 5, got 6"),
        (lambda: datasets.cifar10(True), TypeError, "batch must be an integer"),
        (lambda: datasets.cifar10("1"), ValueError, "from 1 to 5, or 'test', got '1'"),
    ],
)
def test_arguments(call, error, wrong):
    with pytest.raises(error, match=wrong) as caught:  # before any file is looked for
        call()
    assert not isinstance(caught.value, DamagedDataError)


def flip(data):
    return data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]


DAMAGES = {
    "truncated": (lambda data: data[:-3], "has {less} bytes of {size}: it is truncated"),
    "empty": (lambda _: b"", "has 0 bytes of {size}: it is truncated"),
    "corrupted": (flip, "has the right size, but not the SHA-256 of the official file"),
    "oversized": (lambda data: data + b"abc", "has {more} bytes instead of {size}: it is too"),
    "web page": (
        lambda _: b" <!doctype html>",
        "has 16 bytes of {size}: .* .it begins like a web page",
    ),
}


def expected(text, data):
    return text.format(less=len(data) - 3, size=len(data), more=len(data) + 3)


@pytest.mark.parametrize("label", [TRAIN_LABELS, "cifar-10-batches-bin/data_batch_2.bin"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_file_in_the_folder(folder, tiny, server, label, kind):
    damage, wrong = DAMAGES[kind]
    data = damage(tiny.files[label])
    (folder / label).write_bytes(data)
    with pytest.raises(DamagedDataError) as caught:
        datasets.mnist("train") if "mnist" in label else datasets.cifar10(2)
    said = str(caught.value)
    assert re.match(f"{folder / label} {expected(wrong, tiny.files[label])}", said)
    assert said.endswith("Put the official file there, or unset WFMLIB_DATA")
    assert (folder / label).read_bytes() == data, "the user's file has been touched"
    assert server.asked == []


def test_other_official_file_is_recognised(folder, tiny):
    twin = TRAIN_LABELS.replace("mnist", "fashion-mnist")
    (folder / TRAIN_LABELS).write_bytes(tiny.files[twin])
    with pytest.raises(DamagedDataError, match=f"{TRAIN_LABELS} is another file: {twin}"):
        datasets.mnist("train")


def test_folder_comes_before_the_cache(folder, tiny, cache):
    (cache / "mnist").mkdir(parents=True)
    (cache / TRAIN_LABELS).write_bytes(b"abc")
    assert_same(datasets.mnist("train"), tiny.arrays["mnist", "train"])
    assert (cache / TRAIN_LABELS).read_bytes() == b"abc"


@pytest.mark.parametrize("place", ["folder", "cache"])
def test_folder_in_place_of_a_file(folder, cache, place):
    (folder / TRAIN_LABELS).unlink()
    path = (folder if place == "folder" else cache) / TRAIN_LABELS
    path.mkdir(parents=True)
    with pytest.raises(DamagedDataError, match=f"{path} is not a file"):
        datasets.mnist("train")
    assert path.is_dir()


def test_batch_without_a_digest_is_checked_for_size_and_format(folder, tiny):
    path = folder / "cifar-10-batches-bin" / "data_batch_4.bin"
    path.write_bytes(b"\xff" + path.read_bytes()[1:])
    with pytest.raises(DamagedDataError, match=r"data_batch_4.bin has a label 255 \(record 0\)"):
        datasets.cifar10(4)


def test_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "typo"))
    with pytest.raises(MissingDataError, match=r"WFMLIB_DATA must name a folder, got .*typo"):
        datasets.mnist("train")


# ------------------------------------------------------------------------------------------------
# Downloads and the cache
# ------------------------------------------------------------------------------------------------


def test_what_is_not_in_the_folder_is_downloaded_once(folder, tiny, server, cache, capsys):
    (folder / TRAIN_LABELS).unlink()
    for _ in range(2):
        assert_same(datasets.mnist("train"), tiny.arrays["mnist", "train"])
    assert server.asked == [f"/{TRAIN_LABELS}"]
    assert held(cache) == [TRAIN_LABELS]
    assert (cache / TRAIN_LABELS).read_bytes() == tiny.files[TRAIN_LABELS]
    assert not (folder / TRAIN_LABELS).exists()
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_bar(server, capsys, monkeypatch):
    monkeypatch.setattr(download, "PATIENCE", 0)
    datasets.mnist("test")
    told = capsys.readouterr()
    assert told.out == ""
    assert "t10k-images-idx3-ubyte.gz" in told.err


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("announced", [True, False])
def test_damaged_download(tiny, server, cache, kind, announced):
    damage, wrong = DAMAGES[kind]
    data = damage(tiny.files[TRAIN_LABELS])
    server.answers[f"/{TRAIN_LABELS}"] = data if announced else (data, None)
    with pytest.raises(DamagedDataError) as caught:
        datasets.mnist("train")
    name = TRAIN_LABELS.partition("/")[2]
    if kind == "oversized":
        wrong = "has more than the {size} bytes of the official file; the download was given up"
    wrong = expected(wrong, tiny.files[TRAIN_LABELS])
    assert re.match(
        rf"{name}, downloaded from http://\S+/{TRAIN_LABELS}, {wrong}", str(caught.value)
    )
    assert held(cache) == ["mnist/train-images-idx3-ubyte.gz"]
    server.answers[f"/{TRAIN_LABELS}"] = tiny.files[TRAIN_LABELS]
    assert_same(datasets.mnist("train"), tiny.arrays["mnist", "train"])


def test_download_of_another_file(tiny, server, cache):
    twin = TRAIN_LABELS.replace("mnist", "fashion-mnist")
    server.answers[f"/{TRAIN_LABELS}"] = tiny.files[twin]
    with pytest.raises(DamagedDataError, match=f"mnist/train-lab.*, is another file: {twin}"):
        datasets.mnist("train")


def test_download_without_end_is_given_up(server, cache):
    server.answers["/mnist/train-images-idx3-ubyte.gz"] = (bytes(50_000_000), None)
    with pytest.raises(DamagedDataError, match="the download was given up"):
        datasets.mnist("train")
    assert held(cache) == []
    for _ in range(200):  # the server hears of it when its next bytes are refused
        if server.cut_off:
            break
        time.sleep(0.02)
    assert server.cut_off


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (404, r"answers 404 \(Not Found\)"),
        (503, r"answers 503 \(Service Unavailable\)"),
        ((b"abc", 100), r"broke off after \d+ bytes"),
    ],
)
def test_address_that_fails(tiny, server, cache, answer, wrong):
    server.answers[f"/{TRAIN_LABELS}"] = answer
    with pytest.raises(MissingDataError) as caught:
        datasets.mnist("train")
    assert re.match(rf"{TRAIN_LABELS} is not here, and http://\S+ {wrong}", str(caught.value))
    assert held(cache) == ["mnist/train-images-idx3-ubyte.gz"]


@pytest.fixture
def offline(monkeypatch):
    """Let the addresses be those of a port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    tiny = tiny_images.Tiny(address)
    tiny.install(monkeypatch)
    return tiny


def test_no_network(offline, cache, tmp_path, monkeypatch):
    name = "mnist/train-images-idx3-ubyte.gz"
    with pytest.raises(MissingDataError) as caught:
        datasets.mnist("train")
    said = str(caught.value)
    assert re.match(rf"{name} is not here, and http://\S+{name} cannot be reached \(no conn", said)
    assert f"Put the official file at {name} in a folder that WFMLIB_DATA names, or at" in said
    assert said.endswith(f"or at {cache / name}")
    assert held(cache) == []

    (tmp_path / "data").mkdir()
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "data"))
    name = "cifar-10-batches-bin/data_batch_1.bin"
    with pytest.raises(MissingDataError) as caught:
        datasets.cifar10(1)
    said = "Put the official file, unpacked from cifar-10-binary.tar.gz, at "
    assert f"{said}{tmp_path / 'data' / name}, or at {cache / name}" in str(caught.value)
    for place in (cache, tmp_path / "data"):  # and there it is found
        offline.write(place, name)
        assert_same(datasets.cifar10(1), offline.arrays["cifar10", 1])
        shutil.rmtree(place / "cifar-10-batches-bin")


@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_file_in_the_cache_is_removed(tiny, server, cache, kind):
    datasets.mnist("train")
    damage, wrong = DAMAGES[kind]
    (cache / TRAIN_LABELS).write_bytes(damage(tiny.files[TRAIN_LABELS]))
    with pytest.raises(DamagedDataError) as caught:
        datasets.mnist("train")
    said = str(caught.value)
    assert re.match(f"{cache / TRAIN_LABELS} {expected(wrong, tiny.files[TRAIN_LABELS])}", said)
    assert said.endswith("removed from the cache; the next call downloads it again")
    assert held(cache) == ["mnist/train-images-idx3-ubyte.gz"]
    assert_same(datasets.mnist("train"), tiny.arrays["mnist", "train"])


def test_cache_that_cannot_be_written_to(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingDataError, match=r"the cache \S+ cannot keep it .* Put the offic"):
        datasets.mnist("train")


def test_interrupted_download_leaves_nothing(server, cache, monkeypatch):
    def interrupt(self, chunk):
        self.opened.write(chunk)
        raise KeyboardInterrupt

    monkeypatch.setattr(transfer.Writer, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        datasets.mnist("train")
    assert held(cache) == []


def test_what_a_killed_download_left_is_forgotten(server, cache):
    (cache / "mnist").mkdir(parents=True)
    old, young = (cache / "mnist" / f"{name}.part" for name in ("old", "young"))
    old.touch()
    young.touch()
    os.utime(old, (time.time() - 2 * download.DAY,) * 2)
    datasets.mnist("train")
    assert (old.exists(), young.exists()) == (False, True)


# ------------------------------------------------------------------------------------------------
# The archive of CIFAR-10
# ------------------------------------------------------------------------------------------------


def members(tiny):
    return [(one.label, tiny.files[one.label]) for one in tiny.sources["cifar10"].files]


def test_archive_is_downloaded_once_and_unpacked(tiny, server, cache):
    for batch in (4, 1, 2, 3, 5, "test"):
        assert_same(datasets.cifar10(batch), tiny.arrays["cifar10", batch])
    assert server.asked == ["/cifar-10-batches-bin/cifar-10-binary.tar.gz"]
    kept = cache / "cifar-10-batches-bin"
    assert sorted(path.name for path in kept.iterdir()) == sorted(
        ["SHA256SUMS", *tiny_images.BATCHES]
    )
    for line in (kept / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert digest == hashlib.sha256((kept / name).read_bytes()).hexdigest()


def test_batch_without_an_official_digest_is_held_to_the_noted_one(tiny, server, cache):
    datasets.cifar10(3)
    path = cache / "cifar-10-batches-bin" / "data_batch_3.bin"
    path.write_bytes(flip(path.read_bytes()))  # a pixel: the format is still good
    with pytest.raises(DamagedDataError, match=r"data_batch_3.bin has .* not the SHA-256"):
        datasets.cifar10(3)
    assert_same(datasets.cifar10(3), tiny.arrays["cifar10", 3])
    assert len(server.asked) == 2


def test_only_the_batches_leave_the_archive(tiny, cache, tmp_path, monkeypatch):
    outside = [("../evil.bin", b"x"), (str(tmp_path / "evil.bin"), b"x"), ("a/evil.bin", b"x")]
    link = tarfile.TarInfo("cifar-10-batches-bin/evil.bin")
    link.type, link.linkname = tarfile.SYMTYPE, "/"
    again = (members(tiny)[2][0], members(tiny)[3][1])  # another batch by the same name
    tiny.archive_of([*outside, link, *members(tiny), again])
    tiny.install(monkeypatch)
    assert_same(datasets.cifar10(3), tiny.arrays["cifar10", 3])
    found = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"SHA256SUMS", *tiny_images.BATCHES}


def bad_archives(tiny):
    good = members(tiny)
    link = tarfile.TarInfo(good[0][0])
    link.type, link.linkname, link.size = tarfile.SYMTYPE, "/etc/hostname", len(good[0][1])
    return {
        "missing": (good[:-1], r"cifar-10-binary.tar.gz does not hold test_batch.bin"),
        "link": (
            [link, *good[1:]],
            "data_batch_1.bin in it has 6146 bytes instead of 6146, or is no file",
        ),
        "short": ([(good[0][0], b"abc"), *good[1:]], "data_batch_1.bin in it has 3 bytes"),
        "other": ([good[0], (good[1][0], good[2][1])], "data_batch_2.bin in it has not the SHA-"),
    }


@pytest.mark.parametrize("kind", ["missing", "link", "short", "other"])
def test_archive_with_other_members(tiny, cache, monkeypatch, kind):
    held_by, wrong = bad_archives(tiny)[kind]
    tiny.archive_of(held_by)
    tiny.install(monkeypatch)
    with pytest.raises(DamagedDataError, match=wrong):
        datasets.cifar10(1)
    assert held(cache) == []


@pytest.mark.parametrize("data", [b"no archive", gzip.compress(b"\1" * 2000, mtime=0)])
def test_archive_that_is_none(tiny, server, cache, monkeypatch, data):
    label = "/cifar-10-batches-bin/cifar-10-binary.tar.gz"
    server.answers[label] = data
    with pytest.raises(DamagedDataError, match=r"cifar-10-binary.tar.gz, downloaded from .* has"):
        datasets.cifar10(1)
    monkeypatch.setattr(tiny_images, "tar_bytes", lambda _: data)
    tiny.archive_of([])  # even with the right digest
    tiny.install(monkeypatch)
    with pytest.raises(DamagedDataError, match=r"cifar-10-binary.tar.gz cannot be unpacked"):
        datasets.cifar10(1)
    assert held(cache) == []


# ------------------------------------------------------------------------------------------------
# The official files
# ------------------------------------------------------------------------------------------------


def test_table_of_the_official_files():
    files = [one for source in sources.SOURCES.values() for one in source.files]
    files.append(sources.CIFAR10.archive)
    assert len({one.label for one in files}) == 15
    known = [one for one in files if one.sha256]
    assert len({one.sha256 for one in known}) == 11
    assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in known)
    for one in files:
        assert bool(one.url) == (not one.name.endswith(".bin"))
        assert not one.url or one.url.endswith("/" + one.name)


def test_import_is_light():
    code = (
        "import sys, wfmlib.datasets; "
        "sys.exit(str(sorted({'pooch', 'requests', 'tqdm', 'scipy', 'numba'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"


@pytest.fixture
def official(monkeypatch, tmp_path):
    monkeypatch.setenv("WFMLIB_DATA", OFFICIAL)
    return Path(OFFICIAL)


def needs(official, name):
    file = official / name
    if not file.exists():
        pytest.skip(f"the folder that WFMLIB_DATA names has no {name}")


@needs_official
@pytest.mark.parametrize(
    ("name", "split", "first", "mean"),
    [  # the first labels and the mean grey level, over 255, as published
        ("mnist", "train", [5, 0, 4, 1, 9], 0.1307),
        ("mnist", "test", [7, 2, 1, 0, 4], 0.1325),
        ("fashion_mnist", "train", [9, 0, 0, 3, 0], 0.2860),
        ("fashion_mnist", "test", [9, 2, 1, 1, 6], 0.2868),
    ],
)
def test_official_idx_files(official, name, split, first, mean):
    needs(official, name.replace("_", "-"))
    images, labels = getattr(datasets, name)(split)
    count = 60000 if split == "train" else 10000
    assert (images.shape, labels.shape) == ((count, 28, 28), (count,))
    assert labels[:5].tolist() == first
    assert images.mean() / 255 == pytest.approx(mean, abs=6e-5)  # four digits
    if name == "fashion_mnist":
        assert np.bincount(labels).tolist() == [count // 10] * 10
        chosen, kept = datasets.fashion_mnist(split, ["dress", "coat"])
        assert (len(chosen), sorted(set(kept.tolist()))) == (count // 5, [3, 4])


@needs_official
def test_official_batches(official):
    needs(official, "cifar-10-batches-bin/data_batch_1.bin")
    images, labels = datasets.cifar10(1)
    assert (images.shape, labels.shape) == ((10000, 32, 32, 3), (10000,))
    counts = [1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981]  # as published
    assert np.bincount(labels).tolist() == counts
    ships = images[labels == datasets.CIFAR10_CLASSES.index("ship")].astype(float)
    blue = (ships[..., 2] - ships[..., 0]).mean(axis=(0, 2))
    assert (blue > 0).all()  # sky and sea: blue beyond red in each row
    assert ships[:, :8].mean() > ships[:, 24:].mean() + 10  # the sky is above
    for axis in (1, 2):  # neighbours are alike along rows and columns
        near, far = (np.abs(ships - np.roll(ships, by, axis)).mean() for by in (1, 16))
        assert near < 0.5 * far


@needs_official
def test_official_file_with_one_bit_changed(official, tmp_path, monkeypatch):
    needs(official, TRAIN_LABELS)
    for name in (TRAIN_LABELS, TRAIN_LABELS.replace("labels-idx1", "images-idx3")):
        (tmp_path / "data" / "mnist").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(official / name, tmp_path / "data" / name)
    path = tmp_path / "data" / TRAIN_LABELS
    path.write_bytes(flip(path.read_bytes()))
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "data"))
    with pytest.raises(DamagedDataError, match="has the right size, but not the SHA-256"):
        datasets.mnist("train")
    assert store.find(sources.MNIST.file(path.name)) == (path, "folder")
