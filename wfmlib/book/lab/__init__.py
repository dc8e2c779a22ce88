"""The figures that compute in the page: a calculator of typical solutions, and one instance.

Nothing else imports this package. `figures` writes the markup, `scripts` act on it in the browser,
and `build` compiles `kernels`, which repeat what `theory` and `learning` do for a fixed few
questions, in plain numbers and arrays; `tests/lab` holds them to it.
"""

from wfmlib.book.lab.figures import calculator, instance

__all__ = ["calculator", "instance"]
