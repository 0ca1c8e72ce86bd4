"""The records of the paper's experiments, read from the CSV files of a folder."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robustlda.experiments import protocol, records
from robustlda.experiments.methods import METHODS
from robustlda.experiments.paper import convergence, schedule, toy


@dataclass(frozen=True)
class Results:
    """The latest record of every unit, data sets in the order of the paper."""

    angles: list[toy.Angle]
    rows: list[protocol.Row]
    paths: list[convergence.ObjectivePath]

    @property
    def wrong_labels(self) -> list[protocol.Row]:
        return [row for row in self.rows if row.kind == "uniform"]

    @property
    def corrupted_samples(self) -> list[protocol.Row]:
        return [row for row in self.rows if row.kind != "uniform"]


def read(folder: Path) -> Results:
    """Everything the folder holds; an experiment without a file has no records."""
    angles = most_draws(records.latest(records.read(folder / "toy.csv", toy.Angle)))
    order = list(schedule.NINE)
    rows = records.latest(records.read(folder / "comparison.csv", protocol.Row))
    # A comparison in the same folder may have added other data sets.
    rows = whole_folds([row for row in rows if row.dataset in order and row.method in METHODS])
    paths = records.latest(records.read(folder / "convergence.csv", convergence.ObjectivePath))
    paths = [path for path in paths if path.dataset in order]
    rows.sort(key=lambda row: (order.index(row.dataset), row.noise, row.fold))
    paths.sort(key=lambda path: (order.index(path.dataset), path.algorithm, path.start, path.seed))
    return Results(angles, rows, paths)


def most_draws(angles: Sequence[toy.Angle]) -> list[toy.Angle]:
    """Of each setting the angle from the most draws: a quick run in the same folder has left those from few."""
    found = {(a.stretch, a.distance, a.method): a for a in sorted(angles, key=lambda a: a.draws)}
    return [a for a in angles if found[a.stretch, a.distance, a.method] is a]


def whole_folds(rows: Sequence[protocol.Row]) -> list[protocol.Row]:
    """The rows without the folds that an interrupted run has left incomplete.

    Methods that use 1-NN and those with a decision rule of their own are scheduled, and therefore counted, separately.
    """
    done = Counter((row.dataset, row.kind, METHODS[row.method].uses_1nn, row.fold) for row in rows)
    largest: dict[tuple[str, str, bool], int] = defaultdict(int)
    for (*group, _), count in done.items():
        largest[tuple(group)] = max(largest[tuple(group)], count)  # type: ignore[index]

    def whole(row: protocol.Row) -> bool:
        group = (row.dataset, row.kind, METHODS[row.method].uses_1nn)
        return done[(*group, row.fold)] == largest[group]

    return [row for row in rows if whole(row)]
