"""What each sample counts, and for what."""

from dataclasses import dataclass

import numpy as np

from robustlda.linalg import Array


@dataclass(frozen=True)
class Weights:
    """What each sample counts.

    `given` is the weight the user gave it, `one` what a single copy weighs where that stands for several, and `trust` a
    factor for what it may contribute to a projection. A sample far from its class has little trust; its label counts
    as much as any other.
    """

    given: Array
    trust: Array
    one: Array

    @classmethod
    def of(cls, given: Array, trust: Array | float = 1.0) -> "Weights":
        """Whole numbers count copies; other weights say how much a single sample matters."""
        counts = bool((given == np.rint(given)).all())
        return cls(given, trust * np.ones(len(given)), np.minimum(given, 1) if counts else given)

    @property
    def trusted(self) -> Array:
        return self.given * self.trust

    @property
    def one_trusted(self) -> Array:
        return self.one * self.trust
