"""The official files: where they come from, how large they are, and their SHA-256.

Fashion-MNIST comes from the address that its authors give. The page on which MNIST was published
has been withdrawn; its four files come from the mirror that PyTorch keeps, and are the original
ones, byte for byte, by their digests. CIFAR-10 comes from its authors' page, as one archive of the
binary version.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from wfmlib.datasets import cifar, idx


@dataclass(frozen=True)
class File:
    """One official file.

    Attributes
    ----------
    folder : str
        The folder it lies in, below that of the data and below the cache.
    name : str
        Its official name.
    size : int
        Bytes.
    sha256 : str or None
        Its digest; None for a member of an archive of which only the archive's is known.
    url : str
        Where it is downloaded from; for a member of an archive, empty.
    parse : function or None
        Takes its bytes and how messages call it, returns what it holds; None for an archive.
    """

    folder: str
    name: str
    size: int
    sha256: str | None
    url: str = ""
    parse: Callable | None = None

    @property
    def label(self):
        """The file's place in the folder of the data, which names it in messages."""
        return f"{self.folder}/{self.name}"


@dataclass(frozen=True)
class Source:
    """One data set.

    Attributes
    ----------
    name : str
        That of the function that reads it.
    title, citation, licence : str
        For people.
    files : tuple of File
        What it consists of.
    archive : File or None
        What the files are unpacked from, where they are not downloaded one by one.
    """

    name: str
    title: str
    citation: str
    licence: str
    files: tuple
    archive: File | None = None

    def file(self, name):
        """Return the file of this name."""
        return next(one for one in self.files if one.name == name)


def _idx_files(folder, address, table):
    """Return the four files of a data set in the format of MNIST."""
    return tuple(
        File(
            folder,
            f"{name}-ubyte.gz",
            size,
            sha256,
            f"{address}{name}-ubyte.gz",
            partial(idx.parse, ndim=3 if "images" in name else 1),
        )
        for name, size, sha256 in table
    )


FASHION_MNIST = Source(
    "fashion_mnist",
    "Fashion-MNIST",
    "Xiao, Rasul and Vollgraf, arXiv:1708.07747 (2017)",
    "MIT, (c) 2017 Zalando SE",
    _idx_files(
        "fashion-mnist",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        (
            (
                "train-images-idx3",
                26421880,
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            ),
            (
                "train-labels-idx1",
                29515,
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            ),
            (
                "t10k-images-idx3",
                4422102,
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            ),
            (
                "t10k-labels-idx1",
                5148,
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
        ),
    ),
)

MNIST = Source(
    "mnist",
    "MNIST",
    "LeCun, Bottou, Bengio and Haffner, Proc. IEEE 86, 2278 (1998)",
    "commonly stated as CC BY-SA 3.0",
    _idx_files(
        "mnist",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        (
            (
                "train-images-idx3",
                9912422,
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            (
                "train-labels-idx1",
                28881,
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            (
                "t10k-images-idx3",
                1648877,
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            (
                "t10k-labels-idx1",
                4542,
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ),
    ),
)

_CIFAR = "cifar-10-batches-bin"


def _batch(name, sha256=None):
    """Return one batch of CIFAR-10: 10000 records."""
    return File(_CIFAR, f"{name}.bin", 10000 * cifar.RECORD, sha256, parse=cifar.parse)


CIFAR10 = Source(
    "cifar10",
    "CIFAR-10",
    "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, report (2009)",
    "undeclared; its author asks to be cited",
    (
        _batch("data_batch_1", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
        _batch("data_batch_2", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
        _batch("data_batch_3"),
        _batch("data_batch_4"),
        _batch("data_batch_5"),
        _batch("test_batch"),
    ),
    File(
        _CIFAR,
        "cifar-10-binary.tar.gz",
        170052171,
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    ),
)

SOURCES = {one.name: one for one in (FASHION_MNIST, MNIST, CIFAR10)}


def get(name):
    """Return the data set of this name; hyphens may stand for underscores, or for nothing.

    Raises
    ------
    ValueError
        If there is none.
    """
    given = name.lower().replace("-", "_")
    for one in (given, given.replace("_", "")):
        if one in SOURCES:
            return SOURCES[one]
    close = difflib.get_close_matches(given, SOURCES, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ValueError(f"name must be that of a data set ({', '.join(SOURCES)}), got {name!r}{hint}")
