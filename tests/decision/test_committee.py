"""The noise-aware decision: held-out means held out, likelihoods rise, noise is found where it is and nowhere else."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from robustlda import RatioLDA, RobustLDA
from robustlda.data import Weights
from robustlda.data.columns import typical_square
from robustlda.datasets.contaminate import flip_into_next_class, flip_labels, gross_rows
from robustlda.decision import candidates, ridge
from robustlda.decision import clouds as cloud_rule
from robustlda.estimators import fit_decision
from robustlda.linalg import principal_angles, weighted_medians
from robustlda.plan import Plan


def table(load, seed=0):
    X, y = load(return_X_y=True)
    return train_test_split(StandardScaler().fit_transform(X), y, test_size=0.3, stratify=y, random_state=seed)


def clouds(n=300, c=3, d=5, gap=4.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + gap * rng.normal(size=(c, d))[y], y


# Held-out scores


WEIGHTS = {"none": np.ones(30), "copies": 1.0 + np.arange(30) % 3, "importance": np.linspace(0.5, 3, 30)}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_scores_without_a_sample_are_those_of_a_fit_without_it(kind):
    X, y = clouds(n=30, gap=1.0)
    weight, Y = WEIGHTS[kind], np.eye(3)[y]
    regression = ridge.Regression(X, Weights.of(weight))
    for penalty, solution in zip(ridge.PENALTIES, regression.solutions(Y), strict=True):
        mean = weight @ X / weight.sum()
        size = penalty * np.linalg.eigvalsh(((X - mean).T * weight) @ (X - mean)).mean()
        for left_out in (0, 7):
            w = weight.copy()
            w[left_out] -= 1 if kind == "copies" else w[left_out]  # of several copies one goes
            f, t = w @ X / w.sum(), w @ Y / w.sum()
            F = X - f
            B = np.linalg.solve((F.T * w) @ F + size * np.eye(5), (F.T * w) @ (Y - t))
            assert_allclose(solution.held_out[left_out], (X[left_out] - f) @ B + t, atol=1e-9)


@pytest.mark.parametrize("settings", candidates.CLOUDS, ids=["sharp", "soft"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_clouds_without_a_sample_are_near_a_fit_without_it(load, weighted, settings):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    y, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))

    def fit(w):
        keep = w > 0
        return cloud_rule.fit(cloud_rule.start_from(X[keep], y[keep], Weights.of(w[keep]), 3), settings)

    found, held_out = fit(weight)
    some = np.arange(0, len(y), 5)
    refitted = np.array([fit(weight - np.eye(len(y))[j])[0].probabilities(X[j : j + 1])[0] for j in some])
    error, optimizm = np.abs(held_out[some] - refitted), np.abs(found.probabilities(X)[some] - refitted)
    assert error.mean() < 0.7 * optimizm.mean()
    assert error.max() < 0.2


def test_a_sample_is_hidden_from_the_clouds_that_judge_it():
    rows, hidden, seen = np.arange(60), [], []
    for seed in range(20):
        X, y = clouds(n=60, c=2, gap=0.0, seed=seed)
        found, honest = cloud_rule.fit(cloud_rule.start_from(X, y, Weights.of(np.ones(60)), 2), candidates.CLOUDS[0])
        hidden.append(honest[rows, y].mean())
        seen.append(found.probabilities(X)[rows, y].mean())
    # Labels of two classes that do not differ cannot be predicted; a rule that has seen them pretends to.
    assert np.mean(hidden) < min(0.56, np.mean(seen) - 0.01)


def test_a_class_without_its_only_sample_is_not_there():
    X, y = clouds(n=30, c=2)
    X, y = np.vstack([X, X.mean(axis=0) + 40]), np.append(y, 2)
    _, held_out = cloud_rule.fit(cloud_rule.start_from(X, y, Weights.of(np.ones(31)), 3), candidates.CLOUDS[0])
    assert held_out[30, 2] < 0.05
    assert_allclose(held_out.sum(axis=1), 1)


def test_landmarks_lie_where_samples_lie_and_are_none():
    X, y = clouds(n=400)
    found, _ = cloud_rule.fit(cloud_rule.start_from(X, y, Weights.of(np.ones(400)), 3), candidates.CLOUDS[0])
    points = found.draw(np.random.default_rng(0).normal(size=(3000, 5)))
    assert_allclose(points.mean(axis=0), X.mean(axis=0), atol=0.3)
    assert_allclose(np.cov(points.T), np.cov(X.T), atol=0.15 * np.trace(np.cov(X.T)))
    nearest = np.sqrt(((points[:, None] - X) ** 2).sum(axis=2)).min()
    assert nearest > 1e-3


def test_wrong_labels_are_found_with_more_features_than_samples():
    """There the projection puts every sample with the class it was given, and only principal axes know better."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.normal(size=(240, 1000)) + 0.15 * rng.normal(size=(3, 1000))[y]
    given, wrong = flip_labels(y, 0.1, rng)

    def precision(model, plan):
        model.plan = plan
        beliefs = fit_decision(model, X, given).beliefs
        suspicious = np.argsort(beliefs[np.arange(240), given])[:24]
        return wrong[suspicious].mean(), model.noise_rate_

    found, rate = precision(RobustLDA(), Plan())
    assert found > 0.75
    assert abs(rate - 0.1) < 0.06
    model = RatioLDA(init="pca", decision="noise_aware")
    trusting, rate = precision(model, Plan(samples_per_dim=0))  # the projection is trusted
    assert trusting < found
    assert rate < 0.02


