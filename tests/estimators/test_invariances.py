"""What must not change an answer: the order of rows, names, units, where zero is, copies, storage.

Answers are probabilities of the classes, so that all that leads to them is compared as well. A tolerance is what
rounding costs: a shift by a million standard deviations leaves ten of sixteen digits, single precision seven. What does
change an answer: a rotation changes that of `RobustLDA`, as features of a table have units of their own; and weights
that are not whole say nothing about how many samples there are, so twice as large ones are the same.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from robustlda import DLE, MMC, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.losses import LOSSES
from robustlda.plan import Plan

MODELS = [
    RobustLDA(),
    RobustLDA(decision="centroid", leverage="free"),
    *(RatioLDA(2, loss=loss, tol=1e-10, max_iter=2000) for loss in LOSSES),
    RatioLDA(2, exponent=2, center="median", leverage="bounded", tol=1e-10, max_iter=2000),
    RatioLDA(2, decision="noise_aware", tol=1e-10, max_iter=2000),
    TraceRatioLDA(2),
    TraceRatioLDA(2, decision="noise_aware", center="median"),
    MMC(),
    SupervisedLPP(),
    SupervisedLPP(graph="binary"),
    SupervisedLPP(graph="balanced"),
    DLE(),
]


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    return clone(request.param)


@pytest.fixture(scope="module")
def problem():
    """Classes that overlap, of different sizes, features that correlate, and a wrong label."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [30, 20, 15]))
    X = rng.normal(size=(65, 5)) @ rng.normal(size=(5, 5)) + 3 * rng.normal(size=(3, 5))[y]
    y[0] = (y[0] + 1) % 3
    return X, y


def probabilities(model, X, y, asked, **arguments):
    return clone(model).fit(X, y, **arguments).predict_proba(asked)


def test_order_of_rows(model, problem):
    X, y = problem
    order = np.random.default_rng(5).permutation(len(y))
    assert_allclose(probabilities(model, X[order], y[order], X), probabilities(model, X, y, X), atol=1e-6)


def test_order_of_features(model, problem):
    if isinstance(model, RobustLDA) or model.decision == "noise_aware":
        pytest.skip("landmarks and an order of samples are drawn in feature space")
    X, y = problem
    order = [3, 0, 4, 1, 2]
    assert_allclose(probabilities(model, X[:, order], y, X[:, order]), probabilities(model, X, y, X), atol=1e-6)


def test_names_of_classes(model, problem):
    X, y = problem
    names = np.array(["zebra", "aardvark", "mole"])
    there = np.argsort(names)
    found = probabilities(model, X, names[y], X)
    assert_allclose(found, probabilities(model, X, y, X)[:, there], atol=1e-6)


def test_names_of_classes_where_landmarks_are_fewer_than_samples():
    """Each class has landmarks of its own, drawn at random: which ones must not depend on its name."""
    rng = np.random.default_rng(1)
    y = np.arange(200) % 4
    X = rng.normal(size=(200, 3)) + 1.5 * rng.normal(size=(4, 3))[y]
    names = np.array([2, 0, 3, 1])
    model = RobustLDA()
    model.plan = Plan(landmarks=20)
    expected, found = model.fit(X, y).predict_proba(X), model.fit(X, names[y]).predict_proba(X)
    assert_allclose(found[:, names], expected, atol=1e-6)


@pytest.mark.parametrize("unit", [2.0**-200, 1e5])
def test_units(model, problem, unit):
    X, y = problem
    assert_allclose(probabilities(model, unit * X, y, unit * X), probabilities(model, X, y, X), atol=1e-6)


def test_units_of_each_feature(problem):
    X, y = problem
    units = 10.0 ** np.array([-6, 3, 0, 8, -2])
    assert_allclose(probabilities(RobustLDA(), X * units, y, X * units), probabilities(RobustLDA(), X, y, X), atol=1e-6)


@pytest.mark.parametrize(("shift", "tolerance"), [(100, 1e-6), (1e6, 1e-4)])
def test_shift(model, problem, shift, tolerance):
    X, y = problem
    X = np.rint(X * 2.0**20) / 2.0**20  # so that the shifted numbers are exact, and what is lost is lost by us
    assert_allclose(probabilities(model, X + shift, y, X + shift), probabilities(model, X, y, X), atol=tolerance)


