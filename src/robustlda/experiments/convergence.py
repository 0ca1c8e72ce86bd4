"""How the algorithm converges: J after every iteration on whole data sets with their true labels, from several starts.

Runs go on to a relative change of 1e-8 or `LIMIT` iterations, so that the distance to the limit can be told from the
size of the last step; the paper's count is read off the path: the first iteration after which no step is longer.
"""

import time
import warnings
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from robustlda.datasets import catalogue
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.experiments.records import LEFT_OUT, unit_of

ALGORITHMS = {"plain": "Algorithm 2, as in the paper", "accelerated": "this package's default", "trace_ratio": "trLDA"}
STARTS = {"pca": "#0072b2", "trace_ratio": "#e69f00", "random": "#7f7f7f"}
LIMIT = 300
LARGEST = 2000


@dataclass(frozen=True)
class Unit:
    """One fit of a whole data set; `seed` is that of a random start."""

    dataset: str
    algorithm: str
    start: str
    seed: int = 0


@dataclass(frozen=True)
class Path(Unit):
    """J at the start and after every iteration (`path`), the seconds of the fit, and the relative gradient at its end.

    `start_seconds` is what the start took, a fit of trLDA where it is one.
    """

    seconds: float = float("nan")
    start_seconds: float = float("nan")
    stationarity: float = float("nan")
    path: str = ""
    error: str = ""

    @property
    def unit(self) -> Unit:
        return unit_of(self, Unit)

    @property
    def objective(self) -> np.ndarray:
        return np.array([float(word) for word in self.path.split()])

    @property
    def iterations(self) -> int | None:
        """Iterations until J changes by at most 1e-6 of itself ever after; None if it still changed more."""
        return self.iterations_to(1e-6, relative=True)

    def iterations_to(self, change: float, *, relative: bool) -> int | None:
        J = self.objective
        large = np.flatnonzero(-np.diff(J) > change * (J[:-1] if relative else 1))
        needed = int(large[-1]) + 2 if len(large) else 1
        return needed if needed < len(J) else None

    def iterations_within(self, share: float) -> int:
        """Iterations until J is within this share of where the path ends."""
        J = self.objective
        return int(np.flatnonzero(J <= J[-1] * (1 + share))[0])

    @property
    def rate(self) -> float:
        """By how much the distance to the limit shrinks in a step: the median over the steps between 1e-2 and 1e-6."""
        J = self.objective
        gap = (J - J[-1]) / J[-1]
        steps = [b / a for a, b in pairwise(gap) if 1e-6 < a < 1e-2]
        return float(np.median(steps)) if steps else float("nan")


def plan(dataset: str, seeds: int) -> list[Unit]:
    """Both forms of the algorithm from every start, and trLDA."""
    units = [Unit(dataset, "trace_ratio", "pca")]
    for algorithm in ("plain", "accelerated"):
        units += [Unit(dataset, algorithm, start) for start in ("pca", "trace_ratio")]
        units += [Unit(dataset, algorithm, "random", seed) for seed in range(seeds)]
    return units


def run(unit: Unit) -> Path:
    """Fit one unit with one BLAS thread; a failure is recorded, not raised."""
    X, y = catalogue.find(unit.dataset).load()
    if unit.algorithm == "plain" and min(X.shape) > LARGEST:
        reason = f"{LEFT_OUT}: with {min(X.shape)} dimensions a plain iteration takes half a minute"
        return Path(**asdict(unit), error=reason)
    X = catalogue.find(unit.dataset).scaling().fit_transform(X)
    settings: dict[str, Any] = {"decision": None, "max_iter": LIMIT}
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            if unit.algorithm == "trace_ratio":
                return _path(unit, TraceRatioLDA(**settings), X, y)
            begin = time.perf_counter()
            init: Any = unit.start
            if unit.start == "trace_ratio":
                init = TraceRatioLDA(decision=None).fit(X, y).components_
            took = time.perf_counter() - begin
            solver = "plain" if unit.algorithm == "plain" else "auto"
            model = RobustLDA(init=init, solver=solver, leverage="free", tol=1e-8, random_state=unit.seed, **settings)
            return _path(unit, model, X, y, took)
    except Exception as exception:
        return Path(**asdict(unit), error=f"{type(exception).__name__}: {exception}".splitlines()[0])


def _path(unit: Unit, model: Any, X: Any, y: np.ndarray, start_seconds: float = 0.0) -> Path:
    begin = time.perf_counter()
    model.fit(X, y)
    return Path(
        **asdict(unit),
        seconds=time.perf_counter() - begin,
        start_seconds=start_seconds,
        stationarity=float(model.stationarity_),
        path=" ".join(f"{J:.12g}" for J in model.objective_path_),
    )
