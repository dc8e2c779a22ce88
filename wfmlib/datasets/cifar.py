"""The binary format of CIFAR-10: records of a label and an image, one after the other.

A record is one byte for the label, then 1024 for red, 1024 for green and 1024 for blue, each
colour row by row.
"""

from __future__ import annotations

import numpy as np

from wfmlib.datasets.errors import DamagedDataError

SIDE = 32  # pixels
CHANNELS = 3
RECORD = 1 + CHANNELS * SIDE**2  # bytes
CLASSES = 10


def parse(data, name):
    """Return the images and labels of a batch.

    Parameters
    ----------
    data : bytes
        The file as it is.
    name : str
        How messages call it.

    Returns
    -------
    images : numpy.ndarray
        Shape (P, 32, 32, 3), uint8: rows, columns and red, green, blue.
    labels : numpy.ndarray
        Shape (P,), uint8, from 0 to 9.

    Raises
    ------
    DamagedDataError
        If there is no whole number of records, or a label above 9.
    """
    if not data or len(data) % RECORD:
        raise DamagedDataError(
            f"{name} has {len(data)} bytes: no whole number of records of {RECORD} bytes"
        )
    records = np.frombuffer(data, np.uint8).reshape(-1, RECORD)
    labels = records[:, 0].copy()
    if labels.max() >= CLASSES:
        at = int(np.argmax(labels >= CLASSES))
        raise DamagedDataError(f"{name} has a label {labels[at]} (record {at}); they go to 9")
    planes = records[:, 1:].reshape(-1, CHANNELS, SIDE, SIDE)
    return planes.transpose(0, 2, 3, 1).copy(), labels
