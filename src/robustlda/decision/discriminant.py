"""Linear discriminant analysis of beliefs, and beliefs from it, in alternation.

With beliefs r_jk about the true classes as targets, least squares with a penalty gives every sample c scores, and
Fisher's analysis of the features with that penalty is Fisher's analysis of these scores (Hastie, Buja and Tibshirani
1995): c dimensions instead of all features. Of the scores g_j that a sample gets without itself (`ridge`),

    m_k = mean of g under r_·k,    S = Σ_jk r_jk (g_j − m_k)(g_j − m_k)ᵀ / n + ρI,
    K = Σ_k n_k (m̂_k − m̂)(m_k − m)ᵀ / n,  made symmetric,

m̂_k being the means of the scores that samples get with themselves. K is the scatter between classes, one factor from
samples that were learned from and one from samples that were not, so a direction in which the two disagree has a
negative entry in it. One such direction is always at hand: what is left out of a mean moves it the other way, so that a
sample left out betrays its own target. So all is done within the directions in which scores of the latter kind vary,
Q holds those of S⁻¹K with positive entries, in units of S, in which m_k differ from m̂_k by less than these differ among
themselves (with a strong penalty scores hardly vary, and what is left out would be all there is), and

    p_jk = softmax_k(τ (g_jᵀQQᵀm_k − |Qᵀm_k|²/2 + log n_k)).

Then r_jk ∝ p_jk · P(what was given for j | k), and so on. The sharpness τ is the one that makes what was given most
likely, and the penalty nearly so (`_likeliest`). A rule that is fitted to labels once predicts labels, errors of a kind
included; classes of one shape that have to explain all their samples do not follow such errors, and each round moves
farther from them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robustlda.decision.labels import Labels
from robustlda.decision.likelihood import PROB_FLOOR, floored
from robustlda.decision.ridge import LeastSquares, Solution
from robustlda.linalg import Array, softmax

ROUNDS = 6
"""Rounds of the alternation: more change little where classes are apart, and where they overlap drift."""

DRIFT = 0.0075
"""Fall of the mean log-likelihood of what was given at which the alternation has lost the classes, and stops.

