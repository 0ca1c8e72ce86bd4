"""The only place that knows how the data are stored.

A solver works on a `Samples`: centred rows of a working space whose dimension is the rank of the data. It may
ask for lengths, class means and scatters, all of which cost one pass over the rows, and never sees a row.
"""

from robustlda.samples._interface import Samples
from robustlda.samples.dense import DenseSamples

__all__ = ["DenseSamples", "Samples"]
