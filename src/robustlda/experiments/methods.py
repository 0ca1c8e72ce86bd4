"""The methods of a comparison; a new one is one more entry.

Most are projections followed by 1-NN, as in the paper; others have a decision rule of their own. Colors are part of
the entry, so that a method looks the same in every figure: one hue per family of methods.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from robustlda.data import Samples
from robustlda.estimators import DiscriminantProjection
from robustlda.estimators.laplacian import DLE, SupervisedLPP
from robustlda.estimators.margin import MMC
from robustlda.estimators.ratio import RatioLDA
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.experiments import baselines
from robustlda.solvers.result import CLOSED_FORM, SolverResult
from robustlda.solvers.starts import frame


@dataclass(frozen=True)
class Method:
    """`build` creates an unfitted classifier; `label` is its name in tables and figures.

    If it `uses_1nn`, the classifier is a pipeline that ends in 1-NN, whose reference labels may differ from those the
    projection is trained on. Without `sparse`, text is reduced to latent semantic components first.
    Forms of rLDA are `emphasized` in figures.
    """

    name: str
    label: str
    build: Callable[[], Any]
    color: str
    uses_1nn: bool = False
    sparse: bool = True
    requires: str | None = None
    emphasized: bool = False

    @property
    def missing_package(self) -> str | None:
        """The package that this method needs and that is not installed, if any."""
        return self.requires if self.requires and find_spec(self.requires) is None else None


class PrincipalAxes(DiscriminantProjection):
    """PCA with as many dimensions as rLDA, three per class: a control whose projection ignores the labels."""

    _needs_matrix = False

    def __init__(self, n_components: int | None = None, *, decision: str | None = None, priors: Any = None) -> None:
        self.n_components = n_components
        self.decision = decision
        self.priors = priors

    def _default_components(self, n_classes: int) -> int:
        return 3 * n_classes

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        W = frame("pca", samples, n_components, np.random.RandomState(0))
        totals, sums = samples.class_sums(samples.weight)
        return SolverResult(W, sums / totals[:, None], np.array([1.0]), 0.0, CLOSED_FORM)


def _with_1nn(
    name: str,
    label: str,
    projection: Callable[[], Any],
    color: str,
    *,
    sparse: bool = True,
    emphasized: bool = False,
) -> Method:
    def build() -> Any:
        return make_pipeline(projection(), KNeighborsClassifier(1))

    return Method(name, label, build, color, uses_1nn=True, sparse=sparse, emphasized=emphasized)


def _variant(name: str, label: str, color: str, **settings: Any) -> Method:
    """RobustLDA with one setting changed."""
    return Method(name, label, lambda: RobustLDA(**settings), color, emphasized=True)


def _ratio_variant(name: str, label: str, color: str, **settings: Any) -> Method:
    """The paper's projection or one like it, from principal axes and without far samples, and the same decision."""
    usual: dict[str, Any] = {"init": "pca", "leverage": "bounded", "decision": "noise_aware"}
    return Method(name, label, lambda: RatioLDA(**(usual | settings)), color, emphasized=True)


def _shrunk_lda() -> Any:
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


METHODS = {
    method.name: method
    for method in (
        # 1-NN in the projected space: the paper's comparison, and PCA of the same dimension as a control.
        _with_1nn("rlda_1nn", "rLDA + 1-NN", lambda: RatioLDA(decision=None), "#f03e9e", emphasized=True),
        _with_1nn(
            "rlda_pca_1nn",
            "rLDA from PCA + 1-NN",
            lambda: RatioLDA(init="pca", decision=None),
            "#ffa3cf",
            emphasized=True,
        ),
        _with_1nn("robust_1nn", "RobustLDA + 1-NN", lambda: RobustLDA(decision=None), "#c0143c", emphasized=True),
        _with_1nn("trlda_1nn", "trLDA + 1-NN", lambda: TraceRatioLDA(decision=None), "#e69f00"),
        _with_1nn("lda_1nn", "LDA + 1-NN", baselines.classical_lda, "#0072b2", sparse=False),
        _with_1nn("lpp_1nn", "supervised LPP + 1-NN", lambda: SupervisedLPP(decision=None), "#009e73"),
        _with_1nn("mmc_1nn", "MMC + 1-NN", lambda: MMC(decision=None), "#56b4e9"),
        _with_1nn("dle_1nn", "DLE (reconstructed) + 1-NN", lambda: DLE(decision=None), "#7570b3"),
        _with_1nn("knn", "1-NN", lambda: "passthrough", "#888888"),
        _with_1nn("pca_1nn", "PCA + 1-NN", PrincipalAxes, "#8c564b"),
        # The method's own decision rule.
        Method("rlda", "RobustLDA()", RobustLDA, "#c0143c", emphasized=True),
        _variant("rlda_centroid", "RobustLDA, centroid rule", "#7a0022", decision="centroid"),
        Method("pca_rule", "PCA, same rule", lambda: PrincipalAxes(decision="noise_aware"), "#8c564b"),
        Method("trlda", "trLDA", TraceRatioLDA, "#e69f00"),
        Method("svm", "SVM, tuned", baselines.TunedSVM, "#000000"),
        Method("lda", "LDA", baselines.classical_lda, "#0072b2", sparse=False),
        Method("shrunk_lda", "LDA, shrunk", _shrunk_lda, "#5e3c99", sparse=False),
        Method("knn_tuned", "k-NN, tuned", baselines.TunedNeighbors, "#444444", sparse=False),
        Method("mcd_lda", "LDA, MCD", baselines.RobustCovarianceLDA, "#7f7f00", sparse=False),
        Method("logistic", "logistic regression", lambda: LogisticRegression(max_iter=1000), "#4d9221"),
        Method("confident", "confident learning", baselines.ConfidentFilter, "#d95f02", requires="cleanlab"),
    )
}

VARIANTS = {
    method.name: method
    for method in (
        _ratio_variant("rlda_ratio", "rLDA as projection", "#f03e9e"),
        _ratio_variant("rlda_trace_start", "rLDA from trace ratio", "#f0a0b0", init="trace_ratio"),
        _ratio_variant("rlda_best_start", "rLDA, lowest J of three starts", "#d06080", init="best"),
        _ratio_variant("rlda_q2", "rLDA, exponent 2", "#a01030", exponent=2.0),
        _ratio_variant("rlda_squared", "rLDA, loss: squared", "#e69f00", loss="squared"),
        _ratio_variant("rlda_capped", "rLDA, loss: capped", "#d08000", loss="capped"),
        _ratio_variant("rlda_cauchy", "rLDA, loss: cauchy", "#b07000", loss="cauchy"),
        _variant("rlda_median", "center: median", "#0072b2", center="median"),
        _variant("rlda_free", "leverage: free", "#009e73", leverage="free"),
    )
}
"""RobustLDA with another projection or setting, for the table that justifies its defaults; not part of `all`."""


ENSEMBLES = {
    method.name: method
    for method in (
        Method("forest", "random forest, tuned", baselines.forest, "#1b7837", sparse=False),
        Method("boosting", "boosted trees, tuned", baselines.boosting, "#a6761d", sparse=False),
    )
}
"""Trees, tuned inside the fold: minutes on data that the others take seconds for, and so not part of `all` either."""


def known() -> dict[str, Method]:
    """All methods, those that are not part of `all` last."""
    return METHODS | ENSEMBLES | VARIANTS


def method_named(name: str) -> Method:
    """The method or variant of that name."""
    if name not in known():
        raise ValueError(f"There is no method {name!r}; choose from {', '.join([*METHODS, *ENSEMBLES])}, or all.")
    return known()[name]