Beliefs that turn against errors cost a little of it.
"""

CHOOSING = 2
"""Rounds in which every penalty is tried."""

SHRINKAGE = 3.0
"""ρ, in mean variances of the scores, for one sample of each class."""

SHARPNESS = 2.0 ** np.arange(-3, 3)
"""Values of τ, each twice the one before."""

CLEARLY = 2.0
"""Standard errors of a difference in likelihood."""


@dataclass(frozen=True)
class Discriminant:
    """Linear scores of the features whose softmax is the probability of every class; those of the samples held out."""

    coef: Array
    offset: Array
    held_out: Array
    penalty: float


def alternate(
    regression: LeastSquares, labels: Labels, beliefs: Array, explain: Callable[[Array], Array]
) -> Discriminant:
    """Discriminant of the beliefs that it leads to itself.

    `explain` tells from beliefs how probable what was given is, for every class a sample may be of (n × c).
    """
    alone = np.flatnonzero(labels.alone)  # without them nothing is known of their classes
    beliefs = beliefs.copy()
    penalty: float | None = None
    best = -np.inf
    for step in range(ROUNDS):
        beliefs[alone] = np.eye(labels.n_classes)[labels.given[alone]]
        likelihood = explain(beliefs)
        now = _likeliest(regression.solutions(beliefs, penalty), labels, beliefs, likelihood)
        beliefs, total = labels.posterior(floored(now.held_out) * likelihood)
        value = labels.share(np.log(total))
        if value < best - DRIFT:
            break
        found, best = now, max(best, value)
        penalty = found.penalty if step + 1 >= CHOOSING else None
    return found


def once(regression: LeastSquares, labels: Labels, targets: Array, likelihood: Array) -> Discriminant:
    """Discriminant of some targets, without a second look at them."""
    return _likeliest(regression.solutions(targets), labels, targets, likelihood)


def _likeliest(solutions: Iterable[Solution], labels: Labels, beliefs: Array, likelihood: Array) -> Discriminant:
    """Of the analyses, one for each penalty, the one that makes what was given most likely, or the next stronger one.

    What was given holds errors, and a weak penalty can follow them. So the next one is taken if it is not clearly
    worse.
    """
    tried = [_sharpest(solution, labels, beliefs, likelihood) for solution in solutions]
    values = [float(labels.weight @ each.logs) for each in tried]
    best = int(np.argmax(values))
    if best + 1 < len(tried):
        loss = tried[best].logs - tried[best + 1].logs
        spread = labels.weight @ (loss - labels.share(loss)) ** 2
        best += int(values[best] - values[best + 1] <= CLEARLY * np.sqrt(spread))
    return tried[best].discriminant()


class _Analysis(NamedTuple):
    """An analysis of least-squares scores, its sharpness τ, and the logarithms of the likelihood of what was given."""

    solution: Solution
    coef: Array
    offset: Array
    scores: Array
    sharpness: float
    logs: Array

    def discriminant(self) -> Discriminant:
        """The same of the features."""
        solution, tau = self.solution, self.sharpness
        coef, offset = tau * (solution.coef @ self.coef), tau * (solution.offset @ self.coef + self.offset)
        return Discriminant(coef, offset, softmax(tau * self.scores), solution.penalty)


def _sharpest(solution: Solution, labels: Labels, beliefs: Array, likelihood: Array) -> _Analysis:
    """The analysis with the τ that makes what was given most likely."""
    coef, offset = _analysis(solution, beliefs, labels.weight)
    scores = solution.held_out @ coef + offset
    scores -= scores.max(axis=1, keepdims=True)
    odds = np.exp(SHARPNESS[0] * scores)
    best, logs = SHARPNESS[0], np.full(len(odds), -np.inf)
    at_least = PROB_FLOOR * likelihood.mean(axis=1)  # as in `floored`
    for sharpness in SHARPNESS:
        expected = np.einsum("ij,ij->i", odds, likelihood) / odds.sum(axis=1)
        found = np.log(np.maximum((1 - PROB_FLOOR) * expected + at_least, 1e-300))
        if labels.weight @ found > labels.weight @ logs:
            best, logs = sharpness, found
        odds *= odds  # twice as sharp
    return _Analysis(solution, coef, offset, scores, best, logs)


def _analysis(solution: Solution, beliefs: Array, weight: Array) -> tuple[Array, Array]:
    """Linear scores of least-squares scores: QQᵀm_k in the columns, and their offsets."""
    basis = _range(solution.fitted, weight)
    G, fitted = solution.held_out @ basis, solution.fitted @ basis
    R = beliefs * weight[:, None]
    sizes, total = R.sum(axis=0) + 1e-6, weight.sum()
    M, with_itself = R.T @ G / sizes[:, None], R.T @ fitted / sizes[:, None]
    S = (G.T @ (G * weight[:, None]) - (M.T * sizes) @ M) / total
    S[np.diag_indices(len(S))] += SHRINKAGE * np.trace(S) / total + 1e-12
    M = np.where((sizes < 2)[:, None], with_itself, M)
    learned, left_out = with_itself - sizes @ with_itself / total, M - sizes @ M / total
    K = (learned.T * sizes) @ left_out / total
    whitening = _inverse_root(S)
    Q = whitening @ np.linalg.eigh(whitening.T @ (K + K.T) @ whitening / 2)[1]
    # Where that is so, the entry of K is positive.
    Q = Q[:, sizes @ ((left_out - learned) @ Q) ** 2 < sizes @ (learned @ Q) ** 2]
    centers = M @ Q
    return basis @ (Q @ centers.T), np.log(sizes / sizes.sum()) - np.einsum("km,km->k", centers, centers) / 2


def _range(fitted: Array, weight: Array) -> Array:
    """Directions in which fitted scores vary, in the columns: others hold nothing but what was left out."""
    centered = fitted - weight @ fitted / weight.sum()
    values, U = np.linalg.eigh(centered.T @ (centered * weight[:, None]))
    return np.asarray(U[:, values > 1e-9 * values[-1]])


def _inverse_root(S: Array) -> Array:
    values, U = np.linalg.eigh(S)
    return np.asarray(U / np.sqrt(np.maximum(values, 1e-12)))
