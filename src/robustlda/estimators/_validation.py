"""Every check of what a user gives, before anything is computed; what lies below trusts its input."""

import operator
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from robustlda.data import columns, parted_input
from robustlda.data.columns import Column
from robustlda.data.device import DeviceStore, Place, is_foreign, to_numpy, without_derivatives
from robustlda.data.given import as_given
from robustlda.data.parted import PartedStore
from robustlda.data.parted_input import MAX_LABELS, ONE_ANSWER, PartedInput
from robustlda.data.store import Block, Store, as_store, as_stored, is_read_in_blocks, row_slices
from robustlda.linalg import Array
from robustlda.plan import Plan

_DTYPES = (np.float64, np.float32)
_FARTHEST_WEIGHTS = 1e15
_COUNTABLE = 2.0**53  # copies, beyond which their number is not a whole one any more
_MAY_LACK = "fOmM"  # kinds of arrays in which a label may be missing
_AS_GIVEN = -2  # of a class that a person has found to be the given one
_MOST_FEATURES = 10_000  # of rows in parts, from which a matrix of features × features is made


def place_of(values: Any) -> Place | None:
    """Where an array of another library is, and so what is made of it; None for all else.

    That is scikit-learn's `array_api_dispatch`, without which such an array is turned into one of NumPy's.
    """
    return Place.of(values) if get_config()["array_api_dispatch"] and is_foreign(values) else None


def in_numpy(values: Any) -> Any:
    """An array of another library as one of NumPy's, anything else as it is."""
    return to_numpy(values) if is_foreign(values) else values


def check_same_place(estimator: BaseEstimator, method: str, X: Any, fitted: Any) -> Place | None:
    """Where X is, and so the answer; a ValueError if the model, and so an array of it, is somewhere else."""
    if not get_config()["array_api_dispatch"]:
        return None
    given, known = place_of(X), place_of(fitted)
    if given != known:
        raise ValueError(
            f"X of {type(estimator).__name__}.{method}() must use the same namespace and the same device as that of "
            f"fit, which was {known or 'numpy'}, and not {given or 'numpy'}; move X there, or ask "
            "to_numpy() of the model about arrays of NumPy."
        )
    return given


def _floats(X: Any) -> tuple[Any, ...]:
    """The types of numbers that rows may have."""
    place = place_of(X)
    return _DTYPES if place is None else place.floats


def validated_store(estimator: BaseEstimator, X: Any, plan: Plan) -> Store:
    """Rows that a fitted estimator is asked about, checked."""
    if not is_read_in_blocks(X):
        return as_store(_validated(estimator, X, accept_sparse="csr", dtype=_floats(X), reset=False))
    store = as_store(X)
    _check_features(estimator, store.shape[1], reset=False)
    if isinstance(store, PartedStore):  # whose rows are checked when they are read
        _check_names(estimator, store.names)
    else:
        _peak(store, plan)
    return store


