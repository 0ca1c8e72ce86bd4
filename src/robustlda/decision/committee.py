"""A committee of rules, judged by labels that may be wrong.

No single rule wins everywhere: with few samples in each of many classes it takes clouds with latent labels (`clouds`),
where classes overlap a linear score, where they are curved a local one (`ridge`), in tables what features add step by
step (`steps`), and where rows count words naive Bayes (`terms`). Which of them to trust is asked of samples they have
not seen, whose labels may be wrong as well: `label_noise` finds the weights of the rules together with the transition T
of labels.

That gives every training sample a belief about its true class. In a second stage the linear rule is a discriminant
analysis of these beliefs, in alternation with them (`discriminant`), naive Bayes learns them, and all are judged again.
They see cleaner targets, but targets of which their own first answers are a part (a local rule would learn those by
heart, and stays as it is); neither stage is better everywhere, and predictions are the mean of the two. What is said
about labels comes from the second.

`RobustLDA` learns its projection afterwards, from the beliefs; clouds and local rule then work along principal axes.
Other projections have seen all labels. Where there are many dimensions for the samples they have memorized them, wrong
ones included: a sample then lies with the class it was given, and whatever is held out in the projected space is not.
There (`Plan.memorizes_labels`) clouds and local rule work along principal axes, which owe nothing to labels.

How the rules are learned and judged is told in `candidates`, and what each says about rows in `members`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustlda.data import Samples, distinct
from robustlda.data.centered import CenteredBlock
from robustlda.decision import terms
from robustlda.decision.candidates import Candidates
from robustlda.decision.clouds import Clouds
from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.likelihood import MixedPool, Pool
from robustlda.decision.members import Member, Stage, View, logs_of
from robustlda.decision.ridge import Similarities
from robustlda.decision.rule import CenteredRows, Distances, FittedDecision, Training
from robustlda.decision.terms import Terms
from robustlda.linalg import Array
from robustlda.solvers import starts

AXES = 3
"""Principal axes for each class, where there is no projection."""

FEWEST_AXES = 12
"""Principal axes of two or three classes, which may differ in ways that do not tell in their number."""

LOST = 0.2
"""Share of a class's labels that must be left to it when beliefs are learned; otherwise the class is lost."""


