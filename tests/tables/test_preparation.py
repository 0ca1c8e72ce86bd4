"""What becomes of the columns of a table."""

import pickle
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import yeojohnson
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler
from sklearn.tree import DecisionTreeClassifier

from robustlda import LabelAudit, RobustLDA, persistence
from robustlda.tables import TablePreparation, doubtful, known
from robustlda.tables import columns as kinds
from robustlda.tables.frames import as_arrow
from robustlda.tables.powers import fit_powers, raised


def kind(values, name="x", **settings):
    return kinds.understand(pa.chunked_array([pa.array(values)]), name, **settings)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ([1.5, 2.5, None, 4.0], "a", "number"),
        ([True, False, None], "a", "number"),
        ([3, 1, 2, 7] * 5, "a", "number"),
        ([None, None], "a", "empty"),
        ([2.0, 2.0, 2.0], "a", "constant"),
        (["x", "x", "x"], "a", "constant"),
        (list(range(7, 30)), "a", "id"),
        ([17, 4, 99, 23, 51], "customer_id", "id"),
        ([17, 4, 99, 23, 51], "amount", "number"),
        ([8001, 8002, 8001] * 20, "zip", "category"),
        (list(range(1000, 9000, 7)), "zip code", "code"),
        (["red", "blue"] * 20, "a", "category"),
        ([f"u{i:05d}" for i in range(60)], "a", "id"),
        ([f"a word and another {i}" for i in range(60)], "a", "text"),
        (["00123", "00456", "01234"] * 20, "a", "category"),
        ([[1], [2]], "a", "other"),
        ([b"x", b"y"], "a", "other"),
    ],
)
def test_kinds(values, name, expected):
    assert kind(values, name).kind == expected


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y"])
def test_dates_in_text_are_dates_of_the_same_features(form):
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2023-01-01") + pd.to_timedelta(np.append(20, rng.integers(0, 400, 99)), "D")
    frame = pd.DataFrame({"x": rng.normal(size=100), "day": days})
    expected = TablePreparation().fit_transform(frame)
    text = frame.assign(day=np.where(np.arange(100) == 7, None, days.strftime(form)))
    preparation = TablePreparation().fit(text)
    assert [use.kind for use in preparation.columns_] == ["number", "date"]
    some = np.setdiff1d(np.arange(100), 7)
    assert_allclose(TablePreparation().fit(text[:7]).transform(text[:7]), TablePreparation().fit_transform(frame[:7]))
    early = some[days.day[some] <= 12][:1]  # alone it would not tell whether it begins with the day
    assert_allclose(preparation.transform(text.iloc[early]), preparation.transform(frame.iloc[early]))
    assert preparation.transform(text).shape == expected.shape
    assert_allclose(preparation.transform(text)[some], preparation.transform(frame)[some])
    with pytest.raises(ValueError, match="'day' held dates when the model was made"):
        preparation.transform(text.assign(day="yesterday"))


def test_what_cannot_be_is_one_sentence():
    frame = pd.DataFrame({"mass": rng().normal(size=40), "kind": ["a", "b"] * 20})
    for y in (["x", "y"], ["x", "y"] * 40):
        with pytest.raises(ValueError, match=f"The table has 40 rows, but y has {len(y)} labels"):
            TablePreparation().fit(frame, y)
    for number in (0, "many", 2.5):
        with pytest.raises(ValueError, match=r"n_text_features=.* must be a whole number of at least 1"):
            TablePreparation(n_text_features=number).fit(frame)
    with pytest.raises(ValueError, match="The table lacks the column 'kind'"):
        TablePreparation().fit(frame).unseen(frame[["mass"]])


def test_a_fit_that_fails_leaves_what_was_there_before():
    frame = pd.DataFrame({"mass": rng().normal(size=40), "kind": ["a", "b"] * 20})
    preparation = TablePreparation().set_output(transform="pandas").fit(frame)
    before = preparation.transform(frame)
    with pytest.raises(ValueError, match="No column contains usable features"):
        preparation.fit(frame.assign(mass=1.0, kind="a"))
    pd.testing.assert_frame_equal(preparation.transform(frame), before)
    assert list(preparation.fit(frame).transform(frame).columns) == ["mass", "kind=b"]


