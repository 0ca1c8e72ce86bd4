"""Held-out probabilities of any origin, and what they say about labels.

Whoever made them, they are treated alike. First they are made as sharp as the labels allow: a classifier that was
fitted to wrong labels is too blunt, an overfitted one too sharp, and scores have no unit. With ``softmax(s·logs)`` the
factor s is the one that makes the given labels most likely together with the flip rate that suits it best. Then
`explain` finds out how many labels are wrong. The rules of the committee come this way, and so do the probabilities of
other classifiers.
"""

from collections.abc import Iterable

import numpy as np

from robustlda.decision.answers import Answers, fit_answer_noise
from robustlda.decision.credence import Seen
from robustlda.decision.label_noise import (
    LabelNoise,
    fit_label_noise,
    fit_noise_of_kind,
    gain_beyond_calibration,
)
from robustlda.decision.labels import Labels
from robustlda.decision.likelihood import best_likelihoods, floored
from robustlda.linalg import Array, softmax

TIE = 1.0
"""Difference of log-likelihoods that the given labels do not settle.

Scores of one sharpness with some wrong labels, or of a lower one with fewer, may explain labels equally well: where
most samples are at few places, nothing in them tells overlap from noise. The sharpest of such scores is taken, so that
what could be either counts as noise, and is looked at.
"""

BY_CLASS = 8.0
"""Log-likelihood that errors depending on the class must gain beyond calibration, where there are more than two.

A single classifier is not to be trusted as a committee is, whose rules err in different ways: forests on correct labels
of vehicle gain 33 in this way, of which calibration leaves nothing; of what one-way errors gain, at least 8.6 is left.
"""

FACTORS = 2.0 ** np.arange(-6, 4)
"""Sharpness of probabilities that somebody else made, relative to what they were."""

SCORE_FACTORS = 2.0 ** np.arange(-3, 9)
"""Sharpness of scores, in units of their own spread."""

DOUBTS = (1e-3, 1e-6, 1e-12)
"""Share of foreign probabilities spread over all classes beforehand, as 0 is never meant.

The first, unless labels are better explained by one of the others: they suit classifiers that are much too sure but
know what they are surest of, as naive Bayes does.
"""


def sharpest(likelihoods: list[float]) -> int:
    """The last of some in order of sharpness whose likelihood is as good as the best."""
    return int(np.flatnonzero(np.array(likelihoods) >= max(likelihoods) - TIE)[-1])


def sharpened(p: Array, sharpness: float) -> Array:
    """Probabilities whose logarithms are multiplied by a factor."""
    with np.errstate(divide="ignore"):
        return softmax(sharpness * np.log(p))


def as_sharp_as_labels_allow(p: Array, labels: Array, weight: Array, factors: Iterable[float]) -> tuple[float, Array]:
    """The sharpness that suits given labels (class indices), and the probabilities with it."""
    rows, c = np.arange(len(labels)), p.shape[1]
    tried = [(float(factor), sharpened(p, factor)) for factor in factors]
    own = np.array([each[rows, labels] for _, each in tried])
    return tried[sharpest(best_likelihoods(own, weight, c).tolist())]


def explain(
    P: Array, labels: Labels, answers: Answers | None = None, seen: Seen | None = None
) -> tuple[LabelNoise, LabelNoise]:
    """Label noise from held-out probabilities (rules × samples × classes): safe, for predictions, and most likely.

    Where several people answered about each sample, there are `answers`, and the two are the same. `seen` are scores
    that owe nothing to beliefs, whose shape tells overlap from noise.
    """
    if answers is None:
        return fit_label_noise(P, labels, seen)
    found = fit_answer_noise(P, answers, labels)
    return found, found


def explain_probabilities(p: Array, labels: Labels, answers: Answers | None = None) -> LabelNoise:
    """Label noise from held-out probabilities of one classifier (samples × classes)."""
    P = floored(_without_certainty(p, labels))[None]
    if answers is not None or labels.n_classes == 2:
        return explain(P, labels, answers, Seen(labels, [p]))[1]
    return fit_noise_of_kind(P, labels, Seen(labels, [p]), uniform=gain_beyond_calibration(P, labels) <= BY_CLASS)


def _without_certainty(p: Array, labels: Labels) -> Array:
    """Probabilities none of which is zero, as sharp as labels allow."""
    own, rows, c = _to_learn(labels), np.arange(len(p)), p.shape[1]
    found, best = p, -np.inf
    for doubt in DOUBTS:
        _, sharp = as_sharp_as_labels_allow((1 - doubt) * p + doubt / c, own, labels.weight, FACTORS)
        likelihood = float(best_likelihoods(sharp[rows, own][None], labels.weight, c)[0])
        if likelihood > best + TIE:
            found, best = sharp, likelihood
    return found


def from_scores(scores: Array, labels: Labels) -> Array:
    """Probabilities from held-out scores (samples × classes), such as distances from hyperplanes."""
    scores = scores - scores.mean(axis=1, keepdims=True)
    unit = np.sqrt((scores**2).mean()) or 1.0
    bounded = np.clip(scores / unit, -20, 20)
    return as_sharp_as_labels_allow(softmax(bounded), _to_learn(labels), labels.weight, SCORE_FACTORS)[1]


def _to_learn(labels: Labels) -> Array:
    """What a person has found, or else the given label."""
    return np.where(labels.checked, labels.known, labels.given)