def _validated(estimator: BaseEstimator, X: Any, *y: Any, **settings: Any) -> Any:
    """scikit-learn's validation, which adds numbers up to find out whether one of them is infinite."""
    X = without_derivatives(X) if is_foreign(X) else X
    if y and isinstance(y[0], str):
        raise ValueError(
            f"y is {y[0]!r}, a single text; pass the labels themselves, y = X[{y[0]!r}], and X without that column."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return validate_data(estimator, X, *y, **settings)
        except ValueError as error:
            if not str(error).startswith("Input X contains NaN"):
                raise
            raise ValueError(
                "Input X contains NaN. Fill the gaps first: robustlda.tables.TablePreparation does it for tables, and "
                "for features scikit-learn's SimpleImputer."
            ) from None


def read_parts(X: Any, y: Any, sample_weight: Any, verified: Any, ids: Any = None) -> PartedInput:
    """Rows in parts with what belongs to them; verified labels by the names of rows are left for later."""
    if has_answers(y):
        raise ValueError(ONE_ANSWER)
    by_row = isinstance(verified, Mapping)
    return parted_input.read(X, y, sample_weight, verified=None if by_row else verified, ids=ids)


def parted_training(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, verified: Any = None, reset: bool = True
) -> PartedInput:
    """Rows in parts with labels, weights and what is verified of them, checked."""
    found = read_parts(X, y, sample_weight, verified)
    n, d = found.store.shape
    if found.labels is None:
        raise ValueError("y is None; give one label for each row.")
    _check_features(estimator, d, reset=reset)
    if not reset:
        _check_names(estimator, found.names)
    elif found.names is not None and all(isinstance(name, str) for name in found.names):
        estimator.feature_names_in_ = np.array(found.names, object)
    if d > _MOST_FEATURES:
        raise ValueError(
            f"X has {d} features; rows in parts may have {_MOST_FEATURES}. Reduce them first, for example with "
            "TruncatedSVD fitted to some of the rows."
        )
    if reset and n <= d:
        raise ValueError(f"X has {n} rows for {d} features; rows in parts must be more. Give so few in memory.")
    peak = _check_peaks(found.store, reset)
    if reset:
        estimator._peak = peak
    if found.weight is not None:
        least = found.weight.parts.fold(np.min, np.minimum, found.weight)
        if not least > 0:
            raise ValueError(f"sample_weight holds {least:g}; leave out rows that do not count, and weigh all others.")
        most = found.weight.max()
        if not np.isfinite(most):
            raise ValueError(f"sample_weight holds {most:g}; a weight must be a finite number.")
        found = replace(found, weight=_comparable(found.weight, float(least), most, n))
    return found


def parted_classes(estimator: BaseEstimator, found: PartedInput) -> tuple[Array, Column]:
    """The classes, and the index of every row's class."""
    assert found.labels is not None
    classes = found.labels.parts.fold(_classes_of, _union, found.labels)
    if len(classes) > MAX_LABELS:
        raise ValueError(f"y has more than {MAX_LABELS} different labels; rLDA needs classes, not measurements.")
    check_classification_targets(classes)
    if len(classes) < 2:
        raise ValueError(one_class(estimator, classes[0]))
    return classes, found.labels.apply(partial(_index_of, classes)).keep()


def check_comparable(found: PartedInput, classes: Array) -> None:
    """Refuse labels in parts that are missing, or of another type than the classes that they are compared with."""
    assert found.labels is not None
    _union(found.labels.parts.fold(_classes_of, _union, found.labels), classes)


def needs_memory(estimator: BaseEstimator) -> str:
    return (
        f"{type(estimator).__name__} needs all rows in memory; RobustLDA, TraceRatioLDA and MMC take Dask collections, "
        "Parquet files and other data in parts."
    )


def needs_numpy(estimator: BaseEstimator) -> str:
    return (
        f"{type(estimator).__name__} takes arrays of NumPy; RobustLDA, TraceRatioLDA and MMC take those of other "
        "libraries as well."
    )


def one_class(estimator: BaseEstimator, label: Any) -> str:
    return f"{type(estimator).__name__} needs at least 2 classes, but y holds only one class: {label}."


def parted_verified(verified: Any, found: PartedInput, given: Column, classes: Array) -> Column:
    """Class indices that a person has found, −1 elsewhere: those in parts beside the rows, or those of a dict."""
    if found.verified is not None:
        if verified is not None and isinstance(verified, Mapping):
            raise ValueError("The table names a column with verified labels, and verified is given as well; give one.")
        return found.verified.apply(partial(_found_there, classes), given).keep()
    if verified is None:
        return given.apply(_nobody_looked)
    rows = np.array([_checked_row(row, len(given)) for row in verified], int)
    values = np.array([*verified.values(), None], object)[:-1]
    seen = np.array([not is_missing(value) for value in values.tolist()], bool)
    rows, values = rows[seen], values[seen]
    if _is_mask(values, np.ones(len(values), bool), classes):
        rows = rows[values.astype(bool)]
        known = np.full(len(rows), _AS_GIVEN)
    else:
        known = class_indices(values, classes)
    return columns.apply(partial(_known, rows, known), given, columns.positions(given))


def _found_there(classes: Array, verified: Any, given: Array) -> Array:
    return class_indices(verified_labels(verified, classes[given]), classes)


def _checked_row(row: Any, n: int) -> int:
    if not (isinstance(row, Integral) and 0 <= int(row) < n):
        raise ValueError(f"verified names row {row!r}; rows are whole numbers from 0 to {n - 1}.")
    return int(row)


def _nobody_looked(given: Array) -> Array:
    return np.full(len(given), -1)


def _known(rows: Array, classes: Array, given: Array, positions: Array) -> Array:
    known = np.full(len(given), -1)
    if len(positions):
        here = (rows >= positions[0]) & (rows <= positions[-1])
        places, found = rows[here] - positions[0], classes[here]
        known[places] = np.where(found == _AS_GIVEN, given[places], found)
    return known


def _classes_of(labels: Array) -> Array:
    missing = sum(map(is_missing, labels.tolist())) if labels.dtype.kind in _MAY_LACK else 0
    if missing:
        raise ValueError(f"y has {missing} missing labels in one part; leave these rows out and predict them.")
    if labels.dtype.kind == "O":
        _check_kinds(labels.tolist())
    return np.unique(labels)[: MAX_LABELS + 1]


def _union(left: Array, right: Array) -> Array:
    if not left.dtype.kind == right.dtype.kind == "M":  # days and nanoseconds are other types in Python only
        _check_kinds([*left[:1].tolist(), *right[:1].tolist()])
    return np.unique(np.concatenate([left, right]))[: MAX_LABELS + 1]


def _index_of(classes: Array, labels: Array) -> Array:
    return np.searchsorted(classes, labels)


def _check_peaks(store: PartedStore, reset: bool) -> float:
    peaks = store.fold(as_stored, store.shape[0], _peak_of, operator.add)
    ends = np.cumsum(store.rows.parts.sizes)
    wrong = np.flatnonzero(~np.isfinite(peaks))
    if len(wrong):
        start, end = ends[wrong[0]] - store.rows.parts.sizes[wrong[0]], ends[wrong[0]]
        raise ValueError(f"Rows {start} to {end - 1} of X contain NaN or infinity; impute or drop them.")
    if reset:
        _check_range(max(peaks), store.dtype)
    return max(peaks)


def _peak_of(blocks: Iterator[tuple[slice, Block]]) -> list[float]:
    peaks = [block.peak() for _, block in blocks]
    return [float(np.max(peaks))]


def validated_training(estimator: BaseEstimator, X: Any, y: Any, plan: Plan) -> tuple[Store, Array]:
    """Rows and labels that belong together, checked. Of several answers about a row, y has a row for each."""
    if parted_input.is_parted(X):
        raise TypeError(needs_memory(estimator))
    if has_answers(y):
        store, table = _training_rows(estimator, X), answer_table(y)
        if len(table) != store.shape[0]:
            raise ValueError(f"X has {store.shape[0]} rows, but y has answers about {len(table)}: give a row for each.")
        estimator._peak = checked_peak(store, plan)
        return store, table
    _check_objects(y)
    if not is_read_in_blocks(X):
        X, y = _validated(estimator, X, y, accept_sparse="csr", dtype=_floats(X), ensure_min_samples=2)
        store = as_store(X)
    else:
        store, y = _training_rows(estimator, X), column_or_1d(y)
        if len(y) != store.shape[0]:
            raise ValueError(f"X has {store.shape[0]} rows, but y has {len(y)} labels: give one for each row.")
    check_labels(y)
    check_classification_targets(y)
    estimator._peak = checked_peak(store, plan)
    return store, y


def check_labels(y: Array) -> None:
    """A ValueError for labels that are missing, and for names among numbers, of which no order is known."""
    labels = y.tolist() if y.dtype.kind in _MAY_LACK else []
    missing = sum(map(is_missing, labels))
    if missing:
        raise ValueError(f"y has {missing} missing labels; leave these rows out, and predict them afterwards.")
    if y.dtype.kind == "O":
        _check_kinds(labels)


def _check_kinds(labels: Iterable[Any]) -> None:
    kinds = {_kind(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(
            f"y holds labels of several types, {' and '.join(sorted(kinds))}; give all of them one type, for example "
            "with [str(label) for label in y]."
        )


def _check_objects(y: Any) -> None:
    """The same before scikit-learn turns them into texts, or asks pandas.NA whether it is true."""
    try:
        values = as_given(y)
    except ValueError:  # ragged, of which scikit-learn will say more
        return
    if values.ndim and values.dtype.kind == "O":
        check_labels(values.ravel())


def _kind(label: Any) -> str:
    """Labels of one kind can be sorted."""
    return "number" if isinstance(label, Real) else "str" if isinstance(label, str) else type(label).__name__


def _training_rows(estimator: BaseEstimator, X: Any) -> Store:
    if not is_read_in_blocks(X):
        return as_store(_validated(estimator, X, accept_sparse="csr", dtype=_floats(X), ensure_min_samples=2))
    store = as_store(X)
    _check_features(estimator, store.shape[1], reset=True)
    return store


def has_answers(y: Any) -> bool:
    """Whether y holds several answers about each sample."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # ragged, of which scikit-learn will say more
        return False
    return len(shape) == 2 and shape[1] > 1


def answer_table(y: Any) -> Array:
    """Answers as given (samples × annotators), None where there is none."""
    masked = np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else None
    values = np.asarray(y.data) if isinstance(y, np.ma.MaskedArray) else as_given(y)
    if values.dtype.kind in "iu":
        missing = values == -1  # as scikit-learn marks what has no label
    elif values.dtype.kind == "f":
        missing = np.isnan(values)
    else:
        missing = np.array([[is_missing(v) for v in row] for row in values.tolist()], bool).reshape(values.shape)
    missing = missing if masked is None else missing | masked
    given = values[~missing]
    if _is_one_hot(values, missing):
        raise ValueError(
            f"Every row of y, which has {values.shape[1]} columns, holds a single 1 and zeros: indicators of classes "
            "rather than answers of people. Pass y.argmax(axis=1)."
        )
    if missing.all(axis=1).any():
        row = int(missing.all(axis=1).argmax())
        raise ValueError(f"Row {row} of y has no answer; leave it out, and predict it afterwards.")
    if given.dtype.kind == "f" and (given == np.rint(given)).all():
        values = np.where(missing, 0, values).astype(int)  # whole numbers became floats to make room for NaN
    table = np.full(values.shape, None, object)
    table[~missing] = values[~missing].tolist()
    return table


def _is_one_hot(values: Array, missing: Array) -> bool:
    if missing.any() or values.dtype.kind not in "iufb":
        return False
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())


def is_missing(value: Any) -> bool:
    """None, NaN and pandas.NA; the latter is neither equal to itself nor different."""
    if value is None:
        return True
    same = value == value
    return not (isinstance(same, bool | np.bool_) and bool(same))


def _check_features(estimator: BaseEstimator, d: int, reset: bool) -> None:
    """What scikit-learn's validation does for data in memory."""
    if reset:
        estimator.n_features_in_ = d
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif d != estimator.n_features_in_:
        name = type(estimator).__name__
        raise ValueError(f"X has {d} features, but {name} is expecting {estimator.n_features_in_} features as input.")


def _check_names(estimator: BaseEstimator, names: Sequence[Any] | None) -> None:
    """The same of names, where both the rows that the model was fitted to and these have any."""
    known = list(getattr(estimator, "feature_names_in_", ()))
    for j, (name, expected) in enumerate(zip(names or (), known, strict=False)):
        if isinstance(name, str) and name != expected:
            raise ValueError(
                f"Feature {j} of X is called {name!r}, but {expected!r} where {type(estimator).__name__} was fitted; "
                "give the columns in the order of feature_names_in_."
            )


def _peak(store: Store, plan: Plan) -> float:
    """The largest size of a number, block by block; a ValueError if one is not finite, or a block not as promised."""
    peak = 0.0
    for rows in row_slices(store.shape[0], plan.block_rows(store.shape[1])):
        block = store.block(rows)
        if not isinstance(store, DeviceStore):  # whose rows would have to come here
            _check_block(store, block, rows)
        peak = float(np.maximum(peak, block.peak()))  # which NaN does not pass by
        if not np.isfinite(peak):
            raise ValueError(f"Rows {rows.start} to {rows.stop - 1} of X contain NaN or infinity; impute or drop them.")
    return peak


def _check_block(store: Store, block: Block, rows: slice) -> None:
    found, promised = block.compact().shape, (rows.stop - rows.start, store.shape[1])
    if found != promised or block.dtype != store.dtype or store.dtype not in _DTYPES:
        raise ValueError(
            f"Rows {rows.start} to {rows.stop - 1} of {type(store).__name__} came as a block of shape {found} and type "
            f"{block.dtype}; {promised} was expected, of type float64 or float32 and that of the store, {store.dtype}."
        )


def checked_peak(store: Store, plan: Plan) -> float:
    """The largest size of a number; squares of the data, and squares of those, must be numbers."""
    peak = _peak(store, plan)
    _check_range(peak, store.dtype)
    return peak


def _check_range(peak: float, dtype: np.dtype[Any]) -> None:
    limit = 1e15 if dtype == np.float32 else 1e75
    if peak > limit or 0 < peak < 1 / limit:
        raise ValueError(
            f"The largest number in X is {peak:.1e}, outside of {1 / limit:.0e} to {limit:.0e}, where {dtype} "
            "arithmetic is safe. Change the units, for example with StandardScaler."
        )


def checked_weight(sample_weight: Any, n: int) -> Array:
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight has shape {weight.shape}, but there are {n} samples: give one number each.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight holds {weight.min():g}; a weight must not be negative.")
    if not weight.any():
        raise ValueError("All sample weights are zero; at least two classes need a positive weight.")
    positive = weight[weight > 0]
    return _comparable(weight, float(positive.min()), float(weight.max()), len(positive))


def _comparable(weight: Any, least: float, most: float, count: int) -> Any:
    """Numbers of copies as they are, and other weights with a mean of 1; `count` of them are positive.

    Copies are counted: two samples know more than one. Other weights only compare samples with each other, so that
    their unit does not matter, and n samples know what n samples can know.
    """
    if most > _FARTHEST_WEIGHTS * least:
        raise ValueError(
            f"sample_weight holds positive weights from {least:g} to {most:g}, more than {_FARTHEST_WEIGHTS:.0e} times "
            "apart, so that sums lose the small ones. Set these to zero, or raise them."
        )
    if most <= _COUNTABLE and bool((weight == np.rint(weight)).all()) and weight.sum() <= _COUNTABLE:
        return weight
    relative = weight / most
    return relative * (count / float(relative.sum()))


def check_whole(name: str, value: Any, *, none: bool = False) -> None:
    """A whole number of at least 1; True is not meant as one."""
    if none and value is None:
        return
    if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1):
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1{', or None' if none else ''}.")


def check_seed(value: Any) -> None:
    """A number that random numbers can begin from; generators, and what is neither, are left to scikit-learn."""
    if isinstance(value, Integral) and not 0 <= int(value) < 2**32:
        raise ValueError(f"random_state={value!r} must be at least 0 and below 2**32, a generator, or None.")


def check_choice(name: str, value: Any, choices: Iterable[Any], otherwise: str = "") -> None:
    """One of a few values."""
    allowed = list(choices)
    if not isinstance(value, str | None) or value not in allowed:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, allowed))}{otherwise}.")


