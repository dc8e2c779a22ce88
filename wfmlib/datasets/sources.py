"""The official files: the folders they lie in, their SHA-256, and where they come from.

Fashion-MNIST comes from the address that its authors give. The page on which MNIST was published
has been withdrawn; its four files come from the mirror that PyTorch keeps, and are the original
ones, byte for byte, by their digests. CIFAR-10 comes from its authors' page, as one archive of the
binary version.
"""

from __future__ import annotations

#: The folder of each data set, in the cache and in the folder that ``WFMLIB_DATA`` names.
FOLDERS = {
    "fashion_mnist": "fashion-mnist",
    "mnist": "mnist",
    "cifar10": "cifar-10-batches-bin",
}

#: The address that each folder's files come from.
ADDRESSES = {
    "fashion-mnist": "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "cifar-10-batches-bin": "https://www.cs.toronto.edu/~kriz/",
}

#: The SHA-256 of each file that is downloaded.
REGISTRY = {
    "fashion-mnist/train-images-idx3-ubyte.gz": (
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
    ),
    "fashion-mnist/train-labels-idx1-ubyte.gz": (
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
    ),
    "fashion-mnist/t10k-images-idx3-ubyte.gz": (
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
    ),
    "fashion-mnist/t10k-labels-idx1-ubyte.gz": (
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
    ),
    "mnist/train-images-idx3-ubyte.gz": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    "mnist/train-labels-idx1-ubyte.gz": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    "mnist/t10k-images-idx3-ubyte.gz": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
    ),
    "cifar-10-batches-bin/cifar-10-binary.tar.gz": (
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    ),
}

#: The archive holds these six. Two have a published SHA-256 of their own.
ARCHIVE = "cifar-10-batches-bin/cifar-10-binary.tar.gz"
BATCHES = {
    "cifar-10-batches-bin/data_batch_1.bin": (
        "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"
    ),
    "cifar-10-batches-bin/data_batch_2.bin": (
        "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"
    ),
    "cifar-10-batches-bin/data_batch_3.bin": None,
    "cifar-10-batches-bin/data_batch_4.bin": None,
    "cifar-10-batches-bin/data_batch_5.bin": None,
    "cifar-10-batches-bin/test_batch.bin": None,
}
