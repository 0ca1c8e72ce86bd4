"""What passes over the rows have found, kept in a folder, so that none of them is made twice.

All that a computation does between passes is determined by what they found. So it is enough to write down, in order,
what each of them returned: when the computation is begun again it gets the same answers, pass by pass, without reading
a row, until it is where it was interrupted.
"""

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """Results in the order in which they were found; without a folder, nothing is kept.

    `watch` is told the number of every pass that was really made, and J as it was then, if it is known.
    """

    def __init__(self, folder: Path | None = None, watch: Callable[[int, float | None], None] | None = None) -> None:
        self._folder, self._watch, self._number = folder, watch, 0
        self.objective: float | None = None
        self.made = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def recalled(self, compute: Callable[[], Any]) -> Any:
        """What is written down for this place, or what is computed now, which is then written down."""
        number, self._number = self._number, self._number + 1
        path = None if self._folder is None else self._folder / f"pass-{number:05d}"
        if path is not None and path.exists():
            return pickle.loads(path.read_bytes())
        found = compute()
        self.made += 1
        if path is not None:
            temporary = path.with_name(path.name + ".part")
            temporary.write_bytes(pickle.dumps(found))
            os.replace(temporary, path)
        if self._watch is not None:
            self._watch(number, self.objective)
        return found

    def begin(self, what: Any) -> None:
        """Begin at the first pass; what is computed must be what the folder was begun with."""
        self._number = self.made = 0
        self.objective = None
        if self._folder is None:
            return
        digest = hashlib.sha256(repr(what).encode()).hexdigest()
        path = self._folder / "begun"
        if not path.exists():
            path.write_text(digest, encoding="ascii")
        elif path.read_text(encoding="ascii") != digest:
            raise ValueError(
                f"The checkpoint in {self._folder} belongs to other data or other settings; choose another folder, or "
                "delete this one."
            )
