"""Algorithms 1 and 2: certificates of optimality, rates, descent, special cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import make_samples, problems
from scipy.linalg import eigh
from sklearn.datasets import load_digits, load_iris, load_wine

from robustlda import losses, minimize_ratio
from robustlda.linalg import principal_angles
from robustlda.solvers import reweighted, starts, trace_ratio


def frame(samples, m, seed=0):
    return starts.frame("random", samples, m, np.random.RandomState(seed))


# Algorithm 1


def test_ratio_of_lines_over_a_finite_set_is_found_exactly():
    f, g = np.array([3.0, 5, 2, 8, 1.5]), np.array([1.0, 2, 1, 5, 1])
    result = minimize_ratio(lambda i: f[i], lambda i: g[i], lambda ratio, i: int(np.argmin(f - ratio * g)), v0=0)
    assert result.v == np.argmin(f / g)
    assert result.ratio == (f / g).min()
    assert result.converged


def test_ratio_refuses_a_denominator_that_is_not_positive():
    with pytest.raises(ValueError, match=r"g\(v\) = 0.0"):
        minimize_ratio(lambda v: 1.0, lambda v: 0.0, lambda ratio, v: v, v0=1)


@pytest.mark.parametrize("nowhere", [1, 2])
def test_ratio_refuses_a_numerator_that_is_no_number(nowhere):
    with pytest.raises(ValueError, match=r"f\(v\) is NaN"):
        minimize_ratio(lambda v: np.nan if v == nowhere else 3.0 - v, lambda v: 1.0, lambda ratio, v: v + 1, v0=1)


def test_ratio_reports_that_it_was_cut_short():
    result = minimize_ratio(lambda x: x**2 + 3, lambda x: x + 1, lambda ratio, x: ratio / 2, v0=100.0, max_iter=2)
    assert not result.converged
    assert len(result.history) == 3


def test_a_worse_point_from_an_inexact_inner_solver_is_not_kept():
    result = minimize_ratio(lambda x: x, lambda x: 1.0, lambda ratio, x: x + 1, v0=1.0)
    assert result.v == 1.0
    assert list(result.history) == [1.0]


# Trace ratio


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(1, 6))
def test_trace_ratio_carries_its_certificate_of_global_optimality(problem, m):
    X, labels, weight, _ = problem
    samples = make_samples(X, labels, weight)
    m = min(m, samples.dim)
    result = trace_ratio.solve(samples, m)
    Sw, St, _ = trace_ratio.scatters(samples)
    # At the optimum λ, and only there, the m smallest eigenvalues of S_w − λS_t add up to zero.
    smallest = eigh(Sw - result.history[-1] * St, eigvals_only=True)[:m]
    assert abs(smallest.sum()) <= 1e-9 * np.trace(St)
    assert_allclose(result.W.T @ result.W, np.eye(m), atol=1e-10)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_error_of_algorithm_1_is_squared_at_every_step(load):
    X, y = load(return_X_y=True)
    history = trace_ratio.solve(make_samples(X, y), 3).history
    error = history - history[-1]
    error = error[error > 1e-13 * history[0]]
    assert len(error) >= 3
    # Quadratic: the exponent p of e' ≈ C·e^p tends to 2 along the sequence; a linear rate has p = 1.
    exponents = np.diff(np.log(error[1:])) / np.diff(np.log(error[:-1]))
    assert exponents[-1] > 1.7


def test_one_direction_and_two_classes_is_fishers_problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 4)) * [1, 2, 3, 4] + np.outer(y, [1, 2, 0, 1])
    samples = make_samples(X, y)
    Sw, _St, _ = trace_ratio.scatters(samples)
    # With one column the ratio of traces is the Rayleigh quotient, whose optimum is Fisher's S_w⁻¹(m₁ − m₀).
    direction = np.linalg.solve(Sw, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    W = trace_ratio.solve(samples, 1).W
    assert principal_angles(W, direction[:, None] / np.linalg.norm(direction)).max() < 1e-7


# Algorithm 2

LOSSES = [kind() for kind in losses.LOSSES.values()]
POWERS = [(loss, q) for loss in LOSSES for q in (1.0, 1.5, 2.0) if q <= loss.max_exponent]


@settings(deadline=None, max_examples=150)
@given(problems(), st.integers(1, 6), st.sampled_from(POWERS))
def test_every_exact_step_descends(problem, m, power):
    """Not the recorded path, which cannot rise by construction, but the bare map from point to point."""
    loss, exponent = power
    X, labels, weight, rng = problem
    samples = make_samples(X, labels, weight)
    m = min(m, samples.dim)
    objective = reweighted.Objective(samples, loss, exponent)
    here = objective.start(frame(samples, m, rng.integers(1000)))
    # Where W collapses every class, the lengths are rounding errors of the rows' and their order means nothing.
    rounding = samples.weight.sum() * loss.value(1e-26 * samples.squared_norms.max() / objective.unit)
    for _ in range(6):
        if here.N <= rounding:
            break
        surrogate = objective.surrogate(here)
        W = eigh(surrogate.matrix(objective.samples), subset_by_index=[0, m - 1])[1]
        there = objective.at(W, surrogate.centers)
        assert there.J <= here.J * (1 + 1e-9)
        here = there


@settings(deadline=None, max_examples=40)
@given(problems(), st.sampled_from(LOSSES))
def test_recorded_path_never_rises_and_frame_is_orthonormal(problem, loss):
    X, labels, weight, _ = problem
    samples = make_samples(X, labels, weight)
    m = min(3, samples.dim)
    result = reweighted.solve(samples, frame(samples, m), loss, max_iter=30)
    assert (np.diff(result.history) <= 0).all()
    assert result.n_iter <= 30
    assert_allclose(result.W.T @ result.W, np.eye(m), atol=1e-10)
    assert np.isfinite(result.stationarity)


def tangent_of_length_one(W, rng):
    xi = rng.normal(size=W.shape)
    xi -= W @ (W.T @ xi)
    return xi / np.linalg.norm(xi)


def slope(objective, point, xi, shift, step=1e-5):
    """Derivative of J along a curve on the frames with velocity xi, centers moving with `shift`."""
    values = []
    for sign in (1, -1):
        W, R = np.linalg.qr(point.W + sign * step * xi)
        W = W * np.sign(np.diag(R))
        values.append(objective.at(W, point.centers + sign * step * shift).J)
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize(("loss", "exponent"), POWERS, ids=str)
def test_gradient_behind_the_stationarity_is_that_of_the_objective(loss, exponent):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 7)) + 2 * rng.normal(size=(3, 7))[labels]
    objective = reweighted.Objective(make_samples(X, labels), loss, exponent)
    point = objective.start(frame(objective.samples, 2))
    # Centers at their weighted means, so that the surrogate's gradient is the objective's in W.
    for _ in range(200):
        point = objective.at(point.W, objective.surrogate(point).centers)
    AW = objective.apply(objective.surrogate(point), point.W) / objective.unit
    factor = 2 * exponent * point.N ** (exponent - 1) / point.g
    for _ in range(5):
        xi = tangent_of_length_one(point.W, rng)
        assert_allclose(slope(objective, point, xi, 0), factor * np.vdot(AW, xi), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("start", starts.NAMED)
def test_limit_is_stationary_by_finite_differences(start):
    X, y = load_wine(return_X_y=True)
    samples = make_samples((X - X.mean(axis=0)) / X.std(axis=0), y)
    W0 = starts.frame(start, samples, 4, np.random.RandomState(0))
    result = reweighted.solve(samples, W0, losses.L12(), tol=1e-14, max_iter=5000)
    assert result.stationarity < 1e-5
    objective = reweighted.Objective(samples, losses.L12())
    rng = np.random.default_rng(0)
    end, begin = objective.at(result.W, result.centers), objective.start(W0)
    far = max(abs(slope(objective, begin, tangent_of_length_one(begin.W, rng), 0)) for _ in range(10))
    for _ in range(10):
        shift = rng.normal(size=end.centers.shape)
        assert abs(slope(objective, end, tangent_of_length_one(end.W, rng), shift)) < 1e-3 * max(far, 1)


@settings(deadline=None, max_examples=30)
@given(problems(), st.integers(1, 4))
def test_squared_loss_is_trace_ratio_lda(problem, m):
    X, labels, weight, _ = problem
    samples = make_samples(X, labels, weight)
    m = min(m, samples.dim)
    result = reweighted.solve(samples, frame(samples, m), losses.Squared(), tol=1e-13, max_iter=500)
    best = trace_ratio.solve(samples, m)
    St = trace_ratio.scatters(samples)[1]
    # Scatters are rounded relative to their trace, of which the optimum may keep but little.
    rounding = 1e-11 * np.trace(St) / np.vdot(best.W, St @ best.W)
    assert_allclose(result.history[-1], best.history[-1], rtol=1e-6, atol=rounding)


@pytest.mark.parametrize("angle", [0.3, 1.2])
def test_in_the_plane_the_limit_is_a_minimum_over_all_angles_nearby(angle):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + np.outer(y, [3, 1])
    samples = make_samples(X, y)
    W0 = np.array([[np.cos(angle)], [np.sin(angle)]])
    result = reweighted.solve(samples, W0, losses.L12(), tol=1e-13, max_iter=5000)
    objective = reweighted.Objective(samples, losses.L12())
    found = np.arctan2(result.W[1, 0], result.W[0, 0])
    for near in found + np.linspace(-0.002, 0.002, 21):  # lengths on a line have kinks, and many minima
        point = objective.start(np.array([[np.cos(near)], [np.sin(near)]]))
        for _ in range(300):
            point = objective.at(point.W, objective.surrogate(point).centers)
        assert point.J >= result.history[-1] * (1 - 1e-7)


def test_a_start_that_captures_nothing_is_refused():
    samples = make_samples(np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 1e-200], [0, -1, 0]]), np.array([0, 1, 0, 1]))
    with pytest.raises(ValueError, match="dependent in the span of these data; give others, or the name of a start"):
        starts.frame(np.zeros((1, 3)), samples, 1, np.random.RandomState(0))
