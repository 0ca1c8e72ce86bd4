"""What each sample counts, and for what."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Weights:
    """What each sample counts.

    `given` is the weight the user gave it, `one` what a single copy weighs where that stands for several, and `trust` a
    factor for what it may contribute to a projection. A sample far from its class has little trust; its label counts
    as much as any other.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.data import Weights
    >>> weights = Weights.of(np.array([1.0, 2.0]), trust=np.array([1.0, 0.5]))
    >>> weights.trusted.tolist(), weights.one.tolist()
    ([1.0, 1.0], [1.0, 1.0])
    """

    given: Any
    trust: Any
    one: Any

    @classmethod
    def of(cls, given: Any, trust: Any = 1.0) -> "Weights":
        """Whole numbers count copies; other weights, whose mean is 1, say how much a single sample matters."""
        counts = bool((given == np.rint(given)).all())
        return cls(given, trust + 0.0 * given, np.minimum(given, 1) if counts else given)

    @property
    def trusted(self) -> Any:
        return self.given * self.trust

    @property
    def one_trusted(self) -> Any:
        return self.one * self.trust

    def take(self, index: Any) -> "Weights":
        """Those of some samples."""
        return Weights(self.given[index], self.trust[index], self.one[index])
