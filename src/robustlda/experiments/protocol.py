"""Accuracy against contamination by cross-validation.

The folds depend on the data set and the seed, the contamination on those, its kind and its level; neither knows the
method, so every method meets the same training sets and the same wrong labels. The test fold is never touched, and
scaling is fitted inside the training fold.

1-NN copies the label of one reference sample, so its accuracy hangs on whether that label is right, whatever the
projection. There are two protocols, never to be mixed in one figure: the reference labels are the noisy training
labels, or they are clean and only the projection is trained on noisy ones. Methods that do not vote are trained on
noisy labels under both.
"""

import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments import methods
from robustlda.linalg import Array


@dataclass(frozen=True)
class Unit:
    """One fit: the smallest piece of an experiment."""

    dataset: str
    noise: float
    fold: int
    method: str
    kind: str = "uniform"
    reference: str = "noisy"
    seed: int = 0
    folds: int = 5


@dataclass(frozen=True)
class Row(Unit):
    """What came of a unit: an accuracy, or the sentence that says why there is none."""

    accuracy: float = float("nan")
    seconds: float = float("nan")
    error: str = ""


def plan(
    datasets: Sequence[str], methods: Sequence[str], noise: Sequence[float], *, folds: int = 5, **settings: Any
) -> list[Unit]:
    """Every combination, in the order in which it is run; `settings` are the remaining fields of a unit."""
    return [
        Unit(dataset, level, fold, method, folds=folds, **settings)
        for dataset in datasets
        for level in noise
        for fold in range(folds)
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
    train, test = list(cv.split(X, y))[unit.fold]
    # A stable number from the words: what is spoiled in one data set or level says nothing about another.
    key = zlib.crc32(f"{unit.dataset}/{unit.kind}/{unit.noise:.6f}/{unit.fold}".encode())
    rng = np.random.default_rng([unit.seed, key])
    X_train, y_train, _ = contaminate(X[train], y[train], unit.kind, unit.noise, rng)
    return Split(X_train, y_train, y[train], X[test], y[test])


def run(unit: Unit) -> Row:
    """Fit and score one unit; a failure is recorded, not raised, so that the others go on."""
    data = split(unit)
    begin, accuracy, error = time.perf_counter(), float("nan"), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            accuracy = _accuracy(unit, data)
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}".splitlines()[0]
    return Row(**asdict(unit), accuracy=accuracy, seconds=time.perf_counter() - begin, error=error)


def _accuracy(unit: Unit, data: Split) -> float:
    method = methods.find(unit.method)
    model = make_pipeline(catalogue.find(unit.dataset).scaling(), method.build())
    if method.votes:
        model = make_pipeline(*(step for _, step in model.steps[:-1]), *(step for _, step in model[-1].steps))
        projection = model[:-1].fit(data.X, data.y)
        model[-1].fit(projection.transform(data.X), data.y_true if unit.reference == "clean" else data.y)
    else:
        model.fit(data.X, data.y)
    return float(model.score(data.X_test, data.y_test))


def run_all(units: Sequence[Unit], jobs: int = -1) -> Iterator[Row]:
    """Rows as they are finished; each worker uses one BLAS thread when there are several."""
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(delayed(run)(u) for u in units)


@lru_cache(maxsize=4)
def _load(name: str) -> tuple[Array, Array]:
    return catalogue.find(name).load()
