"""The command line, as a user would call it."""

import csv
import subprocess
import sys

import pytest
from click.testing import CliRunner

from robustlda.cli import cli


def call(*words, **settings):
    return subprocess.run(
        [sys.executable, "-c", "from robustlda.cli import main; main()", *words],
        capture_output=True,
        text=True,
        timeout=120,
        **settings,
    )


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
    assert len(list(tmp_path.iterdir())) == 2, "no temporary file may stay"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "mnist"], "There is no data set 'mnist'; choose from digits"),
        (["compare", "--methods", "magic"], "There is no method 'magic'; choose from rlda_1nn"),
        (["compare", "--noise", "lots"], "'lots' is not a list of percentages"),
        (["compare", "--noise", "0,120"], "must be at least 0 and below 100"),
        (["compare", "--folds", "1"], "is not in the range 2<=x<=20"),
        (["compare", "wine", "--out", "/proc/none"], "Nothing can be written to /proc/none"),
        (["compare", "wine", "--jobs", "0"], "--jobs 0 leaves nobody to do the work"),
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
