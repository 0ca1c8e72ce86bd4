"""Parts of rows as Dask knows them: tasks on threads, processes or a cluster, whichever scheduler is in use.

Rows are never moved: a task that needs them depends on Dask's own task that makes them, which is repeated when a worker
is lost. What tasks keep for every row stays on the workers, and is made again in the same way. A recipe is sent once in
a pass. Only what a fold has found comes to the client.
"""

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import Any

import dask.base
import numpy as np
from dask.delayed import Delayed, delayed

from robustlda.data.columns import Column, Recipe, itself
from robustlda.data.journal import Journal
from robustlda.data.parquet import Reading
from robustlda.linalg import Array


class _Results(Sequence[Any]):
    """What a task of every part will return. The tasks begin when something is made of them for the first time."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe: Recipe | None = recipe
        self._tasks: list[Delayed] = []

    def tasks(self) -> list[Delayed]:
        if self._recipe is not None:
            self._tasks = list(_watched(dask.base.persist, *_tasks(self._recipe)))
            self._recipe = None  # and with it what it was made of, unless others need that
        return self._tasks

    def __getitem__(self, part: Any) -> Any:
        return self.tasks()[part]

    def __len__(self) -> int:
        return len(self.tasks())


def _tasks(recipe: Recipe) -> list[Delayed]:
    shared = delayed(recipe, pure=False, traverse=False)
    call = delayed(_call, pure=False, traverse=False)
    slots = [slot.tasks() if isinstance(slot, _Results) else slot for slot in recipe.slots]
    return [call(shared, *values) for values in zip(*slots, strict=True)]


def _call(recipe: Recipe, *values: Any) -> Any:
    return recipe(*values)


class DaskParts:
    """Parts in the order of the partitions of a Dask collection."""

    def __init__(self, sizes: Sequence[int], journal: Journal | None = None) -> None:
        self.sizes, self.journal = list(sizes), journal or Journal()

    def read(self, reading: Reading) -> list[Delayed]:
        """Tasks that read parts, each time they are needed."""
        read = delayed(reading.read, pure=False, traverse=False)
        return [read(fragment) for fragment in reading.fragments]

    def map(self, function: Callable[..., Any], *columns: Any) -> _Results:
        return _Results(Recipe(function, columns))

    def fold(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        return self.journal.recalled(lambda: self.combined(function, combine, *columns))

    def combined(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        parts = _tasks(Recipe(function, columns))
        add = delayed(combine, pure=False, traverse=False)
        while len(parts) > 1:
            pairs = [add(*parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(pairs) * 2 :]
        return _watched(dask.base.compute, parts[0])[0]

    def given_back(self, column: Column, like: Array) -> Any:
        """A Dask array, of which nothing is computed yet."""
        import dask.array

        da: Any = dask.array

        tasks = _tasks(Recipe(itself, (column,)))
        shapes = [(size, *like.shape[1:]) for size in self.sizes]
        return da.concatenate(
            [da.from_delayed(task, shape, meta=like) for task, shape in zip(tasks, shapes, strict=True)],
            allow_unknown_chunksizes=True,
        )


def _watched(compute: Callable[..., Any], *tasks: Any) -> Any:
    """Compute; if the cluster is gone, say so."""
    try:
        return compute(*tasks)
    except (OSError, concurrent.futures.CancelledError) as lost:
        # A file that cannot be read is another matter.
        if not (isinstance(lost, concurrent.futures.CancelledError) or type(lost).__module__.startswith("distributed")):
            raise
        raise ConnectionError(
            "The Dask scheduler is gone, or all of its workers; start it again and repeat the call. What is in a "
            "checkpoint is kept."
        ) from lost


def rows_and_sizes(X: Any) -> tuple[list[Any], list[float], int, np.dtype[Any] | None, list[str] | None]:
    """The parts of a Dask array or DataFrame, their numbers of rows where they are known, features, type and names."""
    if not hasattr(X, "to_delayed"):
        raise TypeError(
            "This Dask array was made with query planning, and has no partitions to send work to: call "
            "dask.config.set({'array.query-planning': False}) before it is made."
        )
    if hasattr(X, "columns"):
        names = list(X.columns)
        return X.to_delayed(), [float("nan")] * X.npartitions, len(names), None, names
    if X.ndim != 2:
        raise ValueError(f"X is a Dask array of {X.ndim} dimensions; samples are the rows of an array of 2.")
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    return list(X.to_delayed().ravel()), list(X.chunks[0]), X.shape[1], X.dtype, None


def values_of(y: Any, sizes: Sequence[float], name: str) -> list[Any]:
    """Labels or weights in the same parts as the rows."""
    if not hasattr(y, "to_delayed"):
        values = np.asarray(y)
        if len(values) != sum(sizes):
            raise ValueError(f"X has {sum(sizes)} rows, but {name} has {len(values)} values: give one for each row.")
        return np.split(values, np.cumsum(sizes)[:-1].astype(int))
    if hasattr(y, "chunks"):
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        known = not any(np.isnan([*y.chunks[0], *sizes]))
        if known and y.shape[0] == sum(sizes) and list(y.chunks[0]) != list(sizes):
            y = y.rechunk((tuple(int(size) for size in sizes),))
    tasks = y.to_delayed()
    return list(tasks.ravel() if isinstance(tasks, np.ndarray) else tasks)
