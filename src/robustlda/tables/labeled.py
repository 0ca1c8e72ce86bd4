"""What a table turns out to be: rows as they were given, labels, features, and everything noticed on the way."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from robustlda.linalg import Array


@dataclass(frozen=True)
class RawTable:
    """A table as it was read, before anything is made of its columns.

    `first_row` is the row of a spreadsheet that holds the first row of the table, counted from 1. `notes` say how the
    file was understood, and `fingerprint` is the SHA-256 of its bytes, empty if there was no file.
    """

    data: pa.Table
    name: str
    notes: tuple[str, ...] = ()
    first_row: int = 2
    fingerprint: str = ""


@dataclass(frozen=True)
class ColumnUse:
    """What became of a column: its kind, the features made of it (none if it was left out), and why.

    Numbers with a long tail to one side are raised to a `power`, as in `tables.powers`; 1 leaves them as they are.
    """

    name: str
    kind: str  # number, category, date, text, label, id, constant, empty, other
    features: tuple[str, ...]
    note: str = ""
    power: float = 1.0


@dataclass(frozen=True)
class Finding:
    """Something about columns or rows that a person should know: what was seen, what was done, how to overrule it."""

    kind: str
    message: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()  # positions in the labeled table


@dataclass(frozen=True)
class LabeledTable:
    """Features with their names, labels and ids of the rows that have a label, and what was noticed.

    `raw` has these rows with all columns as they were given; `places` are their positions in the table that was read,
    from 0, and `first_row` is the row of a spreadsheet that position 0 stands in. `preparation` makes such features of
    other rows; None if they were taken as they are.

    Where several people have labeled the rows, `answers` has a column for each of them, None where someone was not
    asked, `people` are the names of these columns, and y is what most of them say.
    """

    X: Array
    y: Array
    ids: Array
    names: list[str]
    raw: pa.Table
    places: Array
    label: str
    name: str = "table"
    first_row: int = 2
    fingerprint: str = ""
    notes: list[str] = field(default_factory=list)
    columns: list[ColumnUse] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    preparation: Any = None
    answers: Array | None = None
    people: tuple[str, ...] = ()

    @property
    def targets(self) -> Array:
        """What a model learns from: labels, or everybody's answers."""
        return self.y if self.answers is None else self.answers

    @property
    def distinct_labels(self) -> list[Any]:
        """All labels that anybody has given."""
        return np.unique([label for label in self.targets.ravel().tolist() if label is not None]).tolist()
