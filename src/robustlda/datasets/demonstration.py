"""Data with errors made on purpose, for the first look."""

import numpy as np
import pyarrow as pa

from robustlda.datasets.contaminate import flip_labels
from robustlda.linalg import Array
from robustlda.tables.labeled import LabeledTable


def demonstration() -> tuple[LabeledTable, Array]:
    """Scikit-learn's digits with a fifth of the labels flipped, and a mask of the flipped ones."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    noisy, flipped = flip_labels(y, 0.2, np.random.default_rng(0))
    names, rows = [f"pixel {j}" for j in range(64)], np.arange(len(y))
    raw = pa.table({"digit": noisy})
    return LabeledTable(X / 16, noisy, rows, names, raw, rows, "digit", "digits", first_row=0), flipped
