"""Rows of an array of another library, on the device where that library keeps them.

Everything that is learned from rows is a product with them, and small: sums over classes, a Gram matrix, a few
coordinates or one number for each row. So a block computes its products where the rows are, and what comes back is
NumPy's. No solver and no decision knows the difference. Rows themselves come here only where few are asked for by
number, where a span has to be found by orthogonal factors, or where a rule predicts from far rows.

Of the libraries nothing is needed but the array API standard, in which

    Σ_{j ∈ class k} w_j x_j = Hᵀ B   with   H_jk = w_j if j is of class k, else 0,
    Σ_j s_j x_j x_jᵀ = Rᵀ diag(sign s) R   with   R_j = |s_j|^½ x_j.

The precision is that of rows in memory: products in that of the rows, sums and lengths in double precision, where the
device has it.
"""

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.data.store import row_slices
from robustlda.linalg import Array

_WITHOUT_PROTOCOL = ("torch", "cupy")  # libraries whose arrays do not all name their namespace themselves
_ONE_HOT = 1 << 22  # numbers in a matrix of class indicators: 32 MB in double precision


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library than NumPy that follows the array API, or can be made to."""
    if isinstance(X, np.ndarray | np.generic) or not hasattr(X, "__dlpack__"):
        return False
    return hasattr(X, "__array_namespace__") or type(X).__module__.partition(".")[0] in _WITHOUT_PROTOCOL


@dataclass(frozen=True)
class Place:
    """Where an array is: the functions of its library, and the device."""

    xp: ModuleType
    device: Any

    @classmethod
    def of(cls, array: Any) -> "Place":
        compat = _compat(type(array).__module__.partition(".")[0])
        return cls(compat.array_namespace(array), compat.device(array))

    def __str__(self) -> str:
        return f"{self.xp.__name__.rpartition('.')[2]} on {self.device}"

    @cached_property
    def floats(self) -> tuple[Any, ...]:
        """The types of floating-point numbers that rows may have, the most precise first."""
        known = self.xp.__array_namespace_info__().dtypes(kind="real floating", device=self.device)
        return tuple(known[name] for name in ("float64", "float32") if name in known)

    def array(self, values: Array) -> Any:
        """Numbers of NumPy's here, in double precision only where that is known."""
        if values.dtype == np.float64 and len(self.floats) == 1:
            values = values.astype(np.float32)
        # Some libraries take neither views that run backwards nor arrays that must not be written to.
        values = np.require(values, requirements=["C", "W"])
        return self.xp.asarray(values, device=self.device)

    def answer(self, values: Array) -> Any:
        """The same, but names stay NumPy's: no other library has them."""
        return self.array(values) if values.dtype.kind in "biuf" else values


def _compat(library: str) -> Any:
    try:
        import array_api_compat
    except ImportError:
        raise ImportError(
            f"Arrays of {library} need the package array-api-compat: python -m pip install array-api-compat."
        ) from None
    return array_api_compat


def without_derivatives(array: Any) -> Any:
    """The same numbers, of which torch keeps no account for derivatives that nobody will ask for."""
    return array.detach() if hasattr(array, "detach") else array


def to_numpy(array: Any) -> Array:
    """The same numbers as an array of NumPy, which may share memory with the other."""
    array = without_derivatives(array)
    if hasattr(array, "cpu"):
        array = array.cpu()  # torch
    elif hasattr(array, "get"):
        return np.asarray(array.get())  # cupy
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return np.asarray(array)


class DeviceStore:
    """An array of another library, of float64 or float32; it is never written to."""

    in_memory, sparse = True, False

    def __init__(self, X: Any) -> None:
        self._X, self.place = without_derivatives(X), Place.of(X)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self._X.dtype == self.place.xp.float32 else np.float64)

    def block(self, rows: slice) -> "DeviceBlock":
        return DeviceBlock(self._X[rows, :], self.place)

    def take(self, index: Array) -> DenseStore:
        return DenseStore(to_numpy(self._chosen(index)))

    def kept(self, index: Array) -> "DeviceStore":
        """Some rows, which may be many and stay where they are."""
        return DeviceStore(self._chosen(index))

    def _chosen(self, index: Array) -> Any:
        return self.place.xp.take(self._X, self.place.array(np.asarray(index, np.int64)), axis=0)

    def coordinates(self, W: Array, offset: Array) -> Any:
        """x_jᵀW − offset for every row, where the rows are."""
        W, offset = (self.place.array(values.astype(self.dtype)) for values in (W, offset))
        return self._X @ W - offset


