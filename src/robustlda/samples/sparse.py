"""Sparse rows, never made dense and never centred: the mean enters every product as a term of rank one.

With x̃_j = x_j − μ,   x̃ᵀV = xᵀV − μᵀV   and   Σ s_j x̃_j x̃_jᵀ V = Xᵀ(s ∘ X̃V) − μ (Σ s_j x̃_jᵀV).

The working space is the feature space, or, where there are few features, the span of the rows in it. In many
dimensions directions in which no sample differs from the mean are not removed but never entered: whatever a solver
builds from `apply` and `class_sums` lies in the row space, and `lower` takes what comes from elsewhere into it.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, lsmr

from robustlda.linalg import Array, class_indicator

_FEW = 2000
"""Features up to which a features × features matrix is made once to find the span of the rows."""

_FACTORISED = 6000
"""Features up to which such a matrix is factorised, where a start has to be taken into that span."""


class SparseSamples:
    """Rows of a CSR matrix as `Samples`; see the interface for the meaning of each method."""

    def __init__(self, X: Any, labels: Array, weight: Array, center: Array, n_classes: int) -> None:
        self.labels, self.weight, self.n_classes = labels, weight, n_classes
        self._X = csr_array(X)
        self._center = center.astype(float)
        n, d = self._X.shape
        self.n_features = d
        squares = np.asarray(self._X.multiply(self._X).sum(axis=1), float).ravel()
        lengths = squares - 2 * (self._X @ self._center) + self._center @ self._center
        # A sample at the mean has a length of rounding error, which may come out negative.
        self.squared_norms = np.where(lengths > 1e-12 * (squares + self._center @ self._center), lengths, 0)
        self._basis: Array | None = None  # of the row space, when narrower than the feature space and worth finding
        self.dim = d
        self._rank = min(int((_spread(self._X) > 0).sum()), n - 1)
        if d <= _FEW:
            self._basis = _range(self.gram(np.ones(n)))
            self._rank = self.dim = d if self._basis is None else self._basis.shape[1]

    @property
    def n_samples(self) -> int:
        return len(self.labels)

    @property
    def rank(self) -> int:
        return self._rank

    def _to_features(self, V: Array) -> Array:
        return V if self._basis is None else self._basis @ V

    def _from_features(self, V: Array) -> Array:
        return V if self._basis is None else self._basis.T @ V

    def project(self, V: Array) -> Array:
        V = self._to_features(V)
        Z = self._X @ V.astype(self._X.dtype, copy=False)
        Z -= (self._center @ V).astype(Z.dtype)
        return Z

    def lengths(self, W: Array, M: Array) -> tuple[Array, Array]:
        Z = self.project(W)
        captured = np.einsum("ij,ij->i", Z, Z, dtype=float)
        Z -= (M @ W)[self.labels]
        return np.einsum("ij,ij->i", Z, Z, dtype=float), np.maximum(self.squared_norms - captured, 0)

    def class_sums(self, w: Array) -> tuple[Array, Array]:
        one_per_row = class_indicator(self.labels, w, self.n_classes)
        totals = np.bincount(self.labels, w, self.n_classes)
        sums = (one_per_row @ self._X).toarray() - totals[:, None] * self._center
        return totals, self._from_features(sums.T).T

    @cached_property
    def total_scatter(self) -> Array:
        return self.gram(self.weight)

    def gram(self, s: Array, *, single: bool = False) -> Array:
        scaled = self._X.multiply(s[:, None]).tocsr()
        sums = np.asarray(scaled.sum(axis=0), float).ravel()
        total = (self._X.T @ scaled).toarray().astype(float)
        total -= np.outer(sums, self._center)
        total -= np.outer(self._center, sums - s.sum() * self._center)
        return total if self._basis is None else self._basis.T @ total @ self._basis

    def apply(self, s: Array, V: Array) -> Array:
        return self.combine(self.project(V) * s[:, None])

    def combine(self, Z: Array) -> Array:
        return self._from_features(self._X.T @ Z - np.outer(self._center, Z.sum(axis=0)))

    def inner_products(self, rows: slice) -> Array:
        offsets = self._X @ self._center
        block = (self._X[rows] @ self._X.T).toarray().astype(float, copy=False)
        block -= offsets[rows, None]
        block += self._center @ self._center - offsets
        return block

    def rows(self, index: Array | slice) -> Array:
        rows = self._X[index].toarray() - self._center
        return rows if self._basis is None else rows @ self._basis

    def shifted_rows(self) -> Any:
        return self._X if self._basis is None else self._X @ self._basis

    def lift(self, V: Array) -> Array:
        return self._to_features(V)

    def lower(self, V: Array) -> Array:
        if self._basis is not None or self.dim <= _FEW:
            return self._from_features(V)
        if self._null is not None:
            return self.within_span(V)
        # The nearest point of the row space, X̃ᵀz with the least-squares z, one column at a time.
        rows = LinearOperator(
            (self.n_features, self.n_samples),
            matvec=lambda z: self._X.T @ z - self._center * z.sum(),
            rmatvec=lambda v: self._X @ v - self._center @ v,
            dtype=float,
        )
        return np.column_stack([rows @ lsmr(rows, v, atol=1e-12, btol=1e-12, maxiter=2000)[0] for v in V.T])

    def within_span(self, V: Array) -> Array:
        return V if self._null is None else V - self._null @ (self._null.T @ V)

    @cached_property
    def _null(self) -> Array | None:
        """Orthonormal directions in which no sample varies, or None where they are not to be had or not to be met."""
        if self._basis is not None or self.dim <= _FEW or self.n_features > min(_FACTORISED, self.n_samples):
            return None
        return _null_space(self.gram(np.ones(self.n_samples)))


def _spread(X: csr_array) -> Array:
    """Largest minus smallest entry of every column."""
    return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray(), float).ravel()


def _range(G: Array) -> Array | None:
    """Orthonormal basis of the range of G, or None if that is everything; columns are compared at unit length."""
    correlation, scale = _at_unit_length(G)
    eigenvalues, vectors = np.linalg.eigh(correlation)
    null = eigenvalues <= _NOTHING
    if not null.any():
        return None
    complete, _ = qr(vectors[:, null] / scale[:, None])
    return complete[:, null.sum() :]


def _null_space(G: Array) -> Array:
    """Orthonormal basis of the null space of a large G, by inverse iteration with a block that grows as needed."""
    correlation, scale = _at_unit_length(G)
    factor = cho_factor(correlation + 10 * _NOTHING * np.eye(len(G)), lower=True, check_finite=False)
    size = 16
    while True:
        V = np.random.RandomState(0).standard_normal((len(G), size))
        for _ in range(4):  # each time what has an eigenvalue λ loses a factor of λ/10⁻¹⁰ against what has none
            V = np.linalg.qr(cho_solve(factor, V, check_finite=False))[0]
        eigenvalues, rotation = np.linalg.eigh(V.T @ (correlation @ V))
        null = eigenvalues <= _NOTHING
        if not null.all() or size == len(G):
            return np.linalg.qr(V @ rotation[:, null] / scale[:, None])[0]
        size = min(4 * size, len(G))


_NOTHING = 1e-11
"""Eigenvalue of a correlation matrix that is taken for zero."""


def _at_unit_length(G: Array) -> tuple[Array, Array]:
    """G with a unit diagonal, zero where columns are constant, and the lengths by which it was divided."""
    lengths = np.sqrt(np.maximum(np.diag(G), 0))
    constant = lengths <= 1e-6 * lengths.max()
    scale = np.where(constant, 1, lengths)
    correlation = G / np.outer(scale, scale)
    correlation[constant] = correlation[:, constant] = 0
    return correlation, scale
