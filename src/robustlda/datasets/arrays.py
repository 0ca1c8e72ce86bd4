"""Files of the paper's data sets: arrays `X` and `y`, or the .mat files of Deng Cai's collection."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from robustlda.linalg import Array


def read_npz(path: Path) -> tuple[Array, Array]:
    """Arrays `X` and `y` of an .npz file."""
    with np.load(path) as archive:
        return archive["X"].astype(float), archive["y"]


def read_counts(counts: Path, labels: Path) -> tuple[Any, Array]:
    """Term counts as a SciPy sparse array, and labels."""
    return sparse.csr_array(sparse.load_npz(counts)).astype(float), np.load(labels)


def read_mat(path: Path) -> tuple[Any, Array]:
    """Arrays `fea` and `gnd` of a .mat file; labels from 0, and square images, stored by columns, transposed."""
    try:
        with warnings.catch_warnings():  # what NumPy will do otherwise one day is SciPy's concern
            warnings.simplefilter("ignore", DeprecationWarning)
            content = loadmat(path)
        X, y = content["fea"], np.asarray(content["gnd"]).ravel()
    except NotImplementedError:
        raise ValueError(f"{path} is a MATLAB 7.3 file; save it again with save(…, '-v7').") from None
    except KeyError:
        raise ValueError(f"{path} must contain the arrays fea and gnd.") from None
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"{path} cannot be read as a .mat file ({type(error).__name__}).") from None
    if X.ndim != 2 or len(y) != X.shape[0]:
        raise ValueError(f"{path} contains fea of shape {X.shape} and {len(y)} labels; every row needs one label.")
    labels = np.unique(y, return_inverse=True)[1]
    if sparse.issparse(X):
        return sparse.csr_array(X).astype(float), labels
    X = X.astype(float)
    side = round(X.shape[1] ** 0.5)
    if side**2 == X.shape[1]:
        X = X.reshape(-1, side, side).transpose(0, 2, 1).reshape(len(X), -1)
    return X, labels


def fetch_table(name: str, version: int) -> tuple[Array, Array]:
    """A table from OpenML: numbers, NaN where missing, and labels starting at 0."""
    from sklearn.datasets import fetch_openml

    table = fetch_openml(name, version=version, as_frame=True, parser="auto")
    X = table.data.apply(lambda column: column.astype(str).replace({"?": "nan", "None": "nan"}).astype(float))
    return X.to_numpy(float), np.unique(np.asarray(table.target, str), return_inverse=True)[1]


def fetch_faces() -> tuple[Array, Array]:
    """The Olivetti faces, which are ORL at 64 × 64, at half that size with gray levels up to 255."""
    from sklearn.datasets import fetch_olivetti_faces

    faces = fetch_olivetti_faces()
    halves = faces.images.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4))
    return 255 * halves.reshape(len(halves), -1).astype(float), faces.target
