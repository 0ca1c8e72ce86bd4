"""The methods of a comparison; adding one is one entry.

Most project and let 1-NN vote in the projected space, as in the paper; others decide by themselves. Colours are part
of the entry, so that a method looks the same in every figure: one hue per family of methods.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from robustlda.estimators.laplacian import DLE, SupervisedLPP
from robustlda.estimators.margin import MMC
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.experiments import baselines
from robustlda.linalg import Array


@dataclass(frozen=True)
class Method:
    """`build` makes an untrained classifier; `label` is what tables and figures show.

    With `votes`, the classifier is a pipeline that ends in 1-NN, whose reference labels an experiment may choose
    apart from those the projection is trained on.
    """

    name: str
    label: str
    build: Callable[[], Any]
    colour: str
    votes: bool = False
    requires: str | None = None

    @property
    def missing(self) -> str | None:
        """The package this method needs and this installation lacks."""
        return self.requires if self.requires and find_spec(self.requires) is None else None


class PrincipalAxes(TransformerMixin, BaseEstimator):
    """PCA at the dimension that rLDA has, three per class: the control that does not look at the labels otherwise."""

    def fit(self, X: Array, y: Array) -> "PrincipalAxes":
        self.pca_ = PCA(min(3 * len(np.unique(y)), *X.shape), random_state=0).fit(X)
        return self

    def transform(self, X: Array) -> Array:
        return self.pca_.transform(X)


def _voting(name: str, label: str, projection: Callable[[], Any], colour: str) -> Method:
    return Method(name, label, lambda: make_pipeline(projection(), KNeighborsClassifier(1)), colour, votes=True)


def _shrunk_lda() -> Any:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


METHODS = {
    method.name: method
    for method in (
        # 1-NN votes in the projected space: the paper's comparison, and PCA at the same dimension as a control.
        _voting("rlda_1nn", "rLDA + 1-NN", lambda: RobustLDA(init="trace_ratio", decision=None), "#c0143c"),
        _voting("trlda_1nn", "trLDA + 1-NN", lambda: TraceRatioLDA(decision=None), "#e69f00"),
        _voting("lda_1nn", "LDA + 1-NN", baselines.classical_lda, "#0072b2"),
        _voting("lpp_1nn", "supervised LPP + 1-NN", lambda: SupervisedLPP(decision=None), "#009e73"),
        _voting("mmc_1nn", "MMC + 1-NN", lambda: MMC(decision=None), "#56b4e9"),
        _voting("dle_1nn", "DLE (reconstructed) + 1-NN", lambda: DLE(decision=None), "#cc79a7"),
        _voting("knn", "1-NN", lambda: "passthrough", "#888888"),
        _voting("pca_1nn", "PCA + 1-NN", PrincipalAxes, "#8c564b"),
        # The method decides by itself.
        Method("rlda", "rLDA", RobustLDA, "#c0143c"),
        Method("trlda", "trLDA", TraceRatioLDA, "#e69f00"),
        Method("svm", "SVM, tuned", baselines.TunedSVM, "#000000"),
        Method("lda", "LDA", baselines.classical_lda, "#0072b2"),
        Method("shrunk_lda", "LDA, shrunk", _shrunk_lda, "#5e3c99"),
        Method("knn_tuned", "k-NN, tuned", baselines.TunedNeighbours, "#444444"),
        Method("mcd_lda", "LDA, MCD", baselines.RobustCovarianceLDA, "#7f7f00"),
        Method("logistic", "logistic regression", lambda: LogisticRegression(max_iter=1000), "#4d9221"),
        Method("confident", "confident learning", baselines.ConfidentFilter, "#d95f02", requires="cleanlab"),
    )
}


def find(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        raise ValueError(f"There is no method {name!r}; choose from {', '.join(METHODS)}, or all.")
    return METHODS[name]
