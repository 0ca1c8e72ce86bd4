"""What is on the disk after a run: all files or none, whatever stopped it, and never those of somebody else."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial

import click
import pytest
from command import inside
from sklearn.datasets import load_iris

import robustlda.cli
from robustlda.output import new_files, only_run, replacing, replacing_together, results_folder, undisturbed

KILLS = int(os.environ.get("ROBUSTLDA_TEST_KILLS", "1"))
"""How often every command is interrupted; `ROBUSTLDA_TEST_KILLS=50` for a thorough test."""

COMPARE = ["compare", "iris", "--methods", "knn", "--noise", "0", "--folds", "2", "--jobs", "1"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.skops"
    assert inside("fit", table, "--label", "target", "-o", str(path)).returncode == 0
    return str(path)


def everything(folder):
    """All that is in a folder, by name, with the content of files."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def files_of(folder, **texts):
    for name, text in texts.items():
        (folder / name).write_text(text)


def test_if_one_file_cannot_be_moved_none_is(tmp_path, monkeypatch):
    files_of(tmp_path, a="old a", c="old c")
    move = os.replace

    def refuse(source, target):
        if os.path.basename(target) == "c" and os.path.basename(os.path.dirname(source)).endswith(".part"):
            raise PermissionError(13, "Permission denied", str(target))
        move(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    before = everything(tmp_path)
    with pytest.raises(PermissionError), replacing_together(tmp_path, ["a", "b", "c"]) as folder:
        files_of(folder, a="new a", b="new b", c="new c")
    assert everything(tmp_path) == before
    monkeypatch.undo()
    with replacing_together(tmp_path, ["a", "b", "c", "d"]) as folder:
        files_of(folder, a="new a", b="new b", c="new c", unknown="not asked for")
    assert everything(tmp_path) == {"a": b"new a", "b": b"new b", "c": b"new c"}


def test_folders_are_replaced_as_files_are(tmp_path):
    (tmp_path / "rows").mkdir()
    files_of(tmp_path / "rows", old="old")
    with pytest.raises(KeyboardInterrupt), replacing_together(tmp_path, ["rows"]):
        raise KeyboardInterrupt
    assert set(everything(tmp_path)) == {"rows", "rows/old"}
    with replacing_together(tmp_path, ["rows"]) as folder:
        (folder / "rows").mkdir()
        files_of(folder / "rows", new="new")
    assert set(everything(tmp_path)) == {"rows", "rows/new"}


@pytest.fixture
def interruptible():
    """A shell that starts the tests in the background lets them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_waits_until_all_files_are_moved(tmp_path, monkeypatch):
    move = os.replace

    def interrupted(source, target):
        os.kill(os.getpid(), signal.SIGINT)
        move(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing_together(tmp_path, ["a", "b", "c"]) as folder:
        files_of(folder, a="a", b="b", c="c")
    assert set(everything(tmp_path)) == {"a", "b", "c"}
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "a") as target:
        target.write_text("new")
    assert everything(tmp_path)["a"] == b"new"
    before = signal.getsignal(signal.SIGINT)
    reached = []
    with pytest.raises(KeyboardInterrupt), undisturbed():
        reached.append(os.kill(os.getpid(), signal.SIGINT))
    assert reached
    assert signal.getsignal(signal.SIGINT) is before


@contextmanager
def disk_with(size):
    """No file gets larger than this: writing ends as on a full disk, though with another number of the error."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_nothing_of_the_new_and_all_of_the_old(table, model, tmp_path):
    runs = {
        "o": (["audit", table, "--label", "target", "--fix", "flagged"], 30_000),  # the page is larger
        "m.skops": (["fit", table, "--label", "target"], 10_000),
        "p.csv": (["predict", model, table], 1000),
        "p.parquet": (["predict", model, table], 500),
        "c": (COMPARE, 2000),  # the rows fit, the figure does not
    }
    for name, (words, size) in runs.items():
        out = tmp_path / "new" / name
        with disk_with(size):
            result = inside(*words, "--out", str(out))
        assert result.returncode == 2, result.stdout
        assert "There is no room for" in result.stderr
        assert result.stderr.count("\n") == 1
        left = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()]
        assert left == (["new/c/comparison.unfinished.csv"] if name == "c" else []), name
        for path in left:
            (tmp_path / path).unlink()
    (tmp_path / "new" / "c").rmdir()
    (tmp_path / "new").rmdir()
    words = ["audit", table, "--label", "target", "--out", str(tmp_path / "o"), "--force"]
    assert inside(*words).returncode == 0
    before = everything(tmp_path)
    with disk_with(30_000):
        assert inside(*words).returncode == 2
    assert everything(tmp_path) == before