def test_what_is_no_number_among_numbers_is_told():
    frame = pd.DataFrame({"mass": [f"{v} g" for v in range(3000, 3060)], "kind": ["a", "b"] * 30})
    preparation = TablePreparation().fit(frame)
    new = pd.DataFrame({"mass": [*frame["mass"][:30], "4.2 kg", None], "kind": ["a"] * 31 + ["c"]})
    assert preparation.unseen(new) == {"mass": ["4.2 kg"], "kind": ["c"]}
    assert preparation.unseen(frame) == {}


def test_blank_cells_among_dates_are_missing():
    days = [f" {d}.12.2024 " for d in range(10, 32)] * 5
    frame = pd.DataFrame({"x": rng().normal(size=110), "day": days})
    preparation = TablePreparation().fit(frame)
    assert preparation.readings()["day"].day_first
    gaps = frame.assign(day=["", " ", *days[2:]])
    assert_allclose(preparation.transform(gaps)[2:], preparation.transform(frame)[2:])
    assert TablePreparation().fit(gaps).readings()["day"] == preparation.readings()["day"]
    assert kind(["", " "] * 20).kind == "category"


def test_dates_have_features():
    when = pa.array(np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]"))
    assert kind(when).kind == "date"
    names, values = kinds.dates(pa.chunked_array([when]), kind(when))
    assert names == ["days", "month", "weekday", "hour"]
    assert values[0].tolist() == [19723, 1, 0, 0]
    missing = pa.chunked_array([pa.array([None, "2024-01-02"]).cast(pa.date32())])
    assert np.isnan(kinds.dates(missing, kind(when))[1][0]).all()


@pytest.mark.parametrize(
    ("texts", "expected", "unit"),
    [
        (["3,750 g", "4,200 g", "950 g"], [3750, 4200, 950], "g"),
        (["1.234,5", "2.000,25", "7,5"], [1234.5, 2000.25, 7.5], ""),
        (["$ 5", "$ 1,200.50", "$ 3"], [5, 1200.5, 3], "$"),
        (["12 %", "7.5 %", "-3 %"], [12, 7.5, -3], "%"),
        (["1'000", "2'500", "3"], [1000, 2500, 3], ""),
        (["1e3", "2.5E-2", "7"], [1000, 0.025, 7], ""),
        (["1,234 g", "2,345 g", "3,456 g"], [1234, 2345, 3456], "g"),
        (["0,123 g", "1,5 g", "1.234 g"], [0.123, 1.5, 1234], "g"),
        (["1,234.5 g", "1,5 g", "2.5 g"], [1234.5, 1.5, 2.5], "g"),
    ],
)
def test_numbers_in_text(texts, expected, unit):
    column = pa.chunked_array([pa.array(texts * 10)])
    found = kinds.understand(column, "x")
    assert (found.kind, found.unit) == ("number", unit)
    assert_allclose(kinds.numbers(column, found)[: len(texts)], expected)


@pytest.mark.parametrize(
    ("learned", "new", "expected"),
    [
        (["2.5 kg", "3.5 kg"], ["2,5 kg", "1,234 kg"], [2.5, 1.234]),
        (["2,5 kg", "3,5 kg"], ["2.5 kg", "1.234 kg"], [2.5, 1.234]),
        (["2,5 kg", "3,5 kg"], ["1.234 kg", "1,234 kg"], [1234, 1.234]),
        ([2.5, 3.5], ["2,5", "unknown"], [2.5, np.nan]),
    ],
)
def test_decimal_signs_are_found_anew_in_other_tables(learned, new, expected):
    preparation = TablePreparation().fit(pd.DataFrame({"w": learned * 20}))
    reading, frame = preparation.readings()["w"], pd.DataFrame({"w": new * 10})
    assert_allclose(kinds.numbers(as_arrow(frame)["w"], reading)[:2], expected)
    sign = kinds.decimal_here(as_arrow(frame)["w"], reading)
    mark = {",": "comma", ".": "point"}[sign]
    other = ", unlike those that the model was made of" if reading.decimal else ""
    said = [f"Numbers in 'w' were read with a decimal {mark}{other}."] if sign != (reading.decimal or ".") else []
    assert known.told(frame, preparation.readings()) == said
    assert known.told(pd.DataFrame({"w": learned}), preparation.readings()) == []


