"""Columns that are kept in parts behave like arrays, and their order statistics are exact."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robustlda.data import columns
from robustlda.data.chunked import Blocks, LocalParts
from robustlda.data.columns import Column, Recipe
from robustlda.data.journal import Journal
from robustlda.data.parted import packed, unpacked
from robustlda.decision.beliefs import believed_classes
from robustlda.linalg import weighted_quantile

SIZES = [3, 1, 50, 7, 39]


def parted(values, sizes=SIZES, parts=None):
    parts = parts or LocalParts(list(sizes))
    return Column.kept(parts, np.split(values, np.cumsum(sizes)[:-1]))


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_t(1, size=100)


def test_arithmetic_is_that_of_arrays(values):
    column = parted(values)
    weight = np.arange(100.0)
    both = Column.kept(column.parts, np.split(weight, np.cumsum(SIZES)[:-1]))
    for of in (
        lambda v, w: 2 * v - w / 3,
        lambda v, w: np.sqrt(v**2 + 1) * w,
        lambda v, w: (v > 0) & (w < 50),
        lambda v, w: np.maximum(v, w),
    ):
        assert_array_equal(of(column, both)[np.arange(100)], of(values, weight))
    assert_allclose(column.sum(), values.sum())
    assert_allclose(column @ both, values @ weight)
    assert column.max() == values.max()
    assert (column == column).all()
    assert not (column > 1e9).any()
    assert len(column) == 100


def test_what_is_asked_of_a_column_is_asked_of_all_parts(values):
    column = parted(values)
    assert_allclose(column.mean(), values.mean())
    last = parted(np.arange(100.0)) == 99
    assert last.any()
    assert not last.all()
    assert_array_equal((~last).astype(int)[np.arange(100)], np.arange(100) < 99)
    twice, sizes = column.keep_parts(lambda v, w: (2 * v, w + len(v)), parted(np.zeros(100)), outputs=2)
    assert_array_equal(twice[np.arange(100)], 2 * values)
    assert_array_equal(sizes[np.arange(100)], np.repeat(SIZES, SIZES))
    for refused in (np.add.reduce, lambda v: np.sqrt(v, dtype=np.float32)):  # rather than answered wrongly
        with pytest.raises(TypeError):
            refused(column)


@pytest.mark.parametrize(("together", "share"), [(0, 0.5), (20, 0.5), (70, 0.9)])
def test_a_typical_length_is_one_of_samples_that_do_not_coincide(together, share):
    rng = np.random.default_rng(0)
    lengths, weight = rng.uniform(1, 100, 100), rng.integers(1, 4, 100).astype(float)
    weight[:together] = 2
    lengths[:together] *= 1e-9  # by rounding
    order = np.argsort(lengths)
    expected = lengths[order][np.argmax(np.cumsum(weight[order]) >= share * weight.sum())]
    rare = np.where(np.arange(100) >= 97, lengths, 0)  # not even one in ten is off the place of the others
    parts = LocalParts(SIZES)
    for stored in (np.asarray, lambda values: parted(values, parts=parts)):
        w = stored(weight)
        assert columns.typical_square(stored(lengths), w) == expected
        assert columns.typical_square(stored(np.zeros(100)), w) == 1
        assert_allclose(columns.typical_square(stored(rare), w), np.average(rare, weights=weight))


def test_rows_are_taken_in_any_order(values):
    index = np.array([99, 0, 5, 5, 3, 50])
    assert_array_equal(parted(values)[index], values[index])


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("kind", ["real", "ties", "zeros", "tiny", "whole"])
def test_quantiles_are_those_of_sorting(values, share, kind):
    values = {
        "real": values,
        "ties": np.round(values),
        "zeros": np.where(values > 0, 0.0, -0.0),
        "tiny": values * 1e-310,
        "whole": np.arange(100.0) - 50,
    }[kind]
    weight = np.random.default_rng(1).integers(0, 4, 100).astype(float)
    column = parted(values)
    found = columns.quantiles(
        Column.kept(column.parts, np.split(weight, np.cumsum(SIZES)[:-1])), (column, share), (-column, share)
    )
    assert found == [weighted_quantile(values, weight, share), weighted_quantile(-values, weight, share)]


def test_classes_are_counted_like_in_memory():
    labels = np.random.default_rng(0).integers(0, 3, 100)
    labels[40:] = np.where(labels[40:] == 2, 1, labels[40:])  # a class that is missing from most parts
    weight = np.arange(100.0)
    column = parted(labels)
    other = Column.kept(column.parts, np.split(weight, np.cumsum(SIZES)[:-1]))
    assert_array_equal(columns.class_totals(column, other, 3), np.bincount(labels, weight, 3))
    assert_array_equal(columns.positions(column)[np.arange(100)], np.arange(100))


def test_a_recipe_holds_nothing_of_the_size_of_the_rows():
    values = np.zeros(100_000)
    column = parted(values, [60_000, 40_000])
    recipe = Recipe(np.sum, [np.sqrt(column) * 2 + column])
    assert len(pickle.dumps(recipe)) < 2000
    assert len(recipe.slots) == 1
    both = column.keep_parts(lambda v: (v + 1, v + 2), outputs=2)  # kept together, and handed to a task together
    assert len(Recipe(np.sum, [both[0] * both[1]]).slots) == 1


def test_what_is_used_twice_is_computed_once():
    calls = []
    column = parted(np.arange(100.0)).apply(lambda v: calls.append(len(v)) or v)
    assert (column + column * 2).sum() == 3 * 99 * 50
    assert calls == SIZES


def test_symmetric_matrices_travel_without_their_lower_half():
    A = np.random.default_rng(0).normal(size=(40, 30))
    statistic = A.T @ A, A, 3.0, np.eye(30)[::-1] + np.arange(30.0)
    small = packed(statistic)
    assert len(pickle.dumps(small[0])) < 0.6 * len(pickle.dumps(statistic[0]))
    for again, given in zip(unpacked(small), statistic, strict=True):
        assert_array_equal(again, given)


def test_a_journal_answers_what_it_has_answered_before(tmp_path):
    asked = []

    def passes(journal):
        journal.begin(("these", "data"))
        return [journal.recalled(lambda k=k: asked.append(k) or np.full(3, k)) for k in range(5)]

    first = passes(Journal(tmp_path))
    (tmp_path / "pass-00003").unlink()
    second = passes(Journal(tmp_path))
    assert asked == [0, 1, 2, 3, 4, 3]
    assert_array_equal(first, second)
    with pytest.raises(ValueError, match="belongs to other data or other settings"):
        Journal(tmp_path).begin(("other", "data"))


def test_a_source_that_can_be_read_once_is_refused():
    with pytest.raises(TypeError, match="generator can be read only once"):
        Blocks((np.eye(2), np.arange(2)) for _ in range(3))
    with pytest.raises(TypeError, match=r"yields \(rows, labels\) or \(rows, labels, weights\), not ndarray"):
        list(Blocks([np.eye(2)]))


@pytest.mark.parametrize("lost", [[], [2], [0, 3], [1, 2, 3]])
def test_believed_classes_are_those_in_memory_also_where_a_class_is_lost(lost):
    R = np.random.default_rng(0).dirichlet(np.full(4, 0.3), size=101)
    R[:, lost] = 0.2 * R[:, [0]] * R[:, [1]]  # for two lost classes the same sample is the most probable one
    R /= R.sum(axis=1, keepdims=True)
    classes, belief = believed_classes(parted(R, [*SIZES, 0, 1]), 4)
    expected, how = believed_classes(R, 4)
    assert_array_equal(np.unique(expected), np.arange(4))
    assert_array_equal(classes[np.arange(101)], expected)
    assert_array_equal(belief[np.arange(101)], how)


def test_of_the_only_samples_of_their_classes_none_is_taken():
    R = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0]])
    classes, _ = believed_classes(parted(R, [1, 1]), 3)
    assert_array_equal(classes[np.arange(2)], [0, 1])
