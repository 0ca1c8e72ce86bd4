"""Eigenvectors of symmetric matrices and pairs of them."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from scipy.sparse.linalg import LinearOperator, eigsh

from robustlda.linalg import Array


def smallest(A: Array, m: int) -> Array:
    """Eigenvectors of A for its m smallest eigenvalues, in ascending order, as columns in double precision."""
    # LAPACK's divide and conquer, which knows no subsets, is the faster one from a sixth of all vectors on.
    if 6 * m > len(A):
        V = eigh(A, driver="evd", check_finite=False)[1][:, :m]
    else:
        V = eigh(A, subset_by_index=[0, m - 1], check_finite=False)[1]
    V = np.ascontiguousarray(V, dtype=np.float64)
    if A.dtype == np.float32:
        # Orthonormal to double precision all the same: one step of Newton's method squares the error.
        V = V @ (1.5 * np.eye(m) - 0.5 * (V.T @ V))
    return V


def largest_generalized(A: Array, B: Array, m: int, lanczos_dim: int) -> tuple[Array, Array]:
    """The m largest θ of Av = θBv, descending, and their v with VᵀBV = I, for a positive semi-definite B.

    From `lanczos_dim` dimensions on, and where B is far from singular, few vectors come from its Cholesky factor and
    Lanczos' method. Otherwise B is inverted through its eigenvalues, none of which is taken to be below 1e-12 of the
    largest, so that a direction in which B vanishes gets a large weight instead of an error.
    """
    if len(A) >= lanczos_dim and 20 * m < len(A):
        root = _root(B)
        if root is not None:
            return _by_lanczos(A, root, m)
    eigenvalues, U = eigh(B, check_finite=False)
    P = U / np.sqrt(np.maximum(eigenvalues, 1e-12 * eigenvalues[-1]))
    M = P.T @ A @ P
    theta, V = eigh((M + M.T) / 2, subset_by_index=[len(M) - m, len(M) - 1], check_finite=False)
    return theta[::-1], P @ V[:, ::-1]


def _root(B: Array) -> Array | None:
    """Lower triangle L with LLᵀ = B, or None where B may be too near to singular for that to be accurate."""
    try:
        root = cholesky(B, lower=True, check_finite=False)
    except LinAlgError:
        return None
    pivots = np.diag(root)
    return root if pivots.min() > 1e-5 * pivots.max() else None


def _by_lanczos(A: Array, root: Array, m: int) -> tuple[Array, Array]:
    """Largest eigenpairs of L⁻¹AL⁻ᵀ, back in the coordinates of A."""

    def apply(v: Array) -> Array:
        inner = A @ solve_triangular(root, v, lower=True, trans="T", check_finite=False)
        return solve_triangular(root, inner, lower=True, check_finite=False)

    theta, V = eigsh(LinearOperator(A.shape, matvec=apply, dtype=float), m, which="LA", v0=np.ones(len(A)), tol=1e-12)
    order = np.argsort(-theta)
    return theta[order], solve_triangular(root, V[:, order], lower=True, trans="T", check_finite=False)
