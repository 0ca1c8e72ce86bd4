"""Dense rows, centred on the fly, block by block.

The working space is the row space of the centred data, so that no direction without any scatter can enter W:

- tall data (n > d) of full rank: the feature space itself; nothing is copied but one block at a time;
- tall data of lower rank (constant or collinear columns): an orthonormal basis of the row space is found once
  and applied to W and to Gram matrices, never to the rows;
- wide data (d ≥ n): X − 1μᵀ = (VS)Qᵀ by a QR and a small SVD, and VS (n × rank) takes the place of X.
  Exact, and no d × d matrix is ever made.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse import csc_array

from robustlda.linalg import Array

_BLOCK = 1 << 22
"""Numbers in one block of rows: 32 MB in double precision."""


class DenseSamples:
    """Rows of an array as `Samples`; see the interface for the meaning of each method."""

    def __init__(self, X: Array, labels: Array, weight: Array, center: Array, n_classes: int) -> None:
        self.labels, self.weight, self.n_classes = labels, weight, n_classes
        self._basis: Array | None = None  # of the row space, when narrower than the feature space
        self._reduced = False  # whether the rows already are in working coordinates
        n, d = X.shape
        self.n_features = d
        # What centring leaves of a constant feature: rounding error of this size, never to be taken for signal.
        noise = 16 * np.finfo(X.dtype).eps * np.sqrt(n) * np.abs(center)
        if d >= n:
            self._X, self._basis = _row_space(X - center, noise.max())
            self._center = np.zeros(self._X.shape[1], X.dtype)
            self._reduced = True
        else:
            self._X, self._center = X, center
        self._cache: Array | None = None
        self._rows = max(1, _BLOCK // max(1, self._X.shape[1]))
        if n <= self._rows:
            self._cache = self._X - self._center
        if not self._reduced:
            self._basis = self._row_space_of_tall(noise)
        self.dim = d if self._basis is None else self._basis.shape[1]
        self.squared_norms = np.concatenate([_squared_lengths(B) for _, B in self._blocks()])

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        if self._cache is not None:
            yield slice(None), self._cache
            return
        for start in range(0, len(self._X), self._rows):
            rows = slice(start, start + self._rows)
            yield rows, self._X[rows] - self._center

    def _row_space_of_tall(self, noise: Array) -> Array | None:
        """Orthonormal basis of the span of the rows, or None if that is everything.

        Columns are brought to unit length, so that a feature in small units is not mistaken for rounding error. A
        well-conditioned Gram matrix then settles the matter. If it is not, it may still be that one far sample
        drowns the others in it, so the triangular factor decides, which keeps twice the digits.
        """
        G = self.gram(np.ones(len(self._X)))
        lengths = np.sqrt(np.diag(G))
        constant = lengths <= noise
        scale = np.where(constant, np.inf, lengths)
        if not constant.any() and np.linalg.eigvalsh(G / np.outer(scale, scale))[0] > 1e-10:
            return None
        R = np.zeros((0, len(G)))
        for _, B in self._blocks():
            (R,) = qr(np.vstack([R, B / scale]), mode="r", check_finite=False)
            R = R[: len(G)]
        _, S, Vt = svd(R, check_finite=False)
        null = S <= S[0] * 4 * len(self._X) * np.finfo(self._X.dtype).eps
        if not null.any():
            return None
        # What X maps to zero is the null space of R with the scaling undone; the row space is its complement.
        complete, _ = qr(np.where(constant[:, None], Vt[null].T, Vt[null].T / scale[:, None]))
        return complete[:, null.sum() :]

    def _to_columns(self, V: Array) -> Array:
        """V in the coordinates of the stored rows."""
        V = V if self._reduced or self._basis is None else self._basis @ V
        return V.astype(self._X.dtype, copy=False)

    def _from_columns(self, V: Array) -> Array:
        return V if self._reduced or self._basis is None else self._basis.T @ V

    def lengths(self, W: Array, M: Array) -> tuple[Array, Array]:
        within, captured = np.empty(len(self._X)), np.empty(len(self._X))
        V, projected = self._to_columns(W), (M @ W).astype(self._X.dtype, copy=False)
        for rows, B in self._blocks():
            Z = B @ V
            captured[rows] = _squared_lengths(Z)
            Z -= projected[self.labels[rows]]
            within[rows] = _squared_lengths(Z)
        # The difference loses at most a rounding error of ‖x‖², far below the smoothing of every loss.
        return within, np.maximum(self.squared_norms - captured, 0)

    def class_sums(self, w: Array) -> tuple[Array, Array]:
        n = len(w)
        one_per_row = csc_array((w, self.labels, np.arange(n + 1)), shape=(self.n_classes, n))
        sums = np.zeros((self.n_classes, self._X.shape[1]))
        for rows, B in self._blocks():
            sums += one_per_row[:, rows] @ B
        totals = np.bincount(self.labels, w, self.n_classes)
        return totals, self._from_columns(sums.T).T

    def gram(self, s: Array) -> Array:
        d = self._X.shape[1]
        total = np.zeros((d, d))
        for rows, B in self._blocks():
            scale = np.sqrt(np.abs(s[rows])).astype(B.dtype)[:, None]
            for sign in (1, -1):  # a product of a matrix with its own transpose costs half a general one
                chosen = np.sign(s[rows]) == sign
                if chosen.any():
                    R = B[chosen] * scale[chosen]
                    total += sign * (R.T @ R)
        if self._reduced or self._basis is None:
            return total
        return self._basis.T @ total @ self._basis

    def apply(self, s: Array, V: Array) -> Array:
        columns = self._to_columns(V)
        total = np.zeros((self._X.shape[1], V.shape[1]))
        for rows, B in self._blocks():
            total += B.T @ ((B @ columns) * s[rows, None].astype(B.dtype))
        return self._from_columns(total)

    def rows(self, index: Array | slice) -> Array:
        rows = self._X[index] - self._center
        return rows if self._reduced or self._basis is None else rows @ self._basis

    def lift(self, V: Array) -> Array:
        return V if self._basis is None else self._basis @ V

    def lower(self, V: Array) -> Array:
        return V if self._basis is None else self._basis.T @ V


def _squared_lengths(Z: Array) -> Array:
    return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)


def _row_space(X: Array, noise: float) -> tuple[Array, Array]:
    """Z and Q with X = ZQᵀ, QᵀQ = I, and as many columns as X has rank."""
    Q, R = qr(X.T, mode="economic", check_finite=False)
    U, S, Vt = svd(R, full_matrices=False, check_finite=False)
    keep = S > max(noise, S[0] * 4 * max(X.shape) * np.finfo(X.dtype).eps)
    return Vt[keep].T * S[keep], Q @ U[:, keep]
