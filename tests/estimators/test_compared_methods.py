"""The compared methods against independent definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustlda import DLE, MMC, RatioLDA, SupervisedLPP, TraceRatioLDA
from robustlda.data import graphs
from robustlda.experiments import baselines
from robustlda.linalg import principal_angles


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def frame(V):
    return np.linalg.qr(V)[0]


def explicit_scatters(X, y):
    """Within- and between-class scatter, one sample and one class at a time."""
    mean, d = X.mean(axis=0), X.shape[1]
    Sw, Sb = np.zeros((d, d)), np.zeros((d, d))
    for label in np.unique(y):
        rows = X[y == label]
        Sb += len(rows) * np.outer(rows.mean(axis=0) - mean, rows.mean(axis=0) - mean)
        for row in rows:
            Sw += np.outer(row - rows.mean(axis=0), row - rows.mean(axis=0))
    return Sw, Sb


@pytest.mark.parametrize("m", [1, 2, 5])
def test_mmc_solves_its_dense_eigenproblem(wine, m):
    X, y = wine
    Sw, Sb = explicit_scatters(X, y)
    values, vectors = np.linalg.eigh((Sb - Sw) / len(y))
    model = MMC(m).fit(X, y)
    assert_allclose(model.margin_, values[::-1][:m].sum(), rtol=1e-10)
    assert principal_angles(model.components_.T, vectors[:, ::-1][:, :m]).max() < 1e-7


def test_balanced_locality_is_lda(wine):
    X, y = wine
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    model = SupervisedLPP(graph="balanced", ridge=0).fit(X, y)
    assert principal_angles(frame(model.components_.T), frame(lda.scalings_[:, :2])).max() < 1e-7


@pytest.mark.parametrize("block", [1 << 22, 200])
@pytest.mark.parametrize("graph", ["binary", "heat"])
def test_locality_matches_the_explicit_laplacian(wine, graph, block, monkeypatch):
    monkeypatch.setattr(graphs, "_BLOCK", block)
    X, y = wine
    same = y[:, None] == y[None, :]
    distance = np.linalg.norm(X[:, None] - X[None, :], axis=2)
    S = np.where(same, 1.0 if graph == "binary" else np.exp(-(distance**2) / (2 * distance[same].mean() ** 2)), 0)
    D = np.diag(S.sum(axis=1))
    centered = X - X.mean(axis=0)
    # The smallest eigenvalues of XᵀLX a = θ XᵀDX a, as the method is defined.
    _, vectors = eigh(centered.T @ (D - S) @ centered, centered.T @ D @ centered)
    model = SupervisedLPP(graph=graph, ridge=0).fit(X, y)
    assert principal_angles(frame(model.components_.T), frame(vectors[:, :2])).max() < 1e-6
    Z = model.transform(X)
    assert_allclose(Z.T @ D @ Z, np.eye(2), atol=1e-8)


def test_embedding_matches_its_stated_formula(wine):
    X, y = wine
    Sw, Sb = explicit_scatters(X, y)
    graph = kneighbors_graph(X, 5, mode="distance").toarray()
    edges = np.where(graph > 0, np.exp(-((graph / graph[graph > 0].mean()) ** 2) / 2), 0)
    S = np.maximum(edges, edges.T)
    smooth = X.T @ (np.diag(S.sum(axis=1)) - S) @ X
    B = Sw / np.trace(Sw) + smooth / np.trace(smooth) + 1e-3 * np.eye(13) / 13
    _, vectors = eigh(Sb, B)
    model = DLE().fit(X, y)
    assert principal_angles(frame(model.components_.T), frame(vectors[:, -2:])).max() < 1e-6


FLOORS = {
    "trLDA": (TraceRatioLDA(decision=None), 0.97),
    "LDA": (baselines.classical_lda(), 0.97),
    "MMC": (MMC(decision=None), 0.96),
    "PCA": (PCA(120), 0.93),
    "rLDA": (RatioLDA(decision=None), 0.96),
}


@pytest.mark.parametrize("name", FLOORS)
def test_clean_faces_are_recognized(paper_data, name):
    X, y = paper_data("orl")
    projection, floor = FLOORS[name]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(make_pipeline(projection, KNeighborsClassifier(1)), X, y, cv=folds).mean() >= floor


def test_lda_on_vehicles(paper_data):
    X, y = paper_data("vehicle")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), baselines.classical_lda(), KNeighborsClassifier(1))
    assert cross_val_score(model, X, y, cv=folds).mean() >= 0.73


@pytest.mark.parametrize("small", [False, True])
def test_robust_covariance_lda_withstands_gross_outliers(wine, small):
    X, y = wine
    if small:  # classes too small for a determinant each
        X, y = np.hstack([X, X**2]), y
    spoiled = X.copy()
    spoiled[::12] = 50 * np.random.default_rng(0).normal(size=spoiled[::12].shape)
    clean = np.arange(len(y)) % 12 != 0
    assert baselines.RobustCovarianceLDA().fit(spoiled, y).score(X[clean], y[clean]) > 0.9


def test_tuned_machine_stays_on_the_grid(wine):
    X, y = wine
    model = baselines.TunedSVM(tuning_samples=90).fit(X, y)
    for value in (model.machine_.C, model.machine_.gamma):
        assert np.isclose(np.log10(value), round(np.log10(value)))
        assert 1e-5 <= value <= 1e5
    assert model.score(X, y) > 0.9
