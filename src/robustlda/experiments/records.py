"""Results as CSV, one row per unit of work: appended as they finish, and read again to resume an interrupted run."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed

from robustlda.output import replacing

Record = TypeVar("Record")


class Outcome:
    """What every record says besides its numbers: why the unit failed (`error`), or why it was not run (`skipped`)."""

    error: str
    skipped: str

    @property
    def succeeded(self) -> bool:
        return not (self.error or self.skipped)


def unit_of(record: Any, unit: type[Record]) -> Record:
    """The unit a record belongs to: those of its fields that were known before the run."""
    return unit(**{field.name: getattr(record, field.name) for field in fields(unit)})  # type: ignore[arg-type]


def unfinished(units: Iterable[Record], records: Iterable[Any]) -> list[Record]:
    """The units without a record, and those that failed; what was skipped would be skipped again."""
    done = {record.unit for record in records if not record.error}
    return [unit for unit in units if unit not in done]


def latest(records: Iterable[Record]) -> list[Record]:
    """The last record of every unit, since a unit may be run again after a failure."""
    return list({record.unit: record for record in records}.values())  # type: ignore[attr-defined]


def carry_out(units: Sequence[Any], run: Callable[[Any], Record], path: Path, jobs: int = -1) -> Iterator[Record]:
    """Yield records as they finish, each appended to the file at once; several workers use one BLAS thread each."""
    for record in Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(delayed(run)(u) for u in units):
        append(record, path)
        yield record


def write(records: Iterable[Any], path: Path, kind: type) -> None:
    """Write all records of a kind, a dataclass of numbers and strings."""
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _columns(kind))
        writer.writeheader()
        writer.writerows(map(_line, records))


def append(record: Any, path: Path) -> None:
    """Append one row, creating the file if necessary: finished work survives whatever happens next."""
    if not path.exists() or path.stat().st_size == 0:  # nothing, or the rest of a header that was cut off
        write([], path, type(record))
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, _columns(type(record))).writerow(_line(record))


def read(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a file without a last line that was cut off; empty if there is no file."""
    if not path.exists():
        return []
    text = path.read_bytes().decode("utf-8")
    whole = text[: text.rfind("\n") + 1]
    lines = list(csv.DictReader(whole.splitlines()))
    columns = _columns(kind)
    if lines and set(lines[0]) != set(columns):
        raise ValueError(f"{path} has other columns than {', '.join(columns)}; move it, or choose another folder.")
    if whole != text:
        path.write_bytes(whole.encode("utf-8"))
    types: dict[str, Any] = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    return [kind(**{name: types[name](line[name]) for name in columns}) for line in lines]


def _columns(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _line(record: Any) -> dict[str, object]:
    return {name: f"{v:.6g}" if isinstance(v, float) else v for name, v in asdict(record).items()}
