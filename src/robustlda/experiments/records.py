"""Results as CSV, one row per unit of work: appended as they finish, and read again to resume an interrupted run."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from robustlda.experiments import workers
from robustlda.output import replacing, room_for

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
    """Yield records as they finish, each appended to the file at once; several workers share the cores."""
    for record in workers.results(run, units, jobs):
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
    if not path.exists():
        write([], path, type(record))
    with room_for(path), path.open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, _columns(type(record))).writerow(_line(record))


def resumed(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a file, which is mended if something cut it off or damaged lines: those are run again."""
    if not path.exists():
        return []
    whole, damaged = _read(path, kind)
    if damaged:
        write(whole, path, kind)
    return whole


def read(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a file without lines that were cut off or damaged; empty if there is no file."""
    return _read(path, kind)[0] if path.exists() else []


def _read(path: Path, kind: type[Record]) -> tuple[list[Record], bool]:
    """The records that are whole, and whether there is anything else; raises ValueError if the file is not ours."""
    columns = _columns(kind)
    foreign = f"{path} has other columns than {', '.join(columns)}; move it, or choose another folder."
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path} is not a file of results but a link, a folder or a device; choose another folder.")
    header, ends, rest = path.read_bytes().decode("utf-8", "replace").partition("\n")
    if not rest and ",".join(columns).startswith(header.rstrip("\r")):
        return [], header + ends != ",".join(columns) + "\r\n"  # nothing yet, perhaps not even a whole header
    if set(_cells(header)) != set(columns):
        raise ValueError(foreign)
    lines = rest.split("\n")
    found = [_record(_cells(header), line, kind) for line in lines[:-1]]
    whole = [record for record in found if record is not None]
    return whole, len(whole) < len(found) or lines[-1] != ""


def _cells(line: str) -> list[str]:
    """The cells of a line; no text of a record contains line breaks, so damage does not reach the next line."""
    return next(csv.reader([line.rstrip("\r")]), [])


def _record(names: Sequence[str], line: str, kind: type[Record]) -> Record | None:
    types: dict[str, Any] = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(**{name: types[name](cell) for name, cell in zip(names, _cells(line), strict=True)})
    except (ValueError, csv.Error):
        return None


def _columns(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _line(record: Any) -> dict[str, object]:
    """Cells of a record; what says which unit it is comes back exactly, and what was measured with six digits."""
    exact = {field.name for field in fields(record.unit)}
    return {name: _digits(v, name in exact) if isinstance(v, float) else v for name, v in asdict(record).items()}


def _digits(x: float, exact: bool) -> str:
    short = f"{x:.6g}"
    return short if not exact or float(short) == x else repr(x)
