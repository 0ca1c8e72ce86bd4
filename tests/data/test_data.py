"""The owner of the rows, against plain formulas on explicitly centered rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import SPARSE, make_samples
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.datasets import load_digits

from robustlda import LabelAudit, RobustLDA
from robustlda.data import Weights, as_samples, as_store, distinct
from robustlda.data.centering import geometric_median, leverage_weights, mean
from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.data.store import Rows, pairwise_sum, row_slices
from robustlda.plan import Plan

SHAPES = {"tall": (50, 6), "wide": (12, 30), "square": (10, 10)}


def rows_of(X, step=1000):
    return Rows(as_store(X), step)


def assert_products_are_their_formulas(samples, centered, labels, rng):
    n = len(centered)
    W = np.linalg.qr(samples.space.lower(rng.normal(size=(centered.shape[1], 2))))[0]
    F, M, s = samples.space.lift(W), rng.normal(size=(3, samples.dim)), rng.normal(size=n)
    s[0] = 0
    basis, full = samples.space.lift(np.eye(samples.dim)), centered.T @ (s[:, None] * centered)
    assert_allclose(samples.space.lower(F), W, atol=1e-6)
    assert_allclose(samples.project(W), centered @ F, atol=1e-10)
    V = rng.normal(size=(centered.shape[1], 2))
    assert_allclose(samples.project_features(V), centered @ V, atol=1e-9)
    within, residual = samples.lengths(W, M)
    assert_allclose(within, np.sum(((centered - samples.space.lift(M.T).T[labels]) @ F) ** 2, axis=1), atol=1e-9)
    assert_allclose(residual, np.sum((centered - centered @ F @ F.T) ** 2, axis=1), atol=1e-9)
    assert_allclose(samples.squared_norms, np.sum(centered**2, axis=1), atol=1e-9)
    assert_allclose(basis @ samples.gram(s) @ basis.T, full, atol=1e-9)
    assert_allclose(samples.space.lift(samples.apply(s, W)), full @ F, atol=1e-9)
    assert_allclose(samples.space.lift(samples.combine(s[:, None])).ravel(), s @ centered, atol=1e-9)
    assert_allclose(samples.rows(slice(None)) @ basis.T, centered, atol=1e-10)
    assert_allclose(samples.inner_products(slice(2, 5)), centered[2:5] @ centered.T, atol=1e-9)
    totals, sums = samples.class_sums(s)
    again, sums_again, G = samples.moments(s, 2 * s)
    assert_array_equal(again, totals)
    assert_allclose(sums_again, sums, atol=1e-12)
    assert_allclose(basis @ G @ basis.T, 2 * full, atol=1e-9)
    for i in range(3):
        assert_allclose(totals[i], s[labels == i].sum(), atol=1e-12)
        assert_allclose(samples.space.lift(sums[i]), s[labels == i] @ centered[labels == i], atol=1e-9)


def assert_moments_of_lengths_are_their_formulas(samples, centered, labels, rng):
    """What takes weights from lengths, in one pass or in several."""
    W, M = np.linalg.qr(rng.normal(size=(samples.dim, 2)))[0], rng.normal(size=(3, samples.dim))
    F, centers = samples.space.lift(W), samples.space.lift(M.T).T
    squared = np.sum(((centered - centers[labels]) @ F) ** 2, axis=1)
    assert_allclose(samples.within_lengths(W, M), squared, atol=1e-9)
    v, u = np.sqrt(1 + squared), 1 / (1 + squared)
    totals, sums, G = samples.moments(samples.weight * u, samples.weight * u)
    for known in (None, samples.within_lengths(W, M)):
        found = samples.reweighted_moments(W, M, lambda t: (np.sqrt(1 + t), 1 / (1 + t)), known)
        for part, expected in zip(found, (samples.weight @ v, totals, sums, G), strict=True):
            assert_allclose(part, expected, atol=1e-9)
    scale = rng.uniform(0.5, 2, samples.dim)
    coordinates = samples.rows(slice(None))
    expected = np.sum(((coordinates - M[labels]) * scale) ** 2, axis=1)
    assert_allclose(samples.within_lengths(scale, M), expected, atol=1e-9)
    assert_allclose(samples.within_lengths(np.diag(scale), M), expected, atol=1e-9)
    index = np.array([5, 0, 3])
    assert_allclose(samples.rows(index), coordinates[index], atol=1e-10)
    moved = np.asarray(getattr(samples.shifted_rows(), "toarray", samples.shifted_rows)())
    assert_allclose(moved - moved[0], coordinates - coordinates[0], atol=1e-9)
    inside, same = samples.restricted_to(W), samples.restrict(coordinates @ W)
    assert_allclose(inside.rows(slice(None)), same.rows(slice(None)), atol=1e-9)
    assert_allclose(inside.squared_norms, np.sum(centered**2, axis=1), atol=1e-9)
    stored = np.vstack([block.rows() for _, block in samples.blocks()])
    scale = rng.uniform(0.5, 2, stored.shape[1])
    R = samples.factor(scale)
    assert_allclose(R.T @ R, (stored / scale).T @ (stored / scale), atol=1e-9)
    assert_allclose(np.tril(R, -1), 0, atol=1e-12)


@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("block", [1 << 22, 40])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_product_equals_its_formula(shape, block, deficient):
    rng, n = np.random.default_rng(0), shape[0]
    X = rng.normal(size=shape) + 3
    if deficient:
        X[:, 1] = 7.0  # constant
        X[:, 2] = X[:, 0] - 2 * X[:, 3]  # collinear
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    weight = rng.uniform(0.5, 2, n)
    samples = make_samples(X, labels, weight, Plan(block=block))
    centered = X - weight @ X / weight.sum()
    assert samples.dim == np.linalg.matrix_rank(centered)
    assert_products_are_their_formulas(samples, centered, labels, rng)
    assert_moments_of_lengths_are_their_formulas(samples, centered, labels, rng)


@pytest.mark.parametrize(("few", "factorized"), [(1500, 6000), (0, 6000), (0, 0)])
@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("container", [csr_matrix, csr_array, csc_array])
def test_sparse_rows_give_what_dense_rows_give(container, deficient, few, factorized):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 9)) < 0.3, rng.normal(size=(60, 9)) + 2, 0)
    if deficient:
        X[:, 4] = 0
        X[:, 5] = 2 * X[:, 0]
    labels, weight = np.arange(60) % 3, rng.uniform(0.5, 2, 60)
    center = mean(rows_of(X), weight)
    assert_allclose(mean(rows_of(container(X)), weight), center)
    assert_allclose(geometric_median(rows_of(container(X)), weight), geometric_median(rows_of(X), weight), atol=1e-6)
    samples = make_samples(container(X), labels, weight, Plan(densify=0, gram_span=few, factor_features=factorized))
    centered = X - center
    assert samples.dim == (np.linalg.matrix_rank(centered) if few else 9)
    assert samples.rank >= np.linalg.matrix_rank(centered)
    V = rng.normal(size=(9, 2))
    span = np.linalg.svd(centered, full_matrices=False)[2][: np.linalg.matrix_rank(centered)].T
    assert_allclose(samples.space.lift(samples.space.lower(V)), span @ (span.T @ V), atol=1e-6)
    assert_products_are_their_formulas(samples, centered, labels, rng)
    assert_moments_of_lengths_are_their_formulas(samples, centered, labels, rng)


@pytest.mark.parametrize(("n", "d", "rank"), [(60, 9, 7), (15, 40, 14)])
def test_the_rank_of_sparse_rows_is_bounded_by_what_varies(n, d, rank):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.4, rng.normal(size=(n, d)) + 2, 0)
    X[:, 1], X[:, 5] = 0, 3
    samples = make_samples(csr_array(X), np.arange(n) % 3, plan=Plan(densify=0, gram_span=0))
    assert (samples.dim, samples.rank) == (d, rank)
    # Directions in which no sample varies are looked for where a matrix of features × features is affordable.
    assert (samples.space.null is None) == (d > n)
    less = make_samples(csr_array(X), np.arange(n) % 3, plan=Plan(densify=0, gram_span=0, factor_features=d - 1))
    assert less.space.null is None


def test_restricted_samples_see_the_true_lengths():
    rng = np.random.default_rng(0)
    samples = make_samples(rng.normal(size=(50, 6)) + 3, np.arange(50) % 3)
    Q = np.linalg.qr(rng.normal(size=(6, 4)))[0]
    inside = samples.restrict(samples.project(Q))
    U, M = np.linalg.qr(rng.normal(size=(4, 2)))[0], rng.normal(size=(3, 6))
    for a, b in zip(inside.lengths(U, M @ Q), samples.lengths(Q @ U, M @ Q @ Q.T), strict=True):
        assert_allclose(a, b, atol=1e-10)
    s = rng.normal(size=50)
    assert_allclose(inside.gram(s), Q.T @ samples.gram(s) @ Q, atol=1e-10)


def test_some_samples_are_samples_of_the_same_space():
    rng = np.random.default_rng(0)
    samples = make_samples(rng.normal(size=(50, 6)), np.arange(50) % 3)
    index = np.array([3, 30, 7])
    some = samples.take(index, Weights.of(np.full(3, 2.0)))
    assert_allclose(some.rows(slice(None)), samples.rows(index))
    assert_array_equal(some.labels, index % 3)
    assert_array_equal(some.weight, [2, 2, 2])


def test_wide_data_need_no_square_matrix_of_features():
    X = np.random.default_rng(0).normal(size=(6, 60_000))  # 60 000² numbers would be 29 GB
    assert make_samples(X, np.array([0, 0, 0, 1, 1, 1])).dim == 5


@pytest.mark.parametrize("offset", [0, 1e3, 1e7])
def test_rank_sees_through_offsets_and_units(offset):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=(40, 3)) * [1e6, 1, 1e-4] + offset * np.array([1e6, 1, 1e-4]), np.full(40, 0.1)]
    )
    assert make_samples(X, np.arange(40) % 2).dim == 3


# Sums over blocks


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
def test_pairwise_sums_are_sums_in_the_order_of_a_tree(n):
    rng = np.random.default_rng(0)
    parts = [(rng.normal(size=3), float(rng.normal())) for _ in range(n)]

    def tree(parts):
        if len(parts) == 1:
            return parts[0]
        half = 1 << (len(parts) - 1).bit_length() - 1
        (a, x), (b, y) = tree(parts[:half]), tree(parts[half:])
        return a + b, x + y

    expected = tree(parts)
    total, number = pairwise_sum((a.copy(), x) for a, x in parts)
    assert_array_equal(total, expected[0])
    assert number == expected[1]


def test_slices_cover_all_rows_once():
    assert [list(range(10))[part] for part in row_slices(10, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


# Centers and trust


def test_geometric_median_stays_where_the_mean_is_carried_away():
    X = np.random.default_rng(0).normal(size=(101, 4))
    X[:40] = 1e6
    center = geometric_median(rows_of(X), np.ones(101))
    assert np.linalg.norm(center) < 5
    distance = np.linalg.norm(X - center, axis=1)[:, None]
    assert np.linalg.norm(((X - center) / distance).sum(axis=0)) < 1e-4


def test_geometric_median_may_sit_on_a_sample_and_on_identical_samples():
    X = np.array([[0.0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    assert_allclose(geometric_median(rows_of(X), np.ones(5)), [0, 0], atol=1e-6)
    assert_allclose(geometric_median(rows_of(np.ones((4, 2))), np.ones(4)), [1, 1])


def test_leverage_weights_of_sparse_rows_are_those_of_dense_ones():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 3
    X = rng.normal(size=(100, 5)) + 4 * rng.normal(size=(3, 5))[y]
    X[3] *= 50
    X[np.abs(X) < 1] = 0
    weight = rng.uniform(0.5, 2, 100)
    dense = leverage_weights(rows_of(X, 7), y, weight, 3)
    assert_allclose(leverage_weights(rows_of(csr_array(X)), y, weight, 3), dense, rtol=1e-9)
    assert dense[3] < 1e-3
    assert np.median(dense) == 1


def test_leverage_weights_leave_identical_samples_alone():
    y = np.array([0, 0, 1, 1])
    assert_array_equal(leverage_weights(rows_of(np.ones((4, 2))), y, np.ones(4), 2), np.ones(4))


def test_a_class_that_is_mostly_one_point_leaves_the_others_a_weight():
    X, y = np.repeat([[0.0], [1.0]], [95, 105], axis=0), np.repeat([0, 1], 100)
    weight = leverage_weights(rows_of(X), y, np.ones(200), 2)
    assert weight.min() > 1e-8
    jittered = X + 1e-7 * np.random.default_rng(0).normal(size=X.shape)
    assert_allclose(leverage_weights(rows_of(jittered), y, np.ones(200), 2), weight, atol=1e-4)


# Copies


def shuffled_copies(rng, X, labels):
    weight = rng.integers(1, 5, len(labels))
    order = rng.permutation(weight.sum())
    return np.repeat(X, weight, axis=0)[order], np.repeat(labels, weight)[order], weight


@pytest.mark.parametrize("kind", ["real", "whole", "wide", "sparse"])
def test_copies_are_found_however_they_are_stored(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 200 if kind == "wide" else 6))
    X = np.round(X) if kind == "whole" else X
    labels = np.arange(40) % 3
    expected = len(np.unique(np.column_stack([X, labels]), axis=0))
    many, many_labels, _ = shuffled_copies(rng, X, labels)
    for unit, shift in ((1.0, 0.0), (1000.0, 5.0), (1e-5, -7.0)):
        Y = many * unit + shift * unit
        samples = make_samples(csr_array(Y) if kind == "sparse" else Y, many_labels, plan=SPARSE)
        groups = distinct.find(samples)
        assert len(groups) == expected
        first = np.column_stack([many, many_labels])[groups.first]
        assert_array_equal(first[groups.group], np.column_stack([many, many_labels]))


def test_one_far_sample_does_not_make_copies_of_the_others():
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[0] = 1e12
    assert len(distinct.find(make_samples(X, np.arange(50) % 2))) == 50


def test_the_same_samples_are_chosen_however_they_are_stored():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(900, 6)), (np.arange(900) % 10 == 0).astype(int)

    def chosen(X, labels, weight=None):
        samples = make_samples(X, labels, weight)
        found = distinct.sample(samples, most=200, least=60)
        index, weights = found.index, found.weights
        assert_array_equal(found.place[index], np.arange(len(index)))
        order = np.lexsort(np.asarray(X)[index].T)
        return index[order], weights.given[order], weights.one[order]

    index, given, one = chosen(X, labels)
    assert_allclose(np.bincount(labels[index]), [180, 60], atol=15)  # how many there are is an estimate
    assert_allclose(np.bincount(labels[index], given), np.bincount(labels) * len(index) / 900)  # shares of all
    assert_allclose(one, given)
    for other in (1000 * X, X + 10, X[::-1].copy()):
        again, given_again, _ = chosen(other, labels[::-1] if other[0, 0] == X[-1, 0] else labels)
        rows = 899 - again if other[0, 0] == X[-1, 0] else again
        assert set(rows) == set(index)
        assert_allclose(np.sort(given_again), np.sort(given))
    many, many_labels, weight = shuffled_copies(rng, X, labels)
    copies, weights = chosen(many, many_labels)[:2], chosen(X, labels, weight.astype(float))[:2]
    assert_allclose(many[copies[0]], X[weights[0]])
    assert_allclose(copies[1], weights[1])


# Stores


class RowsInALog:
    """A toy store: rows of whole numbers in a text file, one line each."""

    sparse = in_memory = False
    dtype = np.dtype(float)

    def __init__(self, path):
        self._path = path
        self.shape = len(path.read_text().splitlines()), len(path.read_text().split("\n", 1)[0].split())

    def block(self, rows):
        return DenseBlock(np.array([line.split() for line in self._path.read_text().splitlines()[rows]], float))

    def take(self, index):
        return DenseStore(self.block(slice(0, self.shape[0])).rows()[index])


def test_a_new_store_is_one_small_class(tmp_path):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(" ".join(f"{x:g}" for x in row) for row in X))
    store = RowsInALog(path)
    model, plain = RobustLDA(), RobustLDA().fit(X, y)
    model.plan = Plan(block=3000)
    model.fit(store, y)
    assert_allclose(model.predict_proba(store), plain.predict_proba(X), atol=1e-6)
    assert_allclose(model.transform(store), plain.transform(X), atol=1e-6)
    audit = LabelAudit().fit(store, y)
    assert_allclose(audit.probability_wrong_, LabelAudit().fit(X, y).probability_wrong_, atol=1e-6)


def test_rows_of_a_store_are_checked(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[40, 1] = np.nan
    np.save(tmp_path / "X.npy", X)
    mapped, y = np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(60) % 2
    with pytest.raises(ValueError, match="Rows 0 to 59 of X contain NaN or infinity; impute or drop them"):
        RobustLDA().fit(mapped, y)
    X[40, 1] = 0
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59 labels"):
        RobustLDA().fit(mapped, y[1:])
    model = RobustLDA().fit(mapped, y)
    with pytest.raises(ValueError, match="X has 2 features, but RobustLDA is expecting 3 features"):
        model.predict(mapped[:, :2])
    with pytest.raises(TypeError, match="X is of type dict, which robustlda does not know how to read rows from"):
        as_store({})


def test_whole_numbers_in_a_mapped_file_are_read_as_real_ones(tmp_path):
    X = np.random.default_rng(0).integers(0, 9, size=(60, 3))
    np.save(tmp_path / "X.npy", X)
    store = as_store(np.load(tmp_path / "X.npy", mmap_mode="r"))
    assert store.dtype == float
    assert_array_equal(store.block(slice(5, 9)).rows(), X[5:9])
    assert_array_equal(store.take(np.array([7, 1])).block(slice(0, 2)).rows(), X[[7, 1]])


def test_as_samples_measures_from_the_point_it_is_given():
    X = np.random.default_rng(0).normal(size=(20, 3))
    samples = as_samples(as_store(X), np.arange(20) % 2, Weights.of(np.ones(20)), np.array([1.0, 0, 0]), 2)
    assert_allclose(samples.squared_norms, np.sum((X - [1.0, 0, 0]) ** 2, axis=1))


class Promises:
    """A store whose blocks are not what it says."""

    sparse = in_memory = False

    def __init__(self, X, dtype=float, lost=0):
        self._X, self._lost, self.shape, self.dtype = X, lost, X.shape, np.dtype(dtype)

    def block(self, rows):
        return DenseBlock(self._X[rows.start : rows.stop - self._lost])

    def take(self, index):
        return DenseStore(self._X[index])


def test_a_store_that_does_not_keep_its_promises_is_told_so():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    RobustLDA().fit(Promises(X), y)
    with pytest.raises(ValueError, match=r"Rows 0 to 59 of Promises came as a block of shape \(59, 3\)"):
        RobustLDA().fit(Promises(X, lost=1), y)
    with pytest.raises(ValueError, match="of type float64 or float32 and that of the store, int64"):
        RobustLDA().fit(Promises(X.astype(int), dtype=int), y)
    with pytest.raises(ValueError, match=r"type float64; .* and that of the store, float32"):
        RobustLDA().fit(Promises(X, dtype=np.float32), y)
    store = Promises(X)
    del store.dtype
    with pytest.raises(TypeError, match="Promises has no dtype; a store needs shape, dtype, sparse"):
        RobustLDA().fit(store, y)
    assert RobustLDA().estimate_memory(Promises(X), y) == RobustLDA().estimate_memory(X, y)
