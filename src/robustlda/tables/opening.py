"""Files as they come: found, hashed, recognized by their first bytes, and unpacked.

The content decides what a file is, and its name only says what to expect. Whatever is unpacked goes to a temporary
folder, and never more than `MAX_BYTES` or half of what is free there, so a decompression bomb ends in a sentence.
"""

import bz2
import gzip
import hashlib
import lzma
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustlda.tables.limits import limit, variable

MAX_BYTES = limit("bytes")
_CHUNK = 2**20
_LEVELS = 3  # a Parquet file in a zip archive in a gzip file, and no deeper

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
_TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_OTHERS = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a single NumPy array",
    b"MATLAB 5.0": "a MATLAB file",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"ORC": "an ORC file",
    b"PARE": "an encrypted Parquet file",
    b"\x7fELF": "a program",
    b"{\\rtf": "an RTF document",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_EXPECTED = {
    "parquet": ("parquet", "pq"),
    "arrow": ("feather", "arrow", "ipc"),
    "excel": ("xlsx", "xls", "ods", "xlsm", "xlsb"),
    "npz": ("npz",),
}
# What unpacking raises: damage, names that are no text, and versions of zip that are yet to come.
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError)
_FORMATS = "CSV, Parquet, Feather, JSON, Excel or npz"


@dataclass(frozen=True)
class OpenFile:
    """A plain file on disk and what it is: text, parquet, arrow, excel or npz."""

    path: Path
    name: str
    kind: str = "text"
    notes: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def endings(self) -> list[str]:
        """The extensions of its name in small letters: `table.CSV.gz` has csv and gz."""
        return self.name.lower().split(".")[1:]


@contextmanager
def opened(source: Path | str, folder: Path) -> Iterator[OpenFile]:
    """The file, unpacked into a temporary folder if it was compressed; errors in sentences."""
    name = "Standard input" if str(source) == "-" else str(source)
    try:
        path = _standard_input(folder) if str(source) == "-" else regular(Path(source))
        file = OpenFile(path, name, fingerprint=sha256(path))
        file = _with_surprise(_unpacked(file, folder))
        if file.kind == "text" and file.path.stat().st_size > MAX_BYTES:
            raise ValueError(
                f"{name} has more than {_size(MAX_BYTES)}; convert it to Parquet and read it in parts, or set "
                f"{variable('bytes')} to more."
            )
        yield file
    except PermissionError:
        raise ValueError(f"{name} cannot be read: permission denied; change its permissions or copy it.") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror or type(error).__name__}; copy it anew.") from None
    except MemoryError:
        raise ValueError(f"{name} does not fit into memory; convert it to Parquet and read it in parts.") from None


def sha256(path: Path) -> str:
    """Hash of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def regular(path: Path) -> Path:
    """The path of a file that is there and can be read to its end, or one sentence."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"There is no file {path}; check the name and the folder.") from None
    except (OSError, ValueError):  # a name that is too long, or with a zero byte
        raise ValueError(f"{str(path)[-200:]!r} is not the name of a file that exists; check it.") from None
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path} is a pipe or a device, not a file; pipe its content in and give - as the table.")
    return path


def _standard_input(folder: Path) -> Path:
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("Nothing is piped to standard input; use `command | robustlda … -` or name a file.")
    path = folder / "standard_input"
    _copy(sys.stdin.buffer, path, "Standard input")
    return path


