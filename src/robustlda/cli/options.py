"""Options that several verbs share."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

data_dir = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with the paper's nine data sets; the environment variable ROBUSTLDA_DATA by default.",
)


class OrdinaryFile(click.Path):
    """A file that is there and can be read to its end, unlike a pipe or a device."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        if not path.is_file():
            self.fail(f"{str(path)!r} is a pipe or a device, not a file.", param, ctx)
        return path


def verified(help: str) -> Callable[[Any], Any]:
    return click.option("--verified", type=OrdinaryFile(), multiple=True, help=f"{help} May be given several times.")


force = click.option("--force", is_flag=True, help="Replace results that are there.")


@dataclass(frozen=True)
class Layout:
    """How a table is written, where that has to be said."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are what."""

    label: str | tuple[str, ...] | None = None
    id: str | None = None
    features: tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    exact_labels: bool = False

    @property
    def named(self) -> bool:
        return bool(self.label or self.id or self.features or self.keep)


@dataclass(frozen=True)
class Workers:
    """Who reads a table in parts."""

    workers: int | None = None
    scheduler: str | None = None
    memory_limit: str = "auto"
    checkpoint: Path | None = None

    @property
    def asked(self) -> bool:
        return self.workers is not None or self.scheduler is not None or self.checkpoint is not None


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Column names, comma-separated."""
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


def _label(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """One column, or several if the option is given more than once."""
    return None if not value else value[0] if len(value) == 1 else value


def _gathered(name: str, kind: type, options: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A decorator that adds options to a command, which gets their values as one argument."""
    fields = list(kind.__dataclass_fields__)  # type: ignore[attr-defined]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        def gathered(*args: Any, **given: Any) -> Any:
            together = kind(**{field: given.pop(field) for field in fields})
            return command(*args, **given, **{name: together})

        gathered.__name__, gathered.__doc__ = command.__name__, command.__doc__
        gathered.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
        for option in reversed(options):
            gathered = option(gathered)
        return gathered

    return decorate


layout = _gathered(
    "layout",
    Layout,
    [
        click.option("--sep", help="Separator of a text file, such as ';'; detected by default."),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal separator; detected by default."),
        click.option("--encoding", help="Encoding of a text file, such as cp1252; detected by default."),
        click.option("--sheet", help="Sheet of a workbook; the first one by default."),
    ],
)

columns = _gathered(
    "columns",
    Columns,
    [
        click.option(
            "--label",
            multiple=True,
            callback=_label,
            help="Column that holds the labels; comma-separated columns if several people have labeled the rows.",
        ),
        click.option("--id", "id", help="Column that identifies the rows in the results; row numbers by default."),
        click.option("--features", callback=_names, help="Comma-separated columns to use; all others by default."),
        click.option(
            "--keep",
            callback=lambda ctx, param, value: _names(ctx, param, value) or (),
            help="Comma-separated columns to use although they look like identifiers, or give the label away.",
        ),
        click.option(
            "--exact-labels", is_flag=True, help="Labels that differ in case or spaces are different classes."
        ),
    ],
)

workers = _gathered(
    "by",
    Workers,
    [
        click.option(
            "--workers", type=click.IntRange(1), help="Read TABLE in parts, with this many processes (needs Dask)."
        ),
        click.option(
            "--scheduler", help="Read TABLE in parts, on a Dask cluster: the address of its scheduler, tcp://…"
        ),
        click.option(
            "--memory-limit", default="auto", show_default=True, help="Memory of each of the --workers, such as 1GB."
        ),
        click.option(
            "--checkpoint",
            type=click.Path(path_type=Path, file_okay=False),
            help="Folder that keeps what passes over TABLE have found: the same command goes on where it was "
            "interrupted.",
        ),
    ],
)


def use_folder(data_dir: Path | None) -> None:
    """Look for the paper's data sets in this folder; worker processes inherit the environment and look there too."""
    from robustlda.datasets.catalogue import FOLDER_VARIABLE

    if data_dir is not None:
        os.environ[FOLDER_VARIABLE] = str(data_dir)


def alone_in(folder: Path | None) -> None:
    """Nobody else uses this folder, which the command creates, until it has ended."""
    from robustlda.output import only_run, writable_directory

    if folder is not None:
        click.get_current_context().with_resource(only_run(writable_directory(folder)))


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