@pytest.mark.parametrize("mark", ["?", "n/a", " - ", "NULL", ""])
def test_spellings_of_missing_values_are_such_however_many_there_are(mark):
    values = rng().normal(size=100).round(2)
    gaps = np.arange(100) % 3 == 0
    frame = pd.DataFrame({"x": np.where(gaps, np.nan, values), "w": [f"{v} kg" for v in values]})
    frame["w"] = frame["w"].mask(gaps)
    text = pd.DataFrame({"x": np.where(gaps, mark, values.astype(str)), "w": frame["w"].where(~gaps, mark)})
    preparation = TablePreparation().fit(frame)
    assert_allclose(TablePreparation().fit_transform(text), preparation.transform(frame))
    assert_allclose(preparation.transform(text), preparation.transform(frame))
    assert preparation.unseen(text) == {}
    with pytest.raises(ValueError, match="'x' held numbers when the model was made; here it holds text"):
        preparation.transform(text.assign(x=np.where(gaps, "1.5", "none of it")))


def test_few_words_among_numbers_are_missing_values():
    texts = [f"{v:.1f}" for v in rng().normal(size=95)] + ["?", "unknown", "n/k", "?", "?"]
    column = pa.chunked_array([pa.array(texts)])
    found = kinds.understand(column, "x")
    assert found.kind == "number"
    assert "'?', 'n/k', 'unknown' counted as missing" in found.note
    assert np.isnan(kinds.numbers(column, found)).sum() == 5
    mixed = [f"{v:.1f}" for v in range(50)] + ["small", "large"] * 25
    assert kind(mixed).kind != "number"
    units = [f"{i} kg" for i in range(50)] + [f"{i} lb" for i in range(50)]
    assert kind(units).kind != "number", "two units are two scales"


def table(n=400):
    random = rng()
    y = random.integers(0, 3, n)
    return y, pa.table(
        {
            "id": np.arange(n),
            "mass": [f"{int(3000 + 500 * k + 200 * random.normal()):,} g" for k in y],
            "length": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n) + y),
            "again": np.arange(n) * 0 + random.normal(size=n),
            "color": np.where(np.arange(n) < 2, "blue", random.choice(["red", "green"], n)),
            "code": np.array(["A", "B", "C"])[y],
            "level": 10.0 * y + random.uniform(0, 1, n),
        }
    )


def test_what_is_left_out_and_why():
    y, frame = table()
    frame = frame.append_column("twice", frame["again"])
    prepared = TablePreparation().fit(frame, y)
    uses = {use.name: use.kind for use in prepared.columns_}
    assert uses["id"] == "id"
    assert uses["twice"] == "repeated"
    assert uses["code"] == uses["level"] == "label again"
    assert uses["mass"] == uses["length"] == uses["again"] == "number"
    said = " ".join(finding.message for finding in prepared.findings_)
    assert "'code': It gives the label away" in said
    assert "--keep" in said
    names = set(prepared.get_feature_names_out())
    assert names == {"mass", "length", "again", "length missing", "color=(rare)", "color=green", "color=red"}
    kept = TablePreparation(keep=["code", "id"]).fit(frame, y)
    assert {"code", "id"} <= set(kept.columns_in_use())
    only = TablePreparation(columns=["code", "mass"]).fit(frame, y)
    assert only.columns_in_use() == ["mass", "code"]
    with pytest.raises(ValueError, match="There is no column 'height'; the columns are id, mass"):
        TablePreparation(keep=["height"]).fit(frame)
    with pytest.raises(ValueError, match=r"There is no column 'lenght'; did you mean 'length'\?"):
        TablePreparation(columns=["lenght"]).fit(frame)


def test_labels_that_alternate_are_given_away_as_well():
    y = np.arange(80) % 2
    frame = pd.DataFrame({"x": rng().normal(size=80), "code": 7.0 + y})
    uses = {use.name: use.kind for use in TablePreparation().fit(frame, y).columns_}
    assert uses == {"x": "number", "code": "label again"}


