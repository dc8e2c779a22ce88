"""Data sets of a few images, in the official formats, and a server that gives their files."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from wfmlib.datasets import sources

IMAGES = 7
RECORDS = 2
CIFAR = "cifar-10-batches-bin"
BATCHES = [*(f"data_batch_{batch}.bin" for batch in range(1, 6)), "test_batch.bin"]


def idx_bytes(array, *, type_code=8, shape=None):
    """Return an array as an IDX file, not compressed; its header may lie."""
    shape = array.shape if shape is None else shape
    head = struct.pack(f">BBBB{len(shape)}I", 0, 0, type_code, len(shape), *shape)
    return head + array.astype(np.uint8).tobytes()


def pack(data):
    return gzip.compress(data, mtime=0)


def cifar_bytes(images, labels):
    """Return images (P, 32, 32, 3) and labels as a CIFAR-10 batch, pixel by pixel."""
    data = bytearray()
    for image, label in zip(images.tolist(), labels.tolist(), strict=True):
        data.append(label)
        for channel in range(3):
            for row in range(32):
                data += bytes(image[row][column][channel] for column in range(32))
    return bytes(data)


def tar_bytes(members):
    """Return an archive of (name, data) or of `tarfile.TarInfo`."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return held.getvalue()


@cache
def contents():
    """Return images and labels by data set and split or batch, and files by their label."""
    rng = np.random.default_rng(1)
    arrays, files = {}, {}
    for name, folder in (("fashion_mnist", "fashion-mnist"), ("mnist", "mnist")):
        for split, prefix in (("train", "train"), ("test", "t10k")):
            images = rng.integers(256, size=(IMAGES, 28, 28), dtype=np.uint8)
            labels = rng.permutation(10)[:IMAGES].astype(np.uint8)
            arrays[name, split] = images, labels
            files[f"{folder}/{prefix}-images-idx3-ubyte.gz"] = pack(idx_bytes(images))
            files[f"{folder}/{prefix}-labels-idx1-ubyte.gz"] = pack(idx_bytes(labels))
    for place, name in enumerate(BATCHES, 1):
        images = rng.integers(256, size=(RECORDS, 32, 32, 3), dtype=np.uint8)
        labels = rng.integers(10, size=RECORDS, dtype=np.uint8)
        arrays["cifar10", place if place < 6 else "test"] = images, labels
        files[f"{CIFAR}/{name}"] = cifar_bytes(images, labels)
    batches = [(label, data) for label, data in files.items() if label.startswith(CIFAR)]
    files[f"{CIFAR}/cifar-10-binary.tar.gz"] = tar_bytes(batches)
    return arrays, files


class Tiny:
    """Tiny data sets in place of the official ones.

    `arrays` holds images and labels by data set and split or batch; `files` the bytes of each file
    by its label; `answers` what the server gives, by path.
    """

    def __init__(self, address):
        self.arrays, self.files = contents()
        self.answers = {f"/{label}": data for label, data in self.files.items()}
        self.sources = {}
        for name, official in list(sources.SOURCES.items()):
            files = tuple(self._tiny(file, address) for file in official.files)
            archive = official.archive and self._tiny(official.archive, address)
            self.sources[name] = replace(official, files=files, archive=archive)

    def _tiny(self, file, address):
        """Return an official file with size, digest and address of the tiny one."""
        data = self.files[file.label]
        return replace(
            file,
            size=len(data),
            sha256=file.sha256 and hashlib.sha256(data).hexdigest(),
            url=file.url and f"{address}/{file.label}",
        )

    def archive_of(self, members):
        """Let the archive of CIFAR-10 be this one, with the right size and SHA-256."""
        data = tar_bytes(members)
        old = self.sources["cifar10"]
        digest = hashlib.sha256(data).hexdigest()
        archive = replace(old.archive, size=len(data), sha256=digest)
        self.answers[f"/{archive.label}"] = data
        self.sources["cifar10"] = replace(old, archive=archive)

    def install(self, monkeypatch):
        for name, source in self.sources.items():
            monkeypatch.setattr(sources, name.upper(), source)
            monkeypatch.setitem(sources.SOURCES, name, source)

    def write(self, folder, *names):
        """Put files, all of them by default, into a folder."""
        for label, data in self.files.items():
            if not label.endswith(".tar.gz") and (not names or label in names):
                path = folder / label
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


class Handler(BaseHTTPRequestHandler):
    """Gives the server's answers: bytes, or a status, or a pair of bytes and announced length."""

    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path, 404)
        if isinstance(answer, int):
            self.send_error(answer)
            return
        data, length = answer if isinstance(answer, tuple) else (answer, len(answer))
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:  # the client has had enough
            self.server.cut_off = True

    def log_message(self, *_):
        pass


@contextmanager
def serve():
    """Yield a server with tiny data sets at 127.0.0.1: `tiny`, `asked`, `cut_off`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.tiny = Tiny(f"http://127.0.0.1:{server.server_port}")
        server.answers, server.asked, server.cut_off = server.tiny.answers, [], False
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
