"""The command line: parse, read, call, write. Slow imports happen inside the command that needs them."""

import contextlib
import io
import os
import sys
import warnings
from typing import Any

import click

from robustlda import __version__
from robustlda.cli.audit import audit
from robustlda.cli.compare import compare
from robustlda.cli.datasets import datasets
from robustlda.cli.model import fit, predict
from robustlda.cli.reproduce import reproduce
from robustlda.output import printable

INTERRUPTED, BROKEN_PIPE = 130, 141
"""Exit codes as shells give them: 128 and the number of the signal."""


class _Verbs(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, ImportError) as error:
            interruption = _interruption(error)
            if interruption is None:
                raise
            notes = getattr(interruption, "__notes__", [])
            _say(" ".join(["Interrupted; no incomplete file was left behind.", *notes]))
            raise click.exceptions.Exit(_code(interruption)) from None


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that a terminal does not know
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(f"robustlda: {_words(str(message))}")
        _run()


def _run() -> None:
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code)
    except (click.Abort, KeyboardInterrupt):
        _say("Interrupted; nothing was begun.")
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        for line in shown.getvalue().splitlines():
            _say(line)
        if "unexpected extra argument" in error.message and ".parquet" in error.message:
            _say("A pattern of several files needs quotes: 'part-*.parquet'.")
        sys.exit(2)
    except BrokenPipeError:  # whoever reads what is printed, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except UnicodeEncodeError:
        _say("robustlda: The name of a file holds bytes that are not UTF-8; rename it.")
        sys.exit(2)
    except (ValueError, TypeError, OSError, MemoryError) as error:
        if os.environ.get("ROBUSTLDA_TRACEBACK"):
            raise
        _say(f"robustlda: {_one_line(error)}")
        sys.exit(2)
    except Exception as error:  # ours to mend; exit code 1 would say that a gate was not passed
        if os.environ.get("ROBUSTLDA_TRACEBACK"):
            raise
        _say(
            f"robustlda: this should not have happened: {type(error).__name__}: {_one_line(error)} (set "
            "ROBUSTLDA_TRACEBACK=1 to see where, and please report it)"
        )
        sys.exit(2)


def _interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that an error goes back to: compiled modules that are being imported make one of the other."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def _code(interruption: BaseException) -> int:
    return 128 + interruption.args[0] if interruption.args else INTERRUPTED


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens
        click.echo(printable(line), err=True)


def _one_line(error: BaseException) -> str:
    """What went wrong, and what else has to be said about it, without line breaks."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror:  # in place of the number of the error
        words = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return " ".join([_words(words) or type(error).__name__, *getattr(error, "__notes__", [])])


def _words(text: str) -> str:
    return " ".join(text.split())
