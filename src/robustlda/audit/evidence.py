"""What is known about labels before they are judged: beliefs, the noise behind them, and rows to draw.

It comes from one of three places. `RobustLDA`, alone or at the end of a pipeline, judges every sample by rules that
have not seen it (`by_committee`). Any other classifier is cross-validated (`by_classifier`), and probabilities of
unknown origin are taken for held-out ones; for both, `decision.held_out` explains the labels as the committee does.

**Pipelines.** Steps before a `RobustLDA` are fitted once, to all rows and without labels. A scaler or an imputer that
has seen the features of a sample does not know its label, so nothing leaks. Where a step needs labels, as a selection
of features does, it would remember them; such a pipeline is cross-validated as a whole, as those that end in other
classifiers are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags

from robustlda.decision.label_noise import LabelNoise
from robustlda.decision.rule import FittedDecision
from robustlda.estimators import DiscriminantProjection, fit_decision
from robustlda.linalg import Array


@dataclass(frozen=True)
class Evidence:
    """`model` is the one that was fitted, `measuring` the one that knows distances between `rows`; either may be None.

    `rates` are noise rates of other fits.
    """

    model: Any
    classes: Array
    beliefs: Array
    noise: LabelNoise
    rates: list[float]
    measuring: DiscriminantProjection | None
    rows: Any
    features: Array | None


def by_committee(estimator: Any, X: Any, y: Any, verified: Any, n_resamples: int, random_state: Any) -> Evidence | None:
    """The beliefs of one of our estimators, alone or at the end of a pipeline; None for anything else."""
    before = None
    if isinstance(estimator, Pipeline) and isinstance(estimator[-1], DiscriminantProjection):
        before = _without_labels(estimator[:-1], X)
        if before is None:
            return None
    elif not isinstance(estimator, DiscriminantProjection):
        return None
    fitted = model = clone(estimator)
    rows, features = X, None
    if before is not None:
        steps, rows = before
        model, features = fitted[-1], names_out(steps)
        fitted.steps = [*steps.steps, fitted.steps[-1]]
    beliefs, noise = _found(fit_decision(model, rows, y, verified=verified))
    rates: list[float] = []
    if n_resamples:
        # Exponential weights are the Bayesian form of drawing samples anew.
        rng, resampled = check_random_state(random_state), np.zeros_like(beliefs)
        for _ in range(n_resamples):
            again = clone(model)
            decision = fit_decision(again, rows, y, rng.exponential(size=len(beliefs)), verified)
            resampled += _found(decision)[0] / n_resamples
            rates.append(again.noise_rate_)
        beliefs = (beliefs + resampled) / 2
    if features is None:
        features = getattr(model, "feature_names_in_", None)
    return Evidence(fitted, model.classes_, beliefs, noise, rates, model, rows, features)


def _without_labels(steps: Pipeline, X: Any) -> tuple[Pipeline, Any] | None:
    """Steps fitted to features alone, and what they make of these; None if they ask for labels."""
    steps = clone(steps)
    if not steps.steps:
        return steps, X
    parts = [part for part in steps.get_params().values() if hasattr(part, "fit")]
    if any(get_tags(part).target_tags.required for part in parts):
        return None
    try:
        return steps, steps.fit_transform(X)
    except (TypeError, ValueError):  # not all steps say so beforehand; if it was something else, it will be said again
        return None


def names_out(steps: Pipeline) -> Array | None:
    """What features are called after some fitted steps; None if they had no names before."""
    if not hasattr(steps, "feature_names_in_"):
        return None
    try:
        return np.asarray(steps.get_feature_names_out(), object)
    except (AttributeError, ValueError):  # a step does not say
        return None


def _found(decision: FittedDecision | None) -> tuple[Array, LabelNoise]:
    assert decision is not None
    assert decision.beliefs is not None
    assert decision.label_noise is not None
    return decision.beliefs, decision.label_noise
