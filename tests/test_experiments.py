"""The protocol: the same folds and flips for every method, clean test labels, failures that stop nothing."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyClassifier

from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import flip_labels
from robustlda.experiments import figures, methods, protocol, tables
from robustlda.report.files import replacing


@pytest.mark.parametrize("share", [0, 0.1, 0.37, 1])
def test_exactly_the_asked_share_of_labels_is_wrong(share):
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


def test_labels_that_cannot_be_flipped_are_refused():
    with pytest.raises(ValueError, match=r"A share of 1.2"):
        flip_labels(np.array([0, 1]), 1.2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least two classes"):
        flip_labels(np.array([0, 0]), 0.5, np.random.default_rng(0))


def test_every_method_meets_the_same_folds_and_flips(monkeypatch):
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
    for unit in protocol.plan(["wine"], ["first", "second"], (0.0, 0.2), folds=3):
        key = unit.method
        assert protocol.run(unit).error == ""
    assert seen["first"] == seen["second"]
    assert len(set(seen["first"])) == len(seen["first"]) - 3, "only the clean test folds repeat"


def test_test_labels_are_clean_and_training_labels_as_noisy_as_asked():
    X, y = catalogue.find("wine").load()
    truth = {row.tobytes(): label for row, label in zip(X, y, strict=True)}
    wrong = held_out = 0
    for unit in protocol.plan(["wine"], ["knn"], (0.3,)):
        X_train, y_train, X_test, y_test = protocol.split(unit)
        assert all(truth[row.tobytes()] == label for row, label in zip(X_test, y_test, strict=True))
        assert sum(truth[r.tobytes()] != label for r, label in zip(X_train, y_train, strict=True)) == round(
            0.3 * len(y_train)
        )
        wrong += len(y_train)
        held_out += len(y_test)
    assert held_out == len(y)


def test_one_failing_method_is_recorded_and_stops_nothing(monkeypatch, tmp_path):
    def broken():
        raise RuntimeError("no luck\nat all")

    monkeypatch.setitem(methods.METHODS, "broken", methods.Method("broken", "Broken", broken, "k"))
    units = protocol.plan(["wine"], ["broken", "knn"], (0.0, 0.1), folds=2)
    rows = [protocol.run(unit) for unit in units]
    assert tables.failures(rows) == {("wine", "broken"): "RuntimeError: no luck"}
    assert set(tables.means(rows)) == {("wine", "knn")}
    tables.write_csv(rows, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 8
    assert {line["accuracy"] for line in lines if line["method"] == "broken"} == {"nan"}
    figures.accuracy_against_noise(rows, tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_learns_clean_wine(name):
    (unit,) = (u for u in protocol.plan(["wine"], [name], (0.0,)) if u.fold == 0)
    row = protocol.run(unit)
    assert row.error == ""
    assert row.accuracy > 0.8


def test_a_file_that_could_not_be_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")

    def interrupted():
        with replacing(path) as target:
            target.write_text("half of the new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
