"""The noise-aware decision: held-out means held out, likelihoods rise, noise is found where it is and nowhere else."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from robustlda import RobustLDA
from robustlda.datasets.contaminate import flip_into_next_class, flip_labels, gross_rows
from robustlda.decision import latent, noise_aware, ridge
from robustlda.linalg import principal_angles, weighted_medians
from robustlda.samples.center import nearness


def table(load, seed=0):
    X, y = load(return_X_y=True)
    return train_test_split(StandardScaler().fit_transform(X), y, test_size=0.3, stratify=y, random_state=seed)


def clouds(n=300, c=3, d=5, gap=4.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + gap * rng.normal(size=(c, d))[y], y


# Held-out scores


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_without_a_sample_are_those_of_a_fit_without_it(weighted):
    X, y = clouds(n=30, gap=1.0)
    weight = np.random.default_rng(1).uniform(0.5, 2, 30) if weighted else np.ones(30)
    Y = np.eye(3)[y]
    for penalty, solution in zip(ridge.PENALTIES, ridge.Regression(X, weight).solutions(Y), strict=True):
        mean = weight @ X / weight.sum()
        size = penalty * np.linalg.eigvalsh(((X - mean).T * weight) @ (X - mean)).mean()
        for left_out in (0, 7):
            rest = np.arange(30) != left_out
            w = weight[rest]
            f, t = w @ X[rest] / w.sum(), w @ Y[rest] / w.sum()
            F = X[rest] - f
            B = np.linalg.solve((F.T * w) @ F + size * np.eye(5), (F.T * w) @ (Y[rest] - t))
            assert_allclose(solution.held_out[left_out], (X[left_out] - f) @ B + t, atol=1e-9)


def test_folds_hide_a_sample_from_the_clouds_that_judge_it():
    X, y = clouds(n=60, c=2, gap=0.0)
    honest = noise_aware._by_folds(X, y, np.ones(60), 2, noise_aware._CLOUDS[0])
    peeking = latent.fit(X, y, np.ones(60), 2, noise_aware._CLOUDS[0]).probabilities(X)
    rows = np.arange(60)
    # Labels of two classes that do not differ cannot be foreseen; a rule that has seen them pretends to.
    assert abs(honest[rows, y].mean() - 0.5) < 0.08
    assert peeking[rows, y].mean() > 0.55


# The judgement


def noisy_problem(T, n=4000, seed=0):
    """Two rules for samples of known class probabilities: one that knows them, one that guesses."""
    rng = np.random.default_rng(seed)
    c = len(T)
    p = rng.dirichlet(np.full(c, 0.3), n)
    true = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    given = (T[true].cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return np.array([p, rng.dirichlet(np.ones(c), n)]), given, true != given


TRANSITIONS = {
    "clean": np.eye(4),
    "uniform": noise_aware._uniform(0.3, 4),
    "next": np.array([[0.6, 0.4, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.4], [0, 0, 0, 1.0]]),
}


@pytest.mark.parametrize("kind", TRANSITIONS)
def test_flips_and_the_better_rule_are_found(kind):
    T = TRANSITIONS[kind]
    P, given, wrong = noisy_problem(T)
    verdict = noise_aware.judge(noise_aware._doubtful(P), given, np.ones(len(given)))
    assert_allclose(verdict.transition, T, atol=0.06)
    assert abs(verdict.noise_rate - wrong.mean()) < 0.03
    assert verdict.shares[0] > 0.95


def test_classes_that_overlap_are_not_taken_for_wrong_labels():
    """Two of three classes cannot be told apart, as if half of their labels were wrong: that is spread over all."""
    rng = np.random.default_rng(0)
    true = np.arange(3000) % 3
    seen = np.where(true > 0, rng.integers(1, 3, 3000), true)
    P = noise_aware._doubtful(np.eye(3)[seen])[None]  # a rule that is too sure of what it cannot know
    verdict = noise_aware.judge(P, true, np.ones(3000))
    assert_allclose(verdict.transition, noise_aware._uniform(1 / 3, 3), atol=0.05)
    # What goes one way only is kept where it is.
    assert_allclose(noise_aware.beyond_overlap(TRANSITIONS["next"]), TRANSITIONS["next"], atol=1e-12)
    rows = noise_aware.beyond_overlap(np.full((4, 4), 0.25))
    assert_allclose(rows.sum(axis=1), 1)
    assert rows.min() > 0


def test_wrong_labels_are_found_with_more_features_than_samples(monkeypatch):
    """There the projection puts every sample with the class it was given, and only principal axes know better."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 1000)) + 0.15 * rng.normal(size=(3, 1000))[y]
    given, wrong = flip_labels(y, 0.1, rng)

    def precision():
        model = RobustLDA()
        beliefs = model._fit(X, given)
        suspicious = np.argsort(beliefs[np.arange(240), given])[:24]
        return wrong[suspicious].mean(), model.noise_rate_

    found, rate = precision()
    assert found > 0.9
    assert abs(rate - 0.1) < 0.04
    monkeypatch.setattr(noise_aware.plan, "learns_by_heart", lambda samples, n_distinct: False)
    found, rate = precision()
    assert found < 0.9
    assert rate < 0.02


