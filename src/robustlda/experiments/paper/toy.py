"""The paper's toy figure, measured: two Gaussian classes, a few outliers, one direction.

A single draw can be cherry-picked. Here every method's direction is compared with the optimal one of the distribution
without outliers, Σ⁻¹(μ₁ − μ₀), over many draws, as the outliers move away and the classes become more elongated.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from robustlda.estimators.ratio import RatioLDA
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.experiments.records import Outcome, unit_of
from robustlda.linalg import Array

DISTANCES = (0.0, 5.0, 10.0, 20.0, 40.0)
STRETCHES = (1.0, 2.0, 4.0)
PER_CLASS, OUTLIERS, SEPARATION = 100, 5, 3.0


def _lda(X: Array, y: Array) -> Array:
    return LinearDiscriminantAnalysis().fit(X, y).coef_[0]


def _components(**settings: Any) -> Callable[[Array, Array], Array]:
    return lambda X, y: RatioLDA(1, decision=None, **settings).fit(X, y).components_[0]


DIRECTIONS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "LDA": ("#0072b2", _lda),
    "trLDA": ("#e69f00", lambda X, y: TraceRatioLDA(1, decision=None).fit(X, y).components_[0]),
    "rLDA": ("#f03e9e", _components()),
    "rLDA, bounded leverage": ("#ffa3cf", _components(leverage="bounded")),
    "RobustLDA": ("#c0143c", lambda X, y: RobustLDA(1).fit(X, y).components_[0]),
}


@dataclass(frozen=True)
class Setting:
    """A method on many draws of one distribution: how elongated the classes are, and how far away the outliers."""

    stretch: float
    distance: float
    method: str
    draws: int = 100
    seed: int = 0


@dataclass(frozen=True)
class Angle(Setting, Outcome):
    """Quartiles of the angle, in degrees, between the method's direction and the optimal one."""

    low: float = float("nan")
    median: float = float("nan")
    high: float = float("nan")
    error: str = ""
    skipped: str = ""

    @property
    def unit(self) -> Setting:
        return unit_of(self, Setting)


def draw(stretch: float, distance: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Samples, labels and the optimal direction; the classes differ along the first axis and are elongated obliquely.

    The outliers are labeled as the first class and lie `distance` away from it, along the long axis of the classes.
    """
    slant = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    root = slant @ np.diag([1.0, stretch])
    y = np.repeat([0, 1], PER_CLASS)
    X = rng.standard_normal((2 * PER_CLASS, 2)) @ root.T
    X[y == 1, 0] += SEPARATION
    if distance:
        X[:OUTLIERS] += distance * slant[:, 1]
    return X, y, np.linalg.solve(root @ root.T, np.array([SEPARATION, 0.0]))


def settings(draws: int = 100) -> list[Setting]:
    """Every method at every distance of the outliers and every elongation of the classes."""
    return [Setting(s, distance, name, draws) for s in STRETCHES for distance in DISTANCES for name in DIRECTIONS]


def run(unit: Setting) -> Angle:
    """Measure one setting; every method gets the same draws."""
    _, direction = DIRECTIONS[unit.method]
    found = []
    for number in range(unit.draws):
        rng = np.random.default_rng([unit.seed, int(10 * unit.stretch), int(unit.distance), number])
        X, y, optimal = draw(unit.stretch, unit.distance, rng)
        found.append(angle(direction(X, y), optimal))
    low, median, high = np.quantile(found, [0.25, 0.5, 0.75])
    return Angle(**asdict(unit), low=float(low), median=float(median), high=float(high))


def angle(u: Array, v: Array) -> float:
    """Angle between the lines spanned by two vectors, in degrees."""
    cosine = float(abs(u @ v) / (np.linalg.norm(u) * np.linalg.norm(v)))
    return math.degrees(math.acos(min(cosine, 1.0)))


def figure(results: list[Angle]) -> Figure:
    """One draw, and the angles over all draws."""
    drawing = Figure(figsize=(15, 3.9), layout="constrained")
    axes = drawing.subplots(1, 1 + len(STRETCHES), width_ratios=[1.25, *(1 for _ in STRETCHES)])
    _draw_one(axes[0])
    for ax, stretch in zip(axes[1:], STRETCHES, strict=True):
        for name, (color, _) in DIRECTIONS.items():
            line = sorted((a for a in results if (a.stretch, a.method) == (stretch, name)), key=lambda a: a.distance)
            x = [a.distance for a in line]
            ax.fill_between(x, [a.low for a in line], [a.high for a in line], color=color, alpha=0.12, linewidth=0)
            ax.plot(x, [a.median for a in line], color=color, marker="o", markersize=4, label=name, **_wide(name))
        ax.set_title(f"classes {stretch:g} times as long as wide")
        ax.set_xlabel("distance of the outliers")
        ax.set_ylim(0, 45)
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    axes[1].set_ylabel("angle to the optimal direction, degrees\n(median and quartiles)")
    return drawing


def _draw_one(ax: Any) -> None:
    X, y, optimal = draw(1.0, 10.0, np.random.default_rng(0))
    for label, color in ((0, "#555555"), (1, "#bbbbbb")):
        ax.scatter(*X[y == label].T, s=9, color=color, label=f"class {label + 1}")
    ax.scatter(*X[:OUTLIERS].T, s=40, facecolors="none", edgecolors="#000000", label="outliers")
    middle = np.median(X, axis=0)
    lines = {"optimal": ("#000000", optimal), **{name: (c, f(X, y)) for name, (c, f) in DIRECTIONS.items()}}
    for name, (color, direction) in lines.items():
        unit = direction / np.linalg.norm(direction)
        ends = middle + np.outer([-6, 6], unit)
        style = {"linewidth": 1.8, "linestyle": ":" if name == "optimal" else "-", **_wide(name)}
        ax.plot(*ends.T, color=color, label=name, **style)
    ax.set_aspect("equal")
    ax.set_title("one draw: round classes, outliers at 10")
    ax.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def _wide(name: str) -> dict[str, float]:
    """With one direction trLDA coincides with LDA, whose wide pale line therefore shows behind it."""
    return {"linewidth": 5, "alpha": 0.45} if name == "LDA" else {}
