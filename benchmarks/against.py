"""What has become slower than in an earlier run, in units of a competitor that has not changed.

Seconds of two machines, or of one on two days, cannot be compared; ratios in one run can. So every time is divided by
that of scikit-learn's LDA on the same data in the same run, and what has grown by more than a fifth is flagged.
"""

from collections.abc import Iterable
from dataclasses import dataclass

REFERENCE = "scikit-learn LDA, svd"
TOLERATED = 1.2
"""Growth of a ratio that is put down to the machine."""

Row = dict[str, str]


@dataclass(frozen=True)
class Change:
    """A competitor on one data set, in units of the reference."""

    data: str
    solver: str
    before: float
    now: float

    @property
    def slower(self) -> bool:
        return self.now > TOLERATED * self.before

    def __str__(self) -> str:
        growth = self.now / self.before
        mark = "  slower" if self.slower else ""
        return f"{self.data}, {self.solver}: {self.before:.2f} → {self.now:.2f} × LDA ({growth:.2f}){mark}"


def changes(before: Iterable[Row], now: Iterable[Row]) -> list[Change]:
    """One for each case that both runs have."""
    then, today = _ratios(before), _ratios(now)
    return [Change(*case, then[case], today[case]) for case in today if case in then and case[1] != REFERENCE]


def _ratios(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    seconds = {(row["data"], row["solver"]): float(row["seconds"]) for row in rows if row.get("seconds")}
    return {
        (data, solver): value / seconds[data, REFERENCE]
        for (data, solver), value in seconds.items()
        if (data, REFERENCE) in seconds
    }
