"""The doors of theory: which questions are answered for which devices, and all others refused."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import re
import sys

import numpy as np
import pytest

from tests.calls import CALLS
from wfmlib import landscape, learning, patterns, theory
from wfmlib.models import (
    Activation,
    Band,
    Binary,
    Committee,
    CrossEntropy,
    LogPotential,
    Margin,
    ParityMachine,
    Perceptron,
    ReLU,
    Sign,
    Spherical,
    TreeCommittee,
)
from wfmlib.theory import (
    axes,
    connectivity,
    franz_parisi,
    full_breaking,
    large_deviation,
    stabilities,
    typical,
)

# ------------------------------------------------------------------------------------------------
# What is asked
# ------------------------------------------------------------------------------------------------


def cosine(x):
    return np.cos(2.0 * x)


def tree(units, activation=Sign()):
    return functools.partial(TreeCommittee, units, activation)


TANH, COSINE, SQUARE = Activation(np.tanh), Activation(cosine), Activation(np.square)
DEVICES = {
    "perceptron": [Perceptron],
    "signs": [tree(np.inf)],
    "smooth": [tree(np.inf, ReLU()), tree(np.inf, TANH)],
    "flat": [tree(np.inf, COSINE), tree(np.inf, SQUARE)],
    "one": [tree(1)],
    "three": [tree(3)],
    "odd": [tree(5), tree(11)],
    "manyodd": [tree(13)],
    "parity": [functools.partial(ParityMachine, units) for units in (2, 6)],
    "none": [
        *(tree(2), tree(4), tree(3, ReLU()), tree(2, SQUARE)),
        *(functools.partial(Committee, 3, one) for one in (Sign(), TANH)),
        *(functools.partial(ParityMachine, units) for units in (1, 7)),
    ],
}
WEIGHTS = {"binary": Binary(), "spherical": Spherical()}
CONSTRAINTS = {
    "zero": Margin(0.0),
    "margin": Margin(0.3),
    "band": Band(1.0),
    "loss": CrossEntropy(1.0, 5.0),
    "potential": LogPotential(1.0),
    "": None,  # of questions that take none
}
ROLES = ("constraint", "reference", "first", "second")
ANSATZE = ("RS", "1RSB", "2RSB", "full", 3)


def questions():
    """Yield each question about a device: its name, and a function of device and constraint."""
    calls = dict(CALLS)
    for module in theory.__all__:
        home = getattr(theory, module)
        for name in home.__all__:
            function = getattr(home, name)
            names = inspect.signature(function).parameters if inspect.isfunction(function) else ()
            if "device" not in names:
                continue
            given = calls.get(function, {})
            given = {key: one for key, one in given.items() if key not in ("device", *ROLES)}
            if names.get("reference") and names["reference"].default is inspect.Parameter.empty:
                given["reference"] = Margin(0.0)
            roles = [role for role in ROLES if role in names] or [""]
            for role in roles:
                label = f"{module}.{name}" + (f" of {role}" if role != roles[0] else "")
                for ansatz in ANSATZE if "ansatz" in names else ("",):
                    more = {"ansatz": ansatz} if ansatz else {}
                    ask = functools.partial(_ask, function, given | more, role)
                    yield (f"{label} {ansatz}" if ansatz else label), ask, role


def _ask(function, given, role, device, constraint):
    return function(device, **(given | ({role: constraint} if role else {})))


# ------------------------------------------------------------------------------------------------
# What has a formula
# ------------------------------------------------------------------------------------------------

FIELD = "perceptron signs smooth"
BOTH, HARD, MARGINS = "binary spherical", "zero margin band", "zero margin"
#: Kinds of devices, weights, constraints; each question has one formula for all of a row.
BINARY_GROUPS = [(FIELD, "binary", HARD)]
BINARY = [(FIELD, "binary", MARGINS)]
SPHERE = [(FIELD, "spherical", MARGINS)]
EITHER = [(FIELD, BOTH, MARGINS)]
STUDENTS = [("perceptron", "binary", MARGINS)]
AROUND = [(FIELD, BOTH, MARGINS + " loss"), ("perceptron signs", BOTH, "potential")]
REPLICAS = [(FIELD, BOTH, HARD), ("three parity", BOTH, "zero")]
BELOW = [(FIELD, BOTH, HARD), ("three", "spherical", "zero")]
SYMMETRIC = [(FIELD, "binary", HARD), (FIELD + " flat", "spherical", MARGINS)]
BROKEN = [(FIELD + " flat", "spherical", MARGINS)]
PUSHED = [("perceptron signs", BOTH, "potential")]

OFFERED = {
    "clusters.breakup": BINARY_GROUPS,
    "clusters.curve": BINARY_GROUPS,
    "clusters.entropy": BINARY_GROUPS,
    "clusters.first_gap": BINARY_GROUPS,
    "clusters.first_nested_gap": BINARY_GROUPS,
    "clusters.last_load": BINARY_GROUPS,
    "clusters.nested_entropy": BINARY_GROUPS,
    "clusters.nested_threshold": BINARY_GROUPS,
    "clusters.overlap_gap": BINARY_GROUPS,
    "clusters.solve": BINARY_GROUPS,
    "clusters.threshold": BINARY_GROUPS,
    "connectivity.convex_margin": [("perceptron", "spherical", MARGINS)],
    "connectivity.error": SPHERE,
    "connectivity.error of first": SPHERE,
    "connectivity.error of second": SPHERE,
    "connectivity.overlap": SPHERE,
    "connectivity.overlap of second": SPHERE,
    "connectivity.star_margin": [("perceptron", "spherical", MARGINS)],
    "cross_entropy.instability_beta": BINARY,
    "cross_entropy.working_beta": BINARY,
    "cross_entropy.zero_entropy_beta": BINARY,
    "cross_entropy.zero_temperature": STUDENTS,
    "franz_parisi.curve": EITHER,
    "franz_parisi.curve of reference": AROUND,
    "franz_parisi.dense_threshold": BINARY,
    "franz_parisi.distance_of_maximum": EITHER,
    "franz_parisi.distance_of_maximum of reference": AROUND,
    "franz_parisi.gap": BINARY,
    "franz_parisi.gap of reference": [
        (FIELD, "binary", MARGINS + " loss"),
        ("perceptron signs", "binary", "potential"),
    ],
    "franz_parisi.gapless_threshold": BINARY,
    "franz_parisi.local_entropy": EITHER,
    "franz_parisi.local_entropy of reference": AROUND,
    "franz_parisi.margin_monotonic": BINARY,
    "franz_parisi.margin_no_gap": BINARY,
    "franz_parisi.solve": EITHER,
    "franz_parisi.solve of reference": AROUND,
    "franz_parisi_1rsb.search": EITHER,
    "franz_parisi_1rsb.search of reference": EITHER,
    "franz_parisi_1rsb.solve": EITHER,
    "franz_parisi_1rsb.solve of reference": EITHER,
    "full_breaking.at_load": SPHERE,
    "full_breaking.finite_capacity": [("one three odd", "spherical", MARGINS)],
    "full_breaking.gap_onset": [("perceptron", "spherical", MARGINS)],
    "full_breaking.solve": BROKEN,
    "large_deviation.around_reference": BINARY,
    "large_deviation.around_reference of reference": BINARY,
    "large_deviation.curve": REPLICAS,
    "large_deviation.dense_threshold": BINARY,
    "large_deviation.dense_threshold of reference": [],  # true or false
    "large_deviation.energetic_term": REPLICAS,
    "large_deviation.local_entropy": REPLICAS,
    "large_deviation.overlap_range": REPLICAS,
    "large_deviation.solve": REPLICAS,
    "large_deviation.zero_complexity_replicas": EITHER,
    "localization.curve": EITHER + PUSHED,
    "localization.threshold": EITHER + PUSHED,
    "margin_students.dense_threshold": STUDENTS,
    "margin_students.max_margin": STUDENTS,
    "margin_students.replica_threshold": STUDENTS,
    "margin_students.replicas": STUDENTS,
    "margin_students.solve": STUDENTS,
    "margin_students.surroundings": STUDENTS,
    "margin_students.surroundings of reference": STUDENTS,
    "stabilities.cumulative": EITHER,
    "stabilities.density": EITHER,
    "teacher_student.curve": BINARY,
    "teacher_student.curve of reference": BINARY,
    "teacher_student.dense_threshold": BINARY,
    "teacher_student.local_entropy": BINARY,
    "teacher_student.local_entropy of reference": BINARY,
    "teacher_student.max_margin": BINARY,
    "teacher_student.perfect_learning": BINARY,
    "teacher_student.solve": BINARY,
    "typical.capacity RS": [*SYMMETRIC, ("one three odd manyodd", "spherical", "zero")],
    "typical.capacity 1RSB": [*SYMMETRIC, ("one three odd parity", "spherical", "zero")],
    "typical.capacity 2RSB": [*BROKEN, ("three", "spherical", "zero")],
    "typical.capacity full": BROKEN,
    "typical.capacity 3": BROKEN,
    "typical.curve": BELOW,
    "typical.instability": BELOW,
    "typical.last_margin": EITHER,
    "typical.max_margin": EITHER,
    "typical.solve": [*BELOW, (FIELD, BOTH, "loss"), *PUSHED],
    "typical.solve_1rsb": EITHER,
}


def offered(name, role):
    """Return the combinations of a kind of device, weights and constraint that the table has."""
    rows = [[words.split() for words in row] for row in OFFERED[name]]
    if not role:  # of margins one stands for all
        rows = [[kinds, weights, [""]] for kinds, weights, _ in rows]
    return {one for row in rows for one in itertools.product(*row)}


# ------------------------------------------------------------------------------------------------
# The walk
# ------------------------------------------------------------------------------------------------


class Entered(BaseException):
    """The door is open: nothing is calculated behind it."""


@pytest.fixture
def doors_only(monkeypatch):
    for name in theory.__all__:
        getattr(theory, name)

    def checked(*given, check=axes.checked, **more):
        check(*given, **more)
        raise Entered

    for name, module in list(sys.modules.items()):
        in_theory = name.startswith("wfmlib.theory.") and module is not axes
        if in_theory and vars(module).get("checked") is axes.checked:
            monkeypatch.setattr(module, "checked", checked)


def entered(ask, role):
    """Return the combinations of kind, weights and constraint for which a door opens."""
    constraints = {one: CONSTRAINTS[one] for one in CONSTRAINTS if bool(one) == bool(role)}
    found, refused, unnamed = set(), set(), set()
    for (kind, makers), weights, word in itertools.product(DEVICES.items(), WEIGHTS, constraints):
        for make in makers:
            device, combination = make(weights=WEIGHTS[weights]), (kind, weights, word)
            try:
                ask(device, constraints[word])
            except Entered:
                found.add(combination)
            except (TypeError, ValueError) as refusal:
                refused.add(combination)
                unnamed |= set() if NAMED.match(str(refusal)) else {str(refusal)}
    assert not unnamed
    assert found.isdisjoint(refused)
    return found


NAMED = re.compile("|".join(["device", "LogPotential", *ROLES]))


@pytest.mark.usefixtures("doors_only")
def test_every_question_is_answered_for_what_the_table_says_alone():
    wrong = {}
    for name, ask, role in questions():
        if name == "franz_parisi.geometric_bound":  # weights alone matter: all devices
            continue
        difference = entered(ask, role) ^ offered(name, role)
        if difference:
            wrong[name] = sorted(difference)
    assert not wrong


def test_bands_are_counted_around_bands_alone():
    """Not around a margin, nor margins around a band."""
    device = Perceptron()
    for reference, constraint in itertools.permutations((Margin(0.0), Band(1.0))):
        with pytest.raises(TypeError, match="reference must be"):
            franz_parisi.solve(device, 0.5, 0.1, reference=reference, constraint=constraint)


# ------------------------------------------------------------------------------------------------
# Classes of one's own
# ------------------------------------------------------------------------------------------------


class Named(TreeCommittee):
    """Adds a word, and answers as its class does."""

    def described(self):
        return f"{self.units} units"


class Bent(Perceptron):
    activation = ReLU()


class Heavier(Spherical):
    entropy = 1.0


class Steeper(Sign):
    slope_at_one = 2.0


class Mixed(Perceptron):
    """Takes what it replaces from elsewhere."""


class Leaning(Activation):
    @property
    def scale(self):
        return 2.0


class Wider(Margin):
    def shortfall(self):
        return 0.25


class Elsewhere:
    def shape(self, N):
        return (2 * N,)


class Between(Elsewhere, Perceptron):
    pass


def test_a_class_of_ones_own_that_changes_nothing_has_the_formulas_of_its_class():
    assert typical.capacity(Named(3)) == typical.capacity(TreeCommittee(3))
    assert typical.capacity(Mixed()) == typical.capacity(Perceptron())


@pytest.mark.parametrize(
    ("name", "device", "constraint"),
    [
        ("device", Bent(), Margin(0.0)),
        ("device", Between(), Margin(0.0)),
        ("weights", Perceptron(Heavier()), Margin(0.0)),
        ("activation", TreeCommittee(np.inf, Steeper()), Margin(0.0)),
        ("activation", TreeCommittee(np.inf, Leaning(np.tanh)), Margin(0.0)),
        ("constraint", Perceptron(), Wider(0.0)),
    ],
)
def test_a_class_of_ones_own_that_replaces_anything_is_refused(name, device, constraint):
    for question in (typical.capacity, typical.instability, full_breaking.solve):
        with pytest.raises(TypeError, match=f"^{name} must be a .* as it stands"):
            question(device, constraint=constraint)


# ------------------------------------------------------------------------------------------------
# A few of the answers, by other means
# ------------------------------------------------------------------------------------------------


def test_answers_behind_the_doors_are_those_of_the_device():
    x, weight = np.polynomial.hermite_e.hermegauss(120)
    weight = weight / np.sum(weight)
    # E g'^2 / Var g, times 2: spherical weights, margin 0
    slope = weight @ (4.0 * np.sin(2.0 * x) ** 2)
    variance = weight @ cosine(x) ** 2 - (weight @ cosine(x)) ** 2
    even = TreeCommittee(np.inf, COSINE)
    assert typical.capacity(even) == pytest.approx(2.0 * slope / variance, rel=1e-9)
    # as many solutions as on average: each pattern's field lies in the band
    lies = math.erf(1.0 / math.sqrt(2.0))
    band = -math.log(2.0) / math.log(lies)
    for ansatz in ("RS", "1RSB"):
        found = typical.capacity(Perceptron(), constraint=Band(1.0), ansatz=ansatz)
        assert found == pytest.approx(band, rel=1e-12)
    # units that must all be right are perceptrons, each with N / K weights
    for units in (3, 5):
        all_right = Margin((units - 2) / math.sqrt(units) + 1e-9)
        found = full_breaking.finite_capacity(TreeCommittee(units), all_right)
        assert found.alpha == pytest.approx(2.0 / units, rel=1e-9)
    # one replica is a typical solution
    for device in (Perceptron(), TreeCommittee(np.inf, ReLU())):
        alone = large_deviation.solve(device, 0.3, 0.9, replicas=1.0)
        assert alone.entropy == pytest.approx(typical.solve(device, 0.3).entropy, abs=1e-9)
    # signs at random: two typical solutions of one margin
    sphere = Perceptron(Spherical())
    assert connectivity.overlap(sphere, 1.0) == typical.solve(sphere, 1.0).q
    density = stabilities.density(sphere, 1.0, [1e-9])[0]
    assert density == pytest.approx(typical.solve(sphere, 1.0).margin_density, rel=1e-6)


# ------------------------------------------------------------------------------------------------
# Near misses
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "wrong", "cure"),
    [
        (typical.solve, {"ansatz": "1RSB"}, "typical.solve_1rsb"),
        (typical.solve, {"margin": 0.5}, r"constraint=Margin\(0.5\)"),
        (typical.capacity, {"kappa": 0.5}, r"constraint=Margin\(0.5\)"),
        (typical.curve, {"load": 0.3}, "alpha=0.3"),
        (large_deviation.solve, {"replica": 3}, "replicas=3"),
        (franz_parisi.dense_threshold, {"margin": Margin(0.0)}, r"constraint=Margin\(...\)"),
        (learning.focusing_bp, {"seed": 1}, "rng=1"),
        (learning.cross_entropy_sgd, {"random_state": 1}, "rng=1"),
        (learning.belief_propagation, {"random_state": None}, "rng=None"),
        (patterns.random, {"seed": 7}, "rng=7"),
        (patterns.random, {"alpha": 0.5}, r"P=round\(0.5 \* N\)"),
        (typical.capacity, {"steps": 1}, "ansatz='1RSB'"),
        (typical.curve, {"kappa": [0.1, 0.2]}, r"constraint=\[Margin\(k\) for k in ...\]"),
        (landscape.noise_robustness, {"seed": 7}, "rng=7"),
        (
            landscape.local_entropy,
            {"distance": 0.1},
            "couplings=.*interp.*franz_parisi.local_entropy",
        ),
    ],
)
def test_a_keyword_by_another_name_is_told_its_own(call, wrong, cure):
    given = dict(next((one for f, one in CALLS if f is call), {"device": Perceptron()}))
    with pytest.raises(TypeError, match=rf"{call.__name__}\(\) takes no .*: .*{cure}"):
        call(**given, **wrong)


def test_a_keyword_that_is_near_to_none_is_refused_by_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'banana'"):
        typical.solve(Perceptron(), 0.5, banana=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'margin'"):
        patterns.random(3, 5, margin=0.1)


@pytest.mark.parametrize(
    ("make", "cure"),
    [
        (lambda: TreeCommittee(math.inf, np.tanh), r"write Activation\(tanh\)"),
        (lambda: TreeCommittee(math.inf, "relu"), r"write ReLU\("),
        (lambda: Activation(math.tanh), "write it with NumPy"),
        (lambda: Activation(lambda x: x if x > 0 else 0.1 * x), r"np.where\(x > 0"),
        (lambda: Committee(math.inf), r"TreeCommittee\(math.inf\)"),
        (lambda: Perceptron((-1, 0, 1)), r"write Discrete\(\(-1, 0, 1\)\)"),
        (lambda: Perceptron(object()), "lacks discrete, entropy, entropic"),
    ],
)
def test_parts_of_a_device_by_other_names_are_told_their_own(make, cure):
    with pytest.raises(TypeError, match=cure):
        make()


@pytest.mark.parametrize(
    ("xi", "sigma", "cure"),
    [
        ([[0.3, -0.2, 0.1]], [1], r"cut it first, as patterns.signs\(xi > 0\)"),
        ([[3, 8, 8]], [1], r"write patterns.signs\(xi\)"),
        ([[1.0, np.nan, -1.0]], [1], "fill it first"),
        ([[1, 1, -1]], ["dress"], r"write patterns.signs\(sigma\)"),
    ],
)
def test_data_that_are_no_signs_are_told_how_to_become_some(xi, sigma, cure):
    with pytest.raises((TypeError, ValueError), match=cure):
        learning.least_action(Committee(3), xi, sigma)


def test_a_question_is_told_in_which_module_it_stands():
    with pytest.raises(AttributeError, match=r"write theory.typical.capacity$"):
        theory.capacity  # noqa: B018
    with pytest.raises(ValueError, match=r"write '1RSB'$"):
        typical.capacity(Perceptron(), ansatz="1rsb")
