"""`robustlda datasets`: what is at hand, and how to get the rest."""

import os
from pathlib import Path

import click

from robustlda.cli import options


@click.command()
@options.data_dir
def datasets(data_dir: Path | None) -> None:
    """List the data sets that `compare` knows, with their sizes, and what is missing."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from robustlda.datasets import catalogue

    if data_dir is not None:
        os.environ[catalogue.FOLDER] = str(data_dir)
    table = Table(box=box.SIMPLE_HEAD)
    for name, justify in (("name", "left"), ("samples", "right"), ("features", "right"), ("classes", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("source, or what is missing")
    for dataset in catalogue.CATALOGUE.values():
        sizes = ["", "", ""]
        if not dataset.missing:
            X, y = dataset.load()
            sizes = [str(X.shape[0]), str(X.shape[1]), str(len(set(y.tolist())))]
        state = dataset.source if not dataset.missing else f"[yellow]{dataset.missing}[/] ({dataset.source})"
        table.add_row(dataset.name, *sizes, state)
    Console(highlight=False).print(table)
