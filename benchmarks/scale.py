"""`python -m benchmarks.scale OUT --rows 5000000 --features 100`: rows from Parquet files, against what reading costs.

One pass of the projection's iteration is timed against its floor: reading the same files and multiplying every block
with its own transpose, in one process with one thread; by the clock, and in the note by the processor time of those who
computed, which other work on the machine hardly changes. Then a whole fit and a whole audit, in this process and with 1
and 2 workers, with the largest memory that any process had. Every line of results.csv is written as soon as it is
known, and lines that are there are not computed again.
"""

import argparse
import csv
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robustlda import LabelAudit, RobustLDA
from robustlda.data import ParquetTable, Weights, as_samples, parted_input

CLASSES, WRONG = 10, 0.08
FIELDS = ["rows", "features", "workers", "what", "seconds", "floor", "memory", "note"]
_GROUP, _FILE = 25_000, 250_000  # rows


def make(folder: Path, rows: int, features: int) -> ParquetTable:
    """Normal classes in single precision, some labels wrong; files that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    centers = 8 / np.sqrt(features) * np.random.default_rng(99).normal(size=(CLASSES, features))
    for number in range(-(-rows // _FILE)):
        path, n = folder / f"part-{number:04d}.parquet", min(_FILE, rows - number * _FILE)
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        true = rng.integers(0, CLASSES, n)
        X = rng.standard_normal((n, features), np.float32) + centers[true].astype(np.float32)
        given = np.where(rng.random(n) < WRONG, rng.integers(0, CLASSES, n), true)
        table = pa.table({f"f{j}": X[:, j] for j in range(features)} | {"label": given})
        pq.write_table(table, path.with_suffix(".new"), row_group_size=_GROUP, compression="none")
        os.replace(path.with_suffix(".new"), path)
    return ParquetTable(folder, "label")


def floor(table: ParquetTable) -> tuple[float, float]:
    """Seconds to read all rows and to multiply every block with its own transpose, in this process."""

    def once() -> None:
        total = np.zeros((len(table.features),) * 2, np.float32)
        for fragment in table.fragments:
            rows = table.rows(fragment)
            total += rows.T @ rows

    return _median(once)


def one_pass(table: ParquetTable, client: Any) -> tuple[float, float]:
    """Seconds for one pass of the iteration: lengths, weights, class sums and the scatter."""
    data = parted_input.read(table)
    assert data.labels is not None
    labels = data.labels.apply(lambda values: values.astype(np.int64)).keep()
    d, store = len(table.features), data.store
    samples = as_samples(store, labels, Weights.of(1.0 + 0.0 * labels), np.zeros(d, np.float32), CLASSES)
    W, M = np.eye(d), np.zeros((CLASSES, d))
    return _median(lambda: samples.reweighted_moments(W, M, _factor), client)


def _factor(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.sqrt(squares + 1e-3)
    return lengths, 1 / lengths


def _median(function: Callable[[], Any], client: Any = None, repeats: int = 3) -> tuple[float, float]:
    """Seconds by the clock, and of the processors of the workers or of this process."""

    def used() -> float:
        return time.process_time() if client is None else sum(client.run(time.process_time).values())

    seconds, processor = [], []
    for _ in range(repeats):
        started, before = time.perf_counter(), used()
        function()
        seconds.append(time.perf_counter() - started)
        processor.append(used() - before)
    return statistics.median(seconds), statistics.median(processor)


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Workers of one thread each, or None for this process."""
    if not workers:
        yield None
        return
    from robustlda.data.dask_parts import local_workers

    with local_workers(workers, "1.5GB") as client:
        yield client


def _memory() -> float:
    """The largest memory this process had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _largest(client: Any) -> float:
    return max([_memory(), *(client.run(_memory).values() if client is not None else [])])


def run(out: Path, folder: Path, rows: int, features: int, workers: list[int]) -> None:
    """All measurements that are not in the file yet."""
    table = make(folder / f"{rows}x{features}", rows, features)
    path = out / "results.csv"
    lines = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    known = {(line["rows"], line["features"], line["workers"], line["what"]) for line in lines}
    lowest, lowest_processor = floor(table)

    def keep(count: int, what: str, measure: Callable[[], tuple[float, str]], client: Any) -> None:
        key = (str(rows), str(features), str(count), what)
        if key in known:
            return
        seconds, note = measure()
        values = [*key, f"{seconds:.2f}", f"{lowest:.2f}", f"{_largest(client):.2f}", note]
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(FIELDS)
            writer.writerow(values)
        print(*values, flush=True)

    def passed(client: Any) -> tuple[float, str]:
        seconds, processor = one_pass(table, client)
        return seconds, f"{processor:.2f} s of the processor; floor {lowest_processor:.2f}"

    for count in workers:
        with cluster(count) as client:
            keep(count, "pass", lambda: passed(client), client)
            keep(count, "fit", lambda: _fit(table), client)
            keep(count, "audit", lambda: _audit(table), client)


def _fit(table: ParquetTable) -> tuple[float, str]:
    data = parted_input.read(table)
    started = time.perf_counter()
    model = RobustLDA().fit(data, None)
    return time.perf_counter() - started, f"noise {model.noise_rate_:.4f}; {data.journal.made} sums"


def _audit(table: ParquetTable) -> tuple[float, str]:
    data = parted_input.read(table)
    started = time.perf_counter()
    audit = LabelAudit().fit(data, None)
    return time.perf_counter() - started, f"noise {audit.noise_rate_:.4f}; {audit.n_mislabeled_} flagged"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--workers", default="0,1,2", help="numbers of workers; 0 is this process alone")
    parser.add_argument("--folder", type=Path, default=Path("scale-data"), help="where the Parquet files are made")
    arguments = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    arguments.out.mkdir(parents=True, exist_ok=True)
    workers = [int(number) for number in arguments.workers.split(",")]
    run(arguments.out, arguments.folder, arguments.rows, arguments.features, workers)


if __name__ == "__main__":
    main()
