"""The audit: finds planted errors, keeps its promise about false alarms, tells outliers from wrong labels."""

import csv
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command import call
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import feather, parquet
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA
from robustlda.audit import farness
from robustlda.datasets import readers
from robustlda.datasets.contaminate import flip_into_next_class, flip_labels, gross_rows
from robustlda.report import audit_files


def table(load):
    X, y = load(return_X_y=True)
    return (X / 16 if load is load_digits else StandardScaler().fit_transform(X)), y


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("flip", [flip_labels, flip_into_next_class])
def test_planted_errors_rank_first_and_few_flags_are_false(load, flip):
    X, y = table(load)
    noisy, wrong = flip(y, 0.2, np.random.default_rng(0))
    audit = LabelAudit().fit(X, noisy)
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.9
    flags = audit.flags()
    assert (~wrong[flags]).sum() <= 0.1 * flags.sum() + 1
    low, high = audit.noise_interval_
    assert 0 <= low <= audit.noise_rate_ <= high <= 1
    assert_allclose(audit.confusion_.sum(axis=1), np.bincount(noisy))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_clean_labels_are_left_alone(load):
    X, y = table(load)
    audit = LabelAudit().fit(X, y)
    assert audit.flags().mean() < 0.02
    assert (audit.finding_ != "").mean() < 0.03
    assert audit.noise_rate_ < 0.02


def test_outliers_are_not_called_mislabelled():
    X, y = table(load_digits)
    corrupted, changed = gross_rows(X, 0.05, np.random.default_rng(0))
    finding = LabelAudit().fit(corrupted, y).finding_
    assert (finding[changed] == "outlying").mean() > 0.95
    assert (finding[~changed] == "outlying").mean() < 0.03


def test_more_false_alarms_allowed_means_more_flags():
    X, y = table(load_breast_cancer)
    noisy, _ = flip_labels(y, 0.3, np.random.default_rng(0))
    audit = LabelAudit().fit(X, noisy)
    strict, default, loose = (audit.flags(share) for share in (0.01, None, 0.3))
    assert strict.sum() < default.sum() < loose.sum()
    assert (default[strict]).all()
    expected = (1 - audit.probability_wrong_[default]).mean()
    assert expected <= 0.05


def test_cleaned_labels_are_nearer_to_the_truth():
    X, y = table(load_wine)
    noisy, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    audit = LabelAudit().fit(X, noisy)
    cleaned, keep = audit.cleaned()
    assert (cleaned == y).mean() > 0.97 > (noisy == y).mean()
    assert keep.mean() > 0.95


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frame_is_of_the_kind_that_was_given(kind):
    X, y = table(load_iris)
    frame = kind({f"f{j}": X[:, j] for j in range(4)})
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    result = LabelAudit().fit(frame, names, ids=[f"row {i}" for i in range(150)]).to_frame()
    assert type(result) is type(frame)
    ranks = result["rank"].to_pylist() if kind is pa.table else list(result["rank"])
    assert ranks == list(range(1, 151))


def test_arrays_come_back_as_an_arrow_table():
    X, y = table(load_iris)
    result = LabelAudit().fit(X, y).to_frame()
    assert isinstance(result, pa.Table)
    assert result.column_names[:3] == ["id", "given", "suggested"]


def test_classes_of_one_and_two_samples():
    X, y = table(load_wine)
    X, y = np.vstack([X, X[:3] + 9]), np.append(y, [7, 8, 8])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        audit = LabelAudit().fit(X, y)
    assert np.isfinite(audit.probability_wrong_).all()
    assert audit.confusion_.shape == (5, 5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelAudit(RobustLDA(decision="centroid")), "needs an estimator with decision='noise_aware'"),
        (lambda: LabelAudit(max_false_alarm=0), "max_false_alarm=0 must lie between 0 and 1"),
    ],
)
def test_bad_settings_are_named(make, message):
    X, y = table(load_iris)
    with pytest.raises(ValueError, match=message):
        make().fit(X, y)


def test_ids_must_match():
    X, y = table(load_iris)
    with pytest.raises(ValueError, match="There are 3 ids for 150 samples"):
        LabelAudit().fit(X, y, ids=[1, 2, 3])


