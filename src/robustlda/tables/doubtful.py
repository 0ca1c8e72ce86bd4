"""Columns that could be learned from and should not be: repetitions, and those that give the label away."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from sklearn.tree import DecisionTreeClassifier

from robustlda.linalg import Array
from robustlda.tables import columns as kinds
from robustlda.tables.columns import Reading

GIVES_AWAY = 0.995
"""Accuracy from which on a column alone gives the label away."""

_FEW = 0.02  # of the rows, in which a code for the label may differ from it
_LARGEST = 1e38  # number that a tree takes

_LOOKED_AT = 4000  # rows by which a column is judged to give the label away


def repeated(table: pa.Table, readings: dict[str, Reading]) -> dict[str, Reading]:
    """Readings of columns that say what an earlier one says."""
    seen: dict[bytes, str] = {}
    found = {}
    for name, reading in readings.items():
        if not reading.used or reading.kind == "text":
            continue
        if reading.kind == "number":
            key = kinds.numbers(table[name], reading).tobytes()
        elif reading.kind == "date":
            key = kinds.dates(table[name], reading)[1].tobytes()
        else:
            key = np.unique(kinds.words(table[name]).astype(str), return_inverse=True)[1].tobytes() + b"category"
        first = seen.setdefault(key, name)
        if first != name:
            found[name] = Reading("repeated", f"It says the same as {first!r}.")
    return found


def giving_away(table: pa.Table, readings: dict[str, Reading], y: Array) -> dict[str, Reading]:
    """Readings of columns from each of which alone the label can be told, wrong labels included."""
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), _LOOKED_AT)).astype(int))
    labels = np.unique(y, return_inverse=True)[1][rows]
    used = [name for name, reading in readings.items() if reading.used]
    judged = [name for name in used if readings[name].kind in ("number", "category")]
    if len(rows) < 20 or not judged:
        return {}
    some = table.select(judged).take(rows)
    found, copies = {}, {}
    for name in judged:
        if readings[name].kind == "number":
            V = _numbers(some[name], readings[name])[:, None]
            values = np.unique(V, return_inverse=True)[1].ravel()
        else:
            values = np.unique(kinds.words(some[name]).astype(str), return_inverse=True)[1]
            V = np.eye(values.max() + 1)[values]
        if _tells(V, labels):
            found[name] = Reading(
                "label again", "It gives the label away: with it, the features would agree with any label."
            )
        if _is_code(values, labels):
            copies[name] = _noted(readings[name])
    left = [name for name in used if name not in found]
    if left:
        return found | ({name: copies[name] for name in left} if set(left) <= set(copies) else {})
    # Measurements that tell all classes apart are all there is; a code for the label is no measurement.
    return {name: reading for name, reading in found.items() if name in copies}


def _numbers(column: pa.ChunkedArray, reading: Reading) -> Array:
    """Values as trees see them: within single precision, and gaps below all others."""
    values = np.clip(kinds.numbers(column, reading), -_LARGEST, _LARGEST)
    return np.where(np.isnan(values), np.nanmin(values) - 1 if np.isfinite(values).any() else 0, values)


def _is_code(values: Array, labels: Array) -> bool:
    """Whether there is a value for each class, but for a few rows."""
    if values.max() != labels.max():
        return False
    counts = np.zeros((values.max() + 1, labels.max() + 1), int)
    np.add.at(counts, (values, labels), 1)
    others = len(labels) - counts.max(axis=1).sum()
    return bool(len(np.unique(counts.argmax(axis=1))) == len(counts) and others <= max(1, _FEW * len(labels)))


def _noted(reading: Reading) -> Reading:
    """The same with a word on what little can be learned from it."""
    note = "It is all but a code for the label, and nothing else is known of the rows: it can hardly speak against one."
    return replace(reading, note=" ".join(filter(None, [reading.note, note])))


def _tells(V: Array, labels: Array) -> bool:
    """Whether features tell the labels of rows that they were not learned from, those of every class."""
    c = int(labels.max()) + 1
    if len(labels) < 10 * c:
        return False
    train, leaves = _every_other(labels), max(2 * c, 8)
    if V.shape[1] == 1 and _least_wrong(V[~train, 0], labels[~train], leaves) > (1 - GIVES_AWAY) * (~train).sum():
        return False
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(V[train], labels[train])
    right = tree.predict(V[~train]) == labels[~train]
    if right.mean() < GIVES_AWAY:
        return False
    counts = np.bincount(labels[~train], minlength=c)
    recalled = np.bincount(labels[~train], right, c)
    return bool((recalled[counts > 0] >= 0.9 * counts[counts > 0]).all())


def _every_other(labels: Array) -> Array:
    """Every other row; of each class, where labels alternate so that a half would lack one."""
    found = np.arange(len(labels)) % 2 == 0
    halves = [np.bincount(labels[half], minlength=labels.max() + 1) for half in (found, ~found)]
    if np.min(halves) == 0:
        order = np.argsort(labels, kind="stable")
        first = np.searchsorted(labels[order], labels[order])
        found[order] = (np.arange(len(labels)) - first) % 2 == 0
    return found


def _least_wrong(values: Array, labels: Array, leaves: int) -> float:
    """Rows that any tree of so many leaves gets wrong at least, which saves growing one for each of many columns.

    A tree cuts the line into `leaves` intervals with one answer each. An interval over k runs of equal labels has at
    least (k − 1)/2 wrong rows, and the intervals have at least all runs between them.
    """
    order = np.lexsort((labels, values.astype(np.float32)))  # as trees see values
    runs = 1 + np.count_nonzero(np.diff(labels[order]))
    return (runs - leaves) / 2
