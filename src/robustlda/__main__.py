"""The command `robustlda`, also as `python -m robustlda`: what its process does when it is asked to end."""

import signal
import sys
from typing import Any, NoReturn


def main() -> None:
    """Run the command line; whatever interrupts it, from the first import on, interrupts it once and in one line."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and what runs in the background, stay as they are
            signal.signal(number, _interrupted)
    try:
        from robustlda.cli import main as run

        run()
    except KeyboardInterrupt:
        print("Interrupted; nothing was begun.", file=sys.stderr)
        sys.exit(130)
    finally:
        _ignore()


def _interrupted(number: int, frame: Any) -> NoReturn:
    _ignore()  # what follows only cleans up
    raise KeyboardInterrupt(number)


def _ignore() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    main()
