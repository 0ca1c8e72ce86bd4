"""How many labels are wrong, and between which classes, from what rules say about samples they have not seen.

Rules that were fitted to given labels predict given labels: where a third of class A is called B they say A ⅔, B ⅓ all
over A, and rightly so. What the true class is must be told apart from that. With p_e(k | x_j) the held-out probability
of rule e, the true class is modeled by a *pool* of the rules, and the label given to it by a *transition*:

    p_jk = softmax_k(Σ_e β_e log p_e(k | x_j) + b_k),        P(label l of j) = Σ_k p_jk T_kl.                   (1)

The pool can sharpen what the rules say, and shift it from class to class, and T takes up what then disagrees. Noise and
overlap differ in one way that can be seen: noise strikes as often deep inside of a class as at its border. There, and
only there, a sharp pool with a T explains the labels better than a blunt one without. β, b and T are the maximum of the
likelihood (1) with weak priors, together (`pools`), with one rate in T for all classes or with many, whichever
explains held-out labels better.

**How much T may vary.** A label that only one sample has in its class explains itself if its own count enters its T.
So T_kl is taken without the sample that is judged, and drawn towards one rate for all cells with a strength κ that
makes held-out labels most likely (`_smoothed`): large where errors are uniform, next to none where they go one way.

**Overlap.** Where the pool itself leaves many samples of two classes undecided, its sure answers between these two are
not to be trusted either, and what then goes both ways between them counts as overlap (`discounted`); what goes one way
more than the other is kept. Where about half of the samples are undecided, as with short texts, not even the direction
can be told, and what is kept goes both ways alike (`either_way`). The pool is fitted once more to such a T, with slopes
of their own for these classes.

**Confusions.** T says that a class loses its labels wherever its samples are. Who takes one class for another errs more
where the two look alike, and a label that was given by the looks of a sample says no more than its features do. With a
share h of such labels,

    P(label l of j | class k) = (1 − h_l) T_kl + h_l Σ_k' p_jk' T_k'l,     r_jk = (1 − h_l) r⁰_jk + h_l p_jk,    (2)

r⁰ being the beliefs without. All h give the labels the same probability (1), so no labels can tell h. What is known is
how errors go: everywhere alike if they have nothing to do with looks, one way if a name is used for another, and both
ways between some classes if those are confused. h is the share of errors between such classes (`confused`). It is 0
for labels of classes that overlap: there it is the features that confuse them.

**Credence.** Where features are weak, sure rules and many errors explain labels about as well as unsure rules and none.
Errors are then believed in as far as `credence` says. Predictions are a mean: of the pools that explain labels with
errors, by their evidence if the likelihood has several maxima; and, with the rest of the credence, of one for right
labels, which may be as unsure as those make it.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from robustlda.decision import newton
from robustlda.decision.credence import CLEAR, Seen, credence
from robustlda.decision.labels import Labels, normalized, possible_rate, uniform_transition
from robustlda.decision.likelihood import (
    MixedPool,
    Pool,
    Scores,
    WithOneRate,
    WithRates,
    centered_logs,
    floored,
    unequal,
)
from robustlda.decision.pools import fit_pools, pool_without_errors, refit_pool
from robustlda.linalg import Array, one_thread

STRENGTHS = 0.5 * 4.0 ** np.arange(6)
"""Samples of a class that κ may be worth."""

LITTLE = 1.0
"""Log-likelihood that errors depending on the class must gain to be spoken of, where there are more than two."""

EVIDENCE = 6.0
"""Log-likelihood that errors depending on the class must gain before predictions take them into account."""

UNDECIDED = (0.2, 0.23)
"""Undecided share of two classes' samples from which on what goes both ways counts as overlap: some of it, and all."""

CONFUSED = 0.05
"""Share of two classes that goes both ways, from which on who gave labels confuses them; with twice as much, surely.

Less may be overlap: of 20 Newsgroups, whose labels are right, .06 is said to go so between the two closest classes.
"""

