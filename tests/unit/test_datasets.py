"""Image data: formats, where files are found, downloads, and what is said of wrong files."""

import gzip
import hashlib
import os
import pickle
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tests import tiny_images
from wfmlib import datasets
from wfmlib.book import cli
from wfmlib.datasets import formats, sources

OFFICIAL = os.environ.get("WFMLIB_DATA")  # read before a test takes it away
needs_official = pytest.mark.skipif(
    not OFFICIAL, reason="WFMLIB_DATA is not set: no official files to test with"
)
TRAIN_LABELS = "mnist/train-labels-idx1-ubyte.gz"
TRAIN_IMAGES = "mnist/train-images-idx3-ubyte.gz"


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
    with tiny_images.serve(monkeypatch) as running:
        yield running


@pytest.fixture
def folder(server, tmp_path, monkeypatch):
    """Put all tiny files but the archive into the folder that WFMLIB_DATA names."""
    for label, data in server.files.items():
        if label != sources.ARCHIVE:
            path = tmp_path / "data" / label
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def held(cache):
    """Return the files in the cache."""
    return sorted(
        path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file()
    )


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        # pictures as the file has them, labels to calculate with
        assert one.dtype == (np.uint8 if one.ndim > 1 else np.int64)
        assert one.flags.c_contiguous
        assert one.flags.writeable
        np.testing.assert_array_equal(one, other)


# ------------------------------------------------------------------------------------------------
# Formats
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (0,), (3, 4, 6), (1, 28, 28)])
def test_idx(shape):
    array = np.random.default_rng(2).integers(256, size=shape, dtype=np.uint8)
    found = formats.idx(tiny_images.idx_bytes(array), len(shape))
    assert_same([found if found.ndim > 1 else found.astype(np.int64)], [array])


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"\0\0\x0d\3", b"\0\0\x08\1\0\0\0\2ab"])
def test_idx_that_is_another_format(data):
    with pytest.raises(ValueError, match=re.escape(f"got {data[:4].hex(' ')!r}")):
        formats.idx(gzip.compress(data), 3)


def test_cifar():
    rng = np.random.default_rng(3)
    images = rng.integers(256, size=(3, 32, 32, 3), dtype=np.uint8)
    labels = np.array([0, 9, 4], np.uint8)
    found, classes = formats.cifar(tiny_images.cifar_bytes(images, labels))
    assert_same((found, classes.astype(np.int64)), (images, labels))


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "records of 3073 bytes, got 0 bytes"),
        (b"\0" * 6147, "got 6147 bytes"),
        (pickle.dumps({"data": [1, 2], "labels": [3]}), "records of 3073 bytes"),
        (b"\0" * 3073 + b"\x0a" + b"\0" * 3072, "from 0 to 9, got 10"),
    ],
)
def test_cifar_that_is_another_format(data, wrong):
    with pytest.raises(ValueError, match=wrong):
        formats.cifar(data)


# ------------------------------------------------------------------------------------------------
# A folder
# ------------------------------------------------------------------------------------------------


def test_all_from_a_folder(folder, server, cache):
    for split in ("train", "test"):
        assert_same(datasets.mnist(split), server.arrays["mnist", split])
        assert_same(datasets.fashion_mnist(split), server.arrays["fashion_mnist", split])
    for batch in (1, 2, 3, 4, 5, "test"):
        assert_same(datasets.cifar10(batch), server.arrays["cifar10", batch])
    assert server.asked == []
    assert not cache.exists()


def test_pictures_in_a_wider_type(folder, server):
    for load, name in ((datasets.mnist, "mnist"), (datasets.fashion_mnist, "fashion_mnist")):
        images, _ = load("train", dtype=float)
        assert images.dtype == float
        np.testing.assert_array_equal(images, server.arrays[name, "train"][0])
    assert datasets.cifar10(1, dtype=np.int16)[0].dtype == np.int16
    with pytest.raises(ValueError, match="dtype must be a type of real numbers that holds uint8"):
        datasets.mnist("train", dtype=np.int8)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_classes_by_name_and_by_number(folder, server, order):
    images, labels = server.arrays["fashion_mnist", "train"]
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
    with pytest.raises(error, match=wrong):  # before any file is looked for
        call()


@pytest.mark.parametrize("label", [TRAIN_LABELS, "cifar-10-batches-bin/data_batch_2.bin"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "one bit", "another file"])
def test_damaged_file_in_the_folder(folder, server, label, damage):
    good = server.files[label]
    data = {
        "truncated": good[:-3],
        "empty": b"",
        "one bit": good[:-6] + bytes([good[-6] ^ 1]) + good[-5:],
        "another file": server.files["fashion-mnist/train-labels-idx1-ubyte.gz"],
    }[damage]
    (folder / label).write_bytes(data)
    with pytest.raises(ValueError, match=f"{folder / label} has not the SHA-256 of the official"):
        datasets.mnist("train") if "mnist" in label else datasets.cifar10(2)
    assert (folder / label).read_bytes() == data, "the user's file has been touched"
    assert server.asked == []


def test_batch_without_a_digest_is_checked_for_its_format(folder):
    path = folder / "cifar-10-batches-bin" / "data_batch_4.bin"
    path.write_bytes(b"\xff" + path.read_bytes()[1:])
    with pytest.raises(ValueError, match="from 0 to 9, got 255"):
        datasets.cifar10(4)


