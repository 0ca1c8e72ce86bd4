"""Blocks of rows: every product against its formula, for each kind of block and each way to take the center off."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array

from robustlda.data.centered import CenteredBlock
from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.data.sparse import SparseBlock, SparseStore, canonical
from robustlda.data.store import Rows, as_store, is_read_in_blocks, is_sparse
from robustlda.data.weights import Weights

N, D, C = 30, 6, 3


def made(kind, dtype=float):
    """A block, and its rows as a plain array."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((N, D)) < 0.6, rng.normal(size=(N, D)) + 1, 0).astype(dtype)
    return (SparseBlock(csr_array(X)) if kind == "sparse" else DenseBlock(X)), X.astype(float)


@pytest.fixture(params=["dense", "sparse"])
def kind(request):
    return request.param


@pytest.fixture(params=[np.float64, np.float32])
def dtype(request):
    return request.param


def tolerance(dtype):
    return 1e-10 if dtype == np.float64 else 1e-4


def test_products_with_columns(kind, dtype):
    block, X = made(kind, dtype)
    V, Z = np.random.default_rng(1).normal(size=(D, 2)), np.random.default_rng(2).normal(size=(N, 4))
    assert block.dtype == dtype
    assert_allclose(block.times(V), X @ V, atol=tolerance(dtype))
    assert_allclose(block.combine(Z), X.T @ Z, atol=tolerance(dtype))
    assert_allclose(block.inner(block), X @ X.T, atol=tolerance(dtype))


def test_a_product_may_be_written_to(kind):
    block, X = made(kind)
    Z = block.times(np.eye(D))
    Z += 1
    assert_array_equal(block.rows(), X)


def test_squares_and_sums(kind, dtype):
    block, X = made(kind, dtype)
    rng = np.random.default_rng(1)
    labels, w, center = np.arange(N) % C, rng.normal(size=N), rng.normal(size=D).astype(dtype)
    centers = rng.normal(size=(C, D))
    about, t = X - center.astype(float), tolerance(dtype)
    assert_allclose(block.squares(center), (about**2).sum(axis=1), atol=t)
    assert_allclose(block.class_squares(labels, centers), ((X - centers[labels]) ** 2).sum(axis=1), atol=t)
    assert_allclose(block.column_squares(np.abs(w), center), np.abs(w) @ about**2, atol=t)
    sums = block.class_sums(labels, w, C)
    assert sums.shape == (C, D)
    assert_allclose(sums, [w[labels == i] @ X[labels == i] for i in range(C)], atol=t)


@pytest.mark.parametrize("signs", ["mixed", "positive", "negative", "none"])
def test_gram_matrices_of_weights_of_any_sign(kind, dtype, signs):
    block, X = made(kind, dtype)
    rng = np.random.default_rng(1)
    s, center = rng.normal(size=N), rng.normal(size=D).astype(dtype)
    s = {"mixed": s, "positive": np.abs(s), "negative": -np.abs(s), "none": 0 * s}[signs]
    about = X - center.astype(float)
    full = (about.T * s) @ about
    assert_allclose(block.gram(s, center), full, atol=tolerance(dtype))
    single = block.gram(s, center, single=True)
    assert single.dtype == np.float32
    assert_allclose(single, full, atol=1e-3)


def test_peaks_see_signs_and_what_is_not_a_number(kind):
    block, X = made(kind)
    assert block.peak() == np.abs(X).max()
    X = -X
    X[3, 2] = np.nan
    other = SparseBlock(csr_array(X)) if kind == "sparse" else DenseBlock(X)
    assert np.isnan(other.peak())
    empty = SparseBlock(csr_array((3, 2))) if kind == "sparse" else DenseBlock(np.zeros((3, 2)))
    assert empty.peak() == 0


@pytest.mark.parametrize("way", ["exact", "late"])
def test_centered_blocks_are_blocks_of_centered_rows(kind, way):
    block, X = made(kind)
    rng = np.random.default_rng(1)
    center, labels = rng.normal(size=D), np.arange(N) % C
    about = CenteredBlock(block, center) if way == "exact" else CenteredBlock.late(block, center)
    V, Z, s = rng.normal(size=(D, 2)), rng.normal(size=(N, 2)), rng.normal(size=N)
    R = X - center
    assert_allclose(about.times(V), R @ V, atol=1e-10)
    assert_allclose(about.combine(Z), R.T @ Z, atol=1e-10)
    assert_allclose(about.gram(s), (R.T * s) @ R, atol=1e-10)
    assert_allclose(about.squares(), (R**2).sum(axis=1), atol=1e-10)
    assert_allclose(about.column_squares(np.abs(s)), np.abs(s) @ R**2, atol=1e-10)
    assert_allclose(about.inner(about), R @ R.T, atol=1e-10)
    assert_allclose(about.rows(), R, atol=1e-12)
    sums = about.class_sums(labels, s, C)
    assert_allclose(sums, [s[labels == i] @ R[labels == i] for i in range(C)], atol=1e-10)


