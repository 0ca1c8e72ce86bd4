"""Audits by other classifiers and by probabilities from elsewhere: held out, explained, and kept."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from robustlda import LabelAudit, RobustLDA
from robustlda.audit import by_classifier
from robustlda.datasets.contaminate import flip_into_next_class, flip_labels

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def flipped(load=load_wine, share=0.15, flip=flip_labels, seed=0):
    X, y = load(return_X_y=True)
    given, wrong = flip(y, share, np.random.default_rng(seed))
    return X, given, wrong


def held_out(X, y, cv=5):
    return cross_val_predict(LOGISTIC, X, y, cv=cv, method="predict_proba")


# Any classifier


@pytest.mark.parametrize(
    "classifier",
    [
        LOGISTIC,
        RandomForestClassifier(50, random_state=0),
        make_pipeline(StandardScaler(), LinearSVC()),
        make_pipeline(StandardScaler(), RidgeClassifier()),
        make_pipeline(StandardScaler(), SVC()),
        make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    ],
    ids=lambda model: type(model[-1] if hasattr(model, "steps") else model).__name__,
)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_planted_errors_are_found_whatever_the_classifier(classifier, load):
    X, given, wrong = flipped(load)
    audit = LabelAudit(classifier).fit(X, given)
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.6
    low, high = audit.noise_interval_
    assert low - 0.03 <= wrong.mean() <= high + 0.03  # one in twenty does not contain it
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.2
    flags = audit.flags()
    assert (~wrong[flags]).sum() <= 0.3 * flags.sum() + 2
    assert type(audit.estimator_) is type(classifier)
    assert_array_equal(audit.estimator_.predict(X), clone(classifier).fit(X, given).predict(X))
    assert audit.plane_.shape == (len(X), 2)
    assert np.isfinite(audit.farness_).all()


def test_one_way_errors_are_told_from_overlap():
    X, given, wrong = flipped(load_digits, 0.15, flip_into_next_class)
    audit = LabelAudit(make_pipeline(StandardScaler(), KNeighborsClassifier(20))).fit(X, given)
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.9
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.03
    nexts = audit.transition_[np.arange(10), (np.arange(10) + 1) % 10]
    assert nexts.sum() > 3 * (1 - np.diag(audit.transition_) - nexts).sum()


def test_overlap_between_two_classes_is_not_taken_for_errors():
    # Two of three classes are the same, and a classifier that is far too sure.
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    p = np.full((900, 3), 0.001)
    share = rng.beta(0.6, 0.4, size=900)
    p[y == 0, 0] = 0.998
    p[y > 0, 1], p[y > 0, 2] = (0.999 * share)[y > 0], (0.999 * (1 - share))[y > 0]
    audit = LabelAudit.from_probabilities(p / p.sum(axis=1, keepdims=True), y)
    assert audit.flags().mean() < 0.02
    assert audit.noise_interval_[0] < 0.02


def test_no_sample_is_judged_by_a_fit_that_has_seen_it():
    class Memory(ClassifierMixin, BaseEstimator):
        """Knows the labels it has seen, and is wrong about all others."""

        def fit(self, X, y):
            self.classes_, self.seen_ = np.unique(y), {tuple(row): label for row, label in zip(X, y, strict=True)}
            return self

        def predict_proba(self, X):
            known = np.array([[self.seen_.get(tuple(row)) == label for label in self.classes_] for row in X], float)
            asked.append(known.any(axis=1).sum())
            return (known + 0.01) / (known + 0.01).sum(axis=1, keepdims=True)

    asked = []
    X, given, _ = flipped()
    labels = by_classifier.as_labels(by_classifier.Checks(given, np.full(len(given), -1)), 3)
    P = by_classifier.held_out_probabilities(Memory(), X, np.arange(3), labels, 5, np.random.RandomState(0))
    assert asked == [0] * 5
    assert_allclose(P, 1 / 3)


def test_an_audit_says_what_its_probabilities_say():
    X, given, _ = flipped()
    labels = by_classifier.as_labels(by_classifier.Checks(given, np.full(len(given), -1)), 3)
    P = by_classifier.held_out_probabilities(LOGISTIC, X, np.arange(3), labels, 5, np.random.RandomState(0))
    audit, same = LabelAudit(LOGISTIC).fit(X, given), LabelAudit.from_probabilities(P, given)
    assert_allclose(audit.probability_wrong_, same.probability_wrong_, atol=1e-9)
    assert_allclose(audit.transition_, same.transition_, atol=1e-9)
    assert_allclose(audit.noise_interval_, same.noise_interval_, atol=1e-9)


def test_the_order_of_rows_does_not_matter_and_the_folds_are_those_asked_for():
    X, given, _ = flipped()
    order = np.random.default_rng(1).permutation(len(X))
    audit, other = LabelAudit(LOGISTIC).fit(X, given), LabelAudit(LOGISTIC).fit(X[order], given[order])
    assert_allclose(other.probability_wrong_, audit.probability_wrong_[order], atol=1e-4)
    for cv in (3, KFold(4, shuffle=True, random_state=0), list(GroupKFold(5).split(X, given, np.arange(len(X)) // 2))):
        assert (LabelAudit(LOGISTIC, cv=cv).fit(X, given).probability_wrong_ != audit.probability_wrong_).any()
    seeded = [LabelAudit(LOGISTIC, random_state=s).fit(X, given).probability_wrong_ for s in (1, 1, 2)]
    assert_array_equal(seeded[0], seeded[1])
    assert (seeded[0] != seeded[2]).any()


@pytest.mark.parametrize("classifier", [LOGISTIC, make_pipeline(StandardScaler(), LinearSVC())])
def test_classes_smaller_than_folds(classifier):
    X, y = load_wine(return_X_y=True)
    X, y = np.vstack([X, X[:4] + 900]), np.append(y, [7, 8, 8, 8])
    audit = LabelAudit(classifier).fit(X, y)
    assert np.isfinite(audit.probability_wrong_).all()
    assert_array_equal(audit.classes_, [0, 1, 2, 7, 8])
    assert (audit.probability_wrong_[-3:] < 0.5).all()
    assert not audit.flags()[-4:].any()
    folds = by_classifier.deal(X, np.searchsorted(audit.classes_, y), 5, np.random.RandomState(0))
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(len(y)))
    assert all({0, 1, 2, 8} <= set(y[train]) for train, _ in folds)
    assert np.ptp([len(test) for _, test in folds]) <= 1


@pytest.mark.parametrize("classifier", [LOGISTIC, RidgeClassifier(), GaussianNB()])
def test_the_other_of_two_classes_may_have_a_single_sample(classifier):
    rng = np.random.default_rng(0)
    X, y = np.vstack([rng.normal(size=(30, 2)), [[5, 5]]]), np.append(np.zeros(30, int), 1)
    audit = LabelAudit(classifier).fit(X, y)
    assert audit.n_mislabeled_ == 0
    assert (audit.probability_wrong_ < 0.5).all()


def test_folds_from_a_generator_are_those_of_a_list():
    X, given, _ = flipped()
    groups = np.arange(len(X)) % 10
    folds = list(GroupKFold(5).split(X, given, groups))
    audit = LabelAudit(LOGISTIC, cv=(pair for pair in folds)).fit(X, given)
    assert_array_equal(audit.probability_wrong_, LabelAudit(LOGISTIC, cv=folds).fit(X, given).probability_wrong_)
    with pytest.raises(ValueError, match="cv holds no folds, perhaps a generator that was used before"):
        audit.fit(X, given)
    for cv in (folds, iter(folds)):
        with pytest.raises(ValueError, match="n_resamples=2 needs other folds every time, but cv holds the folds"):
            LabelAudit(LOGISTIC, cv=cv, n_resamples=2).fit(X, given)


def test_further_cross_validations_are_averaged():
    X, given, wrong = flipped()
    once, often = LabelAudit(LOGISTIC).fit(X, given), LabelAudit(LOGISTIC, n_resamples=3).fit(X, given)
    assert (often.probability_wrong_ != once.probability_wrong_).any()
    assert average_precision_score(wrong, often.probability_wrong_) > 0.8


def test_checked_rows_are_believed_and_learned():
    X, given, wrong = flipped()
    true = load_wine().target
    rows = np.flatnonzero(wrong)[:6]
    audit = LabelAudit(LOGISTIC).fit(X, given, verified={int(i): true[i] for i in rows})
    assert_allclose(audit.probability_wrong_[rows], 1, atol=1e-9)
    assert_array_equal(audit.suggested_[rows], true[rows])
    assert audit.n_verified_ == 6
    assert not set(audit.to_review(50)) & set(rows)
    learned = np.where(np.isin(np.arange(len(X)), rows), true, given)
    assert_array_equal(audit.estimator_.predict(X), clone(LOGISTIC).fit(X, learned).predict(X))


def test_several_answers_are_judged_by_any_classifier():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    answers = np.array([np.where(rng.random(len(y)) < error, (y + 1) % 3, y) for error in (0.1, 0.1, 0.5)]).T
    audit = LabelAudit(LOGISTIC).fit(X, answers)
    assert (audit.suggested_ == y).mean() > 0.95
    assert audit.annotator_accuracy_[2] < 0.65 < 0.8 < audit.annotator_accuracy_[:2].min()
    assert_allclose(
        LabelAudit.from_probabilities(held_out(X, y), answers).annotator_accuracy_, audit.annotator_accuracy_, atol=0.03
    )
    again = audit.fit(X, y)
    assert not hasattr(again, "annotator_accuracy_")


# Pipelines that end in RobustLDA


def test_a_pipeline_with_robust_lda_uses_its_own_beliefs():
    X, given, _ = flipped()
    X = X * 10.0 ** np.arange(-6, 7)
    scaler = StandardScaler().fit(X)
    alone = LabelAudit().fit(scaler.transform(X), given)
    audit = LabelAudit(make_pipeline(StandardScaler(), RobustLDA())).fit(X, given)
    assert_allclose(audit.probability_wrong_, alone.probability_wrong_, atol=1e-9)
    assert_allclose(audit.plane_, alone.plane_, atol=1e-9)
    assert_array_equal(audit.estimator_.predict(X), alone.estimator_.predict(scaler.transform(X)))
    single = LabelAudit(make_pipeline(RobustLDA())).fit(scaler.transform(X), given)
    assert_array_equal(single.probability_wrong_, alone.probability_wrong_)


@pytest.mark.parametrize("last", [RobustLDA(), LogisticRegression(max_iter=1000)])
def test_steps_that_learn_labels_are_cross_validated(last):
    # Noise, of which a selection with all labels picks what happens to agree with them.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3000)), np.arange(120) % 2
    told = SelectKBest(k=30).fit_transform(X, y)
    fooled = cross_val_predict(GaussianNB(), told, y)
    assert (fooled == y).mean() > 0.8
    audit = LabelAudit(make_pipeline(SelectKBest(k=30), last)).fit(X, y)
    assert audit.noise_interval_[1] > 0.3


def test_tables_of_words_and_numbers():
    X, given, wrong = flipped()
    frame = pd.DataFrame(X, columns=load_wine().feature_names)
    frame["color"] = pd.cut(frame["color_intensity"], 3, labels=["pale", "red", "dark"]).astype(str)
    names = np.array(["a", "b", "c"])[given]
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["color"]), remainder=StandardScaler())
    for last in (LogisticRegression(max_iter=1000), RobustLDA()):
        audit = LabelAudit(make_pipeline(encode, last)).fit(frame, names)
        assert average_precision_score(wrong, audit.probability_wrong_) > 0.65
        assert "onehotencoder__color_red" in audit.feature_names_
        assert len(audit.plane_features(0)) == 3
        assert isinstance(audit.to_frame(), pd.DataFrame)


def test_without_numbers_there_is_no_farness(tmp_path):
    X, given, wrong = flipped()
    X[3, 2] = np.nan
    audit = LabelAudit(HistGradientBoostingClassifier(max_iter=30)).fit(X, given)
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.7
    for values in (audit.farness_, audit.farness_any_, audit.outlyingness_):
        assert np.isnan(values).all()
    assert audit.plane_ is None
    assert audit.plane_axes_ is None
    assert audit.plane_features(0) == []
    assert "outlying" not in audit.finding_
    assert audit.cleaned()[1].all()
    assert audit.to_frame()["farness"].isna().all()
    audit.to_parquet(tmp_path)


def test_sparse_rows():
    X, given, wrong = flipped(load_digits, 0.1)
    audit = LabelAudit(LogisticRegression(max_iter=200)).fit(sp.csr_array(X[:600] / 16), given[:600])
    assert average_precision_score(wrong[:600], audit.probability_wrong_) > 0.9
    assert audit.plane_.shape == (600, 2)


# Probabilities


@pytest.mark.parametrize("names", [None, ["c", "a", "b"]])
def test_columns_belong_to_classes(names):
    X, given, wrong = flipped()
    P, labels = held_out(X, given), np.array(["a", "b", "c"])[given]
    expected = LabelAudit.from_probabilities(P, labels)
    assert average_precision_score(wrong, expected.probability_wrong_) > 0.6
    frame = pd.DataFrame(P, columns=["a", "b", "c"])[["b", "c", "a"]]
    turned = P if names is None else P[:, [2, 0, 1]]
    found = [LabelAudit.from_probabilities(turned, labels, classes=names), LabelAudit.from_probabilities(frame, labels)]
    for audit in found:
        assert_array_equal(audit.classes_, ["a", "b", "c"])
        assert_allclose(audit.probability_wrong_, expected.probability_wrong_, atol=1e-9)
        assert_array_equal(audit.suggested_, expected.suggested_)
    assert isinstance(found[1].to_frame(), pd.DataFrame)
    assert expected.estimator_ is None
    assert expected.plane_ is None


def test_features_are_drawn_and_change_nothing_about_labels():
    X, given, _ = flipped()
    frame = load_wine(as_frame=True).data
    P = held_out(X, given)
    alone, drawn = LabelAudit.from_probabilities(P, given), LabelAudit.from_probabilities(P, given, X=frame)
    assert_array_equal(drawn.probability_wrong_, alone.probability_wrong_)
    assert drawn.plane_.shape == (178, 2)
    assert drawn.plane_features(0)[0][0] == "flavanoids"
    far = np.array(frame)
    far[5] += 1e4 * far.std(axis=0)
    assert LabelAudit.from_probabilities(P, given, X=far).finding_[5] == "outlying"


def test_certain_and_unsure_probabilities_are_brought_to_what_labels_allow():
    X, given, wrong = flipped(load_digits, 0.2)
    P = cross_val_predict(LogisticRegression(max_iter=300), X / 16, given, cv=5, method="predict_proba")
    usual = LabelAudit.from_probabilities(P, given)
    for power in (0.2, 4.0):
        bent = P**power / (P**power).sum(axis=1, keepdims=True)
        audit = LabelAudit.from_probabilities(bent, given)
        assert abs(audit.noise_rate_ - wrong.mean()) < 0.06
        assert (audit.flags() & ~usual.flags()).mean() < 0.03  # fewer may be certain
        close = np.corrcoef(audit.probability_wrong_, usual.probability_wrong_)[0, 1]
        assert close > 0.95
    votes = np.eye(10)[P.argmax(axis=1)]  # exactly 0 and 1
    audit = LabelAudit.from_probabilities(votes, given)
    assert np.isfinite(audit.probability_wrong_).all()
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.12
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.5  # all that disagree are equal


def test_a_class_that_no_label_names():
    X, given, wrong = flipped()
    P = np.column_stack([held_out(X, given) * 0.98, np.full(len(given), 0.02)])
    audit = LabelAudit.from_probabilities(P, given, classes=[0, 1, 2, 3])
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.6
    assert audit.confusion_.shape == (4, 4)
    assert audit.confusion_[3].sum() == 0


def spoiled(row, values):
    P = np.full((6, 3), 1 / 3)
    P[row] = values
    return P


Y = np.array([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("P", "y", "more", "message"),
    [
        (spoiled(4, [0.5, 0.5, 0.5]), Y, {}, r"Row 4 of P sums to 1\.5, not to 1"),
        (spoiled(2, [1.2, -0.2, 0]), Y, {}, r"Row 2 of P holds -0\.2; a probability is not negative"),
        (spoiled(1, [np.nan, 0.5, 0.5]), Y, {}, "Row 1 of P holds NaN or infinity"),
        (spoiled(0, 1 / 3)[:4], Y, {}, "P has 4 rows, but there are 6 labels"),
        (spoiled(0, 1 / 3), Y % 2, {}, r"P has 3 columns, but y holds 2 different labels; .* classes="),
        (spoiled(0, 1 / 3), Y, {"classes": [0, 1]}, "P has 3 columns, but 2 classes are given"),
        (spoiled(0, 1 / 3), Y, {"classes": [0, 1, 5]}, r"the label 2, which is none of the classes of P: 0, 1, 5"),
        (spoiled(0, 1 / 3), list("abcabc"), {"classes": list("abd")}, r"the label 'c', which is none of the classes"),
        (spoiled(0, 1 / 3), Y, {"classes": {0, 1, 2}}, "classes is a set, which has no order"),
        (spoiled(0, 1 / 3), Y, {"classes": [0, 1, None]}, "classes holds a missing value"),
        (spoiled(0, 1 / 3), np.array([0, 1, "b"] * 2, object), {}, "labels of several types, number and str"),
        (spoiled(0, 1 / 3), Y, {"classes": [0, 1, 1]}, "names a class twice"),
        (np.full(6, 0.5), Y, {}, "P must be a table of numbers"),
        (np.full((6, 3), "x"), Y, {}, "P must be a table of numbers"),
        (np.ones((6, 1)), Y * 0, {}, "needs at least 2 classes, but P has 1 column"),
        (spoiled(0, 1 / 3), ["a", None, "b", "c", "a", "b"], {}, "y has 1 missing labels"),
        (spoiled(0, 1 / 3), np.array([0, 1, np.nan, 2, 1, 0]), {}, "y has 1 missing labels"),
        (spoiled(0, 1 / 3), Y, {"ids": [1, 2]}, "There are 2 ids for 6 samples"),
        (spoiled(0, 1 / 3), Y, {"ids": "tag"}, "ids='tag' must be an id for each of the 6 samples"),
        (spoiled(0, 1 / 3), Y, {"X": np.ones((5, 2))}, "X has 5 rows, but P has 6"),
        (spoiled(0, 1 / 3), Y, {"max_false_alarm": 2}, "max_false_alarm=2 must lie between 0 and 1"),
        (spoiled(0, 1 / 3), Y, {"verified": {0: 9}}, "verified holds the label 9"),
    ],
)
def test_bad_probabilities_get_one_sentence(P, y, more, message):
    with pytest.raises(ValueError, match=message):
        LabelAudit.from_probabilities(P, y, **more)


@pytest.mark.parametrize(
    ("audit", "kind", "message"),
    [
        (LabelAudit(KMeans(3)), TypeError, "with predict_proba or decision_function; KMeans.* has neither"),
        (LabelAudit("forest"), TypeError, "needs a scikit-learn classifier, not 'forest'"),
        (LabelAudit(SVC(decision_function_shape="ovo")), ValueError, "6 scores for 4 classes"),
        (LabelAudit(LOGISTIC, cv=1), ValueError, "cv=1 must be a whole number of at least 2"),
        (LabelAudit(LOGISTIC, cv="five"), ValueError, "cv='five' must be a whole number"),
        (LabelAudit(make_pipeline(StandardScaler(), RobustLDA(decision="centroid"))), ValueError, "noise_aware"),
    ],
)
def test_bad_settings_get_one_sentence(audit, kind, message):
    X, y = load_digits(n_class=4, return_X_y=True)
    with pytest.raises(kind, match=message):
        audit.fit(X[:200], y[:200])


def test_rows_in_parts_need_robust_lda():
    from robustlda.data import Blocks

    X, given, _ = flipped()
    with pytest.raises(TypeError, match=r"Rows in parts can be audited with RobustLDA\(\) only, not with Pipeline"):
        LabelAudit(LOGISTIC).fit(Blocks([(X, given)]), None)


# An estimator like others


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("estimator", [None, LOGISTIC], ids=["RobustLDA", "logistic"])
def test_an_audit_of_a_frame_can_be_kept_and_copied(kind, estimator):
    X, given, _ = flipped()
    frame = kind({f"f{j}": X[:, j] for j in range(13)})
    audit = LabelAudit(estimator).fit(frame, given)
    assert type(audit.to_frame()) is type(frame)
    for again in (pickle.loads(pickle.dumps(audit)), copy.deepcopy(audit), copy.copy(audit)):
        assert_array_equal(again.probability_wrong_, audit.probability_wrong_)
        assert type(again.to_frame()) is type(frame)
        assert_array_equal(again.flags(0.2), audit.flags(0.2))
        assert_array_equal(again.to_review(9), audit.to_review(9))
        assert again.plane_features(0) == audit.plane_features(0)
        assert list(again.feature_names_) == [f"f{j}" for j in range(13)]
    fresh = clone(audit)
    assert not hasattr(fresh, "classes_")
    assert_allclose(fresh.fit(frame, given).probability_wrong_, audit.probability_wrong_, atol=1e-12)


def test_settings_are_kept_as_given_and_a_failed_fit_changes_nothing():
    X, given, _ = flipped()
    forest = RandomForestClassifier(10, random_state=0)
    audit = LabelAudit(forest, cv=3)
    assert set(audit.get_params(deep=False)) == {"estimator", "max_false_alarm", "n_resamples", "random_state", "cv"}
    assert audit.set_params(estimator__n_estimators=20).fit(X, given) is audit
    assert audit.estimator is forest
    assert not hasattr(forest, "classes_")
    before = pickle.dumps(audit)
    for bad in ({"features": ["a"]}, {"ids": [1]}, {"verified": {999: 0}}):
        with pytest.raises(ValueError, match=r"names for|ids for|row 999"):
            audit.fit(X, given, **bad)
        assert pickle.dumps(audit) == before


def test_iris_without_pandas_and_with_words(monkeypatch):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    names[7] = "virginica"
    table = pa.table({f"f{j}": X[:, j] for j in range(4)})
    audit = LabelAudit(LOGISTIC).fit(table, names)
    assert audit.ids_[audit.rank_ == 1] == [7]
    assert audit.suggested_[7] == "setosa"


def test_blunt_probabilities_are_sharpened():
    # Fitted to labels of which 30 % are wrong, a classifier is never sure; taken literally, that is overlap.
    X, given, wrong = flipped(load_breast_cancer, 0.3, seed=1)
    audit = LabelAudit.from_probabilities(held_out(X, given), given)
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.2  # .30 for overlap


def test_tags_say_what_an_audit_takes():
    own = get_tags(LabelAudit())
    assert own.target_tags.required
    assert own.input_tags.sparse
    assert own.input_tags.string
    trees = get_tags(LabelAudit(HistGradientBoostingClassifier())).input_tags
    assert trees.allow_nan
    assert not trees.sparse


def test_scores_of_pairs_are_not_taken_for_those_of_three_classes():
    X, given, wrong = flipped()
    audit = LabelAudit(SVC(decision_function_shape="ovr")).fit(X, given)
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.2  # of which .15 are wrong
    with pytest.raises(ValueError, match=r"SVC predicts other classes than those of its largest scores; .*'ovr'"):
        LabelAudit(SVC(decision_function_shape="ovo")).fit(X, given)


def test_more_classes_than_rows_are_judged_and_not_drawn():
    P = np.full((5, 8), 0.02)
    P[np.arange(5), [0, 0, 1, 6, 7]] = 0.86
    X = np.random.default_rng(0).normal(size=(5, 3))
    audit = LabelAudit.from_probabilities(P, [0, 0, 1, 6, 7], classes=range(8), X=X)
    assert audit.plane_ is None
    assert np.isfinite(audit.probability_wrong_).all()
