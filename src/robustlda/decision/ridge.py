"""Least squares on class indicators or beliefs, with the answer every sample would get without itself.

For features f_j about their mean, targets y_j about theirs, weights ω and A = F V in the eigenbasis of FᵀΩF = V Λ Vᵀ,

    prediction = A (Λ + λI)⁻¹ AᵀΩY,   leverage h_j = ω_j (a_jᵀ(Λ + λI)⁻¹a_j + 1/Σω),
    prediction without j = y_j − (y_j − prediction_j) / (1 − h_j),

so one eigendecomposition gives the held-out scores for every λ. A wrong label moves a linear score by no more than
its leverage, which λ bounds; uniform flips shrink all scores alike and leave their order.

The features are the samples themselves (`LinearRule`), or, for classes no hyperplane separates, similarities
exp(−γ‖z − l‖²) to some of the samples in the projected space (`KernelRule`), orthonormalised as Nyström's method does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from robustlda.linalg import Array, weighted_median
from robustlda.samples.center import squared_distances

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""λ in units of the mean eigenvalue."""


@dataclass(frozen=True)
class Solution:
    """One λ: scores without the sample itself, and coefficients on the features with their offset."""

    held_out: Array
    coef: Array
    offset: Array


class Regression:
    """Features taken apart once, for targets of any kind."""

    def __init__(self, F: Array, weight: Array) -> None:
        self._weight, self._mean = weight, weight @ F / weight.sum()
        F = F - self._mean
        eigenvalues, self._V = np.linalg.eigh(F.T @ (F * weight[:, None]))
        self._eigenvalues, self._A = np.maximum(eigenvalues, 0), F @ self._V

    def solutions(self, Y: Array) -> list[Solution]:
        """One for each penalty."""
        A, weight, total = self._A, self._weight, self._weight.sum()
        y = weight @ Y / total
        Y = Y - y
        B = A.T @ (Y * weight[:, None])
        mean = self._eigenvalues.mean() or 1.0
        solutions = []
        for penalty in PENALTIES:
            inverse = 1 / (self._eigenvalues + penalty * mean)
            leverage = weight * ((A * A) @ inverse + 1 / total)
            C = inverse[:, None] * B
            held_out = Y - (Y - A @ C) / np.maximum(1 - leverage, 1e-6)[:, None] + y
            coef = self._V @ C
            solutions.append(Solution(held_out, coef, y - self._mean @ coef))
        return solutions


@dataclass(frozen=True)
class LinearRule:
    """Scores of the samples themselves, those far from the centre being drawn in so that none has much leverage."""

    center: Array
    limit: float
    coef: Array
    offset: Array
    sharpness: float

    def probabilities(self, X: Any) -> Array:
        scores = X @ self.coef - self.center @ self.coef
        drawn_in = bounded(squared_distances(X, self.center), self.limit)[:, None]
        return softmax(self.sharpness * (scores * drawn_in + self.offset), axis=1)


@dataclass(frozen=True)
class KernelRule:
    """Scores of similarities to landmarks in the projected space."""

    landmarks: Array
    width: float
    mixing: Array
    coef: Array
    offset: Array
    sharpness: float

    def probabilities(self, Z: Array) -> Array:
        B = self.mixing @ self.coef
        blocks = (Z[start : start + 4096] for start in range(0, len(Z), 4096))
        scores = np.concatenate([similarities(rows, self.landmarks, self.width) @ B for rows in blocks])
        return softmax(self.sharpness * (scores + self.offset), axis=1)


def similarities(Z: Array, landmarks: Array, width: float) -> Array:
    squared = np.einsum("ij,ij->i", Z, Z)[:, None] + np.einsum("ij,ij->i", landmarks, landmarks)
    return np.exp(-np.maximum(squared - 2 * (Z @ landmarks.T), 0) / width)


def mixing(landmarks: Array, width: float) -> Array:
    """What makes similarities to the landmarks coordinates: K^(-1/2), directions of rounding error left out."""
    eigenvalues, V = np.linalg.eigh(similarities(landmarks, landmarks, width))
    keep = eigenvalues > 1e-8 * eigenvalues[-1]
    return V[:, keep] / np.sqrt(eigenvalues[keep])


def typical(squared_lengths: Array, weight: Array) -> float:
    """Median squared length, or 1 where all samples are alike."""
    return weighted_median(squared_lengths, weight) or 1.0


def bounded(squared: Array, limit: float) -> Array:
    """The factor for each row that brings its squared distance from the centre down to the limit."""
    return np.sqrt(limit / np.maximum(squared, limit))
