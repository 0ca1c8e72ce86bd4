"""The dense samples against plain formulas on explicitly centred rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array, csr_matrix

from robustlda.samples import dense, sparse
from robustlda.samples.center import geometric_median, mean
from robustlda.samples.dense import DenseSamples, RestrictedSamples
from robustlda.samples.sparse import SparseSamples

SHAPES = {"tall": (50, 6), "wide": (12, 30), "square": (10, 10)}


def build(shape):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=shape) + 3, np.arange(shape[0]) % 3
    return DenseSamples(X, labels, np.ones(len(X)), X.mean(axis=0), 3), rng


@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("block", [1 << 22, 40])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_product_equals_its_formula(shape, block, deficient, monkeypatch):
    monkeypatch.setattr(dense, "_BLOCK", block)
    rng, n = np.random.default_rng(0), shape[0]
    X = rng.normal(size=shape) + 3
    if deficient:
        X[:, 1] = 7.0  # constant
        X[:, 2] = X[:, 0] - 2 * X[:, 3]  # collinear
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    weight = rng.uniform(0.5, 2, n)
    samples = DenseSamples(X, labels, weight, mean(X, weight), 3)
    centred = X - weight @ X / weight.sum()
    assert samples.dim == np.linalg.matrix_rank(centred)
    W = np.linalg.qr(rng.normal(size=(samples.dim, 2)))[0]
    F = samples.lift(W)
    assert_allclose(F.T @ F, np.eye(2), atol=1e-12)
    assert_allclose(samples.lower(F), W, atol=1e-12)

    M = rng.normal(size=(3, samples.dim))
    within, residual = samples.lengths(W, M)
    lifted = samples.lift(M.T).T
    assert_allclose(within, np.sum(((centred - lifted[labels]) @ F) ** 2, axis=1), atol=1e-10)
    assert_allclose(residual, np.sum((centred - centred @ F @ F.T) ** 2, axis=1), atol=1e-10)
    assert_allclose(samples.squared_norms, np.sum(centred**2, axis=1), atol=1e-10)

    s = rng.normal(size=n)
    s[0] = 0
    full = centred.T @ (s[:, None] * centred)
    basis = samples.lift(np.eye(samples.dim))
    assert_allclose(basis @ samples.gram(s) @ basis.T, full, atol=1e-10)
    assert_allclose(samples.lift(samples.apply(s, W)), full @ F, atol=1e-10)
    totals, sums = samples.class_sums(s)
    for i in range(3):
        assert_allclose(totals[i], s[labels == i].sum(), atol=1e-12)
        assert_allclose(samples.lift(sums[i]), s[labels == i] @ centred[labels == i], atol=1e-10)


@pytest.mark.parametrize(("few", "factorised"), [(1500, 6000), (0, 6000), (0, 0)])
@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("container", [csr_matrix, csr_array, csc_array])
def test_sparse_rows_give_what_dense_rows_give(container, deficient, few, factorised, monkeypatch):
    monkeypatch.setattr(sparse, "_FEW", few)
    monkeypatch.setattr(sparse, "_FACTORISED", factorised)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 9)) < 0.3, rng.normal(size=(60, 9)) + 2, 0)
    if deficient:
        X[:, 4] = 0
        X[:, 5] = 2 * X[:, 0]
    labels, weight = np.arange(60) % 3, rng.uniform(0.5, 2, 60)
    center = mean(X, weight)
    assert_allclose(mean(container(X), weight), center)
    assert_allclose(geometric_median(container(X), weight), geometric_median(X, weight), atol=1e-6)
    samples = SparseSamples(container(X), labels, weight, center, 3)
    centred = X - center
    assert samples.dim == (np.linalg.matrix_rank(centred) if few else 9)
    assert samples.rank >= np.linalg.matrix_rank(centred)
    V = rng.normal(size=(9, 2))
    span = np.linalg.svd(centred, full_matrices=False)[2][: np.linalg.matrix_rank(centred)].T
    assert_allclose(samples.lift(samples.lower(V)), span @ (span.T @ V), atol=1e-6)
    W = np.linalg.qr(samples.lower(rng.normal(size=(9, 2))))[0]
    F, M, s = samples.lift(W), rng.normal(size=(3, samples.dim)), rng.normal(size=60)
    basis = samples.lift(np.eye(samples.dim))
    assert_allclose(samples.lower(F), W, atol=1e-6)
    assert_allclose(samples.project(W), centred @ F, atol=1e-12)
    within, residual = samples.lengths(W, M)
    assert_allclose(within, np.sum(((centred - samples.lift(M.T).T[labels]) @ F) ** 2, axis=1), atol=1e-10)
    assert_allclose(residual, np.sum((centred - centred @ F @ F.T) ** 2, axis=1), atol=1e-10)
    full = centred.T @ (s[:, None] * centred)
    assert_allclose(basis @ samples.gram(s) @ basis.T, full, atol=1e-10)
    assert_allclose(samples.lift(samples.apply(s, W)), full @ F, atol=1e-10)
    totals, sums = samples.class_sums(s)
    for i in range(3):
        assert_allclose(samples.lift(sums[i]), s[labels == i] @ centred[labels == i], atol=1e-10)
        assert_allclose(totals[i], s[labels == i].sum(), atol=1e-12)
    assert_allclose(samples.rows(slice(None)) @ basis.T, centred, atol=1e-12)


def test_restricted_samples_see_the_true_lengths():
    samples, rng = build((50, 6))
    Q = np.linalg.qr(rng.normal(size=(6, 4)))[0]
    inside = RestrictedSamples(samples, samples.project(Q))
    U, M = np.linalg.qr(rng.normal(size=(4, 2)))[0], rng.normal(size=(3, 6))
    for a, b in zip(inside.lengths(U, M @ Q), samples.lengths(Q @ U, M @ Q @ Q.T), strict=True):
        assert_allclose(a, b, atol=1e-10)
    s = rng.normal(size=50)
    assert_allclose(inside.gram(s), Q.T @ samples.gram(s) @ Q, atol=1e-10)


def test_wide_data_need_no_square_matrix_of_features():
    X = np.random.default_rng(0).normal(size=(6, 60_000))  # 60 000² numbers would be 29 GB
    samples = DenseSamples(X, np.array([0, 0, 0, 1, 1, 1]), np.ones(6), X.mean(axis=0), 2)
    assert samples.dim == 5


@pytest.mark.parametrize("offset", [0, 1e3, 1e7])
def test_rank_sees_through_offsets_and_units(offset):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=(40, 3)) * [1e6, 1, 1e-4] + offset * np.array([1e6, 1, 1e-4]), np.full(40, 0.1)]
    )
    samples = DenseSamples(X, np.arange(40) % 2, np.ones(40), X.mean(axis=0), 2)
    assert samples.dim == 3


def test_geometric_median_stays_where_the_mean_is_carried_away():
    X = np.random.default_rng(0).normal(size=(101, 4))
    X[:40] = 1e6
    center = geometric_median(X, np.ones(101))
    assert np.linalg.norm(center) < 5
    distance = np.linalg.norm(X - center, axis=1)[:, None]
    assert np.linalg.norm(((X - center) / distance).sum(axis=0)) < 1e-4


def test_geometric_median_may_sit_on_a_sample_and_on_identical_samples():
    X = np.array([[0.0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    assert_allclose(geometric_median(X, np.ones(5)), [0, 0], atol=1e-6)
    assert_allclose(geometric_median(np.ones((4, 2)), np.ones(4)), [1, 1])
