"""Estimators as operators: what `predict_proba` and `transform` compute, step by step and in the same letters.

A graph does what the code of `decision` does; it cannot call it. So every dataclass that a rule is made of is listed
here with the fields that the graph knows, and a rule with any other is refused: it would be another rule.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.linalg import cholesky

from robustlda.decision.centroid import CentroidRule, Ellipses
from robustlda.decision.clouds import Clouds, CloudSettings
from robustlda.decision.committee import Committee
from robustlda.decision.likelihood import PROB_FLOOR, MixedPool, Pool
from robustlda.decision.members import CloudMember, LinearMember, LocalMember, Stage, StepMember
from robustlda.decision.ridge import ScoreRule, Similarities
from robustlda.decision.steps import Steps
from robustlda.estimators import DiscriminantProjection
from robustlda.linalg import Array
from robustlda.onnx.graph import Graph

KNOWN: dict[type, set[str]] = {
    CentroidRule: {"axes", "ellipses", "priors"},
    Ellipses: {"centers", "scatter", "unit"},
    Committee: {"axes", "similarities", "stages", "members", "clouds", "priors", "correction"},
    Similarities: {"landmarks", "width"},
    Stage: {"linear", "pool"},
    Pool: {"weights", "offset", "mixing"},
    MixedPool: {"pools", "shares"},
    LinearMember: {"coef", "offset", "limit"},
    LocalMember: {"rule"},
    ScoreRule: {"coef", "offset", "sharpness"},
    StepMember: {"steps", "coef", "offset"},
    Steps: {"feature", "cut"},
    CloudMember: {"clouds", "sharpness"},
    Clouds: {"centers", "precision", "shares", "unit", "settings"},
    CloudSettings: {"flip_rate", "degrees", "shrinkage"},
}
"""What rules are made of, and of each the fields that are in the graph or have no part in predictions."""


def known(part: Any) -> Any:
    """A part of a rule, if the graph knows what it does."""
    kind = type(part)
    if kind not in KNOWN:
        raise TypeError(f"A decision rule with a {kind.__name__} cannot be written as an ONNX graph; use .skops.")
    differing = {field.name for field in fields(kind)} ^ KNOWN[kind]
    if differing:
        raise TypeError(f"The ONNX graph and {kind.__name__} disagree about its field {min(differing)!r}.")
    return part


def projection(graph: Graph, model: DiscriminantProjection, rows: str) -> str:
    """`transform`: coordinates in the projection."""
    W = model.components_.T
    return graph.add("Sub", graph.add("MatMul", rows, _double(W)), _double(model.center_ @ W))


def scores(graph: Graph, model: DiscriminantProjection, rows: str) -> tuple[str, str]:
    """Something that is largest for the predicted class, and the probabilities of the classes."""
    limits, factors, center = model.rule_frame()
    rows = _drawn_in(graph, rows, limits)
    if (factors != 1).any():
        rows = graph.add("Mul", rows, _double(factors))
    rows = graph.add("Sub", rows, _double(center))
    rule = known(model.rule_)
    return _RULES[type(rule)](graph, rule, rows)


def _double(value: Any) -> Array:
    return np.asarray(value, float)


def _drawn_in(graph: Graph, rows: str, limits: Array) -> str:
    """Rows with a feature beyond its limit times a power of two that brings them within."""
    # By logarithms, as a ratio to the limit need not be a number; and in two steps, as the power need not be one.
    beyond = graph.add("Sub", graph.add("Log", graph.add("Abs", rows)), np.log(limits))
    powers = graph.add("Ceil", graph.add("Mul", graph.row_maxima(beyond), 0.5 / np.log(2.0)))
    factor = graph.add("Pow", np.array(2.0), graph.add("Neg", graph.add("Max", powers, np.array(0.0))))
    return graph.add("Mul", graph.add("Mul", rows, factor), factor)


def _softmax(graph: Graph, values: str) -> str:
    return graph.add("Softmax", values, axis=1)


def _centroid(graph: Graph, rule: CentroidRule, rows: str) -> tuple[str, str]:
    slopes, offset = known(rule.ellipses).log_density()
    with np.errstate(divide="ignore"):  # a prior of zero means: never
        offset = offset + np.log(rule.priors)
    Z = graph.add("MatMul", rows, _double(rule.axes.T))
    found = graph.add("Add", graph.add("MatMul", Z, _double(slopes)), _double(offset))
    return found, _softmax(graph, found)


def _committee(graph: Graph, rule: Committee, rows: str) -> tuple[str, str]:
    view = _View(graph, rows, rule)
    common = [_logs(view, member) for member in rule.members]
    stages = [_pooled(view, known(stage), common) for stage in rule.stages]
    p = graph.add("Mul", graph.total(stages), _double(rule.correction))
    p = graph.add("Div", p, graph.row_sums(p))
    return p, p


_RULES: dict[type, Callable[..., tuple[str, str]]] = {CentroidRule: _centroid, Committee: _committee}


class _View:
    """Rows as the members of a committee see them."""

    def __init__(self, graph: Graph, rows: str, rule: Committee) -> None:
        self.graph, self.rows, self.n_classes = graph, rows, len(rule.priors)
        self.n_axes = len(rule.axes)
        self.squares = graph.row_sums(graph.add("Mul", rows, rows))
        self.Z = graph.add("MatMul", rows, _double(rule.axes.T))
        self.similarities = self._similarities(known(rule.similarities))

    def _similarities(self, given: Similarities) -> str:
        """exp(−‖z − l‖² / width)."""
        graph, far = self.graph, np.einsum("ij,ij->i", given.landmarks, given.landmarks)
        squares = graph.row_sums(graph.add("Mul", self.Z, self.Z))
        K = graph.add("Sub", graph.add("MatMul", self.Z, 2 * given.landmarks.T), squares)
        K = graph.add("Div", graph.add("Sub", K, far), np.array(float(given.width)))
        return graph.add("Exp", graph.add("Min", K, np.array(0.0)))


def _logs(view: _View, member: Any) -> str:
    """Logarithms of a member's probabilities, none of which is zero, about their mean over classes."""
    graph = view.graph
    p = _MEMBERS[type(known(member))](view, member)
    p = graph.add("Add", graph.add("Mul", p, np.array(1 - PROB_FLOOR)), np.array(PROB_FLOOR / view.n_classes))
    logs = graph.add("Log", p)
    return graph.add("Sub", logs, graph.row_means(logs))