def test_likelihood_never_falls():
    rng = np.random.default_rng(0)
    for seed in range(20):
        P, given, _ = noisy_problem(noise_aware._uniform(0.4, 3), n=60, seed=seed)
        weight = rng.uniform(0.2, 3, 60)
        path = noise_aware.judge(noise_aware._doubtful(P), given, weight).likelihood
        assert (np.diff(path) >= -1e-9).all()
        rows = np.arange(60)
        _, path = noise_aware._uniform_rate(noise_aware._doubtful(P[0])[rows, given][None], weight, 3)
        assert (np.diff(path) >= -1e-9).all()


def test_flip_rate_of_one_rule_is_the_best_one():
    rng = np.random.default_rng(0)
    for c in (2, 5):
        p, weight = rng.uniform(0, 1, 50), rng.uniform(0.5, 2, 50)
        doubtful = (1 - noise_aware._DOUBT) * p + noise_aware._DOUBT / c
        rates = np.linspace(0, 0.95 * (c - 1) / c, 2000)[:, None]
        grid = np.log((1 - rates) * doubtful + rates / (c - 1) * (1 - doubtful)) @ weight
        assert_allclose(noise_aware._best_likelihood(p, weight, c), grid.max(), rtol=1e-5)


# The classifier


@pytest.mark.parametrize(
    ("load", "share", "at_least"),
    [
        (load_iris, 0.4, 0.9),
        (load_wine, 0.4, 0.9),
        (load_breast_cancer, 0.3, 0.9),
        (load_digits, 0.4, 0.94),
        (load_digits, 0.0, 0.97),
    ],
)
def test_accuracy_and_noise_rate_under_flips(load, share, at_least):
    X, X_test, y, y_test = table(load)
    noisy, _ = flip_labels(y, share, np.random.default_rng(0))
    model = RobustLDA().fit(X, noisy)
    assert model.score(X_test, y_test) >= at_least
    assert abs(model.noise_rate_ - share) < 0.1
    assert (np.diff(model.likelihood_path_) >= -1e-9).all()
    assert_allclose(model.transition_.sum(axis=1), 1)
    assert_allclose(model.predict_proba(X_test).sum(axis=1), 1)


def test_flips_into_the_next_class_show_in_the_transition():
    X, X_test, y, y_test = table(load_wine)
    noisy, _ = flip_into_next_class(y, 0.3, np.random.default_rng(0))
    model = RobustLDA().fit(X, noisy)
    assert model.score(X_test, y_test) > 0.94
    T = model.transition_
    # The prior, worth fifteen samples of this class of forty, holds the estimate below the true 0.3.
    assert T[0, 1] > max(0.1, 3 * T[0, 2])


def test_order_of_rows_and_copies_make_no_difference():
    X, X_test, y, _ = table(load_wine)
    y, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    p = RobustLDA().fit(X, y).predict_proba(X_test)
    order = np.random.default_rng(1).permutation(len(y))
    assert_allclose(RobustLDA().fit(X[order], y[order]).predict_proba(X_test), p, atol=1e-6)
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = RobustLDA().fit(X, y, weight).predict_proba(X_test)
    repeated = RobustLDA().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X_test)
    assert_allclose(repeated, weighted, atol=1e-6)