def test_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "typo"))
    with pytest.raises(FileNotFoundError, match=r"WFMLIB_DATA must name a folder, got .*typo"):
        datasets.mnist("train")


# ------------------------------------------------------------------------------------------------
# Downloads and the cache
# ------------------------------------------------------------------------------------------------


def test_what_is_not_in_the_folder_is_downloaded_once(folder, server, cache, capsys):
    (folder / TRAIN_LABELS).unlink()
    for _ in range(2):
        assert_same(datasets.mnist("train"), server.arrays["mnist", "train"])
    assert server.asked == [f"/{TRAIN_LABELS}"]
    assert held(cache) == [TRAIN_LABELS]
    assert not (folder / TRAIN_LABELS).exists()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("answer", [b"abc", b"", b"<!doctype html>"])
def test_download_of_another_file(server, cache, answer):
    server.answers[f"/{TRAIN_LABELS}"] = answer
    with pytest.raises(ValueError, match=r"train-labels-idx1-ubyte\.gz.* does not match"):
        datasets.mnist("train")
    assert held(cache) == [TRAIN_IMAGES]
    server.answers[f"/{TRAIN_LABELS}"] = server.files[TRAIN_LABELS]
    assert_same(datasets.mnist("train"), server.arrays["mnist", "train"])


@pytest.mark.parametrize("answer", [404, 503, (b"abc", 100)])
def test_address_that_fails(server, cache, answer):
    server.answers[f"/{TRAIN_LABELS}"] = answer
    with pytest.raises(FileNotFoundError, match=f"{TRAIN_LABELS} is not here and could not be"):
        datasets.mnist("train")
    assert held(cache) == [TRAIN_IMAGES], "half of a download must not get the name of the file"


@pytest.fixture
def offline(server, monkeypatch):
    """Let the addresses be those of a port at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/"
    for folder in sources.ADDRESSES:
        monkeypatch.setitem(sources.ADDRESSES, folder, address)


def test_no_network(server, offline, cache, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as caught:
        datasets.mnist("train")
    said = str(caught.value)
    assert said.startswith(
        f"{TRAIN_IMAGES} is not here and could not be had from http://127.0.0.1"
    )
    assert said.endswith(
        f"put the official file at {TRAIN_IMAGES} in a folder and let WFMLIB_DATA name that folder"
    )
    assert held(cache) == []
    with pytest.raises(FileNotFoundError, match=f"official file at {sources.ARCHIVE} in a folder"):
        datasets.cifar10(1)
    path = tmp_path / "data" / sources.ARCHIVE
    path.parent.mkdir(parents=True)
    path.write_bytes(server.files[sources.ARCHIVE])
    monkeypatch.setenv("WFMLIB_DATA", str(tmp_path / "data"))
    assert_same(datasets.cifar10(1), server.arrays["cifar10", 1])


def test_damaged_file_in_the_cache_is_downloaded_again(server, cache):
    datasets.mnist("train")
    (cache / TRAIN_LABELS).write_bytes(server.files[TRAIN_LABELS][:-1])
    assert_same(datasets.mnist("train"), server.arrays["mnist", "train"])
    assert server.asked.count(f"/{TRAIN_LABELS}") == 2


def test_cache_that_cannot_be_written_to(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        datasets.mnist("train")


def test_archive_of_batches_is_downloaded_once(server, cache):
    for batch in (4, 1, 2, 3, 5, "test"):
        assert_same(datasets.cifar10(batch), server.arrays["cifar10", batch])
    assert server.asked == [f"/{sources.ARCHIVE}"]
    assert held(cache) == [sources.ARCHIVE]


def test_command_gets_what_is_not_here(server, cache, capsys):
    assert cli.main(["data", "get", "mnist"]) == 0
    mnist = sorted(label for label in server.files if label.startswith("mnist/"))
    assert held(cache) == mnist
    told = capsys.readouterr().out.splitlines()
    assert sorted(told) == [f"{label}: {cache / label}" for label in mnist]
    assert cli.main(["data", "get"]) == 0
    assert len(server.asked) == len(sources.REGISTRY)
    assert len(capsys.readouterr().out.splitlines()) == 14
    (cache / TRAIN_LABELS).unlink()
    server.answers[f"/{TRAIN_LABELS}"] = 404
    assert cli.main(["data", "get", "mnist"]) == 1
    assert f"wfm data get: {TRAIN_LABELS} is not here" in capsys.readouterr().err
    assert cli.main(["data", "get", "mist"]) == 2
    assert "must be one of 'fashion_mnist', 'mnist', 'cifar10', got 'mist'" in (
        capsys.readouterr().err
    )


def test_import_is_light():
    code = (
        "import sys, wfmlib.datasets; "
        "sys.exit(str(sorted({'pooch', 'requests', 'tqdm', 'scipy', 'numba'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"


# ------------------------------------------------------------------------------------------------
# The official files
# ------------------------------------------------------------------------------------------------


def test_digits_are_the_official_file():
    """Its SHA-256 as others publish it, and the arrays that scikit-learn makes of it."""
    file = Path(datasets.__file__).with_name("optdigits.tes.gz")
    official = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"
    assert hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest() == official
    published = load_digits()
    assert_same(datasets.digits(), (published.images, published.target))
    assert datasets.digits(dtype=float)[0].dtype == float
    with pytest.raises(ValueError, match="dtype"):
        datasets.digits(dtype=np.int8)


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
