"""Centered samples with a class and a weight each, in coordinates of the space they span: all that a solver works on.

A solver asks for products and statistics, each of which costs one pass over blocks of rows, and never sees a row. How
the rows are stored is the store's business, how the center is taken off a block's: as a centered copy where it fits or
must be exact, else as a term of rank one in every product.
"""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from robustlda.data import space as spaces
from robustlda.data.centered import CenteredBlock
from robustlda.data.dense import DenseStore
from robustlda.data.parted import PartedStore, densified
from robustlda.data.space import UnreducedSpace, WorkingSpace
from robustlda.data.store import Block, BlockReader, Statistic, Store
from robustlda.data.weights import Weights
from robustlda.linalg import Array
from robustlda.plan import Plan

_OF_MANY = 0.25  # of the rounding error that one column may have at most, that they have together


class Samples(BlockReader[CenteredBlock]):
    """Centered samples x_j in a working space of dimension `dim`.

    W is a dim × m frame, M a matrix of c class centers in the rows, s and w one number for each sample. Vectors and
    matrices handed out are in working coordinates. `frame` takes them to the coordinates of the stored rows, where
    those are others. `weight` is what a sample counts in all of them, trust included.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.data import Weights, as_samples, as_store
    >>> from robustlda.plan import Plan
    >>> X, y = np.array([[0.0, 0], [2, 0], [0, 4], [2, 4]]), np.array([0, 0, 1, 1])
    >>> samples = as_samples(as_store(X), y, Weights.of(np.ones(4)), X.mean(axis=0), 2, Plan())
    >>> totals, sums = samples.class_sums(samples.weight)
    >>> totals.tolist(), samples.rank
    ([2.0, 2.0], 2)
    """

    def __init__(
        self,
        store: Store,
        labels: Array,
        weights: Weights,
        n_classes: int,
        *,
        center: Array | None = None,
        space: WorkingSpace,
        frame: Array | None = None,
        plan: Plan,
        squared_norms: Array | None = None,
    ) -> None:
        self.store, self.labels, self.weights, self.n_classes = store, labels, weights, n_classes
        self.n_samples, self.weight = len(labels), weights.trusted
        self.space, self.plan, self._frame = space, plan, frame
        self._center = np.zeros(store.shape[1], store.dtype) if center is None else center
        self._late = False
        if squared_norms is None:
            (squared_norms,) = self.collect(_squared_norms)
        self.squared_norms = squared_norms
        self._late = self._centers_late()

    @property
    def dim(self) -> int:
        return self.space.dim

    def _centers_late(self) -> bool:
        """Whether the center is taken from products of rows instead of the rows.

        The passes then run at the speed of a product, without a centered copy of every block. What cancels in the
        difference must be far below the tolerance of any solver: 12 digits stay, 5 in single precision.
        """
        if self._one_block:
            return False
        center, eps = self._center.astype(float), np.finfo(self.store.dtype).eps
        return bool(center @ center <= eps**-0.23 * self.squared_norms.mean())

    @property
    def rank(self) -> int:
        """Rank of the samples, or the best bound known."""
        return self.space.rank

    # Passes over the rows

    @property
    def step(self) -> int:
        return self.n_samples if self.store.sparse else self.plan.block_rows(self.store.shape[1])

    @property
    def view(self) -> Callable[[Block], CenteredBlock]:
        return partial(CenteredBlock.late if self._late else CenteredBlock, center=self._center)

    @property
    def _one_block(self) -> bool:
        return self.step >= self.n_samples

    @cached_property
    def _whole(self) -> CenteredBlock:
        return CenteredBlock(self.store.block(slice(0, self.n_samples)), self._center)

    def blocks(self) -> Iterator[tuple[slice, CenteredBlock]]:
        """The rows, block by block; one block that is in memory anyway is centered once."""
        if self._one_block and self.store.in_memory:
            yield slice(0, self.n_samples), self._whole
            return
        yield from super().blocks()

    def tell(self, objective: float) -> None:
        """Let whoever watches a long computation know the value that a solver has reached."""
        if isinstance(self.store, PartedStore):
            self.store.tell(objective)

    def into_rows(self, V: Array) -> Array:
        """Columns of the working space in the coordinates of the stored rows."""
        return V if self._frame is None else self._frame @ V

    def from_rows(self, V: Array) -> Array:
        """Columns in the coordinates of the stored rows, in the working space."""
        return V if self._frame is None else self._frame.T @ V

    # Products and statistics

    def lengths(self, W: Array, M: Array) -> tuple[Array, Array]:
        """‖Wᵀ(x_j − M_{y_j})‖² and ‖x_j − WWᵀx_j‖² for every sample."""
        measure = partial(block_lengths, V=self.into_rows(W), projected=M @ W)
        within, residual = self.collect(measure, self.labels, self.squared_norms, outputs=2)
        return within, residual

    def class_sums(self, w: Any) -> tuple[Array, Array]:
        """Σ w_j and Σ w_j x_j over each class."""
        c = self.n_classes
        sums, totals = self.reduce(
            lambda block, labels, w: (block.class_sums(labels, w, c), np.bincount(labels, w, c)), self.labels, w
        )
        return totals, self.from_rows(sums.T).T

    @cached_property
    def total_scatter(self) -> Array:
        """Σ ω_j x_j x_jᵀ with the sample weights ω, formed once."""
        return self.gram(self.weight)

    def gram(self, s: Array, *, single: bool = False) -> Array:
        """Σ s_j x_j x_jᵀ; s may have either sign. In `single` precision where that is faster."""
        (total,) = self.reduce(lambda block, s: (block.gram(s, single=single),), s)
        return self.gram_from_rows(total)

    def gram_from_rows(self, G: Array) -> Array:
        """A Gram matrix of stored rows in the working space."""
        if self._frame is None:
            return G
        frame = self._frame.astype(G.dtype)
        return frame.T @ G @ frame

    def moments(self, w: Array, s: Array, *, single: bool = False) -> tuple[Array, Array, Array]:
        """Σ w_j and Σ w_j x_j over each class, and Σ s_j x_j x_jᵀ, in one pass."""
        c = self.n_classes

        def statistic(block: CenteredBlock, labels: Array, w: Array, s: Array) -> Statistic:
            return np.bincount(labels, w, c), block.class_sums(labels, w, c), block.gram(s, single=single)

        totals, sums, total = self.reduce(statistic, self.labels, w, s)
        return totals, self.from_rows(sums.T).T, self.gram_from_rows(total)

    def within_lengths(self, W: Array, M: Array) -> Any:
        """‖Wᵀ(x_j − M_{y_j})‖² for every sample; W may be a diagonal matrix, given by its diagonal."""
        if W.ndim == 1 and self._frame is None:
            return self.collect(partial(_scaled_class_squares, scale=W, centers=M), self.labels)[0]
        W = np.diag(W) if W.ndim == 1 else W
        return self.collect(partial(_block_within_lengths, V=self.into_rows(W), projected=M @ W), self.labels)[0]

    def reweighted_moments(
        self, W: Array, M: Array, factor: Callable[[Array], tuple[Array, Array]], known: Any = None
    ) -> tuple[float, Array, Array, Array]:
        """Σ ω_j v_j, and the moments with weights ω_j u_j, in one pass.

        `factor` makes v and u of the squared lengths ‖Wᵀ(x_j − M_{y_j})‖², which may be `known`.
        """
        c = self.n_classes

        def moments(block: CenteredBlock, labels: Array, weight: Array, squared: Array) -> Statistic:
            v, u = factor(squared)
            w = weight * u
            return float(weight @ v), np.bincount(labels, w, c), block.class_sums(labels, w, c), block.gram(w)

        if known is None:
            measure = partial(_block_within_lengths, V=self.into_rows(W), projected=M @ W)
            found = self.reduce(
                lambda block, labels, weight: moments(block, labels, weight, *measure(block, labels)),
                self.labels,
                self.weight,
            )
        else:
            found = self.reduce(moments, self.labels, self.weight, known)
        fit, totals, sums, total = found
        return fit, totals, self.from_rows(sums.T).T, self.gram_from_rows(total)

    def apply(self, s: Array, V: Array) -> Array:
        """(Σ s_j x_j x_jᵀ)V, without forming the matrix."""
        columns = self.into_rows(V)

        def statistic(block: CenteredBlock, s: Array) -> Statistic:
            Z = block.times(columns)
            Z *= s[:, None].astype(Z.dtype)
            return (block.combine(Z),)

        return self.from_rows(self.reduce(statistic, s)[0])

    def factor(self, scale: Array) -> Array:
        """R of a QR factorization of the stored rows about their center, columns divided by `scale`."""

        def of_blocks(blocks: Iterator[tuple[slice, CenteredBlock]]) -> Array:
            return spaces.triangle((block.rows() for _, block in blocks), scale)

        if isinstance(self.store, PartedStore):
            return np.asarray(self.store.fold(self.view, self.step, of_blocks, spaces.stacked_triangles))
        return of_blocks(self.blocks())

    def project(self, V: Array) -> Array:
        """Coordinates Vᵀx_j of every sample, one row each."""
        columns = self.into_rows(V)
        return self.collect(lambda block: (block.times(columns),))[0]

    def combine(self, Z: Array) -> Array:
        """Σ_j x_j z_jᵀ: combinations of the samples, one for every column of Z."""
        return self.from_rows(self.reduce(lambda block, Z: (block.combine(Z),), Z)[0])

    def project_features(self, F: Array) -> Array:
        """Fᵀx̃_j for columns F in feature space, whether or not they lie in the span of the samples."""
        columns = self.feature_columns(F)
        return self.collect(lambda block: (block.times(columns),))[0]

    def feature_columns(self, F: Array) -> Array:
        """Columns in feature space, as stored rows know them."""
        # Rows that are coordinates of their own span see F through it; others are in feature space.
        return F if self.store.shape[1] == self.space.n_features else self.space.lower(F)

    # Samples themselves, for what compares them with each other

    def rows(self, index: Array | slice) -> Array:
        """Some samples, dense."""
        R = self._some(index).rows()
        return R if self._frame is None else R @ self._frame

    def _some(self, index: Array | slice) -> CenteredBlock:
        chosen = np.arange(*index.indices(self.n_samples)) if isinstance(index, slice) else np.asarray(index)
        return self.view(self.store.take(chosen).block(slice(0, len(chosen))))

    def inner_products(self, rows: slice) -> Array:
        """x_iᵀx_j of some samples i with all samples j."""
        some = self._some(rows)
        return self.collect(lambda block: (block.inner(some),))[0].T

    def shifted_rows(self) -> Any:
        """All samples but for a shift that they share, sparse where they are: enough where only differences count."""
        R = self._some(slice(None)).compact()
        return R if self._frame is None else R @ self._frame

    def take(self, index: Array, weights: Weights) -> "Samples":
        """Some samples as samples of the same space, in memory, with other weights."""
        return self._in_this_space(self.store.take(index), self.labels[index], weights, self.squared_norms[index])

    def relabeled(self, labels: Array, weights: Weights) -> "Samples":
        """The same samples with other labels and weights."""
        return self._in_this_space(self.store, labels, weights, self.squared_norms)

    def _in_this_space(self, store: Store, labels: Array, weights: Weights, squared_norms: Array) -> "Samples":
        return Samples(
            store,
            labels,
            weights,
            self.n_classes,
            center=self._center,
            space=self.space,
            frame=self._frame,
            plan=self.plan,
            squared_norms=squared_norms,
        )

    def restricted_to(self, V: Array) -> "Samples":
        """Samples seen in the subspace of the columns of V, in double precision."""
        if isinstance(self.store, PartedStore):
            columns = self.into_rows(V)
            return self._restricted(
                self.store.seen(self.view, self.step, lambda block: block.times(columns), V.shape[1])
            )
        return self.restrict(self.project(V).astype(float))

    def restrict(self, coordinates: Array) -> "Samples":
        """Samples seen in a subspace: their coordinates in it are few, their lengths those they really have.

        The objective on frames inside the subspace is exactly that of the whole space, at the price of the subspace.
        """
        return self._restricted(DenseStore(coordinates))

    def _restricted(self, store: Store) -> "Samples":
        return Samples(
            store,
            self.labels,
            self.weights,
            self.n_classes,
            space=WorkingSpace(store.shape[1]),
            plan=self.plan,
            squared_norms=self.squared_norms,
        )


