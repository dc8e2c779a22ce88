"""The landscape around a solution: local entropy, curvature, robustness, barriers."""

from wfmlib.landscape.geodesics import barrier, blend, geodesic
from wfmlib.landscape.hessian import hessian, hessian_product, hessian_spectrum, max_eigenvalue
from wfmlib.landscape.local_entropy import excess_at, local_entropy
from wfmlib.landscape.noise_robustness import error_profile, noise_robustness
from wfmlib.landscape.overlap import match_layers, match_units, overlap
from wfmlib.landscape.simplex import simplex
from wfmlib.landscape.smoothing import gradient, smallest_beta, smoothed_loss

__all__ = [
    "barrier",
    "blend",
    "error_profile",
    "excess_at",
    "geodesic",
    "gradient",
    "hessian",
    "hessian_product",
    "hessian_spectrum",
    "local_entropy",
    "match_layers",
    "match_units",
    "max_eigenvalue",
    "noise_robustness",
    "overlap",
    "simplex",
    "smallest_beta",
    "smoothed_loss",
]


def __dir__():
    return __all__
