"""Displays: they store what they show, draw on given axes, and handle many classes."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA
from robustlda.datasets.contaminate import flip_labels
from robustlda.report.displays import ClassMapDisplay, LabelNoiseDisplay, ObjectiveDisplay, ProjectionDisplay

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
def test_displays_make_axes_of_their_own_when_asked_to_plot(kind, audit, ax):
    assert kind.from_audit(audit, plot=True).ax_ is not ax
    assert not hasattr(kind.from_audit(audit), "ax_"), "nothing is drawn before it is asked for"


def test_projection_marks_exactly_the_findings(audit, ax):
    display = ProjectionDisplay.from_audit(audit, ax=ax)
    flagged = display.points[audit.finding_ == "mislabelled"]
    marked = next(c for c in ax.collections if str(c.get_label()).startswith("mislabelled"))
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
        display = kind.from_audit(audit, plot=True)
        legend = display.ax_.get_legend()
        assert legend is None or len(legend.get_texts()) <= 2
        display.figure_.canvas.draw()


def test_objective_display_shows_the_path(ax):
    model = RobustLDA().fit(*load_digits(return_X_y=True))
    display = ObjectiveDisplay.from_estimator(model, ax=ax)
    assert_array_equal(ax.lines[0].get_ydata(), model.objective_path_)
    assert ax.get_title() == model.stop_reason_
    assert display.figure_ is ax.figure