def test_farness_is_uniform_on_gaussian_classes():
    rng = np.random.default_rng(0)
    squared = (rng.normal(size=(20_000, 5)) ** 2).sum(axis=1)
    p = farness.probability(farness.z_value(farness.scales(np.ones(20_000), squared)[0], squared))
    assert_allclose(np.quantile(p, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.02)
    alike = farness.scales(np.ones(5), np.ones(5))[0]
    assert_array_equal(farness.z_value(alike, np.ones(5)), np.zeros(5))


# Files


def messy(path, n=120, seed=0):
    """A table with everything in it: categories, missing numbers, text, dates, missing labels, hostile names."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    frame = {
        "name": [f"=cmd|' /C calc'!A{i}" for i in range(n)],
        "a": [None if i % 17 == 0 else float(v) for i, v in enumerate(rng.normal(size=n) + 3 * y)],
        "b": (rng.normal(size=n) - 3 * (y == 1)).tolist(),
        "color": [("red", "green", "blue")[k] if rng.random() < 0.8 else "red" for k in y],
        "remark": [f"text {rng.integers(1e9)}" for _ in range(n)],
        "label": [None if i == 5 else ("<script>alert(1)</script>", "‮hello", "plain")[k] for i, k in enumerate(y)],
    }
    arrow = pa.table(frame)
    if path.suffix == ".parquet":
        parquet.write_table(arrow, path)
    elif path.suffix == ".feather":
        feather.write_feather(arrow, path)
    else:
        pd.DataFrame(frame).to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_tables_are_read_alike_whatever_the_file(tmp_path, ending):
    read = readers.read(messy(tmp_path / f"t.{ending}"), "label", "name")
    assert read.X.shape == (119, 5)
    assert read.names == ["a", "b", "color=red", "color=green", "color=blue"]
    assert np.isfinite(read.X).all()
    notes = " ".join(read.notes)
    assert "1 rows have no label" in notes
    assert "Column 'remark' holds text" in notes
    assert "missing values in a were replaced by medians" in notes


def test_cells_are_no_formulas():
    assert audit_files.spreadsheet_safe("=1+1") == "'=1+1"
    assert audit_files.spreadsheet_safe("@x") == "'@x"
    assert audit_files.spreadsheet_safe("-3.5") == "-3.5"
    assert audit_files.spreadsheet_safe("plain") == "plain"


def test_command_writes_three_files_and_a_summary(tmp_path):
    source = messy(tmp_path / "t.csv")
    result = call("audit", str(source), "--label", "label", "--id", "name", "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert "119 labels, 3 classes" in result.stdout
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["audit.json", "report.html", "suspects.csv"]
    summary = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert summary["samples"] == 119
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    with (tmp_path / "out" / "suspects.csv").open() as file:
        assert all(row["id"].startswith("'=") for row in csv.DictReader(file))


def test_without_a_table_digits_are_audited(tmp_path):
    result = call("audit", "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert "Of 359 labels flipped on purpose, 35" in result.stdout
    assert (tmp_path / "report.html").stat().st_size < 1e6


def test_gate_fails_with_exit_code_1_and_json_is_all_there_is_on_stdout(tmp_path):
    result = call("audit", "--max-noise", "0.05", "--format", "json", "--out", str(tmp_path))
    assert result.returncode == 1
    assert 0.15 < json.loads(result.stdout)["noise_rate"] < 0.25
    assert "Failed: 20" in result.stderr


def bad_tables(folder):
    n = 40
    good = pd.DataFrame(
        {"a": np.arange(n, dtype=float), "b": np.random.default_rng(0).normal(size=n), "y": np.arange(n) % 2}
    )
    good.to_csv(folder / "good.csv", index=False)
    good.assign(y=1).to_csv(folder / "one.csv", index=False)
    good.assign(a=np.nan, b=np.nan).to_csv(folder / "missing.csv", index=False)
    (folder / "empty.csv").write_text("")
    good.to_parquet(folder / "t.parquet")
    (folder / "cut.parquet").write_bytes((folder / "t.parquet").read_bytes()[:200])
    big = pd.DataFrame({"a": np.arange(2000.0), "y": np.arange(2000)})
    big.to_csv(folder / "many.csv", index=False)
    (folder / "cut.npz").write_bytes(b"PK not really")


@pytest.mark.parametrize(
    ("file", "label", "message"),
    [
        ("good.csv", "z", "There is no column 'z'; the columns are a, b, y"),
        ("good.csv", None, "Specify the column that holds the labels: --label COLUMN"),
        ("one.csv", "y", "holds only one class, 1"),
        ("missing.csv", "y", "No column contains usable features"),
        ("empty.csv", "y", "cannot be read"),
        ("cut.parquet", "y", "cannot be read"),
        ("cut.npz", None, "cannot be read"),
        ("many.csv", "y", "holds 2000 different values"),
        ("none.csv", "y", "There is no file"),
        ("table.xlsx", "y", "There is no file"),
    ],
)
def test_bad_tables_get_one_sentence_and_leave_nothing_behind(tmp_path, file, label, message):
    bad_tables(tmp_path)
    out = tmp_path / "out"
    words = ["audit", str(tmp_path / file), "--out", str(out)] + (["--label", label] if label else [])
    result = call(*words)
    assert result.returncode == 2, result.stdout + result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not out.exists() or not list(out.iterdir())


def test_a_folder_that_cannot_be_written_is_found_out_before_the_work(tmp_path):
    result = call("audit", "--out", "/proc/none")
    assert result.returncode == 2
    assert "Nothing can be written to /proc/none" in result.stderr


def test_resampling_averages_beliefs_and_widens_the_interval():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    given, wrong = flip_labels(y, 0.2, np.random.default_rng(0))
    once = LabelAudit().fit(X, given)
    often = LabelAudit(n_resamples=4, random_state=0).fit(X, given)
    again = LabelAudit(n_resamples=4, random_state=0).fit(X, given)
    assert_array_equal(often.probability_wrong_, again.probability_wrong_)
    assert (often.probability_wrong_ != once.probability_wrong_).any()
    assert (often.flags() & wrong).sum() >= 0.9 * wrong.sum()
    assert often.noise_interval_[0] <= 0.2 <= often.noise_interval_[1]
    assert often.noise_rate_ == pytest.approx(often.probability_wrong_.mean())
    with pytest.raises(ValueError, match="n_resamples=-1 must be a whole number"):
        LabelAudit(n_resamples=-1).fit(X, given)


def test_rows_keep_the_numbers_they_have_in_the_file(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 6 * rng.normal(size=(3, 3))[y]
    words = np.array(["a", "b", "c"])[y].astype(object)
    words[5], words[60] = None, "b"
    frame = pd.DataFrame({"row": np.arange(100, 190), "x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "kind": words})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = readers.read(tmp_path / "t.csv", "kind")
    assert_array_equal(table.ids, np.delete(np.arange(90), 5))
    assert table.names == ["x", "y", "z"]
    assert any("'row' only numbers the rows" in note for note in table.notes)
    assert readers.read(tmp_path / "t.csv", "kind", features=["row", "x"]).names == ["row", "x"]
    audit = LabelAudit().fit(readers.robust_scale(table.X), table.y, table.ids)
    assert audit.ids_[audit.rank_ == 1] == [60]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--label", "kind"], "refer to a TABLE, but none was given"),
        (["t.csv", "--label", "name"], "holds a different value in every row"),
    ],
)
def test_labels_without_a_table_or_without_classes_are_refused(words, message, tmp_path):
    pd.DataFrame({"name": [f"n{i}" for i in range(30)], "x": np.arange(30.0)}).to_csv(tmp_path / "t.csv", index=False)
    result = call("audit", *words, "--out", "out", cwd=tmp_path)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_audit_needs_a_class_of_two():
    with pytest.raises(ValueError, match="Each of the 20 samples has a label of its own"):
        LabelAudit().fit(np.random.default_rng(0).normal(size=(20, 3)), np.arange(20))


# Rows that a person has checked


def human_errors(n=600, seed=0):
    """Two classes and labels that are wrong where the features are unsure, as people's are."""
    rng = np.random.default_rng(seed)
    true = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 2.2 * np.eye(4)[true]
    margin = np.sort(((X[:, None] - 2.2 * np.eye(4)[:3]) ** 2).sum(axis=2), axis=1)
    hard = np.exp(-(margin[:, 1] - margin[:, 0]) / 3)
    given = np.where(rng.random(n) < 0.7 * hard, (true + 1) % 3, true)
    return X, given, true


def test_checked_rows_settle_the_noise_rate():
    X, given, true = human_errors()
    share = (given != true).mean()
    before = LabelAudit().fit(X, given)
    rows = before.to_review(40)
    assert len(set(rows)) == 40
    assert before.noise_interval_[0] <= share <= before.noise_interval_[1]
    after = LabelAudit().fit(X, given, verified={int(i): true[i] for i in rows})
    assert abs(after.noise_rate_ - share) < max(0.05, abs(before.noise_rate_ - share))
    assert np.ptp(after.noise_interval_) < np.ptp(before.noise_interval_)
    assert after.verified_.sum() == 40
    # They are believed, and not asked for again.
    assert_array_equal(after.suggested_[rows], true[rows])
    assert_allclose(after.probability_wrong_[rows], given[rows] != true[rows], atol=1e-12)
    assert not set(after.to_review(100)) & set(rows)


def test_verified_may_be_a_mask_a_dict_or_labels():
    X, given, true = human_errors(300)
    right = np.flatnonzero(given == true)[:25]
    mask = np.isin(np.arange(300), right)
    column = np.where(mask, true, np.nan)
    names = np.array(["a", "b", "c"], object)
    found = [
        LabelAudit().fit(X, given, verified=mask).probability_wrong_,
        LabelAudit().fit(X, given, verified={int(i): true[i] for i in right}).probability_wrong_,
        LabelAudit().fit(X, given, verified=column).probability_wrong_,
        LabelAudit().fit(X, names[given], verified=np.where(mask, names[true], None)).probability_wrong_,
    ]
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-12)


