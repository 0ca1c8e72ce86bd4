"""A committee of rules, judged by labels that may be wrong.

No single rule wins everywhere: with few samples in each of many classes it takes clouds with latent labels
(`latent`), where classes overlap a linear score, where they are curved a local one (`ridge`). Which of them to trust
is asked of samples they have not seen, whose labels may be wrong as well. With p_e(k | x_j) the held-out probability
of rule e, shares a_e, and T_kl the probability that a sample of class k is labelled l,

    P(given label l of j) = Σ_k T_kl Σ_e a_e p_e(k | x_j)                                                  (1)

is the likelihood of what was observed, and its maximum gives shares, flip rate and transition together: first with
one rate for all classes, T_kk = 1 − ε, then with T free under a Dirichlet prior around that, so that class-dependent
errors are seen where there is evidence for them. Both are expectation-maximisation: (1) with its prior never falls.
Probabilities of a new sample are Σ_e a_e p_e(k | x), refitted on all samples.

That gives every training sample a belief about its true class, r_jk ∝ T_{k, label of j} Σ_e a_e p_e(k | x_j). In a
second stage least squares learn these beliefs in place of the labels, and are judged again. They see cleaner targets,
but targets of which their own first answers are a part; neither stage is better everywhere, and the mean of the two is
never far from the better one.

The projection itself has seen all labels. Where there are many dimensions for the samples it has learnt them by heart,
wrong ones included: a sample then lies with the class it was given, and whatever is held out in the projected space is
not. There (`plan`) clouds and local rule work along principal axes, which owe nothing to labels.

Held-out means: without the sample itself for least squares, by folds for the clouds. Samples are first merged with
their copies and put in an order that depends on their content alone, so that neither the order of the rows nor
whether a sample is written down twice or has a weight of two makes any difference.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import softmax

from robustlda.decision import latent, ridge
from robustlda.decision.latent import Latent
from robustlda.linalg import Array, class_indicator, weighted_medians
from robustlda.samples import Samples
from robustlda.solvers import plan, starts
from robustlda.solvers.subspace import principal_directions

_CLOUDS = (Latent(flip_rate=0.1, degrees=5.0, shrinkage=0.1), Latent(flip_rate=0.2, degrees=20.0, shrinkage=0.3))
_MOST = 20_000  # samples a rule learns from, which bounds what a decision costs
_LANDMARKS = 500
_FAR = 9.0  # squared length, in units of the median one, to which far samples are drawn in
_WIDTH = 3.0  # of similarities, in squared lengths of the median one: the wider, the less a wrong neighbour matters
_DOUBT = 1e-3  # share of every probability that is spread over all classes: no rule is ever certain
_PRIOR = 5.0  # samples, per class of origin and class given, that the prior on T is worth
_SHARPNESS = 2.0 ** np.arange(8)  # of scores, when they are turned into probabilities


@dataclass(frozen=True)
class NoiseAwareRule:
    """Fitted rules with their shares, and what was found out about the labels.

    The rows of `axes` span the space in which the clouds and the local rule are: the projection, or principal axes.
    """

    axes: Array
    on_features: tuple[Any, ...]
    on_projection: tuple[Any, ...]
    shares: Array  # of the rules, those on features first
    transition: Array
    noise_rate: float
    likelihood: Array
    priors: Array
    correction: Array  # of the classes' shares, where other priors were asked for

    def probabilities(self, X: Any, Z: Array) -> Array:
        rules = [rule.probabilities(X) for rule in self.on_features]
        rules += [rule.probabilities(Z) for rule in self.on_projection]
        p = sum(share * _doubtful(each) for share, each in zip(self.shares, rules, strict=True)) * self.correction
        return p / p.sum(axis=1, keepdims=True)

    def scores(self, X: Any, Z: Array) -> Array:
        """Logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):  # a prior of zero means: never
            return np.log(self.probabilities(X, Z.astype(float)))

    def distances(self, Z: Array) -> Array:
        """Squared distance of projected samples from the cloud of every class."""
        return self.on_projection[-len(_CLOUDS)].distances(Z)

    def plane(self, Z: Array) -> Array:
        """Coordinates of projected samples in the plane in which these clouds differ most."""
        return self.on_projection[-len(_CLOUDS)].plane(Z)


