"""The command line in a process of its own."""

import os
import subprocess
import sys


def call(*words, **settings):
    """Run `robustlda` with these words; the folder of the data sets is not passed on."""
    return subprocess.run(
        [sys.executable, "-m", "robustlda", *words],
        capture_output=True,
        text=True,
        timeout=120,
        **{"env": {k: v for k, v in os.environ.items() if k != "ROBUSTLDA_DATA"}, **settings},
    )
