"""From a table to features and labels."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustlda import LabelAudit
from robustlda.tables.frames import as_arrow
from robustlda.tables.labeled import RawTable
from robustlda.tables.parts import fitted_to_some
from robustlda.tables.preparation import TablePreparation
from robustlda.tables.understanding import understand


def table(labels, **columns):
    n = len(labels)
    random = np.random.default_rng(0)
    return RawTable(pa.table({"a": random.normal(size=n), "b": random.normal(size=n), **columns, "y": labels}), "t.csv")


def findings(found, kind):
    return [f for f in found.findings if f.kind == kind]


def test_labels_that_differ_in_case_or_spaces_are_one_class():
    labels = ["Adelie", "Gentoo", "ADELIE", "adelie ", "Adelie", "Gentoo"] * 10
    found = understand(table(labels), "y")
    assert set(found.y) == {"Adelie", "Gentoo"}
    (finding,) = findings(found, "spelling")
    assert "'ADELIE', 'adelie ' as 'Adelie'" in finding.message
    assert len(finding.rows) == 20
    exact = understand(table(labels), "y", exact_labels=True)
    assert len(set(exact.y)) == 4
    with pytest.raises(ValueError, match="holds only one class, 'no'"):
        understand(table(["no", "No "] * 10 + ["no"]), "y")


def test_rows_without_a_label_are_left_out_and_the_others_keep_their_places():
    labels = ["a", None, "b", "", "  ", "a", "b"] * 10
    found = understand(table(labels), "y")
    assert len(found.y) == 40
    assert found.places[:4].tolist() == [0, 2, 5, 6]
    assert found.ids[:4].tolist() == [0, 2, 5, 6]
    assert "30 rows have no label and were left out." in found.notes
    numbers = [0.0, 1.0, float("nan"), None] * 10
    assert len(understand(table(numbers), "y").y) == 20


def test_rows_that_contradict_each_other():
    random = np.random.default_rng(1)
    a = random.normal(size=60)
    a[50:] = a[:10]
    b = random.normal(size=60)
    b[50:] = b[:10]
    b[55:] += 1e-6  # nearly the same
    labels = np.array(["x", "y"] * 30)
    labels[50:] = labels[:10]
    labels[52], labels[57] = "x" if labels[52] == "y" else "y", "x" if labels[57] == "y" else "y"
    raw = RawTable(pa.table({"a": a, "b": b, "label": labels}), "t")
    found = understand(raw, "label")
    (contradiction,) = findings(found, "contradiction")
    assert sorted(contradiction.rows) == [2, 7, 52, 57]
    (copies,) = findings(found, "copies")
    assert "5 rows are copies" in copies.message


def test_rows_that_are_nearly_the_same_in_a_chain_belong_together():
    x = [0.0, 0.001, 0.0015, *range(1, 41, 2)]
    found = understand(RawTable(pa.table({"x": x, "y": [*"abb", *"ab" * 10]}), "t"), "y")
    assert findings(found, "contradiction")[0].rows == (0, 1, 2)


def test_rows_that_nearly_all_lack_a_value_are_copies_of_each_other():
    x = pa.array([1.5, *[None] * 9, 2.5])
    found = understand(RawTable(pa.table({"x": x, "y": list("ab" * 5 + "a")}), "t"), "y")
    assert "8 rows are copies" in findings(found, "copies")[0].message


def test_small_classes_are_named():
    found = understand(table(["a", "b"] * 20 + ["c"] * 4), "y")
    assert "'c' (4)" in findings(found, "small class")[0].message
    found = understand(table(["a", "b"] * 20 + ["c", "c", "typo", "a"]), "y")
    assert "'c' (2), 'typo' (1)" in findings(found, "rare label")[0].message
    assert set(found.y) == {"a", "b"}
    assert found.places[-1] == 43


def test_numbers_as_labels_are_names():
    assert understand(table([3.0, 4.5] * 20), "y").y.tolist()[:2] == ["3", "4.5"]
    assert understand(table([1.0, 2.0] * 20), "y").y.tolist()[:2] == [1, 2]


def unusual():
    """Columns of types that little can be computed with."""
    moments, n = np.arange(40) * 10**9, 40
    return {
        "float16": pa.array((np.arange(n) % 9).astype(np.float16)),
        "float16 words": pa.array((np.arange(n) % 9).astype(np.float16)).dictionary_encode(),
        "views": pa.array(["x", "y"] * 20, pa.string_view()),
        "bytes": pa.array([b"x", b"y"] * 20, pa.binary_view()),
        "before year 1": pa.array(np.where(np.arange(n) == 7, -70_000_000_000, moments), pa.timestamp("s")),
        "after 9999": pa.array(np.where(np.arange(n) == 7, 2**62, moments), pa.timestamp("us", "America/New_York")),
        "days": pa.array(np.where(np.arange(n) == 7, -800_000, np.arange(n)).astype(np.int32), pa.date32()),
        "ends": pa.array([date.min, date.max] * 20),
    }


@pytest.mark.parametrize("name", unusual())
def test_columns_of_unusual_types_are_looked_at(name, tmp_path):
    raw = table(["a", "b"] * 20, odd=unusual()[name])
    found = understand(raw, "y")
    assert np.isfinite(found.X).all()
    kind = {use.name: use.kind for use in found.columns}["odd"]
    assert kind == {"float16": "number", "float16 words": "number", "views": "label again", "bytes": "other"}.get(
        name, "date"
    )
    years = name in ("before year 1", "after 9999", "days")
    assert any("dates outside of the years 1 to 9999" in note for note in found.notes) == years
    LabelAudit().fit(raw.data, "y").report(tmp_path / "r.html")


def test_frames_of_objects_are_looked_at():
    whole = [10**29 + int(v) * 10**27 for v in np.random.default_rng(0).integers(0, 30, 40)]
    v = np.random.default_rng(1).normal(size=40)
    frame = pd.DataFrame({"a": v, "big": whole, "part": pd.cut(v, 3), "y": ["a", "b"] * 20})
    frame["group"] = pd.Categorical(frame["big"])
    found = as_arrow(frame)
    assert found["big"].to_pylist() == found["group"].to_pylist() == [str(x) for x in whole]
    kinds = {use.name: use.kind for use in LabelAudit().fit(frame, "y").table_.columns}
    assert (kinds["big"], kinds["part"], kinds["group"]) == ("number", "category", "repeated")
    assert as_arrow(np.array([[10**29, 1], [None, 2]], object))["x0"].to_pylist() == [str(10**29), None]


def test_arrays_of_objects_may_lack_values_in_every_way():
    lacking = [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT]
    found = as_arrow(np.array([[1, 10**29, "a"], *([v, v, v] for v in lacking), [2, "b", "b"]], object))
    assert found["x0"].to_pylist() == [1, *[None] * 5, 2]
    assert found["x1"].to_pylist() == [str(10**29), *[None] * 5, "b"]
    assert found["x2"].to_pylist() == ["a", *[None] * 5, "b"]


def test_nested_columns_are_columns_of_their_own():
    raw = table(["a", "b"] * 20, metrics=[{"latency": float(i), "errors": i % 7} for i in range(40)])
    assert {"metrics.latency", "metrics.errors"} <= set(understand(raw, "y").names) | {
        use.name for use in understand(raw, "y").columns
    }


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([[1], [2]] * 10, "is of type list"),
        ([b"a", b"b"] * 10, "is of type binary"),
        ([{"k": 1}, {"k": 2}] * 10, "There is no column 'y'; the columns are a, b, y.k"),
        (list(np.linspace(0, 1, 300)), "holds 300 different values"),
        ([f"n{i}" for i in range(30)], "holds a different value in every row"),
        ([f"remark {i % 40}" for i in range(100)], "holds 40 different values in 100 rows"),
        (["a"] * 20, "holds only one class, 'a'"),
        ([None] * 20, "No row has a label"),
    ],
)
def test_labels_that_are_none_get_one_sentence(labels, words):
    with pytest.raises(ValueError, match=words):
        understand(table(labels), "y")


def test_columns_that_are_not_there():
    with pytest.raises(ValueError, match="There is no column 'z'; the columns are a, b, y"):
        understand(table(["a", "b"] * 10), "z")
    with pytest.raises(ValueError, match="no column besides 'y'"):
        understand(RawTable(pa.table({"y": ["a", "b"] * 10}), "t"), "y")


def test_every_column_is_accounted_for():
    raw = table(["a", "b"] * 20, name=[f"n{i}" for i in range(40)], same=[1] * 40)
    found = understand(raw, "y", id="name")
    assert {use.name: use.kind for use in found.columns} == {
        "a": "number",
        "b": "number",
        "name": "id",
        "same": "constant",
        "y": "label",
    }
    assert found.ids[3] == "n3"
    assert found.names == ["a", "b"] == list(found.preparation.get_feature_names_out())


def test_a_column_has_one_task(tmp_path):
    given = table(["a", "b"] * 10)
    pq.write_table(given.data, tmp_path / "t.parquet")
    for id, preparation, words in (
        ("y", {}, "Column 'y' holds the labels and cannot name the rows as well; give another id, or none"),
        (None, {"columns": ["y", "a"]}, "Column 'y' holds the labels and cannot be a feature as well"),
        ("b", {"keep": ["b"]}, "Column 'b' names the rows and cannot be a feature as well"),
    ):
        with pytest.raises(ValueError, match=words):
            understand(given, "y", id=id, preparation=TablePreparation(**preparation))
        with pytest.raises(ValueError, match=words):
            fitted_to_some([str(tmp_path / "t.parquet")], "y", id, TablePreparation(**preparation))
    with pytest.raises(ValueError, match="Column 'y' holds the labels and cannot name the rows as well"):
        LabelAudit().fit(given.data, "y", "y")


def test_a_column_that_was_meant_is_named():
    with pytest.raises(ValueError, match=r"There is no column 'Y '; did you mean 'y'\?"):
        understand(table(["a", "b"] * 10), "Y ")
    turned = RawTable(pa.table({"gene": ["g1", "g2", "kind"], "s1": ["1", "2", "a"], "s2": ["3", "4", "b"]}), "t")
    with pytest.raises(ValueError, match="a row of that name: exchange rows and columns"):
        understand(turned, "kind")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["a", None, "B ", "?"] * 10, ["a", "b", "b", None] * 10, [["a", "a"], [None, "b"], ["b", "b"]]),
        ([1, None, 2, None] * 10, [1.0, 2.0, 2.0, float("nan")] * 10, [[1, 1], [None, 2], [2, 2]]),
        ([1, None, 2, None] * 10, ["1", "2", "2", ""] * 10, [["1", "1"], [None, "2"], ["2", "2"]]),
    ],
)
def test_answers_of_several_people(first, second, expected):
    found = understand(table(first, again=second), ["y", "again"])
    assert found.people == ("y", "again")
    assert found.answers[:3].tolist() == expected
    assert found.y[:3].tolist() == [expected[0][0], expected[1][1], expected[2][0]]
    assert found.places[:4].tolist() == [0, 1, 2, 4]  # nobody has answered about the fourth row
    assert {use.name for use in found.columns if use.kind == "label"} == {"y", "again"}
    assert all(not name.startswith(("y", "again")) for name in found.names)


def test_answers_that_occur_once_are_set_aside_and_spellings_have_their_rows():
    first = ["a", "b"] * 20
    second = [None, "B", "typo", *["a", "b"] * 18, "a"]
    found = understand(table(first, again=second), ("y", "again"))
    assert len(found.y) == 40
    assert found.answers[2].tolist() == ["a", None]
    assert findings(found, "spelling")[0].rows == (1,)
    assert "'typo' (1)" in findings(found, "rare label")[0].message


def test_rows_of_a_spelling_are_counted_without_those_that_were_set_aside():
    found = understand(table(["typo", *["a", "b"] * 20, "B", None, "A"]), "y")
    (rows,) = [finding.rows for finding in findings(found, "spelling")]
    assert found.places[list(rows)].tolist() == [41, 43]
    both = table(["typo", *["a", "b"] * 20], again=[None, *["b", "B"] * 20])
    (rows,) = [finding.rows for finding in findings(understand(both, ("y", "again")), "spelling")]
    assert rows == tuple(range(1, 40, 2))


def test_many_whole_numbers_may_be_amounts():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"x": rng.normal(size=300), "age": rng.permutation(np.arange(300) % 40 + 20), "digit": np.arange(300) % 10}
    )
    found = understand(RawTable(table, "t"), "age").findings
    assert any(f.kind == "amounts" and "40 different whole numbers" in f.message for f in found)
    assert not any(f.kind == "amounts" for f in understand(RawTable(table, "t"), "digit").findings)
