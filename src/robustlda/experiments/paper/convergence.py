"""Convergence of the algorithm: J after every iteration on whole data sets with their true labels, from several starts.

Runs continue to a relative change of 1e-8 or `LIMIT` iterations, well beyond the paper's tolerance, so that the last J
can stand for the limit. The iterations to that tolerance are read off the path: those until no step exceeds it again.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from robustlda.datasets import catalogue
from robustlda.estimators.ratio import RatioLDA
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.experiments import figures
from robustlda.experiments.records import Outcome, unit_of

STARTS = {
    "pca": ("principal axes", "#0072b2"),
    "trace_ratio": ("trLDA", "#e69f00"),
    "random": ("random frames", "#7f7f7f"),
}
"""What a start is called in the figure, and its color."""
LIMIT = 300
MAX_DIMENSIONS = 2000
"""Above this the plain algorithm is skipped."""


@dataclass(frozen=True)
class Descent:
    """One fit of a whole data set; `seed` belongs to a random start.

    The algorithms are "plain", Algorithm 2 as in the paper; "accelerated", this package's; "trace_ratio", trLDA; and
    "believed", RobustLDA, whose objective is another one.
    """

    dataset: str
    algorithm: str
    start: str
    seed: int = 0


@dataclass(frozen=True)
class ObjectivePath(Descent, Outcome):
    """J at the start and after every iteration (`path`), the seconds of the fit, and the relative gradient at its end.

    `start_seconds` is the time for computing the start, which may be a fit of trLDA.
    """

    seconds: float = float("nan")
    start_seconds: float = float("nan")
    stationarity: float = float("nan")
    path: str = ""
    error: str = ""
    skipped: str = ""

    @property
    def unit(self) -> Descent:
        return unit_of(self, Descent)

    @property
    def objective(self) -> np.ndarray:
        return np.array([float(word) for word in self.path.split()])

    @property
    def iterations(self) -> int | None:
        """Iterations until the relative change of J stays at or below 1e-6; None if it did not within `LIMIT`."""
        return self.iterations_to(1e-6, relative=True)

    @property
    def steps(self) -> int:
        """Steps of the descent."""
        return len(self.objective) - 1

    @property
    def seconds_per_step(self) -> float:
        """Of a descent that has begun at its limit, what it takes to find that out."""
        return self.seconds / max(self.steps, 1)

    def iterations_to(self, change: float, *, relative: bool) -> int | None:
        J = self.objective
        if len(J) == 1:
            return 0
        large = np.flatnonzero(-np.diff(J) > change * (J[:-1] if relative else 1))
        needed = int(large[-1]) + 2 if len(large) else 1
        return needed if needed < len(J) else None

    def iterations_within(self, share: float) -> int:
        """Iterations until J is within this share of its last value."""
        J = self.objective
        return int(np.flatnonzero(J <= J[-1] * (1 + share))[0])

    @property
    def rate(self) -> float:
        """Median factor by which a step reduces the relative distance to the limit while it is in (1e-6, 1e-2)."""
        J = self.objective
        gap = (J - J[-1]) / J[-1]
        steps = [b / a for a, b in pairwise(gap) if 1e-6 < a < 1e-2]
        return float(np.median(steps)) if steps else float("nan")


def of_ratio(paths: Sequence[ObjectivePath]) -> list[ObjectivePath]:
    """Descents of the paper's objective."""
    return [path for path in paths if path.algorithm in ("plain", "accelerated")]


def descents(dataset: str, seeds: int) -> list[Descent]:
    """Both variants of the algorithm from every start, trLDA, and RobustLDA."""
    units = [Descent(dataset, "trace_ratio", "pca"), Descent(dataset, "believed", "beliefs")]
    for algorithm in ("plain", "accelerated"):
        units += [Descent(dataset, algorithm, start) for start in ("pca", "trace_ratio")]
        units += [Descent(dataset, algorithm, "random", seed) for seed in range(seeds)]
    return units


