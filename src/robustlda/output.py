"""Output files that are either complete or absent."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file next to `path` that replaces it when the block ends without an error."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def writable_directory(path: Path) -> Path:
    """The directory, created if necessary; raises OSError before any work is done if nothing can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{secrets.token_hex(4)}.part"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(f"Nothing can be written to {path}: {error.strerror}. Choose another folder.") from error
    return path
