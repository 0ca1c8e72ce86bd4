"""Evidence from any classifier, by cross-validation, and from probabilities that somebody else has held out.

A classifier has learned the labels it was fitted to, wrong ones included, so only what it says about other samples
counts. Samples of every class are dealt out to folds one after the other, so a class of fewer samples than folds is
missing in none of the fits, unless it has one sample only. Without it nothing is known of its class, and its label is
left alone, as the committee leaves it.
"""

from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_random_state

from robustlda.audit import picture
from robustlda.audit.evidence import Evidence, names_out
from robustlda.decision import held_out
from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.labels import Labels
from robustlda.decision.rule import Checks
from robustlda.linalg import Array

_AGREE = 0.7  # of predictions with the largest score, where scores are those of classes

SEED = 0
"""Of the folds, if no random state is given: an audit says the same every time."""


def by_classifier(
    estimator: Any, X: Any, classes: Array, checks: Checks, cv: Any, n_resamples: int, random_state: Any
) -> Evidence:
    """Beliefs from held-out probabilities of a classifier; with resamples, the mean over other folds as well."""
    X = _indexable(X)
    check_classifier(estimator)
    cv = _for_every_pass(cv, n_resamples)
    rng = check_random_state(SEED if random_state is None else random_state)
    labels = as_labels(checks, len(classes))

    def explained() -> LabelNoise:
        P = held_out_probabilities(estimator, X, classes, labels, cv, rng)
        return held_out.explain_probabilities(P, labels, checks.answers)

    noise = explained()
    beliefs, again = noise.beliefs, [explained() for _ in range(n_resamples)]
    if again:
        beliefs = (beliefs + np.mean([each.beliefs for each in again], axis=0)) / 2
    model = clone(estimator).fit(X, classes[checks.believed])
    rows, features = numeric_rows(model, X)
    measuring = picture.ruler(rows, beliefs)
    rates = [each.noise_rate for each in again]
    return Evidence(model, classes, beliefs, noise, rates, measuring, rows, features)


def by_probabilities(P: Array, X: Any, classes: Array, checks: Checks) -> Evidence:
    """Beliefs from probabilities that were held out elsewhere; X, if there is one, is only drawn."""
    noise = held_out.explain_probabilities(P, as_labels(checks, len(classes)), checks.answers)
    measuring = None if X is None else picture.ruler(X, noise.beliefs)
    features = getattr(measuring, "feature_names_in_", None)
    return Evidence(None, classes, noise.beliefs, noise, [], measuring, X, features)


def as_labels(checks: Checks, n_classes: int) -> Labels:
    """Every sample counts as one."""
    ones = np.ones(len(checks.given))
    return Labels(checks.given, ones, ones, checks.known, n_classes)


def held_out_probabilities(estimator: Any, X: Any, classes: Array, labels: Labels, cv: Any, rng: Any) -> Array:
    """Probability of every class for every sample, from classifiers that were fitted without it."""
    to_learn = np.where(labels.checked, labels.known, labels.given)
    folds = deal(X, to_learn, int(cv), rng) if isinstance(cv, int | np.integer) else cv
    said = cross_val_predict(_Scores(estimator, classes), X, classes[to_learn], cv=folds, method="predict")
    unseen = np.isnan(said)
    if not hasattr(estimator, "predict_proba"):
        alone_known = (~unseen).sum(axis=1, keepdims=True) == 1  # and more probable than what is not
        lowest = np.nanmin(said, axis=1, keepdims=True) - alone_known
        P = held_out.from_scores(np.where(unseen, lowest, said), labels)
    else:  # of a class that a fit has not seen, its share in the data is all that is known
        guess = np.where(unseen, np.bincount(to_learn, minlength=len(classes)) / len(to_learn), 0)
        P = guess + np.nan_to_num(said) * (1 - guess.sum(axis=1, keepdims=True))
    alone = unseen[np.arange(len(P)), to_learn]
    P[alone] = np.eye(len(classes))[to_learn[alone]]
    return P


