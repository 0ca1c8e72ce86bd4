"""The documentation: links lead somewhere, code runs, every public object has a page and an example.

The site itself is built by `.ci/run`. A block of Python in a page is run, in the order of the page and with what came
before it, unless the line above says why not:

    <!-- not run: it needs a cluster -->
"""

import contextlib
import inspect
import io
import re
import warnings
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils import estimator_html_repr

import robustlda
import robustlda.data
import robustlda.losses
import robustlda.onnx
import robustlda.report
import robustlda.tables
from robustlda import documentation
from robustlda.tables import TablePreparation

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = ("_build", "drawn", "gallery", "measured", "api/generated")
PAGES = [
    ROOT / "README.md",
    *sorted(
        path
        for path in DOCS.rglob("*.md")
        if not path.relative_to(DOCS).as_posix().startswith(GENERATED)  # by a build
    ),
]
PUBLIC = {
    "robustlda": [name for name in robustlda.__all__ if not name.startswith("_")],
    "robustlda.report": robustlda.report.__all__,
    "robustlda.tables": robustlda.tables.__all__,
    "robustlda.data": robustlda.data.__all__,
    "robustlda.losses": ["Squared", "L12", "Lp", "Capped", "Welsch", "Cauchy", "Loss", "resolve"],
    "robustlda.persistence": ["save", "load"],
    "robustlda.onnx": robustlda.onnx.__all__,
}


def named(path):
    return path.relative_to(ROOT).as_posix()


# Links


def without_code(text):
    text = re.sub(r"^(`{3,})(?!\{drawn\}|\{toctree\}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]+`", "", text)


