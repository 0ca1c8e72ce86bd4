"""The audit page in a real browser: it sorts, filters, responds, renders completely and executes no injected code."""

import numpy as np
import pytest
from conftest import opened

from robustlda import LabelAudit

HOSTILE = ["<script>window.hacked=1</script>", "=cmd|' /C calc'!A0", "\u202eright to left", "\x07bell " + "long " * 60]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    X = rng.normal(size=(200, 36)) * 0.1 + rng.random((4, 36))[y]
    given = y.copy()
    given[:20] = (given[:20] + 1) % 4
    audit = LabelAudit().fit(X, np.array(HOSTILE)[given], ids=[f"<b>{i}</b>" for i in range(200)])
    path = tmp_path_factory.mktemp("page") / "report.html"
    audit.report(path, title="<script>window.hacked=1</script>", images=X)
    return path


@pytest.fixture(params=[(1400, "light"), (400, "dark")], ids=["wide", "phone"])
def page(request, browser, page_file):
    with opened(browser, page_file, *request.param) as shown:
        yield shown
        assert shown.evaluate("window.hacked") is None


def test_nothing_overflows_and_all_images_are_drawn(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("[...document.images].length") > 20
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth === 6)")
    assert page.locator("svg circle").count() > 300


def test_table_sorts_filters_and_searches(page):
    def column(k):
        return page.locator(f"#body tr td:nth-child({k})").all_inner_texts()

    assert column(1)[:3] == ["1", "2", "3"]
    page.get_by_role("button", name="wrong").click()
    shares = [float(text.rstrip(" %")) for text in column(6)]
    assert shares == sorted(shares)
    page.get_by_role("button", name="wrong").click()
    assert column(6)[0] != column(6)[-1]
    page.locator("#kind").select_option("mislabelled")
    assert 15 <= len(column(1)) <= 22
    assert set(column(9)) == {"mislabelled"}
    page.locator("#kind").select_option("")
    page.locator("#search").fill("<b>7</b>")
    assert column(3) == ["<b>7</b>"]


def test_a_point_says_what_it_is(page):
    point = page.locator("#plane circle[tabindex]").first
    point.focus()
    assert "wrong with probability" in page.locator("#say").inner_text()
    point.dispatch_event("click")
    assert "labelled" in page.locator("#say").inner_text()
