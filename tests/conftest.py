"""Fixtures and paths shared by the tests."""

import os
import shutil
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
