"""Degenerate data: a defined outcome or one clear sentence, never an error from within."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from robustlda import DLE, MMC, LabelAudit, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.linalg import principal_angles


@pytest.fixture(params=[RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])
def kind(request):
    return request.param


@pytest.fixture(params=[RatioLDA, TraceRatioLDA])
def ratio(request):
    return request.param


@pytest.mark.parametrize("n_features", [2, 5000])
@pytest.mark.parametrize("ratio", [RatioLDA, TraceRatioLDA])
def test_classes_that_are_points_cost_no_division(ratio, n_features):
    y = np.arange(1000) % 2
    X = csr_array((np.ones(1000), (np.arange(1000), y)), shape=(1000, n_features))
    model = ratio(decision=None).fit(X, y)
    assert (np.diff(model.objective_path_) <= 0).all()
    assert np.isfinite(model.components_).all()


def test_a_fit_leaves_nothing_of_an_earlier_one():
    X, y = load_iris(return_X_y=True)
    model = RatioLDA(decision="noise_aware").fit(X, y).set_params(decision="centroid").fit(X[:100], y[:100])
    assert not {"noise_rate_", "transition_", "likelihood_path_"} & set(vars(model))
    model = RobustLDA(store_covariance=True).fit(X, y).set_params(decision=None, store_covariance=False).fit(X, y)
    assert not {"rule_", "priors_", "covariance_"} & set(vars(model))
    with pytest.raises(NotFittedError):  # nothing decides before the next fit
        model.set_params(decision="centroid").predict(X)


def blobs(n=40, d=5, c=2, seed=0, gap=4.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + gap * rng.normal(size=(c, d))[y], y


def assert_sound(model, X):
    for value in (model.components_, model.transform(X), model.predict_proba(X), model.objective_path_):
        assert np.isfinite(value).all()
    if not isinstance(model, RobustLDA | SupervisedLPP | DLE):
        assert_allclose(model.components_ @ model.components_.T, np.eye(len(model.components_)), atol=1e-8)


def frame(model):
    return np.linalg.qr(model.components_.T)[0]


def test_more_features_than_samples_stay_in_the_row_space(kind):
    X, y = blobs(n=20, d=200, c=3)
    model = kind().fit(X, y)
    assert_sound(model, X)
    assert model.components_.shape == (9 if kind in (RatioLDA, TraceRatioLDA) else 2, 200)
    basis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:19].T
    assert principal_angles(frame(model), basis).max() < 1e-7


@pytest.mark.parametrize("kind", [RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])  # RobustLDA heeds units
def test_rotating_wide_data_into_their_row_space_changes_nothing(kind):
    X, y = blobs(n=20, d=100, c=3)
    basis = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:19].T
    wide, narrow = kind().fit(X, y), kind().fit(X @ basis, y)
    assert_allclose(wide.objective_path_[-1], narrow.objective_path_[-1], rtol=1e-8)
    assert principal_angles(frame(wide), basis @ frame(narrow)).max() < 1e-6


def test_default_dimension_is_clipped_to_the_rank(ratio):
    X, y = blobs(d=4)
    assert ratio().fit(X, y).components_.shape == (4, 4)
    assert ratio().fit(np.hstack([X, X]), y).components_.shape == (4, 8)


@pytest.mark.parametrize("m", [3, 5, 99])
def test_explicit_dimension_from_the_rank_on_is_refused_naming_it(ratio, m):
    X, y = blobs(d=3)
    with pytest.raises(ValueError, match=rf"n_components={m} must be below the rank .* which is 3"):
        ratio(n_components=m).fit(X, y)


def test_null_space_lda_warns_that_classes_collapse(ratio):
    X, y = blobs(n=15, d=60, c=4)
    with pytest.warns(UserWarning, match="every training class collapses"):
        model = ratio(n_components=3).fit(X, y)
    Z = model.transform(X)
    within = max(np.ptp(Z[y == i], axis=0).max() for i in range(4))
    assert within < 1e-4 * np.ptp(Z)
    assert_sound(model, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ratio(n_components=4).fit(X, y)


def test_a_class_of_one_sample_is_its_own_center(kind):
    X, y = blobs(n=30, c=2)
    X, y = np.vstack([X, [20, 20, 20, 20, 20]]), np.append(y, 7)
    model = kind(n_components=2).fit(X, y)
    assert_sound(model, X)
    assert_allclose(model.class_centers_[2], X[-1], atol=1e-6)
    # Nothing can be held out of such a class, so a rule that models wrong labels may doubt it, but not rule it out.
    assert model.predict_proba(X[-1:])[0, 2] > 0.05


def test_classes_of_one_sample_each(kind):
    X = np.random.default_rng(0).normal(size=(6, 4))
    model = kind(n_components=2).fit(X, np.arange(6))
    assert_sound(model, X)


def test_classes_that_are_single_points_repeated(kind):
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 5, axis=0)
    y = np.repeat([0, 1, 2], 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = kind(n_components=1).fit(X, y)
    assert_sound(model, X)
    assert model.score(X, y) == 1


def test_identical_samples_are_refused(kind):
    with pytest.raises(ValueError, match="All samples are identical"):
        kind().fit(np.full((10, 3), 0.1), np.arange(10) % 2)
    with pytest.raises(ValueError, match="All samples are identical"):
        kind().fit(np.full((3, 10), 0.1), np.arange(3) % 2)


def test_constant_columns_get_no_loading(kind):
    X, y = blobs()
    padded = np.insert(X, [0, 3], 1e6 / 3, axis=1)
    model = kind(n_components=1).fit(padded, y)
    assert_allclose(model.components_[:, [0, 4]], 0, atol=1e-9)
    bare = np.delete(frame(model), [0, 4], axis=0)
    assert principal_angles(bare, frame(kind(1).fit(X, y))).max() < 1e-6


def test_a_sample_at_the_center(kind):
    X, y = blobs()
    X = np.vstack([X - X.mean(axis=0), np.zeros((1, 5))])
    assert_sound(kind(n_components=1).fit(X, np.append(y, 0)), X)


def test_two_identical_classes_share_the_probability(kind):
    X, _y = blobs(n=30, c=1)
    model = kind().fit(np.vstack([X, X]), np.repeat([0, 1], 30))
    assert_sound(model, X)
    # Where nothing tells two classes apart, beliefs that feed on themselves may make something of a rounding error.
    assert_allclose(model.predict_proba(X), 0.5, atol=1e-4)


def test_one_class_is_refused(kind):
    with pytest.raises(ValueError, match="at least 2 classes, but y holds only one class"):
        kind().fit(np.random.default_rng(0).normal(size=(8, 3)), np.zeros(8))


def test_one_feature(kind):
    X, y = blobs(d=1, gap=0)
    X = X + 8 * y[:, None]
    model = kind().fit(X, y)
    assert model.components_.shape == (1, 1)
    assert model.score(X, y) > 0.9
    assert kind(n_components=1).fit(X, y).score(X, y) == model.score(X, y)


def test_two_samples(kind):
    model = kind().fit([[0.0, 1], [1, 0]], ["a", "b"])
    assert list(model.predict([[0.0, 1], [1, 0]])) == ["a", "b"]


def test_one_far_sample_does_not_break_the_arithmetic(kind):
    X, y = blobs(n=60)
    X[0] = 1e12
    assert_sound(kind(n_components=1).fit(X, y), X)


@pytest.mark.parametrize("scale", [1e-70, 1e-30, 1e30, 1e70])
def test_extreme_units(kind, scale):
    X, y = blobs()
    a, b = kind(n_components=1).fit(X, y), kind(n_components=1).fit(X * scale, y)
    assert principal_angles(frame(a), frame(b)).max() < 1e-6


@pytest.mark.parametrize(("scale", "dtype"), [(1e140, float), (1e-140, float), (1e17, np.float32)])
def test_units_beyond_the_arithmetic_are_refused(kind, scale, dtype):
    X, y = blobs()
    with pytest.raises(ValueError, match=r"largest number in X is .* Change the units"):
        kind().fit((X * scale).astype(dtype), y)


def test_too_few_iterations_warn_with_what_to_raise():
    X, y = blobs(n=60, d=8, c=3, gap=1)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 iterations, while the objective .* Raise max_iter"):
        model = RatioLDA(2, max_iter=1, tol=1e-12, init="random", random_state=0).fit(X, y)
    assert model.stop_reason_ == "max_iter=1 was reached"


X0, Y0 = blobs()
OTHERS = [
    (SupervisedLPP(graph="nearest"), "graph='nearest' must be one of 'heat'"),
    (SupervisedLPP(ridge=-1), "ridge=-1 must be a number of at least 0"),
    (SupervisedLPP(2, graph="binary"), "n_components=2 must be at most 1, the rank of the scatter between 2 classes"),
    (DLE(2), "n_components=2 must be at most 1, the rank of the scatter between 2 classes"),
    (DLE(n_neighbors=0), "n_neighbors=0 must be a whole number"),
    (DLE(ridge=0), "ridge=0 must be a positive number"),
    (MMC(5), "n_components=5 must be below the rank of the centered data, which is 5"),
]


@pytest.mark.parametrize(("estimator", "message"), OTHERS, ids=str)
def test_bad_settings_of_the_compared_methods(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X0, Y0)


BAD = {
    "n_components": ({"n_components": 0}, {}, "n_components=0 must be a whole number"),
    "loss": ({"loss": "huber"}, {}, "loss='huber' is not one of"),
    "exponent": ({"exponent": 3}, {}, "exponent=3 must lie between 1 and 2"),
    "exponent of loss": (
        {"exponent": 1.5, "loss": "welsch"},
        {},
        "exponent=1.5 must be 1 with loss=.*For exponents up to 2 use loss='l12'",
    ),
    "init": ({"init": "zeros"}, {}, "init='zeros' must be one of 'trace_ratio'"),
    "n_components type": ({"n_components": True}, {}, "n_components=True must be a whole number"),
    "exponent type": ({"exponent": "two"}, {}, "exponent='two' must lie between 1 and 2"),
    "priors type": ({"priors": "uniform"}, {}, "priors='uniform' must be 2 numbers with sum 1"),
    "init scalar": ({"init": -1}, {}, r"init has shape \(\), but"),
    "solver": ({"solver": "fast"}, {}, "solver='fast' must be one of 'auto', 'plain'"),
    "init shape": ({"n_components": 2, "init": np.eye(3)}, {}, r"init has shape \(3, 3\), but .* \(2, 5\)"),
    "init rank": ({"n_components": 2, "init": np.ones((2, 5))}, {}, "linearly dependent"),
    "decision": ({"decision": "best"}, {}, "decision='best' must be one of"),
    "center": ({"center": "mode"}, {}, "center='mode' must be one of 'mean', 'median'"),
    "tol": ({"tol": -1}, {}, "tol=-1 must be a number"),
    "max_iter": ({"max_iter": 0}, {}, "max_iter=0 must be a whole number"),
    "weight length": ({}, {"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\)"),
    "weight sign": ({}, {"sample_weight": -np.ones(40)}, "sample_weight holds -1"),
    "no weight": ({}, {"sample_weight": np.zeros(40)}, "All sample weights are zero"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case):
    parameters, arguments, message = BAD[case]
    for kind in (RobustLDA, RatioLDA):
        if set(parameters) <= set(kind().get_params()):
            with pytest.raises(ValueError, match=message):
                kind(**parameters).fit(X0, Y0, **arguments)


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_columns_that_depend_on_others_add_nothing_wherever_zero_is(kind, offset):
    X, y = blobs(n=60, c=3, gap=1.5)
    mixed = X @ np.random.default_rng(1).normal(size=(5, 3))
    near, far = np.hstack([X, mixed]), np.hstack([X, mixed + offset])
    expected = kind().fit(near, y).predict_proba(near)
    # Rounding of the shifted columns is a part of 1e-10 of them.
    assert_allclose(kind().fit(far, y).predict_proba(far), expected, atol=1e-4)


@pytest.mark.parametrize("decision", ["noise_aware", "centroid", None])
def test_memory_of_robust_lda_knows_samples_times_classes(decision):
    X, y = np.empty((300_000, 4)), np.arange(300_000) % 2500
    assert RobustLDA(decision=decision).estimate_memory(X, y) > 8 * 300_000 * 2500


def test_weights_that_are_not_whole_cost_nothing(kind):
    if kind is DLE:
        return
    X, y = blobs(n=60, c=3, gap=1.5)
    expected = kind().fit(X, y).predict_proba(X)
    for weight in (1 / 60, 1e-300, 1e300):
        assert_allclose(kind().fit(X, y, np.full(60, weight)).predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (RatioLDA(random_state=-1), "random_state=-1 must be at least 0"),
        (RatioLDA(random_state=2**70), "must be at least 0 and below 2\\*\\*32"),
        (LabelAudit(random_state=2**32), "random_state=4294967296 must be"),
        (LabelAudit(n_resamples=2**70), "must be a whole number from 0 to 10000"),
        (SupervisedLPP(ridge=1e308), "ridge=1e\\+308 is too large"),
    ],
)
def test_numbers_that_are_too_large_are_refused(estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(*load_iris(return_X_y=True))


def test_small_types_of_numbers_do_not_overflow():
    assert TraceRatioLDA(np.int8(2)).fit(*load_iris(return_X_y=True)).components_.shape == (2, 4)


def test_memory_is_estimated_for_whatever_can_be_fitted():
    X, y = load_iris(return_X_y=True)
    answers = np.column_stack([y, y]).astype(object)
    answers[::2, 1] = None
    needed = RobustLDA().estimate_memory(X, y)
    assert RobustLDA().estimate_memory(X.tolist(), y.tolist()) == needed
    assert RobustLDA().estimate_memory(X, answers) == RobustLDA().estimate_memory(X, answers.tolist()) == needed
