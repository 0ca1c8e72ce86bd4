"""Least squares without a matrix of features × features: the same answers as with one, however rows are stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from problems import SPARSE, make_samples
from sklearn.metrics import average_precision_score

from robustlda import RobustLDA
from robustlda.data import Weights, distinct
from robustlda.decision import matrix_free
from robustlda.decision.ridge import Regression
from robustlda.estimators import fit_decision
from robustlda.plan import Plan


def documents(n=600, terms=400, classes=3, seed=0):
    """Short texts: every class prefers some terms, and most terms are rare."""
    rng = np.random.default_rng(seed)
    usual = 1 / np.arange(10, terms + 10)
    y = np.arange(n) % classes
    X = np.zeros((n, terms))
    for row, k in zip(X, y, strict=True):
        preferred = usual * np.where(np.arange(terms) % classes == k, 3.0, 1.0)
        np.add.at(row, rng.choice(terms, 12, p=preferred / preferred.sum()), 1.0)
    X = X[:, np.ptp(X, axis=0) > 0]
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def regression(X, y, weight=None, factors=None, plan=None):
    samples = make_samples(X, y, weight, plan or Plan(linear_rule_tail=30))
    factors = np.ones(len(y)) if factors is None else factors
    return matrix_free.MatrixFreeRegression(samples, factors, distinct.find(samples))


def exact(X, factors, weight, penalty, Y):
    """Through the matrix, with λ in the units that the other uses."""
    F = (X - np.average(X, axis=0, weights=weight)) * factors[:, None]
    F = F - np.average(F, axis=0, weights=weight)
    unit = (weight @ (F**2).sum(axis=1)) / min(X.shape[1], len(X))
    Y = Y - np.average(Y, axis=0, weights=weight)
    inverse = np.linalg.inv(F.T @ (F * weight[:, None]) + penalty * unit * np.eye(X.shape[1]))
    leverage = np.einsum("ij,jk,ik->i", F, inverse, F) * np.minimum(weight, 1) + np.minimum(weight, 1) / weight.sum()
    return inverse @ F.T @ (Y * weight[:, None]), leverage


@pytest.mark.parametrize("weighted", [False, True])
def test_solutions_are_those_of_the_matrix(weighted):
    X, y = documents()
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    factors = rng.uniform(0.5, 1, len(y))
    Y = np.eye(3)[y]
    for solution in regression(X, y, weight, factors).solutions(Y):
        coef, leverage = exact(X, factors, weight, solution.penalty, Y)
        assert_allclose(solution.coef, coef, atol=1e-5 * np.abs(coef).max())
        left_out = Y - (Y - solution.fitted) / (1 - leverage)[:, None]
        assert np.abs(solution.held_out - left_out).mean() < 0.03


def test_leverages_are_nearly_exact_and_have_no_bias():
    X, y = documents()
    found = regression(X, y)
    for penalty in matrix_free.PENALTIES:
        _, leverage = exact(X, np.ones(len(y)), np.ones(len(y)), penalty, np.eye(3)[y])
        error = found._leverage(penalty) - leverage
        assert np.abs(error).mean() < 0.05  # .04 by its number of probes
        assert abs(error.mean()) < 0.012


def test_held_out_is_what_a_fit_without_the_sample_says():
    X, y = documents(n=120)
    Y = np.eye(3)[y]
    solution = next(regression(X, y).solutions(Y, 1.0))
    unit = ((X - X.mean(axis=0)) ** 2).sum() / (len(X) - 1)  # for each dimension of the space that samples span
    refitted = np.array([_without(X, Y, j, unit) for j in range(len(X))])
    assert np.corrcoef(solution.held_out.ravel(), refitted.ravel())[0, 1] > 0.98


def _without(X, Y, j, unit):
    rest = np.arange(len(X)) != j
    F, T = X[rest] - X[rest].mean(axis=0), Y[rest] - Y[rest].mean(axis=0)
    coef = np.linalg.solve(F.T @ F + unit * np.eye(X.shape[1]), F.T @ T)
    return (X[j] - X[rest].mean(axis=0)) @ coef + Y[rest].mean(axis=0)


def test_neither_storage_nor_order_nor_copies_change_the_answer():
    X, y = documents()

    def held_out(X, y, weight=None, plan=None):
        return next(regression(X, y, weight, plan=plan).solutions(np.eye(3)[y], 1.0)).held_out

    expected = held_out(X, y)
    assert_allclose(held_out(sp.csr_array(X), y, plan=Plan(densify=0, linear_rule_tail=30)), expected, atol=1e-6)
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(held_out(X[order], y[order]), expected[order], atol=1e-6)
    twice = np.arange(len(y)) < 40
    weight = np.where(twice, 2.0, 1.0)
    copied, labels = np.vstack([X, X[twice]]), np.concatenate([y, y[twice]])
    assert_allclose(held_out(copied, labels)[: len(y)], held_out(X, y, weight), atol=1e-6)
    assert np.abs(held_out(X, y, weight) - expected).max() > 0.01


def test_rare_terms_are_learned_from():
    """Few axes hold little of them; a rule that sees all terms is ahead of one that sees the axes."""
    X, y = documents(n=1200, terms=2000)
    train, test = slice(0, 800), slice(800, None)
    model = RobustLDA()
    model.plan = SPARSE
    seen_all = model.fit(sp.csr_array(X[train]), y[train]).score(sp.csr_array(X[test]), y[test])
    V = np.linalg.svd(X[train] - X[train].mean(axis=0), full_matrices=False)[2][:50].T
    few = Regression(X[train] @ V, Weights.of(np.ones(800)))
    guesses = [(X[test] @ V @ s.coef + s.offset).argmax(axis=1) for s in few.solutions(np.eye(3)[y[train]])]
    assert seen_all > max((guess == y[test]).mean() for guess in guesses) + 0.02


def test_wrong_labels_of_texts_are_found():
    X, y = documents(n=900, terms=2000, classes=2)
    rng = np.random.default_rng(0)
    wrong = rng.random(len(y)) < 0.15
    model = RobustLDA()
    model.plan = SPARSE
    given = np.where(wrong, 1 - y, y)
    beliefs = fit_decision(model, sp.csr_array(X), given).beliefs
    assert abs(model.noise_rate_ - wrong.mean()) < 0.06
    assert average_precision_score(wrong, 1 - beliefs[np.arange(len(y)), given]) > 0.6
