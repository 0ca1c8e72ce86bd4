"""Naive Bayes on terms: its formula, its held-out answers, and when it is heard."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC
from test_matrix_free import documents

from robustlda import LabelAudit, RobustLDA
from robustlda.data import Weights, as_store
from robustlda.datasets.contaminate import flip_labels
from robustlda.decision import candidates
from robustlda.decision.terms import DENSITY, NaiveBayes, Terms, terms_of


def naive(X, weight=None, factors=None, center=None):
    n, d = X.shape
    terms = Terms(sp.csr_array(X), np.zeros(d) if center is None else center)
    weights = Weights.of(np.ones(n) if weight is None else weight)
    return NaiveBayes(terms, np.ones(n) if factors is None else factors, weights)


def targets(rng, n, c=3):
    return rng.dirichlet(np.full(c, 0.5), n)


def by_hand(X, Y, weight, alpha, row):
    """Scores of a row by equation (1), term by term."""
    n, c, d = len(X), Y.shape[1], X.shape[1]
    scores = np.zeros(c)
    for k in range(c):
        counts = [sum(weight[j] * Y[j, k] * X[j, t] for j in range(n)) for t in range(d)]
        total, share = sum(counts), sum(weight[j] * Y[j, k] for j in range(n))
        scores[k] = np.log((share + 1) / (weight.sum() + c))
        for t in range(d):
            scores[k] += row[t] * np.log((counts[t] + alpha) / (total + alpha * d))
    return scores


@pytest.mark.parametrize("soft", [False, True])
def test_scores_are_those_of_the_formula_with_the_sample_and_without(soft):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (12, 7)).astype(float)
    weight = rng.integers(1, 4, 12).astype(float)
    Y = targets(rng, 12) if soft else np.eye(3)[np.arange(12) % 3]
    unit = weight @ X.sum(axis=1) / (weight @ (X > 0).sum(axis=1))
    for solution in naive(X, weight).solutions(Y):
        for j, row in enumerate(X):
            expected = by_hand(X / unit, Y, weight, solution.penalty, row / unit)
            assert_allclose(row @ solution.coef + solution.offset, expected, atol=1e-10)
            assert_allclose(solution.fitted[j], expected, atol=1e-10)
            left = weight - np.eye(12)[j]  # one copy is left out
            without = by_hand(X / unit, Y, left, solution.penalty, row / unit)
            # π is counted from as many samples as before; a constant for all classes.
            without += np.log((left.sum() + 3) / (weight.sum() + 3))
            assert_allclose(solution.held_out[j], without, atol=0.03 if soft else 1e-10)


def test_without_weights_and_in_their_own_unit_it_is_that_of_scikit_learn():
    X, y = documents()
    unit = X.sum() / (X > 0).sum()
    for solution in naive(X).solutions(np.eye(3)[y]):
        peer = MultinomialNB(alpha=solution.penalty, class_prior=np.bincount(y) / len(y)).fit(X / unit, y)
        assert_array_equal((X @ solution.coef + solution.offset).argmax(axis=1), peer.predict(X / unit))


def test_nothing_depends_on_the_unit_of_all_entries():
    X, y = documents()
    Y, center = np.eye(3)[y], X.mean(axis=0)
    one, other = (list(naive(f * X, center=f * center).solutions(Y)) for f in (1.0, 1e150))
    for a, b in zip(one, other, strict=True):
        assert_allclose(a.held_out, b.held_out, rtol=1e-9)
        assert_allclose(a.coef, b.coef * 1e150, rtol=1e-9)


def test_far_rows_are_drawn_in_to_the_center():
    X, y = documents(200)
    rng = np.random.default_rng(3)
    factors, center = np.where(rng.random(200) < 0.1, 0.3, 1.0), X.mean(axis=0)
    for solution in naive(X, factors=factors, center=center).solutions(np.eye(3)[y]):
        drawn_in = factors[:, None] * (X - center)
        assert_allclose(solution.fitted, drawn_in @ solution.coef + solution.offset, atol=1e-9)


def test_copies_are_left_out_one_at_a_time():
    X, y = documents(150)
    copies = np.arange(150) % 3 + 1
    weighted = naive(X, copies.astype(float)).solutions(np.eye(3)[y])
    repeated = naive(np.repeat(X, copies, axis=0)).solutions(np.repeat(np.eye(3)[y], copies, axis=0))
    for a, b in zip(weighted, repeated, strict=True):
        assert_allclose(np.repeat(a.held_out, copies, axis=0), b.held_out, atol=1e-9)
        assert_allclose(a.coef, b.coef, atol=1e-12)


def test_terms_are_never_negative_and_nearly_all_zero():
    X, _ = documents()
    weight = np.ones(len(X))
    for stored in (X, sp.csr_array(X), X.astype(np.float32)):
        found = terms_of(as_store(stored), weight, 70)
        assert found is not None
        assert_allclose(found.toarray(), X, atol=1e-7)
    assert terms_of(as_store(X - 1e-9), weight, 70) is None
    below = X.copy()
    below[-1, 0] = -1e-9
    assert terms_of(as_store(sp.csr_array(below)), weight, 70) is None
    full = X.copy()
    full[:, : int(DENSITY * X.shape[1]) + 1] = 1
    for stored in (full, sp.csr_array(full)):
        assert terms_of(as_store(stored), weight, 70) is None
    assert terms_of(as_store(np.zeros((5, 4))), np.ones(5), 2) is None
    # Rows count as often as they weigh.
    assert terms_of(as_store(np.vstack([X, full[:1]])), np.append(weight, 1.0), 70) is not None
    assert terms_of(as_store(np.vstack([X, full[:1]])), np.append(weight, 1e6), 70) is None


def test_a_committee_hears_terms_in_both_stages_however_they_are_stored():
    X, y = documents()
    given, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    dense, sparse = RobustLDA().fit(X, given), RobustLDA().fit(sp.csr_matrix(X), given)
    for stage in dense.rule_.stages:
        assert len(stage.linear) == 2
        assert stage.erring.weights.shape == (5,)
    assert_allclose(dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)), atol=1e-6)
    # About a center they are terms no more.
    assert len(RobustLDA().fit(X - X.mean(axis=0), given).rule_.stages[0].linear) == 1


def test_rare_terms_are_worth_more_to_it_than_to_a_linear_rule():
    X, y = documents(2400, 1500, seed=5)
    train, test = np.arange(800), np.arange(800, 2400)
    given, _ = flip_labels(y[train], 0.3, np.random.default_rng(1))
    model = RobustLDA().fit(X[train], given)
    peers = [LinearSVC(C=C).fit(X[train], given).score(X[test], y[test]) for C in (0.03, 0.1, 0.3, 1.0)]
    assert model.score(X[test], y[test]) > max(peers) + 0.01


def test_held_out_answers_are_as_good_as_those_about_new_texts():
    X, y = documents(3000, 1500, seed=6)
    train, test = np.arange(1500), np.arange(1500, 3000)
    for solution in naive(X[train]).solutions(np.eye(3)[y[train]]):
        held_out = (solution.held_out.argmax(axis=1) == y[train]).mean()
        new = ((X[test] @ solution.coef + solution.offset).argmax(axis=1) == y[test]).mean()
        assert abs(held_out - new) < 0.05


def test_a_rule_that_reads_labels_out_of_beliefs_is_not_heard(monkeypatch):
    """One that knows what was given of samples left out, though neither beliefs nor an analysis of labels tell it."""
    X, y = documents(600, 300, classes=2, seed=8)
    given, _ = flip_labels(y, 0.2, np.random.default_rng(2))
    honest = RobustLDA().fit(X, given)
    assert honest.rule_.stages[0] is not honest.rule_.stages[1]
    alternate = candidates.discriminant.alternate

    def reading(regression, labels, beliefs, explain):
        found = alternate(regression, labels, beliefs, explain)
        return replace(found, held_out=0.7 * np.eye(2)[labels.given] + 0.3 * found.held_out)

    monkeypatch.setattr(candidates.discriminant, "alternate", reading)
    cautious = RobustLDA().fit(X, given)
    assert cautious.rule_.stages[0] is cautious.rule_.stages[1]
    monkeypatch.setattr(candidates, "KNOWS_MORE", np.inf)
    trusting = RobustLDA().fit(X, given)
    assert trusting.rule_.stages[0] is not trusting.rule_.stages[1]


def test_wrong_labels_of_texts_are_found_with_it():
    X, y = documents(900, 600, seed=4)
    given, wrong = flip_labels(y, 0.2, np.random.default_rng(0))
    audit = LabelAudit().fit(X, given)
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.08
