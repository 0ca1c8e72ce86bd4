"""Units of features: taken from the feature itself, the same whatever it was measured in, and not moved by few rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_wine

from robustlda import LabelAudit, RobustLDA
from robustlda.data import as_store
from robustlda.data import space as spaces
from robustlda.data.scaled import ScaledStore
from robustlda.data.units import feature_units
from robustlda.linalg import weighted_medians, weighted_quantile
from robustlda.plan import Plan


def units(X, weight=None):
    return feature_units(as_store(X), np.ones(X.shape[0]) if weight is None else weight, Plan())


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=n), rng.uniform(0, 1, n), rng.random(n) < 0.03, np.full(n, 7.0)])


def test_units_are_what_a_feature_varies_by():
    normal, uniform, rare, constant = units(table(4000))
    assert 0.9 < normal < 1.4  # about a standard deviation
    assert 0.25 < uniform < 0.4
    assert_allclose(rare, 1)  # what the few differ by, however few they are
    assert constant == 1


@pytest.mark.parametrize("factor", [1e-9, 3.0, 1e9])
def test_units_follow_the_feature_and_not_its_origin(factor):
    X = table()[:, :3]
    assert_allclose(units(factor * X + 5 * factor), factor * units(X), rtol=1e-6)


@pytest.mark.parametrize("far", [1e3, 1e12])
def test_one_far_row_hardly_changes_a_unit(far):
    X = table()
    spoiled = X.copy()
    spoiled[0, :2] = far
    assert_allclose(units(spoiled)[:2], units(X)[:2], rtol=0.2)


def test_jitter_makes_no_other_unit():
    X = table()
    X[:, 2] = np.arange(len(X)) % 3 == 0
    jittered = X + 1e-6 * np.random.default_rng(1).normal(size=X.shape)
    assert_allclose(units(jittered)[:3], units(X)[:3], rtol=1e-3)


@pytest.mark.parametrize(
    ("share", "quantile", "jitter"),
    [(share, q, jitter) for share, q in ((0.7, 0.5), (0.3, 0.9), (0.05, 0.99)) for jitter in (0, 1e-5)]
    + [(0.004, 1.0, 0)],
)
def test_deviations_count_as_ten_times_the_usual_one_at_most(share, quantile, jitter):
    """The usual one is the median, or what a tenth or a hundredth exceed where others have one value and jitter."""
    rng, n = np.random.default_rng(0), 4000
    x = jitter * rng.normal(size=n)
    x[: int(share * n)] += rng.uniform(1, 2, int(share * n)) * rng.choice([-1, 1], int(share * n))
    if quantile < 1:
        x[0] = 1e6
    D = np.abs(x - np.median(x))
    D = np.minimum(D, 10 * np.sort(D)[int(np.ceil(quantile * n)) - 1])
    assert_allclose(units(rng.permutation(x)[:, None]), (D**2).sum() / D.sum())


def test_units_of_many_rows_are_taken_from_some_that_are_spread_over_all():
    X = np.arange(3000.0)[:, None] * [1, -2]  # which any stretch of rows would understate
    plan = Plan(units_from=200)
    assert plan.unit_rows(2) == 100
    found = feature_units(as_store(X), np.ones(3000), plan)
    assert_allclose(found, units(X), rtol=0.02)
    assert (found != units(X)).all()


@pytest.mark.parametrize(("size", "varies"), [(1e-150, True), (1e-160, False), (0.0, False)])
def test_what_varies_by_numbers_without_a_square_does_not_vary(size, varies):
    found = units(size * np.random.default_rng(0).normal(size=(50, 1)))
    assert (found == 1) == (not varies)


def test_weights_are_copies():
    X = table(60)
    weight = np.arange(60) % 3 + 1.0
    assert_allclose(units(X, weight), units(np.repeat(X, weight.astype(int), axis=0)))


def test_a_scaled_store_is_the_scaled_rows():
    X = table()
    factors = np.array([2.0, 0.5, 10.0, 1.0])
    for stored in (X, csr_array(X)):
        scaled = ScaledStore(as_store(stored), factors)
        assert_allclose(scaled.block(slice(3, 9)).rows(), X[3:9] * factors)
        assert_allclose(scaled.take(np.array([5, 2])).block(slice(0, 2)).rows(), X[[5, 2]] * factors)
        assert scaled.shape == X.shape
        assert scaled.sparse == as_store(stored).sparse


@pytest.mark.parametrize("decision", ["noise_aware", "centroid"])
def test_answers_do_not_depend_on_the_units_of_a_table(decision):
    X, y = load_wine(return_X_y=True)
    other = 10.0 ** np.linspace(-6, 6, X.shape[1])
    model, again = (RobustLDA(decision=decision).fit(A, y) for A in (X, X * other))
    assert_allclose(again.predict_proba(X * other), model.predict_proba(X), atol=1e-6)
    assert_allclose(np.abs(again.transform(X * other)), np.abs(model.transform(X)), atol=1e-5)
    assert_allclose(again.means_, model.means_ * other, rtol=1e-6)
    assert_allclose(again.scale_, model.scale_ * other)


def test_an_audit_does_not_either():
    X, y = load_wine(return_X_y=True)
    y[:5] = 2
    other = 10.0 ** np.linspace(6, -6, X.shape[1])
    audit, again = LabelAudit().fit(X, y), LabelAudit().fit(X * other, y)
    assert_allclose(again.probability_wrong_, audit.probability_wrong_, atol=1e-6)
    assert_allclose(again.farness_, audit.farness_, atol=1e-6)


def test_many_features_keep_their_units():
    """Pixels and terms have one unit in common, and it means something."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 3
    assert (RobustLDA().fit(X, y).scale_ == 1).all()
    assert (RobustLDA().fit(X[:, :12], y).scale_ != 1).all()


def test_one_far_sample_of_features_in_units_of_any_size_spans_the_largest_feature():
    scale = 10.0 ** -np.array([135.0, 75, 134, 174, 193, 100, 170, 110, 202, 69])
    R = np.zeros((10, 10))
    R[0] = np.random.default_rng(0).uniform(0.5, 1, 10) / np.sqrt(10)  # columns of unit length, all of one direction
    basis = spaces.span_of_triangle(R, scale, 1e-13, 0.0)
    assert basis.shape == (10, 1)
    assert_allclose(np.abs(basis[9]), 1)


@pytest.mark.parametrize("more", [-1e-11, 0.0, 1e-11])
def test_rounding_chooses_no_median(more):
    weight = np.array([1 + more, 1.0])
    assert weighted_quantile(np.array([1.0, 2.0]), weight, 0.5) == 1
    assert weighted_medians(np.array([[1.0], [2.0]]), weight) == 1.5
