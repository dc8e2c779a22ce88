"""Networks of finite size: what they answer, where they err, how stably."""

from wfmlib.networks.perceptron import Perceptron

__all__ = ["Perceptron"]
