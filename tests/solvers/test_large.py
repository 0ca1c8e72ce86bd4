"""Many dimensions, sparse data and acceleration: the same points as the plain algorithm, for less."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import SPARSE, make_samples
from scipy.sparse import csr_array, hstack
from sklearn.exceptions import ConvergenceWarning

from robustlda import DLE, MMC, RatioLDA, SupervisedLPP, TraceRatioLDA
from robustlda.data.space import UnreducedSpace
from robustlda.estimators import _memory
from robustlda.linalg import PackedCholesky, extension, principal_angles
from robustlda.losses import L12, Squared
from robustlda.plan import Dimensions, Plan
from robustlda.solvers import eigen, preconditioner, reweighted, starts, subspace, trace_ratio


def make(n, d, c, seed=0, decay=0.97, gap=1.5):
    """Classes in a space whose scatter falls off, as in images."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % c
    X = (rng.normal(size=(n, d)) + gap * rng.normal(size=(c, d))[labels]) * decay ** np.arange(d)
    return X + 3, labels


def scattered(rng, n, d, density):
    """Uniform numbers in random places; SciPy's own function names its generator by version."""
    places = rng.choice(n * d, int(density * n * d), replace=False)
    return csr_array((rng.random(len(places)), np.unravel_index(places, (n, d))), shape=(n, d))


