"""`LabelAudit`: one robust fit, and for every sample how probable it is that its label is wrong."""

from dataclasses import astuple
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Self, cast

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from robustlda.audit import farness, parted_audit
from robustlda.data.parted_input import is_parted
from robustlda.data.store import Block, Rows
from robustlda.decision.answers import Answers
from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.rule import Distances, FittedDecision, Measuring
from robustlda.estimators import (
    answer_table,
    check_whole,
    class_indices,
    fit_decision,
    fit_parts,
    has_answers,
    verified_labels,
)
from robustlda.estimators.robust import RobustLDA
from robustlda.linalg import Array
from robustlda.output import replacing

OUTLYING = 4.0
"""Robust z-value of the distance from the nearest class beyond which a sample belongs to none: one in 30 000."""

_WORTH_NAMING = 0.2  # correlation
_ALIKE = 1e-5  # difference of probabilities that rounding, or a digit of the data that means nothing, may make


class LabelAudit(BaseEstimator):
    """Find wrong labels and outliers.

    Every sample is judged by rules that were fitted without it, so no further cross-validation is needed. The
    probability that a label is wrong takes into account how many labels seem to be wrong, between which classes.

    Parameters
    ----------
    estimator : RobustLDA, default=None
        The model that is fitted; it needs ``decision="noise_aware"``. ``RobustLDA()`` if None.
    max_false_alarm : float, default=0.05
        Share of right labels among the flagged ones that is tolerated.
    n_resamples : int, default=0
        Further fits with random weights of the samples, for small data: beliefs are averaged, half of the weight
        staying with the fit to the data as they are, and the noise rate's interval covers the fits. Ten are enough.
    random_state : int, RandomState instance or None, default=None
        For these weights.

    Attributes
    ----------
    estimator_ : RobustLDA
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    ids_ : ndarray of shape (n_samples,)
        What each sample is called: as given, or its row, from 0.
    given_, suggested_ : ndarray of shape (n_samples,)
        The label a sample has, and the one its features suggest.
    probability_wrong_ : ndarray of shape (n_samples,)
        Probability that the given label is wrong.
    farness_ : ndarray of shape (n_samples,)
        Share of a class that is nearer to its center than this sample is to that of its given class.
    farness_any_ : ndarray of shape (n_samples,)
        The same for the nearest class, and for what lies outside of the projection.
    outlyingness_ : ndarray of shape (n_samples,)
        The robust z-value behind `farness_any_`.
    plane_ : ndarray of shape (n_samples, 2)
        Coordinates in which the believed classes differ most, to draw the samples.
    plane_axes_ : tuple of two str
        What they are, and their shares in the separation of the classes.
    plane_loadings_ : ndarray of shape (2, n_features)
        Correlation of every feature with the two coordinates.
    feature_names_ : ndarray of shape (n_features,)
        What the features are called: as given, the columns of a DataFrame, or x0, x1 and so on.
    finding_ : ndarray of shape (n_samples,)
        "mislabelled", "outlying" (far from every class, whatever its label), or "" for neither.
    rank_ : ndarray of shape (n_samples,)
        1 for the most suspicious label.
    verified_ : ndarray of bool of shape (n_samples,)
        Which labels a person had checked.
    noise_rate_ : float
        Estimated share of wrong labels.
    noise_interval_ : tuple of two floats
        Interval for it. It covers chance, at 95 %, and what labels alone cannot tell: whether classes overlap in these
        features or labels are wrong. It is narrow where the features tell classes apart, or rows have been checked.
    noise_reason_ : str
        Why the interval is as wide as it is.
    n_worth_checking_ : int
        How many of the most suspicious labels, from the top, are worth a check: the next is more probably right than
        wrong.
    transition_ : ndarray of shape (n_classes, n_classes)
        Estimated probability that a sample of the row's class was given the column's label.
    confusion_ : ndarray of shape (n_classes, n_classes)
        Expected number of samples by given label (rows) and true class (columns).
    annotator_answers_, annotator_accuracy_ : ndarray of shape (n_annotators,)
        Where several people answered: how many answers each gave, and the expected share of right ones among them.
    annotator_confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        Probability that this annotator calls a sample of the row's class like the column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import LabelAudit
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> audit = LabelAudit().fit(X, y)
    >>> int(audit.ids_[audit.rank_ == 1][0]), int(audit.suggested_[7])
    (7, 0)
    """

    estimator_: RobustLDA
    classes_: Array
    ids_: Array
    given_: Array
    suggested_: Array
    probability_wrong_: Array
    farness_: Array
    farness_any_: Array
    finding_: Array
    rank_: Array
    noise_rate_: float
    noise_interval_: tuple[float, float]
    noise_reason_: str
    n_worth_checking_: int
    verified_: Array
    transition_: Array
    confusion_: Array
    plane_: Array
    plane_axes_: tuple[str, str]
    plane_loadings_: Array
    feature_names_: Array
    outlyingness_: Array
    annotator_answers_: Array
    annotator_accuracy_: Array
    annotator_confusion_: Array
    _frame_kind: Any
    _doubt: Array
    n_expected_wrong_: float
    _judged: "parted_audit.Judged | None"
    _rows: Array | None
    n_samples_: int
    n_verified_: int
    n_mislabelled_: int
    n_outlying_: int
    _features_named: bool

    def __init__(
        self,
        estimator: RobustLDA | None = None,
        *,
        max_false_alarm: float = 0.05,
        n_resamples: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_false_alarm = max_false_alarm
        self.n_resamples = n_resamples
        self.random_state = random_state

    def fit(self, X: Any, y: Any, ids: Any = None, *, verified: Any = None, features: Any = None) -> Self:
        """Judge every label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_annotators)
            Labels of any type. Or the answers of several people about each sample, with None or NaN (in an array of
            integers, −1) where someone was not asked; what is judged is then the label most of them agree on.
        ids : array-like of shape (n_samples,), default=None
            What samples are called in the results; their rows if None.
        verified : {mask, dict, array-like}, default=None
            What a person has checked: a mask of the samples whose labels are right, a dict from row to right label, or
            an array of right labels with None or NaN where nobody has looked. These are believed, and teach the audit
            how far to trust its own doubts; `to_review` says which rows would teach it most.
        features : array-like of shape (n_features,), default=None
            What features are called in the results; the columns of a DataFrame if None.

        Returns
        -------
        self : object
        """
        model = RobustLDA() if self.estimator is None else clone(self.estimator)
        self._check_parameters(model)
        self._judged = self._rows = None
        if is_parted(X):
            return self._fit_parts(model, X, y, verified, features)
        asked = answer_table(y) if has_answers(y) else None
        n = len(np.asarray(y))
        if asked is None and len(np.unique(np.asarray(y))) == n:
            raise ValueError(
                f"Each of the {n} samples has a label of its own; an audit needs several samples of a class."
            )
        names = np.arange(n) if ids is None else np.asarray(ids)
        if len(names) != n:
            raise ValueError(f"There are {len(names)} ids for {n} samples; give one for each.")
        decision = fit_decision(model, X, y, verified=verified)
        beliefs, noise = _found(decision)
        rates: list[float] = []
        if self.n_resamples:
            resampled, rates = self._resampled(model, X, y, verified)
            beliefs = (beliefs + resampled) / 2
        self.estimator_, self.classes_, self.ids_ = model, model.classes_, names
        self._name_features(features)
        self._frame_kind = _frame_kind(X)
        labels = self._agreed(asked, beliefs) if asked is not None else np.searchsorted(self.classes_, np.asarray(y))
        given = self.given_ = np.asarray(y) if asked is None else self.classes_[labels]
        found = None if verified is None else verified_labels(verified, given)
        self.verified_ = np.zeros(n, bool) if found is None else np.array([f is not None for f in found])
        self._judge_labels(beliefs, labels, rates, noise)
        self._measure_distances(X, labels)
        order = self._order()
        self.rank_ = np.empty(len(given), int)
        self.rank_[order] = np.arange(1, len(given) + 1)
        worth = (self.probability_wrong_ >= 0.5) & ~self.verified_
        self.n_worth_checking_, self.n_expected_wrong_ = int(worth.sum()), float(self.probability_wrong_[worth].sum())
        self.finding_ = np.full(len(given), "", dtype="<U11")
        self.finding_[self.flags()] = "mislabelled"
        self.finding_[self.outlyingness_ > OUTLYING] = "outlying"
        self.n_samples_, self.n_verified_ = len(given), int(self.verified_.sum())
        self.n_mislabelled_ = int((self.finding_ == "mislabelled").sum())
        self.n_outlying_ = int((self.finding_ == "outlying").sum())
        return self

    def _fit_parts(self, model: RobustLDA, X: Any, y: Any, verified: Any, features: Any) -> Self:
        """The same for rows in parts; what is said of single rows is said of the worst, and of some others."""
        if self.n_resamples:
            raise ValueError("n_resamples needs rows in memory; where there are many rows, it would change nothing.")
        decision, found, checks = fit_parts(model, X, y, verified)
        noise, n = decision.label_noise, found.store.shape[0]
        assert noise is not None
        self.estimator_, self.classes_, self._frame_kind = model, model.classes_, None
        self.transition_ = model.transition_
        self._name_features(features)
        said = partial(_said_by_features, self.transition_)
        judged = self._judged = parted_audit.judge(model, decision, found, checks, said)
        self.confusion_ = judged.confusion
        wrong, open_ = judged.wrong, ~judged.verified
        self.n_samples_, self.n_verified_ = n, n - int((open_ + 0.0).sum())
        self.noise_rate_ = wrong.mean()
        self._set_interval((open_ * wrong * (1 - wrong)).sum(), noise, 0.0)
        worth = open_ & (wrong >= 0.5)
        self.n_worth_checking_, self.n_expected_wrong_ = int((worth + 0.0).sum()), (worth * wrong).sum()
        finding = judged.finding(judged.threshold(self.max_false_alarm), OUTLYING)
        self.n_mislabelled_, self.n_outlying_ = (parted_audit.count(finding, kind) for kind in (1, 2))
        self._list_rows(judged, finding)
        return self

    def _list_rows(self, judged: "parted_audit.Judged", finding: Any) -> None:
        """Attributes of the rows that are listed: the worst, then some of the others in the order of the data."""
        worst = judged.worst(parted_audit.WORST)
        others = np.setdiff1d(parted_audit.drawn(self.n_samples_), worst)
        rows = np.concatenate([worst, others])
        self.given_, self.suggested_ = self.classes_[judged.given[rows]], self.classes_[judged.suggested[rows]]
        self.ids_, self.probability_wrong_, self._doubt = judged.ids[rows], judged.wrong[rows], judged.doubt[rows]
        self.verified_, self.outlyingness_ = judged.verified[rows], judged.z_any[rows]
        self.farness_, self.farness_any_ = (farness.probability(z[rows]) for z in (judged.z_own, judged.z_any))
        self.finding_ = parted_audit.FINDINGS[finding[rows]]
        self.rank_ = np.append(np.arange(1, len(worst) + 1), np.full(len(others), self.n_samples_))
        self._rows = rows
        sample = judged.store.take(rows)
        self.plane_, self.plane_axes_ = self._plane(sample, _distances(self.estimator_, sample).plane)
        self.plane_loadings_ = _correlations(self.estimator_, sample, self.plane_)

    def to_parquet(self, folder: str | Path) -> int:
        """Write what was found out about every row: files in a folder, one for each part of the data.

        Columns are id, given, suggested, probability_wrong, farness, farness_any and finding. Of rows in parts, every
        part is written where it is; workers on other machines need a folder that all of them see.

        Parameters
        ----------
        folder : str or Path
            Where to; files of the same names are replaced.

        Returns
        -------
        n_files : int
        """
        check_is_fitted(self)
        if self._judged is None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            table = nw.from_native(self.to_frame(), eager_only=True).to_arrow()
            with replacing(Path(folder) / "part-00000.parquet") as target:
                pq.write_table(table, target)
            return 1
        finding = self._judged.finding(self._judged.threshold(self.max_false_alarm), OUTLYING)
        return self._judged.write(Path(folder), finding)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_judged") is not None:
            state["_judged"] = None  # what is kept on workers stays there
        return state

    def _name_features(self, features: Any) -> None:
        d = self.estimator_.n_features_in_
        known = getattr(self.estimator_, "feature_names_in_", None) if features is None else features
        self._features_named = known is not None
        self.feature_names_ = np.array([f"x{j}" for j in range(d)] if known is None else list(known), object)
        if len(self.feature_names_) != d:
            raise ValueError(f"There are {len(self.feature_names_)} names for {d} features; give one for each.")

    def _agreed(self, asked: Array, beliefs: Array) -> Array:
        """What most answers agree on, as class indices; and what annotators are worth."""
        indices = class_indices(asked.ravel(), self.classes_).reshape(asked.shape)
        ones = np.ones(len(asked))
        answers = Answers.of(indices, ones, ones, len(self.classes_))
        right = np.bincount(answers.annotator, beliefs[answers.sample, answers.answer], asked.shape[1])
        self.annotator_answers_ = np.bincount(answers.annotator, minlength=asked.shape[1])
        self.annotator_accuracy_ = right / np.maximum(self.annotator_answers_, 1)
        self.annotator_accuracy_[self.annotator_answers_ == 0] = np.nan
        self.annotator_confusion_ = self.estimator_.annotator_confusion_
        return answers.vote(beliefs)

    def _check_parameters(self, model: Any) -> None:
        if getattr(model, "decision", None) != "noise_aware":
            raise ValueError(
                f"LabelAudit needs an estimator with decision='noise_aware', not {getattr(model, 'decision', model)!r}."
            )
        _check_share(self.max_false_alarm)
        if not (isinstance(self.n_resamples, Integral) and self.n_resamples >= 0):
            raise ValueError(f"n_resamples={self.n_resamples!r} must be a whole number of at least 0.")

    def _judge_labels(self, beliefs: Array, labels: Array, rates: list[float], noise: LabelNoise) -> None:
        """How probable it is that each label is wrong, and how many are; `rates` are those of other fits."""
        self.transition_ = self.estimator_.transition_
        # What the features say alone: beliefs hold the given label as well, and with few errors hardly doubt it.
        # Several answers are evidence rather than a label in doubt, and stay in.
        several = noise.annotators is not None
        features = beliefs if several else _said_by_features(self.transition_, beliefs, labels)
        self._doubt = 1 - features[np.arange(len(labels)), labels] / features.sum(axis=1)
        self.suggested_ = self.classes_[features.argmax(axis=1)]
        self.probability_wrong_ = 1 - beliefs[np.arange(len(labels)), labels]
        self.noise_rate_ = float(self.probability_wrong_.mean())
        self.n_samples_, self.n_verified_ = len(labels), int(self.verified_.sum())
        wrong = self.probability_wrong_[~self.verified_]
        error = 1.96 * float(np.std(rates, ddof=1)) if len(rates) > 1 else 0.0
        self._set_interval(float(wrong @ (1 - wrong)), noise, error)
        self.confusion_ = np.array([beliefs[labels == k].sum(axis=0) for k in range(len(self.classes_))])

    def _set_interval(self, open_: float, noise: LabelNoise, error: float) -> None:
        """What the noise rate may be; `open_` is what is open about single labels, `error` that of other fits."""
        rate = self.noise_rate_
        low, high = _interval(rate, open_, self.n_samples_, self.n_samples_ - self.n_verified_)
        low, high = min(low, max(0.0, rate - error)), max(high, rate + error)
        # Chance on both sides of all that cannot be told apart.
        least, most = noise.bounds
        self.noise_interval_ = float(max(0, low - max(rate - least, 0))), float(min(1, high + max(most - rate, 0)))
        self.noise_reason_ = _reason(self, noise)

    def _resampled(self, model: RobustLDA, X: Any, y: Any, verified: Any) -> tuple[Array, list[float]]:
        """Mean beliefs and noise rates of fits with exponential weights, the Bayesian form of drawing samples anew."""
        rng = check_random_state(self.random_state)
        beliefs, rates = np.zeros((len(y), len(model.classes_))), []
        for _ in range(self.n_resamples):
            again = clone(model)
            decision = fit_decision(again, X, y, rng.exponential(size=len(y)), verified)
            beliefs += _found(decision)[0] / self.n_resamples
            rates.append(again.noise_rate_)
        return beliefs, rates

    def _measure_distances(self, X: Any, labels: Array) -> None:
        """How far samples are from their class and from every class, measured by those whose labels are believed."""
        believed = self.probability_wrong_ < 0.5
        believed = believed if believed.any() else ~believed
        found = _distances(self.estimator_, X)
        self.plane_, self.plane_axes_ = self._plane(X, found.plane)
        self.plane_loadings_ = _correlations(self.estimator_, X, self.plane_)
        own = found.squared[np.arange(len(labels)), labels]
        scale, outside = farness.scales(believed.astype(float), own, found.outside)
        nearest = farness.z_value(scale, found.squared.min(axis=1))
        self.outlyingness_ = np.maximum(nearest, farness.z_value(outside, found.outside))
        self.farness_ = farness.probability(farness.z_value(scale, own))
        self.farness_any_ = farness.probability(self.outlyingness_)

    def _plane(self, X: Any, otherwise: Array) -> tuple[Array, tuple[str, str]]:
        """The two directions that separate the believed classes best, and what to write at their axes."""
        Z, shares = self.estimator_.transform(X), getattr(self.estimator_, "explained_variance_ratio_", None)
        names = [f"{place} direction between classes" for place in ("first", "second")]
        if shares is None or getattr(Z, "shape", (0,))[0] != len(otherwise):
            return otherwise, (names[0], names[1])
        Z, plane = np.asarray(Z, float), np.array(otherwise, float)
        for axis in range(min(2, Z.shape[1])):
            plane[:, axis] = Z[:, axis]
            names[axis] += f" ({shares[axis]:.0%} of their separation)"
        if Z.shape[1] < 2:  # two classes differ in one direction only
            names[1] = "another direction"
        return plane, (names[0], names[1])

    def plane_features(self, axis: int, n: int = 3) -> list[tuple[str, float]]:
        """The features that a coordinate of the plane goes with most.

        Parameters
        ----------
        axis : {0, 1}
            Which coordinate.
        n : int, default=3
            How many features.

        Returns
        -------
        features : list of (str, float)
            Names with their correlations, the strongest first; empty if features have no names.
        """
        check_is_fitted(self)
        if not self._features_named:
            return []
        strongest = np.argsort(-np.abs(self.plane_loadings_[axis]), kind="stable")[:n]
        found = ((str(self.feature_names_[j]), float(self.plane_loadings_[axis, j])) for j in strongest)
        return [(name, loading) for name, loading in found if abs(loading) >= _WORTH_NAMING]

    def _order(self) -> Array:
        """Rows from the most to the least suspicious; among equals, the farther from their class first."""
        return np.lexsort((-self.farness_, -self.probability_wrong_))

    def flags(self, max_false_alarm: float | None = None) -> Array:
        """Which labels are probably wrong.

        As many of the most suspicious ones as leave the expected share of right labels among them at
        `max_false_alarm` or below; never one that is more probably right than wrong.

        Parameters
        ----------
        max_false_alarm : float, default=None
            That share; the one given to the constructor if None.

        Returns
        -------
        flags : ndarray of bool of shape (n_samples,)
        """
        check_is_fitted(self)
        share = self.max_false_alarm if max_false_alarm is None else max_false_alarm
        _check_share(share)
        if self._rows is not None:
            if self._judged is None:
                raise ValueError("After unpickling, only the flags in `finding_` are known of rows in parts.")
            return self._judged.finding(self._judged.threshold(share), np.inf)[self._rows] == 1
        wrong = self.probability_wrong_
        descending = -np.sort(-wrong)
        false_alarms = np.cumsum(1 - descending) / np.arange(1, len(wrong) + 1)
        enough = np.flatnonzero(false_alarms <= share)
        if not len(enough):
            return np.zeros(len(wrong), bool)
        # Samples that are alike, as copies are, are flagged together or not at all.
        last = descending[enough[-1]]
        flags = wrong >= last - _ALIKE
        if (1 - wrong[flags]).mean() > share:
            flags = wrong > last + _ALIKE
        return flags & (wrong > 0.5) & (self.suggested_ != self.given_)

    def to_review(self, n: int = 30) -> Array:
        """The rows whose check by a person would teach the audit most.

        They are spread over all labels about which something is open, from those that are nearly certainly wrong to
        those that the features alone would doubt, in proportion to what is open about them: their answers settle how
        many labels are wrong. To find wrong labels, go through them by `rank_` instead.

        Parameters
        ----------
        n : int, default=30
            How many.

        Returns
        -------
        rows : ndarray of shape (n,)
            Positions in X, the most suspicious first; fewer if there are fewer that were not checked yet. Hand what
            was found to `fit` as `verified`, for example as a dict from row to right label.
        """
        check_is_fitted(self)
        check_whole("n", n)
        order = self._order()
        if self._rows is not None:  # those at equal distances stand for all
            order = order[np.isin(self._rows[order], parted_audit.drawn(self.n_samples_))]
        order = order[~self.verified_[order]]
        wrong = self.probability_wrong_[order]
        if n >= len(order):
            return self._numbers(order)
        # What is open about a label; a little is about all of them.
        open_ = np.sqrt(wrong * (1 - wrong)) + np.abs(self._doubt[order] - wrong) + 0.15
        ends = np.cumsum(open_) / open_.sum() * n
        middles = np.unique(np.searchsorted(ends, np.arange(n) + 0.5))
        rest = np.setdiff1d(np.argsort(-open_, kind="stable"), middles, assume_unique=True)[: n - len(middles)]
        return self._numbers(order[np.sort(np.concatenate([middles, rest]))])

    def _numbers(self, places: Array) -> Array:
        """Numbers of rows in the data, by their places in the attributes."""
        return places if self._rows is None else self._rows[places]

    def cleaned(self, max_false_alarm: float | None = None) -> tuple[Array, Array]:
        """The labels with the flagged ones replaced, and a mask of the samples that are no outliers.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The suggested label where the given one is flagged, the given one elsewhere.
        keep : ndarray of bool of shape (n_samples,)
            False for outliers.
        """
        flags = self.flags(max_false_alarm)
        return np.where(flags, self.suggested_, self.given_), self.outlyingness_ <= OUTLYING

    def to_frame(self) -> Any:
        """One row per sample, most suspicious first: the kind of DataFrame that was given, or an Arrow table."""
        check_is_fitted(self)
        order = self._order()
        columns = {
            "id": self.ids_,
            "given": self.given_,
            "suggested": self.suggested_,
            "probability_wrong": self.probability_wrong_,
            "farness": self.farness_,
            "farness_any": self.farness_any_,
            "finding": self.finding_,
            "rank": self.rank_,
        }
        data = {name: values[order].tolist() for name, values in columns.items()}
        return pa.table(data) if self._frame_kind is None else nw.from_dict(data, backend=self._frame_kind).to_native()

    def report(self, path: str | Path, *, title: str = "Label audit", images: Any = None) -> None:
        """Write one self-contained HTML page.

        Parameters
        ----------
        path : str or Path
            The file, replaced if it exists.
        title : str, default="Label audit"
            Its heading.
        images : array-like of shape (n_samples, side * side), default=None
            Grey values between 0 and 1, to show the suspicious samples as thumbnails.
        """
        from robustlda.report import audit_page

        check_is_fitted(self)
        audit_page.write(self, Path(path), title=title, images=images)


def _found(decision: FittedDecision | None) -> tuple[Array, LabelNoise]:
    assert decision is not None
    assert decision.beliefs is not None
    assert decision.label_noise is not None
    return decision.beliefs, decision.label_noise


def _reason(audit: LabelAudit, noise: LabelNoise) -> str:
    """Why the interval of the noise rate is as wide as it is."""
    least, most = noise.bounds
    if most - least <= 0.02 + 0.2 * audit.noise_rate_:
        if audit.n_verified_:
            return f"{audit.n_verified_} checked labels tell how many are wrong."
        return "The features tell classes apart well enough to count."
    if noise.annotators is not None:
        return (
            f"Answers and features disagree about labels that most answers agree on: between {least:.1%} and "
            f"{most:.1%} of these are wrong, depending on which of the two is believed."
        )
    overlapping = np.argwhere(np.triu(noise.overlap) > 0)
    names = [f"{audit.classes_[i]} and {audit.classes_[j]}" for i, j in overlapping[:2]]
    where = f" {', '.join(names)} overlap in these features." if names else ""
    return (
        f"The features speak against {most:.1%} of the labels, or leave them open.{where} Whether labels are wrong "
        "there or features cannot tell, the data do not say: check the rows of to_review(), and pass them as verified."
    )


def _distances(model: RobustLDA, X: Any) -> Distances:
    """How far all samples are from every class, block by block."""
    rule = cast(Measuring, model.rule_)
    return Distances(*model.rule_rows(X).collect(lambda block: astuple(rule.measure(block)), outputs=3))


def _correlations(model: RobustLDA, X: Any, plane: Array) -> Array:
    """Of all features with the coordinates of a plane; 0 for one that does not vary."""
    store, n = model.validated_store(X), len(plane)
    rows = Rows(store, model.plan.block_rows(store.shape[1]))
    plane = plane - plane.mean(axis=0)
    center = model.center_.astype(float)

    def statistic(block: Block, plane: Array) -> tuple[Array, Array, Array]:
        ones = np.ones(len(plane))
        sums = block.combine(np.column_stack([plane, ones])).astype(float)
        return sums[:, :2], sums[:, 2], block.column_squares(ones, center)

    products, sums, squares = rows.reduce(statistic, plane)
    spread = np.sqrt(np.maximum(squares / n - (sums / n - center) ** 2, 0))
    lengths = spread[:, None] * plane.std(axis=0) * n
    small = lengths <= 1e-9 * np.maximum(np.abs(center)[:, None] + spread[:, None], 1e-300) * plane.std(axis=0) * n
    return np.where(small, 0, products / np.where(small, 1, lengths)).T


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise ValueError(f"max_false_alarm={share!r} must lie between 0 and 1, for example 0.05.")


def _said_by_features(transition: Array, beliefs: Array, labels: Array) -> Array:
    """Beliefs without the part that the given label has in them, up to a factor for each sample."""
    return np.asarray(beliefs / np.maximum(transition[:, labels].T, 1e-300))


def _interval(rate: float, open_: float, n: int, n_open: int) -> tuple[float, float]:
    """95 % interval of the flip rate: its information is that of known flips, less what their uncertainty hides."""
    if not n_open:
        return rate, rate
    spread = max(rate * (1 - rate), 1e-9)
    information = max(n * spread - open_, 1e-3 * n * spread) / spread**2
    error = 1.96 / np.sqrt(information)
    # Where nothing was found, three in n may still have been missed.
    return max(0.0, rate - error), float(min(1.0, max(rate + error, 3 / n)))


def _frame_kind(X: Any) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return nw.get_native_namespace(frame) if isinstance(frame, nw.DataFrame) else None
