"""Run the benchmark: every run in a process of its own, with one BLAS thread; the median of the repeats counts.

Competitors take turns, so that a temporary slowdown of the machine affects all of them.

With `--against FOLDER` nothing is written: cases that the earlier run in that folder has are run again, and the exit
code is 1 if one of them has become slower by more than a fifth, in units of scikit-learn's LDA (`benchmarks.against`).

Writes `benchmarks.csv` (a row per case), `curves.csv` (J against time), `roofline.csv`, and from them `curves.svg` and
`report.html`. Rows of earlier runs that are not repeated are kept.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.page import read, write
from robustlda.output import replacing

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
FIELDS = ["data", "n", "d", "solver", "seconds", "iterations", "J", "stationarity", "peak_mb", "note"]
CURVE = ["data", "solver", "iterations", "seconds", "J"]
LIMITS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)

Row = dict[str, str]


def case(data: str, solver: str, folder: Path) -> Row:
    """One competitor on one data set, measured in this process."""
    from benchmarks.datasets import DATA
    from benchmarks.objective import score
    from benchmarks.solvers import LIMIT, SOLVERS

    warnings.simplefilter("ignore")
    X, y = DATA[data].load(folder)
    row = {"data": data, "n": str(X.shape[0]), "d": str(X.shape[1]), "solver": solver}
    if reason := SOLVERS[solver].skip(X):
        return {**row, "note": reason}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        begin = time.perf_counter()
        components, iterations = SOLVERS[solver].run(X, y, LIMIT)
        seconds = time.perf_counter() - begin
        if seconds > 10:
            break  # shorter runs are repeated, so that the warm-up of the first one is not measured
    row |= {"seconds": f"{seconds:.4f}", "iterations": str(iterations)}
    row["peak_mb"] = str((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    if components is not None:
        J, stationarity = score(X, y, components)
        row |= {"J": f"{J:.8f}", "stationarity": f"{stationarity:.1e}"}
    return row


def curve(data: str, solver: str, folder: Path, repeats: int) -> list[Row]:
    """J and seconds of runs limited to more and more iterations, until one converges."""
    from benchmarks.datasets import DATA
    from benchmarks.objective import score
    from benchmarks.solvers import SOLVERS

    warnings.simplefilter("ignore")
    X, y = DATA[data].load(folder)
    rows: list[Row] = []
    if not SOLVERS[solver].iterates or SOLVERS[solver].skip(X):
        return rows
    for limit in LIMITS:
        seconds = []
        for _ in range(repeats):
            begin = time.perf_counter()
            components, iterations = SOLVERS[solver].run(X, y, limit)
            seconds.append(time.perf_counter() - begin)
        assert components is not None
        J, _ = score(X, y, components)
        values = (data, solver, str(iterations), f"{median(seconds):.4f}", f"{J:.8f}")
        rows.append(dict(zip(CURVE, values, strict=True)))
        if iterations < limit:
            break
    return rows


def main() -> None:
    arguments = _arguments()
    if arguments.one:
        print(json.dumps(_measure(*arguments.one, arguments.data_dir, arguments.repeats)))
        return
    from benchmarks.datasets import DATA
    from benchmarks.solvers import SOLVERS

    if arguments.against:
        sys.exit(_slower(arguments))
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    names = list(DATA) if arguments.data == "all" else arguments.data.split(",")
    solvers = list(SOLVERS) if arguments.solvers == "all" else arguments.solvers.split(";")
    for data in names:
        _merge(out / "benchmarks.csv", FIELDS, _run_cases(data, solvers, arguments), ("data", "solver"))
    for data in filter(None, arguments.curves.split(",")):
        for solver in solvers:
            rows = _in_own_process("curve", data, solver, arguments)
            _merge(out / "curves.csv", CURVE, [row for row in rows if "J" in row], ("data", "solver"))
    rows = _in_own_process("roofline", "", "", arguments)
    _merge(out / "roofline.csv", list(rows[0]), rows, ("pass", "precision"))
    write(out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ROBUSTLDA_DATA", "."))
    parser.add_argument("--data", default="vehicle,dermatology,yale,orl,coil20,pie", help="comma-separated, or all")
    parser.add_argument("--solvers", default="all", help="separated by semicolons, or all")
    parser.add_argument("--curves", default="orl,coil20,pie", help="data sets with a curve, or an empty string")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    parser.add_argument("--against", type=Path, help="folder of an earlier run to compare with")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def _slower(arguments: argparse.Namespace) -> int:
    """Run the cases of an earlier run again: 1 if one has become slower, 2 if there is nothing to compare."""
    from benchmarks.against import REFERENCE, changes
    from benchmarks.solvers import SOLVERS

    before = read(arguments.against / "benchmarks.csv")
    now: list[Row] = []
    for data in arguments.data.split(",") if arguments.data != "all" else dict.fromkeys(row["data"] for row in before):
        known = {row["solver"] for row in before if row["data"] == data and row.get("seconds")}
        asked = SOLVERS if arguments.solvers == "all" else arguments.solvers.split(";")
        solvers = [name for name in SOLVERS if name in known and (name in asked or name == REFERENCE)]
        now += _run_cases(data, solvers, arguments)
    found = changes(before, now)
    print(*found, sep="\n")
    if not found:
        print(f"{arguments.against} has no case that was run now.")
        return 2
    return int(any(change.slower for change in found))


def _run_cases(data: str, solvers: list[str], arguments: argparse.Namespace) -> list[Row]:
    """The median run of every competitor on one data set."""
    runs: dict[str, list[Row]] = {solver: [] for solver in solvers}
    for turn in range(arguments.repeats):
        for solver, rows in runs.items():
            rows += _in_own_process("case", data, solver, arguments)
            seconds = rows[-1].get("seconds", "–")
            print(f"run {turn + 1} of {arguments.repeats}: {data}, {solver}, {seconds} s", flush=True)
    medians = [_median(rows) for rows in runs.values()]
    for row in medians:
        print(", ".join(f"{name} {row[name]}" for name in FIELDS if row.get(name)), flush=True)
    return medians


def _median(rows: list[Row]) -> Row:
    """The run of median duration, or the reason why there is none."""
    timed = sorted((row for row in rows if row.get("seconds")), key=lambda row: float(row["seconds"]))
    return timed[(len(timed) - 1) // 2] if timed else rows[0]


def _measure(what: str, data: str, solver: str, folder: Path, repeats: int) -> list[Row]:
    if what == "roofline":
        from benchmarks.roofline import measure

        return measure()
    return [case(data, solver, folder)] if what == "case" else curve(data, solver, folder, repeats)


def _in_own_process(what: str, data: str, solver: str, arguments: argparse.Namespace) -> list[Row]:
    command = [sys.executable, "-m", "benchmarks", "--data-dir", str(arguments.data_dir)]
    command += ["--repeats", str(arguments.repeats), "--one", what, data, solver]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        return [{"data": data, "solver": solver, "note": done.stderr.strip().splitlines()[-1]}]
    return list(json.loads(done.stdout.splitlines()[-1]))


def _merge(path: Path, fields: list[str], rows: list[Row], key: Iterable[str]) -> None:
    """Replace the rows with the same key, in a file that is never incomplete."""

    def of(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in key)

    new = {of(row) for row in rows}
    kept = [row for row in read(path) if of(row) not in new]
    with replacing(path) as target, target.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(kept + rows)


if __name__ == "__main__":
    main()
