"""How data are stored does not change the answer, and the data that were given stay as they were."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA
from robustlda.datasets.contaminate import flip_labels
from robustlda.plan import Plan


def whole(load):
    return load(return_X_y=True)


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


TABLES = {
    "iris": lambda read: whole(load_iris),
    "wine": lambda read: scaled(load_wine),
    "breast cancer": lambda read: scaled(load_breast_cancer),
    "digits": lambda read: whole(load_digits),
    "dermatology": lambda read: read("dermatology"),
    "yale": lambda read: read("yale"),
}


@pytest.fixture(scope="module", params=[(name, share) for name in TABLES for share in (0, 0.2)], ids=str)
def problem(request, paper_data):
    """A table, labels of which some may be wrong, and what is found when it is stored as an array."""
    name, share = request.param
    X, y = TABLES[name](paper_data)
    y, _ = flip_labels(y, share, np.random.default_rng(0))
    return X, y, answers(X, y)


def answers(X, y, probe=None, plan=None):
    """Probabilities of some rows, probabilities of wrong labels, and flags."""
    audit, model = LabelAudit(), RobustLDA()
    model.plan = plan or Plan()
    audit.fit(X, y)
    model.fit(X, y)
    probe = X if probe is None else probe
    return model.predict_proba(probe), audit.probability_wrong_, audit.flags()


def assert_same(found, expected, rows=slice(None)):
    p, wrong, flags = expected
    assert_allclose(found[0], p[rows], atol=1e-6)
    assert_array_equal(found[0].argmax(axis=1), p[rows].argmax(axis=1))
    assert_allclose(found[1], wrong[rows], atol=1e-6)
    assert_array_equal(found[2], flags[rows])


def with_long_indices(X):
    X = csr_array(X)
    return csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


CONTAINERS = {
    "Fortran": np.asfortranarray,
    "CSR": csr_array,
    "CSR matrix": csr_matrix,
    "CSC": csc_array,
    "long indices": with_long_indices,
    "every other column of a larger array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "pandas": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]),
    "pyarrow": lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_changes_nothing(problem, container):
    X, y, expected = problem
    assert_same(answers(CONTAINERS[container](X), y), expected)


def test_sparse_rows_that_stay_sparse_change_nothing(problem):
    X, y, expected = problem
    # With few features the span of sparse rows is found; otherwise they stay in feature space, here half a minute long
    # where that has more dimensions than there are samples.
    for few in (2000, 0) if X.shape[1] < X.shape[0] else (2000,):
        model = RobustLDA()
        model.plan = Plan(densify=0, gram_span=few)
        p = model.fit(csr_array(X), y).predict_proba(csr_array(X))
        assert_allclose(p, expected[0], atol=1e-6)


def test_a_mapped_file_changes_nothing(problem, tmp_path):
    X, y, expected = problem
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(answers(mapped, y, plan=Plan(block=20 * X.shape[1], predict_rows=17)), expected)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(30), "Expected 2D array, got 1D array instead"),
        (np.ones((30, 2, 2)), "Expected 2D array, got 3D array instead"),
        (np.ones((30, 2)) + 1j, "type complex128; real numbers are needed"),
        (np.full((30, 2), "a"), "type <U1; real numbers are needed"),
    ],
)
def test_what_a_mapped_file_cannot_hold(tmp_path, values, message):
    np.save(tmp_path / "X.npy", values)
    X, y = np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(30) % 2
    model = RobustLDA().fit(np.random.default_rng(0).normal(size=(30, 2)), y)
    for question in (lambda: RobustLDA().fit(X, y), lambda: model.predict(X), lambda: LabelAudit().fit(X, y)):
        with pytest.raises(ValueError, match=message):
            question()


def test_the_order_of_rows_changes_nothing(problem):
    X, y, expected = problem
    order = np.random.default_rng(1).permutation(len(y))
    assert_same(answers(X[order], y[order]), expected, order)


@pytest.mark.parametrize("unit", [2.0, 1000.0, 1e-3])
def test_units_change_nothing(problem, unit):
    X, y, expected = problem
    assert_same(answers(unit * X, y), expected)


def test_a_shift_changes_nothing(problem):
    X, y, expected = problem
    assert_same(answers(X + 10.0, y), expected)


def test_copies_are_weights(problem):
    X, y, _ = problem
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = RobustLDA().fit(X, y, weight)
    copied = RobustLDA().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copied.predict_proba(X), weighted.predict_proba(X), atol=1e-6)
    assert_allclose(copied.noise_rate_, weighted.noise_rate_, atol=1e-6)


# The given data


def uncanonical(X):
    """A CSR matrix with unsorted indices and entries that are to be added up, as SciPy allows."""
    X = csr_array(X)
    order = np.arange(X.nnz).reshape(-1)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order[a:b] = order[a:b][::-1]
    halves, indices = np.repeat(X.data[order] / 2, 2), np.repeat(X.indices[order], 2)
    return csr_matrix((halves, indices, 2 * X.indptr), shape=X.shape)


@pytest.mark.parametrize("container", [np.array, np.asfortranarray, csr_array, csc_array, uncanonical])
def test_nothing_is_written_to_the_given_data(container):
    X, y = whole(load_digits)
    given = container(X)
    arrays = [given] if isinstance(given, np.ndarray) else [given.data, given.indices, given.indptr]
    before = [array.tobytes() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    model = RobustLDA().fit(given, y)
    assert_allclose(model.predict_proba(given), RobustLDA().fit(X, y).predict_proba(X), atol=1e-6)
    LabelAudit().fit(given, y)
    assert [array.tobytes() for array in arrays] == before


@pytest.mark.parametrize("container", [np.array, csr_matrix, uncanonical])
def test_threads_may_share_data(container):
    X, y = whole(load_iris)
    given, expected = container(X), RobustLDA().fit(X, y).predict_proba(X)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: RobustLDA().fit(given, y).predict_proba(given), range(16)))
    for p in found:
        assert_allclose(p, expected, atol=1e-9)


# What a model keeps


def arrays_in(value, seen):
    """Every array that can be reached from an object."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from arrays_in(each, seen)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from arrays_in(each, seen)
    elif hasattr(value, "__dict__"):
        yield from arrays_in(vars(value), seen)


