"""Least squares with a penalty on more features than a matrix of features × features allows: text, above all.

As in `ridge`, for features f_j about their mean, targets y_j about theirs, weights ω and M = FᵀΩF + λI,

    prediction = F M⁻¹ FᵀΩY,   leverage h_j = δ_j (f_jᵀM⁻¹f_j + 1/Σω),
    prediction without δ_j of j's weight = y_j − (y_j − prediction_j) / (1 − h_j),

but M is never formed. Systems with it are solved by conjugate gradients, each step of which is two passes over the
rows. Rare terms are many and alike, so the eigenvalues of FᵀΩF are a few large ones and a long flat tail. With V the
directions of the large ones and Θ their eigenvalues,

    V(Θ + λI)⁻¹Vᵀ + (I − VVᵀ)/(λ + τ),   τ a typical eigenvalue of the tail,

is nearly M⁻¹, and a dozen steps are enough.

The leverages are the diagonal of S = Ω^½FM⁻¹FᵀΩ^½, but for the mean. What V contributes to it is known exactly. Of the
rest S′, small and spread out, v ⊙ S′v with random signs v has the diagonal as its mean (Hutchinson 1990), and the mean
over some dozens of them is close to it. Signs belong to distinct rows, in an order that does not depend on how they are
stored, and copies share one.
"""

from collections.abc import Iterator

import numpy as np

from robustlda.data import Samples
from robustlda.data.distinct import Distinct
from robustlda.decision.ridge import Solution
from robustlda.linalg import Array
from robustlda.solvers.subspace import principal_directions

PENALTIES = (0.1, 0.2, 0.5, 1.0, 3.0, 10.0, 100.0)
"""λ in units of the mean eigenvalue. Weaker penalties would follow every rare term."""

SIGNS = 64
"""Random signs for each row."""

_ACCURACY = 1e-7  # of residuals, relative to the right-hand side
_STEPS = 200


class MatrixFreeRegression:
    """Least squares on all features, for targets of any kind; `factors` shorten far rows."""

    def __init__(self, samples: Samples, factors: Array, groups: Distinct) -> None:
        self._samples, self._factors, self._groups = samples, factors, groups
        self._weight, self._one = samples.weights.trusted, samples.weights.one_trusted
        self._total = self._weight.sum()
        self._mean = samples.combine((self._weight * factors)[:, None]).ravel() / self._total
        self._squares = self._squared_lengths()
        self._unit = float(self._weight @ self._squares) / min(samples.dim, samples.n_samples)
        V = principal_directions(samples, samples.plan.tail_from(samples))
        Z = self._times(V)
        values, U = np.linalg.eigh(Z.T @ (Z * self._weight[:, None]))
        self._values, self._V, self._Z = np.maximum(values, 0), V @ U, Z @ U
        rest = max(float(self._weight @ self._squares) - self._values.sum(), 0.0)
        self._tail = rest / max(min(samples.dim, samples.n_samples) - len(values), 1)
        self._leverages: dict[float, Array] = {}

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]:
        """One for each penalty, or the given one."""
        y = self._weight @ Y / self._total
        Y = Y - y
        B = self._combine(Y * self._weight[:, None])
        chosen = PENALTIES if penalty is None else (penalty,)
        coefs = [np.zeros_like(B)]
        for each in reversed(chosen):  # the stronger the penalty, the fewer steps, and the solution is a start
            coefs.append(self._solve(B, each, coefs[-1]))
        for each, coef in zip(chosen, reversed(coefs), strict=False):
            fitted = self._times(coef)
            held_out = Y - (Y - fitted) / (1 - self._leverage(each))[:, None] + y
            yield Solution(each, held_out, fitted + y, coef, y - self._mean @ coef)

    def _times(self, V: Array) -> Array:
        """FV."""
        return self._samples.project(V).astype(float) * self._factors[:, None] - self._mean @ V

    def _combine(self, Z: Array) -> Array:
        """FᵀZ."""
        return self._samples.combine(Z * self._factors[:, None]) - np.outer(self._mean, Z.sum(axis=0))

    def _squared_lengths(self) -> Array:
        along = self._samples.project(self._mean[:, None]).ravel() * self._factors
        squares = self._factors**2 * self._samples.squared_norms - 2 * along + self._mean @ self._mean
        return np.maximum(squares, 0)

    def _solve(self, B: Array, penalty: float, start: Array) -> Array:
        """M⁻¹B by conjugate gradients, every column by itself."""
        shift = penalty * self._unit
        X, weight = start.copy(), self._weight[:, None]

        def times_M(P: Array) -> Array:
            return self._combine(self._times(P) * weight) + shift * P

        def nearly_inverse(R: Array) -> Array:
            inner = self._V.T @ R
            scale = 1 / (self._values + shift) - 1 / (self._tail + shift)
            return self._V @ (scale[:, None] * inner) + R / (self._tail + shift)

        R = B - times_M(X)
        P = Z = nearly_inverse(R)
        size = np.einsum("ij,ij->j", R, Z)
        enough = _ACCURACY**2 * np.maximum(np.einsum("ij,ij->j", B, nearly_inverse(B)), 1e-300)
        for _ in range(_STEPS):
            if (size <= enough).all():
                break
            Q = times_M(P)
            curvature = np.einsum("ij,ij->j", P, Q)
            step = np.where(curvature > 0, size / np.where(curvature > 0, curvature, 1), 0)
            X += step * P
            R -= step * Q
            Z = nearly_inverse(R)
            before, size = size, np.einsum("ij,ij->j", R, Z)
            P = Z + np.where(before > 0, size / np.where(before > 0, before, 1), 0) * P
        return X

    def _leverage(self, penalty: float) -> Array:
        """h for all samples."""
        if penalty not in self._leverages:
            self._leverages[penalty] = self._estimated_leverage(penalty)
        return self._leverages[penalty]

    def _estimated_leverage(self, penalty: float) -> Array:
        shift, weight = penalty * self._unit, self._weight[:, None]
        inverse = 1 / (self._values + shift)
        known = np.einsum("ij,ij,j->i", self._Z, self._Z, inverse)  # of fᵀM⁻¹f
        V, groups = self._signs(), self._groups
        # Samples that are copies act as one of their joint weight.
        root = np.sqrt(np.bincount(groups.group, self._weight))[groups.group][:, None]
        scaled = weight * V / np.maximum(root, 1e-150)
        rest = self._times(self._solve(self._combine(scaled), penalty, np.zeros((self._samples.dim, V.shape[1]))))
        rest -= self._Z @ (inverse[:, None] * (self._Z.T @ scaled))
        found = known + (V * rest / np.maximum(root, 1e-150)).mean(axis=1)
        found = np.clip(found, known, self._squares / shift)
        return np.minimum(self._one * (found + 1 / self._total), 1 - 1e-3)

    def _signs(self) -> Array:
        """Random signs of the rows."""
        groups = self._groups
        place = np.empty(len(groups), int)
        place[np.argsort(groups.order, kind="stable")] = np.arange(len(groups))
        drawn = np.random.RandomState(0).randint(0, 2, (len(groups), SIGNS)) * 2.0 - 1
        return np.asarray(drawn[place][groups.group])