def anchors(text):
    """What GitHub and MyST make of headings, and labels."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


def broken_links(page, root=ROOT):
    text = without_code(page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        target, _, anchor = unquote(link).partition("#")
        path = (page.parent / target).resolve() if target else page
        generated = re.search(r"(?:^|/)measured/(\w+)\.md$", target)
        if generated:  # copied from results by a build
            path = root / "results" / generated[1] / "README.md"
        if not path.exists() or (
            anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8"))
        ):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    found = list(broken_links(page))
    if not (ROOT / "results").exists():
        left = [link for link in found if "results/" not in link and "measured/" not in link]
        if left != found:
            assert left == []
            pytest.skip("results/ is not part of the source distribution, so links to it cannot be followed")
    assert found == []


def test_a_broken_link_is_seen(tmp_path):
    (tmp_path / "there.md").write_text("# A heading: here\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](gone.md) [c](there.md#a-heading-here) [d](there.md#nowhere) [e](#top)\n"
        "[f](https://example.org) `[g](code.md)`\n```python\n[h](code.md)\n```\n[i](measured/gone.md)\n"
    )
    assert list(broken_links(page, tmp_path)) == ["gone.md", "there.md#nowhere", "#top", "measured/gone.md"]


def labels_referred_to(text):
    return set(re.findall(r"\{ref\}`[^`<]*<([\w-]+)>`", text))


def test_references_are_in_the_bibliography():
    known = anchors((DOCS / "bibliography.md").read_text(encoding="utf-8"))
    asked = {label for page in PAGES for label in labels_referred_to(page.read_text(encoding="utf-8"))}
    assert asked
    assert asked <= known


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES[1:]:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            names = [entry.split("<")[-1].rstrip(">") for entry in entries]
            listed |= {(page.parent / f"{name}.md") for name in names}
    assert [named(page) for page in PAGES[1:] if page not in listed] == []


def test_figures_of_pages_are_drawn():
    source = (DOCS / "figures.py").read_text(encoding="utf-8")
    drawn = set(re.findall(r"^@figure\ndef (\w+)", source, re.MULTILINE))
    asked = {n for page in PAGES for n in re.findall(r"^```\{drawn\} (\w+)$", page.read_text(encoding="utf-8"), re.M)}
    assert asked == drawn


def test_code_that_pages_include_is_there():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path, name in re.findall(r"```\{literalinclude\} (\S+)\n:pyobject: (\w+)", text):
            source = (page.parent / path).read_text(encoding="utf-8")
            assert re.search(rf"^(class|def) {name}\b", source, re.MULTILINE), f"{named(page)}: {name}"
    assert "literalinclude" in (DOCS / "extending.md").read_text(encoding="utf-8")


# Code


def blocks(text):
    """Blocks of Python with the number of their line, and why one is not run."""
    for found in re.finditer(r"^(<!-- not run: (.+) -->\n)?```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text[: found.start(3)].count("\n"), found[2], found[3]


def run(page, text):
    """Run what is to be run; the number of blocks, and the reasons for the others."""
    namespace, count, left_out = {}, 0, []
    for line, reason, code in blocks(text):
        if reason:
            left_out.append(reason)
            continue
        # As many empty lines as there are before it: a traceback then gives the line of the page.
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
        check_numbers(code, namespace)
        count += 1
    return count, left_out


def check_numbers(code, namespace):
    """Where a comment gives the value of an expression, or of the first of several, it has that value."""
    for expression, stated in re.findall(r"^(\S.*?)  # (\d*\.?\d+)(?=[:,]|$)", code, re.MULTILINE):
        if "=" not in expression:
            value = eval(expression, namespace)
            value = value[0] if isinstance(value, tuple) else value
            unit = 10.0 ** -len(stated.partition(".")[2])
            assert abs(value - float(stated)) <= unit, f"{expression} is {value}, not {stated}"


WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    text = page.read_text(encoding="utf-8")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("error")
        count, left_out = run(page, text)
    fences = len(re.findall(r"^```python", text, re.MULTILINE))
    assert count + len(left_out) == fences, "a block that is neither run nor marked"
    if not count:
        pytest.skip(f"nothing to run: {'; '.join(left_out)}")


def test_code_that_fails_is_seen_with_its_line():
    fence = "```python\n{}\n```\n\n"
    page = fence.format("x = 1") + "<!-- not run: no cluster -->\n" + fence.format("boom()") + fence.format("x / 0")
    with pytest.raises(ZeroDivisionError) as caught:
        run("page.md", page)
    assert caught.traceback[-1].lineno + 1 == 11
    assert run("page.md", page.replace("x / 0", "assert x == 1")) == (2, ["no cluster"])


def test_a_number_that_is_not_true_is_seen():
    check_numbers("x  # .034: about\nx, y  # .03, and more\ny  # 2\nx  # a word\nz = 3  # 4\n", {"x": 0.0338, "y": 2})
    with pytest.raises(AssertionError, match=r"x is 0.0338, not .05"):
        check_numbers("x  # .05\n", {"x": 0.0338})


# Objects


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in PUBLIC.items() for n in names])
def test_every_public_object_has_a_page_and_an_example(module, name):
    listed = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    sections = re.split(r"\.\. currentmodule:: ", listed)
    of_module = "".join(s for s in sections if s.startswith(f"{module}\n"))
    assert re.search(rf"^   {name}$", of_module, re.MULTILINE)
    doc = inspect.getdoc(getattr(__import__(module, fromlist=[name]), name))
    assert "Examples\n--------" in doc
    assert ">>> " in doc


@pytest.mark.parametrize("name", [*(n for n in PUBLIC["robustlda"] if n[0].isupper()), "TablePreparation"])
def test_every_attribute_of_what_is_fitted_is_documented(name):
    kind = getattr(robustlda, name, TablePreparation)
    frame = load_iris(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"]
    if kind is robustlda.LabelAudit:
        fitted = [kind().fit(frame, "target"), kind().fit(X, np.c_[y, y])]
    elif kind is TablePreparation:
        fitted = [kind().fit(X, y)]
    else:
        fitted = [kind(decision=decision).fit(X, y) for decision in ("centroid", "noise_aware")]
    attributes = inspect.getdoc(kind).partition("Attributes\n----------")[2].partition("Examples\n--------")[0]
    named = re.findall(r"^\S.*$", attributes, re.MULTILINE)
    documented = set(re.findall(r"\b(\w+_)\b", " ".join(named)))
    has = {n for model in fitted for n in dir(model) if re.fullmatch("[a-z].*[^_]_", n) and hasattr(model, n)}
    assert has <= documented


def test_all_losses_are_documented():
    assert {kind.__name__ for kind in robustlda.losses.LOSSES.values()} <= set(PUBLIC["robustlda.losses"])


# Links of scikit-learn's diagrams


@pytest.fixture
def published(monkeypatch):
    monkeypatch.setattr(documentation, "home", lambda: "https://example.org/docs")


@pytest.mark.parametrize("kind", [robustlda.RobustLDA, robustlda.RatioLDA, robustlda.LabelAudit, TablePreparation])
def test_diagrams_link_to_pages_that_exist(kind, published):
    public = "robustlda.tables" if kind is TablePreparation else "robustlda"
    assert kind.__name__ in PUBLIC[public]
    link = f"https://example.org/docs/api/generated/{public}.{kind.__name__}.html"
    assert link in unescape(estimator_html_repr(kind()))


def test_diagrams_link_to_nothing_as_long_as_nothing_is_published(monkeypatch):
    monkeypatch.setattr(documentation, "home", lambda: "")
    page = estimator_html_repr(robustlda.RobustLDA())
    assert "RobustLDA" in page
    assert not re.search(r"href=.https?:", page)


def test_estimators_of_others_do_not_link_to_our_pages(published):
    class Theirs(robustlda.RobustLDA):
        pass

    assert "example.org" not in estimator_html_repr(Theirs())


def test_the_address_comes_from_the_metadata(monkeypatch):
    class Metadata:
        def get_all(self, name):
            return ["Source, https://example.org/code", "Documentation, https://example.org/docs/"]

    monkeypatch.setattr(documentation, "metadata", lambda package: Metadata())
    assert documentation.home.__wrapped__() == "https://example.org/docs"
    monkeypatch.setattr(Metadata, "get_all", lambda self, name: None)
    assert documentation.home.__wrapped__() == ""


QUOTED = {  # where a table of measured numbers begins, and where they were measured
    ("README.md", "| all correct |"): "robustness",
    ("README.md", "| log-loss |"): "probabilities",
    ("README.md", "| `classes − 1` dimensions"): "projection",
    ("docs/guide/calibration.md", "| uniform |"): "judgement",
    ("docs/settings.md", "| `LabelAudit()` |"): "any_classifier",
    ("docs/settings.md", "| as it is |"): "projection",
}
NUMBER = re.compile(r"(?<![\w.])0?(\.\d{3})(?!\d)")


@pytest.mark.parametrize(("page", "begin"), QUOTED)
def test_numbers_in_tables_are_those_of_the_results(page, begin):
    measured = ROOT / "results" / QUOTED[page, begin] / "README.md"
    if not measured.exists():
        pytest.skip("results are not part of a source distribution")
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = NUMBER.findall(text[text.index(begin) :].split("\n\n")[0])
    assert quoted
    assert set(quoted) <= set(NUMBER.findall(measured.read_text(encoding="utf-8")))


def test_there_is_one_version():
    stated = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CITATION.cff")}
    found = [re.search(r'^version[ =:]+"?([\d.]+)', text, re.MULTILINE) for text in stated.values()]
    assert [match[1] for match in found if match] == [robustlda.__version__] * 2
    assert f"## {robustlda.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
