"""Parts of rows as Dask knows them: tasks on threads, processes or a cluster, whichever scheduler is in use.

Rows are never moved: a task that needs them depends on Dask's own task that makes them, which is repeated when a worker
is lost. What tasks keep for every row stays on the workers, and is made again in the same way. A recipe is sent once in
a pass. Only what a fold has found comes to the client.
"""

import concurrent.futures
import importlib
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, islice
from typing import Any, cast

import dask.base
import dask.config
import numpy as np
from dask.delayed import Delayed, delayed

from robustlda.data.columns import Column, Recipe, itself
from robustlda.data.journal import Journal
from robustlda.data.store import pairwise
from robustlda.linalg import Array

_MOST_TOGETHER, _TASKS = 8, 8
"""Parts that a task takes at most, and tasks that every worker should have."""

_LOOK, _PATIENCE = 5.0, 120.0
"""Seconds between looks at whether there are workers, and how long there may be none: killed ones are replaced."""

_GONE = (
    "The Dask scheduler is gone, or all of its workers; start it again and repeat the call. What is in a checkpoint is "
    "kept."
)


class _Results:
    """What the tasks will return. They begin when something is made of their results for the first time."""

    def __init__(self, recipe: Recipe, parts: "DaskParts") -> None:
        self._recipe: Recipe | None = recipe
        self._parts = parts
        self._tasks: list[Delayed] = []

    def tasks(self) -> list[Delayed]:
        if self._recipe is not None:
            self._tasks = list(_watched(dask.base.persist, *self._parts.tasks(_each, self._recipe)))
            self._recipe = None  # and with it what it was made of, unless others need that
        return self._tasks


def _each(recipe: Recipe, parts: Iterable[Any]) -> list[Any]:
    return [recipe(*values) for values in parts]


def _combined(combine: Callable[[Any, Any], Any], recipe: Recipe, parts: Iterable[Any]) -> Any:
    return pairwise((recipe(*values) for values in parts), combine)


def _called(shared: tuple[Callable[..., Any], Recipe], kept: list[bool], size: int, *values: Any) -> Any:
    """Do a job with the parts of a group: of what was kept there is one value for all of them, of others one each."""
    job, recipe = shared
    given = iter(values)
    slots = [next(given) if whole else list(islice(given, size)) for whole in kept]
    return job(recipe, zip(*slots, strict=True))


