"""The IDX format of MNIST and Fashion-MNIST, compressed with gzip.

Two zero bytes, a byte for the type of the entries (8: unsigned bytes), one for the number of
dimensions, each dimension as a big-endian integer of four bytes, and the entries in C order.
"""

from __future__ import annotations

import gzip
import io
import math
import struct
import zlib

import numpy as np

from wfmlib.datasets.errors import DamagedDataError

UNSIGNED_BYTE = 8
LARGEST = 1 << 28  # bytes; the largest official file has 47040016


def parse(data, name, ndim):
    """Return the array of an IDX file of unsigned bytes.

    Parameters
    ----------
    data : bytes
        The file as it is, compressed.
    name : str
        How messages call it.
    ndim : int
        How many dimensions it must have: 3 for images, 1 for labels.

    Returns
    -------
    numpy.ndarray
        uint8; it can be written to.

    Raises
    ------
    DamagedDataError
        If the file cannot be decompressed, is not of this format or type, or holds fewer or more
        bytes than its header announces.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            shape = _header(file.read(4 + 4 * ndim), name, ndim)
            wanted = math.prod(shape)
            if wanted > LARGEST:
                raise DamagedDataError(f"{name} announces {wanted} bytes, more than can be right")
            body = file.read(wanted + 1)  # one more: the end, and with it the check sum, is read
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DamagedDataError(f"{name} cannot be decompressed ({error})") from None
    if len(body) != wanted:
        found = f"only {len(body)}" if len(body) < wanted else "more"
        raise DamagedDataError(
            f"{name} announces {wanted} bytes, of shape {shape}, and holds {found}"
        )
    return np.frombuffer(body, np.uint8).reshape(shape).copy()


def _header(head, name, ndim):
    """Return the shape that the first bytes of a file announce."""
    if len(head) < 4 or head[:2] != b"\0\0":
        raise DamagedDataError(f"{name} is no IDX file: it begins with {head[:4].hex(' ')!r}")
    if head[2] != UNSIGNED_BYTE:
        raise DamagedDataError(f"{name} holds entries of type {head[2]}, not unsigned bytes (8)")
    if head[3] != ndim:
        raise DamagedDataError(f"{name} has {head[3]} dimensions instead of {ndim}")
    if len(head) < 4 + 4 * ndim:
        raise DamagedDataError(f"{name} ends inside its header")
    return struct.unpack(f">{ndim}I", head[4:])