def as_samples(
    store: Store, labels: Array, weights: Weights, center: Array, n_classes: int, plan: Plan | None = None
) -> Samples:
    """The samples about a center, in the space they span.

    Parameters
    ----------
    store : Store
        Rows.
    labels : ndarray of shape (n_samples,)
        The index of each sample's class.
    weights : Weights
        What each sample counts.
    center : ndarray of shape (n_features,)
        What is subtracted from every row.
    n_classes : int
        How many classes there are.
    plan : Plan, default=None
        Thresholds of the computation; the usual ones if None.

    Returns
    -------
    samples : Samples

    Examples
    --------
    The third feature is the sum of the others, so samples span a plane:

    >>> import numpy as np
    >>> from robustlda.data import Weights, as_samples, as_store
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0] + X[:, 1]
    >>> samples = as_samples(as_store(X), np.arange(50) % 2, Weights.of(np.ones(50)), X.mean(axis=0), 2)
    >>> samples.dim, samples.space.n_features
    (2, 3)
    """
    plan = plan or Plan()
    n, d = store.shape
    if store.sparse and plan.densifies(n, d):
        store = densified(store)
    # What centering leaves of a constant feature: rounding error of this size, never to be taken for signal.
    noise = 16 * np.finfo(store.dtype).eps * np.sqrt(n) * np.abs(center)
    settings: dict[str, Any] = {"labels": labels, "weights": weights, "n_classes": n_classes, "plan": plan}
    if d >= n and not store.sparse and not isinstance(store, PartedStore):
        everything = CenteredBlock(store.block(slice(0, n)), center)
        coordinates, directions = spaces.span_of_wide(everything.rows(), float(noise.max()))
        if n > plan.block_rows(coordinates.shape[1]):
            coordinates = np.ascontiguousarray(coordinates)  # so that blocks of rows are read in place
        return Samples(DenseStore(coordinates), space=WorkingSpace(d, directions), **settings)
    samples = Samples(store, center=center, space=WorkingSpace(d), **settings)
    if store.sparse and d > plan.gram_span:
        samples.space = _unreduced(samples)
        return samples
    basis = spaces.span_of_gram(samples.gram(np.ones(n))) if store.sparse else _span_of_tall(samples, noise)
    if basis is None:
        return samples
    space = WorkingSpace(d, basis)
    norms = samples.squared_norms
    return Samples(store, center=center, space=space, frame=basis, squared_norms=norms, **settings)


