"""Algorithms that find solutions."""

from wfmlib.learning.enumeration import Enumeration, enumerate_solutions

__all__ = ["Enumeration", "enumerate_solutions"]
