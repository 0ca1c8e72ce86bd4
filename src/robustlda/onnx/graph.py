"""A graph while it is written: operators in the order of their computation, and constants.

Only operators are used whose meaning has not changed since opset 18, so that the nodes can stand in a graph of any
later one. Everything is computed in double precision, whatever that of the rows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np

from robustlda.linalg import Array

OPSET = 18
"""Of the standard operators; onnxruntime knows it since 1.14."""

ML, ML_OPSET = "ai.onnx.ml", 3
"""The domain of operators for classical machine learning, and its opset."""

IR_VERSION = 8
"""Of files; the oldest that goes with the opset."""

DOMAINS = {"": OPSET, ML: ML_OPSET}

# fmt: off
OPERATORS = frozenset({
    "Abs", "Add", "ArgMax", "Cast", "Ceil", "Concat", "Div", "Exp", "Gather", "Greater", "Identity", "IsInf", "IsNaN",
    "LabelEncoder", "Log", "MatMul", "Max", "Min", "Mul", "Neg", "Or", "Pow", "ReduceMax", "ReduceMean", "ReduceSum",
    "Sign", "Softmax", "Sqrt", "Squeeze", "Sub", "Where",
})
# fmt: on
"""All that is ever written, and all that is run when it is read: none reads a file, repeats itself or grows by much."""


def needed(name: str) -> Any:
    """A package that comes with the extra `onnx`."""
    try:
        return import_module(name)
    except ImportError:
        raise ValueError(f"ONNX models need the package {name}: pip install 'robustlda[onnx]'.") from None


@dataclass(frozen=True)
class Node:
    """An operator, the names of what it takes, and the name of what it gives."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    domain: str
    attributes: dict[str, Any]


class Graph:
    """Operators and constants. `unique` makes names that nobody else has."""

    def __init__(self, unique: Callable[[str], str]) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, Array] = {}
        self._unique = unique

    def constant(self, value: Any) -> str:
        """The name of a constant."""
        name = self._unique("constant")
        self.constants[name] = np.asarray(value)
        return name

    def add(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """The name of what an operator makes of its inputs: names, or values of which constants are made."""
        assert kind in OPERATORS, kind
        names = tuple(given if isinstance(given, str) else self.constant(given) for given in inputs)
        output = self._unique(kind.lower())
        self.nodes.append(Node(kind, names, output, domain, attributes))
        return output

    def finish(self, value: str, name: str) -> None:
        """Give a value the name of an output."""
        self.nodes.append(Node("Identity", (value,), name, "", {}))

    def as_double(self, value: str) -> str:
        return self.add("Cast", value, to=needed("onnx").TensorProto.DOUBLE)

    def row_sums(self, value: str) -> str:
        return self.add("ReduceSum", value, np.array([1]), keepdims=1)

    def row_maxima(self, value: str) -> str:
        return self.add("ReduceMax", value, np.array([1]), keepdims=1)

    def row_means(self, value: str) -> str:
        return self.add("ReduceMean", value, np.array([1]), keepdims=1)

    def total(self, values: Iterable[str]) -> str:
        """Their sum."""
        first, *rest = values
        for value in rest:
            first = self.add("Add", first, value)
        return first


def fresh_names(taken: Iterable[str]) -> Callable[[str], str]:
    """A maker of names that differ from those taken and from each other."""
    taken, numbers = set(taken), count(1)

    def unique(hint: str) -> str:
        name = next(name for number in numbers if (name := f"{hint}_{number}") not in taken)
        taken.add(name)
        return name

    return unique


def tensor(name: str, value: Array) -> Any:
    """A constant as it stands in a file."""
    onnx = needed("onnx")
    if value.dtype.kind in "OU":
        words = [str(word).encode() for word in value.ravel()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, value.shape, words)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(value), name)
