"""The m smallest eigenvalues of a symmetric matrix and their eigenvectors."""

import numpy as np
from scipy.linalg import eigh

from robustlda.linalg import Array


def smallest(A: Array, m: int) -> Array:
    """Eigenvectors of A for its m smallest eigenvalues, in ascending order, as columns."""
    _, V = eigh(A, subset_by_index=[0, m - 1], check_finite=False)
    return np.ascontiguousarray(V)
