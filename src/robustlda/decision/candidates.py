"""Rules that may become members of a committee, learned from labels that may be wrong and judged by them.

Held-out means without the sample itself, for every rule in closed form, so nothing depends on how samples would be
dealt out to folds. Of several copies of a sample one is left out: a table of few distinct rows is a table like any
other. Only where there are many dimensions for the samples, clouds of folds have to confirm those of all. And a rule is
heard only if it says something about labels: with few samples the pool could not tell rules that do from others.

With more features than samples, a linear rule can read a sample's label from what is believed of others, whose beliefs
that label has helped to form: left out, a sample is then known all too well. Where such a rule seems to know much more
about labels than those who formed the beliefs, and than the same analysis of given labels, there is no second stage
(`_knows_too_much`).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from robustlda.data import Samples
from robustlda.data.columns import typical_square
from robustlda.data.distinct import Distinct
from robustlda.data.store import row_slices
from robustlda.decision import clouds, discriminant, ridge
from robustlda.decision.clouds import Clouds, CloudSettings
from robustlda.decision.credence import Seen
from robustlda.decision.held_out import as_sharp_as_labels_allow, explain, sharpest
from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.labels import Labels
from robustlda.decision.likelihood import best_likelihoods, floored
from robustlda.decision.matrix_free import MatrixFreeRegression
from robustlda.decision.members import CloudMember, LinearMember, LocalMember, Member, Stage, StepMember
from robustlda.decision.ridge import LeastSquares, Regression, ScoreRule, Similarities, Solution
from robustlda.decision.rule import Checks
from robustlda.decision.steps import steps_of
from robustlda.decision.terms import NaiveBayes, Terms
from robustlda.linalg import Array, softmax, weighted_medians

CLOUDS = (
    CloudSettings(flip_rate=0.1, degrees=5.0, shrinkage=0.01),
    CloudSettings(flip_rate=0.2, degrees=20.0, shrinkage=0.3),
)

CLIP_RADIUS2 = 9.0
"""Squared length, in units of the median one, to which far samples are drawn in for the linear rule."""

WIDTH = 3.0
"""Width of similarities, in squared lengths of the median one: the wider, the less a wrong neighbor matters."""

SHARPNESS = 2.0 ** np.arange(8)
"""Factors of scores, when they are turned into probabilities."""

TERM_SHARPNESS = 2.0 ** np.arange(-7, 2, 0.5)
"""The same for naive Bayes, which takes terms for independent of each other."""

CLOUD_SHARPNESS = 2.0 ** np.arange(-1, 4)
"""Factors of the clouds' log-probabilities: classes may end more sharply than a Student-t, or overlap more."""

FOLDS = 5
"""Folds by which clouds of few samples are confirmed."""

CONFIRMED = 0.5
"""Share of what held-out labels gain by clouds, in log-likelihood, that clouds of folds must gain as well."""

CLEARLY_CONFIRMED = 0.75
"""The same share, from which on a single fold is enough; those of one hypothesis differ by .1."""

SKILLED = 2.0
"""Log-likelihood per class that labels must gain by a rule for it to be heard, if it is not the best."""

KNOWS_MORE = 1.5
"""What labels gain by a rule that has learned beliefs, in units of what they gain by those, from which on it has read
labels out of them: if the difference is clear."""

CLEARLY = 3.0
"""Standard errors of a difference in likelihood."""

_A_CLASS = 5  # far samples that may be a class
_TIE = 1e-6  # by which gains differ that rounding may have made differ
_DIGITS = 6  # of a log-likelihood that rounding does not touch
_LEAST = 1e-150  # that a label counts, so that products with it are numbers


