"""The package under attack: calls drawn over the documented ranges, to their edges.

A target is one question to the package. It draws arguments that the docstring allows, and knows
what must hold of any answer without knowing the answer: bounds, order, residuals, agreement with
another way to ask. What may come of a call is an answer that passes, `NotConverged`, or a refusal
that names an argument. All else is a defect: another exception, a warning, a wrong answer, an
argument that the call has changed, too much time or memory.

In the order to read: `values` (what is drawn), `target` (how a call is judged), `theory`,
`thresholds`, `finite_size`, `counted` and `curved` (the targets), `ways` (the same asked with
other types, threads and processes), `junk` (what must be refused), `run` (`python -m
tests.attack`).
"""
