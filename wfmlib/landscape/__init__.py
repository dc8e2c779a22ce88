"""What surrounds a solution."""

from wfmlib.landscape.local_entropy import local_entropy

__all__ = ["local_entropy"]