class Candidates:
    """Everything that does not depend on targets: features, taken apart once, and clouds."""

    def __init__(self, samples: Samples, checks: Checks, axes: Array, groups: Distinct, terms: Terms | None) -> None:
        self.samples, self.targets = samples, samples.labels
        Z = samples.project_features(axes.T.astype(float)).astype(float)
        start = clouds.start_from(Z, self.targets, samples.weights, samples.n_classes)
        count = _label_weight(samples, Z, start.unit * start.centers)
        self.weight = samples.weights.given * count
        one = samples.weights.one * count
        self.labels = Labels(checks.given, self.weight, one, checks.known, samples.n_classes)
        self.answers = None if checks.answers is None else checks.answers.weighted(self.weight, one)
        fitted = [clouds.fit(start, settings) for settings in CLOUDS]
        if self._can_be_dealt(groups) and samples.plan.memorizes_labels(samples, len(groups)):
            folds = groups.dealt(self.targets, FOLDS)
            fitted = [(cloud, self._confirmed(p, start, folds, cloud.settings)) for cloud, p in fitted]
        cloud_members, by_clouds = zip(*(self._cloud_member(*each) for each in fitted), strict=True)
        self.clouds = fitted[0][0]
        self.similarities = _similarities(Z, axes, samples, fitted[0][0])
        coordinates, back = self.similarities.orthonormalized(self.similarities.of(Z))
        local, by_local = self._best(Regression(coordinates, samples.weights).solutions(self._indicators))
        # Scores of the similarities themselves: a number for each class and landmark in place of a square of landmarks.
        member = LocalMember(ScoreRule(back(local[0].coef), local[0].offset, local[1]))
        self.seen = Seen(self.labels)
        self._notice(local[0], by_local)
        step_members, by_steps = self._by_steps()
        self.members: tuple[Member, ...] = (member, *cloud_members, *step_members)
        self.held_out = np.array([floored(p) for p in (by_local, *by_clouds, *by_steps)])
        self.limit, factors = _drawn_in(samples)
        self.linear = _linear(samples, factors, groups)
        self.naive = None if terms is None else NaiveBayes(terms, factors, samples.weights)

    def _can_be_dealt(self, groups: Distinct) -> bool:
        """Whether every class has samples for all folds."""
        sizes = np.bincount(self.targets[groups.first], minlength=self.samples.n_classes)
        return bool(sizes.min() >= FOLDS)

    def _confirmed(self, held_out: Array, start: clouds.Start, folds: Array, settings: CloudSettings) -> Array:
        """Held-out probabilities if folds agree that they say something about labels, or else those of the folds."""
        by_folds = np.empty_like(held_out)
        for fold in range(FOLDS):
            out = folds == fold
            by_folds[out] = clouds.by_others(start, out, settings)
            if fold == 0:  # one says enough where it leaves no doubt
                claimed, confirmed = self._gain_by_clouds(held_out, out), self._gain_by_clouds(by_folds, out)
                if claimed > SKILLED * self.samples.n_classes and confirmed >= CLEARLY_CONFIRMED * claimed:
                    return held_out
        every = np.ones(len(folds), bool)
        claimed, confirmed = self._gain_by_clouds(held_out, every), self._gain_by_clouds(by_folds, every)
        return held_out if confirmed >= CONFIRMED * claimed else by_folds

    def _gain_by_clouds(self, p: Array, some: Array) -> float:
        """What labels of some samples gain by clouds, as sharp as these labels allow."""
        return self._gain(
            as_sharp_as_labels_allow(p[some], self.targets[some], self.weight[some], CLOUD_SHARPNESS)[1], some
        )

    def _cloud_member(self, cloud: Clouds, held_out: Array) -> tuple[CloudMember, Array]:
        """Clouds with the sharpness that suits the given labels, and their held-out probabilities with it."""
        sharpness, p = as_sharp_as_labels_allow(held_out, self.targets, self.weight, CLOUD_SHARPNESS)
        return CloudMember(cloud, sharpness), p

    def _by_steps(self) -> tuple[list[StepMember], list[Array]]:
        """A rule on steps of the features of a table, with its held-out probabilities."""
        found = steps_of(self.samples)
        if found is None:
            return [], []
        steps, F = found
        (solution, sharpness), p = self._best(Regression(F, self.samples.weights).solutions(self._indicators))
        return [StepMember(steps, sharpness * solution.coef, sharpness * solution.offset)], [p]

    @property
    def _indicators(self) -> Array:
        return np.eye(self.samples.n_classes)[self.targets]

    def _best(
        self, solutions: Iterable[Solution], sharpness: Array = SHARPNESS
    ) -> tuple[tuple[Solution, float], Array]:
        return _best(solutions, self.targets, self.weight, sharpness)

    def first(self) -> tuple[Stage, LabelNoise, LabelNoise]:
        """The linear rules learn given labels."""
        (solution, sharpness), p = self._best(self.linear.solutions(self._indicators))
        self._notice(solution, p)
        coef = self.samples.space.lift(sharpness * solution.coef)
        rules = [(LinearMember(coef, sharpness * solution.offset, self.limit), p)]
        return self._stage(rules + self._by_terms(self._indicators))

    def _notice(self, solution: Solution, p: Array) -> None:
        """Scores that owe nothing to beliefs, if they say something about labels.

        Those of steps are left out: steps make heaps of their own.
        """
        if self._gain(p) > SKILLED * self.samples.n_classes:
            self.seen.notice(solution.held_out)

    def _by_terms(self, targets: Array) -> list[tuple[LinearMember, Array]]:
        """Naive Bayes, where rows are terms, with its held-out probabilities."""
        if self.naive is None:
            return []
        (solution, sharpness), p = self._best(self.naive.solutions(targets), TERM_SHARPNESS)
        return [(LinearMember(sharpness * solution.coef, sharpness * solution.offset, self.limit), p)]

    def second(self, noise: LabelNoise) -> tuple[Stage, LabelNoise, LabelNoise] | None:
        """They learn what is believed; None if that is not to be had without the labels themselves."""
        labels, answers = self.labels, self.answers

        def explain(R: Array) -> Array:
            if answers is not None:
                return labels.possible(answers.likelihood(R))
            return labels.likelihood(labels.transition(R, uniform=noise.uniform))

        found = discriminant.alternate(self.linear, labels, noise.beliefs, explain)
        if self._knows_too_much(found.held_out, noise, explain(noise.beliefs)):
            return None
        rules = [(LinearMember(self.samples.space.lift(found.coef), found.offset, self.limit), found.held_out)]
        return self._stage(rules + self._by_terms(noise.beliefs))

    def _knows_too_much(self, held_out: Array, noise: LabelNoise, likelihood: Array) -> bool:
        """Whether a rule that has learned beliefs says much more about what was given than those who formed them.

        They may lack what a discriminant analysis sees, so one of the given labels has to be outdone, too.
        """
        formed = noise.model.said_by_features(noise.beliefs, self.labels.given)
        if not self._outdone(formed, held_out, likelihood):
            return False
        honest = discriminant.once(self.linear, self.labels, self._indicators, likelihood)
        return self._outdone(honest.held_out, held_out, likelihood)

    def _outdone(self, before: Array, after: Array, likelihood: Array) -> bool:
        """Whether what was given gains clearly more by held-out probabilities than by earlier ones."""
        labels = self.labels
        nothing = labels.sizes / labels.sizes.sum()
        none, one, other = (np.log((p * likelihood).sum(axis=1)) for p in (nothing, floored(before), floored(after)))
        more, gain = labels.weight @ (other - one), labels.weight @ (one - none)
        spread = labels.weight @ (other - one - labels.share(other - one)) ** 2
        return bool(more > (KNOWS_MORE - 1) * max(gain, 0.0) and more > CLEARLY * np.sqrt(spread))

    def _stage(self, rules: list[tuple[LinearMember, Array]]) -> tuple[Stage, LabelNoise, LabelNoise]:
        """Linear rules, judged together with the other members: safely, and as it is likely."""
        members, held_out = zip(*rules, strict=True)
        P = np.concatenate([[floored(p) for p in held_out], self.held_out])
        tells = self._tells(P)
        safe, likely = explain(P[tells], self.labels, self.answers, self.seen)
        return Stage(members, safe.pool.among(tells)), safe, likely

    def _tells(self, P: Array) -> Array:
        """Which rules say more about labels than how many there are of each; the best of them in any case.

        Of few samples the pool could not tell the others from those that do.
        """
        gains = np.array([self._gain(p) for p in P])
        best = gains.max()
        return np.asarray((gains > SKILLED * self.labels.n_classes) | (gains >= best - _TIE * (1 + abs(best))))

    def _gain(self, p: Array, some: Any = slice(None)) -> float:
        """What the log-likelihood of labels gains by held-out probabilities, some labels being wrong."""
        weight = self.weight[some]
        own = p[np.arange(len(p)), self.targets[some]][None]
        likelihood = best_likelihoods(own, weight, p.shape[1])[0]
        return float(likelihood - weight @ self.labels.logs_without_features[some])


