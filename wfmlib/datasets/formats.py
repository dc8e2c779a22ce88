"""Formats of the official image files: IDX, and the binary version of CIFAR-10.

*IDX* (MNIST and Fashion-MNIST), compressed with gzip: two zero bytes, a byte for the type of the
entries (8: unsigned bytes), one for the number of dimensions, each dimension as a big-endian
integer of four bytes, and the entries in C order.

The *binary version of CIFAR-10*: records of a label and an image, one after the other. A record
is one byte for the label, then 1024 for red, 1024 for green and 1024 for blue, each colour row by
row.
"""

from __future__ import annotations

import gzip
import struct

import numpy as np

UNSIGNED_BYTE = 8
SIDE, CHANNELS, CLASSES = 32, 3, 10  # of CIFAR-10
RECORD = 1 + CHANNELS * SIDE**2  # bytes


def idx(data, ndim):
    """Return the array of a compressed IDX file of unsigned bytes; it can be written to.

    Parameters
    ----------
    data : bytes
        The file as it is.
    ndim : int
        How many dimensions it must have: 3 for images, 1 for labels.

    Raises
    ------
    ValueError
        If it holds something else.
    """
    content = gzip.decompress(data)
    if content[:4] != bytes([0, 0, UNSIGNED_BYTE, ndim]):
        raise ValueError(
            f"an IDX file of unsigned bytes with {ndim} dimensions begins with "
            f"'00 00 08 {ndim:02x}', got {content[:4].hex(' ')!r}"
        )
    start = 4 + 4 * ndim
    shape = struct.unpack(f">{ndim}I", content[4:start])
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()


def cifar(data):
    """Return the images and labels of a batch of CIFAR-10.

    Of some batches no SHA-256 is known: the labels would tell most other files.

    Parameters
    ----------
    data : bytes
        The file as it is.

    Returns
    -------
    images : numpy.ndarray
        Shape (P, 32, 32, 3), uint8: rows, columns and red, green, blue.
    labels : numpy.ndarray
        Shape (P,), uint8, from 0 to 9.

    Raises
    ------
    ValueError
        If there is no whole number of records, or a label above 9.
    """
    if not data or len(data) % RECORD:
        raise ValueError(
            f"a batch of CIFAR-10 has records of {RECORD} bytes, got {len(data)} bytes in all"
        )
    records = np.frombuffer(data, np.uint8).reshape(-1, RECORD)
    labels = records[:, 0].copy()
    if labels.max() >= CLASSES:
        raise ValueError(f"labels of CIFAR-10 are from 0 to 9, got {labels.max()}")
    planes = records[:, 1:].reshape(-1, CHANNELS, SIDE, SIDE)
    return planes.transpose(0, 2, 3, 1).copy(), labels