def test_rotation(model, problem):
    if isinstance(model, RobustLDA) or model.decision == "noise_aware":
        pytest.skip("features of a table have units of their own; landmarks are drawn in feature space")
    X, y = problem
    Q = np.linalg.qr(np.random.default_rng(5).normal(size=(5, 5)))[0]
    assert_allclose(probabilities(model, X @ Q, y, X @ Q), probabilities(model, X, y, X), atol=1e-6)


def test_copies_are_weights(model, problem):
    if isinstance(model, DLE):
        pytest.skip("takes no weights")
    X, y = problem
    weight = np.arange(len(y)) % 3
    copies = probabilities(model, np.repeat(X, weight, axis=0), np.repeat(y, weight), X)
    assert_allclose(probabilities(model, X, y, X, sample_weight=weight), copies, atol=1e-6)


def test_copies_of_checked_rows_are_weights(problem):
    X, y = problem
    rng = np.random.default_rng(5)
    given = np.where(rng.random(len(y)) < 0.25, (y + 1) % 3, y)
    verified = np.where(rng.random(len(y)) < 0.4, y, np.nan)
    weight = rng.integers(0, 4, len(y))
    copied = np.repeat(np.arange(len(y)), weight)
    one = RobustLDA().fit(X, given, sample_weight=weight, verified=verified)
    other = RobustLDA().fit(X[copied], given[copied], verified=verified[copied])
    assert abs(one.noise_rate_ - other.noise_rate_) < 1e-8
    assert_allclose(one.transition_, other.transition_, atol=1e-8)
    assert_allclose(one.components_, other.components_, rtol=1e-6, atol=1e-6)


def test_copies_with_their_answers_are_weights():
    rng = np.random.default_rng(13)
    true = np.arange(150) % 4
    X = 1.2 * rng.normal(size=(4, 6))[true] + rng.normal(size=(150, 6))
    answers = np.where(rng.random((150, 3)) < 0.25, rng.integers(0, 4, (150, 3)), true[:, None])
    weight = rng.integers(0, 6, 150)
    copied = np.repeat(np.arange(150), weight)
    one = RobustLDA().fit(X, answers, sample_weight=weight)
    other = RobustLDA().fit(X[copied], answers[copied])
    assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-7)
    assert_allclose(one.annotator_confusion_, other.annotator_confusion_, atol=1e-7)


@pytest.mark.parametrize("copies", [1, 3])
def test_order_of_rows_of_large_classes(copies):
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    X = rng.standard_t(4, size=(2000, 12)) + rng.normal(size=(2, 12))[y]
    order = rng.permutation(np.repeat(np.arange(2000), copies))
    model = RobustLDA(decision="centroid").fit(X, y, sample_weight=np.full(2000, copies))
    other = clone(model).fit(X[order], y[order])
    assert_allclose(other.components_, model.components_, atol=1e-7)
    assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("unit", [1 / 65, 1e300])
def test_equal_weights_are_none(model, problem, unit):
    if isinstance(model, DLE):
        pytest.skip("takes no weights")
    X, y = problem
    weight = np.full(len(y), unit)
    assert_allclose(probabilities(model, X, y, X, sample_weight=weight), probabilities(model, X, y, X), atol=1e-6)


def test_weights_that_are_not_whole_have_no_unit(model, problem):
    if isinstance(model, DLE):
        pytest.skip("takes no weights")
    X, y = problem
    weight = np.random.default_rng(5).uniform(0.2, 3, len(y))
    once, tiny = (probabilities(model, X, y, X, sample_weight=unit * weight) for unit in (1.0, 1e-200))
    assert_allclose(tiny, once, atol=1e-6)


@pytest.mark.parametrize("stored", [csr_array, np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2]])
def test_storage(model, problem, stored):
    X, y = problem
    assert_allclose(probabilities(model, stored(X), y, stored(X)), probabilities(model, X, y, X), atol=1e-6)


def test_single_precision(model, problem):
    X, y = problem
    single = X.astype(np.float32)
    assert_allclose(
        probabilities(model, single, y, single), probabilities(model, single.astype(float), y, X), atol=0.02
    )


@pytest.mark.parametrize("far", [1e155, 1e300])
def test_far_away_nothing_changes_any_more(model, problem, far):
    X, y = problem
    fitted = clone(model).fit(X, y)
    rows = X - fitted.center_
    there = fitted.predict_proba(far * rows)
    assert np.isfinite(there).all()
    assert_allclose(there.sum(axis=1), 1)
    assert_array_equal(there.argmax(axis=1), fitted.predict_proba(1e35 * rows).argmax(axis=1))
