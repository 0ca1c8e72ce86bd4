"""Rows that are not in memory and come when asked."""

from typing import Any

import numpy as np

from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.linalg import Array


class MappedStore:
    """A memory-mapped array of any number type; only the blocks in use are in memory."""

    in_memory, sparse = False, False

    def __init__(self, X: np.memmap[Any, Any]) -> None:
        self._X = X
        self._dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def block(self, rows: slice) -> DenseBlock:
        # Read once, then used by several products; a block of the mapping itself would be paged in by each of them.
        return DenseBlock(np.array(self._X[rows], self._dtype, order="C"))

    def take(self, index: Array) -> DenseStore:
        return DenseStore(np.array(self._X[index], self._dtype))