def coordinates_of(model, X):
    """Training rows in every coordinates that a model could keep them in."""
    rule = model.rule_
    yield X
    yield X - model.center_
    yield model.transform(X)
    axes = rule.axes
    Z = (X - model.center_) @ axes.T
    yield Z
    if hasattr(rule, "similarities"):
        yield Z / rule.clouds.unit
        yield rule.similarities.of(Z)


def training_rows_in(model, X):
    """How many training rows can be read back from the arrays of a model."""
    found = 0
    kept = list(arrays_in(model, set()))
    for rows in coordinates_of(model, X):
        tolerance = 1e-9 * np.abs(rows).max()
        for array in kept:
            for matrix in (np.atleast_2d(array), np.atleast_2d(array).T):
                if matrix.shape[1] == rows.shape[1] > 1:
                    distances = np.abs(matrix[:, None] - rows[None]).max(axis=2)
                    found += int((distances.min(axis=1) < tolerance).sum())
    return found


@pytest.mark.parametrize("decision", ["noise_aware", "centroid"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_no_training_row_is_in_a_fitted_model(load, decision):
    X, y = scaled(load)
    model = RobustLDA(decision=decision).fit(X, y)
    assert training_rows_in(model, X) == 0
    model.remembered_ = {"of all samples": [X[::7] - model.center_]}
    assert training_rows_in(model, X) > 0


def test_a_model_does_not_grow_with_the_rows():
    X, y = whole(load_digits)

    def size(n):
        model = RobustLDA().fit(X[:n], y[:n])
        return sum(array.nbytes for array in arrays_in(model, set()))

    assert size(1700) < 1.2 * size(600)
