"""Arrays of other libraries: the answers of NumPy, where X is, and X stays as and where it was.

`SCIPY_ARRAY_API=1` has to be set before Python starts for what goes through scikit-learn's `array_api_dispatch`.
"""

import os
import pickle
import sys
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.device import run
from robustlda import DLE, MMC, LabelAudit, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.data import as_store, device
from robustlda.data.centered import CenteredBlock
from robustlda.data.dense import DenseBlock
from robustlda.data.device import DeviceStore, Place, is_foreign, to_numpy
from robustlda.linalg import principal_angles
from robustlda.plan import Plan

strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")

needs_dispatch = pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="SCIPY_ARRAY_API=1 is not set, so scikit-learn does not dispatch"
)
dispatch = partial(config_context, array_api_dispatch=True)
RTOL = {np.float64: 1e-8, np.float32: 2e-4}


def in_strict(values):
    return strict.asarray(values, device=strict.Device("device1"))


def in_torch(values):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.asarray(np.array(values))


LIBRARIES = {"strict": in_strict, "torch": in_torch}
ESTIMATORS = [
    RobustLDA(),
    RobustLDA(decision="centroid", center="median", store_covariance=True),
    TraceRatioLDA(n_components=3),
    TraceRatioLDA(n_components=3, decision="noise_aware"),
    MMC(),
    MMC(decision=None),
]


@pytest.fixture(params=LIBRARIES)
def there(request):
    """A function that takes arrays to another library."""
    LIBRARIES[request.param](np.zeros(1))  # or skips
    return LIBRARIES[request.param]


@pytest.fixture(params=ESTIMATORS, ids=str)
def estimator(request):
    return clone(request.param)


def problem(n, d, dtype=np.float64):
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    X = (rng.normal(size=(n, d)) * rng.uniform(0.5, 5, d) + 3 * rng.normal(size=(3, d))[y]).astype(dtype)
    return X, np.where(np.arange(n) % 13 == 0, (y + 1) % 3, y)


TALL, WIDE = (150, 6), (40, 60)


def angle(a, b):
    frames = [np.linalg.qr(np.asarray(model.to_numpy().components_, float).T)[0] for model in (a, b)]
    return principal_angles(*frames).max()


def assert_same(found, expected, rtol):
    scale = np.abs(expected).max()
    assert_allclose(to_numpy(found), expected, rtol=rtol, atol=rtol * scale)


# Blocks


@pytest.mark.parametrize("dtype", RTOL)
def test_products_are_those_of_rows_in_memory(there, dtype, monkeypatch):
    monkeypatch.setattr(device, "_ONE_HOT", 20)  # several pieces
    X, labels = problem(*TALL, dtype)
    rng, labels = np.random.default_rng(1), 2 * labels  # two classes without a row
    rows, center = slice(3, 120), X.mean(axis=0)
    labels, s, V = labels[rows], rng.normal(size=117), rng.normal(size=(6, 2))
    given, ours = DenseBlock(X[rows]), as_store(there(X)).block(rows)
    assert given.dtype == ours.dtype == dtype
    some = DenseBlock(X[:4])
    products = {
        "times": lambda block: block.times(V),
        "exactly_times": lambda block: block.exactly_times(V),
        "combine": lambda block: block.combine(np.outer(s, [1, 2])),
        "class_sums": lambda block: block.class_sums(labels, s, 6),
        "squares": lambda block: block.squares(center),
        "class_squares": lambda block: block.class_squares(labels, np.outer(np.arange(6), center)),
        "column_squares": lambda block: block.column_squares(s, center),
        "gram": lambda block: block.gram(s, center),
        "gram of one sign": lambda block: block.gram(np.abs(s), center),
        "gram, single": lambda block: block.gram(s, center, single=True),
        "centered": lambda block: block.centered(center).rows(),
        "scaled": lambda block: block.scaled(center).rows(),
        "drawn_in": lambda block: block.drawn_in(np.full(6, 3, dtype)).rows(),
        "not drawn_in": lambda block: block.drawn_in(np.full(6, 1e3, dtype)).rows(),
        "peak": lambda block: np.array(block.peak()),
        "inner": lambda block: block.inner(some),
        "compact": lambda block: block.compact(),
    }
    in_double = {"exactly_times", "class_sums", "squares", "class_squares", "column_squares"}
    for name, product in products.items():
        expected, found = product(given), product(ours)
        assert isinstance(found, np.ndarray), name
        assert found.dtype == expected.dtype, name
        single = (dtype == np.float32 and name not in in_double) or "single" in name
        atol = (1e-5 if single else 1e-13) * np.abs(expected).max()
        assert_allclose(found, expected, rtol=0, atol=atol, err_msg=name)
    ours.times(V)[:] = 0  # as callers may
    for view in (CenteredBlock, CenteredBlock.late):
        Z, near = (X[rows] - center) @ V, np.outer(np.arange(6), [1, 2])
        found = view(ours, center).lengths_there(V, labels, near)
        for lengths, expected in zip(found, (Z - near[labels], Z), strict=True):
            expected = (expected.astype(float) ** 2).sum(axis=1)
            assert_allclose(lengths, expected, atol=(1e-5 if dtype == np.float32 else 1e-13) * expected.max())
    assert_array_equal(as_store(there(X)).take(np.array([7, 2])).block(slice(0, 2)).rows(), X[[7, 2]])


