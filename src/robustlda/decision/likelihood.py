"""How likely labels are under a pool of rules and a model of errors, with derivatives.

With centered log-probabilities ℓ_ejk of rule e about sample j, scores s_jk = Σ_e β_e ℓ_ejk + b_k and p_j = softmax s_j,
a given label has the probability q_j = Σ_k p_jk L_jk, L_jk being that of the label in class k. What is believed of j is
R_jk = p_jk L_jk / q_j, and with φ_jk the derivatives of s_jk by log β and b,

    ∇ log q_j = Σ_k (R_jk − p_jk) φ_jk,      ∇² log q_j = C_j(R) − C_j(p) + …,
    C_j(r) = Σ_k r_jk φ_jk φ_jkᵀ − (Σ_k r_jk φ_jk)(Σ_k r_jk φ_jk)ᵀ,

where … are the second derivatives of β = exp(log β). So a Hessian costs a few gradients, and Newton's method takes
about ten of them (`newton`). Only where there are very many parameters does a quasi-Newton method take over.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robustlda.decision.labels import MAX_RATE, Labels, uniform_transition
from robustlda.linalg import Array, class_indicator, softmax

PROB_FLOOR = 1e-4
"""Share of every probability that is spread over all classes: no rule is ever certain."""

UNEQUAL = 0.3
"""Size of the smaller of two classes, relative to the larger, below which one rate for both is not considered.

It would take the same share of the large class to swamp the small one.
"""

MANY = 12
"""Classes above which a Hessian of all transitions between them is too large."""

SHARPEST = 2.0
"""Σβ up to which a pool may be sharper than its rules, which are as sharp as labels let each of them be.

