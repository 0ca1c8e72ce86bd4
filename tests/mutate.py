"""Whether the tests would notice: small faults planted at random, one at a time, and the tests that pass by run.

    python -m tests.mutate --count 50 --seed 0 losses solvers
    python -m tests.mutate --survey FILE ...          (keeps what each test calls for the next time)

Each fault is a changed comparison, operator, number or condition in a copy of the package. Which test calls which
function, and how long it takes, is seen once, without any fault; a fault then meets the tests that call its function,
the quickest first, until one fails. Slow ones, and what together takes longer than `--seconds`, are left out, so a
fault that only they would notice counts as survived. Faults that no test notices are printed, to be looked at: some
change nothing that can be seen, and the others lack a test.
"""

import argparse
import ast
import importlib
import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = {
    "losses": ["tests/test_losses.py", "src/robustlda/losses.py", "tests/solvers/test_solvers.py"],
    "solvers": ["tests/solvers", "src/robustlda/solvers", "tests/estimators/test_compared_methods.py"],
    "decision": ["tests/decision", "src/robustlda/decision", "tests/audit/test_audit.py"],
    "data": [
        *("tests/data", "src/robustlda/data", "tests/solvers/test_passes.py"),
        *(f"tests/estimators/test_{name}.py" for name in ("array_api", "compared_methods", "dask", "parts")),
    ],
}
"""What may notice a fault in a folder, or a file, of the package. Other tests would notice some besides, late."""
SLOW = 5
"""Seconds of a test, in the survey, beyond which it is left out."""
SLOW_TO_IMPORT = (
    *("numpy", "pandas", "pyarrow.parquet", "joblib", "scipy.stats", "scipy.sparse.linalg"),
    *(f"sklearn.{name}" for name in ("datasets", "discriminant_analysis", "ensemble", "linear_model", "neighbors")),
)
OTHERS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree):
    """Nodes that can be changed; not those of annotations, which nothing depends on."""
    hidden = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if (note := getattr(node, name, None)) is not None:
                hidden.update(map(id, ast.walk(note)))
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        number = isinstance(node, ast.Constant) and type(node.value) in (int, float, bool)
        operator = isinstance(node, ast.BinOp) and type(node.op) in OTHERS
        compared = isinstance(node, ast.Compare) and type(node.ops[0]) in OTHERS
        if number or operator or compared or isinstance(node, ast.BoolOp | ast.IfExp | ast.If):
            yield node


def change(node):
    """Plant the fault; what it was and what it is."""
    before = ast.unparse(node.test if isinstance(node, ast.If) else node)
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = OTHERS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops[0] = OTHERS[type(node.ops[0])]()
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)
    return before, ast.unparse(node.test if isinstance(node, ast.If) else node)


def draw(rng, folders):
    """The file and its text with one fault, the function it is in (None outside of all), and what was done."""
    folder = rng.choice(folders)
    package = ROOT / "src" / "robustlda"
    files = sorted((package / folder).glob("*.py")) or [package / f"{folder}.py"]
    sizes = [len(list(places(ast.parse(file.read_text(encoding="utf-8"))))) for file in files]
    file = rng.choices(files, sizes)[0]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = rng.choice(list(places(tree)))
    function = around(tree, node)
    before, after = change(node)
    done = f"{file.relative_to(package)}:{node.lineno}: {before} → {after}"
    return file.relative_to(ROOT), ast.unparse(ast.fix_missing_locations(tree)), function, done


def around(tree, node):
    """Name of the innermost function or method whose body holds the node; what is outside of all runs on import."""
    name = None
    for function in ast.walk(tree):  # outer ones first
        if isinstance(function, ast.FunctionDef) and any(node in set(ast.walk(part)) for part in function.body):
            name = function.name
    return name


class Survey:
    """What each test calls, as a plugin of pytest: sys.settrace alone sees every function that is entered."""

    def __init__(self):
        self.package, self.seen, self.tests, self.left_out = str(ROOT / "src" / "robustlda"), set(), {}, set()

    def enter(self, frame, event, argument):
        if frame.f_code.co_filename.startswith(self.package):
            self.seen.add((frame.f_code.co_filename[len(self.package) + 1 :], frame.f_code.co_name))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.seen, begin = set(), time.process_time()
        sys.settrace(self.enter)
        threading.settrace(self.enter)
        yield
        sys.settrace(None)
        threading.settrace(None)
        called = defaultdict(list)
        for file, name in sorted(self.seen):
            called[file].append(name)
        if item.nodeid not in self.left_out:
            self.tests[item.nodeid] = {"seconds": round(time.process_time() - begin, 3), "calls": called}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        def leave_out(*_):
            self.left_out.add(item.nodeid)
            pytest.skip("no fault would wait for it")

        signal.signal(signal.SIGVTALRM, leave_out)
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
        yield
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def pytest_sessionfinish(self, exitstatus):
        if exitstatus == 0:
            Path(os.environ["MUTATE_SURVEY"]).write_text(json.dumps(self.tests), encoding="utf-8")


