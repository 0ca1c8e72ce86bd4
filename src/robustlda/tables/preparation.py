"""`TablePreparation`: features from the columns of a table, and a word on what became of each column.

Scikit-learn's encoders do the work: numbers are scaled robustly and imputed, categories get a feature each, text is
embedded. What is ours is the dispatch, column by column, with a reason that a person can read, powers for long tails
(`powers`), and rules that keep an audit honest: what identifies a row is not learned from, nor is a column that gives
the label away, a rare category or a rare gap does not make its row an outlier, and outliers set no scale.
"""

import json
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import astuple, dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, RobustScaler
from sklearn.utils.validation import check_is_fitted

from robustlda.documentation import Documented
from robustlda.linalg import Array
from robustlda.tables import columns as kinds
from robustlda.tables import doubtful, known, powers
from robustlda.tables.columns import Reading
from robustlda.tables.dates import order_of
from robustlda.tables.frames import as_arrow
from robustlda.tables.labeled import ColumnUse, Finding
from robustlda.tables.names import no_column

RARE, RARE_SHARE = 5, 0.005
"""Rows, and share of all rows, below which a category is put together with other rare ones."""

GAPS, GAPS_SHARE = 10, 0.02
"""Missing values, and share of all rows, from which on it is a feature that they are missing."""

CHANGES = "label_change"
"""The column of a corrected table that says which labels were changed, or how its name begins."""

VOTES = "label"
"""The column of a corrected table for what most of several people say, or how its name begins."""

_VOTES = re.compile(rf"{VOTES}( \(robustlda\))*")
_CHANGE = re.compile(r"was .*, (checked|probably wrong \(\d+%\))", re.DOTALL)
_LARGEST = np.finfo(float).max


@dataclass(frozen=True)
class Recipe:
    """How features are made of numbers and categories, for those who make them elsewhere.

    First come the `numbers`, centered, scaled, raised to a `power` and divided by their `spread`, and where they are
    missing with `filling` in their place; then a feature for each of those that are at the places `gaps`, 1 where they
    are missing; then the features of the categories: for each column its words, and the row of features that stands for
    each word. Other words have zeros.
    """

    numbers: tuple[str, ...]
    center: Array
    scale: Array
    power: Array
    spread: Array
    filling: Array
    gaps: Array
    categories: dict[str, tuple[tuple[str, ...], Array]]


