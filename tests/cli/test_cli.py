"""The command line, as a user would call it."""

import csv
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from command import call, inside
from conftest import DATA

from robustlda.cli import cli


def test_help_needs_no_heavy_import():
    code = "import sys, robustlda.cli; print(sorted({'sklearn', 'scipy', 'numpy', 'rich'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
    assert "compare" in CliRunner().invoke(cli, ["--help"]).output


def test_help_names_every_method_and_data_set():
    from robustlda.datasets.catalogue import CATALOGUE
    from robustlda.experiments.methods import METHODS

    words = CliRunner().invoke(cli, ["compare", "--help"]).output.replace(",", " ").split()
    assert set(METHODS) <= set(words)
    assert set(CATALOGUE) <= set(words + [word.rstrip(";.") for word in words])


def test_help_fits_a_terminal_of_80_columns():
    for name in cli.list_commands(None):
        lines = CliRunner().invoke(cli, [name, "--help"], terminal_width=80).output.splitlines()
        assert max(map(len, lines)) <= 80, name


def test_help_tells_the_methods_of_like_names_apart():
    lines = CliRunner().invoke(cli, ["compare", "--help"]).output.splitlines()
    said = {name: next(line for line in lines if f" {name} " in line) for name in ("rlda", "rlda_1nn")}
    assert "RobustLDA()" in said["rlda"]
    assert "the paper's" in said["rlda_1nn"]


@pytest.mark.parametrize("words", [["--noise", "0"], ["--kind", "occlude", "--noise", "40"]])
def test_what_a_terminal_shows_can_be_read_on_a_light_background(words, tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    result = inside(
        "compare", "wine", "--methods", "lda", "--folds", "2", "--jobs", "1", "--out", str(tmp_path), *words
    )
    shown = result.stdout + inside("datasets", "--data-dir", str(tmp_path)).stdout
    codes = {int(code) for codes in re.findall("\x1b\\[([0-9;]+)m", shown) for code in codes.split(";")}
    assert 1 in codes, "headings are bold"
    assert not codes & {32, 33, 36, 37, 92, 93, 96, 97}, "green, yellow, cyan and white"


def test_compare_counts_one_as_one(tmp_path):
    words = ("iris", "--methods", "lda", "--noise", "0", "--first", "1", "--jobs", "1", "--out", str(tmp_path))
    said = call("compare", *words).stdout
    assert "over 1 fold, by" in said
    assert "(1 row)" in said


def test_compare_writes_table_csv_and_figure(tmp_path):
    result = call(
        "compare",
        "wine",
        "--methods",
        "knn,rlda",
        "--noise",
        "0,40",
        "--folds",
        "3",
        "--jobs",
        "1",
        "--out",
        str(tmp_path),
    )
    assert result.returncode == 0, result.stderr
    assert "Mean accuracy on clean test data over 3 folds, by wrong training labels, %" in result.stdout
    assert "Wine" in result.stdout
    assert "40%" in result.stdout
    with (tmp_path / "comparison.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 12
    assert (tmp_path / "comparison.png").stat().st_size > 10_000
    assert len(list(tmp_path.iterdir())) == 2, "no temporary file may remain"


def test_where_everything_fails_the_errors_are_shown_and_nothing_is_drawn(tmp_path):
    words = ["compare", "wine", "--methods", "knn,lda", "--folds", "2", "--jobs", "1", "--out", str(tmp_path)]
    assert inside(*words, "--noise", "0").returncode == 0
    assert (tmp_path / "comparison.png").exists()
    result = inside(*words, "--noise", "0,40", "--kind", "occlude")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("13 features do not form a square image") == 2
    assert "comparison.csv (8 rows); nothing has succeeded that could be drawn." in " ".join(result.stdout.split())
    assert all(line["error"] for line in lines(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.csv"], "the figure showed other rows"


def lines(folder):
    with (folder / "comparison.csv").open() as file:
        return list(csv.DictReader(file))


def test_resume_runs_only_what_is_missing(tmp_path):
    words = ["compare", "wine", "--noise", "0", "--folds", "3", "--jobs", "1", "--out", str(tmp_path)]
    assert call(*words, "--methods", "knn", "--first", "2").returncode == 0
    before = lines(tmp_path)
    assert len(before) == 2
    # A killed process may have left half a line.
    with (tmp_path / "comparison.csv").open("a") as file:
        file.write("wine,0.0,2,knn,unif")
    assert call(*words, "--methods", "knn,lda", "--resume").returncode == 0
    after = lines(tmp_path)
    assert len(after) == 6
    # Run times distinguish rows that were kept from rows that were run again.
    assert {row["seconds"] for row in before} <= {row["seconds"] for row in after}


def test_a_file_of_other_columns_is_not_overwritten(tmp_path):
    (tmp_path / "comparison.csv").write_text("a,b\n1,2\n")
    result = call("compare", "wine", "--methods", "knn", "--resume", "--out", str(tmp_path))
    assert result.returncode == 2
    assert "has other columns than dataset, noise" in result.stderr
    assert (tmp_path / "comparison.csv").read_text() == "a,b\n1,2\n"


def test_datasets_lists_what_is_available_and_what_is_not(tmp_path):
    result = call("datasets", "--data-dir", str(tmp_path), env={**os.environ, "COLUMNS": "200"})
    assert result.returncode == 0, result.stderr
    assert "1797" in result.stdout
    assert "lacks vehicle.npz" in result.stdout


def test_the_papers_sets_have_the_papers_sizes():
    if not (DATA / "20newsgroups.X.npz").exists():
        pytest.skip("the paper's data sets are not available; set ROBUSTLDA_DATA to the folder that contains them")
    result = call("datasets", "--data-dir", str(DATA), env={**os.environ, "COLUMNS": "200"})
    sizes = {line.split()[0]: line.split()[1:4] for line in result.stdout.splitlines()[3:] if line.strip()}
    assert sizes["reuters21578"] == ["8293", "1599", "65"]
    assert sizes["tdt2"] == ["9394", "3157", "30"]
    assert sizes["20newsgroups"] == ["18774", "4480", "20"]
    assert sizes["pie"] == ["3329", "1024", "68"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "vehicle"], "vehicle: The folder of the paper's data sets is unknown; pass --data-dir"),
        (["compare", "mnist"], "There is no data set 'mnist'; choose from digits"),
        (["compare", "--methods", "magic"], "There is no method 'magic'; choose from rlda_1nn"),
        (["compare", "--noise", "lots"], "'lots' is not a list of percentages"),
        (["compare", "--noise", "0,120"], "must be at least 0 and below 100"),
        (["compare", "--folds", "1"], "is not in the range 2<=x<=20"),
        (["compare", "wine", "--out", "/proc/none"], "Nothing can be written to /proc/none"),
        (["compare", "wine", "--jobs", "0"], "--jobs must not be 0"),
        (["compare", "wine", "--seed", "-1"], "'--seed': -1 is not in the range"),
        (["conquer"], "No such command 'conquer'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, message):
    result = call(*words)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
