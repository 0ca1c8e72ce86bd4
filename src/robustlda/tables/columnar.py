"""Tables that tell their own types: Parquet files, folders and globs of them, Arrow files, npz archives."""

import glob
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from robustlda.tables import opening
from robustlda.tables.labeled import RawTable
from robustlda.tables.names import column_names
from robustlda.tables.opening import OpenFile, check_archive, sha256

_ENDINGS = (".parquet", ".pq")
_DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)


def parquet_files(source: Path | str) -> list[Path] | None:
    """The Parquet files of a folder or glob in the order of their names; None if the source is neither."""
    path = Path(source)
    try:
        if path.is_dir():
            found = [p for p in sorted(path.rglob("*")) if p.suffix.lower() in _ENDINGS and _is_visible(p, path)]
            if not found:
                raise ValueError(f"The folder {path} holds no Parquet files; name a file, or a folder that has some.")
            return found
        if path.exists() or not glob.has_magic(str(source)):
            return None
    except (OSError, RuntimeError):
        return None
    found = sorted(Path(name) for name in glob.glob(str(source), recursive=True) if Path(name).is_file())
    if not found:
        raise ValueError(f"No file matches {source}; check the pattern and the folder.")
    if any(p.suffix.lower() not in _ENDINGS for p in found):
        odd = next(p for p in found if p.suffix.lower() not in _ENDINGS)
        raise ValueError(f"{source} also matches {odd.name}; only Parquet files can be read together.")
    return found


def _is_visible(path: Path, folder: Path) -> bool:
    """Hidden files and those that begin with _ are not part of a data set, by convention."""
    return path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def read_parquets(files: list[Path], source: Path) -> RawTable:
    """Parquet files one below the other, with the columns that folders such as `year=2024` stand for."""
    import pyarrow.dataset as ds

    name = str(source)
    base = source if source.is_dir() else Path(os.path.commonpath([path.parent for path in files]))
    digests = [f"{path.relative_to(base).as_posix()} {sha256(path)}" for path in files]
    schemas = [_parquet_schema(path, str(path)) for path in files]
    try:
        how: dict[str, Any] = {"format": "parquet", "partitioning": "hive", "partition_base_dir": str(base)}
        names = [str(path) for path in files]
        folders = [field for field in ds.dataset(names, **how).schema if field.name not in schemas[0].names]
        schema = pa.unify_schemas([*schemas, pa.schema(folders)], promote_options="permissive")
        data = ds.dataset(names, schema, **how).to_table()
    except (pa.ArrowException, OSError, ValueError, TypeError):
        raise ValueError(f"The files of {name} have columns of different types; read them one by one.") from None
    try:
        table = _checked(data, name)
    except _DAMAGE:
        raise _damaged(name, "Parquet") from None
    note = f"{len(files)} Parquet files were read one below the other." if len(files) > 1 else ""
    digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return replace(table, notes=(*filter(None, [note]), *table.notes), fingerprint=digest)


def _parquet_schema(path: Path, name: str) -> pa.Schema:
    """The schema of a Parquet file that is complete and not too large."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups)]
            schema = file.schema_arrow
    except (*_DAMAGE, ValueError):
        raise _damaged(name, "Parquet") from None
    if sum(groups) > opening.MAX_BYTES:
        raise ValueError(f"{name} takes more than {opening.MAX_BYTES / 2**30:.3g} GB in memory; read it in parts.")
    return schema


def _read_parquet(file: OpenFile) -> RawTable:
    import pyarrow.parquet as pq

    _parquet_schema(file.path, file.name)
    try:
        with pq.ParquetFile(file.path) as source:  # unlike read_table, it takes names that occur twice
            return _checked(source.read(), file.name)
    except _DAMAGE:
        raise _damaged(file.name, "Parquet") from None


def _read_arrow(file: OpenFile) -> RawTable:
    from pyarrow import feather, ipc

    with file.path.open("rb") as stream:
        magic = stream.read(4)
    try:
        if magic == b"\xff\xff\xff\xff":
            with ipc.open_stream(pa.OSFile(str(file.path))) as source:
                return _checked(source.read_all(), file.name)
        if magic == b"FEA1":
            return _checked(feather.read_table(file.path, memory_map=False), file.name)
        with ipc.open_file(pa.OSFile(str(file.path))) as source:
            return _checked(source.read_all(), file.name)
    except _DAMAGE:
        raise _damaged(file.name, "Arrow") from None


def _read_npz(file: OpenFile) -> RawTable:
    check_archive(file)
    try:
        with np.load(file.path, allow_pickle=False) as archive:
            # A member that is no array comes as bytes, of which this makes an array of another shape.
            arrays = {name: np.asarray(archive[name]) for name in ("X", "y") if name in archive.files}
            names = archive.files
    except MemoryError:
        raise
    except Exception:  # a damaged archive may raise anything, and so does one of pickled objects
        raise ValueError(f"{file.name} is damaged or holds objects instead of arrays; save X and y anew.") from None
    if len(arrays) < 2:
        held = f"{', '.join(names[:5])}" if names else "nothing"
        raise ValueError(f"{file.name} must contain the arrays X and y, but holds {held}; save them under these names.")
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(
            f"{file.name} holds X of shape {X.shape} and y of shape {y.shape}; they must be (n, d) and (n,)."
        )
    try:
        columns = {f"x{j}": pa.array(np.ascontiguousarray(X[:, j])) for j in range(X.shape[1])} | {"y": pa.array(y)}
    except (pa.ArrowException, TypeError, ValueError):
        raise ValueError(
            f"{file.name} holds X of type {X.dtype} and y of type {y.dtype}; save numbers, and numbers or text."
        ) from None
    return replace(_checked(pa.table(columns), file.name), first_row=1)


def _checked(data: pa.Table, name: str) -> RawTable:
    """The table with unique names, if it is sound and has rows and columns.

    Arrow trusts what it reads: without the check, offsets of a damaged file point anywhere in memory.
    """
    data.validate(full=True)
    if data.num_columns == 0 or data.num_rows == 0:
        raise ValueError(f"{name} has {data.num_rows} rows and {data.num_columns} columns; there is nothing to read.")
    names, notes = column_names(data.column_names)
    return RawTable(data.rename_columns(names), name, tuple(notes))


def _damaged(name: str, kind: str) -> ValueError:
    return ValueError(f"{name} is not a complete {kind} file (damaged, truncated or encrypted); copy or write it anew.")


READERS: dict[str, Callable[[OpenFile], RawTable]] = {
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "npz": _read_npz,
}
