"""`robustlda audit`, `fit` and `predict` of Parquet files in parts."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from datetime import date
from decimal import Decimal

import click
import numpy as np
import pytest
from command import call, inside
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


WITHIN = 300  # seconds, far more than anything here takes


def wait_until(process, reached):
    """Wait for a process to come to a point; or to its end, or until there is no hope."""
    deadline = time.monotonic() + WITHIN
    while not reached() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def suspects(folder):
    return (folder / "suspects.csv").read_bytes()


def test_a_pattern_of_files_is_audited_in_parts(audited):
    out, shown = audited
    words = " ".join(shown.split())
    assert "Column 'remark': It has the value 'text' in every row. It was left out." in words
    assert "1,200 labels, 10 classes: about" in words
    assert sorted(path.name for path in out.iterdir()) == ["audit.json", "report.html", "rows", "suspects.csv"]
    rows = pq.read_table(out / "rows").to_pydict()
    assert rows["id"] == list(range(1200))
    found = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert found["mislabeled"] == rows["finding"].count("mislabeled") > 100


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
    wait_until(process, lambda: len(list(checkpoint.glob("pass-?????"))) >= 20)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
    before = {path.name: path.stat().st_mtime_ns for path in checkpoint.glob("pass-?????")}
    assert len(before) >= 20
    assert not (out / "suspects.csv").exists()
    result = call(*arguments)
    assert result.returncode == 0, result.stderr
    assert {name: (checkpoint / name).stat().st_mtime_ns for name in before} == before, "a finished pass was repeated"
    assert suspects(out) == suspects(audited[0])
    other = call(*arguments, "--features", "p1,p2,p3", "--force")
    assert other.returncode == 2
    assert "belongs to other data or other settings" in " ".join(other.stderr.split())


def test_workers_give_the_same_answer(parts, audited, tmp_path):
    pytest.importorskip("distributed")
    result = call(
        "audit", str(parts), "--label", "digit", "--workers", "2", "--memory-limit", "1GB", "--out", str(tmp_path)
    )
    assert result.returncode == 0, result.stderr
    assert suspects(tmp_path) == suspects(audited[0])


CLUSTER = """
import distributed
if __name__ == "__main__":
    settings = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=2, **settings) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@pytest.fixture
def elsewhere(tmp_path):
    """A function that starts a cluster in a process of its own: the process, and the address of the scheduler."""
    script, started = tmp_path / "cluster.py", []
    script.write_text(CLUSTER)

    def start():
        process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait(timeout=20)
        process.stdin.close()
        process.stdout.close()


