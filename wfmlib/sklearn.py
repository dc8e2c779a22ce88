"""Algorithms that find solutions as classifiers of scikit-learn: ``pip install wfmlib[sklearn]``.

Networks of signs read tables of numbers through `SignEncoder`, which cuts each column at quantiles
of what it was fitted on. Every classifier has one of its own, and constant inputs, one or two,
that make the number of inputs odd: no sum of signs is zero. What a classifier learned is a
`Solution` of `wfmlib.learning` in its attribute ``solution_``: devices, networks and landscape
measures take it.

Replica theory and message passing assume random patterns. A table has none: focusing is damped
more here than on random patterns, and may end with weights that are wrong on many of its rows.
``solution_.errors`` says on how many.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wfmlib.learning import NoSolution, focusing_bp, least_action, simulated_annealing
from wfmlib.models import Binary, Committee, Perceptron, Spherical
from wfmlib.numerics import arguments
from wfmlib.numerics.types import Array

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as missing:
    raise ImportError(
        "wfmlib.sklearn needs scikit-learn 1.6 or newer: pip install wfmlib[sklearn]"
    ) from missing

__all__ = ["AnnealingClassifier", "FocusingClassifier", "LeastActionClassifier", "SignEncoder"]


def __dir__():
    return __all__


class SignEncoder(TransformerMixin, BaseEstimator):
    """Turn columns of numbers into columns of signs: +1 above a cut, -1 below or at it.

    The cuts of a column are quantiles of what it was fitted on: one is the median; several make a
    thermometer, one column of signs for each. Quantiles that are equal make one cut. One at the
    column's largest value moves to the second largest: it would tell no two rows apart. A column
    of -1 and +1 is cut at 0 alone: signs pass as they are.

    Parameters
    ----------
    cuts : int, optional
        How many quantiles, at least 1: with three the quartiles.

    Attributes
    ----------
    cuts_ : list of numpy.ndarray
        The cuts of each column, increasing.
    n_features_in_ : int
        Number of columns of what it was fitted on.

    Examples
    --------
    >>> SignEncoder(cuts=3).fit_transform([[1.0, -1], [2.0, 1], [3.0, 1], [4.0, 1], [5.0, -1]])
    array([[-1, -1, -1, -1],
           [-1, -1, -1,  1],
           [ 1, -1, -1,  1],
           [ 1,  1, -1,  1],
           [ 1,  1,  1, -1]])
    """

    def __init__(self, cuts=1):
        self.cuts = cuts

    def fit(self, X: Any, y: Any = None) -> SignEncoder:
        """Learn the cuts from the rows of X; `y` is not looked at."""
        X = validate_data(self, X, dtype=np.float64)
        number = arguments.integer("cuts", self.cuts, 1)
        shares = np.arange(1, number + 1) / (number + 1)
        self.cuts_ = [_cuts(column, shares) for column in X.T]
        return self

    def transform(self, X: Any) -> Array:
        """Return the signs of the rows of X, int64, shape (rows, number of all cuts)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        above = [column[:, None] > cuts for column, cuts in zip(X.T, self.cuts_, strict=True)]
        return np.where(np.hstack(above), 1, -1)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the name of each column of signs, such as ``"x0 > 0.5"``."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        names = input_features
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)] if known is None else known
        elif known is not None and not np.array_equal(names, known):
            raise ValueError("input_features is not equal to feature_names_in_")
        elif len(names) != self.n_features_in_:
            raise ValueError("input_features should have length equal to number of features")
        pairs = zip(names, self.cuts_, strict=True)
        return np.array([f"{name} > {cut}" for name, cuts in pairs for cut in cuts], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _cuts(column, shares):
    """Return the different cuts of a column at quantiles, each of which tells rows apart."""
    values = np.unique(column)
    if np.all(np.abs(values) == 1.0):
        return np.zeros(1)
    return np.unique(np.minimum(np.quantile(column, shares), values[-2:][0]))


class _Classifier(ClassifierMixin, BaseEstimator):
    """What the classifiers share; each names its algorithm, and the weights that this takes.

    Parameters that are not named here are those of the algorithm.
    """

    _weights: Any = Binary()

    def fit(self, X: Any, y: Any) -> Any:
        """Look for weights that answer each row of X with its class in y, of two."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"y must hold two classes, got {len(self.classes_)}. Only binary classification "
                "is supported. The type of the target is multiclass: wrap the classifier in "
                "sklearn.multiclass.OneVsOneClassifier"
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold two classes, got one class: {self.classes_[0]!r}")
        own = self.get_params(deep=False)
        self.encoder_ = SignEncoder(own.pop("cuts")).fit(X)
        units = arguments.integer("units", own.pop("units"), 1)
        weights = self._weights
        device = Perceptron(weights) if units == 1 else Committee(units, weights=weights)
        seed = check_random_state(own.pop("random_state")).randint(2**31 - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoSolution)  # a table need not have any
            self.solution_: Any = self._algorithm(
                device, self._inputs(X), 2 * labels - 1, **own, rng=seed
            )
        self.n_iter_ = self.solution_.epochs
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the stability of the second class for each row of X, positive where predicted.

        Of one unit its field over the norm of its weights; of a committee the sum of its votes
        over the root of their number.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.solution_.network.stabilities(self._inputs(X), np.ones(len(X), dtype=np.int8))

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X."""
        second = self.decision_function(X) > 0.0
        return self.classes_[second.astype(int)]

    def _inputs(self, X):
        """Return the signs of the rows, and constant ones that make their number odd."""
        signs = self.encoder_.transform(X)
        return np.pad(signs, ((0, 0), (0, 1 + signs.shape[1] % 2)), constant_values=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class FocusingClassifier(_Classifier):
    """Binary weights of a wide flat region, by `wfmlib.learning.focusing_bp`.

    Parameters
    ----------
    cuts : int, optional
        Of the `SignEncoder` through which the columns are read.
    units : int, optional
        Hidden units, an odd number: 1 is a perceptron, more a committee that sees all inputs.
    replicas, protocol, damping, max_sweeps, stop_at_solution
        As for `wfmlib.learning.focusing_bp`.
    random_state : None, int or numpy.random.RandomState, optional
        For the first messages and the orders; the generator of NumPy's functions where None.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The two classes, sorted.
    encoder_ : SignEncoder
        How the columns are read.
    solution_ : FocusingBP
        The weights, their `errors` on the rows of the fit, and the record of the algorithm.
    n_iter_ : int
        How often it went through all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FocusingClassifier(random_state=1).fit(X[::2], y[::2])
    >>> model.solution_.errors, model.score(X[1::2], y[1::2]) > 0.9
    (0, True)
    """

    _algorithm = staticmethod(focusing_bp)

    def __init__(
        self,
        cuts=5,
        units=1,
        *,
        replicas=10,
        protocol="papers",
        damping=0.9,
        max_sweeps=100,
        stop_at_solution=True,
        random_state=None,
    ):
        self.cuts, self.units, self.random_state = cuts, units, random_state
        self.replicas, self.protocol, self.damping = replicas, protocol, damping
        self.max_sweeps, self.stop_at_solution = max_sweeps, stop_at_solution


class LeastActionClassifier(_Classifier):
    """Real weights by `wfmlib.learning.least_action`: the perceptron rule if there is one unit.

    Parameters
    ----------
    cuts, units, random_state
        As for `FocusingClassifier`.
    eta, batch, max_epochs
        As for `wfmlib.learning.least_action`.

    Attributes
    ----------
    classes_, encoder_, solution_, n_iter_
        As of `FocusingClassifier`; the solution is a `LeastAction`.

    Examples
    --------
    >>> from wfmlib import patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> float(LeastActionClassifier(random_state=1).fit(xi, sigma).score(xi, sigma))
    1.0
    """

    _algorithm, _weights = staticmethod(least_action), Spherical()

    def __init__(self, cuts=5, units=1, *, eta=5e-3, batch=100, max_epochs=300, random_state=None):
        self.cuts, self.units, self.random_state = cuts, units, random_state
        self.eta, self.batch, self.max_epochs = eta, batch, max_epochs


class AnnealingClassifier(_Classifier):
    """Binary weights by `wfmlib.learning.simulated_annealing`.

    Parameters
    ----------
    cuts, units, random_state
        As for `FocusingClassifier`.
    loss, gamma, sweeps
        As for `wfmlib.learning.simulated_annealing`.

    Attributes
    ----------
    classes_, encoder_, solution_, n_iter_
        As of `FocusingClassifier`; the solution is an `Annealing`.

    Examples
    --------
    >>> from wfmlib import patterns
    >>> xi, sigma = patterns.random(20, 101, rng=1)
    >>> float(AnnealingClassifier(random_state=1).fit(xi, sigma).score(xi, sigma))
    1.0
    """

    _algorithm = staticmethod(simulated_annealing)

    def __init__(
        self, cuts=5, units=1, *, loss="cross-entropy", gamma=1.0, sweeps=1000, random_state=None
    ):
        self.cuts, self.units, self.random_state = cuts, units, random_state
        self.loss, self.gamma, self.sweeps = loss, gamma, sweeps
