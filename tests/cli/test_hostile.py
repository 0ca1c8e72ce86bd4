"""Tables, names and model files that somebody has prepared: one sentence or a result, and nothing else happens."""

import builtins
import copy
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import skops.io
from command import inside
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from robustlda import RobustLDA, persistence
from robustlda.cli.screen import Screen
from robustlda.output import printable
from robustlda.report import reviewed
from robustlda.report.texts import spreadsheet_safe
from robustlda.tables.preparation import TablePreparation

ESCAPES = {"escape": "\x1b[31mred\x1b[2J", "title": "\x1b]0;owned\x07", "C1": "\x9b31m", "bidi": "\u202egpj.exe",
           "isolate": "\u2066x\u2069", "carriage": "a\rb", "delete": "\x7f\x08\x08"}  # fmt: skip
COMMANDS = [c for c in map(chr, range(0x110000)) if not c.isprintable() and c not in "\n " and ord(c) < 0xD800]
X, Y = (values[::3] for values in load_iris(return_X_y=True))


def commands_in(result):
    """Characters that a terminal obeys, in what was printed."""
    return sorted(set(result.stdout + result.stderr) & set(COMMANDS))


def parquet(path, labels, names=("a", "b", "c", "d", "l")):
    pq.write_table(pa.Table.from_arrays([*map(pa.array, X.T), pa.array(labels)], names=list(names)), path)
    return str(path)


def text(path, header, classes=("u", "v", "w"), encoding="utf-8"):
    lines = [",".join(header), *(",".join([*map(str, row), classes[c]]) for row, c in zip(X, Y, strict=True))]
    path.write_bytes("\n".join(lines).encode(encoding))
    return str(path)


def one_sentence(result):
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert "should not have happened" not in result.stderr
    assert not commands_in(result)
    return result.stderr


@pytest.mark.parametrize("verb", ["audit", "fit"])
def test_labels_that_are_no_classes_are_one_sentence(verb, tmp_path):
    nested = {
        "bytes": [[b"a", b"\xff", b"c"][c] for c in Y],
        "list": [[int(c)] for c in Y],
        "struct": [{"q": int(c)} for c in Y],
        "map": pa.array([[("k", int(c))] for c in Y], pa.map_(pa.string(), pa.int64())),
    }
    out = tmp_path / "out"
    for kind, labels in nested.items():
        table = parquet(tmp_path / f"{kind}.parquet", labels)
        said = one_sentence(inside(verb, table, "--label", "l", "--out", str(out / "file")))
        assert "'l'" in said
        assert not out.exists(), "folders that were created are gone"