SKILL = 4.0
"""Log-likelihood per class that labels must gain by features, for these to say anything about them.

With features that are noise they gain up to 3 for two classes, 3.8 for three and 1.5 for ten, before beliefs are
learned; twenty rows of two classes that are apart gain 7.
"""

EITHER_WAY = (0.4, 0.5)
"""Undecided share from which on nobody can say which of two classes loses labels to the other: in doubt, and at all."""

_STEPS = 10
_SAME_COUNTS = 1e-13  # change of counts, relative to the number of samples, after which nothing changes
_TOGETHER = 1 << 17  # numbers that are worked on at a time
_PRIOR_ROW = 1.0  # samples of a class that the transition before is worth, where checks or doubts change it
_TRACE = 0.01  # of what rules say that is left where they say nothing, or are not believed
_NO_ERRORS = 1e-4  # share of wrong labels that is none
_NOTHING = 0.5  # wrong labels, all in all, that need no reason
_HALVINGS = 60  # of the logarithm of a probability above 1e-300
_POSSIBLE = (0.1, 0.3)  # probability from which on a sample may be of a class: hardly, and surely
_SURE = 3e-3  # probability beyond which checks do not ask how sure it was
_USUAL_LINE = np.array([0.0, 1.0, 0.0])  # what becomes of log-odds if checks teach nothing
_PRIOR_LINE = np.diag(1 / np.array([1.0, 0.25, 0.5]) ** 2)  # precision of that
_LINES = np.array([-np.inf, 0.2, 0.0]), np.array([np.inf, 2.0, 2.0])  # what was doubted more stays so


@dataclass(frozen=True)
class LabelModel:
    """Equation (2): the transition where looks do not matter, and for every label the share h that they have given.

    What it says of errors holds with a `credence`, and otherwise labels are right.
    """

    transition: Array
    by_looks: Array
    credence: float = 1.0

    def believed(self, R: Array, p: Array, given: Array) -> Array:
        """Beliefs of those who trust labels as T says, less sure where looks have given a label; with the credence."""
        h = self.by_looks[given][:, None]
        R = R + h * (p - R) if self.by_looks.any() else R
        return R if self.credence == 1 else self.credence * R + (1 - self.credence) * np.eye(R.shape[1])[given]

    def said_by_features(self, R: Array, given: Array) -> Array:
        """Beliefs without the part that the given label has in them: p_jk = r_jk / ((1 − h) T_kl / q_j + h).

        The probability q of the label is the one that lets p sum to one; the sum grows with it.
        """
        if self.credence < 1:
            R = np.maximum(R - (1 - self.credence) * np.eye(R.shape[1])[given], 0) / self.credence
        T, h = np.maximum(self.transition[:, given].T, 1e-300), self.by_looks[given][:, None]
        if not self.by_looks.any():
            return normalized(R / T)[0]
        low, high = np.full((len(R), 1), -300.0), np.zeros((len(R), 1))
        for _ in range(_HALVINGS):
            q = (low + high) / 2
            enough = (R / ((1 - h) * T * 10.0**-q + h)).sum(axis=1, keepdims=True) >= 1
            low, high = np.where(enough, low, q), np.where(enough, q, high)
        return normalized(R / ((1 - h) * T * 10.0**-high + h))[0]


@dataclass(frozen=True)
class LabelNoise:
    """What is known about the labels; `beliefs` are probabilities of the true classes of the samples it was fitted to.

    `bounds` hold the noise rate if all that could be is overlap, and if all that could be is noise. `overlap` says for
    pairs of classes how much of what goes both ways was taken for overlap. `uniform` is true where one rate for all
    classes explains the labels. `transition` is what happens to a class on the whole, `model` how labels come about.
    Where several people answered, `annotators` has the confusion of each of them, the noise rate is that of single
    answers, and the bounds are those of what most of them agree on. `tells` is false where features say nothing about
    labels. `pool` predicts.
    """

    pool: Pool | MixedPool
    model: LabelModel
    transition: Array
    beliefs: Array
    noise_rate: float
    bounds: tuple[float, float]
    overlap: Array
    priors: Array
    likelihood: Array
    uniform: bool
    annotators: Array | None = None
    tells: bool = True


