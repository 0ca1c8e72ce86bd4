"""Options that several verbs share."""

import os
from pathlib import Path

import click

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with the paper's nine data sets; the environment variable ROBUSTLDA_DATA by default.",
)


def use_folder(data_dir: Path | None) -> None:
    """Look for the paper's data sets in this folder; worker processes inherit the environment and look there too."""
    from robustlda.datasets.catalogue import FOLDER_VARIABLE

    if data_dir is not None:
        os.environ[FOLDER_VARIABLE] = str(data_dir)


def check_jobs(jobs: int) -> None:
    """Refuse zero processes."""
    if jobs == 0:
        raise ValueError("--jobs must not be 0; use 1, or -1 for every core.")


def out(default: str):  # type: ignore[no-untyped-def]
    """Where results go."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Folder for the results; created if it does not exist.",
    )
