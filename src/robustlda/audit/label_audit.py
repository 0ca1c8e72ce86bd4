"""`LabelAudit`: for every sample how probable it is that its label is wrong."""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets

from robustlda.audit import (
    by_classifier,
    evidence,
    farness,
    frames,
    judging,
    named_rows,
    parted_audit,
    picture,
    probabilities,
)
from robustlda.audit.evidence import Evidence
from robustlda.audit.findings import Findings
from robustlda.audit.picture import OUTLYING
from robustlda.data.given import as_given
from robustlda.data.parted_input import is_parted
from robustlda.estimators import (
    DiscriminantProjection,
    answer_table,
    check_labels,
    check_seed,
    class_indices,
    fit_parts,
    has_answers,
    in_numpy,
    is_missing,
    read_parts,
    verified_labels,
)
from robustlda.estimators.robust import RobustLDA
from robustlda.linalg import Array
from robustlda.tables.frames import as_arrow
from robustlda.tables.labeled import LabeledTable, RawTable
from robustlda.tables.understanding import understand

MOST_RESAMPLES = 10_000
"""Fits that are averaged, at most: more would change no digit that is shown."""


_NO_NAMES = (
    "Columns of rows in parts are not named in fit: ParquetTable(files, label, id=…) names them, and of a Dask "
    "DataFrame the columns themselves are given, fit(X.drop(columns=label), X[label])."
)


