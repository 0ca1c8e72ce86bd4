"""From a table to features and labels: which rows have a label, which labels are one, and what rows contradict."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from robustlda.linalg import Array
from robustlda.tables.columns import plain
from robustlda.tables.frames import as_arrow
from robustlda.tables.labeled import ColumnUse, Finding, LabeledTable, RawTable
from robustlda.tables.limits import limit, variable
from robustlda.tables.names import no_column
from robustlda.tables.preparation import TablePreparation

MAX_CLASSES = limit("classes")
"""Distinct labels beyond which a column does not hold classes."""

FEW_CLASSES, ROWS_PER_CLASS = 20, 3
"""Classes that may be as small as they like, and rows that more of them must have on average to be classes."""

LEARNABLE = 3
"""Rows that a class needs to be learned at all."""

SMALL_CLASS = 5
"""Rows below which little can be said about the labels of a class."""

NEAR = 0.01
"""Share of the usual distance to the nearest row within which rows are nearly the same."""

_COMPARED = 10_000  # rows up to which near duplicates are looked for, and not only equal rows


def understand(
    table: RawTable,
    label: str | Sequence[str],
    *,
    id: str | None = None,
    preparation: TablePreparation | None = None,
    exact_labels: bool = False,
    checked: Mapping[int, Any] | None = None,
) -> LabeledTable:
    """Features, labels and ids of the rows that have a label.

    `label` is the column that holds them, or several columns: the answers of several people. `preparation` says which
    columns to use. With `exact_labels`, labels that differ only in case or spaces are different classes. Rows that are
    `checked`, by position in the table, and found to be in another class stay, however rare their label is.
    """
    data = as_arrow(table.data)
    columns = [label] if isinstance(label, str) else list(dict.fromkeys(label))
    others = [*columns, *([id] if id else [])]
    preparation = preparation or TablePreparation()
    try:
        check_columns(data, others)
    except ValueError as error:  # the column may be in another sheet, or have no name
        notes = [note for note in table.notes if "--sheet" in note or "no header" in note]
        raise ValueError(" ".join([str(error), *notes])) from None
    check_roles(columns, id, preparation)
    labels = _Labels.of(data, columns, exact=exact_labels, checked=checked or {})
    places, y = labels.places, labels.of_rows()
    raw = data if len(places) == data.num_rows else data.take(pa.array(places))
    ids = np.array(raw[id].to_pylist(), object) if id else places
    fitted = preparation.fit(raw.drop_columns(others), y)
    X = np.asarray(fitted.transform(raw))
    notes = [*table.notes, *_years(table.data, data), *_lost(labels.lost), *(_repeated(ids, id) if id else [])]
    uses = {use.name: use for use in fitted.columns_}
    uses |= {name: ColumnUse(name, "label", ()) for name in columns}
    if id:
        uses[id] = ColumnUse(id, "id", (), "It names the rows.")
    several = len(columns) > 1
    return LabeledTable(
        X=X,
        y=y,
        ids=ids,
        names=[str(name) for name in fitted.get_feature_names_out()],
        raw=raw,
        places=places,
        label=labels.name,
        name=table.name,
        first_row=table.first_row,
        fingerprint=table.fingerprint,
        notes=notes,
        columns=[uses[name] for name in data.column_names],
        findings=[*fitted.findings_, *labels.findings, *_about_rows(X, y)],
        preparation=fitted,
        answers=labels.answers() if several else None,
        people=tuple(columns) if several else (),
    )


@dataclass(frozen=True)
class _Labels:
    """The labels of the rows at some `places` of a table, one after the other, row by row, and what was noticed.

    `given` says which columns have a label for each of these rows, and `lost` how many rows have none at all.
    """

    name: str
    said: Array
    given: Array
    places: Array
    findings: list[Finding]
    lost: int

    @classmethod
    def of(cls, data: pa.Table, columns: list[str], *, exact: bool, checked: Mapping[int, Any]) -> Self:
        """Labels of one spelling, without those that are too rare to judge."""
        name = ", ".join(columns)
        given = np.column_stack([has_label(data[column]).to_numpy(zero_copy_only=False) for column in columns])
        lost = int((~given.any(axis=1)).sum())
        if lost == len(given):
            raise ValueError(f"No row has a label in column {name!r}.")
        said = _labels(_in_one_column([data[column] for column in columns], given), name)
        at = np.nonzero(given)[0]
        spelled, spelling = (said, []) if exact else _one_spelling(said, name)
        check_classes(spelled, name)
        corrected = _corrected(spelled, at, checked if len(columns) == 1 else {})
        kept, rare = _set_aside(spelled, corrected)
        given[given] = kept
        places = np.flatnonzero(given.any(axis=1))
        changed = np.searchsorted(places, np.unique(at[kept & (spelled != said)])).tolist()
        findings = [*(replace(finding, rows=tuple(changed)) for finding in spelling), *rare]
        said = spelled[kept]
        findings += [*_small_classes(said, corrected[kept]), *_amounts(said, name)]
        return cls(name, said, given[places], places, findings, lost)

    def of_rows(self) -> Array:
        """What most people say about each row, the first in the alphabet if they are equally many."""
        if self.given.shape[1] == 1:
            return self.said
        distinct, index = np.unique(self.said, return_inverse=True)
        counts = np.zeros((len(self.given), len(distinct)), int)
        np.add.at(counts, (np.nonzero(self.given)[0], index), 1)
        return np.asarray(distinct[counts.argmax(axis=1)])

    def answers(self) -> Array:
        """What everybody says about each row (rows × columns), None where a column has no label."""
        answers = np.full(self.given.shape, None, object)
        answers[self.given] = self.said.tolist()
        return answers


def _lost(n: int) -> list[str]:
    if not n:
        return []
    return ["1 row has no label and was left out." if n == 1 else f"{n:,} rows have no label and were left out."]


def _repeated(ids: Array, name: str) -> list[str]:
    """That ids do not tell rows apart: a person who has reviewed some of them learns it too late."""
    return repeated_ids(Counter(map(str, ids.tolist())), name)


def repeated_ids(counts: Mapping[str, int], name: str) -> list[str]:
    """The same of ids of which it is known how often each occurs."""
    several = [text for text, times in counts.items() if times > 1]
    if not several:
        return []
    return [
        f"Several rows have the same id in {name!r}, such as {several[0]!r}: what is found in a review of such rows "
        "cannot be used. Name rows by a column that has another value in each, or leave out --id."
    ]


def _years(given: pa.Table, known: pa.Table) -> list[str]:
    """That a column has dates of years that nothing is known of, which are missing in the table that is."""
    return [
        f"Column {field.name!r}: dates outside of the years 1 to 9999 count as missing."
        for field in given.schema
        if pa.types.is_temporal(field.type) and known[field.name].null_count > given[field.name].null_count
    ]


def _in_one_column(columns: Sequence[pa.ChunkedArray], given: Array) -> pa.ChunkedArray:
    """The labels that are there, row by row, from columns that may hold different kinds of them."""
    columns = [plain(column) for column in columns]
    if len(columns) == 1:
        return columns[0].filter(pa.array(given[:, 0]))
    kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
    if len(kinds) > 1:
        numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
        kinds = {pa.float64() if numbers else pa.string()}
    joined = pa.concat_arrays([chunk for column in columns for chunk in column.cast(next(iter(kinds))).chunks])
    by_row = np.arange(len(joined)).reshape(len(columns), -1).T[given]
    return pa.chunked_array([joined.take(pa.array(by_row))])


def check_columns(table: pa.Table, needed: Sequence[str], *, rows: bool = True) -> None:
    """Refuse a table without these columns, without others, or without rows."""
    for column in needed:
        if column not in table.column_names:
            raise ValueError(no_column(column, table.column_names, _first_values(table)))
    if rows and table.num_rows == 0:
        raise ValueError("The table has no rows.")
    if table.num_columns == 1:
        raise ValueError(f"The table has no column besides {needed[0]!r}, so there is nothing to judge its labels by.")


def check_roles(labels: Sequence[str], id: str | None, preparation: TablePreparation) -> None:
    """Refuse a column that was given two tasks: labels, names of the rows, features."""
    if id in labels:
        raise ValueError(f"Column {id!r} holds the labels and cannot name the rows as well; give another id, or none.")
    for name in (*(preparation.columns or ()), *preparation.keep):
        if name in labels or name == id:
            task = "holds the labels" if name in labels else "names the rows"
            raise ValueError(f"Column {name!r} {task} and cannot be a feature as well; leave it out of the features.")


def _first_values(table: pa.Table) -> list[Any]:
    """Names of rows, if the first column holds texts."""
    if not table.num_columns:
        return []
    first = plain(table.column(0))
    return first.to_pylist() if pa.types.is_string(first.type) or pa.types.is_large_string(first.type) else []


def has_label(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether each row has a label: neither missing nor empty nor a question mark."""
    column = plain(column)
    valid = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        return pc.and_(valid, pc.invert(pc.fill_null(pc.is_nan(column), False)))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        bare = pc.utf8_trim_whitespace(column)
        return pc.and_(valid, pc.invert(pc.fill_null(pc.is_in(bare, pa.array(["", "?"], bare.type)), False)))
    return valid


