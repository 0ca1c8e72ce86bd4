"""The projection from beliefs: its objective falls, it is LDA where it should be, and wrong labels do not turn it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from robustlda import RobustLDA
from robustlda.data import Weights, as_samples
from robustlda.data.store import as_store
from robustlda.datasets.contaminate import flip_labels
from robustlda.experiments.paper.toy import angle, draw
from robustlda.linalg import principal_angles
from robustlda.solvers import believed


def samples_of(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    return as_samples(as_store(X), y, Weights.of(weight), np.average(X, axis=0, weights=weight), y.max() + 1)


def frame(W):
    return np.linalg.qr(W)[0]


def heavy_tails(n=300, d=6, c=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.standard_t(2, size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=(c, d))[y], y


def objective(X, y, weight, means, Sigma, D, share, typical):
    """Written down directly."""
    R = X - means[y]
    lengths = np.sqrt(np.einsum("ij,ij->i", R @ np.linalg.inv(Sigma), R) + 1e-3 * typical**2)
    n, inverse = weight.sum(), np.linalg.inv(Sigma)
    fit = 2 * typical * (weight @ lengths) / n
    return fit + share * np.trace(inverse @ D) + (1 + share) * np.linalg.slogdet(np.linalg.solve(D, Sigma))[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wide", [False, True])
def test_the_objective_never_rises(seed, wide):
    X, y = heavy_tails(seed=seed)
    X = np.hstack([X, np.random.default_rng(seed).normal(size=(300, 400))]) if wide else X
    weight = np.random.default_rng(seed).uniform(0.2, 3, len(y))
    path = believed.solve(samples_of(X, y, weight), 2, tol=0, max_iter=40).history
    assert len(path) > 5
    assert (np.diff(path) <= 1e-9).all()
    assert path[-1] < path[0] - 1e-3


def test_the_objective_is_the_one_that_is_written_down(monkeypatch):
    X, y = heavy_tails()
    samples, seen = samples_of(X, y), {}
    target, shrinkage = believed._target, believed._shrinkage
    monkeypatch.setattr(believed, "_target", lambda *a: seen.update(D=target(*a)) or seen["D"])
    monkeypatch.setattr(believed, "_shrinkage", lambda *a: seen.setdefault("share", shrinkage(*a)))
    path = believed.solve(samples, 2, tol=0, max_iter=1).history
    X = X - X.mean(axis=0)

    def moments(u):
        means = np.array([np.average(X[y == k], axis=0, weights=u[y == k]) for k in range(3)])
        R = X - means[y]
        return means, (R * u[:, None]).T @ R / len(X) + believed._TINY * (u @ X**2).mean() / len(X) * np.eye(6)

    def squares(means, Sigma):
        return np.einsum("ij,ij->i", (X - means[y]) @ np.linalg.inv(Sigma), X - means[y])

    means, S = moments(np.ones(len(X)))
    first = squares(means, np.diag(np.diag(S)))
    median = np.sort(first)[149]
    means, S = moments(np.sqrt(median / (first + 1e-3 * median)))
    D = np.diag(seen["D"])
    Sigma = (S + seen["share"] * D) / (1 + seen["share"])
    typical = np.sqrt(np.sort(squares(means, Sigma))[149])
    assert_allclose(seen["D"], np.diag(S), rtol=1e-9, atol=1e-12)
    found = objective(X, y, np.ones(len(y)), means, Sigma, D, seen["share"], typical)
    assert_allclose(path[0], found, rtol=1e-8)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_digits])
def test_with_squared_lengths_and_no_shrinkage_it_is_lda(load, monkeypatch):
    X, y = load(return_X_y=True)
    X = X[:, X.std(axis=0) > 0.5]
    monkeypatch.setattr(believed, "_shrinkage", lambda *_: 0.0)
    monkeypatch.setattr(believed, "_SMOOTHING", 1e12)  # which makes all lengths alike, and sums of them quadratic
    m = y.max()
    W = believed.solve(samples_of(X, y), m, max_iter=0).W
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert principal_angles(frame(W), frame(lda.scalings_[:, :m])).max() < 1e-3


def test_directions_have_unit_variance_within_classes_and_fall_in_separation():
    X, y = load_wine(return_X_y=True)
    model = RobustLDA(n_components=5).fit(StandardScaler().fit_transform(X), y)
    Z = model.transform(StandardScaler().fit_transform(X))
    within = np.mean([Z[y == k].var(axis=0) for k in range(3)], axis=0)
    assert_allclose(within, 1.2, atol=0.3)  # in lengths, and shrunk: not exactly
    assert model.explained_variance_ratio_[0] > model.explained_variance_ratio_[1] > 0.05
    assert_allclose(model.explained_variance_ratio_[2:], 0)
    assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert_allclose(model.scalings_, model.components_.T)
    assert model.means_ is model.class_centers_
    assert model.xbar_ is model.center_
    shrunk = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(StandardScaler().fit_transform(X), y)
    assert_allclose(model.explained_variance_ratio_[:2], shrunk.explained_variance_ratio_, atol=0.1)


@pytest.mark.parametrize(("stretch", "distance"), [(2, 10), (2, 20), (4, 20), (4, 40)])
def test_outliers_do_not_make_long_classes_round(stretch, distance):
    """Fourth powers of a few far samples would ask for shrinkage that turns the direction."""
    found = []
    for number in range(10):
        X, y, optimal = draw(stretch, distance, np.random.default_rng([number, stretch, distance]))
        found.append(angle(believed.solve(samples_of(X, y), 1).W[:, 0], optimal))
    assert np.median(found) < 4.5


def test_the_more_labels_are_doubted_the_more_is_shrunk(monkeypatch):
    """Of classes that are known, all samples of all of them tell about their common shape; if not, those of one do."""
    X, y = heavy_tails()
    found, genuine = [], believed._shrinkage
    monkeypatch.setattr(believed, "_shrinkage", lambda *given: found.append(genuine(*given)) or found[-1])
    for doubt in (0.0, 0.2, 0.4, 0.8):
        believed.solve(samples_of(X, y), 2, doubt=doubt)
    assert found[0] < found[1] < found[2] == found[3]
    assert found[2] == pytest.approx(min(3 * found[0], 1), rel=0.25)  # as if there were a third of the samples


def test_samples_that_are_not_trusted_do_not_ask_for_shrinkage(monkeypatch):
    """Two fifths of the rows far away, with next to no trust: their fourth powers would still be most of the sum."""
    rng = np.random.default_rng(0)
    y, far = np.arange(200) % 4, np.arange(200) % 5 < 2
    X = (rng.normal(size=(200, 30)) * np.geomspace(1, 10, 30)) @ np.linalg.qr(rng.normal(size=(30, 30)))[0]
    X += 5 * rng.normal(size=(4, 30))[y]
    X[far] = 50 * rng.normal(size=(80, 30))
    found, genuine = [], believed._shrinkage
    monkeypatch.setattr(believed, "_shrinkage", lambda *given: found.append(genuine(*given)) or found[-1])
    for rows, trust in ((~far, 1.0), (np.full(200, True), np.where(far, 0.005, 1.0))):
        weights = Weights.of(np.ones(rows.sum()), trust)
        center = X[~far].mean(axis=0)
        believed.solve(as_samples(as_store(X[rows]), y[rows], weights, center, 4), 3)
    without, with_them = found
    assert with_them == pytest.approx(without, rel=0.15)


def test_units_of_features_do_not_turn_directions():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    units = 10.0 ** np.linspace(-1, 1, 13)
    a, b = (believed.solve(samples_of(X * u, y), 2).W * u[:, None] for u in (np.ones(13), units))
    assert principal_angles(frame(a), frame(b)).max() < 1e-4


def test_wrong_labels_hardly_turn_it():
    X, y = load_digits(return_X_y=True)
    given, _ = flip_labels(y, 0.4, np.random.default_rng(0))
    shrunk = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto", n_components=2)
    near = KNeighborsClassifier(5)
    ours, theirs = (
        near.fit(Z[::2], y[::2]).score(Z[1::2], y[1::2])
        for Z in (RobustLDA(2).fit(X, given).transform(X), shrunk.fit(X, given).transform(X))
    )
    assert ours > theirs + 0.01


def test_as_many_directions_as_the_rank_and_no_more():
    X, y = load_wine(return_X_y=True)
    model = RobustLDA(n_components=13).fit(X, y)
    assert np.linalg.matrix_rank(model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)) == 13
    with pytest.raises(ValueError, match="n_components=14 must be at most 13, the rank"):
        RobustLDA(n_components=14).fit(X, y)


def test_predictions_do_not_depend_on_the_number_of_components():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    one, five = RobustLDA(1).fit(X, y), RobustLDA(5).fit(X, y)
    assert_allclose(one.predict_proba(X), five.predict_proba(X))
    assert_allclose(np.exp(one.predict_log_proba(X)), one.predict_proba(X))


def test_pairs_count_by_what_telling_them_apart_gains():
    """The trace of their scatter is the share that a line between two classes gets right, beyond half of it."""
    Y = np.array([[0.0, 0], [3, 0], [0, 4]])
    shares = np.array([0.5, 0.25, 0.25])
    B = believed._between(Y, shares)
    gains = [norm.cdf(d / 2) - 0.5 for d in (3, 4, 5)]
    assert_allclose((B**2).sum(), np.dot([0.125, 0.125, 0.0625], gains))


def test_one_class_far_away_does_not_take_the_first_direction():
    """Fisher's would go to it, though nobody confuses it with the others."""
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 5
    centers = np.array([[0.0, 0], [0, 4], [0, 8], [0, 12], [40, 6]])
    X = rng.normal(size=(1000, 2)) + centers[y]
    found = believed.solve(samples_of(X, y), 2)
    first = found.W[:, 0] / np.linalg.norm(found.W[:, 0])
    assert abs(first[1]) > 0.95
    fisher = LinearDiscriminantAnalysis().fit(X, y).scalings_[:, 0]
    assert abs(fisher[0]) / np.linalg.norm(fisher) > 0.95
    assert found.separation[0] > found.separation[1] > 0
