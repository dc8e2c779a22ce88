"""The images and labels of Fashion-MNIST, MNIST, CIFAR-10, and of small digits."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Interval
from numpy.typing import DTypeLike

from wfmlib.datasets import formats, sources, store
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array

#: Names of the classes of Fashion-MNIST, in the order of its labels.
FASHION_MNIST_CLASSES = (
    "t-shirt/top",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)

#: Names of the classes of CIFAR-10, in the order of its labels.
CIFAR10_CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)

SPLITS = {"train": "train", "test": "t10k"}  # as the files are called


@arguments.checked
def fashion_mnist(
    split: str,
    classes: Sequence[str | int] | None = None,
    *,
    dtype: DTypeLike = np.uint8,
) -> tuple[Array, Array]:
    """Return the images and labels of Fashion-MNIST.

    Xiao, Rasul and Vollgraf, arXiv:1708.07747. MIT licence, (c) 2017 Zalando SE.

    Parameters
    ----------
    split : str
        ``"train"`` (60000 images) or ``"test"`` (10000).
    classes : sequence of str or int, optional
        Keep these classes only: names of `FASHION_MNIST_CLASSES`, in upper or lower case, or
        numbers from 0 to 9. The order of the images, and the labels, stay those of the file.
    dtype : numpy.dtype, optional
        Of the images. All to train with take 47 MB in uint8, which wraps beyond 255;
        8 times as much in int64 or float64.

    Returns
    -------
    images : numpy.ndarray
        Shape (P, 28, 28), of type `dtype`: rows and columns; 0 is the background.
    labels : numpy.ndarray
        Shape (P,), int64, from 0 to 9.

    Raises
    ------
    TypeError, ValueError
        If `split` or `classes` is none of those; a ValueError, too, if a file is not the official
        one.
    FileNotFoundError
        If a file is not here and cannot be downloaded; the message says where to put it.

    Examples
    --------
    >>> fashion_mnist("validation")
    Traceback (most recent call last):
        ...
    ValueError: split must be one of 'train', 'test', got 'validation'
    """
    split = arguments.choice("split", split, tuple(SPLITS))
    chosen = None if classes is None else _numbers(classes)
    kind = arguments.dtype(dtype, np.uint8)
    images, labels = _idx("fashion_mnist", split)
    if chosen is not None:
        kept = np.isin(labels, chosen)
        images, labels = images[kept], labels[kept]
    return images.astype(kind, copy=False), labels


@arguments.checked
def mnist(split: str, *, dtype: DTypeLike = np.uint8) -> tuple[Array, Array]:
    """Return the images and labels of MNIST.

    LeCun, Bottou, Bengio and Haffner, Proc. IEEE 86, 2278 (1998). The page on which it was
    published has been withdrawn: the original files come from a mirror.

    Parameters
    ----------
    split : str
        ``"train"`` (60000 images) or ``"test"`` (10000).
    dtype : numpy.dtype, optional
        Of the images. Those to train with take 47 MB in uint8, which wraps beyond 255;
        8 times as much in int64 or float64.

    Returns
    -------
    images : numpy.ndarray
        Shape (P, 28, 28), of type `dtype`: rows and columns; 0 is the background.
    labels : numpy.ndarray
        Shape (P,), int64: the digits.

    Raises
    ------
    ValueError
        If `split` is neither of the two, or `dtype` does not hold uint8.
    ValueError, FileNotFoundError
        For a file, as for `fashion_mnist`.

    Examples
    --------
    >>> mnist("validation")
    Traceback (most recent call last):
        ...
    ValueError: split must be one of 'train', 'test', got 'validation'
    """
    split, kind = arguments.choice("split", split, tuple(SPLITS)), arguments.dtype(dtype, np.uint8)
    images, labels = _idx("mnist", split)
    return images.astype(kind, copy=False), labels


@arguments.checked
def digits(*, dtype: DTypeLike = np.uint8) -> tuple[Array, Array]:
    """Return handwritten digits of 8 x 8 pixels, which are part of the package.

    Alpaydin and Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning
    Repository (1998), doi:10.24432/C50P49, CC BY 4.0: the official test set, from 13 writers.

    Parameters
    ----------
    dtype : numpy.dtype, optional
        Of the images; uint8 wraps beyond 255.

    Returns
    -------
    images : numpy.ndarray
        Shape (1797, 8, 8), of type `dtype`: rows and columns; ink, from 0 to 16.
    labels : numpy.ndarray
        Shape (1797,), int64: the digits.

    Raises
    ------
    ValueError
        If `dtype` does not hold uint8.

    Examples
    --------
    >>> images, labels = digits()
    >>> images.shape, images.max(), labels[:5]
    ((1797, 8, 8), np.uint8(16), array([0, 1, 2, 3, 4]))
    """
    kind = arguments.dtype(dtype, np.uint8)
    rows = np.loadtxt(Path(__file__).with_name("optdigits.tes.gz"), np.uint8, delimiter=",")
    images = rows[:, :-1].reshape(-1, 8, 8)
    return images.astype(kind), rows[:, -1].astype(np.int64)


@arguments.checked
def cifar10(
    batch: Annotated[int, Interval(ge=1, le=5)] | str, *, dtype: DTypeLike = np.uint8
) -> tuple[Array, Array]:
    """Return the images and labels of one batch of CIFAR-10.

    Krizhevsky, *Learning Multiple Layers of Features from Tiny Images*, technical report (2009).
    The official address has all batches in one archive of 170 MB: the first call downloads it, and
    each call reads its batch there. Batches 3 to 5 and the test batch have no SHA-256 of their own
    here: that of the archive covers them; of those that somebody put into the folder that
    ``WFMLIB_DATA`` names only the format is checked.

    Parameters
    ----------
    batch : int or str
        A training batch, from 1 to 5, or ``"test"``; 10000 images each.
    dtype : numpy.dtype, optional
        Of the images. A batch takes 31 MB in uint8, which wraps beyond 255;
        8 times as much in int64 or float64.

    Returns
    -------
    images : numpy.ndarray
        Shape (10000, 32, 32, 3), of type `dtype`: rows, columns and red, green, blue.
    labels : numpy.ndarray
        Shape (10000,), int64, from 0 to 9: the places in `CIFAR10_CLASSES`.

    Raises
    ------
    TypeError, ValueError
        If `batch` is none of those, or `dtype` does not hold uint8.
    ValueError, FileNotFoundError
        For a file, as for `fashion_mnist`.

    Examples
    --------
    >>> cifar10(6)
    Traceback (most recent call last):
        ...
    ValueError: batch must be from 1 to 5, got 6
    """
    if isinstance(batch, str):
        if batch != "test":
            raise ValueError(f"batch must be an integer from 1 to 5, or 'test', got {batch!r}")
        name = "test_batch.bin"
    else:
        name = f"data_batch_{batch}.bin"
    kind = arguments.dtype(dtype, np.uint8)
    images, labels = formats.cifar(store.read(f"{sources.FOLDERS['cifar10']}/{name}"))
    return images.astype(kind, copy=False), labels.astype(np.int64)


def _idx(name, split):
    """Return images and labels from a pair of IDX files."""
    begin = f"{sources.FOLDERS[name]}/{SPLITS[split]}"
    images = formats.idx(store.read(f"{begin}-images-idx3-ubyte.gz"), 3)
    labels = formats.idx(store.read(f"{begin}-labels-idx1-ubyte.gz"), 1)
    return images, labels.astype(np.int64)


def _numbers(classes):
    """Return classes, given by name or by number, as numbers."""
    if isinstance(classes, (str, Integral)) or not hasattr(classes, "__iter__"):
        raise TypeError(
            f"classes must be a sequence of names or numbers, such as ['dress', 'coat'], "
            f"got {classes!r}"
        )
    chosen = []
    for name in classes:
        if isinstance(name, str):
            if name.lower() not in FASHION_MNIST_CLASSES:
                raise ValueError(
                    f"classes must hold names of {', '.join(FASHION_MNIST_CLASSES)}, or numbers, "
                    f"got {name!r}"
                )
            name = FASHION_MNIST_CLASSES.index(name.lower())
        chosen.append(arguments.integer("classes", name, 0, len(FASHION_MNIST_CLASSES) - 1))
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"classes must be different ones, at least one, got {classes!r}")
    return chosen