def test_rows_on_a_full_disk_are_kept_and_the_run_goes_on(tmp_path):
    words = [*COMPARE, "--out", str(tmp_path), "--resume"]
    with disk_with(170):  # in the middle of the first row
        result = inside(*words)
    assert result.returncode == 2
    assert "no room for" in result.stderr
    assert "go on with the same command and --resume" in result.stderr
    again = inside(*words)
    assert again.returncode == 0, again.stderr
    assert "(2 rows)" in again.stdout
    assert set(everything(tmp_path)) == {"comparison.csv", "comparison.png"}


def test_links_folders_and_protected_files_are_not_replaced(table, model, tmp_path, monkeypatch):
    target = tmp_path / "precious"
    target.write_text("precious")
    for make in (
        lambda path: path.symlink_to(target),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.mkdir(),
    ):
        for name, words in {
            "o/suspects.csv": ["audit", table, "--label", "target", "--out", str(tmp_path / "o"), "--force"],
            "m.skops": ["fit", table, "--label", "target", "--out", str(tmp_path / "m.skops"), "--force"],
            "p.csv": ["predict", model, table, "--out", str(tmp_path / "p.csv"), "--force"],
            "comparison.csv": [*COMPARE, "--out", str(tmp_path)],
            "comparison.png": [*COMPARE, "--out", str(tmp_path), "--resume"],
        }.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            make(tmp_path / name)
            before = everything(tmp_path)
            result = inside(*words)
            assert result.returncode == 2, (name, result.stdout)
            assert name in result.stderr.splitlines()[-1]
            assert "should not have happened" not in result.stderr
            assert everything(tmp_path) == before
            (tmp_path / name).unlink() if (tmp_path / name).is_symlink() else (tmp_path / name).rmdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everything
    with pytest.raises(OSError, match="write-protected"):
        new_files([target], force=True)


def test_two_runs_do_not_get_the_same_folder(table, tmp_path):
    runs = {"audit": ["audit", table, "--label", "target"], "compare": COMPARE}
    with only_run(tmp_path):
        for words in runs.values():
            result = inside(*words, "--out", str(tmp_path))
            assert result.returncode == 2
            assert f"Another run is writing to {tmp_path}" in result.stderr
    assert everything(tmp_path) == {}
    code = "import sys, time, pathlib, robustlda.output as o\nwith o.only_run(pathlib.Path(sys.argv[1])):\n"
    code += " print(1, flush=True)\n time.sleep(99)"
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    holder.stdout.readline()
    with pytest.raises(OSError, match="Another run"), only_run(tmp_path):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with only_run(tmp_path):
        pass


def test_where_folders_cannot_be_locked_a_file_is(tmp_path, monkeypatch):
    import fcntl
    import stat

    lock = fcntl.flock

    def only_files(descriptor, how):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(9, "Bad file descriptor")
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", only_files)
    with only_run(tmp_path), pytest.raises(OSError, match="Another run"), only_run(tmp_path):
        pass
    with only_run(tmp_path):
        pass


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(tmp_path):
    (tmp_path / ".a.0123abcd.part").mkdir()
    files_of(tmp_path, **{".a.4567abcd.part": "", ".b.4567abcd.part": "", ".a.part": "", "a": ""})
    with results_folder(tmp_path, alone=["a"]):
        assert set(everything(tmp_path)) == {".b.4567abcd.part", ".a.part", "a"}
    with results_folder(tmp_path / "x" / "y"):
        assert (tmp_path / "x" / "y").is_dir()
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "foreign",
    [
        "a,b\n1,2\n",
        "a,b\n",
        "no line break",
        "dataset,noise\nx,1\n",
        "\xff\xfe",
        "x" * 300 + "\n",
        "dataset,noise,fold,x\n",
    ],
)
@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["anew", "resumed"])
def test_tables_of_others_are_neither_replaced_nor_changed(foreign, resume, tmp_path):
    for name in ("comparison.csv", "comparison.unfinished.csv"):
        (tmp_path / name).write_bytes(foreign.encode("latin-1"))
        before = everything(tmp_path)
        result = inside(*COMPARE, *resume, "--out", str(tmp_path))
        assert result.returncode == 2
        assert "has other columns than dataset, noise" in result.stderr
        assert everything(tmp_path) == before
        (tmp_path / name).unlink()


