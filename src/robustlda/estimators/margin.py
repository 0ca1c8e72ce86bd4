"""Maximum margin criterion."""

from typing import Any

from robustlda.data import Samples
from robustlda.estimators._base import DiscriminantProjection
from robustlda.solvers import margin
from robustlda.solvers.result import SolverResult


class MMC(DiscriminantProjection):
    r"""Maximum margin criterion: between-class scatter minus within-class scatter.

    The columns of :math:`W`, stored as the rows of `components_`, solve

    .. math:: \max_{W^\top W = I} \operatorname{tr}(W^\top (S_b - S_w) W).

    No matrix is inverted, so more features than samples need no regularization. The criterion depends on the size of
    the class differences, not only on their shape; where that matters, prefer :class:`TraceRatioLDA`.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the projection, below the rank of the data; ``n_classes - 1`` if None.
    decision : {"centroid", "noise_aware", None}, default="centroid"
        Rule that predicts: robust class centers with one shared scatter in the projected space; the committee of
        :class:`RobustLDA`, which models wrong labels; or none, which leaves a pure transformer.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, the largest margin first; the entry of largest magnitude in each is positive.
    margin_ : float
        The maximum.
    center_ : ndarray of shape (n_features,)
        What `transform` subtracts.
    class_centers_ : ndarray of shape (n_classes, n_features)
        Class means.
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
    objective_path_, stationarity_, stop_reason_, n_iter_
        As those of :class:`TraceRatioLDA`, of a solution in closed form: one value, 0, "closed form" and 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X was a DataFrame whose columns have names.

    References
    ----------
    Li, Jiang, Zhang, "Efficient and robust feature extraction by maximum margin criterion", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import MMC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(MMC().fit(X, y).margin_, 2)
    3.62
    """

    _reads_parts = True
    _takes_arrays = True

    def __init__(
        self, n_components: int | None = None, *, decision: str | None = "centroid", priors: Any = None
    ) -> None:
        self.n_components = n_components
        self.decision = decision
        self.priors = priors

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        result = margin.solve(samples, n_components)
        self.margin_ = -float(result.history[-1])
        return result
