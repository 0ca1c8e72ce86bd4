"""Rows in other units, or drawn in where numbers are too large to be squared."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from robustlda.data.store import Block, Store
from robustlda.linalg import Array


class ByFeature(ABC):
    """Rows of another store, changed block by block by a number for each feature."""

    def __init__(self, store: Store, values: Array) -> None:
        self._store, self._values = store, values.astype(store.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        return self._store.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._store.dtype

    @property
    def sparse(self) -> bool:
        return self._store.sparse

    @property
    def in_memory(self) -> bool:
        return self._store.in_memory

    @abstractmethod
    def block(self, rows: slice) -> Block: ...

    def take(self, index: Array) -> Self:
        return type(self)(self._store.take(index), self._values)


class ScaledStore(ByFeature):
    """Every feature times a factor."""

    def block(self, rows: slice) -> Block:
        return self._store.block(rows).scaled(self._values)


class BoundedStore(ByFeature):
    """Rows shortened where a feature is beyond its limit."""

    def block(self, rows: slice) -> Block:
        return self._store.block(rows).drawn_in(self._values)
