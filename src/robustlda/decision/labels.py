"""Labels as they were given, what each of them counts, and what a person has found instead."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv

from robustlda.linalg import Array, class_indicator

MAX_RATE = 0.95
"""Of the flip rate at which a label says nothing; beyond, it would speak against itself."""

_CHECKS_BEFORE = (0.5, 4.5)  # labels found wrong and right, before any was checked
_FEW = 2.0  # samples of a class that one rate for all is worth, where it is counted again and again


@dataclass(frozen=True)
class Labels:
    """Given labels, what each counts, what one copy of it counts, and the class a person has found (−1 if none has)."""

    given: Array
    weight: Array
    one: Array
    known: Array
    n_classes: int

    @cached_property
    def checked(self) -> Array:
        """Whose class a person has found."""
        return self.known >= 0

    @cached_property
    def _any_checked(self) -> bool:
        return bool(self.checked.any())

    @property
    def alone(self) -> Array:
        """Which samples have a label that no other has."""
        sizes = np.bincount(self.given, self.weight / np.maximum(self.one, 1e-300), self.n_classes)
        return np.asarray(sizes[self.given] < 1.5)

    def likelihood(self, T: Array) -> Array:
        """Probability of the given label for every class that the true one may be (samples × classes)."""
        return self.possible(np.ascontiguousarray(T.T)[self.given])

    def possible(self, p: Array) -> Array:
        """Zero for classes that a person has ruled out."""
        if not self._any_checked:
            return p
        return np.where(self.checked[:, None] & (self.known[:, None] != np.arange(self.n_classes)), 0, p)

    def posterior(self, p: Array) -> tuple[Array, Array]:
        """Rows made to sum to one, without doubt where a person has looked, and what they summed to."""
        R, total = normalized(p)
        if self._any_checked:
            R[self.checked] = np.eye(self.n_classes)[self.known[self.checked]]
        return R, total

    def counts(self, R: Array) -> Array:
        """Expected number of samples by true class (rows) and given label (columns)."""
        return (self._by_label @ R).T

    @cached_property
    def _by_label(self) -> Any:
        return class_indicator(self.given, self.weight, self.n_classes).tocsr()

    def transition(self, R: Array, *, uniform: bool) -> Array:
        """Counted from beliefs: one rate for all, or a little drawn towards it."""
        N = self.counts(R)
        equal = uniform_transition(possible_rate(1 - np.trace(N) / N.sum(), self.n_classes), self.n_classes)
        return equal if uniform else (N + _FEW * equal) / (N.sum(axis=1, keepdims=True) + _FEW)

    @property
    def sizes(self) -> Array:
        """What labels of each class count together."""
        return np.bincount(self.given, self.weight, self.n_classes)

    @cached_property
    def logs_without_features(self) -> Array:
        """Logarithm of the probability of every given label if it were drawn from all others."""
        others = np.maximum(self.sizes[self.given] - self.one, 0.5 * self.one)
        return np.asarray(np.log(others / np.maximum(self.weight.sum() - self.one, 1e-300)))

    @property
    def checked_copies(self) -> Array:
        """How many copies there are of every sample that was checked."""
        return (self.weight / self.one)[self.checked]

    @cached_property
    def checks(self) -> tuple[float, float]:
        """How many of the checked labels are wrong, and how many are right, copies counted."""
        wrong = (self.known != self.given)[self.checked]
        return float(self.checked_copies @ wrong), float(self.checked_copies @ ~wrong)

    @property
    def checked_rate(self) -> float:
        """Share of wrong labels among the checked ones, drawn to one in ten as if by five more of them."""
        wrong, right = self.checks
        return (wrong + _CHECKS_BEFORE[0]) / (wrong + right + sum(_CHECKS_BEFORE))

    @property
    def checked_interval(self) -> tuple[float, float]:
        """95 % interval of the share of wrong labels from checked ones alone, as if any labels had been checked."""
        wrong, right = self.checks
        low, high = betaincinv(wrong + 0.5, right + 0.5, [0.025, 0.975])
        return float(low), float(high)

    @property
    def likelihood_without_features(self) -> float:
        """Log-likelihood of labels if each were drawn from all others, and of what checks found by one rate for all."""
        logs = self.logs_without_features
        if self._any_checked:
            shares = np.maximum(self.sizes, self.weight.min()) / self.weight.sum()
            wrong = self.checked_rate * shares[self.known] / np.maximum(1 - shares[self.given], 1e-300)
            found = np.log(np.where(self.known == self.given, 1 - self.checked_rate, np.minimum(wrong, 1)))
            logs = np.where(self.checked, logs + found, logs)
        return float(self.weight @ logs)

    def share(self, values: Array) -> float:
        """Weighted mean over samples."""
        return float(self.weight @ values / self.weight.sum())


def most_probable(R: Array) -> Array:
    """The most probable class of every sample, from beliefs; no class is left without one."""
    chosen = R.argmax(axis=1)
    for k in np.setdiff1d(np.arange(R.shape[1]), chosen):
        several = np.bincount(chosen, minlength=R.shape[1])[chosen] > 1
        if several.any():
            chosen[np.where(several, R[:, k], -1).argmax()] = k
    return np.asarray(chosen)


def normalized(p: Array) -> tuple[Array, Array]:
    """Rows made to sum to one, and what they summed to."""
    total = np.maximum(p.sum(axis=1), 1e-300)
    return p / total[:, None], total


def possible_rate(rate: float, c: int) -> float:
    """Not none, and not as many that a label would say nothing."""
    return float(min(max(rate, 1e-4), MAX_RATE * (c - 1) / c))


def uniform_transition(rate: float, c: int) -> Array:
    """Every label is kept with probability 1 − rate, and otherwise becomes any other."""
    T = np.full((c, c), rate / (c - 1))
    np.fill_diagonal(T, 1 - rate)
    return T
