"""Whether labels that rules speak against are wrong, or classes overlap there.

Rules that are sure, with a share of wrong labels, and rules that are not, with right labels, can explain labels about
equally well: with few samples and weak features the likelihood may prefer the former by next to nothing, and call a
third of the labels wrong at a probability of .99. So the two are weighed against each other, by

- Δ, the log-likelihood that held-out labels gain by errors, over right labels and a pool that may be as blunt as it
  takes;
- Γ, what the shape of scores says. Where classes overlap, scores form one heap, and where they do not, as many as there
  are classes; this is seen without any label. Scores and labels together are explained by normal classes of one
  scatter, and Γ is the log-likelihood that they gain by a flip rate. Heaps are never quite normal, and a yes/no feature
  makes two of them, so that it counts for an eighth;
- ρ, what is usual, before anything was seen: some labels are wrong nearly everywhere, many only rarely.

    w = 1 / (1 + exp(−(Δ + Γ/8 + ρ)))

is the credence of errors: beliefs about true classes are w times what they are with errors, plus 1 − w times the label.
It changes no order of suspicion.

For predictions Γ counts for no more than 5. What is said about labels still depends on it where nothing else tells, but
a prediction that is certain and wrong costs more than one that is not certain.
"""

from collections.abc import Iterable

import numpy as np
from scipy.linalg.lapack import dposv
from scipy.special import expit

from robustlda.decision.labels import MAX_RATE, Labels
from robustlda.linalg import Array

SHAPE = 1 / 8
"""What a unit of log-likelihood of scores counts, beside one of labels."""

FEW, MANY = 3.0, 0.2
"""ρ is a logarithm of odds: 3, twenty to one, for next to no wrong labels, falling to −3 for this share and more."""

MOST_BY_SHAPE = 5.0
"""What the shape of scores counts for at most, in predictions."""

CLEAR = 20.0
"""Δ from which on errors are beyond doubt, whatever the shape of scores."""

_STEPS = 60
_SETTLED = 1e-4  # gain of a step, in log-likelihood
_START_RATE, _NO_RATE = 0.2, 1e-3
_FLAT = 1e-10  # of the largest variance, below which there is none
_LEAST_VARIANCE = 1e-6  # of normal classes, where that of all is 1


class Seen:
    """Held-out scores that owe nothing to beliefs (n × c), and what their shape says about labels.

    That takes some time, so it is found once, and only if somebody asks.
    """

    def __init__(self, labels: Labels, scores: Iterable[Array] = ()) -> None:
        self._labels, self._scores = labels, list(scores)
        self._gains: list[float] = []

    def __bool__(self) -> bool:
        return bool(self._scores)

    def notice(self, scores: Array) -> None:
        """Scores of one more rule."""
        self._scores.append(scores)

    @property
    def gain(self) -> float:
        """Γ of the scores that show heaps best; 0 if none does."""
        self._gains += [gain_by_shape(each, self._labels) for each in self._scores[len(self._gains) :]]
        return max(0.0, *self._gains)


def credence(gain: float, rate: float, seen: Seen) -> tuple[float, float]:
    """w, for what is said about labels and for predictions.

    From what labels gain by errors (Δ) of some rate, and from scores that were seen.
    """
    if gain >= CLEAR:
        return 1.0, 1.0
    usual = FEW * (1 - 2 * min(rate / MANY, 1.0))
    by_shape = SHAPE * seen.gain
    said, predicted = (float(expit(gain + each + usual)) for each in (by_shape, min(by_shape, MOST_BY_SHAPE)))
    return said, predicted


def gain_by_shape(scores: Array, labels: Labels) -> float:
    """Γ: log-likelihood that scores and labels gain if some labels are wrong."""
    Z = _whitened(scores, labels.weight)
    if not Z.shape[1]:
        return 0.0
    right, some_wrong = (_likelihood(Z, labels, rate, free) for rate, free in ((_NO_RATE, False), (_START_RATE, True)))
    return some_wrong - right


def _whitened(scores: Array, weight: Array) -> Array:
    """Scores in coordinates of variance one; one fewer than classes, as scores of a sample sum to a constant."""
    R = scores - weight @ scores / weight.sum()
    variances, V = np.linalg.eigh((R.T * weight) @ R / weight.sum())
    keep = (variances > _FLAT * variances[-1]) & (np.arange(len(variances)) > 0) & (variances > 0)
    return np.asarray(R @ (V[:, keep] / np.sqrt(variances[keep])))


def _likelihood(Z: Array, labels: Labels, rate: float, free: bool) -> float:
    """The largest logarithm of Σ_k π_k N(z; μ_k, S) P(label | k), up to a constant; `free` rates are learned.

    Expectation and maximization, in arrays of classes × samples. What does not depend on the class, zᵀS⁻¹z, is needed
    in the sum over all samples only, which is the trace of S⁻¹ times their second moment.
    """
    weight, given, c = labels.weight, labels.given, labels.n_classes
    total, own = weight.sum(), (given, np.arange(len(Z)))
    second, smallest = (Z.T * weight) @ Z, _LEAST_VARIANCE * np.eye(Z.shape[1])
    r, value = np.zeros((c, len(Z))), -np.inf
    r[own] = 1
    for _ in range(_STEPS):
        R = r * weight
        sizes = R.sum(axis=1)
        centers = R @ Z / np.maximum(sizes, 1e-12)[:, None]
        S = (second - (centers.T * sizes) @ centers) / total + smallest
        L, solved, _ = dposv(S, np.hstack([centers.T, second]), lower=1)
        slopes, within = solved[:, :c].T, np.trace(solved[:, c:])
        logs = slopes @ Z.T
        logs += (np.log((sizes + 1) / (total + c)) - np.einsum("km,km->k", slopes, centers) / 2)[:, None]
        logs[own] += np.log1p(-rate) - np.log(rate / (c - 1))
        highest = logs.max(axis=0)
        r = np.exp(np.subtract(logs, highest, out=logs), out=logs)
        sums = r.sum(axis=0)
        common = total * (np.log(rate / (c - 1)) - np.log(np.diag(L)).sum()) - within / 2
        before, value = value, float(weight @ (highest + np.log(sums)) + common)
        if value - before <= _SETTLED:
            break
        r /= sums
        if free:
            rate = min(max(1 - float(weight @ r[own]) / total, _NO_RATE), MAX_RATE * (c - 1) / c)
    return value
