"""Pieces of the decision against the formulas of their modules, written out slowly: a sample and a class at a time."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, softmax
from scipy.stats import chi2, multivariate_normal, multivariate_t

from robustlda.data import Weights
from robustlda.data.centered import CenteredBlock
from robustlda.data.chunked import LocalParts
from robustlda.data.columns import Column
from robustlda.data.dense import DenseBlock
from robustlda.decision import (
    answers,
    beliefs,
    candidates,
    centroid,
    clouds,
    committee,
    held_out,
    labels,
    members,
    newton,
    pools,
    ridge,
)
from robustlda.decision import label_noise as noise
from robustlda.decision import likelihood as module
from robustlda.decision.likelihood import Pool, Scores, WithOneRate, WithRates, best_likelihoods, centered_logs
from robustlda.linalg import weighted_median


def cloudy(n=120, m=3, c=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    shape = np.eye(m) + 0.4 * rng.normal(size=(m, m))
    return (rng.normal(size=(n, m)) + 2 * rng.normal(size=(c, m))[y]) @ shape, y


def spread_over(p, rng):
    return (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1)


# Clouds

SETTINGS = clouds.CloudSettings(flip_rate=0.2, degrees=4.0, shrinkage=0.1)


def fitted_clouds(monkeypatch, weight=None, settings=SETTINGS):
    """Until nothing changes any more."""
    monkeypatch.setattr(clouds, "_STEPS", 2000)
    monkeypatch.setattr(clouds, "_SETTLED", 1e-13)
    Z, y = cloudy()
    weights = Weights.of(np.ones(len(y)) if weight is None else weight)
    start = clouds.start_from(Z, y, weights, 3)
    return start, *clouds._fit(start, settings)


def test_clouds_are_where_their_own_beliefs_put_them(monkeypatch):
    weight = np.random.default_rng(1).uniform(0.5, 2, 120)
    start, found, given = fitted_clouds(monkeypatch, weight)
    Z, y, total, nu, m = start.Z, start.labels, weight.sum(), SETTINGS.degrees, 3
    assert_allclose(np.exp(given)[np.arange(120), y], 1 - SETTINGS.flip_rate)
    assert_allclose(np.exp(given).sum(axis=1), 1)
    r, u = np.empty((120, 3)), np.empty((120, 3))
    for j, z in enumerate(Z):
        for k in range(3):
            difference = z - found.centers[k]
            delta = difference @ found.precision @ difference
            u[j, k] = (nu + m) / (nu + delta)
            density = multivariate_t.logpdf(z, found.centers[k], np.linalg.inv(found.precision), df=nu)
            r[j, k] = density + np.log(found.shares[k]) + given[j, k]
    r = softmax(r, axis=1) * weight[:, None]
    w = r * u
    scatter = np.zeros((m, m))
    for k in range(3):
        assert_allclose(found.centers[k], w[:, k] @ Z / w[:, k].sum(), atol=1e-8)
        scatter += (Z - found.centers[k]).T @ ((Z - found.centers[k]) * w[:, [k]]) / total
    # A sample of every class is added to their shares.
    assert_allclose(found.shares, (r.sum(axis=0) + 1) / (total + 3), rtol=1e-7)
    drawn = (1 - SETTINGS.shrinkage) * scatter + SETTINGS.shrinkage * np.trace(scatter) / m * np.eye(m)
    assert_allclose(np.linalg.inv(found.precision), drawn + start.floor * np.eye(m), rtol=1e-6)


def test_what_clouds_say_is_bayes_rule_with_student_t_densities(monkeypatch):
    start, found, _ = fitted_clouds(monkeypatch)
    scale = np.linalg.inv(found.precision)
    logs = [multivariate_t.logpdf(start.Z, center, scale, df=SETTINGS.degrees) for center in found.centers]
    expected = softmax(np.array(logs).T + np.log(found.shares), axis=1)
    assert_allclose(found.probabilities(start.Z * start.unit), expected, rtol=1e-9)
    assert start.unit == np.abs(start.Z * start.unit).max()


def test_in_their_plane_clouds_are_round_and_centers_farthest_apart(monkeypatch):
    start, found, _ = fitted_clouds(monkeypatch)
    Z = start.Z * start.unit
    P = found.plane(Z)
    assert P.shape == (120, 2)
    # Coordinates are those of an orthonormal pair in units of the scatter: differences never seem longer than they are.
    A = np.linalg.lstsq(start.Z - start.Z.mean(axis=0), P - P.mean(axis=0), rcond=None)[0]
    assert_allclose(A.T @ np.linalg.inv(found.precision) @ A, np.eye(2), atol=1e-9)
    # Three centers lie in a plane, in which their distances are all there.
    at = found.plane(found.centers * found.unit)
    for k in range(3):
        assert_allclose(
            ((at - at[k]) ** 2).sum(axis=1), found.distances(found.centers[k : k + 1] * found.unit)[0], atol=1e-9
        )
    one = clouds.Clouds(np.array([[0.0], [1.0]]), np.eye(1), np.full(2, 0.5), 1.0, SETTINGS)
    assert_array_equal(one.plane(np.zeros((4, 1)))[:, 1], 0)


def test_points_drawn_from_clouds_have_their_shares_and_their_scatter():
    precision = np.linalg.inv([[2.0, 0.5], [0.5, 1.0]])
    found = clouds.Clouds(np.array([[0.0, 0], [30, 0]]), precision, np.array([0.75, 0.25]), 2.0, SETTINGS)
    directions = np.random.default_rng(0).normal(size=(400, 2))
    points = found.draw(directions)
    second = points[:, 0] > 30
    assert second.sum() == 100
    root = np.real(sqrtm(np.linalg.inv(precision)))
    assert_allclose(points[~second] / 2, directions[~second] @ root, atol=1e-12)
    assert_allclose(points[second] / 2 - [30, 0], directions[second] @ root, atol=1e-12)


def test_a_scatter_without_a_sample_is_that_of_the_formula(monkeypatch):
    start, found, _ = fitted_clouds(monkeypatch)
    Z, a = start.Z, np.random.default_rng(0).uniform(0, 0.003, (120, 3))
    a[7] = 0
    distances = clouds._squared_distances(Z, found.centers, found.precision)
    downdated = clouds._downdated(found, Z, distances, a)
    for j in (0, 7, 30, 100):
        mean = a[j] @ found.centers / max(a[j].sum(), 1e-300)
        without = np.linalg.inv(found.precision) - a[j].sum() * np.outer(Z[j] - mean, Z[j] - mean)
        for k in range(3):
            difference = Z[j] - found.centers[k]
            assert_allclose(distances[j, k], difference @ found.precision @ difference, rtol=1e-9)
            assert_allclose(downdated[j, k], difference @ np.linalg.inv(without) @ difference, rtol=1e-7)


@pytest.mark.parametrize("kind", ["copies", "fractions"])
def test_a_sample_takes_back_what_it_gave(kind, monkeypatch):
    """Centers, scatter and shares without it, its beliefs as they were; one of several copies, or the sample itself."""
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, 120).astype(float) if kind == "copies" else rng.uniform(0.5, 2, 120)
    start, found, given = fitted_clouds(monkeypatch, weight)
    Z, nu, m, total, share = start.Z, SETTINGS.degrees, 3, weight.sum(), SETTINGS.shrinkage
    said = clouds._without_itself(found, Z, given, start.weights)
    distances = clouds._squared_distances(Z, found.centers, found.precision)
    logs = -0.5 * (nu + m) * np.log1p(distances / nu)
    r = softmax(logs + np.log(found.shares) + given, axis=1) * weight[:, None]
    w = r * (nu + m) / (nu + distances)
    s = w.sum(axis=0)
    for j in (3, 50, 77):
        one = 1.0 if kind == "copies" else weight[j]
        gone = w[j] * one / weight[j]
        centers = (s[:, None] * found.centers - gone[:, None] * Z[j]) / (s - gone)[:, None]
        a = (1 - share) * gone * s / (s - gone)
        mean = a @ found.centers / a.sum()
        scatter = total * np.linalg.inv(found.precision) - a.sum() * np.outer(Z[j] - mean, Z[j] - mean)
        inverse = np.linalg.inv(scatter / (total - one))
        squared = [(Z[j] - center) @ inverse @ (Z[j] - center) for center in centers]
        shares = (r.sum(axis=0) - r[j] * one / weight[j] + 1) / (total - one + 3)
        expected = softmax(-0.5 * (nu + m) * np.log1p(np.array(squared) / nu) + np.log(shares))
        assert_allclose(said[j], expected, rtol=1e-6)


def test_clouds_begin_at_medians_with_far_samples_drawn_in():
    Z, y = cloudy(n=121)
    Z[5] *= 1e3
    start = clouds.start_from(Z, y, Weights.of(np.ones(121)), 4)
    for k in range(3):
        assert_allclose(start.centers[k] * start.unit, np.median(Z[y == k], axis=0))
    assert_allclose(start.centers[3] * start.unit, Z.mean(axis=0))  # a class without a sample
    R = start.Z - start.centers[y]
    squared = (R**2).sum(axis=1)
    limit = 9 * np.sort(squared)[60]
    scatter = sum(np.outer(row, row) * min(1, limit / length) for row, length in zip(R, squared, strict=True)) / 121
    assert_allclose(start.scatter, scatter, rtol=1e-9)
    whole = start.Z - np.median(start.Z, axis=0)
    squared = (whole**2).sum(axis=1)
    shortened = np.minimum(squared, 9 * np.sort(squared)[60])
    assert_allclose(start.floor, 1e-6 * shortened.mean() / 3, rtol=1e-9)


def test_a_class_without_samples_is_never_predicted():
    Z, y = cloudy()
    found, held = clouds.fit(clouds.start_from(Z, y, Weights.of(np.ones(120)), 4), SETTINGS)
    assert found.shares[3] == 0
    assert (found.probabilities(Z)[:, 3] == 0).all()
    assert (held[:, 3] == 0).all()


# The centroid rule


def test_ellipses_are_a_fixed_point_of_their_equations():
    Z, y = cloudy(n=200)
    weight = np.random.default_rng(0).uniform(0.5, 2, 200)
    found = centroid.fit_ellipses(Z, y, weight, 3, tol=1e-14, max_iter=5000)
    # The scatter is scaled in the end, so that half of the weight lies within the median of a Gaussian.
    R = (Z - found.centers[y]) / found.unit
    n, m, nu = weight.sum(), 3, 5.0

    def distances(scatter):
        return np.einsum("ij,jk,ik->i", R, np.linalg.inv(scatter), R)

    assert_allclose(weighted_median(distances(found.scatter), weight), chi2(m).median(), rtol=1e-6)
    scales = np.geomspace(0.2, 5, 2000)
    steps = []
    for scale in scales:  # one of the multiples is the fixed point
        scatter = found.scatter * scale
        u = (nu + m) / (nu + distances(scatter))
        again = centroid._shrunk(R.T @ (R * (weight * u)[:, None]) / n, n - 3, 0.0)
        steps.append(np.linalg.norm(again - scatter) / np.linalg.norm(scatter))
    best = int(np.argmin(steps))
    assert steps[best] < 2e-3
    u = (nu + m) / (nu + distances(found.scatter * scales[best]))
    for k in range(3):
        mine = y == k
        assert_allclose((weight * u)[mine] @ Z[mine] / (weight * u)[mine].sum(), found.centers[k], atol=2e-3)


def test_scatter_is_shrunk_by_the_oracle_approximating_rule():
    rng = np.random.default_rng(0)
    for p, n in ((3, 10.0), (5, 4.0), (5, 0.5)):
        F = rng.normal(size=(p, p))
        S = F @ F.T
        square, trace = np.trace(S @ S), np.trace(S)
        freedom = max(n, 1)
        # Equation (23) of Chen, Wiesel, Eldar and Hero.
        rho = ((1 - 2 / p) * square + trace**2) / ((freedom + 1 - 2 / p) * (square - trace**2 / p))
        expected = (1 - min(rho, 1)) * S + min(rho, 1) * trace / p * np.eye(p)
        assert_allclose(centroid._shrunk(S, n, 0.0), expected, rtol=1e-9)
        assert_allclose(centroid._shrunk(S, n, 0.25), expected + 0.25 * np.eye(p), rtol=1e-9)
    assert_allclose(centroid._shrunk(2 * np.eye(4), 10.0, 0.0), 2 * np.eye(4))
    assert_allclose(centroid._shrunk(np.array([[3.0]]), 10.0, 0.0), [[3.0]])


def test_densities_of_ellipses_are_gaussian_but_for_a_common_term():
    Z, y = cloudy()
    found = centroid.fit_ellipses(Z, y, np.ones(120), 3)
    slopes, offset = found.log_density()
    scatter = found.scatter * found.unit**2
    expected = np.array([multivariate_normal.logpdf(Z, center, scatter) for center in found.centers]).T
    logs = Z @ slopes + offset
    assert_allclose(logs - logs[:, :1], expected - expected[:, :1], atol=1e-8)


def test_classes_that_are_points_have_a_scatter_all_the_same():
    y = np.arange(40) % 2
    Z = np.array([[0.0, 0.0], [1.0, 2.0]])[y]
    found = centroid.fit_ellipses(Z, y, np.ones(40), 2)
    assert_allclose(found.centers, [[0, 0], [1, 2]], atol=1e-9)
    assert np.linalg.eigvalsh(found.scatter).min() > 0
    alike = centroid.fit_ellipses(np.ones((6, 2)), np.arange(6) % 2, np.ones(6), 2)
    assert np.isfinite(alike.log_density()[0]).all()


def test_what_stands_for_close_does_not_depend_on_how_many_copies_there_are():
    """More than half of the rows coincide, so that the usual spread is the mean of all."""
    y = np.repeat([0, 1], [70, 30])
    Z = y[:, None].astype(float)
    one, three = (centroid.fit_ellipses(Z, y, np.full(100, copies), 2) for copies in (1.0, 3.0))
    assert_allclose(three.scatter, one.scatter, rtol=1e-9)
    assert_allclose(centroid.fit_ellipses(100 * Z, y, np.ones(100), 2).scatter, one.scatter, rtol=1e-9)
    assert 0 < one.scatter[0, 0] < 1e-6


# Least squares


@pytest.mark.parametrize("kind", ["ones", "copies"])
def test_with_fewer_samples_than_features_a_sample_is_left_out_as_well(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 35)), np.arange(20) % 3
    weight = np.ones(20) if kind == "ones" else 1.0 + np.arange(20) % 3
    Y = np.eye(3)[y]
    mean = weight @ X / weight.sum()
    values = np.linalg.eigvalsh(((X - mean).T * weight) @ (X - mean))
    values = values[values > 1e-9 * values[-1]]
    assert len(values) == 19
    for solution in ridge.Regression(X, Weights.of(weight)).solutions(Y):
        for left_out in (0, 7):
            w = weight - np.eye(20)[left_out]
            f, t = w @ X / w.sum(), w @ Y / w.sum()
            F = X - f
            size = solution.penalty * values.mean() * np.eye(35)
            B = np.linalg.solve((F.T * w) @ F + size, (F.T * w) @ (Y - t))
            assert_allclose(solution.held_out[left_out], (X[left_out] - f) @ B + t, atol=1e-8)
        assert_allclose(X @ solution.coef + solution.offset, solution.fitted, atol=1e-9)


def test_one_penalty_may_be_asked_for():
    X, y = cloudy()
    regression = ridge.Regression(X, Weights.of(np.ones(120)))
    every = {solution.penalty: solution for solution in regression.solutions(np.eye(3)[y])}
    assert tuple(every) == ridge.PENALTIES
    (one,) = regression.solutions(np.eye(3)[y], 0.1)
    assert_array_equal(one.held_out, every[0.1].held_out)


def test_similarities_and_their_coordinates():
    rng = np.random.default_rng(0)
    landmarks, Z = rng.normal(size=(6, 2)), rng.normal(size=(30, 2))
    near = ridge.Similarities(landmarks, 1.7)
    K = near.of(Z)
    assert_allclose(K, np.exp(-((Z[:, None] - landmarks) ** 2).sum(axis=2) / 1.7), rtol=1e-9)
    coordinates, back = near.orthonormalized(K)
    # Nyström: inner products of coordinates are those of the kernel, as the landmarks see it.
    assert_allclose(coordinates @ coordinates.T, K @ np.linalg.solve(near.of(landmarks), K.T), atol=1e-6)
    coef = rng.normal(size=(6, 2))
    assert_allclose(K @ back(coef), coordinates @ coef, atol=1e-6)


def test_landmarks_that_coincide_have_coordinates():
    near = ridge.Similarities(np.ones((5, 2)), 1.0)
    coordinates, back = near.orthonormalized(near.of(np.random.default_rng(0).normal(size=(9, 2))))
    assert np.isfinite(coordinates).all()
    assert np.isfinite(back(np.ones((5, 1)))).all()


def test_lengths_are_shortened_to_the_limit():
    assert_allclose(ridge.shrink_factors(np.array([0.5, 1.0, 4.0, 100.0]), 1.0), [1, 1, 0.5, 0.1])


# Newton's method


class Function:
    """Points of a function by its derivatives."""

    def __init__(self, value, gradient, hessian):
        self.seen = 0
        self._parts = value, gradient, hessian

    def __call__(self, v):
        self.seen += 1
        value, gradient, hessian = self._parts
        return SimpleNamespace(value=value(v), gradient=lambda: gradient(v), hessian=lambda: hessian(v))


def quadratic():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(4, 4))
    A, b = F @ F.T + np.eye(4), rng.normal(size=4)
    return A, b, Function(lambda v: b @ v - v @ A @ v / 2, lambda v: b - A @ v, lambda v: -A)


EVERYWHERE = np.full(4, -np.inf), np.full(4, np.inf)


def test_the_maximum_of_a_quadratic_is_found_at_once():
    A, b, function = quadratic()
    found = newton.maximum(function, np.zeros(4), EVERYWHERE)
    assert_allclose(found.at, np.linalg.solve(A, b), atol=1e-12)
    assert (np.diff(found.path) >= 0).all()
    assert_allclose(found.path[-1], b @ np.linalg.solve(A, b) / 2)
    assert function.seen < 8


@pytest.mark.parametrize("start", [0.0, 0.3, -5.0])
def test_the_maximum_within_bounds_is_that_of_another_method(start):
    A, b, function = quadratic()
    best = np.linalg.solve(A, b)
    low, high = best - np.array([1, -0.1, 1, 1]), best + np.array([1, 1, 1, -0.2])  # two of them are in the way
    found = newton.maximum(function, np.full(4, start), (low, high))
    other = minimize(
        lambda v: v @ A @ v / 2 - b @ v, best, jac=lambda v: A @ v - b, bounds=list(zip(low, high, strict=True)),
        method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-12},
    )  # fmt: skip
    assert_allclose(found.at, other.x, atol=1e-6)
    assert (found.at >= low).all()
    assert (found.at <= high).all()


def test_where_a_function_curves_upwards_newton_goes_up_all_the_same():
    # cos has its minimum at π, where Newton's own step would stay.
    function = Function(lambda v: np.cos(v).sum(), lambda v: -np.sin(v), lambda v: -np.diag(np.cos(v)))
    found = newton.maximum(function, np.array([3.0, 0.5]), (np.full(2, -10.0), np.full(2, 10.0)))
    assert_allclose(found.at, 0, atol=1e-7)
    assert (np.diff(found.path) >= 0).all()


def test_no_step_is_longer_than_allowed_and_none_falls():
    seen = []

    def value(v):
        seen.append(v.copy())
        return float(-np.logaddexp(v - 3, -(v - 3)).sum())

    function = Function(value, lambda v: -np.tanh(v - 3), lambda v: -np.diag(1 / np.cosh(v - 3) ** 2))
    found = newton.maximum(function, np.zeros(1), (np.full(1, -10.0), np.full(1, 10.0)))
    assert_allclose(found.at, 3, atol=1e-6)
    assert np.abs(np.diff([v[0] for v in seen])).max() <= 2 + 1e-12
    assert (np.diff(found.path) >= 0).all()


def test_a_variable_that_hardly_matters_holds_no_other_back():
    gradient, hessian = np.array([0.4, 1e-3, -0.3]), -np.diag([1.0, 1e-5, 1.0])
    step = newton._uphill(gradient, hessian)
    assert_allclose(step, [0.4, 1.0, -0.3], atol=5e-3)  # the second would go 100 by itself
    upwards = newton._uphill(gradient, -hessian)  # a minimum is left as fast as a maximum is approached
    assert_allclose(upwards, step, atol=1e-12)
    assert gradient @ step > 0


@pytest.mark.parametrize("seed", range(5))
def test_damped_steps_lead_up_and_are_as_long_as_allowed(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 6))
    gradient = 10 * rng.normal(size=6)
    step = newton._uphill(gradient, A + A.T)
    assert gradient @ step > 0
    assert_allclose(np.abs(step).max(), 1.0)


def test_a_maximum_that_is_known_is_not_looked_for_again():
    A, b, function = quadratic()
    best = b @ np.linalg.solve(A, b) / 2
    assert newton.maximum(function, np.zeros(4), EVERYWHERE, partial(pools._leads_to, [best])) is None
    assert newton.maximum(function, np.zeros(4), EVERYWHERE, partial(pools._leads_to, [best - 1, best + 1])) is not None


def weights(A, b):
    """bᵀβ − βᵀAβ/2 with a little log β, of u = log β."""

    def slope(beta):
        return b - A @ beta + 1e-3 / beta

    return Function(
        lambda u: b @ np.exp(u) - np.exp(u) @ A @ np.exp(u) / 2 + 1e-3 * u.sum(),
        lambda u: np.exp(u) * slope(np.exp(u)),
        lambda u: np.diag(np.exp(u) * slope(np.exp(u)) - 1e-3) - np.exp(u)[:, None] * A * np.exp(u),
    )


@pytest.mark.parametrize("start", [2.0, -1.0, -6.0])
def test_weights_on_their_way_to_nothing_get_there_in_a_few_steps(start):
    b = np.array([1.0, -0.5, 0.7, -2.0])
    function = weights(np.eye(4), b)
    bounds = np.full(4, -8.0), np.full(4, 3.0)
    found = newton.maximum(function, np.full(4, start), bounds, logs=4)
    beta = np.exp(found.at)
    assert_allclose(beta * (b - beta) + 1e-3, 0, atol=1e-9)
    assert beta[[1, 3]].max() < 3e-3
    assert (np.diff(found.path) >= 0).all()
    seen, function.seen = function.seen, 0
    newton.maximum(function, np.full(4, start), bounds)
    assert seen < 20
    assert seen < function.seen or start < -2  # what it takes in logarithms


# Labels


def labels_of(given, c, weight=None, known=None, one=None):
    weight = np.ones(len(given)) if weight is None else weight
    known = np.full(len(given), -1) if known is None else known
    return labels.Labels(given, weight, np.minimum(weight, 1) if one is None else one, known, c)


@pytest.mark.parametrize(
    ("before", "by", "spread", "outdone"),
    [
        (0.25, 0.4, 0.8, True),  # 16 more, three standard errors of which are 15.2
        (0.25, 0.4, 0.9, False),
        (0.6, 0.08, 0.0, False),  # 3.2 more than 7.3, half of which is asked for
        (0.6, 0.12, 0.0, True),
    ],
)
def test_a_rule_is_outdone_by_what_is_clearly_and_much_better(before, by, spread, outdone):
    given = np.arange(40) % 2
    after = before * np.exp(by + spread * np.where(np.arange(40) < 20, 1, -1))
    first, second = (np.where(np.eye(2)[given] > 0, p[:, None], 1 - p[:, None]) for p in (np.full(40, before), after))
    asking = SimpleNamespace(labels=labels_of(given, 2))
    assert candidates.Candidates._outdone(asking, first, second, np.eye(2)[given]) is outdone


def test_counts_and_transitions_of_beliefs():
    rng = np.random.default_rng(0)
    given, R, weight = rng.integers(0, 3, 50), rng.dirichlet(np.ones(3), 50), rng.uniform(0.5, 2, 50)
    these = labels_of(given, 3, weight)
    N = np.zeros((3, 3))
    for j in range(50):
        N[:, given[j]] += weight[j] * R[j]
    assert_allclose(these.counts(R), N)
    rate = 1 - np.trace(N) / N.sum()
    assert 0.1 < rate
    uniform = np.full((3, 3), min(rate, 0.95 * 2 / 3) / 2)
    np.fill_diagonal(uniform, 1 - min(rate, 0.95 * 2 / 3))
    assert_allclose(these.transition(R, uniform=True), uniform)
    assert_allclose(these.transition(R, uniform=False), (N + 2 * uniform) / (N.sum(axis=1, keepdims=True) + 2))
    assert_allclose(these.sizes, [weight[given == k].sum() for k in range(3)])
    assert_allclose(these.share(R[:, 0]), weight @ R[:, 0] / weight.sum())


def test_a_label_says_something_and_is_never_impossible():
    assert labels.possible_rate(0.0, 4) > 0
    assert labels.possible_rate(0.3, 4) == 0.3
    T = labels.uniform_transition(labels.possible_rate(1.0, 4), 4)
    assert_allclose(T.sum(axis=1), 1)
    assert (np.diag(T) > T[0, 1]).all()
    assert np.diag(T)[0] < 2 * T[0, 1]
    assert_allclose(labels.uniform_transition(0.3, 4)[0], [0.7, 0.1, 0.1, 0.1])


def test_what_a_person_has_found_leaves_no_other_class():
    T = labels.uniform_transition(0.3, 3)
    these = labels_of(np.array([0, 1, 2, 2]), 3, known=np.array([-1, 2, -1, 2]))
    likely = these.likelihood(T)
    assert_allclose(likely, [[0.7, 0.15, 0.15], [0, 0, 0.15], [0.15, 0.15, 0.7], [0, 0, 0.7]])
    R, total = these.posterior(np.full((4, 3), 0.5))
    assert_allclose(total, 1.5)
    assert_allclose(R, [[1 / 3] * 3, [0, 0, 1], [1 / 3] * 3, [0, 0, 1]])


def test_checks_without_features_are_as_likely_as_the_share_that_they_found():
    given, known = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([-1, 0, 0, 2, -1, -1, 2, 0])
    these = labels_of(given, 3, known=known)
    assert these.checks == (2.0, 3.0)
    assert_allclose(these.checked_rate, 2.5 / 10)
    # Right in three of four; a wrong one is of another class as often as that class is given.
    expected = 3 * np.log(0.75) + np.log(0.25 * (3 / 8) / (6 / 8)) + np.log(0.25 * (3 / 8) / (5 / 8))
    assert_allclose(these.likelihood_without_features, these.logs_without_features.sum() + expected)
    low, high = these.checked_interval
    assert low < 0.1 < 2 / 5 < 0.75 < high


def test_labels_without_features_are_as_likely_as_all_others_make_them():
    given, weight = np.array([0, 0, 0, 1, 1, 2]), np.array([1.0, 2, 1, 1, 1, 1])
    these = labels_of(given, 3, weight)
    # Of seven one is left out; a label that nobody else has counts as half of one.
    expected = np.log([3 / 6, 3 / 6, 3 / 6, 1 / 6, 1 / 6, 0.5 / 6])
    assert_allclose(these.logs_without_features, expected)
    assert_allclose(these.likelihood_without_features, weight @ expected)
    assert_array_equal(these.alone, [False] * 5 + [True])
    copied = labels_of(given, 3, np.array([1.0, 2, 1, 1, 1, 3]))
    assert not copied.alone.any()  # three copies are not alone


def test_no_class_is_left_without_a_sample():
    R = np.array([[0.6, 0.3, 0.1], [0.7, 0.1, 0.2], [0.5, 0.45, 0.05], [0.9, 0.05, 0.05]])
    # Class 1 gets the sample that believes most in it; class 2 then one of those that are left.
    assert_array_equal(labels.most_probable(R), [0, 2, 1, 0])
    assert_array_equal(labels.most_probable(R[:1]), [0])


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_classes_of_beliefs_in_parts_are_those_in_memory(lost):
    R = np.random.default_rng(0).dirichlet([3, 2, 2, 2], 30)
    for k in range(lost):
        R[:, k] *= 1e-3
    R /= R.sum(axis=1, keepdims=True)
    expected, how_sure = beliefs.believed_classes(R, 4)
    assert_array_equal(how_sure, R[np.arange(30), expected])
    for sizes in ([30], [7, 11, 12], [1] * 30):
        parts = LocalParts(sizes)
        ends = np.cumsum(sizes)
        column = Column.kept(parts, [R[end - size : end] for size, end in zip(sizes, ends, strict=True)])
        classes, belief = beliefs.believed_classes(column, 4)
        assert_array_equal(np.concatenate(parts.map(lambda values: values, classes)), expected)
        assert_allclose(np.concatenate(parts.map(lambda values: values, belief)), how_sure)


def test_fewer_samples_in_parts_than_classes():
    R = np.array([[0.9, 0.05, 0.05], [0.8, 0.1, 0.1]])
    parts = LocalParts([1, 1])
    classes, _ = beliefs.believed_classes(Column.kept(parts, [R[:1], R[1:]]), 3)
    found = np.concatenate(parts.map(lambda values: values, classes))
    assert_array_equal(found, beliefs.believed_classes(R, 3)[0])
    assert sorted(found) == [0, 1]


# Held-out probabilities


def test_the_sharpest_of_equally_likely_scores_is_taken():
    assert held_out.sharpest([0.0, 5.0, 4.5, 3.9]) == 2
    assert held_out.sharpest([7.0, 5.0]) == 0
    p = np.array([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]])
    assert_allclose(held_out.sharpened(p, 2.0), [[0.64 / 0.68, 0.04 / 0.68], [0.5, 0.5], [1, 0]])


@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
def test_probabilities_come_out_as_sharp_as_labels_say(factor):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(3, 0.5), 3000)
    given = spread_over(p, rng)
    distorted = softmax(factor * np.log(p), axis=1)
    sharpness, again = held_out.as_sharp_as_labels_allow(distorted, given, np.ones(3000), held_out.FACTORS)
    assert sharpness == 1 / factor
    assert_allclose(again, p, atol=1e-9)


def test_scores_have_no_unit_and_no_origin():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(3, 0.5), 2000)
    these = labels_of(spread_over(p, rng), 3)
    scores = np.log(p)
    found = held_out.from_scores(scores, these)
    assert_allclose(found.sum(axis=1), 1)
    assert_allclose(held_out.from_scores(1e5 * scores + rng.normal(size=(2000, 1)), these), found, atol=1e-6)
    own = np.arange(2000), these.given
    best = max(np.log(softmax(s * scores, axis=1))[own].sum() for s in np.geomspace(0.2, 5, 50))
    assert np.log(found[own]).sum() > best - 0.02 * abs(best)
    assert_array_equal(
        held_out.from_scores(np.zeros((4, 2)), labels_of(np.array([0, 1, 0, 1]), 2)), np.full((4, 2), 0.5)
    )


@pytest.mark.parametrize("sure", [False, True])
def test_certainty_is_doubted_as_much_as_labels_say(sure):
    """Some classifiers are right where they are surest; of others a thousandth is taken off."""
    rng = np.random.default_rng(0)
    n = 3000
    margin = 6 * rng.normal(size=n)
    right = 1 / (1 + np.exp(-margin))
    given = (rng.random(n) < right).astype(int)
    if sure:
        p = 1 / (1 + np.exp(-8 * margin))  # far too sure, but in the right order
    else:
        p = np.where(rng.random(n) < 0.03, 1 - (margin > 0), margin > 0).astype(float)  # 0 and 1, and wrong at times
    these = labels_of(given, 2)
    P = np.column_stack([1 - p, p])
    found = held_out._without_certainty(P, these)
    assert (found > 0).all()
    assert_allclose(found.sum(axis=1), 1)

    def likely(doubt):
        _, sharp = held_out.as_sharp_as_labels_allow((1 - doubt) * P + doubt / 2, given, np.ones(n), held_out.FACTORS)
        return sharp

    values = [best_likelihoods(likely(doubt)[np.arange(n), given][None], np.ones(n), 2)[0] for doubt in held_out.DOUBTS]
    chosen = 0
    for k in (1, 2):
        if values[k] > values[chosen] + held_out.TIE:
            chosen = k
    assert (chosen > 0) == sure
    assert_allclose(found, likely(held_out.DOUBTS[chosen]))


def test_what_a_person_has_found_is_learned_instead_of_the_label():
    these = labels_of(np.array([0, 1, 2]), 3, known=np.array([-1, 2, 0]))
    assert_array_equal(held_out._to_learn(these), [0, 2, 0])


def test_probabilities_of_one_classifier_tell_rates_by_class_from_its_own_mistakes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(3, 0.1), 3000)
    true = spread_over(p, rng)
    one_way = np.where((true == 0) & (rng.random(3000) < 0.4), 1, true)
    found = held_out.explain_probabilities(p, labels_of(one_way, 3))
    assert not found.uniform
    assert_allclose(found.transition[0], [0.6, 0.4, 0], atol=0.06)
    clean = held_out.explain_probabilities(p, labels_of(true, 3))
    assert clean.uniform
    assert clean.noise_rate < 0.02


# Pools and what they say


def pooled(seed=0, n=400, c=3):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(c, 0.3), n)
    given = spread_over(labels.uniform_transition(0.2, c)[spread_over(p, rng)], rng)
    P = np.array([0.98 * p + 0.02 / c, 0.9 * rng.dirichlet(np.ones(c), n) + 0.1 / c])
    return P, labels_of(given, c)


def test_a_pool_weighs_logarithms():
    P, _ = pooled()
    logs = centered_logs(P)
    assert_allclose(logs.mean(axis=2), 0, atol=1e-12)
    mixing = np.zeros((3, 3))
    mixing[0, 1] = 0.4
    pool = Pool(np.array([0.7, 0.0]), np.array([0.1, 0.0, -0.1]), mixing)
    expected = 0.7 * logs[0] + pool.offset
    expected[:, 1] += 0.4 * logs[0, :, 0]  # of the rule that is heard
    assert_allclose(pool.scores(logs), expected, atol=1e-12)
    assert_allclose(pool.probabilities(logs), softmax(expected, axis=1))
    more = Pool(np.array([0.7]), pool.offset, np.zeros((3, 3))).among(np.array([False, True]))
    assert_allclose(more.scores(logs[::-1]), 0.7 * logs[0] + pool.offset)


@pytest.mark.parametrize("uniform", [True, False])
def test_maxima_of_the_likelihood_are_maxima(uniform):
    P, these = pooled()
    scores = Scores(centered_logs(P), these)
    kind = WithOneRate if uniform else WithRates
    for found in pools.fit_pools(scores, uniform=uniform):
        v, rng = found.point.at, np.random.default_rng(0)
        assert (np.diff(found.path) >= 0).all()
        for size in (1e-3, 1e-1):
            for _ in range(10):
                near = np.minimum(
                    v + size * rng.normal(size=len(v)), [*[np.log(4)] * 2, *[10] * 3, *[0] * (len(v) - 5)]
                )
                assert kind(scores, near).value <= found.point.value + 1e-9
        _, logdet = np.linalg.slogdet(-found.point.hessian())
        assert_allclose(found.log_width, -logdet / 2)


@pytest.mark.parametrize(("total", "penalty"), [(0.5, 0.5), (1.0, 0.0), (1.9, 0.0), (3.0, 1.0)])
def test_pools_blunter_than_their_rules_or_sharper_than_two_are_held_back(total, penalty):
    P, these = pooled()
    scores = Scores(centered_logs(P), these)
    at = np.concatenate([np.full(scores.e, np.log(total / scores.e)), np.zeros(scores.c), [-2.0]])
    shift = scores.e * np.log(total) ** 2
    stiff = module._PRIOR_BLUNT if total < 1 else module._PRIOR_SHARP
    expected = (module._PRIOR_WEIGHT * shift + stiff * penalty**2) / 2
    assert_allclose(WithOneRate(scores, at)._of_pool(), -expected, atol=1e-12)


@pytest.mark.parametrize("c", range(2, 30))
def test_at_the_rate_that_tells_nothing_labels_have_no_slope(c):
    """Right labels are then as frequent as each wrong one, and no rounding error makes them rarer."""
    ones, known = np.ones(4 * c), np.full(4 * c, -1)
    these = labels.Labels(np.arange(4 * c) % c, ones, ones, known, c)
    scores = Scores(centered_logs(np.random.default_rng(c).dirichlet(np.ones(c), (2, 4 * c))), these)
    at = WithOneRate(scores, np.zeros(2 + c + 1))
    assert_array_equal(at._g, np.zeros(4 * c))
    assert np.isfinite(at.hessian()).all()


def test_a_pool_is_fitted_again_to_what_was_given():
    P, these = pooled()
    scores = Scores(centered_logs(P), these)
    likelihood = these.likelihood(labels.uniform_transition(0.2, 3))
    start = Pool(np.full(2, 0.5), np.zeros(3), np.zeros((3, 3)))

    def value(pool):
        return np.log((scores.under(pool) * likelihood).sum(axis=1)).sum()

    none, some = np.zeros((3, 3)), np.zeros((3, 3))
    some[0, 1] = some[1, 0] = 1.0
    plain, free = pools.refit_pool(scores, likelihood, start, none), pools.refit_pool(scores, likelihood, start, some)
    assert value(start) < value(plain) <= value(free) + 1e-6
    assert not plain.mixing.any()
    assert set(zip(*np.nonzero(free.mixing), strict=True)) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert plain.weights[0] > 1.5 * plain.weights[1]


def test_a_pool_without_errors_is_not_looked_for_where_errors_explain_labels_clearly_better():
    P, these = pooled()
    scores = Scores(centered_logs(P), these)
    right = these.likelihood(labels.uniform_transition(1e-4, 3))
    start = Pool(np.full(2, 0.5), np.zeros(3), np.zeros((3, 3)))
    pool, likelihood = pools.pool_without_errors(scores, right, start)
    same = pools.pool_without_errors(scores, right, start, likelihood - 1e-3)
    assert_array_equal(same[0].weights, pool.weights)
    assert same[1] == likelihood
    assert pools.pool_without_errors(scores, right, start, likelihood + 5) is None


def test_counts_drawn_to_one_rate_have_that_rate_and_their_size():
    N = np.array([[[40.0, 8, 2], [1, 30, 3], [0, 4, 12]]] * 2)
    towards, sums = noise._drawn_to_one_rate(N, np.array([0.5, 8.0]))
    rate = 18 / 100
    uniform = np.array([[1 - rate if k == label else rate / 2 for label in range(3)] for k in range(3)])
    for found, size, kappa in zip(towards, sums, (0.5, 8.0), strict=True):
        assert_allclose(found, N[0] + kappa * uniform)
        assert_allclose(size, found.sum(axis=1))


def test_undecided_samples_of_two_classes():
    p = np.array([[0.5, 0.5, 0], [0.8, 0.2, 0], [1, 0, 0], [0.05, 0.95, 0], [0.4, 0.3, 0.3]])
    weight = np.array([1.0, 2, 1, 1, 3])
    found = noise._undecided(p, weight)
    low, high = noise._POSSIBLE
    for k in range(3):
        for other in range(3):
            may_be = np.clip((np.minimum(p[:, k], p[:, other]) - low) / (high - low), 0, 1)
            expected = 0 if k == other else weight @ may_be / (weight @ (p[:, k] + p[:, other]) + 1)
            assert_allclose(found[k, other], expected)


def test_checks_that_find_what_was_said_change_little_and_others_much():
    """Of two hundred checked samples as many are wrong as was said, or twice as many; the rate follows."""
    rng = np.random.default_rng(0)
    n = 4000
    given = np.arange(n) % 2
    said = np.clip(rng.beta(0.5, 2.0, n), 0.01, 0.99)
    R = np.where(np.arange(2) == given[:, None], 1 - said[:, None], said[:, None])
    for truth in (said, np.minimum(2 * said, 0.97), said / 3):
        wrong = rng.random(n) < truth
        known = np.where(np.arange(n) < 300, np.where(wrong, 1 - given, given), -1)
        these = labels_of(given, 2, known=known)
        after, error = noise._taught_by_checks(R, R, these)
        assert_allclose(after.sum(axis=1), 1)
        assert_allclose(after[:300], np.eye(2)[known[:300]], atol=1e-12)
        rate = these.share(1 - after[np.arange(n), given])
        assert abs(rate - wrong.mean()) < max(error, 0.02) * 2.2
        assert 0.005 < error < 0.1
        order = np.argsort(said[300:])
        assert (np.diff((1 - after[np.arange(n), given])[300:][order]) >= -1e-9).all()  # what was doubted more stays so


def test_what_checks_teach_is_the_maximum_under_its_prior():
    """Log-odds s become a + b s + c (u − s), with standard deviations 1, 1/4 and 1/2 about 0, 1 and 0."""
    rng = np.random.default_rng(0)
    n, checked = 60, np.arange(60) < 12
    given = np.arange(n) % 2
    said, by_features = rng.uniform(0.05, [[0.6], [0.95]], (2, n))
    R, p = (np.where(np.arange(2) == given[:, None], 1 - x[:, None], x[:, None]) for x in (said, by_features))
    wrong = by_features > 0.4  # as features say, and not as was said
    known = np.where(checked, np.where(wrong, 1 - given, given), -1)
    these = labels_of(given, 2, known=known)
    s, u = logit(said), logit(by_features)

    def log_odds(line):
        return line[0] + line[1] * s + line[2] * (u - s)

    def unlikely(line):
        z = log_odds(line)[checked]
        prior = ((line - np.array([0, 1, 0])) / [1, 0.25, 0.5]) ** 2
        return np.logaddexp(0, np.where(wrong[checked], -z, z)).sum() + prior.sum() / 2

    line = minimize(unlikely, [0, 1, 0.1], tol=1e-12, bounds=[(None, None), (0.2, 2), (0, 2)]).x
    assert 0.1 < line[2] < 1.9  # within its bounds
    after, _ = noise._taught_by_checks(p, R, these)
    assert_allclose(1 - after[np.arange(n), given][~checked], expit(log_odds(line))[~checked], atol=1e-4)


def test_what_is_said_after_checks_is_as_open_as_errors_are_doubted():
    given = np.arange(200) % 2
    said = np.linspace(0.02, 0.5, 200)
    R = np.where(np.arange(2) == given[:, None], 1 - said[:, None], said[:, None])
    these = labels_of(given, 2, known=np.where(np.arange(200) % 10 == 0, given, -1))
    kept = labels.uniform_transition(0.1, 2)
    found = SimpleNamespace(uniform=True, pool=None, path=np.zeros(1))
    judged = noise._Judgement(found, None, kept, np.zeros((2, 2)), R, R, (0.0, 1.0))
    doubted = judged.said(these, looks=True, credence=0.6)
    believed, error = noise._taught_by_checks(R, 0.6 * R + 0.4 * np.eye(2)[given], these)
    rate = these.share(1 - believed[np.arange(200), given])
    expected = np.hypot(error, 1.96 * np.sqrt(0.6 * 0.4) * these.share(said))
    assert_allclose(doubted.noise_rate, rate)
    assert_allclose(doubted.bounds[1] - rate, expected)


@pytest.mark.parametrize(
    ("trusting", "features", "taught", "looks"),
    [(0.1, 0.3, 0.2, 0.5), (0.1, 0.3, 0.4, 1.0), (0.1, 0.3, 0.05, 0.0), (0.3, 0.1, 0.4, 0.0), (0.2, 0.2, 0.3, 0.0)],
)
def test_as_many_labels_are_said_to_be_wrong_as_checks_have_taught(trusting, features, taught, looks):
    """Between what is wrong if labels are trusted, and if features are: a share of the way, where that is the way."""
    given, T = np.array([0, 1, 0, 1]), np.array([[0.7, 0.3], [0.2, 0.8]])

    def wrong(share):
        return np.where(np.arange(2) == given[:, None], 1 - share, share)

    kept = labels.uniform_transition(0.1, 2)
    judged = noise._Judgement(None, None, kept, np.zeros((2, 2)), wrong(features), wrong(trusting), (0.0, 1.0))
    model = judged._taught(labels_of(given, 2), wrong(taught), T)
    assert_allclose(model.by_looks, looks)
    assert_array_equal(model.transition, kept if looks else T)


# Answers


def crowd(n=60, a=4, c=3, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, c, n)
    indices = np.array([[t if rng.random() < 0.7 else rng.integers(c) for _ in range(a)] for t in true])
    indices[rng.random((n, a)) < 0.3] = -1
    indices[:, 0] = np.where(indices[:, 0] < 0, true, indices[:, 0])
    return indices, true


def test_confusions_of_annotators_are_counted_and_drawn_to_that_of_all():
    indices, _ = crowd()
    rng = np.random.default_rng(1)
    R, weight = rng.dirichlet(np.ones(3), 60), rng.uniform(0.5, 2, 60)
    these = answers.Answers.of(indices, weight, weight, 3)
    N = np.zeros((4, 3, 3))
    for j in range(60):
        for who in range(4):
            if indices[j, who] >= 0:
                N[who, :, indices[j, who]] += weight[j] * R[j]
    shared = N.sum(axis=0) + answers._PRIOR_CELL + answers._PRIOR_RIGHT * np.eye(3)
    expected = N + these.strength * shared / shared.sum(axis=1, keepdims=True)
    expected /= expected.sum(axis=2, keepdims=True)
    assert_allclose(these.confusion(R), expected)
    said = [weight[indices[:, who] >= 0].sum() for who in range(4)]
    assert_allclose(these.transition(expected), np.average(expected, axis=0, weights=said))
    wrong = sum(weight[j] * (1 - R[j, x]) for j in range(60) for x in indices[j] if x >= 0)
    assert_allclose(these.share_wrong(R), wrong / sum(said))


def test_answers_of_others_judge_a_sample():
    indices, _ = crowd()
    R = np.random.default_rng(1).dirichlet(np.ones(3), 60)
    these = answers.Answers.of(indices, np.ones(60), np.ones(60), 3)
    T, sums = these._towards(R)
    found = these._log_likelihood(R)
    for j in (0, 13, 59):
        expected = np.zeros(3)
        for who, answer in enumerate(indices[j]):
            if answer >= 0:  # without the sample itself, in the counts of this annotator
                expected += np.log((T[who, :, answer] - R[j]) / (sums[who] - R[j]))
        assert_allclose(found[j], expected)
    confusion = these.confusion(R)
    likely = these.under(confusion, np.zeros(3))
    for j in (0, 13):
        product = np.prod([confusion[who, :, x] for who, x in enumerate(indices[j]) if x >= 0], axis=0)
        assert_allclose(likely[j], product / product.max())


def test_votes_and_ties():
    indices = np.array([[0, 0, 1], [1, 2, -1], [2, 2, 2], [-1, 1, -1]])
    these = answers.Answers.of(indices, np.ones(4), np.ones(4), 3)
    assert_array_equal(these.votes(), [[2, 1, 0], [0, 1, 1], [0, 0, 3], [0, 1, 0]])
    R = np.array([[0.1, 0.8, 0.1], [0.5, 0.2, 0.3], [1, 0, 0], [1, 0, 0]])
    assert_array_equal(these.vote(R), [0, 2, 2, 1])
    some = these.take(np.array([2, 0]))
    assert_array_equal(some.votes(), these.votes()[[2, 0]])
    assert len(some.weight) == 2


def test_beliefs_of_answers_alone_are_their_own_explanation():
    indices, true = crowd(n=300)
    these = answers.Answers.of(indices, np.ones(300), np.ones(300), 3)
    R = these.beliefs()
    logs = these._log_likelihood(R)
    shares = R.mean(axis=0)
    assert_allclose(
        R, np.exp(logs + np.log(shares) - logsumexp(logs + np.log(shares), axis=1, keepdims=True)), atol=0.02
    )
    assert (R.argmax(axis=1) == true).mean() > 0.8


# The committee


def test_members_are_pooled_stage_by_stage():
    """The probabilities of stages are added up, and priors that were asked for change them in proportion."""
    rng = np.random.default_rng(0)
    Z, y = cloudy()
    start = clouds.start_from(Z, y, Weights.of(np.ones(120)), 3)
    found, _ = clouds.fit(start, SETTINGS)
    linear = [members.LinearMember(rng.normal(size=(3, 3)), rng.normal(size=3), 9.0) for _ in range(2)]
    stages = [
        members.Stage((member,), Pool(rng.uniform(0.2, 1, 2), rng.normal(size=3) / 5, np.zeros((3, 3))))
        for member in linear
    ]
    member = members.CloudMember(found, 2.0)
    near = ridge.Similarities(Z[:4], 3.0)
    correction = np.array([1.0, 2.0, 0.5])
    rule = committee.Committee(np.eye(3), near, tuple(stages), (member,), found, np.full(3, 1 / 3), correction)
    rows = committee_rows(Z)
    p = 0
    by_clouds = found.probabilities(Z) ** 2
    by_clouds /= by_clouds.sum(axis=1, keepdims=True)
    for stage in stages:
        shortened = Z * np.minimum(1, 3 / np.linalg.norm(Z, axis=1))[:, None]
        (member,) = stage.linear
        by_rows = softmax(shortened @ member.coef + member.offset, axis=1)
        both = np.array([(1 - 1e-4) * each + 1e-4 / 3 for each in (by_rows, by_clouds)])
        p = p + softmax(np.tensordot(stage.pool.weights, np.log(both), 1) + stage.pool.offset, axis=1)
    expected = p * correction / (p * correction).sum(axis=1, keepdims=True)
    assert_allclose(rule.probabilities(rows), expected, rtol=1e-9)
    assert_allclose(rule.scores(rows), np.log(expected), atol=1e-9)
    measured = rule.measure(rows)
    assert_allclose(measured.squared, found.distances(Z))
    assert_allclose(measured.outside, 0)
    turned = committee.Committee(
        np.linalg.qr(Z[:3])[0], near, tuple(stages), rule.members, found, np.full(3, 1 / 3), correction
    )
    assert (turned.measure(committee_rows(1e8 * Z)).outside == 0).all()  # and not what rounding leaves
    flat = committee.Committee(
        np.eye(3)[:2], near, tuple(stages), rule.members, flattened(found), np.full(3, 1 / 3), correction
    )
    assert_allclose(flat.measure(rows).outside, Z[:, 2] ** 2)


def committee_rows(Z):
    return CenteredBlock(DenseBlock(Z), np.zeros(Z.shape[1]))


def flattened(found):
    return clouds.Clouds(found.centers[:, :2], found.precision[:2, :2], found.shares, found.unit, found.settings)
