"""`TablePreparation` as operators: an input for each column, features out.

Numbers are centered, scaled, raised to powers and filled in, gaps become features, and a word becomes its row of a
small table. A graph cannot take words apart, so dates and free text are refused, numbers in words ("3,750 g") are given
as numbers, and texts have no spaces around them; `robustlda predict` sees to both.
"""

from typing import Any

import numpy as np

from robustlda.onnx.graph import ML, Graph
from robustlda.tables import TablePreparation
from robustlda.tables.columns import MISSING, Reading
from robustlda.tables.powers import FARTHEST
from robustlda.tables.preparation import Recipe

_SHOWN = 5  # columns that are named


def check_columns(preparation: TablePreparation) -> None:
    """Refuse columns that a graph can make no features of."""
    readings = preparation.readings().items()
    refused = [f"{name!r} ({reading.kind})" for name, reading in readings if reading.kind not in ("number", "category")]
    if refused:
        shown = ", ".join(refused[:_SHOWN]) + (", …" if len(refused) > _SHOWN else "")
        raise ValueError(
            f"An ONNX file takes numbers and categories, not {shown}: name the other columns with --features (columns= "
            "in Python), or write a .skops file, which takes all columns."
        )


def features(graph: Graph, recipe: Recipe) -> str:
    """Features, in the order of the preparation."""
    parts = []
    if recipe.numbers:
        V = graph.add("Concat", *recipe.numbers, axis=1)
        missing = graph.add("Or", graph.add("IsNaN", V), graph.add("IsInf", V))
        scaled = graph.add("Div", graph.add("Sub", V, recipe.center), recipe.scale)
        spread = graph.add("Div", _raised(graph, scaled, recipe.power), recipe.spread)
        parts.append(graph.add("Where", missing, recipe.filling, spread))
        if len(recipe.gaps):
            parts.append(graph.as_double(graph.add("Gather", missing, recipe.gaps.astype(np.int64), axis=1)))
    parts += [_looked_up(graph, name, words, rows) for name, (words, rows) in recipe.categories.items()]
    return graph.add("Concat", *parts, axis=1)


def _raised(graph: Graph, z: str, powers: Any) -> str:
    """Numbers raised to their powers, as `tables.powers` does."""
    z = graph.add("Max", graph.add("Min", z, np.array(FARTHEST)), np.array(-FARTHEST))
    if (powers == 1).all():
        return z
    sign = graph.add("Sign", z)
    exponent = graph.add("Add", graph.add("Mul", sign, powers - 1), np.ones(1))
    logs = graph.add("Log", graph.add("Add", graph.add("Abs", z), np.ones(1)))
    grown = graph.add("Sub", graph.add("Exp", graph.add("Mul", exponent, logs)), np.ones(1))
    return graph.add("Mul", sign, graph.add("Div", grown, exponent))


def _looked_up(graph: Graph, name: str, words: tuple[str, ...], rows: Any) -> str:
    """The features of each word; of a word that is not known, zeros."""
    places = {word: place for place, word in enumerate(words)}
    if MISSING in places:
        places.setdefault("", places[MISSING])
    code = graph.add(
        "LabelEncoder",
        name,
        domain=ML,
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=len(words),
    )
    found = graph.add("Gather", np.vstack([rows, np.zeros((1, rows.shape[1]))]), code)
    return graph.add("Squeeze", found, np.array([1]))


def described(readings: dict[str, Reading], recipe: Recipe) -> dict[str, dict[str, Any]]:
    """What has to be known of each input to make it of a column: how numbers are read, and which words are known."""
    told: dict[str, dict[str, Any]] = {}
    for name in recipe.numbers:
        told[name] = {"kind": "number", "unit": readings[name].unit, "decimal": readings[name].decimal}
    for name, (words, _) in recipe.categories.items():
        told[name] = {"kind": "category", "words": list(words)}
    return told