def test_a_scheduler_that_is_lost_is_one_sentence_and_the_checkpoint_goes_on(parts, audited, tmp_path, elsewhere):
    pytest.importorskip("distributed")
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    arguments = ["audit", str(parts), "--label", "digit", "--checkpoint", str(checkpoint), "--out", str(out)]
    process, address = elsewhere()
    client = subprocess.Popen(
        [sys.executable, "-m", "robustlda", *arguments, "--scheduler", address],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(client, lambda: len(list(checkpoint.glob("pass-?????"))) >= 20)
    process.kill()
    _, said = client.communicate(timeout=WITHIN)
    assert client.returncode == 2
    assert said.count("robustlda: ") == 1
    assert "The Dask scheduler is gone" in said
    assert not (out / "suspects.csv").exists()
    before = {path.name: path.stat().st_mtime_ns for path in checkpoint.glob("pass-?????")}
    assert len(before) >= 20
    result = call(*arguments, "--scheduler", elsewhere()[1])
    assert result.returncode == 0, result.stderr
    assert {name: (checkpoint / name).stat().st_mtime_ns for name in before} == before, "a finished pass was repeated"
    assert suspects(out) == suspects(audited[0])


def test_what_is_not_there_is_one_sentence(parts, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    for arguments, words in (
        ([str(parts / "other-*.parquet"), "--label", "digit"], "There is no Parquet file at"),
        ([str(parts), "--label", "nothing"], "There is no column 'nothing'; the columns are p0"),
        ([str(parts)], "Specify the column that holds the labels: --label COLUMN"),
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


# Tables with all kinds of columns


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Two files of a table with units, categories, gaps, spellings and names; and its true labels."""
    folder, rng = tmp_path_factory.mktemp("mixed"), np.random.default_rng(0)
    n = 900
    k = rng.integers(0, 3, n)
    true = np.array(["oak", "ash", "elm"])[k]
    given = np.where(rng.random(n) < 0.08, rng.choice(["oak", "ash", "elm"], n), true)
    spelled = [label.upper() if i % 40 == 0 else label for i, label in enumerate(given)]
    table = pa.table(
        {
            "tree": [f"T{i:04d}" for i in range(n)],
            "height": [f"{v:.1f} m" for v in 10 + 4 * k + rng.normal(size=n)],
            "girth": [None if rng.random() < 0.05 else float(v) for v in 50 - 12 * k + 3 * rng.normal(size=n)],
            "soil": np.where(rng.random(n) < 0.7, np.array(["clay", "sand", "loam"])[k], "clay"),
            "kind": spelled,
        }
    )
    pq.write_table(table.slice(0, 400), folder / "a.parquet", row_group_size=150)
    pq.write_table(table.slice(400), folder / "b.parquet", row_group_size=170)
    return folder, table, true, np.array([label.lower() for label in given])


def test_columns_of_all_kinds_in_parts(mixed, tmp_path):
    folder, table, true, given = mixed
    words = ("audit", str(folder), "--label", "kind", "--id", "tree", "--out", str(tmp_path / "parts"))
    result = inside(*words)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "'ASH' as 'ash'" in said
    assert "Numbers were extracted from text (unit: m)" in said
    rows = pq.read_table(tmp_path / "parts" / "rows").to_pydict()
    assert rows["id"] == table["tree"].to_pylist()
    flags = np.array(rows["finding"]) == "mislabeled"
    wrong = given != true
    assert (flags & wrong).sum() > 0.8 * wrong.sum()
    assert (flags & ~wrong).sum() <= 0.1 * flags.sum()
    # Fewer rows than are looked at to know the columns: the same as in memory, but for the order of sums.
    pq.write_table(table, tmp_path / "whole.parquet")
    assert inside(*words[:1], str(tmp_path / "whole.parquet"), *words[2:-1], str(tmp_path / "whole")).returncode == 0
    one, other = (json.loads((tmp_path / name / "audit.json").read_text()) for name in ("parts", "whole"))
    assert one["noise_rate"] == pytest.approx(other["noise_rate"], abs=2e-6)
    assert one["mislabeled"] == other["mislabeled"]

    review = tmp_path / "seen.csv"
    review.write_text("id,verified\nT0007,oak\nT0500,elm\n")
    result = inside(*words[:-1], str(tmp_path / "again"), "--verified", str(review))
    assert result.returncode == 0, result.stderr
    assert json.loads((tmp_path / "again" / "audit.json").read_text())["verified"] == 2
    review.write_text("id,verified\nT9999,oak\n")
    result = inside(*words[:-1], str(tmp_path / "never"), "--verified", str(review))
    assert result.returncode == 2
    assert "names the row 'T9999', which the table does not have" in result.stderr
    (tmp_path / "twice").mkdir()
    for part in range(2):
        pq.write_table(table, tmp_path / "twice" / f"{part}.parquet")
    review.write_text("id,verified\nT0007,oak\n")
    words = ("audit", str(tmp_path / "twice"), *words[2:-1], str(tmp_path / "never"), "--verified", str(review))
    assert "'T0007', but several rows of the table have this id" in inside(*words).stderr
    result = inside(*words[:-2])
    assert result.returncode == 0, result.stderr
    assert "Several rows have the same id in 'tree', such as 'T" in " ".join(result.stdout.split())
    assert "Several rows have the same id" not in said


def test_a_large_file_is_read_in_parts_and_the_model_predicts_in_parts(mixed, tmp_path, monkeypatch):
    from robustlda.cli import parts as in_parts

    _, table, true, given = mixed
    path = tmp_path / "large.parquet"
    pq.write_table(table, path, row_group_size=200)
    assert not in_parts.is_in_parts(str(path), False)
    monkeypatch.setattr(in_parts, "LARGE", 1000)
    assert in_parts.is_in_parts(str(path), False)
    model, out = tmp_path / "model.skops", tmp_path / "out.parquet"
    result = inside("fit", str(path), "--label", "kind", "-o", str(model), "--checkpoint", str(tmp_path / "checkpoint"))
    assert result.returncode == 0, result.stderr
    assert list((tmp_path / "checkpoint").glob("pass-*"))
    result = inside("predict", str(model), str(path), "-o", str(out), "--id", "tree")
    assert result.returncode == 0, result.stderr
    found = pq.read_table(out).to_pydict()
    assert found["id"] == table["tree"].to_pylist()
    assert (np.array(found["predicted"]) == true).mean() > 0.95
    assert f"{(np.array(found['predicted']) == given).mean():.1%} of the labels in 'kind' agree" in result.stdout


# Models and predictions


def predicted(path):
    """The table of predictions in a file, or in the files of a folder."""
    return pq.read_table(path).to_pydict()


@pytest.fixture(scope="module")
def trees(mixed, tmp_path_factory):
    """Models of a table in one file, fitted in memory and in parts, and what the first predicts for that file."""
    folder, table, *_ = mixed
    out = tmp_path_factory.mktemp("trees")
    pq.write_table(table, out / "whole.parquet")
    for name, where in (("memory", out / "whole.parquet"), ("parts", folder / "*.parquet")):
        result = inside("fit", str(where), "--label", "kind", "--id", "tree", "-o", str(out / f"{name}.skops"))
        assert result.returncode == 0, result.stderr
    words = ("--id", "tree", "--probabilities", "-o", str(out / "memory.parquet"))
    assert inside("predict", str(out / "memory.skops"), str(out / "whole.parquet"), *words).returncode == 0
    return out


def test_models_and_predictions_in_parts_are_those_of_a_table_in_memory(mixed, trees, tmp_path):
    folder, table, *_ = mixed
    expected = predicted(trees / "memory.parquet")
    words = ("predict", str(trees / "parts.skops"), str(folder), "--id", "tree", "--probabilities")
    for out in ("folder", "p.parquet", "p.csv"):
        result = inside(*words, "-o", str(tmp_path / out))
        assert result.returncode == 0, result.stderr
        assert "Wrote 900 predictions to" in " ".join(result.stdout.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "p.csv", "p.parquet"]
    assert [path.name for path in sorted((tmp_path / "folder").iterdir())] == [f"part-{k:05d}.parquet" for k in (0, 1)]
    found = predicted(tmp_path / "folder")
    assert found == predicted(tmp_path / "p.parquet")
    assert found["id"] == expected["id"] == table["tree"].to_pylist()
    assert found["predicted"] == expected["predicted"]
    for name in ("probability", "probability of oak", "probability of ash"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-6)
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
        assert [line["predicted"] for line in csv.DictReader(file)] == expected["predicted"]


def test_workers_fit_and_predict_the_same(mixed, trees, tmp_path, elsewhere):
    pytest.importorskip("distributed")
    folder, *_ = mixed
    by = ("--scheduler", elsewhere()[1])
    model, table = str(tmp_path / "m.skops"), str(folder / "*.parquet")
    result = inside("fit", table, "--label", "kind", "--id", "tree", *by, "-o", model)
    assert result.returncode == 0, result.stderr
    result = inside("predict", model, table, "--id", "tree", *by, "-o", str(tmp_path / "by workers"))
    assert result.returncode == 0, result.stderr
    result = inside("predict", str(trees / "parts.skops"), table, "--id", "tree", "-o", str(tmp_path / "here.parquet"))
    assert result.returncode == 0, result.stderr
    assert predicted(tmp_path / "by workers") == predicted(tmp_path / "here.parquet")


def test_an_interrupted_prediction_goes_on_where_it_was(mixed, trees, tmp_path):
    rows = mixed[1]
    for part in range(12):
        pq.write_table(rows.slice(70 * part, 70), tmp_path / f"t{part:02d}.parquet")
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    words = ["predict", str(trees / "parts.skops"), str(tmp_path / "t*.parquet"), "--id", "tree", "-o", str(out)]
    words += ["--checkpoint", str(checkpoint)]
    process = subprocess.Popen([sys.executable, "-m", "robustlda", *words], stdout=subprocess.DEVNULL)
    wait_until(process, lambda: len(list(checkpoint.glob("parts/part-*.parquet"))) >= 3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
    before = {path: path.stat().st_mtime_ns for path in checkpoint.glob("parts/part-*.parquet")}
    assert len(before) >= 3
    (checkpoint / "parts" / ".part-00003.parquet.8776cb30.part").touch()  # a kill may come while a part is written
    for _ in range(2):  # and once more when all is there
        result = inside(*words, "--force")
        assert result.returncode == 0, result.stderr
        assert {path: path.stat().st_mtime_ns for path in before} == before, "a finished part was predicted again"
        assert {path.suffix for path in out.iterdir()} == {".parquet"}
        assert predicted(out)["id"] == rows["tree"].to_pylist()[:840]
        assert predicted(out)["predicted"] == predicted(trees / "memory.parquet")["predicted"][:840]
        assert "of the labels in 'kind' agree" in result.stdout
    result = inside(*words, "--force", "--probabilities")
    assert result.returncode == 2
    assert "belongs to other data or other settings" in result.stderr


def test_predictions_in_parts_that_cannot_be_are_one_sentence(mixed, trees, tmp_path):
    folder, table, *_ = mixed
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    pq.write_table(table.drop_columns(["girth"]), tmp_path / "less.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    for where, out, words in (
        (folder, "mine", "is a folder with other files, such as thesis.txt; name another."),
        (folder, "p.xlsx", "predictions are written as .csv or .parquet, or to a folder"),
        (tmp_path / "le*.parquet", "p", "The table lacks the column 'girth'."),
        (tmp_path / "em*.parquet", "p", "has no rows; there is nothing to predict."),
    ):
        result = inside("predict", str(trees / "parts.skops"), str(where), "--force", "-o", str(tmp_path / out))
        assert (result.returncode, result.stderr.count("robustlda: ")) == (2, 1), result.stderr
        assert words in " ".join(result.stderr.split())
    result = inside("predict", str(trees / "parts.skops"), str(folder), "--id", "x", "-o", str(tmp_path / "p"))
    assert "There is no column 'x'; the columns are tree, height" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.parquet", "less.parquet", "mine"]


def test_predictions_in_parts_tell_how_the_table_was_read(tmp_path):
    rng = np.random.default_rng(0)
    k = rng.integers(0, 2, 200)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 200)
    dated = [f"{day.day:02d}/{day.month:02d}/{day.year}" for day in days.tolist()]
    weights = [f"{v:.2f} kg" for v in 2 + 3 * k + rng.normal(size=200)]
    columns = {"weight": weights, "day": dated, "x": rng.normal(3 * k), "kind": np.array(["a", "b"])[k]}
    table = pa.table(columns | {"name": [f"n{i}" for i in range(200)]})
    pq.write_table(table, tmp_path / "t.parquet")
    model, new = str(tmp_path / "m.skops"), tmp_path / "new"
    words = ("fit", str(tmp_path / "t.parquet"), "--label", "kind", "--id", "name", "-o", model)
    assert inside(*words).returncode == 0
    other = columns | {"weight": [w.replace(".", ",") for w in weights], "day": ["03/04/2024"] * 200}
    table = pa.table(other | {"name": [f"n{i}" for i in range(200)]})
    pq.write_table(table, tmp_path / "other.parquet")
    new.mkdir()
    for part in range(2):
        pq.write_table(table.slice(100 * part, 100), new / f"{part}.parquet")
    said = []
    for where in (tmp_path / "other.parquet", new):
        result = inside("predict", model, str(where), "-o", str(tmp_path / f"{where.stem}.csv"), "--id", "name")
        assert result.returncode == 0, result.stderr
        said.append(" ".join(result.stdout.split()).split("Wrote")[0])
    assert said[0] == said[1]
    assert "Numbers in 'weight' were read with a decimal comma, unlike those that the model was made of." in said[1]
    assert said[1].count("Dates in 'day' were read with the day first") == 1
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "new.csv").read_bytes()
    pq.write_table(table.slice(100).drop_columns(["name"]), new / "1.parquet")
    result = inside("predict", model, str(new), "-o", str(tmp_path / "p.csv"), "--id", "name")
    assert result.returncode == 2
    assert "1.parquet has no column 'name', which 0.parquet has." in " ".join(result.stderr.split())


def test_names_of_rows_may_be_of_several_types_that_go_together(mixed, trees, tmp_path):
    _, table, *_ = mixed
    a, b = table.slice(0, 400), table.slice(400)
    numbers = np.arange(900)
    cases = {
        "texts": (a["tree"].cast(pa.large_string()), b["tree"], table["tree"].to_pylist()),
        "numbers": (pa.array(numbers[:400], pa.int32()), pa.array(numbers[400:]), numbers.tolist()),
        "gaps": (a["tree"], pa.nulls(500), [*a["tree"].to_pylist(), *[None] * 500]),
        "both": (a["tree"], pa.array(numbers[400:]), None),
    }
    for kind, (first, second, expected) in cases.items():
        (tmp_path / kind).mkdir()
        for name, rows, ids in (("a", a, first), ("b", b, second)):
            pq.write_table(rows.set_column(0, "tree", ids), tmp_path / kind / f"{name}.parquet")
        for out in (f"{kind}.parquet", f"{kind} folder"):
            words = ("--id", "tree", "-o", str(tmp_path / out))
            result = inside("predict", str(trees / "parts.skops"), str(tmp_path / kind), *words)
            if expected is None:
                assert result.returncode == 2
                words = "The column 'tree' is of type string in a.parquet, but int64 in b.parquet; give it one type."
                assert words in " ".join(result.stderr.split())
            else:
                assert result.returncode == 0, result.stderr
                assert predicted(tmp_path / out)["id"] == expected


def test_a_file_that_does_not_fit_or_is_damaged_is_named(mixed, trees, tmp_path):
    _, table, *_ = mixed
    (tmp_path / "data").mkdir()
    a, b = tmp_path / "data" / "a.parquet", tmp_path / "data" / "b.parquet"
    pq.write_table(table, a)
    whole = a.read_bytes()
    model, out = str(trees / "parts.skops"), str(tmp_path / "out")
    for content in (whole[:-50], b"PAR1", whole[:4] + b"\xff" * 400 + whole[404:]):
        b.write_bytes(content)
        result = inside("predict", model, str(tmp_path / "data"), "--id", "tree", "-o", out)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
        assert "b.parquet is not a complete Parquet file (damaged, truncated or encrypted)" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    pq.write_table(table.set_column(2, "girth", table["girth"].cast(pa.string())), b)
    result = inside("audit", str(tmp_path / "data"), "--label", "kind", "--out", out)
    assert result.returncode == 2
    words = "The column 'girth' is of type double in a.parquet, but string in b.parquet; give it one type."
    assert words in " ".join(result.stderr.split())
    b.write_bytes(whole[:-50])
    result = inside("audit", str(tmp_path / "data"), "--label", "kind", "--out", out)
    assert "b.parquet is not a complete Parquet file" in " ".join(result.stderr.split())


def test_rows_without_a_label_in_parts_are_refused(mixed, tmp_path):
    _, table, *_ = mixed
    for missing, step, words in (
        (None, 100, "9 rows have no label in column 'kind': of a table that is read in parts, leave them out first"),
        (" ? ", 100, "9 rows have no label in column 'kind'"),
        ("", 1000, "1 row has no label in column 'kind': of a table that is read in parts, leave it out first"),
    ):
        labels = [missing if i % step == 0 else v for i, v in enumerate(table["kind"].to_pylist())]
        pq.write_table(table.set_column(4, "kind", pa.array(labels)), tmp_path / "t.parquet")
        result = inside("audit", str(tmp_path), "--label", "kind", "--out", str(tmp_path / "out"))
        assert result.returncode == 2
        assert words in result.stderr


@pytest.mark.parametrize("kind", ["float", "fraction", "decimal", "date", "typo", "bool"])
def test_classes_in_parts_are_called_as_in_memory(tmp_path, kind):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 200)
    given = np.where(rng.random(200) < 0.08, 1 - true, true)
    labels = {
        "float": pa.array(given.astype(float)),
        "fraction": pa.array(given + 0.5),
        "decimal": pa.array([Decimal("1.50") if k else Decimal("2.00") for k in given]),
        "date": pa.array([date(2024, 1, 1 + k) for k in given.tolist()]),
        "typo": pa.array(["yy" if i == 9 else ("yes", "no")[k] for i, k in enumerate(given)]),
        "bool": pa.array(given.astype(bool)),
    }[kind]
    X = {"x": rng.normal(4 * true), "z": rng.normal(-2 * true)}
    pq.write_table(pa.table({**X, "label": labels}), tmp_path / "t.parquet")
    found, said = [], []
    for name, words in (("memory", []), ("parts", ["--checkpoint", str(tmp_path / "ck")])):
        out, model = tmp_path / name, str(tmp_path / f"{name}.skops")
        result = inside("audit", str(tmp_path / "t.parquet"), "--label", "label", "--out", str(out), *words)
        assert result.returncode == 0, result.stderr
        with (out / "suspects.csv").open(newline="", encoding="utf-8") as file:
            lines = [line for line in csv.DictReader(file) if line["finding"]]
        found.append({line["id"]: (line["given"], line["suggested"]) for line in lines})
        words = [] if name == "memory" else ["--checkpoint", str(tmp_path / "ck2")]
        result = inside("fit", str(tmp_path / "t.parquet"), "--label", "label", "-o", model, *words)
        assert result.returncode == 0, result.stderr
        result = inside("predict", model, str(tmp_path / "t.parquet"), "-o", str(tmp_path / f"{name}.csv"))
        said.append(re.findall(r".*% of the labels.*", result.stdout))
    assert said[0] == said[1] != []
    assert found[0] == found[1]
    assert len(found[0]) > 8


@pytest.mark.parametrize("id", [None, "number"])
def test_rows_of_rare_labels_are_set_aside_in_parts_as_in_memory(mixed, tmp_path, id):
    _, table, *_ = mixed
    labels = ["yew" if i == 5 else "box" if i in (300, 301, 850) else "fir" if i in (600, 700) else v
              for i, v in enumerate(table["kind"].to_pylist())]  # fmt: skip
    table = table.set_column(4, "kind", pa.array(labels)).append_column("number", pa.array(np.arange(900) + 400))
    pq.write_table(table, tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for part, rows in enumerate((slice(0, 5), slice(5, 6), slice(6, 900))):  # one of which nothing is left
        pq.write_table(table[rows], tmp_path / "parts" / f"{part}.parquet", row_group_size=350)
    (tmp_path / "seen.csv").write_text(f"id,verified\n{600 + 400 * (id is not None)},oak\n", encoding="utf-8")
    for checked in ([], ["--verified", str(tmp_path / "seen.csv")]):
        said, summaries, rows = [], [], []
        for name in ("whole.parquet", "parts"):
            out = tmp_path / f"{name} out {len(checked)}"
            words = ["--label", "kind", "--out", str(out), "--features", "height,girth,soil", *checked]
            result = inside("audit", str(tmp_path / name), *words, *(["--id", id] if id else []))
            assert result.returncode == 0, result.stderr
            said.append(" ".join(result.stdout.split()))
            summaries.append(json.loads((out / "audit.json").read_text()))
            with (out / "suspects.csv").open(newline="", encoding="utf-8") as file:
                rows.append([(r["id"], r["given"], r["suggested"]) for r in csv.DictReader(file) if r["finding"]])
        n = 897 + bool(checked)
        aside = f"were set aside with their rows: 'fir' ({1 if checked else 2}), 'yew' (1). Are they typos?"
        for words, summary in zip(said, summaries, strict=True):
            assert aside in words
            assert (summary["samples"], summary["verified"]) == (n, 1 if checked else 0)
        # A row of a class that is none any more goes by what was found in parts, and counts as wrong in memory.
        gone = bool(checked) / n
        assert summaries[0]["noise_rate"] == pytest.approx(summaries[1]["noise_rate"] + gone, abs=2e-6)
        assert sorted(row for row in rows[0] if row[1] != "fir") == sorted(rows[1])
        written = pq.read_table(tmp_path / f"parts out {len(checked)}" / "rows")["id"].to_pylist()
        left_out = [5, 700] if checked else [5, 600, 700]
        assert written == [i + 400 * (id is not None) for i in range(900) if i not in left_out]


@pytest.mark.parametrize("kind", ["moments", "measurements", "names", "one class"])
def test_columns_that_name_no_classes_are_refused_in_parts_as_in_memory(tmp_path, kind):
    rng = np.random.default_rng(0)
    labels = {
        "moments": pa.array(np.datetime64("2024-01-01T10:00", "us") + np.arange(200) % 2),
        "measurements": pa.array(rng.normal(size=200)),
        "names": pa.array([f"n{i // 2}" for i in range(200)]),
        "one class": pa.array(["yes"] * 199 + ["YES"]),
    }[kind]
    pq.write_table(pa.table({"x": rng.normal(size=200), "label": labels}), tmp_path / "t.parquet")
    said = [
        inside("audit", str(path), "--label", "label", "--out", str(tmp_path / "out"))
        for path in (tmp_path / "t.parquet", tmp_path)
    ]
    assert said[0].returncode == said[1].returncode == 2
    assert said[0].stderr == said[1].stderr


@pytest.mark.parametrize("named", ["data", "data/part-*.parquet"])
def test_a_folder_that_is_read_is_not_replaced_even_by_force(mixed, trees, tmp_path, named):
    _, table, *_ = mixed
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data" / "part-0.parquet")
    before = (tmp_path / "data" / "part-0.parquet").read_bytes()
    words = (str(trees / "parts.skops"), str(tmp_path / named), "-o", str(tmp_path / "data"), "--force")
    result = inside("predict", *words)
    assert result.returncode == 2
    assert "data is read and would be replaced; choose another name for what is written." in result.stderr
    assert (tmp_path / "data" / "part-0.parquet").read_bytes() == before


def test_what_is_hidden_in_a_folder_is_no_part_of_it(parts, audited, tmp_path):
    for part in parts.glob("*.parquet"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / part.with_suffix(".pq").name).write_bytes(part.read_bytes())
    (tmp_path / "data" / "_log").mkdir()
    for name in ("._part-0.parquet", "_log/0.parquet", "notes.txt"):
        (tmp_path / "data" / name).write_bytes(b"nothing that could be read")
    result = inside("audit", str(tmp_path / "data"), "--label", "digit", "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "suspects.csv").read_bytes() == (audited[0] / "suspects.csv").read_bytes()


def test_answers_of_several_people_in_parts_are_refused_however_they_are_named(tmp_path):
    pq.write_table(
        pa.table({"x": np.arange(9.0), "Ann": ["a", "b", "c"] * 3, "Bob": ["a"] * 9}), tmp_path / "t.parquet"
    )
    for words, message in (
        (["--label", "Ann,Bob"], "Answers of several people need a table in memory"),
        (["--label", "Ann", "--label", "Bob"], "Answers of several people need a table in memory"),
        (["--label", "Ann,Cy"], "There is no column 'Ann,Cy'"),
    ):
        result = inside("audit", str(tmp_path), *words, "--out", str(tmp_path / "out"))
        assert result.returncode == 2
        assert message in result.stderr


def test_progress_tells_pass_objective_and_time_left():
    from robustlda.cli.parts import _progress

    shown = "fit: pass 23, objective 1.23457, 20 s so far, about 80 s left …"
    assert _progress("fit", 23, 23, 1.23456789, 20.0) == shown
    assert _progress("audit", 139, 139, None, 278.0) == "audit: pass 139, 5 min so far, about 2 s left …"
    # Passes that a checkpoint knew took no time, and say nothing about how long others take.
    assert _progress("fit", 95, 2, None, 10.0) == "fit: pass 95, 10 s so far, about 2 min left …"


def test_a_pattern_without_quotes_is_recognized():
    result = call("audit", "part-0.parquet", "part-1.parquet", "--label", "kind")
    assert result.returncode == 2
    assert "A pattern of several files needs quotes: 'part-*.parquet'." in " ".join(result.stderr.split())
