"""What is said about labels: planted errors are found where they are, overlap is not taken for them, checks decide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.special import softmax

from robustlda.decision import label_noise as noise
from robustlda.decision import likelihood, pools
from robustlda.decision.labels import Labels, uniform_transition
from robustlda.decision.likelihood import Scores, Slopes, WithLikelihood, WithOneRate, WithRates


def drawn(p, rng):
    """A class for each row of probabilities."""
    return (p.cumsum(axis=1) > rng.random((len(p), 1))).argmax(axis=1)


def noisy_problem(T, n=4000, seed=0):
    """Two rules for samples of known class probabilities: one that knows them, one that guesses."""
    rng = np.random.default_rng(seed)
    c = len(T)
    p = rng.dirichlet(np.full(c, 0.1), n)
    true = drawn(p, rng)
    return np.array([p, rng.dirichlet(np.ones(c), n)]), drawn(T[true], rng), true


def labels_of(given, c, *, weight=None, known=None):
    weight = np.ones(len(given)) if weight is None else weight
    known = np.full(len(given), -1) if known is None else known
    return Labels(given, weight, np.minimum(weight, 1), known, c)


def fitted(P, given, **more):
    return noise.fit_label_noise(likelihood.floored(P), labels_of(given, P.shape[2], **more))[1]


TRANSITIONS = {
    "clean": np.eye(4),
    "uniform": uniform_transition(0.3, 4),
    "one way": np.array([[0.6, 0.4, 0, 0], [0, 1, 0, 0], [0, 0, 0.6, 0.4], [0, 0, 0, 1.0]]),
    "several": np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0, 0.2], [0, 0.1, 0.9, 0], [0.3, 0, 0, 0.7]]),
}


@pytest.mark.parametrize("kind", TRANSITIONS)
def test_flips_and_the_better_rule_are_found(kind):
    T = TRANSITIONS[kind]
    P, given, true = noisy_problem(T)
    found = fitted(P, given)
    assert_allclose(found.transition, T, atol=0.09)
    assert abs(found.noise_rate - (given != true).mean()) < 0.03
    assert found.pool.weights[0] > 5 * found.pool.weights[1]
    assert not (found.uniform and kind in ("one way", "several"))
    assert found.bounds[0] - 0.02 <= (given != true).mean() <= found.bounds[1] + 0.02


def by_chance(stated):
    """Three standard errors of a share, were it as stated."""
    return 3 * np.sqrt(stated.mean() * (1 - stated.mean()) / len(stated))


def test_stated_probabilities_are_met():
    P, given, true = noisy_problem(TRANSITIONS["several"], n=8000)
    wrong = 1 - fitted(P, given).beliefs[np.arange(8000), given]
    for low in np.arange(0, 1, 0.1):
        here = (wrong >= low) & (wrong < low + 0.1)
        if here.sum() > 150:
            assert abs((given != true)[here].mean() - wrong[here].mean()) < 0.05 + by_chance(wrong[here])


def test_classes_that_overlap_are_not_taken_for_wrong_labels():
    """Two of three classes cannot be told apart well, and their labels are right."""
    rng = np.random.default_rng(0)
    n = 3000
    true = np.arange(n) % 3
    x = np.where(true == 0, -8, np.where(true == 1, 0, 1.5)) + rng.normal(size=n)
    scores = -0.5 * (x[:, None] - np.array([-8, 0, 1.5])) ** 2
    P = softmax(2.5 * scores, axis=1)[None]  # a rule that is too sure of what it cannot know
    found = fitted(P, true)
    assert found.noise_rate < 0.05
    assert found.overlap[1, 2] > 0 or found.noise_rate < 0.005
    assert found.bounds[0] < 0.005
    assert found.bounds[1] > 0.1  # from labels alone it could be noise as well


def test_what_goes_both_ways_between_overlapping_classes_is_discounted():
    T = np.array([[0.8, 0.2, 0], [0.3, 0.7, 0], [0, 0, 1.0]])
    overlap = np.zeros((3, 3))
    assert_allclose(noise.discounted(T, overlap), T)
    overlap[0, 1] = overlap[1, 0] = 1
    assert_allclose(noise.discounted(T, overlap), [[1, 0, 0], [0.1, 0.9, 0], [0, 0, 1]])
    assert_allclose(noise.discounted(T, overlap, one_way=True), np.eye(3))
    # Uniform errors go both ways between any two classes, and are kept.
    uniform = uniform_transition(0.3, 4)
    assert_allclose(noise.discounted(uniform, 1 - np.eye(4)), uniform)
    # Of only two classes nobody can say what is usual, and what the likelihood has found is kept.
    T = np.array([[0.8, 0.2], [0.3, 0.7]])
    assert_allclose(noise.discounted(T, 1 - np.eye(2)), T)
    assert_allclose(noise.discounted(T, 1 - np.eye(2), one_way=True), np.eye(2))


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.2, 0.2), (0.15, 0.25)])
def test_errors_between_two_classes_that_overlap_are_counted(rates):
    rng = np.random.default_rng(0)
    n = 6000
    true = np.arange(n) % 2
    x = np.where(true == 0, -1, 1) + rng.normal(size=n)
    wrong = rng.random(n) < np.array(rates)[true]
    given = np.where(wrong, 1 - true, true)
    P = softmax(np.column_stack([-x, x]), axis=1)[None]
    found = fitted(P, given)
    assert found.overlap.max() > 0.9
    assert abs(found.noise_rate - np.mean(rates)) < 0.05


CONFUSION = np.array([[0.8, 0.2, 0, 0], [0.3, 0.7, 0, 0], [0, 0, 0.9, 0.1], [0, 0, 0, 1.0]])


def test_confusions_are_errors_that_go_both_ways_between_some_classes():
    sizes, none = np.full(4, 1000.0), np.zeros((4, 4))
    assert_allclose(noise.confused(CONFUSION, none, sizes), np.full(4, 0.5 / 0.6))
    overlap = none.copy()
    overlap[2, 3] = overlap[3, 2] = 1  # these look alike to the features
    assert_allclose(noise.confused(CONFUSION, overlap, sizes), [0.5 / 0.6, 0.5 / 0.6, 0, 0])
    assert not noise.confused(CONFUSION, overlap[::-1, ::-1], sizes).any()
    for kind in TRANSITIONS.values():
        assert not noise.confused(kind, none, sizes).any()
    assert not noise.confused(np.eye(4) + (CONFUSION - np.eye(4)) / 10, none, sizes).any()  # it may be overlap
    assert not noise.confused(CONFUSION[:2, :2], none[:2, :2], sizes[:2]).any()


def test_errors_everywhere_are_no_confusions_by_chance():
    """Uniform errors, counted in small classes, go more often between some classes than between others."""
    rng = np.random.default_rng(0)
    T, sizes = uniform_transition(0.4, 5), np.full(5, 60.0)
    counted = np.array([[rng.multinomial(60, row) / 60 for row in T] for _ in range(50)])
    shares = np.array([noise.confused(each, np.zeros((5, 5)), sizes).max() for each in counted])
    assert np.minimum(counted, counted.transpose(0, 2, 1))[:, 0, 1].max() > 2 * noise.CONFUSED
    assert shares.mean() < 0.01


def test_the_smaller_classes_are_the_more_must_go_both_ways_between_two_of_them():
    """Beyond what goes between any two by two standard errors; from there to twice as much, ever more surely."""
    T, sizes = uniform_transition(0.4, 5), np.array([60.0, 100, 1000, 1000, 1000])
    for a, b, both_ways in ((0, 1, 0.3), (2, 3, 0.2), (1, 2, 0.28)):
        T[a, [a, b]] += [0.1 - both_ways, both_ways - 0.1]
        T[b, [a, b]] += [both_ways - 0.1, 0.1 - both_ways]
    share = errors = 0.0
    for a in range(5):
        for b in set(range(5)) - {a}:
            by_chance = 0.1 + 2 * np.sqrt(0.1 / min(sizes[a], sizes[b]))
            clearly = min(max(min(T[a, b], T[b, a]) / by_chance - 1, 0), 1)
            share, errors = share + sizes[a] * T[a, b] * clearly, errors + sizes[a] * T[a, b]
    assert 0.1 < share / errors < 0.9
    assert_allclose(noise.confused(T, np.zeros((5, 5)), sizes), np.full(5, share / errors))


@pytest.mark.parametrize("uniform", [True, False])
def test_where_features_tell_nothing_labels_are_believed_and_all_may_be_overlap(uniform):
    rng = np.random.default_rng(0)
    given, P = drawn(np.tile([0.5, 0.3, 0.2], (900, 1)), rng), rng.dirichlet(np.ones(3), 900)[None]
    found = noise.fit_noise_of_kind(P, labels_of(given, 3), uniform=uniform)
    assert not found.tells
    assert_array_equal(found.overlap, 1 - np.eye(3))
    assert_allclose(found.transition, np.eye(3), atol=0.03)
    assert_array_equal(found.beliefs.argmax(axis=1), given)
    assert found.noise_rate < 0.02
    shares = np.bincount(given) / 900
    assert_allclose(found.bounds, (0, 1 - shares @ shares), atol=0.02)
    # Checked labels are as good as drawn by lot: the others are wrong as often.
    known = np.where(np.arange(900) < 100, given, -1)
    known[:20] = (given[:20] + 1) % 3
    found = noise.fit_noise_of_kind(P, labels_of(given, 3, known=known), uniform=uniform)
    assert not found.tells
    assert_array_equal(found.overlap, 1 - np.eye(3))
    assert_array_equal(found.beliefs[:100].argmax(axis=1), known[:100])
    assert abs(found.noise_rate - 0.2) < 0.03
    assert found.bounds[0] < 0.2 < found.bounds[1]


@pytest.mark.parametrize("credence", [1.0, 0.3])
@pytest.mark.parametrize("by_looks", [np.zeros(4), np.array([0.6, 0.6, 0, 0.3])])
def test_features_are_told_from_beliefs_again(by_looks, credence):
    T, given = 0.99 * CONFUSION + 0.0025, np.arange(400) % 4
    model, p = noise.LabelModel(T, by_looks, credence), np.random.default_rng(0).dirichlet(np.full(4, 0.3), 400)
    h, q = by_looks[given][:, None], (p * T[:, given].T).sum(axis=1, keepdims=True)
    likelihood = (1 - h) * T[:, given].T + h * q
    assert_allclose((p * likelihood).sum(axis=1, keepdims=True), q)  # labels are as probable for every h
    R = model.believed(p * T[:, given].T / q, p, given)
    assert_allclose(R, credence * p * likelihood / q + (1 - credence) * np.eye(4)[given])
    assert_allclose(model.said_by_features(R, given), p, atol=1e-12)


def given_by_looks(share, *, clear=False, n=6000):
    """Labels of which a share goes by what samples look like, with classes 0 and 1 confused."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(4, 0.02 if clear else 0.15), n)
    true, alike = drawn(p, rng), drawn(p, rng)
    return p[None], drawn(CONFUSION[np.where(rng.random(n) < share, alike, true)], rng), true