LARGEST_NUMBER = 1e100
"""Of a parameter that is multiplied with what comes from data."""


def check_number(name: str, value: Any, bound: str, *, least: float = 0.0, strict: bool = False) -> None:
    """A number from `least` on, or above it, and not so large that products with it are none; `bound` says so."""
    if not (isinstance(value, Real) and (float(value) > least if strict else float(value) >= least)):
        raise ValueError(f"{name}={value!r} must be {bound}.")
    if float(value) > LARGEST_NUMBER:
        raise ValueError(f"{name}={value!r} is too large; use {LARGEST_NUMBER:g} or less.")


def checked_priors(priors: Any, n_classes: int) -> Array:
    try:
        checked = np.asarray(priors, float)
    except (TypeError, ValueError):
        raise ValueError(f"priors={priors!r} must be {n_classes} numbers with sum 1, or None.") from None
    if checked.shape != (n_classes,) or not np.isfinite(checked).all():
        raise ValueError(f"priors must be {n_classes} numbers with sum 1, one for each class.")
    if (checked < 0).any() or checked.sum() == 0:
        raise ValueError("priors must be non-negative, and one of them positive.")
    if not np.isclose(checked.sum(), 1):
        warnings.warn(f"The priors add up to {checked.sum():.3g}, and are divided by it.", UserWarning, stacklevel=2)
    return np.asarray(checked / checked.sum())


