"""Data sets of a few images, in the official formats, and a server that gives their files."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import threading
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from wfmlib.datasets import sources

IMAGES = 7
RECORDS = 2


def idx_bytes(array):
    """Return an array as a compressed IDX file."""
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes(), mtime=0)


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
    """Return an archive of files by their names."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


@cache
def contents():
    """Return images and labels by data set and split or batch, and files by their label."""
    rng = np.random.default_rng(1)
    arrays, files = {}, {}
    for name in ("fashion_mnist", "mnist"):
        for split, prefix in (("train", "train"), ("test", "t10k")):
            images = rng.integers(256, size=(IMAGES, 28, 28), dtype=np.uint8)
            labels = rng.permutation(10)[:IMAGES].astype(np.uint8)
            arrays[name, split] = images, labels
            begin = f"{sources.FOLDERS[name]}/{prefix}"
            files[f"{begin}-images-idx3-ubyte.gz"] = idx_bytes(images)
            files[f"{begin}-labels-idx1-ubyte.gz"] = idx_bytes(labels)
    for place, label in enumerate(sources.BATCHES, 1):
        images = rng.integers(256, size=(RECORDS, 32, 32, 3), dtype=np.uint8)
        labels = rng.integers(10, size=RECORDS, dtype=np.uint8)
        arrays["cifar10", place if place < 6 else "test"] = images, labels
        files[label] = cifar_bytes(images, labels)
    files[sources.ARCHIVE] = tar_bytes({label: files[label] for label in sources.BATCHES})
    return arrays, files


class Handler(BaseHTTPRequestHandler):
    """Gives the server's answers: bytes, a status, or a pair of bytes and announced length."""

    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path, 404)
        if isinstance(answer, int):
            self.send_error(answer)
            return
        data, length = answer if isinstance(answer, tuple) else (answer, len(answer))
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def serve(monkeypatch):
    """Put tiny data sets in place of the official ones, and a server in place of the addresses.

    Yields the server: `arrays` by data set and split or batch, `files` by their label, `answers`
    by path, and which paths were `asked` for.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.arrays, server.files = contents()
        server.answers = {f"/{label}": data for label, data in server.files.items()}
        server.asked = []
        address = f"http://127.0.0.1:{server.server_port}"
        for folder in sources.ADDRESSES:
            monkeypatch.setitem(sources.ADDRESSES, folder, f"{address}/{folder}/")
        for table in (sources.REGISTRY, sources.BATCHES):
            for label, known in list(table.items()):
                digest = known and hashlib.sha256(server.files[label]).hexdigest()
                monkeypatch.setitem(table, label, digest)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
