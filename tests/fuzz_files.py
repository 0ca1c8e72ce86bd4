"""Damaged tables and model files, and command lines and parameters that make no sense, for `python -m tests.fuzz`.

A file ends well if it is read or refused in one sentence that is ours. Archives are damaged from within, too: a byte
changed outside only breaks a checksum, and what lies behind it would never be tried.
"""

import base64
import functools
import io
import json
import tempfile
import warnings
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq
from sklearn.datasets import load_iris

from robustlda import DLE, MMC, LabelAudit, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.tables.preparation import TablePreparation
from robustlda.tables.reading import read_table
from robustlda.tables.understanding import understand
from tests.command import inside
from tests.oracle import checked_fit, is_one_sentence, require
from tests.tables.corpus import TEXT_FILES
from tests.tables.formats import OTHER_FILES

# Damage ---------------------------------------------------------------------------------------------------------------


def damaged(rng, content):
    """Bytes with a random wound."""
    if not content:
        return rng.bytes(rng.integers(1, 20))
    at = int(rng.integers(len(content)))
    size = int(min(10.0 ** rng.uniform(0, 3), len(content)))
    other = int(rng.integers(len(content)))
    few = int(rng.choice([1, 2, 4, 8]))
    number = int(rng.choice([0, 1, -1, 2**31 - 1, -(2**31), 2**15, 127])).to_bytes(8, "little", signed=True)[:few]
    ways = [
        lambda: content[:at],
        lambda: content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :],
        lambda: content[:at] + bytes([int(rng.integers(256))]) + content[at + 1 :],
        lambda: content[:at] + number + content[at + few :],
        lambda: content[:at] + content[at + size :],
        lambda: content[:at] + content[at : at + size] * 2 + content[at + size :],
        lambda: content[:at] + content[other : other + size] + content[at + size :],
        lambda: content[:at] + rng.bytes(size) + content[at:],
        lambda: content[:at] + b"\0" * size + content[at + size :],
    ]
    return ways[rng.integers(len(ways))]()


