"""Output files that are either complete or absent."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
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


def printable(text: str, longest: int | None = None) -> str:
    """A text without control characters, which a terminal or a page would obey, and not longer than asked."""
    shown = "".join(c if c.isprintable() else "�" for c in str(text))
    return shown if longest is None or len(shown) <= longest else shown[: longest - 1] + "…"


def new_files(paths: Iterable[Path], *, force: bool) -> None:
    """Refuse to replace files unless that was asked for; raised before any work is done."""
    there = [path for path in paths if path.exists()]
    if there and not force:
        raise FileExistsError(f"{there[0]} exists; replace it with --force, or choose another place with --out.")


@contextmanager
def replacing_together(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A temporary folder for files of these names, which are moved to `folder` when all of them are complete."""
    temporary = folder / f".{secrets.token_hex(4)}.part"
    temporary.mkdir()
    try:
        yield temporary
        for name in names:
            if (temporary / name).exists():
                os.replace(temporary / name, folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
