"""All solutions of a small instance, without any sampling.

`enumeration` walks through the weights bit by bit; `enumerate_machines` does it for machines of
several units, `all_fields` returns every field, and `replica_counts` counts groups of solutions.
"""
