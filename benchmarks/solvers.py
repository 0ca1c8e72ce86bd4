"""The competitors: each takes X, y and a limit on the iterations, and returns a projection and its iterations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from robustlda import RatioLDA, RobustLDA, TraceRatioLDA

Run = Callable[[Any, np.ndarray, int], tuple[np.ndarray | None, int]]
LIMIT = 1000


@dataclass(frozen=True)
class Solver:
    """`skip` returns why a case cannot be run, or an empty string; `iterates` tells whether the limit matters."""

    name: str
    run: Run
    iterates: bool = False
    skip: Callable[[Any], str] = lambda X: ""


def _ours(**settings: Any) -> Run:
    def run(X: Any, y: np.ndarray, limit: int = LIMIT) -> tuple[np.ndarray | None, int]:
        model = RatioLDA(decision=None, max_iter=limit, **settings).fit(X, y)
        return model.components_.T, model.n_iter_

    return run


def textbook(X: Any, y: np.ndarray, limit: int = LIMIT) -> tuple[np.ndarray | None, int]:
    """Algorithm 2 written down directly in NumPy: dense matrices, two products per Gram matrix, full eigenproblems."""
    X = X.toarray() if issparse(X) else X
    X = X - X.mean(axis=0)
    if X.shape[1] >= X.shape[0]:
        _, S, Vt = np.linalg.svd(X, full_matrices=False)
        basis = Vt[S > 1e-10 * S[0]].T
    else:
        basis = np.eye(X.shape[1])
    X = X @ basis
    classes, labels = np.unique(y, return_inverse=True)
    members = [labels == i for i in range(len(classes))]
    m = min(3 * len(classes), X.shape[1])
    epsilon = 1e-6 * np.median(np.sum(X**2, axis=1))
    W = np.linalg.eigh(-X.T @ X)[1][:, :m]
    centers = np.array([X[rows].mean(axis=0) for rows in members])
    norms = np.sqrt(np.sum(X**2, axis=1) + epsilon)
    previous, steps = np.inf, 0
    while True:
        Z = X @ W
        a = np.sqrt(np.sum((Z - (centers @ W)[labels]) ** 2, axis=1) + epsilon)
        b = np.sqrt(np.sum((X - Z @ W.T) ** 2, axis=1) + epsilon)
        J = a.sum() / (norms.sum() - b.sum())
        if previous - J <= 1e-6 * J or steps >= limit:
            return basis @ W, steps
        w, D = 1 / (2 * a), 1 / (2 * b)
        A = (X * w[:, None]).T @ X - J * (X * D[:, None]).T @ X
        for i, rows in enumerate(members):
            total = w[rows].sum()
            centers[i] = w[rows] @ X[rows] / total
            A -= total * np.outer(centers[i], centers[i])
        W = np.linalg.eigh(A)[1][:, :m]
        previous, steps = J, steps + 1


def _lda(**settings: Any) -> Run:
    def run(X: Any, y: np.ndarray, limit: int = 1) -> tuple[np.ndarray | None, int]:
        LinearDiscriminantAnalysis(**settings).fit(X.toarray() if issparse(X) else X, y)
        return None, 1

    return run


def _believed(**settings: Any) -> Run:
    def run(X: Any, y: np.ndarray, limit: int = 1) -> tuple[np.ndarray | None, int]:
        return None, RobustLDA(**settings).fit(X, y).n_iter_

    return run


def _trace_ratio(X: Any, y: np.ndarray, limit: int = LIMIT) -> tuple[np.ndarray | None, int]:
    return None, TraceRatioLDA(decision=None).fit(X, y).n_iter_


def _dense_too_large(X: Any) -> str:
    size = X.shape[0] * X.shape[1] * 8 / 1e9
    return f"dense rows would take {size:.0f} GB" if size > 2 else ""


def _matrix_too_large(X: Any) -> str:
    d = min(X.shape)
    return f"{d} dimensions make {d**2 * 8 / 1e9:.0f} GB of A" if d > 5000 else _dense_too_large(X)


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("robustlda", _ours(init="pca"), True),
        Solver("robustlda to 1e-5", _ours(tol=1e-5, init="pca"), True),
        Solver("robustlda from trace ratio to 1e-5", _ours(tol=1e-5), True),
        Solver("robustlda, plain steps", _ours(solver="plain", init="pca"), True, _matrix_too_large),
        Solver("textbook NumPy", textbook, True, _matrix_too_large),
        Solver("trace ratio", _trace_ratio),
        Solver("RobustLDA, default", _believed()),
        Solver("scikit-learn LDA, svd", _lda(), skip=_dense_too_large),
        Solver("scikit-learn LDA, eigen", _lda(solver="eigen", shrinkage=1e-6), skip=_matrix_too_large),
    )
}
