"""The engine against the literal transcription of the paper, from the same start."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from problems import make_samples

from robustlda.linalg import principal_angles
from robustlda.losses import L12
from robustlda.solvers import reweighted, starts


def samples_of(X, y, weight=None):
    return make_samples(X, np.unique(y, return_inverse=True)[1], weight)


def row_space_basis(X):
    """Orthonormal basis of the centered rows by a plain SVD, independent of the package."""
    _, S, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return Vt[S > 1e-10 * S[0]].T


def compare(X, y, W0, iterations):
    """Run both from the frame W0 of feature space and compare the paths and the subspaces."""
    samples = samples_of(X, y)
    basis = row_space_basis(X)
    assert samples.dim == basis.shape[1]
    rows = (X - X.mean(axis=0)) @ basis
    epsilon = 1e-6 * np.sort((rows**2).sum(axis=1))[(len(rows) - 1) // 2]
    W, _, path, gap = reference.run(rows, y, np.linalg.qr(basis.T @ W0)[0], epsilon, iterations)
    result = reweighted.solve(samples, samples.space.lower(W0), L12(), tol=0, max_iter=iterations, accelerate=False)
    assert_allclose(result.history, path[: len(result.history)], rtol=1e-6)
    assert (np.diff(result.history) <= 0).all()
    # Eigenvectors are determined to rounding over gap, and every iteration passes its error on.
    if gap > 1e-6:
        assert principal_angles(samples.space.lift(result.W), basis @ W).max() < 1e-4
    return gap


@pytest.mark.parametrize("start", ["trace_ratio", "pca", "random"])
@pytest.mark.parametrize("name", ["vehicle", "dermatology", "yale", "orl"])
def test_same_path_and_subspace_as_the_paper(paper_data, name, start):
    X, y = paper_data(name)
    samples = samples_of(X, y)
    m = min(3 * samples.n_classes, samples.dim - 1)
    W0 = samples.space.lift(starts.frame(start, samples, m, np.random.RandomState(0)))
    gap = compare(X, y, W0, iterations=8 if name == "orl" else 25)
    assert gap > 1e-6, "the comparison of subspaces has been passed over"


@pytest.mark.parametrize(("n", "d", "m"), [(40, 5, 1), (40, 5, 4), (15, 30, 6), (60, 7, 3)])
def test_same_path_and_subspace_on_random_data(n, d, m):
    rng = np.random.default_rng(n + d)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 2 * rng.normal(size=(3, d))[y]
    samples = samples_of(X, y)
    W0 = samples.space.lift(starts.frame("random", samples, m, np.random.RandomState(1)))
    compare(X, y, W0, iterations=15)
