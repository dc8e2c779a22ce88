"""Numerics that all other parts stand on: they import nothing from the rest of the package.

`gaussian` holds averages over normal fields and the functions of the normal tail, `solvers` the
roots and fixed points that say when they fail, `portable` the arithmetic that is the same bit for
bit on every processor, `comparisons` the statistics of paired samples. The modules whose names
begin with an underscore serve the package alone: arguments, threads and numba's cache.
"""