def _linear(view: _View, member: LinearMember) -> str:
    graph, limit = view.graph, np.array(float(member.limit))
    factors = graph.add("Sqrt", graph.add("Div", limit, graph.add("Max", view.squares, limit)))
    scores = graph.add("Mul", graph.add("MatMul", view.rows, _double(member.coef)), factors)
    return _softmax(graph, graph.add("Add", scores, _double(member.offset)))


def _local(view: _View, member: LocalMember) -> str:
    graph, rule = view.graph, known(member.rule)
    scores = graph.add("Add", graph.add("MatMul", view.similarities, _double(rule.coef)), _double(rule.offset))
    return _softmax(graph, graph.add("Mul", scores, np.array(float(rule.sharpness))))


def _steps(view: _View, member: StepMember) -> str:
    """1 where a feature is above a cut, times what that adds."""
    graph, steps = view.graph, known(member.steps)
    above = graph.add("Greater", graph.add("Gather", view.rows, steps.feature.astype(np.int64), axis=1), steps.cut)
    scores = graph.add("MatMul", graph.as_double(above), _double(member.coef))
    return _softmax(graph, graph.add("Add", scores, _double(member.offset)))


def _cloud(view: _View, member: CloudMember) -> str:
    """Student-t densities times shares; a power of them is a factor of their logarithms."""
    graph, clouds = view.graph, known(member.clouds)
    degrees = float(known(clouds.settings).degrees)
    root = cholesky(clouds.precision, lower=True, check_finite=False)
    M = clouds.centers @ root
    # The unit is a part of the matrix: a number next to a product is rounded to single precision by onnxruntime.
    with np.errstate(over="ignore"):
        roots = root / float(clouds.unit)
    if not np.isfinite(roots).all():
        raise ValueError(f"Numbers of size {clouds.unit:.0e} are too small for an ONNX graph; scale the features.")
    Y = graph.add("MatMul", view.Z, roots)
    lengths = graph.add("Add", graph.row_sums(graph.add("Mul", Y, Y)), np.einsum("ij,ij->i", M, M))
    squared = graph.add("Sub", lengths, graph.add("MatMul", Y, 2 * M.T))
    squared = graph.add("Max", squared, np.array(0.0))
    growth = graph.add("Log", graph.add("Add", graph.add("Div", squared, np.array(degrees)), np.array(1.0)))
    with np.errstate(divide="ignore"):
        shares = member.sharpness * np.log(clouds.shares)
    density = graph.add("Mul", growth, np.array(-0.5 * member.sharpness * (degrees + view.n_axes)))
    return _softmax(graph, graph.add("Add", density, shares))


_MEMBERS: dict[type, Callable[..., str]] = {
    LinearMember: _linear,
    LocalMember: _local,
    StepMember: _steps,
    CloudMember: _cloud,
}


def _pooled(view: _View, stage: Stage, common: list[str]) -> str:
    """What the linear rules of a stage and the members common to all stages say together."""
    logs = [*(_logs(view, rule) for rule in stage.linear), *common]
    pool = known(stage.pool)
    if isinstance(pool, Pool):
        return _by_pool(view, pool, logs)
    graph = view.graph
    # Shares as rows: a single number would be rounded to single precision.
    shares = (np.full(view.n_classes, share) for share in pool.shares)
    found = (_by_pool(view, known(each), logs) for each in pool.pools)
    return graph.total([graph.add("Mul", p, share) for p, share in zip(found, shares, strict=True)])


def _by_pool(view: _View, pool: Pool, logs: list[str]) -> str:
    graph, heard = view.graph, [(float(w), each) for w, each in zip(pool.weights, logs, strict=True) if w > 0]
    weighted = [graph.add("Mul", each, np.array(w)) for w, each in heard]
    scores = graph.add("Add", graph.total(weighted), _double(pool.offset))
    if pool.mixing.any():
        mixed = graph.add("MatMul", graph.total([each for _, each in heard]), pool.mixing / len(heard))
        scores = graph.add("Add", scores, mixed)
    return _softmax(graph, scores)
