"""Dense rows, centred on the fly, block by block.

The working space is the row space of the centred data, so that no direction without any scatter can enter W:

- tall data (n > d) of full rank: the feature space itself; nothing is copied but one block at a time;
- tall data of lower rank (constant or collinear columns): an orthonormal basis of the row space is found once
  and applied to W and to Gram matrices, never to the rows;
- wide data (d ≥ n): X − 1μᵀ = (VS)Qᵀ by a QR and a small SVD, and VS (n × rank) takes the place of X.
  Exact, and no d × d matrix is ever made.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, svd

from robustlda.linalg import Array, class_indicator
from robustlda.samples._interface import Samples

_BLOCK = 1 << 22
"""Numbers in one block of rows: 32 MB in double precision."""


class _Rows:
    """Dense rows with all that can be asked of them; how they came about is the subclass's business."""

    labels: Array
    weight: Array
    n_classes: int
    n_features: int
    dim: int
    squared_norms: Array

    @property
    def n_samples(self) -> int:
        return len(self.labels)

    @property
    def rank(self) -> int:
        return self.dim

    def _hold(self, X: Array, center: Array | None) -> None:
        self._X, self._center = X, center
        self._basis: Array | None = None  # of the row space, when narrower than the feature space
        self._reduced = False  # whether the rows already are in the coordinates of the basis
        self._rows = max(1, _BLOCK // max(1, X.shape[1]))
        self._cache = None
        self._late_center: Array | None = None  # what to take from products of rows instead of the rows
        if center is None:
            self._cache = X
        elif len(X) <= self._rows:
            self._cache = X - center

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        for start in range(0, len(self._X), self._rows):
            rows = slice(start, start + self._rows)
            yield rows, self._X[rows] - self._center if self._cache is None else self._cache[rows]

    def _projections(self, columns: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of rows, centred or as they are, with their centred coordinates in some columns."""
        if self._late_center is None:
            for rows, B in self._blocks():
                yield rows, B, _times_few(B, columns)
            return
        offset = self._late_center @ columns
        for start in range(0, len(self._X), self._rows):
            rows = slice(start, start + self._rows)
            Z = _times_few(self._X[rows], columns)
            Z -= offset
            yield rows, self._X[rows], Z

    def _to_columns(self, V: Array) -> Array:
        """V in the coordinates of the stored rows."""
        V = V if self._reduced or self._basis is None else self._basis @ V
        return V.astype(self._X.dtype, copy=False)

    def _from_columns(self, V: Array) -> Array:
        return V if self._reduced or self._basis is None else self._basis.T @ V

    def lengths(self, W: Array, M: Array) -> tuple[Array, Array]:
        within, captured = np.empty(len(self._X)), np.empty(len(self._X))
        V, projected = self._to_columns(W), (M @ W).astype(self._X.dtype, copy=False)
        for rows, _, Z in self._projections(V):
            captured[rows] = _squared_lengths(Z)
            labels = self.labels[rows]
            Z -= projected[labels] if Z.flags.c_contiguous else projected.T[:, labels].T
            within[rows] = _squared_lengths(Z)
        # The difference loses at most a rounding error of ‖x‖², far below the smoothing of every loss.
        return within, np.maximum(self.squared_norms - captured, 0)

    def class_sums(self, w: Array) -> tuple[Array, Array]:
        one_per_row = class_indicator(self.labels, w, self.n_classes)
        sums = np.zeros((self.n_classes, self._X.shape[1]))
        for rows, B in self._blocks():
            sums += one_per_row[:, rows] @ B
        totals = np.bincount(self.labels, w, self.n_classes)
        return totals, self._from_columns(sums.T).T

    @cached_property
    def total_scatter(self) -> Array:
        return self.gram(self.weight)

    def gram(self, s: Array, *, single: bool = False) -> Array:
        dtype = np.float32 if single else self._X.dtype
        total = np.zeros((self._X.shape[1],) * 2, np.float32 if single else np.float64)
        for rows, B in self._blocks():
            scale = np.sqrt(np.abs(s[rows]))[:, None]
            for sign in (1, -1):  # a product of a matrix with its own transpose costs half a general one
                chosen = np.sign(s[rows]) == sign
                if chosen.any():
                    everything = slice(None) if chosen.all() else chosen
                    R = np.multiply(B[everything], scale[everything], dtype=dtype, casting="same_kind")
                    total += sign * (R.T @ R)
        if self._reduced or self._basis is None:
            return total
        basis = self._basis.astype(total.dtype)
        return basis.T @ total @ basis

    def apply(self, s: Array, V: Array) -> Array:
        total, sums = np.zeros((self._X.shape[1], V.shape[1])), np.zeros(V.shape[1])
        for rows, B, Z in self._projections(self._to_columns(V)):
            Z *= s[rows, None].astype(B.dtype)
            total += _few_combinations(B, Z)
            sums += Z.sum(axis=0)
        if self._late_center is not None:
            total -= np.outer(self._late_center, sums)
        return self._from_columns(total)

    def project(self, V: Array) -> Array:
        return np.concatenate([Z for _, _, Z in self._projections(self._to_columns(V))])

    def combine(self, Z: Array) -> Array:
        total = np.zeros((self._X.shape[1], Z.shape[1]))
        for rows, B in self._blocks():
            total += _few_combinations(B, Z[rows].astype(B.dtype, copy=False))
        return self._from_columns(total)

    def inner_products(self, rows: slice) -> Array:
        return self.project(self.rows(rows).T.astype(float)).T

    def rows(self, index: Array | slice) -> Array:
        rows = self._X[index] if self._center is None else self._X[index] - self._center
        return rows if self._reduced or self._basis is None else rows @ self._basis

    def lift(self, V: Array) -> Array:
        return V if self._basis is None else self._basis @ V

    def lower(self, V: Array) -> Array:
        return V if self._basis is None else self._basis.T @ V

    def shifted_rows(self) -> Array:
        return self.rows(slice(None))

    def within_span(self, V: Array) -> Array:
        return V  # the working space is the span


class DenseSamples(_Rows):
    """Rows of an array as `Samples`; see the interface for the meaning of each method."""

    def __init__(self, X: Array, labels: Array, weight: Array, center: Array, n_classes: int) -> None:
        self.labels, self.weight, self.n_classes = labels, weight, n_classes
        n, d = X.shape
        self.n_features = d
        # What centring leaves of a constant feature: rounding error of this size, never to be taken for signal.
        noise = 16 * np.finfo(X.dtype).eps * np.sqrt(n) * np.abs(center)
        if d >= n:
            reduced, basis = _row_space(X - center, noise.max())
            self._hold(reduced, None)
            self._basis, self._reduced = basis, True
        else:
            self._hold(X, center)
            self._basis = self._row_space_of_tall(noise)
        self.dim = d if self._basis is None else self._basis.shape[1]
        self.squared_norms = np.concatenate([_squared_lengths(B) for _, B in self._blocks()])
        if self._cache is None and not self._reduced:
            # The passes then run at the speed of a product, without a centred copy of every block. What cancels in the
            # difference must be far below the tolerance of any solver: 12 digits stay, 5 in single precision.
            eps = np.finfo(X.dtype).eps
            if center @ center <= eps**-0.23 * self.squared_norms.mean():
                self._late_center = center

    def _row_space_of_tall(self, noise: Array) -> Array | None:
        """Orthonormal basis of the span of the rows, or None if that is everything.

        Columns are brought to unit length, so that a feature in small units is not mistaken for rounding error. A
        well-conditioned Gram matrix then settles the matter. If it is not, it may still be that one far sample
        drowns the others in it, so the triangular factor decides, which keeps twice the digits.
        """
        lengths = np.sqrt(sum(np.einsum("ij,ij->j", B, B, dtype=np.float64) for _, B in self._blocks()))
        constant = lengths <= noise
        if not constant.any() and _well_conditioned(self.total_scatter, np.finfo(self._X.dtype).eps):
            return None
        self.__dict__.pop("total_scatter", None)  # if there is a basis, in its coordinates
        scale = np.where(constant, np.inf, lengths)
        d = self.n_features
        R = np.zeros((0, d))
        for _, B in self._blocks():
            (R,) = qr(np.vstack([R, B / scale]), mode="r", check_finite=False)
            R = R[:d]
        _, S, Vt = svd(R, check_finite=False)
        null = S <= S[0] * 4 * len(self._X) * np.finfo(self._X.dtype).eps
        if not null.any():
            return None
        # What X maps to zero is the null space of R with the scaling undone; the row space is its complement.
        complete, _ = qr(np.where(constant[:, None], Vt[null].T, Vt[null].T / scale[:, None]))
        return complete[:, null.sum() :]


class RestrictedSamples(_Rows):
    """Samples seen in a subspace: their coordinates in it are dense and few, their lengths those they really have.

    The objective on frames inside the subspace is exactly that of the whole space, at the price of the subspace.
    """

    def __init__(self, whole: Samples, coordinates: Array) -> None:
        self.labels, self.weight, self.n_classes = whole.labels, whole.weight, whole.n_classes
        self.squared_norms = whole.squared_norms
        self.dim = self.n_features = coordinates.shape[1]
        self._hold(coordinates, None)


def _times_few(B: Array, columns: Array) -> Array:
    """B times a few columns, in the order of memory in which BLAS is faster: by half, in double precision."""
    return B @ columns if B.dtype == np.float32 else (columns.T @ B.T).T


def _few_combinations(B: Array, Z: Array) -> Array:
    """BᵀZ for a Z of few columns, likewise."""
    return (Z.T @ B).T


def _squared_lengths(Z: Array) -> Array:
    return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)


def _well_conditioned(G: Array, eps: float) -> bool:
    """Whether the columns behind a Gram matrix, brought to unit length, are independent beyond any doubt."""
    lengths = np.sqrt(np.diag(G))
    correlation = G / np.outer(lengths, lengths)
    # A matrix with all eigenvalues above a number stays positive definite without it: a fifth of an eigenproblem.
    correlation[np.diag_indices(len(G))] -= max(1e-10, 1e3 * eps)
    try:
        cholesky(correlation, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def _row_space(X: Array, noise: float) -> tuple[Array, Array]:
    """Z and Q with X = ZQᵀ, QᵀQ = I, and as many columns as X has rank."""
    Q, R = qr(X.T, mode="economic", check_finite=False)
    U, S, Vt = svd(R, full_matrices=False, check_finite=False)
    keep = S > max(noise, S[0] * 4 * max(X.shape) * np.finfo(X.dtype).eps)
    return Vt[keep].T * S[keep], Q @ U[:, keep]
