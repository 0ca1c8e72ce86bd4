"""The estimators in skl2onnx: what it calls to find the outputs of an operator, their shapes, and the nodes."""

from typing import Any

from robustlda.estimators.laplacian import DLE, SupervisedLPP
from robustlda.estimators.margin import MMC
from robustlda.estimators.ratio import RatioLDA
from robustlda.estimators.robust import RobustLDA
from robustlda.estimators.trace_ratio import TraceRatioLDA
from robustlda.onnx import rules
from robustlda.onnx.graph import DOMAINS, OPSET, Graph, needed, tensor
from robustlda.onnx.models import answers, label_values

ESTIMATORS = (RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE)

_OPTIONS = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [False]}


def register() -> None:
    """Teach skl2onnx to convert the estimators of this package, alone or in pipelines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from robustlda import RobustLDA
    >>> from robustlda.onnx import register
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), RobustLDA()).fit(X, y)
    >>> register()  # doctest: +SKIP
    >>> graph = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})  # doctest: +SKIP
    """
    skl2onnx = needed("skl2onnx")
    for kind in ESTIMATORS:
        skl2onnx.update_registered_converter(
            kind, f"Robustlda{kind.__name__}", _shapes, _convert, parser=_parse, options=_OPTIONS
        )


def _parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Outputs: those of a classifier, or the projection where nothing is decided."""
    if model.decision is not None:
        from skl2onnx._parse import _parse_sklearn_classifier  # what it takes for every classifier with a zipmap

        return _parse_sklearn_classifier(scope, model, inputs, custom_parsers)
    operator = scope.declare_local_operator(f"Robustlda{type(model).__name__}", model)
    operator.inputs = inputs
    kind = needed("skl2onnx.common.data_types").guess_tensor_type(inputs[0].type)
    operator.outputs.append(scope.declare_local_variable("variable", kind))
    return operator.outputs


def _shapes(operator: Any) -> None:
    types = needed("skl2onnx.common.data_types")
    model, n = operator.raw_operator, operator.inputs[0].get_first_dimension()
    kind = type(types.guess_tensor_type(operator.inputs[0].type))
    if model.decision is None:
        operator.outputs[0].set_type(kind([n, len(model.components_)]))
        return
    labels = label_values(model.classes_)
    operator.outputs[0].set_type((types.StringTensorType if labels.dtype == object else types.Int64TensorType)([n]))
    # A dictionary of each row's probabilities (zipmap) can hold single precision only.
    dictionaries = operator.scope_inst.get_options(model, {"zipmap": True})["zipmap"] is True
    operator.outputs[1].set_type((types.FloatTensorType if dictionaries else kind)([n, len(labels)]))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    if container.target_opset < OPSET:
        raise ValueError(
            f"target_opset={container.target_opset} is too old for {type(operator.raw_operator).__name__}; "
            f"use {OPSET} or later."
        )
    model, graph = operator.raw_operator, Graph(scope.get_unique_variable_name)
    rows = graph.as_double(operator.inputs[0].full_name)
    if model.decision is None:
        found = [rules.projection(graph, model, rows)]
    else:
        label, probabilities = answers(graph, model, rows)
        graph.finish(label, operator.outputs[0].full_name)
        found = [probabilities]
    last = operator.outputs[-1]
    graph.finish(graph.add("Cast", found[0], to=_element_type(last)), last.full_name)
    for name, value in graph.constants.items():
        container.initializers.append(tensor(name, value))
    for node in graph.nodes:
        container.add_node(
            node.kind,
            list(node.inputs),
            [node.output],
            op_domain=node.domain,
            op_version=DOMAINS[node.domain],
            name=scope.get_unique_operator_name(node.kind),
            **node.attributes,
        )


def _element_type(variable: Any) -> int:
    types, kinds = needed("skl2onnx.common.data_types"), needed("onnx").TensorProto
    return kinds.DOUBLE if isinstance(variable.type, types.DoubleTensorType) else kinds.FLOAT
