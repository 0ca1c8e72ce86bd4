"""Eigenvectors of symmetric matrices and pairs of them."""

import numpy as np
from scipy.linalg import eigh

from robustlda.linalg import Array


def smallest(A: Array, m: int) -> Array:
    """Eigenvectors of A for its m smallest eigenvalues, in ascending order, as columns."""
    _, V = eigh(A, subset_by_index=[0, m - 1], check_finite=False)
    return np.ascontiguousarray(V)


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