def fit_label_noise(P: Array, labels: Labels, seen: Seen | None = None) -> tuple[LabelNoise, LabelNoise]:
    """Pool of rules and transition between classes from held-out probabilities P (rules × samples × classes).

    The first is for predictions: errors that depend on the class enter only where there is much evidence for them, and
    labels are trusted as T says. The second is the most likely one, for what is said about labels; with scores that
    were `seen` by rules that know nothing of beliefs, as far as these bear it out (`credence`).
    """
    with one_thread():
        return _fit_label_noise(Scores(centered_logs(P), labels), seen)


def _fit_label_noise(scores: Scores, seen: Seen | None) -> tuple[LabelNoise, LabelNoise]:
    labels = scores.labels
    simple, flexible = _both_explained(scores)
    gain = flexible.likelihood - simple.likelihood
    safe, likely = (flexible if gain > enough else simple for enough in (EVIDENCE, _little(labels)))
    found = _judged(likely, scores)
    trusting = found if safe is likely else _judged(safe, scores)
    safely = trusting.said(labels)
    if not _tells(likely, labels):
        without = _without_errors(found, scores)
        assert without is not None
        return replace(safely, pool=without[0]), _nothing_known(likely, scores)
    doubt = _doubted(found, scores, seen)
    said = found.said(labels, looks=True, credence=doubt.said)
    return replace(safely, pool=_mixed(trusting, doubt)), said


class _Doubt(NamedTuple):
    """How far errors that explain labels are to be believed in, when something is said and when it is predicted.

    And the pool if labels are right, where there is a doubt.
    """

    said: float
    predicted: float
    right: Pool | None


def _doubted(found: "_Judgement", scores: Scores, seen: Seen | None) -> _Doubt:
    """What a person has found counts for or against errors, as it is part of what is to be explained."""
    labels, T = scores.labels, found.kept
    rate = labels.share(1 - found.trusting[np.arange(scores.n), labels.given])
    if not seen or rate * labels.weight.sum() < _NOTHING:
        return _Doubt(1.0, 1.0, None)
    likelihood = float(labels.weight @ np.log(np.maximum((found.p * labels.likelihood(T)).sum(axis=1), 1e-300)))
    without = _without_errors(found, scores, likelihood - CLEAR)
    if without is None:
        return _Doubt(1.0, 1.0, None)
    right, likelihood_without = without
    said, predicted = credence(likelihood - likelihood_without, rate, seen)
    return _Doubt(max(said, _TRACE), predicted, right)


def _mixed(trusting: "_Judgement", doubt: _Doubt) -> Pool | MixedPool:
    """The pool of an explanation, those of other maxima, and that of right labels; the first if it is beyond doubt."""
    pools, shares = [trusting.pool, *trusting.found.others], doubt.predicted * trusting.found.shares
    if doubt.right is not None and doubt.predicted < 1:
        pools, shares = [*pools, doubt.right], np.append(shares, 1 - doubt.predicted)
    some = np.flatnonzero((shares >= _TRACE) | (np.arange(len(shares)) == 0))
    if len(some) == 1:
        return trusting.pool
    return MixedPool(tuple(pools[k] for k in some), shares[some] / shares[some].sum())


def _without_errors(found: "_Judgement", scores: Scores, least: float = -np.inf) -> tuple[Pool, float] | None:
    """The pool if labels are right, and their log-likelihood; None if that is clearly below some value."""
    right = scores.labels.likelihood(uniform_transition(_NO_ERRORS, scores.c))
    return pool_without_errors(scores, right, found.pool, least)


def fit_noise_of_kind(P: Array, labels: Labels, seen: Seen | None = None, *, uniform: bool) -> LabelNoise:
    """The same with one rate for all classes, or with errors that depend on the class, whatever is more likely."""
    scores = Scores(centered_logs(P), labels)
    found = _explained(scores, uniform=uniform)
    if not _tells(found, labels):
        return _nothing_known(found, scores)
    judged = _judged(found, scores)
    return judged.said(labels, looks=True, credence=_doubted(judged, scores, seen).said)


