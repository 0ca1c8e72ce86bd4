"""Options that several verbs share."""

import os
from pathlib import Path

import click

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the paper's nine data sets; ROBUSTLDA_DATA if not given.",
)


def use_folder(data_dir: Path | None) -> None:
    """Look for the paper's data sets there, in worker processes too, which inherit the environment."""
    from robustlda.datasets.catalogue import FOLDER

    if data_dir is not None:
        os.environ[FOLDER] = str(data_dir)


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that could not do any work."""
    if jobs == 0:
        raise ValueError("--jobs 0 leaves nobody to do the work; use 1, or -1 for every core.")


def out(default: str):  # type: ignore[no-untyped-def]
    """Where results go."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        show_default=True,
        help="Folder for the results, made if need be.",
    )