class LabelAudit(Findings):
    """Find wrong labels and outliers.

    Every sample is judged by rules that were fitted without it. The probability that a label is wrong takes into
    account how many labels seem to be wrong, between which classes. Labels can be judged by any classifier, and
    :meth:`from_probabilities` takes what one from anywhere has said.

    Parameters
    ----------
    estimator : classifier or Pipeline, default=None
        What judges labels. ``RobustLDA()`` if None, which needs no cross-validation, as its own rules leave out the
        sample they judge; it needs ``decision="noise_aware"``. A Pipeline that ends in it is used so as well: its other
        steps are fitted once to all rows, without labels, and therefore cannot remember any. Any other classifier with
        `predict_proba` or `decision_function`, and any other Pipeline, is cross-validated.
    max_false_alarm : float, default=0.05
        Share of right labels among the flagged ones that is tolerated.
    n_resamples : int, default=0
        Further fits with random weights of the samples, for small data: beliefs are averaged, half of the weight
        staying with the fit to the data as they are, and the noise rate's interval covers the fits. Ten are enough.
        With another classifier, these are further cross-validations, with other folds.
    random_state : int, RandomState instance or None, default=None
        For these weights, and for folds; without it, folds are the same every time.
    cv : int, splitter or iterable, default=5
        How another classifier is cross-validated: a number of stratified folds, a splitter of scikit-learn's that
        predicts every row once, or pairs of rows to fit to and to predict. Rows that belong together, such as frames of
        one video, should share a fold: ``cv=list(GroupKFold(5).split(X, y, groups))``.

    Attributes
    ----------
    estimator_ : classifier or Pipeline
        The model, fitted to all rows; None if there are only probabilities.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    ids_ : ndarray of shape (n_samples,)
        What each sample is called: as given, by the index of a pandas DataFrame, or its row, from 0.
    given_, suggested_ : ndarray of shape (n_samples,)
        The label a sample has, and the one its features suggest.
    probability_wrong_ : ndarray of shape (n_samples,)
        Probability that the given label is wrong.
    farness_ : ndarray of shape (n_samples,)
        Share of a class that is nearer to its center than this sample is to that of its given class. Distances are
        those of a `RobustLDA`; for another classifier one is fitted to the classes it suggests. NaN where the features
        (as the last step of a Pipeline sees them) are not finite numbers, or unknown; then nothing is "outlying".
    farness_any_ : ndarray of shape (n_samples,)
        The same for the nearest class, and for what lies outside of the projection.
    outlyingness_ : ndarray of shape (n_samples,)
        The robust z-value behind `farness_any_`.
    plane_ : ndarray of shape (n_samples, 2)
        Coordinates in which the believed classes differ most, to draw the samples; None where farness is NaN, as are
        `plane_axes_` and `plane_loadings_`.
    plane_axes_ : tuple of two str
        What they are, and their shares in the separation of the classes.
    plane_loadings_ : ndarray of shape (2, n_features)
        Correlation of every feature with the two coordinates.
    feature_names_ : ndarray of shape (n_features,)
        What the features are called: as given, the columns of a DataFrame, or x0, x1 and so on; empty if unknown.
    finding_ : ndarray of shape (n_samples,)
        "mislabeled", "outlying" (far from every class, whatever its label), or "" for neither.
    rank_ : ndarray of shape (n_samples,)
        1 for the most suspicious label.
    verified_ : ndarray of bool of shape (n_samples,)
        Which labels a person had checked.
    n_samples_, n_verified_, n_mislabeled_, n_outlying_ : int
        How many samples were judged, how many of them a person had checked, and how many have either finding.
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
    n_expected_wrong_ : float
        How many of these are expected to be wrong.
    transition_ : ndarray of shape (n_classes, n_classes)
        Estimated probability that a sample of the row's class was given the column's label.
    confusion_ : ndarray of shape (n_classes, n_classes)
        Expected number of samples by given label (rows) and true class (columns). A class of which checks leave no row,
        such as one that was misspelled, is none; its rows are in `given_` only, and count as wrong.
    annotator_answers_, annotator_accuracy_ : ndarray of shape (n_annotators,)
        Where several people answered: how many answers each gave, and the expected share of right ones among them.
    annotator_confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        Probability that this annotator calls a sample of the row's class like the column.
    preparation_ : TablePreparation
        Where features were made of the columns of a table: how, and in its `columns_` what became of each column.
    table_ : LabeledTable
        These features, with labels and ids; not after unpickling.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import LabelAudit
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> audit = LabelAudit().fit(X, y)
    >>> int(audit.ids_[audit.rank_ == 1][0]), int(audit.suggested_[7])
    (7, 0)
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> audit = LabelAudit(RandomForestClassifier(random_state=0)).fit(X, y)
    >>> int(audit.ids_[audit.rank_ == 1][0])
    7
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_false_alarm: float = 0.05,
        n_resamples: int = 0,
        random_state: Any = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.max_false_alarm = max_false_alarm
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.cv = cv

    def fit(self, X: Any, y: Any, ids: Any = None, *, verified: Any = None, features: Any = None) -> Self:
        """Judge every label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), DataFrame or LabeledTable
            Samples, of any kind that the estimator takes. Or a DataFrame with any columns, if y is the name of one of
            them: features are then made of the others, as on the command line (`robustlda.tables.TablePreparation`),
            `preparation_.columns_` says which and how, and rows without a label are left out.
        y : array-like of shape (n_samples,) or (n_samples, n_annotators), str, or list of str
            Labels of any type. Or the answers of several people about each sample, with None or NaN (in an array of
            integers, −1) where someone was not asked; what is judged is then the label most of them agree on. Or the
            name of the column of X that holds the labels, or a list of the columns that hold the answers.
        ids : array-like of shape (n_samples,) or str, default=None
            What samples are called in the results, or the column of X that says so. If None, the index of a pandas
            DataFrame, so that ``X.loc[audit.ids_]`` are the rows that were judged, or the rows from 0.
        verified : {mask, dict, array-like}, default=None
            What a person has checked: a mask of the samples whose labels are right, a dict from row to right label, or
            an array of right labels with None or NaN where nobody has looked. These are believed, and teach the audit
            how far to trust its own doubts; `to_review` says which rows would teach it most. Rows of a dict go by their
            ids, the index of a pandas DataFrame among them, and by their positions only where none of the rows that it
            names is an id: of a DataFrame that has been shuffled or filtered, give ``X.index[audit.to_review()]``.
        features : array-like of shape (n_features,), default=None
            What features are called in the results; the columns of a DataFrame if None. For a Pipeline, those after its
            steps. Features that are made of a table are called after its columns, and cannot have other names.

        Returns
        -------
        self : object
        """
        if isinstance(y, str) or frames.are_columns(y, X):
            return self._fit_table(_understood(X, y, ids, verified), verified, features, X)
        if isinstance(X, LabeledTable):
            return self._fit_table(X, verified, features)
        estimator = RobustLDA() if self.estimator is None else self.estimator
        if is_parted(X):
            if isinstance(ids, str):
                raise TypeError(_NO_NAMES)
            trial = copy(self)._fit_parts(estimator, X, y, ids, verified, features)
            self.__dict__ = trial.__dict__  # an audit that fails leaves what was there before
            return self
        if isinstance(ids, str):
            X, ids = frames.without_ids(X, ids)
        if self.estimator is None and frames.needs_preparation(X):
            return self._fit_table(_joined(X, y, ids, verified), verified, features, X)
        return self._fit_rows(estimator, X, y, ids, verified, features)

    def _fit_table(self, table: LabeledTable, verified: Any, features: Any, X: Any = None) -> Self:
        """Judge the labels of a table, made of X; rows of `verified` are counted as in the whole table."""
        if features is not None:
            raise ValueError("Features that are made of columns are called after these: leave features out.")
        verified, places = named_rows.by_class_names(verified, table), table.places
        if isinstance(verified, Mapping):
            none = f"has no label in column {table.label!r}, or one that was set aside as too rare"
            verified = named_rows.by_position(verified, table.ids, places, none)
        elif verified is not None and len(verified) != len(places):
            if len(verified) <= places[-1] or (X is not None and len(verified) != np.shape(X)[0]):
                raise ValueError(
                    f"verified has {len(verified)} values: give one for each row of the table, or a dict from row to "
                    "label."
                )
            verified = as_given(verified)  # of truths a mask, which labels would not be
            verified = verified[places] if verified.dtype == bool else verified.astype(object)[places]
        self.fit(table.X, table.targets, table.ids, verified=verified, features=table.names)
        self.table_, self.preparation_, self._frame_kind = table, table.preparation, frames.kind_of(X)
        return self

    def _fit_rows(self, estimator: Any, X: Any, y: Any, ids: Any, verified: Any, features: Any) -> Self:
        """Judge the labels of rows in memory."""
        self._check_parameters(estimator)
        X, y, verified = map(in_numpy, (X, y, verified))  # findings are about single rows
        asked = answer_table(y) if has_answers(y) else None
        given = np.asarray(y)
        if asked is None:
            y = given = probabilities.one_for_each(y, "X")
            check_labels(given)
            if len(np.unique(given)) == len(given):
                raise ValueError(
                    f"Each of the {len(given)} samples has a label of its own; an audit needs several samples of a "
                    "class."
                )
        ids = frames.index_of(X) if ids is None else ids
        names = named_rows.checked_ids(ids, len(given))
        if isinstance(verified, Mapping) and ids is not None:
            rows = np.arange(len(names))
            verified = named_rows.by_position(verified, names, rows, "is neither an id nor a position in X")
        if asked is None:
            y = probabilities.without_lost(given, verified)
        found = evidence.by_committee(estimator, X, y, verified, self.n_resamples, self.random_state)
        if found is None:
            table = _checked_labels(y) if asked is None else asked
            classes = np.unique([label for label in table.ravel().tolist() if label is not None])
            checks = probabilities.understood(table, classes, verified)
            found = by_classifier.by_classifier(
                estimator, X, classes, checks, self.cv, self.n_resamples, self.random_state
            )
        labels = given if asked is None else asked
        return self._judge(found, labels, names, verified, features, frames.kind_of(X))

    @classmethod
    def from_probabilities(
        cls,
        P: Any,
        y: Any,
        *,
        classes: Any = None,
        ids: Any = None,
        X: Any = None,
        verified: Any = None,
        features: Any = None,
        max_false_alarm: float = 0.05,
    ) -> Self:
        """Judge labels by probabilities from anywhere: a network, a language model, another library.

        They must be *held out*: whatever made them was fitted without the sample, as in cross-validation, or without
        any of these labels. A model that has seen a label agrees with it, and errors cannot be seen. Probabilities may
        be too sure or not sure enough; they are made as sharp as the labels allow before they are believed.

        Parameters
        ----------
        P : array-like of shape (n_samples, n_classes)
            Probability of every class for every sample; rows sum to 1.
        y : array-like of shape (n_samples,) or (n_samples, n_annotators)
            Labels, or answers of several people, as in `fit`.
        classes : array-like of shape (n_classes,), default=None
            The class of every column. If None, the names of the columns of a DataFrame, or the labels of y in ascending
            order, as scikit-learn's classifiers have them.
        ids : array-like of shape (n_samples,), default=None
            What samples are called in the results; their rows if None.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Features, such as an embedding, by which farness is measured and the plane is drawn. They change nothing
            about labels.
        verified : {mask, dict, array-like}, default=None
            What a person has checked, as in `fit`.
        features : array-like of shape (n_features,), default=None
            What the columns of X are called in the results.
        max_false_alarm : float, default=0.05
            Share of right labels among the flagged ones that is tolerated.

        Returns
        -------
        audit : LabelAudit
            A fitted audit. Its `estimator_` is None.

        Examples
        --------
        >>> from robustlda import LabelAudit
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.model_selection import cross_val_predict
        >>> X, y = load_iris(return_X_y=True)
        >>> y[7] = 2
        >>> P = cross_val_predict(LogisticRegression(max_iter=1000), X, y, cv=5, method="predict_proba")
        >>> audit = LabelAudit.from_probabilities(P, y)
        >>> int(audit.ids_[audit.rank_ == 1][0]), int(audit.suggested_[7])
        (7, 0)
        """
        audit = cls(max_false_alarm=max_false_alarm)
        judging.check_share(max_false_alarm)
        ids = frames.index_of(P) if ids is None else ids
        if isinstance(verified, Mapping) and ids is not None:
            rows, called = np.arange(len(P)), named_rows.checked_ids(ids, len(P))
            verified = named_rows.by_position(verified, called, rows, "is neither an id nor a position in P")
        checked, names, checks = probabilities.checked(P, y, classes, verified)
        if X is not None and len(checked) != (n := np.shape(X)[0]):
            raise ValueError(f"X has {n} rows, but P has {len(checked)}; give a row for each.")
        found = by_classifier.by_probabilities(checked, X, names, checks)
        labels = answer_table(y) if has_answers(y) else names[checks.given]
        kind = frames.kind_of(P) if X is None else frames.kind_of(X)
        return audit._judge(found, labels, named_rows.checked_ids(ids, len(checked)), verified, features, kind)

    def _judge(self, found: Evidence, y: Array, ids: Array, verified: Any, features: Any, kind: str | None) -> Self:
        """Say what evidence means for every label; y holds labels, or answers of several people."""
        classes, n = found.classes, len(y)
        annotators = None if y.ndim == 1 else judging.annotators(y, found.beliefs, found.noise, classes)
        labels = np.searchsorted(classes, y) if annotators is None else annotators.vote
        given = classes[labels] if annotators is not None else y
        known = None if verified is None else verified_labels(verified, given)
        checked = np.zeros(n, bool) if known is None else np.array([label is not None for label in known])
        lost = ~np.isin(given, classes)  # checks have left no row in the class
        if known is not None and lost.any():
            labels[lost] = class_indices(known[lost], classes)
        said = judging.judge(found.beliefs, labels, checked, lost, found.noise, classes, found.rates)
        shown = picture.empty(n)
        if found.measuring is not None:
            shown = picture.draw(found.measuring, found.rows, labels, said.wrong)
        named = picture.feature_names(features, found.features, found.measuring)
        # Nothing can fail from here on: an audit that fails leaves what was there before.
        self._forget()
        self.estimator_, self.classes_, self.ids_, self._frame_kind = found.model, classes, ids, kind
        self._data, self._measuring = found.rows, found.measuring
        self.given_, self.verified_, self.n_samples_, self.n_verified_ = given, checked, n, int(checked.sum())
        self.feature_names_, self._features_named = named
        if annotators is not None:
            self.annotator_answers_, self.annotator_accuracy_ = annotators.counts, annotators.accuracy
            self.annotator_confusion_ = annotators.confusion
        self.transition_, self.confusion_, self.suggested_ = (
            found.noise.transition,
            said.confusion,
            classes[said.suggested],
        )
        self.probability_wrong_ = said.wrong
        self.noise_rate_, self.noise_interval_, self.noise_reason_ = said.rate, said.interval, said.reason
        self.farness_, self.farness_any_, self.outlyingness_ = shown.farness, shown.farness_any, shown.outlyingness
        self._set_plane(shown.plane)
        self.rank_ = np.empty(n, int)
        self.rank_[self._order()] = np.arange(1, n + 1)
        worth = (said.wrong >= 0.5) & ~checked
        self.n_worth_checking_, self.n_expected_wrong_ = int(worth.sum()), float(said.wrong[worth].sum())
        self.finding_ = np.full(n, "", dtype="<U11")
        self.finding_[self.outlyingness_ > OUTLYING] = "outlying"
        self.finding_[self.flags()] = "mislabeled"  # outliers only if a person has found out
        self.n_mislabeled_ = int((self.finding_ == "mislabeled").sum())
        self.n_outlying_ = int((self.finding_ == "outlying").sum())
        return self

    def _fit_parts(self, estimator: Any, X: Any, y: Any, ids: Any, verified: Any, features: Any) -> Self:
        """The same for rows in parts; what is said of single rows is said of the worst, and of some others."""
        self._check_parameters(estimator)
        if self.n_resamples:
            raise ValueError("n_resamples needs rows in memory; where there are many rows, it would change nothing.")
        if not isinstance(estimator, DiscriminantProjection):
            raise TypeError(f"Rows in parts can be audited with RobustLDA() only, not with {type(estimator).__name__}.")
        model = clone(estimator)
        found = read_parts(X, y, None, verified, ids)
        by_row = verified if isinstance(verified, Mapping) else None
        if by_row is not None and found.ids is not None:
            by_row = named_rows.by_number(by_row, found.ids)
        decision, checks = fit_parts(model, found, by_row)
        noise, n = decision.label_noise, found.store.shape[0]
        assert noise is not None
        named = picture.feature_names(features, getattr(model, "feature_names_in_", None), model)
        judged = parted_audit.judge(model, decision, found, checks, noise.model.said_by_features)
        self._forget()
        self._judged = judged
        self.estimator_, self.classes_, self._frame_kind = model, model.classes_, None
        self.transition_, self.confusion_ = noise.transition, judged.confusion
        self.feature_names_, self._features_named = named
        wrong, open_ = judged.wrong, ~judged.verified
        self.n_samples_, self.n_verified_ = n, n - int((open_ + 0.0).sum())
        rate = self.noise_rate_ = wrong.mean()
        left = (open_ * wrong * (1 - wrong)).sum()
        self.noise_interval_ = judging.noise_interval(rate, left, n, self.n_verified_, noise)
        self.noise_reason_ = judging.reason(rate, self.n_verified_, noise, self.classes_)
        worth = open_ & (wrong >= 0.5)
        self.n_worth_checking_, self.n_expected_wrong_ = int((worth + 0.0).sum()), (worth * wrong).sum()
        finding = judged.finding(self.max_false_alarm, OUTLYING)
        self.n_mislabeled_, self.n_outlying_ = (parted_audit.count(finding, kind) for kind in (1, 2))
        self._list_rows(judged, finding)
        return self

    def _list_rows(self, judged: "parted_audit.Judged", finding: Any) -> None:
        """Attributes of the rows that are listed: the worst, then some of the others in the order of the data."""
        worst = judged.worst(parted_audit.WORST)
        others = np.setdiff1d(parted_audit.drawn(self.n_samples_), worst)
        rows = self._rows = np.concatenate([worst, others])
        self.given_, self.suggested_ = self.classes_[judged.given[rows]], self.classes_[judged.suggested[rows]]
        self.ids_, self.probability_wrong_ = judged.ids[rows], judged.wrong[rows]
        self.verified_, self.outlyingness_ = judged.verified[rows], judged.z_any[rows]
        self.farness_, self.farness_any_ = (farness.probability(z[rows]) for z in (judged.z_own, judged.z_any))
        self.finding_ = parted_audit.FINDINGS[finding[rows]]
        self.rank_ = np.append(np.arange(1, len(worst) + 1), np.full(len(others), self.n_samples_))
        sample = self._data = judged.store.take(rows)
        self._measuring = self.estimator_
        self._set_plane(picture.plane(self.estimator_, sample, picture.distances(self.estimator_, sample).plane))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inputs = get_tags(RobustLDA() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inputs.sparse, inputs.allow_nan
        if self.estimator is None:  # of DataFrames, whose columns become features
            tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_parameters(self, estimator: Any) -> None:
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if isinstance(last, DiscriminantProjection) and last.decision != "noise_aware":
            raise ValueError(f"LabelAudit needs an estimator with decision='noise_aware', not {last.decision!r}.")
        judging.check_share(self.max_false_alarm)
        by_classifier.check_folds(self.cv)
        if not (isinstance(self.n_resamples, Integral) and 0 <= self.n_resamples <= MOST_RESAMPLES):
            raise ValueError(f"n_resamples={self.n_resamples!r} must be a whole number from 0 to {MOST_RESAMPLES}.")
        check_seed(self.random_state)


def _understood(X: Any, label: str | list[str], ids: Any, verified: Any) -> LabeledTable:
    """A table with features, labels and ids."""
    if is_parted(X):
        raise TypeError(_NO_NAMES)
    if ids is not None and not isinstance(ids, str):
        raise TypeError("Where y names a column, ids does so as well.")
    table, index = as_arrow(X), frames.index_of(X) if ids is None else None
    named = table[ids].to_pylist() if ids in table.column_names else index
    found = understand(RawTable(table, "table", first_row=0), label, id=ids, checked=named_rows.by_row(verified, named))
    return found if index is None else replace(found, ids=index[found.places])


def _joined(X: Any, y: Any, ids: Any, verified: Any) -> LabeledTable:
    """A table of columns that are no numbers, and of labels or answers that are not among them."""
    table = as_arrow(X)
    labels = answer_table(y) if has_answers(y) else probabilities.one_for_each(y, "X")
    if len(labels) != table.num_rows:
        raise ValueError(f"X has {table.num_rows} rows, but y has {len(labels)} labels; give one for each.")
    check_labels(np.array([*(label for label in labels.ravel().tolist() if not is_missing(label)), None], object)[:-1])
    added = {"label": labels} if labels.ndim == 1 else {f"annotator {k + 1}": said for k, said in enumerate(labels.T)}
    names = []
    for name, column in added.items():
        while name in table.column_names:
            name += "_"
        table = table.append_column(name, pa.array(column, mask=np.array(list(map(is_missing, column.tolist())))))
        names.append(name)
    ids = frames.index_of(X) if ids is None else ids
    checked = named_rows.by_row(verified, ids)
    found = understand(RawTable(table, "table", first_row=0), names[0] if labels.ndim == 1 else names, checked=checked)
    return found if ids is None else replace(found, ids=named_rows.checked_ids(ids, len(labels))[found.places])


def _checked_labels(y: Array) -> Array:
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"LabelAudit needs at least 2 classes, but y holds only one class: {classes[0]}.")
    return y
