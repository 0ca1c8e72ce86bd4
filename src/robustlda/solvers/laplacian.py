"""Graph-based discriminant projections: one generalized eigenproblem each.

Supervised locality preserving projections join the samples of a class by edges S, with degrees D and L = D − S, and
minimize aᵀXᵀLXa / aᵀXᵀDXa. Since L = D − S that is the largest β of

    XᵀSX a = β XᵀDX a,   β between 0 and 1,

which is better conditioned. With edges 1/n_class, XᵀSX = S_b and XᵀDX = S_t: it *is* LDA. A ridge, relative to the mean
eigenvalue of XᵀDX, decides between directions of equal β, of which there are c − 1 as soon as d ≥ n.

Discriminant Laplacian embedding joins the two spaces in one criterion. Its published formula could not be recovered;
this is a reconstruction from its description, with L the Laplacian of a nearest-neighbor graph of all samples:

    maximize  tr[(WᵀBW)⁻¹ WᵀS_bW],   B = S_w / tr S_w + XᵀLX / tr XᵀLX + ridge · I/r.

Columns are scaled to aᵀXᵀDXa = 1 and aᵀBa = 1; they are not orthonormal.
"""

import numpy as np

from robustlda.data import Samples
from robustlda.data.graphs import class_scatters, neighbor_scatter
from robustlda.solvers import eigen
from robustlda.solvers.result import CLOSED_FORM, SolverResult
from robustlda.solvers.trace_ratio import scatters


def solve_locality(samples: Samples, n_components: int, graph: str, ridge: float) -> SolverResult:
    """Supervised LPP; `history` holds tr(WᵀXᵀLXW) at WᵀXᵀDXW = I, ridge included."""
    joined, degrees = class_scatters(samples, graph)
    degrees += ridge * np.trace(degrees) / samples.dim * np.eye(samples.dim)
    beta, W = eigen.largest_generalized(joined, degrees, n_components, samples.plan.lanczos_dim)
    return _closed_form(samples, W, float(np.sum(1 - beta)))


def solve_embedding(samples: Samples, n_components: int, n_neighbors: int, ridge: float) -> SolverResult:
    """DLE as reconstructed; `history` holds −tr[(WᵀBW)⁻¹ WᵀS_bW]."""
    Sw, St, _ = scatters(samples)
    smooth = neighbor_scatter(samples, n_neighbors)
    B = ridge * np.eye(samples.dim) / samples.dim
    for part in (Sw, smooth):
        # Classes, or neighborhoods, that are single points have no scatter to normalize.
        B += part / np.trace(part) if np.trace(part) > 1e-12 * np.trace(St) else 0
    theta, W = eigen.largest_generalized((St - Sw) / np.trace(St), B, n_components, samples.plan.lanczos_dim)
    return _closed_form(samples, W, -float(theta.sum()))


def _closed_form(samples: Samples, W: np.ndarray, value: float) -> SolverResult:
    totals, sums = samples.class_sums(samples.weight)
    return SolverResult(W, sums / totals[:, None], np.array([value]), 0.0, CLOSED_FORM)
