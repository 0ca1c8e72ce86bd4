"""Names of columns: none empty, none twice."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

import pyarrow as pa

MAX_SHOWN = 5
MAX_COLUMNS_SHOWN = 12


def listed(names: Sequence[str]) -> str:
    """A few names in quotes, for a note."""
    return ", ".join(map(repr, names[:MAX_SHOWN])) + (", …" if len(names) > MAX_SHOWN else "")


def no_column(name: str, columns: Sequence[str], rows: Collection[object] = ()) -> str:
    """That a column is not there, and what may have been meant; `rows` are the names of rows, if they have any."""
    there = {column.casefold(): column for column in reversed(columns)}
    meant = [there[key] for key in get_close_matches(name.casefold().strip(), there, n=1, cutoff=0.75)]
    if meant:
        return f"There is no column {name!r}; did you mean {meant[0]!r}?"
    if name in rows:
        return f"There is no column {name!r}, but a row of that name: exchange rows and columns of the table first."
    shown = ", ".join(columns[:MAX_COLUMNS_SHOWN]) + (", …" if len(columns) > MAX_COLUMNS_SHOWN else "")
    return f"There is no column {name!r}; the columns are {shown}."


def column_names(given: Sequence[object], header: bool = True) -> tuple[list[str], list[str]]:
    """Unique names for columns, and notes on those that had to be invented or changed."""
    stripped = ["" if name is None else str(name).strip() for name in given]
    taken, names, changed = set(stripped), [], []
    seen: set[str] = set()
    for k, name in enumerate(stripped):
        unique = name or _free(f"column {k + 1}", taken)
        if unique in seen:
            unique = _free(name, taken, 2)
            changed.append(unique)
        seen.add(unique)
        taken.add(unique)
        names.append(unique)
    notes = []
    unnamed = [names[k] for k, name in enumerate(stripped) if not name]
    if not header:
        notes.append(
            f"There is no header; the columns are called {listed(names)}. Add a line of names if they have any."
        )
    elif unnamed:
        notes.append(f"Columns without a name are called {listed(unnamed)}.")
    if changed:
        notes.append(f"Names that occur twice were made unique: {listed(changed)}.")
    return names, notes


def _free(name: str, taken: set[str], number: int = 1) -> str:
    candidate = name if number == 1 else f"{name} ({number})"
    return _free(name, taken, number + 1) if candidate in taken else candidate


def without_empty(table: pa.Table, given: Sequence[str]) -> tuple[pa.Table, list[str], list[str]]:
    """The table without columns that have neither a name nor a value, as separators at the end of lines make."""
    empty = [k for k, name in enumerate(given) if not name.strip() and table.column(k).null_count == table.num_rows]
    if not empty or len(empty) == len(given):
        return table, list(given), []
    kept = [k for k in range(table.num_columns) if k not in empty]
    number = "An empty column" if len(empty) == 1 else f"{len(empty)} empty columns"
    note = f"{number} without a name {'was' if len(empty) == 1 else 'were'} left out."
    return table.select(kept), [given[k] for k in kept], [note]
