"""The benchmark runs, and its competitors solve the problem it says they solve."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.objective import score
from benchmarks.solvers import SOLVERS


@pytest.fixture(scope="module", params=[(150, 20), (40, 90)], ids=["tall", "wide"])
def problem(request):
    n, d = request.param
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(3, d))[y], y


def test_textbook_and_ours_reach_the_same_objective(problem):
    X, y = problem
    values = {
        name: score(X, y, SOLVERS[name].run(X, y, 1000)[0])[0]
        for name in ("textbook NumPy", "robustlda, plain steps", "robustlda")
    }
    assert values["robustlda, plain steps"] == pytest.approx(values["textbook NumPy"], rel=1e-4)
    assert values["robustlda"] <= values["textbook NumPy"] * 1.05  # or at another stationary point


@pytest.mark.parametrize("name", SOLVERS)
def test_every_competitor_runs_or_says_why_not(problem, name):
    X, y = problem
    assert SOLVERS[name].skip(X) == ""
    assert SOLVERS[name].run(X, y, 1000)[1] >= 1


def test_command_writes_a_row_per_case(paper_data, tmp_path):
    paper_data("vehicle")
    from conftest import DATA

    command = [sys.executable, "-m", "benchmarks", "--data-dir", str(DATA), "--data", "vehicle", "--repeats", "1"]
    command += ["--solvers", "robustlda;scikit-learn LDA, svd", "--curves", "vehicle", "--out", str(tmp_path)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1], capture_output=True, timeout=600)
    with (tmp_path / "benchmarks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["solver"] for row in rows] == ["robustlda", "scikit-learn LDA, svd"]
    assert float(rows[0]["J"]) < 0.9812
    with (tmp_path / "curves.csv").open() as file:
        path = [float(row["J"]) for row in csv.DictReader(file)]
    assert path == sorted(path, reverse=True)
    assert len(path) > 2
    page = (tmp_path / "report.html").read_text()
    assert "<svg" in page
    assert "projection, lengths" in page
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".csv", ".csv", ".csv", ".html", ".svg"]


def test_what_is_measured_is_kept_and_measured_again_only_if_asked(tmp_path):
    from benchmarks.measured import MARK, Measured, write_tables

    path, fields, key = tmp_path / "found.csv", ["data", "method", "score"], ("data", "method")
    found = Measured(path, fields, key)
    found.keep({"data": "wine", "method": "ours", "score": ".9"}, {"data": "wine", "method": "theirs"})
    assert ("wine", "ours") in found
    assert ("iris", "ours") not in found

    found = Measured(path, fields, key)  # a later run
    assert found.lines[1] == {"data": "wine", "method": "theirs", "score": ""}
    found.forget("method", ("ours",))
    assert ("wine", "ours") not in found
    found.keep({"data": "wine", "method": "ours", "score": ".95"})
    assert [line["score"] for line in Measured(path, fields, key).lines] == ["", ".95"]

    write_tables(tmp_path, "Found", "| wine | .9 |\n")
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text().replace(MARK, f"What people wrote.\n\n{MARK}"))
    write_tables(tmp_path, "Found", "| wine | .95 |\n")
    assert readme.read_text() == f"# Found\n\nWhat people wrote.\n\n{MARK}\n\n| wine | .95 |\n"


def test_crossovers_time_both_sides_of_a_threshold():
    from benchmarks.crossovers import CASES, Case, measure, page
    from robustlda.plan import Plan

    thresholds = {cases.__name__ for cases in CASES}
    assert thresholds - {"passes"} <= set(vars(Plan()))
    calls = []
    case = Case("block", 7, ("small", "large"), (lambda: calls.append("small"), lambda: calls.append("large")), 1)
    row = measure(case, repeats=2)
    assert calls == ["small", "large"] * 2
    assert (row["value"], row["default_takes"]) == (str(Plan().block), "large")
    assert "| 7 | small: " in page([row])
    assert " | **large: " in page([row])


def _case(solver, seconds, data="wine"):
    return {"data": data, "solver": solver, "seconds": str(seconds)}


def test_what_became_slower_is_flagged_whatever_the_machine():
    from benchmarks.against import REFERENCE, changes

    before = [
        _case(REFERENCE, 1.0),
        _case("ours", 3.0),
        _case("gone", 1.0),
        {"data": "wine", "solver": "x", "note": "no"},
    ]
    half_as_fast = [_case(REFERENCE, 2.0), _case("ours", 6.6)]
    (change,) = changes(before, half_as_fast)
    assert not change.slower
    (change,) = changes(before, [_case(REFERENCE, 2.0), _case("ours", 8.0)])
    assert change.slower
    assert "3.00 → 4.00 × LDA (1.33)  slower" in str(change)


def test_slope_is_that_of_the_last_doublings():
    from benchmarks.page import slopes

    path = [{"what": "rows", "method": "m", "size": str(2**k), "cpu_seconds": str(1 + 4.0**k)} for k in range(12)]
    assert slopes(path)["rows", "m"] == pytest.approx(2, abs=1e-3)