def test_where_classes_are_confused_labels_of_unclear_samples_count_less():
    P, given, true = given_by_looks(0.8)
    wrong = given != true
    trusting, found = noise.fit_label_noise(likelihood.floored(P), labels_of(given, 4))
    assert_allclose(trusting.pool.weights, found.pool.weights)  # predictions know nothing of it
    assert trusting.noise_rate < wrong.mean() - 0.06
    assert abs(found.noise_rate - wrong.mean()) < 0.03
    stated = 1 - found.beliefs[np.arange(len(given)), given]
    for low in np.arange(0, 1, 0.1):
        here = (stated >= low) & (stated < low + 0.1)
        if here.sum() > 150:
            assert abs(wrong[here].mean() - stated[here].mean()) < 0.05 + by_chance(stated[here])
    counted = np.array([np.bincount(given[true == k], minlength=4) / (true == k).sum() for k in range(4)])
    assert_allclose(found.transition, counted, atol=0.06)


def test_confusions_that_have_nothing_to_do_with_looks_cost_what_features_leave_open():
    """Labels cannot tell them from others, so too many are said to be wrong: few where features are clear."""
    P, given, true = given_by_looks(0.0, clear=True)
    wrong = (given != true).mean()
    assert wrong < fitted(P, given).noise_rate < wrong + 0.06
    P, given, true = given_by_looks(0.0)
    trusting, found = noise.fit_label_noise(likelihood.floored(P), labels_of(given, 4))
    assert abs(trusting.noise_rate - (given != true).mean()) < 0.02
    assert found.bounds[0] - 0.02 <= (given != true).mean() <= found.noise_rate <= found.bounds[1]


