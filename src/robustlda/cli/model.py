"""`robustlda fit` and `robustlda predict`: a model file from a table, and predictions for another."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from robustlda.cli import options, parts, tables
from robustlda.cli.options import Columns, Layout, Workers


def _file(help: str, folder: bool = False) -> Any:
    return click.option("-o", "--out", type=click.Path(path_type=Path, dir_okay=folder), required=True, help=help)


@click.command(short_help="Fit a classifier that tolerates wrong labels; write it to a file.")
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
    verified: tuple[Path, ...],
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
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from robustlda import persistence
    from robustlda.audit.probabilities import without_lost
    from robustlda.cli.screen import Screen
    from robustlda.estimators.robust import RobustLDA
    from robustlda.output import new_files, printable, results_folder
    from robustlda.report.audit_files import about_lost

    tables.check_kept(out, table, *verified)
    new_files([out], force=force)
    click.get_current_context().with_resource(results_folder(out.parent))
    persistence.check_writable(out)
    screen, what, lost = Screen(quiet=quiet), "labels", 0.0
    if parts.is_in_parts(table, by.asked):
        label = parts.label_column(columns)
        options.alone_in(by.checkpoint)
        with parts.cluster(by):
            preparation, model, notes = parts.fit(
                table, columns, verified, by.checkpoint, screen, partial(persistence.check_writable, out)
            )
    else:
        raw = tables.read(table, layout)
        data = tables.understood(raw, columns, verified)
        preparation, notes, label = data.preparation, tables.told(data), data.label
        what = "answers" if data.people else "labels"
        persistence.check_writable(out, preparation)
        checked = tables.checked_rows(tables.verified(verified, data, raw, columns.id), data) if verified else None
        y = without_lost(data.y, checked) if data.answers is None else data.answers
        with screen.working(f"fitting {len(data.y):,} rows …"):
            model = RobustLDA().fit(data.X, y, verified=checked)
        lost = float((~np.isin(data.y, model.classes_)).mean())  # the model counts the others
        notes += about_lost(data.y, model.classes_)
    persistence.save(out, make_pipeline(preparation, model), label=label)
    for note in notes:
        screen.print(printable(note))
    screen.print(
        f"{len(model.classes_)} classes, {model.n_features_in_} features from "
        f"{len(preparation.columns_in_use())} columns; about {model.noise_rate_ + lost:.1%} of the {what} are wrong."
    )
    screen.print(printable(f"Wrote {out}."))


@click.command(short_help="Predict classes with a model that fit has written.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table")
@options.layout
@click.option("--id", "id_", help="Column that identifies the rows in the results; row numbers by default.")
@click.option("--probabilities", is_flag=True, help="Also the probability of every class.")
@options.workers
@click.option("--quiet", is_flag=True, help="Print nothing but failures.")
@options.force
@_file(
    "Where predictions go: a .csv or a .parquet file, or for a table in parts a folder, whose name has no ending, with "
    "a Parquet file for each part.",
    folder=True,
)
def predict(
    model: Path,
    table: str,
    layout: Layout,
    id_: str | None,
    probabilities: bool,
    by: Workers,
    quiet: bool,
    force: bool,
    out: Path,
) -> None:
    """Predict the classes of the rows of TABLE with a MODEL that `robustlda fit` has written.

    The results have the row's id, the predicted class and its probability. Columns are found by their names. Parquet
    files that `robustlda fit` would read in parts are read, and predictions written, part by part.
    """
    from robustlda.cli import prediction
    from robustlda.cli.screen import Screen
    from robustlda.output import new_files, printable, results_folder
    from robustlda.report.table_files import TableWriter
    from robustlda.tables.frames import flattened

    in_parts = parts.is_in_parts(table, by.asked)
    tables.check_kept(out, table, model)
    if in_parts:
        prediction.check_place(out, force)
    if not (in_parts and out.is_dir()):
        new_files([out], force=force)
    click.get_current_context().with_resource(results_folder(out.parent))
    screen = Screen(quiet=quiet)
    question = prediction.Question(model, id_, probabilities)
    label = question.model.label
    notes: list[str] = []
    if in_parts:
        options.alone_in(by.checkpoint)
        with parts.cluster(by):
            counts = prediction.predict_in_parts(question, table, out, by.checkpoint, screen)
    else:
        with screen.working("predicting …"), TableWriter(out) as writer:
            raw = tables.read(table, layout)
            data = flattened(raw.data)
            question.check(table, data.num_rows, data.column_names)
            found, counts = question.answer(data, 0)
            notes = [*raw.notes]
            writer.write(found)
    for line in (*notes, *counts.sentences(label)):
        screen.print(printable(line))
    written = "1 prediction" if counts.rows == 1 else f"{counts.rows:,} predictions"
    screen.print(printable(f"Wrote {written} to {out}."))