def _tells(found: "_Explanation", labels: Labels) -> bool:
    """Whether features say more about labels than how many there are of each."""
    return found.likelihood - labels.likelihood_without_features > SKILL * labels.n_classes


def _nothing_known(found: "_Explanation", scores: Scores) -> LabelNoise:
    """What is said where features tell nothing: labels are believed, and as many may be wrong as chance would have it.

    A sharp rule and labels that are all but random explain such labels as well as a blunt rule and right labels do. A
    trace of what the rules say is kept, as an order in which to look at rows. Labels that a person has checked are then
    as good as drawn by lot, and the others are wrong as often as they are.
    """
    labels, c = scores.labels, scores.c
    p, shares, own = scores.under(found.pool), labels.sizes / labels.weight.sum(), np.eye(c)[labels.given]
    T, R, bounds = np.eye(c), own, (0.0, labels.share(1 - shares[labels.given]))
    if labels.checked.any():
        rate = labels.checked_rate
        T, bounds = uniform_transition(rate, c), labels.checked_interval
        R = (1 - rate) * own + rate * normalized(shares * (1 - own))[0]
    judgement = _Judgement(found, found.pool, T, 1 - np.eye(c), p, R, bounds)
    return replace(judgement.said(labels, by_looks=np.full(c, _TRACE)), tells=False)


def gain_beyond_calibration(P: Array, labels: Labels) -> float:
    """Log-likelihood that errors depending on the class gain, once the pool has slopes of its own for all classes.

    A rule that is too sure between two classes, and less so between others, looks as if labels between the two were
    wrong. With slopes for all pairs it is calibrated, and what is left to explain is in the labels.
    """
    scores = Scores(centered_logs(P), labels)
    simple = _explained(scores, uniform=True)
    everywhere = 1 - np.eye(labels.n_classes)
    pool = refit_pool(scores, labels.likelihood(simple.transition), simple.pool, everywhere)
    calibrated = Scores(centered_logs(floored(scores.under(pool)))[None], labels)
    simple, flexible = _both_explained(calibrated)
    return flexible.likelihood - simple.likelihood


def _little(labels: Labels) -> float:
    """What errors depending on the class must gain to be spoken of."""
    if labels.n_classes > 2:
        return LITTLE
    return -np.inf if unequal(labels) else 0.0


@dataclass(frozen=True)
class _Explanation:
    """A pool with its path, a transition with the factors that leave a sample out, and what held-out labels say.

    The factors are as `Scores` have them. `others` are pools of other maxima; of all of them, this one first, the
    evidence has `shares`.
    """

    point: WithOneRate | WithRates
    path: Array
    transition: Array
    without_itself: Array
    likelihood: float
    uniform: bool
    others: tuple[Pool, ...] = ()
    shares: Array = field(default_factory=lambda: np.ones(1))

    @property
    def pool(self) -> Pool:
        return self.point.pool


def _both_explained(scores: Scores) -> tuple[_Explanation, _Explanation]:
    """With one rate for all, and with errors that depend on the class."""
    simple = _explained(scores, uniform=True)
    return simple, _explained(scores, uniform=False, near=simple.point)


def _explained(scores: Scores, *, uniform: bool, near: WithOneRate | WithRates | None = None) -> _Explanation:
    """Of several maxima the one with the largest evidence: how likely held-out labels are there, and how wide it is.

    Where a very sharp pool and a blunt one explain labels about as well, the sharp one does so by a few samples only,
    and most parameters near it would not (Laplace's approximation of the integral over them).
    """
    found = []
    for each in fit_pools(scores, uniform=uniform, near=near):
        likelihood, T, without_itself = _smoothed(each.point)
        explanation = _Explanation(each.point, each.path, T, without_itself, likelihood, uniform)
        found.append((likelihood + each.log_width, explanation))
    found.sort(key=lambda each: -each[0])
    odds = np.exp([evidence - found[0][0] for evidence, _ in found])
    return replace(found[0][1], others=tuple(each.pool for _, each in found[1:]), shares=odds / odds.sum())


