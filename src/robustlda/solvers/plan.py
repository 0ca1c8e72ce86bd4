"""Which form of a solver serves which data: every threshold in one place, justified by `benchmarks/`.

- *Gram*: form A (n·d² operations, or the square of a row's non-zeros for sparse rows) and take its eigenvectors (a
  multiple of d³). Best while d is small or m is a good part of it.
- *Subspace*: products A·V and work in a few m dimensions. Best for large d; the only way for very large d.
- *Row space*: data with more features than samples are first turned into a square of the samples' number, exactly,
  by `samples.DenseSamples`; then one of the above.
"""

from dataclasses import dataclass
from typing import Protocol


class Sizes(Protocol):
    """All that a plan depends on: the dimension of the working space and the number of samples."""

    @property
    def dim(self) -> int: ...
    @property
    def n_samples(self) -> int: ...


@dataclass(frozen=True)
class _Sizes:
    dim: int
    n_samples: int


HANDOVER = 3e-2
"""Relative fall of J per cycle below which a subspace has done its work where the whole space is affordable."""


def single_above(samples: Sizes) -> float:
    """Relative fall of J above which an eigenproblem is solved in single precision, where that saves half the time."""
    return 1e-5 if samples.dim >= 150 else float("inf")


def use_subspace(samples: Sizes, m: int) -> bool:
    """Whether subspaces are much smaller than the space."""
    return samples.dim >= 500 and samples.dim >= 8 * m


def largest_subspace(m: int) -> int:
    """Dimensions kept before a subspace is cut back: room to build up, bounded where m is large already."""
    return max(5 * m, min(8 * m, 720))


LITTLE = 1e-8
"""τ of the preconditioner, relative to the largest eigenvalue of S_t, where directions of little scatter are sought."""


def shift(samples: Sizes) -> float:
    """τ of the preconditioner elsewhere.

    Small where directions of little scatter have to be told apart, large where the whole space will do that.
    """
    return 1e-2 if finish_in_whole_space(samples) else 1e-4


def finish_in_whole_space(samples: Sizes) -> bool:
    """Whether a few eigenproblems of the whole space are cheaper than the many cycles they replace."""
    return samples.dim <= 2000


def learn_in_whole_space(samples: Sizes) -> bool:
    """Whether a linear rule can learn from all dimensions."""
    return samples.dim <= 1500


def learns_by_heart(samples: Sizes, n_distinct: int) -> bool:
    """Whether there are so many dimensions that a projection fits every label, the wrong ones as well.

    In it a sample then lies with the class it was given, and no rule can tell that the label is wrong. Copies of
    samples do not help.
    """
    return samples.dim > n_distinct / 5


def principal_subspace(samples: Sizes) -> int:
    """Directions of large scatter that stand for the whole space in linear rules, where that is too large."""
    return min(800, samples.dim, samples.n_samples - 1)


def factorise_total_scatter(samples: Sizes) -> bool:
    """Whether a Cholesky factor of a features × features matrix is affordable, in memory (288 MB) and time."""
    return samples.dim <= 6000 and samples.dim < samples.n_samples


def factorise_inner_products(samples: Sizes, shift: float) -> bool:
    """Whether half of a samples × samples matrix is affordable, in memory (800 MB in single precision) and time.

    Where it takes single precision it also takes a minute, which pays only where directions of little scatter are
    sought.
    """
    affordable = samples.n_samples <= min(samples.dim, 20_000)
    return affordable and (shift <= LITTLE or double_inner_products(samples))


def double_inner_products(samples: Sizes) -> bool:
    """Whether that matrix is affordable in double precision (400 MB), which takes fewer cycles."""
    return samples.n_samples <= 10_000


def real_gradient(samples: Sizes) -> float:
    """Length of a gradient, relative to the product it comes from, below which it is taken for rounding error.

    Without a preconditioner short ones do not matter, and what they would bring in from outside of the row space does.
    """
    return 1e-10 if factorise_total_scatter(samples) else 1e-7


def memory(n: int, d: int, m: int, *, itemsize: int = 8, sparse: bool = False, shift: float = 1.0) -> int:
    """Bytes a fit needs at its peak beside the data it is given, to within a factor of two.

    `shift` is LITTLE where directions of little scatter are sought.
    """
    small = 8 * (40 * n + 4 * n * m)  # lengths, weights and what they are computed from; coordinates
    if not sparse and d >= n:
        return small + int(3.2 * n * d * itemsize) + memory(n, n - 1, m, itemsize=itemsize)
    sizes = _Sizes(d, n)
    total = small + (0 if sparse else 3 * min(n * d, 1 << 22) * itemsize)  # blocks of rows
    if use_subspace(sizes, m):
        packed = (4 if double_inner_products(sizes) else 2) * n**2 if factorise_inner_products(sizes, shift) else 0
        total += 3 * 8 * (n + d) * largest_subspace(m) + packed
    if not use_subspace(sizes, m) or factorise_total_scatter(sizes):
        total += int(3.5 * 8 * d**2)
    return total


def memory_of_noise_aware_rule(n: int, d: int, c: int, *, sparse: bool = False) -> int:
    """Bytes that the noise-aware decision needs at its peak beside the data, to within a factor of two."""
    learned = min(n, 20_000)
    sizes = _Sizes(d if sparse else min(d, n - 1), n)
    features = sizes.dim if learn_in_whole_space(sizes) else principal_subspace(sizes)
    directions = 0 if learn_in_whole_space(sizes) else 2 * 8 * features * (sizes.dim + n)
    return 8 * learned * (int(3.2 * min(500, learned)) + int(2.2 * features) + 12 * c) + directions + 120 * n
