"""Displays: they store what they show, draw on given axes, and handle many classes."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA, TraceRatioLDA, report
from robustlda.datasets.contaminate import flip_labels
from robustlda.report import ClassMapDisplay, LabelNoiseDisplay, ObjectiveDisplay, ProjectionDisplay, displays
from robustlda.report.texts import loadings

matplotlib.use("Agg")
OF_AUDITS = (ProjectionDisplay, ClassMapDisplay, LabelNoiseDisplay)


@pytest.fixture(scope="module")
def audit():
    X, y = load_wine(return_X_y=True)
    given, _ = flip_labels(y, 0.15, np.random.default_rng(0))
    return LabelAudit().fit(StandardScaler().fit_transform(X), np.array(["red", "white", "rosé"])[given])


@pytest.fixture
def ax():
    import matplotlib.pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


@pytest.mark.parametrize("kind", OF_AUDITS)
def test_displays_draw_on_given_axes_and_name_what_they_show(kind, audit, ax):
    display = kind.from_audit(audit, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_title()
    assert ax.get_xlabel()
    words = {text.get_text() for text in ax.get_legend().get_texts()} if ax.get_legend() else set()
    names = words | {text.get_text() for text in ax.get_xticklabels()}
    assert {"red", "white", "rosé"} <= names
    display.figure_.canvas.draw()


@pytest.mark.parametrize("kind", OF_AUDITS)
def test_displays_draw_at_once_on_axes_of_their_own(kind, audit, ax):
    drawn = kind.from_audit(audit)
    assert drawn.ax_ is not ax
    assert drawn.ax_.collections or drawn.ax_.images, "as scikit-learn's displays do"
    first = drawn.ax_
    assert drawn.plot().ax_ is not first, "and again wherever they are asked to"


def test_features_of_an_axis_keep_their_names():
    told = SimpleNamespace(plane_features=lambda axis: [("10.5 mm", 0.534), ("width", -1.0)])
    assert loadings(told, 0) == "10.5 mm +.53, width −1.00"


def test_projection_marks_exactly_the_findings(audit, ax):
    display = ProjectionDisplay.from_audit(audit, ax=ax)
    flagged = display.points[audit.finding_ == "mislabeled"]
    marked = next(c for c in ax.collections if str(c.get_label()).startswith("mislabeled"))
    assert_array_equal(np.asarray(marked.get_offsets()), flagged)
    inside = 0
    for label, line in zip(np.unique(audit.given_), ax.lines, strict=True):
        outline = matplotlib.path.Path(np.column_stack(line.get_data()))
        points = display.points[(audit.given_ == label) & display.trusted]
        inside += outline.contains_points(points).sum()
    assert 0.85 < inside / display.trusted.sum() <= 1, "ellipses contain most trusted samples"


def test_many_classes_are_not_named_one_by_one(ax):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 20
    audit = LabelAudit().fit(rng.normal(size=(200, 30)) + 8 * rng.normal(size=(20, 30))[y], y)
    for kind in OF_AUDITS:
        display = kind.from_audit(audit)
        legend = display.ax_.get_legend()
        assert legend is None or len(legend.get_texts()) <= 2
        display.figure_.canvas.draw()


def test_no_two_named_classes_look_alike(ax):
    rng = np.random.default_rng(0)
    y = np.arange(displays.MAX_NAMED_CLASSES * 10) % displays.MAX_NAMED_CLASSES
    X = rng.normal(size=(len(y), 6)) + 20 * rng.normal(size=(displays.MAX_NAMED_CLASSES, 6))[y]
    audit = LabelAudit().fit(X, y)
    for kind in (ProjectionDisplay, ClassMapDisplay):
        drawn = kind.from_audit(audit).ax_
        named = [c for c in drawn.collections if str(c.get_label()) in set(map(str, range(len(y))))]
        looks = {(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in named}
        assert len(looks) == len(named) == displays.MAX_NAMED_CLASSES


def test_positions_of_many_classes_are_not_shown_as_their_labels(ax):
    c = displays.MAX_NAMED_CLASSES + 8
    display = LabelNoiseDisplay(transition=np.eye(c), classes=np.arange(c) + 1000, noise_rate=0.0).plot(ax)
    display.figure_.canvas.draw()
    assert not [t.get_text() for axis in (ax.xaxis, ax.yaxis) for t in axis.get_ticklabels() if t.get_text()]


def test_long_names_of_classes_do_not_push_the_title_under_the_color_bar(ax):
    classes = np.array(["Barolo from the Langhe", "Grignolino d'Asti", "Barbera"])
    shown = LabelNoiseDisplay(transition=np.eye(3), classes=classes, noise_rate=0.139, noise_interval=(0.101, 0.177))
    figure = shown.plot().figure_
    figure.canvas.draw()
    title, bar = figure.axes[0].title.get_window_extent(), figure.axes[1].get_tightbbox()
    assert not title.overlaps(bar)
    assert title.x1 <= figure.bbox.x1


def test_objective_display_shows_the_path(ax):
    model = RobustLDA().fit(*load_digits(return_X_y=True))
    display = ObjectiveDisplay.from_estimator(model, ax=ax)
    assert_array_equal(ax.lines[0].get_ydata(), model.objective_path_)
    assert ax.get_title() == model.stop_reason_
    assert display.figure_ is ax.figure


def test_displays_are_found_where_users_look():
    assert {name: getattr(report, name) for name in report.__all__} == {n: getattr(displays, n) for n in report.__all__}
    assert set(report.__all__) <= set(dir(report))
    with pytest.raises(AttributeError, match="has no attribute 'PieChartDisplay'"):
        report.PieChartDisplay  # noqa: B018


def test_samples_are_drawn_in_the_projection_of_an_estimator(ax):
    X, y = load_wine(return_X_y=True)
    model = RobustLDA().fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X[::2], y[::2], ax=ax)
    assert_array_equal(display.points, model.transform(X[::2]))
    assert display.ax_ is ax
    assert len(ax.lines) == 3, "an ellipse for each class"
    assert not any("mislabeled" in str(c.get_label()) for c in ax.collections)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("first component", "second component")
    assert ProjectionDisplay.from_estimator(model, X, y).ax_ is not ax
    with pytest.raises(ValueError, match="RobustLDA has 1 component, and a plane needs two"):
        ProjectionDisplay.from_estimator(RobustLDA(n_components=1).fit(X, y), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ProjectionDisplay.from_estimator(model, X, y[:9])


@pytest.mark.parametrize("kind", OF_AUDITS)
def test_what_is_not_fitted_is_not_drawn(kind):
    with pytest.raises(NotFittedError):
        kind.from_audit(LabelAudit())
    for display in (LabelNoiseDisplay, ObjectiveDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(RobustLDA())


def test_samples_without_features_cannot_be_drawn():
    y = np.arange(30) % 3
    audit = LabelAudit.from_probabilities(np.eye(3)[y] * 0.9 + 0.1 / 3, y)
    for kind in (ProjectionDisplay, ClassMapDisplay):
        with pytest.raises(ValueError, match="The audit has no features to draw samples by"):
            kind.from_audit(audit)


def test_label_noise_of_an_estimator_has_no_interval(audit, ax):
    X, y = load_wine(return_X_y=True)
    model = RobustLDA().fit(X, flip_labels(y, 0.2, np.random.default_rng(0))[0])
    display = LabelNoiseDisplay.from_estimator(model, ax=ax)
    assert_array_equal(display.transition, model.transition_)
    assert ax.get_title() == f"{model.noise_rate_:.1%} of the labels are wrong"
    assert " to " in LabelNoiseDisplay.from_audit(audit).ax_.get_title()
    with pytest.raises(ValueError, match="TraceRatioLDA knows nothing about wrong labels"):
        LabelNoiseDisplay.from_estimator(TraceRatioLDA().fit(X, y))