def damaged_inside(rng, content):
    """An archive with a member damaged, and the checksums right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(sorted(members)))
    if rng.random() < 0.1:
        members.pop(name)
    elif name.endswith(".json") and rng.random() < 0.8:
        members[name] = json.dumps(_other_json(rng, json.loads(members[name]))).encode()
    else:
        members[name] = damaged(rng, members[name])
    return packed(members)


def packed(members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return target.getvalue()


def _other_json(rng, found):
    """One value, at a random place, is another one."""
    places = []

    def visit(node):
        entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in entries:
            places.append((node, key))
            visit(value)

    visit(found)
    if places:
        node, key = places[rng.integers(len(places))]
        values = [None, 0, -1, 1e308, True, "", "x", [], {}, [[]], "builtins", 2**70, *(n[k] for n, k in places[:50])]
        # As text, so that a value put into itself does not go on forever.
        node[key] = json.loads(json.dumps(values[rng.integers(len(values))]))
    return found


@dataclass(frozen=True)
class FileCase:
    """A file: one that was whole, and the seeds of its wounds."""

    name: str
    whole: bytes
    wounds: tuple[tuple[int, ...], ...]
    model: bool = False

    @property
    def content(self):
        content = self.whole
        for seed in self.wounds:
            rng = np.random.default_rng(seed)
            try:
                content = damaged_inside(rng, content) if rng.random() < 0.7 else damaged(rng, content)
            except (
                zipfile.BadZipFile,
                zipfile.LargeZipFile,
                ValueError,
                KeyError,
                OSError,
                NotImplementedError,
                zlib.error,
            ):
                content = damaged(rng, content)  # no archive, or one no longer
        return content

    def check(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.name
            path.write_bytes(self.content)
            check_model_file(path) if self.model else check_table(path)

    def lines(self):
        """Python that repeats it."""
        return [
            f"path = Path({self.name!r})",
            f"path.write_bytes(base64.b85decode({base64.b85encode(self.content)!r}))",
            "check_model_file(path)" if self.model else "check_table(path)",
        ]

    def smaller(self):
        for k in range(len(self.wounds)):
            yield replace(self, wounds=self.wounds[:k] + self.wounds[k + 1 :])


def _wounds(rng):
    return tuple(tuple(map(int, rng.integers(0, 2**31, 2))) for _ in range(rng.choice([1, 1, 1, 2, 3])))


# Tables ---------------------------------------------------------------------------------------------------------------

TABLES = [case for case in TEXT_FILES + OTHER_FILES if isinstance(case.content, bytes) and len(case.content) < 100_000]


def draw_table(seed, number):
    rng = np.random.default_rng([seed, number])
    case = TABLES[rng.integers(len(TABLES))]
    while case.refused and rng.random() < 0.8:  # most of them whole before
        case = TABLES[rng.integers(len(TABLES))]
    return FileCase(case.name, case.content, _wounds(rng))


def check_table(path):
    """A table or one sentence; and of a table, features and labels or one sentence."""
    try:
        table = read_table(path)
    except ValueError as refused:
        check_sentence(str(refused))
        return
    data = table.data
    require("a table has rows", data.num_rows > 0)
    require("columns have different names", len(set(data.column_names)) == data.num_columns > 0)
    for label in (data.column_names[0], data.column_names[-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = understand(table, label, preparation=TablePreparation())
            except ValueError as refused:
                require("a sentence is ours", is_one_sentence(refused))
                check_sentence(str(refused))
                continue
        require("features are finite", np.isfinite(found.X).all())
        require("every row has a label", len(found.X) == len(found.y) == len(found.places))


def check_sentence(text):
    require("a refusal is one line", "\n" not in text.strip())
    require("a refusal is a sentence", text.endswith("."))
    require("a refusal is short", len(text) < 600)


# Model files ----------------------------------------------------------------------------------------------------------


@functools.cache
def good_models():
    """A table, and model files of it, in a folder of its own: numbers, and numbers with words."""
    iris = load_iris()
    rows, kinds = iris.data[::3], np.array(["u", "v", "w"])[iris.target[::3]]
    numbers = {name: rows[:, k] for k, name in enumerate("abcd")}
    words = numbers | {"color": np.array(["red", "green"])[(rows[:, 0] > 5.8).astype(int)]}
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, columns in (("numbers", numbers), ("words", words)):
            table = Path(folder) / f"{name}.parquet"
            pq.write_table(pa.table({**columns, "kind": kinds}), table)
            for suffix in (".skops", ".onnx"):
                path = table.with_suffix(suffix)
                found = inside("fit", str(table), "--label", "kind", "-o", str(path), "--quiet")
                require(f"a model is fitted: {found.stderr}", found.returncode == 0)
                files[path.name] = path.read_bytes()
        content = table.read_bytes()
    return content, files


def draw_model(seed, number):
    rng = np.random.default_rng([seed, number])
    _, files = good_models()
    name = sorted(files)[rng.integers(len(files))]
    return FileCase(name, files[name], _wounds(rng), model=True)


def check_model_file(path):
    """Predictions or one sentence, and no file where there is a sentence."""
    table, out = path.parent / "table.parquet", path.parent / "predictions.csv"
    table.write_bytes(good_models()[0])
    found = inside("predict", str(path), str(table), "-o", str(out), "--probabilities")
    check_ended(found)
    require("predictions are written, or nothing", out.exists() == (found.returncode == 0))


def check_ended(found):
    """How a command may end: well, or with one sentence and exit code 2."""
    lines = [line for line in found.stderr.splitlines() if line and not line.startswith(("Usage: ", "Try "))]
    require("a command ends with 0, 1 or 2", found.returncode in (0, 1, 2))
    require("nothing unforeseen is said", "should not have happened" not in found.stderr)
    if found.returncode == 2:
        require("a failure is one sentence", len(lines) == 1)
        require("a failure is said by us", lines[-1].startswith(("robustlda: ", "Error: ")))


# Options --------------------------------------------------------------------------------------------------------------

ODD = [
    None, True, False, 0, 1, 2, -1, 3.5, 1e308, 2**70, float("nan"), float("inf"), -0.0, "", "mean", "l21", "x" * 1000,
    b"x", (), [], {}, [1], [0.2, 0.3, 0.5], [0.5, 0.5], [float("nan")] * 3, np.array([1.0]), np.float32(2), np.int8(2),
    object, len, 1j, "centroid", "random", [None], {"a": 1}, set(),
]  # fmt: skip
ESTIMATORS = [RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE, LabelAudit]


@dataclass(frozen=True)
class ParameterCase:
    """An estimator with parameters of any kind."""

    kind: type
    parameters: dict[str, object]

    def check(self):
        iris = load_iris()
        X, y = iris.data[::5], iris.target[::5]
        estimator = self.kind(**self.parameters)
        if self.kind is not LabelAudit:
            checked_fit(estimator, X, y)
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                estimator.fit(X, y)
        except Exception as error:
            if not is_one_sentence(error):
                raise

    def lines(self):
        return [f"ParameterCase({self.kind.__name__}, {self.parameters!r}).check()"]

    def smaller(self):
        for name in self.parameters:
            yield replace(self, parameters={key: value for key, value in self.parameters.items() if key != name})


TABLE = "{table}"
WORDS = [
    "", " ", "-", "--", ".", "..", "/", "kind", "color", "a", "a,b", ",", "nothing", "0", "1", "-1", "1e400", "nan",
    "inf", "0.5", "100", "99999999999999999999", "8x8", "2x2", "0x0", "x", "é", "\x1b[31m", "[/red]", "=1+1", "\t", ";",
    "utf-8", "utf-16", "rot13", "idna", "json", "csv", "flagged", "reviewed", "github", "iris", "wine", "lda_1nn,knn",
    "knn", "uniform", "clean", "1GB", "a" * 5000, TABLE, "{folder}", "{folder}/new", "{model}", "{graph}", "/dev/null",
    "*.csv", "{folder}/*.parquet", "*", "[", "~", "$HOME", "%s", "{}", "\\", "'", '"',
]  # fmt: skip
COSTLY = ("--workers", "--scheduler", "--checkpoint", "--jobs", "--memory-limit", "--data-dir")
"""Options that start processes, which have tests of their own."""


@dataclass(frozen=True)
class CommandCase:
    """Words for the command line; the names in braces are files."""

    words: tuple[str, ...]

    def check(self):
        table, files = good_models()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            names = {TABLE: "table.parquet", "{model}": "words.skops", "{graph}": "words.onnx"}
            for content, file in ((table, names[TABLE]), *((files[n], n) for n in list(names.values())[1:])):
                (folder / file).write_bytes(content)
            before = {path.name: path.read_bytes() for path in folder.iterdir()}
            words = [_filled(word, folder, names) for word in self.words]
            found = inside(*words)
            check_ended(found)
            changed = {n for n, content in before.items() if (folder / n).read_bytes() != content}
            require("input is left alone", not changed)
            left = [path for path in folder.rglob("*") if path.is_file() and path.name not in before]
            require("a refusal leaves no file", found.returncode != 2 or not left)

    def lines(self):
        return [f"CommandCase({self.words!r}).check()"]

    def smaller(self):
        for k in range(1, len(self.words)):
            yield replace(self, words=self.words[:k] + self.words[k + 1 :])


def _filled(word, folder, names):
    for brace, file in names.items():
        word = word.replace(brace, str(folder / file))
    return word.replace("{folder}", str(folder))


def draw_options(seed, number):
    """Parameters of an estimator, or a command line, every other time."""
    rng = np.random.default_rng([seed, number])
    if number % 2:
        return CommandCase(_command_line(rng))
    kind = ESTIMATORS[rng.integers(len(ESTIMATORS))]
    names = sorted(kind().get_params())
    chosen = [str(name) for name in rng.choice(names, rng.integers(1, 4))]
    return ParameterCase(kind, {name: ODD[rng.integers(len(ODD))] for name in chosen})


def _command_line(rng):
    from robustlda.cli import cli

    def a_word():
        return WORDS[rng.integers(len(WORDS))]

    verb = str(rng.choice(["audit", "fit", "predict", "audit", "fit", "predict", "compare", "datasets"]))
    words = [verb]
    words += {"predict": [str(rng.choice(["{model}", "{graph}", a_word()])), TABLE], "compare": [], "datasets": []}.get(
        verb, [TABLE]
    )
    if verb != "predict" and rng.random() < 0.8:
        words += ["--label", "kind"] if verb in ("audit", "fit") else []
    if rng.random() < 0.15 and len(words) > 1:
        words[1] = a_word()
    if verb == "compare":  # which would run everything otherwise
        words += [a_word(), "--methods", "knn", "--folds", "2", "--noise", a_word(), "--jobs", "1"]
    options = [option for option in cli.commands[verb].params if option.param_type_name == "option"]
    for _ in range(rng.integers(0, 4)):
        option = options[rng.integers(len(options))]
        if not set(option.opts) & {*COSTLY, "--methods", "--folds", "--out", "--force"}:
            words += [option.opts[-1]] if option.is_flag else [option.opts[-1], a_word()]
    if verb == "datasets":
        return tuple(words)
    ending = {"fit": ("/m.skops", "/m.onnx"), "predict": ("/p.csv", "/p.parquet")}.get(verb, ("/o",))
    out = "{folder}/new" + str(rng.choice(ending))
    return (*words, "--out", out)
