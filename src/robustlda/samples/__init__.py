"""The only place that knows how the data are stored.

A solver works on a `Samples`: centred rows of a working space whose dimension is the rank of the data. It may
ask for lengths, class means and scatters, all of which cost one pass over the rows, and never sees a row.
"""

from typing import Any

from scipy.sparse import issparse

from robustlda.linalg import Array
from robustlda.samples._interface import Samples
from robustlda.samples.dense import DenseSamples, RestrictedSamples
from robustlda.samples.sparse import SparseSamples

__all__ = ["DenseSamples", "RestrictedSamples", "Samples", "SparseSamples", "hold"]

SMALL = 1 << 22
"""Numbers a sparse matrix may have, zeros included, and still be treated as a dense one: 32 MB."""


def hold(X: Any, labels: Array, weight: Array, center: Array, n_classes: int) -> Samples:
    """The samples in the form that suits how they are stored."""
    if not issparse(X):
        return DenseSamples(X, labels, weight, center, n_classes)
    if X.shape[0] * X.shape[1] <= SMALL:
        return DenseSamples(X.toarray(), labels, weight, center, n_classes)
    return SparseSamples(X, labels, weight, center, n_classes)
