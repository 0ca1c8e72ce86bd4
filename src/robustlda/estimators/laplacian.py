"""Discriminant projections from graphs between samples."""

from typing import Any, Self

from robustlda.data import Samples
from robustlda.estimators import _validation as validation
from robustlda.estimators._base import DiscriminantProjection
from robustlda.solvers import laplacian
from robustlda.solvers.result import SolverResult

GRAPHS = ("heat", "binary", "balanced")


def _between_class_bound(samples: Samples) -> tuple[int, str]:
    most = min(samples.n_classes - 1, samples.rank)
    return most, f"be at most {most}, the rank of the scatter between {samples.n_classes} classes here"


class SupervisedLPP(DiscriminantProjection):
    r"""Locality preserving projections with a graph inside the classes.

    Samples of one class are joined by edges :math:`S_{jk}`, samples of different classes are not; with
    :math:`D = \operatorname{diag}(S\mathbf{1})` and :math:`L = D - S` the directions minimize

    .. math:: a^\top X^\top L X a / a^\top X^\top D X a.

    With edges of weight :math:`1/n_{class}` this is LDA; only the heat kernel makes it a different method.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; ``n_classes - 1`` if None, the most there are with the graphs "binary" and "balanced".
    graph : {"heat", "binary", "balanced"}, default="heat"
        Weight of an edge: :math:`\exp(-\|x_j - x_k\|^2 / 2t^2)` with t the mean distance inside classes; 1; or one
        over the size of the class.
    ridge : float, default=1e-3
        Added to :math:`X^\top D X`, relative to its mean eigenvalue. Without it classes collapse to points, and
        directions are arbitrary among equals, as soon as there are as many features as samples.
    decision : {"centroid", "noise_aware", None}, default="centroid"
        Rule that predicts: robust class centers with one shared scatter in the projected space; the committee of
        :class:`RobustLDA`, which models wrong labels; or none, which leaves a pure transformer.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions in the rows, scaled to :math:`a^\top X^\top D X a = 1`; not orthonormal. The entry of largest
        magnitude in each is positive.
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
    He, Niyogi, "Locality preserving projections", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import SupervisedLPP
    >>> X, y = load_iris(return_X_y=True)
    >>> SupervisedLPP().fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        graph: str = "heat",
        ridge: float = 1e-3,
        decision: str | None = "centroid",
        priors: Any = None,
    ) -> None:
        self.n_components = n_components
        self.graph = graph
        self.ridge = ridge
        self.decision = decision
        self.priors = priors

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validation.check_choice("graph", self.graph, GRAPHS)
        validation.check_number("ridge", self.ridge, "a number of at least 0, for example 1e-3")

    def _most_components(self, samples: Samples) -> tuple[int, str]:
        return super()._most_components(samples) if self.graph == "heat" else _between_class_bound(samples)

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        return laplacian.solve_locality(samples, n_components, self.graph, self.ridge)


class DLE(DiscriminantProjection):
    r"""Discriminant Laplacian embedding (reconstructed).

    The exact objective of the published method could not be recovered. This is a reconstruction from its
    description, one criterion that joins the discriminant space of the labels and the smooth space of a graph:

    .. math:: \max_W \operatorname{tr}[(W^\top B W)^{-1} W^\top S_b W], \qquad
              B = \frac{S_w}{\operatorname{tr} S_w} + \frac{X^\top L X}{\operatorname{tr} X^\top L X}
                  + \varrho \frac{I}{r},

    where :math:`L` is the Laplacian of the nearest-neighbor graph of the labeled samples with heat weights. Do not
    quote its results as those of the published method.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most ``n_classes - 1``, which is the default.
    n_neighbors : int, default=5
        Neighbors a sample is joined to.
    ridge : float, default=1e-3
        Weight :math:`\varrho` of the identity, which keeps B invertible.
    decision : {"centroid", "noise_aware", None}, default="centroid"
        Rule that predicts: robust class centers with one shared scatter in the projected space; the committee of
        :class:`RobustLDA`, which models wrong labels; or none, which leaves a pure transformer.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions in the rows, scaled to :math:`a^\top B a = 1`; not orthonormal. The entry of largest magnitude in
        each is positive.
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
    After Wang, Huang, Ding, "Discriminant Laplacian embedding", AAAI 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import DLE
    >>> X, y = load_iris(return_X_y=True)
    >>> DLE().fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 5,
        ridge: float = 1e-3,
        decision: str | None = "centroid",
        priors: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.decision = decision
        self.priors = priors

    # No sample weights: who is among the nearest neighbors does not depend on how much anybody counts.
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Find the directions, and the class model in their space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples: an array or a DataFrame of any kind.
        y : array-like of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        self : object
        """
        return super().fit(X, y)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validation.check_whole("n_neighbors", self.n_neighbors)
        validation.check_number("ridge", self.ridge, "a positive number, for example 1e-3", strict=True)

    def _most_components(self, samples: Samples) -> tuple[int, str]:
        return _between_class_bound(samples)

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        return laplacian.solve_embedding(samples, n_components, self.n_neighbors, self.ridge)
