"""How anything long is run: resumable, in parallel, and kept in an archive that knows its code.

To read in this order: `experiment` declares what is swept and measured; `runner` computes samples
and `samples` keeps them; `archive` writes what is there, with `seals` and the `digest` of the
code; `verification` computes samples of an archive anew.
"""
