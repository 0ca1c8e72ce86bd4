"""Accuracy against contamination by cross-validation.

The folds depend on the data set and the seed, the contamination also on its kind and level. Neither depends on the
method, so every method gets the same training sets and the same wrong labels. The test fold is never changed, and
scaling is fitted inside the training fold.

1-NN copies the label of one reference sample, so its accuracy depends on whether that label is correct, whatever the
projection. There are two protocols, never mixed in one figure: the reference labels are the noisy training labels, or
they are clean and only the projection is trained on noisy ones. One fit gives both accuracies. Methods that do not use
1-NN are trained on noisy labels under both.
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

    `clean_reference` is the accuracy with correct reference labels, for methods that use 1-NN. `noise_rate` is the
    method's estimate of the share of wrong labels, and `calibration` the expected calibration error of its
    probabilities on the test fold, for methods that provide them.
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
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer samples than folds is absent from some
        train, test = list(cv.split(X, y))[unit.fold]
    # A checksum, unlike hash(), is the same in every process; contaminations of different data sets and levels differ.
    key = zlib.crc32(f"{unit.dataset}/{unit.kind}/{unit.noise:.6f}/{unit.fold}".encode())
    rng = np.random.default_rng([unit.seed, key])
    X_train, y_train, _ = contaminate(X[train], y[train], unit.kind, unit.noise, rng)
    return Split(X_train, y_train, y[train], X[test], y[test])


def run(unit: Unit) -> Row:
    """Fit and score one unit; a failure is recorded, not raised, so that the others continue."""
    begin, measured = time.perf_counter(), {}
    try:
        data = split(unit)
        begin = time.perf_counter()
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
    if method.uses_1nn:
        *steps, (_, nearest) = model[-1].steps
        projection = make_pipeline(*(step for _, step in [*model.steps[:-1], *steps])).fit(data.X, data.y)
        train, test = projection.transform(data.X), projection.transform(data.X_test)
        noisy, clean = (float(nearest.fit(train, y).score(test, data.y_test)) for y in (data.y, data.y_true))
        return {"accuracy": noisy, "clean_reference": clean}
    model.fit(data.X, data.y)
    measured = {"accuracy": float(model.score(data.X_test, data.y_test))}
    if hasattr(model[-1], "noise_rate_"):
        measured["noise_rate"] = model[-1].noise_rate_
        measured["calibration"] = calibration_error(model.predict_proba(data.X_test), model.classes_, data.y_test)
    return measured


def calibration_error(probabilities: Array, classes: Array, y: Array, bins: int = 10) -> float:
    """Expected calibration error: mean difference between confidence and accuracy, over bins of confidence."""
    best = probabilities.argmax(axis=1)
    confidence, correct = probabilities.max(axis=1), classes[best] == y
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return float(np.abs(np.bincount(place, confidence - correct, bins)).sum() / len(y))


@lru_cache(maxsize=4)
def _load(name: str) -> tuple[Array, Array]:
    return catalogue.dataset_named(name).load()
