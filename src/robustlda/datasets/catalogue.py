"""The data sets known by name: four that ship with scikit-learn, and the paper's nine from a folder of files."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.base import TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustlda.datasets import arrays
from robustlda.linalg import Array

FOLDER_VARIABLE = "ROBUSTLDA_DATA"
"""The environment variable that names the folder of the paper's data sets."""


@dataclass(frozen=True)
class Dataset:
    """Samples with labels, and the scaling that is fitted inside each training fold.

    `load` looks for `files` in the folder of the paper's data sets, or for one of the `mats` that can replace them;
    data sets that ship with scikit-learn have neither. `reduction` precedes methods that cannot handle the data as they
    are; `source` is the origin, and `fetch` downloads the data where scikit-learn can.
    """

    name: str
    title: str
    load: Callable[[], tuple[Any, Array]]
    scaling: Callable[[], TransformerMixin]
    files: tuple[str, ...] = ()
    reduction: Callable[[], Any] | None = None
    source: str = "ships with scikit-learn"
    mats: tuple[str, ...] = ()
    fetch: Callable[[], tuple[Array, Array]] | None = None

    @property
    def unavailable(self) -> str:
        """Why the data set cannot be loaded, in one sentence; empty if it can."""
        if not self.files:
            return ""
        try:
            lacking = [name for name in self.files if not (folder() / name).is_file()]
            if not lacking or _first_of(self.mats):
                return ""
            return f"{folder()} lacks {' or '.join([', '.join(lacking), *self.mats])}"
        except ValueError as error:
            return str(error)


def folder() -> Path:
    """The folder with the paper's data sets."""
    name = os.environ.get(FOLDER_VARIABLE)
    if not name:
        raise ValueError(f"The folder of the paper's data sets is unknown; pass --data-dir or set {FOLDER_VARIABLE}.")
    return Path(name)


def _first_of(names: tuple[str, ...]) -> Path | None:
    """The first of these files that exists in the folder."""
    return next((folder() / name for name in names if (folder() / name).is_file()), None)


def _divided_by(largest: float) -> Callable[[], TransformerMixin]:
    # A fixed divisor is the same in every fold.
    return lambda: FunctionTransformer(_divide, kw_args={"by": largest})


def _divide(X: Array, by: float) -> Array:
    return X / by


def _imputed_and_scaled() -> TransformerMixin:
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


def _latent_semantics() -> Any:
    return TruncatedSVD(300, random_state=0)


def _shipped(name: str) -> Callable[[], tuple[Any, Array]]:
    def load() -> tuple[Any, Array]:
        X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


def _dense(
    name: str,
    title: str,
    scaling: Callable[[], TransformerMixin],
    source: str,
    mats: tuple[str, ...] = (),
    fetch: Callable[[], tuple[Array, Array]] | None = None,
) -> Dataset:
    file = f"{name}.npz"

    def load() -> tuple[Any, Array]:
        if (folder() / file).is_file() or not (mat := _first_of(mats)):
            return arrays.read_npz(folder() / file)
        return arrays.read_mat(mat)

    return Dataset(name, title, load, scaling, (file,), source=source, mats=mats, fetch=fetch)


def _text(name: str, title: str, above: int, mats: tuple[str, ...]) -> Dataset:
    """Term counts; a term is kept if it occurs more than `above` times in all documents together, as in the paper."""
    counts, labels = f"{name}.X.npz", f"{name}.y.npy"

    def load() -> tuple[Any, Array]:
        if (folder() / counts).is_file() or not (mat := _first_of(mats)):
            X, y = arrays.read_counts(folder() / counts, folder() / labels)
        else:
            X, y = arrays.read_mat(mat)
        return X[:, np.asarray(X.sum(axis=0)).ravel() > above], y

    return Dataset(
        name, title, load, TfidfTransformer, (counts, labels), _latent_semantics, "Deng Cai's text data sets", mats
    )


CATALOGUE = {
    dataset.name: dataset
    for dataset in (
        Dataset("digits", "Digits", _shipped("digits"), _divided_by(16)),
        Dataset("wine", "Wine", _shipped("wine"), StandardScaler),
        Dataset("breast_cancer", "Breast cancer", _shipped("breast_cancer"), StandardScaler),
        Dataset("iris", "Iris", _shipped("iris"), StandardScaler),
        _dense(
            "vehicle",
            "Vehicle",
            StandardScaler,
            "UCI, Statlog (Vehicle Silhouettes)",
            fetch=lambda: arrays.fetch_table("vehicle", 1),
        ),
        _dense(
            "dermatology",
            "Dermatology",
            _imputed_and_scaled,
            "UCI, Dermatology",
            fetch=lambda: arrays.fetch_table("dermatology", 1),
        ),
        _dense("coil20", "COIL-20", _divided_by(1), "Columbia, COIL-20 at 32 × 32", ("COIL20.mat",)),
        _dense(
            "orl",
            "ORL",
            _divided_by(255),
            "AT&T, ORL faces at 32 × 32",
            ("ORL_32x32.mat", "ORL.mat"),
            arrays.fetch_faces,
        ),
        _dense("yale", "Yale", _divided_by(255), "Yale faces at 32 × 32", ("Yale_32x32.mat", "Yale.mat")),
        _dense("pie", "PIE", _divided_by(255), "CMU PIE faces, pose 27, at 32 × 32", ("Pose27_32x32.mat",)),
        _text("reuters21578", "Reuters-21578", 50, ("Reuters21578.mat",)),
        _text("tdt2", "TDT2", 100, ("TDT2.mat",)),
        _text("20newsgroups", "20 Newsgroups", 100, ("20NewsHome.mat",)),
    )
}
DEFAULT = ("digits", "wine", "breast_cancer")


def dataset_named(name: str) -> Dataset:
    """The data set of that name; raises ValueError if it cannot be loaded."""
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set {name!r}; choose from {', '.join(CATALOGUE)}.")
    if CATALOGUE[name].unavailable:
        raise ValueError(f"{name}: {CATALOGUE[name].unavailable}")
    return CATALOGUE[name]
