"""Maximum margin criterion: one symmetric eigenproblem.

    maximize  tr(Wᵀ(S_b − S_w)W)   over W with WᵀW = I

S_b − S_w = 2S_b − S_t with the scatters divided by n, so no inverse is taken and a singular S_w does no harm. At most
c − 1 eigenvalues are positive. Unlike a ratio the criterion depends on how S_b compares with S_w in size: label noise
shrinks S_b, and the optimum moves even where classes keep their shape.
"""

import numpy as np

from robustlda.data import Samples
from robustlda.solvers import eigen
from robustlda.solvers.result import CLOSED_FORM, SolverResult
from robustlda.solvers.trace_ratio import scatters


def solve(samples: Samples, n_components: int) -> SolverResult:
    """The optimal frame; `history` holds −tr(Wᵀ(S_b − S_w)W), the quantity minimized."""
    Sw, St, means = scatters(samples)
    A = (2 * Sw - St) / samples.weight.sum()
    W = eigen.smallest(A, n_components)
    return SolverResult(W, means, np.array([np.vdot(W, A @ W)]), 0.0, CLOSED_FORM)
