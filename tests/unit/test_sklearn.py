"""Estimators: scikit-learn's own checks, what the encoder cuts, pipelines and searches."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from wfmlib import Perceptron, learning, patterns
from wfmlib.sklearn import (
    AnnealingClassifier,
    FocusingClassifier,
    LeastActionClassifier,
    SignEncoder,
)

CLASSIFIERS = pytest.mark.parametrize(
    "classifier",
    [
        FocusingClassifier(random_state=1),
        LeastActionClassifier(random_state=1),
        AnnealingClassifier(random_state=1),
    ],
    ids=lambda one: type(one).__name__,
)


def table(rows=slice(None)):
    X, y = load_breast_cancer(return_X_y=True)
    return X[rows], y[rows]


@pytest.mark.filterwarnings("ignore")  # scikit-learn's own, of what it leaves out
@pytest.mark.parametrize(
    "estimator",
    [
        SignEncoder(),
        SignEncoder(3),
        FocusingClassifier(),
        LeastActionClassifier(units=3),
        AnnealingClassifier(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_scikit_learn_finds_nothing_amiss(estimator):
    check_estimator(estimator)


def test_signs_pass_as_they_are():
    xi, _ = patterns.random(6, 11, rng=1)
    xi[:, 3] = 1  # constant, too
    for cuts in (1, 4):
        assert np.array_equal(SignEncoder(cuts).fit_transform(xi), xi)


def test_cuts_are_quantiles_that_tell_rows_apart():
    X = np.column_stack([np.arange(9.0), [0] * 7 + [4, 5], [2] * 8 + [1], [7] * 9])
    encoder = SignEncoder(3).fit(X)
    assert [cuts.tolist() for cuts in encoder.cuts_] == [[2, 4, 6], [0], [1], [7]]
    signs = encoder.transform(X)
    assert (signs > 0).sum(axis=0).tolist() == [6, 4, 2, 2, 8, 0]
    assert encoder.get_feature_names_out()[2:4].tolist() == ["x0 > 6.0", "x1 > 0.0"]
    thermometer = signs[:, :3].astype(int)
    assert np.all(np.diff(thermometer, axis=1) <= 0)
    with pytest.raises(ValueError, match="cuts"):
        SignEncoder(0).fit(X)


@CLASSIFIERS
def test_a_classifier_is_the_algorithm_on_the_encoded_table(classifier):
    """Its answers are the network's, and the network's errors are its own."""
    X, y = table(slice(0, 200))
    model = clone(classifier).fit(X, y)
    xi = model._inputs(X)
    assert xi.shape[1] % 2 == 1
    sigma = 2 * y - 1
    assert np.array_equal(model.solution_.network.output(xi), 2 * model.predict(X) - 1)
    assert model.solution_.errors == round(200 * (1 - model.score(X, y)))
    seed = np.random.RandomState(1).randint(2**31 - 1)
    algorithm, options = {
        "FocusingClassifier": (
            learning.focusing_bp,
            {"damping": 0.9, "max_sweeps": 100, "stop_at_solution": True},
        ),
        "LeastActionClassifier": (learning.least_action, {"max_epochs": 300}),
        "AnnealingClassifier": (learning.simulated_annealing, {}),
    }[type(classifier).__name__]
    device = Perceptron(classifier._weights)
    alone = algorithm(device, xi, sigma, **options, rng=seed)
    assert np.array_equal(alone.weights, model.solution_.weights)


@CLASSIFIERS
def test_what_was_learned_holds_on_other_rows(classifier):
    """Far better than the larger class, which is 63 %, and as far as three other halves say."""
    X, y = table()
    scores = cross_val_score(classifier, X, y, cv=3)
    assert scores.min() > 0.85


def test_names_of_classes_are_any():
    X, y = table(slice(0, 200))
    names = np.where(y == 1, "benign", "malignant")
    model = LeastActionClassifier(random_state=1).fit(X, names)
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert np.mean(model.predict(X) == names) > 0.95
    assert np.all((model.decision_function(X) > 0) == (model.predict(X) == "malignant"))


def test_more_than_two_classes_are_refused_and_pairs_of_them_are_not():
    X, y = load_digits(return_X_y=True, n_class=4)
    with pytest.raises(ValueError, match="OneVsOneClassifier"):
        LeastActionClassifier().fit(X, y)
    pairs = OneVsOneClassifier(LeastActionClassifier(1, random_state=1)).fit(X[::2], y[::2])
    assert pairs.score(X[1::2], y[1::2]) > 0.95


def test_it_stands_in_pipelines_and_searches():
    X, y = table(slice(0, 200))
    pipe = make_pipeline(SignEncoder(3), LeastActionClassifier(random_state=1))
    alone = LeastActionClassifier(3, random_state=1).fit(X, y)
    assert np.array_equal(pipe.fit(X, y).predict(X), alone.predict(X))
    search = GridSearchCV(pipe, {"signencoder__cuts": [1, 5]}, cv=2).fit(X, y)
    assert search.best_params_["signencoder__cuts"] in (1, 5)
    assert search.best_score_ > 0.85


def test_without_scikit_learn_the_message_names_the_cure():
    code = "import sys; sys.modules['sklearn'] = None; import wfmlib.sklearn"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "pip install wfmlib[sklearn]" in done.stderr.splitlines()[-1]
