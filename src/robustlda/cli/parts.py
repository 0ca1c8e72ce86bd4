"""Tables that are read in parts: by this process, by workers that it starts, or by a cluster."""

import importlib
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda import __version__
from robustlda.cli.options import Columns, Workers

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.cli.screen import Screen
    from robustlda.data.parquet import ParquetTable
    from robustlda.data.parted_input import PartedInput
    from robustlda.estimators.robust import RobustLDA
    from robustlda.linalg import Array
    from robustlda.tables.labeled import Finding
    from robustlda.tables.preparation import TablePreparation

LARGE = 1 << 23
"""Numbers in a Parquet file from which on it is read in parts: as many as take 64 MB."""

SUMS = {"fit": 115, "audit": 140}
"""Sums over all rows that are usual, to tell how much time is left."""

_NEEDS_DASK = "--workers and --scheduler need Dask: pip install 'robustlda[dask]'."
_ONE_PERSON = "Answers of several people need a table in memory; this one is read in parts: --label COLUMN."
_PARQUET = (".parquet", ".pq")


def is_in_parts(table: str | None, asked: bool) -> bool:
    """Whether a table is read in parts: a folder, a pattern of names, a large file, or where that was asked for."""
    if table is None:
        if asked:
            raise click.UsageError("--workers, --scheduler and --checkpoint refer to a TABLE, but none was given.")
        return False
    path = Path(table)
    if asked and not path.is_dir() and path.suffix.lower() not in _PARQUET:
        raise click.UsageError(f"Only Parquet files are read in parts, and {table} is none.")
    if asked or path.is_dir() or (any(sign in path.name for sign in "*?[") and not path.exists()):
        return True
    return path.suffix.lower() in _PARQUET and path.is_file() and _is_large(path)


