"""Processes that run units of work: never more than there are cores and units, and gone with the process they serve.

Each worker has a pipe of its own and gets one unit at a time, so a worker that dies is noticed at once and takes
nothing with it but its unit. Workers ignore Ctrl-C, which the terminal sends to all of them; the process they serve
gets it, and ends them. If that process is killed, a thread in each worker notices.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from joblib import cpu_count

from robustlda.output import undisturbed

Result = TypeVar("Result")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def number_of_workers(jobs: int, n_units: int) -> int:
    """As many as asked for (−1: every core, −2: all but one, …), but not more than cores or units."""
    cores = cpu_count()
    asked = jobs if jobs > 0 else cores + 1 + jobs
    return max(1, min(asked, cores, n_units))


def results(run: Callable[[Any], Result], units: Sequence[Any], jobs: int = -1) -> Iterator[Result]:
    """What `run` returns for every unit, as it gets ready; with a single worker, in this process and in order."""
    workers = number_of_workers(jobs, len(units))
    if workers == 1:
        yield from map(run, units)
        return
    with _workers(run, workers) as pipes:
        todo = iter(units)
        busy: list[Any] = [_given(pipe, unit) for pipe, unit in zip(pipes, todo, strict=False)]
        while busy:
            pipe: Any = wait(busy)[0]
            busy.remove(pipe)
            result = _received(pipe)
            busy += [_given(pipe, unit) for unit in islice(todo, 1)]
            yield result


def _given(pipe: Connection, unit: Any) -> Connection:
    with suppress(ConnectionError):  # of a worker that is gone, which is said when its result is missing
        pipe.send(unit)
    return pipe


def _received(pipe: Connection) -> Any:
    try:
        result, error = pipe.recv()
    except (EOFError, ConnectionError):
        raise OSError(
            "A worker was ended from outside, perhaps because memory ran out; what was finished is kept. Run the same "
            "command with fewer --jobs to go on."
        ) from None
    if error is not None:
        raise error
    return result


@contextmanager
def _workers(run: Callable[[Any], Any], number: int) -> Iterator[list[Connection]]:
    """Pipes to that many processes, which are gone when the block ends, whatever they were doing."""
    context = multiprocessing.get_context("spawn")
    processes, pipes = [], []
    try:
        with undisturbed(), _threads_shared_by(number), _signals_held():
            for _ in range(number):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(run, theirs), daemon=True)
                process.start()
                processes.append(process)
                pipes.append(ours)
                theirs.close()  # so that the pipe ends with the worker
        yield pipes
    finally:
        with undisturbed():
            for process in processes:
                process.kill()
            for process in processes:
                process.join()


def _serve(run: Callable[[Any], Any], pipe: Connection) -> None:
    """What a worker does: one unit after the other, until nobody asks any more."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    while True:
        try:
            unit = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send((run(unit), None))
        except (ValueError, OSError) as error:  # a sentence, for whoever waits for the result
            pipe.send((None, ValueError(str(error))))
        except Exception as error:
            pipe.send((None, RuntimeError(f"{type(error).__name__}: {error}")))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Processes started in the block do not get Ctrl-C before they can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # a helper of multiprocessing, whose start would release the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _threads_shared_by(number: int) -> Iterator[None]:
    """Linear algebra in processes started in the block uses the cores that each of them has, unless that was set."""
    ours = {name: str(max(1, cpu_count() // number)) for name in _THREADS if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]