def test_errors_whose_direction_cannot_be_told_go_both_ways_alike():
    T, sizes = np.array([[0.8, 0.2, 0], [0, 1.0, 0], [0.1, 0, 0.9]]), np.array([30.0, 10, 20])
    share = np.zeros((3, 3))
    assert_allclose(noise.either_way(T, share, sizes), T)
    share[0, 1] = share[1, 0] = 1
    found = noise.either_way(T, share, sizes)
    assert_allclose(found[:2, :2], [[0.85, 0.15], [0.15, 0.85]])
    assert_allclose(found[2], T[2])
    assert_allclose(sizes @ (1 - np.diag(found)), sizes @ (1 - np.diag(T)))  # as many are wrong as before


def test_two_classes_of_unequal_size_have_rates_of_their_own():
    assert noise._little(labels_of(np.arange(100) % 2, 2)) == 0
    assert noise._little(labels_of((np.arange(100) < 10).astype(int), 2)) == -np.inf
    assert noise._little(labels_of(np.repeat([0, 1, 2], [90, 5, 5]), 3)) == noise.LITTLE


def test_a_label_does_not_explain_itself():
    """One sample with a label that no other of its class has: its own count must not make such errors usual."""
    true = np.arange(400) % 4
    given = true.copy()
    given[0] = 1
    P = 0.9 * np.eye(4)[true] + 0.025
    T, without_itself = smoothed(P, given)
    assert T[0, 1] < 1e-3  # and not one in a hundred
    assert without_itself[0, 0] < 0.9
    given[:40:4] = 1  # ten of them speak for each other
    T, without_itself = smoothed(P, given)
    assert T[0, 1] > 0.05
    assert without_itself[0, 0] > 0.85


