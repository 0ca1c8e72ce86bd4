"""What speaks against a label: numbers that add up, features and neighbors that are the right ones."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from robustlda import LabelAudit
from robustlda.audit import explanations


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    given = y.copy()
    given[[7, 60, 120]] = 1, 2, 0
    return X, y, given


@pytest.fixture(scope="module")
def audit(iris):
    X, _, given = iris
    return LabelAudit().fit(X, given)


def worst(audit, n=10):
    return np.argsort(audit.rank_)[:n]


def all_terms(audit, X, found):
    model, given = audit.estimator_, np.searchsorted(audit.classes_, audit.given_[found.rows])
    return explanations.contributions(X[found.rows], model.components_, model.class_centers_, given, found.against)


def test_contributions_add_up_to_the_log_ratio(audit, iris):
    found = explanations.explain(audit, worst(audit), n_features=4)
    terms = all_terms(audit, iris[0], found)
    assert_allclose(terms.sum(axis=1), found.log_ratio, rtol=1e-9, atol=1e-9)
    # By the distances from both centers, in the projection.
    model = audit.estimator_
    Z = model.transform(iris[0])[found.rows]
    M = (model.class_centers_ - model.center_) @ model.components_.T
    far = ((Z[:, None] - M) ** 2).sum(axis=2)
    given, rows = np.searchsorted(audit.classes_, audit.given_[found.rows]), np.arange(len(Z))
    assert_allclose(found.log_ratio, (far[rows, given] - far[rows, found.against]) / 2, atol=1e-9)


def test_the_strongest_features_are_listed_in_order(audit, iris):
    found = explanations.explain(audit, worst(audit), n_features=4)
    terms = all_terms(audit, iris[0], found)
    for row, features, values in zip(terms, found.features, found.contributions, strict=True):
        expected = [j for j in np.argsort(-row, kind="stable") if row[j] > 0]
        assert features[features >= 0].tolist() == expected
        assert_allclose(values[: len(expected)], row[expected])
        assert (features[len(expected) :] == -1).all()


def test_a_planted_error_is_explained_by_its_suggested_class(audit):
    found = explanations.explain(audit, np.array([7, 60, 120]))
    assert found.against.tolist() == [0, 1, 2]
    assert (found.log_ratio > 2).all()
    assert set(found.features[:, 0].tolist()) <= {2, 3}  # petals tell the species apart


def test_the_log_ratio_is_that_of_discriminant_analysis_on_clean_data():
    rng = np.random.default_rng(0)
    root = np.linalg.qr(rng.normal(size=(5, 5)))[0] * [0.4, 0.8, 1, 1.5, 2]
    y = np.arange(6000) % 3
    X = (rng.normal(size=(3, 5)) * 1.5)[y] @ root + rng.normal(size=(6000, 5)) @ root
    audit = LabelAudit().fit(X, y)
    rows = np.arange(200)
    found = explanations.explain(audit, rows)
    lda = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    precision = np.linalg.inv(lda.covariance_)
    M, g, a = lda.means_, y[rows], found.against
    expected = np.einsum("ij,jk,ik->i", M[a] - M[g], precision, X[rows] - (M[a] + M[g]) / 2)
    assert np.corrcoef(found.log_ratio, expected)[0, 1] > 0.99
    slope = found.log_ratio @ expected / (expected @ expected)
    assert 0.8 < slope < 1.25


def test_neighbors_are_the_nearest_believed_rows_of_either_class(audit, iris):
    X, _, given = iris
    rows = worst(audit)
    found = explanations.explain(audit, rows, n_neighbors=3)
    Z = audit.estimator_.transform(X)
    believed = (audit.probability_wrong_ < 0.5) & (audit.finding_ == "")
    for i, row in enumerate(rows):
        for near, k in ((found.near_given[i], given[row]), (found.near_against[i], found.against[i])):
            members = np.flatnonzero(believed & (given == k) & (np.arange(len(X)) != row))
            distances = np.linalg.norm(Z - Z[row], axis=1)
            assert_allclose(np.sort(distances[near]), np.sort(distances[members])[:3])
            assert row not in near


def test_groups_of_features_sum_their_contributions(audit, iris):
    groups = np.array([0, 0, 1, -1])
    rows = worst(audit, 3)
    found = explanations.explain(audit, rows, n_features=2, groups=groups)
    terms = all_terms(audit, iris[0], found)
    summed = np.column_stack([terms[:, :2].sum(axis=1), terms[:, 2]])
    for row, features, values in zip(summed, found.features, found.contributions, strict=True):
        listed = features[features >= 0]
        assert_allclose(values[: len(listed)], row[listed])
        assert len(listed) == (row > 0).sum()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_more_features_than_samples(sparse, monkeypatch):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    X = (rng.random((90, 700)) < 0.05) * rng.random((90, 700))
    X[np.arange(90), 5 + y] += 3  # three features that tell the class
    given = y.copy()
    given[:4] = (given[:4] + 1) % 3
    audit = LabelAudit().fit(csr_matrix(X) if sparse else X, given)
    rows = np.arange(4)
    all_of_them = explanations.explain(audit, rows)
    assert_array_equal(all_of_them.against, y[:4])
    assert set(all_of_them.features[:, :2].ravel().tolist()) <= {5, 6, 7}
    monkeypatch.setattr(explanations, "MAX_FEATURES", 50)
    some = explanations.explain(audit, rows)
    assert_array_equal(some.features[:, 0], all_of_them.features[:, 0])
    assert_allclose(some.log_ratio, all_of_them.log_ratio)
    assert explanations.unusual(audit, rows) is None


def test_what_is_unusual_about_an_outlier(iris):
    X, y, _ = iris
    X = X.copy()
    X[3, 1] = 40
    audit = LabelAudit().fit(X, y)
    assert audit.finding_[3] == "outlying"
    assert explanations.unusual(audit, np.array([3]))[0, 0] == 1
    # Groups 0 and 2 are columns of which no feature was made.
    assert explanations.unusual(audit, np.array([3]), 3, np.array([3, 1, -1, 3])).tolist() == [[1, 3, -1]]


def test_without_rows_or_without_a_projection_there_is_no_explanation(audit):
    again = pickle.loads(pickle.dumps(audit))
    assert again.listed_rows() is None
    assert explanations.explain(again, np.arange(3)) is None
    other = SimpleNamespace(listed_rows=lambda: np.zeros((3, 2)), listed_model=object)
    assert explanations.explain(other, np.arange(3)) is None
    assert explanations.unusual(other, np.arange(3)) is None


def test_classes_and_pairs(audit, iris):
    given = iris[2]
    classes = explanations.by_class(audit)
    assert {one.label: round(one.given) for one in classes} == {k: int((given == k).sum()) for k in range(3)}
    total = sum(one.doubted for one in classes)
    assert_allclose(total, audit.probability_wrong_.sum(), rtol=1e-9)
    assert_allclose(sum(one.missing for one in classes), total, rtol=1e-9)
    assert [one.doubted for one in classes] == sorted((one.doubted for one in classes), reverse=True)
    pairs = {(p.given, p.true) for p in explanations.by_pair(audit)}
    assert pairs >= {(1, 0), (2, 1), (0, 2)}
    assert all(p.flagged == 1 for p in explanations.by_pair(audit) if (p.given, p.true) == (1, 0))