class TablePreparation(Documented, TransformerMixin, BaseEstimator):
    """Make features of the columns of a table.

    Numbers, dates, categories and text are recognized by their values, also numbers that are written with a unit
    ("3,750 g"). Columns that are empty or constant, identify rows, repeat another column, or give the label away are
    left out; `columns_` says what became of every column and why.

    Parameters
    ----------
    columns : sequence of str, default=None
        The columns to use, whatever they look like; all others are left out. All that are fit for use if None.
    keep : sequence of str, default=()
        Columns that are used although they look unfit, besides those that do not.
    n_text_features : int, default=30
        How many features are made of a column of text.
    random_state : int, default=0
        For the embedding of text.

    Attributes
    ----------
    columns_ : list of ColumnUse
        Name, kind and features of every column, and a note on what was done.
    findings_ : list of Finding
        What a person should know about the columns.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_columns,)
        How many columns the table has, and what they are called.
    feature_center_, feature_scale_ : ndarray of shape (n_features,)
        A feature times its scale, plus its center, is in the units of the table, but for numbers with a long tail:
        these are raised to a power before (`power` in `columns_`).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from robustlda.tables import TablePreparation
    >>> table = pa.table({"mass": ["3,750 g", "4,200 g", "3,900 g"], "sex": ["f", "m", "f"], "site": ["a", "a", "a"]})
    >>> preparation = TablePreparation().fit(table)
    >>> [str(name) for name in preparation.get_feature_names_out()]
    ['mass', 'sex=m']
    """

    columns_: list[ColumnUse]
    findings_: list[Finding]
    _public_module = "robustlda.tables"

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        keep: Sequence[str] = (),
        n_text_features: int = 30,
        random_state: Any = 0,
    ) -> None:
        self.columns = columns
        self.keep = keep
        self.n_text_features = n_text_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns are.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            A table of any kind: pandas, polars, an Arrow table, or an array.
        y : array-like of shape (n_samples,), default=None
            Labels, to find columns that give them away.

        Returns
        -------
        self : object
        """
        table = as_arrow(X)
        if table.num_rows == 0:
            raise ValueError("The table has no rows.")
        self._check_asked(table.column_names)
        if y is not None and len(y) != table.num_rows:
            raise ValueError(f"The table has {table.num_rows} rows, but y has {len(y)} labels; give one for each.")
        readings = self._understood(table, None if y is None else np.asarray(y))
        trial = copy(self)
        trial._readings = {name: reading for name, reading in readings.items() if reading.used}
        if not trial._readings:
            raise ValueError(f"No column contains usable features. {_why_none(readings)}")
        made = trial._learn(table)
        trial.feature_names_in_ = np.array(table.column_names, object)
        trial.n_features_in_ = table.num_columns
        trial.columns_ = [
            _use(name, readings.get(name), made.get(name, ()), trial._powers.get(name, 1.0))
            for name in table.column_names
        ]
        trial.findings_ = [f for use in trial.columns_ if (f := _finding(use)) is not None]
        self.__dict__ = trial.__dict__  # a fit that fails leaves what was there before
        return self

    def _understood(self, table: pa.Table, y: Array | None) -> dict[str, Reading]:
        """What the columns are that may be used."""
        asked = {*(self.columns or ()), *self.keep}
        names = [n for n in table.column_names if self.columns is None or n in asked]
        readings = {name: kinds.understand(table[name], name, asked=name in asked) for name in names}
        for name, reading in readings.items():
            if reading.kind == "date" and reading.day_first is None:  # the text was read before
                readings[name] = replace(reading, day_first=order_of(table.schema.field(name)))
        told = [name for name in names if name not in asked and tells_changes(name, table[name])]
        readings |= {name: Reading("label again", "It says which labels an audit has changed.") for name in told}
        votes = None if y is None else votes_before(table, y)
        if votes in names and votes not in asked:
            readings[votes] = Reading("label again", "It is what an audit has made of the labels.")
        doubted = doubtful.repeated(table, readings)
        if y is not None:
            doubted |= doubtful.giving_away(table, readings | doubted, y)
        return readings | {name: reading for name, reading in doubted.items() if name not in asked}

    def __getstate__(self) -> dict[str, Any]:
        """What is known about columns as one text: of thousands of columns, objects would fill a model file."""
        state = dict(super().__getstate__())
        if "_readings" in state:
            state["_about_columns"] = _packed(state)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name != "_about_columns"})
        if "_about_columns" in state:
            self.__dict__.update(_unpacked(state["_about_columns"]))

    def _check_asked(self, names: list[str]) -> None:
        for name in (*(self.columns or ()), *self.keep):
            if name not in names:
                raise ValueError(no_column(name, names))
        if not (isinstance(self.n_text_features, Integral) and self.n_text_features >= 1):
            raise ValueError(f"n_text_features={self.n_text_features!r} must be a whole number of at least 1.")

    def _learn(self, table: pa.Table) -> dict[str, tuple[str, ...]]:
        """Fit the encoders; the features that are made of every column."""
        made = [*self._fit_numbers(table), *self._fit_categories(table), *self._fit_texts(table)]
        self._names = [name for _, name in made]
        unscaled = len(made) - len(self._center)
        self.feature_center_ = np.concatenate([self._center, np.zeros(unscaled)])
        self.feature_scale_ = np.concatenate([self._scale * self._spread, np.ones(unscaled)])
        self._powers = {
            owner: float(power) for (owner, name), power in zip(made, self._power, strict=False) if owner == name
        }
        features: dict[str, list[str]] = {}
        for owner, name in made:
            features.setdefault(owner, []).append(name)
        return {owner: tuple(names) for owner, names in features.items()}

    def _fit_numbers(self, table: pa.Table) -> list[tuple[str, str]]:
        """Scales and medians; pairs of a column and a feature that is made of it."""
        V, names = self._numbers(table)
        self._varies = _varies(V)
        V = V[:, self._varies]
        names = [pair for pair, varies in zip(names, self._varies, strict=True) if varies]
        self._center = self._scale = self._power = self._spread = np.empty(0)
        self._gaps = np.empty(0, int)
        if names:
            with np.errstate(over="ignore"):  # what is too far away for a number is brought back by `powers`
                scaler = RobustScaler().fit(V)
                self._center, self._scale = scaler.center_, _spread(V, scaler.center_, scaler.scale_)
                self._power, unit = powers.fit_powers((V - self._center) / self._scale)
                self._scale = self._scale * unit
                Z = powers.raised((V - self._center) / self._scale, self._power)
            self._spread = _spread(Z, np.zeros(Z.shape[1]), np.subtract(*np.nanquantile(Z, [0.75, 0.25], axis=0)))
            self._imputer = SimpleImputer(strategy="median").fit(Z / self._spread)
            n, missing = len(V), np.isnan(V).sum(axis=0)
            self._gaps = np.flatnonzero((missing >= max(GAPS, GAPS_SHARE * n)) & (missing <= n - GAPS))
        return names + [(names[j][0], f"{names[j][1]} missing") for j in self._gaps]

    def _fit_categories(self, table: pa.Table) -> list[tuple[str, str]]:
        self._encoder = None
        columns, n = self._of_kind("category"), table.num_rows
        if not columns:
            return []
        self._encoder = OneHotEncoder(
            drop="if_binary",
            min_frequency=max(RARE, int(RARE_SHARE * n)) if n >= 10 * RARE else None,
            handle_unknown="ignore",
            sparse_output=False,
            feature_name_combiner=_named,
        ).fit(self._words(table))
        owners = np.repeat(columns, _categories_made(self._encoder)).tolist()
        return list(zip(owners, map(str, self._encoder.get_feature_names_out(columns)), strict=True))

    def _fit_texts(self, table: pa.Table) -> list[tuple[str, str]]:
        self._embeddings = {name: self._embedding(table[name]) for name in self._of_kind("text")}
        sizes = {name: embedding[-1].n_components for name, embedding in self._embeddings.items()}
        return [(name, f"{name} ({j + 1})") for name, size in sizes.items() for j in range(size)]

    def _of_kind(self, kind: str) -> list[str]:
        return [name for name, reading in self._readings.items() if reading.kind == kind]

    def _numbers(self, table: pa.Table) -> tuple[Array, list[tuple[str, str]]]:
        """Values of all numbers and dates, and the column and the name of each."""
        parts: list[Array] = []
        names: list[tuple[str, str]] = []
        for name, reading in self._readings.items():
            if reading.kind == "number":
                parts.append(kinds.numbers(table[name], reading))
                names.append((name, name))
            elif reading.kind == "date":
                features, values = kinds.dates(table[name], reading)
                parts += list(values.T)
                names += [(name, f"{name} ({feature})") for feature in features]
        return (np.column_stack(parts) if parts else np.empty((table.num_rows, 0))), names

    def _words(self, table: pa.Table) -> Array:
        return np.column_stack([kinds.words(table[name]) for name in self._of_kind("category")])

    def _embedding(self, column: pa.ChunkedArray) -> Pipeline:
        terms = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), sublinear_tf=True, max_features=20_000)
        found = terms.fit_transform(kinds.words(column))
        most = min(self.n_text_features, *(size - 1 for size in found.shape))
        return make_pipeline(terms, TruncatedSVD(max(most, 1), random_state=self.random_state).fit(found))

    def transform(self, X: Any) -> Array:
        """Features of a table with the same columns; others are not looked at.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            Its columns are found by their names.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        table = as_arrow(X)
        known.check_columns(table, self._readings)
        V = self._numbers(table)[0][:, self._varies]
        parts = [np.isnan(V[:, self._gaps]).astype(float)]
        if V.shape[1]:
            with np.errstate(over="ignore"):  # what is too far to be a number is refused as such
                Z = powers.raised((V - self._center) / self._scale, self._power) / self._spread
            parts.insert(0, self._imputer.transform(Z))
        if self._encoder is not None:
            words = [known.words(table[name], those) for name, those in self._known_words().items()]
            parts.append(_encoded(self._encoder, np.column_stack(words)))
        parts += [embedding.transform(kinds.words(table[name])) for name, embedding in self._embeddings.items()]
        return np.column_stack(parts)

    def columns_in_use(self) -> list[str]:
        """The columns that features are made of."""
        check_is_fitted(self)
        return list(self._readings)

    def unseen(self, X: Any) -> dict[str, list[str]]:
        """Values of which nothing is known, by column: new categories, and what is no number among numbers."""
        check_is_fitted(self)
        table = as_arrow(X)
        known.check_there(table, self._readings)
        return known.unseen_words(table, self._known_words(), self._readings)

    def _known_words(self) -> dict[str, Array]:
        """The words of each category, by column."""
        words = () if self._encoder is None else self._encoder.categories_
        return dict(zip(self._of_kind("category"), words, strict=True))

    def readings(self) -> dict[str, Reading]:
        """What each column in use is taken for."""
        check_is_fitted(self)
        return dict(self._readings)

    def recipe(self) -> Recipe:
        """How features are made of numbers and categories; dates and text are left to `transform`."""
        check_is_fitted(self)
        numbers = [name for name, reading in self._readings.items() if reading.kind == "number"]
        if self._of_kind("date") or self._of_kind("text"):
            raise ValueError("Dates and text have no recipe.")
        numbers = [name for name, varies in zip(numbers, self._varies, strict=True) if varies]
        filling = self._imputer.statistics_ if numbers else np.empty(0)
        scaling = self._center, self._scale, self._power, self._spread
        return Recipe(tuple(numbers), *scaling, filling, self._gaps, self._rows_of_words())

    def _rows_of_words(self) -> dict[str, tuple[tuple[str, ...], Array]]:
        """The features that the encoder makes of each word, by column."""
        if self._encoder is None:
            return {}
        found, ends = {}, np.cumsum(_categories_made(self._encoder))
        for k, (name, words) in enumerate(self._known_words().items()):
            table = np.full((len(words), len(ends)), "", object)  # an empty word in the other columns says nothing here
            table[:, k] = words
            first = ends[k - 1] if k else 0
            found[name] = tuple(map(str, words)), _encoded(self._encoder, table)[:, first : ends[k]]
        return found

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the features."""
        check_is_fitted(self)
        return np.array(self._names, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def _packed(state: dict[str, Any]) -> str:
    """Take what is known about columns out of a state, as a text."""
    return json.dumps(
        {
            "columns": list(state.pop("feature_names_in_")),
            "readings": {name: astuple(reading) for name, reading in state.pop("_readings").items()},
            "uses": [astuple(use) for use in state.pop("columns_")],
            "findings": [astuple(finding) for finding in state.pop("findings_")],
            "names": state.pop("_names"),
            "powers": state.pop("_powers"),
        },
        ensure_ascii=False,
    )


def _unpacked(text: str) -> dict[str, Any]:
    found = json.loads(text)
    return {
        "feature_names_in_": np.array([*found["columns"], None], object)[:-1],
        "_readings": {name: Reading(*values) for name, values in found["readings"].items()},
        "columns_": [ColumnUse(name, kind, tuple(made), *rest) for name, kind, made, *rest in found["uses"]],
        "findings_": [
            Finding(kind, message, tuple(columns), tuple(rows)) for kind, message, columns, rows in found["findings"]
        ],
        "_names": found["names"],
        "_powers": found["powers"],
    }


def tells_changes(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column says which labels an audit has changed, as that of a corrected table does."""
    column = kinds.plain(column)
    if name.startswith(CHANGES) and pa.types.is_null(column.type):
        return True
    if not (name.startswith(CHANGES) and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type))):
        return False
    return all(not text or _CHANGE.fullmatch(text) for text in column.unique().to_pylist())