def test_checked_samples_are_believed_and_decide():
    """Errors are where the features are unsure, which from labels alone looks like overlap."""
    rng = np.random.default_rng(0)
    n = 2000
    true = np.arange(n) % 2
    x = np.where(true == 0, -1.5, 1.5) + rng.normal(size=n)
    given = np.where(rng.random(n) < 0.6 * np.exp(-(x**2)), 1 - true, true)
    share = (given != true).mean()
    model = 1 / (1 + np.exp(-1.2 * x))  # as a rule fitted to such labels would have it
    P = np.stack([1 - model, model], axis=1)[None]
    before = fitted(P, given)
    known = np.full(n, -1)
    known[:100] = true[:100]
    after = fitted(P, given, known=known)
    assert_allclose(after.beliefs[:100], np.eye(2)[true[:100]], atol=1e-12)
    assert abs(after.noise_rate - share) < 0.6 * abs(before.noise_rate - share)
    assert after.bounds[1] - after.bounds[0] < before.bounds[1] - before.bounds[0]


def test_copies_count_as_often_as_they_are_given():
    P, given, _ = noisy_problem(TRANSITIONS["several"], n=300)
    weight = np.random.default_rng(1).integers(1, 4, 300).astype(float)
    times = weight.astype(int)
    weighted, repeated = fitted(P, given, weight=weight), fitted(np.repeat(P, times, axis=1), np.repeat(given, times))
    assert_allclose(np.repeat(weighted.beliefs, times, axis=0), repeated.beliefs, atol=1e-6)
    assert_allclose(weighted.transition, repeated.transition, atol=1e-6)


