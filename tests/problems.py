"""Random problems for the property tests: a seed and sizes are drawn, then the data are built from them."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from robustlda.data import Weights, as_samples, as_store
from robustlda.data.centering import mean
from robustlda.data.store import Rows
from robustlda.plan import Plan

SPARSE = Plan(densify=0)
"""The plan by which sparse rows stay sparse, however few they are."""


def make_samples(X, labels, weight=None, plan=None):
    weight = np.ones(X.shape[0]) if weight is None else weight
    store = as_store(X)
    return as_samples(store, labels, Weights.of(weight), mean(Rows(store, 1000), weight), labels.max() + 1, plan)


@st.composite
def problems(draw):
    """Samples with classes of any shape: wide or tall, ties, duplicates, zero rows, weights, outliers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    c, d = draw(st.integers(2, 5)), draw(st.integers(2, 25))
    n = draw(st.integers(c + 2, 40))
    labels = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = (
        rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, d)
        + draw(st.floats(0, 5)) * rng.normal(size=(c, d))[labels]
    )
    if draw(st.booleans()):
        X = np.round(X)  # ties
    if draw(st.booleans()):
        X[rng.integers(0, n, n // 3)] = X[0]  # duplicates
    if draw(st.booleans()):
        X[rng.integers(0, n)] = X.mean(axis=0)  # a zero row after centering
    if draw(st.booleans()):
        X[rng.integers(0, n)] *= 1e3
    assume(np.ptp(X, axis=0).max() > 0)
    weight = rng.uniform(0.1, 5, n) if draw(st.booleans()) else None
    return X, labels, weight, rng
