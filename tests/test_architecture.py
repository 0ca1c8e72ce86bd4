"""The shape of the package: imports point one way, and adding a rule is one class and one line."""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import robustlda
from robustlda import MMC, RobustLDA
from robustlda.decision import RULES, FittedDecision

PACKAGE = Path(robustlda.__file__).parent

# What each part may import, beside itself.
BASE = {"linalg", "output", "documentation"}
SOLVING = BASE | {"losses", "plan", "data"}
DECIDING = SOLVING | {"solvers"}
ALLOWED = {
    "linalg": set(),
    "output": set(),
    "documentation": set(),
    "losses": BASE,
    "plan": BASE,
    "data": BASE | {"plan"},
    "solvers": SOLVING,
    "decision": DECIDING,
    "estimators": DECIDING | {"decision"},
    "tables": BASE,
    "audit": DECIDING | {"decision", "estimators", "tables"},
    "datasets": BASE | {"tables"},
    "persistence": BASE,
    "onnx": DECIDING | {"decision", "estimators", "tables"},
}
ALLOWED["report"] = ALLOWED["audit"] | {"audit"}
ALLOWED["experiments"] = ALLOWED["report"] | {"report", "datasets"}
ALLOWED["cli"] = ALLOWED["experiments"] | {"experiments", "persistence", "onnx"}


def imports(tree):
    """Modules of the package that a module imports when it is imported."""
    inside = {n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if node not in inside and isinstance(node, ast.ImportFrom) and str(node.module).startswith("robustlda"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif node not in inside and isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("robustlda."))


def part(name):
    return name.split(".")[1] if "." in name else ""


def _for_types(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def wrong_arrows(folder):
    found = []
    for path in sorted(folder.rglob("*.py")):
        home = path.relative_to(folder).parts[0].removesuffix(".py")
        if home in ("__init__", "__main__", "py.typed"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tree.body = [node for node in tree.body if not _for_types(node)]
        for name in imports(tree):
            target = part(name)
            if target in ALLOWED and target != home and target not in ALLOWED[home]:
                found.append(f"{path.relative_to(folder)} imports {name}")
    return found


def test_imports_point_one_way():
    assert wrong_arrows(PACKAGE) == []


def test_an_import_that_points_up_is_seen(tmp_path):
    (tmp_path / "solvers").mkdir()
    (tmp_path / "estimators").mkdir()
    (tmp_path / "solvers" / "fast.py").write_text("from robustlda.estimators import robust\n")
    assert wrong_arrows(tmp_path) == ["solvers/fast.py imports robustlda.estimators.robust"]


def test_only_the_store_asks_how_data_are_stored():
    asking = [p for p in sorted(PACKAGE.rglob("*.py")) if "issparse" in p.read_text(encoding="utf-8")]
    # Files of data sets are another matter.
    assert [p.relative_to(PACKAGE).as_posix() for p in asking] == ["data/store.py", "datasets/arrays.py"]


def private_names_of_others(path):
    """Names with an underscore that a module uses and does not define."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    own |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            inherited = ast.unparse(node.value) in ("self", "cls", "super()")
            if node.attr not in own and not inherited:
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("robustlda"):
            folder = ".".join(("robustlda", *path.relative_to(PACKAGE).parent.parts)) if PACKAGE in path.parents else ""
            names = [node.module.rsplit(".", 1)[-1], *(alias.name for alias in node.names)]
            hidden = [name for name in names if name.startswith("_") and not name.startswith("__")]
            if hidden and not node.module.startswith(folder + ".") and node.module != folder:
                yield f"{node.module}.{hidden[0]}"


def test_private_names_stay_where_they_are():
    found = {p.relative_to(PACKAGE).as_posix(): list(private_names_of_others(p)) for p in PACKAGE.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_private_name_of_another_module_is_seen(tmp_path):
    path = tmp_path / "page.py"
    path.write_text("from robustlda.estimators._base import x\nfrom robustlda.linalg import _y\nprint(audit._plane)\n")
    assert list(private_names_of_others(path)) == [
        "robustlda.estimators._base._base",
        "robustlda.linalg._y",
        "audit._plane",
    ]


class NearestMean:
    """A toy rule: the class with the nearest mean in the projection."""

    def __init__(self, axes, means):
        self.axes, self.means, self.priors = axes, means, np.full(len(means), 1 / len(means))

    @classmethod
    def fit(cls, training):
        Z, labels = training.samples.project_features(training.components.T), training.samples.labels
        means = np.array([Z[labels == k].mean(axis=0) for k in range(training.samples.n_classes)])
        return FittedDecision(cls(training.components, means))

    def scores(self, rows):
        return -0.5 * ((rows.times(self.axes.T)[:, None] - self.means) ** 2).sum(axis=2)


class Forgetful(NearestMean):
    """The same, returned without what it has to be wrapped in."""

    @classmethod
    def fit(cls, training):
        return super().fit(training).rule


def test_a_new_rule_is_one_class_and_one_line(monkeypatch):
    monkeypatch.setitem(RULES, "nearest_mean", NearestMean)
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for kind in (RobustLDA, MMC):
        assert kind(decision="nearest_mean").fit(X, y).score(X, y) > 0.95
    monkeypatch.setitem(RULES, "forgetful", Forgetful)
    with pytest.raises(TypeError, match="decision='forgetful' was fitted to a Forgetful, not a FittedDecision"):
        RobustLDA(decision="forgetful").fit(X, y)
    with pytest.raises(ValueError, match=r"decision='nearest' must be one of .*'nearest_mean'"):
        RobustLDA(decision="nearest").fit(X, y)
