"""What a solver returns."""

from dataclasses import dataclass

from robustlda.linalg import Array


@dataclass(frozen=True)
class Stop:
    """Whether an iteration ended by itself, and why."""

    converged: bool
    reason: str

    @classmethod
    def limit(cls, max_iter: int) -> "Stop":
        return cls(False, f"max_iter={max_iter} was reached")


CLOSED_FORM = Stop(True, "closed form")


@dataclass(frozen=True)
class SolverResult:
    """A frame W and how it was found.

    W has orthonormal columns, `centers` one row per class (both in working coordinates). `history` holds the
    objective at the start and after every iteration and never rises. `stationarity` is the relative length of
    the gradient at the end.
    """

    W: Array
    centers: Array
    history: Array
    stationarity: float
    stop: Stop

    @property
    def n_iter(self) -> int:
        return len(self.history) - 1
