"""Parts as tasks of Dask: how many neighbors a task takes changes nothing, and nothing is computed twice."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from robustlda.data import columns, parted_input
from robustlda.data.chunked import Blocks, LocalParts
from robustlda.data.columns import Column

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dask_parts = pytest.importorskip("robustlda.data.dask_parts")

SIZES = [3, 1, 5, 2, 4, 6, 1, 2, 7, 3, 5]


def split(values):
    return np.split(values, np.cumsum(SIZES)[:-1])


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_t(2, size=sum(SIZES))


@pytest.mark.parametrize("together", [1, 2, 4, 8, 16])
def test_sums_are_the_same_bits_however_many_parts_a_task_takes(values, together):
    local, tasks = LocalParts(SIZES), dask_parts.DaskParts(SIZES, together=together)
    expected, found = (Column.kept(parts, split(values)) for parts in (local, tasks))
    assert (found * 3 + 1).sum() == (expected * 3 + 1).sum()
    kept, other = found.keep_parts(lambda v: (np.sqrt(np.abs(v)), v - 2), outputs=2)
    assert (kept * other + found).sum() == (np.sqrt(np.abs(expected)) * (expected - 2) + expected).sum()
    assert_array_equal(other[np.array([38, 0, 7, 7])], values[[38, 0, 7, 7]] - 2)
    assert_array_equal(columns.positions(kept)[np.arange(39)], np.arange(39))


@pytest.mark.parametrize("together", [1, 4])
def test_answers_are_given_back_as_a_dask_array_in_the_parts_of_the_rows(values, together):
    tasks = dask_parts.DaskParts(SIZES, together=together)
    pairs = Column.kept(tasks, split(values)).apply(lambda v: np.column_stack([v, 2 * v]))
    found = columns.given_back(pairs, np.empty((0, 2)))
    assert isinstance(found, da.Array)
    assert found.chunks == (tuple(SIZES), (2,))
    assert found.dtype == float
    assert_array_equal(found.compute(), np.column_stack([values, 2 * values]))
    assert_array_equal(columns.given_back(values, np.empty(0)), values)


@pytest.mark.parametrize("together", [1, 2])
def test_what_is_kept_is_computed_once_and_when_it_is_needed(values, together):
    calls = []

    def counted(part):
        calls.append(len(part))
        return part**2

    with dask.config.set(scheduler="synchronous"):
        kept = Column.kept(dask_parts.DaskParts(SIZES, together=together), split(values)).apply(counted).keep()
        assert calls == []
        assert kept.max() == (values**2).max()
        assert (kept > 0).all()
        assert not (kept < 0).any()
    assert sorted(calls) == sorted(SIZES)


@pytest.mark.parametrize("n", [1, 15, 16, 63, 64, 100, 128, 1000, 10**6])
@pytest.mark.parametrize("workers", [{}, {"a": 1}, {"a": 2, "b": 2}])
def test_every_worker_has_some_tasks(monkeypatch, n, workers):
    class Client:
        def nthreads(self):
            return workers

    monkeypatch.setattr(distributed, "default_client", Client)
    found, threads = dask_parts.together(n), sum(workers.values()) or 1
    assert found in (1, 2, 4, 8)
    assert found == 1 or n / found >= 8 * threads
    assert found == 8 or n / (2 * found) < 8 * threads  # no fewer than there could be


def test_files_are_read_by_a_cluster_if_there_is_one(monkeypatch):
    class Client:
        def nthreads(self):
            return {"a": 1}

    def nobody():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", nobody)
    assert isinstance(parted_input.parts_of([5] * 100), LocalParts)
    monkeypatch.setattr(distributed, "default_client", Client)
    found = parted_input.parts_of([5] * 100)
    assert isinstance(found, dask_parts.DaskParts)
    assert (found.sizes, found.together) == ([5] * 100, 8)


# What belongs to the rows, as people have it


def test_values_beside_rows_are_brought_into_the_parts_of_the_rows():
    y = np.arange(10)
    for given in (y, list(y), da.from_array(y, chunks=3), da.from_array(y[:, None], chunks=(4, 1))):
        found = dask.compute(*dask_parts.values_of(given, [4, 0, 6], "y"))
        assert [part.tolist() for part in found] == [[0, 1, 2, 3], [], [4, 5, 6, 7, 8, 9]]
    # Where it is not known how many rows there are, the parts stay as they are.
    found = dask_parts.values_of(da.from_array(y, chunks=5), [float("nan")] * 2, "y")
    assert [part.tolist() for part in dask.compute(*found)] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_values_of_another_length_are_refused_whether_or_not_the_rows_were_counted():
    rows = da.from_array(np.arange(20.0).reshape(10, 2), chunks=(4, 2))
    for X in (rows, rows[rows[:, 0] > -1]):
        with pytest.raises(ValueError, match="X has 10 rows, but y has 9 values: give one for each row"):
            parted_input.read(X, np.arange(9))
        found = parted_input.read(X, np.arange(10))
        assert found.store.rows.parts.sizes == [4, 4, 2]
        assert_array_equal(found.labels[np.arange(10)], np.arange(10))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
@pytest.mark.parametrize("counted", [True, False])
def test_what_belongs_to_rows_stays_beside_them(counted, dtype):
    rng = np.random.default_rng(0)
    X, y, weight, seen = (
        rng.integers(0, 9, (10, 3)).astype(dtype),
        rng.permutation(10),
        rng.random(10),
        np.arange(10) > 6,
    )
    rows = da.from_array(X, chunks=((4, 0, 6), (2, 1)))
    if not counted:
        rows = rows[rows[:, 0] >= 0]
        assert np.isnan(rows.shape[0])
    whole = [y, weight, seen]
    parts = [da.from_array(values, chunks=((4, 0, 6),)) for values in whole]
    for labels, weights, verified in (whole, parts, (parts[0], weight, parts[2])):
        found = parted_input.read(rows, labels, weights, verified=verified)
        assert found.journal.made == (1 if counted or weights is parts[1] else 2)  # passes
        assert found.store.rows.parts.sizes == [4, 6]  # what is empty is no part
        assert found.store.shape == (10, 3)
        assert found.store.dtype == (np.float32 if dtype == np.float32 else np.float64)
        assert not found.store.sparse
        assert found.names is None
        index = np.array([9, 0, 5, 3])
        assert_array_equal(found.store.take(index).block(slice(0, 4)).rows(), X[index])
        for column, values in ((found.labels, y), (found.weight, weight), (found.verified, seen)):
            assert_array_equal(column[index], values[index])
    alone = parted_input.read(rows)
    assert alone.labels is None
    assert alone.weight is None
    assert alone.verified is None
    with pytest.raises(ValueError, match="Part 1 of X has 0 rows, but sample_weight has 1 values there"):
        parted_input.read(rows[rows[:, 0] >= 0], parts[0], da.from_array(weight, chunks=((4, 1, 5),)))
    with pytest.raises(TypeError, match="verified is a Dask collection, but X is not"):
        parted_input.read(Blocks([(X, y)]), verified=parts[2])


def test_what_only_contains_a_dask_array_is_an_array():
    class Named:
        """As xarray has them."""

        def __init__(self, X):
            self._X = da.from_array(X, chunks=2)

        def __dask_graph__(self):
            return self._X.__dask_graph__()

    assert parted_input.is_parted(da.ones((4, 2)))
    assert not parted_input.is_parted(Named(np.ones((4, 2))))
    assert not parted_input.is_parted(dask)


def test_names_of_a_data_frame_are_those_of_its_columns():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    table = pd.DataFrame({"length": [1.0, 2, 3], "width": [4.0, 5, 6]})
    frame = dd.from_pandas(table, npartitions=2)
    found = parted_input.read(frame, np.array([0, 1, 1]))
    assert found.names == ["length", "width"]
    assert found.store.shape == (3, 2)
    assert_array_equal(found.labels[np.arange(3)], [0, 1, 1])
    rows = parted_input.rows_to_predict(frame)
    assert np.isnan(rows.shape[0])
    assert rows.shape[1] == 2
    assert rows.dtype == np.float64


def test_rows_to_predict_are_counted_where_they_can_be_without_a_pass():
    X = np.arange(20).reshape(10, 2)
    with dask.config.set(scheduler=refused):
        for dtype, expected in ((np.float32, np.float32), (int, np.float64)):
            store = parted_input.rows_to_predict(da.from_array(X.astype(dtype), chunks=(4, 1)))
            assert store.shape == (10, 2)
            assert store.dtype == expected
            assert store.rows.parts.sizes == [4, 4, 2]
    assert_array_equal(store.take(np.array([9, 1])).block(slice(0, 2)).rows(), X[[9, 1]])


def refused(*_, **__):
    raise AssertionError("nothing was to be computed")


def test_rows_are_parts_that_hold_all_features():
    X = np.arange(24.0).reshape(6, 4)
    tasks, sizes, d, dtype, names = dask_parts.rows_and_sizes(da.from_array(X, chunks=(4, 3)))
    assert (sizes, d, dtype, names) == ([4, 2], 4, np.float64, None)
    assert_array_equal(np.vstack(dask.compute(*tasks)), X)
    with pytest.raises(ValueError, match="X is a Dask array of 1 dimensions"):
        dask_parts.rows_and_sizes(da.from_array(X[0]))
