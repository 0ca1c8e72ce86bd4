"""Rows in parts give the answer of rows in memory, however they are divided and whoever reads them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine

from robustlda import DLE, MMC, LabelAudit, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.data import Blocks, ParquetTable
from robustlda.datasets.contaminate import flip_labels
from robustlda.linalg import principal_angles
from robustlda.plan import Plan

SAMPLED = Plan(max_samples=120, ellipse_samples=150)
CHUNKS = ([50] * 3 + [28], [1] * 20 + [158], [178], [7, 0, 171], [100, 78])


def blocks_of(X, y, sizes, weight=None):
    ends = np.cumsum(sizes)
    cuts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    return [(X[c], y[c]) if weight is None else (X[c], y[c], weight[c]) for c in cuts]


def assert_same(model, expected, X):
    Q = [np.linalg.qr(m.components_.T)[0] for m in (model, expected)]
    assert principal_angles(*Q).max() < 1e-6
    assert_allclose(model.objective_path_[-1], expected.objective_path_[-1], rtol=1e-9)
    assert_array_equal(model.classes_, expected.classes_)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    given, _ = flip_labels(y[order], 0.1, np.random.default_rng(0))
    return X[order], np.array(["barolo", "grignolino", "barbera"])[given]


@pytest.mark.parametrize("plan", [Plan(), SAMPLED], ids=["all", "sampled"])
@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
@pytest.mark.parametrize("estimator", [RobustLDA(), TraceRatioLDA(), MMC()], ids=lambda e: type(e).__name__)
def test_any_division_gives_the_same_answer(wine, estimator, sizes, plan):
    X, y = wine
    models = [clone(estimator) for _ in range(2)]
    for model in models:
        model.plan = plan
    assert_same(models[0].fit_blocks(blocks_of(X, y, sizes)), models[1].fit(X, y), X)


@pytest.mark.parametrize(
    "estimator",
    [
        RobustLDA(decision="centroid", center="median"),
        RobustLDA(leverage="free", n_components=8),
        TraceRatioLDA(decision="noise_aware", n_components=2),
    ],
    ids=["centroid", "free", "noise-aware"],
)
def test_settings_mean_the_same_in_parts(wine, estimator):
    X, y = wine
    assert_same(clone(estimator).fit_blocks(blocks_of(X, y, [60, 118])), clone(estimator).fit(X, y), X)


def test_sorted_rows_whose_classes_are_missing_from_blocks(wine):
    X, y = wine
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert_same(RobustLDA().fit_blocks(blocks_of(X, y, [40] * 4 + [18])), RobustLDA().fit(X, y), X)


def test_weights_verified_rows_single_precision_and_whole_numbers(wine):
    X, y = wine
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    seen = {3: "barolo", 100: "barbera"}
    model = RobustLDA().fit_blocks(blocks_of(X, y, [100, 78], weight), verified=seen)
    assert_same(model, RobustLDA().fit(X, y, weight, verified=seen), X)
    whole = np.round(X).astype(int)
    assert_same(RobustLDA().fit_blocks(blocks_of(whole, y, [100, 78])), RobustLDA().fit(whole, y), whole)
    single = X.astype(np.float32)
    model, expected = RobustLDA().fit_blocks(blocks_of(single, y, [100, 78])), RobustLDA().fit(single, y)
    assert model.components_.dtype == np.float32
    assert_allclose(model.components_, expected.components_, rtol=1e-4, atol=1e-5)
    assert_allclose(model.predict_proba(single), expected.predict_proba(single), atol=1e-3)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "form", ["mask", "mask with gaps", "mask in a dict", "labels", "dict", "column", "mask in a column"]
)
def test_verified_rows_of_any_form(wine, form, tmp_path):
    X, y = wine
    seen, rows = np.full(len(y), None, object), [3, 40, 100, 101, 177]
    seen[rows] = y[rows] if "mask" in form else "barolo"
    mask = np.isin(np.arange(len(y)), rows)
    expected = RobustLDA().fit(X, y, verified=seen)
    assert expected.noise_rate_ != RobustLDA().fit(X, y).noise_rate_
    verified: object = {
        "mask": mask,
        "mask with gaps": [True if here else None for here in mask],
        "mask in a dict": dict.fromkeys(rows, True) | {5: False},
        "labels": list(seen),
        "dict": dict.fromkeys(rows, "barolo") | {5: np.nan, 6: None},
    }.get(form)
    if verified is None:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = {f"f{j}": X[:, j] for j in range(13)} | {"kind": y, "seen": mask if "mask" in form else seen}
        pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=60)
        source = ParquetTable(tmp_path / "t.parquet", "kind", verified="seen")
        with pytest.raises(ValueError, match="names a column with verified labels, and verified is given as well"):
            RobustLDA().fit(source, None, verified={3: "barolo"})
        audit = LabelAudit().fit(source, None)
    else:
        source = Blocks(blocks_of(X, y, [60, 118]))
        with pytest.raises(ValueError, match=r"verified has shape \(5,\), but there are 178 samples"):
            RobustLDA().fit(source, None, verified=mask[:5])
        audit = LabelAudit().fit(source, None, verified=verified)
    model = RobustLDA().fit(source, None, verified=verified)
    assert_allclose(model.noise_rate_, expected.noise_rate_, atol=1e-8)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert audit.n_verified_ == 5
    assert sorted(audit.ids_[audit.verified_]) == rows


def test_several_answers_in_parts_are_refused_with_a_way_out(wine):
    X, y = wine
    answers = np.column_stack([y, y])
    for fit in (RobustLDA().fit_blocks, lambda blocks: LabelAudit().fit(Blocks(blocks), None)):
        with pytest.raises(ValueError, match=r"need rows in memory. Give one label for each, such as the one most"):
            fit(blocks_of(X, answers, [100, 78]))


@pytest.mark.parametrize("plan", [Plan(), Plan(densify=0)], ids=["dense", "sparse"])
def test_sparse_blocks(wine, plan):
    X, y = load_digits(return_X_y=True)
    models = [RobustLDA(), RobustLDA()]
    for model in models:
        model.plan = plan
    blocks = [(csr_array(part), labels) for part, labels in blocks_of(X, y, [700, 400, 697])]
    assert_same(models[0].fit_blocks(blocks), models[1].fit(csr_array(X), y), X)


def test_collinear_and_constant_features(wine):
    X, y = wine
    X = np.column_stack([X, X[:, 0] - 3 * X[:, 1], np.full(len(y), 7.0)])
    assert_same(RobustLDA().fit_blocks(blocks_of(X, y, [90, 88])), RobustLDA().fit(X, y), X)


@pytest.mark.parametrize("plan", [Plan(), Plan(max_samples=600)], ids=["all", "sampled"])
def test_an_audit_in_parts_says_the_same(plan, tmp_path):
    X, y = load_digits(return_X_y=True)
    given, _ = flip_labels(y, 0.1, np.random.default_rng(0))
    model = RobustLDA()
    model.plan = plan
    type(model).plan = plan  # which a clone keeps
    try:
        parts, memory = LabelAudit().fit(Blocks(blocks_of(X, given, [700, 400, 697])), None), LabelAudit().fit(X, given)
    finally:
        type(model).plan = Plan()
    rows = parts.ids_
    assert sorted(rows) == list(range(len(y)))
    for name in ("given_", "suggested_", "finding_"):
        assert_array_equal(getattr(parts, name), getattr(memory, name)[rows])
    for name in ("probability_wrong_", "farness_", "farness_any_", "outlyingness_"):
        assert_allclose(getattr(parts, name), getattr(memory, name)[rows], atol=1e-6)
    for name in ("noise_rate_", "noise_interval_", "transition_", "confusion_"):
        assert_allclose(getattr(parts, name), getattr(memory, name), rtol=1e-5, atol=1e-7)
    for name in ("n_samples_", "n_mislabeled_", "n_outlying_", "n_worth_checking_", "noise_reason_"):
        assert getattr(parts, name) == getattr(memory, name)
    assert_array_equal(parts.to_review(10), memory.to_review(10))
    assert_array_equal(parts.flags(0.2), memory.flags(0.2)[rows])
    parts.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("form", ["blocks", "Dask", "Parquet"])
def test_rows_of_an_audit_in_parts_go_by_their_ids(wine, form, tmp_path):
    X, y = wine
    ids = np.arange(178) + 40  # so that some are numbers of other rows
    memory = LabelAudit().fit(X, y, ids)
    checked = {int(memory.ids_[memory.rank_ == k][0]): "barolo" for k in (1, 2, 3)}
    expected = LabelAudit().fit(X, y, ids, verified=checked)
    if form == "Parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({f"f{j}": X[:, j] for j in range(13)} | {"kind": y, "bottle": ids})
        pq.write_table(table, tmp_path / "t.parquet", row_group_size=60)
        given = [ParquetTable(tmp_path / "t.parquet", "kind", id="bottle"), None]
    elif form == "Dask":
        da = pytest.importorskip("dask.array")
        given = [da.from_array(X, chunks=(60, -1)), y, da.from_array(ids, chunks=60)]
    else:
        given = [Blocks(blocks_of(X, y, [60, 118])), None, ids]
    audit = LabelAudit().fit(*given, verified=checked)
    assert set(audit.ids_[audit.verified_]) == set(checked)
    assert sorted(audit.ids_) == ids.tolist()
    assert_allclose(audit.noise_rate_, expected.noise_rate_, atol=1e-8)
    for name in (3, 500):  # a number that is none of the ids beside them, and one that is neither
        with pytest.raises(ValueError, match=f"verified names row {name}, which is n"):
            LabelAudit().fit(*given, verified={**checked, name: "barolo"})
    for y_or_ids in (("kind", None), (given[1], "bottle")):
        with pytest.raises(TypeError, match=r"not named in fit: ParquetTable\(files, label, id=…\) names them"):
            LabelAudit().fit(given[0], *y_or_ids)


# Parquet


@pytest.fixture
def files(tmp_path, wine):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = wine
    for number, rows in enumerate((slice(0, 100), slice(100, 100), slice(100, 178))):
        table = {f"f{j}": X[rows, j] for j in range(13)}
        table |= {"kind": y[rows], "bottle": [f"b{i}" for i in range(178)][rows]}
        pq.write_table(pa.table(table), tmp_path / f"part-{number}.parquet", row_group_size=30)
    return tmp_path


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_parquet_files_are_a_table_in_parts(files, wine):
    X, y = wine
    table = ParquetTable(files / "part-*.parquet", "kind", id="bottle")
    model = RobustLDA().fit(table, None)
    assert_same(model, RobustLDA().fit(X, y), X)
    assert list(model.feature_names_in_) == [f"f{j}" for j in range(13)]
    assert_array_equal(model.predict(table), model.predict(X))
    assert_allclose(model.score(table, None), model.score(X, y))
    audit = LabelAudit().fit(table, None)
    assert audit.ids_[0].startswith("b")


def test_findings_about_all_rows_are_written_part_by_part(files):
    pq = pytest.importorskip("pyarrow.parquet")
    audit = LabelAudit().fit(ParquetTable(files, "kind", id="bottle"), None)
    (files / "rows").mkdir()
    (files / "rows" / ".part-00001.parquet.8776cb30.part").touch()  # a lost worker's
    assert audit.to_parquet(files / "rows") == len(list((files / "rows").iterdir()))
    written = pq.read_table(files / "rows").to_pydict()
    assert written["id"] == [f"b{i}" for i in range(178)]
    place = {name: i for i, name in enumerate(audit.ids_)}
    order = [place[name] for name in written["id"]]
    assert written["finding"] == audit.finding_[order].tolist()
    assert_allclose(written["probability_wrong"], audit.probability_wrong_[order])


def test_findings_are_of_one_type_where_ids_are_of_several(wine, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = wine
    ids = np.arange(178) + 2**40 * (np.arange(178) >= 90)
    for name, rows, kind in (("a", slice(0, 90), pa.int32()), ("b", slice(90, 178), pa.int64())):
        table = {f"f{j}": X[rows, j] for j in range(13)} | {"kind": y[rows], "bottle": pa.array(ids[rows], kind)}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    audit = LabelAudit().fit(ParquetTable(tmp_path, "kind", id="bottle"), None)
    audit.to_parquet(tmp_path / "rows")
    assert pq.read_table(tmp_path / "rows")["id"].to_pylist() == ids.tolist()
    pq.write_table(pa.table(table | {"bottle": ["x"] * 88}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"'bottle' is of type int32 in a.parquet, but string in b.parquet"):
        ParquetTable([tmp_path / "a.parquet", tmp_path / "b.parquet"], "kind", id="bottle")


def test_findings_of_two_audits_are_not_mixed(wine, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    audits = [LabelAudit().fit(Blocks(blocks_of(*wine, sizes)), None) for sizes in ([100, 78], [60] * 2 + [58])]
    audits.append(LabelAudit().fit(*wine))
    assert [audit.to_parquet(tmp_path / "rows") for audit in audits[:2]] == [2, 3]
    for audit in audits[::2]:
        with pytest.raises(FileExistsError, match="which would be taken for a part of this audit"):
            audit.to_parquet(tmp_path / "rows")
    assert pq.read_table(tmp_path / "rows")["id"].to_pylist() == list(range(178))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"label": "nothing"}, "has no column 'nothing'; it has f0, f1"),
        ({"label": "kind", "features": ["f0", "bottle"]}, "The column 'bottle' holds no numbers"),
        ({"label": "kind", "features": ["f0", "f99"]}, "has no column 'f99'"),
    ],
)
def test_columns_that_are_not_there(files, settings, words):
    with pytest.raises(ValueError, match=words):
        ParquetTable(files, **settings)
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        ParquetTable(files / "other-*.parquet", "kind")


# What is refused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (np.vstack([X[:100], np.full(13, np.nan), X[101:]]), y), "Rows 100 to 177 of X contain NaN"),
        (lambda X, y: (X, y[:-1]), "Part 1 of X has 78 rows, but y has 77 values"),
        (lambda X, y: (X, np.full(len(y), "one")), "needs at least 2 classes, but y holds only one class: one"),
        (lambda X, y: (X, np.where(y == "barolo", None, y)), "missing labels"),
        (lambda X, y: (np.hstack([X] * 20), y), "178 rows for 260 features"),
        (lambda X, y: (np.where(X > 5, "many", "few"), y), "no numbers"),
        (lambda X, y: (X + 1j, y), r"X holds complex numbers \(type complex128\); real ones are needed"),
    ],
    ids=["NaN", "length", "one class", "no label", "wide", "words", "complex"],
)
def test_parts_that_cannot_be_used(wine, change, words):
    X, y = change(*wine)
    blocks = [(X[:100], y[:100]), (X[100:], y[100:])]
    with pytest.raises(ValueError, match=words):
        RobustLDA().fit_blocks(blocks)


@pytest.mark.parametrize("form", ["blocks", "sparse blocks", "Parquet"])
def test_rows_to_predict_that_hold_no_number_are_refused_as_in_memory(wine, form, tmp_path):
    X, y = wine
    model, X = RobustLDA().fit(X, y), X.copy()
    X[120, 3] = np.nan
    if form == "Parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({f"f{j}": X[:, j] for j in range(13)} | {"kind": y}), tmp_path / "t.parquet")
        rows = ParquetTable(tmp_path / "t.parquet", "kind")
    else:
        rows = Blocks(blocks_of(X if form == "blocks" else csr_array(X), y, [100, 78]))
    for method in (model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match="X contains NaN or infinity"):
            method(rows)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: [y[:100].tolist(), np.arange(78) % 3], "labels of several types, number and str"),
        (lambda y: [y[:100], np.array([*y[100:-1], 7], object)], "labels of several types, number and str"),
        (lambda y: [y[:100], [*y[100:-1].tolist(), np.nan]], "1 missing labels in one part"),
        (lambda y: [y[:100], np.ma.array(y[100:], mask=np.arange(78) < 2)], "2 missing labels in one part"),
        (lambda y: np.split(np.where(y == "barolo", "NaT", "2020-05-01").astype("M8[D]"), [100]), "missing labels"),
    ],
    ids=["types", "types in one part", "NaN in a list", "masked", "NaT"],
)
def test_labels_of_parts_are_taken_as_they_are_in_memory(wine, change, words):
    X, y = wine
    with pytest.raises(ValueError, match=words):
        RobustLDA().fit_blocks(list(zip([X[:100], X[100:]], change(y), strict=True)))


def test_missing_labels_of_a_column_of_categories_are_no_class(wine, tmp_path):
    pd, (X, y) = pytest.importorskip("pandas"), wine
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(13)])
    frame["kind"] = pd.Categorical(np.where(np.arange(len(y)) % 30 == 0, None, y))
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="6 missing labels"):
        RobustLDA().fit(ParquetTable(tmp_path / "t.parquet", "kind"), None)


def test_labels_of_several_types_of_one_kind_are_one_kind(wine):
    X, y = wine
    numbers = np.unique(y, return_inverse=True)[1]
    for first, second in ((numbers, numbers.astype(float)), (y, y.astype(object))):
        model = RobustLDA().fit_blocks([(X[:100], first[:100]), (X[100:], second[100:])])
        assert_same(model, RobustLDA().fit(X, first), X)


@pytest.mark.parametrize("form", ["blocks", "Dask", "Parquet"])
def test_columns_in_another_order_are_refused_as_in_memory(wine, form, tmp_path):
    pd, (X, y) = pytest.importorskip("pandas"), wine
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(13)])
    model, other = RobustLDA().fit(frame, y), frame[frame.columns[::-1]]
    if form == "Parquet":
        pytest.importorskip("pyarrow")
        other.assign(kind=y).to_parquet(tmp_path / "t.parquet")
        rows = ParquetTable(tmp_path / "t.parquet", "kind")
        again = ParquetTable(tmp_path / "t.parquet", "kind", features=list(model.feature_names_in_))
        assert_array_equal(model.predict(again), model.predict(frame))
    elif form == "Dask":
        rows = pytest.importorskip("dask.dataframe").from_pandas(other, npartitions=2)
    else:
        rows = Blocks([(other[:100], y[:100]), (other[100:], y[100:])])
        with pytest.raises(ValueError, match="Part 1 of X has the column 'f12' where others have 'f0'"):
            RobustLDA().fit_blocks([(frame[:100], y[:100]), (other[100:], y[100:])])
    for ask in (model.predict, model.transform, lambda rows: model.score(rows, y if form == "Dask" else None)):
        with pytest.raises(ValueError, match="Feature 0 of X is called 'f12', but 'f0' where RobustLDA was fitted"):
            ask(rows)


def test_blocks_without_labels_are_predicted_and_scored(wine):
    X, y = wine
    model, rows = RobustLDA().fit(X, y), Blocks([(X[:100], None), (X[100:], None)])
    assert_array_equal(model.predict(rows), model.predict(X))
    assert model.score(rows, y) == model.score(X, y)
    with pytest.raises(ValueError, match="labels of several types, number and str"):
        model.score(rows, np.unique(y, return_inverse=True)[1])
    with pytest.raises(ValueError, match="y is None; give one label for each row"):
        RobustLDA().fit(rows, None)


def test_labels_and_weights_beside_parts_are_used_or_refused(wine):
    X, y = wine
    weight = np.where(y == "barolo", 9.0, 1.0)
    expected = RobustLDA().fit(X, y, weight)
    assert_same(RobustLDA().fit(Blocks(blocks_of(X, y, [100, 78])), None, weight), expected, X)
    assert_same(RobustLDA().fit(Blocks([(X[:100], None), (X[100:], None)]), y, weight), expected, X)
    weighted = blocks_of(X, y, [100, 78], weight)
    for given, words in (
        ((Blocks(weighted), y), "comes with its own labels, and y is given as well; pass y=None"),
        ((Blocks(weighted), None, weight), "comes with its own weights, and sample_weight is given as well"),
        (
            (Blocks(blocks_of(X, y, [100, 78])), None, weight[1:]),
            r"sample_weight has shape \(177,\), but there are 178",
        ),
        (
            (Blocks(blocks_of(X, y, [100, 78])), None, y),
            r"sample_weight holds values that are no numbers \(type <U10\)",
        ),
        ((Blocks([(X[:100], y[:100]), weighted[1]]), None), "Part 0 of X has 100 rows, but sample_weight has 0 values"),
    ):
        with pytest.raises(ValueError, match=words):
            RobustLDA().fit(*given)


def test_sources_that_do_not_yield_the_same_blocks_again_are_refused(wine):
    parts = blocks_of(*wine, [100, 78])
    once, passes = iter(parts), iter([[100, 78], [78, 100], [100, 78], [178], [178], [100, 78], [100, 78], []])
    with pytest.raises(TypeError, match="can be read only once, and several passes are needed"):
        RobustLDA().fit_blocks(lambda: once)
    for words in ("100 rows in block 0 in the first pass, and 78", "100 rows in block 0 in the first pass, and 178"):
        with pytest.raises(ValueError, match=words):
            RobustLDA().fit_blocks(lambda: blocks_of(*wine, next(passes)))
    with pytest.raises(ValueError, match="178 rows in block 0 in the first pass, and 100 now"):
        RobustLDA().fit_blocks(lambda: blocks_of(*wine, next(passes)))
    with pytest.raises(ValueError, match="2 blocks in the first pass, and 0 now: it has to yield the same blocks"):
        RobustLDA().fit_blocks(lambda: blocks_of(*wine, next(passes)))
    more = iter([parts, [*parts, parts[0]]])
    with pytest.raises(ValueError, match="2 blocks in the first pass, and more now"):
        RobustLDA().fit_blocks(lambda: next(more))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([], "The source yields no rows"),
        ([(np.ones((0, 3)), [])], "The source yields no rows"),
        (None, "NoneType yields nothing"),
        ([([[1.0, 2.0]], ["a"])], "Rows are an array, a DataFrame or a sparse matrix, not list"),
    ],
    ids=["nothing", "no rows", "None", "lists"],
)
def test_sources_of_nothing_are_one_sentence(source, words):
    with pytest.raises((ValueError, TypeError), match=words):
        RobustLDA().fit_blocks(source)


@pytest.mark.parametrize("estimator", [DLE(), SupervisedLPP(), RatioLDA()], ids=lambda e: type(e).__name__)
def test_estimators_that_need_memory_say_so(wine, estimator):
    words = f"{type(estimator).__name__} needs all rows in memory; RobustLDA"
    with pytest.raises(TypeError, match=words):
        estimator.fit_blocks(blocks_of(*wine, [178]))
    with pytest.raises(TypeError, match=words):
        estimator.fit(Blocks(blocks_of(*wine, [178])), None)
