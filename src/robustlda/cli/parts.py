"""Tables that are read in parts: by this process, by workers that it starts, or by a cluster."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from robustlda.audit.label_audit import LabelAudit

_NEEDS_DASK = "--workers and --scheduler need Dask: pip install 'robustlda[dask]'."


def is_in_parts(table: Path | None, asked: bool) -> bool:
    """Whether a table is read in parts: a folder, a pattern of names, or one for which that was asked for."""
    if table is None:
        if asked:
            raise click.UsageError("--workers, --scheduler and --checkpoint refer to a TABLE, but none was given.")
        return False
    return asked or table.is_dir() or (any(sign in table.name for sign in "*?[") and not table.exists())


@contextmanager
def cluster(workers: int | None, scheduler: str | None, memory_limit: str) -> Iterator[None]:
    """The workers that passes over the rows run on; without any, this process does it all."""
    if workers is None and scheduler is None:
        yield
        return
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers starts workers here, --scheduler uses those of a cluster: give one of them.")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise click.UsageError(_NEEDS_DASK) from None
    if scheduler is not None:
        with distributed.Client(scheduler, timeout="10s"):
            yield
        return
    # Processes of one thread each: a statistic keeps a core busy, and is the same whoever computes it.
    settings = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "memory_limit": memory_limit,
        "dashboard_address": "127.0.0.1:0",
    }
    with distributed.LocalCluster(**settings) as local, distributed.Client(local):
        yield


def audit(
    table: Path,
    label: str | None,
    id_: str | None,
    features: list[str] | None,
    max_false_alarm: float,
    verified: Path | None,
    checkpoint: Path | None,
    console: "Console",
) -> tuple["LabelAudit", list[str]]:
    """The audit of a table in parts, and what has to be said about the table."""
    import time

    from robustlda.audit.label_audit import LabelAudit
    from robustlda.data import ParquetTable, parted_input
    from robustlda.data.journal import Journal

    if label is None:
        raise ValueError("Which column holds the labels? Name it with --label.")
    rows = ParquetTable(table, label, features=features, id=id_)
    started = time.monotonic()
    with console.status(f"auditing {sum(rows.sizes):,} labels in {len(rows.sizes)} parts …") as status:

        def tell(number: int) -> None:
            status.update(f"pass {number + 1} over {sum(rows.sizes):,} rows, {time.monotonic() - started:.0f} s …")

        journal = Journal(checkpoint, tell)
        journal.begin((__version__, rows.identity(), None if verified is None else verified.read_bytes()))
        data = parted_input.read(rows, journal=journal)
        checked = None if verified is None else _verified(verified, data)
        found = LabelAudit(max_false_alarm=max_false_alarm).fit(data, None, verified=checked)
    notes = [f"Left out, as they hold no numbers: {', '.join(rows.left_out)}."] if rows.left_out else []
    return found, notes


def _verified(path: Path, data: Any) -> dict[int, Any]:
    from robustlda.report import audit_files

    if data.ids is not None:
        raise ValueError("--verified knows rows in parts by their numbers; leave out --id.")
    n = data.store.shape[0]
    found = audit_files.read_verified_numbers(path, n)
    labels = data.labels.parts.fold(_distinct, _union, data.labels)
    return audit_files.as_labels(found, labels)


def _distinct(labels: Any) -> Any:
    import numpy as np

    return np.unique(labels)


def _union(left: Any, right: Any) -> Any:
    import numpy as np

    return np.unique(np.concatenate([left, right]))
