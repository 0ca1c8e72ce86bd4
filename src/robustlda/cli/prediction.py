"""Predictions of a model file: for a table in memory, or part by part for one that is larger.

A part's predictions are a file of their own, written where the part was read, and say in their metadata what has to be
told about them in the end. So a part whose file is there is finished, whoever has been killed in the meantime.
"""

import json
import shutil
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from robustlda import __version__, persistence
from robustlda.output import remove_rests, replacing, replacing_together
from robustlda.tables.names import listed, no_column

if TYPE_CHECKING:
    from robustlda.cli.screen import Screen
    from robustlda.data.parquet import Fragment

FILES = (".csv", ".parquet")
"""Endings of names of single files; a name without an ending is that of a folder."""

_PART = "part-*.parquet"
_OURS = b"robustlda"  # in the metadata of a part
_EVERY = 0.5  # seconds between looks at how much is done


@dataclass
class Counts:
    """What has to be said once all rows were predicted."""

    rows: int = 0
    known: int = 0
    agreeing: int = 0
    unseen: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __add__(self, other: "Counts") -> "Counts":
        names = {**self.unseen, **other.unseen}
        unseen = {name: sorted({*self.unseen.get(name, ()), *other.unseen.get(name, ())}) for name in names}
        notes = list(dict.fromkeys([*self.notes, *other.notes]))
        return Counts(self.rows + other.rows, self.known + other.known, self.agreeing + other.agreeing, unseen, notes)

    def sentences(self, label: str) -> list[str]:
        lines = list(self.notes)
        for name, words in self.unseen.items():
            lines.append(f"Column {name!r} has values that the model has not seen, and ignores: {listed(words)}.")
        if self.known:
            lines.append(f"{self.agreeing / self.known:.1%} of the labels in {label!r} agree with the predictions.")
        return lines


@dataclass(frozen=True)
class Question:
    """What is asked: of which model, how rows are called in the answer, and whether all probabilities are wanted.

    Names of rows get the `id_type`, so that those of several files can stand in one column.
    """

    path: Path
    id: str | None
    probabilities: bool
    id_type: pa.DataType | None = None

    @property
    def model(self) -> persistence.TableModel:
        """The model, which a worker opens once."""
        return _opened(self.path, *_state(self.path))

    def answer(self, piece: pa.Table, first: int) -> tuple[pa.Table, Counts]:
        """Predictions for some rows, of which the first has this number, and what is to be said about them."""
        with _blamed_on(self.path):
            found = self._predicted(piece, first)
            return found, _counted(self.model, piece, found)

    def _predicted(self, piece: pa.Table, first: int) -> pa.Table:
        import numpy as np

        P, classes = np.asarray(self.model.probabilities(piece)), self.model.classes
        best = P.argmax(axis=1)
        ids = np.arange(first, first + len(P)) if self.id is None else piece[self.id]
        if self.id is not None and self.id_type is not None:
            ids = piece[self.id].cast(self.id_type)
        columns = {"id": ids, "predicted": pa.array(classes[best].tolist()), "probability": P[np.arange(len(P)), best]}
        if self.probabilities:
            columns |= {f"probability of {c}": P[:, k] for k, c in enumerate(classes)}
        return pa.table(columns)

    def check(self, name: str, rows: int, columns: list[str]) -> None:
        """Refuse a table that has no rows, or not the column that says what they are called."""
        if self.id is not None and self.id not in columns:
            raise ValueError(no_column(self.id, columns))
        if not rows:
            raise ValueError(f"{name} has no rows; there is nothing to predict.")

    def columns(self, names: list[str]) -> list[str]:
        """Those of a file's columns that are looked at."""
        asked = {*self.model.columns, self.id, self.model.label}
        return [name for name in names if name in asked]


def _state(path: Path) -> tuple[int, int]:
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.is_file() else (0, 0)


@lru_cache(maxsize=1)
def _opened(path: Path, size: int, changed: int) -> persistence.TableModel:
    return persistence.open_model(path)


@contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Errors that only a model can cause whose parts do not belong together, or whose texts hold no characters."""
    broken = (AttributeError, LookupError, ArithmeticError, TypeError, RecursionError, SystemError, RuntimeWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            yield
    except broken as error:
        raise ValueError(f"{path} is damaged ({type(error).__name__} when it was used); fit it anew.") from error


def _counted(model: persistence.TableModel, piece: pa.Table, found: pa.Table) -> Counts:
    from robustlda.tables.understanding import as_names, has_label, spelling_key

    counts = Counts(piece.num_rows, unseen=model.unseen(piece), notes=model.told(piece))
    if model.label in piece.column_names:
        known = has_label(piece[model.label])
        given, said = (
            as_names(piece[model.label].filter(known)).to_pylist(),
            found["predicted"].filter(known).to_pylist(),
        )
        agreeing = [spelling_key(str(g)) == spelling_key(str(s)) for g, s in zip(given, said, strict=True)]
        counts.known, counts.agreeing = len(agreeing), sum(agreeing)
    return counts


# In parts


def check_place(out: Path, force: bool) -> None:
    """Refuse a place for predictions of a table in parts: another kind of file, or a folder with something in it."""
    if out.suffix.lower() not in ("", *FILES):
        raise ValueError(f"{out}: predictions are written as .csv or .parquet, or to a folder, whose name has no dot.")
    if not out.is_dir():
        return
    others = [path.name for path in out.iterdir() if not path.match(_PART)]
    if others or out.is_symlink():
        raise FileExistsError(f"{out} is a folder with other files, such as {(others or ['a link'])[0]}; name another.")
    if not force:
        raise FileExistsError(f"{out} exists; replace it with --force, or choose another place with --out.")


def predict_in_parts(question: Question, table: str, out: Path, checkpoint: Path | None, screen: "Screen") -> Counts:
    """Predictions for Parquet files, all of them at their place, or none."""
    from robustlda.cli.tables import check_kept
    from robustlda.data.parquet import common_types, fragments, parquet_files, schema_of

    files = parquet_files(table)
    check_kept(out, *files, *{Path(path).parent for path in files})
    pieces = [piece for path in files for piece in fragments(path, max(1, len(question.model.columns)))]
    question.check(table, len(pieces), schema_of(files[0]).names)
    different = [path for path in files if question.id is not None and question.id not in schema_of(path).names]
    if different:
        first = Path(files[0]).name
        raise ValueError(f"{Path(different[0]).name} has no column {question.id!r}, which {first} has.")
    types = common_types(files, [question.id]) if question.id is not None else {}
    # Workers may be in another folder.
    question = replace(question, path=question.path.absolute(), id_type=types.get(question.id or ""))
    with replacing_together(out.parent, [out.name]) as temporary:
        folder = temporary / ("parts" if out.suffix else out.name)
        if checkpoint is not None:
            _begin(checkpoint, question, files)
            folder = checkpoint / "parts"
        folder.mkdir(exist_ok=True)
        with _shown(screen, folder, len(pieces)):
            counts = _written(question, folder, pieces)
        remove_rests(folder, _PART)
        if out.suffix:
            with screen.working(f"writing {out.name} …"):
                _join(sorted(folder.glob(_PART)), temporary / out.name)
        elif checkpoint is not None:
            shutil.copytree(folder, temporary / out.name)
        if folder == temporary / "parts":
            shutil.rmtree(folder)
    return counts


def _begin(checkpoint: Path, question: Question, files: list[str]) -> None:
    from robustlda.data.journal import Journal
    from robustlda.data.parquet import states

    settings = question.id, question.probabilities
    Journal(checkpoint).begin(("predict", __version__, states([question.path, *files]), settings))


def _written(question: Question, folder: Path, pieces: "list[Fragment]") -> Counts:
    """Write a file for every part that has none."""
    import operator

    import numpy as np

    from robustlda.data.columns import Column
    from robustlda.data.parted_input import parts_of

    sizes = [piece.size for piece in pieces]
    firsts = (np.cumsum(sizes) - sizes).tolist()
    parts = parts_of(sizes)
    numbered = Column.kept(parts, list(zip(range(len(pieces)), firsts, pieces, strict=True)))
    write = partial(_write_part, question, folder.resolve())
    return parts.combined(write, operator.add, numbered)


def _write_part(question: Question, folder: Path, part: "tuple[int, int, Fragment]") -> Counts:
    from robustlda.data.parquet import schema_of

    number, first, fragment = part
    path = folder / f"part-{number:05d}.parquet"
    if path.exists():
        return Counts(**json.loads(pq.read_schema(path).metadata[_OURS]))
    names = schema_of(fragment.path).names
    found, counts = question.answer(fragment.table(question.columns(names)), first)
    with replacing(path) as target:
        pq.write_table(found.replace_schema_metadata({_OURS: json.dumps(vars(counts))}), target)
    return counts


def _join(parts: list[Path], path: Path) -> None:
    """One file of all parts."""
    from robustlda.report.table_files import TableWriter

    with TableWriter(path) as writer:
        for part in parts:
            writer.write(pq.read_table(part).replace_schema_metadata(None))


@contextmanager
def _shown(screen: "Screen", folder: Path, total: int) -> Iterator[None]:
    """A line with the number of parts that are finished, and the time that is left."""
    from robustlda.cli.parts import seconds_left, told_time

    def done() -> int:
        return len(list(folder.glob(_PART)))

    started, before, ended = time.monotonic(), done(), threading.Event()
    with screen.working("predicting …") as show:

        def watch() -> None:
            while not ended.wait(_EVERY):
                seconds, finished = time.monotonic() - started, done()
                left = seconds_left(seconds, finished - before, total - finished)
                show(f"predicting: {finished:,} of {total:,} parts, {told_time(seconds)} so far{left} …")

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
