"""Tables as the verbs get them: read, understood, and what was noticed told."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda.cli.options import Columns, Layout

if TYPE_CHECKING:
    from robustlda.linalg import Array
    from robustlda.tables.labeled import LabeledTable, RawTable

_ARRAYS_LABEL = "y"  # of files that hold arrays X and y


def check_there(table: str) -> None:
    """Refuse a name that no file has."""
    from robustlda.tables.opening import regular

    regular(Path(table))


def check_kept(out: Path, *inputs: Path | str) -> None:
    """Refuse to replace what is read, which --force does not mean."""
    for path in map(Path, inputs):
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} is read and would be replaced; choose another name for what is written.")


def read(table: str, layout: Layout) -> "RawTable":
    """The table, with notes on how it was read."""
    from robustlda.tables.limits import check_size
    from robustlda.tables.reading import read_table

    raw = read_table(table, sep=layout.sep, decimal=layout.decimal, encoding=layout.encoding, sheet=layout.sheet)
    check_size(raw.name, raw.data.num_rows, raw.data.num_columns)
    return raw


def understood(raw: "RawTable", columns: Columns, verified: tuple[Path, ...] = ()) -> "LabeledTable":
    """Features, labels and ids of its rows; those that a person has checked stay, however rare their label is."""
    from robustlda.report import reviewed
    from robustlda.tables.preparation import TablePreparation
    from robustlda.tables.understanding import understand

    preparation = TablePreparation(columns=columns.features, keep=columns.keep)
    rows, said = (_rows(raw, columns.id), reviewed.read(verified)) if verified else ({}, {})
    return understand(
        raw,
        label_column(raw, columns),
        id=columns.id,
        preparation=preparation,
        exact_labels=columns.exact_labels,
        checked={rows[name]: checked.label.removeprefix("'") for name, checked in said.items() if name in rows},
    )


def _rows(raw: "RawTable", id: str | None) -> dict[str, int]:
    """All rows of a table by what they are called in a file of results."""
    from robustlda.report.texts import spreadsheet_safe
    from robustlda.tables.frames import flattened

    names = range(raw.data.num_rows)
    if id is not None:
        data = flattened(raw.data)
        names = data[id].to_pylist() if id in data.column_names else []
    return {spreadsheet_safe(str(name)): i for i, name in enumerate(names)}


def label_column(raw: "RawTable", columns: Columns) -> str | tuple[str, ...]:
    """The column that holds the labels, or those that hold the answers of several people."""
    if isinstance(columns.label, str) and "," in columns.label and columns.label not in raw.data.column_names:
        return tuple(name.strip() for name in columns.label.split(",") if name.strip())
    if columns.label is not None:
        return columns.label
    if raw.name.lower().endswith(".npz"):
        return _ARRAYS_LABEL
    shown = ", ".join(raw.data.column_names[:12]) + (", …" if raw.data.num_columns > 12 else "")
    raise ValueError(f"Specify the column that holds the labels: --label COLUMN. The columns are {shown}.")


def sized(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Height and width, from a text such as 28x28."""
    if value is None:
        return None
    height, _, width = value.lower().partition("x")
    if not (height.isdecimal() and width.isdecimal() and int(height) and int(width)):
        raise click.BadParameter(f"{value!r} is not a size such as 28x28.")
    return int(height), int(width)


def images(table: "LabeledTable", size: tuple[int, int]) -> "tuple[LabeledTable, Array]":
    """The columns of numbers as gray levels between 0 and 1, as they are: pixels have one unit in common.

    What the table says of its columns is then what became of them: every pixel is a feature.
    """
    import numpy as np

    from robustlda.tables.labeled import ColumnUse

    used = [use.name for use in table.columns if use.kind not in ("label", "id", "not asked for")]
    if len(used) != size[0] * size[1]:
        raise ValueError(
            f"--images {size[0]}x{size[1]} needs {size[0] * size[1]} columns of pixels; the table has {len(used)}."
        )
    X = np.nan_to_num(np.column_stack([_gray_levels(table, name) for name in used]))
    if X.min() < 0:
        raise ValueError(f"--images needs gray levels of at least 0; the smallest value is {X.min():g}.")
    uses = [ColumnUse(use.name, "number", (use.name,)) if use.name in used else use for use in table.columns]
    findings = [finding for finding in table.findings if not set(finding.columns) & set(used)]
    return replace(table, columns=uses, findings=findings), X / max(X.max(), 1e-300)


def _gray_levels(table: "LabeledTable", name: str) -> "Array":
    """A column of pixels; one that holds something else may be there by mistake."""
    import numpy as np

    from robustlda.tables import columns as kinds

    column = table.raw[name]
    found = kinds.numbers(column, kinds.Reading("number")) if kinds.could_be_numbers(column) else None
    if found is None or (np.isnan(found).all() and column.null_count < len(column)):
        raise ValueError(
            f"--images needs columns of numbers, and {name!r} holds something else; name the pixels with --features, "
            "or the rows by it with --id."
        )
    return found


def told(table: "LabeledTable") -> list[str]:
    """Everything that was noticed, in sentences."""
    return [*table.notes, *(finding.message for finding in table.findings)]


def verified(paths: tuple[Path, ...], table: "LabeledTable", raw: "RawTable | None", id: str | None) -> dict[int, Any]:
    """What a person has checked: right labels by the position of the row in the table that was read."""
    from robustlda.report import reviewed

    found = reviewed.by_id(reviewed.read(paths), table.ids, () if raw is None else _rows(raw, id))
    right = reviewed.as_labels(found, table.distinct_labels)
    if table.answers is None:  # or else nobody knows yet what most people say
        given, names = ({i: values[i] for i in found} for values in (table.y.tolist(), table.ids))
        reviewed.check_same_rows(found, given, names, table.distinct_labels)
    return {int(table.places[i]): label for i, label in right.items()}


def checked_rows(verified: dict[int, Any], table: "LabeledTable") -> "Array":
    """The right label of every row that has one, None where nobody has looked."""
    import numpy as np

    labels = [verified.get(place) for place in table.places.tolist()]
    return np.array([*labels, None], object)[:-1]
