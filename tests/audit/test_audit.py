"""The audit: finds planted errors, keeps its promise about false alarms, tells outliers from wrong labels."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA, TraceRatioLDA
from robustlda.audit import farness, frames, parted_audit, picture
from robustlda.data import Blocks
from robustlda.datasets.contaminate import flip_into_next_class, flip_labels, gross_rows
from robustlda.plan import Plan


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


def test_outliers_are_not_called_mislabeled():
    X, y = table(load_digits)
    corrupted, changed = gross_rows(X, 0.05, np.random.default_rng(0))
    finding = LabelAudit().fit(corrupted, y).finding_
    assert (finding[changed] == "outlying").mean() > 0.95
    assert (finding[~changed] == "outlying").mean() < 0.03


def test_more_false_alarms_allowed_means_more_flags():
    X, y = table(load_breast_cancer)
    more = 0
    for seed in range(8):  # in some draws all that is flagged is beyond doubt
        noisy, _ = flip_labels(y, 0.3, np.random.default_rng(seed))
        audit = LabelAudit().fit(X, noisy)
        strict, default, loose = (audit.flags(share) for share in (0.01, None, 0.3))
        more += loose.sum() - strict.sum()
        assert not (strict & ~default).any()
        assert not (default & ~loose).any()
        if default.any():
            expected = (1 - audit.probability_wrong_[default]).mean()
            assert expected <= 0.05 + 1e-9
    assert more > 0


def test_cleaned_labels_are_nearer_to_the_truth():
    X, y = table(load_wine)
    noisy, _ = flip_labels(y, 0.2, np.random.default_rng(0))
    audit = LabelAudit().fit(X, noisy)
    cleaned, keep = audit.cleaned()
    assert (cleaned == y).mean() > (noisy == y).mean()
    assert keep.mean() > 0.85


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frame_is_of_the_kind_that_was_given(kind):
    X, y = table(load_iris)
    frame = kind({f"f{j}": X[:, j] for j in range(4)})
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    result = LabelAudit().fit(frame, names, ids=[f"row {i}" for i in range(150)]).to_frame()
    assert type(result) is type(frame)
    ranks = result["rank"].to_pylist() if kind is pa.table else list(result["rank"])
    assert ranks == list(range(1, 151))


def test_arrays_come_back_in_pandas_or_without_it_as_an_arrow_table(monkeypatch):
    X, y = table(load_iris)
    audit = LabelAudit().fit(X, y)
    assert isinstance(audit.to_frame(), pd.DataFrame)
    assert list(audit.to_frame().columns[:3]) == ["id", "given", "suggested"]
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    assert isinstance(audit.to_frame(), pa.Table)
    assert audit.to_frame().column_names[:3] == ["id", "given", "suggested"]


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


def test_an_audit_that_is_not_fitted_says_so():
    for question in ("flags", "to_review", "suspects", "checked_rows", "cleaned", "to_frame"):
        with pytest.raises(NotFittedError):
            getattr(LabelAudit(), question)()


def test_ids_must_match():
    X, y = table(load_iris)
    with pytest.raises(ValueError, match="There are 3 ids for 150 samples"):
        LabelAudit().fit(X, y, ids=[1, 2, 3])


def test_farness_is_uniform_on_gaussian_classes():
    rng = np.random.default_rng(0)
    squared = (rng.normal(size=(20_000, 1, 5)) ** 2).sum(axis=2)
    none, believed = np.zeros(20_000, int), np.ones(20_000, bool)
    scales = farness.scales(squared, squared[:, 0], none, believed)
    p = farness.probability(scales.own(squared[:, 0], none))
    assert_allclose(np.quantile(p, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.02)
    alike = farness.scales(np.ones((5, 1)), np.ones(5), none[:5], believed[:5])
    assert_array_equal(alike.anywhere(np.ones((5, 1)), np.ones(5)), np.zeros(5))


@pytest.mark.parametrize(("d", "shares"), [(2, (1, 1, 1)), (5, (17, 3)), (2, (9, 1)), (5, (1,) * 10)])
def test_features_that_know_nothing_say_nothing(d, shares):
    audits = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.choice(len(shares), 500, p=np.array(shares) / sum(shares))
        audits.append(LabelAudit().fit(rng.normal(size=(500, d)), y))
    # Of two hundred tables of noise, labels follow one by chance.
    audit = sorted(audits, key=lambda audit: audit.noise_rate_)[1]
    y = audit.given_
    assert audit.n_mislabeled_ == 0
    assert audit.noise_rate_ < 0.01
    assert audit.noise_interval_[0] == 0
    by_chance = 1 - (np.bincount(y) ** 2).sum() / 500**2
    assert audit.noise_interval_[1] > 0.9 * by_chance
    assert "cannot tell the classes apart" in audit.noise_reason_


def test_members_of_a_rare_wide_class_are_no_outliers():
    outlying, mislabeled = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rare = np.arange(2000) % 20 == 0
        X = rng.normal(size=(2000, 6)) * np.where(rare, 3.0, 1.0)[:, None]
        X[rare, 0] += 12
        given = np.where(rare & (rng.random(2000) < 0.2), False, rare)
        audit = LabelAudit().fit(X, given)
        outlying.append((audit.finding_[rare & given] == "outlying").mean())
        mislabeled.append((audit.finding_[rare & ~given] == "mislabeled").mean())
    assert np.mean(outlying) < 0.1
    assert np.median(mislabeled) > 0.5  # in one draw of twenty the errors look like overlap, and none is found


def test_resampling_averages_beliefs_and_widens_the_interval():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    given, wrong = flip_labels(y, 0.2, np.random.default_rng(0))
    once = LabelAudit().fit(X, given)
    often = LabelAudit(n_resamples=4, random_state=0).fit(X, given)
    again = LabelAudit(n_resamples=4, random_state=0).fit(X, given)
    assert_array_equal(often.probability_wrong_, again.probability_wrong_)
    assert (often.probability_wrong_ != once.probability_wrong_).any()
    assert average_precision_score(wrong, often.probability_wrong_) > 0.9
    assert often.noise_interval_[0] <= 0.2 <= often.noise_interval_[1]
    assert often.noise_rate_ == pytest.approx(often.probability_wrong_.mean())
    with pytest.raises(ValueError, match="n_resamples=-1 must be a whole number"):
        LabelAudit(n_resamples=-1).fit(X, given)


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


def confused_by_looks(n=1000, gap=3.5):
    """Four classes, two of them confused, and most labels given by what samples look like."""
    rng = np.random.default_rng(0)
    true, centers = np.arange(n) % 4, gap * np.eye(4, 6)
    X = centers[true] + rng.normal(size=(n, 6))
    p = softmax(-0.5 * ((X[:, None] - centers) ** 2).sum(axis=2), axis=1)
    alike = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    seen = np.where(rng.random(n) < 0.7, alike, true)
    return X, np.where((seen < 2) & (rng.random(n) < 0.3), 1 - seen, seen), true


def test_checks_do_not_change_what_features_suggest():
    """Beliefs divided by how many labels are wrong would suggest classes that are hardly ever missed."""
    X, given, true = confused_by_looks()
    before = LabelAudit().fit(X, given)
    after = LabelAudit().fit(X, given, verified={int(i): true[i] for i in before.to_review(30)})
    right, still_right = ((audit.suggested_ == true).mean() for audit in (before, after))
    assert right > 0.95
    assert still_right > right - 0.01


def test_the_audit_says_the_same_of_rows_it_has_not_learned_from(monkeypatch):
    X, given, _ = confused_by_looks(2000, gap=2.5)
    all_, some = LabelAudit(), LabelAudit()
    all_.fit(X, given)
    monkeypatch.setattr(RobustLDA, "plan", Plan(max_samples=1000))
    some.fit(X, given)
    assert some.noise_rate_ == pytest.approx(all_.noise_rate_, abs=0.02)
    assert (some.suggested_ == all_.suggested_).mean() > 0.95
    assert np.abs(some.probability_wrong_ - all_.probability_wrong_).mean() < 0.03


def few_distinct_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    true = np.arange(n) % 2
    X = rng.integers(0, 4, (n, 3)).astype(float)
    X[:, 0] += 2 * true
    return X, true, rng


def test_a_check_counts_for_its_row_only_where_copies_stand_for_each_other(monkeypatch):
    """Above the rows that are learned from, copies are learned from once."""
    X, true, rng = few_distinct_rows(3000)
    given = np.where(rng.random(3000) < 0.05, 1 - true, true)
    row = int(np.flatnonzero(given == true)[0])
    copies = np.flatnonzero((X == X[row]).all(axis=1) & (given == given[row]))
    said = {}
    for most in (20_000, 500):
        monkeypatch.setattr(RobustLDA, "plan", Plan(max_samples=most))
        for checked in copies[[0, 4]]:
            audit = LabelAudit().fit(X, given, verified={int(checked): given[row]})
            others = audit.probability_wrong_[np.setdiff1d(copies, checked)]
            assert audit.probability_wrong_[checked] == 0
            assert_allclose(others, others[0], atol=1e-6)
            said[most, checked] = others[0]
    assert_allclose(list(said.values()), said[20_000, copies[0]], atol=0.02)
    assert min(said.values()) > 1e-3


def test_every_checked_row_teaches_however_many_rows_there_are(monkeypatch):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + 1.5 * np.outer(true, [1, 0])
    given = np.where(rng.random(6000) < 0.2, 1 - true, true)
    monkeypatch.setattr(RobustLDA, "plan", Plan(max_samples=500))
    rows = rng.permutation(6000)[:150]
    audit = LabelAudit().fit(X, given, verified={int(row): true[row] for row in rows})
    found = (given != true)[rows].mean()
    assert abs(audit.noise_rate_ - found) < 0.08
    low, high = audit.noise_interval_
    assert high - low < 0.2  # .5 if hardly one of them had been seen


def test_copies_keep_their_own_answers_where_they_stand_for_each_other(monkeypatch):
    X, true, rng = few_distinct_rows(3000)
    answers = np.stack([np.where(rng.random(3000) < error, 1 - true, true) for error in (0.05, 0.15, 0.3)], axis=1)
    monkeypatch.setattr(RobustLDA, "plan", Plan(max_samples=500))
    model = RobustLDA().fit(X, answers)
    right = model.annotator_confusion_[:, [0, 1], [0, 1]].mean(axis=1)
    assert_allclose(right, [0.95, 0.85, 0.7], atol=0.04)


def test_priors_are_for_predictions_and_change_nothing_that_is_said_about_labels(monkeypatch):
    X, true, rng = few_distinct_rows(1500)
    given = np.where(rng.random(1500) < 0.1, 1 - true, true)
    for most in (20_000, 300):
        monkeypatch.setattr(RobustLDA, "plan", Plan(max_samples=most))
        usual, asked = (LabelAudit(RobustLDA(priors=priors)).fit(X, given) for priors in (None, [0.95, 0.05]))
        assert_array_equal(asked.probability_wrong_, usual.probability_wrong_)
        assert_array_equal(asked.estimator_.components_, usual.estimator_.components_)
        assert (asked.estimator_.predict(X) == 0).sum() > (usual.estimator_.predict(X) == 0).sum()


def test_a_mask_of_checked_rows_stays_one_where_labels_are_missing():
    X, y = load_wine(return_X_y=True)
    for labels in (np.array(["a", "b", "c"], object)[y], (y == 0).astype(object)):
        frame = pd.DataFrame(X).add_prefix("m").assign(kind=labels)
        frame.loc[50, "kind"] = None
        mask = np.arange(len(y)) < 40
        expected = LabelAudit().fit(frame, "kind", verified=mask)
        assert expected.n_verified_ == 40
        assert expected.verified_[:40].all()
        listed = LabelAudit().fit(frame, "kind", verified=mask.tolist())
        assert_array_equal(listed.verified_, expected.verified_)


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


def test_checked_rows_do_not_pay_for_false_alarms_among_others():
    X, given, true = confused_by_looks()
    before = LabelAudit(max_false_alarm=0.05).fit(X, given)
    rows = np.argsort(before.rank_)[: before.n_worth_checking_]
    after = LabelAudit(max_false_alarm=0.05).fit(X, given, verified={int(i): true[i] for i in rows})
    checked, flags = after.verified_, after.flags()
    assert_array_equal(flags[checked], (given != true)[checked])
    doubted = after.probability_wrong_[flags & ~checked]
    assert not len(doubted) or (1 - doubted).mean() <= 0.05
    everything = after.flags(0.5)[~checked]
    assert_array_equal(everything[after.probability_wrong_[~checked] > 0.99], True)  # some flags are left to be found
    assert not np.isin(after.suspects(), rows).any()
    assert set(after.checked_rows()) == set(rows)


def test_a_wrong_label_that_a_person_has_found_is_flagged_also_if_it_is_an_outlier():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X[5] = 40.0
    given = y.copy()
    given[5] = 2
    assert LabelAudit().fit(X, given).finding_[5] == "outlying"
    audit = LabelAudit().fit(X, given, verified={5: y[5]})
    assert audit.finding_[5] == "mislabeled"
    assert audit.flags()[5]
    assert audit.cleaned()[0][5] == y[5]


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


MASKS = {
    "list": lambda mask: mask.tolist(),
    "objects": lambda mask: mask.astype(object),
    "gaps": lambda mask: [True if right else None for right in mask],
    "nullable": lambda mask: pd.Series([True if right else pd.NA for right in mask], dtype="boolean"),
    "polars": lambda mask: pl.Series([True if right else None for right in mask]),
    "arrow": lambda mask: pa.array([True if right else None for right in mask]),
    "masked": lambda mask: np.ma.array(np.ones(len(mask), bool), mask=~mask),
    "dict": lambda mask: dict.fromkeys(np.flatnonzero(mask).tolist(), True),
}


@pytest.mark.parametrize("form", MASKS.values(), ids=MASKS)
def test_a_mask_is_one_in_every_form_and_never_labels(form):
    X, given, true = human_errors(150)
    mask = (given == true) & (np.arange(150) % 4 == 0)
    frame = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 75)
    names = np.array(["a", "b", "c"])[given]
    expected = LabelAudit().fit(X, given, verified=mask)
    for labels in (given, names):
        audit = LabelAudit().fit(X, labels, verified=form(mask))
        assert_array_equal(audit.verified_, mask)
        assert_array_equal(audit.probability_wrong_, expected.probability_wrong_)
    model = RobustLDA().fit(X, given, verified=form(mask))
    assert model.noise_rate_ == RobustLDA().fit(X, given, verified=mask).noise_rate_
    assert_array_equal(LabelAudit().fit(frame, names, verified=form(mask)).verified_, mask)
    assert_array_equal(LabelAudit().fit(frame.assign(kind=names), "kind", verified=form(mask)).verified_, mask)
    # Where labels are true and false themselves, an array of some of them is one of labels.
    found = LabelAudit().fit(X, given > 0, verified=np.where(mask, True, None))
    assert_array_equal(found.suggested_[mask], np.ones(mask.sum(), bool))


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_what_nobody_has_checked_may_be_missing_in_any_way(nothing):
    X, given, true = human_errors(150)
    names, right = (np.array(["a", "b", "c"], object)[labels] for labels in (given, true))
    seen = np.arange(150) % 4 == 0
    column = pd.Series([name if here else nothing for name, here in zip(right, seen, strict=True)])
    frame = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 75)
    for verified in (column, column.to_dict(), column.tolist(), np.ma.array(right.astype(str), mask=~seen)):
        assert_array_equal(LabelAudit().fit(X, names, verified=verified).verified_, seen)
        assert_array_equal(LabelAudit().fit(frame, names, verified=verified).verified_, seen)
        assert_array_equal(LabelAudit().fit(frame.assign(kind=names), "kind", verified=verified).verified_, seen)
        RobustLDA().fit(X, names, verified=verified)


def test_what_nobody_has_found_about_rows_that_were_set_aside_changes_nothing():
    X, given, _ = human_errors(150)
    frame = pd.DataFrame(X).add_prefix("m").assign(kind=np.array(["a", "b", "c"])[given])
    frame.loc[[3, 4], "kind"] = "z"
    frame.loc[5, "kind"] = None
    expected = LabelAudit().fit(frame, "kind", verified={7: "b"})
    assert len(expected.ids_) == 147
    audit = LabelAudit().fit(frame, "kind", verified={3: np.nan, 4: None, 5: pd.NA, 7: "b"})
    assert_array_equal(audit.probability_wrong_, expected.probability_wrong_)
    with pytest.raises(ValueError, match="row 3, which has no label in column 'kind', or one that was set aside"):
        LabelAudit().fit(frame, "kind", verified={3: True, 7: True})


@pytest.mark.parametrize(
    ("verified", "message"),
    [
        ({400: 0}, "rows are whole numbers from 0 to 299"),
        ({3: 9}, "the label 9"),
        ({3: 0, 5: True}, "true or false beside labels"),
        ([True, False], r"shape \(2,\)"),
        (dict.fromkeys(range(300), 1), "No sample is left in class 0"),
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


# What the plane is made of


def test_loadings_are_correlations_of_features_with_the_axes():
    frame = load_wine(as_frame=True)
    audit = LabelAudit().fit(frame.data, frame.target)
    expected = [np.corrcoef(frame.data.to_numpy().T, axis)[-1, :-1] for axis in audit.plane_.T]
    assert_allclose(audit.plane_loadings_, expected, atol=1e-9)
    (first, correlation), *_ = audit.plane_features(0)
    with pytest.raises(ValueError, match="axis is 5; give 0 or 1"):
        audit.plane_features(5)
    assert first == "flavanoids"
    assert abs(correlation) == np.abs(audit.plane_loadings_[0]).max()


@pytest.mark.parametrize("estimator", [RobustLDA(), TraceRatioLDA(decision="noise_aware")])
def test_the_plane_of_two_classes_hangs_on_no_order_of_rows(estimator):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 8)) @ rng.normal(size=(8, 8)) + 2 * rng.normal(size=(2, 8))[y]
    audit, order = LabelAudit(estimator).fit(X, y), rng.permutation(120)
    assert (np.linalg.svd(audit.plane_ - audit.plane_.mean(axis=0))[1] > 1).all()
    for stored in (X[order], csr_array(X[order]), np.asfortranarray(X[order]) * 1024):
        other = LabelAudit(estimator).fit(stored, y[order])
        assert_allclose(other.plane_, audit.plane_[order], atol=1e-6)
        assert_allclose(other.plane_loadings_, audit.plane_loadings_, atol=1e-6)


def test_what_was_checked_in_a_table_has_a_value_for_each_row():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(np.arange(150) == 7, None, y.astype(str)))
    for values in (np.ones(20, bool), ["0"] * 20, np.ones(151, bool)):
        with pytest.raises(ValueError, match=f"verified has {len(values)} values: give one for each row of the table"):
            LabelAudit().fit(frame, "kind", verified=values)
    for n in (150, 149):  # or for each row with a label
        assert LabelAudit().fit(frame, "kind", verified=[*[None] * (n - 1), "2"]).verified_[-1]


def test_every_sample_needs_an_image(tmp_path):
    audit = LabelAudit().fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="There are 10 images for 150 samples; give one for each"):
        audit.report(tmp_path / "page.html", images=np.zeros((10, 16)))


def test_features_are_named_on_request_and_not_made_up():
    X, y = load_wine(return_X_y=True)
    constant = np.column_stack([X, np.full(len(y), 1e6)])
    named = LabelAudit().fit(constant, y, features=[f"column {j}" for j in range(14)])
    assert named.plane_features(1, 1)[0][0].startswith("column ")
    assert named.plane_loadings_[:, 13].tolist() == [0, 0]
    assert LabelAudit().fit(X, y).plane_features(0) == []
    with pytest.raises(ValueError, match="3 names for 13 features"):
        LabelAudit().fit(X, y, features=["a", "b", "c"])
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(y == 1, "red", "white")})
    for table, labels in ((frame, "kind"), (frame, y), (frame, ["kind"])):
        with pytest.raises(ValueError, match="called after these: leave features out"):
            LabelAudit().fit(table, labels, features=["a"])


def test_an_outlier_is_not_flagged_whatever_its_label():
    X, y = load_iris(return_X_y=True)
    y[7], y[60] = 2, 0
    X[7] += [6, 6, 0, 0]
    audit = LabelAudit().fit(X, y)
    assert audit.finding_[7] == "outlying"
    assert audit.finding_[60] == "mislabeled"
    assert_array_equal(audit.flags(), audit.finding_ == "mislabeled")
    assert audit.cleaned()[0][7] == 2


@pytest.mark.parametrize("by_name", [True, False])
def test_samples_are_called_by_the_index_of_a_frame(by_name):
    frame = load_iris(as_frame=True).frame
    frame["target"] = frame["target"].map({0: "a", 1: "b", 2: "c"}).astype(object)
    frame = frame.sample(frac=1, random_state=0)
    frame.iloc[3, -1] = {"a": "b", "b": "c", "c": "a"}[frame.iloc[3, -1]]
    wrong = frame.index[3]
    if by_name:
        frame.iloc[10, -1] = None
        audit = LabelAudit().fit(frame, "target")
        assert len(audit.ids_) == 149
    else:
        audit = LabelAudit().fit(frame.drop(columns="target"), frame["target"])
    assert wrong in audit.to_frame()["id"].head(8).tolist()
    assert frame.loc[audit.ids_, "target"].tolist() == audit.given_.tolist()
    doubled = LabelAudit().fit(
        pd.concat([frame, frame]).dropna().drop(columns="target"), list(frame["target"].dropna()) * 2
    )
    assert_array_equal(doubled.ids_, np.arange(len(doubled.ids_)))  # an index that does not tell rows apart


@pytest.mark.parametrize("judge", [None, LogisticRegression(max_iter=1000)])
def test_labels_in_a_column_of_their_own_and_missing_ones(judge):
    X, y = load_wine(return_X_y=True)
    X, names = StandardScaler().fit_transform(X), np.array(["a", "b", "c"], object)[y]
    expected = LabelAudit(judge).fit(X, names).probability_wrong_
    assert_array_equal(LabelAudit(judge).fit(X, names[:, None]).probability_wrong_, expected)
    for missing in (None, np.nan, pd.NA):
        labels = np.array([missing, *names[1:]], object)
        for given in (labels, pd.Series(labels, dtype="string"), pd.Series(pd.Categorical(labels))):
            for fitted in (LabelAudit(judge), RobustLDA()):
                with pytest.raises(ValueError, match="y has 1 missing labels; leave these rows out"):
                    fitted.fit(X, given)
            with pytest.raises(ValueError, match="y has 1 missing labels; leave out these rows of y and P"):
                LabelAudit.from_probabilities(np.full((len(y), 3), 1 / 3), given)
            words = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 89)
            assert_array_equal(LabelAudit().fit(words, given).ids_, np.arange(1, len(y)))
    with pytest.raises(ValueError, match="labels of several types, number and str"):
        LabelAudit(judge).fit(X, np.array([3, *names[1:]], object))
    with pytest.raises(ValueError, match=r"y has shape \(\); give one label for each row of X"):
        LabelAudit(judge).fit(X, 3)


MISSING = {
    "NaN in a list of texts": lambda names: [float("nan"), *names[1:].tolist()],
    "NaN in a tuple": lambda names: (float("nan"), *names[1:].tolist()),
    "NaN in a list of lists": lambda names: [[name] for name in [float("nan"), *names[1:].tolist()]],
    "masked texts": lambda names: np.ma.array(names, mask=np.arange(len(names)) < 1),
    "masked numbers": lambda names: np.ma.array(
        np.unique(names, return_inverse=True)[1], mask=np.arange(len(names)) < 1
    ),
}


@pytest.mark.parametrize("form", MISSING.values(), ids=MISSING)
def test_what_is_missing_is_no_class_and_what_is_masked_stays_so(form):
    X, y = load_wine(return_X_y=True)
    given = form(np.array(["a", "b", "c"])[y])
    for fitted in (LabelAudit(), LabelAudit(LogisticRegression()), RobustLDA()):
        with pytest.raises(ValueError, match="y has 1 missing labels; leave these rows out"):
            fitted.fit(X, given)
    with pytest.raises(ValueError, match="y has 1 missing labels; leave out these rows of y and P"):
        LabelAudit.from_probabilities(np.full((len(y), 3), 1 / 3), given)
    words = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 89)
    audit = LabelAudit().fit(words, given)
    assert_array_equal(audit.ids_, np.arange(1, len(y)))
    assert len(audit.classes_) == 3


def test_an_answer_that_is_missing_from_a_list_is_none():
    X, y = load_wine(return_X_y=True)
    names = np.array(["a", "b", "c"])[y].tolist()
    answers = [[name, name] for name in names[:-1]] + [[names[-1], float("nan")]]
    assert_array_equal(RobustLDA().fit(X, answers).classes_, ["a", "b", "c"])
    words = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 89)
    for rows in (X, words):
        assert_array_equal(LabelAudit().fit(rows, answers).annotator_answers_, [178, 177])


def test_names_among_numbers_are_refused_in_a_list_too():
    X, y = load_wine(return_X_y=True)
    names = [3, *np.array(["a", "b", "c"])[y][1:].tolist()]
    words = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 89)
    for fitted, rows in ((RobustLDA(), X), (LabelAudit(), X), (LabelAudit(), words)):
        with pytest.raises(ValueError, match="labels of several types, number and str"):
            fitted.fit(rows, names)
    texts = [*np.array(["a", "b"])[y[1:] % 2], "a"]  # some of them NumPy's
    assert LabelAudit().fit(X, texts).classes_.dtype == RobustLDA().fit(X, texts).classes_.dtype == np.dtype("U1")


def test_frames_of_words_take_labels_and_answers_in_every_form():
    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame(X).add_prefix("m").assign(word=["up", "down"] * 89, label=1.0)
    names = np.array(["a", "b", "c"])[y]
    expected = LabelAudit().fit(frame.assign(kind=names), "kind").probability_wrong_
    for labels in (names, names[:, None], pd.DataFrame({"kind": names}), pl.DataFrame({"kind": names})):
        assert_array_equal(LabelAudit().fit(frame, labels).probability_wrong_, expected)
    answers = np.column_stack([names, np.roll(names, 9), names]).astype(object)
    answers[::3, 0] = None
    answered = frame.assign(**dict(zip("pqr", answers.T, strict=True)))
    expected = LabelAudit().fit(answered, ["p", "q", "r"])
    for given in (answers, answers.tolist(), pd.DataFrame(answers)):
        audit = LabelAudit().fit(frame, given)
        assert_array_equal(audit.probability_wrong_, expected.probability_wrong_)
        assert_array_equal(audit.annotator_accuracy_, expected.annotator_accuracy_)
    for few in (names[:5, None], answers[:5]):
        with pytest.raises(ValueError, match="X has 178 rows, but y has 5 labels; give one for each"):
            LabelAudit().fit(frame, few)


def test_gaps_in_features_are_refused_with_a_way_out():
    X, y = load_wine(return_X_y=True)
    X[3, 2] = np.nan
    for fitted in (LabelAudit(), RobustLDA()):
        with pytest.raises(ValueError, match=r"Input X contains NaN. Fill the gaps first: .*TablePreparation"):
            fitted.fit(X, y)
    with pytest.raises(ValueError, match="y is 'kind', a single text; pass the labels themselves"):
        RobustLDA().fit(X, "kind")


def test_what_was_checked_may_go_by_ids():
    X, y = load_wine(return_X_y=True)
    frame = pd.DataFrame(X).add_prefix("m").assign(kind=y, tag=[f"P-{i}" for i in range(len(y))])
    by_row = LabelAudit().fit(frame, "kind", ids="tag", verified={11: 1})
    by_id = LabelAudit().fit(frame, "kind", ids="tag", verified={"P-11": 1})
    assert_array_equal(by_id.probability_wrong_, by_row.probability_wrong_)
    with pytest.raises(ValueError, match="verified names row 'P-911', which has no label in column 'kind'"):
        LabelAudit().fit(frame, "kind", ids="tag", verified={"P-911": 1})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("word", [False, True])
def test_a_column_may_hold_the_ids_wherever_the_labels_are(kind, word):
    X, y = load_wine(return_X_y=True)
    columns = {f"m{k}": X[:, k] for k in range(13)} | ({"word": ["up", "down"] * 89} if word else {})
    tags = [f"P-{i}" for i in range(len(y))]
    expected = LabelAudit().fit(kind(columns), y, tags, verified={"P-11": 1})
    audit = LabelAudit().fit(kind(columns | {"tag": tags}), y, "tag", verified={"P-11": 1})
    assert_array_equal(audit.ids_, tags)
    assert_array_equal(audit.probability_wrong_, expected.probability_wrong_)
    assert_array_equal(audit.feature_names_, expected.feature_names_)
    for rows in (kind(columns), X):
        with pytest.raises(ValueError, match="ids='tag' names no column of X"):
            LabelAudit().fit(rows, y, "tag")


def shuffled_wine():
    """A shuffled frame with a few labels wrong, and the right ones."""
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "kind"}).sample(frac=1, random_state=0)
    right = frame["kind"].copy()
    frame.loc[range(0, 178, 9), "kind"] = 0
    return frame, right


def test_ids_of_a_shuffled_frame_name_rows_and_not_positions():
    frame, right = shuffled_wine()
    features, y = frame.drop(columns="kind"), frame["kind"]
    tagged = frame.reset_index(names="tag")
    proba = pd.DataFrame(np.full((len(y), 3), 0.2) + 0.4 * np.eye(3)[right], frame.index, [0, 1, 2])
    found = {row: right[row] for row in frame.index[LabelAudit().fit(frame, "kind").to_review(30)]}
    mapped = right.where(right.index.isin(found)).to_numpy()
    for fitted in (
        lambda verified: LabelAudit().fit(frame, "kind", verified=verified),
        lambda verified: LabelAudit().fit(tagged, "kind", "tag", verified=verified),
        lambda verified: LabelAudit().fit(features, y, verified=verified),
        lambda verified: LabelAudit().fit(features.assign(kind="a"), y, verified=verified),
        lambda verified: LabelAudit().fit(features.to_numpy(), y, frame.index, verified=verified),
        lambda verified: LabelAudit.from_probabilities(proba, y, verified=verified),
    ):
        audit = fitted(found)
        assert set(audit.ids_[audit.verified_].tolist()) == set(found)
        assert_array_equal(audit.probability_wrong_, fitted(mapped).probability_wrong_)
    assert LabelAudit().fit(frame, "kind", verified=found).noise_rate_ < 0.1


def test_positions_are_no_ids_where_they_could_be_either():
    frame, right = shuffled_wine()
    part = frame[frame.index % 2 == 0]
    for data in ((part, "kind"), (part.drop(columns="kind"), part["kind"])):
        with pytest.raises(ValueError, match=r"names row 1, which is no id, besides rows that are; .* X\.index\["):
            LabelAudit().fit(*data, verified={0: 0, 1: 1})
        with pytest.raises(ValueError, match=r"names row 177, which (has no label|is neither an id nor a position)"):
            LabelAudit().fit(*data, verified={177: 1})
        assert LabelAudit().fit(*data, verified={1: right[part.index[1]]}).verified_[1]  # as nothing else is meant
    twice = frame.assign(tag=np.arange(178) // 2)
    with pytest.raises(ValueError, match="names row 3, but 2 rows have this id; give each an id of its own"):
        LabelAudit().fit(twice, "kind", "tag", verified={3: 0})


def test_an_audit_in_parts_that_fails_leaves_what_was_there_before(monkeypatch):
    X, y = load_wine(return_X_y=True)
    audit = LabelAudit().fit(X, y)
    before = audit.noise_rate_, audit.n_samples_, audit.to_review(5).tolist()

    def lost(*_):
        raise OSError("a worker was lost")

    monkeypatch.setattr(picture, "plane", lost)  # which comes last
    with pytest.raises(OSError, match="a worker was lost"):
        audit.fit(Blocks([(X[:90], y[:90] % 2)]), None)
    assert (audit.noise_rate_, audit.n_samples_, audit.to_review(5).tolist()) == before


def test_neither_outliers_nor_checked_rows_count_among_flagged_ones_in_parts():
    wrong, z = np.array([0.9, 0.9, 0.9, 0.2]), np.array([0.0, 99, 0, 0])
    counts, right = parted_audit._by_grain(5.0, wrong, np.array([False, False, True, False]), z)
    assert counts.sum() == 2
    assert right.sum() == pytest.approx(0.1 + 0.8)
