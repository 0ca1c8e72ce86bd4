"""Naive Bayes on terms, with the answer every sample would get without itself.

Rows that are never negative and nearly all zeros count something: words of a text, above all. A linear rule has to
learn a coefficient for each term from the few rows that have it, and in short texts most terms are rare. Naive Bayes
needs no more than counts. With weights ω and targets y_jk, N_kt = Σ_j ω_j y_jk x_jt and S_k = Σ_t N_kt, term t of d has
in class k the probability θ_kt, and a row the score

    θ_kt = (N_kt + α) / (S_k + αd),        s_jk = log π_k + Σ_t x_jt log θ_kt.                                   (1)

Scores are linear in the row. Without sample j, δ_j y_jk x_jt is missing in N_kt, δ_j y_jk Σ_t x_jt in S_k, and δ_j y_jk
in what π_k is counted from, so held-out scores cost one logarithm for each term of each row. Terms are not independent
of each other, as (1) would have it, so scores are too sure; how sure they may be is asked of labels, as for every rule.

Entries are in units of their mean, in which α is given: nothing depends on the unit of all entries together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from robustlda.data import Weights
from robustlda.data.store import Store, row_slices
from robustlda.decision.ridge import Solution
from robustlda.linalg import Array

DENSITY = 0.05
"""Share of entries that may be other than zero, for these to be terms."""

STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""α, in mean entries."""

_NEGLIGIBLE = 1e-3  # of a sample, that a class may have in it without being left out


@dataclass(frozen=True)
class Terms:
    """Rows that are terms, and their center."""

    rows: csr_array
    center: Array


def terms_of(store: Store, weight: Array, step: int) -> csr_array | None:
    """The rows of a store, read `step` at a time, if none of their entries is negative and nearly all are zero."""
    n, d = store.shape
    parts, filled, most = [], 0.0, DENSITY * float(weight.sum()) * d
    for some in row_slices(n, step):
        rows = store.block(some).compact()
        values = rows if isinstance(rows, np.ndarray) else rows.data
        if values.min(initial=0) < 0:
            return None
        counts = np.count_nonzero(rows, axis=1) if isinstance(rows, np.ndarray) else np.diff(rows.indptr)
        filled += float(weight[some] @ counts)
        if filled > most:
            return None
        parts.append(csr_array(rows, dtype=float))
    return vstack(parts, format="csr") if filled > 0 else None


@dataclass(frozen=True)
class TermSolution(Solution):
    """One α, with counts N in place of coefficients, as these are asked of one solution only."""

    unit: float = 1.0

    @property
    def coef(self) -> Array:
        return _logs(self.in_basis, self.penalty).T / self.unit


def _logs(N: Array, alpha: float) -> Array:
    """Logarithms of θ, one row for every class."""
    logs = np.log(N + alpha)
    logs -= np.log(N.sum(axis=1) + alpha * N.shape[1])[:, None]
    return logs


class NaiveBayes:
    """Terms, for targets of any kind; `factors` shorten far rows."""

    def __init__(self, terms: Terms, factors: Array, weights: Weights) -> None:
        X, self._weight, self._one = terms.rows, weights.trusted, weights.one_trusted
        entries = np.diff(X.indptr)
        unit = float(self._weight @ X.sum(axis=1)) / max(float(self._weight @ entries), 1e-300)
        self._unit, self._center = unit, terms.center / unit
        row = np.repeat(np.arange(len(entries)), entries)
        self._X = csr_array((X.data / unit * factors[row], X.indices, X.indptr), shape=X.shape)
        self._sizes, self._shortened = self._X.sum(axis=1), 1 - factors

    def solutions(self, Y: Array, penalty: float | None = None) -> Iterator[Solution]:
        """One for each α, or the given one. Coefficients are those of rows about the center."""
        X, weight, c, d = self._X, self._weight, Y.shape[1], self._X.shape[1]
        shares = weight @ Y
        priors = np.log((shares + 1) / (shares.sum() + c))
        N = np.asarray((X.T @ (Y * weight[:, None])).T)
        S = N.sum(axis=1)
        sample, k = np.nonzero(Y > _NEGLIGIBLE)
        itself = self._one[sample] * Y[sample, k]
        pair, entry = self._entries_of(sample)
        x = X.data[entry]
        without = np.maximum(N[k[pair], X.indices[entry]] - itself[pair] * x, 0)
        rest = np.maximum(S[k] - itself * self._sizes[sample], 0)
        prior = np.log((np.maximum(shares[k] - itself, 0) + 1) / (shares.sum() + c))
        for alpha in STRENGTHS if penalty is None else (penalty,):
            logs = _logs(N, alpha)
            fitted = X @ logs.T + priors
            held_out = fitted.copy()
            held_out[sample, k] = np.bincount(pair, x * np.log(without + alpha), len(sample)) + prior
            held_out[sample, k] -= self._sizes[sample] * np.log(rest + alpha * d)
            at_center = logs @ self._center
            drawn_in = self._shortened[:, None] * at_center  # as far rows are drawn in to the center, not to zero
            held_out += drawn_in
            yield TermSolution(alpha, held_out, fitted + drawn_in, N, priors + at_center, unit=self._unit)

    def _entries_of(self, samples: Array) -> tuple[Array, Array]:
        """Places of all entries of some samples, one after the other, and of which of these samples they are."""
        start = self._X.indptr[samples].astype(np.intp)
        counts = self._X.indptr[samples + 1] - start
        pair = np.repeat(np.arange(len(samples)), counts)
        return pair, np.arange(len(pair)) + np.repeat(start - np.cumsum(counts) + counts, counts)
