"""Pieces of the data layer against their formulas: trust, copies, spans, parts."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_samples
from scipy.sparse import coo_matrix, csr_array
from sklearn.metrics import pairwise_distances

from robustlda.data import (
    Weights,
    as_samples,
    as_store,
    distinct,
    graphs,
    parquet,
    parted,
    parted_input,
    units,
)
from robustlda.data import space as spaces
from robustlda.data.centering import geometric_median, leverage_weights, mean
from robustlda.data.chunked import Blocks
from robustlda.data.dense import DenseBlock, exponents_beyond
from robustlda.data.journal import Journal
from robustlda.data.sparse import SparseBlock
from robustlda.data.store import Rows, as_rows, row_slices, stacked
from robustlda.plan import Plan


def table(n=90, d=4, c=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + 5 * rng.normal(size=(c, d))[y], y


# Trust


def test_trust_falls_with_the_fourth_power_of_the_distance_from_the_class():
    X, y = table()
    X[0] += 300
    X[1] += 40
    weight = np.random.default_rng(1).uniform(0.5, 2, 90)
    trust = leverage_weights(Rows(as_store(X), 1000), y, weight, 3)
    # Means of classes with the trust that was found, and distances from them, lead to the same trust again.
    means = np.array([np.average(X[y == k], axis=0, weights=(weight * trust)[y == k]) for k in range(3)])
    squared = ((X - means[y]) ** 2).sum(axis=1)
    order = np.argsort(squared)
    half = squared[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)]
    expected = np.minimum(1, 9 * half / squared) ** 2
    assert_allclose(trust, expected, rtol=0.02)
    assert trust[0] < trust[1] < 0.01
    assert (trust[2:] > 0.5).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_trust_knows_no_units(unit, dtype):
    X, y = table()
    X[0] += 1000
    points = np.where(np.arange(90)[:, None] < 80, 0, X)  # classes of which most samples coincide
    for rows in (X.astype(dtype), points.astype(dtype)):
        trust, again = (leverage_weights(Rows(as_store(Y), 1000), y, np.ones(90), 3) for Y in (rows, unit * rows))
        assert trust.min() < 1e-3
        assert_allclose(again, trust, rtol=1e-6)


def test_the_mean_and_the_median_know_weights():
    X, _ = table(n=9)
    weight = np.arange(1.0, 10)
    rows = Rows(as_store(X), 4)
    assert_allclose(mean(rows, weight), weight @ X / weight.sum())
    found = geometric_median(rows, weight)
    repeated = geometric_median(Rows(as_store(np.repeat(X, weight.astype(int), axis=0)), 1000), np.ones(45))
    assert_allclose(found, repeated, atol=1e-3)

    def total(center):
        return weight @ np.linalg.norm(X - center, axis=1)

    # It may sit on a row, where the sum of distances has no derivative.
    for shift in np.random.default_rng(1).normal(size=(20, 4)):
        assert total(found) <= total(found + 0.01 * shift) + 1e-6


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_the_median_knows_no_units(unit):
    X, _ = table()
    X[0] = 1e4
    found, again = (geometric_median(Rows(as_store(Y), 1000), np.ones(90)) for Y in (X, unit * X))
    assert_allclose(again / unit, found, rtol=1e-6)
    directions = (X - found) / np.linalg.norm(X - found, axis=1)[:, None]
    assert_allclose(directions.sum(axis=0), 0, atol=1e-3)  # what no step could make smaller


# Copies


def test_copies_agree_in_both_coordinates_and_in_their_label():
    one, two, labels = np.array([1.0, 1, 1, 2, 1]), np.array([3.0, 3, 4, 3, 3]), np.array([0, 0, 0, 0, 1])
    keys = distinct._keys(labels, one, two)
    assert keys[0] == keys[1]
    assert len(np.unique(keys)) == 4
    rounded = distinct._keys(labels, one * (1 + 1e-13), two * (1 - 1e-13))
    assert_array_equal(rounded, keys)  # what rounding does to a coordinate makes no other row of it


def test_ranks_within_classes():
    labels, order = np.array([1, 0, 1, 1, 0]), np.array([0.3, 0.9, 0.1, 0.2, 0.5])
    assert_array_equal(distinct._rank_in_class(labels, order), [2, 1, 0, 1, 0])


def test_numbers_of_samples_are_told_by_how_far_an_order_got():
    rng = np.random.default_rng(0)
    assert distinct._how_many(rng.random(50), 51) == 50
    found = [distinct._how_many(np.sort(rng.random(20_000))[:1000], 1000) for _ in range(20)]
    assert abs(np.mean(found) - 20_000) < 600
    assert distinct._how_many(np.linspace(0, 1, 10), 10) == 10  # never fewer than were seen


def test_folds_keep_copies_together_and_spread_every_class():
    X, y = table(n=60)
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    groups = distinct.find(make_samples(X, y))
    assert len(groups) == 60
    folds = groups.dealt(y, 5)
    assert_array_equal(folds[60:], folds[:20])
    for k in range(3):
        assert_array_equal(np.bincount(folds[:60][y[:60] == k], minlength=5), 4)


def test_the_order_of_samples_is_as_good_as_random():
    X, y = table(n=3000, d=2)
    groups = distinct.find(make_samples(X, y))
    assert 0 <= groups.order.min() < groups.order.max() < 1
    assert_allclose(np.histogram(groups.order, 10, (0, 1))[0], 300, atol=80)
    assert abs(np.corrcoef(groups.order, X[groups.first, 0])[0, 1]) < 0.06


def test_one_far_sample_leaves_the_others_their_order():
    X, y = table(n=501)
    X[7] = 1e11
    samples = make_samples(X, y)
    for coordinate in distinct._coordinates(samples):  # about the median, in units of what is usual
        assert_allclose(np.median(coordinate), 0, atol=1e-6)
        assert_allclose(np.median(coordinate**2), 1, atol=1e-6)
    groups = distinct.find(samples)
    assert len(groups) == 501
    assert len(np.unique(groups.order.round(4))) > 450
    assert_allclose(np.histogram(groups.order, 5, (0, 1))[0], 100, atol=50)


@pytest.mark.parametrize("d", [4, 120])
def test_the_order_of_samples_knows_no_units(d):
    X, y = table(n=61, d=d)
    factors = 10 ** np.random.default_rng(1).uniform(-2, 2, d)
    order = distinct.find(make_samples(X, y)).order
    for other in (X * factors, X * 1e-30, X + 3):
        moved = distinct.find(make_samples(other, y)).order - order
        assert_allclose((moved + 0.5) % 1, 0.5, atol=1e-4)


def test_some_of_many_samples_stand_for_all_of_them():
    X, y = table(n=2000)
    y = np.where(np.arange(2000) < 30, 2, np.arange(2000) % 2)
    found = distinct.sample(make_samples(X, y), 500, 20)
    chosen = y[found.index]
    counts = np.bincount(chosen)
    assert counts[2] == 20  # a small class keeps so many, and others their share
    assert_allclose(counts[:2], 246, atol=30)  # how many there are of each is an estimate
    assert_allclose(found.weights.given.sum(), len(found.index))
    assert_allclose(np.bincount(chosen, found.weights.given) / len(found.index), np.bincount(y) / 2000)
    assert abs(found.n_distinct - 2000) < 250
    assert_array_equal(found.place[found.index], np.arange(len(found.index)))
    assert (found.place >= 0).sum() == len(found.index)
    few = distinct.at_most(make_samples(X, y), 2000, 20)
    assert few.n_samples == 2000
    assert distinct.at_most(make_samples(X, y), 500, 20).n_samples == len(found.index)
    whole = distinct.everything(make_samples(X, y))
    assert_array_equal(whole.index, np.arange(2000))
    assert whole.n_distinct == 2000


def test_a_sample_that_stands_for_copies_counts_them():
    rng = np.random.default_rng(0)
    X, y = table(n=60)
    trust, times = rng.uniform(0.1, 1, 60), rng.integers(1, 6, 60)
    order = rng.permutation(np.repeat(np.arange(60), times))
    store, weights = as_store(X[order]), Weights.of(np.ones(len(order)), trust[order])
    samples = as_samples(store, y[order], weights, X.mean(axis=0), 3)
    found = distinct.sample(samples, 100, 5)
    rows = order[found.index]
    assert_array_equal(np.sort(rows), np.arange(60))
    assert_allclose(found.weights.given, times[rows])
    assert_allclose(found.weights.one, 1)
    assert_allclose(found.weights.trust, trust[rows])
    assert found.n_distinct == 60
    assert_array_equal(rows[found.place], order)
    few = distinct.sample(samples, 30, 5)
    rows = order[few.index]
    assert_allclose(few.weights.given / few.weights.one, times[rows])
    here = np.isin(order, rows)
    assert_array_equal(rows[few.place[here]], order[here])
    assert_array_equal(few.place[~here], -1)


def test_classes_keep_their_shares_of_the_weight_however_little_they_weigh():
    rng = np.random.default_rng(0)
    X, y = table(n=900)
    weight = rng.uniform(0.5, 2, 900) * np.array([1, 3e-3, 1e-5])[y]
    found = distinct.sample(make_samples(X, y, weight), 100, 20)
    given = found.weights.given
    assert_allclose(np.bincount(y[found.index], given) / given.sum(), np.bincount(y, weight) / weight.sum())
    # Together they weigh what the chosen ones did.
    assert_allclose(given.sum(), weight[found.index].sum())
    assert_allclose(found.weights.one, given)


def test_features_that_do_not_vary_tell_no_copies_apart():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(20, 30)), np.full((20, 30), 0.1) * np.arange(30)])
    X, y = np.vstack([X, X[:7]]), np.append(np.arange(20) % 2, np.arange(7) % 2)
    for rows in (X, X[:, 25:35]):  # of more and of fewer features than samples
        groups = distinct.find(make_samples(rows, y))
        assert len(groups) == 20
        assert_array_equal(groups.group[20:], groups.group[:7])


def test_samples_are_the_same_ones_in_parts():
    X, y = table(n=600)
    X = np.round(X)
    memory = distinct.sample(make_samples(X, y), 80, 10)
    for sizes in ([100, 500], [1, 299, 300], [600]):
        ends = np.cumsum(sizes)
        found = parted_input.read(Blocks([(X[b - a : b], y[b - a : b]) for a, b in zip(sizes, ends, strict=True)]))
        samples = as_samples(found.store, found.labels, Weights.of(found.labels * 0 + 1.0), X.mean(axis=0), 3)
        again = distinct.sample(samples, 80, 10)
        assert_array_equal(again.index, memory.index)
        for name in ("given", "trust", "one"):
            assert_allclose(getattr(again.weights, name), getattr(memory.weights, name))
        assert_array_equal(again.place[np.arange(600)], memory.place)
        assert again.n_distinct == memory.n_distinct
        some = distinct.at_most(samples, 80, 10)
        assert isinstance(some.labels, np.ndarray)
        assert_array_equal(some.labels, y[memory.index])
        every = distinct.at_most(samples, 600, 10)
        assert_array_equal(every.labels, y)
        assert_allclose(every.rows(slice(None)), X - X.mean(axis=0))


def test_what_tells_copies_apart_and_what_is_taken_in_any_case():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (3000, 2)).astype(float), rng.integers(0, 2, 3000)
    samples, apart = make_samples(X, y), np.where(np.arange(3000) % 100 == 0, -1 - np.arange(3000), 0)
    found = distinct.sample(samples, 10, 2, apart)
    chosen = apart[found.index] < 0
    assert set(np.flatnonzero(apart < 0)) <= set(found.index)
    assert found.n_distinct <= 18
    shares = np.bincount(y[found.index], found.weights.given) / found.weights.given.sum()
    assert_allclose(shares, np.bincount(y) / 3000)
    assert_allclose(found.weights.given[chosen].sum() / found.weights.given.sum(), chosen.sum() / 3000)
    assert_array_equal(found.place[found.index], np.arange(len(found.index)))
    alike = found.place >= 0
    assert_array_equal(X[found.index[found.place[alike]]], X[alike])
    assert not chosen[found.place[alike & (apart == 0)]].any()
    kinds = distinct.sample(samples, 30, 2, rng.integers(0, 2, 3000))
    assert len(kinds.index) > 18  # of 36
    assert kinds.n_distinct == 18


def test_of_samples_that_are_told_apart_as_many_of_each_kind_are_taken():
    X, y = table(n=4000)
    kinds = np.random.default_rng(1).integers(0, 4, 4000)
    found = distinct.sample(make_samples(X, y), 400, 10, kinds)
    assert_allclose(np.bincount(kinds[found.index]), 100, atol=45)
    assert_allclose(len(found.index), 400, atol=60)
    assert abs(found.n_distinct - 4000) < 600


def test_rows_of_whole_numbers_have_an_order_too():
    X = np.unique(np.random.default_rng(0).integers(0, 9, (4000, 4)), axis=0).astype(float)
    groups = distinct.find(make_samples(X, np.arange(len(X)) % 2))
    assert len(np.unique(groups.order.round(9))) > 0.99 * len(X)


# Spans


def test_wide_rows_are_their_coordinates_in_an_orthonormal_basis():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 3)) @ rng.normal(size=(3, 20))
    Z, Q = spaces.span_of_wide(X, 0.0)
    assert Z.shape == (8, 3)
    assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    assert_allclose(Z @ Q.T, X, atol=1e-10)
    assert spaces.span_of_wide(X, 1e9)[0].shape[1] == 0


def test_the_span_of_dependent_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [1, 1e6, 1, 1e-6, 1]
    X[:, 4] = X[:, 0] + X[:, 2]
    lengths = np.linalg.norm(X, axis=0)
    R = spaces.triangle([X[:20], X[20:]], lengths)
    assert_allclose(R.T @ R, (X / lengths).T @ (X / lengths), atol=1e-12)
    basis = spaces.span_of_triangle(R, lengths, 1e-13, 0.0)
    assert basis.shape == (5, 4)
    assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    assert_allclose(basis.T @ np.array([1, 0, 1, 0, -1]), 0, atol=1e-9)
    assert spaces.span_of_triangle(R[:4, :4], lengths[:4], 1e-13, 0.0) is None
    assert not spaces.well_conditioned(X.T @ X, 1e-16, 0.0)
    assert spaces.well_conditioned((X.T @ X)[:4, :4], 1e-16, 0.0)
    assert not spaces.well_conditioned((X.T @ X)[:4, :4], 1e-16, 0.5)  # as much as rounding may have added
    assert not spaces.well_conditioned(np.diag([1.0, 0.0]), 1e-16, 0.0)
    assert_array_equal(spaces.unit_lengths(np.array([1.0, 3.0]), np.array([1.0, 1.0])), [np.inf, 3])


def test_constant_columns_are_not_in_the_span():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 0
    lengths = np.linalg.norm(X, axis=0)
    scale = spaces.unit_lengths(lengths, np.full(3, 1e-9))
    basis = spaces.span_of_triangle(spaces.triangle([X], scale), scale, 1e-13, 0.0)
    assert_allclose(basis[1], 0, atol=1e-12)
    assert basis.shape == (3, 2)


@pytest.mark.parametrize("lost", [1, 5, 20, 39])
def test_null_spaces_of_any_size(lost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40 - lost)) @ rng.normal(size=(40 - lost, 40)) * np.geomspace(1, 100, 40)
    null = spaces._null_space(X.T @ X)
    assert null.shape == (40, lost)
    assert_allclose(null.T @ null, np.eye(lost), atol=1e-10)
    assert np.abs(X @ null).max() < 1e-5 * np.abs(X).max()
    basis = spaces.span_of_gram(X.T @ X)
    assert basis.shape == (40, 40 - lost)
    assert_allclose(basis.T @ null, 0, atol=1e-5)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_spans_of_sparse_rows_know_no_units(unit):
    X = unit * np.random.default_rng(0).normal(size=(50, 6))
    assert spaces.span_of_gram(X.T @ X) is None
    X[:, 2], X[:, 4] = 0, X[:, 0] - X[:, 1]
    basis, null = spaces.span_of_gram(X.T @ X), spaces._null_space(X.T @ X)
    expected = np.array([[0, 0, 1, 0, 0, 0], np.array([1, -1, 0, 0, -1, 0]) / np.sqrt(3)]).T
    assert_allclose(null @ null.T, expected @ expected.T, atol=1e-4)
    assert_allclose(basis @ basis.T, np.eye(6) - expected @ expected.T, atol=1e-4)


# Graphs


@pytest.mark.parametrize("graph", ["binary", "balanced", "heat"])
def test_edges_within_classes_one_by_one(graph):
    X, y = table(n=30)
    weight = np.random.default_rng(1).integers(1, 4, 30).astype(float)
    samples = make_samples(X, y, weight)
    R = samples.rows(slice(None))
    same = y[:, None] == y
    pairs = np.outer(weight, weight) * same
    distances = pairwise_distances(R)
    width = (pairs * distances).sum() / pairs.sum()
    edges = {
        "binary": same * 1.0,
        "balanced": same / np.bincount(y, weight)[y],
        "heat": same * np.exp(-(distances**2) / (2 * width**2)),
    }[graph]
    S = edges * np.outer(weight, weight)
    joined, degrees = graphs.class_scatters(samples, graph)
    assert_allclose(joined, R.T @ S @ R, rtol=1e-6, atol=1e-6)
    assert_allclose(degrees, R.T @ np.diag(S.sum(axis=1)) @ R, rtol=1e-6, atol=1e-6)


def test_a_kernel_in_blocks_is_a_kernel(monkeypatch):
    samples = make_samples(*table(n=40))
    expected = graphs.class_scatters(samples, "heat")
    monkeypatch.setattr(graphs, "_BLOCK", 30)
    for found, whole in zip(graphs.class_scatters(samples, "heat"), expected, strict=True):
        assert_allclose(found, whole, atol=1e-9)
    assert [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)] == graphs._row_blocks(10)[:4]


@pytest.mark.parametrize("n_neighbors", [1, 4, 100])
def test_edges_between_neighbors_one_by_one(n_neighbors):
    X, y = table(n=25)
    samples = make_samples(X, y)
    R = samples.rows(slice(None))
    distances = pairwise_distances(R)
    nearest = np.argsort(distances, axis=1)[:, 1 : n_neighbors + 1]  # the first is the sample itself
    edges = [(j, k) for j in range(25) for k in nearest[j]]
    width = np.mean([distances[edge] for edge in edges])
    expected = np.zeros((4, 4))
    for j, k in {tuple(sorted(edge)) for edge in edges}:  # a neighbor of either is one of both
        expected += np.exp(-((distances[j, k] / width) ** 2) / 2) * np.outer(R[j] - R[k], R[j] - R[k])
    assert_allclose(graphs.neighbor_scatter(samples, n_neighbors), expected, rtol=1e-9, atol=1e-9)


def test_edges_between_samples_in_one_place_weigh_one():
    X, y = np.repeat([[0.0, 0.0], [3.0, 1.0]], 20, axis=0), np.repeat([0, 1], 20)
    samples = make_samples(X, y)
    R = samples.rows(slice(None))
    joined, degrees = graphs.class_scatters(samples, "heat")
    assert_allclose(joined, 20 * R.T @ R)
    assert_allclose(degrees, 20 * R.T @ R)
    assert_allclose(graphs.neighbor_scatter(samples, 5), 0, atol=1e-12)


# Parts


def test_symmetric_matrices_travel_as_halves_and_are_added_up():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(20, 20))
    small, large = F[:3, :3] + F[:3, :3].T, F + F.T
    packed = parted.packed((small, large, F, 2.0))
    assert packed[0] is small
    assert packed[1].values.size == 210
    assert packed[2] is F
    total = parted.unpacked(parted._plus(packed, packed))
    for found, part in zip(total, (small, large, F, 2.0), strict=True):
        assert_allclose(found, 2 * np.asarray(part))
    mixed = parted.unpacked(parted._plus(packed, (small, F, F, 1.0)))  # of rounding one part may not be symmetric
    assert_allclose(mixed[1], large + F)


def test_blocks_are_read_once_for_their_shapes_and_checked():
    X, y = table(n=10)

    def source():
        yield X[:4], y[:4]
        yield X[4:4], y[4:4]
        yield X[4:], y[4:]

    found = parted_input.read(Blocks(source))
    assert found.store.shape == (10, 4)
    assert found.store.rows.parts.sizes == [4, 6]
    assert found.weight is None
    assert found.names is None
    assert_array_equal(found.labels[np.arange(10)], y)
    assert_array_equal(found.store.take(np.array([7, 1, 4])).block(slice(0, 3)).rows(), X[[7, 1, 4]])
    assert_array_equal(found.store.block(slice(3, 6)).rows(), X[3:6])
    weighted = parted_input.read(Blocks([(X[:4], y[:4], np.arange(4)), (X[4:], y[4:], np.arange(6))]))
    assert_array_equal(weighted.weight[np.arange(10)], [0, 1, 2, 3, 0, 1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="Part 1 of X has 6 rows, but y has 5 values there"):
        parted_input.read(Blocks([(X[:4], y[:4]), (X[4:], y[5:])]))
    with pytest.raises(ValueError, match="Part 0 of X has 4 rows, but sample_weight has 3 values"):
        parted_input.read(Blocks([(X[:4], y[:4], np.ones(3)), (X[4:], y[4:], np.ones(6))]))
    with pytest.raises(ValueError, match="Some parts of X have 4 features, others 3"):
        parted_input.read(Blocks([(X[:4], y[:4]), (X[4:, :3], y[4:])]))
    with pytest.raises(TypeError, match="not list"):
        parted_input.read(Blocks([[X, y]]))


@pytest.mark.parametrize(
    ("kinds", "dtype", "sparse"),
    [
        ((np.float32, np.float32), np.float32, False),
        ((np.float32, np.float64), np.float64, False),
        ((int, np.float32), np.float64, False),
        (("sparse", "sparse"), np.float64, True),
    ],
)
def test_parts_have_one_type(kinds, dtype, sparse):
    X, y = table(n=10)
    parts = [
        csr_array(X[rows]) if kind == "sparse" else X[rows].astype(kind)
        for kind, rows in zip(kinds, (slice(0, 4), slice(4, 10)), strict=True)
    ]
    found = parted_input.read(Blocks([(parts[0], y[:4]), (parts[1], y[4:])])).store
    assert found.dtype == dtype
    assert found.sparse == sparse
    assert found.block(slice(0, 10)).dtype == dtype


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
def test_sparse_parts_may_have_any_format_and_be_mixed_with_arrays(form):
    X, y = table(n=12)
    X[X < 0] = 0
    parts = [csr_array(X[:4]).asformat(form), coo_matrix(X[4:8]).asformat(form), X[8:].astype(np.float32)]
    X[8:] = parts[2]
    for order in ([0, 1, 2], [2, 0, 1]):
        rows = np.concatenate([np.arange(4 * k, 4 * k + 4) for k in order])
        found = parted_input.read(Blocks([(parts[k], y[4 * k : 4 * k + 4]) for k in order])).store
        assert found.sparse
        assert found.dtype == np.float64
        assert_array_equal(found.take(np.array([9, 2, 5])).block(slice(0, 3)).rows(), X[rows][[9, 2, 5]])
        (total,) = Rows(found, 3).reduce(lambda block: (block.gram(np.ones(block.rows().shape[0]), np.zeros(4)),))
        assert_allclose(total, X.T @ X)


def test_labels_may_come_as_one_column_and_not_as_two():
    X, y = table(n=10)
    found = parted_input.read(Blocks([(X, y[:, None])]))
    assert_array_equal(found.labels[np.arange(10)], y)
    with pytest.raises(ValueError, match="Several answers about every row"):
        parted_input.read(Blocks([(X, np.column_stack([y, y]))])).labels[np.arange(10)]


def test_verified_rows_are_divided_like_the_rows():
    X, y = table(n=10)
    blocks = Blocks([(X[:4], y[:4]), (X[4:], y[4:])])
    found = parted_input.read(blocks, verified=np.arange(10))
    assert_array_equal(found.verified[np.arange(10)], np.arange(10))
    with pytest.raises(ValueError, match=r"verified has shape \(9,\), but there are 10 samples"):
        parted_input.read(blocks, verified=np.arange(9))
    with pytest.raises(ValueError, match="verified is given as well"):
        parted_input.read(found, verified=np.arange(10))
    assert parted_input.read(found) is found
    with pytest.raises(TypeError, match="have no labels"):
        parted_input.read(found.store)
    assert parted_input.rows_to_predict(found.store) is found.store


def test_rows_that_are_not_finite_are_refused():
    X, _ = table(n=4)
    assert_array_equal(parted_input.finite_rows(np.float64, X), X)
    X[2, 1] = np.inf
    for rows in (X, csr_array(X)):
        with pytest.raises(ValueError, match="NaN or infinity"):
            parted_input.finite_rows(np.float64, rows)


def test_row_groups_are_packed_into_parts(tmp_path, monkeypatch):
    X, y = table(n=100)
    path = tmp_path / "rows.parquet"
    columns_of = {f"x{j}": X[:, j] for j in range(4)} | {"y": y, "who": np.arange(100).astype(str)}
    pq.write_table(pa.table(columns_of), path, row_group_size=10)
    monkeypatch.setattr(parquet, "_PART", 100)
    table_ = parquet.ParquetTable(path, "y")
    # Two groups of ten rows with four features are eighty numbers, three would be too many.
    assert table_.sizes == [20] * 5
    assert [fragment.groups for fragment in table_.fragments][:2] == [(0, 1), (2, 3)]
    assert_array_equal(np.vstack([table_.rows(fragment) for fragment in table_.fragments]), X)
    assert table_.left_out == ["who"]
    assert table_.dtype == np.float64
    monkeypatch.setattr(parquet, "_PART", 1)  # a group is never taken apart
    assert parquet.ParquetTable(path, "y").sizes == [10] * 10
    single = pa.table({"x": pa.array(X[:, 0], pa.float32()), "y": y})
    pq.write_table(single, path)
    assert parquet.ParquetTable(path, "y").dtype == np.float32
    assert parquet._listed([str(k) for k in range(12)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert parquet._listed(["a", "b"]) == "a, b"


def test_columns_that_say_something_else_about_a_row_are_no_features(tmp_path):
    columns_of = {
        "who": [7, 8],
        "kind": [1, 0],
        "seen": [1, None],
        "note": ["a", "b"],
        "day": pa.array([1, 2], pa.date32()),
    }
    columns_of |= {
        "count": pa.array([3, 4], pa.int8()),
        "on": [True, False],
        "length": pa.array([0.5, 2], pa.float32()),
    }
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns_of), path)
    table_ = parquet.ParquetTable(path, "kind", id="who", verified="seen")
    assert table_.features == ["count", "on", "length"]
    assert table_.left_out == ["note", "day"]
    assert table_.dtype == np.float64
    assert_array_equal(table_.rows(table_.fragments[0]), [[3, 1, 0.5], [4, 0, 2]])
    found = parted_input.read(table_)
    for column, values in ((found.labels, [1, 0]), (found.ids, [7, 8]), (found.verified, [1, np.nan])):
        assert_array_equal(column[np.arange(2)], values)
    chosen = parquet.ParquetTable(path, "kind", features=["length", "who"])
    assert chosen.features == ["length", "who"]
    assert chosen.left_out == []
    assert_array_equal(chosen.rows(chosen.fragments[0]), [[0.5, 7], [2, 8]])
    with pytest.raises(ValueError, match=r"rows.parquet has no column 'size'; it has who, kind, seen, note, day"):
        parquet.ParquetTable(path, "kind", features=["size"])
    with pytest.raises(ValueError, match="The column 'note' holds no numbers"):
        parquet.ParquetTable(path, "kind", features=["length", "note"])


def test_files_that_lack_what_the_first_one_has_are_named(tmp_path):
    rows = {"x": [1.0, 2], "kind": [0, 1], "who": ["a", "b"], "seen": [True, False]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    for name in ("x", "kind", "who", "seen"):
        pq.write_table(pa.table(rows).drop_columns(name), tmp_path / "b.parquet")
        with pytest.raises(ValueError, match=f"b.parquet has no column '{name}', which a.parquet has"):
            parquet.ParquetTable(tmp_path, "kind", features=["x"], id="who", verified="seen")
    pq.write_table(pa.table(rows | {"x": ["short", "long"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"The column 'x' holds numbers in a.parquet, but string in b.parquet"):
        parquet.ParquetTable(tmp_path, "kind")
    pq.write_table(pa.table(rows | {"x": [3, 4]}), tmp_path / "b.parquet")
    table_ = parquet.ParquetTable(tmp_path, "kind", features=["x"])
    assert_array_equal(np.vstack([table_.rows(fragment) for fragment in table_.fragments]), [[1], [2], [3], [4]])


def test_a_table_is_another_one_when_its_files_or_what_is_read_of_them_change(tmp_path):
    path = tmp_path / "rows.parquet"
    rows = {"x": [1.0, 2, 3], "z": [0.0, 1, 0], "kind": [0, 1, 1]}
    pq.write_table(pa.table(rows), path)
    first = parquet.ParquetTable(path, "kind").identity()
    assert parquet.ParquetTable(path, "kind").identity() == first
    others = [{"features": ["x"]}, {"id": "z"}, {"verified": "z"}]
    assert all(parquet.ParquetTable(path, "kind", **other).identity() != first for other in others)
    assert parquet.ParquetTable(path, "x").identity() != first
    pq.write_table(pa.table(rows | {"kind": [0, 1, 0]}), path)
    os.utime(path, ns=(0, first[0][0][2] + 1))
    assert parquet.ParquetTable(path, "kind").identity() != first


def test_files_are_found_by_name_folder_and_pattern(tmp_path):
    for name in ("b", "a"):
        pq.write_table(pa.table({"x": [1.0]}), tmp_path / f"{name}.parquet")
    expected = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    assert parquet.parquet_files(tmp_path) == parquet.parquet_files(str(tmp_path / "*.parquet")) == expected
    assert parquet.parquet_files([expected[1], expected[0]]) == expected[::-1]
    with pytest.raises(FileNotFoundError, match="There is no Parquet file at"):
        parquet.parquet_files(tmp_path / "c.parquet")


def test_a_checkpoint_belongs_to_what_it_was_begun_with(tmp_path):
    seen = []
    journal = Journal(tmp_path / "journal", lambda number, objective: seen.append((number, objective)))
    journal.begin("this")
    assert [journal.recalled(lambda k=k: k) for k in (5, 6)] == [5, 6]
    journal.objective = 2.5
    assert journal.recalled(lambda: 7) == 7
    assert journal.made == 3
    assert seen == [(0, None), (1, None), (2, 2.5)]
    journal.begin("this")
    assert journal.objective is None
    assert [journal.recalled(lambda: 0) for _ in range(3)] == [5, 6, 7]
    assert journal.made == 0
    assert journal.recalled(lambda: 8) == 8
    assert len(seen) == 4
    with pytest.raises(ValueError, match="belongs to other data or other settings"):
        journal.begin("that")


# Blocks


@pytest.mark.parametrize("kind", [DenseBlock, lambda X: SparseBlock(csr_array(X))])
def test_far_rows_are_drawn_in_by_powers_of_two(kind):
    X = np.array([[1.0, -2.0], [1e10, 3.0], [0.0, -5e7], [0.0, 0.0]])
    limits = np.array([1e3, 1e2])
    drawn = kind(X).drawn_in(limits).rows()
    assert_array_equal(drawn[[0, 3]], X[[0, 3]])
    assert (np.abs(drawn) <= limits).all()
    for row, was in zip(drawn[1:3], X[1:3], strict=True):
        factor = np.abs(row).max() / np.abs(was).max()
        assert np.log2(factor) == np.round(np.log2(factor))
        assert_array_equal(row, was * factor)
        assert (np.abs(row) > limits / 8).any()  # no farther than that
    block = kind(X)
    assert block.drawn_in(np.full(2, 1e11)) is block
    assert block.peak() == 1e10
    assert_array_equal(exponents_beyond(np.array([0.0, 8.0]), np.array([1.0, 1.0])) > 0, [False, True])


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e38), (np.float64, 1e307)])
def test_rows_are_drawn_in_only_where_their_lengths_would_be_no_numbers(dtype, far):
    X = 1e5 * np.random.default_rng(0).normal(size=(10, 2)).astype(dtype)
    X[1:4] = [[far**0.4, 1], [far, -far], [-far, 1]]
    y = np.arange(10)
    for limits in (np.full(2, 1e308), np.full(2, np.inf)):
        for store in (
            as_store(X),
            as_store(csr_array(X)),
            parted_input.read(Blocks([(X[:3], y[:3]), (X[3:], y[3:])])).store,
        ):
            rows = parted.bounded(store, limits).take(np.arange(10)).block(slice(0, 10))
            drawn = rows.rows()
            assert_array_equal(np.delete(drawn, [2, 3], axis=0), np.delete(X, [2, 3], axis=0))
            assert np.isfinite(rows.squares(np.zeros(2, dtype))).all()
            assert_array_equal(np.sign(drawn), np.sign(X))
            assert (np.abs(drawn[2]) > np.abs(X[1, 0])).all()


def test_rows_of_some_type_and_of_one_dimension():
    assert as_rows(np.eye(2, dtype=np.float32), None).dtype == np.float32
    assert as_rows(np.eye(2, dtype=np.float16), None).dtype == np.float64
    assert as_rows([[1, 2]], np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="an array of 1 dimensions"):
        as_rows(np.ones(3), None)
    with pytest.raises(ValueError, match="no numbers"):
        as_rows(np.array([["a"]]), None)
    assert list(row_slices(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(row_slices(2, 0)) == [slice(0, 1), slice(1, 2)]
    assert_array_equal(stacked([csr_array(np.eye(2)), csr_array(np.ones((1, 2)))]).toarray(), [[1, 0], [0, 1], [1, 1]])


def test_units_are_mean_deviations_counted_by_their_size():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(201, 3)) * [1, 50, 1] + [0, 3, 7], np.ones(201)
    X[:, 2] = 4.0
    D = np.abs(X - np.median(X, axis=0))
    D = np.minimum(D, 10 * np.median(D, axis=0))
    found = units.feature_units(as_store(X), weight, Plan())
    assert_allclose(found[:2], (D**2).sum(axis=0)[:2] / D.sum(axis=0)[:2])
    assert found[2] == 1
    rare = np.zeros((1000, 1))
    rare[:5] = 2.0  # fewer than a hundredth differ, and by this much
    assert_allclose(units.feature_units(as_store(rare), np.ones(1000), Plan()), [2.0])


def test_large_tables_have_their_center_taken_off_late_where_digits_allow_it():
    X, y = table(n=400)
    for offset, late in ((0.0, True), (1e9, False)):
        samples = make_samples(X + offset, y, plan=Plan(block=100))
        assert samples._late == late
        for unit in (1e-6, 1e6):
            assert make_samples(unit * (X + offset), y, plan=Plan(block=100))._late == late
        assert not make_samples(X + offset, y)._late  # one block is centered once
        G = samples.gram(np.ones(400))
        centered = X - X.mean(axis=0)
        assert_allclose(G, centered.T @ centered, rtol=1e-6 if offset else 1e-9, atol=1e-6)


def test_weights_of_copies_and_of_importance():
    copies, importance = Weights.of(np.array([1.0, 3.0, 0.0])), Weights.of(np.array([0.5, 1.5]), np.array([1.0, 0.5]))
    assert_array_equal(copies.one, [1, 1, 0])
    assert_array_equal(importance.one, [0.5, 1.5])
    assert_array_equal(importance.trusted, [0.5, 0.75])
    assert_array_equal(importance.one_trusted, [0.5, 0.75])
    assert_array_equal(copies.take(np.array([1])).given, [3])