def _span_of_tall(samples: Samples, noise: Array) -> Array | None:
    (squares,) = samples.reduce(_column_squares, samples.labels)
    lengths, eps = np.sqrt(squares), float(np.finfo(samples.store.dtype).eps)
    scale = spaces.unit_lengths(lengths, noise)
    # Numbers far from zero have fewer digits left when their center is taken off: what makes a column constant makes
    # several dependent.
    left = _OF_MANY * float(np.linalg.norm(noise / scale))
    if not (lengths <= noise).any() and spaces.well_conditioned(samples.total_scatter, eps, left):
        return None
    R = samples.factor(scale)
    return spaces.span_of_triangle(R, scale, 4 * samples.n_samples * eps, left)


def _unreduced(samples: Samples) -> UnreducedSpace:
    """The feature space of many sparse features, which are too many to find their span at once."""
    n, d = samples.store.shape
    (squares,) = samples.reduce(_column_squares, samples.labels)
    rows = LinearOperator(
        (n, d),
        matvec=lambda v: samples.project(v.reshape(-1, 1)).ravel(),
        rmatvec=lambda z: samples.combine(z.reshape(-1, 1)).ravel(),
        dtype=float,
    )
    affordable = d <= min(samples.plan.factor_features, n)
    varying = int((squares > 1e-20 * squares.max()).sum())
    return UnreducedSpace(d, min(varying, n - 1), rows, (lambda: samples.gram(np.ones(n))) if affordable else None)


