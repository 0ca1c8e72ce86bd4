"""Labels and what was checked, as whoever gave them meant them."""

from typing import Any

import numpy as np

from robustlda.linalg import Array


def as_given(values: Any) -> Array:
    """An array in which nothing is made up: neither what is masked, nor texts of what is missing in a list of texts."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        objects = values.data.astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    array = np.asarray(values)
    if not (isinstance(values, list | tuple) and array.dtype.kind == "U"):
        return array
    objects = np.array(values, object)  # NumPy makes texts of all that is among texts
    return array if all(isinstance(value, str) for value in objects.ravel().tolist()) else objects
