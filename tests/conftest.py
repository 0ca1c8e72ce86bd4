"""Fixtures and paths shared by the tests."""

import os
import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

# Two workers on two cores: BLAS threads on top of them only get in each other's way, unless they are what is tested.
threadpool_limits(int(os.environ.get("ROBUSTLDA_TEST_THREADS", "1")))

# The same examples every time: a run that is green stays green. `python -m tests.fuzz` looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

TESTS = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption(
        "--seeds", help="Run the tests once for each of these seeds, such as 0-99 or 3: other random data every time."
    )


def pytest_generate_tests(metafunc):
    if given := metafunc.config.getoption("seeds"):
        first, _, last = given.partition("-")
        seeds = range(int(first), int(last or first) + 1)
        metafunc.parametrize("seed_of_run", seeds, ids="seed {}".format, indirect=True, scope="session")


class Draws:
    """Which tests draw. Those that do not are the same for all `--seeds`, and run for the first of them that comes.

    Workers tell each other by files in a folder that they share; a fixture that draws counts for all tests that ask for
    it, as it may be made only once.
    """

    def __init__(self) -> None:
        self.some, self.fixtures, self.folder = False, set(), None

    def of(self, item, drawn):
        """The file that says that a test was run, and drew or did not."""
        name = re.sub(r"\W+", "-", re.sub(r"seed \d+-?", "", item.nodeid))[-200:]
        return self.folder / f"{name}.{'drawn' if drawn else 'same'}"


DRAWS = Draws()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    DRAWS.some = False
    found = yield
    if DRAWS.folder is not None and hasattr(item, "fixturenames"):
        drawn = DRAWS.some or not DRAWS.fixtures.isdisjoint(item.fixturenames)
        DRAWS.of(item, drawn).touch()
    return found


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    before, DRAWS.some = DRAWS.some, False
    try:
        return (yield)
    finally:
        if DRAWS.some:
            DRAWS.fixtures.add(fixturedef.argname)
        DRAWS.some |= before


def pytest_runtest_setup(item):
    if DRAWS.folder is not None and DRAWS.of(item, False).exists() and not DRAWS.of(item, True).exists():
        pytest.skip("draws nothing, so it is the same for every seed")


@pytest.fixture(scope="session", autouse=True)
def seed_of_run(request, tmp_path_factory):
    """Generators that tests make, and only these, begin elsewhere for each of `--seeds`; 0 leaves them as they are."""
    seed, genuine = getattr(request, "param", 0), np.random.default_rng
    if request.config.getoption("seeds"):
        shared = tmp_path_factory.getbasetemp()
        DRAWS.folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "draws"
        DRAWS.folder.mkdir(exist_ok=True)

    def reseeded(*given):
        by_a_test = Path(sys._getframe(1).f_code.co_filename).is_relative_to(TESTS)
        DRAWS.some |= by_a_test and bool(given)
        return genuine([seed, *np.ravel(given[0])]) if seed and by_a_test and given else genuine(*given)

    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("seeds"):
            patch.setattr(np.random, "default_rng", reseeded)
        yield seed


DATA = Path(os.environ.get("ROBUSTLDA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def paper_data():
    """Reader of the paper's dense sets: tables standardized, images scaled to [0, 1]."""

    def read(name):
        path = DATA / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"{name}.npz is not at hand; set ROBUSTLDA_DATA to the folder that holds it")
        with np.load(path) as archive:
            X, y = archive["X"].astype(float), archive["y"]
        if name in ("vehicle", "dermatology"):
            X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
            return StandardScaler().fit_transform(X), y
        return X / X.max(), y

    return read


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, without anything that would reach out."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    flags = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
    flags += ["disable-component-update", "disable-sync"]
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=[f"--{flag}" for flag in flags])
        yield chromium
        chromium.close()


@contextmanager
def opened(browser, path, width, scheme):
    """A page in a window of that width; it must not complain, nor ask for anything outside its file."""
    shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors = []
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.on(
        "request", lambda asked: errors.append(asked.url) if not asked.url.startswith(("file:", "data:")) else None
    )
    shown.goto(path.as_uri())
    yield shown
    assert errors == []
    shown.close()