class _Scores(BaseEstimator):
    """A classifier whose predictions are probabilities, or scores, of all classes; NaN for those it has not seen."""

    def __init__(self, estimator: Any, classes: Array) -> None:
        self.estimator = estimator
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        # Most classifiers refuse a single class, which is what is left where the other has one sample.
        self.estimator_ = clone(self.estimator).fit(X, y) if len(self.classes_) > 1 else None
        return self

    def predict(self, X: Any) -> Array:
        model = self.estimator_
        if model is None:
            found = np.full((np.shape(X)[0], len(self.classes)), np.nan)
            found[:, np.searchsorted(self.classes, self.classes_)] = 1
            return found
        probable = hasattr(model, "predict_proba")
        said = np.asarray(model.predict_proba(X) if probable else model.decision_function(X))
        if said.ndim == 1:
            said = np.column_stack([-said, said]) / 2
        needed = "an audit needs one for each class, such as those of decision_function_shape='ovr'."
        if said.shape[1] != len(model.classes_):
            raise ValueError(
                f"{type(model).__name__} has {said.shape[1]} scores for {len(model.classes_)} classes; {needed}"
            )
        # Three classes have three pairs. Scores of pairs show by what the classifier itself makes of them.
        if said.shape[1] == 3 and not probable and not _are_of_classes(said, model, X):
            raise ValueError(
                f"{type(model).__name__} predicts other classes than those of its largest scores; {needed}"
            )
        if not np.isfinite(said).all():
            raise ValueError(f"{type(model).__name__} gave scores that are NaN or infinite, of which nothing follows.")
        found = np.full((len(said), len(self.classes)), np.nan)
        found[:, np.searchsorted(self.classes, model.classes_)] = said
        return found


def _are_of_classes(scores: Array, model: Any, X: Any) -> bool:
    """Whether the class of the largest score is what the classifier predicts, but for ties and the like."""
    largest = np.asarray(model.classes_)[scores.argmax(axis=1)]
    return bool((largest == np.asarray(model.predict(X))).mean() >= _AGREE)


def deal(X: Any, labels: Array, n_folds: int, rng: Any) -> list[tuple[Array, Array]]:
    """Stratified folds, as pairs of rows to fit to and rows to predict.

    Samples are dealt out in the order of a random direction, where they are numbers: so folds do not depend on the
    order of the rows.
    """
    order = _random_order(X, len(labels), rng)
    by_class = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), int)
    fold[by_class] = np.arange(len(labels)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds) if (fold == k).any()]


def _random_order(X: Any, n: int, rng: Any) -> Array:
    try:
        rows = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    except (TypeError, ValueError):
        return np.asarray(rng.permutation(n))
    place = np.asarray(rows @ rng.standard_normal(rows.shape[1])).ravel()
    return np.argsort(np.nan_to_num(place), kind="stable")


def check_classifier(estimator: Any) -> None:
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise TypeError(f"LabelAudit needs a scikit-learn classifier, not {estimator!r}.")
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise TypeError(
            f"LabelAudit needs a classifier with predict_proba or decision_function; {estimator!r} has neither."
        )


def check_folds(cv: Any) -> None:
    whole = isinstance(cv, int | np.integer) and not isinstance(cv, bool) and cv >= 2
    if isinstance(cv, str) or not (whole or hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ValueError(
            f"cv={cv!r} must be a whole number of at least 2, a splitter, or pairs of train and test rows."
        )


def _for_every_pass(cv: Any, n_resamples: int) -> Any:
    """Folds that can be gone through more than once, which a generator gives only once."""
    if hasattr(cv, "split") or not hasattr(cv, "__iter__"):
        return cv
    if n_resamples:
        raise ValueError(
            f"n_resamples={n_resamples} needs other folds every time, but cv holds the folds themselves; pass a number "
            "of folds or a splitter, or n_resamples=0."
        )
    folds = list(cv)
    if not folds:
        raise ValueError("cv holds no folds, perhaps a generator that was used before; pass a list of them.")
    return folds


def _indexable(X: Any) -> Any:
    """Rows of which scikit-learn can take some: an Arrow table becomes a DataFrame, or without pandas an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not (isinstance(frame, nw.DataFrame) and frame.implementation.is_pyarrow()):
        return X
    try:
        return frame.to_pandas()
    except ImportError:
        return frame.to_numpy()


def numeric_rows(model: Any, X: Any) -> tuple[Any, Array | None]:
    """Features as the last step of a fitted pipeline sees them, or as they are; and their names, if they have any."""
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return model[:-1].transform(X), names_out(model[:-1])
    return X, getattr(model, "feature_names_in_", None)
