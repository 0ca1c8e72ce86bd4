"""The paper's Algorithm 2, loop by loop. It is the judge of everything faster, and nobody optimizes it.

Rows are samples. `epsilon` is the smoothing of the paper's footnote, the same in all three sums; the data are
centered by the caller and span their space. One sample is visited at a time, as the sums are written.
"""

import numpy as np


def h(v, epsilon):
    return np.sqrt(v @ v + epsilon)


def objective(X, y, W, centers, epsilon):
    numerator = denominator = 0.0
    for x, label in zip(X, y, strict=True):
        numerator += h(W.T @ (x - centers[label]), epsilon)
        denominator += h(x, epsilon) - h(x - W @ (W.T @ x), epsilon)
    return numerator / denominator


def class_means(X, y):
    return {label: X[y == label].mean(axis=0) for label in np.unique(y)}


def step(X, y, W, centers, epsilon):
    """Steps 1 to 5 of Algorithm 2: the matrix A, the new centers and the new frame."""
    d, m = W.shape
    ratio = objective(X, y, W, centers, epsilon)
    A = np.zeros((d, d))
    updated = {}
    for label in np.unique(y):
        rows = X[y == label]
        D = [1 / (2 * h(W.T @ (x - centers[label]), epsilon)) for x in rows]
        total = sum(D)
        weighted_sum = np.zeros(d)
        for x, weight in zip(rows, D, strict=True):
            A += weight * np.outer(x, x)
            weighted_sum += weight * x
        A -= np.outer(weighted_sum, weighted_sum) / total
        updated[label] = weighted_sum / total
    for x in X:
        A -= ratio / (2 * h(x - W @ (W.T @ x), epsilon)) * np.outer(x, x)
    eigenvalues, vectors = np.linalg.eigh(A)
    return A, updated, vectors[:, :m], eigenvalues


def run(X, y, W, epsilon, iterations):
    """Frame, centers and objective path after a number of iterations, and the smallest relative eigen-gap met."""
    centers = class_means(X, y)
    path = [objective(X, y, W, centers, epsilon)]
    gap = np.inf
    m = W.shape[1]
    for _ in range(iterations):
        _, centers, W, eigenvalues = step(X, y, W, centers, epsilon)
        path.append(objective(X, y, W, centers, epsilon))
        gap = min(gap, (eigenvalues[m] - eigenvalues[m - 1]) / np.abs(eigenvalues).max())
    return W, centers, np.array(path), gap
