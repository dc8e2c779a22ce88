"""One instance of the binary perceptron as kernels of plain arrays: what a page of the book runs.

`drawn` makes the instance, bit for bit that of `wfmlib.patterns.random`; `counted` enumerates it;
`passed` sends messages, freely, focused or around a reference; `clipped` corrects hidden integers.
`tools.wasm` compiles them. Patterns are int8, shape (P, N), and multiplied by their labels.
"""