def test_likelihood_never_falls():
    rng = np.random.default_rng(0)
    for seed in range(10):
        P, given, _ = noisy_problem(uniform_transition(0.4, 3), n=60, seed=seed)
        path = fitted(P, given, weight=rng.uniform(0.2, 3, 60)).likelihood
        assert (np.diff(path) >= -1e-9).all()


def smoothed(P, given):
    """A transition and the factors that leave a sample out, where features are believed as they are."""
    scores = Scores(likelihood.centered_logs(P[None]), labels_of(given, 4))
    v = np.concatenate([[0.0], np.zeros(4), np.full(12, -14.0)])
    point = WithRates(scores, v)
    point.beliefs = point.by_features
    _, T, without_itself = noise._smoothed(point)
    return T, scores.restored(without_itself)


def points():
    """Points of every kind by their parameters, with sample weights and some checked samples."""
    P, given, true = noisy_problem(TRANSITIONS["several"], n=200)
    known = np.where(np.arange(200) < 20, true, -1)
    labels = labels_of(given, 4, weight=np.random.default_rng(0).uniform(0.5, 2, 200), known=known)
    scores = Scores(likelihood.centered_logs(likelihood.floored(P)), labels)
    given_class = scores.sorted(labels.likelihood(TRANSITIONS["several"] * 0.9 + 0.025))
    overlap = np.zeros((4, 4))
    none = Slopes(scores, overlap)
    overlap[1, 3] = overlap[3, 1] = overlap[0, 0] = 0.7
    some = Slopes(scores, overlap)
    return {
        "one rate": (lambda v: WithOneRate(scores, v), 2 + 4 + 1),
        "rates": (lambda v: WithRates(scores, v), 2 + 4 + 12),
        "likelihood": (lambda v: WithLikelihood(scores, v, given_class, none), 2 + 4),
        "slopes": (lambda v: WithLikelihood(scores, v, given_class, some), 2 + 4 + 3),
    }


def drawn_point(size):
    """Parameters of which a rate, where there is one, says that labels are right more often than not."""
    v = np.random.default_rng(1).normal(size=size) / 3
    if size == 2 + 4 + 1:
        v[-1] = -abs(v[-1])
    return v


@pytest.mark.parametrize("kind", points())
@pytest.mark.parametrize("sharpness", [-1.5, 0.3])  # a pool that is blunter than its rules, and one that is sharper
def test_gradient_and_hessian_are_derivatives(kind, sharpness):
    at, size = points()[kind]
    v = drawn_point(size)
    v[:2] += sharpness
    assert_allclose(at(v).gradient(), approx_fprime(v, lambda w: at(w).value, 1e-6), rtol=2e-4, atol=2e-3)
    if at(v).has_hessian:
        numerical = [(at(v + step).gradient() - at(v - step).gradient()) / 2e-5 for step in 1e-5 * np.eye(size)]
        assert_allclose(at(v).hessian(), numerical, rtol=1e-5, atol=1e-5)
    else:
        assert kind == "slopes"
    assert_allclose(at(v).beliefs.sum(axis=0), 1)


@pytest.mark.parametrize("kind", points())
def test_parts_that_stay_in_the_cache_change_nothing(kind, monkeypatch):
    at, size = points()[kind]
    v = drawn_point(size)
    monkeypatch.setattr(likelihood, "_IN_CACHE", 1)
    monkeypatch.setattr(likelihood, "_FEWEST", 7)
    in_parts = points()[kind][0](v)
    assert len(in_parts.scores.parts) > 3
    assert len(at(v).scores.parts) == 1
    assert_allclose(in_parts.value, at(v).value, rtol=1e-12)
    assert_allclose(in_parts.gradient(), at(v).gradient(), atol=1e-10)
    if at(v).has_hessian:
        assert_allclose(in_parts.hessian(), at(v).hessian(), atol=1e-10)
    if kind in ("one rate", "rates"):
        for found, expected in zip(noise._smoothed(in_parts), noise._smoothed(at(v)), strict=True):
            assert_allclose(found, expected, rtol=1e-9)


