"""Plots of a fit and of an audit, modeled on scikit-learn's displays: created by `from_…`, drawn by `plot`.

Each display stores what it shows, so that it can be drawn again on other axes; drawing sets `ax_` and `figure_`.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from robustlda.linalg import Array
from robustlda.report.texts import loadings

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c564b", "#7f7f00", "#5e3c99", "#444444")

MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""Of classes that have a color in common, each has a shape of its own, as on the page of an audit."""

MAX_NAMED_CLASSES = 12
"""With more classes than this, legends and axes do not name them individually."""


class _Display:
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        raise NotImplementedError

    def _prepare(self, ax: Any, size: tuple[float, float]) -> Any:
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=size, layout="constrained")
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def _style(k: int) -> dict[str, Any]:
    """How the samples of the class numbered k are drawn."""
    marker = MARKERS[k // len(COLORS) % len(MARKERS)]
    return {"color": COLORS[k % len(COLORS)], "marker": marker, "alpha": 0.7, "linewidth": 0}


def _legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[1]:
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
        for handle in legend.legend_handles:
            handle.set_sizes([36])  # large enough to tell colors and shapes apart


_AXES = ("first direction between classes", "second direction between classes")


class ProjectionDisplay(_Display):
    """Samples in the plane in which the classes differ most, with an ellipse around each class and the findings marked.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Coordinates.
    given : ndarray of shape (n_samples,)
        Labels.
    finding : ndarray of shape (n_samples,)
        "mislabeled", "outlying" or "".
    trusted : ndarray of bool of shape (n_samples,)
        Samples whose labels are trusted; the ellipses are computed from them.
    axes : tuple of two str
        What to write at the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import LabelAudit, RobustLDA
    >>> from robustlda.report import ProjectionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ProjectionDisplay.from_audit(LabelAudit().fit(X, y))
    >>> display.points.shape
    (150, 2)

    Other samples, in the projection of a fitted estimator:

    >>> ProjectionDisplay.from_estimator(RobustLDA().fit(X, y), X[:20], y[:20]).points.shape
    (20, 2)
    """

    def __init__(
        self, *, points: Array, given: Array, finding: Array, trusted: Array, axes: tuple[str, str] = _AXES
    ) -> None:
        self.points, self.given, self.finding, self.trusted, self.axes = points, given, finding, trusted, axes

    @classmethod
    def from_audit(cls, audit: "LabelAudit", *, ax: Any = None) -> Self:
        """Draw a fitted audit.

        Parameters
        ----------
        audit : LabelAudit
            Fitted.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : object
            A display of this kind.
        """
        check_is_fitted(audit)
        _check_drawn(audit)
        display = cls(
            points=np.asarray(audit.plane_, float),
            given=audit.given_,
            finding=audit.finding_,
            trusted=audit.probability_wrong_ < 0.5,
            axes=(_axis(audit, 0), _axis(audit, 1)),
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw samples in the first two components of a fitted estimator; nothing is marked.

        Parameters
        ----------
        estimator : estimator
            Fitted, with at least two components.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels, by which they are colored.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : ProjectionDisplay
        """
        given, points = np.asarray(y), np.asarray(estimator.transform(X), float)
        check_consistent_length(points, given)
        if points.shape[1] < 2:
            raise ValueError(
                f"{type(estimator).__name__} has {points.shape[1]} component, and a plane needs two: "
                "fit it with n_components=2."
            )
        nothing = np.full(len(given), "", dtype="<U11")
        trusted = np.ones(len(given), bool)
        # Of two classes, or in principal axes, the second direction is none that separates.
        axes = ("first component", "second component")
        display = cls(points=points[:, :2], given=given, finding=nothing, trusted=trusted, axes=axes)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        self : object
        """
        ax = self._prepare(ax, (7, 5))
        classes = np.unique(self.given)
        for k, label in enumerate(classes):
            style, here = _style(k), self.given == label
            name = str(label) if len(classes) <= MAX_NAMED_CLASSES else None
            ax.scatter(*self.points[here].T, s=10, label=name, **style)
            outline = _ellipse(self.points[here & self.trusted])
            if outline is not None:
                ax.plot(*outline, color=style["color"], linewidth=1.2)
        for finding, marker, color in (("mislabeled", "o", "#d00000"), ("outlying", "s", "#000000")):
            chosen = self.finding == finding
            if chosen.any():
                style = {"facecolors": "none", "edgecolors": color, "marker": marker, "linewidth": 1.1, "zorder": 3}
                ax.scatter(*self.points[chosen].T, s=46, label=f"{finding} ({chosen.sum()})", **style)
        low, high = np.quantile(self.points, [0.002, 0.998], axis=0)
        margin = 0.12 * np.maximum(high - low, 1e-12)
        ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
        ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
        ax.set_xlabel(self.axes[0])
        ax.set_ylabel(self.axes[1])
        ax.set_title("Samples by given label; ellipses contain 95 % of a class")
        _legend(ax)
        return self


def _check_drawn(audit: "LabelAudit") -> None:
    """Refuse an audit that knows of no sample where it lies."""
    if audit.plane_ is None:
        raise ValueError(
            "The audit has no features to draw samples by, or they are not finite numbers; give it some, as in "
            "LabelAudit.from_probabilities(P, y, X=X)."
        )


def _axis(audit: "LabelAudit", k: int) -> str:
    """What an axis of the plane is, and below it the features it goes with."""
    return "\n".join(filter(None, (audit.plane_axes_[k], loadings(audit, k))))


def _ellipse(points: Array) -> Array | None:
    """Outline of the region that contains 95 % of a normal cloud, fitted without the farthest tenth of the points."""
    if len(points) < 8:
        return None
    middle = np.median(points, axis=0)
    distances = np.linalg.norm((points - middle) / np.maximum(np.std(points, axis=0), 1e-300), axis=1)
    core = points[distances <= np.quantile(distances, 0.9)]
    # Without its farthest tenth, a round normal cloud retains this share of its variance.
    spread = np.cov(core.T) / 0.744
    values, vectors = np.linalg.eigh(spread)
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.sqrt(5.991) * np.array([np.cos(turn), np.sin(turn)])
    return core.mean(axis=0)[:, None] + vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)


class ClassMapDisplay(_Display):
    """Farness of each sample from its class against the probability that its label is wrong.

    Labels that fit another class better are at the top, samples far from their own class on the right. A mislabeled
    sample is both; an outlier of its class is on the right at any height.

    Parameters
    ----------
    farness, probability_wrong : ndarray of shape (n_samples,)
        The two coordinates.
    given, finding : ndarray of shape (n_samples,)
        Labels and findings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import LabelAudit
    >>> from robustlda.report import ClassMapDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> display = ClassMapDisplay.from_audit(LabelAudit().fit(X, y))
    >>> bool(display.farness[7] > 0.9), bool(display.probability_wrong[7] > 0.9)
    (True, True)
    """

    def __init__(self, *, farness: Array, probability_wrong: Array, given: Array, finding: Array) -> None:
        self.farness, self.probability_wrong, self.given, self.finding = farness, probability_wrong, given, finding

    @classmethod
    def from_audit(cls, audit: "LabelAudit", *, ax: Any = None) -> Self:
        """Draw a fitted audit.

        Parameters
        ----------
        audit : LabelAudit
            Fitted.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : object
            A display of this kind.
        """
        check_is_fitted(audit)
        _check_drawn(audit)
        display = cls(
            farness=audit.farness_,
            probability_wrong=audit.probability_wrong_,
            given=audit.given_,
            finding=audit.finding_,
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        self : object
        """
        ax = self._prepare(ax, (6.5, 4.5))
        classes = np.unique(self.given)
        for k, label in enumerate(classes):
            here = self.given == label
            name = str(label) if len(classes) <= MAX_NAMED_CLASSES else None
            place = self.farness[here], self.probability_wrong[here]
            ax.scatter(*place, s=12, label=name, **_style(k))
        outlying = self.finding == "outlying"
        if outlying.any():
            place = self.farness[outlying], self.probability_wrong[outlying]
            ax.scatter(*place, s=46, facecolors="none", edgecolors="#000000", marker="s", label="outlying")
        ax.axhline(0.5, color="#888888", linewidth=0.8, linestyle=":")
        ax.set_xlabel("farness from the given class")
        ax.set_ylabel("probability that the label is wrong")
        ax.set_title("Class map")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        _legend(ax)
        return self


class LabelNoiseDisplay(_Display):
    """Rates of label errors between classes, and in total.

    Parameters
    ----------
    transition : ndarray of shape (n_classes, n_classes)
        Probability that a sample of the row's class was given the column's label.
    classes : ndarray of shape (n_classes,)
        Class labels.
    noise_rate : float
        Estimated share of wrong labels.
    noise_interval : tuple of two floats, default=None
        Interval for it, if known.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import LabelAudit, RobustLDA
    >>> from robustlda.report import LabelNoiseDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> LabelNoiseDisplay.from_audit(LabelAudit().fit(X, y)).transition.shape
    (3, 3)
    >>> LabelNoiseDisplay.from_estimator(RobustLDA().fit(X, y)).classes.tolist()
    [0, 1, 2]
    """

    def __init__(
        self, *, transition: Array, classes: Array, noise_rate: float, noise_interval: tuple[float, float] | None = None
    ) -> None:
        self.transition, self.classes = transition, classes
        self.noise_rate, self.noise_interval = noise_rate, noise_interval

    @classmethod
    def from_audit(cls, audit: "LabelAudit", *, ax: Any = None) -> Self:
        """Draw a fitted audit.

        Parameters
        ----------
        audit : LabelAudit
            Fitted.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : object
            A display of this kind.
        """
        check_is_fitted(audit)
        display = cls(
            transition=audit.transition_,
            classes=audit.classes_,
            noise_rate=audit.noise_rate_,
            noise_interval=audit.noise_interval_,
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted estimator knows about wrong labels; it knows no interval.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``decision="noise_aware"``, or a `RobustLDA`.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : LabelNoiseDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "transition_"):
            raise ValueError(
                f"{type(estimator).__name__} knows nothing about wrong labels; fit it with decision='noise_aware'."
            )
        display = cls(transition=estimator.transition_, classes=estimator.classes_, noise_rate=estimator.noise_rate_)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        self : object
        """
        ax = self._prepare(ax, (5.5, 4.8))
        c = len(self.classes)
        wrong = np.where(np.eye(c, dtype=bool), np.nan, 100 * self.transition)
        image = ax.imshow(wrong, cmap="Reds", vmin=0, vmax=max(1.0, float(np.nanmax(wrong))))
        if c <= MAX_NAMED_CLASSES:
            names = [str(label) for label in self.classes]
            slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
            ax.set_xticks(range(c), names, **(slanted if max(map(len, names)) > 3 else {}))
            ax.set_yticks(range(c), names)
            notable = np.nan_to_num(wrong) >= max(0.5, 1.5 * float(np.nanmedian(wrong)))
            for i, j in zip(*np.nonzero(notable), strict=True):
                dark = wrong[i, j] > 0.6 * np.nanmax(wrong)
                ax.text(j, i, f"{wrong[i, j]:.0f}", ha="center", va="center", color="w" if dark else "k", fontsize=8)
        else:  # positions would be taken for labels
            ax.set_xticks([])
            ax.set_yticks([])
        ax.set_xlabel("given label")
        ax.set_ylabel("true class")
        interval = "" if self.noise_interval is None else "\n({:.1%} to {:.1%})".format(*self.noise_interval)
        ax.set_title(f"{self.noise_rate:.1%} of the labels are wrong{interval}", fontsize=10)
        self.figure_.colorbar(image, ax=ax, label="% of a class that was given the label")
        return self


class ObjectiveDisplay(_Display):
    """What an estimator minimizes, after every iteration.

    Parameters
    ----------
    path : ndarray
        The objective at the start and after every iteration, as in `objective_path_`.
    stop_reason : str
        Why the iteration stopped.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import RobustLDA
    >>> from robustlda.report import ObjectiveDisplay
    >>> model = RobustLDA(n_components=2).fit(*load_iris(return_X_y=True))
    >>> len(ObjectiveDisplay.from_estimator(model).path) == model.n_iter_ + 1
    True
    """

    def __init__(self, *, path: Array, stop_reason: str) -> None:
        self.path, self.stop_reason = path, stop_reason

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted estimator's objective.

        Parameters
        ----------
        estimator : estimator
            Fitted, with an `objective_path_`.
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        display : ObjectiveDisplay
        """
        check_is_fitted(estimator)
        display = cls(path=np.asarray(estimator.objective_path_), stop_reason=estimator.stop_reason_)
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; on new axes if None.

        Returns
        -------
        self : object
        """
        ax = self._prepare(ax, (5.5, 3.6))
        ax.plot(range(len(self.path)), self.path, marker="o", markersize=4, color="#c0143c")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.set_xlabel("iteration")
        ax.set_ylabel("objective")
        ax.set_title(self.stop_reason, fontsize=10)
        return self