def verified_labels(verified: Any, y: Array) -> Array:
    """The right label of every sample that a person has checked, None elsewhere; y are the labels without that."""
    if isinstance(verified, Mapping):
        values = np.full(len(y), None, object)
        for row, label in verified.items():
            values[_checked_row(row, len(y))] = label
    else:
        values = as_given(verified)
    if values.shape != (len(y),):
        raise ValueError(
            f"verified has shape {values.shape}, but there are {len(y)} samples: give a mask, a dict from row to "
            "label, or one label each with None where nobody has looked."
        )
    seen = np.array([not is_missing(value) for value in values.tolist()], bool)
    if _is_mask(values, seen, y):
        seen[seen], values = values[seen].astype(bool), y
    found = np.full(len(y), None, object)
    found[seen] = values[seen].tolist()
    return found


def _is_mask(values: Array, seen: Array, y: Array) -> bool:
    """Whether true and false, perhaps with gaps, say which labels are right, as they are no labels themselves."""
    if values.dtype == bool:
        return True
    truths = [is_truth(value) for value in values[seen].tolist()]
    if not any(truths) or any(map(is_truth, y.tolist())):
        return False
    if not all(truths):
        raise ValueError("verified holds true or false beside labels; give the right label of every row, or a mask.")
    return True


def is_truth(value: Any) -> bool:
    """True or False, and not a number that equals one of them."""
    return isinstance(value, bool | np.bool_)


def class_indices(labels: Array, classes: Array) -> Array:
    """Index of the class of every label, −1 where it is None."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label is not None and label not in place]
    if unknown:
        raise ValueError(
            f"verified holds the label {unknown[0]!r}, which y does not; its classes are {_listed(classes)}."
        )
    return np.array([-1 if label is None else place[label] for label in labels.tolist()], int)


def _listed(classes: Array, most: int = 10) -> str:
    shown = ", ".join(map(str, classes[:most]))
    return shown if len(classes) <= most else f"{shown} and {len(classes) - most} more"
