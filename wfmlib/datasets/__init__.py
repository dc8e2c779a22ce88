"""Image data: Fashion-MNIST, MNIST and CIFAR-10, from the official files, and small digits.

The digits are part of the package. A file of the others is looked for in the folder that the
environment's ``WFMLIB_DATA`` names, then in the user's cache; if it is in neither it is downloaded
from the official address, as by ``wfm data get``. Its SHA-256 is compared in any case.
"""

from wfmlib.datasets.binarise import binarise, draw, dress_coat, shuffle_pixels
from wfmlib.datasets.images import (
    CIFAR10_CLASSES,
    FASHION_MNIST_CLASSES,
    cifar10,
    digits,
    fashion_mnist,
    mnist,
)

__all__ = [
    "CIFAR10_CLASSES",
    "FASHION_MNIST_CLASSES",
    "binarise",
    "cifar10",
    "digits",
    "draw",
    "dress_coat",
    "fashion_mnist",
    "mnist",
    "shuffle_pixels",
]


def __dir__():
    return __all__