def votes_before(table: pa.Table, labels: Array) -> str | None:
    """The column of a corrected table that an audit has added for what most people say, if there is one."""
    changes = any(tells_changes(name, table[name]) for name in table.column_names)
    added = [name for name in table.column_names if _VOTES.fullmatch(name)] if changes else []
    classes = {str(label) for label in labels.tolist()}
    return next((name for name in reversed(added) if _texts(table[name]) <= classes), None)


def _texts(column: pa.ChunkedArray) -> set[str]:
    """Values as classes are called; of whole numbers with gaps, some libraries make fractions."""
    values = kinds.plain(column).drop_null().unique().to_pylist()
    return {f"{value:g}" if isinstance(value, float) else str(value) for value in values}


def _named(column: str, category: str) -> str:
    return f"{column}={'(rare)' if category == 'infrequent_sklearn' else category}"


def _categories_made(encoder: OneHotEncoder) -> list[int]:
    """How many features the encoder makes of every column."""
    infrequent = encoder.infrequent_categories_ if encoder.min_frequency else [None] * len(encoder.categories_)
    sizes = []
    for k, (words, rare) in enumerate(zip(encoder.categories_, infrequent, strict=True)):
        size = len(words) - (0 if rare is None else len(rare) - 1)
        sizes.append(size - int(encoder.drop_idx_ is not None and encoder.drop_idx_[k] is not None))
    return sizes