@pytest.mark.parametrize(
    ("verified", "message"),
    [
        ({400: 0}, "rows are whole numbers from 0 to 299"),
        ({3: 9}, "the label 9"),
        ([True, False], r"shape \(2,\)"),
        ({int(i): 1 for i in np.flatnonzero(np.arange(300) % 3 == 0)}, "No sample is left in class 0"),
    ],
)
def test_what_cannot_have_been_verified_is_refused(verified, message):
    X, given, _ = human_errors(300)
    given = np.where(np.arange(300) % 3 == 0, 0, np.maximum(given, 1))
    with pytest.raises(ValueError, match=message):
        LabelAudit().fit(X, given, verified=verified)


def test_a_wrong_label_that_was_corrected_is_learned_as_such():
    X, given, true = human_errors(300)
    wrong = np.flatnonzero(given != true)[:30]
    before = RobustLDA().fit(X, given).predict_proba(X[wrong])
    after = RobustLDA().fit(X, given, verified={int(i): true[i] for i in wrong}).predict_proba(X[wrong])
    rows = np.arange(len(wrong))
    assert after[rows, true[wrong]].mean() > before[rows, true[wrong]].mean()


def test_there_is_always_something_to_check():
    X, y = table(load_breast_cancer)
    audit = LabelAudit().fit(X, y)
    assert len(audit.to_review(10)) == 10
    assert audit.n_worth_checking_ >= audit.flags().sum()
    everything = LabelAudit().fit(X, y, verified=np.ones(len(y), bool))
    assert everything.noise_rate_ == 0
    assert len(everything.to_review(10)) == 0
    assert everything.n_worth_checking_ == 0


