"""The figures of these pages, drawn from the package and from `results/`: a function of axes for each of them."""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RatioLDA, RobustLDA, TraceRatioLDA, losses
from robustlda.datasets.contaminate import flip_labels
from robustlda.experiments.paper import toy

RESULTS = Path(__file__).parents[1] / "results"
BLUE, ORANGE, GREEN, PINK, GRAY, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#8c8c8c", "#d55e00"
INK = {"light": "#333333", "dark": "#d0d0d0"}
ON_DARK = {BLUE: "#4da3d9"}

FIGURES: dict[str, Callable[[str], Any]] = {}


def figure(draw: Callable[[str], Any]) -> Callable[[str], Any]:
    """A function that draws in the colors of a theme and returns the figure."""
    FIGURES[draw.__name__] = draw
    return draw


def save(draw: Callable[[str], Any], paths: dict[str, Path]) -> None:
    for theme, path in paths.items():
        ink = INK[theme]
        style = {
            "text.color": ink,
            "axes.edgecolor": ink,
            "axes.labelcolor": ink,
            "xtick.color": ink,
            "ytick.color": ink,
            "axes.facecolor": "none",
            "figure.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "font.size": 10,
            "legend.frameon": False,
            "svg.hashsalt": "robustlda",
            "figure.constrained_layout.use": True,
        }
        with plt.rc_context(style):
            drawn = draw(theme)
            drawn.savefig(path, transparent=True, metadata={"Date": None})
            plt.close(drawn)


def _blue(theme: str) -> str:
    return ON_DARK[BLUE] if theme == "dark" else BLUE


# From the results


EIGHT = ("iris", "wine", "vehicle", "dermatology", "breast_cancer", "digits", "yale", "orl")
METHODS = {
    "rlda": ("RobustLDA", RED, 2.6),
    "svm": ("SVM, tuned", BLUE, 1.4),
    "shrunk_lda": ("LDA, shrunk", GREEN, 1.4),
    "confident": ("confident learning", PINK, 1.4),
    "knn_tuned": ("k-NN, tuned", GRAY, 1.4),
    "logistic": ("logistic regression", ORANGE, 1.4),
}