def test_rows_stay_where_they_are_but_for_those_that_are_learned_from(monkeypatch):
    n, d, few = 6000, 30, 1500
    X, y = problem(n, d)
    for kind in (RobustLDA, TraceRatioLDA, MMC):
        monkeypatch.setattr(kind, "plan", Plan(max_samples=few, units_from=few * d))
    sizes, original = [], device.to_numpy

    def spied(array):
        sizes.append(int(np.prod(array.shape)))
        return original(array)

    monkeypatch.setattr(device, "to_numpy", spied)
    store = as_store(in_strict(X))
    TraceRatioLDA(2, decision=None).fit(store, y)
    assert 0 < max(sizes) <= n  # a length for each
    MMC(2).fit(store, y, sample_weight=(np.arange(n) % 50 > 0).astype(float)).predict(store)
    assert max(sizes) <= 2 * n  # or two coordinates
    RobustLDA().fit(store, y)
    assert max(sizes) == few * d < n * d


# What goes through scikit-learn


@needs_dispatch
@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("dtype", RTOL)
def test_answers_are_those_of_numpy_and_follow_x(there, estimator, dtype, shape):
    X, y = problem(*shape, dtype)
    expected = clone(estimator).fit(X, y)
    given = there(X)
    place = Place.of(given)
    with dispatch():
        model = estimator.fit(given, there(y))
        answers = {name: getattr(model, name)(given) for name in METHODS if hasattr(model, name)}
        score = model.score(given, there(y)) if hasattr(model, "score") else None
    assert_array_equal(to_numpy(given), X)
    assert angle(model, expected) < RTOL[dtype]
    for name, answer in answers.items():
        value = getattr(expected, name)(X)
        assert Place.of(answer) == place, name
        assert to_numpy(answer).dtype == value.dtype, name
        assert_same(answer, value, RTOL[dtype]) if name != "predict" else assert_array_equal(to_numpy(answer), value)
    assert answers["transform"].dtype == given.dtype
    assert score is None or (isinstance(score, float) and score == expected.score(X, y))
    for name, value in vars(expected).items():
        if isinstance(value, np.ndarray):
            found = getattr(model, name)
            assert Place.of(found) == place, name
            assert to_numpy(found).dtype == value.dtype, name
            if not name.endswith("_path_"):  # of which the last entry may be missing
                assert_same(found, value, RTOL[dtype])
    assert [name for name in vars(model) if is_foreign(getattr(model, name))] != []


METHODS = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function")


@needs_dispatch
def test_names_of_classes_stay_names(there):
    X, y = problem(*TALL)
    names = np.array(["zebra", "aardvark", "mole"])[y]
    with dispatch():
        model = RobustLDA().fit(there(X), names)
        predicted, score = model.predict(there(X)), model.score(there(X), names)
    expected = RobustLDA().fit(X, names)
    assert_array_equal(predicted, expected.predict(X))
    assert_array_equal(model.classes_, expected.classes_)
    assert score == expected.score(X, names)


