"""Where the page takes a row's own values from, and what is typical of a class: the table, or the features."""

from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from robustlda.linalg import Array
from robustlda.report.texts import number_text, short, value_text

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.tables.labeled import LabeledTable

_MEMBERS = 20_000  # of a class, from which its typical values are found


class RowValues(Protocol):
    """Columns of a table, or features. `groups` tells which column a feature was made of, −1 for none."""

    @property
    def names(self) -> list[str]: ...

    @property
    def groups(self) -> Array | None: ...

    def texts(self, column: int, places: Array) -> list[str]:
        """Values of some rows."""
        ...

    def typical(self, column: int, k: int) -> str:
        """A value that is typical of the believed members of a class."""
        ...


class TableValues:
    """Values as the table has them, whatever was made of them.

    Typical is the median of what can be ordered, an actual value of the table, and the most frequent value otherwise.
    """

    def __init__(
        self, raw: pa.Table, audit: "LabelAudit", left_out: set[str], groups: Array | None, features: Array | None
    ) -> None:
        self._columns = [raw.column(i) for i, name in enumerate(raw.column_names) if name not in left_out]
        self.names = [short(name, 60) for name in raw.column_names if name not in left_out]
        self.groups, self._features = groups, features
        believed = (audit.probability_wrong_ < 0.5) & (audit.finding_ == "")
        self._members = [np.flatnonzero(believed & (audit.given_ == label)) for label in audit.classes_]

    def texts(self, column: int, places: Array) -> list[str]:
        return [value_text(value) for value in self._columns[column].take(pa.array(places)).to_pylist()]

    def typical(self, column: int, k: int) -> str:
        members = self._members[k]
        members = members[:: max(1, -(-len(members) // _MEMBERS))]
        if not len(members):
            return "–"
        values = self._columns[column].take(pa.array(members))
        own = np.empty(0, int) if self.groups is None else np.flatnonzero(self.groups == column)
        if _has_order(values.type):
            present = values.drop_null()
            order = np.argsort(_numbers(present), kind="stable")
        elif len(own) == 1 and self._features is not None:
            present = values
            order = np.argsort(self._features[members, own[0]], kind="stable")
        else:
            counts = values.value_counts().to_pylist()
            return value_text(max(counts, key=lambda one: one["counts"])["values"])
        return value_text(present[int(order[len(order) // 2])].as_py()) if len(order) else "–"


def _has_order(kind: Any) -> bool:
    return any(
        is_(kind) for is_ in (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_date, kinds.is_timestamp)
    )


def _numbers(values: pa.ChunkedArray) -> Array:
    """Values in an order of numbers."""
    if kinds.is_date(values.type) or kinds.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    # Numbers beyond 2^53 that are the same in double precision are as typical as each other.
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy())


class FeatureValues:
    """Values as the model has them; typical is the robust center of a class."""

    def __init__(self, audit: "LabelAudit") -> None:
        model: Any = audit.listed_model()
        self._store = model.validated_store(audit.listed_rows())
        self._centers = np.asarray(model.class_centers_, float)
        self.names = [short(str(name), 60) for name in audit.feature_names_]
        self.groups: Array | None = None

    def texts(self, column: int, places: Array) -> list[str]:
        found = self._store.take(places).block(slice(0, len(places))).compact()[:, [column]]
        found = found.toarray() if hasattr(found, "toarray") else found
        return [number_text(float(value)) for value in np.asarray(found, float).ravel()]

    def typical(self, column: int, k: int) -> str:
        return f"{self._centers[k, column]:.4g}"


def row_values(audit: "LabelAudit", table: "LabeledTable | None") -> RowValues | None:
    """The table if there is one, a DataFrame that was given, or else the features; None if they are not known."""
    if table is not None and table.raw.num_rows == len(audit.given_):
        return TableValues(table.raw, audit, {table.label}, _made_of(table), np.asarray(table.X))
    X = audit.listed_rows()
    if X is None:
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and len(frame) == len(audit.given_):
        return TableValues(frame.to_arrow(), audit, set(), None, None)
    model = audit.listed_model()
    if all(hasattr(model, name) for name in ("validated_store", "class_centers_", "components_")):
        return FeatureValues(audit)
    return None


def _made_of(table: "LabeledTable") -> Array:
    """For every feature the column of the table, without the label, that it was made of."""
    place = {name: i for i, name in enumerate(name for name in table.raw.column_names if name != table.label)}
    source = {feature: place.get(use.name, -1) for use in table.columns for feature in use.features}
    return np.array([source.get(name, place.get(name, -1)) for name in table.names])
