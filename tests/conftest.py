"""Fixtures and paths shared by the tests."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

# Two workers on two cores: BLAS threads on top of them only get in each other's way.
threadpool_limits(1)

DATA = Path(os.environ.get("ROBUSTLDA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def paper_data():
    """Reader of the paper's dense sets: tables standardised, images scaled to [0, 1]."""

    def read(name):
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{name}.npz is not at hand; set ROBUSTLDA_DATA to the folder that holds it")
        with np.load(path) as archive:
            X, y = archive["X"].astype(float), archive["y"]
        if name in ("vehicle", "dermatology"):
            X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
            return StandardScaler().fit_transform(X), y
        return X / X.max(), y

    return read
