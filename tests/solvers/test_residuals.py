"""Residuals in the units in which LAPACK tests itself: what rounding leaves is a small multiple of n·eps, up to 30.

An eigenproblem is solved well if ‖AW − WΛ‖₁ ≤ 30 n eps ‖A‖₁, and W is orthonormal if ‖WᵀW − I‖₁ ≤ 30 n eps, however
large or small A is and however many orders of magnitude lie between its entries.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustlda import MMC, RatioLDA, TraceRatioLDA
from robustlda.solvers import eigen
from tests.estimators.test_extremes import of_kind
from tests.extremes import EXTREMES
from tests.oracle import checked_fit

MOST = 30
EPS = np.finfo(float).eps


def residual(A, W):
    """Of an eigenproblem with orthonormal vectors W."""
    unit = np.abs(A).sum(axis=0).max()
    if not unit:
        return 0.0
    A = A / unit
    return float(np.abs(A @ W - W @ (W.T @ A @ W)).sum(axis=0).max() / (len(A) * EPS))


def orthogonality(W):
    return float(np.abs(W.T @ W - np.eye(W.shape[1])).sum(axis=0).max() / (len(W) * EPS))


def matrices():
    rng = np.random.default_rng(0)
    n = 40
    B = rng.normal(size=(n, n))
    Q = np.linalg.qr(B)[0]
    whole = B + B.T
    graded = 10.0 ** -np.linspace(0, 60, n)
    return {
        "ordinary": whole,
        "1e150": 1e150 * whole,
        "1e-150": 1e-150 * whole,
        "graded": whole * np.outer(graded, graded),
        "graded eigenvalues": (Q * 10.0 ** np.linspace(-100, 100, n)) @ Q.T,
        "rank one": np.outer(B[0], B[0]),
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "clustered": (Q * np.r_[np.ones(n // 2), 1 + 1e-14 * np.arange(n // 2)]) @ Q.T,
        "either sign": (Q * np.where(np.arange(n) % 2, 1e8, -1e8)) @ Q.T,
        "one large": whole + 1e200 * np.eye(n)[:, :1] @ np.eye(n)[:1],
    }


@pytest.mark.parametrize("name", matrices())
@pytest.mark.parametrize("m", [1, 5, 40])
def test_eigenproblems_are_solved_to_rounding(name, m):
    A = matrices()[name]
    A = (A + A.T) / 2
    W = eigen.smallest(A, m)
    assert W.shape == (40, m)
    assert residual(A, W) < MOST
    assert orthogonality(W) < MOST


def test_the_residual_would_notice():
    A = matrices()["ordinary"]
    W = eigen.smallest(A, 3)
    assert residual(A, np.linalg.qr(W + 1e-11)[0]) > MOST
    assert orthogonality(W * (1 + 1e-11)) > MOST


def pair(rank=60):
    """A symmetric matrix, and a positive semi-definite one of some rank."""
    rng = np.random.default_rng(1)
    A, F = rng.normal(size=(60, 60)), rng.normal(size=(60, rank))
    return A + A.T, F @ F.T + (rank == 60) * np.eye(60)


def test_few_pairs_of_large_matrices_are_those_of_all_of_them():
    A, B = pair()
    theta, W = eigen.largest_generalized(A, B, 2, lanczos_dim=60)
    expected, V = eigen.largest_generalized(A, B, 2, lanczos_dim=61)
    assert_allclose(theta, expected, rtol=1e-12)
    assert theta[0] > theta[1]
    assert_allclose(np.abs(np.diag(W.T @ B @ V)), 1, atol=1e-10)
    assert_allclose(W.T @ B @ W, np.eye(2), atol=1e-12)
    assert_allclose(A @ W, (B @ W) * theta, atol=1e-10)


@pytest.mark.parametrize(("rank", "m", "there"), [(60, 2, True), (60, 3, False), (40, 2, False)])
def test_lanczos_takes_few_pairs_where_a_factor_is_accurate(rank, m, there, monkeypatch):
    taken = []
    genuine = eigen._by_lanczos
    monkeypatch.setattr(eigen, "_by_lanczos", lambda *given: taken.append(1) or genuine(*given))
    A, B = pair(rank)
    theta, W = eigen.largest_generalized(A, B, m, lanczos_dim=50)
    assert bool(taken) == there
    assert np.isfinite(W).all()
    assert (np.diff(theta) < 0).all()


@pytest.mark.parametrize("kind", [RatioLDA, TraceRatioLDA, MMC])
def test_components_are_orthonormal_to_rounding_over_the_extremes(kind):
    seen = 0
    for case in EXTREMES:
        if case.says or kind not in case.kinds:
            continue
        X, y, *more = case.make()
        if np.shape(X)[1] > 500:
            continue  # which take time
        model = checked_fit(of_kind(case, kind), X, y, **(more[0] if more else {}))
        W = model.components_.T
        eps = np.finfo(W.dtype).eps
        off = np.abs(W.T.astype(float) @ W - np.eye(W.shape[1])).sum(axis=0).max() / (max(W.shape) * eps)
        assert off < MOST, case.name
        seen += 1
    assert seen > 30