# The classifier


@pytest.mark.parametrize(
    ("load", "share", "at_least", "draws"),
    [
        (load_iris, 0.4, 0.83, 6),
        (load_wine, 0.4, 0.87, 6),
        (load_breast_cancer, 0.3, 0.88, 4),
        (load_digits, 0.4, 0.93, 1),
        (load_digits, 0.0, 0.97, 1),
    ],
)
def test_accuracy_and_noise_rate_under_flips(load, share, at_least, draws):
    X, X_test, y, y_test = table(load)
    right, off = [], []
    for seed in range(draws):
        noisy, _ = flip_labels(y, share, np.random.default_rng(seed))
        model = RobustLDA().fit(X, noisy)
        right.append(model.score(X_test, y_test))
        off.append(abs(model.noise_rate_ - share))
    assert np.mean(right) >= at_least
    assert np.median(off) < 0.15  # of a hundred training rows at 40 %, one draw in ten is taken for overlap
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
    assert 0 <= model.noise_rate_ < max(0.2, 1.5 / n)  # of five samples one may be in doubt


def test_a_class_of_one_sample_is_kept():
    X, y = clouds(n=90)
    X, y = np.vstack([X, X.mean(axis=0) + 40]), np.append(y, 3)
    model = RobustLDA().fit(X, y)
    assert model.predict_proba(X).shape == (91, 4)
    assert np.isfinite(model.transition_).all()


def test_priors_replace_the_shares_of_the_classes():
    X, y = clouds(n=300, c=3, gap=0.7)
    model = RobustLDA().fit(X, y)
    asked = np.array([0.6, 0.3, 0.1])
    expected = model.predict_proba(X) * asked / model.priors_
    found = RobustLDA(priors=asked).fit(X, y).predict_proba(X)
    assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)


def test_priors_move_the_boundary():
    rng, y = np.random.default_rng(0), np.arange(400) % 2
    X = rng.normal(size=(400, 5)) + 1.5 * np.outer(y, [1, 0, 0, 0, 0])
    rare, common = (RobustLDA(priors=p).fit(X, y).predict(X) for p in ([0.95, 0.05], [0.05, 0.95]))
    assert (rare == 1).sum() < (y == 1).sum() / 2 < (common == 1).sum() / 2
    assert (RobustLDA(priors=[1.0, 0.0]).fit(X, y).predict(X) == 0).all()


def test_a_rare_class_is_not_said_to_have_lost_half_of_its_labels():
    """It overlaps with the other; a quarter of its labels are lost, and a few draws of noise must not double that."""
    off = []
    for gap in (1.6, 2.0):
        for seed in range(8):
            rng = np.random.default_rng(seed)
            true = (np.arange(600) < 120).astype(int)
            X = rng.normal(size=(600, 6))
            X[:, 0] += gap * true
            given = true.copy()
            given[rng.permutation(120)[:30]] = 0
            off.append(RobustLDA().fit(X, given).noise_rate_ - 0.05)
    assert np.abs(off).mean() < 0.03
    assert np.max(off) < 0.08  # and .15 for half of them


def test_two_classes_may_differ_in_ten_directions_none_of_which_tells_them_apart():
    """One spreads twice as far as the other, about the same center; six axes, three for each class, tell .906."""

    def score(draw):
        rng, y = np.random.default_rng(draw), np.arange(2600) % 2
        X = rng.normal(size=(2600, 10)) * np.where(y == 1, 2, 1)[:, None]
        return RobustLDA().fit(X[:600], y[:600]).score(X[600:], y[600:])

    assert np.mean([score(draw) for draw in range(3)]) > 0.915


def test_many_samples_are_learned_from_some_of_them():
    X, X_test, y, y_test = table(load_digits)
    model = RobustLDA()
    model.plan = Plan(max_samples=400)
    beliefs = fit_decision(model, X, y).beliefs
    assert model.score(X_test, y_test) > 0.93
    assert_allclose(beliefs.sum(axis=1), 1)
    assert beliefs[np.arange(len(y)), y].mean() > 0.97


