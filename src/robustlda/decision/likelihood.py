"""How likely labels are under a pool of rules and a model of errors, with derivatives.

With centered log-probabilities ℓ_ejk of rule e about sample j, scores s_jk = Σ_e β_e ℓ_ejk + b_k and p_j = softmax s_j,
a given label has the probability q_j = Σ_k p_jk L_jk, L_jk being that of the label in class k. What is believed of j is
R_jk = p_jk L_jk / q_j, and with φ_jk the derivatives of s_jk by log β and b,

    ∇ log q_j = Σ_k (R_jk − p_jk) φ_jk,      ∇² log q_j = C_j(R) − C_j(p) + …,
    C_j(r) = Σ_k r_jk φ_jk φ_jkᵀ − (Σ_k r_jk φ_jk)(Σ_k r_jk φ_jk)ᵀ,

where … are the second derivatives of β = exp(log β). So a Hessian costs a few gradients, and Newton's method takes
about ten of them (`newton`). Only where there are very many parameters does a quasi-Newton method take over.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import softmax

from robustlda.decision.labels import MAX_RATE, Labels
from robustlda.linalg import Array

PROB_FLOOR = 1e-4
"""Share of every probability that is spread over all classes: no rule is ever certain."""

UNEQUAL = 0.3
"""Size of the smaller of two classes, relative to the larger, below which one rate for both is not considered.

