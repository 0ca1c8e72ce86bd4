"""`robustlda audit`, `fit` and `predict` of tables as people have them."""

import csv
import gzip
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import call, inside
from pyarrow import feather
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression

from benchmarks.tables import TABLES, write_csv
from robustlda import LabelAudit
from robustlda.report import audit_files
from robustlda.report.table_files import write_table
from robustlda.report.texts import spreadsheet_safe
from robustlda.tables.reading import read_table
from robustlda.tables.understanding import understand


def messy(path, n=120, seed=0):
    """A table with everything in it: categories, missing numbers, text, dates, missing labels, hostile names."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    frame = {
        "name": [f"=cmd|' /C calc'!A{i}" for i in range(n)],
        "a": [None if i % 17 == 0 else float(v) for i, v in enumerate(rng.normal(size=n) + 3 * y)],
        "b": (rng.normal(size=n) - 3 * (y == 1)).tolist(),
        "color": [("red", "green", "blue")[k] if rng.random() < 0.8 else "red" for k in y],
        "label": [None if i == 5 else ("<script>alert(1)</script>", "‮hello", "plain")[k] for i, k in enumerate(y)],
    }
    arrow = pa.table(frame)
    if path.suffix == ".parquet":
        pq.write_table(arrow, path)
    elif path.suffix == ".feather":
        feather.write_feather(arrow, path)
    else:
        pd.DataFrame(frame).to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    return path


def rows(folder, name="suspects.csv"):
    with (folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def findings(folder):
    return json.loads((folder / "audit.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_tables_are_read_alike_whatever_the_file(tmp_path, ending):
    found = understand(read_table(messy(tmp_path / f"t.{ending}")), "label", id="name")
    assert found.X.shape == (119, 5)
    assert found.names == ["a", "b", "color=blue", "color=green", "color=red"]
    assert np.isfinite(found.X).all()
    assert "1 row has no label" in " ".join(found.notes)


def test_cells_are_no_formulas():
    for text in ("=1+1", "@x", "\n=1", "\ufeff=1", "＝1", " =1", "\tx", "-a"):
        assert spreadsheet_safe(text) == "'" + text
    for text in ("-3.5", "plain", "1e5", "+4", "a=b"):
        assert spreadsheet_safe(text) == text


def test_command_writes_three_files_and_a_summary(tmp_path):
    source = messy(tmp_path / "t.csv")
    result = call("audit", str(source), "--label", "label", "--id", "name", "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert "119 labels, 3 classes" in result.stdout
    assert "\u202e" not in result.stdout
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["audit.json", "report.html", "suspects.csv"]
    found = findings(tmp_path / "out")
    assert found["samples"] == 119
    assert [c["kind"] for c in found["columns"]] == ["id", "number", "number", "category", "label"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    suspects = rows(tmp_path / "out")
    assert all(row["id"].startswith("'=") for row in suspects)
    assert {"row", "reason", "a", "b", "color"} <= set(suspects[0])


def test_nothing_is_replaced_without_force(tmp_path):
    source, out = messy(tmp_path / "t.csv"), tmp_path / "out"
    out.mkdir()
    (out / "suspects.csv").write_text("id,verified\n7,plain\n")
    words = ["audit", str(source), "--label", "label", "--out", str(out)]
    result = inside(*words)
    assert result.returncode == 2
    assert "suspects.csv exists; replace it with --force" in result.stderr
    result = inside(*words, "--force", "--verified", str(out / "suspects.csv"))
    assert result.returncode == 2
    assert "would be replaced, and with it what was checked" in result.stderr
    assert sorted(p.name for p in out.iterdir()) == ["suspects.csv"]
    assert (out / "suspects.csv").read_text() == "id,verified\n7,plain\n"
    (out / "suspects.csv").unlink()
    assert inside(*words).returncode == 0
    assert inside(*words, "--force").returncode == 0
    assert len(rows(out)) >= 20


def test_what_a_person_has_filled_in_is_not_replaced_even_with_force(tmp_path):
    frame, _ = wines()
    frame.to_csv(tmp_path / "t.csv", index=False)
    out, copy = tmp_path / "out", tmp_path / "copy.csv"
    audited(tmp_path / "t.csv", out)
    suspects = pd.read_csv(out / "suspects.csv", dtype=str)
    suspects.loc[0, "verified"] = suspects["given"][0]
    suspects.to_csv(out / "suspects.csv", index=False)
    filled_in = (out / "suspects.csv").read_bytes()
    words = ("audit", str(tmp_path / "t.csv"), "--label", "kind", "--out", str(out), "--force")
    (tmp_path / "other.csv").write_text(f"id,verified\n{suspects['id'][1]},Barolo\n")
    for more in ((), ("--verified", str(tmp_path / "other.csv"))):
        result = inside(*words, *more)
        assert result.returncode == 2
        assert "holds rows that a person has checked, and is not replaced, not even with --force" in result.stderr
        assert (out / "suspects.csv").read_bytes() == filled_in
    (out / "audit.json").write_text("[]")
    assert inside(*words).returncode == 2
    copy.write_bytes(filled_in)
    assert inside(*words, "--verified", str(copy)).returncode == 0
    # It now lists the checked row with its label, which nobody has filled in there.
    assert [row["verified"] for row in rows(out)][-1] == suspects["given"][0]
    assert inside(*words).returncode == 0


def test_without_a_table_digits_are_audited(tmp_path):
    result = call("audit", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Of 359 labels flipped on purpose, 35" in " ".join(result.stdout.split())
    assert (tmp_path / "audit-demo" / "report.html").stat().st_size < 3e6
    assert (tmp_path / "audit-demo" / ".gitignore").read_text() == "*\n"


def test_gate_fails_with_exit_code_1_and_json_is_all_there_is_on_stdout(tmp_path):
    result = call("audit", "--max-noise", "0.05", "--format", "json", "--out", str(tmp_path))
    assert result.returncode == 1
    assert 0.15 < json.loads(result.stdout)["noise_rate"] < 0.25
    assert "Failed: 20" in result.stderr


def bad_tables(folder):
    n = 40
    good = pd.DataFrame(
        {"a": np.linspace(0, 1, n), "b": np.random.default_rng(0).normal(size=n), "y": np.arange(n) % 2}
    )
    good.to_csv(folder / "good.csv", index=False)
    good.assign(y=1).to_csv(folder / "one.csv", index=False)
    good.assign(a=np.nan, b=np.nan).to_csv(folder / "missing.csv", index=False)
    (folder / "empty.csv").write_text("")
    good.to_parquet(folder / "t.parquet")
    (folder / "cut.parquet").write_bytes((folder / "t.parquet").read_bytes()[:200])
    big = pd.DataFrame({"a": np.linspace(0, 1, 2000), "y": np.arange(2000)})
    big.to_csv(folder / "many.csv", index=False)
    (folder / "cut.npz").write_bytes(b"PK not really")
    nested = pa.table({"a": good["a"], "b": good["b"], "y": [[v] for v in good["y"]]})
    pq.write_table(nested, folder / "list.parquet")


@pytest.mark.parametrize(
    ("file", "label", "message"),
    [
        ("good.csv", "z", "There is no column 'z'; the columns are a, b, y"),
        ("good.csv", None, "Specify the column that holds the labels: --label COLUMN. The columns are a, b, y"),
        ("one.csv", "y", "holds only one class, 1"),
        ("missing.csv", "y", "No column contains usable features"),
        ("empty.csv", "y", "empty"),
        ("cut.parquet", "y", "cut.parquet"),
        ("cut.npz", None, "cut.npz"),
        ("many.csv", "y", "holds 2,000 different values"),
        ("none.csv", "y", "There is no file"),
        ("list.parquet", "y", "is of type list"),
    ],
)
def test_bad_tables_get_one_sentence_and_leave_nothing_behind(tmp_path, file, label, message):
    bad_tables(tmp_path)
    out = tmp_path / "out"
    result = inside("audit", str(tmp_path / file), "--out", str(out), *(["--label", label] if label else []))
    assert result.returncode == 2, result.stdout + result.stderr
    assert message in result.stderr
    assert "should not have happened" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not out.exists() or not list(out.iterdir())


def test_a_folder_that_cannot_be_written_is_found_out_before_the_work(tmp_path):
    result = inside("audit", "--out", "/proc/none")
    assert result.returncode == 2
    assert "Nothing can be written to /proc/none" in result.stderr


def test_rows_keep_the_numbers_they_have_in_the_file(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 6 * rng.normal(size=(3, 3))[y]
    words = np.array(["a", "b", "c"])[y].astype(object)
    words[5], words[60] = None, "b"
    frame = pd.DataFrame({"row": np.arange(100, 190), "x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "kind": words})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert inside("audit", str(tmp_path / "t.csv"), "--label", "kind", "--out", str(tmp_path / "out")).returncode == 0
    first = rows(tmp_path / "out")[0]
    assert (first["id"], first["row"]) == ("60", "62"), "the header is row 1 of a spreadsheet"
    assert first["row (table)"] == "160"
    assert first["suggested"] == "a"
    assert "typical of b" in first["reason"]
    audit = LabelAudit().fit(frame, "kind")
    assert audit.ids_[audit.rank_ == 1] == [60]
    assert 60 in audit.to_review(80)
    assert 5 not in audit.to_review(89)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--label", "kind"], "refer to a TABLE, but none was given"),
        (["t.csv", "--label", "name"], "holds a different value in every row"),
        (["t.csv", "--label", "name", "--fix", "reviewed"], "name the file with --verified"),
        (["t.csv", "--label", "x", "--images", "28"], "is not a size such as 28x28"),
        (
            ["bare.csv", "--label", "kind"],
            "column 2. There is no header; the columns are called",
        ),
        (["t.csv", "--label", "name", "--workers", "2"], "Only Parquet files are read in parts"),
        (["t.parquet", "--label", "x", "--label", "z", "--workers", "1"], "Answers of several people need a table"),
    ],
)
def test_what_makes_no_sense_is_refused(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"name": [f"n{i}" for i in range(30)], "x": np.arange(30.0)}).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "bare.csv").write_text("".join(f"{i}.5,{'ab'[i % 2]}\n" for i in range(30)))
    result = inside("audit", *words, "--out", "out")
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


# What was seen on ordinary files


def wines(**columns):
    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame({f"m{j}": X[:, j] for j in range(13)}).assign(**columns)
    given = y.copy()
    given[::17] = (given[::17] + 1) % 3
    return frame.assign(kind=np.array(["Barolo", "Grignolino", "Barbera"])[given]), given != y


def audited(path, out, *words):
    result = inside("audit", str(path), "--label", "kind", "--out", str(out), *words)
    assert result.returncode == 0, result.stderr
    return findings(out), " ".join(result.stdout.split())


def flagged(folder):
    return {int(row["id"]) for row in rows(folder) if row["finding"] == "mislabeled"}


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.CSV", lambda f, p: f.to_csv(p, index=False)),
        ("t.csv.gz", lambda f, p: p.write_bytes(gzip.compress(f.to_csv(index=False).encode()))),
        ("semicolons.csv", lambda f, p: f.to_csv(p, index=False, sep=";", decimal=",")),
        ("t.xlsx", lambda f, p: f.to_excel(p, index=False)),
        ("t.jsonl", lambda f, p: f.to_json(p, orient="records", lines=True)),
        ("latin.csv", lambda f, p: p.write_bytes(f.assign(ort="Köln Straße").to_csv(index=False).encode("latin-1"))),
    ],
)
def test_ordinary_files_are_read(tmp_path, name, write):
    frame, wrong = wines()
    frame.to_csv(tmp_path / "plain.csv", index=False)
    audited(tmp_path / "plain.csv", tmp_path / "plain")
    write(frame, tmp_path / name)
    audited(tmp_path / name, tmp_path / "out")
    assert flagged(tmp_path / "out") == flagged(tmp_path / "plain")
    assert len(flagged(tmp_path / "out") & set(np.flatnonzero(wrong).tolist())) >= 8


def test_standard_input(tmp_path):
    import subprocess
    import sys

    frame, _ = wines()
    result = subprocess.run(
        [sys.executable, "-m", "robustlda", "audit", "-", "--label", "kind", "--out", str(tmp_path), "--quiet"],
        input=frame.to_csv(index=False).encode(),
        capture_output=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == b""
    assert len(flagged(tmp_path)) >= 8


def test_columns_that_could_be_square_images_are_measurements(tmp_path):
    table, label, true, _ = TABLES["sensors"](np.random.default_rng([0, 3]))
    write_csv(table, tmp_path / "t.csv", "sensors")
    result = inside("audit", str(tmp_path / "t.csv"), "--label", label, "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr  # also: names such as "s00 [/min]" are no markup
    wrong = set(np.flatnonzero(np.array(table[label].to_pylist()) != true).tolist())
    assert len(flagged(tmp_path / "out") & wrong) > 0.9 * len(wrong)


def test_images_are_images_when_told(tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=4, return_X_y=True)
    table = pa.table({**{f"p{j}": X[:, j] for j in range(64)}, "kind": [f"d{k}" for k in y]})
    pq.write_table(table, tmp_path / "t.parquet")
    audited(tmp_path / "t.parquet", tmp_path / "out", "--images", "8x8")
    assert "data:image/png" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    result = inside("audit", str(tmp_path / "t.parquet"), "--label", "kind", "--images", "9x9", "--out", str(tmp_path))
    assert result.returncode == 2
    assert "--images 9x9 needs 81 columns of pixels; the table has 64" in result.stderr
    frame = pd.read_parquet(tmp_path / "t.parquet")
    for other in ([["a", "b"][i % 2] for i in range(len(frame))], pd.date_range("2024", periods=len(frame))):
        name = next(name for name in frame.columns if name != "kind")
        frame.assign(**{name: other}).to_parquet(tmp_path / "other.parquet")
        words = ("--label", "kind", "--images", "8x8", "--out", str(tmp_path / "other"))
        result = inside("audit", str(tmp_path / "other.parquet"), *words)
        assert f"--images needs columns of numbers, and '{name}' holds something else" in result.stderr


def test_pixels_are_all_used_and_nothing_else_is_said_of_them(tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=4, return_X_y=True)
    X, y = np.vstack([X, X[:2]]), np.append(y, (y[:2] + 1) % 4)
    numbered = {"number": np.arange(len(X)), **{f"p{j}": X[:, j] for j in range(64)}}
    pq.write_table(pa.table({**numbered, "kind": [f"d{k}" for k in y]}), tmp_path / "t.parquet")
    found, said = audited(tmp_path / "t.parquet", tmp_path / "out", "--images", "8x8")
    assert said.count("It was left out") == 1, "the row number is no pixel"
    assert "have another label" in said
    assert "have another label" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert [use["features"] for use in found["columns"]] == [[], *([f"p{j}"] for j in range(64)), []]
    assert "Column 'p0'" not in str(found["findings"])


def test_duplicate_names_markup_and_escapes_are_just_names(tmp_path):
    frame, _ = wines()
    text = frame.to_csv(index=False).replace("m0,m1,m2", "rate [/min],rate [/min],[red]\x1b[31m", 1)
    (tmp_path / "t.csv").write_text(text)
    found, said = audited(tmp_path / "t.csv", tmp_path / "out")
    names = [c["name"] for c in found["columns"]]
    assert names[0] == "rate [/min]"
    assert len(set(names)) == len(names)
    assert "\x1b" not in said


def test_a_copy_of_the_label_is_not_learned_from(tmp_path):
    frame, _ = wines()
    frame["code"] = frame["kind"].map({"Barolo": 3, "Grignolino": 1, "Barbera": 2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found, said = audited(tmp_path / "t.csv", tmp_path / "out")
    assert "Column 'code': It gives the label away" in said
    assert found["noise_rate"] > 0.03
    kept, _ = audited(tmp_path / "t.csv", tmp_path / "kept", "--keep", "code")
    assert kept["noise_rate"] < 0.01, "which is what was left out for"


def test_identifiers_are_not_numbers_and_spellings_are_one_class(tmp_path):
    frame, _ = wines()
    rng = np.random.default_rng(0)
    frame["customer id"] = rng.permutation(10**6)[: len(frame)]
    frame["zip"] = [f"0{v}" for v in rng.integers(1000, 9999, len(frame))]
    frame["m3"] = [f"{v:,.1f} g" if i % 20 else "?" for i, v in enumerate(1000 * frame["m3"])]
    frame["kind"] = [v.upper() if i % 9 == 0 else v + " " if i % 7 == 0 else v for i, v in enumerate(frame["kind"])]
    frame.to_csv(tmp_path / "t.csv", index=False)
    found, _ = audited(tmp_path / "t.csv", tmp_path / "out")
    kinds = {c["name"]: c["kind"] for c in found["columns"]}
    assert (kinds["customer id"], kinds["zip"], kinds["m3"]) == ("id", "code", "number")
    assert len(found["classes"]) == 3
    exact, _ = audited(tmp_path / "t.csv", tmp_path / "exact", "--exact-labels")
    assert len(exact["classes"]) > 3


# Files to go on with


def test_answers_of_several_people_in_one_table(tmp_path):
    frame, _ = wines()
    rng, kind = np.random.default_rng(0), frame.pop("kind").to_numpy()
    for name, accuracy in (("Ann", 0.95), ("Bob", 0.6), ("Cy, jr.", 0.9)):
        answers = np.where(rng.random(len(kind)) < accuracy, kind, rng.permutation(kind)).astype(object)
        answers[rng.random(len(kind)) < 0.3] = None
        frame[name] = answers
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = [w for name in ("Ann", "Bob", "Cy, jr.") for w in ("--label", name)]
    result = call("audit", tmp_path / "t.csv", *words, "--fix", "flagged", "--out", tmp_path / "out")
    assert "Answers that are right: Ann " in result.stdout
    people = findings(tmp_path / "out")["annotators"]
    assert [one["name"] for one in people] == ["Ann", "Bob", "Cy, jr."]
    assert people[1]["accuracy"] < min(people[0]["accuracy"], people[2]["accuracy"])
    assert {"Ann", "Bob", "Cy, jr."} < set(rows(tmp_path / "out")[0])
    corrected = pd.read_csv(tmp_path / "out" / "corrected.csv")
    assert list(corrected.columns) == [*frame.columns, "label", "label_change"]
    assert (corrected["label"] == kind)[corrected["label"].notna()].mean() > 0.9

    # A second round learns neither from what the first has made of the answers, nor makes another column of them.
    result = call("audit", tmp_path / "out" / "corrected.csv", *words, "--fix", "flagged", "--out", tmp_path / "again")
    assert "Column 'label': It is what an audit has made of the labels. It was left out" in " ".join(
        result.stdout.split()
    )
    assert rows(tmp_path / "again")[0]["probability_wrong"] == rows(tmp_path / "out")[0]["probability_wrong"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "again" / "corrected.csv"), corrected)
    own = frame.assign(label=np.arange(len(frame)) % 5, label_change=None)
    assert {use.name: use.kind for use in LabelAudit().fit(own, ["Ann", "Bob"]).preparation_.columns_}[
        "label"
    ] == "number"

    audit = LabelAudit().fit(frame, ["Ann", "Bob", "Cy, jr."])
    assert [round(share, 6) for share in audit.annotator_accuracy_] == [one["accuracy"] for one in people]

    call("fit", tmp_path / "t.csv", "--label", "Ann,Bob", "--out", tmp_path / "model.skops")
    call("predict", tmp_path / "model.skops", tmp_path / "t.csv", "--out", tmp_path / "p.csv")


def test_how_a_table_was_read_is_told_by_predictions_too(tmp_path):
    frame, _ = wines()
    frame[["m0", "m12", "kind"]].to_csv(tmp_path / "t.tsv", sep="\t", decimal=",", index=False)
    (tmp_path / "new.tsv").write_text("m0\tm12\n1,234\t500\n2,678\t600\n")
    model, out = str(tmp_path / "m.skops"), str(tmp_path / "p.csv")
    assert inside("fit", str(tmp_path / "t.tsv"), "--label", "kind", "--out", model).returncode == 0
    words = ("predict", model, str(tmp_path / "new.tsv"), "--out", out, "--force")
    said = " ".join(inside(*words).stdout.split())
    assert "1,234 in 'm0' was read as 1234 (thousands), though it could be otherwise; use --decimal , if it is" in said
    assert inside(*words, "--quiet").stdout == ""


@pytest.mark.parametrize(("form", "first"), [("%d/%m/%Y", "day"), ("%m/%d/%Y", "month")])
def test_dates_that_could_be_several_are_read_as_those_that_were_learned_from(tmp_path, form, first):
    rng = np.random.default_rng(0)
    days = pd.date_range("2021-01-01", periods=120)
    frame = pd.DataFrame({"u": rng.normal(size=120) + 3 * (days.month % 2), "d": days.strftime(form)})
    frame.assign(kind=np.where(days.month % 2, "odd", "even")).to_csv(tmp_path / "t.csv", index=False)
    few = np.flatnonzero((days.day < 13) & (days.day != days.month))[::5]
    frame.iloc[few].to_csv(tmp_path / "few.csv", index=False)
    model = str(tmp_path / "m.skops")
    assert inside("fit", str(tmp_path / "t.csv"), "--label", "kind", "--out", model).returncode == 0

    def predicted(name):
        words = ("predict", model, str(tmp_path / name), "--probabilities", "--out", str(tmp_path / "p.csv"), "--force")
        result = inside(*words)
        assert result.returncode == 0, result.stderr
        return pd.read_csv(tmp_path / "p.csv").drop(columns="id"), " ".join(result.stdout.split())

    known = f"Dates in 'd' were read with the {first} first, as those that the model was made of"
    some, said = predicted("few.csv")
    assert known in said
    whole, said = predicted("t.csv")
    assert known not in said
    pd.testing.assert_frame_equal(some, whole.iloc[few].reset_index(drop=True))
    pd.DataFrame({"u": [1.0, 2.0], "d": ["yesterday", "today"]}).to_csv(tmp_path / "few.csv", index=False)
    result = inside("predict", model, str(tmp_path / "few.csv"), "--out", str(tmp_path / "p.csv"), "--force")
    assert "'d' held dates when the model was made; here it is text that is none, or could be several" in result.stderr


def test_a_corrected_table(tmp_path):
    frame, _ = wines()
    frame.loc[3, "kind"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    audited(tmp_path / "t.csv", tmp_path / "out", "--fix", "flagged")
    corrected = pd.read_csv(tmp_path / "out" / "corrected.csv")
    assert list(corrected.columns) == [*frame.columns, "label_change"]
    assert len(corrected) == len(frame)
    changed = corrected["label_change"].notna().to_numpy()
    assert set(np.flatnonzero(changed).tolist()) == flagged(tmp_path / "out")
    assert corrected["label_change"][changed].str.match(r"was \w+, probably wrong \(\d\d?%\)").all(), "never certain"
    right = load_wine().target
    names = np.array(["Barolo", "Grignolino", "Barbera"])
    assert (corrected["kind"][changed] == names[right[changed]]).mean() > 0.9
    same = corrected.drop(columns=["label_change", "kind"])
    pd.testing.assert_frame_equal(same, frame.drop(columns="kind"), check_dtype=False)

    (tmp_path / "reviewed.csv").write_text("id,verified\n0,Barolo\n1,Grignolino\n")
    words = ("--fix", "reviewed", "--verified", str(tmp_path / "reviewed.csv"))
    audited(tmp_path / "t.csv", tmp_path / "reviewed", *words)
    checked = pd.read_csv(tmp_path / "reviewed" / "corrected.csv")
    assert checked["label_change"].dropna().to_dict() == {0: "was Grignolino, checked", 1: "was Barolo, checked"}

    _, shown = audited(tmp_path / "t.csv", tmp_path / "reviewed", "--force")
    assert "is of an earlier audit." in shown

    whole = pa.table({"a": np.arange(60.0) % 7, "b": np.random.default_rng(0).normal(size=60), "kind": [1, 2] * 30})
    pq.write_table(whole, tmp_path / "t.parquet")
    audited(tmp_path / "t.parquet", tmp_path / "columnar", "--fix", "flagged")
    assert pq.read_schema(tmp_path / "columnar" / "corrected.parquet").field("kind").type == pa.int64()


def test_what_an_audit_has_changed_is_not_learned_from_in_the_next(tmp_path):
    frame, _ = wines()
    frame.to_csv(tmp_path / "t.csv", index=False)
    said, folder = "", tmp_path / "0"
    audited(tmp_path / "t.csv", folder, "--fix", "flagged")
    first = pd.read_csv(folder / "corrected.csv")["label_change"]
    row = int(np.flatnonzero(first.notna())[0])
    (tmp_path / "r.csv").write_text(f"id,verified\n{row},{frame['kind'][row]}\n")
    for k in range(3):
        words = ("--fix", "flagged", "--verified", str(tmp_path / "r.csv"))
        said = audited(folder / "corrected.csv", tmp_path / f"{k + 1}", *words)[1]
        folder = tmp_path / f"{k + 1}"
        assert "'label_change': It says which labels an audit has changed. It was left out" in said
    last = pd.read_csv(folder / "corrected.csv")
    assert list(last.columns) == [*frame.columns, "label_change"]
    assert re.fullmatch(
        rf"was \w+, checked; before, it was {frame['kind'][row]}, probably .*", last["label_change"][row]
    )
    assert (last["label_change"] == first)[first.notna()].mean() > 0.8  # what the first round did is still known
    model = str(tmp_path / "m.skops")
    assert inside("fit", str(folder / "corrected.csv"), "--label", "kind", "--out", model).returncode == 0
    result = inside("predict", model, str(tmp_path / "t.csv"), "--out", str(tmp_path / "p.csv"))
    assert result.returncode == 0, result.stderr
    # A column of that name with something else in it is the table's own.
    frame.assign(label_change=["was seen, twice", "never"] * 89).to_csv(tmp_path / "t.csv", index=False)
    assert "label_change" not in audited(tmp_path / "t.csv", tmp_path / "own", "--fix", "flagged")[1]
    own = [*frame.columns, "label_change (robustlda)", "label_change"]
    assert list(pd.read_csv(tmp_path / "own" / "corrected.csv").columns) == own


def other_labels():
    """Labels that are called otherwise than they are in the table, with what pandas reads."""
    return {
        "fractions": pa.array([0.5, 1.5, 2.5]),
        "whole": pa.array([1.0, 2.0, 3.0]),
        "decimals": pa.array(["0.50", "1.50", "2.50"]).cast(pa.decimal128(5, 2)),
        "days": pa.array([0, 31, 366], pa.date32()),
    }


@pytest.mark.parametrize("kind", other_labels())
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_that_are_no_words_are_corrected(tmp_path, kind, ending):
    values = other_labels()[kind]
    frame, wrong = wines()
    right = load_wine().target
    given = np.where(wrong, (right + 1) % 3, right)
    whole = pa.Table.from_pandas(frame.drop(columns="kind"), preserve_index=False)
    whole = whole.append_column("kind", values.take(pa.array(given)))
    source = tmp_path / f"t.{ending}"
    write_table(whole, source)
    name = {"whole": "1", "days": "1970-01-01"}.get(
        kind, "0.50" if (kind, ending) == ("decimals", "parquet") else "0.5"
    )
    (tmp_path / "review.csv").write_text(f"id,verified\n0,{name}\n")
    words = ("--fix", "flagged", "--verified", str(tmp_path / "review.csv"))
    audited(source, tmp_path / "out", *words)
    corrected = read_table(tmp_path / "out" / f"corrected.{ending}").data["kind"].cast(values.type)
    same = np.array(corrected.to_pylist()) == np.array(values.take(pa.array(right)).to_pylist())
    assert same[0]
    assert same.mean() > 0.97

    by_hand = LabelAudit().fit(whole, "kind", verified={0: values[0].as_py()})
    assert by_hand.n_verified_ == 1
    listed = [None, values[1].as_py(), *[None] * (len(right) - 2)]
    assert LabelAudit().fit(whole, "kind", verified=listed).n_verified_ == 1
    assert LabelAudit().fit(whole, "kind", verified=np.arange(len(right)) == 3).n_verified_ == 1


def test_reviewed_rows_come_back_through_the_command(tmp_path):
    frame, _ = wines()
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    audited(tmp_path / "t.csv", out)
    suspects = rows(out)
    assert len(suspects) >= 20
    review = tmp_path / "review.csv"
    checked = [f"{s['id']},{s['given']}" for s in suspects[:15]]
    review.write_text("\n".join(["id,verified", *checked, f"{suspects[16]['id']},"]) + "\n")
    again = ["audit", str(tmp_path / "t.csv"), "--label", "kind", "--out", str(out), "--force"]
    result = inside(*again, "--verified", str(review), "--format", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["verified"] == 15
    for content in (
        f"id;verified\n{suspects[0]['id']};Barolo\n".encode("cp1252"),
        f"\ufeffid\tverified\tnote\n{suspects[0]['id']}\tBarolo\tä\n".encode(),
        f"id\tgiven\tverified\n{suspects[0]['id']}\t {suspects[0]['given'].upper()}\tBAROLO \n".encode("utf-16"),
    ):
        review.write_bytes(content)
        result = inside(*again, "--verified", str(review), "--format", "json")
        assert json.loads(result.stdout)["verified"] == 1
    pd.DataFrame({"id": [int(suspects[0]["id"])], "verified": ["Barolo"]}).to_excel(tmp_path / "r.xlsx", index=False)
    result = inside(*again, "--verified", str(tmp_path / "r.xlsx"), "--format", "json")
    assert json.loads(result.stdout)["verified"] == 1
    for text, words in (
        ("row,label\n1,c0\n", "has no columns id and verified"),
        ("id,verified\n3,nothing\n", "none of the table's"),
        ("id,verified\n9999,Barolo\n", "which the table does not have"),
    ):
        review.write_text(text)
        result = inside(*again, "--verified", str(review))
        assert result.returncode == 2
        assert words in result.stderr


def test_ids_that_several_rows_share_are_told_of_and_cannot_be_reviewed(tmp_path):
    frame, _ = wines(patient=[f"P{i // 2:03}" for i in range(178)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    _, said = audited(tmp_path / "t.csv", tmp_path / "out", "--id", "patient")
    assert "Several rows have the same id in 'patient', such as 'P000'" in said
    (tmp_path / "reviewed.csv").write_text(f"id,given,verified\nP001,{frame['kind'][3]},Barbera\n")
    words = ("--id", "patient", "--verified", str(tmp_path / "reviewed.csv"), "--fix", "reviewed")
    result = inside("audit", str(tmp_path / "t.csv"), "--label", "kind", *words, "--out", str(tmp_path / "fixed"))
    assert result.returncode == 2
    assert "reviewed.csv names the row 'P001', but several rows of the table have this id" in result.stderr
    frame.assign(patient=range(178)).to_csv(tmp_path / "t.csv", index=False)
    assert "same id" not in audited(tmp_path / "t.csv", tmp_path / "unique", "--id", "patient")[1]


def test_what_a_person_has_found_is_always_corrected(tmp_path):
    frame, _ = wines()
    frame.loc[17, "m0"] = 1e6  # far from every class, and with a wrong label
    frame.to_csv(tmp_path / "t.csv", index=False)
    right = np.array(["Barolo", "Grignolino", "Barbera"])[load_wine().target]
    review = tmp_path / "review.csv"
    review.write_text(f"id,verified\n17,{right[17]}\n34,{right[34].upper()}\n")
    audited(tmp_path / "t.csv", tmp_path / "out", "--fix", "flagged", "--verified", str(review))
    corrected = pd.read_csv(tmp_path / "out" / "corrected.csv")
    assert corrected["kind"][17] == right[17]
    assert corrected["label_change"][17].endswith(", checked")
    assert corrected["label_change"][34].endswith(", checked")
    assert corrected["label_change"].str.contains("probably wrong").sum() > 5

    # They come last in the list, with what was found, which can therefore be given as it is the next time.
    listed = rows(tmp_path / "out")
    assert [line["id"] for line in listed if line["verified"]] == [line["id"] for line in listed[-2:]]
    assert {line["verified"] for line in listed[-2:]} == set(right[[17, 34]])
    listed[0]["verified"] = listed[0]["given"]
    pd.DataFrame(listed).to_csv(tmp_path / "round2.csv", index=False)
    found, _ = audited(tmp_path / "t.csv", tmp_path / "again", "--verified", str(tmp_path / "round2.csv"))
    assert found["verified"] == 3
    (tmp_path / "more.csv").write_text(f"id,verified\n51,{right[51]}\n")
    words = ("--verified", str(tmp_path / "round2.csv"), "--verified", str(tmp_path / "more.csv"))
    assert audited(tmp_path / "t.csv", tmp_path / "both", *words)[0]["verified"] == 4


def test_what_is_read_is_not_replaced_even_by_force(tmp_path):
    frame, _ = wines()
    path, model, checked = tmp_path / "suspects.csv", tmp_path / "m.skops", tmp_path / "v.csv"
    frame.to_csv(path, index=False)
    checked.write_text(f"id,verified\n1,{frame['kind'][1]}\n")
    assert inside("fit", str(path), "--label", "kind", "-o", str(model)).returncode == 0
    before = {one: one.read_bytes() for one in (path, model, checked)}
    for words in (
        ("fit", path, "--label", "kind", "-o", path),
        ("fit", path, "--label", "kind", "--verified", checked, "-o", checked),
        ("predict", model, path, "-o", path),
        ("predict", model, path, "-o", model),
        ("audit", path, "--label", "kind", "--out", tmp_path),
    ):
        result = inside(*map(str, words), "--force")
        assert result.returncode == 2
        assert "is read and would be replaced; choose another name for what is written." in result.stderr
    assert before == {one: one.read_bytes() for one in before}


@pytest.mark.parametrize("in_parts", [False, True])
def test_labels_ids_and_features_in_nested_fields(tmp_path, in_parts):
    frame, _ = wines()
    frame["name"] = [f"w{i}" for i in range(len(frame))]
    inner = frame[["kind", "name", "m0"]].to_dict("records")
    table = {"about": pa.array([{"wine": one} for one in inner])} | {f"m{j}": frame[f"m{j}"] for j in range(5, 13)}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    number = iter(range(9))

    def run(*words):
        last = ["--checkpoint", str(tmp_path / f"ck{next(number)}")] if in_parts else []
        result = inside(words[0], *map(str, words[1:]), "--id", "about.wine.name", *last)
        assert result.returncode == 0, result.stderr
        return result.stdout

    label = ("--label", "about.wine.kind")
    fix = () if in_parts else ("--fix", "flagged")
    run("audit", tmp_path / "t.parquet", *label, "--out", tmp_path / "out", *fix)
    first = rows(tmp_path / "out")[0]
    assert first["id"].startswith("w")
    (tmp_path / "v.csv").write_text(f"id,given,verified\n{first['id']},{first['given']},{first['suggested']}\n")
    run("audit", tmp_path / "t.parquet", *label, "--out", tmp_path / "again", "--verified", tmp_path / "v.csv", *fix)
    assert findings(tmp_path / "again")["verified"] == 1
    if not in_parts:
        corrected = pq.read_table(tmp_path / "again" / "corrected.parquet").to_pandas()
        row = corrected[corrected["about.wine.name"] == first["id"]].iloc[0]
        assert row["about.wine.kind"] == first["suggested"]
        assert row["label_change"] == f"was {first['given']}, checked"
    run("fit", tmp_path / "t.parquet", *label, "--out", tmp_path / "m.skops")
    said = run("predict", tmp_path / "m.skops", tmp_path / "t.parquet", "--out", tmp_path / "p.csv")
    assert "of the labels in 'about.wine.kind' agree with the predictions" in said
    assert pd.read_csv(tmp_path / "p.csv")["id"].tolist() == [one["name"] for one in inner]


@pytest.mark.parametrize("words", [[], ["--checkpoint"]])
def test_labels_that_a_spreadsheet_or_a_person_has_respelled_are_the_same(tmp_path, words):
    frame, _ = wines()
    frame["kind"] = frame["kind"] == "Barolo"
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    again = ["audit", str(tmp_path / "t.parquet"), "--label", "kind", "--out", str(tmp_path / "out"), "--force"]
    again += [*words, str(tmp_path / "ck")] if words else []
    assert inside(*again).returncode == 0
    lines = rows(tmp_path / "out")[:4]
    for line in lines:
        line["given"], line["verified"] = line["given"].upper(), line["suggested"].upper()
    pd.DataFrame(lines).to_csv(tmp_path / "reviewed.csv", index=False)
    again[-1:] = [str(tmp_path / "ck2")] if words else again[-1:]
    result = inside(*again, "--verified", str(tmp_path / "reviewed.csv"))
    assert result.returncode == 0, result.stderr
    assert findings(tmp_path / "out")["verified"] == 4


def test_a_review_is_of_these_rows_though_labels_are_spelled_otherwise_by_now(tmp_path):
    frame, _ = wines()
    frame.to_csv(tmp_path / "t.csv", index=False)
    audited(tmp_path / "t.csv", tmp_path / "out")
    lines = rows(tmp_path / "out")[:4]
    for line in lines:
        line["verified"] = line["suggested"]
    pd.DataFrame(lines).to_csv(tmp_path / "reviewed.csv", index=False)
    words = ("--verified", str(tmp_path / "reviewed.csv"))
    frame.assign(kind="  " + frame["kind"].str.upper()).to_csv(tmp_path / "t.csv", index=False)
    assert audited(tmp_path / "t.csv", tmp_path / "again", *words)[0]["verified"] == 4
    two = frame["kind"].where(
        np.arange(len(frame)) % 2 == 1, frame["kind"].str.upper()
    )  # which are classes of their own
    frame.assign(kind=two).to_csv(tmp_path / "t.csv", index=False)
    found, _ = audited(tmp_path / "t.csv", tmp_path / "two", *words)
    assert found["verified"] == 4
    words = (*words, "--exact-labels", "--out", str(tmp_path / "exact"))
    result = inside("audit", str(tmp_path / "t.csv"), "--label", "kind", *words)
    assert "reviewed.csv was made when row" in result.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_review_of_other_rows_is_refused(tmp_path, ending):
    frame, _ = wines()

    def write(table):
        if ending == "csv":
            table.to_csv(tmp_path / "t.csv", index=False)
        else:
            table.to_parquet(tmp_path / "t.parquet", index=False)

    write(frame)
    in_parts = ["--checkpoint", str(tmp_path / "ck")] if ending == "parquet" else []
    audited(tmp_path / f"t.{ending}", tmp_path / "out", *in_parts)
    reviewed = rows(tmp_path / "out")[:8]
    for line in reviewed:
        line["verified"] = line["suggested"]
    pd.DataFrame(reviewed).to_csv(tmp_path / "reviewed.csv", index=False)
    words = ["audit", str(tmp_path / f"t.{ending}"), "--label", "kind", "--verified", str(tmp_path / "reviewed.csv")]
    words += ["--checkpoint", str(tmp_path / "ck2")] if ending == "parquet" else []
    assert inside(*words, "--out", str(tmp_path / "same")).returncode == 0
    write(frame.sample(frac=1, random_state=0))
    words[-1:] = [str(tmp_path / "ck3")] if ending == "parquet" else words[-1:]
    result = inside(*words, "--out", str(tmp_path / "other"))
    assert result.returncode == 2
    assert "reviewed.csv was made when row" in result.stderr
    assert "--id COLUMN" in result.stderr
    corrected = frame.copy()
    for line in reviewed:
        corrected.loc[int(line["id"]), "kind"] = line["verified"]
    write(corrected)
    words[-1:] = [str(tmp_path / "ck4")] if ending == "parquet" else words[-1:]
    assert inside(*words, "--out", str(tmp_path / "corrected")).returncode == 0


def test_fit_says_whether_labels_or_answers_are_wrong(tmp_path):
    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame(X).assign(Ann=y, Bob=np.roll(y, 3))
    frame.to_csv(tmp_path / "t.csv", index=False)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    for table, words, what in (
        ("t.csv", ["--label", "Ann,Bob"], "answers"),
        ("t.csv", ["--label", "Ann", "--label", "Bob"], "answers"),
        ("t.csv", ["--label", "Ann"], "labels"),
        ("t.npz", [], "labels"),
    ):
        result = inside("fit", str(tmp_path / table), *words, "--force", "--out", str(tmp_path / "m.skops"))
        assert f"% of the {what} are wrong" in " ".join(result.stdout.split()), result.stderr


def test_annotations_for_github(tmp_path):
    frame, _ = wines()
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = inside("audit", str(tmp_path / "t.csv"), "--label", "kind", "--out", str(tmp_path), "--format", "github")
    lines = result.stdout.splitlines()
    assert len(lines) == len(flagged(tmp_path))
    assert all(
        re.match(r"::warning file=t\.csv,line=\d+::\d+: the label \w+ is probably wrong \(\d\d?%25\)", x) for x in lines
    )


@pytest.mark.parametrize("name", ["penguins", "credit", "plants"])
def test_command_line_and_python_agree_to_the_last_digit(tmp_path, name):
    table, label, true, _ = TABLES[name](np.random.default_rng([5, 0]))
    write_csv(table, tmp_path / "t.csv", name)
    result = inside("audit", str(tmp_path / "t.csv"), "--label", label, "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    audit = LabelAudit().fit(read_table(tmp_path / "t.csv").data.to_pandas(), label)
    found = findings(tmp_path / "out")
    assert found["noise_rate"] == round(audit.noise_rate_, 6)
    suspects = rows(tmp_path / "out")
    for row in suspects:
        i = int(row["id"])
        assert row["probability_wrong"] == f"{audit.probability_wrong_[i]:.4f}"
        assert (row["finding"], row["rank"]) == (audit.finding_[i], str(audit.rank_[i]))
    assert isinstance(audit.to_frame(), pd.DataFrame)
    wrong, flags = audit.given_ != true, audit.finding_ == "mislabeled"
    assert (flags & wrong).sum() > 0.5 * wrong.sum()
    assert (flags & ~wrong).sum() <= 0.12 * flags.sum()


def test_a_frame_of_words_and_labels_apart():
    table, label, *_ = TABLES["penguins"](np.random.default_rng([0, 0]))
    frame = table.to_pandas()
    apart, together = LabelAudit().fit(frame.drop(columns=label), frame[label]), LabelAudit().fit(frame, label)
    assert apart.noise_rate_ == together.noise_rate_
    assert (apart.finding_ == together.finding_).all()
    named = LabelAudit().fit(frame.drop(columns=label), frame[label], ids=[f"bird {i}" for i in range(len(frame))])
    assert named.ids_[7] == "bird 7"
    assert isinstance(apart.to_frame(), pd.DataFrame)
    with pytest.raises(ValueError, match="X has 344 rows, but y has 3 labels"):
        LabelAudit().fit(frame.drop(columns=label), frame[label][:3])


def test_one_odd_label_does_not_hide_the_others(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + 4 * y[:, None]
    words = np.array(["left", "right"])[y].astype(object)
    words[:12] = np.array(["right", "left"])[y[:12]]
    words[100] = "rihgt"
    audit = LabelAudit().fit(pd.DataFrame(X, columns=["a", "b", "c"]).assign(side=words), "side")
    assert (audit.finding_ == "mislabeled").sum() == 12
    assert "'rihgt' (1)" in audit.table_.findings[0].message


# Models


def test_a_model_is_fitted_kept_and_asked(tmp_path):
    table, label, true, _ = TABLES["penguins"](np.random.default_rng([3, 0]))
    write_csv(table, tmp_path / "t.csv", "penguins")
    model, out = tmp_path / "model.skops", tmp_path / "new.csv"
    result = inside("fit", str(tmp_path / "t.csv"), "--label", label, "-o", str(model))
    assert result.returncode == 0, result.stderr
    assert "3 classes" in result.stdout
    new = table.to_pandas()
    new.loc[0, "Island"] = "Elsewhere"
    new.drop(columns=label).to_csv(tmp_path / "new_rows.csv", index=False)
    result = inside("predict", str(model), str(tmp_path / "new_rows.csv"), "-o", str(out), "--probabilities")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "Column 'Island' has values that the model has not seen, and ignores: 'Elsewhere'" in said
    found = pd.read_csv(out)
    assert list(found.columns[:3]) == ["id", "predicted", "probability"]
    assert (found["predicted"] == true).mean() > 0.97
    assert np.allclose(found.iloc[:, 3:].sum(axis=1), 1)
    assert inside("predict", str(model), str(tmp_path / "t.csv"), "-o", str(out)).returncode == 2, "it exists"
    result = inside("predict", str(model), str(tmp_path / "t.csv"), "-o", str(tmp_path / "p.parquet"))
    assert re.search(r"9\d\.\d% of the labels in 'species' agree", result.stdout), "however they are spelled"
    few = table.to_pandas()[["Island", "Sex"]]
    few.to_csv(tmp_path / "few.csv", index=False)
    result = inside("predict", str(model), str(tmp_path / "few.csv"), "-o", str(tmp_path / "few_out.csv"))
    assert result.returncode == 2
    assert "The table lacks columns" in result.stderr
    assert not (tmp_path / "few_out.csv").exists()


def test_labels_agree_with_predictions_however_numbers_are_spelled(tmp_path):
    frame, _ = wines()
    frame["kind"] = load_wine().target + 1
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = inside("fit", str(tmp_path / "t.csv"), "--label", "kind", "-o", str(tmp_path / "m.skops"))
    assert result.returncode == 0, result.stderr
    frame.loc[3, "kind"] = None
    for labels in (frame["kind"], frame["kind"].where(frame.index < 0)):
        frame.assign(kind=labels).to_csv(tmp_path / "new.csv", index=False)
        words = ("predict", str(tmp_path / "m.skops"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "p.csv"))
        result = inside(*words, "--force")
        assert result.returncode == 0, result.stderr
        expected = r"(9\d\.\d|100\.0)% of the labels in 'kind' agree"
        assert bool(re.search(expected, result.stdout)) == labels.notna().any()
        assert "agree" in result.stdout or labels.isna().all()


def test_files_that_are_no_models_run_nothing(tmp_path):
    import pickle

    import skops.io as sio
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True)
    pd.DataFrame(X).to_csv(tmp_path / "t.csv", index=False)

    class Bomb:
        def __reduce__(self):
            return (print, ("the bomb went off",))

    (tmp_path / "bomb").write_bytes(pickle.dumps(Bomb()))
    sio.dump(LogisticRegression(max_iter=1000).fit(X, y), tmp_path / "other")
    sio.dump({"format": 1, "pipeline": Foreign(), "label": "y"}, tmp_path / "foreign")
    (tmp_path / "text").write_text("nothing")
    for name, words in (
        ("bomb", "is not a model"),
        ("other", "is not a model"),
        ("foreign", "Foreign, which no model of robustlda has"),
        ("text", "is not a model"),
        ("nowhere", "There is no model file"),
    ):
        result = inside("predict", str(tmp_path / name), str(tmp_path / "t.csv"), "-o", str(tmp_path / "out.csv"))
        assert result.returncode == 2
        assert words in result.stderr
        assert "went off" not in result.stdout + result.stderr


class Foreign:
    """An object of a type that is not on the list."""

    def __init__(self):
        self.value = 1


def misspelled(tmp_path, *places):
    """Irises of which some are called virginca, and a review that corrects them."""
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["setosa", "versicolor", "virginica"])[y])
    frame.loc[list(places), "kind"] = "virginca"
    frame.to_csv(tmp_path / "t.csv", index=False)
    lines = [f"{i},virginca,virginica" for i in places]
    (tmp_path / "review.csv").write_text("\n".join(["id,given,verified", *lines]) + "\n")
    return frame, ["--verified", str(tmp_path / "review.csv")]


def test_a_class_that_checks_leave_without_rows_is_none(tmp_path):
    places = [101, 110, 120, 130]
    frame, words = misspelled(tmp_path, *places)
    found, shown = audited(tmp_path / "t.csv", tmp_path / "out", *words, "--fix", "reviewed")
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    assert "The verified labels leave no row in 'virginca'" in shown
    assert found["verified"] == 4
    assert found["mislabeled"] >= 4
    checked = [line for line in rows(tmp_path / "out") if line["verified"]]
    assert {(line["given"], line["suggested"]) for line in checked} == {("virginca", "virginica")}
    corrected = pd.read_csv(tmp_path / "out" / "corrected.csv")
    assert (corrected["kind"][places] == "virginica").all()
    assert (corrected["label_change"][places] == "was virginca, checked").all()
    again = ["--verified", str(tmp_path / "out" / "suspects.csv")]
    assert audited(tmp_path / "t.csv", tmp_path / "again", *again)[0]["noise_rate"] == found["noise_rate"]
    spelled = frame.replace("virginca", "virginica")
    plain = LabelAudit().fit(spelled, "kind", verified=dict.fromkeys(places, "virginica"))
    assert found["noise_rate"] == pytest.approx(plain.noise_rate_ + 4 / 150, abs=1e-6)
    low, high = found["noise_interval"]
    assert low <= found["noise_rate"] <= high

    for estimator in (None, LogisticRegression(max_iter=1000)):
        audit = LabelAudit(estimator).fit(
            frame[list("abcd")], frame["kind"], verified=dict.fromkeys(places, "virginica")
        )
        assert audit.classes_.tolist() == ["setosa", "versicolor", "virginica"]
        assert (audit.probability_wrong_[places] == 1).all()
        assert (audit.finding_[places] == "mislabeled").all()
        assert audit.confusion_.sum() == pytest.approx(146)
        assert (audit.cleaned()[0][places] == "virginica").all()

    result = inside("fit", str(tmp_path / "t.csv"), "--label", "kind", "-o", str(tmp_path / "m.skops"), *words)
    assert result.returncode == 0, result.stderr
    assert "3 classes" in result.stdout
    assert "leave no row in 'virginca'" in " ".join(result.stdout.split())


def test_a_row_that_was_set_aside_comes_back_when_it_is_corrected(tmp_path):
    frame, words = misspelled(tmp_path, 101)
    _, shown = audited(tmp_path / "t.csv", tmp_path / "before")
    assert "set aside with their rows: 'virginca' (1)" in shown
    found, shown = audited(tmp_path / "t.csv", tmp_path / "out", *words, "--fix", "reviewed")
    assert (found["samples"], found["verified"], len(found["classes"])) == (150, 1, 3)
    assert "set aside" not in shown
    assert "Too few rows" not in shown
    assert pd.read_csv(tmp_path / "out" / "corrected.csv")["kind"][101] == "virginica"
    by_hand = LabelAudit().fit(frame, "kind", verified={101: "virginica"})
    assert by_hand.noise_rate_ == pytest.approx(found["noise_rate"], abs=1e-6)
    apart = LabelAudit().fit(
        frame.assign(site=["x", "y"] * 75).drop(columns="kind"), frame["kind"], verified={101: "virginica"}
    )
    assert apart.finding_[101] == "mislabeled"

    named = frame.set_index(np.array([f"n{i}" for i in range(150)]))
    words_too = named.assign(site=["x", "y"] * 75)
    for found in (
        LabelAudit().fit(named, "kind", verified={"n101": "virginica"}),
        LabelAudit().fit(words_too.drop(columns="kind"), named["kind"], verified={"n101": "virginica"}),
        LabelAudit().fit(words_too, "kind", verified=np.where(np.arange(150) == 101, "virginica", None)),
    ):
        assert (found.n_samples_, found.finding_[101], found.ids_[101]) == (150, "mislabeled", "n101")

    frame.loc[110, "kind"] = "virginca"
    frame.assign(name=[f"-n{i}" for i in range(150)]).to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "review.csv").write_text("id,verified\n'-n101,virginica\n")
    found, shown = audited(tmp_path / "t.csv", tmp_path / "named", "--id", "name", *words)
    assert found["samples"] == 149
    assert "set aside with their rows: 'virginca' (1)" in shown
    (tmp_path / "review.csv").write_text("id,verified\n'-n101,virginca\n")
    result = inside(
        "audit", str(tmp_path / "t.csv"), "--label", "kind", "--id", "name", "--out", str(tmp_path / "no"), *words
    )
    assert result.returncode == 2
    assert 'names the row "\'-n101", which was left out: it has no label, or one that too few' in result.stderr


def test_one_of_anything_is_one(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = np.append(X, X[:1], axis=0)  # besides the copy that there is
    X = np.delete(X, 142, axis=0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["s", "v", "w"])[np.append(y, 0)[: len(X)]])
    frame.loc[149, "kind"] = "s"
    frame.loc[70, "a"] = 1e4
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "review.csv").write_text("id,verified\n70,v\n")
    found, shown = audited(tmp_path / "t.csv", tmp_path / "out", "--verified", str(tmp_path / "review.csv"))
    assert "1 row is a copy of another in all features; each is judged without the other." in shown
    assert found["outlying"] == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Look at the outlier: a unit mix-up, a broken record, or a class of its own?" in page
    assert not re.search(r"\b1 (rows|labels|outliers|samples|classes|checked labels|checked ones)\b", shown)

    assert inside("fit", str(tmp_path / "t.csv"), "--label", "kind", "-o", str(tmp_path / "m.skops")).returncode == 0
    frame[:1].to_csv(tmp_path / "one.csv", index=False)
    result = inside("predict", str(tmp_path / "m.skops"), str(tmp_path / "one.csv"), "-o", str(tmp_path / "p.csv"))
    assert "Wrote 1 prediction to" in result.stdout

    audit = LabelAudit().fit(X, frame["kind"])
    said = {
        1: "Check the first row of suspects.csv: its label",
        2: "about 1 of them is wrong",
        3: "2 of them are wrong",
    }
    for n, words in said.items():
        audit.n_worth_checking_, audit.n_expected_wrong_ = n, n - 0.6
        assert words in " ".join(audit_files.sentences(audit, [], None))
    with pytest.raises(FileNotFoundError, match=r"The folder .*nodir does not exist; create it"):
        audit.report(tmp_path / "nodir" / "r.html")
    for share in ("a", None, 1, float("nan")):
        with pytest.raises(ValueError, match=r"max_false_alarm=.* must lie between 0 and 1"):
            LabelAudit(max_false_alarm=share).fit(X, frame["kind"])
    with pytest.raises(ValueError, match="max_false_alarm='a' must lie between 0 and 1"):
        audit.flags("a")
