"""A short run of the fuzzer, and whether it would notice."""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pytest

from robustlda import MMC
from robustlda.tables.reading import read_table
from tests.fuzz import KINDS, Case, fuzz, main, report, run, shrunk


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_random_fits_end_well(start):
    failures = fuzz(50, seed=0, start=start)
    assert not failures, "\n".join(report(failures, seed=0))


@pytest.mark.parametrize(("of", "count"), [("tables", 40), ("models", 15), ("options", 40)])
def test_damaged_files_and_senseless_options_end_well(of, count):
    failures = fuzz(count, seed=0, of=of)
    assert not failures, "\n".join(report(failures, seed=0, of=of))


@pytest.mark.parametrize("of", KINDS)
def test_a_case_is_the_same_every_time(of):
    for number in (4, 5):
        one, two = KINDS[of](7, number), KINDS[of](7, number)
        assert one.lines() == two.lines()


def test_many_damaged_files_are_still_read():
    """Else what is behind the first check would not be tried."""
    seen = []
    for number in range(60):
        case = KINDS["tables"](1, number)
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(ValueError):
            path = Path(folder) / case.name
            path.write_bytes(case.content)
            seen.append(read_table(path).data.num_rows)
    assert 5 < len(seen) < 55


def test_errors_of_libraries_in_files_and_commands_are_found(monkeypatch):
    def broken(*_, **__):
        raise IndexError("out of bounds")

    monkeypatch.setattr("tests.fuzz_files.read_table", broken)
    (kind,) = fuzz(3, seed=0, of="tables")
    assert kind.startswith("IndexError")
    assert "check_table(path)" in "".join(report({kind: [0]}, seed=0, of="tables"))
    monkeypatch.setattr("robustlda.persistence.open_model", broken)
    assert set(fuzz(3, seed=0, of="models")) == {"Unsound: nothing unforeseen is said"}
    monkeypatch.setattr("robustlda.tables.reading.read_table", broken)
    monkeypatch.setattr("robustlda.estimators._base.fit_decision", broken)
    assert fuzz(40, seed=0, of="options").keys() >= {"Unsound: nothing unforeseen is said"}


def broken(error):
    def solve(self, samples, n_components):
        if samples.n_samples >= 3:
            raise error
        return whole(self, samples, n_components)

    whole = MMC._solve
    return solve


CASE = Case(MMC(), np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 2, np.ones(12), "csr")


@pytest.mark.parametrize(
    "error", [IndexError("out of bounds"), ZeroDivisionError("by zero"), np.linalg.LinAlgError("SVD")]
)
def test_an_error_from_within_is_found_and_shrunk(monkeypatch, error):
    monkeypatch.setattr(MMC, "_solve", broken(error))
    kind, _ = run(CASE)
    assert kind.startswith(type(error).__name__)
    small = shrunk(CASE, kind)
    assert small.X.shape == (3, 1)
    assert (small.weight, small.storage) == (None, "dense")
    assert len(small.lines()) <= 5


def test_a_model_that_breaks_a_promise_is_found(monkeypatch):
    keep = MMC._keep

    def lengthened(self, result, samples, center):
        keep(self, result, samples, center)
        self.components_ = 2 * self.components_

    monkeypatch.setattr(MMC, "_keep", lengthened)
    assert run(CASE)[0] == "Unsound: components are orthonormal"


def test_an_obscure_sentence_is_found(monkeypatch):
    monkeypatch.setattr(MMC, "_solve", lambda *_: np.linalg.cholesky(np.zeros((2, 3))))
    assert run(CASE)[0].startswith("LinAlgError")
    monkeypatch.setattr(MMC, "_solve", lambda *_: np.array([1, 2]).reshape(3, 3))
    assert run(CASE)[0].startswith("ValueError")


def test_the_command_reports_and_exits(capsys, monkeypatch):
    assert main(["--count", "3", "--seed", "2"]) == 0
    assert "3 fits in" in capsys.readouterr().out
    monkeypatch.setattr("tests.fuzz.checked_fit", lambda *_: 1 / 0)
    assert main(["--count", "2", "--no-shrinking"]) == 1
    assert "2 × ZeroDivisionError" in capsys.readouterr().out
