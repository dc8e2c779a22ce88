"""Simulated annealing of binary weights, of one network or of replicas that attract each other.

`state` holds the fields that a flip changes, `moves` the kernels; `simulated` and `replicated`
run them.
"""
