"""Rows in other units."""

from typing import Any

import numpy as np

from robustlda.data.store import Block, Store
from robustlda.linalg import Array


class ScaledStore:
    """Rows of another store, every feature times a factor."""

    def __init__(self, store: Store, factors: Array) -> None:
        self._store, self._factors = store, factors.astype(store.dtype)

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

    def block(self, rows: slice) -> Block:
        return self._store.block(rows).scaled(self._factors)

    def take(self, index: Array) -> "ScaledStore":
        return ScaledStore(self._store.take(index), self._factors)
