"""What a decision is: a rule that scores rows, and what fitting it found out about the labels.

A new rule is a class with a class method `fit`, a method `scores` and an attribute `priors`, and a line in `RULES` of
the package. It learns from `Training` and predicts for blocks of rows, so neither has to know how the rows are stored.
Coordinates of all samples in the projection are `training.samples.project_features(training.projection.T)`, those of
rows to predict `rows.times(components.T)`; `CentroidRule` shows both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from robustlda.data.centered import CenteredBlock
from robustlda.data.columns import apply, positions
from robustlda.data.samples import Samples
from robustlda.data.store import Block, BlockReader, Store
from robustlda.decision.answers import Answers
from robustlda.decision.label_noise import LabelNoise
from robustlda.linalg import Array
from robustlda.plan import Plan


@dataclass(frozen=True)
class Checks:
    """Class indices: the labels as they were given, and what a person has found instead (−1 where nobody looked).

    Where several people were asked, there are `answers`, and the given label is the one they agree on.
    """

    given: Any
    known: Any
    answers: Answers | None = None

    @property
    def believed(self) -> Any:
        """Labels to learn."""
        return apply(_known_or_given, self.known, self.given)

    @property
    def apart(self) -> Any:
        """What tells copies apart: below zero who was checked, and else a number for the answers that were given."""
        alike = 0 if self.answers is None else self.answers.alike()
        return apply(_checked_or_alike, self.known, positions(self.known), alike)

    def take(self, index: Array) -> "Checks":
        answers = None if self.answers is None else self.answers.take(index)
        return Checks(self.given[index], self.known[index], answers)

    def likelihood(self, noise: LabelNoise) -> Any:
        """Probability of what was given for every class that a sample may be of, if looks have no part in it."""
        if self.answers is None or noise.annotators is None:
            return apply(partial(_likelihood, noise.model.transition), self.given)
        return self.answers.under(noise.annotators, noise.model.by_looks)


def _known_or_given(known: Array, given: Array) -> Array:
    return np.where(known >= 0, known, given)


def _checked_or_alike(known: Array, rows: Array, alike: Any) -> Array:
    return np.where(known >= 0, -1 - rows, alike)


def _likelihood(transition: Array, given: Array) -> Array:
    return np.asarray(transition[:, given].T)


@dataclass(frozen=True)
class Training:
    """What a rule may learn from: samples, the projection that was found (directions in rows), and priors if given.

    Labels of `samples` are those to learn: the given ones, but where a person has found others (`checks`).

    Where there is no projection yet, a rule that needs one works along principal axes.

    A rule uses the priors where they are given. `samples.weight` includes the trust in a sample, for what describes the
    shape of a class; its share is a matter of `samples.weights.given`. `store` has the same rows in feature space about
    `center`, as predictions will see them: for a rule that predicts for training samples too.
    """

    samples: Samples
    components: Array | None
    store: Store
    center: Array
    checks: Checks
    priors: Array | None = None

    @property
    def projection(self) -> Array:
        """The components, for a rule that cannot do without."""
        if self.components is None:
            raise ValueError("this rule works in a projection, and there is none")
        return self.components


class Rule(Protocol):
    """A fitted decision rule. `priors` are the class probabilities it assumes."""

    @property
    def priors(self) -> Array: ...

    @classmethod
    def fit(cls, training: Training) -> "FittedDecision": ...

    def scores(self, rows: CenteredBlock) -> Array:
        """Logarithm of prior times density for every class, up to a term common to all, of rows in feature space."""
        ...


@runtime_checkable
class LinearRule(Protocol):
    """A rule whose scores are linear."""

    def linear_scores(self) -> tuple[Array, Array]:
        """Slopes (c × features) about the center, and what is added to them."""
        ...


class Measuring(Rule, Protocol):
    """A rule that also says how far rows are from every class, which an audit asks for."""

    def measure(self, rows: CenteredBlock) -> "Distances": ...


@dataclass(frozen=True)
class FittedDecision:
    """A rule, and where it models wrong labels what it believes of each training sample (n × c) and of the labels."""

    rule: Rule
    beliefs: Any = None
    label_noise: LabelNoise | None = None


@dataclass(frozen=True)
class Distances:
    """Squared distances of rows from every class, and from the space those are measured in; a plane to draw them in."""

    squared: Array
    outside: Array
    plane: Array


class CenteredRows(BlockReader[CenteredBlock]):
    """Rows about a center, as a rule sees them: some thousands at a time."""

    def __init__(self, store: Store, center: Array, plan: Plan) -> None:
        n, d = store.shape
        self.store, self.n_samples, self._center = store, n, center
        self._step = plan.predict_rows if store.sparse else min(plan.predict_rows, plan.block_rows(d))

    @property
    def view(self) -> Callable[[Block], CenteredBlock]:
        return partial(CenteredBlock, center=self._center)

    @property
    def step(self) -> int:
        return self._step
