"""Rows of an array."""

from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm, strmm

from robustlda.linalg import Array, class_indicator

_LARGE = 100  # columns of a triangle from which on not to multiply by its zeros pays


class DenseStore:
    """An array in memory."""

    in_memory, sparse = True, False

    def __init__(self, X: Array) -> None:
        self._X = X

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._X.dtype

    def block(self, rows: slice) -> "DenseBlock":
        # BLAS reads rows or columns that are contiguous in place; anything else it would copy at every product.
        return DenseBlock(_contiguous(self._X[rows]))

    def take(self, index: Array) -> "DenseStore":
        return DenseStore(self._X[index])


class DenseBlock:
    """See `Block` for the meaning of each method."""

    def __init__(self, B: Array) -> None:
        self._B = B

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._B.dtype

    def times(self, V: Array) -> Array:
        # The order of memory in which BLAS is faster for few columns: by half, in double precision.
        V = V.astype(self.dtype, copy=False)
        single = self.dtype == np.float32
        if _is_upper_triangle(V) and self._B.flags.c_contiguous:
            multiply = strmm if single else dtrmm
            return np.asarray(multiply(1.0, V, self._B.T, trans_a=1).T)  # half of the operations
        return self._B @ V if single else (V.T @ self._B.T).T

    def exactly_times(self, V: Array) -> Array:
        return self._B.astype(np.float64, copy=False) @ V

    def combine(self, Z: Array) -> Array:
        return (Z.T.astype(self.dtype, copy=False) @ self._B).T

    def class_sums(self, labels: Array, w: Array, n_classes: int) -> Array:
        return np.asarray(class_indicator(labels, w, n_classes) @ self._B, np.float64)

    def squares(self, center: Array) -> Array:
        return _squared_lengths(self._minus(center))

    def class_squares(self, labels: Array, centers: Array) -> Array:
        return _squared_lengths(self._B - centers.astype(self.dtype, copy=False)[labels])

    def column_squares(self, s: Array, center: Array) -> Array:
        R = self._minus(center)
        return np.einsum("i,ij,ij->j", s, R, R, dtype=np.float64)

    def gram(self, s: Array, center: Array, *, single: bool = False) -> Array:
        dtype = np.float32 if single else self.dtype
        total = np.zeros((self._B.shape[1],) * 2, np.float32 if single else np.float64)
        # Weights of whatever size, by powers of four that single precision has room for.
        power = 2 * (int(np.frexp(np.abs(s).max(initial=0))[1]) // 2)
        R, scale = self._minus(center), np.sqrt(np.ldexp(np.abs(s), -power)).astype(dtype)[:, None]
        for sign in (1, -1):  # a product of a matrix with its own transpose costs half of a general one
            chosen = np.sign(s) == sign
            if chosen.any():
                part = slice(None) if chosen.all() else chosen
                scaled = np.multiply(R[part], scale[part], dtype=dtype, casting="same_kind")
                total += sign * np.ldexp((scaled.T @ scaled).astype(total.dtype, copy=False), power)
        return total

    def centered(self, center: Array) -> "DenseBlock":
        return DenseBlock(self._minus(center))

    def scaled(self, factors: Array) -> "DenseBlock":
        return DenseBlock(self._B * factors)

    def drawn_in(self, limits: Array) -> "DenseBlock":
        if self.peak() <= limits.min():
            return self
        excess = exponents_beyond(self._B, limits).max(axis=1)
        return DenseBlock(np.ldexp(self._B, -np.maximum(excess, 0)[:, None]))

    def peak(self) -> float:
        return float(np.maximum(self._B.max(initial=0), -self._B.min(initial=0)))

    def inner(self, other: "DenseBlock") -> Array:
        return self._B @ other._B.T

    def rows(self) -> Array:
        return self._B

    def compact(self) -> Array:
        return self._B

    def _minus(self, center: Array) -> Array:
        return self._B - center.astype(self.dtype, copy=False) if center.any() else self._B


def exponents_beyond(values: Array, limits: Array) -> Array:
    """By how many powers of two values are too large, at most one more than needed; of zeros some negative number."""
    excess = np.frexp(values)[1] - np.frexp(limits)[1] + 1
    return np.where(values == 0, -1, excess)


def _is_upper_triangle(V: Array) -> bool:
    """Whether that is so, and large enough for it to matter."""
    d, m = V.shape
    return d == m and d >= _LARGE and not V[-1, : d // 2].any() and not np.tril(V, -1).any()


def _contiguous(B: Array) -> Array:
    return B if B.flags.c_contiguous or B.flags.f_contiguous else np.ascontiguousarray(B)


def _squared_lengths(R: Array) -> Array:
    return np.einsum("ij,ij->i", R, R, dtype=np.float64)