def test_counted_transitions_are_near_those_of_the_maximum(monkeypatch):
    """Where there are very many classes; here four of them, one of which loses a third of its labels to another."""
    P, given, _ = noisy_problem(TRANSITIONS["one way"], n=800)
    scores = Scores(likelihood.centered_logs(likelihood.floored(P)), labels_of(given, 4))
    (exact,) = pools.fit_pools(scores, uniform=False)
    monkeypatch.setattr(pools, "COUNTED", 3)
    (counted,) = pools.fit_pools(scores, uniform=False)
    assert counted.point.value <= exact.point.value + 1e-6
    assert (np.diff(counted.path) >= 0).all()
    assert np.abs(counted.point.transition - exact.point.transition).mean() < 0.06
    assert_allclose(counted.point.counted(), counted.point.transition, atol=1e-6)


@pytest.mark.parametrize("uniform", [True, False])
def test_newton_and_quasi_newton_agree(uniform, monkeypatch):
    P, given, _ = noisy_problem(TRANSITIONS["several"], n=300)
    scores = Scores(likelihood.centered_logs(likelihood.floored(P)), labels_of(given, 4))
    found = max(pools.fit_pools(scores, uniform=uniform), key=lambda each: each.point.value)
    rates = len(found.point.at) - 2 - 4
    low, high = pools._bounds(2, 4, np.full(rates, pools._RAREST), np.zeros(rates))
    gradient, v = found.point.gradient(), found.point.at
    assert np.abs(gradient[(low < v) & (v < high)]).max() < 1e-5
    assert (gradient[v >= high] >= -1e-5).all()
    assert (gradient[v <= low] <= 1e-5).all()
    for kind in (WithOneRate, WithRates):
        monkeypatch.setattr(kind, "has_hessian", property(lambda self: False, lambda self, value: None), raising=False)
    other = max(pools.fit_pools(scores, uniform=uniform), key=lambda each: each.point.value)
    assert_allclose(found.point.value, other.point.value, rtol=1e-9)
    assert_allclose(found.point.transition, other.point.transition, atol=1e-4)


def test_samples_come_back_in_their_order():
    P, given, _ = noisy_problem(TRANSITIONS["several"], n=50)
    scores = Scores(likelihood.centered_logs(likelihood.floored(P)), labels_of(given, 4))
    assert_array_equal(scores.restored(scores.sorted(P[0])), P[0])
    pool = likelihood.Pool(np.array([0.7, 0.2]), np.arange(4) / 10, np.diag([0.1, 0, 0, 0.2]))
    logs = likelihood.centered_logs(likelihood.floored(P))
    assert_allclose(scores.under(pool), pool.probabilities(logs), rtol=1e-12)


def test_nothing_is_known_about_a_class_that_was_ruled_out():
    labels = labels_of(np.array([0, 1, 1]), 3, known=np.array([-1, 2, -1]))
    possible = labels.possible(np.full((3, 3), 0.5))
    assert_array_equal(possible, [[0.5, 0.5, 0.5], [0, 0, 0.5], [0.5, 0.5, 0.5]])


@pytest.mark.parametrize("kind", ["soft", "sharp", "certain"])
@pytest.mark.parametrize("seed", range(8))
def test_flip_rate_of_one_rule_is_the_best_one(kind, seed):
    rng = np.random.default_rng(seed)
    for c in (2, 5):
        p, weight = rng.uniform(0, 1, 50), rng.uniform(0.5, 2, 50)
        p = {"soft": p, "sharp": p**8 / (p**8 + (1 - p) ** 8), "certain": (p > 0.2).astype(float)}[kind]
        floored = (1 - likelihood.PROB_FLOOR) * p + likelihood.PROB_FLOOR / c
        rates = np.linspace(0, 0.95 * (c - 1) / c, 2000)[:, None]
        grid = np.log((1 - rates) * floored + rates / (c - 1) * (1 - floored)) @ weight
        other = rng.uniform(0, 1, 50)
        found = likelihood.best_likelihoods(np.array([p, other]), weight, c)
        assert_allclose(found[0], grid.max(), rtol=1e-5)
        assert_allclose(found[1], likelihood.best_likelihoods(other[None], weight, c)[0], rtol=1e-12)
