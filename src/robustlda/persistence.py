"""Model files: a preparation and a model in one file that can be loaded without running anything in it.

The format is that of skops: a zip archive of arrays and of a description of objects. Only objects of the types listed
here are made of it, so a file from somebody else can hold numbers and names, but no code. Pickles are never read.

A file whose name ends in .onnx is a graph that runs without Python (`robustlda.onnx`).
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from robustlda import __version__
from robustlda.output import replacing

TRUSTED = (
    "numpy.dtype",
    "robustlda.decision.centroid.CentroidRule",
    "robustlda.decision.centroid.Ellipses",
    "robustlda.decision.clouds.CloudSettings",
    "robustlda.decision.clouds.Clouds",
    "robustlda.decision.committee.Committee",
    "robustlda.decision.likelihood.MixedPool",
    "robustlda.decision.likelihood.Pool",
    "robustlda.decision.members.CloudMember",
    "robustlda.decision.members.LinearMember",
    "robustlda.decision.members.LocalMember",
    "robustlda.decision.members.Stage",
    "robustlda.decision.members.StepMember",
    "robustlda.decision.ridge.ScoreRule",
    "robustlda.decision.ridge.Similarities",
    "robustlda.decision.steps.Steps",
    "robustlda.estimators.laplacian.DLE",
    "robustlda.estimators.laplacian.SupervisedLPP",
    "robustlda.estimators.margin.MMC",
    "robustlda.estimators.ratio.RatioLDA",
    "robustlda.estimators.robust.RobustLDA",
    "robustlda.estimators.trace_ratio.TraceRatioLDA",
    "robustlda.tables.columns.Reading",
    "robustlda.tables.labeled.ColumnUse",
    "robustlda.tables.labeled.Finding",
    "robustlda.tables.preparation.TablePreparation",
    "robustlda.tables.preparation._named",
)
"""The types that a model file may hold, besides scikit-learn's own and plain numbers, texts and containers."""

LARGEST = 1 << 30
"""Bytes that a model file may unpack to."""

_FORMAT = 1


@dataclass(frozen=True)
class TableModel:
    """A model of tables from a file: probabilities of `classes`, and categories that it has not seen, by column.

    `columns` are those that it looks at, and `told` is what has to be said of how it reads a table.
    """

    label: str
    columns: list[str]
    classes: Any
    probabilities: Callable[[Any], Any]
    unseen: Callable[[Any], dict[str, list[str]]]
    told: Callable[[Any], list[str]]


_PICKLES = (".pkl", ".pickle", ".joblib")


def is_graph(path: Path) -> bool:
    """Whether a file of that name holds an ONNX graph."""
    return path.suffix.lower() == ".onnx"


def check_writable(path: Path, preparation: Any = None) -> None:
    """Refuse a kind of file that cannot be written, or cannot hold what makes features; raised before any work."""
    if path.suffix.lower() in _PICKLES:
        raise ValueError(f"{path}: a model is not written as a pickle, which runs code when read; name it .skops.")
    if is_graph(path):
        from robustlda.onnx.columns import check_columns
        from robustlda.onnx.graph import needed

        needed("onnx")
        if preparation is not None:
            check_columns(preparation)


def save(path: str | Path, pipeline: Any, *, label: str) -> None:
    """Write a fitted pipeline of a preparation and a model to a file, as `robustlda fit` does.

    Parameters
    ----------
    path : str or path
        The file: model.skops, or model.onnx for a graph that runs without Python. One that is there is replaced.
    pipeline : Pipeline
        A fitted pipeline of `TablePreparation` and an estimator of this package.
    label : str
        The column that held the labels, for `robustlda predict` to compare with.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from robustlda import RobustLDA, persistence
    >>> from robustlda.tables import TablePreparation
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(TablePreparation(), RobustLDA()).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     persistence.save(f"{folder}/iris.skops", model, label="target")
    ...     read = persistence.load(f"{folder}/iris.skops")
    >>> read["label"], bool((read["pipeline"].predict(X) == model.predict(X)).all())
    ('target', True)
    """
    path = Path(path)
    check_writable(path)
    if is_graph(path):
        from robustlda.onnx import to_onnx

        to_onnx(pipeline, path, label=label)
        return
    import skops.io

    content = {"format": _FORMAT, "robustlda": __version__, "label": label, "pipeline": pipeline}
    with replacing(path) as target:
        skops.io.dump(content, target)


def open_model(path: Path) -> TableModel:
    """A model of either kind, to ask about tables."""
    if not is_graph(path):
        from robustlda.tables.known import told

        pipeline, label = _table_pipeline(path)
        with _reading(path):  # a model may be of our type and hold nothing
            preparation = pipeline[0]
            columns, say = preparation.columns_in_use(), partial(told, readings=preparation.readings())
            return TableModel(label, columns, pipeline.classes_, pipeline.predict_proba, preparation.unseen, say)
    from robustlda.onnx import reading

    _check_there(path)
    graph = reading.read(path, LARGEST)
    return TableModel(graph.label, graph.columns, graph.classes_, graph.predict_proba, graph.unseen, graph.told)


def _table_pipeline(path: Path) -> tuple[Any, str]:
    """The pipeline of a model file, which must be one of ours, and the name of the label column."""
    from sklearn.pipeline import Pipeline

    from robustlda.tables.preparation import TablePreparation

    content = load(path)
    pipeline, label = content["pipeline"], content.get("label")
    ours = isinstance(pipeline, Pipeline) and isinstance(label, str) and len(pipeline.steps) == 2
    if not (ours and isinstance(pipeline[0], TablePreparation) and _is_ours(pipeline[1])):
        raise ValueError(f"{_no_model(path)}.")
    return pipeline, str(label)


def _is_ours(model: Any) -> bool:
    return type(model).__module__.startswith("robustlda.estimators.")


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise ValueError(f"There is no model file {path}.")


def load(path: str | Path) -> dict[str, Any]:
    """What a skops file holds; nothing in it is run.

    Parameters
    ----------
    path : str or path
        A file that `save` or `robustlda fit` has written.

    Returns
    -------
    content : dict
        Its "pipeline", the column "label" that held the labels, and the version of "robustlda" that wrote it.

    Examples
    --------
    See `save`.

    >>> from robustlda import persistence
    >>> persistence.load("nowhere.skops")
    Traceback (most recent call last):
    ValueError: There is no model file nowhere.skops.
    """
    import skops.io

    path = Path(path)
    _check_there(path)
    with _reading(path), zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > LARGEST:
        raise ValueError(f"{path} unpacks to {size / 1e9:.1f} GB; a model file has {LARGEST / 1e9:.1f} GB at most.")
    with _reading(path):
        strange = [name for name in skops.io.get_untrusted_types(file=path) if name not in TRUSTED]
    if strange:
        raise ValueError(f"{path} holds objects of type {strange[0]}, which no model of robustlda has.")
    with _reading(path):
        content = skops.io.load(path, trusted=list(TRUSTED))
    if not (isinstance(content, dict) and content.get("format") == _FORMAT and "pipeline" in content):
        raise ValueError(f"{_no_model(path)}, or one of another version wrote it.")
    return content


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a damaged or hostile file may raise anything
        raise ValueError(f"{_no_model(path)} ({type(error).__name__}).") from None


def _no_model(path: Path) -> str:
    return f"{path} is not a model that robustlda fit has written"
