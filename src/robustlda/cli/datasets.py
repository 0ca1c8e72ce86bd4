"""`robustlda datasets`: what is available, and how to get the rest."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options

if TYPE_CHECKING:
    from rich.text import Text

    from robustlda.cli.screen import Screen
    from robustlda.datasets.catalogue import Dataset


@click.command(short_help="List the data sets that compare and reproduce know.")
@options.data_dir
@click.option(
    "--fetch",
    is_flag=True,
    help="Download into the folder what scikit-learn can provide (vehicle, dermatology, orl).",
)
def datasets(data_dir: Path | None, fetch: bool) -> None:
    """List the data sets that `compare` and `reproduce` know, with their sizes, and what is missing.

    The folder may contain NumPy files (vehicle.npz with arrays X and y; tdt2.X.npz, a SciPy sparse matrix, with
    tdt2.y.npy) or the .mat files of Deng Cai's collection (arrays fea and gnd).
    """
    from rich import box
    from rich.table import Table

    from robustlda.cli.screen import Screen
    from robustlda.datasets.catalogue import CATALOGUE

    options.use_folder(data_dir)
    if fetch:
        _fetch(Screen(stderr=True))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name")
    for name in ("samples", "features", "classes"):
        table.add_column(name, justify="right")
    table.add_column("source, or what is missing")
    for dataset in CATALOGUE.values():
        table.add_row(dataset.name, *_describe(dataset))
    Screen().print(table)


def _describe(dataset: "Dataset") -> "tuple[str | Text, ...]":
    """Samples, features, classes and the source; empty sizes and the reason if it cannot be loaded."""
    from rich.text import Text

    from robustlda.output import printable

    if dataset.unavailable:
        remedy = "; get it with --fetch" if dataset.fetch else ""
        reason = Text.assemble((printable(dataset.unavailable), "magenta"), f" ({dataset.source}{remedy})")
        return "", "", "", reason
    X, y = dataset.load()
    return str(X.shape[0]), str(X.shape[1]), str(len(set(y.tolist()))), dataset.source


def _fetch(screen: "Screen") -> None:
    """Download what is missing into the folder; a failed download does not stop the others."""
    import numpy as np

    from robustlda.datasets import catalogue
    from robustlda.output import replacing, writable_directory

    folder = writable_directory(catalogue.folder())
    for dataset in catalogue.CATALOGUE.values():
        if dataset.fetch is None or not dataset.unavailable:
            continue
        try:
            X, y = dataset.fetch()
        except Exception as error:  # whatever a download may raise
            screen.print(f"not fetched {dataset.name}: {type(error).__name__}: {error}".splitlines()[0], style="red")
            continue
        with replacing(folder / dataset.files[0]) as target, target.open("wb") as file:
            np.savez_compressed(file, X=X, y=y)
        screen.print(f"fetched {dataset.name}: {X.shape[0]} samples of {X.shape[1]} features")
