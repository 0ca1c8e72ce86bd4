"""The space that samples span, with an orthonormal basis of it where it is narrower than the feature space.

No direction without any scatter may enter W, as it would cost nothing. So solvers work in coordinates of the row space:

- more features than samples: X − 1μᵀ = (VS)Qᵀ by a QR and a small SVD, and VS (n × rank) takes the place of X. Exact,
  and no d × d matrix is ever made;
- fewer features, some of them constant or collinear: an orthonormal basis of the row space is found once and applied to
  W and to Gram matrices, never to the rows;
- very many features of sparse rows: the feature space itself. Directions in which no sample differs from the mean are
  not removed but never entered: whatever a solver builds from products of the samples lies in the row space, and
  `lower` takes what comes from elsewhere into it.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, qr, svd
from scipy.sparse.linalg import LinearOperator, lsmr

from robustlda.linalg import Array


class WorkingSpace:
    """Coordinates in an orthonormal basis of the row space, or the features themselves."""

    def __init__(self, n_features: int, basis: Array | None = None) -> None:
        self.n_features, self.basis = n_features, basis
        self.dim = self.rank = n_features if basis is None else basis.shape[1]

    def lift(self, V: Array) -> Array:
        """Columns of the working space as columns in feature space."""
        return V if self.basis is None else self.basis @ V

    def lower(self, V: Array) -> Array:
        """Columns in feature space as columns of the working space, what lies outside of it being dropped."""
        return V if self.basis is None else self.basis.T @ V

    def within_span(self, V: Array) -> Array:
        """Columns of the working space without what lies in directions in which no sample varies."""
        return V


class UnreducedSpace(WorkingSpace):
    """The feature space, of which the samples may span a part only.

    `rank` is the best bound known. Directions without scatter come from `gram`, asked once, where that is affordable.
    """

    def __init__(self, n_features: int, rank: int, rows: LinearOperator, gram: Callable[[], Array] | None) -> None:
        super().__init__(n_features)
        self.rank, self._rows, self._gram = rank, rows, gram

    def lower(self, V: Array) -> Array:
        if self._gram is not None:
            return self.within_span(V)
        # The nearest point of the row space, X̃ᵀz with the least-squares z, one column at a time.
        span = self._rows.T
        return np.column_stack([span @ lsmr(span, v, atol=1e-12, btol=1e-12, maxiter=2000)[0] for v in V.T])

    def within_span(self, V: Array) -> Array:
        return V if self.null is None else V - self.null @ (self.null.T @ V)

    @cached_property
    def null(self) -> Array | None:
        """Orthonormal directions in which no sample varies, or None where they are too many to be found."""
        return None if self._gram is None else _null_space(self._gram())


def span_of_wide(X: Array, noise: float) -> tuple[Array, Array]:
    """Z and Q with X = ZQᵀ, QᵀQ = I, and as many columns as X has rank."""
    Q, R = qr(X.T, mode="economic", check_finite=False)
    U, S, Vt = svd(R, full_matrices=False, check_finite=False)
    keep = S > max(noise, S[0] * 4 * max(X.shape) * np.finfo(X.dtype).eps)
    return Vt[keep].T * S[keep], Q @ U[:, keep]


def triangle(rows: Iterable[Array], scale: Array) -> Array:
    """R of a QR factorization of rows with columns divided by `scale`, a block at a time."""
    R = np.zeros((0, len(scale)))
    for B in rows:
        R = stacked_triangles(R, B / scale)
    return R


def stacked_triangles(R: Array, below: Array) -> Array:
    """R of the rows of both."""
    (R,) = qr(np.vstack([R, below]), mode="r", check_finite=False)
    return np.asarray(R[: R.shape[1]])


def unit_lengths(lengths: Array, noise: Array) -> Array:
    """What columns are divided by; what does not vary vanishes."""
    return np.where(lengths <= noise, np.inf, lengths)


def span_of_triangle(R: Array, scale: Array, eps: float, noise: float) -> Array | None:
    """Orthonormal basis of the span of centered rows whose Gram matrix leaves doubts, or None if that is everything.

    `noise` is what centering leaves of columns that depend on others, beside the unit length of columns.

    Columns are brought to unit length, so that a feature in small units is not mistaken for rounding error. One far
    sample may drown the others in a Gram matrix, so the triangular factor decides, which keeps twice the digits.
    """
    _, S, Vt = svd(R, check_finite=False)
    S = np.append(S, np.zeros(len(scale) - len(S)))  # fewer rows than columns
    null = S <= max(S[0] * eps, noise)
    if not null.any():
        return None
    # What X maps to zero is the null space of R with the scaling undone; the row space is its complement.
    constant = np.isinf(scale)
    N = np.where(constant[:, None], Vt[null].T, Vt[null].T / scale[:, None])
    # Features in the smallest units first, and columns by their lengths: rounding errors then are those of each row,
    # however many orders of magnitude lie between them.
    order = np.argsort(-np.abs(N).max(axis=1), kind="stable")
    complete, _, _ = qr(N[order], pivoting=True)
    basis = np.empty_like(complete[:, null.sum() :])
    basis[order] = complete[:, null.sum() :]
    return basis


def well_conditioned(G: Array, eps: float, noise: float) -> bool:
    """Whether the columns behind a Gram matrix, brought to unit length, are independent beyond any doubt.

    `noise` is what rounding has added to them.
    """
    lengths = np.sqrt(np.diag(G))
    if not lengths.all():  # all samples that vary may have a weight of nothing
        return False
    correlation = G / np.outer(lengths, lengths)
    # A matrix with all eigenvalues above a number stays positive definite without it: a fifth of an eigenproblem.
    correlation[np.diag_indices(len(G))] -= max(1e-10, 1e3 * eps, 10 * noise**2)
    try:
        cholesky(correlation, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


_NOTHING = 1e-11
"""Eigenvalue of a correlation matrix that is taken for zero."""


def span_of_gram(G: Array) -> Array | None:
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


def _at_unit_length(G: Array) -> tuple[Array, Array]:
    """G with a unit diagonal, zero where columns are constant, and the lengths by which it was divided."""
    lengths = np.sqrt(np.maximum(np.diag(G), 0))
    constant = lengths <= 1e-6 * lengths.max()
    scale = np.where(constant, 1, lengths)
    correlation = G / np.outer(scale, scale)
    correlation[constant] = correlation[:, constant] = 0
    return correlation, scale
