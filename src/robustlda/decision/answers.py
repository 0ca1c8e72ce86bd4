"""Several answers about a sample: who is right how often, from the answers and from the features.

Annotator a, asked about a sample of class k, answers l with probability Tᵃ_kl (Dawid and Skene 1979). Given beliefs
r_jk about the true classes,

    Nᵃ_kl = Σ r_jk over the samples j that a called l,      Tᵃ_kl ∝ Nᵃ_kl + κ T_kl,

with T the confusion of all annotators together: who has answered little is taken for one like the others. Whoever gave
an answer would agree with it, so what sample j has put into Tᵃ is taken out again before j is judged, and κ is the one
that makes answers most likely so. Given Tᵃ, the answers of a sample say

    r_jk ∝ p_jk Π_a Tᵃ_k,answer of a,

where p_jk is the share of the class when only answers are asked (`Answers.beliefs`), and a pool of rules once features
are asked as well (`fit_answer_noise`): then both are fitted in turn, the pool being the one that makes the answers most
likely. People who confuse two classes see the same in a sample that looks like both, and err together. With h the share
of their errors that are of that kind, an answer therefore counts as 1 − h of an independent one, the exponent of its
Tᵃ_kl, and beliefs are those of the features the more, the larger h is (`label_noise`, equation (2), with the answers of
a sample in place of its label).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from robustlda.decision.label_noise import STRENGTHS, LabelModel, LabelNoise, confused
from robustlda.decision.labels import Labels
from robustlda.decision.likelihood import Pool, Scores, centered_logs
from robustlda.decision.pools import refit_pool
from robustlda.linalg import Array, softmax

_STEPS = 50  # of answers alone
_ROUNDS = 10  # with the features
_SETTLED = 1e-4  # mean change of a belief
_PRIOR_CELL, _PRIOR_RIGHT = 0.5, 2.0  # answers that a cell of T is worth, and a right one beyond that


@dataclass(frozen=True)
class Answers:
    """Answers as a list: about which sample, by whom, and which class; what one sample counts, and a single copy."""

    sample: Array
    annotator: Array
    answer: Array
    weight: Array
    one: Array
    n_annotators: int
    n_classes: int
    strength: float = 4.0

    @classmethod
    def of(cls, indices: Array, weight: Array, one: Array, n_classes: int) -> "Answers":
        """From class indices (samples × annotators), −1 where there is no answer."""
        sample, annotator = np.nonzero(indices >= 0)
        return cls(sample, annotator, indices[sample, annotator], weight, one, indices.shape[1], n_classes)

    def weighted(self, weight: Array, one: Array) -> "Answers":
        return replace(self, weight=weight, one=one)

    def take(self, index: Array) -> "Answers":
        """Those about some samples."""
        place = np.full(len(self.weight), -1)
        place[index] = np.arange(len(index))
        kept = place[self.sample] >= 0
        return replace(
            self,
            sample=place[self.sample[kept]],
            annotator=self.annotator[kept],
            answer=self.answer[kept],
            weight=self.weight[index],
            one=self.one[index],
        )

    def alike(self) -> Array:
        """A number for every sample: the same where the same people have given the same answers."""
        given = np.full((len(self.weight), self.n_annotators), -1)
        given[self.sample, self.annotator] = self.answer
        return np.asarray(np.unique(given, axis=0, return_inverse=True)[1]).ravel()

    def votes(self) -> Array:
        """How many answers each sample has for every class."""
        votes = np.zeros((len(self.weight), self.n_classes))
        np.add.at(votes, (self.sample, self.answer), 1.0)
        return votes

    def vote(self, R: Array) -> Array:
        """The class most annotators agree on, or of several such classes the one that is believed most."""
        votes = self.votes()
        return np.asarray(np.where(votes == votes.max(axis=1, keepdims=True), R, -1).argmax(axis=1))

    def confusion(self, R: Array) -> Array:
        """Tᵃ for every annotator (annotators × true classes × answers)."""
        T, sums = self._towards(R)
        return np.asarray(T / sums[:, :, None])

    def _towards(self, R: Array) -> tuple[Array, Array]:
        """Nᵃ + κT, and its sums over answers."""
        by_answer = np.zeros((self.n_annotators, self.n_classes, self.n_classes))
        np.add.at(by_answer, (self.annotator, self.answer), R[self.sample] * self.weight[self.sample, None])
        N = by_answer.transpose(0, 2, 1)
        shared = N.sum(axis=0) + _PRIOR_CELL + _PRIOR_RIGHT * np.eye(self.n_classes)
        N = N + self.strength * shared / shared.sum(axis=1, keepdims=True)
        return N, N.sum(axis=2)

    def transition(self, confusion: Array) -> Array:
        """What happens to a class on the whole, from Tᵃ."""
        counts = np.bincount(self.annotator, self.weight[self.sample], self.n_annotators)
        return np.asarray(np.tensordot(counts / counts.sum(), confusion, 1))

    def by_looks(self, R: Array) -> Array:
        """Share h of answers that looks have given; the same for all classes."""
        return confused(self.transition(self.confusion(R)), np.zeros((self.n_classes,) * 2), self.weight @ R)

    def likelihood(self, R: Array) -> Array:
        """Probability of a sample's answers for every class, Tᵃ being known from others; the largest is 1."""
        return _scaled((1 - self.by_looks(R)) * self._log_likelihood(R))

    def _log_likelihood(self, R: Array) -> Array:
        T, sums = self._towards(R)
        own = R[self.sample] * self.one[self.sample, None]
        # Nothing of κ is taken out, so what is left is positive.
        left = T[self.annotator, :, self.answer] - own
        return self._summed(np.log(left / (sums[self.annotator] - own)))

    def under(self, confusion: Array, by_looks: Array) -> Array:
        """Probability of a sample's answers for every class, the largest being 1; Tᵃ and h as they are."""
        return _scaled((1 - by_looks) * self._summed(np.log(confusion[self.annotator, :, self.answer])))

    def _summed(self, logs: Array) -> Array:
        total = np.zeros((len(self.weight), self.n_classes))
        np.add.at(total, self.sample, logs)
        return total

    def beliefs(self) -> Array:
        """What the answers say alone."""
        votes = self.votes()
        R = votes / votes.sum(axis=1, keepdims=True)
        for _ in range(_STEPS):
            before = R
            R = softmax(self._log_likelihood(R) + self._log_shares(R))
            if self.change(before, R) < _SETTLED:
                break
        return np.asarray(R)

    def change(self, before: Array, R: Array) -> float:
        """By how much beliefs have changed in the mean, copies counted."""
        return float(self.weight @ np.abs(R - before).mean(axis=1) / self.weight.sum())

    def _log_shares(self, R: Array) -> Array:
        shares = self.weight @ R + 1e-3
        return np.asarray(np.log(shares / shares.sum()))

    def with_strength(self) -> "Answers":
        """With the κ that makes answers most likely that Tᵃ has not seen."""

        def value(answers: "Answers") -> float:
            R = answers.beliefs()
            scores = answers._log_likelihood(R) + answers._log_shares(R)
            return float(answers.weight @ logsumexp(scores, axis=1))

        return max((replace(self, strength=float(strength)) for strength in STRENGTHS), key=value)

    def share_wrong(self, R: Array) -> float:
        """Expected share of wrong answers."""
        weight = self.weight[self.sample]
        return float(weight @ (1 - R[self.sample, self.answer]) / weight.sum())


