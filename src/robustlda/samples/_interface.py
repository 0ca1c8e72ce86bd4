"""What a solver may ask of the data."""

from typing import Any, Protocol

from robustlda.linalg import Array


class Samples(Protocol):
    """Centred samples x_j with a class index and a weight each, in a working space of dimension `dim`.

    W is a dim × m frame, M a matrix of c class centres in the rows, s and w one number per sample. All
    vectors and matrices handed out are in working coordinates; `lift` takes columns back to feature space.
    """

    dim: int
    n_features: int
    n_classes: int
    labels: Array
    weight: Array
    squared_norms: Array

    @property
    def n_samples(self) -> int: ...
    @property
    def rank(self) -> int:
        """Rank of the samples, or the best bound known."""
        ...

    def lengths(self, W: Array, M: Array) -> tuple[Array, Array]:
        """‖Wᵀ(x_j − M_{y_j})‖² and ‖x_j − WWᵀx_j‖² for every sample."""
        ...

    def class_sums(self, w: Array) -> tuple[Array, Array]:
        """Σ w_j and Σ w_j x_j over each class."""
        ...

    @property
    def total_scatter(self) -> Array:
        """Σ ω_j x_j x_jᵀ with the sample weights ω, formed once."""
        ...

    def gram(self, s: Array, *, single: bool = False) -> Array:
        """Σ s_j x_j x_jᵀ; s may have either sign. In `single` precision where that is faster."""
        ...

    def apply(self, s: Array, V: Array) -> Array:
        """(Σ s_j x_j x_jᵀ)V, without forming the matrix."""
        ...

    def project(self, V: Array) -> Array:
        """Coordinates Vᵀx_j of every sample, one row each."""
        ...

    def combine(self, Z: Array) -> Array:
        """Σ_j x_j z_jᵀ: combinations of the samples, one for every column of Z."""
        ...

    def inner_products(self, rows: slice) -> Array:
        """x_iᵀx_j of some samples i with all samples j."""
        ...

    def rows(self, index: Array | slice) -> Array:
        """Some samples themselves, in double or single precision; only graphs, which compare samples, need them."""
        ...

    def shifted_rows(self) -> Any:
        """All samples but for a shift that they share, sparse where they are: enough where only differences count."""
        ...

    def lift(self, V: Array) -> Array:
        """Columns of the working space as columns in feature space."""
        ...

    def lower(self, V: Array) -> Array:
        """Columns in feature space as columns of the working space, what lies outside it being dropped."""
        ...

    def within_span(self, V: Array) -> Array:
        """Columns of the working space without what lies in directions in which no sample varies, if there are any."""
        ...
