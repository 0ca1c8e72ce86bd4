"""Accuracy against contamination by cross-validation.

The folds depend on the data set and the seed, the contamination on those, its kind and its level; neither knows the
method, so every method meets the same training sets and the same wrong labels. The test fold is never touched, and
scaling is fitted inside the training fold.

1-NN copies the label of one reference sample, so its accuracy hangs on whether that label is right, whatever the
projection. There are two protocols, never to be mixed in one figure: the reference labels are the noisy training
labels, or they are clean and only the projection is trained on noisy ones. One fit gives both figures. Methods that do
not vote are trained on noisy labels under both.
"""

import time
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments import methods
from robustlda.experiments.records import Outcome, unit_of
from robustlda.linalg import Array


@dataclass(frozen=True)
class Unit:
    """One fit: the smallest piece of an experiment."""

    dataset: str
    noise: float
    fold: int
    method: str
    kind: str = "uniform"
    seed: int = 0
    folds: int = 5


@dataclass(frozen=True)
class Row(Unit, Outcome):
    """The result of a unit: an accuracy, or the reason why there is none.

    `clean_reference` is the accuracy if 1-NN has the right labels of its reference samples, where it votes.
    `noise_rate` is the share of wrong labels the method believes in, and `calibration` the expected calibration error
    of its probabilities on the test fold, where it has any.
    """

    accuracy: float = float("nan")
    clean_reference: float = float("nan")
    seconds: float = float("nan")
    noise_rate: float = float("nan")
    calibration: float = float("nan")
    error: str = ""
    skipped: str = ""

    @property
    def unit(self) -> Unit:
        return unit_of(self, Unit)


def units(
    datasets: Sequence[str],
    methods: Sequence[str],
    noise: Sequence[float],
    *,
    folds: int = 5,
    first: int | None = None,
    **settings: Any,
) -> list[Unit]:
    """Every combination, in the order in which it is run; `settings` are the remaining fields of a unit.

    With `first`, only that many of the folds are run.
    """
    return [
        Unit(dataset, level, fold, method, folds=folds, **settings)
        for dataset in datasets
        for level in noise
        for fold in range(folds if first is None else min(first, folds))
        for method in methods
    ]


@dataclass(frozen=True)
class Split:
    """Training samples with the labels a method sees and the true ones, and clean test samples."""

    X: Array
    y: Array
    y_true: Array
    X_test: Array
    y_test: Array


def split(unit: Unit) -> Split:
    """The training and test sets of a unit, the same for every method."""
    X, y = _load(unit.dataset)
    cv = StratifiedKFold(unit.folds, shuffle=True, random_state=unit.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer samples than folds is missing from some
        train, test = list(cv.split(X, y))[unit.fold]
    # A stable number from the words: what is spoiled in one data set or level says nothing about another.
    key = zlib.crc32(f"{unit.dataset}/{unit.kind}/{unit.noise:.6f}/{unit.fold}".encode())
    rng = np.random.default_rng([unit.seed, key])
    X_train, y_train, _ = contaminate(X[train], y[train], unit.kind, unit.noise, rng)
    return Split(X_train, y_train, y[train], X[test], y[test])


def run(unit: Unit) -> Row:
    """Fit and score one unit; a failure is recorded, not raised, so that the others go on."""
    data = split(unit)
    begin, measured = time.perf_counter(), {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measured = _measure(unit, data)
    except Exception as exception:
        measured = {"error": f"{type(exception).__name__}: {exception}".splitlines()[0]}
    return Row(**asdict(unit), seconds=time.perf_counter() - begin, **measured)


def _measure(unit: Unit, data: Split) -> dict[str, Any]:
    method = methods.method_named(unit.method)
    dataset = catalogue.dataset_named(unit.dataset)
    reduction = [] if method.sparse or dataset.reduction is None else [dataset.reduction()]
    model = make_pipeline(dataset.scaling(), *reduction, method.build())
    if method.votes:
        *steps, (_, vote) = model[-1].steps
        projection = make_pipeline(*(step for _, step in [*model.steps[:-1], *steps])).fit(data.X, data.y)
        train, test = projection.transform(data.X), projection.transform(data.X_test)
        noisy, clean = (float(vote.fit(train, y).score(test, data.y_test)) for y in (data.y, data.y_true))
        return {"accuracy": noisy, "clean_reference": clean}
    model.fit(data.X, data.y)
    measured = {"accuracy": float(model.score(data.X_test, data.y_test))}
    if hasattr(model[-1], "noise_rate_"):
        measured["noise_rate"] = model[-1].noise_rate_
        measured["calibration"] = calibration_error(model.predict_proba(data.X_test), model.classes_, data.y_test)
    return measured


def calibration_error(probabilities: Array, classes: Array, y: Array, bins: int = 10) -> float:
    """Mean distance between how sure the most probable class is and how often it is right, over bins of sureness."""
    best = probabilities.argmax(axis=1)
    sure, right = probabilities.max(axis=1), classes[best] == y
    place = np.minimum((sure * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(place, sure - right, bins)).sum() / len(y))


@lru_cache(maxsize=4)
def _load(name: str) -> tuple[Array, Array]:
    return catalogue.dataset_named(name).load()
