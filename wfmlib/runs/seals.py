"""A file that holds its own SHA-256: of all its bytes, with zeros in the place of the digits.

No byte is left out, so that a single flipped bit shows, wherever it is. Whoever has the file alone
can check it: find the 64 digits, write zeros there, and compare.
"""

from __future__ import annotations

import hashlib

DIGITS = 64
ZEROS = b"0" * DIGITS

#: What stands right before the digits, once in a file.
#: netCDF 3: an attribute's name and its length, the type (characters) and how many there are.
NETCDF = b"\0\0\0\x06sha256\0\0" + b"\0\0\0\x02" + DIGITS.to_bytes(4, "big")
#: JSON, indented by one: a name of the outermost object, as no text inside can be.
JSON = b'\n "sha256": "'


class BrokenSealError(ValueError):
    """A file is not as it was written, or never held a checksum."""


def sealed(data, mark):
    """Return a file's bytes with their SHA-256 in place of the zeros behind a mark.

    Parameters
    ----------
    data : bytes
        The file, with 64 zeros (as text) for the digits.
    mark : bytes
        `NETCDF` or `JSON`.

    Raises
    ------
    BrokenSealError
        If there is no such place, or more than one.
    """
    place = _place(data, mark)
    if data[place : place + DIGITS] != ZEROS:
        raise BrokenSealError("there are no zeros in the place of its checksum")
    digest = hashlib.sha256(data).hexdigest().encode()
    return data[:place] + digest + data[place + DIGITS :]


def check(data, mark):
    """Compare a file's bytes with the SHA-256 that they hold.

    Parameters
    ----------
    data : bytes
        The file.
    mark : bytes
        `NETCDF` or `JSON`.

    Raises
    ------
    BrokenSealError
        If it is another one, or none.
    """
    place = _place(data, mark)
    told = data[place : place + DIGITS]
    digest = hashlib.sha256(data[:place])
    digest.update(ZEROS)
    digest.update(data[place + DIGITS :])
    if digest.hexdigest().encode() != told:
        raise BrokenSealError("its checksum belongs to other contents")


def _place(data, mark):
    """Return where the digits begin."""
    if data.count(mark) != 1:
        raise BrokenSealError("it holds no checksum of itself")
    return data.index(mark) + len(mark)