def _labels(column: pa.ChunkedArray, name: str) -> Array:
    """The labels as an array of texts, whole numbers, truth values or a few numbers."""
    column = plain(column)
    kind = column.type
    check_label_type(kind, name)
    column = as_names(column)
    check_label_counts(pc.count_distinct(column).as_py(), len(column), kind, name)
    return np.array(column.to_pylist())


def check_label_type(kind: pa.DataType, name: str) -> None:
    """Refuse a column of labels of a type that names no classes."""
    fits = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean,
            pa.types.is_floating, pa.types.is_decimal, pa.types.is_date)  # fmt: skip
    if not any(is_kind(kind) for is_kind in fits):
        raise ValueError(f"Column {name!r} is of type {kind}; class labels are texts, whole numbers or truth values.")


def check_label_counts(distinct: int, n: int, kind: pa.DataType, name: str) -> None:
    """Refuse a column of n labels of which so many are different that they name no classes."""
    if distinct > MAX_CLASSES and not pa.types.is_floating(kind):
        raise ValueError(
            f"Column {name!r} holds {distinct:,} different values; class labels are needed, at most {MAX_CLASSES:,} "
            f"(set {variable('classes')} to more if they are)."
        )
    if distinct > MAX_CLASSES or (pa.types.is_floating(kind) and distinct > 100):
        raise ValueError(
            f"Column {name!r} holds {distinct:,} different values; class labels are needed, not measurements."
        )
    if distinct == n:
        raise ValueError(f"Column {name!r} holds a different value in every row; class labels are needed.")
    if distinct > max(FEW_CLASSES, n / ROWS_PER_CLASS):
        raise ValueError(
            f"Column {name!r} holds {distinct:,} different values in {n:,} rows; class labels are needed, of "
            f"which each stands in {ROWS_PER_CLASS} rows or more."
        )


