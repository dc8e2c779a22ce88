"""Algorithms that move the weights pattern by pattern: least action, and gradients.

`least_action` and `entropic_least_action` share `mini_batches`; `cross_entropy_sgd` descends with
`soft_committee` along `schedules`; `binary_sgd` trains networks of binary weights, and
`clipped_rule` and `clipped_replicas` move hidden numbers behind them.
"""
