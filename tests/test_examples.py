"""The examples of the gallery run without warnings and without network, and draw something.

By default only the fastest of them are run, as building the documentation runs them all; ROBUSTLDA_TEST_EXAMPLES=all
runs all of them here as well.
"""

import ast
import os
import re
import runpy
import socket
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("plot_*.py"))
FASTEST = ("plot_messy_table", "plot_minimize_ratio", "plot_two_directions")
RUN = EXAMPLES if os.environ.get("ROBUSTLDA_TEST_EXAMPLES") == "all" else [name for name in EXAMPLES if name in FASTEST]
NEEDS = {"plot_messy_table": "pandas", "plot_dask_parts": "dask"}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the source distribution has no examples")


@pytest.fixture
def offline_figures(monkeypatch):
    """Figures are drawn and kept without a screen, and any connection is an error."""

    def refuse(*_):
        raise AssertionError("an example asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(plt, "show", lambda: None)
    backend = matplotlib.get_backend()
    plt.switch_backend("Agg")
    with matplotlib.rc_context():
        yield lambda: [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    plt.switch_backend(backend)


@pytest.mark.parametrize("name", RUN)
def test_example_runs_and_draws(name, offline_figures):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    figures = offline_figures()
    assert figures
    for figure in figures:
        figure.canvas.draw()
        assert any(ax.has_data() for ax in figure.axes)


def test_without_dask_the_example_says_so_and_ends(offline_figures, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "dask", None)
    runpy.run_path(str(FOLDER / "plot_dask_parts.py"), run_name="__main__")
    assert "Dask is not installed" in capsys.readouterr().out
    assert not offline_figures()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_a_page(name):
    """A title, an introduction, underlines as long as headings, and code between texts."""
    source = (FOLDER / f"{name}.py").read_text()
    title, underline, empty, *introduction = ast.get_docstring(ast.parse(source)).splitlines()
    assert underline == "=" * len(title)
    assert not empty
    assert introduction
    headings = re.findall(r"^# (.+)\n# (-+)$", source, re.MULTILINE)
    assert all(len(heading) == len(line) for heading, line in headings)
    assert source.count("\n# %%\n") >= 2


def test_the_gallery_has_an_introduction():
    assert EXAMPLES
    title, underline, *_ = (FOLDER / "GALLERY_HEADER.rst").read_text().splitlines()
    assert underline == "=" * len(title)