def fit_answer_noise(P: Array, answers: Answers, labels: Labels) -> LabelNoise:
    """Pool of rules and confusion of every annotator, from held-out probabilities P (rules × samples × classes)."""
    scores = Scores(centered_logs(P), labels)
    e, c = len(P), answers.n_classes
    pool = Pool(np.full(e, 1 / e), np.zeros(c), np.zeros((c, c)))
    R, path = labels.posterior(answers.beliefs())[0], []
    for _ in range(_ROUNDS):
        before, likelihood = R, labels.possible(answers.likelihood(R))
        pool = refit_pool(scores, likelihood, pool, np.zeros((c, c)))
        R, total = labels.posterior(scores.under(pool) * likelihood)
        path.append(float(labels.weight @ np.log(total)))
        if answers.change(before, R) < _SETTLED:
            break
    p, rows = scores.under(pool), np.arange(len(R))
    confusion = answers.confusion(R)
    transition = answers.transition(confusion)
    model = LabelModel(transition, answers.by_looks(R))
    R, _ = labels.posterior(model.believed(R, p, labels.given))
    vote = answers.vote(R)
    by_all, by_features = 1 - R[rows, vote], 1 - p[rows, vote]
    least = labels.share(np.minimum(by_all, by_features))
    most = labels.share(np.where(p.argmax(axis=1) != vote, 1, np.maximum(by_all, by_features)))
    return LabelNoise(
        pool,
        model,
        transition,
        R,
        answers.share_wrong(R),
        (least, most),
        np.zeros((c, c)),
        labels.weight @ R / labels.weight.sum(),
        np.array(path),
        uniform=False,
        annotators=confusion,
    )


def _scaled(logs: Array) -> Array:
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))
