"""Message passing: belief propagation, focusing, and its approximation at large N.

To read in this order: `channel`, what one node of a pattern answers; `binary_messages` and
`spherical_messages`, one turn over all edges; `factor_graph` and `belief_propagation`;
`focusing_protocols` and `focusing_bp`; `approximate`, on `packed_patterns`.
"""
