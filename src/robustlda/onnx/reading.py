"""Models of tables read back from ONNX files, by anybody's hand, and asked.

A graph is data for onnxruntime: it holds no Python. What it can do is limited further: only the operators that `graph`
writes are run, on tensors whose widths are known beforehand, and nothing outside of the file is opened.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from robustlda.linalg import Array
from robustlda.onnx.graph import DOMAINS, OPERATORS, needed
from robustlda.onnx.models import FORMAT, PROBABILITIES
from robustlda.tables import columns as kinds
from robustlda.tables import known
from robustlda.tables.columns import Reading
from robustlda.tables.frames import as_arrow

_ROWS = 4096  # that are asked about together
_WIDEST = 1 << 20  # numbers that may be made of a row at any step
_SILENT = 4  # errors come as exceptions, not as lines on a terminal


class GraphModel:
    """A model that makes predictions for tables: columns are found by their names."""

    def __init__(self, path: Path, largest: int) -> None:
        model = _checked(path, largest)
        about = {entry.key: entry.value for entry in model.metadata_props}
        self.label = about["label"]
        self.classes_ = np.array(json.loads(about["classes"]))
        columns = json.loads(about["columns"])
        self._readings = {name: _reading(**told) for name, told in columns.items()}
        self._words = {name: columns[name]["words"] for name, each in self._readings.items() if each.kind == "category"}
        self._path, self._session = path, _session(model)
        expected = {name: "double" if name not in self._words else "string" for name in columns}
        given = {each.name: each.type.removeprefix("tensor(").rstrip(")") for each in self._session.get_inputs()}
        outputs = {each.name for each in self._session.get_outputs()}
        if expected != given or PROBABILITIES not in outputs:
            raise ValueError("inputs and columns differ, or there are no probabilities")
        if not all(isinstance(each, str | int | float) for each in self.classes_.tolist()):
            raise ValueError("classes are no labels")

    @property
    def columns(self) -> list[str]:
        """The columns that it looks at."""
        return list(self._readings)

    def predict_proba(self, X: Any) -> Array:
        """Probability of every class, in the order of `classes_`."""
        table = as_arrow(X)
        known.check_columns(table, self._readings)
        found = [self._asked(part) for part in _parts(table)]
        return np.concatenate(found) if found else np.empty((0, len(self.classes_)))

    def unseen(self, X: Any) -> dict[str, list[str]]:
        """Values of a table of which the model knows nothing, by column."""
        return known.unseen_words(as_arrow(X), self._words, self._readings)

    def told(self, X: Any) -> list[str]:
        """What has to be said of how a table is read."""
        return known.told(as_arrow(X), self._readings)

    def _asked(self, table: pa.Table) -> Array:
        feeds = {name: self._input(name, table[name], reading) for name, reading in self._readings.items()}
        try:
            (P,) = self._session.run([PROBABILITIES], feeds)
        except Exception as error:  # onnxruntime has exceptions of its own
            raise ValueError(f"{self._path} could not be run ({type(error).__name__}).") from None
        if not isinstance(P, np.ndarray) or P.shape != (table.num_rows, len(self.classes_)) or P.dtype.kind != "f":
            raise ValueError(f"{self._path} gives no probabilities of its classes.")
        return P

    def _input(self, name: str, column: Any, reading: Reading) -> Array:
        if reading.kind == "category":
            return known.words(column, self._words[name])[:, None]
        return kinds.numbers(column, reading)[:, None]


def _reading(kind: str, unit: str = "", decimal: str = "", words: list[str] | None = None) -> Reading:
    """What the metadata tell of a column, if that can be."""
    texts = [unit, decimal, *([] if words is None else words)]
    if kind != ("number" if words is None else "category") or not all(isinstance(text, str) for text in texts):
        raise ValueError("a column that none of ours could be")
    return Reading(kind, unit=unit, decimal=decimal)


def _parts(table: pa.Table) -> Iterator[pa.Table]:
    for first in range(0, table.num_rows, _ROWS):
        yield table.slice(first, _ROWS)


def read(path: Path, largest: int) -> GraphModel:
    """The model in a file of at most so many bytes, refused in one sentence if it is not one of ours."""
    for name in ("onnx", "onnxruntime"):
        needed(name)
    try:
        return GraphModel(path, largest)
    except _Refused:
        raise
    except Exception as error:  # a damaged or hostile file may raise anything
        raise ValueError(f"{path} is not a model that robustlda fit has written ({type(error).__name__}).") from None


class _Refused(ValueError):
    """A file that is refused for a reason that can be told."""


def _checked(path: Path, largest: int) -> Any:
    """A graph that does nothing but compute."""
    onnx = needed("onnx")
    size = path.stat().st_size
    if size > largest:
        raise _Refused(f"{path} has {size / 1e9:.1f} GB; a model file has {largest / 1e9:.1f} GB at most.")
    model = onnx.load_model_from_string(path.read_bytes())
    written = [entry.value for entry in model.metadata_props if entry.key == "robustlda_format"]
    if written != [FORMAT]:
        raise _Refused(f"{path} is not a model that robustlda has written, or one of another version wrote it.")
    if not any(entry.key == "columns" for entry in model.metadata_props):
        raise _Refused(f"{path} is a model of arrays; robustlda predict takes models of tables, from robustlda fit.")
    strange = _strange(model)
    if strange:
        raise _Refused(f"{path} holds {strange}, which no model of robustlda has.")
    onnx.checker.check_model(model)
    widest = _widest(onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True))
    if widest > _WIDEST:
        raise _Refused(f"{path} makes {widest:,} numbers of a row; a model of robustlda makes {_WIDEST:,} at most.")
    return model


def _strange(model: Any) -> str:
    """What is in a graph beyond known operators on constants of its own; empty if there is nothing."""
    onnx, graph = needed("onnx"), model.graph
    if len(model.functions) or len(graph.sparse_initializer) or len(model.training_info):
        return "more than a graph"
    for domain in model.opset_import:
        if DOMAINS.get(domain.domain) != domain.version:
            return f"operators of {domain.domain or 'opset'} {domain.version}"
    tensors = list(graph.initializer)
    for node in graph.node:
        if node.op_type not in OPERATORS or node.domain not in DOMAINS:
            return f"the operator {node.op_type}"
        if any(attribute.HasField("g") or len(attribute.graphs) for attribute in node.attribute):
            return "a graph within a graph"
        tensors += [attribute.t for attribute in node.attribute if attribute.HasField("t")]
    if any(each.data_location == onnx.TensorProto.EXTERNAL or len(each.external_data) for each in tensors):
        return "a reference to another file"
    return ""


def _widest(model: Any) -> int:
    """The most numbers of a row in any tensor; those of constants are in the file."""
    values = {each.name: each for each in [*model.graph.value_info, *model.graph.output, *model.graph.input]}
    widest = 0
    for node in model.graph.node:
        for name in node.output:
            shape = values[name].type.tensor_type.shape  # a KeyError is a shape that nobody knows
            sizes = [dimension.dim_value or 1 for dimension in shape.dim]
            unknown = sum(not dimension.dim_value for dimension in shape.dim)
            if unknown > 1:
                raise ValueError(f"the shape of {name} is not known")
            widest = max(widest, int(np.prod(sizes, dtype=object)))
    return widest


def _session(model: Any) -> Any:
    onnxruntime = needed("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SILENT
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