def _label_weight(samples: Samples, Z: Array, centers: Array) -> Array:
    """What a label counts, as a factor: all, but for samples far from all others, whose labels nobody can tell.

    A sample far from its own class only is what is looked for. And a class may be far from all others as a whole: a
    sample counts that is near the center of some class, as the samples of that class go.
    """
    given = samples.weights.given
    limit = CLIP_RADIUS2 * typical_square(samples.squared_norms, given)
    factors = ridge.shrink_factors(samples.squared_norms, limit)
    far = np.flatnonzero(factors < 1)
    outside = np.maximum(samples.squared_norms - np.einsum("ij,ij->i", Z, Z), 0)
    copies = np.bincount(samples.labels[far], (given / samples.weights.one)[far], len(centers))
    for k in np.flatnonzero(copies > _A_CLASS - 0.5):
        members = samples.labels == k
        lengths = outside + np.einsum("ij,ij->i", Z - centers[k], Z - centers[k])
        limit = CLIP_RADIUS2 * typical_square(lengths[members], given[members])
        factors[far] = np.maximum(factors[far], ridge.shrink_factors(lengths[far], limit))
    return np.maximum(factors**4, _LEAST)


def _similarities(Z: Array, axes: Array, samples: Samples, cloud: Clouds) -> Similarities:
    R = Z - weighted_medians(Z, samples.weight)
    width = WIDTH * typical_square(np.einsum("ij,ij->i", R, R), samples.weight)
    return Similarities(cloud.draw(_random_directions(axes, samples.plan.landmarks)), width)


