"""`to_onnx`: a fitted model as a graph, alone or with what makes features of a table.

Files tell who wrote them, and models of tables their columns, labels and classes, in the metadata; `reading` asks for
them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from robustlda import __version__
from robustlda.estimators import DiscriminantProjection
from robustlda.linalg import Array
from robustlda.onnx import columns, rules
from robustlda.onnx.graph import DOMAINS, IR_VERSION, Graph, fresh_names, needed, tensor
from robustlda.output import replacing
from robustlda.tables import TablePreparation

FORMAT = "1"
"""Of what the metadata say."""

LABEL, PROBABILITIES, PROJECTION = "label", "probabilities", "projection"
"""Names of the outputs."""


def to_onnx(model: Any, path: Any = None, *, dtype: Any = None, label: str = "") -> Any:
    """A fitted model as an ONNX graph, which runs without Python.

    Estimators of this package become graphs with an input "X" and the outputs "label" and "probabilities", or
    "projection" if they have no decision. A pipeline of `TablePreparation` and such an estimator has an input for each
    column, of numbers in double precision or of texts, with as many rows as there are and one column; NaN stands for a
    missing number, an empty text for a missing text. Dates and free text cannot be taken apart in a graph, so there may
    be no such columns. Other pipelines are converted by skl2onnx.

    Labels are those of `predict`, and probabilities those of `predict_proba`, up to rounding errors; all computations
    are in double precision. A row with a number that is missing or infinite, which `predict` refuses, has probabilities
    that are NaN.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package, or a pipeline that ends with one.
    path : str or path, default=None
        A file to write.
    dtype : {np.float32, np.float64}, default=None
        Type of the input "X" and of the outputs; that of the training data if None. Columns of a table are float64.
    label : str, default=""
        Column of a table that held the labels, for `robustlda predict` to compare with.

    Returns
    -------
    graph : onnx.ModelProto

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import RobustLDA
    >>> from robustlda.onnx import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(RobustLDA().fit(X, y))  # doctest: +SKIP
    >>> [output.name for output in graph.graph.output]  # doctest: +SKIP
    ['label', 'probabilities']
    """
    onnx = needed("onnx")
    check_is_fitted(model)
    if isinstance(model, DiscriminantProjection):
        made = _of_rows(model, dtype)
    elif isinstance(model, Pipeline) and isinstance(model[0], TablePreparation):
        made = _of_tables(model, label)
    else:
        made = _by_skl2onnx(model, dtype)
    onnx.checker.check_model(made)
    if path is not None:
        with replacing(Path(path)) as target:
            target.write_bytes(made.SerializeToString())
    return made


def label_values(classes: Array) -> Array:
    """Classes as labels that a graph can give: whole numbers or texts."""
    values = classes.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array(values, object)
    odd = [value for value in values if not (isinstance(value, int | float) and value % 1 == 0 and abs(value) < 2**63)]
    if odd:
        raise ValueError(
            f"Labels of an ONNX graph are texts, or whole numbers below 2**63, not {odd[0]}; write them as texts."
        )
    return np.array([int(value) for value in values], np.int64)


def answers(graph: Graph, model: DiscriminantProjection, rows: str) -> tuple[str, str]:
    """Label and probabilities."""
    found, probabilities = rules.scores(graph, model, rows)
    best = graph.add("ArgMax", found, axis=1, keepdims=0)
    return graph.add("Gather", label_values(model.classes_), best), probabilities


def _of_rows(model: DiscriminantProjection, dtype: Any) -> Any:
    onnx = needed("onnx")
    kind = onnx.helper.np_dtype_to_tensor_dtype(_floating(dtype, model.center_.dtype))
    graph = Graph(fresh_names(["X", LABEL, PROBABILITIES, PROJECTION]))
    rows = graph.as_double("X")
    if model.decision is None:
        outputs = [_output(PROJECTION, kind, [None, len(model.components_)])]
        graph.finish(graph.add("Cast", rules.projection(graph, model, rows), to=kind), PROJECTION)
    else:
        outputs = _answered(graph, model, rows, kind)
    inputs = [onnx.helper.make_tensor_value_info("X", kind, [None, model.n_features_in_])]
    return _file(graph, inputs, outputs, type(model).__name__, {})


def _of_tables(pipeline: Pipeline, label: str) -> Any:
    onnx = needed("onnx")
    preparation, model = pipeline[0], pipeline[-1]
    if len(pipeline) != 2 or not isinstance(model, DiscriminantProjection) or model.decision is None:
        raise ValueError("A model of tables is a preparation followed by an estimator that predicts, and nothing else.")
    columns.check_columns(preparation)
    recipe = preparation.recipe()
    graph = Graph(fresh_names([*recipe.numbers, *recipe.categories, LABEL, PROBABILITIES]))
    rows = columns.features(graph, recipe)
    double = onnx.TensorProto.DOUBLE
    outputs = _answered(graph, model, rows, double)
    inputs = [onnx.helper.make_tensor_value_info(name, double, [None, 1]) for name in recipe.numbers]
    inputs += [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.STRING, [None, 1]) for name in recipe.categories
    ]
    about = {
        "label": label,
        "classes": json.dumps(model.classes_.tolist()),
        "columns": json.dumps(columns.described(preparation.readings(), recipe)),
    }
    return _file(graph, inputs, outputs, type(model).__name__, about)


def _answered(graph: Graph, model: DiscriminantProjection, rows: str, kind: int) -> list[Any]:
    onnx = needed("onnx")
    label, probabilities = answers(graph, model, rows)
    graph.finish(label, LABEL)
    graph.finish(graph.add("Cast", probabilities, to=kind), PROBABILITIES)
    texts = label_values(model.classes_).dtype == object
    label_kind = onnx.TensorProto.STRING if texts else onnx.TensorProto.INT64
    return [_output(LABEL, label_kind, [None]), _output(PROBABILITIES, kind, [None, len(model.classes_)])]


def _output(name: str, kind: int, shape: list[int | None]) -> Any:
    return needed("onnx").helper.make_tensor_value_info(name, kind, shape)


def _file(graph: Graph, inputs: list[Any], outputs: list[Any], name: str, about: dict[str, str]) -> Any:
    helper = needed("onnx").helper
    nodes = [
        helper.make_node(node.kind, node.inputs, [node.output], domain=node.domain, **node.attributes)
        for node in graph.nodes
    ]
    constants = [tensor(name, value) for name, value in graph.constants.items()]
    made = helper.make_model(
        helper.make_graph(nodes, name, inputs, outputs, constants),
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in DOMAINS.items()],
        ir_version=IR_VERSION,
        producer_name="robustlda",
        producer_version=__version__,
    )
    helper.set_model_props(made, {"robustlda_format": FORMAT, **about})
    return made


def _floating(dtype: Any, otherwise: Any) -> Any:
    found = np.dtype(otherwise if dtype is None else dtype)
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} must be float32 or float64.")
    return found


def _by_skl2onnx(model: Any, dtype: Any) -> Any:
    from robustlda.onnx.registration import register

    if not hasattr(model, "n_features_in_"):
        raise TypeError(
            f"{type(model).__name__} is written as no ONNX graph; estimators and pipelines are, such as the estimator_ "
            "of an audit."
        )
    register()
    skl2onnx = needed("skl2onnx")
    rows = np.zeros((1, model.n_features_in_), _floating(dtype, np.float64))
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    return skl2onnx.to_onnx(model, rows, options=options)