TABLES = {
    "names that occur twice": lambda path: text(path, ["x", "x", "l", "y", "l"]),
    "names that are empty": lambda path: text(path, ["", "", "x", "", "l"]),
    "latin-1": lambda path: text(path, ["é", "ü", "x", "y", "l"], "äöü", "latin-1"),
    "markup": lambda path: text(path, ["[/x]", "[red]", ":smile:", "[bold]b", "l"], ("[/x]", "[i]", ":cat:")),
    "escapes": lambda path: parquet(
        path, [list(ESCAPES.values())[c] for c in Y], [*list(ESCAPES.values())[3:7], "l"]
    ),
    "paths": lambda path: text(path, ["../up", "/tmp/root", "a/b", "..", "l"], ("../../up", "/etc/x", "con:aux")),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_names_from_a_table_are_only_names(name, tmp_path):
    folder = tmp_path / "inner" / "here"
    folder.mkdir(parents=True)
    ending = "parquet" if name == "escapes" else "csv"
    table = TABLES[name](folder / f"table.{ending}")
    model, out = str(folder / "model.skops"), str(folder / "out")
    label = "l (2)" if name == "names that occur twice" else "l"
    words = ["--fix", "flagged", "--format", "github", "--max-false-alarm", ".9"]
    results = [
        inside("audit", table, "--label", label, "--out", out, *words),
        inside("fit", table, "--label", label, "-o", model, "--quiet"),
        inside("predict", model, table, "-o", str(folder / "p.csv"), "--probabilities", "--id", label),
    ]
    assert [result.returncode for result in results] == [0] * 3, [result.stderr for result in results]
    assert not any(commands_in(result) for result in results)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    results = {f"out/{x}" for x in ("suspects.csv", "audit.json", "report.html", f"corrected.{ending}")}
    assert written == {f"inner/here/{x}" for x in (*results, f"table.{ending}", "model.skops", "p.csv")}


def test_names_of_files_and_folders_are_only_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "[/x][red]\x1b[31m"
    path = tmp_path / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    table = text(path, ["a", "b", "c", "d", "l"])
    runs = [
        inside("audit", table, "--label", "l", "--out", f"audit{name}"),
        inside("fit", table, "--label", "l", "-o", f"{name}.skops"),
        inside("predict", f"{name}.skops", table, "-o", f"{name}/p.csv"),
    ]
    assert [run.returncode for run in runs] == [0] * 3, [run.stderr for run in runs]
    assert not any(commands_in(run) for run in runs)
    assert printable(f"to audit{name}.") in runs[0].stdout
    (tmp_path / os.fsdecode(b"\xff.csv")).write_text("a,l\n1,2\n")
    assert "not UTF-8" in one_sentence(inside("audit", os.fsdecode(b"\xff.csv"), "--label", "l"))
    words = [
        "compare",
        "iris",
        "--methods",
        "knn",
        "--noise",
        "0",
        "--folds",
        "2",
        "--jobs",
        "1",
        "--out",
        "c[/x]\x1b[",
    ]
    compared = inside(*words)
    assert compared.returncode == 0, compared.stderr
    assert "c[/x]�[/comparison.csv (2 rows)" in compared.stdout
    assert not commands_in(compared)


def test_refusals_show_no_control_characters(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for words in (
        ["audit", "\x1b]0;owned\x07\u202e.csv", "--checkpoint", str(tmp_path / "c")],
        ["audit", str(tmp_path / "\x1b[31m\u202e.csv"), "--label", "l"],
        ["audit", str(tmp_path / "t.csv"), "--label", "\x1b[31m"],
        ["predict", "\x9b31m", "t.csv", "-o", "p.csv"],
        ["compare", "\x1b[31m"],
        ["\x1b[31m"],
    ):
        result = inside(*words)
        assert result.returncode == 2
        assert not commands_in(result)


def test_a_terminal_gets_our_colors_and_no_others():
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=True, width=80)
    with screen.working("reading [/x]\x1b]0;owned\x07 …") as tell:
        tell("preparing [/y]\x9b …")
    for words in (*ESCAPES.values(), "[/x] :smile: [red]x"):
        screen.print(words)
    shown = file.getvalue()
    assert "[/x] :smile: [red]x" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b]0" not in shown
    assert not set(shown) & set("\x9b\u202e\u2066\x07\x08")
    for character in COMMANDS:
        assert printable(character) in ("�", " ")


def test_a_log_has_no_line_that_begins_with_a_word_of_the_table(tmp_path):
    """Services that run checks obey lines that begin with ::, wherever the line breaks come from."""
    names = [*(f"word{j} " * 12 + f"::error::owned{j}\n::stop-commands::x" for j in range(4)), "l"]
    table = parquet(tmp_path / "t.parquet", [["u", "::error::v", "w\n::error::w"][c] for c in Y], names)
    words = ["--format", "github", "--max-false-alarm", ".9", "--keep", names[0]]
    result = inside("audit", table, "--label", "l", "--out", str(tmp_path / "o"), *words)
    assert result.returncode == 0, result.stderr
    lines = (result.stdout + result.stderr).splitlines()
    assert not [line for line in lines if line.lstrip().startswith("::") and not line.startswith("::warning file=")]
    log = io.StringIO()
    Screen(file=log, width=40).print("Column " + "with a long name " * 5 + "::error::owned")
    assert log.getvalue().count("\n") == 1


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\ttext", "\rtext", "\ntext", "\ufeff=1", " =1",
            "\u00a0=1", "\u3000=1", "\u200b\u2060=1", "\x00=1", "＝1", "＋1+1", "－x", "＠SUM", " \ufeff＝1", "﹦1",
            "-2+3+cmd|' /C calc'!A0", "=", "-", "+x", "-inf()", "'=1", "''=1"]  # fmt: skip
