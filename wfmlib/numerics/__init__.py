"""Numerics that all other parts stand on: they import nothing from the rest of the package.

`gaussian` holds averages over normal fields and the functions of the normal tail, `solvers` the
roots and fixed points that say when they fail, `portable` the arithmetic that is the same bit for
bit on every processor, `comparisons` the statistics of paired samples. The others serve the
package alone: `arguments` checks what public functions are given, `progress` shows a bar.
"""
