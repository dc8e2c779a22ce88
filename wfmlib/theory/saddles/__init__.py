"""The saddle points, each written once for all weights, machines and constraints.

For each question one file reads like the appendix of a paper, with its plain NumPy twin:
`replica_symmetric` (typical solutions, capacity, largest margin), `broken_symmetry` (groups of
solutions) and its end `one_step_capacity`, `mutual_overlap` (real replicas) and `broken_replicas`
(clusters of their groups), `constrained` (Franz-Parisi) and `constrained_groups`. The searches
are next door: `one_step_search`, `real_replicas`; nodes are in `field_nodes`.
"""
