"""Anderson acceleration of a fixed-point iteration x ← G(x).

From the last few pairs (x_k, f_k = G(x_k) − x_k) the combination of iterates with the smallest residual is formed,

    γ = argmin ‖f_k − ΔF γ‖,   x_{k+1} = x_k + f_k − (ΔX + ΔF) γ,

ΔX and ΔF holding successive differences in their columns. Near a fixed point this does for a linearly convergent
iteration what conjugate gradients do for descent; far from one it may do anything, so whoever uses it must be able to
reject the proposal, and then starts afresh with `forget`.
"""

from collections import deque

import numpy as np

from robustlda.linalg import Array


class Anderson:
    """Memory of the last `depth` + 1 iterates and their residuals; `metric` weighs the coordinates of a residual."""

    def __init__(self, metric: Array, depth: int = 5) -> None:
        self._metric = metric
        self._x: deque[Array] = deque(maxlen=depth + 1)
        self._f: deque[Array] = deque(maxlen=depth + 1)

    def record(self, x: Array, G_of_x: Array) -> None:
        self._x.append(x)
        self._f.append(G_of_x - x)

    def forget(self) -> None:
        """Keep the newest pair only."""
        while len(self._x) > 1:
            self._x.popleft()
            self._f.popleft()

    def propose(self) -> Array | None:
        """The next iterate, or None while fewer than two pairs are known."""
        if len(self._x) < 2:
            return None
        dX, dF = np.diff(np.array(self._x), axis=0), np.diff(np.array(self._f), axis=0)
        H = (dF * self._metric) @ dF.T
        # A touch of ridge: residuals become parallel as the iteration converges.
        gamma = np.linalg.solve(
            H + 1e-10 * np.trace(H) * np.eye(len(H)) + np.finfo(float).tiny, dF @ (self._metric * self._f[-1])
        )
        return self._x[-1] + self._f[-1] - gamma @ (dX + dF)
