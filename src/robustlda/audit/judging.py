"""What beliefs about true classes say about labels: which are wrong, how many, and how sure that is."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from robustlda.decision.answers import Answers
from robustlda.decision.label_noise import LabelNoise
from robustlda.estimators import class_indices
from robustlda.linalg import Array

_ALIKE = 1e-5  # difference of probabilities that rounding, or a digit of the data that means nothing, may make


@dataclass(frozen=True)
class Judgement:
    """What is said about every label, and about all of them; classes are indices."""

    wrong: Array
    suggested: Array
    confusion: Array
    rate: float
    interval: tuple[float, float]
    reason: str


def judge(
    beliefs: Array,
    labels: Array,
    verified: Array,
    lost: Array,
    noise: LabelNoise,
    classes: Array,
    rates: list[float],
) -> Judgement:
    """How probable it is that each label is wrong, and how many are; `rates` are those of other fits.

    Where a given label is `lost`, as it is no class any more, `labels` has the right one.
    """
    rows = np.arange(len(labels))
    # What the features say alone: beliefs hold the given label as well, and with few errors hardly doubt it.
    # Several answers are evidence rather than a label in doubt, and stay in.
    several = noise.annotators is not None
    features = beliefs if several else noise.model.said_by_features(beliefs, labels)
    wrong = np.where(lost, 1.0, 1 - beliefs[rows, labels])
    # What is lost is known to be wrong, and adds to what is found among the others.
    rate, known = float(wrong.mean()), float(lost.mean())
    open_ = float(wrong[~verified] @ (1 - wrong[~verified]))
    error = 1.96 * float(np.std(rates, ddof=1)) if len(rates) > 1 else 0.0
    n, n_verified = len(labels), int(verified.sum())
    low, high = noise_interval(rate - known, open_, n, n_verified, noise, error)
    return Judgement(
        wrong,
        features.argmax(axis=1),
        np.array([beliefs[(labels == k) & ~lost].sum(axis=0) for k in range(len(classes))]),
        rate,
        (low + known, min(1.0, high + known)),
        reason(rate - known, n_verified, noise, classes),
    )


def noise_interval(
    rate: float, open_: float, n: int, n_verified: int, noise: LabelNoise, error: float = 0.0
) -> tuple[float, float]:
    """What the noise rate may be; `open_` is what is open about single labels, `error` that of other fits."""
    low, high = _by_chance(rate, open_, n, n - n_verified)
    low, high = min(low, max(0.0, rate - error)), max(high, rate + error)
    # Chance on both sides of all that cannot be told apart.
    least, most = noise.bounds
    return float(max(0, low - max(rate - least, 0))), float(min(1, high + max(most - rate, 0)))


def _by_chance(rate: float, open_: float, n: int, n_open: int) -> tuple[float, float]:
    """95 % interval of the flip rate: its information is that of known flips, less what their uncertainty hides."""
    if not n_open:
        return rate, rate
    spread = max(rate * (1 - rate), 1e-9)
    information = max(n * spread - open_, 1e-3 * n * spread) / spread**2
    error = 1.96 / np.sqrt(information)
    # Where nothing was found, three in n may still have been missed.
    return max(0.0, rate - error), float(min(1.0, max(rate + error, 3 / n)))


def reason(rate: float, n_verified: int, noise: LabelNoise, classes: Array) -> str:
    """Why the interval of the noise rate is as wide as it is."""
    least, most = noise.bounds
    if not noise.tells:
        ones = "checked one tells" if n_verified == 1 else f"{n_verified} checked ones tell"
        known = f" The {ones} how many are wrong." if n_verified else ""
        return f"These features cannot tell the classes apart, so they say nothing about the labels.{known}"
    if most - least <= 0.02 + 0.2 * rate:
        if n_verified:
            ones = "1 checked label tells" if n_verified == 1 else f"{n_verified} checked labels tell"
            return f"{ones} how many are wrong."
        return "The features tell classes apart well enough to count."
    if noise.annotators is not None:
        return (
            f"Answers and features disagree about labels that most answers agree on: between {least:.1%} and "
            f"{most:.1%} of these are wrong, depending on which of the two is believed."
        )
    overlapping = np.argwhere(np.triu(noise.overlap) > 0)
    names = [f"{classes[i]} and {classes[j]}" for i, j in overlapping[:2]]
    where = f" {', '.join(names)} overlap in these features." if names else ""
    return (
        f"The features speak against {most:.1%} of the labels, or leave them open.{where} The data cannot show whether "
        "those labels are wrong or the features are too weak: check some of them, and pass what you find as verified."
    )


def flagged(wrong: Array, share: float) -> Array:
    """As many of the most suspicious labels as leave the expected share of right ones among them at `share`."""
    descending = -np.sort(-wrong)
    false_alarms = np.cumsum(1 - descending) / np.arange(1, len(wrong) + 1)
    enough = np.flatnonzero(false_alarms <= share)
    if not len(enough):
        return np.zeros(len(wrong), bool)
    # Samples that are alike, as copies are, are flagged together or not at all.
    last = descending[enough[-1]]
    flags = wrong >= last - _ALIKE
    if (1 - wrong[flags]).mean() > share:
        flags = wrong > last + _ALIKE
    return np.asarray(flags & (wrong > 0.5))


def most_suspicious(wrong: Array, farness: Array) -> Array:
    """Places from the most to the least suspicious label; among equals, the farther from their class first."""
    return np.lexsort((-np.nan_to_num(farness), -wrong))


def worth_a_review(order: Array, wrong: Array, n: int) -> Array:
    """Those of some places in order of suspicion whose check would teach most: n of them, in the same order."""
    if n >= len(order):
        return order
    wrong = wrong[order]
    # What is open about a label; a little is about all of them.
    open_ = np.sqrt(wrong * (1 - wrong)) + 0.15
    ends = np.cumsum(open_) / open_.sum() * n
    middles = np.unique(np.searchsorted(ends, np.arange(n) + 0.5))
    rest = np.setdiff1d(np.argsort(-open_, kind="stable"), middles, assume_unique=True)[: n - len(middles)]
    return np.asarray(order[np.sort(np.concatenate([middles, rest]))])


@dataclass(frozen=True)
class Annotators:
    """What most answers agree on, as class indices; how many answers each annotator gave, and what they are worth."""

    vote: Array
    counts: Array
    accuracy: Array
    confusion: Array


def annotators(y: Array, beliefs: Array, noise: LabelNoise, classes: Array) -> Annotators:
    """From the answers of several people (samples × annotators)."""
    indices = class_indices(y.ravel(), classes).reshape(y.shape)
    ones, m = np.ones(len(y)), y.shape[1]
    answers = Answers.of(indices, ones, ones, len(classes))
    right = np.bincount(answers.annotator, beliefs[answers.sample, answers.answer], m)
    counts = np.bincount(answers.annotator, minlength=m)
    accuracy = np.where(counts == 0, np.nan, right / np.maximum(counts, 1))
    assert noise.annotators is not None
    return Annotators(answers.vote(beliefs), counts, accuracy, noise.annotators)


def check_share(share: float) -> None:
    if not (isinstance(share, Real) and 0 < share < 1):
        raise ValueError(f"max_false_alarm={share!r} must lie between 0 and 1, for example 0.05.")
