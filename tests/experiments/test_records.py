"""Records that survive whatever happens to the process or the file, and workers that end with their work."""

import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import inside
from tasks import Task, worked

from robustlda.experiments import protocol, records, workers

KILLS = int(os.environ.get("ROBUSTLDA_TEST_KILLS", "2"))
"""How often a comparison is killed; `ROBUSTLDA_TEST_KILLS=50` for a thorough test."""

ROWS = [protocol.Row("iris", noise, fold, "knn", accuracy=2 / 3) for noise in (0.0, 0.2) for fold in range(3)]


def written(path, rows=ROWS):
    records.write(rows, path, protocol.Row)
    return path.read_bytes()


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.123, 1 / 3, 0.123456789, 1e-9, 5e-324, 0.1 + 0.2])
def test_a_unit_comes_back_exactly(noise, tmp_path):
    row = protocol.Row("iris", noise, 0, "knn", accuracy=2 / 3)
    records.append(row, tmp_path / "rows.csv")
    (found,) = records.read(tmp_path / "rows.csv", protocol.Row)
    assert found.unit == row.unit
    assert records.unfinished([row.unit], [found]) == []
    assert found.accuracy == 0.666667, "what was measured has six digits"


def test_percentages_with_decimals_are_run_and_not_run_again(tmp_path):
    words = ["compare", "iris", "--methods", "knn", "--noise", "12.3,33.333333333,12.30", "--folds", "2", "--jobs", "1"]
    first = inside(*words, "--out", str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "12.3%" in first.stdout
    assert "failed" not in first.stdout
    before = (tmp_path / "comparison.csv").read_bytes()
    assert before.count(b"\n") == 5
    assert inside(*words, "--out", str(tmp_path), "--resume").returncode == 0
    assert (tmp_path / "comparison.csv").read_bytes() == before, "with the times of the first run"


def test_a_file_cut_off_anywhere_is_mended(tmp_path):
    path = tmp_path / "rows.csv"
    whole = written(path, ROWS[:2])
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        found = records.resumed(path, protocol.Row)
        complete = ROWS[: max(0, whole[:length].count(b"\n") - 1)]
        assert [row.unit for row in found] == [row.unit for row in complete], length
        assert len(records.read(path, protocol.Row)) == len(found)
        for row in ROWS[len(found) : 2]:
            records.append(row, path)
        assert path.read_bytes() == whole, length


@pytest.mark.parametrize(
    "damage", [b"\0" * 40, b"iris,0.2,x,knn", b'"', b"\xff\xfe", b",,,", b"iris,0.2,1,knn,uniform,0,5,1,1,1,1,1,,,9"]
)
def test_damaged_lines_are_run_again_and_the_others_kept(damage, tmp_path):
    path = tmp_path / "rows.csv"
    lines = written(path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], damage + b"\r\n", *lines[4:]]))
    found = records.resumed(path, protocol.Row)
    assert records.unfinished([row.unit for row in ROWS], found) == [ROWS[2].unit]
    records.append(ROWS[2], path)
    assert sorted(path.read_bytes().splitlines()) == sorted(line.strip() for line in lines)


def test_no_more_workers_than_cores_and_units(monkeypatch):
    monkeypatch.setattr(workers, "cpu_count", lambda: 4)
    for (jobs, units), number in {
        (99999, 10): 4, (99999, 3): 3, (-1, 10): 4, (-2, 10): 3, (-99, 10): 1, (2, 10): 2, (1, 10): 1, (4, 0): 1,
    }.items():  # fmt: skip
        assert workers.number_of_workers(jobs, units) == number


def test_workers_do_everything_once_and_are_gone(monkeypatch):
    monkeypatch.setattr(workers, "cpu_count", lambda: 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = list(workers.results(worked, [Task("return", k) for k in range(9)], 99999))
    assert sorted(number for number, _, _ in found) == list(range(9))
    assert {threads for _, _, threads in found} == {"1"}
    assert "OMP_NUM_THREADS" not in os.environ
    processes = {process for _, process, _ in found}
    assert len(processes) <= 2
    assert os.getpid() not in processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    cases = {
        "die": (OSError, "A worker was ended"),
        "fail": (ValueError, "no 7"),
        "break": (RuntimeError, "KeyError: 7"),
    }
    for what, (error, words) in cases.items():
        with pytest.raises(error, match=words):
            list(workers.results(worked, [Task(what, 7), Task("return")], 2))


def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    code = """if True:
        from tasks import Task, worked
        from robustlda.experiments import workers
        workers.cpu_count = lambda: 2
        list(workers.results(worked, [Task("wait")] * 4))"""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "PYTHONPATH": path})
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    parent.kill()
    parent.wait()
    processes = [int(file.name) for file in tmp_path.iterdir()]
    try:
        wait_until(lambda: not any(map(alive, processes)), seconds=30)
    finally:
        for process in filter(alive, processes):
            os.kill(process, signal.SIGKILL)


def test_workers_do_not_get_ctrl_c_while_they_start():
    code = """if True:
        import multiprocessing, signal
        from robustlda.experiments import workers
        with workers._signals_held():
            process = multiprocessing.get_context("spawn").Process(target=print)
            process.start()
            print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            process.kill()"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.splitlines()[0] == "True"


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(process):
    """Whether a process runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def results_in(folder):
    """Rows of a comparison without what differs from run to run."""
    with (folder / "comparison.csv").open() as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_a_comparison_that_is_killed_again_and_again_ends_in_the_same_result(tmp_path):
    words = ["compare", "iris", "--methods", "knn,lda,pca_1nn", "--noise", "0,20", "--folds", "3"]
    assert inside(*words, "--jobs", "1", "--out", str(tmp_path / "undisturbed")).returncode == 0
    out, draw = tmp_path / "killed", random.Random(0)
    command = [sys.executable, "-m", "robustlda", *words, "--jobs", "2", "--resume", "--out", str(out)]
    for _ in range(KILLS):
        if (out / "comparison.csv").exists():  # it got through: from the beginning
            assert results_in(out) == results_in(tmp_path / "undisturbed")
            shutil.rmtree(out)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        wait_until(lambda process=process: out.exists() or process.poll() is not None)
        time.sleep(draw.random() * 1.5)
        process.kill()
        process.wait()
        wait_until(lambda group=process.pid: not any(alive(p) for p in of_group(group)))
    assert inside(*words, "--jobs", "1", "--resume", "--out", str(out)).returncode == 0
    assert results_in(out) == results_in(tmp_path / "undisturbed")
    assert {path.name for path in out.iterdir()} == {"comparison.csv", "comparison.png"}


def of_group(group):
    """The processes of a group, as far as they can be seen."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text().rsplit(")", 1)[1].split()[2] == str(group):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
