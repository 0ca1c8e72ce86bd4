"""Units of work for worker processes, in a module that is imported quickly."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Task:
    """What a worker does with a number."""

    what: str
    number: int = 0


def worked(task):
    """Runs in a worker."""
    if task.what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task.what == "fail":
        raise ValueError(f"no {task.number}")
    if task.what == "break":
        raise KeyError(task.number)
    if task.what == "wait":
        (Path(sys.argv[1]) / str(os.getpid())).touch()
        time.sleep(600)
    return task.number, os.getpid(), os.environ.get("OMP_NUM_THREADS")
