"""What a person has checked, read back: suspects.csv with labels filled in, or reviewed.csv from the page.

Such a file names rows by their ids and has their right labels in the column `verified`, empty where nobody has looked.
If it also says which labels were `given`, those must be the table's: a file about rows in another order, or about
another table, would teach the opposite of what was found.
"""

import codecs
import csv
import io
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustlda.linalg import Array
from robustlda.report.texts import spreadsheet_safe
from robustlda.tables.reading import read_table
from robustlda.tables.understanding import spelling_key

_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # "Unicode text" of a spreadsheet


@dataclass(frozen=True)
class Checked:
    """The right label of a row, the one that it had when somebody looked (empty if unknown), and the file's name."""

    label: str
    given: str
    file: str


def read(paths: Sequence[Path]) -> dict[str, Checked]:
    """What was checked, by ids; if several files name a row, the last of them counts."""
    return {name: checked for path in paths for name, checked in _read(path).items()}


def names_in(path: Path) -> set[str]:
    """The ids of rows that were checked in a file; none in one that is of another kind."""
    try:
        return set(_read(path))
    except (ValueError, csv.Error):
        return set()


def _read(path: Path) -> dict[str, Checked]:
    lines = _texts(path)
    names = lines[0] if lines else []
    missing = sorted({"id", "verified"} - set(names))
    if missing:
        raise ValueError(
            f"{path.name} has no {'column' if len(missing) == 1 else 'columns'} {' and '.join(missing)}; give the ids "
            "of suspects.csv, and the right labels in a column called verified, empty where nobody has looked."
        )
    at = [names.index(name) for name in ("id", "verified")]
    then = names.index("given") if "given" in names else None
    return {
        line[at[0]]: Checked(line[at[1]].strip(), _if_there(line, then), path.name)
        for line in lines[1:]
        if len(line) > max(at) and line[at[1]].strip()
    }


def _if_there(line: list[str], place: int | None) -> str:
    """A cell of a column that may be missing, or of a line that has ended before."""
    return line[place].strip() if place is not None and place < len(line) else ""


def _texts(path: Path) -> list[list[str]]:
    """The cells of a table as texts, however a spreadsheet has saved it: CSV of any separator, or a workbook."""
    content = path.read_bytes()
    if zipfile.is_zipfile(path) or content.startswith(_OLD_WORKBOOK):
        table = read_table(path).data
        columns = [["" if v is None else str(v) for v in table[name].to_pylist()] for name in table.column_names]
        return [table.column_names, *map(list, zip(*columns, strict=True))]
    try:
        text = content.decode("utf-16" if content.startswith(_WIDE) else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    header = text.partition("\n")[0]
    separator = max(",;\t", key=header.count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def by_row(
    found: Mapping[str, Checked], rows: Mapping[str, int], everything: Collection[str] = ()
) -> dict[int, Checked]:
    """The same by the rows that the ids stand for; `everything` are also the ids of rows that nobody judges."""
    for name, checked in found.items():
        if name not in rows and name in everything:
            raise ValueError(
                f"{checked.file} names the row {name!r}, which was left out: it has no label, or one that too few rows "
                "have to be judged. Give it the label of another class, or take it out of the file."
            )
        if name not in rows:
            raise ValueError(f"{checked.file} names the row {name!r}, which the table does not have.")
    return {rows[name]: checked for name, checked in found.items()}


def by_id(found: Mapping[str, Checked], ids: Array, everything: Collection[str] = ()) -> dict[int, Checked]:
    """The same by the position of rows with these ids."""
    names = [spreadsheet_safe(str(name)) for name in ids]
    times = Counter(names)
    for name, checked in found.items():
        if times[name] > 1:
            raise repeated(name, checked)
    return by_row(found, {name: i for i, name in enumerate(names)}, everything)


def repeated(name: str, checked: Checked) -> ValueError:
    """That nobody knows which row was meant."""
    return ValueError(
        f"{checked.file} names the row {name!r}, but several rows of the table have this id; audit it again with "
        "--id and a column that has another value in each row, or without --id, and review that."
    )


def by_number(found: Mapping[str, Checked], n: int) -> dict[int, Checked]:
    """The same where rows are known by their numbers, from 0 to n − 1."""
    for name, checked in found.items():
        if not (name.isdecimal() and int(name) < n):
            raise ValueError(f"{checked.file} names the row {name!r}; rows have numbers from 0 to {n - 1}.")
    return {int(name): checked for name, checked in found.items()}


def as_labels(found: Mapping[int, Checked], labels: Iterable[Any]) -> dict[int, Any]:
    """The right labels, as those of some labels that read so."""
    called = _Called(labels)
    right = {}
    for row, checked in found.items():
        alike = called.by(checked.label)
        if len(alike) != 1:
            raise ValueError(
                f"The verified label {checked.label!r} is none of the table's: {', '.join(list(called.cells)[:10])}."
            )
        right[row] = alike[0]
    return right


def check_same_rows(
    found: Mapping[int, Checked], given: Mapping[int, Any], names: Mapping[int, Any], labels: Iterable[Any]
) -> None:
    """Refuse what was said about other rows; a label that has been corrected since then is none of these.

    Nor is one that is spelled otherwise since then, as in a table in which True has become TRUE.
    """
    called = _Called([*labels, *given.values()])
    for row, checked in found.items():
        if checked.given and given[row] not in (*called.by(checked.given), *called.by(checked.label)):
            raise ValueError(
                f"{checked.file} was made when row {names[row]} had the label {checked.given!r}, but here it has "
                f"{_cell(given[row])!r}: the table is another one or in another order. Name rows by a column of "
                "theirs, --id COLUMN, in the audit and here."
            )


class _Called:
    """Labels by what stands in a file; case, spaces and width do not matter where they tell none apart."""

    def __init__(self, labels: Iterable[Any]) -> None:
        self.cells = {_cell(label): label for label in labels}
        self._alike: dict[str, list[Any]] = {}
        for text, label in self.cells.items():
            self._alike.setdefault(spelling_key(text), []).append(label)

    def by(self, text: str) -> list[Any]:
        """The label that is called so, those that could be, or none."""
        return [self.cells[text]] if text in self.cells else self._alike.get(spelling_key(text), [])


def _cell(label: Any) -> str:
    """A label as it stands in a file, where texts come without the spaces around them."""
    return spreadsheet_safe(str(label)).strip()
