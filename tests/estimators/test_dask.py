"""Dask collections: the answer of rows in memory on every scheduler, and also when workers are lost."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine

from robustlda import MMC, LabelAudit, RobustLDA, TraceRatioLDA
from robustlda.data import parted_input
from robustlda.linalg import principal_angles
from robustlda.plan import Plan

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], np.array(["barolo", "grignolino", "barbera"])[y[order]]


def assert_same(model, expected, X):
    Q = [np.linalg.qr(m.components_.T)[0] for m in (model, expected)]
    assert principal_angles(*Q).max() < 1e-6
    assert_allclose(model.objective_path_[-1], expected.objective_path_[-1], rtol=1e-9)
    assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("chunks", [(50, -1), (178, 5), (60, 6), ((1, 100, 0, 77), (13,))], ids=str)
@pytest.mark.parametrize("estimator", [RobustLDA, TraceRatioLDA, MMC])
def test_dask_arrays(wine, estimator, chunks):
    X, y = wine
    model = estimator().fit(da.from_array(X, chunks=chunks), da.from_array(y, chunks=45))
    assert_same(model, estimator().fit(X, y), X)


def test_labels_in_memory_and_sizes_that_are_not_known(wine):
    X, y = wine
    rows, labels = da.from_array(X, chunks=(50, -1)), da.from_array(y, chunks=50)
    known = rows[:, 0] > -1
    unknown, unknown_labels = rows[known], labels[known]
    assert np.isnan(unknown.shape[0])
    expected = RobustLDA().fit(X, y)
    for y_ in (unknown_labels, y):
        assert_same(RobustLDA().fit(unknown, y_), expected, X)
    with pytest.raises(ValueError, match=r"X has 4 partitions and y 2, .* call X = X.compute_chunk_sizes\(\)"):
        RobustLDA().fit(unknown, da.from_array(y, chunks=100))
    with pytest.raises(ValueError, match="X has 178 rows, but y has 100 values"):
        RobustLDA().fit(rows, y[:100])


def test_verified_rows_beside_the_rows(wine):
    X, y = wine
    rows, labels = da.from_array(X, chunks=((50, 0, 128), (13,))), da.from_array(y, chunks=178)
    mask = np.arange(len(y)) % 9 == 0
    expected = RobustLDA().fit(X, y, verified=mask)
    assert expected.noise_rate_ != RobustLDA().fit(X, y).noise_rate_
    seen = np.where(mask, y, None)
    for verified in (da.from_array(mask, chunks=60), da.from_array(seen, chunks=178), seen):
        model = RobustLDA().fit(rows, labels, verified=verified)
        assert_same(model, expected, X)
        assert_allclose(model.noise_rate_, expected.noise_rate_, atol=1e-8)
    assert LabelAudit().fit(rows, labels, verified=da.from_array(mask, chunks=60)).n_verified_ == mask.sum()
    with pytest.raises(ValueError, match="Several answers about every row need rows in memory"):
        RobustLDA().fit(rows, da.from_array(np.column_stack([y, y])))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_dask_data_frames(wine):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X, y = wine
    table = pd.DataFrame(X, columns=[f"f{j}" for j in range(13)]).assign(kind=y)
    frame = dd.from_pandas(table, npartitions=5)
    model = RobustLDA().fit(frame.drop(columns="kind"), frame["kind"])
    assert_same(model, RobustLDA().fit(X, y), X)
    assert list(model.feature_names_in_) == [f"f{j}" for j in range(13)]
    assert_array_equal(model.predict(frame.drop(columns="kind")).compute(), model.predict(X))
    assert_allclose(model.score(frame.drop(columns="kind"), frame["kind"]), model.score(X, y))
    labels = dd.from_pandas(pd.Series(np.unique(y, return_inverse=True)[1]), npartitions=3)
    with pytest.raises(ValueError, match=r"call X = X.to_dask_array\(lengths=True\) and y = y.to_dask_array\(length"):
        RobustLDA().fit(frame.drop(columns="kind"), labels)
    counted = [each.to_dask_array(lengths=True) for each in (frame.drop(columns="kind"), labels)]
    assert_allclose(RobustLDA().fit(*counted).components_, model.components_, rtol=1e-6, atol=1e-9)


def test_predictions_are_computed_when_they_are_asked_for(wine):
    X, y = wine
    model, lazy = RobustLDA().fit(X, y), da.from_array(X, chunks=(50, -1))

    def refuse(*_, **__):
        raise AssertionError("nothing was to be computed")

    with dask.config.set(scheduler=refuse):
        found = {name: getattr(model, name)(lazy) for name in ("transform", "predict", "predict_proba")}
    for name, values in found.items():
        expected = getattr(model, name)(X)
        assert values.shape == expected.shape
        assert values.dtype == expected.dtype
        assert_allclose(values.compute(), expected) if name != "predict" else assert_array_equal(values, expected)
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict(da.from_array(np.where(X > 1000, np.nan, X), chunks=(50, -1))).compute()


def test_nothing_of_the_size_of_the_rows_comes_to_the_client(monkeypatch):
    from robustlda.data.dask_parts import DaskParts

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500_000)
    X = (rng.standard_normal((len(y), 3)) + 3 * y[:, None]).astype(np.float32)
    largest, combined = [], DaskParts.combined

    def measured(self, *args):
        found = combined(self, *args)
        largest.append(sum(np.asarray(part).nbytes for part in (found if isinstance(found, tuple | list) else [found])))
        return found

    monkeypatch.setattr(DaskParts, "combined", measured)
    rows, labels, model = da.from_array(X, chunks=(50_000, -1)), da.from_array(y, chunks=50_000), RobustLDA()
    model.plan = Plan(max_samples=2000)
    model.fit(rows, labels)
    # Histograms and the sample that rules learn from, not a number for every row.
    assert max(largest) < 3e6 < y.nbytes
    parted_input.read(rows, labels).labels[np.arange(len(y))]
    assert largest[-1] > 3e6, "which is what would have been seen"


def test_query_planning_is_refused_in_a_sentence(wine):
    _, y = wine

    class Planned:
        """As much of such an array as is asked for."""

        __module__ = "dask.array"
        __dask_graph__ = shape = ndim = None

    with pytest.raises(TypeError, match=r"dask.config.set\(\{'array.query-planning': False\}\)"):
        RobustLDA().fit(Planned(), y)


# Clusters: two processes on this machine

FIT_WITHIN = 600  # seconds, far more than it takes, also on a busy machine


@pytest.fixture(scope="module")
def cluster():
    # Dask gives up a lost worker after 15 seconds, in which a busy machine may not have started another.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "300s"})
    with patience, _workers(2) as local, distributed.Client(local, timeout="60s") as client:
        yield client


def _workers(n):
    settings = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "silence_logs": 50}
    return distributed.LocalCluster(n_workers=n, **settings)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:450], y[:450]
    return da.from_array(X, chunks=(150, -1)), da.from_array(y, chunks=150)


def bits(model):
    return b"".join(getattr(model, name).tobytes() for name in ("components_", "transition_", "class_centers_"))


KILLS = int(os.environ.get("ROBUSTLDA_TEST_KILLS", "2"))


def while_workers_die(cluster, compute, seed):
    """What is computed, in bounded time, while a worker is killed, SIGKILL, at a random moment: for each kill."""
    rng, kills = np.random.default_rng(seed), 0
    started = time.monotonic()
    compute()
    took = time.monotonic() - started
    while kills < KILLS:
        cluster.wait_for_workers(2, timeout=300)
        address, victim = next(iter(cluster.run(os.getpid).items()))
        killer = threading.Timer(rng.uniform(0.02, 0.95) * took, os.kill, (victim, signal.SIGKILL))
        began = time.monotonic()
        killer.start()
        found = compute()
        seconds = time.monotonic() - began
        assert seconds < FIT_WITHIN
        if killer.is_alive():  # it was faster than before, and nothing has happened to it
            killer.cancel()
            took = min(took, seconds)
            continue
        _wait_until_gone(cluster, address)
        kills += 1
        yield found


def _wait_until_gone(cluster, address):
    for _ in range(600):
        if address not in cluster.scheduler_info()["workers"]:
            return
        time.sleep(0.1)
    raise TimeoutError(f"{address} was killed and is still there")


def test_a_lost_worker_changes_nothing(cluster, digits):
    X, y = digits
    expected = bits(RobustLDA().fit(X, y))
    with dask.config.set(scheduler="threads"):
        assert_allclose(RobustLDA().fit(X, y).components_, np.frombuffer(expected, count=9 * 64).reshape(9, 64))
    for found in while_workers_die(cluster, lambda: bits(RobustLDA().fit(X, y)), seed=0):
        assert found == expected


def test_an_audit_survives_a_lost_worker(cluster, digits):
    X, y = digits
    cluster.wait_for_workers(2, timeout=300)
    expected = LabelAudit().fit(X, y)
    for again in while_workers_die(cluster, lambda: LabelAudit().fit(X, y), seed=1):
        assert_array_equal(again.probability_wrong_, expected.probability_wrong_)
        assert_array_equal(again.ids_, expected.ids_)


def test_one_worker_gives_the_same_bits_and_a_lost_scheduler_is_one_sentence(digits):
    X, y = digits
    with _workers(1) as local, distributed.Client(local, timeout="60s"):
        one = bits(RobustLDA().fit(X, y))
        local.scale(2)
        assert bits(RobustLDA().fit(X, y)) == one
        threading.Timer(1.0, local.close).start()
        with pytest.raises(ConnectionError, match="The Dask scheduler is gone"):
            _fit_again_and_again(X, y)


def test_a_cluster_without_workers_is_not_waited_for(wine, monkeypatch):
    from robustlda.data import dask_parts

    monkeypatch.setattr(dask_parts, "_LOOK", 0.1)
    monkeypatch.setattr(dask_parts, "_PATIENCE", 0.5)
    X, y = wine
    words = "The Dask cluster has had no workers for 0 seconds; start some"
    with _workers(0) as local, distributed.Client(local), pytest.raises(ConnectionError, match=words):
        RobustLDA().fit(da.from_array(X, chunks=(50, -1)), y)


def test_a_part_that_kills_every_worker_is_one_sentence():
    from robustlda.data.dask_parts import _watched

    def fails():
        raise distributed.scheduler.KilledWorker("part", None, 3)

    with pytest.raises(MemoryError, match="give workers more of it, or write files with smaller row groups"):
        _watched(fails)


def _fit_again_and_again(X, y):
    for _ in range(20):
        RobustLDA().fit(X, y)
