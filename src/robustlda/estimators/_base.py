"""What every discriminant projection shares: validation, transformer and classifier.

W is `components_.T`, here and everywhere: the columns of W in formulas are the rows of `components_` in code.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from robustlda.data import Samples, Store, Weights, as_samples
from robustlda.data.centering import CENTERS, leverage_weights
from robustlda.data.chunked import Blocks
from robustlda.data.columns import class_totals, given_back
from robustlda.data.device import DeviceStore, Place, is_foreign
from robustlda.data.parted import bounded, within_reach
from robustlda.data.parted_input import PartedInput, is_parted
from robustlda.data.store import Rows
from robustlda.decision import RULES, FittedDecision, Rule, Training
from robustlda.decision.answers import Answers
from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.labels import most_probable
from robustlda.decision.rule import CenteredRows, Checks, LinearRule
from robustlda.documentation import Documented
from robustlda.estimators import _validation as validation
from robustlda.linalg import Array, fix_signs, one_thread, softmax
from robustlda.plan import Plan
from robustlda.solvers.result import SolverResult

_LARGEST_MATRIX = 10_000
_DISPATCHES = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 14)  # arrays of other libraries
_FARTHEST = 2.0**100  # times what the training rows were, where every rule has long been sure, and squares are numbers


def _decides(estimator: "DiscriminantProjection") -> bool:
    if estimator.decision is None:
        raise AttributeError(
            f"{type(estimator).__name__}(decision=None) only projects; choose a `decision` rule to predict."
        )
    return True


class DiscriminantProjection(
    Documented, ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """Base of the estimators: a subclass says what W is in `_solve`, and how many columns it has by default.

    `plan` holds all thresholds of the computation; tests and benchmarks give an estimator another one.
    """

    n_components: int | None
    decision: str | None
    priors: Any
    center: str = "mean"
    leverage: str = "free"
    plan: Plan = Plan()
    rule_: Rule
    _peak: float  # the largest number in X
    _needs_matrix = True  # of features × features, in `_solve`
    _reads_parts = False  # whether rows may be somewhere else
    _takes_arrays = False  # whether they may be in an array of another library

    def _solve(self, samples: Samples, n_components: int) -> SolverResult:
        raise NotImplementedError

    def _trust(self, rows: Rows, labels: Any, weight: Any) -> Any:
        """What a sample may contribute to the projection, as a factor of its weight."""
        if self.leverage == "free":
            return 1.0 + 0.0 * weight
        return leverage_weights(rows, labels, weight, len(self.classes_))

    def _default_components(self, n_classes: int) -> int:
        return n_classes - 1

    def _most_components(self, samples: Samples) -> tuple[int, str]:
        """The largest dimension that may be asked for, and why."""
        rank = samples.rank
        return max(rank - 1, 1), f"be below the rank of the centered data, which is {rank}, to leave a choice"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, verified: Any = None) -> Self:
        """Find the projection, and the class model in it.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Training samples: an array, a DataFrame of any kind, a sparse matrix, which is not made dense unless that
            takes less than 32 MB, or a memory-mapped array or another `robustlda.data.Store`, which are read block by
            block. An array of another library stays where it is, with scikit-learn's `array_api_dispatch`, if the
            estimator says that it takes such arrays. How samples are stored does not change the answer.
        y : array-like of shape (n_samples,) or (n_samples, n_annotators)
            Class labels of any type, right or wrong. Or the answers of several people about each sample, with None or
            NaN (in an array of integers, −1) where someone was not asked.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers count copies: a weight of 2 is a sample given twice, a weight of 0 one not given. If any of
            them is not whole, weights compare samples with each other: they are divided by their mean, and belong to
            one sample each. Where samples are judged without themselves, one copy is left out, or the whole sample.
        verified : {mask, dict, array-like}, default=None
            What a person has checked: a mask of the samples whose labels are right, a dict from row to right label, or
            an array of right labels with None or NaN where nobody has looked. Such labels are learned in place of the
            given ones, and teach the model of label noise.

        Returns
        -------
        self : object
        """
        fit_decision(self, X, y, sample_weight, verified)
        self._follow(validation.place_of(X), validation.place_of(y))
        return self

    def fit_blocks(self, source: Any, verified: Any = None) -> Self:
        """Fit to rows that are read in blocks, several times, and are never in memory together.

        Parameters
        ----------
        source : callable or iterable
            A function that returns an iterator over pairs of rows and labels, or triples with weights; or a list or
            another object that can be iterated over again and again. Blocks may have any size.
        verified : {mask, dict, array-like}, default=None
            What a person has checked, as in `fit`, by the number of the row.

        Returns
        -------
        self : object
        """
        fit_decision(self, source if is_parted(source) else Blocks(source), None, verified=verified)
        return self

    def _check_parameters(self) -> None:
        validation.check_whole("n_components", self.n_components, none=True)
        validation.check_choice("decision", self.decision, (*RULES, None))
        validation.check_choice("center", self.center, CENTERS)
        validation.check_choice("leverage", self.leverage, ("bounded", "free"))

    def _check_training(self, X: Any, y: Any, sample_weight: Any, verified: Any) -> tuple[Store, Checks, Array]:
        """Rows, class indices and weights of the samples that count."""
        if is_parted(X):
            return self._check_parts(X, y, sample_weight, verified)
        store, y = validation.validated_training(self, X, y, self.plan)
        weight = np.ones(len(y)) if sample_weight is None else validation.checked_weight(sample_weight, len(y))
        counts = np.flatnonzero(weight)
        if len(counts) < len(weight):
            store = store.kept(counts) if isinstance(store, DeviceStore) else store.take(counts)
        self.classes_, given, answers = _understood(y[counts], weight[counts])
        if len(self.classes_) < 2:
            raise ValueError(validation.one_class(self, self.classes_[0]))
        if verified is None:
            return store, Checks(given, np.full(len(counts), -1), answers), weight[counts]
        labels = np.full(len(weight), None, object)
        labels[counts] = self.classes_[given].tolist()
        found = validation.verified_labels(verified, labels)[counts]
        checks = Checks(given, validation.class_indices(found, self.classes_), answers)
        lost = np.setdiff1d(np.arange(len(self.classes_)), checks.believed)
        if len(lost):
            raise ValueError(_nobody_left(self.classes_[lost[0]]))
        return store, checks, weight[counts]

    def _check_parts(self, X: Any, y: Any, sample_weight: Any, verified: Any) -> tuple[Store, Checks, Any]:
        """The same of rows in parts."""
        if not self._reads_parts:
            raise TypeError(validation.needs_memory(self))
        found = validation.parted_training(self, X, y, sample_weight, verified=verified)
        self.classes_, given = validation.parted_classes(self, found)
        known = validation.parted_verified(verified, found, given, self.classes_)
        checks = Checks(given, known)
        lost = np.flatnonzero(class_totals(checks.believed, 1.0 + 0.0 * given, len(self.classes_)) == 0)
        if len(lost):
            raise ValueError(_nobody_left(self.classes_[lost[0]]))
        weight = 1.0 + 0.0 * given if found.weight is None else found.weight.keep()
        return found.store, checks, weight

    def _learn(self, store: Store, checks: Checks, weight: Array) -> FittedDecision | None:
        """The projection, and in it the decision; what the latter found out about labels is returned."""
        rows = Rows(store, self.plan.block_rows(store.shape[1]))
        samples, center = self._samples(rows, checks.believed, weight)
        self._keep(self._solve(samples, self._dimension(samples)), samples, center)
        if self.decision is None:
            return None
        decision = self._decide(
            self.decision, Training(samples, self.components_, store, center, checks, self._checked_priors())
        )
        self._keep_rule(decision)
        if decision.label_noise is not None:
            self._keep_noise(decision.label_noise)
        return decision

    def _samples(self, rows: Rows, labels: Array, weight: Array) -> tuple[Samples, Array]:
        """The rows about their center, and the center."""
        weights = Weights.of(weight, self._trust(rows, labels, weight))
        center = CENTERS[self.center](rows, weights.trusted)
        samples = as_samples(rows.store, labels, weights, center, len(self.classes_), self.plan)
        self._check_spread(samples)
        return samples, center

    def _decide(self, name: str, training: Training) -> FittedDecision:
        decision = RULES[name].fit(training)
        if not isinstance(decision, FittedDecision):
            raise TypeError(f"decision={name!r} was fitted to a {type(decision).__name__}, not a FittedDecision.")
        return decision

    def _checked_priors(self) -> Array | None:
        return None if self.priors is None else validation.checked_priors(self.priors, len(self.classes_))

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

    def _keep(self, result: SolverResult, samples: Samples, center: Array) -> None:
        """Fitted attributes of the projection."""
        dtype = center.dtype
        self.components_ = fix_signs(samples.space.lift(result.W).T).astype(dtype)
        self.center_ = center
        self.class_centers_ = (center + samples.space.lift(result.centers.T).T).astype(dtype)
        self.objective_path_ = result.history
        self.stationarity_ = result.stationarity
        self.stop_reason_ = result.stop.reason
        self.n_iter_ = max(1, result.n_iter)
        self._n_features_out = len(self.components_)

    def _keep_rule(self, decision: FittedDecision) -> None:
        """Fitted attributes of the decision."""
        self.rule_, self.priors_ = decision.rule, decision.rule.priors

    def _keep_noise(self, noise: LabelNoise) -> None:
        """What was found out about labels."""
        self.noise_rate_, self.transition_, self.likelihood_path_ = noise.noise_rate, noise.transition, noise.likelihood
        if noise.annotators is not None:
            self.annotator_confusion_ = noise.annotators

    def _follow(self, place: Place | None, of_labels: Place | None) -> None:
        """Take what was fitted to where X is, and the classes to where y is."""
        for name, value in self._fitted_arrays(np.ndarray):
            target = of_labels if name == "classes_" else place
            if target is not None:
                setattr(self, name, target.answer(value))

    def _fitted_arrays(self, *kinds: type) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in vars(self).items() if name.endswith("_") and isinstance(value, kinds)]

    def to_numpy(self) -> Self:
        """The same fitted model with arrays of NumPy, for rows in memory, model files and ONNX.

        Where `fit` was given an array of another library and scikit-learn's `array_api_dispatch` was on, fitted arrays
        are of that library, and so must be rows to predict. Of any other model this is the model itself.

        Returns
        -------
        model : object
        """
        foreign = [(name, value) for name, value in self._fitted_arrays(object) if is_foreign(value)]
        if not foreign:
            return self
        model = copy(self)
        for name, value in foreign:
            setattr(model, name, validation.in_numpy(value))
        return model

    def transform(self, X: Any) -> Any:
        """Coordinates of the centered samples in the projection.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray or DataFrame of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        place, model = validation.check_same_place(self, "transform", X, self.components_), self.to_numpy()
        store = self.validated_store(X)
        # The offset is taken after the product: one small vector instead of a centered copy of X.
        W, offset = model.components_.T, model.center_ @ model.components_.T
        if place is not None and isinstance(store, DeviceStore):
            return store.coordinates(W, offset)
        rows = Rows(store, self.plan.block_rows(self.n_features_in_))
        like = np.empty((0, W.shape[1]), W.dtype)
        return given_back(rows.lazily(lambda block: (block.times(W) - offset,)), like)

    def validated_store(self, X: Any) -> Store:
        """Rows that the fitted model can be asked about."""
        self._check_arrays(X)
        return validation.validated_store(self, X, self.plan)

    def _check_arrays(self, X: Any) -> None:
        if not self._takes_arrays and validation.place_of(X) is not None:
            raise TypeError(validation.needs_numpy(self))

    def rule_rows(self, X: Any) -> CenteredRows:
        """Rows as the decision rule knows them."""
        return CenteredRows(self._bounded(self.validated_store(X)), self.center_, self.plan)

    def _bounded(self, store: Store) -> Store:
        """The same rows, but that a row farther away than anybody has been is asked about on the way there."""
        return bounded(store, _FARTHEST * self._reach())

    def rule_frame(self) -> tuple[Array, Array, Array]:
        """What `rule_rows` does to rows of numbers in double precision, feature by feature, for those who repeat it.

        The sizes beyond which a row is shortened, the factors that bring features to their units, and the center.
        """
        check_is_fitted(self)
        scale = np.broadcast_to(self._feature_scale(), self.center_.shape)
        return within_reach(_FARTHEST * self._reach(), np.dtype(float)), 1 / scale, self.center_ / scale

    def _reach(self) -> Array:
        """The size of the numbers that the model has seen, of every feature."""
        return np.full(self.n_features_in_, self._peak)

    def _of_scores(self, method: str, X: Any, function: Callable[[Array], Array]) -> Any:
        """A function of the scores of every block of rows, where the rows are."""
        check_is_fitted(self, "rule_")
        place = validation.check_same_place(self, method, X, self.components_)
        rule, rows = self.rule_, self.to_numpy().rule_rows(X)
        like = function(np.zeros((1, self.classes_.shape[0])))[:0]
        found = given_back(rows.lazily(lambda block: (function(rule.scores(block)),)), like)
        return found if place is None else place.answer(found)

    @available_if(_decides)
    def predict(self, X: Any) -> Array:
        """The most probable class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        classes = validation.in_numpy(self.classes_)
        return self._of_scores("predict", X, lambda scores: classes[scores.argmax(axis=1)])

    @available_if(_decides)
    def predict_proba(self, X: Any) -> Array:
        """Probability of every class, in the order of `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
        """
        return self._of_scores("predict_proba", X, _probabilities)

    @available_if(_decides)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of the probability of every class, in the order of `classes_`.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_P : ndarray of shape (n_samples, n_classes)
        """
        return self._of_scores("predict_log_proba", X, partial(log_softmax, axis=1))

    @available_if(_decides)
    def decision_function(self, X: Any) -> Array:
        """Logarithm of prior times density per class; with two classes, the second's minus the first's.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
        """
        check_is_fitted(self)
        return self._of_scores("decision_function", X, _differences if self.classes_.shape[0] == 2 else np.asarray)

    @available_if(_decides)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples whose predicted class is the given one.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array, store} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each of them counts; all alike if None.

        Returns
        -------
        accuracy : float
        """
        if is_parted(X):
            found = validation.parted_training(self, X, y, sample_weight, reset=False)
            classes, rule = self.classes_, self.rule_
            validation.check_comparable(found, classes)
            right = self.rule_rows(found.store).lazily(
                lambda block, y: (classes[rule.scores(block).argmax(axis=1)] == y,), found.labels
            )
            weight = 1.0 + 0.0 * right if found.weight is None else found.weight
            return (weight * right).sum() / weight.sum()
        if validation.place_of(X) is None and validation.place_of(y) is None:
            return super().score(X, y, sample_weight)
        predicted, y, sample_weight = map(validation.in_numpy, (self.predict(X), y, sample_weight))
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    @property
    def coef_(self) -> Array:
        """Slopes of the scores of `decision_function`, where these are linear."""
        return self._beside_components(self.to_numpy()._linear_scores()[0])

    @property
    def intercept_(self) -> Array:
        """What the scores of `decision_function` add to them."""
        return self._beside_components(self.to_numpy()._linear_scores()[1])

    def _beside_components(self, values: Array) -> Any:
        """Numbers where the other fitted ones are."""
        return Place.of(self.components_).array(values) if is_foreign(self.components_) else values

    def _linear_scores(self) -> tuple[Array, Array]:
        check_is_fitted(self)
        rule = getattr(self, "rule_", None)
        if not isinstance(rule, LinearRule):
            raise AttributeError(
                f"{type(self).__name__}(decision={self.decision!r}) has no coef_ and no intercept_, as its decision is "
                "not linear in the features; decision='centroid' is."
            )
        coef, intercept = rule.linear_scores()
        coef = coef / self._feature_scale()
        intercept = intercept - coef @ self.center_
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return coef.astype(self.center_.dtype), intercept.astype(self.center_.dtype)

    def _feature_scale(self) -> Array | float:
        """Units of the features, as the decision rule knows them."""
        return 1.0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self._takes_arrays and _DISPATCHES
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        if self.decision is None:
            tags.estimator_type = "transformer"
            tags.classifier_tags = None
        return tags


def _nobody_left(label: Any) -> str:
    return f"No sample is left in class {label} after the verified labels; leave out its samples."


def _probabilities(scores: Array) -> Array:
    return np.ascontiguousarray(softmax(scores))


def _differences(scores: Array) -> Array:
    return np.asarray(scores[:, 1] - scores[:, 0])


def fit_decision(
    model: DiscriminantProjection, X: Any, y: Any, sample_weight: Any = None, verified: Any = None
) -> FittedDecision | None:
    """Fit the model; what its rule believes about the training labels is returned, as the model does not keep it."""
    model._check_parameters()
    model._check_arrays(X)
    trial = _unfitted(model)
    # What is known of rows is small, and needed where solvers and decisions are.
    y, sample_weight, verified = map(validation.in_numpy, (y, sample_weight, verified))
    store, checks, weight = trial._check_training(X, y, sample_weight, verified)
    with one_thread() if trial.plan.is_small(*store.shape) else nullcontext():
        decision = _learned(trial, store, checks, weight)
    _adopt(model, trial)
    return decision


def _learned(trial: DiscriminantProjection, store: Store, checks: Checks, weight: Any) -> FittedDecision | None:
    decision = trial._learn(store, checks, weight)
    if checks.answers is not None and decision is not None and decision.beliefs is not None:
        # What the features say about the answers is a better start than what the answers said alone.
        decision = trial._learn(store, replace(checks, given=most_probable(decision.beliefs)), weight)
    return decision


def _unfitted(model: DiscriminantProjection) -> DiscriminantProjection:
    """A copy without what an earlier fit has left."""
    trial = copy(model)
    for name in [name for name in vars(trial) if name.endswith("_")]:
        delattr(trial, name)
    return trial


def _adopt(model: DiscriminantProjection, trial: DiscriminantProjection) -> None:
    """What a copy has learned; so that a fit that fails leaves a model as it was."""
    model.__dict__ = trial.__dict__


def fit_parts(
    model: DiscriminantProjection, found: PartedInput, verified: Mapping[int, Any] | None
) -> tuple[FittedDecision, Checks]:
    """Fit the model to rows in parts; what it believes about them is returned, and what it learned from."""
    model._check_parameters()
    trial = _unfitted(model)
    store, checks, weight = trial._check_parts(found, None, None, verified)
    decision = trial._learn(store, checks, weight)
    assert decision is not None
    _adopt(model, trial)
    return decision, checks


def _understood(y: Array, weight: Array) -> tuple[Array, Array, Answers | None]:
    """Classes, the index of each sample's class, and where several people were asked their answers."""
    if y.ndim == 1:
        classes, given = np.unique(y, return_inverse=True)
        return classes, given, None
    answers = [answer for answer in y.ravel().tolist() if answer is not None]
    validation.check_labels(np.array([*answers, None], object)[:-1])  # an array of the answers as they are
    classes = np.unique(np.array(answers))
    return classes, *labels_and_answers(y, classes, weight)


def labels_and_answers(y: Array, classes: Array, weight: Array | None = None) -> tuple[Array, Answers | None]:
    """Index of each sample's class among known classes, and where several people were asked their answers."""
    indices = validation.class_indices(y.ravel(), classes).reshape(y.shape)
    if y.ndim == 1:
        return indices, None
    weight = np.ones(len(y)) if weight is None else weight
    answers = Answers.of(indices, weight, Weights.of(weight).one, len(classes)).with_strength()
    return most_probable(answers.beliefs()), answers