def fit(
    X: Any, components: Array, samples: Samples, center: Array, priors: Array | None = None
) -> tuple[NoiseAwareRule, Array]:
    """The committee for samples given as they are (X) and as solvers see them, and a projection (rows of `components`).

    Second, for each sample the probability of every class to be its true one, given its label, from rules that have not
    seen it.
    """
    c = samples.n_classes
    chosen, weight, place, n_distinct = _distinct(X, samples.labels, samples.weight, c)
    axes = components
    if plan.learns_by_heart(samples, n_distinct):
        axes = samples.lift(starts.frame("pca", samples, len(components), np.random.RandomState(0))).T
        axes = axes.astype(components.dtype)
    everything = X @ axes.T - center @ axes.T
    labels, Z = samples.labels[chosen], everything[chosen].astype(float)
    regressions = _on_features(samples, chosen, center, weight), _on_projection(Z, weight)
    clouds = [latent.fit(Z, labels, weight, c, belief) for belief in _CLOUDS]
    by_clouds = [_by_folds(Z, labels, weight, c, belief) for belief in _CLOUDS]
    targets, linear, local, shares, verdicts = np.eye(c)[labels], [], [], [], []
    for _stage in range(2):
        (line, line_p), (near, near_p) = (_best(each, targets, labels, weight) for each in regressions)
        verdicts.append(judge(np.array([_doubtful(p) for p in (line_p, near_p, *by_clouds)]), labels, weight))
        targets = verdicts[-1].beliefs
        linear.append(line)
        local.append(near)
        shares.append(verdicts[-1].shares / 2)
    # What is said about labels rests on samples that no rule has seen; beliefs are made from all labels.
    verdict, (one, two) = verdicts[0], shares
    rule = NoiseAwareRule(
        axes,
        tuple(linear),
        (*local, *clouds),
        np.concatenate([[one[0], two[0], one[1], two[1]], one[2:] + two[2:]]),
        verdict.transition,
        verdict.noise_rate,
        verdict.likelihood,
        verdict.priors if priors is None else priors,
        np.ones(c) if priors is None else priors / verdict.priors,
    )
    beliefs, unseen = verdict.beliefs[place], np.flatnonzero(place < 0)
    if len(unseen):
        p = rule.probabilities(X[unseen], everything[unseen].astype(float))
        p *= verdict.transition[:, samples.labels[unseen]].T
        beliefs[unseen] = p / p.sum(axis=1, keepdims=True)
    return rule, beliefs


def _doubtful(p: Array) -> Array:
    return (1 - _DOUBT) * p + _DOUBT / p.shape[1]


# Which samples