def test_a_code_for_the_label_is_no_feature_even_if_it_is_the_only_one():
    y = np.where(np.arange(200) % 2, "a", "b")
    frame = pd.DataFrame({"code": np.where(y == "a", 1, 2), "row": np.arange(200)})
    with pytest.raises(ValueError, match=r"'code': It gives the label away.*keep such a one with --keep"):
        TablePreparation().fit(frame, y)
    with pytest.raises(ValueError, match="'code': It gives the label away"):
        TablePreparation().fit(frame.assign(again=frame["code"] * 3), y)
    assert TablePreparation(keep=["code"]).fit(frame, y).columns_in_use() == ["code"]
    words = frame.assign(word=[f"a remark on number {i}" for i in range(200)])
    assert TablePreparation().fit(words, y).columns_in_use() == ["word"]
    # A measurement is one, however well it tells classes apart.
    measured = pd.DataFrame({"mass": rng().normal(size=200) + 20 * (y == "a")})
    assert TablePreparation().fit(measured, y).columns_in_use() == ["mass"]
    y[:3] = "b"
    found = TablePreparation().fit(frame, y)
    assert found.columns_in_use() == ["code"]
    assert any("It is all but a code for the label" in finding.message for finding in found.findings_)
    with_label = TablePreparation().fit(frame.assign(label=y), y)
    assert {use.name: use.kind for use in with_label.columns_}["label"] == "label again"
    assert "all but a code" in str(with_label.findings_)
    assert "all but" not in str(TablePreparation().fit(frame.assign(mass=measured["mass"]), y).findings_)


def test_a_model_file_of_many_columns_is_small(tmp_path):
    V = rng().normal(size=(60, 500))
    frame = pd.DataFrame(V, columns=[f"größe {j}" for j in range(500)]).assign(kind=["a", "b", None] * 20)
    frame.iloc[:20, 3] = np.nan
    preparation = TablePreparation().fit(frame)
    again = pickle.loads(pickle.dumps(preparation))
    assert again.columns_ == preparation.columns_
    assert again.findings_ == preparation.findings_
    assert again.readings() == preparation.readings()
    assert_array_equal(again.feature_names_in_, preparation.feature_names_in_)
    assert_array_equal(again.get_feature_names_out(), preparation.get_feature_names_out())
    assert_array_equal(again.transform(frame), preparation.transform(frame))
    skops.io.dump(preparation, tmp_path / "p.skops")
    assert (tmp_path / "p.skops").stat().st_size < 200_000
    loaded = skops.io.load(tmp_path / "p.skops", trusted=list(persistence.TRUSTED))
    assert loaded.columns_ == preparation.columns_
    assert_array_equal(loaded.transform(frame), preparation.transform(frame))


def test_a_model_is_saved_and_loaded_by_the_name_of_a_file(tmp_path):
    y, frame = table()
    model = make_pipeline(TablePreparation(), RobustLDA()).fit(frame, y)
    name = str(tmp_path / "model.skops")
    persistence.save(name, model, label="kind")
    read = persistence.load(name)
    assert read["label"] == "kind"
    assert_array_equal(read["pipeline"].predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match=r"name it \.skops"):
        persistence.save(str(tmp_path / "model.pkl"), model, label="kind")


def test_a_feature_that_separates_well_does_not_give_the_label_away():
    y, frame = table()
    wrong = y.copy()
    flipped = rng().permutation(len(y)) < 20
    wrong[flipped] = (wrong[flipped] + 1) % 3
    # A column that knows the true class is evidence as soon as some labels are wrong.
    uses = {use.name: use.kind for use in TablePreparation().fit(frame, wrong).columns_}
    assert uses["code"] == "category"
    # A constant guess is right in most rows of unequal classes, and gives nothing away.
    rare = (np.arange(len(y)) % 300 == 0).astype(int)
    uses = {use.name: use.kind for use in TablePreparation().fit(frame, rare).columns_}
    assert uses["length"] == "number"


def test_features_are_finite_scaled_and_can_be_read_in_units():
    y, frame = table()
    prepared = TablePreparation().fit(frame, y)
    X = prepared.transform(frame)
    assert np.isfinite(X).all()
    j = list(prepared.get_feature_names_out()).index("mass")
    in_units = X[:, j] * prepared.feature_scale_[j] + prepared.feature_center_[j]
    assert_allclose(in_units, [int(text[:-2].replace(",", "")) for text in frame["mass"].to_pylist()])
    assert abs(np.median(X[:, j])) < 1e-9
    assert np.quantile(X[:, j], 0.75) - np.quantile(X[:, j], 0.25) == pytest.approx(1)