def mean_accuracies() -> dict[str, dict[float, float]]:
    """Accuracy of every method by level of noise: the mean over data sets of the mean over folds."""
    runs = defaultdict(list)
    with open(RESULTS / "robustness" / "comparison.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "uniform" and row["dataset"] in EIGHT and row["accuracy"] and not row["skipped"]:
                runs[row["method"], float(row["noise"]), row["dataset"]].append(float(row["accuracy"]))
    levels = sorted({level for _, level, _ in runs})
    found: dict[str, dict[float, float]] = {}
    for method in METHODS:
        for level in levels:
            sets = [runs[method, level, name] for name in EIGHT]
            if all(sets):
                found.setdefault(method, {})[level] = float(np.mean([np.mean(s) for s in sets]))
    return found


@figure
def accuracy(theme: str) -> Any:
    fig, ax = plt.subplots(figsize=(5.8, 3.4))
    for method, by_level in mean_accuracies().items():
        _, color, width = METHODS[method]
        color = ON_DARK.get(color, color) if theme == "dark" else color
        x, y = np.array(list(by_level)) * 100, list(by_level.values())
        ax.plot(x, y, marker="o", markersize=4, color=color, linewidth=width, clip_on=False)
    ends = sorted(((by[max(by)], m) for m, by in mean_accuracies().items()), reverse=True)
    place = np.inf
    for value, method in ends:
        place = min(value, place - 0.013)  # names that would lie on each other move apart
        color = ON_DARK.get(METHODS[method][1], METHODS[method][1]) if theme == "dark" else METHODS[method][1]
        ax.annotate(METHODS[method][0], (40, place), (6, 0), textcoords="offset points", va="center", color=color)
    ax.set_xticks([0, 20, 40], ["0", "20 %", "40 %"])
    ax.set_xlim(-1, 40)
    ax.set_xlabel("training labels that are wrong")
    ax.set_ylabel("accuracy on correct test labels")
    ax.grid(axis="y", linewidth=0.4, alpha=0.5)
    return fig


# Lengths


@figure
def influence(theme: str) -> Any:
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
    length = np.linspace(1e-3, 5, 400)
    shown = {
        "squared": (losses.Squared(), INK[theme]),
        "l12, the paper": (losses.L12(), RED),
        "cauchy": (losses.Cauchy(), GREEN),
        "capped": (losses.Capped(), _blue(theme)),
        "welsch": (losses.Welsch(), ORANGE),
    }
    for name, (loss, color) in shown.items():
        one = loss.value(np.ones(1))[0]
        axes[0].plot(length, loss.value(length**2) / one, color=color, label=name)
        axes[1].plot(length, 2 * length * loss.weight(length**2) / one, color=color, label=name)
    axes[0].set(ylim=(0, 6), ylabel="what it counts", xlabel="length, in units of the median")
    axes[1].set(ylim=(0, 4), ylabel="how hard it pulls", xlabel="length, in units of the median")
    axes[1].legend(fontsize=8, loc="upper right")
    return fig


def _angle(direction: Any, truth: Any) -> float:
    direction = np.ravel(direction) / np.linalg.norm(direction)
    return float(np.degrees(np.arccos(min(1.0, abs(direction @ truth)))))


def _two_classes(rng: Any, n: int, long: float, apart: float = 4.0) -> tuple[Any, Any]:
    X = rng.normal(size=(2 * n, 2)) * [1, long]
    y = np.repeat([0, 1], n)
    X[:, 0] += apart * (y - 0.5)
    return X, y


@figure
def outliers(theme: str) -> Any:
    """Classical and robust boundaries on one draw of the paper's toy picture."""
    X, y, _ = toy.draw(1.0, 20.0, np.random.default_rng(0))
    fig, ax = plt.subplots(figsize=(5.4, 5.2))
    for k, color in enumerate((_blue(theme), ORANGE)):
        ax.scatter(*X[y == k].T, s=12, color=color, alpha=0.75, linewidth=0)
    models = (
        ("LDA", LinearDiscriminantAnalysis().fit(X, y).scalings_[:, 0], INK[theme], "--"),
        ("RatioLDA, the paper", RatioLDA(n_components=1).fit(X, y).components_[0], GREEN, "-."),
        ("RobustLDA", RobustLDA(n_components=1).fit(X, y).components_[0], RED, "-"),
    )
    middle = np.array([toy.SEPARATION / 2, 0])
    for name, w, color, line in models:
        # A boundary is at right angles to its direction.
        ends = middle + np.outer([-9, 9], [-w[1], w[0]]) / np.linalg.norm(w)
        off = _angle(w, np.array([1.0, 0.0]))
        ax.plot(*ends.T, line, color=color, label=f"{name}: {off:.0f}° off", linewidth=1.7)
    ax.set(xlim=(-13, 9), ylim=(-5, 20), xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
    ax.annotate(
        "five outliers of the blue class",
        X[:5].mean(axis=0),
        (-7.5, 18.5),
        va="center",
        fontsize=9,
        arrowprops={"arrowstyle": "-", "color": INK[theme], "linewidth": 0.7},
    )
    ax.legend(loc="upper right", fontsize=9, bbox_to_anchor=(1.0, 0.8))
    return fig


@figure
def tilt(theme: str) -> Any:
    """How far the directions of correct labels are from the one that separates, as classes get longer."""
    fig, ax = plt.subplots(figsize=(5.6, 3.2))
    truth, lengths = np.array([1.0, 0.0]), np.linspace(1, 6, 11)
    kinds = {
        "RatioLDA (q = 1, the paper)": (lambda: RatioLDA(n_components=1, init="best", random_state=0), RED),
        "RatioLDA (q = 2)": (lambda: RatioLDA(n_components=1, exponent=2, init="best", random_state=0), ORANGE),
        "TraceRatioLDA": (lambda: TraceRatioLDA(n_components=1), _blue(theme)),
        "RobustLDA": (lambda: RobustLDA(n_components=1), GREEN),
    }
    for name, (make, color) in kinds.items():
        off = []
        for long in lengths:
            X, y = _two_classes(np.random.default_rng(0), 300, long, apart=2.0)
            off.append(_angle(make().fit(X, y).components_[0], truth))
        ax.plot(lengths, off, color=color, marker="o", markersize=3, label=name)
    ax.set(xlabel="length of the classes, in units of their width", ylabel="degrees off", ylim=(-3, 93))
    ax.set_yticks([0, 30, 60, 90])
    ax.legend(fontsize=8, loc="center right")
    return fig


@figure
def descent(theme: str) -> Any:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    fig, ax = plt.subplots(figsize=(5.6, 3.0))
    settings = (
        ("plain steps, from trace-ratio LDA", {"solver": "plain"}, _blue(theme)),
        ("longer steps, from there", {}, RED),
        ("longer steps, from principal axes", {"init": "pca"}, GREEN),
    )
    for name, how, color in settings:
        path = RatioLDA(n_components=4, tol=1e-8, **how).fit(X, y).objective_path_
        ax.plot(range(len(path)), path, marker="o", markersize=3, color=color, label=name, linewidth=1.2)
    ax.set(xlabel="iteration", ylabel="J", xlim=(-0.5, 30))
    ax.legend(fontsize=8)
    return fig


# Beliefs


@figure
def overlap(theme: str) -> Any:
    """Where labels disagree with the features: at the border if classes overlap, everywhere if labels are wrong."""
    rng = np.random.default_rng(1)
    fig, axes = plt.subplots(1, 2, figsize=(7.4, 3.1), sharey=True)
    for ax, apart, rate, title in ((axes[0], 2.4, 0.0, "overlap"), (axes[1], 6.0, 0.12, "noise")):
        n = 160
        truth = np.repeat([0, 1], n)
        X = rng.normal(size=(2 * n, 2))
        X[:, 0] += apart * (truth - 0.5)
        given = np.where(rng.random(2 * n) < rate, 1 - truth, truth)
        for k, color in enumerate((_blue(theme), ORANGE)):
            ax.scatter(*X[given == k].T, s=13, color=color, linewidth=0, alpha=0.8)
        against = given != (X[:, 0] > 0)
        ax.scatter(*X[against].T, s=46, facecolors="none", edgecolors=INK[theme], linewidth=0.9)
        ax.axvline(0, color=INK[theme], linewidth=0.8, linestyle=":")
        ax.set(title=f"{title}: {against.mean():.0%} of the labels disagree", xticks=[], yticks=[], ylim=(-3.6, 3.6))
        ax.spines[:].set_visible(False)
    return fig


@figure
def beliefs(theme: str) -> Any:
    """Labels as given, what is believed, and the projection from it."""
    X, y = load_wine(return_X_y=True)
    given, _ = flip_labels(y, 0.3, np.random.default_rng(0))
    robust = RobustLDA().fit(X, given)
    audit = LabelAudit().fit(X, given)
    classical = LinearDiscriminantAnalysis().fit(X, given)
    colors = (_blue(theme), ORANGE, GREEN)
    fig, axes = plt.subplots(1, 3, figsize=(8.6, 3.1))
    shown = (
        (classical.transform(X), given, "LDA, 30 % of labels wrong"),
        (robust.transform(X), given, "RobustLDA, same labels"),
        (robust.transform(X), audit.suggested_, "what it believes"),
    )
    for ax, (Z, labels, title) in zip(axes, shown, strict=True):
        for k, color in enumerate(colors):
            ax.scatter(*Z[labels == k].T, s=10, color=color, linewidth=0, alpha=0.85)
        ax.set(title=title, xticks=[], yticks=[])
        ax.title.set_fontsize(10)
        ax.spines[:].set_visible(False)
    return fig


@figure
def stated(theme: str) -> Any:
    """Stated probabilities of wrong labels, sorted, with those that are wrong marked."""
    X, y = load_breast_cancer(return_X_y=True)
    given, wrong = flip_labels(y, 0.1, np.random.default_rng(0))
    audit = LabelAudit().fit(X, given)
    order = np.argsort(-audit.probability_wrong_, kind="stable")[:80]
    fig, ax = plt.subplots(figsize=(6.6, 2.7))
    for value, color, name in ((True, RED, "wrong"), (False, _blue(theme), "right")):
        here = np.flatnonzero(wrong[order] == value)
        ax.bar(here, audit.probability_wrong_[order][here], color=color, width=0.8, label=f"label is {name}")
    flagged = audit.flags().sum()
    ax.axvline(flagged - 0.5, color=INK[theme], linestyle=":", linewidth=1)
    ax.annotate(f" flagged: the first {flagged}", (flagged - 0.5, 0.9), fontsize=9)
    ax.set(xlabel="labels by rank", ylabel="probability of being wrong", ylim=(0, 1.05), xlim=(-1, 80))
    ax.legend(fontsize=8, loc="center right")
    return fig
