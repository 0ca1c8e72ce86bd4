"""Model files: ONNX graphs that answer as the models do, skops files that come back whole, and what is neither."""

import json
import pickle
import subprocess
import sys
from copy import copy
from dataclasses import fields, is_dataclass, replace
from datetime import date
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import skops.io
from command import inside
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustlda import DLE, MMC, LabelAudit, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.cli import prediction
from robustlda.decision.likelihood import MixedPool
from robustlda.persistence import TRUSTED
from robustlda.tables import TablePreparation

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from robustlda.onnx import models, register, rules, to_onnx  # noqa: E402

ESTIMATORS = (RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE)


def some(load, n=120):
    X, y = load(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    return X[chosen], y[chosen]


def simulated(n, d, c, seed, **settings):
    return make_classification(n, d, n_informative=min(d, 4), n_redundant=0, n_classes=c, random_state=seed, **settings)


def with_outliers():
    X, y = simulated(120, 6, 3, 3, n_clusters_per_class=1)
    X[::15] *= 1e4
    return X, y


def one_feature():
    y = np.arange(90) % 3
    return (np.random.default_rng(5).normal(size=90) + 3 * y)[:, None], y


def of_any_size():
    X, y = simulated(100, 5, 2, 6)
    return X * 10.0 ** np.arange(-8, 12, 4) + 10.0 ** np.arange(-6, 14, 4), y


SETS = {
    "iris": lambda: some(load_iris),
    "wine": lambda: some(load_wine),
    "breast cancer": lambda: some(load_breast_cancer),
    "digits": lambda: some(load_digits, 150),
    "moons": lambda: make_moons(120, noise=0.2, random_state=1),
    "more features than samples": lambda: simulated(40, 90, 2, 2),
    "outliers": with_outliers,
    "wrong labels": lambda: simulated(150, 8, 4, 4, flip_y=0.3, n_clusters_per_class=1),
    "one feature": one_feature,
    "units from 1e-8 to 1e8": of_any_size,
}
NAMES = np.array(["zehn", "b c", "ä", "", "1", "True", "f", "g", "h", "i"])


@cache
def iris_model(decision="noise_aware"):
    """A model that several tests ask, and none changes."""
    return RobustLDA(decision=decision).fit(*some(load_iris, 60))


def run(graph, X, **inputs):
    """All outputs of a graph; the errors of onnxruntime as exceptions, not on the terminal."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    return session.run(None, inputs or {"X": X})


def asked(X):
    """The samples, and points between, beside and far beyond them."""
    rng = np.random.default_rng(0)
    mixed = 0.5 * (X[rng.permutation(len(X))] + X)
    far = [X[:5] * factor for factor in (-30, 1e8, -1e31, 1e60, 1e290)]
    return np.concatenate([X, mixed, *far])


def check_graph(model, X, tolerance=1e-10):
    Q = asked(X)
    graph = to_onnx(model, dtype=np.float64)
    label, P = run(graph, Q)
    assert label.tolist() == model.predict(Q).tolist()
    assert P.dtype == np.float64
    np.testing.assert_allclose(P, model.predict_proba(Q), rtol=0, atol=tolerance)
    single = X.astype(np.float32)
    label, P = run(to_onnx(model, dtype=np.float32), single)
    # What is sure in single precision; the model itself rounds where the graph does not.
    exact = model.predict_proba(single.astype(float))
    assert P.dtype == np.float32
    np.testing.assert_allclose(P, exact, rtol=0, atol=1e-6)
    assert label.tolist() == model.predict(single.astype(float)).tolist()


def check_skops(model, X):
    kept = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=kept)) <= set(TRUSTED)
    again = skops.io.loads(kept, trusted=list(TRUSTED))
    for method in ("predict", "predict_proba", "transform"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("name", SETS)
def test_files_answer_as_models_do(name):
    X, y = SETS[name]()
    place = list(SETS).index(name)
    y = NAMES[y] if place % 2 else y
    # The committee takes time to fit: of all data sets with the estimator that has it by default, of each with another.
    decisions = dict.fromkeys(ESTIMATORS, "centroid") | {RobustLDA: "noise_aware"}
    decisions[ESTIMATORS[1 + place % 5]] = "noise_aware"
    for kind, decision in decisions.items():
        model = kind(decision=decision).fit(X, y)
        # Far samples move the center away from all others, whose distances then lose digits in any order of summation.
        check_graph(model, X, 1e-8 if name == "outliers" else 1e-10)
        check_skops(model, X)
        projecting = copy(model).set_params(decision=None)  # as it would be fitted
        (Z,) = run(to_onnx(projecting), X)
        np.testing.assert_allclose(Z, model.transform(X), rtol=1e-12, atol=1e-12 * np.abs(Z).max())


def test_files_answer_as_models_do_on_the_papers_data(paper_data):
    X, y = paper_data("vehicle")
    model = RobustLDA().fit(X[::3], y[::3])
    check_graph(model, X)
    check_skops(model, X)


def test_settings_of_the_projection_and_the_decision_are_in_the_graph():
    X, y = some(load_wine)
    check_graph(RobustLDA(priors=[0.8, 0.2, 0], center="median").fit(X, y), X)
    check_graph(MMC(decision="centroid", n_components=7, priors=[0.8, 0.2, 0]).fit(X, y), X)
    projecting = RobustLDA(n_components=7, decision=None).fit(X, y)
    (Z,) = run(to_onnx(projecting), X)
    np.testing.assert_allclose(Z, projecting.transform(X), rtol=1e-12, atol=1e-12)
    single = RobustLDA().fit(X.astype(np.float32), y)
    label, P = run(to_onnx(single), X.astype(np.float32))
    assert P.dtype == np.float32, "as the training data"
    np.testing.assert_allclose(P, single.predict_proba(X.astype(np.float32)), rtol=0, atol=1e-5)
    assert label.tolist() == single.predict(X.astype(np.float32)).tolist()


def test_what_a_pool_mixes_is_in_the_graph():
    """Classes that overlap have slopes of their own, which the data above need not lead to."""
    X, _ = some(load_iris)
    model = copy(iris_model())
    stage = model.rule_.stages[1]
    mixing = np.array([[0, 0.1, 0], [0.2, 0, 0], [0, 0, -0.3]])
    mixed = replace(stage, pool=replace(stage.erring, mixing=mixing))
    model.rule_ = replace(model.rule_, stages=(model.rule_.stages[0], mixed))
    check_graph(model, X)


def test_errors_that_are_doubted_are_in_the_graph():
    """As iris leaves no doubt, a pool for right labels is made up."""
    X, _ = some(load_iris)
    model = copy(iris_model())
    stages = [replace(stage, pool=doubted(stage.erring)) for stage in model.rule_.stages]
    model.rule_ = replace(model.rule_, stages=tuple(stages))
    assert np.abs(model.predict_proba(X) - iris_model().predict_proba(X)).max() > 0.01
    check_graph(model, X)


def test_terms_are_in_the_graph():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.poisson(np.where(np.arange(90) % 3 == y[:, None], 0.1, 0.02)).astype(float)
    model = RobustLDA().fit(X, y)
    assert {len(stage.linear) for stage in model.rule_.stages} == {2}
    check_graph(model, X)


def doubted(pool):
    return MixedPool((pool, replace(pool, weights=pool.weights / 3)), np.array([0.4, 0.6]))


def test_of_equal_classes_the_first_is_taken():
    X, _ = some(load_iris)
    model = copy(iris_model("centroid"))
    rule = model.rule_
    equal = replace(rule.ellipses, centers=rule.ellipses.centers[[0, 0, 2]])
    model.rule_ = replace(rule, ellipses=equal, priors=np.full(3, 1 / 3))
    label, _ = run(to_onnx(model), X)
    assert set(label) == set(model.predict(X)) == {0, 2}


def test_numbers_that_predict_refuses_have_no_probabilities():
    X, _ = some(load_iris)
    for decision in ("noise_aware", "centroid"):
        graph = to_onnx(iris_model(decision))
        for bad in (np.nan, np.inf, -np.inf):
            Q = X[:2].copy()
            Q[1, 2] = bad
            P = run(graph, Q)[1]
            assert np.isfinite(P[0]).all()
            assert np.isnan(P[1]).all()


def test_no_rows_are_no_answers():
    label, P = run(to_onnx(iris_model()), np.empty((0, 4)))
    assert label.shape == (0,)
    assert P.shape == (0, 3)


# What the graph knows of rules ----------------------------------------------------------------------------------------


def parts_of(value):
    """All dataclasses that something is made of."""
    if isinstance(value, tuple):
        for each in value:
            yield from parts_of(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))


def test_the_graph_knows_every_field_of_every_rule():
    met = {type(part) for decision in ("noise_aware", "centroid") for part in parts_of(iris_model(decision).rule_)}
    met |= {type(part) for part in parts_of(doubted(iris_model().rule_.stages[0].erring))}
    assert met == set(rules.KNOWN), "a part of a rule that the graph does not know, or one that is gone"
    for kind in met:
        assert {field.name for field in fields(kind)} == rules.KNOWN[kind], f"fields of {kind.__name__}"


def test_a_rule_with_a_new_field_is_refused(monkeypatch):
    model = copy(iris_model())
    for kind, known in list(rules.KNOWN.items()):
        if kind in {type(part) for part in parts_of(model.rule_)}:
            monkeypatch.setitem(rules.KNOWN, kind, known - {max(known)})
            with pytest.raises(TypeError, match=f"{kind.__name__} disagree about its field {max(known)!r}"):
                to_onnx(model)
            monkeypatch.setitem(rules.KNOWN, kind, known)
    model.rule_ = LogisticRegression()
    with pytest.raises(TypeError, match="LogisticRegression cannot be written as an ONNX graph"):
        to_onnx(model)


def rows_in(constants, X, model):
    """How many training rows can be read back from the constants of a graph."""
    found = 0
    rule, Z, centered = model.rule_, model.transform(X), X - model.center_
    scaled = centered / model.scale_
    along = scaled @ rule.axes.T
    for rows in (X, X / model.scale_, centered, scaled, Z, along, rule.similarities.of(along)):
        tolerance = 1e-9 * np.abs(rows).max()
        for array in constants:
            for matrix in (np.atleast_2d(array), np.atleast_2d(array).T):
                if matrix.shape[1] == rows.shape[1] > 1:
                    distances = np.abs(matrix[:, None] - rows[None]).max(axis=2)
                    found += int((distances.min(axis=1) < tolerance).sum())
    return found


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_no_training_row_is_in_a_graph(load):
    X, y = load(return_X_y=True)
    model = RobustLDA().fit(X, y)
    graph = to_onnx(model)
    constants = [onnx.numpy_helper.to_array(each) for each in graph.graph.initializer]
    constants = [each for each in constants if each.dtype.kind == "f"]
    assert len(constants) > 20
    assert rows_in(constants, X, model) == 0
    assert rows_in([*constants, ((X - model.center_) / model.scale_)[::7].T], X, model) > 0
    half = to_onnx(RobustLDA().fit(X[::2], y[::2]))
    assert graph.ByteSize() < 1.2 * half.ByteSize(), "it does not grow with the rows"


# Labels, types and names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array([10, -3, 2**40]),
        np.array([1, 2, 255], np.uint8),
        np.array([1.0, 2.0, 3.0]),
        np.array(["a", "b", "ç"], object),
    ],
    ids=["numbers", "bytes", "floats", "objects"],
)
def test_labels_of_any_kind(labels):
    X, y = some(load_iris)
    model = MMC(decision="centroid").fit(X, labels[y])
    label, P = run(to_onnx(model), X)
    assert label.tolist() == model.predict(X).tolist()
    assert P.shape == (len(X), 3)


def test_true_and_false_are_one_and_zero():
    X, y = some(load_iris)
    model = MMC(decision="centroid").fit(X, y == 0)
    label, P = run(to_onnx(model), X)
    assert label.dtype == np.int64
    assert label.tolist() == model.predict(X).astype(int).tolist()
    np.testing.assert_allclose(P, model.predict_proba(X), atol=1e-10)


def test_what_cannot_be_written_is_said():
    X, y = some(load_iris)
    model = MMC(decision="centroid").fit(X, y)
    for classes in ([0.5, 1, 2], [date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1)], [1, 2, 2**63]):
        model.classes_ = np.array(classes)
        with pytest.raises(ValueError, match=r"or whole numbers below 2\*\*63, not .*; write them as texts"):
            to_onnx(model)
    with pytest.raises(ValueError, match="must be float32 or float64"):
        to_onnx(MMC(decision="centroid").fit(X, y), dtype=int)


def test_an_audit_is_no_graph_but_its_estimator_is():
    X, y = some(load_iris)
    audit = LabelAudit().fit(X, y)
    with pytest.raises(
        TypeError, match=r"LabelAudit is written as no ONNX graph; .* such as the estimator_ of an audit"
    ):
        to_onnx(audit)
    assert to_onnx(audit.estimator_).graph.input[0].name == "X"


def test_a_file_is_complete_or_absent(tmp_path, monkeypatch):
    X, y = some(load_iris)
    model = MMC(decision="centroid").fit(X, y)
    to_onnx(model, tmp_path / "model.onnx")
    assert run(onnx.load(tmp_path / "model.onnx"), X)[0].tolist() == model.predict(X).tolist()
    monkeypatch.setattr(models, "FORMAT", 1)  # a text is asked for
    with pytest.raises(TypeError):
        to_onnx(model, tmp_path / "other.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_the_package_does_not_hide_onnx():
    code = "import robustlda.onnx, onnx; assert onnx.ModelProto; assert 'skl2onnx' not in __import__('sys').modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_of_it_is_imported_before_it_is_needed():
    code = (
        "import sys, robustlda.cli, robustlda.persistence\n"
        "assert not {'onnx', 'onnxruntime', 'skl2onnx', 'sklearn', 'skops'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# skl2onnx -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def skl2onnx():
    found = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    register()
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_skl2onnx_converts_pipelines(skl2onnx, kind, dtype):
    X, y = some(load_wine, 60)
    y = NAMES[y] if kind in (RobustLDA, MMC) else y
    y = y == y[0] if kind is DLE else y
    pipeline = make_pipeline(StandardScaler(), kind(decision="centroid")).fit(X, y)
    X = X.astype(dtype)
    label, P = run(skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False}), X)
    assert label.tolist() == pipeline.predict(X).tolist()
    assert P.dtype == dtype
    np.testing.assert_allclose(P, pipeline.predict_proba(X), atol=1e-5 if dtype == np.float32 else 1e-10)
    projecting = make_pipeline(StandardScaler(), kind(n_components=1, decision=None)).fit(X, y)
    (Z,) = run(skl2onnx.to_onnx(projecting, X[:1]), X)
    assert Z.dtype == dtype
    np.testing.assert_allclose(Z, projecting.transform(X), rtol=0, atol=2e-5 if dtype == np.float32 else 1e-10)


def test_outputs_are_those_of_skl2onnxs_classifiers(skl2onnx):
    X, y = some(load_iris, 60)
    Q = X.astype(np.float32)
    for classes in (np.array([3, 5, 8]), NAMES[:3]):
        ours = RobustLDA().fit(X, classes[y])
        theirs = LogisticRegression(max_iter=1000).fit(X, classes[y])
        for options in ({}, {"zipmap": False}, {"zipmap": "columns"}, {"zipmap": False, "output_class_labels": True}):
            left, right = (skl2onnx.to_onnx(each, Q[:1], options={id(each): options}) for each in (ours, theirs))
            assert [str(o) for o in left.graph.output] == [str(o) for o in right.graph.output]
        label, P = run(skl2onnx.to_onnx(ours, X[:1]), X)  # of double precision: a zipmap cannot hold it
        assert label.tolist() == ours.predict(X).tolist()
        np.testing.assert_allclose([list(p.values()) for p in P], ours.predict_proba(X), atol=1e-6)
        assert list(P[0]) == ours.classes_.tolist()


def test_a_projection_can_be_a_step_and_any_pipeline_is_written(skl2onnx):
    X, y = some(load_wine)
    pipeline = make_pipeline(StandardScaler(), RobustLDA(decision=None), KNeighborsClassifier(3)).fit(X, y)
    label, P = run(to_onnx(pipeline), X)
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(P, pipeline.predict_proba(X), atol=1e-10)


def test_old_opsets_are_refused(skl2onnx):
    X, y = some(load_iris)
    with pytest.raises(ValueError, match="target_opset=15 is too old for MMC; use 18 or later"):
        skl2onnx.to_onnx(MMC(decision="centroid").fit(X, y), X[:1], target_opset=15)


# Tables ---------------------------------------------------------------------------------------------------------------


def table(n=160, seed=0):
    """Numbers with gaps and with units, categories with rare, binary and missing ones, and names that are no words."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    mass = np.round(3500 + 400 * y + 150 * rng.normal(size=n))
    length = 40 + 4 * (y == 1) + rng.normal(size=n)
    length[rng.random(n) < 0.15] = np.nan
    site = np.array(["north", "south", "west"])[np.where(rng.random(n) < 0.7, y, 0)].astype(object)
    site[:7] = [" north ", "rare 1", "rare 2", None, None, "rare 1", "west"]
    return pd.DataFrame(
        {
            "mass (body)": [f"{int(m):,} g" for m in mass],
            "length": length,
            "site": site,
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
            "tagged": rng.random(n) < 0.5,
            "add_1": rng.normal(size=n) - y,  # as a node would be called
            "kind": np.array(["Adelie", "Gentoo", "Chinstrap"])[y],
        }
    )


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A table, and models of it of both kinds."""
    folder = tmp_path_factory.mktemp("models")
    table().to_csv(folder / "t.csv", index=False)
    for name in ("model.onnx", "model.skops"):
        result = inside("fit", str(folder / "t.csv"), "--label", "kind", "-o", str(folder / name))
        assert result.returncode == 0, result.stderr
    return folder


def predicted(folder, model, frame):
    frame.to_csv(folder / "new.csv", index=False)
    out = folder / "out.csv"
    result = inside(
        "predict", str(folder / model), str(folder / "new.csv"), "-o", str(out), "--probabilities", "--force"
    )
    assert result.returncode == 0, result.stderr
    return pd.read_csv(out), " ".join(result.stdout.split())


def test_tables_are_predicted_alike_by_both_kinds_of_file(fitted):
    new = table(4200, seed=1)  # of more rows than are asked about together
    new.loc[3, "site"] = "Elsewhere"
    new["length"] = new["length"].astype(object)
    new.loc[4, "length"] = "inf"
    (by_graph, said), (by_skops, also) = (predicted(fitted, f"model.{ending}", new) for ending in ("onnx", "skops"))
    assert said == also
    assert "Column 'site' has values that the model has not seen, and ignores: 'Elsewhere'" in said
    assert "of the labels in 'kind' agree" in said
    assert by_graph["predicted"].tolist() == by_skops["predicted"].tolist()
    np.testing.assert_allclose(by_graph.iloc[:, 2:], by_skops.iloc[:, 2:], rtol=0, atol=1e-10)


def test_types_and_decimal_signs_of_another_table_are_read_alike_by_both_kinds_of_file(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(200) % 2
    sizes = np.where(rng.random(200) < 0.7, np.array(["7.0", "9.5"])[kind], rng.choice(["7.0", "9.5"], 200))
    weights = [f"{v:.1f} kg" for v in rng.normal(3 + kind, 0.3)]
    frame = pd.DataFrame({"w": weights, "size": sizes.astype(object), "kind": kind})
    few = frame[:40].assign(w=frame["w"][:40].str.replace(".", ","))
    few.to_csv(tmp_path / "new.csv", index=False)
    frame.loc[rng.random(200) < 0.2, "size"] = "One size"
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = []
    for ending in ("skops", "onnx"):
        model, out = str(tmp_path / f"m.{ending}"), str(tmp_path / "p.csv")
        assert inside("fit", str(tmp_path / "t.csv"), "--label", "kind", "-o", model).returncode == 0
        result = inside("predict", model, str(tmp_path / "new.csv"), "-o", out, "--force")
        assert (
            "Numbers in 'w' were read with a decimal comma, unlike those that the model was made of." in result.stdout
        )
        assert "has values that the model has not seen" not in result.stdout
        found.append(pd.read_csv(out))
    assert (found[0]["predicted"] == kind[:40]).mean() > 0.9
    assert found[0]["predicted"].tolist() == found[1]["predicted"].tolist()
    np.testing.assert_allclose(found[0]["probability"], found[1]["probability"], atol=1e-10)


def words(column):
    """Texts as a graph takes them."""
    return np.array([["" if word is None or word != word else word.strip()] for word in column], object)


def test_a_graph_of_a_table_runs_without_us(fitted):
    frame = table(40, seed=2)
    graph = onnx.load(fitted / "model.onnx")
    inputs = {
        "mass (body)": np.array([float(m[:-2].replace(",", "")) for m in frame["mass (body)"]])[:, None],
        "length": frame["length"].to_numpy()[:, None],
        "tagged": frame["tagged"].to_numpy(float)[:, None],
        "add_1": frame["add_1"].to_numpy(copy=True)[:, None],
        "site": words(frame["site"]),
        "sex": words(frame["sex"]),
    }
    assert [each.name for each in graph.graph.input] == list(inputs)
    inputs["add_1"][7] = -np.inf  # as good as missing
    frame.loc[7, "add_1"] = np.nan
    label, P = run(graph, None, **inputs)
    by_us, _ = predicted(fitted, "model.skops", frame)
    assert label.tolist() == by_us["predicted"].tolist()
    np.testing.assert_allclose(P.max(axis=1), by_us["probability"], atol=1e-10)


def test_a_table_that_lacks_something_is_refused_alike(fitted, tmp_path):
    table(20).drop(columns="site").to_csv(tmp_path / "few.csv", index=False)
    other = table(20)
    other["length"] = "long"
    other.to_csv(tmp_path / "words.csv", index=False)
    for name, words in (
        ("few", "The table lacks the column 'site'"),
        ("words", "'length' held numbers when the model"),
    ):
        out = tmp_path / "out.csv"
        result = inside("predict", str(fitted / "model.onnx"), str(tmp_path / f"{name}.csv"), "-o", str(out))
        assert result.returncode == 2
        assert words in result.stderr
        assert not out.exists()


def test_dates_and_text_are_refused_before_anything_is_fitted(tmp_path, monkeypatch):
    frame = table(120)
    frame["seen"] = pd.date_range("2020-01-01", periods=120, freq="31h")
    frame["said"] = [f"a remark of {i % 60} words, and of {i % 7} more" for i in range(120)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame[::2].to_parquet(tmp_path / "part-0.parquet", index=False)
    frame[1::2].to_parquet(tmp_path / "part-1.parquet", index=False)
    monkeypatch.setattr(RobustLDA, "fit", None)
    for name in ("t.csv", "part-*.parquet"):
        result = inside("fit", str(tmp_path / name), "--label", "kind", "-o", str(tmp_path / "model.onnx"))
        assert result.returncode == 2
        assert "not 'seen' (date), 'said' (text): name the other columns with --features" in result.stderr
        assert ".skops" in result.stderr
        assert not (tmp_path / "model.onnx").exists()


def test_tables_of_numbers_or_of_words_alone():
    frame = table(150)
    for columns in (["length", "add_1"], ["site", "sex"]):
        preparation = TablePreparation(columns=columns).fit(frame)
        model = MMC(decision="centroid").fit(preparation.transform(frame), frame["kind"].to_numpy())
        pipeline = make_pipeline(preparation, model)
        texts = columns[0] == "site"
        inputs = {name: words(frame[name]) if texts else frame[[name]].to_numpy(float) for name in columns}
        label, P = run(to_onnx(pipeline), None, **inputs)
        assert label.tolist() == pipeline.predict(frame).tolist()
        np.testing.assert_allclose(P, pipeline.predict_proba(frame), atol=1e-10)


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_the_extra_is_named_where_a_package_is_missing(fitted, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    prediction._opened.cache_clear()  # another test may have opened the model in this process
    result = inside("predict", str(fitted / "model.onnx"), str(fitted / "t.csv"), "-o", str(tmp_path / "out.csv"))
    assert result.returncode == 2
    assert f"need the package {package}: pip install 'robustlda[onnx]'" in result.stderr
    result = inside("fit", str(fitted / "t.csv"), "--label", "kind", "-o", str(tmp_path / "m.onnx"), "--quiet")
    assert result.returncode == (2 if package == "onnx" else 0), "a graph is written without being run"


# Files that are no models ---------------------------------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return (print, ("the bomb went off",))


def changed(change):
    """A model file in which something was changed."""

    def make(model):
        change(model)
        return model.SerializeToString()

    return make


def node(model, *arguments, **attributes):
    model.graph.node.insert(0, onnx.helper.make_node(*arguments, **attributes))


def outside(model):
    tensor = next(each for each in model.graph.initializer if each.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../../etc/passwd")


def doubling(model):
    """Twice as many columns in every step, by operators that are known."""
    names = ["length", *(f"wide {step}" for step in range(21)), "narrow"]
    used = next(each for each in model.graph.node if "length" in each.input)
    used.input[list(used.input).index("length")] = "narrow"
    axes = onnx.numpy_helper.from_array(np.array([1]), "axes")
    model.graph.initializer.append(axes)
    node(model, "ReduceMax", [names[-2], "axes"], ["narrow"])
    for before, after in reversed(list(pairwise(names[:-1]))):
        node(model, "Concat", [before, before], [after], axis=1)


def endless(model):
    body = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["go on"], ["again"])],
        "body",
        [
            onnx.helper.make_tensor_value_info("turn", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go on", onnx.TensorProto.BOOL, []),
        ],
        [onnx.helper.make_tensor_value_info("again", onnx.TensorProto.BOOL, [])],
    )
    node(model, "Loop", ["", ""], [], body=body)


def huge(model):
    tensor = next(each for each in model.graph.initializer if len(each.dims) == 2)
    tensor.dims[0] = 1 << 40


def beyond(model):
    """Words of which a table has no row."""
    encoder = next(each for each in model.graph.node if each.op_type == "LabelEncoder")
    next(each for each in encoder.attribute if each.name == "values_int64s").ints[0] = 1 << 30


def told(**about):
    def change(model):
        for entry in model.metadata_props:
            if entry.key in about:
                entry.value = about[entry.key]

    return changed(change)


def strange_words(model):
    entry = next(entry for entry in model.metadata_props if entry.key == "columns")
    columns = json.loads(entry.value)
    columns["site"]["words"] = [["north"], {}]
    entry.value = json.dumps(columns)
    return model.SerializeToString()


def function(model):
    model.functions.append(onnx.helper.make_function("evil", "F", [], [], [], model.opset_import))


def foreign(model):
    model.opset_import.append(onnx.helper.make_opsetid("com.evil", 1))


HOSTILE = {
    "empty": (lambda model: b"", "is not a model"),
    "text": (lambda model: b"nothing to see here", "is not a model"),
    "pickle": (lambda model: pickle.dumps(Bomb()), "is not a model"),
    "archive": (lambda model: skops.io.dumps({"format": 1, "label": "y"}), "is not a model"),
    "of somebody else": (changed(lambda model: model.ClearField("metadata_props")), "is not a model"),
    "of another version": (told(robustlda_format="2"), "another version"),
    "unknown operator": (changed(lambda model: node(model, "Tile", ["length"], ["x"])), "the operator Tile"),
    "operator of a library": (
        changed(lambda model: node(model, "Add", ["a"], ["b"], domain="com.evil")),
        "operator Add",
    ),
    "domain of a library": (changed(foreign), "operators of com.evil 1"),
    "a loop": (changed(endless), "the operator Loop"),
    "a function": (changed(function), "more than a graph"),
    "another file": (changed(outside), "a reference to another file"),
    "as wide as memory": (changed(doubling), "numbers of a row"),
    "a constant that is not there": (changed(huge), "is not a model"),
    "a row that is not there": (changed(beyond), "could not be run"),
    "a circle": (changed(lambda model: model.graph.node.reverse()), "is not a model"),
    "no outputs": (changed(lambda model: model.graph.ClearField("output")), "is not a model"),
    "no columns": (told(columns="{}"), "is not a model"),
    "columns that are no JSON": (told(columns="{"), "is not a model"),
    "deep JSON": (told(columns="[" * 100_000), "is not a model"),
    "columns with strange words": (strange_words, "is not a model"),
    "columns of another kind": (told(columns=json.dumps({"length": {"kind": "category", "words": []}})), "not a model"),
    "too few classes": (told(classes='["a", "b"]'), "gives no probabilities of its classes"),
    "classes that are no labels": (told(classes='[["a"], ["b"], ["c"]]'), "is not a model"),
    "an array for a table": (
        lambda model: to_onnx(MMC(decision="centroid").fit(*some(load_iris))).SerializeToString(),
        "is a model of arrays",
    ),
}


def refused(folder, tmp_path, content):
    """What is said about a file; a failure is one sentence, and leaves nothing."""
    path, out = tmp_path / "hostile.onnx", tmp_path / "out.csv"
    path.write_bytes(content)
    result = inside("predict", str(path), str(folder / "t.csv"), "-o", str(out), "--quiet")
    assert "went off" not in result.stdout + result.stderr
    if result.returncode == 0:
        return None
    assert result.returncode == 2
    assert "should not have happened" not in result.stderr
    assert result.stderr.startswith("robustlda: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert not out.exists()
    return result.stderr


@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_are_no_models_run_nothing(fitted, tmp_path, capfd, name):
    make, words = HOSTILE[name]
    said = refused(fitted, tmp_path, make(onnx.load(fitted / "model.onnx")))
    assert said is not None
    assert words in said
    assert capfd.readouterr().err == "", "onnxruntime speaks for itself"


def test_damaged_files_are_refused_or_harmless(fitted, tmp_path, capfd):
    content, rng = (fitted / "model.onnx").read_bytes(), np.random.default_rng(0)
    for length in np.linspace(0, len(content) - 1, 8).astype(int):
        assert refused(fitted, tmp_path, content[:length]) is not None, f"cut off at {length}"
    for _ in range(15):
        damaged = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            damaged[place] ^= 1 << rng.integers(0, 8)
        refused(fitted, tmp_path, bytes(damaged))  # what is left may be a model with another number in it
        (tmp_path / "out.csv").unlink(missing_ok=True)
    assert capfd.readouterr().err == ""


def test_a_file_too_large_is_not_read(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("robustlda.persistence.LARGEST", 1000)
    said = refused(fitted, tmp_path, (fitted / "model.onnx").read_bytes())
    assert "a model file has 0.0 GB at most" in said
