"""The methods of a comparison; adding one is one entry.

A method projects and then lets 1-NN vote in the projected space, as in the paper, or decides by itself. Colours are
part of the entry, so that a method looks the same in every figure: one hue per projection, a full line for 1-NN and
a dashed one for the projection's own rule.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA


@dataclass(frozen=True)
class Method:
    """`build` makes a classifier from nothing but its name; `label` is what tables and figures show."""

    name: str
    label: str
    build: Callable[[], Any]
    colour: str
    dashed: bool = False


def _nearest(projection: Any) -> Any:
    return make_pipeline(projection, KNeighborsClassifier(1))


METHODS = {
    method.name: method
    for method in (
        Method("knn", "1-NN", lambda: KNeighborsClassifier(1), "#888888"),
        Method("lda", "LDA", LinearDiscriminantAnalysis, "#0072b2", dashed=True),
        Method("lda_1nn", "LDA + 1-NN", lambda: _nearest(LinearDiscriminantAnalysis()), "#0072b2"),
        Method("trlda", "trLDA", TraceRatioLDA, "#e69f00", dashed=True),
        Method("trlda_1nn", "trLDA + 1-NN", lambda: _nearest(TraceRatioLDA(decision=None)), "#e69f00"),
        Method("rlda", "rLDA", RobustLDA, "#c0143c", dashed=True),
        Method("rlda_1nn", "rLDA + 1-NN", lambda: _nearest(RobustLDA(decision=None)), "#c0143c"),
    )
}


def find(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise ValueError(f"There is no method {name!r}; choose from {', '.join(METHODS)}, or all.")
    return METHODS[name]