def _random_directions(axes: Array, n: int) -> Array:
    """Standard normal directions along the axes, in the rows.

    They are drawn in feature space, so that they are the same whatever basis the axes are; a few features at a time.
    """
    rng = np.random.RandomState(0)
    drawn = np.zeros((len(axes), n))
    for features in row_slices(axes.shape[1], 1000):
        drawn += axes[:, features] @ rng.standard_normal((features.stop - features.start, n))
    return drawn.T


def _drawn_in(samples: Samples) -> tuple[float, Array]:
    """The squared length that counts at most in linear rules, and the factors that draw rows in to it."""
    limit = CLIP_RADIUS2 * typical_square(samples.squared_norms, samples.weight)
    return limit, ridge.shrink_factors(samples.squared_norms, limit)


def _linear(samples: Samples, factors: Array, groups: Distinct) -> LeastSquares:
    """The regression by which the linear rule learns."""
    if not samples.plan.learn_by_matrix(samples):
        return MatrixFreeRegression(samples, factors, groups)
    return Regression(samples.rows(slice(None)).astype(float) * factors[:, None], samples.weights)


def _best(
    solutions: Iterable[Solution], labels: Array, weight: Array, sharpness: Array
) -> tuple[tuple[Solution, float], Array]:
    """The solution and sharpness that make the given labels most likely, with their held-out probabilities.

    After some of them, each sharpness is twice the one that many before.
    """
    rows, some = np.arange(len(labels)), sharpness[sharpness < 2 * sharpness[0]]
    tried: list[tuple[float, float, Solution]] = []
    for solution in solutions:
        scores = solution.held_out - solution.held_out.max(axis=1, keepdims=True)
        own, by_turns = np.empty((len(sharpness), len(labels))), [np.exp(factor * scores) for factor in some]
        for k in range(len(sharpness)):
            odds = by_turns[k % len(some)]
            own[k] = odds[rows, labels] / odds.sum(axis=1)
            odds *= odds  # twice as sharp
        likelihoods = best_likelihoods(own, weight, odds.shape[1])
        tried.extend((float(s), float(value), solution) for s, value in zip(sharpness, likelihoods, strict=True))
    # Where several penalties leave no doubt, their likelihoods differ by rounding, and the largest is the safest.
    tried.sort(key=lambda each: (each[0], round(each[1], _DIGITS)))
    factor, _, solution = tried[sharpest([likelihood for _, likelihood, _ in tried])]
    return (solution, factor), softmax(factor * solution.held_out)