@pytest.mark.parametrize(("n", "c"), [(4, 2), (5, 3), (20, 10), (400, 200)])
def test_two_samples_per_class(n, c):
    X, y = clouds(n=n, c=c, d=8, gap=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = RobustLDA().fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert (model.predict(X) == y).mean() > 0.9
    assert 0 <= model.noise_rate_ < 0.2


def test_a_class_of_one_sample_is_kept():
    X, y = clouds(n=90)
    X, y = np.vstack([X, X.mean(axis=0) + 40]), np.append(y, 3)
    model = RobustLDA().fit(X, y)
    assert model.predict_proba(X).shape == (91, 4)
    assert np.isfinite(model.transition_).all()


def test_priors_move_the_boundary():
    X, y = clouds(n=400, c=2, gap=0.7)
    rare, common = (RobustLDA(priors=p).fit(X, y).predict(X) for p in ([0.95, 0.05], [0.05, 0.95]))
    assert (rare == 1).sum() < (y == 1).sum() / 2 < (common == 1).sum() / 2
    assert (RobustLDA(priors=[1.0, 0.0]).fit(X, y).predict(X) == 0).all()


def test_many_samples_are_learned_from_some_of_them(monkeypatch):
    X, X_test, y, y_test = table(load_digits)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    monkeypatch.setattr(noise_aware, "_MOST", 400)
    chosen, w, place, total = noise_aware._distinct(X, y, weight, 10)
    assert total == len(np.unique(np.column_stack([X, y]), axis=0))
    assert_array_equal(chosen[place[chosen]], chosen)
    assert (place < 0).sum() == len(y) - len(chosen)
    assert 380 <= len(chosen) <= 420
    assert_allclose(np.bincount(y[chosen], w), np.bincount(y, weight))
    model = RobustLDA()
    beliefs = model._fit(X, y)
    assert model.score(X_test, y_test) > 0.93
    assert_allclose(beliefs.sum(axis=1), 1)
    assert beliefs[np.arange(len(y)), y].mean() > 0.97


def test_sparse_rows_are_judged_like_dense_ones(monkeypatch):
    import robustlda.samples as storage

    X, y = load_digits(return_X_y=True)
    y, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    dense = RobustLDA().fit(X, y)
    monkeypatch.setattr(storage, "SMALL", 0)
    sparse = RobustLDA().fit(csr_array(X), y)
    assert abs(sparse.noise_rate_ - dense.noise_rate_) < 0.02
    assert (sparse.predict(csr_array(X)) == dense.predict(X)).mean() > 0.97


def test_features_beyond_what_can_be_factorised_go_through_their_principal_directions(monkeypatch):
    X, X_test, y, y_test = table(load_digits)
    monkeypatch.setattr(noise_aware.plan, "learn_in_whole_space", lambda samples: False)
    monkeypatch.setattr(noise_aware.plan, "principal_subspace", lambda samples: 40)
    assert RobustLDA().fit(X, y).score(X_test, y_test) > 0.95


# Far samples


@pytest.mark.parametrize("decision", ["noise_aware", "centroid"])
@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_one_far_sample_turns_neither_projection_nor_decision(decision, distance):
    X, X_test, y, _ = table(load_digits)
    clean = RobustLDA(decision=decision).fit(X, y)
    far = X.copy()
    far[0] = distance * np.random.default_rng(0).normal(size=X.shape[1])
    spoiled = RobustLDA(decision=decision).fit(far, y)
    assert principal_angles(clean.components_.T, spoiled.components_.T).max() < 0.3
    assert (clean.predict(X_test) == spoiled.predict(X_test)).mean() > 0.98
    # Without the bound it turns at least one direction to itself.
    free = RobustLDA(decision=decision, leverage="free").fit(far, y)
    assert principal_angles(clean.components_.T, free.components_.T).max() > 0.8


@pytest.mark.parametrize("load", [load_wine, load_digits, load_breast_cancer])
def test_a_tenth_of_gross_rows_costs_little(load):
    X, X_test, y, y_test = table(load)
    spoiled, _ = gross_rows(X, 0.1, np.random.default_rng(0))
    assert RobustLDA().fit(spoiled, y).score(X_test, y_test) > RobustLDA().fit(X, y).score(X_test, y_test) - 0.03


def test_nearness_of_sparse_rows_is_that_of_dense_ones():
    X, y = clouds(n=100)
    X[3] *= 50
    X[np.abs(X) < 1] = 0
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    dense = nearness(X, y, weight, 3)
    assert_allclose(nearness(csr_array(X), y, weight, 3), dense, rtol=1e-9)
    assert dense[3] < 1e-3
    assert np.median(dense) == 1


def test_nearness_leaves_identical_samples_alone():
    assert_array_equal(nearness(np.ones((4, 2)), np.array([0, 0, 1, 1]), np.ones(4), 2), np.ones(4))


def test_weighted_medians_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        V, weight = rng.normal(size=(n, 3)), rng.integers(1, 5, n)
        assert_allclose(weighted_medians(V, weight.astype(float)), np.median(np.repeat(V, weight, axis=0), axis=0))