HARMLESS = ["-3.5", "+3", "-3,5", "-1.234,56", "-.5", "1e-9", "-1E+9", "-12%", "-inf", "nan", "a=b", "x-y", "it's",
            "'tis", "", "é", "2026-01-02", "3 - 2", "(-1)"]  # fmt: skip


def test_no_cell_is_a_formula_and_different_texts_stay_different():
    for cell in FORMULAS:
        assert spreadsheet_safe(cell) == "'" + cell, repr(cell)
    for cell in HARMLESS:
        assert spreadsheet_safe(cell) == cell, repr(cell)
    everything = [*FORMULAS, *HARMLESS, *("'" + cell for cell in FORMULAS)]
    assert len(set(map(spreadsheet_safe, everything))) == len(set(everything))


def test_hostile_ids_come_back_and_are_formulas_nowhere(tmp_path):
    ids = [f"{FORMULAS[i % len(FORMULAS)]}#{i}" for i in range(len(Y))]
    table = pa.table(
        {**{name: X[:, j] for j, name in enumerate(["=a", "@b", "c", "d"])}, "l": [f"={c}" for c in Y], "i": ids}
    )
    pq.write_table(table.replace_schema_metadata(), tmp_path / "t.parquet")
    words = ["--label", "l", "--id", "i"]
    result = inside("audit", str(tmp_path / "t.parquet"), *words, "--out", str(tmp_path / "o"))
    assert result.returncode == 0, result.stderr
    cells = reviewed._texts(tmp_path / "o" / "suspects.csv")
    assert {"id", "given", "'=a", "'@b"} <= set(cells[0])
    assert not [cell for line in cells for cell in line if spreadsheet_safe(cell) != cell and not cell.startswith("'")]
    at = cells[0].index("id")
    (tmp_path / "v.csv").write_text("id,verified\n", encoding="utf-8")
    with (tmp_path / "v.csv").open("a", newline="", encoding="utf-8") as file:
        file.writelines('"{}",{}\n'.format(line[at].replace('"', '""'), "'=0") for line in cells[1:6])
    found = reviewed.by_id(reviewed.read([tmp_path / "v.csv"]), np.array(ids))
    assert {ids[i] for i in found} == {line[at][1:] for line in cells[1:6]}
    assert set(reviewed.as_labels(found, np.array([f"={c}" for c in Y])).values()) == {"=0"}
    model, predictions = str(tmp_path / "m.skops"), tmp_path / "p.csv"
    for kind in (pa.string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())):
        again = table.set_column(5, "i", table["i"].combine_chunks().dictionary_encode() if pa.types.is_dictionary(kind)
                                 else table["i"].cast(kind))  # fmt: skip
        pq.write_table(again, tmp_path / "t.parquet")
        inside("fit", str(tmp_path / "t.parquet"), "--label", "l", "--features", "=a,@b,c,d", "-o", model, "--force")
        result = inside("predict", model, str(tmp_path / "t.parquet"), "--id", "i", "-o", str(predictions), "--force")
        assert result.returncode == 0, result.stderr
        assert {cell[:1] for line in reviewed._texts(predictions)[1:] for cell in line[:2]} == {"'"}


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ROWS", "10", "has 50 rows, more than the 10 allowed"),
        ("COLUMNS", "4", "has 5 columns, more than the 4 allowed"),
        ("CELLS", "1e2", "has 250 cells, more than the 100 allowed"),
        ("ROWS", "many", "ROBUSTLDA_MAX_ROWS is 'many'; set it to a number"),
    ],
)
def test_a_table_beyond_the_bounds_is_refused_with_the_way_to_raise_them(variable, value, words, tmp_path, monkeypatch):
    table = text(tmp_path / "t.csv", ["a", "b", "c", "d", "l"])
    monkeypatch.setenv(f"ROBUSTLDA_MAX_{variable}", value)
    for verb, out in (("audit", "o"), ("fit", "m.skops")):
        said = one_sentence(inside(verb, table, "--label", "l", "--out", str(tmp_path / out)))
        assert words in said
        assert f"ROBUSTLDA_MAX_{variable}" in said
    monkeypatch.setenv(f"ROBUSTLDA_MAX_{variable}", "1000")
    assert inside("audit", table, "--label", "l", "--out", str(tmp_path / "o")).returncode == 0


