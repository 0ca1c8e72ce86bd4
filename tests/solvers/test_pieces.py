"""Pieces of the solvers against their formulas, and what they say about how they ended."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import make_samples
from scipy.linalg import eigh
from scipy.stats import chi2
from sklearn.covariance import ledoit_wolf_shrinkage

from robustlda import minimize_ratio
from robustlda.linalg import followed_by
from robustlda.losses import L12, Squared
from robustlda.plan import Plan
from robustlda.solvers import (
    believed,
    eigen,
    laplacian,
    margin,
    preconditioner,
    reweighted,
    starts,
    subspace,
    trace_ratio,
)


def table(n=200, d=6, c=3, seed=0, deficient=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 2 * rng.normal(size=(c, d))[y]
    if deficient:
        X[:, 1] = 2 * X[:, 0] - X[:, 2]
    return X, y


# Believed classes


def test_shrinkage_of_copies_is_that_of_weights_and_near_ledoit_and_wolfs():
    rng = np.random.default_rng(0)
    R, weight = rng.normal(size=(30, 4)) * [1, 2, 1, 1], rng.integers(1, 4, 30)
    repeated = np.repeat(R, weight, axis=0)
    n = len(repeated)
    found = believed._intensity(R, weight.astype(float), np.ones(30), n)
    assert_allclose(found, believed._intensity(repeated, np.ones(n), np.ones(n), n))
    fourth = sum((r @ r) ** 2 for r in repeated)
    size = (sum((a @ b) ** 2 for a in repeated for b in repeated) - fourth) / (n * (n - 1))
    error = (fourth / n - size) / n
    level = sum(r @ r for r in repeated) / n
    assert_allclose(found, error / (size + error - level**2 / 4))
    many = rng.normal(size=(4000, 4)) * [1, 1.3, 1, 1]
    ones = np.ones(4000)
    expected = ledoit_wolf_shrinkage(many, assume_centered=True)
    assert_allclose(believed._intensity(many, ones, ones, 4000), expected, rtol=0.1)


def shrinkage(samples, *point):
    return believed._shrinkage(samples, believed._some_of_each_class(samples), *point)


def test_shrinkage_of_what_has_no_shape_is_complete():
    one = np.ones((1, 3))
    assert believed._intensity(one, np.ones(1), np.ones(1), 1) == 1
    assert believed._intensity(np.zeros((9, 3)), np.ones(9), np.ones(9), 9) == 1
    assert believed._intensity(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6), np.ones(6), 6) == 1


@pytest.mark.parametrize(("asked", "given"), [(0.2, 0.25), (0.5, 1.0), (0.99, 19.0)])
def test_what_is_shrunk_is_a_share_of_target_and_scatter_together(asked, given, monkeypatch):
    """(S + λD) / (1 + λ) has the share λ / (1 + λ) of D, which is never all of it."""
    monkeypatch.setattr(believed, "_intensity", lambda *_: asked)
    X, y = table()
    unit = np.ones(6)
    assert_allclose(shrinkage(make_samples(X, y), np.zeros((3, 6)), unit, 0.0, unit, 1.0), given)


def test_classes_ask_for_shrinkage_by_their_shares_and_sizes(monkeypatch):
    asked = []

    def intensity(R, copies, trust, n):
        asked.append((len(R), copies @ trust, n))
        return 0.1 * len(asked)

    monkeypatch.setattr(believed, "_intensity", intensity)
    X, y = table(n=60)
    y = np.where(np.arange(60) < 40, 0, 1 + np.arange(60) % 2)
    unit = np.ones(6)
    found = shrinkage(make_samples(X, y), np.zeros((3, 6)), unit, 0.0, unit, 1.0)
    assert asked == [(40, 40, 120), (10, 10, 30), (10, 10, 30)]  # labels that are sure: all classes tell of one shape
    rho = (40 * 0.1 + 10 * 0.2 + 10 * 0.3) / 60
    assert_allclose(found, rho / (1 - rho))
    for doubt in (0.4, 0.9):
        asked.clear()
        shrinkage(make_samples(X, y), np.zeros((3, 6)), unit, doubt, unit, 1.0)
        assert [n for _, _, n in asked] == [40, 10, 10]


def test_large_classes_are_asked_by_some_distinct_rows_with_their_copies():
    X, y = table(n=1500)
    y[:] = np.arange(1500) < 100
    X[500:] = X[500:600].repeat(10, axis=0)
    index, weights = believed._some_of_each_class(make_samples(X, y))
    assert_array_equal(np.bincount(y[index]), [400, 100])
    assert len(np.unique(X[index], axis=0)) == 500
    assert_allclose((weights.given / weights.one)[index >= 500], 10)
    assert_array_equal(believed._some_of_each_class(make_samples(X[:400], y[:400]))[0], np.arange(400))


def test_what_classes_ask_for_does_not_hang_on_the_unit_of_lengths():
    X, y = table()
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    X[::9] *= 8
    X[1::2] = means[y[1::2]]  # half of the rows have no length
    samples, unit = make_samples(X, y), np.ones(6)
    found = [shrinkage(samples, means, unit, 0.5, scale * unit, 2 * scale) for scale in (1.0, 1e-4, 1e4)]
    assert_allclose(found, found[0])


@pytest.mark.parametrize("p", [1, 2, 7])
def test_weights_make_a_normal_scatter_smaller_by_what_is_stated(p):
    length = np.sqrt(chi2(p).median())
    expected = chi2(p).expect(lambda squared: length * np.sqrt(squared)) / chi2(p).mean()
    assert_allclose(believed._fewer(p), expected, rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_scatter_within_normal_classes_is_that_of_the_classes(offset):
    rng = np.random.default_rng(0)
    root = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0.3, 0.1, 2.0]])
    y = np.arange(30_000) % 3
    X = rng.normal(size=(30_000, 3)) @ root.T + np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0]])[y] + offset
    found = believed.solve(make_samples(X, y), 2)
    assert_allclose(found.covariance, root @ root.T, atol=0.06 * 4)
    assert_allclose(np.linalg.eigvalsh(found.covariance), np.linalg.eigvalsh(root @ root.T), rtol=0.05)
    assert_allclose(found.basis, np.eye(3))
    # Directions have unit variance within classes, and all that separates three classes is in two of them.
    within = np.mean([np.cov(X[y == k].T) for k in range(3)], axis=0)
    assert_allclose(found.W.T @ within @ found.W, np.eye(2) * (found.W.T @ within @ found.W)[0, 0], atol=0.05)
    assert np.isnan(found.stationarity)
    assert found.stop.converged


def test_a_target_knows_units_or_no_basis():
    X, y = table(deficient=True)
    samples = make_samples(X, y)
    S = np.cov(samples.rows(slice(None)).T)
    D = believed._target(samples, S)
    basis = samples.space.basis
    assert_allclose(D, basis.T @ np.diag(np.diag(basis @ S @ basis.T)) @ basis, atol=1e-12)
    whole = make_samples(*table())
    S = np.cov(whole.rows(slice(None)).T)
    assert_allclose(believed._target(whole, S), np.diag(S))
    wide = make_samples(np.random.default_rng(0).normal(size=(10, 10)), np.arange(10) % 2)
    S = np.diag(np.arange(1.0, 10))
    assert_allclose(believed._target(wide, S), np.full(9, 5.0))
    copies = make_samples(X[:5], y[:5], np.full(5, 2.0))  # ten samples, more than features
    assert len(np.unique(np.round(believed._target(copies, np.diag(np.arange(1.0, 5))), 9))) > 1


def test_a_diagonal_matrix_is_a_matrix():
    rng = np.random.default_rng(0)
    F, d = rng.normal(size=(4, 4)), rng.uniform(1, 3, 4)
    S, D = F @ F.T + np.eye(4), np.diag(d)
    assert_allclose(believed._drawn_to(d, S, 0.3), (S + 0.3 * D) / 1.3)
    assert_allclose(believed._drawn_to(D, S, 0.3), (S + 0.3 * D) / 1.3)
    root = believed._inverse_root(S)
    assert_allclose(root.T @ S @ root, np.eye(4), atol=1e-12)
    assert_allclose(believed._trace(root, d), np.trace(np.linalg.inv(S) @ D))
    assert_allclose(believed._trace(root, D), np.trace(np.linalg.inv(S) @ D))
    assert_allclose(-2 * believed._log_determinant(root), np.linalg.slogdet(S)[1])
    assert_allclose(believed._inverse_root(d), d**-0.5)
    assert_allclose(-2 * believed._log_determinant(believed._inverse_root(d)), np.log(d).sum())
    assert_allclose(believed._times(F, d), F @ D)
    assert_allclose(believed._times(F, S), F @ S)


def test_axes_follow_directions_as_far_as_they_are_new():
    V = np.eye(5)[:, :2]
    axes = np.column_stack([V @ [1.0, 2.0], np.eye(5)[:, 2] + V[:, 0], np.eye(5)[:, 2], np.eye(5)[:, 4]])
    found = followed_by(V, axes, 4)
    assert_allclose(np.abs(found), np.eye(5)[:, [0, 1, 2, 4]], atol=1e-12)
    assert followed_by(V, axes, 3).shape == (5, 3)


def test_more_directions_than_separate_classes_have_no_separation(monkeypatch):
    X, y = table()
    few, roots, genuine = believed.solve(make_samples(X, y), 2), [], believed._directions
    monkeypatch.setattr(believed, "_directions", lambda *given: roots.append(given[2]) or genuine(*given))
    found = believed.solve(make_samples(X, y), 5)
    assert (found.separation[:2] > 0).all()
    assert_array_equal(found.separation[2:], 0)
    assert_allclose(found.W[:, :2], few.W)
    Sigma = np.linalg.inv(roots[0] @ roots[0].T)
    assert_allclose(found.W.T @ Sigma @ found.W, np.eye(5), atol=1e-9)


@pytest.mark.parametrize(("tol", "max_iter"), [(1e-4, 20), (0.0, 3), (1e9, 20)])
def test_the_end_of_believed_classes_is_told(tol, max_iter):
    X, y = table()
    found = believed.solve(make_samples(X, y), 2, tol=tol, max_iter=max_iter)
    if tol == 0:
        assert len(found.history) == max_iter + 1
        assert not found.stop.converged
        assert "max_iter=3" in found.stop.reason
    elif tol > 1:
        assert len(found.history) == 2
        assert found.stop.converged
    else:
        steps = -np.diff(found.history)
        assert (steps[:-1] > tol * 6).all()
        assert steps[-1] <= tol * 6
        assert found.stop.converged


# Algorithm 2


def test_strides_go_on_in_logarithms():
    def point(within, residual):
        return reweighted.Point(np.eye(2), np.eye(2), np.array(within), np.array(residual), 1.0, 1.0, 1.0)

    here, there = point([4.0, 1.0, 0.0], [9.0, 1.0, 1.0]), point([2.0, 1.0, 0.0], [3.0, 2.0, 0.0])
    within, residual = reweighted._beyond(here, there, 2.0)
    assert_allclose(within, [1, 1, 0], atol=1e-5)
    assert_allclose(residual[:2], [1, 4], atol=1e-5)
    assert residual[2] == 0
    assert_allclose(reweighted._beyond(here, there, 1.0)[0], there.within, atol=1e-12)
    assert_allclose(reweighted._beyond(here, there, 1.5)[0][0], np.sqrt(2.0), atol=1e-5)


@pytest.mark.parametrize("accelerate", [False, True])
def test_the_end_of_algorithm_2_is_told(accelerate):
    X, y = table()
    samples = make_samples(X, y)
    W = starts.principal_axes(samples, 2)
    short = reweighted.solve(samples, W, L12(), tol=1e-12, max_iter=3, accelerate=accelerate)
    assert short.n_iter == 3
    assert not short.stop.converged
    assert short.stop.reason == "max_iter=3 was reached"
    found = reweighted.solve(samples, W, L12(), tol=1e-7, accelerate=accelerate)
    assert found.stop.converged
    assert "tol=1e-07" in found.stop.reason
    assert (found.history[-2] - found.history[-1]) / found.history[-1] <= 1e-7
    assert found.stationarity < 1e-2 * reweighted.solve(samples, W, L12(), max_iter=0).stationarity
    again = reweighted.solve(samples, found.W, L12(), tol=0.0, max_iter=500, centers=found.centers)
    assert again.history[0] == pytest.approx(found.history[-1], rel=1e-12)
    assert again.history[-1] >= found.history[-1] * (1 - 1e-4)


def test_strides_that_lead_up_are_shortened_until_there_are_none(monkeypatch):
    """Falls of a hundredth call for long strides, each of which ends higher here and is followed by a plain step."""
    strides, J = [], [1.0]

    def beyond(here, there, stride):
        strides.append(stride)
        return np.zeros(1), np.zeros(1)

    def step(objective, here, ahead, single):
        if ahead is None:
            J.append(0.99 * J[-1])
        return reweighted.Point(np.eye(1), np.eye(1), np.zeros(1), np.zeros(1), 1.0, 1.0, J[-1] + (ahead is not None))

    monkeypatch.setattr(reweighted, "_beyond", beyond)
    monkeypatch.setattr(reweighted, "_step", step)
    start = reweighted.Point(np.eye(1), np.eye(1), np.zeros(1), np.zeros(1), 1.0, 1.0, 1.0)
    _, history, stop = reweighted.descend(None, start, tol=1e-9, max_iter=20)
    assert_allclose(strides, [2.0, 1.6, 1.28, 1.024])
    assert (np.diff(history) <= 0).all()
    assert not stop.converged


def test_where_working_precision_sees_no_descent_it_has_converged(monkeypatch):
    points = iter([0.9, 0.9 + 1e-15])

    def step(objective, here, ahead, single):
        return reweighted.Point(np.eye(1), np.eye(1), np.zeros(1), np.zeros(1), 1.0, 1.0, next(points))

    monkeypatch.setattr(reweighted, "_step", step)
    start = reweighted.Point(np.eye(1), np.eye(1), np.zeros(1), np.zeros(1), 1.0, 1.0, 1.0)
    here, history, stop = reweighted.descend(None, start, tol=0.0, max_iter=20, accelerate=False)
    assert (here.J, history) == (0.9, [1.0, 0.9])
    assert stop.converged
    assert stop.reason == "no further descent in working precision"


def test_products_with_weights_beyond_single_precision_are_numbers():
    X, y = table()
    samples = make_samples(X.astype(np.float32), y)
    objective = reweighted.Objective(samples, L12(), 1.0)
    W = np.eye(6, 2)
    surrogate = objective.surrogate(objective.at(W, np.zeros((3, 6))))
    expected = objective.apply(surrogate, W)
    for scale in (1e-60, 1e60):
        far = replace(surrogate, w=scale * surrogate.w, pull=scale * surrogate.pull, totals=scale * surrogate.totals)
        assert_allclose(objective.apply(far, W), scale * expected, rtol=1e-5)


def test_long_strides_take_fewer_steps():
    plain, long = 0, 0
    for seed in range(5):
        samples = make_samples(*table(d=10, seed=seed))
        W = starts.frame("random", samples, 3, np.random.RandomState(0))
        how = {"tol": 1e-9, "max_iter": 3000}
        plain += reweighted.solve(samples, W, L12(), accelerate=False, **how).n_iter
        long += reweighted.solve(samples, W, L12(), accelerate=True, **how).n_iter
    assert long < 0.9 * plain


@pytest.mark.parametrize(("tol", "last"), [(1e-9, False), (1e-3, True)])
def test_single_precision_has_the_last_word_only_where_it_is_enough(tol, last, monkeypatch):
    samples, seen, genuine = make_samples(*table()), [], reweighted._step
    monkeypatch.setattr(reweighted, "_step", lambda *given: seen.append(given[3]) or genuine(*given))
    W = starts.frame("random", samples, 2, np.random.RandomState(0))
    found = reweighted.solve(samples, W, L12(), tol=tol, single_above=1e-5)
    assert found.stop.converged
    assert seen[0]
    assert seen[-1] == last


@pytest.mark.parametrize("steps", [0, 1, 100])
def test_the_residual_of_the_trace_ratio_is_relative(steps):
    X, y = table()
    found = trace_ratio.solve(make_samples(X, y), 2, max_iter=steps)
    assert (found.stationarity < 1e-6) == (steps == 100)
    larger = trace_ratio.solve(make_samples(1000 * X, y), 2, max_iter=steps)
    if steps < 100:
        assert_allclose(larger.stationarity, found.stationarity, rtol=1e-6)
        objective = reweighted.Objective(make_samples(X, y), Squared())
        assert_allclose(found.stationarity, objective.stationarity(objective.start(found.W)), rtol=1e-6)
    else:
        assert larger.stationarity < 1e-6


def test_a_class_that_is_rejected_keeps_its_center():
    point = reweighted.Point(np.eye(2), np.array([[1.0, 2], [3, 4]]), *[np.zeros(2)] * 2, 1.0, 1.0, 1.0)
    found = reweighted._weighted_means(np.array([0.0, 2.0]), np.array([[0.0, 0], [2, 8]]), point)
    assert_allclose(found, [[1, 2], [1, 4]])


def test_one_far_sample_does_not_set_the_unit():
    X, y = table()
    X[0] = 1e9
    objective = reweighted.Objective(make_samples(X - X.mean(axis=0), y), L12())
    clean = reweighted.Objective(make_samples(*table()), L12())
    assert objective.unit > 1e10  # the mean of all is carried away, and with it every length …
    samples = make_samples(X, y)
    lengths = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    assert_allclose(
        reweighted.Objective(samples, L12()).unit, np.sort(lengths)[99], rtol=1e-6
    )  # … but not their median
    assert clean.unit == pytest.approx(np.sort(clean.samples.squared_norms)[99])


def test_stationarity_is_the_relative_length_of_the_gradient():
    X, y = table()
    samples = make_samples(X, y)
    objective = reweighted.Objective(samples, Squared())
    W = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 2)))[0]
    point = objective.start(W)
    Sw, St, _ = trace_ratio.scatters(samples)
    ratio = np.trace(W.T @ Sw @ W) / np.trace(W.T @ St @ W)
    assert_allclose(point.J, ratio)
    A = (Sw - ratio * St) @ W
    tangent = np.linalg.norm(A - W @ (W.T @ A))
    scale = np.trace(W.T @ Sw @ W) + ratio * np.trace(W.T @ St @ W)
    assert_allclose(objective.stationarity(point), tangent * np.sqrt(2) / scale, rtol=1e-8)
    # Centers away from their means add what they are off, in units of the scatter within.
    shift = np.random.default_rng(2).normal(size=(3, 6))
    moved = objective.at(W, point.centers + shift)
    surrogate = objective.surrogate(moved)
    off = np.bincount(y) @ ((shift @ W) ** 2).sum(axis=1)
    within = np.trace(W.T @ Sw @ W) + off
    assert_allclose(surrogate.centers, point.centers, atol=1e-10)
    pull = within / np.trace(W.T @ St @ W)
    A = (Sw - pull * St) @ W
    in_W = np.linalg.norm(A - W @ (W.T @ A)) * np.sqrt(2) / (within + pull * np.trace(W.T @ St @ W))
    assert_allclose(objective.stationarity(moved), np.sqrt(in_W**2 + off / within), rtol=1e-8)
    points = make_samples(np.repeat(np.eye(3), 2, axis=0), np.repeat(np.arange(3), 2))
    exact = reweighted.Objective(points, Squared())
    assert exact.stationarity(exact.start(np.eye(points.dim)[:, :1])) == 0  # classes are points, and nothing is left


@pytest.mark.parametrize("loss", [Squared(), L12()], ids=["squared", "l12"])
def test_where_classes_are_points_but_for_rounding_nothing_is_left_to_descend(loss):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(3), 7)
    X = rng.normal(size=(3, 5))[y] * 10.0 ** np.arange(5)
    objective = reweighted.Objective(make_samples(X, y, rng.uniform(0.5, 2, 21)), loss)
    point = objective.start(np.eye(objective.samples.dim)[:, :2])
    assert 0 < point.within.max() < 1e-20
    assert objective.stationarity(point) == 0


# Starts and subspaces


def test_principal_axes_are_the_same_by_every_way():
    X, y = table(n=300, d=40)
    plain = make_samples(X, y)
    expected = np.linalg.eigh(plain.total_scatter)[1][:, ::-1][:, :3]
    for plan in (Plan(), Plan(single_dim=0), Plan(subspace_dim=0, whole_space_dim=0)):
        found = starts.principal_axes(make_samples(X, y, plan=plan), 3)
        assert_allclose(np.abs(np.diag(found.T @ expected)), 1, atol=1e-6)


@pytest.mark.parametrize("max_iter", [1, 2, 4, 9])
@pytest.mark.parametrize("whole", [0, 2000])
def test_subspaces_take_no_more_steps_than_allowed(max_iter, whole):
    X, y = table(n=150, d=60)
    plan = Plan(subspace_dim=0, whole_space_dim=whole, handover=0.5)
    samples = make_samples(X, y, plan=plan)
    W = starts.frame("random", samples, 2, np.random.RandomState(0))
    found = subspace.solve(samples, W, L12(), tol=1e-14, max_iter=max_iter)
    assert found.n_iter == max_iter
    assert not found.stop.converged
    assert (np.diff(found.history) <= 0).all()
    assert_allclose(found.history[-1], reweighted.Objective(samples, L12()).at(found.W, found.centers).J, rtol=1e-9)


@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_closed_forms_have_nothing_left_to_descend(ridge):
    samples = make_samples(*table())
    for found in (
        margin.solve(samples, 2),
        laplacian.solve_locality(samples, 2, "heat", ridge),
        laplacian.solve_embedding(samples, 2, 5, ridge),
    ):
        assert found.stationarity == 0
        assert found.stop.converged
        assert found.n_iter == 0
        assert_allclose(
            found.centers, np.array([samples.rows(np.flatnonzero(samples.labels == k)).mean(axis=0) for k in range(3)])
        )


def test_large_eigenvalues_are_known_to_a_digit():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    S = (Q * np.r_[9.0, 5, np.ones(28)]) @ Q.T
    found = preconditioner._largest(lambda v: S @ v, rng.normal(size=(30, 1)))
    assert 5 < found <= 9 * (1 + 1e-9)  # never more, and by chance less
    factor = preconditioner._factor(S.copy(), 0.5)
    lower = np.tril(factor[0]) if factor[1] else np.triu(factor[0]).T
    shifted = lower @ lower.T
    assert_allclose(shifted - S, np.eye(30) * (shifted - S)[0, 0], atol=1e-9)
    assert (shifted - S)[0, 0] == pytest.approx(4.5, rel=0.1)


def test_directions_of_large_scatter_are_found_by_two_steps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) * np.r_[np.full(3, 20.0), np.ones(27)]
    samples = make_samples(X, np.arange(400) % 2)
    V = subspace.principal_directions(samples, 3)
    assert_allclose(V.T @ V, np.eye(3), atol=1e-10)
    assert np.linalg.norm(V[:3]) ** 2 > 3 - 1e-3


def test_eigenvectors_come_in_ascending_order_by_both_drivers():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(30, 30))
    A = F + F.T
    values = np.linalg.eigvalsh(A)
    for m in (1, 4, 5, 6, 30):
        V = eigen.smallest(A, m)
        assert_allclose(np.diag(V.T @ A @ V), values[:m], atol=1e-10)
        single = eigen.smallest(A.astype(np.float32), m)
        assert single.dtype == float
        assert_allclose(single.T @ single, np.eye(m), atol=1e-10)


@pytest.mark.parametrize("lanczos", [10, 1000])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_generalized_eigenpairs_know_no_units(unit, lanczos):
    rng = np.random.default_rng(0)
    F, G = rng.normal(size=(60, 30)), rng.normal(size=(60, 30))
    A, B = F.T @ F, G.T @ G
    theta, V = eigen.largest_generalized(unit * A, unit * B, 1, lanczos)
    assert_allclose(theta, eigh(A, B, eigvals_only=True)[-1:], rtol=1e-8)
    assert_allclose(V.T @ (unit * B) @ V, [[1]], rtol=1e-8)
    assert_allclose(A @ V, theta * (B @ V), atol=1e-6 * np.abs(A @ V).max())


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_trace_ratio_knows_no_units(unit):
    X, y = table()
    expected = trace_ratio.solve(make_samples(X, y), 2)
    found = trace_ratio.solve(make_samples(unit * X, y), 2)
    assert_allclose(found.history, expected.history, rtol=1e-9)
    assert_allclose(np.abs(found.W), np.abs(expected.W), atol=1e-6)


def test_a_ratio_stops_where_a_step_gains_less_than_asked_for():
    def run(**how):
        return minimize_ratio(lambda x: x**2 + 3, lambda x: x + 1, lambda ratio, x: ratio / 2, v0=100.0, **how)

    coarse, fine = run(tol=1e-2), run()
    assert coarse.converged
    assert fine.converged
    assert len(coarse.history) < len(fine.history)
    assert fine.ratio == pytest.approx(2, abs=1e-12)
    assert coarse.history[-2] - coarse.history[-1] <= 1e-2 * coarse.ratio
    assert (-np.diff(coarse.history)[:-1] > 1e-2 * coarse.history[1:-1]).all()
    none = run(max_iter=0)
    assert not none.converged
    assert len(none.history) == 1
