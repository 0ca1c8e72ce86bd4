"""`robustlda fit` and `robustlda predict`: a model file from a table, and predictions for another."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda.cli import options, parts, tables
from robustlda.cli.options import Columns, Layout, Workers

if TYPE_CHECKING:
    import pyarrow as pa

    from robustlda.persistence import TableModel

_SHOWN = 5  # new categories that are named


def _file(help: str) -> Any:
    return click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help=help)


@click.command()
@click.argument("table")
@options.columns
@options.layout
@options.verified("CSV with columns id and verified: the right labels of rows that a person has checked.")
@options.workers
@click.option("--quiet", is_flag=True, help="Print nothing but failures.")
@options.force
@_file("The model file: model.skops, or model.onnx to be run without Python.")
def fit(
    table: str,
    columns: Columns,
    layout: Layout,
    verified: Path | None,
    by: Workers,
    quiet: bool,
    force: bool,
    out: Path,
) -> None:
    """Fit a classifier that tolerates wrong labels to TABLE, and write it to a file.

    The file holds everything that makes features of columns, and the model; it can be loaded without running code, by
    `robustlda predict`. An .onnx file can be run by any program that runs ONNX models; it takes numbers and categories
    by the names of their columns, but no dates and no free text. TABLE is read as by `robustlda audit`.
    """
    from sklearn.pipeline import make_pipeline

    from robustlda import persistence
    from robustlda.cli.screen import Screen
    from robustlda.estimators.robust import RobustLDA
    from robustlda.output import new_files, printable, results_folder

    new_files([out], force=force)
    click.get_current_context().with_resource(results_folder(out.parent))
    persistence.check_writable(out)
    screen = Screen(quiet=quiet)
    if parts.is_in_parts(table, by.asked):
        options.alone_in(by.checkpoint)
        with parts.cluster(by):
            preparation, model, notes = parts.fit(
                table, columns, verified, by.checkpoint, screen, partial(persistence.check_writable, out)
            )
        label = columns.label or ""
    else:
        raw = tables.read(table, layout)
        data = tables.understood(raw, columns)
        preparation, notes, label = data.preparation, tables.told(data), data.label
        persistence.check_writable(out, preparation)
        checked = None if verified is None else tables.checked_rows(tables.verified(verified, data), data)
        with screen.working(f"fitting {len(data.y):,} rows …"):
            model = RobustLDA().fit(data.X, data.y, verified=checked)
    persistence.save(out, make_pipeline(preparation, model), label=label)
    for note in notes:
        screen.print(printable(note))
    screen.print(
        f"{len(model.classes_)} classes, {model.n_features_in_} features from "
        f"{len(preparation.columns_in_use())} columns; about {model.noise_rate_:.1%} of the labels are wrong."
    )
    screen.print(printable(f"Wrote {out}."))


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table")
@options.layout
@click.option("--id", "id_", help="Column that identifies the rows in the results; row numbers by default.")
@click.option("--probabilities", is_flag=True, help="Also the probability of every class.")
@click.option("--quiet", is_flag=True, help="Print nothing but failures.")
@options.force
@_file("Where predictions go: a .csv or a .parquet file.")
def predict(
    model: Path,
    table: str,
    layout: Layout,
    id_: str | None,
    probabilities: bool,
    quiet: bool,
    force: bool,
    out: Path,
) -> None:
    """Predict the classes of the rows of TABLE with a MODEL that `robustlda fit` has written.

    The results have the row's id, the predicted class and its probability. Columns are found by their names. Parquet
    files are read, and predictions written, some rows at a time.
    """
    from robustlda import persistence
    from robustlda.cli.screen import Screen
    from robustlda.output import new_files, printable, results_folder
    from robustlda.report.audit_files import TableWriter

    new_files([out], force=force)
    click.get_current_context().with_resource(results_folder(out.parent))
    screen = Screen(quiet=quiet)
    asked = persistence.open_model(model)
    counts = _Counts()
    with screen.working("predicting …"), TableWriter(out) as writer:
        for piece in _pieces(table, layout):
            if id_ is not None and id_ not in piece.column_names:
                raise ValueError(f"There is no column {id_!r}; the columns are {', '.join(piece.column_names[:12])}.")
            with _blamed_on(model):
                found = _predicted(asked, piece, id_, counts.rows, probabilities)
                counts.add(asked, piece, found)
            writer.write(found)
        if not counts.rows:
            raise ValueError(f"{table} has no rows; there is nothing to predict.")
    for line in counts.sentences(asked.label):
        screen.print(printable(line))
    screen.print(printable(f"Wrote {counts.rows:,} predictions to {out}."))


@contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Errors that only a model can cause whose parts do not belong together, or whose texts hold no characters."""
    broken = (AttributeError, LookupError, ArithmeticError, TypeError, RecursionError, SystemError, RuntimeWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            yield
    except broken as error:
        raise ValueError(f"{path} is damaged ({type(error).__name__} when it was used); fit it anew.") from error


def _pieces(table: str, layout: Layout) -> Any:
    """The table, or some rows of it after the other."""
    if not parts.is_in_parts(table, False):
        yield tables.read(table, layout).data
        return
    import pyarrow.parquet as pq

    from robustlda.data.parquet import parquet_files

    for path in parquet_files(table):
        with pq.ParquetFile(path) as file:
            for group in range(file.metadata.num_row_groups):
                if file.metadata.row_group(group).num_rows:
                    yield file.read_row_group(group)


def _predicted(model: "TableModel", piece: "pa.Table", id_: str | None, first: int, probabilities: bool) -> "pa.Table":
    import numpy as np
    import pyarrow as pa

    P = np.asarray(model.probabilities(piece))
    best, classes = P.argmax(axis=1), model.classes
    ids = np.arange(first, first + len(P)) if id_ is None else piece[id_]
    columns = {"id": ids, "predicted": pa.array(classes[best].tolist()), "probability": P[np.arange(len(P)), best]}
    if probabilities:
        columns |= {f"probability of {c}": P[:, k] for k, c in enumerate(classes)}
    return pa.table(columns)


class _Counts:
    """What has to be said once all rows were predicted."""

    def __init__(self) -> None:
        self.rows = self.known = self.agreeing = 0
        self.unseen: dict[str, set[str]] = {}

    def add(self, model: "TableModel", piece: "pa.Table", found: "pa.Table") -> None:
        from robustlda.tables.understanding import spelling_key

        self.rows += piece.num_rows
        for name, words in model.unseen(piece).items():
            self.unseen.setdefault(name, set()).update(words)
        if model.label in piece.column_names:
            pairs = zip(piece[model.label].to_pylist(), found["predicted"].to_pylist(), strict=True)
            agreeing = [spelling_key(str(g)) == spelling_key(str(p)) for g, p in pairs if g is not None]
            self.known += len(agreeing)
            self.agreeing += sum(agreeing)

    def sentences(self, label: str) -> list[str]:
        lines = []
        for name, words in self.unseen.items():
            shown = ", ".join(repr(word) for word in sorted(words)[:_SHOWN]) + (", …" if len(words) > _SHOWN else "")
            lines.append(f"Column {name!r} has values that the model has not seen, and ignores: {shown}.")
        if self.known:
            lines.append(f"{self.agreeing / self.known:.1%} of the labels in {label!r} agree with the predictions.")
        return lines
