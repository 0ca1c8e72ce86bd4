"""Eigenvectors of symmetric matrices and pairs of them."""

import numpy as np
from scipy.linalg import eigh

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


def largest_generalised(A: Array, B: Array, m: int) -> tuple[Array, Array]:
    """The m largest θ of Av = θBv, descending, and their v with VᵀBV = I, for a positive semi-definite B.

    B is inverted through its eigenvalues, none of which is taken to be below 1e-12 of the largest, so that a
    direction in which B vanishes gets a large weight instead of an error.
    """
    eigenvalues, U = eigh(B, check_finite=False)
    P = U / np.sqrt(np.maximum(eigenvalues, 1e-12 * eigenvalues[-1]))
    M = P.T @ A @ P
    theta, V = eigh((M + M.T) / 2, subset_by_index=[len(M) - m, len(M) - 1], check_finite=False)
    return theta[::-1], P @ V[:, ::-1]
