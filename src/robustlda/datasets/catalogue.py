"""The data sets a comparison can name."""

from collections.abc import Callable
from dataclasses import dataclass

from sklearn import datasets as sklearn_datasets
from sklearn.base import TransformerMixin
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustlda.linalg import Array


@dataclass(frozen=True)
class Dataset:
    """A table with labels, and the scaling that is fitted inside each training fold."""

    name: str
    title: str
    load: Callable[[], tuple[Array, Array]]
    scaling: Callable[[], TransformerMixin]


def _pixels() -> TransformerMixin:
    # Digits are counted from 0 to 16; a fixed divisor is the same inside every fold.
    return FunctionTransformer(_divide_by_16)


def _divide_by_16(X: Array) -> Array:
    return X / 16


def _shipped(name: str) -> Callable[[], tuple[Array, Array]]:
    def load() -> tuple[Array, Array]:
        X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


CATALOGUE = {
    dataset.name: dataset
    for dataset in (
        Dataset("digits", "Digits", _shipped("digits"), _pixels),
        Dataset("wine", "Wine", _shipped("wine"), StandardScaler),
        Dataset("breast_cancer", "Breast cancer", _shipped("breast_cancer"), StandardScaler),
        Dataset("iris", "Iris", _shipped("iris"), StandardScaler),
    )
}
DEFAULT = ("digits", "wine", "breast_cancer")


def find(name: str) -> Dataset:
    """The data set of that name."""
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set {name!r}; choose from {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