def as_names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Labels as names of classes: whole numbers as such, other numbers and dates as texts."""
    column = plain(column)
    if pa.types.is_decimal(column.type) or pa.types.is_date(column.type):
        return column.cast(pa.string())
    if not (pa.types.is_floating(column.type) and len(column)):
        return column
    values = column.to_numpy()
    if (values == np.rint(values)).all() and np.abs(values).max() < 2**53:
        return pa.chunked_array([pa.array(values.astype(np.int64))])
    return column if len(np.unique(values)) > 100 else pa.chunked_array([pa.array(list(map(name_of, values)))])


def name_of(label: Any) -> str:
    """What a class is called whose label is no text, where classes have texts for names."""
    return f"{label:g}" if isinstance(label, Real) and not isinstance(label, bool) else str(label)


def check_classes(y: Array, name: str) -> None:
    """Refuse labels that are all the same."""
    if (y == y[0]).all():
        raise ValueError(f"Column {name!r} holds only one class, {y[0].item()!r}; at least two are needed.")


def _amounts(y: Array, label: str) -> list[Finding]:
    """Many different numbers may be amounts."""
    n = len(np.unique(y))
    if y.dtype.kind not in "iu" or n <= FEW_CLASSES:
        return []
    message = (
        f"Labels in {label!r} are {n} different whole numbers. If they are amounts, such as ages or scores, and not "
        "names of classes, nothing said about them is of use."
    )
    return [Finding("amounts", message, (label,))]


def _one_spelling(y: Array, label: str) -> tuple[Array, list[Finding]]:
    """Labels that differ only in case, spaces or width are one class, spelled like most of them."""
    distinct, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    spelled, findings = one_spelling(distinct, counts, label)
    return spelled[index], findings


def one_spelling(distinct: Array, counts: Array, label: str) -> tuple[Array, list[Finding]]:
    """How each of some distinct labels is spelled, and what to say if that changes any."""
    if distinct.dtype.kind != "U":
        return distinct, []
    by_key: dict[str, list[int]] = {}
    for k, text in enumerate(distinct):
        by_key.setdefault(spelling_key(str(text)), []).append(k)
    to, merged = np.arange(len(distinct)), []
    for same in by_key.values():
        best = max(same, key=lambda k: (counts[k], str(distinct[k]) == str(distinct[k]).strip()))
        to[same] = best
        if len(same) > 1:
            merged.append((str(distinct[best]), [str(distinct[k]) for k in same if k != best]))
    if not merged:
        return distinct, []
    words = "; ".join(f"{', '.join(map(repr, others))} as {best!r}" for best, others in merged[:5])
    more = f" and {len(merged) - 5} more" if len(merged) > 5 else ""
    message = (
        f"Labels in {label!r} that differ only in case or spaces were taken as one: {words}{more}. With "
        "--exact-labels they are different classes."
    )
    return distinct[to], [Finding("spelling", message, (label,))]


def spelling_key(text: str) -> str:
    """The same for texts that differ only in case, spaces or width."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _corrected(y: Array, places: Array, checked: Mapping[int, Any]) -> Array:
    """Which rows somebody has found to be in another class."""
    found = np.zeros(len(y), bool)
    for i, place in enumerate(places.tolist()):
        if (right := checked.get(place)) is not None:
            found[i] = spelling_key(name_of(right)) != spelling_key(name_of(y[i].item()))
    return found


