"""Kernels that pages call, compiled by `wfmlib.book.lab.build`: plain numbers and arrays.

`typical` answers the calculator, with what `sampled` keeps of an activation. One instance of the
binary perceptron is drawn by `drawn`, bit for bit that of `wfmlib.patterns.random`, enumerated by
`counted`, solved by messages (`passed`) and by the clipped rule (`clipped`). `zeros` finds zeros,
and `pcg64` draws what NumPy's default generator draws. Patterns are int8, shape (P, N), and
multiplied by their labels.
"""
