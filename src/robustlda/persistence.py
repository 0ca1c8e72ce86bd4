"""Model files: a preparation and a model in one file that can be loaded without running anything in it.

The format is that of skops: a zip archive of arrays and of a description of objects. Only objects of the types listed
here are made of it, so a file from somebody else can hold numbers and names, but no code. Pickles are never read.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
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
    "robustlda.decision.committee.CloudMember",
    "robustlda.decision.committee.Committee",
    "robustlda.decision.committee.LinearMember",
    "robustlda.decision.committee.LocalMember",
    "robustlda.decision.committee.Stage",
    "robustlda.decision.label_noise.Pool",
    "robustlda.decision.ridge.ScoreRule",
    "robustlda.decision.ridge.Similarities",
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


def save(path: Path, pipeline: Any, *, label: str) -> None:
    """Write a fitted pipeline of a preparation and a model."""
    import skops.io

    content = {"format": _FORMAT, "robustlda": __version__, "label": label, "pipeline": pipeline}
    with replacing(path) as target:
        skops.io.dump(content, target)


def load(path: Path) -> dict[str, Any]:
    """The `pipeline` of a model file, and the name of the `label` column it was made with."""
    import skops.io

    if not path.is_file():
        raise ValueError(f"There is no model file {path}.")
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