class DaskParts:
    """Parts in the order of the partitions of a Dask collection, or of files.

    A task takes as many neighbors as `together` says, a power of 2, one after the other, which saves tasks. It does not
    change the order in which anything is added up.
    """

    def __init__(self, sizes: Sequence[int], journal: Journal | None = None, *, together: int = 1) -> None:
        self.sizes, self.journal, self.together = list(sizes), journal or Journal(), together

    def tasks(self, job: Callable[..., Any], recipe: Recipe) -> list[Any]:
        """A task for each group of neighbors; the recipe is sent once."""
        shared = delayed((job, recipe), pure=False, traverse=False)
        call, n = delayed(_called, pure=False, traverse=False), len(self.sizes)
        slots = [slot.tasks() if isinstance(slot, _Results) else slot for slot in recipe.slots]
        kept = [isinstance(slot, _Results) for slot in recipe.slots]
        tasks = []
        for group, start in enumerate(range(0, n, self.together)):
            end = min(start + self.together, n)
            values = [[slot[group]] if whole else slot[start:end] for slot, whole in zip(slots, kept, strict=True)]
            tasks.append(call(shared, kept, end - start, *chain(*values)))
        return tasks

    def map(self, function: Callable[..., Any], *columns: Any) -> _Results:
        return _Results(Recipe(function, columns), self)

    def fold(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        return self.journal.recalled(lambda: self.combined(function, combine, *columns))

    def combined(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        parts = self.tasks(partial(_combined, combine), Recipe(function, columns))
        add = delayed(combine, pure=False, traverse=False)
        while len(parts) > 1:
            pairs = [add(*parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(pairs) * 2 :]
        return _watched(_computed, parts[0])

    def given_back(self, column: Column, like: Array) -> Any:
        """A Dask array, of which nothing is computed yet."""
        da: Any = importlib.import_module("dask.array")
        groups = self.tasks(_each, Recipe(itself, (column,)))
        tasks = [groups[part // self.together][part % self.together] for part in range(len(self.sizes))]
        shapes = [(size, *like.shape[1:]) for size in self.sizes]
        return da.concatenate(
            [da.from_delayed(task, shape, meta=like) for task, shape in zip(tasks, shapes, strict=True)],
            allow_unknown_chunksizes=True,
        )


def together(n: int) -> int:
    """How many of n parts a task may take, for every worker to have some tasks: a power of 2, and not many."""
    distributed: Any = importlib.import_module("distributed")

    threads = sum(distributed.default_client().nthreads().values()) or 1
    return 1 << max(0, min(_MOST_TOGETHER, n // (_TASKS * threads)).bit_length() - 1)


def _watched(compute: Callable[..., Any], *tasks: Any) -> Any:
    """Compute; if the cluster is gone, or cannot, say so."""
    try:
        return compute(*tasks)
    except (OSError, concurrent.futures.CancelledError) as lost:
        # A file that cannot be read is another matter.
        if not (isinstance(lost, concurrent.futures.CancelledError) or type(lost).__module__.startswith("distributed")):
            raise
        raise ConnectionError(_GONE) from lost
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise MemoryError(
            "Worker after worker was killed over the same part of the rows, which probably does not fit into its "
            "memory: give workers more of it, or write files with smaller row groups."
        ) from error


def _computed(task: Delayed) -> Any:
    """What the task returns; a cluster that is left without workers is not waited for."""
    client, base = _client(), cast(Any, dask.base)
    if client is None:
        return base.compute(task)[0]
    future, seen = client.compute(task), time.monotonic()
    while True:
        try:
            return future.result(timeout=_LOOK)
        except TimeoutError:
            if future.status == "error":  # it was the task's own
                raise
        if future.done() or _has_workers(client):
            seen = time.monotonic()
        elif time.monotonic() - seen > _PATIENCE:
            raise ConnectionError(
                f"The Dask cluster has had no workers for {_PATIENCE:.0f} seconds; start some and repeat the call. "
                "What is in a checkpoint is kept."
            )


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.nthreads())
    except Exception as error:  # nobody answers, in one of many ways
        raise ConnectionError(_GONE) from error


def _client() -> Any:
    """The client of the cluster that work goes to, None if it goes to threads or processes of Dask."""
    owner = getattr(cast(Any, dask.base).get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "nthreads") else None


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


_KEEPING = {"MALLOC_ARENA_MAX": 1, "MALLOC_MMAP_THRESHOLD_": 1 << 25, "MALLOC_TRIM_THRESHOLD_": 1 << 28}
"""Memory that a worker keeps for its next task, up to 256 MB. By default a Dask worker gives it back to the system and
has to ask for it again, page by page, which takes a fifth of the time of reading."""


@contextmanager
def local_workers(n: int, memory_limit: str = "auto") -> Iterator[Any]:
    """A client of n workers on this machine, processes of one thread each: a statistic keeps a core busy."""
    distributed: Any = importlib.import_module("distributed")
    # What has to be said about lost workers, memory and interruptions is said in sentences; logs would bury them.
    settings = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
    }
    environ = {**dask.config.get("distributed.nanny.pre-spawn-environ"), **_KEEPING}
    configuration = {
        "distributed.nanny.pre-spawn-environ": environ,
        "distributed.worker.profile.enabled": False,
        # On a busy machine it may take a while until a lost worker is replaced; Dask would give it up after 15 seconds.
        "distributed.deploy.lost-worker-timeout": "300s",
    }
    with dask.config.set(configuration), ExitStack() as stack:
        with _deaf_to_interrupts():
            local = stack.enter_context(distributed.LocalCluster(n_workers=n, memory_limit=memory_limit, **settings))
        yield stack.enter_context(distributed.Client(local))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started meanwhile do not hear Ctrl-C, which a terminal sends to all: whoever started them ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # others may not say so
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
