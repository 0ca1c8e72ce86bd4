"""The owner of the rows: where they are, what they are measured from, and the space they span.

A `Store` hands out blocks of rows, wherever they are; `Samples` is a store with labels, weights, a center and a working
space. Everything above asks for statistics and never for a row.
"""

from robustlda.data.chunked import Blocks
from robustlda.data.parquet import ParquetTable
from robustlda.data.samples import Samples, as_samples
from robustlda.data.store import Block, Store, as_store
from robustlda.data.weights import Weights

__all__ = ["Block", "Blocks", "ParquetTable", "Samples", "Store", "Weights", "as_samples", "as_store"]
