"""The saddle points, each written once for all weights, machines and constraints.

To read in this order: `replica_symmetric`; `broken_symmetry`, with the walk along it
(`one_step_search`) and its end (`one_step_capacity`); `real_replicas`, and `broken_replicas` where
their groups form clusters; `constrained`, solutions at a distance from a reference, and
`constrained_groups` of them.
"""