@needs_dispatch
@pytest.mark.parametrize("kind", [RobustLDA, TraceRatioLDA, MMC])
def test_weights_may_be_anywhere(there, kind):
    X, y = problem(*TALL)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    expected = kind(n_components=2).fit(X, y, weight)
    with dispatch():
        for of_y, of_weight in ((there, there), (np.asarray, in_strict), (in_strict, list)):
            model = kind(n_components=2).fit(there(X), of_y(y), of_weight(weight))
            assert angle(model, expected) < 1e-8
            found = model.predict_proba(there(X))
            assert_same(found, expected.predict_proba(X), 1e-8)
            assert is_foreign(model.classes_) == is_foreign(of_y(y))
            assert is_foreign(model.predict(there(X)))
        followed = kind(n_components=2).fit(X, there(y), there(weight))
        assert isinstance(followed.predict(X), np.ndarray)
        assert isinstance(followed.components_, np.ndarray)
        assert followed.score(X, there(y)) == expected.score(X, y)


@needs_dispatch
def test_checked_labels_and_several_answers_may_be_anywhere(there):
    X, y = problem(*TALL)
    checked = np.arange(len(y)) % 5 == 0
    answers = np.column_stack([y, np.roll(y, 3), y])
    with dispatch():
        model = RobustLDA().fit(there(X), there(y), verified=there(checked))
        several = RobustLDA().fit(there(X), there(answers))
    assert angle(model, RobustLDA().fit(X, y, verified=checked)) < 1e-8
    assert_same(several.annotator_confusion_, RobustLDA().fit(X, answers).annotator_confusion_, 1e-8)


@needs_dispatch
def test_linear_scores_follow_x(there):
    X, y = problem(*TALL)
    expected = MMC().fit(X, y)
    with dispatch():
        model = MMC().fit(there(X), there(y))
    assert_same(model.coef_, expected.coef_, 1e-8)
    assert_same(model.intercept_, expected.intercept_, 1e-8)
    assert Place.of(model.coef_) == Place.of(there(X))


@needs_dispatch
def test_rows_farther_away_than_any_are_asked_about_on_the_way_there(there):
    X, y = problem(*TALL)
    far = X.copy()
    far[::7] *= 1e200
    with dispatch():
        model = RobustLDA().fit(there(X), there(y))
        assert_same(model.predict_proba(there(far)), RobustLDA().fit(X, y).predict_proba(far), 1e-8)


@needs_dispatch
def test_models_and_rows_must_be_in_one_place(there):
    X, y = problem(*TALL)
    elsewhere = strict.asarray(X, device=strict.Device("device2"))
    with dispatch():
        model, in_memory = MMC().fit(there(X), there(y)), MMC().fit(X, y)
        for fitted, rows in ((model, X), (model, elsewhere), (model, X.tolist()), (in_memory, there(X))):
            for name in METHODS:
                complaint = rf"MMC\.{name}\(\) must use the same namespace and the same device as that of fit"
                with pytest.raises(ValueError, match=complaint):
                    getattr(fitted, name)(rows)
        assert_same(model.to_numpy().predict_proba(X), in_memory.predict_proba(X), 1e-8)
    # Without dispatch everything is NumPy's.
    assert isinstance(model.predict_proba(X), np.ndarray)
    assert_same(model.transform(X), in_memory.transform(X), 1e-8)
    assert in_memory.to_numpy() is in_memory


@needs_dispatch
def test_a_model_survives_pickling_and_another_fit(there):
    X, y = problem(*TALL)
    with dispatch():
        model = RobustLDA().fit(there(X), there(y))
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(to_numpy(again.transform(there(X))), to_numpy(model.transform(there(X))))
    model.fit(X, y)
    assert not [name for name, value in vars(model).items() if is_foreign(value)]
    assert_array_equal(model.predict_proba(X), RobustLDA().fit(X, y).predict_proba(X))