def run(unit: Descent) -> ObjectivePath:
    """Fit one unit with one BLAS thread; a failure is recorded, not raised."""
    X, y = catalogue.dataset_named(unit.dataset).load()
    if unit.algorithm == "plain" and min(X.shape) > MAX_DIMENSIONS:
        reason = f"with {min(X.shape)} dimensions a plain iteration takes half a minute"
        return ObjectivePath(**asdict(unit), skipped=reason)
    X = catalogue.dataset_named(unit.dataset).scaling().fit_transform(X)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            return _FITS.get(unit.algorithm, _descend)(unit, X, y)
    except Exception as exception:
        return ObjectivePath(**asdict(unit), error=f"{type(exception).__name__}: {exception}".splitlines()[0])


def _trace(unit: Descent, X: Any, y: np.ndarray) -> ObjectivePath:
    return _path(unit, TraceRatioLDA(decision=None, max_iter=LIMIT), X, y)


def _believed(unit: Descent, X: Any, y: np.ndarray) -> ObjectivePath:
    return _path(unit, RobustLDA(decision=None), X, y)


_FITS = {"trace_ratio": _trace, "believed": _believed}


def _descend(unit: Descent, X: Any, y: np.ndarray) -> ObjectivePath:
    begin = time.perf_counter()
    init: Any = unit.start
    if unit.start == "trace_ratio":
        init = TraceRatioLDA(decision=None).fit(X, y).components_
    start_seconds = time.perf_counter() - begin
    model = RatioLDA(
        decision=None,
        init=init,
        solver="plain" if unit.algorithm == "plain" else "auto",
        tol=1e-8,
        max_iter=LIMIT,
        random_state=unit.seed,
    )
    return _path(unit, model, X, y, start_seconds)


def _path(unit: Descent, model: Any, X: Any, y: np.ndarray, start_seconds: float = 0.0) -> ObjectivePath:
    begin = time.perf_counter()
    model.fit(X, y)
    return ObjectivePath(
        **asdict(unit),
        seconds=time.perf_counter() - begin,
        start_seconds=start_seconds,
        stationarity=float(model.stationarity_),
        path=" ".join(f"{J:.12g}" for J in model.objective_path_),
    )


def figure(paths: Sequence[ObjectivePath], *, columns: int = 3) -> Figure:
    """How far J is above the lowest limit found on the data set, after every iteration: a panel per data set.

    The paths are those of descents of the paper's objective that have succeeded.
    """
    names = list(dict.fromkeys(path.dataset for path in paths))
    wide = min(columns, len(names))
    high = -(-len(names) // wide)
    drawing = Figure(figsize=(4.1 * wide + 2.2, 2.9 * high + 0.4), layout="constrained")
    axes = drawing.subplots(high, wide, sharey=True, squeeze=False)
    for ax, name in zip(axes.ravel(), names, strict=False):
        _draw_gaps(ax, [path for path in paths if path.dataset == name])
        figures.plain_axes(ax, catalogue.CATALOGUE[name].title)
    for ax in axes.ravel()[len(names) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("iteration (dotted: 20)")
    for ax in axes[:, 0]:
        ax.set_ylabel("J above the lowest limit,\nrelative")
    place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "frameon": False, "fontsize": 9}
    axes[0, wide - 1].legend(*figures.legend_entries(axes.ravel()), **place)
    return drawing


def _draw_gaps(ax: Any, paths: Sequence[ObjectivePath]) -> None:
    """The paths of one data set; the axis of the iterations is linear up to 10 and logarithmic beyond."""
    best = min(path.objective[-1] for path in paths)
    for path in paths:
        gap = np.maximum(path.objective / best - 1, 1e-8)
        start, color = STARTS[path.start]
        style = {"linestyle": "-" if path.algorithm == "plain" else "--", "linewidth": 1.6, "alpha": 0.9}
        ax.plot(range(len(gap)), gap, color=color, label=f"{path.algorithm}, from {start}", **style)
    ax.axvline(20, color="#000000", linewidth=0.8, linestyle=":")
    ax.set_yscale("log")
    ax.set_xscale("symlog", linthresh=10)
    ax.set_xlim(0, None)
    ticks = [t for t in (0, 5, 10, 20, 50, 100, 200, 300) if t <= ax.get_xlim()[1]]
    ax.set_xticks(ticks, [str(t) for t in ticks], minor=False)
    ax.set_xticks([], minor=True)