def _set_aside(y: Array, corrected: Array) -> tuple[Array, list[Finding]]:
    """Which rows are looked at: not those of a class of one or two rows, which nobody can judge; and a word on them.

    Those that were `corrected` are in another class.
    """
    distinct, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    rare, findings = rare_labels(distinct, counts, np.bincount(index[~corrected], minlength=len(distinct)))
    return ~rare[index] | corrected, findings


def rare_labels(distinct: Array, counts: Array, left: Array) -> tuple[Array, list[Finding]]:
    """Which labels occur so rarely that their rows are set aside, and a word on them.

    Of so many rows with each label, those that are `left` were not found to be in another class.
    """
    large = counts >= LEARNABLE
    rare = ~large & (left > 0)
    if not rare.any() or large.sum() < 2:
        return np.zeros(len(counts), bool), []
    message = (
        "Labels that occur only once or twice, too few to judge, were set aside with their rows: "
        f"{_counted(distinct, left, rare)}. Are they typos?"
    )
    return rare, [Finding("rare label", message)]


def _counted(distinct: Array, counts: Array, which: Array) -> str:
    """The first of some labels, and how often they occur."""
    shown = zip(distinct[which].tolist()[:5], counts[which].tolist(), strict=False)
    return ", ".join(f"{name!r} ({n:.0f})" for name, n in shown) + (", …" if which.sum() > 5 else "")


def _small_classes(y: Array, corrected: Array) -> list[Finding]:
    small = [(str(name), n) for name, n in Counter(y[~corrected].tolist()).items() if n < SMALL_CLASS]
    if not small:
        return []
    shown = ", ".join(f"{name!r} ({n})" for name, n in sorted(small)[:5]) + (", …" if len(small) > 5 else "")
    return [Finding("small class", f"Too few rows to judge their labels by others of the class: {shown}.")]


def _about_rows(X: Array, y: Array) -> list[Finding]:
    """Rows that are there twice, and rows that are nearly the same but have different labels."""
    group = _equal_rows(X)
    copies = len(group) - len(np.unique(group))
    findings = []
    if copies:
        findings.append(
            Finding(
                "copies",
                "1 row is a copy of another in all features; each is judged without the other."
                if copies == 1
                else f"{copies:,} rows are copies of others in all features; each copy is judged without the others.",
            )
        )
    group = _near_rows(X, group) if len(X) <= _COMPARED else group
    contradicting = _contradicting(group, y)
    if len(contradicting):
        findings.append(
            Finding(
                "contradiction",
                f"{len(contradicting):,} rows are the same as others, or nearly so, but have another label: at least "
                "one label in each group is wrong, or the features cannot tell these classes apart.",
                rows=tuple(contradicting.tolist()),
            )
        )
    return findings


def _equal_rows(X: Array) -> Array:
    """A number for every row, the same for equal ones: two coordinates in random directions tell rows apart."""
    Z = X @ np.random.RandomState(0).standard_normal((X.shape[1], 2))
    sizes = np.abs(Z)
    # Most rows may be the same, and their coordinates zero.
    unit = np.maximum(np.median(sizes, axis=0), 1e-9 * sizes.max(axis=0))
    digits = np.rint(Z / (1e-9 * np.where(unit > 0, unit, 1)) + 0.4142)
    return np.unique(digits[:, 0] + 1j * digits[:, 1], return_inverse=True)[1].ravel()


def _near_rows(X: Array, group: Array) -> Array:
    """The same with rows that are nearly equal put together."""
    first = np.unique(group, return_index=True)[1]
    distinct = X[first]
    if len(distinct) < 3:
        return group
    distances, neighbors = NearestNeighbors(n_neighbors=2).fit(distinct).kneighbors(distinct)
    near = np.flatnonzero(distances[:, 1] <= NEAR * np.median(distances[:, 1]))
    # Who is nearest to whom makes chains, all of whose rows belong together.
    joined = coo_array((np.ones(len(near)), (near, neighbors[near, 1])), shape=(len(distinct), len(distinct)))
    return np.asarray(connected_components(joined, directed=False)[1][group])


def _contradicting(group: Array, y: Array) -> Array:
    """Rows in whose group there are several labels."""
    pairs = np.unique(np.column_stack([group, np.unique(y, return_inverse=True)[1]]), axis=0)
    several = np.bincount(pairs[:, 0]) > 1
    return np.flatnonzero(several[group])