class QuickestFirst:
    """Only the tests that were asked for, in that order."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        order = {name: i for i, name in enumerate(Path(os.environ["MUTATE_TESTS"]).read_text("utf-8").splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_configure(config):
    """This file is a plugin of the runs it starts."""
    for variable, plugin in (("MUTATE_SURVEY", Survey), ("MUTATE_TESTS", QuickestFirst)):
        if variable in os.environ:
            config.pluginmanager.register(plugin())


def meeting(survey, file, function, seconds):
    """Names of the tests that call the function, the quickest first, as many as end within the time; and that time."""
    name = str(file.relative_to("src/robustlda"))
    passing = {
        test: seen["seconds"]
        for test, seen in survey.items()
        if function is None or function in seen["calls"].get(name, ())
    }
    chosen, total = [], 0.0
    for test in sorted(passing, key=lambda test: passing[test]):
        total += passing[test]
        if chosen and total > seconds:
            break
        chosen.append(test)
    return chosen, min(total, seconds)


def noticed(copy, file, text, tests, seconds):
    """Whether a test fails, or how: `hung` if the tests take ten times as long as they should."""
    (copy / "tests.txt").write_text("\n".join(tests), encoding="utf-8")
    files = sorted({test.partition("::")[0] for test in tests})
    whole = (copy / file).read_text(encoding="utf-8")
    put(copy / file, text)
    try:
        code = tests_in(copy, files, 120 + 10 * seconds, MUTATE_TESTS=str(copy / "tests.txt"))
    finally:
        put(copy / file, whole)
    return {0: "SURVIVED", 5: "SURVIVED", None: "hung"}.get(code, "noticed")


def put(file, text):
    """Write a module; what was compiled of another one of the same size and second must not be taken for it."""
    file.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)


def tests_in(copy, tests, seconds, **variables):
    """Exit code of pytest in a copy of this process, which has what takes long to import; None if it does not end."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = _pytest_in(copy, tests, variables)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = None if seconds is None else time.monotonic() + seconds
    while (status := os.waitpid(child, os.WNOHANG))[0] == 0:
        if end is not None and time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.05)
    return os.waitstatus_to_exitcode(status[1])


def _pytest_in(copy, tests, variables):
    with (copy / "log.txt").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.chdir(copy)
    os.environ.update(variables, PYTHONPATH=os.pathsep.join([str(copy / "src"), str(copy)]))
    sys.path[:] = [str(copy / "src"), str(copy), *(path for path in sys.path if path not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "robustlda")]:
        del sys.modules[name]
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.mutate"]
    if "MUTATE_SURVEY" in variables:
        options += ["-p", "no:threadexception"]  # a test that is left out leaves threads, which may fail in a later one
    return int(pytest.main([*options, *tests]))


def surveyed(copy, folders, kept):
    """What each test of some folders calls; from the file, if there is one."""
    if kept and kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    found, tests = copy / "survey.json", sorted({test for folder in folders for test in TESTS[folder]})
    if tests_in(copy, tests, None, MUTATE_SURVEY=str(found)) != 0:
        sys.exit("A test fails without any fault:\n" + (copy / "log.txt").read_text(encoding="utf-8")[-3000:])
    if kept:
        shutil.copy(found, kept)
    return json.loads(found.read_text(encoding="utf-8"))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", choices=[[], *TESTS], help="where faults are planted")
    parser.add_argument("--count", type=int, default=20, help="how many of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=40, help="of tests that a fault meets")
    parser.add_argument("--survey", type=Path, help="file that keeps what each test calls; remove it after a change")
    options = parser.parse_args(arguments)
    folders = options.folders or list(TESTS)
    for name in SLOW_TO_IMPORT:
        importlib.import_module(name)
    rng, killed = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in ("src", "tests", "benchmarks", "docs", "pyproject.toml", "README.md", "CHANGELOG.md"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, copy / part)
        survey = surveyed(copy, folders, options.survey)
        for number in range(options.count):
            file, text, function, done = draw(rng, folders)
            tests, seconds = meeting(survey, file, function, options.seconds)
            found = noticed(copy, file, text, tests, seconds) if tests else "SURVIVED"
            killed += found != "SURVIVED"
            print(f"{found:8} {done}   ({killed} of {number + 1}; {len(tests)} tests)", flush=True)
    print(f"{killed} of {options.count} faults were noticed, seed {options.seed}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
