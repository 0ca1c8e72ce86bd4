"""What holds for every decision rule, with every estimator and every kind of storage."""

from dataclasses import astuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from robustlda import DLE, MMC, LabelAudit, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.data import as_store
from robustlda.data.centered import CenteredBlock
from robustlda.datasets.contaminate import flip_labels, gross_rows
from robustlda.decision import RULES
from robustlda.decision.rule import CenteredRows, Distances
from robustlda.estimators import fit_decision
from robustlda.plan import Plan


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(params=RULES)
def rule(request):
    return request.param


@pytest.mark.parametrize("kind", [RobustLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])
def test_every_estimator_accepts_every_rule(kind, rule, wine):
    X, y = wine
    model = kind(decision=rule).fit(X, y)
    assert model.score(X, y) > 0.95
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_allclose(model.priors_.sum(), 1)
    assert hasattr(model, "noise_rate_") == hasattr(model, "transition_")


@pytest.mark.parametrize("kind", [RobustLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE])
def test_every_estimator_reads_mapped_files(kind, rule, wine, tmp_path):
    X, y = wine
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model, plain = kind(decision=rule), kind(decision=rule).fit(X, y)
    model.plan = Plan(block=25 * 13, predict_rows=10)
    model.fit(mapped, y)
    assert_allclose(model.predict_proba(mapped), plain.predict_proba(X), atol=1e-6)
    assert_allclose(np.abs(model.transform(mapped)), np.abs(plain.transform(X)), atol=1e-6)


@pytest.mark.parametrize("rows", [1, 50, 10_000])
def test_how_many_rows_are_predicted_at_a_time_changes_nothing(rule, wine, rows):
    X, y = wine
    model = RobustLDA(decision=rule).fit(X, y)
    expected = model.predict_log_proba(csr_array(X))
    model.plan = Plan(predict_rows=rows)
    assert len(list(model.rule_rows(X).blocks())) == -(-len(y) // rows)
    assert_allclose(model.predict_log_proba(X), expected, atol=1e-8)


def test_rules_see_some_rows_at_a_time(wine):
    X, _ = wine
    blocks = list(CenteredRows(as_store(X), X.mean(axis=0), Plan(predict_rows=100)).blocks())
    assert [rows for rows, _ in blocks] == [slice(0, 100), slice(100, 178)]
    assert_allclose(blocks[1][1].rows(), X[100:] - X.mean(axis=0))
    small = CenteredRows(as_store(X), X.mean(axis=0), Plan(predict_rows=100, block=10 * 13))
    assert next(small.blocks())[0] == slice(0, 10)


def test_beliefs_are_probabilities_of_every_training_sample(rule, wine):
    X, y = wine
    decision = fit_decision(RobustLDA(decision=rule), X, y)
    assert (decision.beliefs is None) == (decision.label_noise is None)
    if decision.beliefs is not None:
        assert decision.beliefs.shape == (178, 3)
        assert_allclose(decision.beliefs.sum(axis=1), 1)
    assert fit_decision(MMC(decision=None), X, y) is None


def test_samples_of_no_weight_are_not_there(rule, wine):
    X, y = wine
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    some = RobustLDA(decision=rule).fit(X[weight > 0], y[weight > 0])
    weighted = RobustLDA(decision=rule).fit(X, y, weight)
    assert_allclose(weighted.predict_proba(X), some.predict_proba(X), atol=1e-9)


# The committee


def test_a_committee_has_two_stages_and_four_members_in_common(wine):
    rule = RobustLDA().fit(*wine).rule_
    assert [type(member).__name__ for member in rule.members] == ["LocalMember", *["CloudMember"] * 2, "StepMember"]
    assert len(rule.stages) == 2
    for stage in rule.stages:
        assert stage.erring.weights.shape == (5,)
        assert stage.erring.weights.min() > 0


def test_a_sample_that_was_not_learned_from_is_believed_by_the_rule():
    X, y = load_digits(return_X_y=True)
    y, wrong = flip_labels(y, 0.1, np.random.default_rng(0))
    model = RobustLDA()
    model.plan = Plan(max_samples=600)
    decision = fit_decision(model, X, y)
    suspicion = 1 - decision.beliefs[np.arange(len(y)), y]
    assert wrong[np.argsort(-suspicion)[: wrong.sum()]].mean() > 0.9
    assert abs(model.noise_rate_ - 0.1) < 0.03


def test_labels_of_far_samples_do_not_count_as_wrong(wine):
    X, y = wine
    far, _ = gross_rows(X, 0.1, np.random.default_rng(0))
    assert RobustLDA().fit(far, y).noise_rate_ < 0.03
    flipped = [flip_labels(y, 0.2, np.random.default_rng(seed)) for seed in range(1, 6)]
    off = [abs(RobustLDA().fit(X, given).noise_rate_ - wrong.mean()) for given, wrong in flipped]
    assert np.median(off) < 0.05


def test_distances_of_blocks_are_distances_of_all(wine):
    X, y = wine
    model = RobustLDA().fit(X, y)
    whole = model.rule_.measure(CenteredBlock(as_store(X).block(slice(0, 178)), model.center_))
    rows = CenteredRows(as_store(X), model.center_, Plan(predict_rows=40))
    joined = Distances(*rows.collect(lambda block: astuple(model.rule_.measure(block)), outputs=3))
    for name in ("squared", "outside", "plane"):
        assert_allclose(getattr(joined, name), getattr(whole, name), atol=1e-9)
    assert joined.plane.shape == (178, 2)
    assert_array_equal(joined.squared.argmin(axis=1)[:5], y[:5])


def test_an_audit_reads_a_mapped_file(wine, tmp_path):
    X, y = wine
    y, _ = flip_labels(y, 0.1, np.random.default_rng(0))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found, expected = LabelAudit().fit(mapped, y), LabelAudit().fit(X, y)
    for name in ("probability_wrong_", "farness_", "farness_any_", "outlyingness_"):
        assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-6)
    assert_array_equal(found.finding_, expected.finding_)
    assert_array_equal(found.rank_, expected.rank_)
