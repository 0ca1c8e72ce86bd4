"""How many labels are wrong, and between which classes, from what rules say about samples they have not seen.

With p_e(k | x_j) the held-out probability of rule e, shares a_e, and T_kl the probability that a sample of class k is
labeled l,

    P(given label l of j) = Σ_k T_kl Σ_e a_e p_e(k | x_j)                                                  (1)

is the likelihood of what was observed, and its maximum gives shares, flip rate and transition together: first with
one rate for all classes, T_kk = 1 − ε, then with T free under a Dirichlet prior around that, so that class-dependent
errors are seen where there is evidence for them. Both are expectation-maximization: (1) with its prior never falls.
"""

from dataclasses import dataclass

import numpy as np

from robustlda.linalg import Array, class_indicator

PROB_FLOOR = 1e-3
"""Share of every probability that is spread over all classes: no rule is ever certain."""

PSEUDO_COUNT = 5.0
"""Samples, per class of origin and class given, that the prior on T is worth."""

_MAX_RATE = 0.95  # of the flip rate at which a label says nothing; beyond, it would speak against itself


@dataclass(frozen=True)
class LabelNoise:
    """What is known about the labels; `beliefs` are probabilities of the true classes of the samples it was fitted to.

    `likelihood` is the logarithm of (1) with its prior, step by step.
    """

    shares: Array
    transition: Array
    beliefs: Array
    noise_rate: float
    priors: Array
    likelihood: Array


def floored(p: Array) -> Array:
    """Probabilities none of which is zero."""
    return (1 - PROB_FLOOR) * p + PROB_FLOOR / p.shape[-1]


def fit_label_noise(P: Array, labels: Array, weight: Array) -> LabelNoise:
    """Shares of rules and transition between classes from held-out probabilities P (rules × samples × classes)."""
    c, total, rows = P.shape[2], weight.sum(), np.arange(len(labels))
    (shares, rate), _ = uniform_rate(P[:, rows, labels], weight, c)
    uniform = uniform_transition(rate, c)
    T, path = uniform, []
    strength = PSEUDO_COUNT * c
    by_label = class_indicator(labels, np.ones(len(labels)), c)
    for _ in range(200):
        given = T[:, labels].T
        q = np.einsum("enk,nk->en", P, given)
        mixture = shares @ q
        p = np.tensordot(shares, P, 1)
        r = weight[:, None] * p * given / mixture[:, None]
        path.append(float(weight @ np.log(mixture) + np.log(shares).mean() + strength * np.vdot(uniform, np.log(T))))
        if len(path) > 1 and path[-1] - path[-2] <= 1e-6 * total:
            break
        shares = _posterior_shares(shares, q / mixture, weight)
        counts = (by_label @ r).T
        T = (counts + strength * uniform) / (counts.sum(axis=1, keepdims=True) + strength)
    T = discount_overlap(T)
    r = p * T[:, labels].T
    r /= r.sum(axis=1, keepdims=True)
    wrong = 1 - weight @ r[rows, labels] / total
    return LabelNoise(shares, T, r, float(wrong), weight @ r / total, np.array(path))


def discount_overlap(T: Array) -> Array:
    """Transition without what may be overlap of classes.

    Two classes that are hard to tell apart look like labels that go wrong both ways between them, but there it is the
    features that know which labels to doubt. What goes both ways is therefore spread evenly over all pairs of classes,
    and only what goes one way more than the other is kept where it is.
    """
    c = len(T)
    off = T * (1 - np.eye(c))
    both_ways = np.minimum(off, off.T)
    found = off - both_ways + both_ways.sum() / (c * (c - 1)) * (1 - np.eye(c))
    # A class from which most labels went elsewhere still keeps some.
    found *= np.minimum(1, 0.9 / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))
    return found + np.diag(1 - found.sum(axis=1))


def uniform_rate(p: Array, weight: Array, c: int) -> tuple[tuple[Array, float], list[float]]:
    """Shares of rules and one flip rate from the probabilities of the given labels (rules × samples)."""
    shares, rate, total = np.full(len(p), 1 / len(p)), 0.2, weight.sum()
    path: list[float] = []
    for _ in range(300):
        mixture = shares @ p
        likelihood = (1 - rate) * mixture + rate / (c - 1) * (1 - mixture)
        path.append(float(weight @ np.log(likelihood) + np.log(shares).mean()))
        if len(path) > 1 and path[-1] - path[-2] <= 1e-7 * total:
            break
        q = (1 - rate) * p + rate / (c - 1) * (1 - p)
        right = weight @ ((1 - rate) * mixture / likelihood) / total
        shares = _posterior_shares(shares, q / likelihood, weight)
        rate = float(np.clip(1 - right, 1e-4, _MAX_RATE * (c - 1) / c))
    return (shares, rate), path


def best_likelihood(p: Array, weight: Array, c: int) -> float:
    """Log-likelihood of given labels of probability p under the flip rate that suits them best."""
    p = (1 - PROB_FLOOR) * p + PROB_FLOOR / c
    # p + rate·slope is linear in the rate and its logarithm concave, so Newton's method needs bounds but no more.
    slope = (1 - p) / (c - 1) - p
    low, high, rate = 0.0, _MAX_RATE * (c - 1) / c, 0.2
    for _ in range(40):
        relative = slope / (p + rate * slope)
        gradient, curvature = float(weight @ relative), float(weight @ relative**2)
        low, high = (rate, high) if gradient > 0 else (low, rate)
        step = rate + gradient / curvature if curvature > 0 else rate
        # A step of no length is the end; halving the interval instead would lead away from it.
        if abs(step - rate) <= 1e-12 or high - low <= 1e-12:
            break
        rate = step if low < step < high else (low + high) / 2
    return float(weight @ np.log(p + rate * slope))


def _posterior_shares(shares: Array, relative: Array, weight: Array) -> Array:
    """Most probable shares under a prior worth one sample, which keeps every rule in play."""
    return (shares * (relative @ weight) + 1 / len(shares)) / (weight.sum() + 1)


def uniform_transition(rate: float, c: int) -> Array:
    """Every label is kept with probability 1 − rate, and otherwise becomes any other."""
    T = np.full((c, c), rate / (c - 1))
    np.fill_diagonal(T, 1 - rate)
    return T