def _squared_norms(block: CenteredBlock) -> tuple[Array]:
    return (block.squares(),)


def _column_squares(block: CenteredBlock, labels: Array) -> Statistic:
    return (block.column_squares(np.ones(len(labels))),)


def block_lengths(
    block: CenteredBlock, labels: Array, squared_norms: Array, *, V: Array, projected: Array
) -> tuple[Array, Array]:
    """`Samples.lengths` of one block, with W and MW in the coordinates of the stored rows."""
    within, captured = block.lengths_there(V, labels, projected) or _lengths(block.times(V), labels, projected)
    # The difference loses at most a rounding error of ‖x‖², far below the smoothing of every loss.
    return within, np.maximum(squared_norms - captured, 0)


def _block_within_lengths(block: CenteredBlock, labels: Array, *, V: Array, projected: Array) -> tuple[Array]:
    """The first of them."""
    known = block.lengths_there(V, labels, projected)
    return (known[0] if known else _within_lengths(block.times(V), labels, projected),)


def _scaled_class_squares(block: CenteredBlock, labels: Array, *, scale: Array, centers: Array) -> tuple[Array]:
    return (block.scaled_class_squares(labels, centers, scale),)


def _lengths(Z: Array, labels: Array, projected: Array) -> tuple[Array, Array]:
    """Squared distances of coordinates, which are overwritten, from those of the class, and from the center."""
    captured = _squared_lengths(Z)
    return _within_lengths(Z, labels, projected), captured


def _within_lengths(Z: Array, labels: Array, projected: Array) -> Array:
    """Squared distances of coordinates, which are overwritten, from those of the class."""
    near = projected.astype(Z.dtype, copy=False)
    Z -= near[labels] if Z.flags.c_contiguous else near.T[:, labels].T
    return _squared_lengths(Z)


def _squared_lengths(Z: Array) -> Array:
    return np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
