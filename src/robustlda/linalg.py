"""Dense linear algebra shared by every layer."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import get_lapack_funcs
from scipy.sparse import csc_array
from threadpoolctl import ThreadpoolController

Array = npt.NDArray[Any]

EVEN = 1e-9
"""A part of the weight of all, by which two parts of it may differ and be alike: rounding must not choose a median."""


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra by one thread, for many small products.

    Two threads have to wait for each other after each of them, and on a busy machine one of them is not there.
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # which looks through all libraries of the process


def principal_angles(U: Array, V: Array) -> Array:
    """Angles in radians, ascending, between the spans of the orthonormal columns of U and V."""
    # Sines from the residual are accurate for small angles, cosines for large ones: each serves its half.
    Q, R = (U, V) if U.shape[1] >= V.shape[1] else (V, U)
    C = Q.T @ R
    cosines = np.linalg.svd(C, compute_uv=False)
    sines = np.linalg.svd(R - Q @ C, compute_uv=False)[::-1]
    return np.where(cosines**2 < 0.5, np.arccos(np.clip(cosines, 0, 1)), np.arcsin(np.clip(sines, 0, 1)))


def orthonormalize(V: Array) -> Array:
    """Orthonormal basis of the span of V's columns; a ValueError if they are dependent."""
    Q, R = np.linalg.qr(V)
    lengths = np.abs(np.diag(R))
    if not lengths.size or lengths.min() <= 1e-10 * max(lengths.max(), np.finfo(V.dtype).tiny):
        raise ValueError(
            "The rows of init are linearly dependent in the span of these data; give others, or the name of a start."
        )
    return Q


def extension(Q: Array, V: Array) -> Array:
    """Orthonormal basis of what V adds to the span of the orthonormal Q; what adds nothing is dropped.

    Rounding errors of V must not pass for directions: a column counts only if it is longer than 1e-10 of the longest
    one, and a direction only if it is longer than 1e-6 of the columns it comes from.
    """
    lengths = np.linalg.norm(V, axis=0)
    V = V[:, lengths > 1e-10 * lengths.max(initial=0)]
    V = V / np.linalg.norm(V, axis=0)
    for _ in range(2):  # the first pass leaves rounding errors where V nearly lies in Q or is nearly dependent
        V = V - Q @ (Q.T @ V)
        # Through the Gram matrix every new direction is a combination of columns of V, however small what it adds.
        squares, U = np.linalg.eigh(V.T @ V)
        keep = squares > 1e-12
        V = V @ (U[:, keep] / np.sqrt(squares[keep]))
    return V


def followed_by(V: Array, axes: Array, m: int) -> Array:
    """Orthonormal columns, then what axes add to them, one after the other, until there are m.

    One after the other, as axes that add nothing new in different directions would leave it to rounding which remain.
    """
    for axis in axes.T:
        if V.shape[1] == m:
            break
        V = np.hstack([V, extension(V, axis[:, None])])
    return V


def fix_signs(components: Array) -> Array:
    """Rows turned so that the entry of largest magnitude is positive: the same answer on every machine."""
    peak = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), peak])
    signs[signs == 0] = 1
    return components * signs[:, None]


def softmax(scores: Array) -> Array:
    """Exponentials of every row, divided by their sum.

    A row has few numbers, and operations along it are slow: they run along columns, which are contiguous in the result.
    """
    p = np.array(scores.T, dtype=np.result_type(scores, np.float32), order="C")
    p -= p.max(axis=0)
    np.exp(p, out=p)
    p /= p.sum(axis=0)
    return p.T


def weighted_quantile(values: Array, weight: Array, share: float) -> float:
    """Smallest value with at least that share of the weight at or below it."""
    order = np.argsort(values)  # in whatever order equal ones come
    cumulative = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(cumulative, share * cumulative[-1] * (1 - EVEN))]])


def weighted_median(values: Array, weight: Array) -> float:
    """Smallest value with at least half of the weight at or below it."""
    return weighted_quantile(values, weight, 0.5)


def weighted_medians(V: Array, weight: Array) -> Array:
    """Median of every column, halfway between the two middle values where the weight splits evenly."""
    order = np.argsort(V, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    half = cumulative[-1] / 2
    middle = [(cumulative >= half * (1 - EVEN)).argmax(axis=0), (cumulative > half * (1 + EVEN)).argmax(axis=0)]
    return np.take_along_axis(V, np.take_along_axis(order, np.array(middle), axis=0), axis=0).mean(axis=0)


def weighted_quantiles(V: Array, weight: Array, shares: Sequence[float]) -> list[Array]:
    """For each share the smallest entry of every column with at least that share of the weight at or below it."""
    order = np.argsort(V, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    places = [(cumulative >= share * cumulative[-1] * (1 - EVEN)).argmax(axis=0)[None] for share in shares]
    return [np.take_along_axis(V, np.take_along_axis(order, place, axis=0), axis=0)[0] for place in places]


def class_indicator(labels: Array, weight: Array, n_classes: int) -> csc_array:
    """Sparse classes × samples matrix with each sample's weight in the row of its class; times rows it adds them up."""
    n = len(labels)
    return csc_array((weight, labels, np.arange(n + 1)), shape=(n_classes, n))


class PackedCholesky:
    """Cholesky factor of a large K + τI without its upper half, in single or double precision.

    K is asked for by blocks of rows, as `rows(slice)`, and never held. LAPACK's packed rectangle has n/2 columns: below
    its diagonal stand the first n/2 columns of the lower half of K, above it what is left, transposed.
    """

    def __init__(self, rows: Callable[[slice], Array], n: int, shift: float, *, dtype: npt.DTypeLike) -> None:
        self._n, self._dtype = n, np.dtype(dtype)
        factorize, self._solve = get_lapack_funcs(("pftrf", "pftrs"), dtype=self._dtype)
        while True:
            packed = _packed(rows, n, shift, self._dtype)
            self._factor, info = factorize(n, packed.ravel(order="F"), uplo="L", overwrite_a=True)
            if info == 0:
                return
            shift *= 10  # K is singular to more digits than it has

    def solve(self, B: Array) -> Array:
        """(K + τI)⁻¹B."""
        X, _ = self._solve(self._n, self._factor, np.array(B, self._dtype, order="F"), uplo="L", overwrite_b=True)
        return X.astype(float, copy=False)


def _packed(rows: Callable[[slice], Array], n: int, shift: float, dtype: npt.DTypeLike) -> Array:
    half, odd = n - n // 2, n % 2
    packed = np.empty((n + 1 - odd, half), dtype, order="F")
    for start in range(0, n, 500):
        block = rows(slice(start, min(start + 500, n)))
        for i, row in enumerate(block, start):
            row[i] += shift
            if i < half:
                packed[i + 1 - odd, : i + 1] = row[: i + 1]
            else:
                packed[i + 1 - odd] = row[:half]
                packed[: i - half + 1, i - half + odd] = row[half : i + 1]
    return packed