def _is_large(path: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        return False  # whoever reads it says why
    return metadata.num_rows * metadata.num_columns > LARGE


def label_column(columns: Columns) -> str:
    """The one column of labels that a table in parts has."""
    if columns.label is None:
        raise ValueError("Specify the column that holds the labels: --label COLUMN.")
    if not isinstance(columns.label, str):
        raise ValueError(_ONE_PERSON)
    return columns.label


def _check_one_person(label: str, names: list[str]) -> None:
    """Refuse what names several columns, comma-separated."""
    if "," in label and label not in names and all(name.strip() in names for name in label.split(",")):
        raise ValueError(_ONE_PERSON)


@contextmanager
def cluster(by: Workers) -> Iterator[None]:
    """The workers that passes over the rows run on; without any, this process does it all."""
    try:
        with _workers(by):
            yield
    except KeyboardInterrupt as interruption:
        if by.checkpoint is not None:
            interruption.add_note("The same command goes on from its checkpoint.")
        raise


@contextmanager
def _workers(by: Workers) -> Iterator[None]:
    if by.workers is None and by.scheduler is None:
        yield
        return
    if by.workers is not None and by.scheduler is not None:
        raise click.UsageError("--workers starts workers here, --scheduler uses those of a cluster: give one of them.")
    import joblib

    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise click.UsageError(_NEEDS_DASK) from None
    if by.scheduler is not None:
        with distributed.Client(by.scheduler, timeout="10s"):
            yield
        return
    from robustlda.data.dask_parts import local_workers

    # More workers than cores would only take memory.
    with local_workers(min(by.workers or 1, joblib.cpu_count()), by.memory_limit):
        yield


def audit(
    table: str,
    columns: Columns,
    max_false_alarm: float,
    verified: tuple[Path, ...],
    checkpoint: Path | None,
    screen: "Screen",
) -> tuple["LabelAudit", list[str]]:
    """The audit of a table in parts, and what has to be said about the table."""
    from robustlda.audit.label_audit import LabelAudit

    with _watched(screen, "audit") as watch:
        data, preparation, notes = _read(table, columns, verified, checkpoint, watch)
        names = preparation.get_feature_names_out()
        found = LabelAudit(max_false_alarm=max_false_alarm).fit(data, None, features=names)
        if columns.id is not None:
            notes = [*notes, *_repeated(data, found.ids_.tolist(), columns.id)]
    return found, notes


def _repeated(data: "PartedInput", listed: list[Any], name: str) -> list[str]:
    """That ids do not tell rows apart, where a row that is listed has the same as another one of the table."""
    from operator import add

    from robustlda.tables.understanding import repeated_ids

    assert data.ids is not None
    return repeated_ids(data.ids.parts.fold(partial(_times, set(listed)), add, data.ids), name)


def _times(names: Collection[Any], ids: "Array") -> Counter[str]:
    return Counter(str(name) for name in ids.tolist() if name in names)


def fit(
    table: str,
    columns: Columns,
    verified: tuple[Path, ...],
    checkpoint: Path | None,
    screen: "Screen",
    check: Callable[["TablePreparation"], None],
) -> tuple["TablePreparation", "RobustLDA", list[str]]:
    """A model of a table in parts, what features are made with, and what has to be said about the table.

    `check` may refuse what features would be made with.
    """
    from robustlda.estimators.robust import RobustLDA

    with _watched(screen, "fit") as watch:
        data, preparation, notes = _read(table, columns, verified, checkpoint, watch)
        check(preparation)
        model = RobustLDA().fit(data, None)
    return preparation, model, notes


@contextmanager
def _watched(screen: "Screen", what: str) -> Iterator[Callable[[int, float | None], None]]:
    """What passes are told to: a line with their number, the objective, and the time that is left."""
    started, made = time.monotonic(), count(1)
    with screen.working(f"{what}: looking at the table …") as show:

        def tell(number: int, objective: float | None) -> None:
            show(_progress(what, number + 1, next(made), objective, time.monotonic() - started))

        yield tell


def _progress(what: str, done: int, made: int, objective: float | None, seconds: float) -> str:
    """What is shown after a pass; of those that are done, `made` were made now, and others are from a checkpoint."""
    left = seconds_left(seconds, made, max(SUMS[what] - done, 1))
    reached = "" if objective is None else f", objective {objective:.6g}"
    return f"{what}: pass {done}{reached}, {told_time(seconds)} so far{left} …"


def seconds_left(seconds: float, done: int, left: int) -> str:
    """How long the rest takes, if it goes on like that."""
    return f", about {told_time(seconds * left / done)} left" if done > 0 else ""


def told_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _read(
    table: str,
    columns: Columns,
    verified: tuple[Path, ...],
    checkpoint: Path | None,
    watch: Callable[[int, float | None], None],
) -> "tuple[PartedInput, TablePreparation, list[str]]":
    """Rows as features, what makes features of them, and what has to be said about columns and labels.

    As in memory, rows of a label that occurs only once or twice are set aside, unless they were found to be in another
    class.
    """
    from robustlda.data import ParquetTable, parted_input
    from robustlda.data.journal import Journal
    from robustlda.data.parquet import common_types, parquet_files, schema_of
    from robustlda.tables.parts import fitted_to_some
    from robustlda.tables.preparation import TablePreparation
    from robustlda.tables.understanding import rare_labels

    label, files = label_column(columns), parquet_files(table)
    schema = schema_of(files[0])
    _check_one_person(label, schema.names)
    common_types(files)
    preparation = TablePreparation(columns=columns.features, keep=columns.keep)
    fitted_to_some(files, label, columns.id, preparation)
    rows = ParquetTable(table, label, id=columns.id, preparation=preparation)
    journal = Journal(checkpoint, watch)
    journal.begin((__version__, rows.identity(), columns, [path.read_bytes() for path in verified]))
    # Features are known by their places, as those that the preparation makes of other tables are.
    data = replace(parted_input.read(rows, journal=journal), names=None)
    classes = _classes(data, label, schema.field(label).type, exact=columns.exact_labels)
    data = classes.named(data)
    checked = _verified(verified, data) if verified else {}
    moved = _moved(data, checked)
    left = classes.counts - classes.count(moved.values())
    rare, more = rare_labels(classes.names, classes.counts, left)
    if rare.any():
        places = _places(data, set(classes.names[rare].tolist()))
        rows = rows.without([row for row in places if row not in moved])
        data = classes.named(replace(parted_input.read(rows, journal=journal), names=None))
    if checked:
        # A class of which nobody is left is none; its rows go by what was found.
        gone = set(classes.names[rare | (left == 0)].tolist())
        data = _told(data, rows, checked, {row: checked[row] for row, name in moved.items() if name in gone})
    findings = [*preparation.findings_, *classes.findings, *more]
    return data, preparation, [finding.message for finding in findings]


def _moved(data: "PartedInput", checked: dict[int, Any]) -> dict[int, Any]:
    """The labels of rows that were found to be in another class."""
    import numpy as np

    from robustlda.tables.understanding import name_of, spelling_key

    if not checked or data.labels is None:
        return {}
    given = zip(checked.items(), data.labels[np.array(list(checked), int)].tolist(), strict=True)
    return {row: name for (row, right), name in given if spelling_key(name_of(right)) != spelling_key(name_of(name))}


def _told(data: "PartedInput", rows: "ParquetTable", checked: dict[int, Any], right: dict[int, Any]) -> "PartedInput":
    """The rows with what was found about them, and with other labels where these are `right`, by numbers of rows."""
    from robustlda.data.columns import Column
    from robustlda.data.parquet import Fragment

    numbers = Column.kept(data.store.rows.parts, rows.fragments).apply(Fragment.numbers)
    return replace(
        data,
        labels=numbers.apply(partial(_relabeled, right), data.labels),
        verified=numbers.apply(partial(_looked_up, checked)),
    )


def _relabeled(right: dict[int, Any], numbers: "Array", labels: "Array") -> "Array":
    """The labels but of some rows, by their numbers."""
    import numpy as np

    labels = labels.copy()
    for place in np.flatnonzero(np.isin(numbers, list(right))):
        labels[place] = right[int(numbers[place])]
    return labels


def _looked_up(values: dict[int, Any], numbers: "Array") -> "Array":
    import numpy as np

    return np.array([*map(values.get, numbers.tolist()), None], object)[:-1]


@dataclass(frozen=True)
class _Classes:
    """The labels of a table in parts, what the classes are called, how many rows each has, and what is to be said."""

    distinct: "Array"
    spelled: "Array"
    names: "Array"
    counts: "Array"
    findings: "list[Finding]"

    def count(self, labels: Collection[Any]) -> "Array":
        """How many of some labels name each class."""
        import numpy as np

        times = Counter(labels)
        return np.array([times[name] for name in self.names.tolist()])

    def named(self, data: "PartedInput") -> "PartedInput":
        """The rows with the names of their classes."""
        distinct, labels = self.distinct, data.labels
        if labels is None or (self.spelled.tolist() == distinct.tolist() and not isinstance(distinct[0], float)):
            return data
        return replace(data, labels=labels.apply(partial(_respelled, distinct, self.spelled)))


def _places(data: "PartedInput", names: Collection[Any]) -> list[int]:
    """The numbers of the rows with these labels."""
    from operator import add

    from robustlda.data.columns import positions

    assert data.labels is not None
    return list(data.labels.parts.fold(partial(_places_here, names), add, data.labels, positions(data.labels)))


def _places_here(names: Collection[Any], labels: "Array", places: "Array") -> list[int]:
    return [place for name, place in zip(labels.tolist(), places.tolist(), strict=True) if name in names]


def _classes(data: "PartedInput", label: str, kind: Any, *, exact: bool) -> _Classes:
    """The classes, called as they would be in memory; labels that differ only in case or spaces are one."""
    import numpy as np
    import pyarrow as pa

    from robustlda.tables.columns import plain
    from robustlda.tables.understanding import (
        as_names,
        check_classes,
        check_label_counts,
        check_label_type,
        one_spelling,
    )

    assert data.labels is not None
    kind = plain(pa.chunked_array([], kind)).type
    check_label_type(kind, label)
    counts = data.labels.parts.fold(_counted, _added, data.labels)
    if None in counts:
        lack = "1 row has" if counts[None] == 1 else f"{counts[None]:,} rows have"
        them = "it" if counts[None] == 1 else "them"
        raise ValueError(
            f"{lack} no label in column {label!r}: of a table that is read in parts, leave {them} out first."
        )
    distinct = np.array([*sorted(counts), None], object)[:-1]
    names = np.array(as_names(pa.chunked_array([pa.array(distinct)])).to_pylist())
    often = np.array([counts[each] for each in distinct])
    check_label_counts(len(distinct), int(often.sum()), kind, label)
    spelled, findings = (names, []) if exact else one_spelling(names, often, label)
    check_classes(spelled, label)
    classes, index = np.unique(spelled, return_inverse=True)
    return _Classes(distinct, spelled, classes, np.bincount(index, often).astype(int), findings)


def _counted(labels: Any) -> dict[Any, int]:
    """How often there is each label in a part; missing ones, empty ones and question marks under None."""
    from robustlda.data.parted_input import MAX_LABELS

    counts = Counter(
        None if v is None or v != v or (isinstance(v, str) and v.strip() in ("", "?")) else v for v in labels.tolist()
    )
    if len(counts) > MAX_LABELS:
        raise ValueError(f"There are more than {MAX_LABELS:,} different labels; class labels are needed.")
    return dict(counts)


def _added(left: dict[Any, int], right: dict[Any, int]) -> dict[Any, int]:
    return {label: left.get(label, 0) + right.get(label, 0) for label in {**left, **right}}


def _respelled(distinct: Any, spelled: Any, labels: Any) -> Any:
    import numpy as np

    name_of = dict(zip(distinct.tolist(), spelled, strict=True))
    here, index = np.unique(labels, return_inverse=True)
    return np.array([name_of[label] for label in here.tolist()], spelled.dtype)[index]


def _verified(paths: tuple[Path, ...], data: "PartedInput") -> dict[int, Any]:
    """What was checked, by the number of the row."""
    import numpy as np

    from robustlda.data.columns import positions
    from robustlda.report import reviewed

    assert data.labels is not None
    said = reviewed.read(paths)
    if data.ids is None:
        found = reviewed.by_number(said, data.store.shape[0])
        names: dict[int, Any] = {row: row for row in found}
    else:
        rows = data.ids.parts.fold(
            lambda ids, places: _places_of(said, ids, places), _joined, data.ids, positions(data.ids)
        )
        for name, places in rows.items():
            if len(places) > 1:
                raise reviewed.repeated(name, said[name])
        first = {name: places[0] for name, places in rows.items()}
        found, names = reviewed.by_row(said, first), {row: name for name, row in first.items()}
    labels = np.array(list(data.labels.parts.fold(_counted, _added, data.labels)))
    right = reviewed.as_labels(found, labels)
    given = data.labels[np.array(list(found), int)]
    reviewed.check_same_rows(found, dict(zip(found, given.tolist(), strict=True)), names, labels.tolist())
    return right


def _places_of(names: Collection[str], ids: Any, places: Any) -> dict[str, list[int]]:
    from robustlda.report.texts import spreadsheet_safe

    found: dict[str, list[int]] = {}
    for name, place in zip(ids.tolist(), places.tolist(), strict=True):
        text = spreadsheet_safe(str(name))
        if text in names:
            found.setdefault(text, []).append(int(place))
    return found


def _joined(left: dict[str, list[int]], right: dict[str, list[int]]) -> dict[str, list[int]]:
    return {name: [*left.get(name, ()), *right.get(name, ())] for name in {**left, **right}}
