"""A rule on steps of the features: where it cuts, what it learns, and what does not move it."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_samples
from sklearn.datasets import load_wine

from robustlda import RobustLDA
from robustlda.data import as_store
from robustlda.data.centered import CenteredBlock
from robustlda.decision import steps
from robustlda.decision.steps import MAX_CUTS, STEPS, cuts, steps_of


def test_cuts_divide_a_feature_into_steps_of_like_weight():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=4000), rng.exponential(size=4000)])
    feature, cut = cuts(rows, np.ones(4000), 8)
    assert np.bincount(feature).tolist() == [7, 7]
    for j in range(2):
        inside = np.histogram(rows[:, j], [-np.inf, *np.sort(cut[feature == j]), np.inf])[0]
        assert inside.min() > 0  # cuts look for a gap half a step to both sides
        assert inside.max() < 4000 / 8 * 2


def test_levels_are_cut_between_however_they_jitter():
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 3, 600).astype(float)
    for rows in (levels, levels + 1e-6 * rng.normal(size=600)):
        _, cut = cuts(rows[:, None], np.ones(600), 8)
        assert len(cut) == 2
        assert_allclose(np.sort(cut), [0.618, 1.618], atol=1e-3)
    assert len(cuts(np.ones((50, 2)), np.ones(50), 8)[1]) == 0


def test_no_value_of_few_digits_is_on_a_cut():
    rows = np.round(np.random.default_rng(2).normal(size=(900, 3)), 1)
    _, cut = cuts(rows, np.ones(900), 8)
    assert len(cut)
    grid = np.arange(-50, 50) / 10
    assert np.abs(grid[:, None] - cut).min() > 1e-3


@pytest.mark.parametrize("factor", [1e-8, 3.0, 1e12])
def test_cuts_have_the_unit_of_the_feature_and_count_copies(factor):
    rng = np.random.default_rng(3)
    rows, weight = np.round(rng.normal(size=(300, 4)), 1), rng.integers(1, 4, 300)
    feature, cut = cuts(rows, weight.astype(float), 6)
    other, scaled = cuts(factor * rows + 5 * factor, weight.astype(float), 6)
    assert_array_equal(feature, other)
    assert_allclose(scaled, factor * cut + 5 * factor, rtol=1e-9)
    repeated = cuts(np.repeat(rows, weight, axis=0), np.ones(weight.sum()), 6)
    assert_array_equal(repeated[0], feature)
    assert_allclose(repeated[1], cut, atol=1e-12)


def test_scores_are_sums_over_cuts_however_rows_are_stored():
    rng = np.random.default_rng(4)
    rows, center = rng.normal(size=(700, 5)) * (rng.random((700, 5)) < 0.5), rng.normal(size=5)
    feature, cut, coef = rng.integers(0, 5, 12), rng.normal(size=12), rng.normal(size=(12, 3))
    expected = np.zeros((700, 3))
    for j, q, each in zip(feature, cut, coef, strict=True):
        expected += np.outer(rows[:, j] - center[j] > q, each)
    for stored in (rows, sp.csr_array(rows)):
        for view in (CenteredBlock, CenteredBlock.late):
            block = view(as_store(stored).block(slice(0, 700)), center)
            assert_allclose(block.step_scores(feature, cut, coef), expected, atol=1e-12)


def test_only_tables_have_steps():
    rng = np.random.default_rng(5)
    y = np.arange(200) % 2
    found = steps_of(make_samples(rng.normal(size=(200, 10)), y))
    assert found is not None
    assert found[1].shape == (200, 10 * (STEPS - 1))
    assert_array_equal(np.unique(found[1]), [0, 1])
    assert steps_of(make_samples(rng.normal(size=(200, 50)), y)) is None  # four rows for each feature
    many = steps_of(make_samples(rng.normal(size=(1000, 150)), np.arange(1000) % 2))
    assert many is not None
    assert len(many[0].cut) <= MAX_CUTS


def test_what_is_neither_more_nor_less_is_learned(monkeypatch):
    """Classes that lie inside of others, feature by feature: a linear rule sees nothing, and a local one little."""
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (1600, 12))
    y = ((np.abs(X[:, :6]) < 0.5).sum(axis=1) > 2).astype(int)
    given = np.where(rng.random(600) < 0.2, 1 - y[:600], y[:600])
    with_steps = RobustLDA().fit(X[:600], given).score(X[600:], y[600:])
    monkeypatch.setattr(steps, "MAX_CUTS", 0)
    without = RobustLDA().fit(X[:600], given).score(X[600:], y[600:])
    assert with_steps > without + 0.05


def test_held_out_answers_are_those_of_fits_without_the_sample():
    from robustlda.data import Weights
    from robustlda.decision.ridge import Regression

    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3
    F, Y = steps_of(make_samples(X, y))[1], np.eye(3)[y]
    solutions = list(Regression(F, Weights.of(np.ones(60))).solutions(Y))
    unit = np.linalg.eigvalsh((F - F.mean(axis=0)).T @ (F - F.mean(axis=0)))
    unit = unit[unit > 1e-9 * unit.max()].mean()
    for j in (0, 17):
        rest = np.arange(60) != j
        A, B = F[rest] - F[rest].mean(axis=0), Y[rest] - Y[rest].mean(axis=0)
        for solution in solutions:
            coef = np.linalg.solve(A.T @ A + solution.penalty * unit * np.eye(F.shape[1]), A.T @ B)
            expected = (F[j] - F[rest].mean(axis=0)) @ coef + Y[rest].mean(axis=0)
            assert_allclose(solution.held_out[j], expected, atol=1e-8)


def test_decimals_in_single_precision_are_cut_where_they_are_in_double_precision():
    """Gaps between decimals are equal on paper; which of them is the widest must not be up to their last digits."""
    X, y = load_wine(return_X_y=True)
    single = X.astype(np.float32)
    P = RobustLDA().fit(single, y).predict_proba(single)
    assert_allclose(P, RobustLDA().fit(X, y).predict_proba(X), atol=1e-4)
