"""Robust linear discriminant analysis: a projection from what is believed about labels, not from the labels."""

from typing import Any

import numpy as np

from robustlda.data import Samples, Store, Weights
from robustlda.data.parted import scaled
from robustlda.data.store import Rows
from robustlda.data.units import feature_units
from robustlda.decision import FittedDecision, Training
from robustlda.decision.beliefs import believed_classes
from robustlda.decision.rule import CenteredRows, Checks
from robustlda.estimators._memory import MeasuredProjection
from robustlda.linalg import Array, fix_signs
from robustlda.solvers import believed


class RobustLDA(MeasuredProjection):
    r"""Linear discriminant analysis that wrong labels and outliers do not spoil.

    A drop-in for scikit-learn's ``LinearDiscriminantAnalysis``: transformer and classifier in one, for any number of
    components, also with more features than samples. First a committee of rules, each judged by samples it has not
    seen, finds out how many labels are wrong and what every sample's true class probably is. Then the projection is
    learned from these beliefs. With :math:`\|v\|_\Sigma = \sqrt{v^\top \Sigma^{-1} v}` it minimizes

    .. math:: 2\ell \sum_j \omega_j \|x_j - \mu_{k(j)}\|_\Sigma
              + n\lambda \operatorname{tr}(\Sigma^{-1} D) + n(1 + \lambda) \log\det\Sigma

    over centers and the scatter of believed classes, and takes the directions in which the centers differ most in
    units of that scatter. Lengths are not squared, as in the paper's objective, so that a sample far from its class
    pulls less. Features of a table, which has at least five samples for each of them, are measured in units of their
    own, so that predictions do not depend on the units they come in. The paper's own method is :class:`RatioLDA`.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the projection, up to the rank of the data; ``n_classes - 1`` if None, which is all that can
        separate the classes. Further ones are principal axes. Predictions do not depend on it.
    decision : {"noise_aware", "centroid", None}, default="noise_aware"
        Rule that predicts. "noise_aware" weighs clouds with latent true labels and a local rule along principal axes,
        linear rules on the features, on steps of those of a table and on terms, by how well they predict labels of
        which some are wrong. "centroid" has robust centers of the believed classes with one shared scatter, in the
        projection alone. None leaves a pure transformer.
    center : {"mean", "median"}, default="mean"
        The point that `transform` subtracts; the (geometric) median withstands outliers.
    leverage : {"bounded", "free"}, default="bounded"
        A single sample far away can turn the projection towards itself, whatever the loss. If "bounded", a sample at
        more than three times the median distance from its class weighs less, by the fourth power of the excess.
        "free" leaves every sample its weight.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities for the decision; the shares in the training data if None.
    store_covariance : bool, default=False
        Whether to keep the covariance within the believed classes, a matrix of features × features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions in the rows, the most discriminant first, in units of the scatter of the believed classes that the
        objective leads to, in which they are round. That scatter comes from lengths that are not squared, and is
        shrunk, so that variances within classes are of the order of 1. The entry of largest magnitude in each is
        positive.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of each direction in the separation of the classes.
    scalings_ : ndarray of shape (n_features, n_components)
        The same as `components_`, transposed, as in scikit-learn.
    center_, xbar_ : ndarray of shape (n_features,)
        What `transform` subtracts; twice, as scikit-learn calls it the latter.
    class_centers_, means_ : ndarray of shape (n_classes, n_features)
        Robust centers of the believed classes; twice for the same reason.
    scale_ : ndarray of shape (n_features,)
        The unit in which every feature was measured, taken from the feature itself; 1 where there are fewer than five
        samples for each feature.
    covariance_ : ndarray of shape (n_features, n_features)
        Robust covariance within the believed classes, if `store_covariance`.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,), or (1, n_features) and (1,)
        With ``decision="centroid"``, the linear scores of `decision_function`; other decisions are not linear.
    objective_path_ : ndarray
        The objective at the start and after every iteration, divided by n; never rises.
    stationarity_ : float
        NaN, as no gradient is computed; a number for :class:`RatioLDA`.
    stop_reason_ : str
        Why the iteration stopped.
    n_iter_ : int
        Iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    priors_ : ndarray of shape (n_classes,)
        Class probabilities the decision uses; with "noise_aware" the estimated true ones, unless given.
    rule_ : object
        The fitted decision rule.
    noise_rate_ : float
        Estimated share of wrong labels, or answers, in the training data.
    transition_ : ndarray of shape (n_classes, n_classes)
        Estimated probability that a sample of the row's class is given the column's label.
    likelihood_path_ : ndarray
        Logarithm of the likelihood of the given labels, with its prior, as rules are weighed; never falls, but for
        several answers per sample, where what is judged is left out.
    annotator_confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        Where y held several answers per sample: estimated probability that this annotator calls a sample of the row's
        class like the column.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X was a DataFrame whose columns have names.

    References
    ----------
    Nie, Wang, Wang, Huang, "Robust linear discriminant analysis using ratio minimization of l1,2-norms", 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import RobustLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustLDA(n_components=2).fit(X, y)
    >>> model.transform(X).shape
    (150, 2)
    >>> bool(model.explained_variance_ratio_[0] > 0.95)
    True
    """

    covariance_: Array

    _reads_parts = True
    _takes_arrays = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        decision: str | None = "noise_aware",
        center: str = "mean",
        leverage: str = "bounded",
        priors: Any = None,
        store_covariance: bool = False,
    ) -> None:
        self.n_components = n_components
        self.decision = decision
        self.center = center
        self.leverage = leverage
        self.priors = priors
        self.store_covariance = store_covariance

    def _asks_committee(self) -> bool:
        return True  # as the projection is learned from beliefs, whatever decides afterwards

    def _most_components(self, samples: Samples) -> tuple[int, str]:
        return samples.rank, f"be at most {samples.rank}, the rank of the centered data"

    def _learn(self, store: Store, checks: Checks, weight: Any) -> FittedDecision | None:
        self.scale_ = self._units(store, weight)
        store = self._in_units(store)
        rows = Rows(store, self.plan.block_rows(store.shape[1]))
        samples, center = self._samples(rows, checks.believed, weight)
        m, priors = self._dimension(samples), self._checked_priors()
        found = self._decide("noise_aware", Training(samples, None, store, center, checks, priors))
        assert found.beliefs is not None
        assert found.label_noise is not None
        labels, belief = believed_classes(found.beliefs, len(self.classes_))
        trust = self._trust(rows, labels, weight) * belief
        again = samples.relabeled(labels, Weights.of(weight, trust))
        result = believed.solve(again, m, doubt=found.label_noise.noise_rate)
        self._keep(result, samples, center)
        directions = self.components_
        self.components_ = fix_signs(directions / self.scale_).astype(center.dtype)
        self.center_, self.class_centers_ = self.center_ * self.scale_, self.class_centers_ * self.scale_
        self._keep_covariance(result, samples)
        self.explained_variance_ratio_ = result.separation / max(result.separation.sum(), np.finfo(float).tiny)
        self._keep_noise(found.label_noise)
        if self.decision == "noise_aware":
            self._keep_rule(found)
        elif self.decision is not None:
            self._keep_rule(self._decide(self.decision, Training(again, directions, store, center, checks, priors)))
        return found

    def _keep_covariance(self, result: believed.Discriminants, samples: Samples) -> None:
        if self.store_covariance:
            basis = samples.space.lift(result.basis) * self.scale_[:, None]
            self.covariance_ = (basis @ result.covariance @ basis.T).astype(self.center_.dtype)

    def _units(self, store: Store, weight: Any) -> Array:
        """The unit of every feature."""
        copies = weight / Weights.of(weight).one
        if not self.plan.is_table(round(copies.sum()), store.shape[1]):
            return np.ones(store.shape[1], store.dtype)
        return feature_units(store, weight, self.plan).astype(store.dtype)

    def _in_units(self, store: Store) -> Store:
        return store if (self.scale_ == 1).all() else scaled(store, 1 / self.scale_)

    def _feature_scale(self) -> Array:
        return self.scale_

    def rule_rows(self, X: Any) -> CenteredRows:
        rows = self._in_units(self._bounded(self.validated_store(X)))
        return CenteredRows(rows, self.center_ / self.scale_, self.plan)

    def _reach(self) -> Array:
        if (self.scale_ == 1).all():
            return super()._reach()
        return np.maximum(self.scale_, np.abs(self.center_)).astype(float)

    @property
    def scalings_(self) -> Array:
        """Directions in the columns."""
        return self.components_.T

    @property
    def xbar_(self) -> Array:
        """The center."""
        return self.center_

    @property
    def means_(self) -> Array:
        """Centers of the classes."""
        return self.class_centers_