Two that do not know of each other are worth twice of one. Sharper pools are certain which labels are wrong.
"""

_IN_CACHE = 1 << 17  # numbers that are worked on at a time
_ALL = slice(None)
_FEWEST = 64  # samples of which that is so, so that they are read in runs of memory
_PRIOR_ROW = 1.0  # samples that the prior on a row of T is worth; a sixth of them wrong
_PRIOR_OWN_ROW = 20.0  # the same, where classes have rates of their own: a small one could lose half of its labels
_PRIOR_WRONG = 0.2  # wrong labels in it, for one that is right
_PRIOR_OFFSET = 0.5  # precision of b
_PRIOR_WEIGHT = 0.02  # precision of log β
_PRIOR_SHARP = 4.0  # against a pool that is sharper than that
_PRIOR_BLUNT = 200.0  # against a pool that is blunter than its rules, which are as sharp as labels let them be


@dataclass(frozen=True)
class Pool:
    """Log-probabilities of rules weighed into one; classes of `mixing` have slopes of their own.

    A rule of weight 0 is not heard at all.
    """

    weights: Array
    offset: Array
    mixing: Array

    def scores(self, logs: Array) -> Array:
        """Scores of every class from centered logarithms (rules × rows × classes)."""
        e, n, c = logs.shape
        by_class = logs.transpose(0, 2, 1).reshape(e, -1)  # a view of those of a committee, which stand like that
        scores = ((self.weights @ by_class).reshape(c, n) + self.offset[:, None]).T
        return scores + logs[self.weights > 0].mean(axis=0) @ self.mixing if self.mixing.any() else scores

    def probabilities(self, logs: Array) -> Array:
        return softmax(self.scores(logs))

    def among(self, some: Array) -> "Pool":
        """The same pool of more rules, the others of which say nothing; `some` is a mask."""
        weights = np.zeros(len(some))
        weights[some] = self.weights
        return replace(self, weights=weights)


@dataclass(frozen=True)
class MixedPool:
    """Pools each of which may be the one that explains labels, and how far each is believed to be it."""

    pools: tuple[Pool, ...]
    shares: Array

    def probabilities(self, logs: Array) -> Array:
        """The mean of what all say."""
        return np.asarray(
            sum(share * pool.probabilities(logs) for share, pool in zip(self.shares, self.pools, strict=True))
        )

    def among(self, some: Array) -> "MixedPool":
        """The same pools of more rules, the others of which say nothing; `some` is a mask."""
        return replace(self, pools=tuple(pool.among(some) for pool in self.pools))


def floored(p: Array) -> Array:
    """Probabilities none of which is zero."""
    return (1 - PROB_FLOOR) * p + PROB_FLOOR / p.shape[-1]


def centered_logs(P: Array) -> Array:
    """Logarithms of probabilities, about their mean over classes."""
    logs = np.log(P)
    return logs - logs.mean(axis=-1, keepdims=True)


class Part(NamedTuple):
    """Some samples of `Scores`: which ones, what rules say about them, and where those of another label begin."""

    samples: slice
    logs: Array
    labels: Array
    starts: Array


class Scores:
    """Log-probabilities of the rules about samples with labels: what depends on no parameter.

    Here and in the points below arrays are classes × samples, and samples with the same label stand together: sums over
    classes and over labels then run along memory. They are worked through in parts that stay in the cache.
    """

    def __init__(self, logs: Array, labels: Labels) -> None:
        self.e, self.n, self.c = logs.shape
        self.labels, self._order = labels, np.argsort(labels.given, kind="stable")
        self.given, self.known = labels.given[self._order], labels.known[self._order]
        self.weight, self.one = labels.weight[self._order], labels.one[self._order]
        self.checked = np.flatnonzero(self.known >= 0)
        # The class of the label, or the one that a person has found, and where it is in raveled arrays.
        self.target = np.where(self.known >= 0, self.known, self.given)
        self.targets = self.target * self.n + np.arange(self.n)
        step = max(_FEWEST, _IN_CACHE // (self.e * self.c))
        self.parts = [self._part(logs, slice(k, min(k + step, self.n))) for k in range(0, self.n, step)]

    def _part(self, logs: Array, some: slice) -> Part:
        labels, starts = np.unique(self.given[some], return_index=True)
        return Part(some, np.ascontiguousarray(logs[:, self._order[some]].transpose(0, 2, 1)), labels, starts)

    def restored(self, R: Array) -> Array:
        """Samples × classes, in the order in which samples were given."""
        back = np.empty((self.n, self.c))
        back[self._order] = R.T
        return back

    def sorted(self, L: Array) -> Array:
        """The opposite."""
        return np.ascontiguousarray(L[self._order].T)

    def probabilities(self, beta: Array, b: Array, mixing: Array | None = None) -> Array:
        """softmax of Σ_e β_e ℓ_ejk + b_k, and of what classes with slopes of their own add."""
        p, b = np.empty((self.c, self.n)), b[:, None]
        for part in self.parts:
            s = (beta @ part.logs.reshape(self.e, -1)).reshape(self.c, -1)
            s += b
            if mixing is not None:
                s += mixing.T @ part.logs.mean(axis=0)
            s -= s.max(axis=0)
            np.exp(s, out=s)
            np.divide(s, s.sum(axis=0), out=p[:, part.samples])
        return p

    def under(self, pool: Pool) -> Array:
        """Probabilities of the classes by a pool (samples × classes)."""
        mixing = pool.mixing if pool.mixing.any() else None
        return self.restored(self.probabilities(pool.weights, pool.offset, mixing))

    @cached_property
    def typical(self) -> float:
        """The size of what rules say, in the mean of all rules."""
        squares = ((part.logs.mean(axis=0) ** 2).sum(axis=0) @ self.weight[part.samples] for part in self.parts)
        return float(np.sqrt(sum(squares) / (self.c * self.weight.sum()))) or 1.0

    def products_with_mean(self, d: Array) -> Array:
        """Σ_j ℓ_jk d_jl for all k and l, with the mean ℓ of all rules."""
        return np.asarray(sum(part.logs.mean(axis=0) @ d[:, part.samples].T for part in self.parts))

    def slope(self, d: Array) -> Array:
        """Σ_jk d_jk φ_jk for derivatives d by the scores, by β and b."""
        by_rule = sum(part.logs.reshape(self.e, -1) @ d[:, part.samples].ravel() for part in self.parts)
        return np.concatenate([by_rule, d.sum(axis=1)])

    @cached_property
    def _of_targets(self) -> Array:
        """What rules say of the target class (rules × samples)."""
        return np.concatenate(
            [part.logs[:, self.target[part.samples], np.arange(part.logs.shape[2])] for part in self.parts], axis=1
        )

    def curvature(self, r: Array, weight: Array) -> Array:
        """Σ_j weight_j C_j(r), by β and b."""
        e = self.e
        C = np.zeros((e + self.c, e + self.c))
        for part in self.parts:
            some, w = part.samples, weight[part.samples]
            C[:e, :e] += self._rule_curvature(part, r[:, some], w, C[:e, e:])[0]
        weighted = r * weight
        C[e:, e:] = -weighted @ r.T
        return self._completed(C, weighted.sum(axis=1))

    def _rule_curvature(self, part: Part, r: Array, weight: Array, by_class: Array) -> tuple[Array, Array]:
        """Σ_j weight_j C_j(r) of a part by β, and Σ_k r_k ℓ_k of every rule; the part by β and b is added."""
        weighted = part.logs * r
        mean = weighted.sum(axis=1)
        by_class += weighted @ weight
        by_class -= (mean * weight) @ r.T
        weighted *= weight
        by_rule = weighted.reshape(self.e, -1) @ part.logs.reshape(self.e, -1).T
        return by_rule - (mean * weight) @ mean.T, mean

    def _completed(self, C: Array, diagonal: Array) -> Array:
        e = self.e
        C[e:, :e] = C[:e, e:].T
        C[e:, e:].flat[:: self.c + 1] += diagonal
        return C

    def curvature_towards(self, p: Array, g: Array) -> tuple[Array, Array]:
        """Σ_j ω_j (g (1 − g) aaᵀ − g C_j(p)) by β and b, with a = Σ_k (e_t − p)_k φ_k and the target t; and all a by β.

        The products of p with itself in both parts are taken together.
        """
        e, c, weight = self.e, self.c, self.weight
        u, v = weight * g * (1 - g), weight * g
        H, away = np.zeros((e + c, e + c)), np.empty((e, self.n))
        for part in self.parts:
            some, by_class = part.samples, np.zeros((e, c))
            q = p[:, some]
            by_rule, mean = self._rule_curvature(part, q, v[some], by_class)
            away[:, some] = a = self._of_targets[:, some] - mean
            pulled = a * u[some]
            H[:e, :e] += pulled @ a.T - by_rule
            H[:e, e:] -= pulled @ q.T + by_class
        for k in range(e):
            H[k, e:] += np.bincount(self.target, u * away[k], c)
        scaled = p * np.sqrt(u + v)
        H[e:, e:] = scaled @ scaled.T
        towards = self.by_target(p * u)
        H[e:, e:] -= towards
        H[e:, e:] -= towards.T
        return self._completed(H, np.bincount(self.target, u, c) - p @ v), away

    def by_target(self, values: Array) -> Array:
        """Sums over the samples of every target (classes × targets)."""
        if len(self.checked):
            return np.asarray((class_indicator(self.target, np.ones(self.n), self.c) @ values.T).T)
        return self._by_label(values)

    def posterior(self, p: Array, likelihood: Array, some: slice = _ALL) -> tuple[Array, Array]:
        """Beliefs R about some samples, which are certain where a person has looked, and q."""
        R = p * likelihood
        q = R.sum(axis=-2)
        if not len(self.checked):
            R /= np.maximum(q, 1e-300, out=q)[..., None, :]
            return R, q
        checked = np.flatnonzero(self.known[some] >= 0)
        known = self.known[some][checked]
        q[..., checked] = R[..., known, checked]
        np.maximum(q, 1e-300, out=q)
        R[..., checked] = np.arange(self.c)[:, None] == known
        R /= np.where(self.known[some] >= 0, 1.0, q)[..., None, :]
        return R, q

    def by_label(self, R: Array) -> Array:
        """Σ_j ω_j R_jk over the samples of every label (classes × labels)."""
        return self._by_label(R * self.weight)

    def _by_label(self, values: Array) -> Array:
        N = np.zeros((*values.shape[:-1], self.c))
        for part in self.parts:
            self.add_by_label(N, values[..., part.samples], part)
        return N

    def add_by_label(self, N: Array, values: Array, part: Part) -> None:
        """Add values of the samples of a part to the sums for every label."""
        N[..., part.labels] += np.add.reduceat(values, part.starts, axis=-1)

    def covariances(self, R: Array) -> Array:
        """Σ_j ω_j (diag R_j − R_j R_jᵀ) over the samples of every label (labels × classes × classes)."""
        M, weighted = np.zeros((self.c, self.c, self.c)), R * self.weight
        bounds = np.searchsorted(self.given, np.arange(self.c + 1))
        for k, (start, end) in enumerate(pairwise(bounds)):
            some = slice(start, end)
            M[k] = np.diag(weighted[:, some].sum(axis=1)) - R[:, some] @ weighted[:, some].T
        return M

    def covariances_with_rules(self, R: Array) -> Array:
        """Σ_j ω_j R_jk (ℓ_k − Σ_k' R_jk' ℓ_k') over the samples of every label (rules × classes × labels)."""
        found = np.zeros((self.e, self.c, self.c))
        for part in self.parts:
            r, weight = R[:, part.samples], self.weight[part.samples]
            about = part.logs - (part.logs * r).sum(axis=1, keepdims=True)
            about *= r * weight
            found[:, :, part.labels] += np.add.reduceat(about, part.starts, axis=2)
        return found


class Point:
    """Priors, and what all points have in common: log β and b come first in v."""

    has_hessian = True
    against_blunt = _PRIOR_BLUNT
    beliefs: Array
    _q: Array

    def __init__(self, scores: Scores, v: Array) -> None:
        self.scores, self._v = scores, v
        e, own = scores.e, scores.e + scores.c
        self._beta, self._b, self._rest = np.exp(v[:e]), v[e:own], v[own:]
        self._shift, self._total = v[:e] + math.log(e), float(self._beta.sum())

    @property
    def at(self) -> Array:
        """Where it is."""
        return self._v

    @property
    def pool(self) -> Pool:
        return Pool(self._beta, self._b, np.zeros((self.scores.c, self.scores.c)))

    @cached_property
    def by_features(self) -> Array:
        """p, probabilities of the classes by the features."""
        return self.scores.probabilities(self._beta, self._b, self._mixing())

    def _mixing(self) -> Array | None:
        return None

    @cached_property
    def value(self) -> float:
        """Σ_j ω_j log q_j with the logarithms of the priors."""
        return self.likelihood + self._of_priors() + self._of_pool()

    @property
    def likelihood(self) -> float:
        """Σ_j ω_j log q_j."""
        return float(self.scores.weight @ np.log(self._q))

    def _of_priors(self) -> float:
        """The logarithm of the prior of what is not the pool."""
        raise NotImplementedError

    def gradient(self) -> Array:
        raise NotImplementedError

    def hessian(self) -> Array:
        raise NotImplementedError

    def _of_pool(self) -> float:
        shift, off, stiff = self._shift, *self._too_far
        penalty = _PRIOR_WEIGHT * shift @ shift + _PRIOR_OFFSET * self._b @ self._b + stiff * off**2
        return -float(penalty) / 2

    @property
    def _too_far(self) -> tuple[float, float]:
        """How much blunter than its rules the pool is, or sharper than it may be, and the precision of that."""
        if self._total < 1:
            return self._total - 1, self.against_blunt
        return (self._total - SHARPEST, _PRIOR_SHARP) if self._total > SHARPEST else (0.0, 0.0)

    @cached_property
    def _d(self) -> Array:
        """Derivatives of the log-likelihood by the scores."""
        return self.scores.weight * (self.beliefs - self.by_features)

    @cached_property
    def _slope(self) -> Array:
        return self.scores.slope(self._d)

    def _pool_gradient(self) -> Array:
        """By log β and b."""
        e, (off, stiff) = self.scores.e, self._too_far
        by_weight = self._beta * (self._slope[:e] - stiff * off) - _PRIOR_WEIGHT * self._shift
        return np.concatenate([by_weight, self._slope[e:] - _PRIOR_OFFSET * self._b])

    def _pool_hessian(self, by_scores: Array) -> Array:
        """By log β and b, from the Hessian by β and b."""
        e, beta, (off, stiff) = self.scores.e, self._beta, self._too_far
        H = by_scores
        H[:e] *= beta[:, None]
        H[:, :e] *= beta
        diagonal = np.einsum("ii->i", H)  # a view of it
        diagonal[:e] += beta * (self._slope[:e] - stiff * off) - _PRIOR_WEIGHT
        diagonal[e:] -= _PRIOR_OFFSET
        if stiff:
            H[:e, :e] -= stiff * beta[:, None] * beta
        return H

    def _curvature(self) -> Array:
        """Σ_j ω_j (C_j(R) − C_j(p))."""
        scores = self.scores
        return scores.curvature(self.beliefs, scores.weight) - scores.curvature(self.by_features, scores.weight)


class WithOneRate(Point):
    """Every label is kept with probability 1 − r, and otherwise becomes any other; τ = log of r/(c − 1) to 1 − r.

    All classes but that of the label are alike, so with the class t of the label (or the one that a person has found)
    the beliefs are R = (1 − g) p + g e_t, and by the scores

        ∇ log q = g (e_t − p),        ∇² log q = g (1 − g) (e_t − p)(e_t − p)ᵀ − g C(p).
    """

    def __init__(self, scores: Scores, v: Array) -> None:
        super().__init__(scores, v)
        c, odds = scores.c, np.exp(self._rest[0])
        self._right = 1 / (1 + (c - 1) * odds)
        self._wrong = odds * self._right  # in this way never more than the former, not even by a rounding error
        self._rate = (c - 1) * self._wrong
        own, checked = self.by_features.ravel()[scores.targets], scores.checked
        self._q = self._wrong + (self._right - self._wrong) * own
        self._g = (self._right - self._wrong) * own / self._q
        self._kept = self._right * own / self._q  # belief that a label is right
        if len(checked):
            right = (scores.known == scores.given)[checked]
            self._q[checked] = np.maximum(own[checked] * np.where(right, self._right, self._wrong), 1e-300)
            self._g[checked], self._kept[checked] = 1.0, right

    @property
    def transition(self) -> Array:
        return uniform_transition(self._rate, self.scores.c)

    @cached_property
    def _away(self) -> Array:
        """e_t − p."""
        away = -self.by_features
        away.ravel()[self.scores.targets] += 1
        return away

    @cached_property
    def beliefs(self) -> Array:  # type: ignore[override]
        return np.asarray(self.by_features + self._g * self._away)

    @cached_property
    def _d(self) -> Array:
        return (self.scores.weight * self._g) * self._away

    @property
    def _prior(self) -> float:
        return _PRIOR_ROW * self.scores.c

    def _of_priors(self) -> float:
        return float(self._prior * (np.log(self._right) + _PRIOR_WRONG * np.log(self._wrong)))

    def gradient(self) -> Array:
        by_rate = self.scores.weight @ (self._right - self._kept)
        by_rate += self._prior * (_PRIOR_WRONG - (1 + _PRIOR_WRONG) * self._rate)
        return np.append(self._pool_gradient(), by_rate)

    def hessian(self) -> Array:
        scores, g, kept = self.scores, self._g, self._kept
        by_scores, away = scores.curvature_towards(self.by_features, g)
        own = len(by_scores)
        H = np.empty((own + 1, own + 1))
        H[:own, :own] = self._pool_hessian(by_scores)
        falls = scores.weight * (1 - g) * kept
        H[own, : scores.e] = -self._beta * (away @ falls)
        H[own, scores.e : own] = self.by_features @ falls - np.bincount(scores.target, falls, scores.c)
        H[:own, own] = H[own, :own]
        varies = self._rate * self._right
        H[own, own] = scores.weight @ (kept * (1 - kept) - varies) - self._prior * (1 + _PRIOR_WRONG) * varies
        return H


class WithRates(Point):
    """A rate for every transition: row k of T is the softmax of logits, that of the own class being 0."""

    def __init__(self, scores: Scores, v: Array) -> None:
        super().__init__(scores, v)
        c = scores.c
        self.has_hessian = c <= MANY
        self._off = ~np.eye(c, dtype=bool)
        T = np.zeros((c, c))
        T[self._off] = self._rest
        self.transition = softmax(T)
        self.beliefs, self._q = scores.posterior(self.by_features, self.transition[:, scores.given])
        # Of two classes of like size, rates of their own are hardly more than one for both.
        row = _PRIOR_ROW if c == 2 and not unequal(scores.labels) else _PRIOR_OWN_ROW
        self._prior = np.where(self._off, row * _PRIOR_WRONG / (c - 1), row)

    def counted(self) -> Array:
        """The transition that is most probable for the beliefs of this point."""
        return np.asarray(self._counts / self._counts.sum(axis=1, keepdims=True))

    def _of_priors(self) -> float:
        return float(np.vdot(self._prior, np.log(self.transition)))

    @cached_property
    def _counts(self) -> Array:
        return self.scores.by_label(self.beliefs) + self._prior

    def gradient(self) -> Array:
        by_transition = self._counts - self._counts.sum(axis=1, keepdims=True) * self.transition
        return np.concatenate([self._pool_gradient(), by_transition[self._off]])

    def hessian(self) -> Array:
        """With t_kl = log T_kl, ∇² log q of samples with label l by t_·l is diag R − RRᵀ; the rest is the chain rule.

        ∂t_kl/∂v_km = δ_lm − T_km, and −N_k (diag T_k − T_k T_kᵀ) comes from the curvature of t itself.
        """
        scores, T, R, c = self.scores, self.transition, self.beliefs, self.scores.c
        M = scores.covariances(R)  # label × class × class
        by_rule = self._beta[:, None, None] * scores.covariances_with_rules(R)
        mixed = np.concatenate([by_rule, M.transpose(2, 1, 0)])  # … × class × label
        mixed = mixed - T * mixed.sum(axis=2, keepdims=True)
        H = T[:, :, None, None] * T * M.sum(axis=0)[:, None, :, None]
        H -= T[:, :, None, None] * M.transpose(1, 2, 0)[:, None]
        H -= M.transpose(1, 0, 2)[:, :, :, None] * T
        every, sizes = np.arange(c), self._counts.sum(axis=1)
        H[:, every, :, every] += M
        H[every, :, every, :] -= sizes[:, None, None] * (T[:, :, None] * np.eye(c) - T[:, :, None] * T[:, None, :])
        cross = mixed[:, self._off]
        return np.block([[self._pool_hessian(self._curvature()), cross], [cross.T, H[self._off][:, self._off]]])


class Slopes:
    """Entries of a classes × classes matrix, by which classes that overlap have slopes of their own."""

    def __init__(self, scores: Scores, freedom: Array) -> None:
        self._scores, self._free = scores, np.nonzero(freedom)
        self.precision = 1 / freedom[self._free]

    def __len__(self) -> int:
        return len(self.precision)

    def mixing(self, values: Array) -> Array:
        M = np.zeros((self._scores.c,) * 2)
        if len(self):
            M[self._free] = values / self._scores.typical
        return M

    def slope(self, d: Array) -> Array:
        if not len(self):
            return np.zeros(0)
        return np.asarray(self._scores.products_with_mean(d)[self._free] / self._scores.typical)


class WithLikelihood(Point):
    """The likelihood of what was given is known for every class."""

    def __init__(self, scores: Scores, v: Array, likelihood: Array, slopes: Slopes) -> None:
        super().__init__(scores, v)
        self._slopes, self.has_hessian = slopes, not len(slopes)
        self.beliefs, self._q = scores.posterior(self.by_features, likelihood)

    @property
    def pool(self) -> Pool:
        return Pool(self._beta, self._b, self._slopes.mixing(self._rest))

    def _mixing(self) -> Array | None:
        return self._slopes.mixing(self._rest) if len(self._slopes) else None

    def _of_priors(self) -> float:
        return -float(self._slopes.precision @ self._rest**2) / 2

    def gradient(self) -> Array:
        by_slope = self._slopes.slope(self._d) - self._slopes.precision * self._rest
        return np.concatenate([self._pool_gradient(), by_slope])

    def hessian(self) -> Array:
        """Without slopes."""
        return self._pool_hessian(self._curvature())


class WithoutErrors(WithLikelihood):
    """The same of a pool that may be as blunt as it takes: if labels are right, what disagrees with them is overlap."""

    against_blunt = 0.0


def unequal(labels: Labels) -> bool:
    """Whether one of two classes is so much smaller than the other that one rate for both would swamp it."""
    return bool(labels.sizes.min() < UNEQUAL * labels.sizes.max())


def best_likelihoods(p: Array, weight: Array, c: int) -> Array:
    """Log-likelihoods of given labels of probability p (rules × samples), each under the flip rate that suits best."""
    p = (1 - PROB_FLOOR) * p + PROB_FLOOR / c
    slope = (1 - p) / (c - 1) - p
    # p + rate·slope is linear in the rate and its logarithm concave: the best rate is at an end, or Newton finds it.
    most = MAX_RATE * (c - 1) / c
    rises, falls = (slope / p) @ weight > 0, (slope / (p + most * slope)) @ weight < 0
    rate = np.where(rises, most, 0.0)
    inside = np.flatnonzero(rises & falls)
    if len(inside):
        rate[inside] = _best_rates(p[inside], slope[inside], weight, most)
    return np.asarray(np.log(p + rate[:, None] * slope) @ weight)


def _best_rates(p: Array, slope: Array, weight: Array, most: float) -> Array:
    """Where Σ_j ω_j log(p + rate·slope) is largest, by Newton's method within bounds that close in."""
    low, high, rate = np.zeros(len(p)), np.full(len(p), most), np.full(len(p), min(0.2, most / 2))
    for _ in range(60):
        relative = slope / (p + rate[:, None] * slope)
        gradient, curvature = relative @ weight, (relative * relative) @ weight
        low, high = np.where(gradient > 0, rate, low), np.where(gradient > 0, high, rate)
        step = rate + gradient / curvature
        settled = (np.abs(step - rate) <= 1e-12) | (high - low <= 1e-12)
        rate = np.where(settled | (low < step) & (step < high), step, (low + high) / 2)
        if settled.all():
            break
    return np.clip(rate, 0, most)
