"""Several answers about a sample: annotators are found out, features help, and tables of other things are refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from robustlda import LabelAudit, RobustLDA
from robustlda.decision.answers import Answers
from robustlda.decision.labels import most_probable

NAMES = np.array(["red", "green", "blue"])


def asked(true, rng, accuracy=(0.9, 0.8, 0.6, 0.35), share=0.6):
    """Answers of annotators of some accuracy, each asked about a share of the samples; −1 where not asked."""
    c = true.max() + 1
    answers = np.full((len(true), len(accuracy)), -1)
    for a, right in enumerate(accuracy):
        wrong = (true + rng.integers(1, c, len(true))) % c
        answers[:, a] = np.where(rng.random(len(true)) < right, true, wrong)
    missing = rng.random(answers.shape) > share
    missing[np.arange(len(true)), rng.integers(0, len(accuracy), len(true))] = False
    answers[missing] = -1
    return answers


def wine(seed=0):
    X, y = load_wine(return_X_y=True)
    X, X_test, y, y_test = train_test_split(StandardScaler().fit_transform(X), y, stratify=y, random_state=seed)
    return X, y, X_test, y_test, asked(y, np.random.default_rng(seed))


def answers_of(table, c=3):
    ones = np.ones(len(table))
    return Answers.of(table, ones, ones, c)


def test_what_a_sample_put_into_a_confusion_is_taken_out_again():
    _, _, _, _, table = wine()
    answers = answers_of(table)
    R = np.random.default_rng(0).dirichlet(np.ones(3), len(table))
    found = answers.likelihood(R)
    for j in (0, 17):
        N = np.zeros((4, 3, 3))
        shared = np.zeros((3, 3))
        for i, a in zip(*np.nonzero(table >= 0), strict=True):
            N[a, :, table[i, a]] += R[i] * (i != j)
            shared[:, table[i, a]] += R[i]
        shared += 0.5 + 2 * np.eye(3)
        T = N + answers.strength * shared / shared.sum(axis=1, keepdims=True)
        T /= T.sum(axis=2, keepdims=True)
        expected = np.prod([T[a, :, table[j, a]] for a in np.flatnonzero(table[j] >= 0)], axis=0)
        assert_allclose(found[j], expected / expected.max(), rtol=1e-10)


def test_most_people_are_right_and_beliefs_decide_between_equals():
    table = np.array([[0, 0, 1], [2, 1, -1], [2, 1, 0], [1, -1, -1]])
    R = np.array([[0.0, 1.0, 0.0], [0.9, 0.06, 0.04], [0.3, 0.3, 0.4], [1.0, 0.0, 0.0]])
    assert_array_equal(answers_of(table).vote(R), [0, 1, 2, 1])


def test_annotators_are_told_apart():
    X, y, _, _, table = wine()
    audit = LabelAudit().fit(X, table)
    truth = [(table[table[:, a] >= 0, a] == y[table[:, a] >= 0]).mean() for a in range(4)]
    assert_allclose(audit.annotator_accuracy_, truth, atol=0.08)
    assert_array_equal(audit.annotator_answers_, (table >= 0).sum(axis=0))
    assert_allclose(audit.annotator_confusion_.sum(axis=2), 1)
    assert_array_equal(audit.annotator_confusion_, audit.estimator_.annotator_confusion_)
    wrong = audit.given_ != y
    assert wrong.mean() > 0.05
    assert (audit.suggested_ == y).mean() > 0.9
    assert audit.noise_interval_[0] <= wrong.mean() <= audit.noise_interval_[1]


def test_features_and_answers_are_better_than_answers_alone():
    gain = []
    for seed in range(3):
        X, y, X_test, y_test, table = wine(seed)
        alone = answers_of(table).with_strength().beliefs().argmax(axis=1)
        together = LabelAudit().fit(X, table).suggested_
        gain.append((together == y).mean() - (alone == y).mean())
        assert RobustLDA().fit(X, table).score(X_test, y_test) > 0.85
    assert np.mean(gain) > 0.05


def test_people_who_see_the_same_are_no_independent_witnesses():
    """Three answers about each sample by people who go by its looks, and confuse two of four classes."""
    rng, n = np.random.default_rng(0), 800
    true, centers = np.arange(n) % 4, 3 * np.eye(4, 6)
    X = centers[true] + rng.normal(size=(n, 6))
    p = softmax(-0.5 * ((X[:, None] - centers) ** 2).sum(axis=2), axis=1)
    seen = np.where(rng.random(n) < 0.8, (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), true)[:, None]
    table = np.where((seen < 2) & (rng.random((n, 3)) < 0.25), 1 - seen, seen)
    audit = LabelAudit().fit(X, table)
    wrong = (table != true[:, None]).mean()
    assert abs(audit.estimator_.noise_rate_ - wrong) < 0.03
    assert abs(audit.noise_rate_ - (audit.given_ != true).mean()) < 0.04
    assert audit.noise_interval_[0] <= (audit.given_ != true).mean() <= audit.noise_interval_[1]


def test_answers_of_people_who_err_together_count_less():
    rng = np.random.default_rng(0)
    confusion = rng.dirichlet(np.ones(3) + 4 * np.eye(3)[0], size=(4, 3))
    answers = Answers.of(rng.integers(-1, 3, (50, 4)), np.ones(50), np.ones(50), 3)
    half = answers.under(confusion, np.full(3, 0.5))
    assert_allclose(half**2, answers.under(confusion, np.zeros(3)))
    assert_allclose(answers.under(confusion, np.ones(3)), 1)


@pytest.mark.parametrize("form", ["float", "object", "frame", "masked", "nullable"])
def test_answers_in_any_form_mean_the_same(form):
    X, _, X_test, _, table = wine()
    expected = RobustLDA().fit(X, table).predict(X_test)
    missing = table < 0
    given = {
        "float": lambda: np.where(missing, np.nan, table),
        "object": lambda: np.where(missing, None, NAMES[table]),
        "frame": lambda: pd.DataFrame(np.where(missing, None, NAMES[table])),
        "masked": lambda: np.ma.MaskedArray(table, missing),
        "nullable": lambda: pd.DataFrame(np.where(missing, pd.NA, table)).astype("Int64"),
    }[form]()
    model = RobustLDA().fit(X, given)
    found = model.predict(X_test)
    if form in ("object", "frame"):
        assert_array_equal(model.classes_, np.sort(NAMES))
        assert (found == NAMES[expected]).mean() > 0.95  # classes in another order
    else:
        assert_array_equal(model.classes_, [0, 1, 2])
        assert_array_equal(found, expected)


def test_checked_rows_are_believed():
    X, y, _, _, table = wine()
    audit = LabelAudit().fit(X, table, verified={3: y[3], 4: y[4]})
    assert audit.verified_.sum() == 2
    right = audit.given_[[3, 4]] == y[[3, 4]]
    assert_allclose(audit.probability_wrong_[[3, 4]], 1 - right, atol=1e-9)


def test_a_fit_to_labels_forgets_annotators():
    X, y, _, _, table = wine()
    model = RobustLDA().fit(X, table)
    assert model.annotator_confusion_.shape == (4, 3, 3)
    assert not hasattr(model.fit(X, y), "annotator_confusion_")
    assert RobustLDA(decision="centroid").fit(X, table).score(X, y) > 0.9
    assert RobustLDA(decision=None).fit(X, table).transform(X).shape[0] == len(X)


def test_a_weight_of_zero_is_a_sample_not_given():
    X, _, X_test, _, table = wine()
    weight = np.ones(len(X))
    weight[:20] = 0
    one, other = RobustLDA().fit(X, table, weight), RobustLDA().fit(X[20:], table[20:])
    assert_allclose(one.predict_proba(X_test), other.predict_proba(X_test), atol=1e-6)


def test_a_class_nobody_agrees_on_keeps_a_sample():
    beliefs = np.array([[0.9, 0, 0.1], [0, 0.9, 0.1], [0.6, 0, 0.4], [0, 1, 0]])
    assert_array_equal(most_probable(beliefs), [0, 1, 2, 1])


def test_tables_that_are_no_answers_are_refused():
    X, y, _, _, table = wine()
    with pytest.raises(ValueError, match="indicators of classes"):
        RobustLDA().fit(X, np.eye(3)[y])
    nobody = table.copy()
    nobody[7] = -1
    with pytest.raises(ValueError, match="Row 7 of y has no answer"):
        RobustLDA().fit(X, nobody)
    with pytest.raises(ValueError, match=r"answers about 5"):
        RobustLDA().fit(X, table[:5])
    with pytest.raises(ValueError, match="only one class"):
        RobustLDA().fit(X, np.where(table < 0, -1, 0))
