"""What a fitted audit can be asked, wherever its evidence came from."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from robustlda.audit import frames, judging, parted_audit, picture
from robustlda.audit.picture import OUTLYING
from robustlda.documentation import Documented
from robustlda.estimators import check_whole
from robustlda.linalg import Array
from robustlda.output import replacing
from robustlda.tables.labeled import LabeledTable
from robustlda.tables.preparation import TablePreparation

_WORTH_NAMING = 0.2  # correlation


class Findings(Documented, BaseEstimator):
    """Flags, rows to review, tables and pages from the attributes of a fitted audit, which `LabelAudit` documents."""

    max_false_alarm: float
    estimator_: Any
    classes_: Array
    ids_: Array
    given_: Array
    suggested_: Array
    probability_wrong_: Array
    farness_: Array
    farness_any_: Array
    outlyingness_: Array
    finding_: Array
    rank_: Array
    noise_rate_: float
    noise_interval_: tuple[float, float]
    noise_reason_: str
    n_samples_: int
    n_verified_: int
    n_mislabeled_: int
    n_outlying_: int
    n_worth_checking_: int
    n_expected_wrong_: float
    verified_: Array
    transition_: Array
    confusion_: Array
    plane_: Any
    plane_axes_: Any
    plane_loadings_: Any
    feature_names_: Array
    annotator_answers_: Array
    annotator_accuracy_: Array
    annotator_confusion_: Array
    _features_named: bool
    _frame_kind: str | None
    _judged: parted_audit.Judged | None
    _rows: Array | None
    _data: Any
    _measuring: Any
    table_: LabeledTable
    preparation_: TablePreparation

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_judged") is not None:
            state["_judged"] = None  # what is kept on workers stays there
        for name in ("_data", "_measuring", "table_"):  # an audit that is passed on carries no rows
            state.pop(name, None)
        return state

    def listed_rows(self) -> Any:
        """The features that the attributes are about; None where there are none, and after unpickling."""
        check_is_fitted(self)
        return getattr(self, "_data", None)

    def listed_model(self) -> Any:
        """The model that knows distances between these rows, if there is one."""
        check_is_fitted(self)
        return getattr(self, "_measuring", None)

    def flags(self, max_false_alarm: float | None = None) -> Array:
        """Which labels are probably wrong.

        As many of the most suspicious ones as leave the expected share of right labels among them at
        `max_false_alarm` or below; never one that is more probably right than wrong, nor that of an outlier, about
        whose class nothing is known. Labels that a person has found to be wrong are flagged in any case. Neither
        these nor outliers count in that share.

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
        judging.check_share(share)
        if self._rows is not None:
            if self._judged is None:
                raise ValueError("After unpickling, only the flags in `finding_` are known of rows in parts.")
            return self._judged.finding(share, OUTLYING)[self._rows] == 1
        flags, open_ = self.verified_.copy(), ~self.verified_ & ~(self.outlyingness_ > OUTLYING)
        flags[open_] = judging.flagged(self.probability_wrong_[open_], share)
        return flags & (self.suggested_ != self.given_)

    def to_review(self, n: int = 30) -> Array:
        """The rows whose check by a person would teach the audit most.

        They are spread over all labels, from the most to the least suspicious, in proportion to what is open about
        them: their answers settle how many labels are wrong. To find wrong labels, go through them by `rank_` instead.

        Parameters
        ----------
        n : int, default=30
            How many.

        Returns
        -------
        rows : ndarray of shape (n,)
            Positions in X, the most suspicious first; fewer if there are fewer that were not checked yet. Hand what
            was found to `fit` as `verified`, for example as a dict from row to right label; of a DataFrame with an
            index of its own, from ``X.index[rows]``.
        """
        check_is_fitted(self)
        check_whole("n", n)
        order = self._order()
        if self._rows is not None:  # those at equal distances stand for all
            order = order[np.isin(self._rows[order], parted_audit.drawn(self.n_samples_))]
        order = order[~self.verified_[order]]
        places = judging.worth_a_review(order, self.probability_wrong_, n)
        if self._rows is not None:
            return self._rows[places]
        return places if (table := getattr(self, "table_", None)) is None else table.places[places]

    def suspects(self, at_least: int = 20) -> Array:
        """Where to look: all findings and all labels worth a check, most suspicious first, none that was checked.

        Parameters
        ----------
        at_least : int, default=20
            How many, even if fewer are in doubt.

        Returns
        -------
        places : ndarray of int
            Positions in the attributes of this audit.
        """
        check_is_fitted(self)
        order = self._listed(checked=False)
        few = np.arange(len(order)) < max(self.n_worth_checking_, at_least)
        return np.asarray(order[(self.finding_[order] != "") | few])

    def checked_rows(self) -> Array:
        """Positions of the rows that a person has checked, as `suspects` has them of others."""
        check_is_fitted(self)
        return self._listed(checked=True)

    def _listed(self, *, checked: bool) -> Array:
        order = np.argsort(self.rank_, kind="stable")
        order = order[self.rank_[order] <= len(order)]  # of rows in parts, others are only drawn
        return np.asarray(order[self.verified_[order] == checked])

    def _order(self) -> Array:
        return judging.most_suspicious(self.probability_wrong_, self.farness_)

    def cleaned(self, max_false_alarm: float | None = None) -> tuple[Array, Array]:
        """The labels with the flagged ones replaced, and a mask of the samples that are no outliers.

        Parameters
        ----------
        max_false_alarm : float, default=None
            Tolerated share of right labels among the flagged ones; the one given to the constructor if None.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The suggested label where the given one is flagged, the given one elsewhere.
        keep : ndarray of bool of shape (n_samples,)
            False for outliers.
        """
        flags = self.flags(max_false_alarm)
        return np.where(flags, self.suggested_, self.given_), ~(self.outlyingness_ > OUTLYING)

    def to_frame(self) -> Any:
        """One row per sample, most suspicious first.

        Returns
        -------
        frame : DataFrame
            Of the kind that was given. For arrays, pandas if it is installed, or an Arrow table.
        """
        check_is_fitted(self)
        return self._frame(self._frame_kind)

    def _frame(self, kind: str | None) -> Any:
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
        return frames.frame(columns, self._order(), kind)

    def to_parquet(self, folder: str | Path) -> int:
        """Write what was found out about every row: files in a folder, one for each part of the data.

        Columns are id, given, suggested, probability_wrong, farness, farness_any and finding. Of rows in parts, every
        part is written where it is; workers on other machines need a folder that all of them see. Of rows in memory
        there is also their rank.

        Parameters
        ----------
        folder : str or Path
            Where to; files of the same names are replaced. If there are more of them, of an audit in more parts, they
            would be taken for rows of this one, and nothing is written.

        Returns
        -------
        n_files : int
        """
        check_is_fitted(self)
        if self._rows is not None and self._judged is None:
            raise ValueError("After unpickling, an audit of rows in parts no longer knows them; fit it again.")
        parted_audit.check_alone(Path(folder), 1 if self._judged is None else self._judged.n_parts)
        if self._judged is None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            with replacing(Path(folder) / "part-00000.parquet") as target:
                pq.write_table(self._frame("pyarrow"), target)
            return 1
        finding = self._judged.finding(self.max_false_alarm, OUTLYING)
        return self._judged.write(Path(folder), finding)

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
            Names with their correlations, the strongest first; empty if features have no names, or are unknown.
        """
        check_is_fitted(self)
        if axis not in (0, 1):
            raise ValueError(f"axis is {axis!r}; give 0 or 1, a coordinate of plane_.")
        if self.plane_loadings_ is None or not self._features_named:
            return []
        strongest = np.argsort(-np.abs(self.plane_loadings_[axis]), kind="stable")[:n]
        found = ((str(self.feature_names_[j]), float(self.plane_loadings_[axis, j])) for j in strongest)
        return [(name, loading) for name, loading in found if abs(loading) >= _WORTH_NAMING]

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
        if images is not None and len(images) != len(self.given_):
            raise ValueError(f"There are {len(images)} images for {len(self.given_)} samples; give one for each.")
        audit_page.write(self, Path(path), title=title, images=images, table=getattr(self, "table_", None))

    def _forget(self) -> None:
        """Drop what an earlier fit has found."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._judged = self._rows = self._data = self._measuring = None

    def _set_plane(self, plane: picture.Plane | None) -> None:
        self.plane_ = self.plane_axes_ = self.plane_loadings_ = None
        if plane is not None:
            self.plane_, self.plane_axes_, self.plane_loadings_ = plane.points, plane.axes, plane.loadings
