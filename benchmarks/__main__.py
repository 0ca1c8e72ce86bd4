"""Run the benchmark: every case in a process of its own, with one BLAS thread, medians of repeats."""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
FIELDS = ["data", "n", "d", "solver", "seconds", "iterations", "J", "stationarity", "peak_mb", "note"]


def case(data: str, solver: str, folder: Path, repeats: int) -> dict[str, object]:
    """One competitor on one data set, measured in this process."""
    from benchmarks.datasets import DATA
    from benchmarks.objective import score
    from benchmarks.solvers import SOLVERS

    warnings.simplefilter("ignore")
    X, y = DATA[data].load(folder)
    row: dict[str, object] = {"data": data, "n": X.shape[0], "d": X.shape[1], "solver": solver}
    if reason := SOLVERS[solver].skip(X):
        return {**row, "note": reason}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        components, iterations = SOLVERS[solver].run(X, y)
        seconds.append(time.perf_counter() - begin)
    row |= {"seconds": f"{median(seconds):.4f}", "iterations": iterations}
    row["peak_mb"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if components is not None:
        J, stationarity = score(X, y, components)
        row |= {"J": f"{J:.8f}", "stationarity": f"{stationarity:.1e}"}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("ROBUSTLDA_DATA", "."))
    parser.add_argument("--data", default="vehicle,dermatology,yale,orl,coil20,pie", help="comma-separated, or all")
    parser.add_argument("--solvers", default="all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(case(*arguments.case, arguments.data_dir, arguments.repeats)))
        return
    from benchmarks.datasets import DATA
    from benchmarks.solvers import SOLVERS

    names = list(DATA) if arguments.data == "all" else arguments.data.split(",")
    solvers = list(SOLVERS) if arguments.solvers == "all" else arguments.solvers.split(";")
    path = arguments.out / "benchmarks.csv"
    rows = {(row["data"], row["solver"]): row for row in _read(path)}
    for data in names:
        for solver in solvers:
            rows[data, solver] = _in_own_process(data, solver, arguments)
            _write(path, rows.values())
            print({name: rows[data, solver].get(name, "") for name in FIELDS[3:]} | {"data": data}, flush=True)


def _in_own_process(data: str, solver: str, arguments: argparse.Namespace) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks", "--data-dir", str(arguments.data_dir)]
    command += ["--repeats", str(arguments.repeats), "--case", data, solver]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"data": data, "solver": solver, "note": done.stderr.strip().splitlines()[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    with temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)  # type: ignore[arg-type]
    temporary.replace(path)


if __name__ == "__main__":
    main()