def test_a_long_tail_is_raised_to_a_power_and_hides_no_gross_error():
    normal = rng().normal(size=600)
    frame = pa.table({"income": np.exp(2 * normal), "debt": -np.exp(2 * normal), "mass": normal, "truth": normal > 1})
    prepared = TablePreparation().fit(frame)
    powers = {use.name: use.power for use in prepared.columns_}
    assert powers["income"] < 0.6
    assert powers["debt"] > 1.4
    assert powers["mass"] == powers["truth"] == 1
    income, debt, mass, _ = prepared.transform(frame).T
    assert_allclose(debt, -income, atol=1e-9)
    assert np.abs(RobustScaler().fit_transform(frame["income"].to_numpy()[:, None])).max() > 20
    assert np.abs(income).max() < 8
    assert np.corrcoef(income, mass)[0, 1] > 0.95
    assert (np.diff(income[np.argsort(normal)]) > 0).all()  # nothing changes places
    values = frame["income"].to_numpy().copy()
    values[0] = 1e7
    spoiled = pa.table({"income": values, "mass": normal})
    prepared = TablePreparation().fit(spoiled)
    assert prepared.columns_[0].power == pytest.approx(powers["income"], abs=0.35)
    assert prepared.transform(spoiled)[0, 0] > 2 * np.abs(prepared.transform(spoiled)[1:, 0]).max()


def test_powers_are_the_likeliest_of_yeo_and_johnson(monkeypatch):
    z = rng().standard_t(3, size=(50, 3)) * 5
    z[0, 0] = np.nan
    powers = np.array([0.1, 1.0, 1.7])
    expected = np.column_stack([yeojohnson(column, power) for column, power in zip(z.T, powers, strict=True)])
    assert_allclose(raised(z, powers), expected)
    skewed = yeojohnson(rng().normal(size=1500), 1.6)
    monkeypatch.setattr("robustlda.tables.powers._UNITS", (1.0,))
    clipped = np.clip(skewed, *np.quantile(skewed, [0.01, 0.99]))
    assert fit_powers(skewed[:, None])[0] == pytest.approx(yeojohnson(clipped)[1], abs=0.06)


@pytest.mark.parametrize("error", [1e40, 1e300, -np.finfo(float).max])
def test_an_error_of_any_size_ends_at_a_distance(error):
    y = np.arange(120) % 2
    values = 100 * (rng().normal(size=120) + 3 * y)
    spoiled = values.copy()
    spoiled[7] = error
    frame = pa.table({"a": spoiled, "b": rng().normal(size=120) + y, "y": y})
    prepared = TablePreparation().fit(frame.drop_columns("y"), y)
    found = prepared.transform(frame)[:, 0]
    assert np.isfinite(found).all()
    assert np.abs(found[7]) > 1e8
    assert np.abs(np.delete(found, 7)).max() < 10
    audit = LabelAudit().fit(frame, "y")
    assert audit.finding_[7] == "outlying"
    assert not any(finding.kind == "copies" for finding in audit.table_.findings)
    long = 1e3 * np.exp(2 * rng().normal(size=120))
    prepared = TablePreparation().fit(pa.table({"a": -long if error < 0 else long}))
    assert prepared.columns_[0].power != 1
    assert np.isfinite(prepared.transform(pa.table({"a": spoiled}))).all()


def test_an_outlier_and_a_rare_value_set_no_scale():
    values = rng().normal(size=300)
    values[0] = 1e9
    mostly = np.zeros(300)
    mostly[:20] = 1000
    X = TablePreparation().fit_transform(pa.table({"a": values, "b": mostly}))
    assert np.quantile(np.abs(X[:, 0]), 0.9) < 3
    assert np.abs(X[:, 1]).max() < 100


