"""Which form of a computation serves which data: every threshold and the memory model in one place.

- *Gram*: form A (n·d² operations, or the square of a row's non-zeros for sparse rows) and take its eigenvectors (a
  multiple of d³). Best while d is small or m is a good part of it.
- *Subspace*: products A·V and work in a few m dimensions. Best for large d; the only way for very large d.
- *Row space*: data with more features than samples are first turned into a square of the number of samples, exactly;
  then one of the above.

A plan depends on sizes, never on how rows are stored, so that storage does not change the answer. The numbers were
measured on one core of a server; `python -m benchmarks.crossovers` times both sides of each threshold. A computation is
handed its plan, and a test hands it another one.
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
class Dimensions:
    """Sizes without the samples."""

    dim: int
    n_samples: int


@dataclass(frozen=True)
class Plan:
    """Sizes at which one way becomes better than another; the defaults are what a user gets."""

    block: int = 1 << 22
    """Numbers in one block of rows: 32 MB in double precision."""
    densify: int = 1 << 22
    """Numbers a sparse matrix may have, zeros included, and still be treated as a dense one: 32 MB."""
    gram_span: int = 2000
    """Features up to which a features × features matrix is made to find the span of sparse rows."""
    factor_features: int = 6000
    """Features up to which such a matrix is factorized (288 MB)."""
    factor_samples: int = 20_000
    """Samples up to which half of a samples × samples matrix is factorized, in single precision (800 MB)."""
    factor_samples_double: int = 10_000
    """Samples up to which that is done in double precision (400 MB), which takes fewer cycles."""
    single_dim: int = 500
    """Dimensions from which early eigenproblems in single precision save a fifth to a third of the time.

    Below, they save little, and near a saddle point seven digits do not decide twice for the same basin.
    """
    subspace_dim: int = 500
    """Dimensions from which subspaces are worth their bookkeeping."""
    subspace_ratio: int = 8
    """Components that the space must hold this many times for its subspaces to be much smaller."""
    whole_space_dim: int = 2000
    """Dimensions up to which a few eigenproblems of the whole space replace the last cycles of subspaces."""
    handover: float = 3e-2
    """Relative fall of J per cycle below which a subspace has done its work where the whole space takes over."""
    little: float = 1e-8
    """τ of the preconditioner, relative to the largest eigenvalue of S_t, where directions of little scatter count."""
    lanczos_dim: int = 1000
    """Dimensions from which few generalized eigenvectors come from Lanczos' method."""
    linear_rule_dim: int = 1500
    """Dimensions up to which a linear rule learns by a matrix of that size, and beyond which without."""
    linear_rule_tail: int = 200
    """Directions of large scatter that a linear rule without such a matrix knows exactly; the others are alike."""
    linear_rule_directions: int = 800
    """Directions of large scatter that stand for more dimensions than that in a projection from beliefs."""
    max_samples: int = 20_000
    """Samples that a committee learns from, which bounds what a decision costs."""
    ellipse_samples: int = 200_000
    """Samples from which the shape of classes is learned in a projection: its error is then a quarter of a percent."""
    min_class_samples: int = 20
    """Samples of a class that are kept when only some can be learned from."""
    samples_per_dim: float = 5.0
    """Distinct samples for each dimension below which a projection fits every label, the wrong ones as well."""
    units_from: int = 1 << 24
    """Numbers that the units of features are taken from: 128 MB in double precision."""
    landmarks: int = 500
    """Points that similarities are measured to in the local rule."""
    predict_rows: int = 2048
    """Rows predicted at a time: with `landmarks`, 8 MB of similarities."""
    one_thread: int = 1 << 18
    """Numbers in X up to which one thread does all: products of it take less than it takes to wake up another."""

    def block_rows(self, d: int) -> int:
        """Rows in a block."""
        return max(1, self.block // max(1, d))

    def is_small(self, n: int, d: int) -> bool:
        """Whether more than one thread would not be worth their coordination."""
        return n * d <= self.one_thread

    def densifies(self, n: int, d: int) -> bool:
        """Whether sparse rows are few enough to be treated as dense ones."""
        return n * d <= self.densify

    def single_above(self, samples: Sizes) -> float:
        """Relative fall of J above which an eigenproblem is solved in single precision."""
        return 1e-5 if samples.dim >= self.single_dim else float("inf")

    def use_subspace(self, samples: Sizes, m: int) -> bool:
        """Whether subspaces are much smaller than the space."""
        return samples.dim >= self.subspace_dim and samples.dim >= self.subspace_ratio * m

    def largest_subspace(self, m: int) -> int:
        """Dimensions kept before a subspace is cut back: room to build up, bounded where m is large already."""
        return max(5 * m, min(8 * m, 720))

    def finish_in_whole_space(self, samples: Sizes) -> bool:
        """Whether a few eigenproblems of the whole space are cheaper than the many cycles they replace."""
        return samples.dim <= self.whole_space_dim

    def only_subspaces(self, samples: Sizes, m: int) -> bool:
        """Whether no eigenproblem of the whole space is solved."""
        return self.use_subspace(samples, m) and not self.finish_in_whole_space(samples)

    def shift(self, samples: Sizes) -> float:
        """τ of the preconditioner where directions of little scatter are not what is sought.

        Small where they have to be told apart, large where the whole space will do that.
        """
        return 1e-2 if self.finish_in_whole_space(samples) else 1e-4

    def factorize_total_scatter(self, samples: Sizes) -> bool:
        """Whether a Cholesky factor of a features × features matrix is affordable, in memory and time."""
        return samples.dim <= self.factor_features and samples.dim < samples.n_samples

    def factorize_inner_products(self, samples: Sizes, shift: float) -> bool:
        """Whether half of a samples × samples matrix is affordable, in memory and time.

        Where it takes single precision it also takes a minute, which pays only where directions of little scatter are
        sought.
        """
        affordable = samples.n_samples <= min(samples.dim, self.factor_samples)
        return affordable and (shift <= self.little or self.double_inner_products(samples))

    def double_inner_products(self, samples: Sizes) -> bool:
        """Whether that matrix is affordable in double precision."""
        return samples.n_samples <= self.factor_samples_double

    def real_gradient(self, samples: Sizes) -> float:
        """Length of a gradient, relative to the product it comes from, below which it is taken for rounding error.

        Without a preconditioner short ones do not matter, and what they bring in from outside of the row space does.
        """
        return 1e-10 if self.factorize_total_scatter(samples) else 1e-7

    def learn_by_matrix(self, samples: Sizes) -> bool:
        """Whether a linear rule learns by a matrix of dimensions × dimensions."""
        return samples.dim <= self.linear_rule_dim

    def principal_subspace(self, samples: Sizes) -> int:
        """Directions of large scatter that stand for the whole space in a projection, where that is too large."""
        return min(self.linear_rule_directions, samples.dim, samples.n_samples - 1)

    def tail_from(self, samples: Sizes) -> int:
        """Directions of large scatter that a linear rule without a matrix knows exactly."""
        return min(self.linear_rule_tail, samples.dim, samples.n_samples - 1)

    def unit_rows(self, d: int) -> int:
        """Rows that the units of d features are taken from."""
        return min(50_000, max(1, self.units_from // d))

    def is_table(self, n: int, d: int) -> bool:
        """Whether n samples of d features are a table, whose features have units of their own.

        Images and texts have many features in one and the same unit, and rare ones among them would be blown up.
        """
        return n >= self.samples_per_dim * d

    def memorizes_labels(self, samples: Sizes, n_distinct: int) -> bool:
        """Whether there are so many dimensions that a projection fits every label, the wrong ones as well.

        In it a sample then lies with the class it was given, and no rule can tell that the label is wrong. Copies of
        samples do not help.
        """
        return samples.dim * self.samples_per_dim > n_distinct

    def projection_memory(
        self, n: int, d: int, m: int, *, itemsize: int = 8, sparse: bool = False, shift: float = 1.0
    ) -> int:
        """Bytes that finding a projection needs at its peak beside the data, to within a factor of two.

        `shift` is `little` where directions of little scatter are sought.
        """
        small = 8 * (14 * n + 4 * min(n, self.block_rows(d)) * m)  # lengths and weights; coordinates of a block
        if not sparse and d >= n:
            wide = int(3.2 * n * d * itemsize)
            return small + wide + self.projection_memory(n, n - 1, m, itemsize=itemsize)
        sizes = Dimensions(d, n)
        total = small + (0 if sparse else 3 * min(n * d, self.block) * itemsize)
        if self.use_subspace(sizes, m):
            factor = 4 if self.double_inner_products(sizes) else 2
            packed = factor * n**2 if self.factorize_inner_products(sizes, shift) else 0
            total += 3 * 8 * (n + d) * self.largest_subspace(m) + packed
        if not self.use_subspace(sizes, m) or self.factorize_total_scatter(sizes):
            total += int(3.5 * 8 * d**2)
        return total

    def committee_memory(self, n: int, d: int, c: int, *, sparse: bool = False) -> int:
        """Bytes that the noise-aware decision needs at its peak beside the data, to within a factor of two."""
        learned = min(n, self.max_samples)
        sizes = Dimensions(d if sparse else min(d, n - 1), n)
        whole = self.learn_by_matrix(sizes)
        features = sizes.dim if whole else self.principal_subspace(sizes)
        directions = 0 if whole else 2 * 8 * features * (sizes.dim + learned)
        rules = 8 * learned * (int(3.2 * min(self.landmarks, learned)) + int(2.2 * features) + 24 * c)
        every_row = 8 * n * (14 + 2 * c)  # weights and lengths; what is believed of each
        transition = 8 * 70 * c**2  # what a quasi-Newton method remembers of the last 30 steps
        return rules + directions + every_row + transition
