"""`robustlda audit` of Parquet files in parts."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import click
import numpy as np
import pytest
from command import call
from sklearn.datasets import load_digits

from robustlda.cli import cli
from robustlda.datasets.contaminate import flip_labels

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    X, y = load_digits(return_X_y=True)
    given, _ = flip_labels(y[:1200], 0.1, np.random.default_rng(0))
    for number, rows in enumerate((slice(0, 500), slice(500, 1200))):
        table = {f"p{j}": X[rows, j] for j in range(64)} | {"digit": given[rows]}
        table["remark"] = ["text"] * (rows.stop - rows.start)
        pq.write_table(pa.table(table), folder / f"part-{number}.parquet", row_group_size=200)
    return folder


@pytest.fixture(scope="module")
def audited(parts, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    result = call("audit", str(parts / "part-*.parquet"), "--label", "digit", "--out", str(out))
    assert result.returncode == 0, result.stderr
    return out, result.stdout


def suspects(folder):
    return (folder / "suspects.csv").read_bytes()


def test_a_pattern_of_files_is_audited_in_parts(audited):
    out, shown = audited
    words = " ".join(shown.split())
    assert "Left out, as they hold no numbers: remark." in words
    assert "1,200 labels, 10 classes: about" in words
    assert sorted(path.name for path in out.iterdir()) == ["audit.json", "report.html", "rows", "suspects.csv"]
    rows = pq.read_table(out / "rows").to_pydict()
    assert rows["id"] == list(range(1200))
    found = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert found["mislabelled"] == rows["finding"].count("mislabelled") > 100


def test_checked_rows_are_taken_back_in(parts, audited, tmp_path):
    with (audited[0] / "suspects.csv").open(newline="", encoding="utf-8") as file:
        first = list(csv.DictReader(file))[:5]
    with (tmp_path / "seen.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "verified"])
        writer.writeheader()
        writer.writerows({"id": line["id"], "verified": line["given"]} for line in first)
    call_ = (
        "audit",
        str(parts),
        "--label",
        "digit",
        "--verified",
        str(tmp_path / "seen.csv"),
        "--out",
        str(tmp_path / "out"),
    )
    result = call(*call_)
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))["verified"] == 5


def test_an_interrupted_audit_goes_on_where_it_was(parts, audited, tmp_path):
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    arguments = ["audit", str(parts), "--label", "digit", "--checkpoint", str(checkpoint), "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "robustlda", *arguments], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(checkpoint.glob("pass-?????"))) < 20 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
    before = {path.name: path.stat().st_mtime_ns for path in checkpoint.glob("pass-?????")}
    assert len(before) >= 20
    assert not (out / "suspects.csv").exists()
    result = call(*arguments)
    assert result.returncode == 0, result.stderr
    assert {name: (checkpoint / name).stat().st_mtime_ns for name in before} == before, "a finished pass was repeated"
    assert suspects(out) == suspects(audited[0])
    other = call(*arguments, "--features", "p1,p2,p3")
    assert other.returncode == 2
    assert "belongs to other data or other settings" in " ".join(other.stderr.split())


def test_workers_give_the_same_answer(parts, audited, tmp_path):
    pytest.importorskip("distributed")
    result = call(
        "audit", str(parts), "--label", "digit", "--workers", "2", "--memory-limit", "1GB", "--out", str(tmp_path)
    )
    assert result.returncode == 0, result.stderr
    assert suspects(tmp_path) == suspects(audited[0])


def test_what_is_not_there_is_one_sentence(parts, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for arguments, words in (
        ([str(parts / "other-*.parquet"), "--label", "digit"], "There is no Parquet file at"),
        ([str(parts), "--label", "nothing"], "has no column 'nothing'"),
        ([str(parts)], "Which column holds the labels?"),
        (["--workers", "2"], "refer to a TABLE, but none was given"),
        ([str(parts), "--label", "digit", "--workers", "1", "--scheduler", address], "give one of them"),
    ):
        with pytest.raises((ValueError, OSError, click.UsageError), match=re.escape(words)):
            cli.main(["audit", *arguments, "--out", str(tmp_path)], standalone_mode=False)
    pytest.importorskip("distributed")
    result = call("audit", str(parts), "--label", "digit", "--scheduler", address, "--out", str(tmp_path))
    assert result.returncode == 2
    assert "robustlda: " in result.stderr
    assert "Traceback" not in result.stderr.rsplit("robustlda: ", 1)[1]
