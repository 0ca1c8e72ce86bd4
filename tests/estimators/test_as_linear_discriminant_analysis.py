"""scikit-learn's own tests of LinearDiscriminantAnalysis, with RobustLDA in its place.

A thin subclass takes the arguments of the constructor and ignores those that mean nothing here. What is not run has its
reason below, and in docs/coming_from_lda.md.
"""

import itertools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from robustlda import MMC, RobustLDA

theirs = pytest.importorskip("sklearn.tests.test_discriminant_analysis", reason="scikit-learn is without its tests")

ROBUST = "a robust, shrunk estimate is not the one of maximum likelihood, digit by digit"
SOLVERS = "there are no solvers, and so none that cannot be combined with an option or cannot transform"
MORE = "n_components may exceed classes - 1, up to the rank of the data"
NOT_LINEAR = "the noise-aware decision is not linear, and has no coef_"
DIGITS = "compares single precision with double to six digits, of which processors keep five or six"
DIFFERENT = {
    "test_lda_predict": SOLVERS,
    "test_lda_transform": SOLVERS,
    "test_lda_store_covariance": SOLVERS,
    "test_lda_orthogonality": ROBUST,
    "test_lda_dimension_warning": MORE,
    "test_lda_numeric_consistency_float32_float64": DIGITS,
}
ONLY_LINEAR = ("test_lda_coefs", "test_lda_dtype_match")
ROUGHLY = "test_lda_predict_proba"
"""Compares a covariance of 100 to within 1; with three classes ours is 98.5."""


def subclass(decision):
    class LinearDiscriminantAnalysis(RobustLDA):
        def __init__(
            self,
            solver="svd",
            shrinkage=None,
            priors=None,
            n_components=None,
            store_covariance=False,
            tol=1e-4,
            covariance_estimator=None,
        ):
            super().__init__(n_components, decision=decision, priors=priors, store_covariance=store_covariance)
            self.solver, self.shrinkage, self.tol = solver, shrinkage, tol
            self.covariance_estimator = covariance_estimator

    return LinearDiscriminantAnalysis


def _cases():
    for name, test in vars(theirs).items():
        if not name.startswith("test_lda"):
            continue
        grids = []
        for mark in getattr(test, "pytestmark", []):
            names = [part.strip() for part in mark.args[0].split(",")]
            grids.append([dict(zip(names, v if len(names) > 1 else [v], strict=True)) for v in mark.args[1]])
        for combination in itertools.product(*grids):
            yield name, {key: value for part in combination for key, value in part.items()}


def expected_to_pass(name, arguments, decision):
    if name in DIFFERENT or (name in ONLY_LINEAR and decision != "centroid"):
        return False
    return not (name == ROUGHLY and arguments["n_classes"] == 3)


DECISIONS = ("noise_aware", "centroid")
PASSING = [(*case, decision) for case in _cases() for decision in DECISIONS if expected_to_pass(*case, decision)]


@pytest.mark.parametrize(
    ("name", "arguments", "decision"), PASSING, ids=["-".join([n, *map(str, a.values()), d]) for n, a, d in PASSING]
)
def test_what_code_for_linear_discriminant_analysis_expects(name, arguments, decision, monkeypatch):
    monkeypatch.setattr(theirs, "LinearDiscriminantAnalysis", subclass(decision))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        getattr(theirs, name)(**arguments)


def test_half_of_their_tests_pass():
    decisions = [decision for _, _, decision in PASSING]
    assert decisions.count("noise_aware") >= 18
    assert decisions.count("centroid") >= 23


@pytest.mark.parametrize("kind", [RobustLDA, MMC])
@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_are_those_of_the_decision_function(kind, classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    model = kind(decision="centroid").fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    assert model.coef_.shape == (1 if classes == 2 else classes, X.shape[1])
    assert_allclose(scores.ravel() if classes == 2 else scores, model.decision_function(X), rtol=1e-6, atol=1e-6)


def test_other_decisions_say_that_they_are_not_linear():
    X, y = load_iris(return_X_y=True)
    model = RobustLDA().fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match=r"not linear in the features; decision='centroid' is"):
        _ = model.intercept_


def test_covariance_within_classes_is_kept_if_asked_for():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    L = np.array([[2.0, 0, 0], [1, 1, 0], [0, -3, 0.5]])
    X = rng.normal(size=(3000, 3)) @ L.T + 20 * np.eye(3)[y]
    X[:20] *= 1e3  # of which nothing is to be seen
    model = RobustLDA(store_covariance=True).fit(X, y)
    assert np.linalg.norm(model.covariance_ - L @ L.T) < 0.1 * np.linalg.norm(L @ L.T)
    assert not hasattr(model.set_params(store_covariance=False).fit(X, y), "covariance_")


def test_a_table_need_not_be_scaled_first():
    """Not below linear discriminant analysis, which does not need it either, by more than a single row."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import cross_val_score

    X, y = load_wine(return_X_y=True)
    ours, lda = (cross_val_score(model, X, y, cv=5).mean() for model in (RobustLDA(), LinearDiscriminantAnalysis()))
    assert ours >= lda - 1.01 / len(y)
