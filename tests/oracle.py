"""What every fit owes to whoever called it, however odd the data: a sound model, or one sentence."""

import traceback
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import robustlda
from robustlda import DLE, RobustLDA, SupervisedLPP
from robustlda.data.store import is_sparse

OURS = Path(robustlda.__file__).parent
SPOKEN = ("sklearn/utils/validation.py", "sklearn/utils/multiclass.py", "sklearn/utils/_array_api.py")
"""Whose sentences about shape and type of the input are passed on as they are."""
INTERNAL = ("g must be positive",)
"""Sentences of ours that nobody who fits an estimator should ever see."""


class Unsound(AssertionError):
    """A model that breaks a promise."""


def is_one_sentence(error):
    """Whether an error tells the caller what is wrong with the input, rather than where the arithmetic broke."""
    if type(error) not in (ValueError, TypeError, MemoryError):
        return False
    where = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    said = Path(where).is_relative_to(OURS) or where.endswith(SPOKEN)
    return said and not str(error).startswith(INTERNAL)


def require(promise, condition):
    if not condition:
        raise Unsound(promise)


def check_model(model, X, y, *, others=None):
    """The promises that hold for every fitted model; `others` are rows that it has not seen."""
    for name, value in fitted_arrays(model).items():
        if name != "stationarity_":  # which is NaN where no gradient is computed
            require(f"{name} is finite", np.isfinite(value).all())
    for rows in (X,) if others is None else (X, others):
        check_predictions(model, rows)
    require("transform is finite", np.isfinite(model.transform(X)).all())
    check_components(model)
    path = np.asarray(model.objective_path_, float)
    # L of `believed` is a difference of two numbers of the order of the dimension, and falls to rounding.
    slack = 1e-7 * (1 + np.abs(path).max()) if isinstance(model, RobustLDA) else 0.0
    require("J never rises", (np.diff(path) <= slack).all())


def fitted_arrays(model):
    """Attributes made of floating-point numbers, but for those of infinite meaning."""
    found = {}
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and isinstance(value, np.ndarray | float):
            value = np.asarray(value)
            if value.dtype.kind == "f" and name not in ("trace_ratio_", "classes_"):
                found[name] = value
    return found


def check_components(model):
    W = model.components_.astype(float)
    require("components are not zero", (np.abs(W).max(axis=1) > 0).all())
    if not isinstance(model, RobustLDA | SupervisedLPP | DLE):
        tolerance = 1e-4 if model.components_.dtype == np.float32 else 1e-8
        require("components are orthonormal", np.abs(W @ W.T - np.eye(len(W))).max() <= tolerance)


def check_predictions(model, X):
    if model.decision is None:
        return
    p = model.predict_proba(X)
    require("probabilities are finite", np.isfinite(p).all())
    require("probabilities are not negative", (p >= 0).all())
    tolerance = 1e-4 if p.dtype == np.float32 else 1e-9
    require("probabilities sum to one", np.abs(p.sum(axis=1) - 1).max() <= tolerance)
    require("predictions are classes", np.isin(model.predict(X), model.classes_).all())
    require("scores are numbers", not np.isnan(model.decision_function(X)).any())


def copied(value):
    return value.copy() if hasattr(value, "copy") else value


def unchanged(before, after):
    if is_sparse(before):
        parts = [(getattr(before, name), getattr(after, name)) for name in ("data", "indices", "indptr")]
    else:
        parts = [(np.asarray(before), np.asarray(after))]
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in parts)


def checked_fit(estimator, X, y, sample_weight=None, others=None, **arguments):
    """A sound model of a copy of the estimator, or the error that said what is wrong, in one sentence.

    Anything else is raised: an error from within, a `RuntimeWarning`, or a promise that was broken.
    """
    model, before = clone(estimator), copied(X)
    if sample_weight is not None:
        arguments["sample_weight"] = sample_weight
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.fit(X, y, **arguments)
        except Exception as error:
            if not is_one_sentence(error):
                raise
            require("X is unchanged", unchanged(before, X))
            require("a failed fit leaves nothing behind", not [name for name in vars(model) if name.endswith("_")])
            return error
        require("X is unchanged", unchanged(before, X))
        check_model(model, X, y, others=others)
    return model