def test_features_beyond_what_can_be_factorized_go_through_their_principal_directions():
    X, X_test, y, y_test = table(load_digits)
    model = RobustLDA()
    model.plan = Plan(linear_rule_dim=0, linear_rule_directions=40)
    assert model.fit(X, y).score(X_test, y_test) > 0.95


# Far samples


def angle(a, b):
    return principal_angles(*(np.linalg.qr(model.components_.T)[0] for model in (a, b))).max()


@pytest.mark.parametrize("decision", ["noise_aware", "centroid"])
@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_one_far_sample_turns_neither_projection_nor_decision(decision, distance):
    X, X_test, y, _ = table(load_digits)
    clean = RobustLDA(decision=decision).fit(X, y)
    far = X.copy()
    far[0] = distance * np.random.default_rng(0).normal(size=X.shape[1])
    corrupted = RobustLDA(decision=decision).fit(far, y)
    assert angle(clean, corrupted) < 0.35  # .30 for the last of nine directions, .15 for the others
    assert (clean.predict(X_test) == corrupted.predict(X_test)).mean() > 0.98
    # Without the bound it turns at least one direction to itself.
    free = RobustLDA(decision=decision, leverage="free").fit(far, y)
    assert angle(clean, free) > 0.5


@pytest.mark.parametrize("load", [load_wine, load_digits, load_breast_cancer])
def test_a_tenth_of_gross_rows_costs_little(load):
    X, X_test, y, y_test = table(load)
    corrupted, _ = gross_rows(X, 0.1, np.random.default_rng(0))
    assert RobustLDA().fit(corrupted, y).score(X_test, y_test) > RobustLDA().fit(X, y).score(X_test, y_test) - 0.03


def test_typical_length_of_samples_most_of_which_coincide():
    ones = np.ones(100)
    lengths = np.random.default_rng(0).uniform(1, 2, 100)
    assert typical_square(lengths, ones) == np.sort(lengths)[49]
    few = np.repeat([0.0, 1.0], [80, 20])
    assert typical_square(few, ones) == 1
    assert_allclose(typical_square(few + 1e-12 * lengths, ones), 1)
    assert_allclose(typical_square(np.repeat([0.0, 1.0], [99, 1]), ones), 0.01)
    assert typical_square(np.zeros(100), ones) == 1


def test_weighted_medians_are_those_of_repeated_rows():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        V, weight = rng.normal(size=(n, 3)), rng.integers(1, 5, n)
        assert_allclose(weighted_medians(V, weight.astype(float)), np.median(np.repeat(V, weight, axis=0), axis=0))


@pytest.mark.parametrize(("n", "most"), [(2000, 20_000), (40_000, 1000)], ids=["all", "a few of many"])
def test_where_classes_are_far_apart_wrong_labels_are_counted(n, most):
    """Nothing may take them for overlap: neither how sure rules may be, nor that a sample stands for many."""
    rng = np.random.default_rng(0)
    centers = 0.8 * rng.normal(size=(10, 100))
    true = rng.integers(0, 10, n)
    X = rng.standard_normal((n, 100), np.float32) + centers[true].astype(np.float32)
    given, wrong = flip_labels(true, 0.07, rng)
    model = RobustLDA()
    model.plan = Plan(max_samples=most)
    assert abs(model.fit(X, given).noise_rate_ - wrong.mean()) < (0.01 if most > n else 0.03)


def test_clouds_of_few_samples_are_confirmed_by_folds():
    """Labels that have nothing to do with 75 samples in nine dimensions: no rule may claim to know them."""
    y, folds, right = np.tile([0, 1, 2], 25), np.repeat(np.arange(25) % 5, 3), []
    for seed in range(8):
        Z = np.random.default_rng(seed).normal(size=(75, 9))
        start = cloud_rule.start_from(Z, y, Weights.of(np.ones(75)), 3)
        alone, honest = cloud_rule.fit(start, candidates.CLOUDS[0])[1], np.empty((75, 3))
        for fold in range(5):
            honest[folds == fold] = cloud_rule.by_others(start, folds == fold, candidates.CLOUDS[0])
        assert_allclose(honest.sum(axis=1), 1)
        right.append([(p.argmax(axis=1) == y).mean() for p in (alone, honest)])
    claimed, confirmed = np.mean(right, axis=0)
    assert confirmed < 0.42
    assert claimed > confirmed  # else nothing had to be confirmed


def test_of_penalties_that_leave_no_doubt_rounding_does_not_choose():
    labels = np.arange(40) % 2
    sure = 0.2 * np.eye(2)[labels]
    found = [
        candidates._best(
            [SimpleNamespace(penalty=k, held_out=sure * (1 + rounding)) for k, rounding in enumerate(roundings)],
            labels,
            np.ones(40) / 3,
            candidates.SHARPNESS,
        )[0][0].penalty
        for roundings in ((0, 1e-3, 2e-3), (2e-3, 0, 1e-3), (1e-3, 2e-3, 0))
    ]
    assert found == [2, 2, 2]


