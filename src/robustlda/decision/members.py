"""Members of a committee: what each rule says about rows.

What several members need, such as coordinates along the axes of the committee, is computed once for all (`View`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from robustlda.data.centered import CenteredBlock
from robustlda.decision import ridge
from robustlda.decision.clouds import Clouds
from robustlda.decision.held_out import sharpened
from robustlda.decision.likelihood import MixedPool, Pool, floored
from robustlda.decision.ridge import ScoreRule, Similarities
from robustlda.decision.steps import Steps
from robustlda.linalg import Array, softmax


class View:
    """Rows as the members of a committee see them; what several of them need is computed once."""

    def __init__(self, rows: CenteredBlock, axes: Array, similarities: Similarities) -> None:
        self.rows, self._axes, self.similarities = rows, axes, similarities

    @cached_property
    def Z(self) -> Array:
        """Coordinates along the axes of the committee."""
        return self.rows.times(self._axes.T).astype(float)

    @cached_property
    def squares(self) -> Array:
        """Squared distances from the center."""
        return self.rows.squares()


class Member(Protocol):
    """A rule of the committee."""

    def probabilities(self, view: View) -> Array: ...


@dataclass(frozen=True)
class LinearMember:
    """Scores of the rows themselves, far ones being drawn in so that none has much leverage."""

    coef: Array
    offset: Array
    limit: float

    def probabilities(self, view: View) -> Array:
        drawn_in = ridge.shrink_factors(view.squares, self.limit)[:, None]
        return softmax(drawn_in * view.rows.times(self.coef) + self.offset)


@dataclass(frozen=True)
class LocalMember:
    """Scores of similarities to landmarks."""

    rule: ScoreRule

    def probabilities(self, view: View) -> Array:
        return self.rule.probabilities(view.similarities, view.Z)


@dataclass(frozen=True)
class StepMember:
    """Sums of steps, one function for each feature."""

    steps: Steps
    coef: Array
    offset: Array

    def probabilities(self, view: View) -> Array:
        return softmax(view.rows.step_scores(self.steps.feature, self.steps.cut, self.coef) + self.offset)


@dataclass(frozen=True)
class CloudMember:
    """Probabilities of clouds."""

    clouds: Clouds
    sharpness: float

    def probabilities(self, view: View) -> Array:
        return sharpened(self.clouds.probabilities(view.Z), self.sharpness)


@dataclass(frozen=True)
class Stage:
    """The linear rules of a stage, and how they are pooled with the members common to all stages."""

    linear: tuple[LinearMember, ...]
    pool: Pool | MixedPool

    @property
    def erring(self) -> Pool:
        """The pool that explains labels by errors."""
        return self.pool.pools[0] if isinstance(self.pool, MixedPool) else self.pool


def logs_of(members: Iterable[Member], view: View) -> Array:
    """Centered logarithms of what members say (members × rows × classes), those of a class standing together."""
    logs = np.log(np.array([floored(member.probabilities(view)).T for member in members]))
    logs -= logs.mean(axis=1, keepdims=True)
    return logs.transpose(0, 2, 1)
