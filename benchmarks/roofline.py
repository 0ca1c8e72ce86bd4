"""How close the passes over the data come to the machine's limit: their GFLOP/s relative to a square GEMM."""

import time
from collections.abc import Callable

import numpy as np

from robustlda.data import Weights, as_samples, as_store

FIELDS = ["pass", "precision", "gflops", "share_of_gemm"]


def measure(n: int = 20_000, d: int = 1000, m: int = 60, repeats: int = 11) -> list[dict[str, str]]:
    """The passes in both precisions, with the operations that the formulas need; `X W alone` is NumPy's product."""
    rows = []
    for dtype in (np.float64, np.float32):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d), dtype=dtype)
        labels = np.arange(n) % (m // 3)
        samples = as_samples(as_store(X), labels, Weights.of(np.ones(n)), X.mean(axis=0), m // 3)
        W = np.linalg.qr(rng.standard_normal((d, m)))[0].astype(dtype)
        M, s, A = np.zeros((m // 3, d)), rng.standard_normal(n), X[:2000].copy()
        B = np.ascontiguousarray(A.T)
        runs: dict[str, tuple[float, Callable[[], object]]] = {
            "GEMM": (2 * 2000 * 2000 * d, lambda A=A, B=B: A @ B),
            "projection": (2 * n * d * m, lambda samples=samples, W=W: samples.project(W)),
            "projection, lengths": (2 * n * d * m, lambda samples=samples, W=W, M=M: samples.lengths(W, M)),
            "X W alone": (2 * n * d * m, lambda X=X, W=W: X @ W),
            "signed Gram": (n * d * d, lambda samples=samples, s=s: samples.gram(s)),
            "A V": (4 * n * d * m, lambda samples=samples, s=s, W=W: samples.apply(s, W)),
        }
        # In turns, so that other load on the machine affects all of them.
        seconds = np.median([[_seconds(run) for _, run in runs.values()] for _ in range(repeats)], axis=0)
        rates = [operations / t for (operations, _), t in zip(runs.values(), seconds, strict=True)]
        rows += [_row(name, dtype, rate, rate / rates[0]) for name, rate in zip(runs, rates, strict=True)]
    return rows


def _row(name: str, dtype: type, rate: float, share: float) -> dict[str, str]:
    return dict(zip(FIELDS, (name, np.dtype(dtype).name, f"{rate / 1e9:.1f}", f"{share:.2f}"), strict=True))


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
