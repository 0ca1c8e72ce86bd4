"""The centroid rule: consistent on clean classes, unmoved by far samples, defined with few samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from robustlda.data.centered import CenteredBlock
from robustlda.data.dense import DenseBlock
from robustlda.decision.centroid import CentroidRule, fit_ellipses


def classes(n=4000, m=4, seed=0):
    rng = np.random.default_rng(seed)
    L = np.tril(rng.normal(size=(m, m)), -1) + 2 * np.eye(m)
    labels = np.arange(n) % 3
    centers = 3 * rng.normal(size=(3, m))
    return rng.normal(size=(n, m)) @ L.T + centers[labels], labels, centers, L @ L.T


def probabilities(rule, Z):
    slopes, offset = rule.log_density()
    return softmax(Z @ slopes + offset, axis=1)


def test_centers_and_scatter_of_gaussian_classes_are_recovered():
    Z, labels, centers, covariance = classes(n=30_000)
    rule = fit_ellipses(Z, labels, np.ones(len(Z)), 3)
    assert_allclose(rule.centers, centers, atol=5 * np.sqrt(np.diag(covariance).max() / 10_000))
    assert np.linalg.norm(rule.scatter * rule.unit**2 - covariance) < 0.05 * np.linalg.norm(covariance)


def test_probabilities_of_gaussian_classes_are_calibrated():
    Z, labels, _, _ = classes(n=20_000)
    rule = fit_ellipses(Z[::2], labels[::2], np.ones(10_000), 3)
    probability = probabilities(rule, Z[1::2])
    confidence, right = probability.max(axis=1), probability.argmax(axis=1) == labels[1::2]
    for low, high in [(0.4, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)]:
        bin = (confidence >= low) & (confidence < high)
        by_chance = 0.5 / np.sqrt(bin.sum())
        assert abs(confidence[bin].mean() - right[bin].mean()) < 0.03 + 3 * by_chance


def test_far_samples_move_neither_centers_nor_scatter():
    Z, labels, _, _ = classes(n=600)
    clean = fit_ellipses(Z, labels, np.ones(600), 3)
    # One in thirty: the scatter of an M-estimator withstands a share of about one in m + ν.
    Z[:20] += 1e4
    corrupted = fit_ellipses(Z, labels, np.ones(600), 3)
    assert_allclose(corrupted.centers, clean.centers, atol=0.5)
    size = np.linalg.norm(clean.scatter * clean.unit**2)
    assert np.linalg.norm(corrupted.scatter * corrupted.unit**2 - clean.scatter * clean.unit**2) < 0.5 * size


@pytest.mark.parametrize("n", [4, 6, 12])
def test_fewer_samples_than_components(n):
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    Z = rng.normal(size=(n, 10)) + 10 * labels[:, None]
    rule = fit_ellipses(Z, labels, np.ones(n), 2)
    probability = probabilities(rule, Z)
    assert np.isfinite(probability).all()
    assert (probability.argmax(axis=1) == labels).all()


@pytest.mark.parametrize("priors", [np.array([0.7, 0.2, 0.1]), np.array([0.0, 0.5, 0.5])])
def test_priors_are_factors_of_the_odds(priors):
    Z, labels, _, _ = classes(n=300)
    ellipses = fit_ellipses(Z, labels, np.ones(300), 3)
    even, other = (CentroidRule(np.eye(4), ellipses, shares) for shares in (np.full(3, 1 / 3), priors))
    rows = CenteredBlock(DenseBlock(Z), np.zeros(4))
    expected = softmax(even.scores(rows), axis=1) * priors
    found = softmax(other.scores(rows), axis=1)
    assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), atol=1e-12)
    slopes, offset = other.linear_scores()
    assert_allclose(softmax(Z @ slopes.T + offset, axis=1), found, atol=1e-12)
