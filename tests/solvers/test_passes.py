"""How often rows are read: once for a plain step where they have to be fetched, and not more often than that."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustlda.data import Weights, as_samples, as_store
from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.losses import L12, LOSSES
from robustlda.plan import Plan
from robustlda.solvers import reweighted, starts
from robustlda.solvers.reweighted import Objective


class CountingStore:
    """Rows that have to be fetched, and how many of them were."""

    sparse = in_memory = False

    def __init__(self, X):
        self._X, self.shape, self.dtype, self.read = X, X.shape, X.dtype, 0

    def block(self, rows):
        self.read += rows.stop - rows.start
        return DenseBlock(self._X[rows].copy())

    def take(self, index):
        return DenseStore(self._X[index])


def table(n=300, d=8, c=3, deficient=False):
    rng = np.random.default_rng(0)
    y = np.arange(n) % c
    X = rng.normal(size=(n, d)) + 2 * rng.normal(size=(c, d))[y] + 3
    if deficient:
        X[:, 1] = X[:, 0]
    return X, y


def both(deficient=False):
    """The same samples in memory and elsewhere, in blocks of 50 rows."""
    X, y = table(deficient=deficient)
    counting = CountingStore(X)
    weights, center = Weights.of(np.linspace(0.5, 2.2, len(y))), X.mean(axis=0)
    elsewhere = as_samples(counting, y, weights, center, 3, Plan(block=50 * X.shape[1]))
    return as_samples(as_store(X), y, weights, center, 3), elsewhere, counting


@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_one_pass_gives_what_two_passes_give(name, deficient):
    here, elsewhere, _ = both(deficient)
    loss, W = LOSSES[name](), starts.principal_axes(here, 2)
    two, one = Objective(here, loss), Objective(elsewhere, loss)
    start = two.start(W)
    V = elsewhere.space.lower(here.space.lift(W))
    M = elsewhere.space.lower(here.space.lift(start.centers.T)).T
    point, again = two.at(W, start.centers), one.at(V, M, with_moments=True)
    assert_allclose(again.J, point.J, rtol=1e-12)
    assert_allclose(again.within, point.within, atol=1e-10)
    A, centers = two.quadratic(point)
    B, other = one.quadratic(again)
    lift, raise_ = here.space.lift, elsewhere.space.lift
    assert_allclose(raise_(raise_(B).T), lift(lift(A).T), atol=1e-9 * np.abs(A).max())
    assert_allclose(raise_(other.T), lift(centers.T), atol=1e-9)


def test_a_plain_step_reads_the_rows_once():
    here, elsewhere, counting = both()
    W = starts.principal_axes(elsewhere, 2)

    def read(steps):
        counting.read = 0
        result = reweighted.solve(elsewhere, W, L12(), tol=0, max_iter=steps, accelerate=False)
        assert result.n_iter == steps
        return counting.read / 300

    assert read(9) - read(4) == 5
    plain = reweighted.solve(here, starts.principal_axes(here, 2), L12(), tol=0, max_iter=9, accelerate=False)
    fetched = reweighted.solve(elsewhere, W, L12(), tol=0, max_iter=9, accelerate=False)
    assert_allclose(fetched.history, plain.history, rtol=1e-10)


def test_longer_strides_read_the_rows_at_most_twice():
    _, elsewhere, counting = both()
    counting.read = 0
    result = reweighted.solve(elsewhere, starts.principal_axes(elsewhere, 2), L12(), tol=1e-10)
    assert counting.read / 300 <= 2 * result.n_iter + 6


def test_finding_the_span_reads_the_rows_a_few_times():
    X, y = table()
    counting = CountingStore(X)
    as_samples(counting, y, Weights.of(np.ones(300)), X.mean(axis=0), 3, Plan(block=400))
    assert counting.read <= 3 * 300