def test_rules_that_say_nothing_are_not_heard():
    """Factors common to all features hide the classes from principal axes; only the linear rule sees them."""
    rng = np.random.default_rng(1)
    centers = rng.choice([-0.9, 0, 0, 0, 0.9], size=(3, 300))
    y = np.tile([0, 1, 2], 125)
    X = centers[y] + rng.normal(size=(375, 20)) @ rng.normal(size=(20, 300)) + rng.normal(size=(375, 300))
    given, _ = flip_labels(y[:75], 0.2, rng)
    model = RobustLDA().fit(X[:75], given)
    heard = model.rule_.stages[0].erring.weights > 0
    assert heard[0]
    assert not heard.all()
    assert model.score(X[75:], y[75:]) > 0.6


def test_every_label_counts_a_little_however_far_its_sample_is():
    norms, labels = np.append(np.ones(80), [1e100, 1e200]), np.arange(82) % 2
    samples = SimpleNamespace(squared_norms=norms, weights=Weights.of(np.ones(82)), labels=labels)
    counted = candidates._label_weight(samples, np.zeros((82, 1)), np.zeros((2, 1)))
    assert counted.min() > 0
    assert (counted[:80] == 1).all()
    assert counted[80:].max() < 1e-90


def test_a_class_far_from_all_others_counts_and_its_outliers_do_not():
    Z = np.append(np.linspace(-1, 1, 80), [10.0, 12, 14, 8, 6, 60])[:, None]
    labels = np.repeat([0, 1], [80, 6])
    samples = SimpleNamespace(squared_norms=Z[:, 0] ** 2, weights=Weights.of(np.ones(86)), labels=labels)
    counted = candidates._label_weight(samples, Z, np.array([[0.0], [10.0]]))
    assert (counted[:85] == 1).all()
    assert counted[85] < 0.05


@pytest.mark.parametrize(("n", "counts"), [(5, True), (4, False)])
def test_five_far_samples_of_a_kind_may_be_a_class(n, counts):
    Z = np.append(np.linspace(-1, 1, 80), np.linspace(9, 11, n))[:, None]
    samples = SimpleNamespace(
        squared_norms=Z[:, 0] ** 2, weights=Weights.of(np.ones(80 + n)), labels=np.repeat([0, 1], [80, n])
    )
    counted = candidates._label_weight(samples, Z, np.array([[0.0], [10.0]]))
    assert (counted[80:] == 1).all() == counts


@pytest.mark.parametrize(("sizes", "can_be"), [((5, 9), True), ((4, 9), False), ((9, 0), False)])
def test_folds_need_a_sample_of_every_class_in_each(sizes, can_be):
    dealing = SimpleNamespace(targets=np.repeat([0, 1], sizes), samples=SimpleNamespace(n_classes=2))
    assert candidates.Candidates._can_be_dealt(dealing, SimpleNamespace(first=np.arange(sum(sizes)))) == can_be


@pytest.mark.parametrize(
    ("claimed", "confirmed", "n_folds", "kept"),
    [
        (20.0, [16.0] * 5, 1, True),  # more than .75 in the first fold, of a gain worth speaking of
        (20.0, [14.0] * 5, 5, True),  # more than half in all
        (20.0, [16.0, 0, 0, 0, 0], 1, True),
        (20.0, [14.0, 9, 9, 9, 8], 5, False),
        (3.0, [3.0, 0, 0, 0, 0], 5, False),
    ],
)
def test_what_clouds_claim_is_confirmed_by_a_fold_or_by_all(monkeypatch, claimed, confirmed, n_folds, kept):
    """A gain is the sum of its samples here, one for each fold."""
    asked = []

    def by_others(start, out, settings):
        asked.append(np.flatnonzero(out).tolist())
        return np.array(confirmed)[out][:, None]

    monkeypatch.setattr(cloud_rule, "by_others", by_others)
    judge = SimpleNamespace(samples=SimpleNamespace(n_classes=2), _gain_by_clouds=lambda p, some: p[some].sum())
    held_out = np.full((5, 1), claimed)
    found = candidates.Candidates._confirmed(judge, held_out, None, np.arange(5), candidates.CLOUDS[0])
    assert asked == [[fold] for fold in range(n_folds)]
    assert_allclose(found, held_out if kept else np.array(confirmed)[:, None])


def test_points_as_far_as_numbers_go_are_near_to_no_landmark():
    Z = np.array([[0.0, 0.0], [1e86, -2e86], [3e-119, 0.0]])
    near = ridge.Similarities(np.array([[0.0, 0.0], [1e-120, 2e-120]]), 1e-239).of(Z)
    assert near[0, 0] == 1
    assert near[1:].max() < 1e-30