@needs_dispatch
def test_a_pipeline_and_cross_validation_run_where_x_is():
    X, y = problem(*TALL)
    model = make_pipeline(StandardScaler(), MMC())
    with dispatch():
        scores = cross_val_score(model, in_torch(X), in_torch(y), cv=3)
    assert_allclose(scores, cross_val_score(model, X, y, cv=3))


@needs_dispatch
def test_tensors_that_keep_track_of_derivatives_are_just_numbers():
    X, y = problem(*TALL)
    tracked = in_torch(X).requires_grad_()
    store = as_store(tracked)
    assert not store.block(slice(0, 5))._B.requires_grad
    with dispatch():
        assert not RobustLDA().fit(tracked.detach(), y).transform(tracked).requires_grad


@needs_dispatch
def test_devices_without_double_precision_do_without():
    X, y = problem(*TALL, np.float32)
    given = strict.asarray(X, device=strict.Device("no_float64"))
    with dispatch():
        model = RobustLDA().fit(given, strict.asarray(y, device=strict.Device("no_float64")))
        probability = model.predict_proba(given)
    assert probability.dtype == model.priors_.dtype == strict.float32
    assert_same(probability, RobustLDA().fit(X, y).predict_proba(X), 2e-4)


@needs_dispatch
def test_missing_and_infinite_numbers_are_refused(there):
    X, y = problem(*TALL)
    for bad in (np.nan, np.inf):
        X[3, 2] = bad
        with dispatch(), pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            MMC().fit(there(X), there(y))
    with dispatch(), pytest.raises(ValueError, match=r"largest number in X is 1\.0e\+90"):
        MMC().fit(there(np.full((4, 2), 1e90)), there(np.array([0, 1, 0, 1])))


@needs_dispatch
@pytest.mark.parametrize("kind", [RatioLDA, SupervisedLPP, DLE])
def test_other_estimators_say_that_they_take_numpy(there, kind):
    X, y = problem(*TALL)
    complaint = f"{kind.__name__} takes arrays of NumPy; RobustLDA, TraceRatioLDA and MMC take"
    with dispatch():
        with pytest.raises(TypeError, match=complaint):
            kind().fit(there(X), there(y))
        with pytest.raises(TypeError, match=complaint):
            kind().fit(X, there(y)).validated_store(there(X))


@needs_dispatch
def test_an_audit_takes_them_as_arrays_of_numpy(there):
    X, y = problem(*TALL)
    with dispatch():
        audit = LabelAudit().fit(there(X), there(y))
    assert_array_equal(audit.probability_wrong_, LabelAudit().fit(X, y).probability_wrong_)


@needs_dispatch
def test_the_benchmark_runs(capsys):
    run("array_api_strict", None, 400, 8, "float64", 1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 9
    assert lines[-1].split()[:2] == ["fit", "RobustLDA()"]
    assert lines[2].split()[6] == "0.03"  # 400 rows of 9 coordinates of 8 bytes, in MB


# Without it


def test_tags_say_who_takes_them():
    for model in (*ESTIMATORS, RobustLDA(decision=None)):
        assert model.__sklearn_tags__().array_api_support
    for kind in (RatioLDA, SupervisedLPP, DLE):
        assert not kind().__sklearn_tags__().array_api_support


def test_without_dispatch_tensors_become_arrays():
    X, y = problem(*TALL)
    model = RobustLDA().fit(in_torch(X), in_torch(y))
    for value in (model.components_, model.classes_, model.transform(in_torch(X)), model.predict(in_torch(X))):
        assert isinstance(value, np.ndarray)
    assert_array_equal(model.components_, RobustLDA().fit(X, y).components_)


def test_a_store_of_a_tensor_needs_no_dispatch(there):
    X, y = problem(*TALL)
    store = as_store(there(X))
    assert isinstance(store, DeviceStore)
    model = RobustLDA().fit(store, y)
    assert angle(model, RobustLDA().fit(X, y)) < 1e-8
    assert_same(model.predict_proba(store), RobustLDA().fit(X, y).predict_proba(X), 1e-6)


def test_the_package_that_is_needed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(ImportError, match="Arrays of array_api_strict need the package array-api-compat"):
        as_store(in_strict(np.eye(3)))
