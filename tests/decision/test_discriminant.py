"""Discriminant analysis of beliefs: it is Fisher's, it does not betray what was left out, and it corrects labels."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from robustlda.data import Weights
from robustlda.decision import discriminant
from robustlda.decision.labels import Labels
from robustlda.decision.ridge import Regression


def labels_of(y, c=None):
    ones = np.ones(len(y))
    return Labels(y, ones, ones, np.full(len(y), -1), c or y.max() + 1)


def alternated(X, y):
    labels = labels_of(y)
    start = 0.9 * np.eye(labels.n_classes)[y] + 0.1 / labels.n_classes

    def explain(R):
        return labels.likelihood(labels.transition(R, uniform=False))

    return discriminant.alternate(Regression(X, Weights.of(np.ones(len(y)))), labels, start, explain)


def test_with_labels_that_are_right_it_is_fishers_analysis():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    R = np.eye(3)[y]
    solution = next(Regression(X, Weights.of(np.ones(len(y)))).solutions(R, 1e-6))
    coef, offset = discriminant._analysis(solution, R, np.ones(len(y)))
    scores = (X @ solution.coef + solution.offset) @ coef + offset
    fisher = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).decision_function(X)
    centered = [s - s.mean(axis=1, keepdims=True) for s in (scores, fisher)]
    assert np.corrcoef(centered[0].ravel(), centered[1].ravel())[0, 1] > 0.995
    assert (scores.argmax(axis=1) == fisher.argmax(axis=1)).all()


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 20])
def test_what_is_left_out_does_not_betray_its_target(penalty, d):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, d)), rng.integers(0, 4, 300)
    X[:, 0] += 3 * (y > 1)  # one direction in which classes differ, so that something is left to analyse
    R = np.eye(4)[y]
    solution = next(Regression(X, Weights.of(np.ones(len(y)))).solutions(R, penalty))
    coef, offset = discriminant._analysis(solution, R, np.ones(len(y)))
    held_out = (solution.held_out @ coef + offset).argmax(axis=1)
    assert (held_out == y).mean() < 0.6  # half of them can be known: which pair, but not which of it


def test_what_a_strong_penalty_leaves_does_not_betray_it_either():
    """Classes along one direction of few codes: scores with themselves hardly vary, and those without would tell."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        F = rng.integers(0, 4, (120, 3))
        X, y = F.astype(float), F.sum(axis=1) * 4 // 10
        given = np.where(rng.random(120) < 0.9, y, rng.integers(0, 4, 120))
        R = np.eye(4)[given]
        right = {}
        for solution in Regression(X, Weights.of(np.ones(120))).solutions(R):
            coef, offset = discriminant._analysis(solution, R, np.ones(120))
            right[solution.penalty] = ((solution.held_out @ coef + offset).argmax(axis=1) == given).mean()
        assert right[100.0] < right[1.0] + 0.03, "nobody knows labels better for learning less"


def test_labels_of_one_class_taken_for_another_are_corrected():
    X, true = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    given = np.where((true == 3) & (rng.random(len(true)) < 0.3), 8, true)
    found = alternated(X / 16, given).held_out.argmax(axis=1)
    wrong = given != true
    assert (found[wrong] == true[wrong]).mean() > 0.8  # of some fifty
    assert (found == true).mean() > 0.93


def test_scores_of_the_features_are_those_of_the_samples():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    found = alternated(X, y)
    scores = X @ found.coef + found.offset
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert_allclose(p.mean(axis=0), found.held_out.mean(axis=0), atol=0.02)
    assert np.abs(p - found.held_out).mean() < 0.02  # with the sample itself, and without
    assert (p.argmax(axis=1) == y).mean() > 0.98


def test_the_alternation_stops_where_it_loses_the_classes(monkeypatch):
    """From the third round on it is made to know nothing: what it found before is kept."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    likeliest, found = discriminant._likeliest, []

    def losing(*parts):
        now = likeliest(*parts)
        lost = replace(now, held_out=np.full_like(now.held_out, 1 / 3)) if len(found) >= 2 else now
        found.append(lost)
        return lost

    monkeypatch.setattr(discriminant, "_likeliest", losing)
    assert alternated(X, y) is found[1]
    assert len(found) == 3


@pytest.mark.parametrize(("lost", "chosen"), [(0.5, 1), (0.001, 2)])
def test_the_next_stronger_penalty_is_taken_unless_it_is_clearly_worse(monkeypatch, lost, chosen):
    """A hundred labels, about each of which the next penalty says less by that, give or take .1."""
    rng, y = np.random.default_rng(0), np.arange(100) % 2
    logs = [np.full(100, -3.0), np.full(100, -1.0), -1.0 - lost + 0.1 * rng.standard_normal(100), np.full(100, -2.0)]
    logs[2] += -1.0 - lost - logs[2].mean()

    def analysed(k, *_):
        return SimpleNamespace(logs=logs[k], discriminant=lambda: k)

    monkeypatch.setattr(discriminant, "_sharpest", analysed)
    assert discriminant._likeliest(range(4), labels_of(y), np.eye(2)[y], np.ones((100, 2))) == chosen