def _copy(source: Any, target: Path, name: str, spent: int = 0) -> None:
    """Copy a stream to a file, within the limit."""
    most = min(MAX_BYTES, spent + shutil.disk_usage(target.parent).free // 2)
    with target.open("wb") as file:
        while chunk := source.read(_CHUNK):
            spent += len(chunk)
            if spent > most:
                raise ValueError(
                    f"{name} unpacks to more than {_size(most)}, the limit here; unpack it, convert it to Parquet and "
                    f"read that, take a part of the rows, or set {variable('bytes')} to more."
                )
            file.write(chunk)


def _size(number: int) -> str:
    power = min((max(number, 1).bit_length() - 1) // 10, 3)
    return f"{number / 1024**power:.3g} {('bytes', 'KB', 'MB', 'GB')[power]}"


def _unpacked(file: OpenFile, folder: Path) -> OpenFile:
    """The file within gzip, zstd, bzip2, xz or a zip archive, and what kind of file it is."""
    spent = 0
    for level in range(_LEVELS + 1):
        with file.path.open("rb") as stream:
            head = stream.read(512)
        packing = next((packing for magic, packing in _PACKED.items() if head.startswith(magic)), "")
        kind = "" if packing else _kind(file, head)
        if kind not in ("", "zip"):
            return replace(file, kind=kind)
        if level < _LEVELS:
            target = folder / f"unpacked{level}"
            _unpack(file, packing or "zip", target, spent)
            spent += target.stat().st_size
            file = replace(file, path=target, notes=(*file.notes, f"The file is compressed with {packing or 'zip'}."))
    raise ValueError(f"{file.name} is packed {_LEVELS + 1} times; unpack it first.")


def _kind(file: OpenFile, head: bytes) -> str:
    if not head.strip(b" \t\r\n\x0b\x0c") and file.path.stat().st_size == len(head):
        raise ValueError(f"{file.name} is empty; there is no table in it.")
    for magic, what in _OTHERS.items():
        if head.startswith(magic):
            raise ValueError(f"{file.name} is {what}, not a table; use {_FORMATS}.")
    if head.startswith(_OLE):
        return "excel"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_zip(file)
    return next((kind for magic, kind in _TABLES.items() if head.startswith(magic)), "text")


def _kind_of_zip(file: OpenFile) -> str:
    names = _members(file)
    if any(name.startswith("xl/") for name in names):
        return "excel"
    if any(name.startswith(("word/", "ppt/")) for name in names):
        raise ValueError(f"{file.name} is an office document without a table; use {_FORMATS}.")
    if "mimetype" in names and "content.xml" in names:
        return "excel"
    return "npz" if names and all(name.endswith(".npy") for name in names) else "zip"


def _members(file: OpenFile) -> list[str]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]
    except (*_DAMAGE, ValueError):
        raise _damaged(file, "zip") from None


def _unpack(file: OpenFile, packing: str, target: Path, spent: int) -> None:
    try:
        with _stream(file, packing) as stream:
            _copy(stream, target, file.name, spent)
    except _DAMAGE:
        raise _damaged(file, packing) from None
    except RuntimeError:  # zipfile's way to ask for a password
        raise ValueError(f"{file.name} is protected by a password; unpack it first.") from None


def _stream(file: OpenFile, packing: str) -> Any:
    if packing == "zip":
        return _only_member(file)
    if packing == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(str(file.path)), "zstd")
    return {"gzip": gzip, "bzip2": bz2, "xz": lzma}[packing].open(file.path)


@contextmanager
def _only_member(file: OpenFile) -> Iterator[Any]:
    names = [
        name for name in _members(file) if not name.startswith("__MACOSX/") and not Path(name).name.startswith(".")
    ]
    if len(names) != 1:
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        raise ValueError(
            f"{file.name} holds {len(names)} files{f' ({shown})' if names else ''}; unpack it and name one of them."
        )
    with zipfile.ZipFile(file.path) as archive, archive.open(names[0]) as stream:
        yield stream


def check_archive(file: OpenFile) -> None:
    """Refuse a zip archive, as Excel and npz files are, that unpacks to more than the limit, whatever it claims."""
    spent = 0
    try:
        with zipfile.ZipFile(file.path) as archive:
            for info in archive.infolist():
                info.file_size = 2**62  # or else only as much is read as the archive claims
                with archive.open(info) as stream:
                    while chunk := stream.read(_CHUNK):
                        spent += len(chunk)
                        if spent > MAX_BYTES:
                            raise ValueError(
                                f"{file.name} unpacks to more than {_size(MAX_BYTES)}, the limit here; save it as "
                                f"Parquet and read that, or set {variable('bytes')} to more."
                            )
    except _DAMAGE:
        raise _damaged(file, "zip") from None
    except RuntimeError:
        raise ValueError(f"{file.name} is protected by a password; save it without one.") from None


def _damaged(file: OpenFile, packing: str) -> ValueError:
    return ValueError(f"{file.name} is damaged or truncated ({packing}); copy or download it anew.")


def _with_surprise(file: OpenFile) -> OpenFile:
    """The file with a note if its name promised something else."""
    ending = file.endings[-1] if file.endings else ""
    notes = list(file.notes)
    kinds = {"parquet": "Parquet", "arrow": "Arrow", "excel": "Excel", "npz": "npz", "text": "text"}
    promised = next((kind for kind, endings in _EXPECTED.items() if ending in endings), "")
    if ending in ("gz", "zst", "bz2", "xz", "zip") and not notes:
        notes.append("The file is not compressed, whatever its name says.")
    elif (promised and promised != file.kind) or (ending in ("csv", "tsv", "txt", "json") and file.kind != "text"):
        notes.append(f"The file was read as {kinds[file.kind]}, which it is, whatever its name says.")
    return replace(file, notes=tuple(notes))