def _encoded(encoder: OneHotEncoder, words: Array) -> Array:
    """The features; categories that nobody has seen are none of the known ones."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there are such; `unseen` says which
        return encoder.transform(words)


def _varies(V: Array) -> Array:
    """Which columns have two different values."""
    if not V.size:
        return np.zeros(V.shape[1], bool)
    low, high = np.fmin.reduce(V, axis=0), np.fmax.reduce(V, axis=0)
    return np.asarray(low < high)


def _spread(V: Array, center: Array, scale: Array) -> Array:
    """The scale of each column: its quartiles', and the mean distance from the center where these coincide."""
    quartiles = np.nanquantile(V, [0.25, 0.75], axis=0)
    mean = np.minimum(np.nanmean(np.abs(V - center), axis=0), _LARGEST)
    scale = np.where(quartiles[0] == quartiles[1], mean, scale)
    return np.where(scale > 0, scale, 1.0)


def _use(name: str, reading: Reading | None, features: tuple[str, ...], power: float) -> ColumnUse:
    if reading is None:
        return ColumnUse(name, "not asked for", ())
    return ColumnUse(name, reading.kind, features, reading.note, power)


_ALWAYS_TOLD = ("id", "code", "repeated", "label again", "other", "text", "empty", "constant")


def _finding(use: ColumnUse) -> Finding | None:
    """What has to be said about a column; most need no words."""
    if use.kind not in _ALWAYS_TOLD and not use.note:
        return None
    left_out = "" if use.features else " It was left out."
    if not use.features and use.kind not in ("empty", "constant", "other"):
        left_out = " It was left out; keep it with --keep (in Python, TablePreparation(keep=…))."
    if use.kind == "id":
        left_out = (
            " It was left out; name rows by it with --id, or use it all the same with --keep (in Python, "
            "TablePreparation(keep=…))."
        )
    return Finding(use.kind, f"Column {use.name!r}: {use.note}{left_out}", (use.name,))


def _why_none(readings: dict[str, Reading]) -> str:
    why = [f"{name!r}: {reading.note}" for name, reading in list(readings.items())[:3]]
    if any(reading.kind == "label again" for reading in readings.values()):
        why.append("Add columns, or keep such a one with --keep (in Python, TablePreparation(keep=…)).")
    return " ".join(why)
