"""Least squares on class indicators or beliefs, with the answer every sample would get without itself.

For features f_j about their mean, targets y_j about theirs, weights ω and A = F V in the eigenbasis of FᵀΩF = V Λ Vᵀ,

    prediction = A (Λ + λI)⁻¹ AᵀΩY,   leverage h_j = δ_j (a_jᵀ(Λ + λI)⁻¹a_j + 1/Σω),
    prediction without δ_j of j's weight = y_j − (y_j − prediction_j) / (1 − h_j),

so one eigendecomposition gives the held-out scores for every λ. δ is the weight of a single copy: of ten equal samples,
or of one with a weight of ten, one is left out and nine stay. A wrong label moves a linear score by no more than its
leverage, which λ bounds; uniform flips shrink all scores alike and leave their order.

The features are the samples themselves (`LinearRule`), or, for classes no hyperplane separates, similarities
exp(−γ‖z − l‖²) to landmarks in the projected space (`LocalRule`), orthonormalized as Nyström's method does. Landmarks
are drawn from the clouds of the classes: they lie where samples lie, and none of them is a sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import softmax

from robustlda.data import Weights
from robustlda.linalg import Array

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""λ in units of the mean eigenvalue."""


@dataclass(frozen=True)
class Solution:
    """One λ: scores without the sample itself and with it, and coefficients on the features with their offset."""

    penalty: float
    held_out: Array
    fitted: Array
    coef: Array
    offset: Array


class LeastSquares(Protocol):
    """What learns targets of any kind from the same features again and again."""

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]: ...


class Regression:
    """Features taken apart once, for targets of any kind."""

    def __init__(self, F: Array, weights: Weights) -> None:
        weight = weights.trusted
        self._weight, self._one, self._mean = weight, weights.one_trusted, weight @ F / weight.sum()
        F = F - self._mean
        eigenvalues, self._V = np.linalg.eigh(F.T @ (F * weight[:, None]))
        self._eigenvalues, self._A = np.maximum(eigenvalues, 0), F @ self._V

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]:
        """One for each penalty, or the given one."""
        A, weight, total = self._A, self._weight, self._weight.sum()
        y = weight @ Y / total
        Y = Y - y
        B, squares = A.T @ (Y * weight[:, None]), A * A
        # Directions in which next to nothing varies, as rounding or jitter leaves them, are none of its members.
        alive = self._eigenvalues > 1e-9 * self._eigenvalues.max()
        mean = self._eigenvalues[alive].mean() if alive.any() else 1.0
        for chosen in PENALTIES if penalty is None else (penalty,):
            inverse = 1 / (self._eigenvalues + chosen * mean)
            leverage = self._one * (squares @ inverse + 1 / total)
            C = inverse[:, None] * B
            fitted = A @ C
            held_out = Y - (Y - fitted) / np.maximum(1 - leverage, 1e-6)[:, None] + y
            coef = self._V @ C
            yield Solution(chosen, held_out, fitted + y, coef, y - self._mean @ coef)


@dataclass(frozen=True)
class ScoreRule:
    """Linear scores of features, turned into probabilities."""

    coef: Array
    offset: Array
    sharpness: float

    def probabilities(self, F: Array) -> Array:
        """Probability of every class for rows of features."""
        return softmax(self.sharpness * (F @ self.coef + self.offset), axis=1)


@dataclass(frozen=True)
class Similarities:
    """Features that say how near a point is to each of some landmarks: exp(−‖z − l‖² / width)."""

    landmarks: Array
    width: float

    def of(self, Z: Array) -> Array:
        """Features of points in the projected space."""
        # The exponent as one product: 2 z·l − ‖z‖² − ‖l‖², then two operations in place. Each would be a pass over
        # many more numbers than Z has.
        squares, far = np.einsum("ij,ij->i", Z, Z), np.einsum("ij,ij->i", self.landmarks, self.landmarks)
        left = np.column_stack([Z, squares, np.ones(len(Z))])
        right = np.column_stack([2 * self.landmarks, -np.ones(len(far)), -far]) / self.width
        K = left @ right.T
        np.minimum(K, 0, out=K)
        return np.exp(K, out=K)

    def mixing(self) -> Array:
        """K^(-1/2), which makes coordinates of similarities; directions of rounding error are left out."""
        eigenvalues, V = np.linalg.eigh(self.of(self.landmarks))
        keep = eigenvalues > 1e-8 * eigenvalues[-1]
        return np.asarray(V[:, keep] / np.sqrt(eigenvalues[keep]))


def shrink_factors(squared: Array, limit: float) -> Array:
    """The factor for each row that brings its squared length down to the limit."""
    return np.sqrt(limit / np.maximum(squared, limit))
