"""How large a table may be before it is refused, so that a mistake or an attack ends in a sentence.

Each bound can be raised by an environment variable: `ROBUSTLDA_MAX_BYTES`, `_ROWS`, `_COLUMNS`, `_CELLS`, `_CLASSES`.
"""

import os

LIMITS = {"bytes": 8 * 2**30, "rows": 10**8, "columns": 10**5, "cells": 10**9, "classes": 1000}
"""The bytes of a file, unpacked, and the rows, columns, cells and classes of a table that is read into memory."""


def variable(what: str) -> str:
    """The environment variable that raises a bound."""
    return f"ROBUSTLDA_MAX_{what.upper()}"


def limit(what: str) -> int:
    """A bound, as the environment has it or by default."""
    given = os.environ.get(variable(what))
    try:
        return LIMITS[what] if given is None else int(float(given))
    except (ValueError, OverflowError):
        raise ValueError(f"{variable(what)} is {given!r}; set it to a number, such as {LIMITS[what]:g}.") from None


def check_size(name: str, rows: int, columns: int) -> None:
    """Refuse a table that is too large."""
    for what, number in (("rows", rows), ("columns", columns), ("cells", rows * columns)):
        if number > limit(what):
            raise ValueError(
                f"{name} has {number:,} {what}, more than the {limit(what):,} allowed; take a part of it, or set "
                f"{variable(what)} to more."
            )