def test_many_columns_take_time_in_proportion():
    """What is done for every column does not look at all others; counted, not timed."""

    class Counted(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other):
            Counted.compared += 1
            return str.__eq__(self, other)

    preparation = TablePreparation()
    preparation._center = preparation._scale = preparation._power = preparation._spread = np.zeros(0)
    made = [(Counted(f"column {j}"), f"feature {j}") for j in range(300)]
    preparation._fit_numbers = lambda table: made
    preparation._fit_categories = preparation._fit_texts = lambda table: []
    assert len(preparation._learn(None)) == 300
    assert Counted.compared < 3000


def test_pipes_and_devices_are_refused_and_do_not_hang(tmp_path):
    table, pipe = text(tmp_path / "t.csv", ["a", "b", "c", "d", "l"]), str(tmp_path / "pipe")
    os.mkfifo(pipe)
    model = str(tmp_path / "m.skops")
    assert inside("fit", table, "--label", "l", "-o", model).returncode == 0
    for path in (pipe, "/dev/zero"):
        out = ["--out", str(tmp_path / "o")]
        assert "pipe or a device" in one_sentence(inside("audit", path, "--label", "l", *out))
        assert "There is no model file" in one_sentence(inside("predict", path, table, *out))
        verified = inside("audit", table, "--label", "l", "--verified", path, *out)
        assert verified.returncode == 2
        assert "a pipe or a device" in verified.stderr
        fitted = inside("fit", table, "--label", "l", "-o", path, "--force")
        assert "is not a file" in one_sentence(fitted), "a device is not replaced"
    os.mkfifo(tmp_path / "comparison.csv")
    assert "is not a file of results" in one_sentence(inside("compare", "iris", "--out", str(tmp_path)))


class Bomb:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return (exec, ("import builtins; builtins.robustlda_exploded = True",))


class Foreign:
    """An object of a type that is not on the list."""

    def __init__(self):
        self.value = 1


