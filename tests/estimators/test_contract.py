"""scikit-learn's contract, and ours on top of it, for every estimator."""

import os
import pickle
import subprocess
import sys
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import robustlda
from robustlda import DLE, MMC, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.linalg import principal_angles
from robustlda.losses import Lp

ESTIMATORS = [RobustLDA(), RatioLDA(), TraceRatioLDA(), MMC(), SupervisedLPP(), DLE()]
VARIANTS = [
    *ESTIMATORS,
    RobustLDA(decision=None),
    RobustLDA(decision="centroid", center="median"),
    RatioLDA(decision=None),
    TraceRatioLDA(decision=None),
    MMC(decision=None),
    SupervisedLPP(graph="binary"),
    SupervisedLPP(graph="balanced", decision=None),
    DLE(decision=None),
    RatioLDA(
        loss="capped",
        exponent=2,
        init="random",
        center="median",
        leverage="bounded",
        decision="noise_aware",
        random_state=0,
    ),
    RatioLDA(init="best", loss="cauchy", decision="centroid", random_state=0),
]


@parametrize_with_checks(VARIANTS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(params=VARIANTS, ids=str)
def estimator(request):
    return clone(request.param).set_params(n_components=2)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def angle(a, b):
    frames = [np.linalg.qr(model.components_.T.astype(float))[0] for model in (a, b)]
    return principal_angles(*frames).max()


def orthonormal(estimator):
    return not isinstance(estimator, RobustLDA | SupervisedLPP | DLE)


def weighted(estimator):
    return not isinstance(estimator, DLE)


def test_at_most_ten_public_names():
    assert len(dir(robustlda)) <= 10
    for name in robustlda.__all__:
        assert getattr(robustlda, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        robustlda.nothing  # noqa: B018


def test_fit_leaves_its_input_unchanged(estimator, wine):
    X, y = wine[0].copy(), wine[1].copy()
    weight = np.linspace(0, 2, len(y))
    before = X.tobytes(), y.tobytes(), weight.tobytes()
    (estimator.fit(X, y, sample_weight=weight) if weighted(estimator) else estimator.fit(X, y)).transform(X)
    assert (X.tobytes(), y.tobytes(), weight.tobytes()) == before


def test_relabelling_classes_changes_nothing(estimator, wine):
    X, y = wine
    names = np.array(["zebra", "aardvark", "mole"])
    a, b = clone(estimator).fit(X, y), clone(estimator).fit(X, names[y])
    assert angle(a, b) < 1e-6
    assert_allclose(b.objective_path_[-1], a.objective_path_[-1], rtol=1e-9)
    if is_classifier(estimator):
        assert_array_equal(names[a.predict(X)], b.predict(X))


def test_order_of_rows_changes_nothing(estimator, wine):
    X, y = wine
    order = np.random.default_rng(0).permutation(len(y))
    assert angle(clone(estimator).fit(X, y), clone(estimator).fit(X[order], y[order])) < 1e-6


def test_translation_changes_nothing(estimator, wine):
    X, y = wine
    a, b = clone(estimator).fit(X, y), clone(estimator).fit(X + 100, y)
    assert angle(a, b) < 1e-6
    assert_allclose(a.transform(X), b.transform(X + 100), atol=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1e5])
def test_scale_changes_nothing(estimator, wine, scale):
    X, y = wine
    a, b = clone(estimator).fit(X, y), clone(estimator).fit(scale * X, y)
    assert angle(a, b) < 1e-6
    if not isinstance(estimator, MMC):  # whose criterion is a difference, and has a unit
        # Whether one more iteration is taken at the optimum, where J falls by its last digit, is up to that digit.
        shared = min(len(a.objective_path_), len(b.objective_path_))
        assert_allclose(a.objective_path_[:shared], b.objective_path_[:shared], rtol=1e-8)
        assert_allclose(a.objective_path_[-1], b.objective_path_[-1], rtol=1e-8)
    unit = 1 if isinstance(estimator, RobustLDA | SupervisedLPP) else scale
    assert_allclose(unit * a.transform(X), b.transform(scale * X), atol=1e-5 * unit)


@pytest.mark.parametrize("kind", [RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])
def test_rotating_features_rotates_components(kind, wine):
    X, y = wine
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 13)))[0]
    a, b = kind(n_components=2).fit(X, y), kind(n_components=2).fit(X @ Q, y)
    b.components_ = b.components_ @ Q.T
    assert angle(a, b) < 1e-6