class DeviceBlock:
    """See `Block` for the meaning of each method."""

    def __init__(self, B: Any, place: Place) -> None:
        self._B, self._place, self._xp = B, place, place.xp

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self._B.dtype == self._xp.float32 else np.float64)

    def times(self, V: Array) -> Array:
        return _own(self._B @ self._like_rows(V))

    def exactly_times(self, V: Array) -> Array:
        return _own(self._double(self._B) @ self._place.array(V.astype(np.float64))).astype(np.float64, copy=False)

    def combine(self, Z: Array) -> Array:
        return _own(self._like_rows(Z.T) @ self._B).T

    def class_sums(self, labels: Array, w: Array, n_classes: int) -> Array:
        classes = self._place.array(np.arange(n_classes)[None, :])
        total = np.zeros((n_classes, self._B.shape[1]))
        for rows in row_slices(len(labels), _ONE_HOT // n_classes):
            of_class = self._place.array(labels[rows, None]) == classes
            hot = self._double(of_class) * self._place.array(w[rows, None].astype(np.float64))
            total += to_numpy(hot.T @ self._double(self._B[rows, :]))
        return total

    def squares(self, center: Array) -> Array:
        return self._squared_lengths(self._minus(center))

    def class_squares(self, labels: Array, centers: Array) -> Array:
        near = self._xp.take(self._like_rows(centers), self._place.array(labels), axis=0)
        return self._squared_lengths(self._B - near)

    def column_squares(self, s: Array, center: Array) -> Array:
        R = self._double(self._minus(center))
        return _own(self._place.array(s.astype(np.float64)) @ (R * R)).astype(np.float64, copy=False)

    def gram(self, s: Array, center: Array, *, single: bool = False) -> Array:
        R = self._minus(center)
        R = self._xp.astype(R, self._xp.float32) if single else R
        kind = np.float32 if single else self.dtype
        R = R * self._place.array(np.sqrt(np.abs(s))[:, None].astype(kind))
        left = R if (s >= 0).all() else R * self._place.array(np.sign(s)[:, None].astype(kind))
        total = left.T @ R
        # General products of a matrix with its own transpose are symmetric but for rounding.
        return _own((total + total.T) / 2).astype(np.float32 if single else np.float64, copy=False)

    def lengths(self, V: Array, shift: Array, labels: Array, near: Array) -> tuple[Array, Array]:
        """‖Vᵀx_j − shift − near of the class of j‖² and ‖Vᵀx_j − shift‖².

        Two numbers for a row come back, where coordinates would be as many as V has columns.
        """
        Z = self._B @ self._like_rows(V) - self._like_rows(shift)
        of_class = self._xp.take(self._like_rows(near), self._place.array(labels), axis=0)
        return self._squared_lengths(Z - of_class), self._squared_lengths(Z)

    def step_scores(self, feature: Array, cut: Array, coef: Array) -> Array:
        """Σ coef over the cuts that a row is above; each is of some feature."""
        values = self._xp.take(self._B, self._place.array(feature.astype(np.int64)), axis=1)
        above = self._double(values > self._like_rows(cut))
        return _own(above @ self._place.array(coef.astype(np.float64))).astype(np.float64, copy=False)

    def centered(self, center: Array) -> "DeviceBlock":
        return DeviceBlock(self._minus(center), self._place)

    def scaled(self, factors: Array) -> "DeviceBlock":
        return DeviceBlock(self._B * self._like_rows(factors), self._place)

    def drawn_in(self, limits: Array) -> "DeviceBlock | DenseBlock":
        # Powers of two are no part of the standard, and rows so far away are rare.
        return self if self.peak() <= limits.min() else DenseBlock(self.rows()).drawn_in(limits)

    def peak(self) -> float:
        return float(self._xp.max(self._xp.abs(self._B)))

    def inner(self, other: Any) -> Array:
        return self.times(other.rows().T)  # of rows that were taken, and are NumPy's

    def rows(self) -> Array:
        return to_numpy(self._B)

    def compact(self) -> Array:
        return to_numpy(self._B)

    def _like_rows(self, values: Array) -> Any:
        return self._place.array(values.astype(self.dtype, copy=False))

    def _double(self, values: Any) -> Any:
        return self._xp.astype(values, self._place.floats[0], copy=False)

    def _minus(self, center: Array) -> Any:
        return self._B - self._like_rows(center) if center.any() else self._B

    def _squared_lengths(self, R: Any) -> Array:
        R = self._double(R)
        return _own(self._xp.sum(R * R, axis=1)).astype(np.float64, copy=False)


def _own(result: Any) -> Array:
    """A result as an array of NumPy that may be written to."""
    return np.require(to_numpy(result), requirements="W")