def test_pictures_and_reports_of_others_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTLDA_DATA", "")
    (tmp_path / "comparison.png").write_bytes(b"my cat")
    result = inside(*COMPARE, "--out", str(tmp_path))
    assert "comparison.png was not written here before" in result.stderr
    for name in ("README.md", "report.html", "toy.png"):
        (tmp_path / name).write_text("# My project\n")
        result = inside("reproduce", "--data-dir", str(tmp_path), "--out", str(tmp_path))
        assert "None of the paper's data sets is available" in result.stderr
        (tmp_path / "toy.csv").touch()
        result = inside("reproduce", "--data-dir", str(tmp_path), "--report-only", "--out", str(tmp_path))
        assert f"{name} is not a report of this command" in result.stderr
        assert (tmp_path / name).read_text() == "# My project\n"
        (tmp_path / name).unlink()
        (tmp_path / "toy.csv").unlink()


def test_an_import_that_ctrl_c_has_ended_is_an_interruption(monkeypatch, capsys):
    def interrupted(*_, cause):
        raise ImportError("initialization failed") from cause

    for cause, code, said in ((KeyboardInterrupt(2), 130, "Interrupted"), (None, 2, "should not have happened")):
        monkeypatch.setattr(click.Group, "invoke", partial(interrupted, cause=cause))
        monkeypatch.setattr(sys, "argv", ["robustlda", "datasets"])
        with pytest.raises(SystemExit) as ended:
            robustlda.cli.main()
        assert ended.value.code == code
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["audit", "fit", "predict", "compare"])
def test_ctrl_c_at_any_moment_leaves_no_part_of_a_result_and_no_process(name, table, model, tmp_path):
    out = tmp_path / "new" / "out"
    words = {
        "audit": ["audit", table, "--label", "target"],
        "fit": ["fit", table, "--label", "target"],
        "predict": ["predict", model, table],
        "compare": ["compare", "iris", "--methods", "knn,lda,svm", "--jobs", "2"],
    }[name]
    path = out if name in ("audit", "compare") else out / ("m.skops" if name == "fit" else "p.csv")
    draw = random.Random(name)
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-m", "robustlda", *words, "--out", str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(0.2 + draw.random() * (1.5 if KILLS == 1 else 4))
        os.killpg(process.pid, signal.SIGINT) if process.poll() is None else None
        _, said = process.communicate(timeout=60)
        with pytest.raises(ProcessLookupError):
            gone(process.pid)
        if process.returncode == 0:
            assert said == ""
        else:  # Python sometimes ends by the signal itself, which shells show as 130, too
            assert process.returncode in (130, -signal.SIGINT), said
            assert said.startswith("Interrupted; no")
            assert said.count("\n") == 1
            assert [p.name for p in tmp_path.rglob("*") if p.is_file()] in ([], ["comparison.unfinished.csv"])
        for place in sorted(tmp_path.rglob("*"), reverse=True):
            place.rmdir() if place.is_dir() else place.unlink()


def gone(group, seconds=20):
    """Waits until no process of a group is left: then there is no such group any more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        os.killpg(group, 0)
        time.sleep(0.05)


def test_a_request_to_end_is_heard_as_ctrl_c_is(tmp_path):
    command = [sys.executable, "-m", "robustlda", "audit", "--out", str(tmp_path / "o")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "o").exists() and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode in (143, -signal.SIGINT)
    assert said == "Interrupted; no incomplete file was left behind.\n"
    assert everything(tmp_path) == {}
