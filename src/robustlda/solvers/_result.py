"""What a solver returns."""

from dataclasses import dataclass

from robustlda.linalg import Array


@dataclass(frozen=True)
class SolverResult:
    """A frame W and how it was found.

    W has orthonormal columns, `centers` one row per class (both in working coordinates). `history` holds the
    objective at the start and after every iteration and never rises. `stationarity` is the relative length of
    the gradient at the end, `reason` why the iteration stopped.
    """

    W: Array
    centers: Array
    history: Array
    stationarity: float
    converged: bool
    reason: str

    @property
    def n_iter(self) -> int:
        return len(self.history) - 1
