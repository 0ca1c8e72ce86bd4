"""Accuracy against label noise by cross-validation.

The folds depend on the data set and the seed, the flips on those and the noise level; neither knows the method, so
every method meets the same training sets and the same wrong labels. Labels of the test fold are never touched, and
scaling is fitted inside the training fold.
"""

import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import flip_labels
from robustlda.experiments import methods
from robustlda.linalg import Array

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Unit:
    """One fit: the smallest piece of an experiment."""

    dataset: str
    noise: float
    fold: int
    method: str
    seed: int = 0
    folds: int = 5


@dataclass(frozen=True)
class Row:
    """What came of a unit: an accuracy, or the sentence that says why there is none."""

    dataset: str
    noise: float
    fold: int
    method: str
    seed: int
    folds: int
    accuracy: float
    seconds: float
    error: str


def plan(
    datasets: Sequence[str], methods: Sequence[str], noise: Sequence[float], folds: int = 5, seed: int = 0
) -> list[Unit]:
    """Every combination, in the order in which it is run."""
    return [
        Unit(dataset, level, fold, method, seed, folds)
        for dataset in datasets
        for level in noise
        for fold in range(folds)
        for method in methods
    ]


def split(unit: Unit) -> tuple[Array, Array, Array, Array]:
    """Training samples, their noisy labels, test samples, their true labels."""
    X, y = _load(unit.dataset)
    cv = StratifiedKFold(unit.folds, shuffle=True, random_state=unit.seed)
    train, test = list(cv.split(X, y))[unit.fold]
    # A stable number from the words: the flips of one data set or noise level say nothing about another's.
    key = zlib.crc32(f"{unit.dataset}/{unit.noise:.6f}/{unit.fold}".encode())
    noisy, _ = flip_labels(y[train], unit.noise, np.random.default_rng([unit.seed, key]))
    return X[train], noisy, X[test], y[test]


def run(unit: Unit) -> Row:
    """Fit and score one unit; a failure is recorded, not raised, so that the others go on."""
    X, y, X_test, y_test = split(unit)
    begin, accuracy, error = time.perf_counter(), float("nan"), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_pipeline(catalogue.find(unit.dataset).scaling(), methods.find(unit.method).build())
            accuracy = float(model.fit(X, y).score(X_test, y_test))
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}".splitlines()[0]
    return Row(**asdict(unit), accuracy=accuracy, seconds=time.perf_counter() - begin, error=error)


def run_all(units: Sequence[Unit], jobs: int = -1) -> Iterator[Row]:
    """Rows as they are finished; each worker uses one BLAS thread when there are several."""
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(delayed(run)(u) for u in units)


@lru_cache(maxsize=4)
def _load(name: str) -> tuple[Array, Array]:
    return catalogue.find(name).load()
