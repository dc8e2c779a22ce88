"""Message passing: belief propagation, focusing, and its approximation at large N.

To read in this order: `channel`, what one node of a pattern answers; `binary_messages` and
`spherical_messages`, one turn over all edges; `sweeps` and `belief_propagation`; `protocols` and
`focusing_bp`; `approximate`, on `packed_patterns`.
"""