def _judged(found: _Explanation, scores: Scores) -> "_Judgement":
    """What an explanation means for every label, overlap taken into account."""
    labels, T, rows = scores.labels, found.transition, np.arange(scores.n)
    p = scores.under(found.pool)
    undecided = _undecided(p, labels.weight)
    overlap = _between(undecided, *UNDECIDED)
    kept = discounted(T, overlap)
    kept = either_way(kept, _between(undecided, *EITHER_WAY), labels.weight @ p)
    pool = refit_pool(scores, labels.likelihood(kept), found.pool, overlap)
    p = scores.under(pool)
    R, _ = normalized(p * kept.T[labels.given] * scores.restored(found.without_itself))
    least = discounted(T, _between(undecided, 0, UNDECIDED[0]), one_way=True)
    lowest = labels.share(p @ (1 - np.diag(least)))
    # Wrong wherever the features suggest another class, and where they leave it open in proportion.
    highest = labels.share(np.where(p.argmax(axis=1) != labels.given, 1, 1 - p[rows, labels.given]))
    return _Judgement(found, pool, kept, overlap, p, R, (lowest, highest))


@dataclass(frozen=True)
class _Judgement:
    """An explanation with its overlap: what features say of samples, and what is believed if labels are trusted."""

    found: _Explanation
    pool: Pool
    kept: Array
    overlap: Array
    p: Array
    trusting: Array
    bounds: tuple[float, float]

    def said(
        self, labels: Labels, *, looks: bool = False, by_looks: Array | None = None, credence: float = 1.0
    ) -> LabelNoise:
        """What is said in the end, with what checks have found and, if asked for, what looks may have done."""
        uniform, T, p, given = self.found.uniform, self.kept, self.p, labels.given
        if by_looks is None:
            by_looks = np.zeros(labels.n_classes)
            if looks and not uniform:
                by_looks = confused(T, self.overlap, labels.weight @ p)
        model = LabelModel(T, by_looks, credence)
        R, error = model.believed(self.trusting, p, given), np.inf
        if labels.checked.any():
            R, error = _taught_by_checks(p, R, labels) if looks else (labels.posterior(R)[0], np.inf)
            with_errors = labels.share(1 - self.trusting[np.arange(len(given)), given])
            error = float(np.hypot(error, 1.96 * np.sqrt(credence * (1 - credence)) * with_errors))
        if labels.checked.any() or model.by_looks.any() or credence < 1:
            T = (labels.counts(R) + _PRIOR_ROW * T) / (labels.counts(R).sum(axis=1, keepdims=True) + _PRIOR_ROW)
        if labels.checked.any():
            model = self._taught(labels, R, T)
        rows = np.arange(len(given))
        rate = labels.share(1 - R[rows, given])
        lowest, highest = self.bounds
        bounds = max(min(lowest, rate), rate - error), min(max(highest, rate), rate + error)
        shares = labels.weight @ R / labels.weight.sum()
        return LabelNoise(self.pool, model, T, R, rate, bounds, self.overlap, shares, self.found.path, uniform)

    def _taught(self, labels: Labels, R: Array, T: Array) -> LabelModel:
        """The model that has as many wrong labels as beliefs taught by checks."""
        rows = np.arange(len(R)), labels.given
        trusting, features, taught = (labels.share(1 - each[rows]) for each in (self.trusting, self.p, R))
        if taught <= trusting or features <= trusting:
            return LabelModel(T, np.zeros(labels.n_classes))
        h = min((taught - trusting) / (features - trusting), 1.0)
        return LabelModel(self.kept, np.full(labels.n_classes, h))


