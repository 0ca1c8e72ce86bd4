"""Rows of a sparse matrix, never made dense and never centered: a center enters every product as a term of rank one.

With x̃_j = x_j − μ,   ‖x̃‖² = ‖x‖² − 2 xᵀμ + ‖μ‖²   and   Σ s_j x̃_j x̃_jᵀ = Σ s_j x_j x_jᵀ − v μᵀ − μ (v − Σs · μ)ᵀ,
where v = Σ s_j x_j.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from robustlda.data.dense import exponents_beyond
from robustlda.linalg import Array, class_indicator


class SparseStore:
    """A sparse matrix of any format, read as rows; the matrix that was given is never written to."""

    in_memory, sparse = True, True

    def __init__(self, X: Any) -> None:
        self._X = canonical(X)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._X.dtype

    @property
    def matrix(self) -> csr_array:
        return self._X

    def block(self, rows: slice) -> "SparseBlock":
        return SparseBlock(self._X if rows == slice(0, self.shape[0]) else self._X[rows])

    def take(self, index: Array) -> "SparseStore":
        return SparseStore(self._X[index])


def canonical(X: Any) -> csr_array:
    """Rows with sorted entries, none of them twice, in a matrix object of our own.

    SciPy sorts and adds up in place whenever it needs to, also on behalf of somebody who only wanted to know the
    largest entry, and several threads may be reading the caller's matrix at this moment.
    """
    X = X.tocsr() if X.format != "csr" else X
    rows = csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


class SparseBlock:
    """See `Block` for the meaning of each method."""

    def __init__(self, B: csr_array) -> None:
        self._B = B

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._B.dtype

    def times(self, V: Array) -> Array:
        return self._B @ V.astype(self.dtype, copy=False)

    def exactly_times(self, V: Array) -> Array:
        return self._B.astype(np.float64) @ V

    def combine(self, Z: Array) -> Array:
        return self._B.T @ Z

    def class_sums(self, labels: Array, w: Array, n_classes: int) -> Array:
        return (class_indicator(labels, w, n_classes) @ self._B).toarray()

    def squares(self, center: Array) -> Array:
        return self._distances(self._B @ center.astype(float), float(center @ center))

    def class_squares(self, labels: Array, centers: Array) -> Array:
        # One product for each entry of the matrix, however many classes there are.
        row = np.repeat(np.arange(self._B.shape[0]), np.diff(self._B.indptr))
        products = np.bincount(row, self._B.data * centers[labels[row], self._B.indices], self._B.shape[0])
        return self._distances(products, np.einsum("ij,ij->i", centers, centers)[labels])

    def _distances(self, products: Array, offset: Array | float) -> Array:
        B = self._B.astype(float)
        squares = np.asarray(B.multiply(B).sum(axis=1), float).ravel()
        lengths = squares - 2 * products + offset
        # A row at the center has a length of rounding error, which may come out negative.
        return np.where(lengths > 1e-12 * (squares + offset), lengths, 0)

    def column_squares(self, s: Array, center: Array) -> Array:
        squares = self._B.multiply(self._B).T @ s
        totals = self._B.T @ s
        return np.maximum(squares - 2 * center * totals + s.sum() * center**2, 0)

    def gram(self, s: Array, center: Array, *, single: bool = False) -> Array:
        scaled = self._B.multiply(s[:, None]).tocsr()
        sums = np.asarray(scaled.sum(axis=0), float).ravel()
        total = (self._B.T @ scaled).toarray().astype(float)
        total -= np.outer(sums, center)
        total -= np.outer(center, sums - s.sum() * center)
        return total.astype(np.float32) if single else total

    def centered(self, center: Array) -> None:
        return None

    def scaled(self, factors: Array) -> "SparseBlock":
        B = self._B
        return SparseBlock(csr_array((B.data * factors[B.indices], B.indices, B.indptr), shape=B.shape))

    def drawn_in(self, limits: Array) -> "SparseBlock":
        if self.peak() <= limits.min():
            return self
        B, excess = self._B, np.zeros(self._B.shape[0], int)
        row = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
        np.maximum.at(excess, row, exponents_beyond(B.data, limits[B.indices]))
        return SparseBlock(csr_array((np.ldexp(B.data, -excess[row]), B.indices, B.indptr), shape=B.shape))

    def peak(self) -> float:
        return float(np.maximum(self._B.data.max(initial=0), -self._B.data.min(initial=0)))

    def inner(self, other: "SparseBlock") -> Array:
        return (self._B @ other._B.T).toarray()

    def rows(self) -> Array:
        return self._B.toarray()

    def compact(self) -> csr_array:
        return self._B
