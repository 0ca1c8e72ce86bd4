"""What a person has checked, where rows may go by ids and classes by the names that a table has for them.

An id counts before a position: a DataFrame that was shuffled or filtered has an index of whole numbers, which are what
its rows are called.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from robustlda.data.columns import Column, positions
from robustlda.data.given import as_given
from robustlda.estimators import is_missing, is_truth
from robustlda.linalg import Array
from robustlda.tables.labeled import LabeledTable
from robustlda.tables.understanding import name_of


def by_row(verified: Any, ids: Any) -> dict[Any, Any]:
    """Labels that were given for rows, by the positions of these rows."""
    if isinstance(verified, Mapping):
        at = {} if ids is None else {name: i for i, name in enumerate(np.asarray(ids).tolist())}
        return {at.get(row, row): label for row, label in verified.items() if not _is_no_name(label)}
    values = [] if verified is None else as_given(verified).tolist()
    return {row: label for row, label in enumerate(values) if not _is_no_name(label)}


def by_class_names(verified: Any, table: LabeledTable) -> Any:
    """What was checked, by the names of classes: these are texts where the table holds fractions, decimals or dates."""
    if verified is None or table.y.dtype.kind != "U":
        return verified
    if isinstance(verified, Mapping):
        return {row: label if _is_no_name(label) else name_of(label) for row, label in verified.items()}
    values = as_given(verified).tolist()
    return np.array([*(v if _is_no_name(v) else name_of(v) for v in values), None], object)[:-1]


def _is_no_name(value: Any) -> bool:
    """Nothing, or true or false, of which masks are."""
    return is_missing(value) or is_truth(value)


def checked_ids(ids: Any, n: int) -> Array:
    names = np.arange(n) if ids is None else np.asarray(ids)
    if names.ndim == 0:
        raise ValueError(f"ids={ids!r} must be an id for each of the {n} samples.")
    if len(names) != n:
        raise ValueError(f"There are {len(names)} ids for {n} samples; give one for each.")
    return names


def by_number(verified: Mapping[Any, Any], ids: Column) -> dict[int, Any]:
    """Right labels by the numbers of the rows, from those of rows in parts that go by their ids or numbers."""
    named = ids.parts.fold(partial(_named_here, verified), _together, ids, positions(ids))
    names, places = np.array([*(name for name, _ in named), None], object)[:-1], np.array([i for _, i in named], int)
    values = by_position(verified, names, places, f"is neither an id nor a number of a row from 0 to {len(ids) - 1}")
    return {int(place): label for place, label in zip(places, values.tolist(), strict=True) if label is not None}


def _named_here(names: Collection[Any], ids: Array, places: Array) -> list[tuple[Any, int]]:
    """The rows of a part that may be meant: their ids and numbers."""
    here = zip(np.asarray(ids).tolist(), places.tolist(), strict=True)
    return [(name, place) for name, place in here if place in names or name in names]


def _together(left: list[tuple[Any, int]], right: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    return left + right


def by_position(verified: Mapping[Any, Any], ids: Array, places: Array, otherwise: str) -> Array:
    """Right labels of all rows, None where nobody has looked, from those of rows that go by their ids or places."""
    by_id = {name: i for i, name in enumerate(ids.tolist())}
    rows = {int(place): i for i, place in enumerate(places)} | by_id
    verified = {row: label for row, label in verified.items() if not is_missing(label)}
    for row in verified:
        if row not in rows:
            raise ValueError(f"verified names row {row!r}, which {otherwise}.")
    others = [row for row in verified if row not in by_id]
    if others and any(isinstance(row, Integral) for row in verified if row in by_id):  # ids that could be places
        raise ValueError(
            f"verified names row {others[0]!r}, which is no id, besides rows that are; name all of them by their ids, "
            "as in X.index[audit.to_review()]."
        )
    times = Counter(ids.tolist()) if len(by_id) < len(ids) else {}
    twice = [row for row in verified if times.get(row, 1) > 1]
    if twice:
        raise ValueError(
            f"verified names row {twice[0]!r}, but {times[twice[0]]} rows have this id; give each an id of its own."
        )
    found = np.full(len(ids), None, object)
    for row, label in verified.items():
        found[rows[row]] = label
    return found