def _taught_by_checks(p: Array, R: Array, labels: Labels) -> tuple[Array, float]:
    """Beliefs that agree with what a person has found, and how far the noise rate may then still be off (95 %).

    Labels alone do not tell overlap from noise; checked samples do. With s the log-odds of a wrong label, and u what
    they would be by the features alone, the log-odds become a + b·s + c·(u − s), which is fitted to what was found in
    the checked samples under a prior about a = 0, b = 1, c = 0.
    """
    rows, checked = np.arange(len(R)), labels.checked
    s = logit(np.clip(1 - R[rows, labels.given], _SURE, 1 - _SURE))
    u = logit(np.clip(1 - p[rows, labels.given], _SURE, 1 - _SURE))
    s = np.column_stack([np.ones(len(R)), s, u - s])
    found = (labels.known != labels.given)[checked]
    by_line = partial(_Line, s[checked], found, labels.checked_copies)
    best = newton.maximum(by_line, _USUAL_LINE, _LINES)
    assert best is not None
    line, hessian = best.at, -by_line(best.at).hessian()
    now = expit(s @ line)
    R = R.copy()
    R[rows, labels.given] = 0
    R = normalized(R)[0] * now[:, None]
    R[rows, labels.given] = 1 - now
    R, _ = labels.posterior(R)
    slope = np.array([labels.share(np.where(checked, 0, now * (1 - now)) * column) for column in s.T])
    return R, float(1.96 * np.sqrt(slope @ np.linalg.solve(hessian, slope)))


@dataclass(frozen=True)
class _Line:
    """Log-odds of wrong labels of checked samples as a line in s, given what was found about them, with the prior."""

    s: Array
    found: Array
    copies: Array
    line: Array

    @property
    def value(self) -> float:
        odds, away = self.s @ self.line, self.line - _USUAL_LINE
        against = np.logaddexp(0, np.where(self.found, -odds, odds))
        return float(-self.copies @ against - away @ _PRIOR_LINE @ away / 2)

    def gradient(self) -> Array:
        slope = self.s.T @ (self.copies * (self.found - self._expected()))
        return np.asarray(slope - _PRIOR_LINE @ (self.line - _USUAL_LINE))

    def hessian(self) -> Array:
        expected = self._expected()
        return np.asarray(-_PRIOR_LINE - (self.s.T * (self.copies * expected * (1 - expected))) @ self.s)

    def _expected(self) -> Array:
        return np.asarray(expit(self.s @ self.line))


