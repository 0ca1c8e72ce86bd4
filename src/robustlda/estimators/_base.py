"""What every discriminant projection shares: validation, transformer and classifier.

W is `components_.T`, here and everywhere: the columns of W in formulas are the rows of `components_` in code.
"""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from robustlda.decision import centroid, noise_aware
from robustlda.linalg import Array, fix_signs
from robustlda.samples import Samples, hold
from robustlda.samples import center as center_of
from robustlda.samples.center import CENTERS
from robustlda.solvers._result import SolverResult

_DTYPES = (np.float64, np.float32)
_LARGEST_MATRIX = 10_000
DECISIONS = ("noise_aware", "centroid", None)


def _decides(estimator: "DiscriminantProjection") -> bool:
    if estimator.decision is None:
        raise AttributeError(
            f"{type(estimator).__name__}(decision=None) only projects; choose a `decision` rule to predict."
        )
    return True


class DiscriminantProjection(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: a subclass says what W is in `_solve`, and how many columns it has by default."""

    n_components: int | None
    decision: str | None
    priors: Any
    center: str = "mean"
    _rule: centroid.CentroidRule | noise_aware.NoiseAwareRule
    _needs_matrix = True  # of features × features, in `_solve`

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        raise NotImplementedError

    def _trust(self, X: Any, labels: Array, weight: Array) -> Array | float:
        """What the weight of each sample is multiplied by."""
        return 1.0

    def _default_components(self, n_classes: int) -> int:
        return n_classes - 1

    def _most_components(self, samples: Samples) -> tuple[int, str]:
        """The largest dimension that may be asked for, and why."""
        rank = samples.rank
        return max(rank - 1, 1), f"be below the rank of the centred data, which is {rank}, to leave a choice"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the projection, and the class model in it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples: an array, a DataFrame of any kind, or a sparse matrix, which is not made
            dense unless that takes less than 32 MB.
        y : array-like of shape (n_samples,)
            Class labels of any type, right or wrong.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as a sample given twice, a weight of 0 as one not given.

        Returns
        -------
        self : object
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Array | None:
        """Fit; what the noise-aware rule believes about the training labels, which the model does not keep."""
        self._check_parameters()
        X, labels, weight = self._check_data(X, y, sample_weight)
        weight = weight * self._trust(X, labels, weight)
        center = CENTERS[self.center](X, weight)
        samples = hold(X, labels, weight, center, len(self.classes_))
        self._check_spread(samples)
        m = self._dimension(samples)
        result = self._solve(samples, m)
        self._store(result, samples, center)
        return None if self.decision is None else self._fit_rule(X, samples)

    def _fit_rule(self, X: Array, samples: Samples) -> Array | None:
        priors = None if self.priors is None else np.asarray(self.priors, float)
        beliefs = None
        if self.decision == "centroid":
            self._rule = centroid.fit(self._project(X), samples.labels, samples.weight, samples.n_classes, priors)
        else:
            self._rule, beliefs = noise_aware.fit(X, self.components_, samples, self.center_, priors)
            self.noise_rate_ = self._rule.noise_rate
            self.transition_ = self._rule.transition
            self.likelihood_path_ = self._rule.likelihood
        self.priors_ = self._rule.priors
        return beliefs

    def _check_parameters(self) -> None:
        if self.n_components is not None and not _is_whole(self.n_components):
            raise ValueError(f"n_components={self.n_components!r} must be a whole number of at least 1, or None.")
        if self.decision not in DECISIONS:
            raise ValueError(f"decision={self.decision!r} must be one of {', '.join(map(repr, DECISIONS))}.")
        if self.center not in CENTERS:
            raise ValueError(f"center={self.center!r} must be one of {', '.join(map(repr, CENTERS))}.")

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=_DTYPES, ensure_min_samples=2)
        check_classification_targets(y)
        _check_size(X)
        weight = np.ones(len(y)) if sample_weight is None else _checked_weight(sample_weight, len(y))
        if not weight.all():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 classes, but y holds only one class: {self.classes_[0]}."
            )
        if self.priors is not None:
            _check_priors(self.priors, len(self.classes_))
        return X, labels, weight

    def _check_spread(self, samples: Samples) -> None:
        if self._needs_matrix and samples.dim > _LARGEST_MATRIX:
            raise ValueError(
                f"{type(self).__name__} needs a matrix of features × features, {samples.dim**2 * 8 / 1e9:.0f} GB for "
                f"{samples.dim} features. Reduce them first, for example with TruncatedSVD, or use RobustLDA."
            )
        if samples.rank == 0:
            raise ValueError("All samples are identical, so there is no direction in which classes could differ.")

    def _dimension(self, samples: Samples) -> int:
        """The number of components: the default or the whole row space, unless asked otherwise."""
        c = len(self.classes_)
        if self.n_components is None:
            return min(self._default_components(c), samples.rank)
        most, bound = self._most_components(samples)
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} must {bound}. "
                f"Use n_components={most} or fewer, or None for the default."
            )
        return int(self.n_components)

    def _store(self, result: SolverResult, samples: Samples, center: Array) -> None:
        dtype = center.dtype
        self.components_ = fix_signs(samples.lift(result.W).T).astype(dtype)
        self.center_ = center
        self.class_centers_ = (center + samples.lift(result.centers.T).T).astype(dtype)
        self.objective_path_ = result.history
        self.stationarity_ = result.stationarity
        self.stop_reason_ = result.reason
        self.n_iter_ = max(1, result.n_iter)
        self._n_features_out = len(self.components_)

    def _project(self, X: Array) -> Array:
        # The offset is taken after the product: one small vector instead of a centred copy of X.
        return X @ self.components_.T - self.center_ @ self.components_.T

    def _coordinates(self, X: Array) -> Array:
        """What the decision sees: the projection, unless the rule has axes of its own."""
        if isinstance(self._rule, centroid.CentroidRule):
            return self._project(X)
        return X @ self._rule.axes.T - self.center_ @ self._rule.axes.T

    def transform(self, X: Any) -> Any:
        """Coordinates of the centred samples in the projection.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray or DataFrame of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._project(validate_data(self, X, accept_sparse="csr", dtype=_DTYPES, reset=False))

    def _distances(self, X: Any) -> tuple[Array, Array, Array]:
        """Squared distances of samples from every class in the space of the rules, and from that space itself.

        Third, their coordinates in the plane in which the classes differ most.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=_DTYPES, reset=False)
        Z = self._coordinates(X).astype(float)
        lengths = center_of.squared_distances(X, self.center_.astype(float))
        outside = lengths - np.einsum("ij,ij->i", Z, Z)
        # Where the projection is the whole space, only rounding errors are left.
        outside = np.where(outside > 1e-9 * lengths, outside, 0)
        assert isinstance(self._rule, noise_aware.NoiseAwareRule)
        return self._rule.distances(Z), outside, self._rule.plane(Z)

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=_DTYPES, reset=False)
        return self._rule.scores(X, self._coordinates(X))

    @available_if(_decides)
    def predict(self, X: Any) -> Array:
        """The most probable class of each sample."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    @available_if(_decides)
    def predict_proba(self, X: Any) -> Array:
        """Probability of every class, in the order of `classes_`."""
        return softmax(self._scores(X), axis=1)

    @available_if(_decides)
    def decision_function(self, X: Any) -> Array:
        """Logarithm of prior times density per class; with two classes, the second's minus the first's."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_decides)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples whose predicted class is the given one."""
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        if self.decision is None:
            tags.estimator_type = "transformer"
            tags.classifier_tags = None
        return tags


def _check_size(X: Array) -> None:
    """Squares of the data, and squares of those, must be numbers."""
    limit = 1e15 if X.dtype == np.float32 else 1e75
    peak = max(X.max(), -X.min())
    if peak > limit or 0 < peak < 1 / limit:
        raise ValueError(
            f"The largest number in X is {peak:.1e}, outside of {1 / limit:.0e} to {limit:.0e}, where {X.dtype} "
            "arithmetic is safe. Change the units, for example with StandardScaler."
        )


def _checked_weight(sample_weight: Any, n: int) -> Array:
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}, but there are {n} samples: give one number each.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight holds {weight.min():g}; a weight must not be negative.")
    if not weight.any():
        raise ValueError("All sample weights are zero; at least two classes need a positive weight.")
    return weight


def _is_whole(value: Any) -> bool:
    """Whether the value is a whole number of at least 1; True is not meant as one."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _check_priors(priors: Any, n_classes: int) -> None:
    try:
        priors = np.asarray(priors, float)
    except (TypeError, ValueError):
        raise ValueError(f"priors={priors!r} must be {n_classes} numbers with sum 1, or None.") from None
    if priors.shape != (n_classes,) or (priors < 0).any() or not np.isclose(priors.sum(), 1):
        raise ValueError(f"priors must be {n_classes} non-negative numbers with sum 1, one for each class.")
