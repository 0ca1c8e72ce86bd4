"""The data sets of the benchmark, one entry each."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class Data:
    name: str
    load: Callable[[Path], tuple[Any, np.ndarray]]


def _table(name: str) -> Callable[[Path], tuple[Any, np.ndarray]]:
    def load(folder: Path) -> tuple[Any, np.ndarray]:
        with np.load(folder / f"{name}.npz") as archive:
            X, y = archive["X"].astype(float), archive["y"]
        return StandardScaler().fit_transform(np.where(np.isnan(X), np.nanmedian(X, axis=0), X)), y

    return load


def _images(name: str) -> Callable[[Path], tuple[Any, np.ndarray]]:
    def load(folder: Path) -> tuple[Any, np.ndarray]:
        with np.load(folder / f"{name}.npz") as archive:
            X, y = archive["X"].astype(float), archive["y"]
        return X / X.max(), y

    return load


def _text(name: str, above: int) -> Callable[[Path], tuple[Any, np.ndarray]]:
    def load(folder: Path) -> tuple[Any, np.ndarray]:
        X, y = sparse.load_npz(folder / f"{name}.X.npz").tocsr().astype(float), np.load(folder / f"{name}.y.npy")
        X = X[:, np.asarray(X.sum(axis=0)).ravel() > above]
        return sparse.csr_array(TfidfTransformer().fit_transform(X)), y

    return load


def _blobs(n: int, d: int, c: int = 5) -> Callable[[Path], tuple[Any, np.ndarray]]:
    def load(folder: Path) -> tuple[Any, np.ndarray]:
        rng = np.random.default_rng(0)
        y = np.arange(n) % c
        return rng.normal(size=(n, d)) + 2 * rng.normal(size=(c, d))[y], y

    return load


DATA = {
    data.name: data
    for data in (
        Data("vehicle", _table("vehicle")),
        Data("dermatology", _table("dermatology")),
        Data("yale", _images("yale")),
        Data("orl", _images("orl")),
        Data("coil20", _images("coil20")),
        Data("pie", _images("pie")),
        Data("reuters", _text("reuters21578", 50)),
        Data("tdt2", _text("tdt2", 100)),
        Data("20newsgroups", _text("20newsgroups", 100)),
        Data("reuters-all-terms", _text("reuters21578", 0)),
        Data("tdt2-all-terms", _text("tdt2", 0)),
        Data("20newsgroups-all-terms", _text("20newsgroups", 0)),
        Data("blobs-d250", _blobs(5000, 250)),
        Data("blobs-d500", _blobs(5000, 500)),
        Data("blobs-d1000", _blobs(5000, 1000)),
        Data("blobs-d2000", _blobs(5000, 2000)),
        Data("blobs-100k", _blobs(100_000, 200)),
        Data("blobs-200k", _blobs(200_000, 200)),
    )
}