def _smoothed(point: WithOneRate | WithRates) -> tuple[float, Array, Array]:
    """Transition drawn towards one rate for all, and the factors by which it changes without the sample itself.

    Before them, the logarithm of the likelihood that held-out labels have.
    """
    together = max(1, _TOGETHER // point.by_features.size)
    some = (STRENGTHS[k : k + together] for k in range(0, len(STRENGTHS), together))
    likelihood, T, left_out = max((_with_strengths(point, each) for each in some), key=lambda found: found[0])
    return likelihood, T, left_out / T[:, point.scores.given]


def _with_strengths(point: WithOneRate | WithRates, strengths: Array) -> tuple[float, Array, Array]:
    """Held-out log-likelihood for the best of some κ, the transition, and that of each sample without itself."""
    scores, p = point.scores, point.by_features
    R = np.repeat(point.beliefs[None], len(strengths), axis=0)
    left_out, q = np.empty_like(R), np.empty((len(R), scores.n))
    N, before = scores.by_label(R), None
    for _ in range(_STEPS):
        if before is not None and np.abs(N - before).max() <= _SAME_COUNTS * scores.n:
            break
        towards, sums = _drawn_to_one_rate(N, strengths)
        before, N = N, np.zeros_like(N)
        for part in scores.parts:
            r = R[..., part.samples]
            itself = scores.one[part.samples] * r
            likelihood = np.subtract(towards[..., scores.given[part.samples]], itself, out=left_out[..., part.samples])
            likelihood /= np.subtract(sums[..., None], itself, out=itself)
            r[...], q[:, part.samples] = scores.posterior(p[:, part.samples], likelihood, part.samples)
            scores.add_by_label(N, r * scores.weight[part.samples], part)
    found = np.log(q) @ scores.weight
    best = int(found.argmax())
    return float(found[best]), towards[best] / sums[best, :, None], left_out[best]


def _drawn_to_one_rate(N: Array, strengths: Array) -> tuple[Array, Array]:
    """Counts with κ more samples of every class that have one rate for all, and their sums over labels."""
    c = N.shape[-1]
    found = 1 - np.trace(N, axis1=-2, axis2=-1) / N.sum(axis=(-2, -1))
    rates = np.array([possible_rate(rate, c) for rate in found])[:, None, None]
    uniform = rates / (c - 1) + (1 - rates - rates / (c - 1)) * np.eye(c)
    return N + strengths[:, None, None] * uniform, N.sum(axis=-1) + strengths[:, None]


def _undecided(p: Array, weight: Array) -> Array:
    """Share of the samples of two classes that may be either, for all pairs."""
    c, sizes, undecided = p.shape[1], weight @ p, np.zeros((p.shape[1],) * 2)
    possible = p > _POSSIBLE[0]
    rows = np.flatnonzero(possible.sum(axis=1) > 1)  # others are not undecided, and classes that are possible are few
    classes = np.flatnonzero(possible[rows].any(axis=0))
    q, weight = p[np.ix_(rows, classes)], weight[rows]
    for k, probability in zip(classes, q.T, strict=True):
        undecided[k, classes] = weight @ _between(np.minimum(probability[:, None], q), *_POSSIBLE)
    return undecided / (sizes[:, None] + sizes + 1) * ~np.eye(c, dtype=bool)


def _between(x: Array, low: float, high: float) -> Array:
    """0 below, 1 above, linear in between."""
    return np.clip((x - low) / (high - low), 0, 1)


def discounted(T: Array, overlap: Array, *, one_way: bool = False) -> Array:
    """Transition without what goes both ways between classes that overlap, beyond what goes between any two.

    With `one_way`, all that goes between them beyond that is left out, as if all of it were overlap.
    """
    c = len(T)
    off = T * ~np.eye(c, dtype=bool)
    both_ways = np.minimum(off, off.T)
    # Of only two classes, what goes both ways is the usual; or all may be overlap, where that is asked for.
    usual = np.median(both_ways[np.triu_indices(c, 1)]) if c > 2 or not one_way else 0.0
    off = off - overlap * np.maximum((off if one_way else both_ways) - usual, 0)
    return off + np.diag(1 - off.sum(axis=1))


def either_way(T: Array, share: Array, sizes: Array) -> Array:
    """Transition in which a share of what goes between two classes of given sizes goes both ways alike.

    As many labels are wrong as before.
    """
    off = T * ~np.eye(len(T), dtype=bool)
    wrong = off * sizes[:, None]
    alike = (wrong + wrong.T) / np.maximum(sizes[:, None] + sizes, 1e-300)
    off = off + share * (alike - off)
    return off + np.diag(1 - off.sum(axis=1))


def confused(T: Array, overlap: Array, sizes: Array) -> Array:
    """Share h of labels that looks have given, for every label, from a transition between classes of given sizes.

    It is the share of all errors that is made between classes that are confused: more goes both ways between the two
    than errors that go everywhere alike would explain by chance, and than a pool that is too sure of classes with some
    overlap makes up. Of two classes nobody can say what goes everywhere.
    """
    c = len(T)
    if c == 2:
        return np.zeros(c)
    others = ~np.eye(c, dtype=bool)
    off = T * others
    both_ways, usual = np.minimum(off, off.T), np.median(off[others])
    chance = usual + 2 * np.sqrt(usual / np.maximum(np.minimum(sizes[:, None], sizes), 1))
    clearly = _between(both_ways / np.maximum(chance, CONFUSED), 1, 2) * (1 - overlap)
    share = (sizes @ (off * clearly)).sum() / max((sizes @ off).sum(), 1e-300)
    return np.asarray(share * (1 - overlap.max(axis=1)))