def documents(n=3000, d=2500, c=6, seed=0):
    """Sparse counts, with words that prefer a class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % c
    X = scattered(rng, n, d, density=0.01)
    X.data = rng.uniform(0.5, 2, X.nnz)
    topic = csr_array(np.kron(np.eye(c), np.ones((1, 20))))[labels]
    chosen = topic.multiply(rng.random(topic.shape) < 0.3)
    return csr_array(X + hstack([chosen, csr_array((n, d - 20 * c))])), labels


def planned(model, plan):
    """The estimator with another plan."""
    model.plan = plan
    return model


@pytest.mark.parametrize("start", starts.NAMED)
@pytest.mark.parametrize(("n", "d", "c", "m"), [(200, 12, 3, 4), (60, 40, 4, 8), (30, 80, 3, 9)])
def test_acceleration_ends_where_plain_steps_do_or_as_low(n, d, c, m, start):
    """In one draw of twenty or thirty the two end at different stationary points, and either may be the lower one."""
    higher, longer = [], []
    for seed in range(7):
        samples = make_samples(*make(n, d, c, seed, decay=0.9))
        W = starts.frame(start, samples, m, np.random.RandomState(seed))
        plain = reweighted.solve(samples, W, L12(), tol=1e-9, max_iter=3000, accelerate=False)
        fast = reweighted.solve(samples, W, L12(), tol=1e-9, max_iter=3000)
        assert (np.diff(fast.history) <= 0).all()
        assert fast.stop.converged
        higher.append(fast.history[-1] / plain.history[-1] - 1)
        longer.append(fast.n_iter - plain.n_iter)
    assert np.median(higher) <= (1e-6 if n > d else 2e-3)
    assert np.median(longer) < 0


def test_subspaces_descend_to_a_stationary_point_as_low_as_the_plain_one():
    samples = make_samples(*make(900, 700, 5, decay=0.99))
    assert samples.plan.use_subspace(samples, 15)
    W = starts.frame("trace_ratio", samples, 15, np.random.RandomState(0))
    plain = reweighted.solve(samples, W, L12(), tol=1e-8, max_iter=2000, accelerate=False)
    for finish in (True, False):
        result = subspace.solve(samples, W, L12(), tol=1e-8, max_iter=300, finish=finish)
        assert (np.diff(result.history) <= 0).all()
        assert result.stop.converged
        assert result.history[-1] <= plain.history[-1] * (1 + 1e-5)
        assert_allclose(result.W.T @ result.W, np.eye(15), atol=1e-9)
        assert result.n_iter <= plain.n_iter + 3


def test_a_subspace_that_is_already_right_is_left_alone():
    rng = np.random.default_rng(0)
    X = np.zeros((900, 700))  # nothing varies beyond the first six coordinates
    X[:, :6] = rng.normal(size=(900, 6)) * 10
    samples = make_samples(csr_array(X), np.arange(900) % 3, plan=Plan(densify=0, gram_span=0))
    assert samples.dim == 700
    W = np.eye(700, 3)
    result = subspace.solve(samples, W, L12(), tol=0, max_iter=8, inverse=lambda R, w: R, finish=False)
    assert (np.diff(result.history) <= 0).all()
    assert_allclose(result.W[6:], 0, atol=1e-7)


def test_trace_ratio_in_subspaces_reaches_the_global_optimum():
    samples = make_samples(*make(900, 700, 5, decay=0.99))
    exact = trace_ratio.solve(samples, 15)
    assert_allclose(trace_ratio._solve_in_subspaces(samples, 15, 1e-10, 100).history[-1], exact.history[-1], rtol=1e-5)


def test_enlarging_keeps_a_basis_orthonormal_and_drops_what_adds_nothing():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(30, 4)))[0]
    V = rng.normal(size=(30, 3))
    B = np.hstack([Q, extension(Q, np.hstack([V, Q[:, :2] + 1e-13, V[:, :1] - V[:, 1:2], np.zeros((30, 1))]))])
    assert B.shape == (30, 7)
    assert_allclose(B.T @ B, np.eye(7), atol=1e-12)
    assert_allclose(B[:, :4], Q)


@pytest.mark.parametrize("kind", [RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])
def test_sparse_equals_dense(kind):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = np.where(rng.random((120, 20)) < 0.3, rng.normal(size=(120, 20)) + 1 + y[:, None], 0)
    dense = kind(n_components=2).fit(X, y)
    for plan in (Plan(), SPARSE):
        sparse = planned(kind(n_components=2), plan).fit(csr_array(X), y)
        frames = [np.linalg.qr(model.components_.T)[0] for model in (dense, sparse)]
        assert principal_angles(*frames).max() < 1e-6
        assert_allclose(sparse.transform(csr_array(X)), dense.transform(X), atol=1e-6)
        assert (sparse.predict(csr_array(X)) == dense.predict(X)).all()


def test_documents_are_never_made_dense(monkeypatch):
    X, y = documents()
    dense = csr_array.toarray

    def guarded(self, *args, **settings):
        assert self.shape[0] < X.shape[0], "the documents have been made dense"
        return dense(self, *args, **settings)

    monkeypatch.setattr(csr_array, "toarray", guarded)
    monkeypatch.setattr(csr_array, "todense", guarded)
    model = RatioLDA(n_components=12, tol=1e-4, init="pca", leverage="bounded", decision="noise_aware").fit(X, y)
    assert (np.diff(model.objective_path_) <= 0).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("start", starts.NAMED)
def test_more_terms_than_documents_stay_in_the_row_space(start):
    X, y = documents(n=900, d=6000)
    samples = make_samples(X, y, plan=SPARSE)
    W = starts.frame(start, samples, 12, np.random.RandomState(0))
    result = subspace.solve(samples, W, L12(), tol=1e-4, max_iter=30)
    basis = np.linalg.svd(X.toarray() - X.mean(axis=0), full_matrices=False)[2][:899].T
    assert principal_angles(result.W, basis).max() < 1e-4


def test_squared_lengths_in_subspaces_are_the_trace_ratio():
    X, y = documents(n=1500, d=2100)
    sparse, dense = make_samples(X, y, plan=SPARSE), make_samples(X.toarray(), y)
    assert sparse.plan.only_subspaces(sparse, 12)
    ratio = trace_ratio.solve(sparse, 12, tol=1e-8).history[-1]
    W = trace_ratio.approximate(sparse, 12)
    start = reweighted.Objective(dense, Squared()).start(dense.space.lower(sparse.space.lift(W)))
    assert ratio <= start.J * (1 + 1e-6)


def test_methods_that_need_a_matrix_of_features_say_so():
    X = scattered(np.random.default_rng(0), 300, 30_000, density=0.001)
    with pytest.raises(ValueError, match="MMC needs a matrix of features × features, 7 GB for 30000 features"):
        MMC().fit(X, np.arange(300) % 3)


@pytest.mark.parametrize(
    ("dim", "n", "m", "expected"),
    [
        (18, 846, 12, "gram"),
        (399, 400, 120, "gram"),
        (1024, 3329, 204, "gram"),
        (1024, 1440, 60, "subspace, then gram"),
        (1599, 8293, 195, "subspace, then gram"),
        (3157, 9394, 90, "subspace, factorized"),
        (36093, 9394, 90, "subspace, through samples"),
        (61188, 18774, 60, "subspace, through samples from trace ratio"),
        (61188, 25000, 60, "subspace, matrix-free"),
    ],
)
def test_choice_of_form(dim, n, m, expected):
    plan, samples = Plan(), Dimensions(dim, n)
    form = "gram"
    if plan.use_subspace(samples, m):
        form = "subspace, matrix-free"
        if plan.factorize_inner_products(samples, plan.little):
            form = "subspace, through samples from trace ratio"
        if plan.factorize_inner_products(samples, plan.shift(samples)):
            form = "subspace, through samples"
        if plan.factorize_total_scatter(samples):
            form = "subspace, factorized"
        if plan.finish_in_whole_space(samples):
            form = "subspace, then gram"
    assert form == expected


@pytest.mark.parametrize(
    ("n", "d", "c"), [(1000, 50, 3), (20_000, 50, 5), (2000, 400, 10), (1500, 900, 5), (200, 5000, 5), (1200, 1200, 5)]
)
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("decision", [None, "noise_aware"])
def test_memory_is_foreseen_within_a_factor_of_two(n, d, c, kind, decision):
    rng, y = np.random.default_rng(0), np.arange(n) % c
    if kind == "sparse":
        # In few columns sparse rows would be copies of each other, and merged.
        X = scattered(rng, n, d, density=0.01 if d > 100 else 0.3)
    else:
        X = (rng.normal(size=(n, d)) + 2 * rng.normal(size=(c, d))[y]).astype(kind)
    model = RatioLDA(max_iter=4, decision=decision)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 < model.estimate_memory(X, y) / peak < 2


def test_a_fit_that_cannot_be_held_says_so_before_it_starts(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"takes about 0.\d GB beside the data, but 0.0 GB are free. Use fewer"):
        RatioLDA().fit(np.random.default_rng(0).normal(size=(5000, 200)), np.arange(5000) % 3)


def test_memory_at_hand_is_a_plausible_number():
    assert 1e8 < _memory.available_memory() < 1e15


def wide_documents():
    X, labels = documents(n=300, d=2500)
    return make_samples(X, labels, plan=SPARSE), make_samples(X.toarray(), labels)


def test_products_with_samples_agree_however_they_are_stored():
    sparse, dense = wide_documents()
    Z = np.random.default_rng(0).normal(size=(300, 4))
    assert_allclose(sparse.inner_products(slice(20, 50)), dense.inner_products(slice(20, 50)), atol=1e-10)
    assert_allclose(sparse.combine(Z), dense.space.lift(dense.combine(Z)), atol=1e-10)
    assert_allclose(sparse.total_scatter, dense.space.lift(dense.space.lift(dense.total_scatter).T), atol=1e-9)


def test_the_inverse_through_the_samples_is_the_inverse_on_their_span():
    sparse, _ = wide_documents()
    w = np.random.default_rng(0).uniform(0.1, 5, 300)
    R = sparse.combine(np.random.default_rng(1).normal(size=(300, 3)))
    found = preconditioner.inverse_scatter(sparse, 1e-4)(R, w)
    assert_allclose(sparse.apply(w, found), R, atol=1e-4 * np.abs(R).max())


@pytest.mark.parametrize("precision", ["double", "single"])
def test_wide_sparse_data_start_and_go_on_with_one_factor(monkeypatch, precision):
    plan = Plan(densify=0, factor_samples_double=10_000 if precision == "double" else 0)
    made, packed = [], preconditioner.PackedCholesky
    monkeypatch.setattr(
        preconditioner, "PackedCholesky", lambda *args, **kw: made.append(kw["dtype"]) or packed(*args, **kw)
    )
    X, labels = documents(n=300, d=2500)
    model = RatioLDA(decision=None, tol=1e-7)
    planned(model, plan).fit(X, labels)
    assert made == [float if precision == "double" else np.float32]
    dense = make_samples(X.toarray(), labels)
    W, centers = dense.space.lower(model.components_.T), dense.space.lower((model.class_centers_ - model.center_).T).T
    plain = reweighted.solve(dense, W, L12(), centers=centers, tol=1e-7, accelerate=False)
    assert_allclose(model.objective_path_[-1], plain.history[[0, -1]], rtol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 600, 601])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-3), (float, 1e-10)])
def test_a_packed_factor_solves(n, dtype, tolerance):
    rng = np.random.default_rng(n)
    K, B = np.cov(rng.normal(size=(n, 3 * n + 2))).reshape(n, n), rng.normal(size=(n, 3))
    found = PackedCholesky(lambda rows: K[rows].copy(), n, 0.1, dtype=dtype).solve(B)
    assert found.dtype == float
    assert_allclose(K @ found + 0.1 * found, B, atol=tolerance)


def test_a_packed_factor_takes_the_smallest_shift_with_which_it_exists():
    K = np.diag([1.0, 2.0, -1e-3])  # as rounding errors may leave a singular matrix
    found = PackedCholesky(lambda rows: K[rows].copy(), 3, 1.01e-5, dtype=np.float32).solve(np.ones((3, 1)))
    assert_allclose(found.ravel(), 1 / (np.diag(K) + 1.01e-3), rtol=1e-2)


def test_wide_sparse_data_reach_the_plain_minimum():
    sparse, dense = wide_documents()
    W = starts.frame("pca", dense, 18, np.random.RandomState(0))
    plain = reweighted.solve(dense, W, L12(), tol=1e-7, max_iter=2000, accelerate=False)
    fast = subspace.solve(sparse, dense.space.lift(W), L12(), tol=1e-7)
    assert (np.diff(fast.history) <= 0).all()
    assert fast.n_iter < plain.n_iter
    assert fast.history[-1] <= plain.history[-1] * 1.01  # 1 + 1e-4 in nine draws of ten, or another stationary point
    assert_allclose(fast.W.T @ fast.W, np.eye(18), atol=1e-9)
    assert_allclose(dense.space.lift(dense.space.lower(fast.W)), fast.W, atol=1e-6)


def test_single_precision_in_early_steps_costs_nothing_in_the_end():
    samples = make_samples(*make(600, 200, 5, decay=0.98))
    W = starts.frame("pca", samples, 15, np.random.RandomState(0))
    double = reweighted.solve(samples, W, L12(), tol=1e-9)
    mixed = reweighted.solve(samples, W, L12(), tol=1e-9, single_above=1e-4)
    assert_allclose(mixed.history[-1], double.history[-1], rtol=1e-8)
    assert (np.diff(mixed.history) <= 0).all()
    assert_allclose(mixed.W.T @ mixed.W, np.eye(15), atol=1e-12)


def test_single_precision_alone_still_gives_orthonormal_vectors():
    A = make(400, 200, 5)[0]
    W = eigen.smallest(-(A.T @ A).astype(np.float32), 20)
    assert_allclose(W.T @ W, np.eye(20), atol=1e-10)


def test_a_table_of_doubtful_rank_is_told_from_a_sound_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 8)) * 10.0 ** np.arange(-4, 4)
    labels = np.arange(100) % 2
    assert make_samples(X, labels).dim == 8
    assert make_samples(np.hstack([X, X[:, :3] @ rng.normal(size=(3, 1))]), labels).dim == 8


@pytest.mark.parametrize("offset", [0.0, 10.0, 1e6])
def test_large_tables_are_centered_exactly_wherever_they_lie(offset):
    X, labels = make(400, 20, 4)
    far, near = make_samples(X + offset, labels, plan=Plan(block=1000)), make_samples(X - X.mean(axis=0), labels)
    W = starts.frame("pca", near, 5, np.random.RandomState(0))
    s, M = np.random.default_rng(0).normal(size=400), np.zeros((4, 20))
    assert_allclose(far.lengths(W, M), near.lengths(W, M), rtol=1e-7)
    assert_allclose(far.project(W), near.project(W), atol=1e-8)
    assert_allclose(far.apply(s, W), near.apply(s, W), atol=1e-6)


def test_memory_mapped_rows_are_read_block_by_block(tmp_path):
    X, labels = make(60_000, 100, 4)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = planned(RatioLDA(init="pca", leverage="bounded", decision=None), Plan(block=1 << 18))
    tracemalloc.start()
    model.fit(mapped, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
    in_memory = RatioLDA(init="pca", leverage="bounded", decision=None).fit(X, labels)
    assert_allclose(model.components_, in_memory.components_, atol=1e-9)
    assert_allclose(model.transform(mapped), in_memory.transform(X), atol=1e-8)


def test_directions_in_which_no_sample_varies_are_never_found(monkeypatch):
    """They cost nothing, so a solver that could would take them; rounding errors are enough to lead there."""
    plan = Plan(densify=0, gram_span=0, whole_space_dim=0)
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    X = scattered(rng, 900, 520, 0.05).toarray()
    X[:, 0], X[:, 3] = X[:, 1] + X[:, 2], 0
    centered, X = X - X.mean(axis=0), csr_array(X)
    samples = make_samples(X, y, plan=plan)
    null = samples.space.null
    assert null.shape == (520, 2)
    assert np.abs(centered @ null).max() < 1e-9
    V = rng.normal(size=(520, 4))
    assert_allclose(samples.space.lower(V), V - null @ (null.T @ V), atol=1e-12)

    def shortest():
        model = planned(TraceRatioLDA(n_components=9, decision=None), plan).fit(X, y)
        return np.linalg.norm(centered @ model.components_.T, axis=0).min()

    assert shortest() > 1e-2
    monkeypatch.setattr(UnreducedSpace, "within_span", lambda self, V: V)
    assert shortest() < 1e-4
