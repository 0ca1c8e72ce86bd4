"""Whether a fit will fit: what it needs beside the data, asked before it begins."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from robustlda.data import Store
from robustlda.data.parted import PartedStore
from robustlda.data.store import as_store, is_read_in_blocks, is_sparse
from robustlda.decision.rule import Checks
from robustlda.estimators._base import DiscriminantProjection
from robustlda.estimators._validation import answer_table, has_answers
from robustlda.linalg import Array

_ALWAYS_THERE = 1e6  # bytes


class MeasuredProjection(DiscriminantProjection):
    """Base of the estimators that know how much memory they need, also without a features × features matrix."""

    _needs_matrix = False

    def _least_shift(self) -> float:
        """What the plan has to know of the directions that will be sought."""
        return self.plan.little

    def _asks_committee(self) -> bool:
        """Whether the noise-aware decision is fitted, which holds numbers for each sample and class."""
        return self.decision == "noise_aware"

    def estimate_memory(self, X: Any, y: Any = None) -> int:
        """Bytes that `fit` will need beside X, to within a factor of two.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; only shape, precision and storage are looked at.
        y : array-like of shape (n_samples,) or (n_samples, n_annotators), default=None
            Class labels, or answers of several people, which set the number of components if `n_components` does not;
            ten classes are assumed without them.

        Returns
        -------
        n_bytes : int
        """
        n, d = as_store(X).shape if is_read_in_blocks(X) else np.shape(X)
        classes = 10 if y is None else _count_classes(y)
        m = int(self.n_components or 0) or min(self._default_components(classes), n - 1, d)
        sparse = is_sparse(X) and not self.plan.densifies(n, d)
        itemsize = 4 if getattr(X, "dtype", None) == np.float32 else 8
        shift = self._least_shift()
        projection = self.plan.projection_memory(n, d, m, itemsize=itemsize, sparse=sparse, shift=shift)
        if not self._asks_committee():
            return projection
        return max(projection, self.plan.committee_memory(n, d, classes, sparse=sparse))

    def _check_training(self, X: Any, y: Any, sample_weight: Any, verified: Any) -> tuple[Store, Checks, Array]:
        store, checks, weight = super()._check_training(X, y, sample_weight, verified)
        if isinstance(store, PartedStore):
            return store, checks, weight  # whose parts and workers are what they are
        needed = self.estimate_memory(store, checks.given)
        # Asking the system takes longer than fitting a table so small that the answer is known.
        if needed > _ALWAYS_THERE and needed > (free := available_memory()):
            n, d = store.shape
            raise MemoryError(
                f"Fitting {n} samples of {d} features takes about {needed / 1e9:.1f} GB beside the data, but "
                f"{free / 1e9:.1f} GB are free. Use fewer components, float32 data or a reduction such as TruncatedSVD."
            )
        return store, checks, weight


def _count_classes(y: Any) -> int:
    """Of labels, or of answers, some of which are missing."""
    if has_answers(y):
        return len({answer for answer in answer_table(y).ravel().tolist() if answer is not None})
    return len(np.unique(np.asarray(y)))


def available_memory() -> float:
    """Bytes that can be had without swapping, as far as the system tells; infinite where it does not."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")
