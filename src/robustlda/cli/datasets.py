"""`robustlda datasets`: what is at hand, and how to get the rest."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@options.data_dir
@click.option(
    "--fetch", is_flag=True, help="Download what scikit-learn can get into the folder (vehicle, dermatology, orl)."
)
def datasets(data_dir: Path | None, fetch: bool) -> None:
    """List the data sets that `compare` and `reproduce` know, with their sizes, and what is missing.

    The folder may hold NumPy files (vehicle.npz with arrays X and y; tdt2.X.npz, a SciPy sparse matrix, with
    tdt2.y.npy) or the .mat files of Deng Cai's collection (arrays fea and gnd).
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from robustlda.datasets import catalogue

    options.use_folder(data_dir)
    if fetch:
        _fetch(Console(highlight=False, stderr=True))
    table = Table(box=box.SIMPLE_HEAD)
    for name, justify in (("name", "left"), ("samples", "right"), ("features", "right"), ("classes", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("source, or what is missing")
    for dataset in catalogue.CATALOGUE.values():
        sizes = ["", "", ""]
        if not dataset.unavailable:
            X, y = dataset.load()
            sizes = [str(X.shape[0]), str(X.shape[1]), str(len(set(y.tolist())))]
        state = dataset.source
        if dataset.unavailable:
            way = "; get it with --fetch" if dataset.fetch else ""
            state = f"[yellow]{dataset.unavailable}[/] ({dataset.source}{way})"
        table.add_row(dataset.name, *sizes, state)
    Console(highlight=False).print(table)


def _fetch(console: "Console") -> None:
    """Write what is missing and can be had into the folder; one failure does not keep the others away."""
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
            console.print(f"[red]not fetched[/red] {dataset.name}: {type(error).__name__}: {error}".splitlines()[0])
            continue
        with replacing(folder / dataset.files[0]) as target, target.open("wb") as file:
            np.savez_compressed(file, X=X, y=y)
        console.print(f"fetched {dataset.name}: {X.shape[0]} samples of {X.shape[1]} features")
