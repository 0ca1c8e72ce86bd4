"""Tables of factors and counts: rows repeat, and that is ordinary."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import average_precision_score

from robustlda import LabelAudit, RobustLDA


def factors(rng, n, k, levels, c):
    """Factors, one column for each level, and a class that their sum decides."""
    F = rng.integers(0, levels, (n, k))
    X = np.hstack([np.eye(levels)[F[:, j]] for j in range(k)]) if levels > 2 else F.astype(float)
    return X, F.sum(axis=1) * c // (k * (levels - 1) + 1)


def codes(rng, n, k, levels, c):
    """The same factors, one column for each of them."""
    F = rng.integers(0, levels, (n, k))
    return F.astype(float), F.sum(axis=1) * c // (k * (levels - 1) + 1)


def counts(rng, n, k, levels, c):
    """Poisson counts, whose mean depends on the class."""
    rates = 1 + 4.0 * (np.arange(c)[:, None] + np.arange(k)) % (4 * c)
    true = rng.integers(0, c, n)
    return rng.poisson(rates[true]).astype(float), true


def flipped(rng, true, c, agreement):
    wrong = rng.random(len(true)) > agreement
    return np.where(wrong, (true + rng.integers(1, c, len(true))) % c, true)


CASES = [
    (factors, 1, 2, 2, 0.9),
    (factors, 1, 2, 2, 0.7),
    (factors, 1, 2, 2, 0.99),
    (factors, 1, 4, 4, 0.86),
    (factors, 1, 10, 3, 0.8),
    (factors, 2, 3, 3, 0.9),
    (factors, 3, 4, 2, 0.8),
    (factors, 4, 2, 2, 0.95),
    (factors, 5, 2, 2, 0.85),
    (factors, 5, 10, 3, 0.9),
    (codes, 2, 10, 4, 0.9),
    (codes, 3, 4, 2, 0.7),
    (codes, 3, 4, 4, 0.9),
    (codes, 3, 10, 4, 0.99),
    (codes, 5, 4, 4, 0.99),
    (counts, 1, 0, 2, 0.8),
    (counts, 3, 0, 3, 0.9),
    (counts, 5, 0, 4, 0.7),
]


@pytest.mark.parametrize("n", [120, 600])
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, (case[0].__name__, *case[1:]))))
def test_a_discrete_table_is_a_table(case, n):
    make, k, levels, c, agreement = case
    behind, off = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        (X, true), (X_test, true_test) = make(rng, n, k, levels, c), make(rng, 2000, k, levels, c)
        given = flipped(rng, true, c, agreement)
        audit = LabelAudit().fit(X, given)
        model, centroid = audit.estimator_, RobustLDA(decision="centroid").fit(X, given)
        behind.append(centroid.score(X_test, true_test) - model.score(X_test, true_test))
        off.append(abs(model.noise_rate_ - (given != true).mean()))
    # In a single column one count more or less on a side is several points: not one table, the mean of a few.
    assert np.mean(behind) <= (0.02 if n > 200 else 0.04)
    jittered = LabelAudit().fit(X + 1e-6 * rng.normal(size=X.shape), given)
    assert abs(model.noise_rate_ - jittered.estimator_.noise_rate_) < (0.03 if n > 200 else 0.1)
    assert (audit.flags() != jittered.flags()).mean() < (0.05 if n > 200 else 0.1)
    # Where a factor decides about the class, nothing in it can tell noise from overlap, and it is called noise; but for
    # some tables in which labels of two levels happen to look alike.
    if make is factors and k == 1 and n > 200:
        assert np.median(off) < 0.1


def test_predictions_are_not_turned_around():
    X = np.repeat([[0.0], [1.0]], [60, 40], axis=0)
    y = np.repeat([0, 1, 0, 1], [50, 10, 5, 35])
    model = RobustLDA().fit(X, y)
    assert_array_equal(model.predict([[0.0], [1.0]]), [0, 1])
    assert abs(model.noise_rate_ - 0.15) < 0.03


def test_a_table_of_codes_has_all_its_classes():
    """A strong penalty suits this draw, by which a rule that knew targets from what is left out predicted one class."""
    rng = np.random.default_rng([4, 1])
    X, true = codes(rng, 120, 3, 4, 4)
    codes(rng, 2000, 3, 4, 4)
    model = RobustLDA().fit(X, flipped(rng, true, 4, 0.9))
    assert model.score(X, true) > 0.9


def test_a_factor_of_four_levels_is_learned_as_well_as_by_lda():
    rng = np.random.default_rng(0)
    X, true = factors(rng, 400, 1, 4, 4)
    given = flipped(rng, true, 4, 0.86)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, given)
    assert RobustLDA().fit(X, given).score(X, given) >= lda.score(X, given) - 0.01


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_rows_of_which_most_are_copies(share):
    """Every row of a part of the table is there five times, with labels of its own."""
    rng = np.random.default_rng(0)
    true = np.arange(300) % 3
    X = rng.normal(size=(300, 4)) + 5 * rng.normal(size=(3, 4))[true]
    times = np.where(rng.random(300) < share, 5, 1)
    X, true = np.repeat(X, times, axis=0), np.repeat(true, times)
    given = flipped(rng, true, 3, 0.85)
    audit = LabelAudit().fit(X, given)
    wrong = given != true
    assert abs(audit.noise_rate_ - wrong.mean()) < 0.06
    assert average_precision_score(wrong, audit.probability_wrong_) > 0.9
    assert (audit.flags() & ~wrong).sum() <= 0.05 * audit.flags().sum()


def test_copies_are_flagged_together_and_in_any_order():
    rng = np.random.default_rng(0)
    X, true = factors(rng, 300, 2, 3, 3)
    given = flipped(rng, true, 3, 0.9)
    for share in (0.02, 0.05, 0.2, 0.4):
        flags = LabelAudit().fit(X, given).flags(share)
        order = rng.permutation(300)
        assert_array_equal(LabelAudit().fit(X[order], given[order]).flags(share), flags[order])
        _, group = np.unique(np.column_stack([X, given]), axis=0, return_inverse=True)
        assert all(len(set(flags[group == g])) == 1 for g in range(group.max() + 1))
