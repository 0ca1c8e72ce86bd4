"""The command line: parse, read, call, write. Slow imports happen inside the command that needs them."""

import os
import sys

import click

from robustlda import __version__
from robustlda.cli.audit import audit
from robustlda.cli.compare import compare
from robustlda.cli.datasets import datasets
from robustlda.cli.model import fit, predict
from robustlda.cli.reproduce import reproduce
from robustlda.output import printable


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="robustlda")
def cli() -> None:
    """Discriminant analysis on data that cannot be trusted."""


cli.add_command(audit)
cli.add_command(compare)
cli.add_command(datasets)
cli.add_command(fit)
cli.add_command(predict)
cli.add_command(reproduce)


def main() -> None:
    """Run the command line; a failure is one line and exit code 2, an interruption exit code 130."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as exit:
        sys.exit(exit.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; no incomplete file was left behind.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        if os.environ.get("ROBUSTLDA_TRACEBACK"):
            raise
        click.echo(f"robustlda: {_one_line(error)}", err=True)
        sys.exit(2)
    except Exception as error:  # ours to mend; exit code 1 would say that a gate was not passed
        if os.environ.get("ROBUSTLDA_TRACEBACK"):
            raise
        click.echo(
            f"robustlda: this should not have happened: {type(error).__name__}: {_one_line(error)} (set "
            "ROBUSTLDA_TRACEBACK=1 to see where, and please report it)",
            err=True,
        )
        sys.exit(2)


def _one_line(error: BaseException) -> str:
    """What went wrong, without line breaks or characters that a terminal would obey."""
    return printable(" ".join(str(error).split()) or type(error).__name__)
