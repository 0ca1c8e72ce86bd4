"""Graphs between samples, as the scatters they leave: XᵀSX and XᵀDX for edge weights S and degrees D = diag(S1).

A sample of weight ω is ω samples in one place, so an edge carries the product of the weights of its ends, and a
sample is its own neighbor: it would be that of its copies.
"""

import numpy as np
from scipy.sparse import diags_array
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import kneighbors_graph

from robustlda.data.samples import Samples
from robustlda.linalg import Array

_BLOCK = 1 << 22
"""Numbers in one block of a kernel matrix."""


def class_scatters(samples: Samples, graph: str) -> tuple[Array, Array]:
    """XᵀSX and XᵀDX of the graph that joins all samples of a class.

    `binary` edges weigh 1 and `balanced` ones 1/n_class; both need class sums alone. `heat` edges weigh
    exp(−‖x_j − x_k‖²/2t²), with t the mean distance within classes; the kernel is made one block of rows at a time.
    """
    totals, sums = samples.class_sums(samples.weight)
    if graph == "heat":
        return _heat_scatters(samples)
    share = 1 / totals if graph == "balanced" else np.ones_like(totals)
    return (sums.T * share) @ sums, samples.gram(samples.weight * (totals * share)[samples.labels])


def _heat_scatters(samples: Samples) -> tuple[Array, Array]:
    bandwidth = _mean_distance_within_classes(samples)
    joined, degree = np.zeros((samples.dim, samples.dim)), np.zeros(len(samples.labels))
    for members in _classes(samples):
        R, w = samples.rows(members), samples.weight[members]
        weighted = R * w[:, None]
        for rows in _row_blocks(len(members)):
            squared = euclidean_distances(R[rows], R, squared=True)
            K = np.exp(-squared / (2 * bandwidth**2)) if bandwidth > 0 else np.ones_like(squared)
            joined += weighted[rows].T @ (K @ weighted)
            degree[members[rows]] = w[rows] * (K @ w)
    return (joined + joined.T) / 2, samples.gram(degree)


def _mean_distance_within_classes(samples: Samples) -> float:
    total = pairs = 0.0
    for members in _classes(samples):
        R, w = samples.rows(members), samples.weight[members]
        for rows in _row_blocks(len(members)):
            total += float(w[rows] @ (euclidean_distances(R[rows], R) @ w))
        pairs += float(w.sum() ** 2)
    return total / pairs


def neighbor_scatter(samples: Samples, n_neighbors: int) -> Array:
    """XᵀLX, L = D − S, of the symmetric nearest-neighbor graph with heat weights; labels play no part."""
    X = samples.shifted_rows()  # neither distances nor, as L1 = 0, XᵀLX see a shift
    distances = kneighbors_graph(X, min(n_neighbors, X.shape[0] - 1), mode="distance")
    width = distances.data.mean()
    distances.data = np.exp(-((distances.data / width) ** 2) / 2) if width > 0 else np.ones_like(distances.data)
    S = distances.maximum(distances.T)
    degree = np.asarray(S.sum(axis=1)).ravel()
    L = diags_array(degree) - S
    scatter = X.T @ (L @ X)
    return np.asarray(getattr(scatter, "toarray", lambda: scatter)())


def _classes(samples: Samples) -> list[Array]:
    return [np.flatnonzero(samples.labels == i) for i in range(samples.n_classes)]


def _row_blocks(n: int) -> list[slice]:
    step = max(1, _BLOCK // max(n, 1))
    return [slice(start, start + step) for start in range(0, n, step)]
