"""An audit of rows in parts: everything about all rows in numbers, and about the rows to look at in detail.

One pass judges every row where it is; what it finds stays there. Of that, sums, order statistics and the most
suspicious rows come here. A row's findings are written where the row is, part by part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from robustlda.audit import farness
from robustlda.data.columns import Column, apply, class_totals, itself, positions
from robustlda.data.parted_input import PartedInput
from robustlda.data.store import Store
from robustlda.decision.rule import Checks, FittedDecision, Measuring
from robustlda.estimators.robust import RobustLDA
from robustlda.linalg import Array
from robustlda.output import remove_rests, replacing

WORST = 10_000
"""The most suspicious rows, which are listed."""

DRAWN = 2_000
"""Rows at equal distances in the data, which are listed as well: for pictures, and to choose rows to review from."""

_GRAIN = 1e-5  # of probabilities, within which rows are flagged together


@dataclass(frozen=True)
class Judged:
    """What an audit finds out about every row, kept where the rows are; `total` is the sum of a column."""

    given: Column
    wrong: Column
    suggested: Column
    verified: Column
    z_own: Column
    z_any: Column
    ids: Column
    confusion: Array
    classes: Array
    store: Store

    @property
    def n_parts(self) -> int:
        return len(self.wrong.parts.sizes)

    def _threshold(self, max_false_alarm: float, outlying: float) -> float:
        """The probability from which on labels are flagged, as expected false alarms among them allow; 2 if none."""
        counts, right = self.wrong.parts.fold(partial(_by_grain, outlying), _add, self.wrong, self.verified, self.z_any)
        counts, right = np.cumsum(counts[::-1])[::-1], np.cumsum(right[::-1])[::-1]
        enough = np.flatnonzero((counts > 0) & (right <= max_false_alarm * counts))
        return float(max(enough[0] * _GRAIN, 0.5)) if len(enough) else 2.0

    def finding(self, max_false_alarm: float, outlying: float) -> Column:
        """0 for nothing, 1 for a wrong label, 2 for an outlier."""
        threshold = self._threshold(max_false_alarm, outlying)
        columns = self.wrong, self.suggested, self.given, self.z_any, self.verified
        return apply(partial(_finding, threshold, outlying), *columns)

    def worst(self, n: int) -> Array:
        """Numbers of the most suspicious rows, in order; among equals, the farther from their class first."""
        entries = self.wrong.parts.fold(
            lambda wrong, z, rows: _worst(np.column_stack([wrong, z, rows]), n),
            lambda left, right: _worst(np.concatenate([left, right]), n),
            self.wrong,
            self.z_own,
            positions(self.wrong),
        )
        return entries[:, 2].astype(int)

    def write(self, folder: Path, finding: Column) -> int:
        """Findings about all rows as Parquet files, one for each part; how many files there are."""
        folder.mkdir(parents=True, exist_ok=True)
        write = partial(_write_part, str(folder.resolve()), self.classes)
        columns = (self.ids, self.given, self.suggested, self.wrong, self.z_own, self.z_any, finding)
        numbers = Column.kept(self.wrong.parts, list(range(self.n_parts)))
        written = int(self.wrong.parts.combined(write, lambda a, b: a + b, numbers, *columns))
        remove_rests(folder, "part-*.parquet")  # of workers that were lost
        return written


def judge(
    model: RobustLDA,
    decision: FittedDecision,
    found: PartedInput,
    checks: Checks,
    features: Callable[[Array, Array], Array],
) -> Judged:
    """Judge every row; `features` makes of beliefs and labels what the features say alone."""
    rule, c = cast(Measuring, model.rule_), len(model.classes_)
    store, given = found.store, checks.given
    beliefs: Column = decision.beliefs
    wrong, suggested, confusion = beliefs.keep_parts(partial(_judged, features, c), given, outputs=3)
    rows = farness.looked_at(store.shape[0])
    squared, outside = model.rule_rows(store.take(rows)).collect(partial(_distances, rule), outputs=2)
    scales = farness.scales(squared, outside, given[rows], wrong[rows] < 0.5)
    z_own, z_any = model.rule_rows(store).collect(partial(_z_values, rule, scales), given, outputs=2)
    return Judged(
        given,
        wrong,
        suggested,
        checks.known >= 0,
        z_own,
        z_any,
        positions(wrong) if found.ids is None else found.ids,
        np.asarray(wrong.parts.fold(itself, lambda a, b: a + b, confusion)),
        model.classes_,
        store,
    )


def _distances(rule: Measuring, block: Any) -> tuple[Array, Array]:
    found = rule.measure(block)
    return found.squared, found.outside


def _z_values(rule: Measuring, scales: farness.Scales, block: Any, labels: Array) -> tuple[Array, Array]:
    """How far rows are from their class, and from every class."""
    squared, outside = _distances(rule, block)
    return scales.own(squared[np.arange(len(labels)), labels], labels), scales.anywhere(squared, outside)


def _judged(features: Callable[[Array, Array], Array], c: int, R: Array, labels: Array) -> tuple[Array, ...]:
    rows = np.arange(len(labels))
    said = features(R, labels)
    confusion = np.array([R[labels == k].sum(axis=0) for k in range(c)])
    return 1 - R[rows, labels], said.argmax(axis=1), confusion


def _by_grain(outlying: float, wrong: Array, verified: Array, z: Array) -> tuple[Array, Array]:
    """How many rows there are in every small range of probabilities, and how many right labels to expect there.

    Neither rows that a person has checked are counted, nor outliers.
    """
    wrong = wrong[~verified & ~(z > outlying)]
    grain = np.minimum((wrong / _GRAIN).astype(int), round(1 / _GRAIN))
    bins = round(1 / _GRAIN) + 1
    return np.bincount(grain, minlength=bins).astype(float), np.bincount(grain, 1 - wrong, bins)


def _add(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
    return left[0] + right[0], left[1] + right[1]


def _finding(
    threshold: float, outlying: float, wrong: Array, suggested: Array, given: Array, z: Array, verified: Array
) -> Array:
    other = suggested != given
    flagged = (wrong >= threshold) & (wrong > 0.5) & other & ~verified
    return np.where(verified & other, 1, np.where(z > outlying, 2, np.where(flagged, 1, 0))).astype(np.int8)


def _worst(entries: Array, n: int) -> Array:
    order = np.lexsort((entries[:, 2], -entries[:, 1], -entries[:, 0]))
    return entries[order[:n]]


FINDINGS = np.array(["", "mislabeled", "outlying"])


def _write_part(
    folder: str,
    classes: Array,
    number: int,
    ids: Array,
    given: Array,
    suggested: Array,
    wrong: Array,
    z_own: Array,
    z_any: Array,
    finding: Array,
) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.array(classes.tolist())
    table = pa.table(
        {
            "id": pa.array(ids),
            "given": pa.DictionaryArray.from_arrays(given, names),
            "suggested": pa.DictionaryArray.from_arrays(suggested, names),
            "probability_wrong": wrong,
            "farness": farness.probability(z_own),
            "farness_any": farness.probability(z_any),
            "finding": pa.DictionaryArray.from_arrays(finding, pa.array(FINDINGS)),
        }
    )
    with replacing(Path(folder) / f"part-{number:05d}.parquet") as target:
        pq.write_table(table, target)
    return 1


def check_alone(folder: Path, n: int) -> None:
    """Refuse a folder with more parts than the n that will be written, as whoever reads it reads all of them."""
    names = {f"part-{number:05d}.parquet" for number in range(n)}
    others = sorted(path.name for path in folder.glob("part-*.parquet") if path.name not in names)
    if others:
        raise FileExistsError(
            f"{folder} has {others[0]}, which would be taken for a part of this audit; remove it, or name another "
            "folder."
        )


def drawn(n: int) -> Array:
    """The rows that are listed besides the worst."""
    return farness.looked_at(n, DRAWN)


def count(column: Column, value: int) -> int:
    """How many rows have a value."""
    return int(class_totals(column.astype(np.int64), 1.0 + 0.0 * column, 3)[value])
