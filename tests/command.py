"""The command line in a process of its own."""

import contextlib
import io
import os
import subprocess
import sys


def call(*words, **settings):
    """Run `robustlda` with these words; the folder of the data sets is not passed on."""
    return subprocess.run(
        [sys.executable, "-m", "robustlda", *words],
        capture_output=True,
        text=True,
        **{"env": {k: v for k, v in os.environ.items() if k != "ROBUSTLDA_DATA"}, "timeout": 120, **settings},
    )


def inside(*words):
    """The same in this process, which saves the time that imports take."""
    from robustlda.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    arguments, sys.argv = sys.argv, ["robustlda", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as exit:
        code = exit.code or 0
    finally:
        sys.argv = arguments
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