@dataclass(frozen=True)
class Committee:
    """Stages, and the members common to them. The rows of `axes` span the space of clouds and local rule."""

    axes: Array
    similarities: Similarities
    stages: tuple[Stage, ...]
    members: tuple[Member, ...]
    clouds: Clouds  # by which distances are measured
    priors: Array
    correction: Array  # of the classes' shares, where other priors were asked for

    def probabilities(self, rows: CenteredBlock) -> Array:
        """Probability of every class."""
        p = self._mean(rows, [stage.pool for stage in self.stages]) * self.correction
        return p / p.sum(axis=1, keepdims=True)

    def if_labels_err(self, rows: CenteredBlock) -> Array:
        """By those who have no doubt about errors, with the shares that classes have in the training set."""
        return self._mean(rows, [stage.erring for stage in self.stages])

    def _mean(self, rows: CenteredBlock, pools: Sequence[Pool | MixedPool]) -> Array:
        """What stages say in the mean, each by a pool of its members."""
        view = View(rows, self.axes, self.similarities)
        common = logs_of(self.members, view)
        logs = (np.concatenate([logs_of(stage.linear, view), common]) for stage in self.stages)
        return np.mean([pool.probabilities(each) for pool, each in zip(pools, logs, strict=True)], axis=0)

    def scores(self, rows: CenteredBlock) -> Array:
        """Logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):  # a prior of zero means: never
            return np.log(self.probabilities(rows))

    def measure(self, rows: CenteredBlock) -> Distances:
        """Distances from the clouds of the classes and from the space they are in."""
        view = View(rows, self.axes, self.similarities)
        outside = view.squares - np.einsum("ij,ij->i", view.Z, view.Z)
        # Where the axes span the whole space, only rounding errors are left.
        outside = np.where(outside > 1e-9 * view.squares, outside, 0)
        return Distances(self.clouds.distances(view.Z), outside, self.clouds.plane(view.Z))

    @classmethod
    def fit(cls, training: Training) -> FittedDecision:
        """The committee, and for each sample the probability of every class to be its true one, given its label.

        The latter comes from rules that have not seen the sample.
        """
        samples, plan, checks = training.samples, training.samples.plan, training.checks
        few = samples.n_samples <= plan.max_samples
        if few and isinstance(samples.labels, np.ndarray):
            groups = distinct.find(samples)
            axes = _axes(training, len(groups))
            candidates = Candidates(samples, checks, axes, groups, _terms(training, samples))
            rule, noise = _assemble(candidates, axes, training.priors)
            return FittedDecision(rule, noise.beliefs, noise)
        if few:
            sample = distinct.everything(samples)
        else:
            sample = distinct.sample(samples, plan.max_samples, plan.min_class_samples, checks.apart)
        some = samples.take(sample.index, sample.weights)
        groups = distinct.find(some)
        axes = _axes(training, len(groups) if few else sample.n_distinct)
        found = _terms(training, some, sample.index)
        candidates = Candidates(some, checks.take(sample.index), axes, groups, found)
        rule, noise = _assemble(candidates, axes, training.priors)
        return FittedDecision(rule, _all_beliefs(rule, noise, training, sample.place), noise)


def _axes(training: Training, n_distinct: int) -> Array:
    """Directions in which clouds and local rule work, in the rows."""
    samples, components = training.samples, training.components
    if components is not None and not samples.plan.memorizes_labels(samples, n_distinct):
        return components
    m = max(AXES * samples.n_classes, FEWEST_AXES) if components is None else len(components)
    m = min(m, samples.rank)
    return samples.space.lift(starts.principal_axes(samples, m)).T.astype(training.center.dtype)


def _all_beliefs(rule: Committee, noise: LabelNoise, training: Training, place: Any) -> Any:
    """Beliefs about all samples: of those that were learned from as they are, of others from the rule itself."""
    checks, learned, model = training.checks, noise.beliefs, noise.model
    rows = CenteredRows(training.store, training.center, training.samples.plan)

    def beliefs(block: CenteredBlock, likelihood: Array, given: Array, place: Array, known: Array) -> tuple[Array]:
        p = rule.if_labels_err(block)
        R = p * likelihood
        R = model.believed(R / R.sum(axis=1, keepdims=True), p, given)
        R[place >= 0] = learned[place[place >= 0]]
        R[known >= 0] = np.eye(p.shape[1])[known[known >= 0]]
        return (R,)

    return rows.lazily(beliefs, checks.likelihood(noise), checks.given, place, checks.known)


def _terms(training: Training, samples: Samples, index: Array | None = None) -> Terms | None:
    """The rows of samples in feature space, where those at some index of the training set, if they are terms."""
    store, plan = samples.store, samples.plan
    if store.shape != (samples.n_samples, samples.space.n_features):  # coordinates in the space that they span
        store = training.store if index is None else training.store.take(index)
    rows = terms.terms_of(store, samples.weights.given, plan.block_rows(store.shape[1]))
    return None if rows is None else Terms(rows, training.center.astype(float))


def _assemble(candidates: Candidates, axes: Array, priors: Array | None) -> tuple[Committee, LabelNoise]:
    """Two stages, and what the second has found out about the labels."""
    first, safe, noise = candidates.first()
    second = first
    if noise.tells:  # otherwise there is nothing to learn beliefs from
        found = candidates.second(safe)
        given_shares = candidates.labels.sizes / candidates.labels.weight.sum()
        # Beliefs that give up a class explain anything.
        if found is not None and (found[2].priors >= LOST * given_shares).all():
            second, _, noise = found
    given = noise.priors if priors is None else priors
    correction = np.ones(len(noise.priors)) if priors is None else priors / noise.priors
    committee = Committee(
        axes, candidates.similarities, (first, second), candidates.members, candidates.clouds, given, correction
    )
    return committee, noise
