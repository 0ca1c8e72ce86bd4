"""The protocol: the same folds and flips for every method, clean test labels, failures that do not stop a run."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier

from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import (
    KINDS,
    contaminate,
    flip_into_nearest_class,
    flip_into_next_class,
    flip_labels,
    occlude,
)
from robustlda.experiments import figures, methods, protocol, records, tables
from robustlda.experiments.paper import toy
from robustlda.output import replacing
from robustlda.report.document import png


@pytest.mark.parametrize("share", [0, 0.1, 0.37, 1])
def test_exactly_the_requested_share_of_labels_is_wrong(share):
    y = np.array(list("abcd"))[np.random.default_rng(0).integers(0, 4, 203)]
    noisy, flipped = flip_labels(y, share, np.random.default_rng(1))
    assert_array_equal(noisy != y, flipped)
    assert flipped.sum() == round(share * 203)


def test_wrong_labels_are_uniform_over_the_other_classes():
    y = np.zeros(30_000, int)
    y[:3] = [1, 2, 3]
    noisy, _ = flip_labels(y, 1, np.random.default_rng(0))
    counts = np.bincount(noisy[3:], minlength=4)
    assert counts[0] == 0
    assert (np.abs(counts[1:] - 9999) < 400).all()


def test_every_other_class_flips_into_the_next():
    y = np.repeat([0, 1, 2, 3, 4], 50)
    noisy, flipped = flip_into_next_class(y, 0.3, np.random.default_rng(0))
    assert_array_equal(noisy != y, flipped)
    moved = {(a, b): int(((y == a) & (noisy == b)).sum()) for a in range(5) for b in range(5) if a != b}
    assert {pair: count for pair, count in moved.items() if count} == {(0, 1): 15, (2, 3): 15, (4, 0): 15}


def test_every_other_class_flips_into_the_nearest():
    y = np.repeat([0, 1, 2], 50)
    X = np.array([[0.0], [9.0], [8.0]])[y] + np.random.default_rng(1).normal(size=(150, 1)) / 9
    for rows in (X, csr_array(X)):
        noisy, flipped = flip_into_nearest_class(rows, y, 0.3, np.random.default_rng(0))
        assert_array_equal(noisy != y, flipped)
        assert_array_equal(np.bincount(3 * y + noisy, minlength=9), [35, 0, 15, 0, 50, 0, 0, 15, 35])


@pytest.mark.parametrize("kind", KINDS)
def test_contamination_is_seeded_and_reports_what_it_changed(kind):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(80, 64)), np.arange(80) % 4
    before = X.tobytes(), y.tobytes()
    a, b = (contaminate(X, y, kind, 0.25, np.random.default_rng(7)) for _ in range(2))
    for first, second in zip(a, b, strict=True):
        assert_array_equal(first, second)
    corrupted, noisy, changed = a
    assert changed.sum() == (10 if kind in ("next_class", "nearest_class") else 20)
    assert_array_equal((corrupted != X).any(axis=1) | (noisy != y), changed)
    assert (X.tobytes(), y.tobytes()) == before


def test_only_square_images_can_be_covered():
    with pytest.raises(ValueError, match="63 features do not form a square image"):
        occlude(np.zeros((4, 63)), 0.5, np.random.default_rng(0))


def test_clean_reference_labels_leave_the_projection_noisy():
    rows = [protocol.run(unit) for unit in protocol.units(["wine"], ["knn", "lda"], (0.4,))]
    with_1nn, own_rule = ([row for row in rows if row.method == name] for name in ("knn", "lda"))
    assert np.mean([row.accuracy for row in with_1nn]) < 0.75
    assert np.mean([row.clean_reference for row in with_1nn]) > 0.9
    assert np.isnan([row.clean_reference for row in own_rule]).all()
    clean = tables.with_reference(rows, "clean")
    assert [row.accuracy for row in clean if row.method == "lda"] == [row.accuracy for row in own_rule]
    assert [row.accuracy for row in clean if row.method == "knn"] == [row.clean_reference for row in with_1nn]


def test_two_kinds_of_contamination_do_not_go_into_one_figure():
    rows = [protocol.Row("wine", 0.0, 0, "knn", kind=kind, accuracy=0.5) for kind in ("uniform", "occlude")]
    with pytest.raises(ValueError, match="one kind of contamination, but these rows hold occlude, uniform"):
        figures.accuracy_against_noise(rows)


def test_few_levels_are_marked_by_whole_percentages():
    rows = [protocol.Row("wine", level, 0, "knn", kind="gross_rows", accuracy=0.9) for level in (0.0, 0.2)]
    figure = figures.accuracy_against_noise(rows)
    figure.draw_without_rendering()
    (axis,) = (ax.xaxis for ax in figure.axes)
    words = [label.get_text() for label in axis.get_ticklabels()]
    assert "20" in words
    assert not any("." in word for word in words)


def test_labels_that_cannot_be_flipped_are_refused():
    with pytest.raises(ValueError, match=r"share=1\.2 must lie between 0 and 1"):
        flip_labels(np.array([0, 1]), 1.2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least two classes"):
        flip_labels(np.array([0, 0]), 0.5, np.random.default_rng(0))


def test_every_method_gets_the_same_folds_and_flips(monkeypatch):
    seen = {}

    class Spy(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.setdefault(key, []).append((X.tobytes(), y.tobytes()))
            return super().fit(X, y)

        def score(self, X, y, sample_weight=None):
            seen[key].append((X.tobytes(), y.tobytes()))
            return super().score(X, y)

    for name in ("first", "second"):
        monkeypatch.setitem(methods.METHODS, name, methods.Method(name, name, Spy, "k"))
    for unit in protocol.units(["wine"], ["first", "second"], (0.0, 0.2), folds=3):
        key = unit.method
        assert protocol.run(unit).error == ""
    assert seen["first"] == seen["second"]
    assert len(set(seen["first"])) == len(seen["first"]) - 3, "only the clean test folds repeat"


def test_test_labels_are_clean_and_training_labels_as_noisy_as_requested():
    X, y = catalogue.dataset_named("wine").load()
    truth = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
    held_out = 0
    for unit in protocol.units(["wine"], ["knn"], (0.3,)):
        data = protocol.split(unit)
        assert all(truth[row.tobytes()] == label for row, label in zip(data.X_test, data.y_test, strict=True))
        assert all(truth[row.tobytes()] == label for row, label in zip(data.X, data.y_true, strict=True))
        assert (data.y != data.y_true).sum() == round(0.3 * len(data.y))
        held_out += len(data.y_test)
    assert held_out == len(y)


def test_a_failing_method_is_recorded_and_does_not_stop_the_others(monkeypatch, tmp_path):
    def broken():
        raise RuntimeError("no luck\nat all")

    monkeypatch.setitem(methods.METHODS, "broken", methods.Method("broken", "Broken", broken, "k"))
    units = protocol.units(["wine"], ["broken", "knn"], (0.0, 0.1), folds=2)
    rows = [protocol.run(unit) for unit in units]
    assert tables.failures(rows) == {("wine", "broken"): "RuntimeError: no luck"}
    assert set(tables.means(rows)) == {("wine", "knn")}
    records.write(rows, tmp_path / "rows.csv", protocol.Row)
    with (tmp_path / "rows.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 8
    assert {line["accuracy"] for line in lines if line["method"] == "broken"} == {"nan"}
    assert png(figures.accuracy_against_noise(rows)).startswith(b"\x89PNG")


def test_data_that_cannot_be_contaminated_are_recorded_and_do_not_stop_the_others():
    """The 13 features of wine form no square image, those of digits do."""
    wine, digits = (
        protocol.run(unit) for unit in protocol.units(["wine", "digits"], ["knn"], (0.2,), first=1, kind="occlude")
    )
    assert (wine.succeeded, wine.error) == (
        False,
        "ValueError: 13 features do not form a square image, so no block can be covered.",
    )
    assert wine.seconds >= 0
    assert digits.succeeded


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_learns_clean_wine(name):
    (unit,) = (u for u in protocol.units(["wine"], [name], (0.0,)) if u.fold == 0)
    row = protocol.run(unit)
    assert row.error == ""
    assert row.accuracy > 0.8


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")

    def interrupted():
        with replacing(path) as target:
            target.write_text("half of the new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_toy_directions_are_accurate_without_outliers_and_outliers_turn_lda_more():
    results = {(a.method, a.stretch, a.distance): a for a in map(toy.run, toy.settings(draws=5))}
    assert len(results) == len(toy.DISTANCES) * len(toy.STRETCHES) * len(toy.DIRECTIONS)

    def median(*key):
        assert results[key].low <= results[key].median <= results[key].high
        return results[key].median

    assert all(median(method, 1.0, 0.0) < 8 for method in toy.DIRECTIONS)
    assert median("LDA", 1.0, 10.0) > 2 * median("rLDA, bounded leverage", 1.0, 10.0)
    assert toy.angle(np.array([1.0, 0]), np.array([-1.0, 1.0])) == pytest.approx(45)


def test_calibration_error_of_confident_wrong_predictions_is_one():
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert protocol.calibration_error(p, np.array([0, 1]), np.array([0, 1])) == 0
    assert protocol.calibration_error(p, np.array([0, 1]), np.array([1, 0])) == 1