def test_any_kind_of_frame_gives_the_same_features():
    y, frame = table()
    expected = TablePreparation().fit_transform(frame, y)
    for native in (frame.to_pandas(), pl.from_arrow(frame)):
        assert_allclose(TablePreparation().fit_transform(native, y), expected)
    objects = frame.to_pandas().astype(object)
    assert_allclose(TablePreparation().fit_transform(objects, y), expected)
    mixed = pd.DataFrame({"a": [1, "x", 2.5, None] * 20, "b": np.arange(80) % 7})
    assert TablePreparation().fit_transform(mixed).shape[0] == 80
    assert as_arrow(np.eye(3)).column_names == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    ("words", "here"),
    [
        (["7.0", "7.5", "One size"], [7.0, 7.5]),
        (["7,0", "7,5", "keine"], [7.0, 7.5]),
        (["01", "02", "x"], [1, 2]),
        (["True", "False", "Maybe"], [True, False]),
        (["31.12.2024", "1.1.2025", "never"], [date(2024, 12, 31), date(2025, 1, 1)]),
    ],
)
def test_categories_go_by_what_they_say_whatever_the_type(words, here):
    frame = pd.DataFrame({"x": rng().normal(size=60), "size": words * 20})
    preparation = TablePreparation().fit(frame)
    assert preparation.readings()["size"].kind == "category"
    few = pa.table({"x": [0.5, 0.5, 0.5], "size": pa.array([*here, None])})
    same = pa.table({"x": [0.5, 0.5, 0.5], "size": pa.array([*words[:2], None])})
    assert_array_equal(preparation.transform(few), preparation.transform(same))
    assert preparation.unseen(few) == {}
    new = few.set_column(1, "size", pa.array([3] * 3))
    assert preparation.unseen(new) == {"size": ["3"]}


def test_new_rows_are_found_by_name_and_new_categories_said():
    y, frame = table()
    prepared = TablePreparation().fit(frame, y)
    shuffled = frame.select(["color", "again", "length", "mass"])
    assert_allclose(prepared.transform(shuffled), prepared.transform(frame))
    new = shuffled.set_column(0, "color", pa.array(["pink"] * 400))
    assert prepared.unseen(new) == {"color": ["pink"]}
    names = list(prepared.get_feature_names_out())
    assert_array_equal(prepared.transform(new)[:, names.index("color=red")], 0)
    with pytest.raises(ValueError, match="The table lacks columns 'mass', 'length'"):
        prepared.transform(frame.select(["color", "again"]))
    with pytest.raises(ValueError, match="'again' held numbers when the model was made; here it holds text"):
        prepared.transform(frame.set_column(3, "again", pa.array(["none of it"] * 400)))
    for name, held, value in (
        ("again", "numbers", [1.5]),
        ("again", "numbers", date(2024, 1, 5)),
        ("color", "words", [1]),
    ):
        other = frame.set_column(frame.column_names.index(name), name, pa.array([value] * 400))
        with pytest.raises(ValueError, match=f"'{name}' held {held} when the model was made; here it is of type"):
            prepared.transform(other)
    empty = frame.set_column(3, "again", pa.nulls(400, pa.float64()))
    assert np.isfinite(prepared.transform(empty)).all()


def test_nothing_to_learn_from_is_one_sentence():
    with pytest.raises(ValueError, match=r"No column contains usable features\. 'a': It has the value 1"):
        TablePreparation().fit(pa.table({"a": [1, 1, 1]}))
    with pytest.raises(ValueError, match="The table has no rows"):
        TablePreparation().fit(pa.table({"a": pa.array([], pa.float64())}))
    with pytest.raises(ValueError, match="Two columns have the name 'a'"):
        TablePreparation().fit(pd.DataFrame(np.eye(3), columns=["a", "b", "a"]))


def test_it_belongs_in_a_pipeline():
    y, frame = table()
    model = make_pipeline(TablePreparation(), RobustLDA())
    wrong = y.copy()
    wrong[:40] = (wrong[:40] + 1) % 3
    assert clone(model).fit(frame.to_pandas(), wrong).score(frame.to_pandas(), y) > 0.95
    named = TablePreparation().set_output(transform="pandas").fit_transform(frame, y)
    assert "mass" in named.columns


def test_no_tree_gets_fewer_rows_wrong_than_the_bound_that_saves_growing_it():
    rng = np.random.default_rng(0)
    for _ in range(60):
        c, leaves = int(rng.integers(2, 5)), int(rng.integers(2, 12))
        values = rng.integers(0, 40, 200).astype(float) if rng.random() < 0.5 else rng.normal(size=200)
        labels = np.digitize(values, np.quantile(values, np.linspace(0, 1, c + 1)[1:-1]))
        labels = np.where(rng.random(200) < rng.choice([0.0, 0.02, 0.2, 1.0]), rng.integers(0, c, 200), labels)
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(values[:, None], labels)
        wrong = (tree.predict(values[:, None]) != labels).sum()
        assert doubtful._least_wrong(values, labels, leaves) <= wrong
    mixed = np.arange(200) % 2  # a label after the other: all but the runs that leaves can hold
    assert doubtful._least_wrong(np.arange(200.0), mixed, 8) == 96