@pytest.mark.parametrize("wide", [False, True])
def test_integer_weight_is_repetition(estimator, wine, wide):
    if not weighted(estimator):
        assert "sample_weight" not in signature(estimator.fit).parameters
        return
    X, y = wine
    if wide:
        X, y = np.hstack([X, X**2, np.sin(X)])[::8], y[::8]
        estimator.set_params(n_components=None)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    a = clone(estimator).fit(X, y, sample_weight=weight)
    b = clone(estimator).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert angle(a, b) < 1e-6
    assert_allclose(a.objective_path_[-1], b.objective_path_[-1], rtol=1e-8)
    if is_classifier(estimator):
        assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-6)


def test_float32_stays_float32_and_agrees_with_float64(wine):
    X, y = wine
    for kind in (RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE):
        a, b = kind(n_components=2).fit(X, y), kind(n_components=2).fit(X.astype(np.float32), y)
        for array in (b.components_, b.center_, b.class_centers_, b.transform(X.astype(np.float32))):
            assert array.dtype == np.float32
        assert angle(a, b) < 1e-3


def test_components_have_one_sign_and_one_order(estimator, wine):
    X, y = wine
    components = estimator.fit(X, y).components_
    peak = np.abs(components).argmax(axis=1)
    assert (components[np.arange(2), peak] > 0).all()
    if orthonormal(estimator):
        assert_allclose(components @ components.T, np.eye(2), atol=1e-10)
    assert_array_equal(components, clone(estimator).fit(X, y).components_)


FRAMES = {
    "pandas": lambda data: pd.DataFrame(data),
    "polars": lambda data: pl.DataFrame(data),
    "pyarrow": lambda data: pa.table(data),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_any_kind_go_in(estimator, wine, kind):
    X, y = wine
    names = [f"feature {i}" for i in range(13)]
    table = FRAMES[kind](dict(zip(names, X.T, strict=True)))
    fitted = clone(estimator).fit(table, y)
    assert angle(fitted, clone(estimator).fit(X, y)) < 1e-9
    # Polars dropped the interchange protocol by which scikit-learn 1.6 learnt the names of its columns.
    if kind != "polars" or not sklearn.__version__.startswith("1.6."):
        assert list(fitted.feature_names_in_) == names
    if kind != "pyarrow":
        out = fitted.set_output(transform=kind).transform(table)
        assert type(out) is type(table)
        assert list(out.columns) == list(fitted.get_feature_names_out())


def test_model_survives_pickling_and_holds_no_training_rows(estimator, wine):
    X, y = np.vstack([wine[0]] * 5), np.hstack([wine[1]] * 5)
    fitted = estimator.fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.transform(X), fitted.transform(X))
    sizes = [len(value) for value in vars(fitted).values() if isinstance(value, np.ndarray) and value.ndim]
    assert max(sizes) < len(y)


def test_probabilities_and_scores_agree_with_the_prediction(wine):
    X, y = wine
    model = RobustLDA().fit(X, y)
    probability = model.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    two = RobustLDA().fit(X[y < 2], y[y < 2])
    log_odds = np.log(two.predict_proba(X)[:, 1] / two.predict_proba(X)[:, 0])
    middle = np.abs(log_odds) < 20
    assert_allclose(two.decision_function(X)[middle], log_odds[middle], rtol=1e-6)