def _distinct(X: Any, labels: Array, weight: Array, c: int) -> tuple[Array, Array, Array, int]:
    """Indices of samples no two of which are copies, at most `_MOST`, in an order of their content; their weights.

    Third, for every sample, which of those it is, or −1; last, how many there are beyond `_MOST` as well.
    """
    keys = np.empty(len(labels), [("content", np.uint64), ("label", np.int64)])
    keys["content"], keys["label"] = _digests(X), labels
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(place, weight)
    if len(first) <= _MOST:
        return first, weight, place, len(first)
    labels = labels[first]
    counts = np.bincount(labels, minlength=c)
    # A small class keeps twenty samples, or all; the weights make up for what others lose.
    quota = np.minimum(counts, np.maximum(20, counts * _MOST // len(first)))
    taken = _rank_in_class(labels) < quota[labels]
    weight = weight * (np.bincount(labels, weight, c) / np.bincount(labels[taken], weight[taken], c))[labels]
    return first[taken], weight[taken], np.where(taken, np.cumsum(taken) - 1, -1)[place], len(first)


def _digests(X: Any) -> Array:
    """A number for the content of each row."""
    if issparse(X):
        X = csr_array(X)
        parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        rows = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in parts)
    else:
        rows = (row.tobytes() for row in np.ascontiguousarray(X) + 0.0)  # −0 is 0
    return np.array([int.from_bytes(hashlib.blake2b(row, digest_size=8).digest(), "little") for row in rows], np.uint64)


def _rank_in_class(labels: Array) -> Array:
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    rank = np.empty(len(labels), int)
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank


# The rules and what they say about samples they have not seen


Build = Callable[[ridge.Solution, float], Any]


def _on_features(samples: Samples, chosen: Array, center: Array, weight: Array) -> tuple[ridge.Regression, Build]:
    """Regression on the samples themselves, and how its solution becomes a rule."""
    if plan.learn_in_whole_space(samples):
        axes, F = np.eye(samples.dim), samples.rows(chosen).astype(float)
    else:
        axes = principal_directions(samples, plan.principal_subspace(samples))
        F = samples.project(axes)[chosen].astype(float)
    squared = samples.squared_norms[chosen]
    limit = _FAR * ridge.typical(squared, weight)

    def rule(solution: ridge.Solution, sharpness: float) -> ridge.LinearRule:
        coef = samples.lift(axes @ solution.coef)
        return ridge.LinearRule(center.astype(float), limit, coef, solution.offset, sharpness)

    return ridge.Regression(F * ridge.bounded(squared, limit)[:, None], weight), rule


def _on_projection(Z: Array, weight: Array) -> tuple[ridge.Regression, Build]:
    """Regression on similarities in the projected space, likewise."""
    landmarks = Z[:_LANDMARKS]  # the order is one of digests, as good as random
    R = Z - weighted_medians(Z, weight)
    width = _WIDTH * ridge.typical(np.einsum("ij,ij->i", R, R), weight)
    mixing = ridge.mixing(landmarks, width)

    def rule(solution: ridge.Solution, sharpness: float) -> ridge.KernelRule:
        return ridge.KernelRule(landmarks, width, mixing, solution.coef, solution.offset, sharpness)

    return ridge.Regression(ridge.similarities(Z, landmarks, width) @ mixing, weight), rule


def _best(
    regression: tuple[ridge.Regression, Build], targets: Array, labels: Array, weight: Array
) -> tuple[Any, Array]:
    """The rule whose penalty and sharpness make the given labels most likely, with its held-out probabilities."""
    fitted, build = regression
    best, choice = -np.inf, None
    rows = np.arange(len(labels))
    for solution in fitted.solutions(targets):
        scores = solution.held_out
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        for sharpness in _SHARPNESS:
            likelihood = _best_likelihood(odds[rows, labels] / odds.sum(axis=1), weight, scores.shape[1])
            if likelihood > best:
                best, choice = likelihood, (solution, float(sharpness))
            odds *= odds  # twice as sharp
    assert choice is not None
    solution, sharpness = choice
    return build(solution, sharpness), softmax(sharpness * solution.held_out, axis=1)


def _by_folds(Z: Array, labels: Array, weight: Array, c: int, belief: Latent) -> Array:
    n_folds = min(int(np.clip(5000 // len(Z), 3, 10)), len(Z))
    # Classes take turns in where they begin, so that the folds are of one size.
    counts = np.bincount(labels, minlength=c)
    fold = (_rank_in_class(labels) + (np.cumsum(counts) - counts)[labels]) % n_folds
    p = np.full((len(Z), c), 1 / c)
    for k in range(n_folds):
        inside = fold != k
        if inside.all() or not inside.any():
            continue
        p[~inside] = latent.fit(Z[inside], labels[inside], weight[inside], c, belief).probabilities(Z[~inside])
    return p


# What the given labels say about rules and labels


@dataclass(frozen=True)
class Verdict:
    """What `judge` finds; `beliefs` are the probabilities of the true classes of the samples it was given."""

    shares: Array
    transition: Array
    beliefs: Array
    noise_rate: float
    priors: Array
    likelihood: Array


def judge(P: Array, labels: Array, weight: Array) -> Verdict:
    """Shares of rules and transition between classes from held-out probabilities P (rules × samples × classes)."""
    c, total, rows = P.shape[2], weight.sum(), np.arange(len(labels))
    (shares, rate), _ = _uniform_rate(P[:, rows, labels], weight, c)
    uniform = _uniform(rate, c)
    T, path = uniform, []
    strength = _PRIOR * c
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
    T = beyond_overlap(T)
    r = p * T[:, labels].T
    r /= r.sum(axis=1, keepdims=True)
    wrong = 1 - weight @ r[rows, labels] / total
    return Verdict(shares, T, r, float(wrong), weight @ r / total, np.array(path))


def beyond_overlap(T: Array) -> Array:
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


def _uniform_rate(p: Array, weight: Array, c: int) -> tuple[tuple[Array, float], list[float]]:
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
        # Beyond guessing the given label would speak against itself.
        rate = float(np.clip(1 - right, 1e-4, 0.95 * (c - 1) / c))
    return (shares, rate), path


def _best_likelihood(p: Array, weight: Array, c: int) -> float:
    """Log-likelihood of given labels of probability p under the flip rate that suits them best."""
    p = (1 - _DOUBT) * p + _DOUBT / c
    # p + rate·slope is linear in the rate and its logarithm concave, so Newton's method needs bounds but no more.
    slope = (1 - p) / (c - 1) - p
    low, high, rate = 0.0, 0.95 * (c - 1) / c, 0.2
    for _ in range(12):
        relative = slope / (p + rate * slope)
        gradient, curvature = float(weight @ relative), float(weight @ relative**2)
        low, high = (rate, high) if gradient > 0 else (low, rate)
        step = rate + gradient / curvature if curvature > 0 else rate
        rate = step if low < step < high else (low + high) / 2
    return float(weight @ np.log(p + rate * slope))


def _posterior_shares(shares: Array, relative: Array, weight: Array) -> Array:
    """Most probable shares under a prior worth one sample, which keeps every rule in play."""
    return (shares * (relative @ weight) + 1 / len(shares)) / (weight.sum() + 1)


def _uniform(rate: float, c: int) -> Array:
    T = np.full((c, c), rate / (c - 1))
    np.fill_diagonal(T, 1 - rate)
    return T
