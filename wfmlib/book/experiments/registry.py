"""Which experiments there are, and where each is defined."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

#: Name of each experiment, and the module that defines it: one line each.
MODULES = {
    "annealing-losses": "wfmlib.book.experiments.annealing_losses",
    "band-reach": "wfmlib.book.experiments.band_reach",
    "binary-networks": "wfmlib.book.experiments.binary_networks",
    "bp-entropy": "wfmlib.book.experiments.bp_entropy",
    "cluster-large": "wfmlib.book.experiments.cluster_large",
    "cluster-reach": "wfmlib.book.experiments.cluster_reach",
    "cluster-scale": "wfmlib.book.experiments.cluster_scale",
    "committee-reach": "wfmlib.book.experiments.committee_reach",
    "elal-replicas": "wfmlib.book.experiments.elal_replicas",
    "fbp-committee": "wfmlib.book.experiments.fbp_committee",
    "fbp-local-entropy": "wfmlib.book.experiments.fbp_local_entropy",
    "fbp-perceptron": "wfmlib.book.experiments.fbp_perceptron",
    "fbp-perceptron-success": "wfmlib.book.experiments.fbp_perceptron_success",
    "fbp-reach": "wfmlib.book.experiments.fbp_reach",
    "fbp-solve": "wfmlib.book.experiments.fbp_solve",
    "fbp-sweeps": "wfmlib.book.experiments.fbp_sweeps",
    "full-capacities": "wfmlib.book.experiments.full_capacities",
    "full-margins": "wfmlib.book.experiments.full_margins",
    "image-focusing": "wfmlib.book.experiments.image_focusing",
    "image-minima": "wfmlib.book.experiments.image_minima",
    "image-paths": "wfmlib.book.experiments.image_paths",
    "image-training-sets": "wfmlib.book.experiments.image_training_sets",
    "image-volume": "wfmlib.book.experiments.image_volume",
    "replicated-annealing": "wfmlib.book.experiments.replicated_annealing",
    "replicated-annealing-connected": "wfmlib.book.experiments.replicated_annealing_connected",
    "sampling": "wfmlib.book.experiments.sampling",
    "single-flips": "wfmlib.book.experiments.single_flips",
    "slow-growth": "wfmlib.book.experiments.slow_growth",
    "tree-minima": "wfmlib.book.experiments.tree_minima",
}


def names() -> tuple[str, ...]:
    """Return the names of all experiments, sorted.

    Returns
    -------
    tuple of str
    """
    return tuple(sorted(MODULES))


def get(name: str) -> Any:
    """Return the experiment of this name.

    Raises
    ------
    TypeError
        If `name` is not a string.
    ValueError
        If there is none; the message names those with a similar name.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if name not in MODULES:
        close = difflib.get_close_matches(name, MODULES, n=3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise ValueError(
            f"name must be that of an experiment ({', '.join(names()) or 'there is none'}), "
            f"got {name!r}{hint}"
        )
    experiment = importlib.import_module(MODULES[name]).EXPERIMENT
    if experiment.name != name:
        raise ValueError(f"{MODULES[name]} defines {experiment.name!r}, but is listed as {name!r}")
    return experiment
