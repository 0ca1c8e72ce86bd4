"""Whether the tests would notice: small faults planted at random, one at a time, and the tests of their folder run.

    python -m tests.mutate --count 50 --seed 0 losses solvers

Each fault is a changed comparison, operator, number or condition in a copy of the package; the tests of the same folder
are run on it until the first fails, within a time limit. Faults that no test notices are printed, to be looked at: some
change nothing that can be seen, and the others lack a test.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = {
    "losses": ["tests/test_losses.py", "src/robustlda/losses.py", "tests/solvers/test_solvers.py"],
    "solvers": ["tests/solvers", "src/robustlda/solvers", "tests/estimators/test_degenerate.py"],
    "decision": ["tests/decision", "src/robustlda/decision", "tests/estimators/test_degenerate.py"],
    "data": ["tests/data", "src/robustlda/data", "tests/solvers/test_passes.py", "tests/estimators/test_degenerate.py"],
}
"""What is run on a fault in a folder, or a file, of the package."""
SECONDS = 600
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
    """The folder, the file and the text of the file with one fault, and what was done."""
    folder = rng.choice(folders)
    package = ROOT / "src" / "robustlda"
    files = sorted((package / folder).glob("*.py")) or [package / f"{folder}.py"]
    sizes = [len(list(places(ast.parse(file.read_text(encoding="utf-8"))))) for file in files]
    file = rng.choices(files, sizes)[0]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node = rng.choice(list(places(tree)))
    before, after = change(node)
    done = f"{file.relative_to(package)}:{node.lineno}: {before} → {after}"
    return folder, file.relative_to(ROOT), ast.unparse(ast.fix_missing_locations(tree)), done


def noticed(copy, folder, file, text):
    """Whether a test fails, or does not end."""
    whole = (copy / file).read_text(encoding="utf-8")
    (copy / file).write_text(text, encoding="utf-8")
    try:
        return pytest_in(copy, TESTS[folder]) != 0
    finally:
        (copy / file).write_text(whole, encoding="utf-8")


def pytest_in(copy, tests):
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)])}
    try:
        result = subprocess.run(
            command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return -1
    return result.returncode


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__.splitlines()[0])
    parser.add_argument(
        "folders", nargs="*", choices=[[], *TESTS], default=list(TESTS), help="where faults are planted"
    )
    parser.add_argument("--count", type=int, default=20, help="how many of them")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    rng, killed = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in ("src", "tests", "benchmarks", "docs", "pyproject.toml", "README.md", "CHANGELOG.md"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, copy / part)
        for number in range(options.count):
            folder, file, text, done = draw(rng, options.folders or list(TESTS))
            found = noticed(copy, folder, file, text)
            killed += found
            print(f"{'noticed ' if found else 'SURVIVED'} {done}   ({killed} of {number + 1})", flush=True)
    print(f"{killed} of {options.count} faults were noticed, seed {options.seed}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
