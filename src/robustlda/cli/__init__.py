"""The command line: parse, read, call, write. Slow imports happen inside the command that needs them."""

import sys

import click

from robustlda import __version__
from robustlda.cli.audit import audit
from robustlda.cli.compare import compare
from robustlda.cli.datasets import datasets
from robustlda.cli.reproduce import reproduce


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="robustlda")
def cli() -> None:
    """Discriminant analysis on data that cannot be trusted."""


cli.add_command(audit)
cli.add_command(compare)
cli.add_command(datasets)
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
    except (ValueError, OSError) as error:
        click.echo(f"robustlda: {' '.join(str(error).split())}", err=True)
        sys.exit(2)
