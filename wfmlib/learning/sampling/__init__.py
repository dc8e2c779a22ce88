"""Sampling: solutions drawn from a given law, not whichever an algorithm meets.

`tilted_means` is what the samplers of large systems lean on: message passing with a field on each
weight, for any log-concave constraint. `stochastic_localization` draws by stochastic localisation,
which follows these means; `potential_annealing` by a Markov chain whose potential is narrowed
slowly.
"""