def edited(content, name, edit):
    """An archive with one member changed."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, edit(old.read(member)) if member == name else old.read(member))
    return target.getvalue()


def with_other_type(content, module, name):
    """The schema of a model in which an object is said to be of another type."""

    def edit(schema):
        found = json.loads(schema)
        found["content"]["pipeline"].update({"__module__": module, "__class__": name})
        return json.dumps(found).encode()

    return edited(content, "schema.json", edit)


def _of_no_measure(pipeline):
    pipeline[-1].center_ = np.full_like(pipeline[-1].center_, -1.7e308)
    pipeline[-1].components_ = np.full_like(pipeline[-1].components_, 1.7e308)
    return pipeline


def _of_no_characters(pipeline):
    pipeline[-1].classes_ = np.full(3, 2**31 - 1, np.uint32).view("U1")
    return pipeline


def model_files(good):
    """What somebody could hand over as a model, by name."""
    rng = np.random.default_rng(0)
    fitted = skops.io.loads(good, trusted=list(persistence.TRUSTED))
    shell = {key: value for key, value in fitted.items() if key != "pipeline"}
    files = {
        "empty": b"",
        "text": b"nothing",
        "pickle": pickle.dumps(Bomb()),
        "pickle in an archive": edited(good, "schema.json", lambda _: pickle.dumps(Bomb())),
        "cut": good[: len(good) // 2],
        "without its end": good[:-10],
        "other type": skops.io.dumps({**shell, "pipeline": Foreign()}),
        "a system call": with_other_type(good, "os", "system"),
        "a builtin": with_other_type(good, "builtins", "eval"),
        "a function": skops.io.dumps({**shell, "pipeline": make_pipeline(FunctionTransformer(os.getcwd))}),
        "another model": skops.io.dumps({**shell, "pipeline": LogisticRegression().fit(X, Y)}),
        "another pipeline": skops.io.dumps({**shell, "pipeline": make_pipeline(FunctionTransformer(), RobustLDA())}),
        "another estimator": skops.io.dumps(
            {**shell, "pipeline": make_pipeline(fitted["pipeline"][0], LogisticRegression().fit(X, Y))}
        ),
        "no pipeline": skops.io.dumps({**shell, "pipeline": 3}),
        "no label": skops.io.dumps({**fitted, "label": 3}),
        "not fitted": skops.io.dumps({**shell, "pipeline": make_pipeline(TablePreparation(), RobustLDA())}),
        "deep": edited(good, "schema.json", lambda _: b"[" * 100_000),
        "no schema": edited(good, "schema.json", lambda _: b"{}"),
        "no measure": skops.io.dumps({**fitted, "pipeline": _of_no_measure(copy.deepcopy(fitted["pipeline"]))}),
        "no characters": skops.io.dumps({**fitted, "pipeline": _of_no_characters(fitted["pipeline"])}),
        "wrong arrays": edited(good, "schema.json", lambda schema: schema.replace(b".npy", b".txt")),
    }  # fmt: skip
    for k in range(30):
        damaged = bytearray(good)
        for place in rng.integers(0, len(good), 3):
            damaged[place] ^= int(rng.integers(1, 256))
        files[f"damaged {k}"] = bytes(damaged)
    return files


@pytest.fixture(scope="module")
def good_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    table = text(folder / "t.csv", ["a", "b", "c", "d", "l"])
    assert inside("fit", table, "--label", "l", "-o", str(folder / "m.skops")).returncode == 0
    return table, (folder / "m.skops").read_bytes()


def test_hostile_model_files_are_one_sentence_and_run_nothing(good_model, tmp_path, monkeypatch):
    table, good = good_model
    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("a model has called the system"))
    for name, content in model_files(good).items():
        path, out = tmp_path / "model.skops", tmp_path / "new" / "p.csv"
        path.write_bytes(content)
        result = inside("predict", str(path), table, "-o", str(out))
        if name.startswith("damaged") and result.returncode == 0:
            continue  # what was damaged is not used, such as the date of a member
        assert "model.skops" in one_sentence(result), name
        assert not out.parent.exists()
    assert not hasattr(builtins, "robustlda_exploded")
    pickle.loads(model_files(good)["pickle"])
    assert builtins.__dict__.pop("robustlda_exploded"), "the bomb works where it is unpickled"


def test_a_model_that_unpacks_to_too_much_is_not_unpacked(good_model, tmp_path, monkeypatch):
    table, _ = good_model
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("schema.json", "w") as member:
        for _ in range(40):
            member.write(bytes(1 << 20))
    monkeypatch.setattr(persistence, "LARGEST", 1 << 25)
    result = inside("predict", str(path), table, "-o", str(tmp_path / "p.csv"))
    assert "unpacks to 0.0 GB; a model file has 0.0 GB at most" in one_sentence(result)
