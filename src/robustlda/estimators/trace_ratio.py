"""Trace-ratio linear discriminant analysis."""

from typing import Any

import numpy as np

from robustlda.data import Samples
from robustlda.estimators._iterative import RatioProjection
from robustlda.solvers import trace_ratio
from robustlda.solvers.result import SolverResult


class TraceRatioLDA(RatioProjection):
    r"""Orthonormal projection with the largest ratio of between- to within-class scatter.

    The columns of :math:`W`, stored as the rows of `components_`, solve

    .. math:: \max_{W^\top W = I} \operatorname{tr}(W^\top S_b W) / \operatorname{tr}(W^\top S_w W)

    to the global optimum. Classical LDA maximizes
    :math:`\operatorname{tr}((W^\top S_w W)^{-1} W^\top S_b W)`, has at most ``n_classes - 1`` components and lets one
    direction of near-zero within-class scatter dominate. Where labels or samples cannot be trusted, prefer
    :class:`RobustLDA`.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the projection, below the rank of the data; ``3 * n_classes`` if None, or where that exceeds the
        rank the whole space, of which the projection is then a rotation.
    decision : {"centroid", "noise_aware", None}, default="centroid"
        Rule that predicts: robust class centers with one shared scatter in the projected space; the committee of
        :class:`RobustLDA`, which models wrong labels; or none, which leaves a pure transformer.
    center : {"mean", "median"}, default="mean"
        The point from which total scatter is measured; the (geometric) median withstands outliers.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.
    tol : float, default=1e-12
        Stop when the ratio changes by no more than this, relative to its size.
    max_iter : int, default=100
        Most eigenproblems to solve; 4 to 8 are usual.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the most discriminant first; the entry of largest magnitude in each is positive.
    trace_ratio_ : float
        The maximum, between-class over within-class scatter.
    center_ : ndarray of shape (n_features,)
        What `transform` subtracts.
    class_centers_ : ndarray of shape (n_classes, n_features)
        Class means.
    objective_path_ : ndarray
        Within-class over total scatter at the start and after every iteration; never rises.
    stationarity_ : float
        Relative length of the gradient at the end.
    stop_reason_ : str
        Why the iteration stopped.
    n_iter_ : int
        Iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities the decision uses.
    rule_ : object
        The fitted decision rule.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,), or (1, n_features) and (1,)
        With ``decision="centroid"``, the linear scores of `decision_function`; other decisions are not linear.
    noise_rate_, transition_, likelihood_path_, annotator_confusion_
        With ``decision="noise_aware"``, as those of :class:`RobustLDA`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X was a DataFrame whose columns have names.

    References
    ----------
    Jia, Nie, Zhang, "Trace ratio problem revisited", IEEE Transactions on Neural Networks 20(4), 2009. Ngo, Bellalij,
    Saad, "The trace ratio optimization problem", SIAM Review 54(3), 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import TraceRatioLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> round(TraceRatioLDA(n_components=2).fit(X, y).trace_ratio_, 2)
    23.76
    """

    _reads_parts = True
    _takes_arrays = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        decision: str | None = "centroid",
        center: str = "mean",
        priors: Any = None,
        tol: float = 1e-12,
        max_iter: int = 100,
    ) -> None:
        self.n_components = n_components
        self.decision = decision
        self.center = center
        self.priors = priors
        self.tol = tol
        self.max_iter = max_iter

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        result = trace_ratio.solve(samples, n_components, tol=self.tol, max_iter=self.max_iter)
        within = result.history[-1]
        self.trace_ratio_ = float((1 - within) / within) if within > 0 else np.inf
        return result
