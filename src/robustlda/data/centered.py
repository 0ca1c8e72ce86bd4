"""Blocks of rows about a center.

Where the rows are dense a centered copy of the block is made, or the center is taken from products of rows instead,
which saves the copy and costs the digits that cancel; sparse rows can only have the latter.
"""

from typing import Any

import numpy as np

from robustlda.data.device import DeviceBlock
from robustlda.data.store import Block, row_slices
from robustlda.linalg import Array

_TOGETHER = 512  # rows whose steps stay in the cache


class CenteredBlock:
    """Consecutive rows about a center."""

    def __init__(self, block: Block, center: Array) -> None:
        exact = block.centered(center)
        self._block, self._center = (block, center) if exact is None else (exact, np.zeros_like(center))

    @classmethod
    def late(cls, block: Block, center: Array) -> "CenteredBlock":
        """The same without a centered copy: products run at full speed, and what cancels in them is lost."""
        self = cls.__new__(cls)
        self._block, self._center = block, center
        return self

    def times(self, V: Array) -> Array:
        Z = self._block.times(V)
        if self._center.any():
            Z -= (self._center @ V).astype(Z.dtype)
        return Z

    def lengths_there(self, V: Array, labels: Array, near: Array) -> tuple[Array, Array] | None:
        """‖Vᵀx_j − near of the class of j‖² and ‖Vᵀx_j‖² of rows on a device, where coordinates stay; else None."""
        if not isinstance(self._block, DeviceBlock):
            return None
        return self._block.lengths(V, self._center @ V, labels, near)

    def step_scores(self, feature: Array, cut: Array, coef: Array) -> Array:
        """Σ coef over the cuts that a row is above; each is of some feature."""
        if isinstance(self._block, DeviceBlock):
            return self._block.step_scores(feature, cut + self._center[feature], coef)
        rows = self.rows()
        scores = np.empty((len(rows), coef.shape[1]))
        for some in row_slices(len(rows), _TOGETHER):
            np.matmul((rows[some][:, feature] > cut).astype(float), coef, out=scores[some])
        return scores

    def exactly_times(self, V: Array) -> Array:
        return self._block.exactly_times(V) - self._center.astype(float) @ V

    def combine(self, Z: Array) -> Array:
        total = self._block.combine(Z).astype(float)
        return total - np.outer(self._center, Z.sum(axis=0)) if self._center.any() else total

    def class_sums(self, labels: Array, w: Array, n_classes: int) -> Array:
        sums = self._block.class_sums(labels, w, n_classes)
        if self._center.any():
            sums -= np.outer(np.bincount(labels, w, n_classes), self._center)
        return sums

    def gram(self, s: Array, *, single: bool = False) -> Array:
        return self._block.gram(s, self._center, single=single)

    def squares(self) -> Array:
        return self._block.squares(self._center)

    def scaled_class_squares(self, labels: Array, centers: Array, scale: Array) -> Array:
        """‖x_j − centers of the class of j‖² with every feature times a factor."""
        return self._block.scaled(scale).class_squares(labels, (centers + self._center) * scale)

    def column_squares(self, s: Array) -> Array:
        return self._block.column_squares(s, self._center)

    def inner(self, other: "CenteredBlock") -> Array:
        """Inner products with the rows of a block about the same center."""
        products = self._block.inner(other._block).astype(float, copy=False)
        if self._center.any():
            center = self._center[:, None]
            products -= self._block.times(center)
            products -= other._block.times(center).T - float(self._center @ self._center)
        return products

    def rows(self) -> Array:
        return self._block.rows() - self._center if self._center.any() else self._block.rows()

    def compact(self) -> Any:
        """The rows but for a shift that they share, sparse where they are."""
        return self._block.compact()
