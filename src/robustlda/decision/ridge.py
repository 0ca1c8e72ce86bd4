"""Least squares on class indicators or beliefs, with the answer every sample would get without itself.

For features f_j about their mean, targets y_j about theirs, weights ω and A = F V in the eigenbasis of FᵀΩF = V Λ Vᵀ,

    prediction = A (Λ + λI)⁻¹ AᵀΩY,   leverage h_j = δ_j (a_jᵀ(Λ + λI)⁻¹a_j + 1/Σω),
    prediction without δ_j of j's weight = y_j − (y_j − prediction_j) / (1 − h_j),

so one eigendecomposition gives the held-out scores for every λ. δ is the weight of a single copy: of ten equal samples,
or of one with a weight of ten, one is left out and nine stay. A wrong label moves a linear score by no more than its
leverage, which λ bounds; uniform flips shrink all scores alike and leave their order.

The features are the samples themselves (`members.LinearMember`), or, for classes no hyperplane separates, similarities
exp(−γ‖z − l‖²) to landmarks in the projected space (`members.LocalMember`), orthonormalized as Nyström's method does
(`Similarities.orthonormalized`). Landmarks are drawn from the clouds of the classes: they lie where samples lie, and
none of them is a sample.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from robustlda.data import Weights
from robustlda.data.store import row_slices
from robustlda.linalg import Array, softmax

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""λ in units of the mean eigenvalue."""

_TOGETHER = 512  # points whose similarities stay in the cache
_ITSELF = 1e-10  # what a landmark is more similar to itself than to a copy, which is 1
_NEAR = 1e6  # times the width, squared length up to which exponents are exact to 1e-9
_BEYOND = 1e100  # times the width or the landmarks, squared: near to nothing, and still a number
_ROUNDING = 1e-12  # of the largest eigenvalue, below which there is none


@dataclass(frozen=True)
class Solution:
    """One λ: scores without the sample itself and with it, and coefficients in a basis with their offset."""

    penalty: float
    held_out: Array
    fitted: Array
    in_basis: Array
    offset: Array
    basis: Array | None = None

    @property
    def coef(self) -> Array:
        """Coefficients on the features; of most solutions nobody asks for them."""
        return self.in_basis if self.basis is None else self.basis @ self.in_basis


class LeastSquares(Protocol):
    """What learns targets of any kind from the same features again and again."""

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]: ...


class Regression:
    """Features taken apart once, for targets of any kind."""

    def __init__(self, F: Array, weights: Weights) -> None:
        weight = weights.trusted
        self._weight, self._one, self._mean = weight, weights.one_trusted, weight @ F / weight.sum()
        F = F - self._mean
        roots = np.sqrt(weight)[:, None]
        scaled = F * roots
        if len(F) >= F.shape[1]:
            eigenvalues, self._V = np.linalg.eigh(scaled.T @ scaled)
            self._eigenvalues, self._A = np.maximum(eigenvalues, 0), F @ self._V
        else:  # the same in the space that the samples span
            eigenvalues, U = np.linalg.eigh(scaled @ scaled.T)
            keep = eigenvalues > _ROUNDING * eigenvalues[-1]
            self._eigenvalues = eigenvalues[keep]
            self._V = scaled.T @ (U[:, keep] / np.sqrt(self._eigenvalues))
            self._A = F @ self._V
        self._mean_in_basis = self._mean @ self._V
        # Directions in which next to nothing varies, as rounding or jitter leaves them, are none of its members.
        alive = self._eigenvalues > 1e-9 * self._eigenvalues.max(initial=0)
        self._unit = float(self._eigenvalues[alive].mean()) if alive.any() else 1.0
        self._leverages: dict[float, Array] = {}

    def _leverage(self, penalty: float) -> Array:
        """h, which does not depend on targets: all usual ones are computed together, and kept."""
        if penalty not in self._leverages:
            new = PENALTIES if penalty in PENALTIES else (penalty,)
            inverses = 1 / (self._eigenvalues[:, None] + self._unit * np.array(new))
            found = self._one[:, None] * ((self._A * self._A) @ inverses + 1 / self._weight.sum())
            self._leverages.update(zip(new, found.T, strict=True))
        return self._leverages[penalty]

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]:
        """One for each penalty, or the given one."""
        A, weight, total = self._A, self._weight, self._weight.sum()
        y = weight @ Y / total
        Y = Y - y
        B = A.T @ (Y * weight[:, None])
        for chosen in PENALTIES if penalty is None else (penalty,):
            C = B / (self._eigenvalues + chosen * self._unit)[:, None]
            fitted = A @ C
            held_out = Y - (Y - fitted) / np.maximum(1 - self._leverage(chosen), 1e-6)[:, None] + y
            yield Solution(chosen, held_out, fitted + y, C, y - self._mean_in_basis @ C, self._V)


@dataclass(frozen=True)
class ScoreRule:
    """Linear scores of similarities, turned into probabilities."""

    coef: Array
    offset: Array
    sharpness: float

    def probabilities(self, near: "Similarities", Z: Array) -> Array:
        """Probability of every class for points in the projected space, by their similarities."""
        scores = np.empty((len(Z), self.coef.shape[1]))
        for some in row_slices(len(Z), _TOGETHER):
            np.matmul(near.of(Z[some]), self.coef, out=scores[some])
        return softmax(self.sharpness * (scores + self.offset))


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
        beyond = _BEYOND * max(self.width, far.max())
        if squares.max(initial=0) > beyond:
            Z, squares = Z * shrink_factors(squares, beyond)[:, None], np.minimum(squares, beyond)
        left = np.column_stack([Z, squares, np.ones(len(Z))])
        right = np.column_stack([2 * self.landmarks, -np.ones(len(far)), -far]) / self.width
        K = left @ right.T
        if max(squares.max(initial=0), far.max()) > _NEAR * self.width:  # rounding may have made exponents positive
            np.minimum(K, 0, out=K)
        return np.exp(K, out=K)

    def orthonormalized(self, K: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Coordinates of similarities K, and what takes coefficients on them to those on the similarities.

        With the factor L of the landmarks' own similarities they are K L⁻ᵀ. Landmarks may determine each other: each is
        a little more similar to itself than to a copy, so that none has to be left out, which rounding would decide.
        """
        L = _factor(self.of(self.landmarks))
        coordinates = dtrsm(1.0, L, K, side=1, lower=1, trans_a=1)
        return coordinates, lambda coef: solve_triangular(L, coef, lower=True, trans="T")


def _factor(own: Array) -> Array:
    """Cholesky factor of similarities, a little more being added to their diagonal until there is one.

    Those of landmarks at very different distances have digits that mean nothing, beyond what is added usually.
    """
    for more in _ITSELF * 100.0 ** np.arange(8):  # the last is more than all similarities of a landmark together
        own[np.diag_indices(len(own))] = 1 + more
        L, failed = dpotrf(own, lower=1, clean=1)
        if not failed:
            break
    return np.asarray(L)


def shrink_factors(squared: Array, limit: float) -> Array:
    """The factor for each row that brings its squared length down to the limit."""
    return np.sqrt(limit / np.maximum(squared, limit))
