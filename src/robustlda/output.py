"""Output files that are either complete or absent, and texts that a terminal only shows.

A file is written under another name next to its place and renamed when it is complete, so that neither an error nor a
full disk nor a signal leaves half of it. Signals that would end the run wait while files are renamed. A run that writes
several files has their folder to itself.
"""

import errno
import os
import secrets
import shutil
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_LOCK = ".robustlda.lock"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file next to `path` that replaces it when the block ends without an error."""
    if not path.parent.exists():
        raise FileNotFoundError(
            f"The folder {path.parent} does not exist; create it, or choose another for {path.name}."
        )
    temporary = _temporary(path)
    try:
        with room_for(path):
            yield temporary
            _settle(temporary)
        with undisturbed():
            os.replace(temporary, path)
    finally:
        with undisturbed():
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_together(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A temporary folder for files of these names, which are moved to `folder` when all of them are complete."""
    temporary = _temporary(folder / names[0])
    try:
        with room_for(folder):
            temporary.mkdir()
            yield temporary
            for path in temporary.rglob("*"):
                _settle(path)
        with undisturbed():
            _exchange(temporary, folder, [name for name in names if (temporary / name).exists()])
    finally:
        with undisturbed():
            shutil.rmtree(temporary, ignore_errors=True)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def remove_rests(folder: Path, name: str) -> None:
    """Remove what a killed process has left of files of this name, or of this pattern."""
    for rest in folder.glob(f".{name}.????????.part"):
        shutil.rmtree(rest) if rest.is_dir() else rest.unlink(missing_ok=True)


@contextmanager
def room_for(path: Path) -> Iterator[None]:
    """A full disk is said with the name of the file that was to be written, not with that of a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OSError(f"There is no room for {path} ({os.strerror(error.errno or 0)}).") from error


def _settle(path: Path) -> None:
    """Wait until a file is on the disk: otherwise a power failure may leave the new name without the content."""
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _exchange(temporary: Path, folder: Path, names: Sequence[str]) -> None:
    """Move all files into the folder, or none: if one cannot be moved, those that were there come back."""
    old, moved = temporary / "replaced", []
    old.mkdir()
    try:
        for name in names:
            _keep(folder / name, old / name)
            moved.append(name)
            os.replace(temporary / name, folder / name)
    except OSError:
        for name in moved:
            if not (temporary / name).exists():
                os.replace(folder / name, temporary / name)
            if (old / name).exists():
                os.replace(old / name, folder / name)
        raise


def _keep(path: Path, copy: Path) -> None:
    """A second name for a file, so that its place is never empty; a folder cannot have one, and moves."""
    if path.is_dir():
        os.replace(path, copy)
    elif path.exists():
        try:
            os.link(path, copy)
        except OSError:  # not on every file system
            shutil.copy2(path, copy)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that would end the run take effect when the block has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python handles signals in the main thread
        return
    waiting: list[int] = []
    before: dict[int, Any] = {number: signal.getsignal(number) for number in _ENDING}
    ours = {number: handler for number, handler in before.items() if handler is not None}
    try:
        for number in ours:
            signal.signal(number, lambda number, frame: waiting.append(number))
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting[0])


@contextmanager
def results_folder(path: Path, *, alone: Sequence[str] = ()) -> Iterator[Path]:
    """The folder, created if necessary, and removed again if it was and nothing has been written to it.

    Raises OSError before any work is done if nothing can be written there. A run that writes the files named in
    `alone` is the only one there until the block ends; what a killed one has left of them is removed.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    writable_directory(path)
    try:
        if not alone:
            yield path
            return
        with only_run(path):
            for name in alone:
                remove_rests(path, name)
            yield path
    finally:
        with undisturbed():
            for folder in missing:
                try:
                    folder.rmdir()
                except OSError:  # it is not empty
                    break


def writable_directory(path: Path) -> Path:
    """The directory, created if necessary; raises OSError before any work is done if nothing can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{secrets.token_hex(4)}.part"
        try:
            probe.touch()
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(f"Nothing can be written to {path}: {error.strerror}. Choose another folder.") from error
    return path


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Nobody else gets the folder within the block; a lock of the system, which ends with the process that holds it."""
    descriptor = _locked(folder)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(folder: Path) -> int:
    """A lock on the folder itself, or on a file in it where folders have none (Windows, some network drives).

    That file stays: if it were removed, one run could lock the old one and another a new one.
    """
    places = [(folder / _LOCK, os.O_RDWR | os.O_CREAT)]
    if sys.platform != "win32":
        places.insert(0, (folder, os.O_RDONLY))
    for place, how in places:
        descriptor = os.open(place, how, 0o600)
        try:
            _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise OSError(
                    f"Another run is writing to {folder}; wait until it has ended, or choose another --out."
                ) from None
        else:
            return descriptor
    raise OSError(f"{folder} cannot be locked against other runs; choose a folder on another drive.")


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def new_files(paths: Iterable[Path], *, force: bool) -> None:
    """Refuse to replace files unless that was asked for, and what is no file ever; raised before any work is done."""
    for path in paths:
        if not os.path.lexists(path):
            continue
        if path.is_symlink():
            raise OSError(f"{path} is a symbolic link, which is not followed; remove it, or name another file.")
        if not path.is_file():
            raise OSError(f"{path} is there and is not a file; choose another name or place.")
        if not force:
            raise FileExistsError(f"{path} exists; replace it with --force, or choose another place with --out.")
        if not os.access(path, os.W_OK):
            raise OSError(f"{path} is write-protected; allow writing to it, or choose another place with --out.")


def printable(text: str, longest: int | None = None) -> str:
    """A text without characters that a terminal or a page would obey, and not longer than asked.

    Control characters and escapes, marks that reverse the direction of writing and others that cannot be seen, and
    halves of characters become �; spaces of any kind become spaces.
    """
    shown = str(text)
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " if unicodedata.category(c) == "Zs" else "�" for c in shown)
    return shown if longest is None or len(shown) <= longest else shown[: longest - 1] + "…"