It would take the same share of the large class to swamp the small one.
"""

MANY = 16
"""Classes from which on a Hessian of all transitions between them is too large."""

_PRIOR_ROW = 1.0  # samples that the prior on a row of T is worth; a sixth of them wrong
_PRIOR_OWN_ROW = 20.0  # the same, where classes have rates of their own: a small one could lose half of its labels
_PRIOR_WRONG = 0.2  # wrong labels in it, for one that is right
_PRIOR_OFFSET = 0.5  # precision of b
_PRIOR_WEIGHT = 0.02  # precision of log β
_PRIOR_BLUNT = 200.0  # against a pool that is blunter than its rules, which are as sharp as labels let them be


@dataclass(frozen=True)
class Pool:
    """Log-probabilities of rules weighed into one; classes of `mixing` have slopes of their own."""

    weights: Array
    offset: Array
    mixing: Array

    def scores(self, logs: Array) -> Array:
        """Scores of every class from centered logarithms (rules × rows × classes)."""
        scores = np.tensordot(self.weights, logs, 1) + self.offset
        return scores + logs.mean(axis=0) @ self.mixing if self.mixing.any() else scores

    def probabilities(self, logs: Array) -> Array:
        return softmax(self.scores(logs), axis=1)


def floored(p: Array) -> Array:
    """Probabilities none of which is zero."""
    return (1 - PROB_FLOOR) * p + PROB_FLOOR / p.shape[-1]


def centered_logs(P: Array) -> Array:
    """Logarithms of probabilities, about their mean over classes."""
    logs = np.log(P)
    return logs - logs.mean(axis=-1, keepdims=True)


class Scores:
    """Log-probabilities of the rules about samples of some weight: what depends on no parameter."""

    def __init__(self, logs: Array, weight: Array) -> None:
        self.logs, self.weight = np.ascontiguousarray(logs), weight
        self.e, self.n, self.c = logs.shape
        self._flat = self.logs.reshape(self.e, -1)

    def weighed(self, beta: Array) -> Array:
        """Σ_e β_e ℓ_ejk."""
        return (beta @ self._flat).reshape(self.n, self.c)

    def slope(self, d: Array) -> Array:
        """Σ_jk d_jk φ_jk for derivatives d by the scores, by β and b."""
        return np.concatenate([self._flat @ np.ascontiguousarray(d).ravel(), d.sum(axis=0)])

    def curvature(self, r: Array, weight: Array) -> Array:
        """Σ_j weight_j C_j(r), by β and b."""
        e = self.e
        C = np.empty((e + self.c, e + self.c))
        mean = np.empty((e, self.n))
        for a, logs in enumerate(self.logs):
            part = logs * r
            mean[a] = part.sum(axis=1)
            C[a, e:] = weight @ part
            C[a, :e] = self._flat @ (weight[:, None] * part).ravel()
        C[:e, :e] -= (mean * weight) @ mean.T
        C[:e, e:] -= (mean * weight) @ r
        C[e:, :e] = C[:e, e:].T
        weighted = weight[:, None] * r
        C[e:, e:] = np.diag(weighted.sum(axis=0)) - r.T @ weighted
        return C


class Point:
    """Priors, and what all points have in common: β and b come first in v."""

    has_hessian = True

    def __init__(self, scores: Scores, labels: Labels, v: Array) -> None:
        self._scores, self._labels, self._v = scores, labels, v
        by_rule, self._b, self._rest = np.split(v, [scores.e, scores.e + scores.c])
        self._beta = np.exp(by_rule)

    @property
    def pool(self) -> Pool:
        return Pool(self._beta, self._b, np.zeros((self._scores.c, self._scores.c)))

    @cached_property
    def p(self) -> Array:
        """Probabilities of the classes, by the features."""
        s = self._scores.weighed(self._beta)
        s += self._b + self._more_scores()
        s -= s.max(axis=1, keepdims=True)
        np.exp(s, out=s)
        s /= s.sum(axis=1, keepdims=True)
        return s

    def _more_scores(self) -> Array | float:
        return 0.0

    @property
    def value(self) -> float:
        return self._of_labels() + self._of_priors() + self._of_pool()

    def _of_labels(self) -> float:
        """Σ_j ω_j log q_j."""
        raise NotImplementedError

    def _of_priors(self) -> float:
        """The logarithm of the prior of what is not the pool."""
        raise NotImplementedError

    def gradient(self) -> Array:
        raise NotImplementedError

    def hessian(self) -> Array:
        raise NotImplementedError

    def _of_pool(self) -> float:
        shift, blunt = self._shift, self._blunt
        penalty = _PRIOR_WEIGHT * shift @ shift + _PRIOR_OFFSET * self._b @ self._b + _PRIOR_BLUNT * blunt**2
        return -float(penalty) / 2

    @property
    def _shift(self) -> Array:
        return np.asarray(self._v[: self._scores.e] + np.log(self._scores.e))

    @property
    def _blunt(self) -> float:
        return max(1 - float(self._beta.sum()), 0.0)

    def _pool_gradient(self, d: Array) -> Array:
        """By log β and b, from the derivatives of the log-likelihood by the scores."""
        slope = self._scores.slope(d)
        by_weight = self._beta * (slope[: self._scores.e] + _PRIOR_BLUNT * self._blunt) - _PRIOR_WEIGHT * self._shift
        return np.concatenate([by_weight, slope[self._scores.e :] - _PRIOR_OFFSET * self._b])

    def _pool_hessian(self, by_scores: Array, d: Array) -> Array:
        """By log β and b, from the Hessian by β and b."""
        e, beta = self._scores.e, self._beta
        H = _scaled(by_scores, np.append(beta, np.ones(self._scores.c)))
        at_beta = self._scores.slope(d)[:e]
        H[:e, :e] += np.diag(beta * (at_beta + _PRIOR_BLUNT * self._blunt) - _PRIOR_WEIGHT)
        if self._blunt > 0:
            H[:e, :e] -= _PRIOR_BLUNT * np.outer(beta, beta)
        H[e:, e:] -= _PRIOR_OFFSET * np.eye(self._scores.c)
        return H


def _scaled(H: Array, factors: Array) -> Array:
    return H * factors[:, None] * factors


class WithOneRate(Point):
    """Every label is kept with probability 1 − r, and otherwise becomes any other; τ = log of r/(c − 1) to 1 − r.

    All classes but that of the label are alike, so with the class t of the label (or the one that a person has found)
    the beliefs are R = (1 − g) p + g e_t, and by the scores

        ∇ log q = g (e_t − p),        ∇² log q = g (1 − g) (e_t − p)(e_t − p)ᵀ − g C(p).
    """

    def __init__(self, scores: Scores, labels: Labels, v: Array) -> None:
        super().__init__(scores, labels, v)
        c, odds = scores.c, np.exp(self._rest[0])
        self._rate = (c - 1) * odds / (1 + (c - 1) * odds)
        self._right, self._wrong = 1 - self._rate, self._rate / (c - 1)
        rows, checked = np.arange(scores.n), labels.checked
        self._place = rows, np.where(checked, labels.known, labels.given)
        own = self.p[self._place]
        self._q = self._wrong + (self._right - self._wrong) * own
        self._g = (self._right - self._wrong) * own / self._q
        self._kept = self._right * own / self._q  # belief that a label is right
        if checked.any():
            right = (labels.known == labels.given)[checked]
            self._q[checked] = own[checked] * np.where(right, self._right, self._wrong)
            self._g[checked], self._kept[checked] = 1.0, right

    @property
    def transition(self) -> Array:
        T = np.full((self._scores.c, self._scores.c), self._wrong)
        np.fill_diagonal(T, self._right)
        return T

    @property
    def beliefs(self) -> Array:
        R = (1 - self._g)[:, None] * self.p
        R[self._place] += self._g
        return R

    @property
    def _prior(self) -> float:
        return _PRIOR_ROW * self._scores.c

    def _of_labels(self) -> float:
        return float(self._labels.weight @ np.log(np.maximum(self._q, 1e-300)))

    def _of_priors(self) -> float:
        return float(self._prior * (np.log(self._right) + _PRIOR_WRONG * np.log(self._wrong)))

    @cached_property
    def _d(self) -> Array:
        weighted = self._labels.weight * self._g
        d = -weighted[:, None] * self.p
        d[self._place] += weighted
        return d

    def gradient(self) -> Array:
        by_rate = self._labels.weight @ (self._right - self._kept)
        by_rate += self._prior * (_PRIOR_WRONG - (1 + _PRIOR_WRONG) * self._rate)
        return np.append(self._pool_gradient(self._d), by_rate)

    def hessian(self) -> Array:
        scores, weight, g, kept = self._scores, self._labels.weight, self._g, self._kept
        away = -self.p
        away[self._place] += 1  # e_t − p
        Z = np.empty((scores.n, scores.e + scores.c))
        for a, logs in enumerate(scores.logs):
            Z[:, a] = (logs * away).sum(axis=1)
        Z[:, scores.e :] = away
        H = np.empty((Z.shape[1] + 1,) * 2)
        one_by_one = Z.T @ ((weight * g * (1 - g))[:, None] * Z)
        H[:-1, :-1] = self._pool_hessian(one_by_one - scores.curvature(self.p, weight * g), self._d)
        mixed = Z.T @ (-weight * (1 - g) * kept)
        mixed[: scores.e] *= self._beta
        H[-1, :-1] = H[:-1, -1] = mixed
        varies = self._rate * self._right
        H[-1, -1] = weight @ (kept * (1 - kept) - varies) - self._prior * (1 + _PRIOR_WRONG) * varies
        return H


class WithRates(Point):
    """A rate for every transition: row k of T is the softmax of logits, that of the own class being 0."""

    def __init__(self, scores: Scores, labels: Labels, v: Array) -> None:
        super().__init__(scores, labels, v)
        c = scores.c
        self.has_hessian = c <= MANY
        self._off = ~np.eye(c, dtype=bool)
        T = np.zeros((c, c))
        T[self._off] = self._rest
        self.transition = softmax(T, axis=1)
        self.beliefs, self._q = labels.posterior(self.p * labels.likelihood(self.transition))
        # Of two classes of like size, rates of their own are hardly more than one for both.
        row = _PRIOR_ROW if c == 2 and not unequal(labels) else _PRIOR_OWN_ROW
        self._prior = np.where(self._off, row * _PRIOR_WRONG / (c - 1), row)

    def _of_labels(self) -> float:
        return float(self._labels.weight @ np.log(self._q))

    def _of_priors(self) -> float:
        return float(np.vdot(self._prior, np.log(self.transition)))

    @cached_property
    def _d(self) -> Array:
        return self._labels.weight[:, None] * (self.beliefs - self.p)

    @cached_property
    def _counts(self) -> Array:
        return self._labels.counts(self.beliefs) + self._prior

    def gradient(self) -> Array:
        by_transition = self._counts - self._counts.sum(axis=1, keepdims=True) * self.transition
        return np.concatenate([self._pool_gradient(self._d), by_transition[self._off]])

    def hessian(self) -> Array:
        """With t_kl = log T_kl, ∇² log q of samples with label l by t_·l is diag R − RRᵀ; the rest is the chain rule.

        ∂t_kl/∂v_km = δ_lm − T_km, and −N_k (diag T_k − T_k T_kᵀ) comes from the curvature of t itself.
        """
        scores, T, R, c = self._scores, self.transition, self.beliefs, self._scores.c
        by_scores = scores.curvature(R, scores.weight) - scores.curvature(self.p, scores.weight)
        M = self._by_label(R)  # label × class × class
        means = [(R * logs).sum(axis=1, keepdims=True) for logs in scores.logs]
        by_rule = np.array([self._labels.counts(R * (logs - m)) for logs, m in zip(scores.logs, means, strict=True)])
        by_rule *= self._beta[:, None, None]  # rule × class × label
        by_offset = M.transpose(2, 1, 0)  # class of b × class × label
        mixed = np.concatenate([by_rule, by_offset])
        mixed = mixed - T * mixed.sum(axis=2, keepdims=True)
        H = T[:, :, None, None] * T * M.sum(axis=0)[:, None, :, None]
        H -= T[:, :, None, None] * M.transpose(1, 2, 0)[:, None]
        H -= M.transpose(1, 0, 2)[:, :, :, None] * T
        every, sizes = np.arange(c), self._counts.sum(axis=1)
        H[:, every, :, every] += M
        H[every, :, every, :] -= sizes[:, None, None] * (T[:, :, None] * np.eye(c) - T[:, :, None] * T[:, None, :])
        first = self._pool_hessian(by_scores, self._d)
        cross = mixed[:, self._off]
        return np.block([[first, cross], [cross.T, H[self._off][:, self._off]]])

    def _by_label(self, R: Array) -> Array:
        """Σ ω (diag R − RRᵀ) over the samples of each label."""
        weighted, c = R * self._labels.weight[:, None], self._scores.c
        M = np.empty((c, c, c))
        for k, members in enumerate(self._labels.members):
            M[k] = np.diag(weighted[members].sum(axis=0)) - R[members].T @ weighted[members]
        return M


@dataclass(frozen=True)
class Slopes:
    """Entries of a classes × classes matrix, by which classes that overlap have slopes of their own."""

    mean: Array
    free: Array
    precision: Array

    @cached_property
    def unit(self) -> float:
        return float(np.sqrt((self.mean**2).mean())) or 1.0

    def mixing(self, values: Array) -> Array:
        c = self.mean.shape[1]
        M = np.zeros(c * c)
        M[self.free] = values / self.unit
        return M.reshape(c, c)

    def slope(self, d: Array) -> Array:
        return np.asarray((self.mean.T @ d).ravel()[self.free] / self.unit)


class WithLikelihood(Point):
    """The likelihood of what was given is known for every class."""

    def __init__(self, scores: Scores, labels: Labels, v: Array, likelihood: Array, slopes: Slopes) -> None:
        super().__init__(scores, labels, v)
        self._slopes, self.has_hessian = slopes, not len(slopes.free)
        self.beliefs, self._q = labels.posterior(self.p * likelihood)

    @property
    def pool(self) -> Pool:
        return Pool(self._beta, self._b, self._slopes.mixing(self._rest))

    def _more_scores(self) -> Array | float:
        return self._slopes.mean @ self._slopes.mixing(self._rest) if len(self._rest) else 0.0

    def _of_labels(self) -> float:
        return float(self._labels.weight @ np.log(self._q))

    def _of_priors(self) -> float:
        return -float(self._slopes.precision @ self._rest**2) / 2

    @cached_property
    def _d(self) -> Array:
        return self._labels.weight[:, None] * (self.beliefs - self.p)

    def gradient(self) -> Array:
        return np.concatenate(
            [self._pool_gradient(self._d), self._slopes.slope(self._d) - self._slopes.precision * self._rest]
        )

    def hessian(self) -> Array:
        """Without slopes."""
        scores = self._scores
        by_scores = scores.curvature(self.beliefs, scores.weight) - scores.curvature(self.p, scores.weight)
        return self._pool_hessian(by_scores, self._d)


def unequal(labels: Labels) -> bool:
    """Whether one of two classes is so much smaller than the other that one rate for both would swamp it."""
    return bool(labels.sizes.min() < UNEQUAL * labels.sizes.max())


def best_likelihood(p: Array, weight: Array, c: int) -> float:
    """Log-likelihood of given labels of probability p under the flip rate that suits them best."""
    p = (1 - PROB_FLOOR) * p + PROB_FLOOR / c
    # p + rate·slope is linear in the rate and its logarithm concave, so Newton's method needs bounds but no more.
    slope = (1 - p) / (c - 1) - p
    low, high, rate = 0.0, MAX_RATE * (c - 1) / c, 0.2
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