def test_reviewed_rows_come_back_through_the_command(tmp_path):
    X, given, true = human_errors(300)
    table_file = tmp_path / "table.csv"
    columns = [f"f{k}" for k in range(4)]
    lines = [",".join([*map(str, x), f"c{g}"]) for x, g in zip(X, given, strict=True)]
    table_file.write_text("\n".join([",".join([*columns, "label"]), *lines]) + "\n")
    out = tmp_path / "out"
    arguments = ["audit", str(table_file), "--label", "label", "--out", str(out)]
    assert call(*arguments).returncode == 0
    with (out / "suspects.csv").open() as file:
        suspects = list(csv.DictReader(file))
    assert len(suspects) >= 20
    review = tmp_path / "review.csv"
    checked = [f"{s['id']},c{true[int(s['id'])]}" for s in suspects[:15]]
    review.write_text("\n".join(["id,verified", *checked, f"{suspects[16]['id']},"]) + "\n")
    result = call(*arguments, "--verified", str(review), "--format", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["verified"] == 15
    review.write_text("row,label\n1,c0\n")
    result = call(*arguments, "--verified", str(review))
    assert result.returncode != 0
    assert "has no column id and verified" in result.stderr
    review.write_text("id,verified\n3,nothing\n")
    assert "none of the table's" in call(*arguments, "--verified", str(review)).stderr
    review.write_text("id,verified\n9999,c0\n")
    assert "which the table does not have" in call(*arguments, "--verified", str(review)).stderr


# What the plane is made of


def test_loadings_are_correlations_of_features_with_the_axes():
    frame = load_wine(as_frame=True)
    audit = LabelAudit().fit(frame.data, frame.target)
    expected = [np.corrcoef(frame.data.to_numpy().T, axis)[-1, :-1] for axis in audit.plane_.T]
    assert_allclose(audit.plane_loadings_, expected, atol=1e-9)
    (first, correlation), *_ = audit.plane_features(0)
    assert first == "flavanoids"
    assert abs(correlation) == np.abs(audit.plane_loadings_[0]).max()


def test_features_are_named_on_request_and_not_made_up():
    X, y = load_wine(return_X_y=True)
    constant = np.column_stack([X, np.full(len(y), 1e6)])
    named = LabelAudit().fit(constant, y, features=[f"column {j}" for j in range(14)])
    assert named.plane_features(1, 1)[0][0].startswith("column ")
    assert named.plane_loadings_[:, 13].tolist() == [0, 0]
    assert LabelAudit().fit(X, y).plane_features(0) == []
    with pytest.raises(ValueError, match="3 names for 13 features"):
        LabelAudit().fit(X, y, features=["a", "b", "c"])