@pytest.mark.parametrize("way", ["exact", "late"])
def test_inner_products_of_some_centered_rows_with_all(kind, way):
    block, X = made(kind)
    center = np.random.default_rng(1).normal(size=D)
    view = CenteredBlock if way == "exact" else CenteredBlock.late
    some = as_store(csr_array(X) if kind == "sparse" else X).take(np.array([7, 2, 20])).block(slice(0, 3))
    R = X - center
    assert_allclose(view(block, center).inner(view(some, center)), R @ R[[7, 2, 20]].T, atol=1e-12)


def test_a_row_at_the_center_is_at_no_distance_and_one_beside_it_at_its_own():
    center = np.array([3.0, 0, 1, 0, 2, 0])
    X = np.array([center, center + 1e-4 * np.eye(6)[2], np.zeros(6)])
    for block in (DenseBlock(X), SparseBlock(csr_array(X))):
        for squares in (block.squares(center), block.class_squares(np.zeros(3, int), center[None])):
            assert squares[0] == 0
            assert_allclose(squares[1:], [1e-8, 14], rtol=1e-6)


# Stores


def test_sparse_formats_become_rows_without_touching_what_was_given():
    X = coo_array((np.array([1.0, 2, 3, 4]), (np.array([0, 0, 2, 0]), np.array([1, 1, 0, 3]))), shape=(3, 4))
    rows = canonical(X)
    assert rows.has_canonical_format
    assert_array_equal(rows.toarray(), X.toarray())
    given = csr_array((np.array([1.0, 2]), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    canonical(given)
    assert_array_equal(given.indices, [3, 1])


def test_a_canonical_matrix_is_not_copied():
    X = csr_array(np.eye(3))
    assert np.shares_memory(canonical(X).data, X.data)


def test_stores_hand_out_rows(kind):
    _, X = made(kind)
    store = as_store(csr_array(X) if kind == "sparse" else X)
    assert isinstance(store, SparseStore if kind == "sparse" else DenseStore)
    assert (store.shape, store.dtype, store.sparse, store.in_memory) == ((N, D), float, kind == "sparse", True)
    assert_array_equal(store.block(slice(3, 7)).rows(), X[3:7])
    assert_array_equal(store.block(slice(0, N)).rows(), X)
    assert_array_equal(store.take(np.array([5, 2])).block(slice(0, 2)).rows(), X[[5, 2]])
    assert as_store(store) is store


def test_what_must_not_become_an_array_is_recognized(tmp_path):
    np.save(tmp_path / "X.npy", np.eye(3))
    assert is_read_in_blocks(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert is_read_in_blocks(as_store(np.eye(3)))
    assert not is_read_in_blocks(np.eye(3))
    assert not is_read_in_blocks([[1.0]])
    assert is_sparse(csr_array(np.eye(3)))
    assert is_sparse(as_store(csr_array(np.eye(3))))
    assert not is_sparse(np.eye(3))


@pytest.mark.parametrize("step", [1, 7, 30, 100])
def test_rows_are_reduced_and_collected_in_order(step):
    X = np.random.default_rng(0).normal(size=(N, D))
    rows = Rows(as_store(X), step)
    (total,) = rows.reduce(lambda block: (block.rows().sum(axis=0),))
    assert_allclose(total, X.sum(axis=0), atol=1e-12)
    start = np.repeat(np.arange(0, N, step), step)[:N]
    first, both = rows.collect(
        lambda block, start: (block.rows()[:, 0].copy(), block.rows()[:, :2] + start[0]), start, outputs=2
    )
    assert_array_equal(first, X[:, 0])
    assert_allclose(both - X[:, :2], start[:, None] * np.ones(2), atol=1e-12)


# Weights


def test_whole_weights_count_copies_and_others_do_not():
    copies = Weights.of(np.array([1.0, 3, 2]), np.array([1.0, 0.5, 0.1]))
    assert_array_equal(copies.one, [1, 1, 1])
    assert_allclose(copies.trusted, [1, 1.5, 0.2])
    assert_allclose(copies.one_trusted, [1, 0.5, 0.1])
    importance = Weights.of(np.array([0.5, 3, 2]))
    assert_array_equal(importance.one, importance.given)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_with_a_triangle_are_products(dtype, order):
    rng = np.random.default_rng(0)
    B, V = rng.normal(size=(40, 130)), np.triu(rng.normal(size=(130, 130)))
    for matrix in (V, V.T, V + np.eye(130, k=-1)):  # one of them is an upper triangle
        found = DenseBlock(np.asarray(B, dtype, order)).times(matrix)
        assert found.dtype == dtype
        assert_allclose(found, B @ matrix, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("size", [1e-260, 1e-40, 1.0, 1e30, 1e260])
def test_weights_beyond_single_precision_make_a_gram_matrix_of_numbers(dtype, size):
    rng = np.random.default_rng(0)
    X, s = (1e9 * rng.normal(size=(N, D))).astype(dtype), size * rng.normal(size=N)
    center = np.zeros(D, dtype)
    expected = (X.astype(float).T * s) @ X
    assert_allclose(DenseBlock(X).gram(s, center), expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