def test_priors_move_the_decision(wine):
    X, y = wine
    even = RobustLDA().fit(X, y).predict_proba(X)[:, 0].mean()
    assert RobustLDA(priors=[0.98, 0.01, 0.01]).fit(X, y).predict_proba(X)[:, 0].mean() > even
    assert (RobustLDA(priors=[0, 0.5, 0.5]).fit(X, y).predict(X) != 0).all()
    for priors, complaint in (([0.5, 0.5], "must be 3 numbers with sum 1"), ([0.9, 0.2, -0.1], "must be non-negative")):
        with pytest.raises(ValueError, match=f"priors {complaint}"):
            RobustLDA(priors=priors).fit(X, y)
    with pytest.warns(UserWarning, match="priors add up to 2"):
        model = RobustLDA(priors=[1.0, 0.5, 0.5]).fit(X, y)
    assert_allclose(model.priors_, [0.5, 0.25, 0.25])


def test_pure_transformer_feeds_a_pipeline_and_a_grid_search(wine):
    X, y = wine
    model = RobustLDA(decision=None)
    assert not is_classifier(model)
    assert not hasattr(model, "predict")
    pipe = make_pipeline(model, KNeighborsClassifier(1))
    assert cross_val_score(pipe, X, y).mean() > 0.9
    search = GridSearchCV(
        RatioLDA(max_iter=2000, decision="centroid"), {"n_components": [2, 5], "loss": ["l12", Lp(p=0.7)]}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.9


def test_sample_weight_can_be_routed(wine):
    X, y = wine
    weight = np.where(y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, RobustLDA(n_components=2).set_fit_request(sample_weight=True))
        routed = model.fit(X, y, sample_weight=weight)[-1]
    assert angle(routed, RobustLDA(n_components=2).fit(StandardScaler().fit_transform(X), y, weight)) < 1e-9


def test_checked_rows_and_weights_can_be_routed_through_cross_validation(wine):
    X, y = wine
    weight, checked = np.where(y == 0, 5.0, 1.0), np.arange(len(y)) % 7 == 0
    with config_context(enable_metadata_routing=True):
        model = RobustLDA().set_fit_request(sample_weight=True, verified=True).set_score_request(sample_weight=True)
        params = {"sample_weight": weight, "verified": checked}
        scores = cross_validate(model, X, y, params=params, cv=3)
        search = GridSearchCV(model, {"n_components": [1, 2]}, cv=3).fit(X, y, **params)
        with pytest.raises(UnsetMetadataPassedError):
            GridSearchCV(RobustLDA(), {"n_components": [1, 2]}, cv=3).fit(X, y, sample_weight=weight)
    folds = StratifiedKFold(3).split(X, y)
    expected = []
    for train, test in folds:
        alone = RobustLDA().fit(X[train], y[train], weight[train], verified=checked[train])
        expected.append(alone.score(X[test], y[test], weight[test]))
    assert_allclose(scores["test_score"], expected)
    assert search.best_score_ > 0.9


def test_best_start_reaches_the_known_minima(paper_objective):
    for (X, y, m), bound in paper_objective:
        assert RatioLDA(m, init="best", random_state=0).fit(X, y).objective_path_[-1] <= bound


@pytest.fixture
def paper_objective():
    from sklearn.datasets import load_breast_cancer

    def standardized(load):
        X, y = load(return_X_y=True)
        return StandardScaler().fit_transform(X), y

    return [((*standardized(load_iris), 3), 0.4312), ((*standardized(load_breast_cancer), 6), 1.1110)]


PARALLEL = """
import threading
from joblib import Parallel, cpu_count, delayed
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info
from robustlda import RobustLDA

def threads():
    return max(pool["num_threads"] for pool in threadpool_info())

def fitted(X, y):
    before, running = threads(), threading.active_count()
    RobustLDA().fit(X, y)
    return before, threads(), threading.active_count() - running

X, y = load_digits(return_X_y=True)
for before, after, started in Parallel(2)(delayed(fitted)(X[k::3], y[k::3]) for k in range(2)):
    assert before == after, "a fit leaves the number of threads as it is"
    assert 2 * after <= max(cpu_count(), 2), "workers share the cores"
    assert started == 0
"""


def test_fits_inside_joblib_do_not_take_more_threads_than_there_are_cores():
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {key: value for key, value in os.environ.items() if key not in names}
    found = subprocess.run(
        [sys.executable, "-c", PARALLEL], env=environment, capture_output=True, text=True, timeout=300
    )
    assert found.returncode == 0, found.stderr
