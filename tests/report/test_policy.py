"""Every page that is written forbids scripts and requests of others, even those that would get into it."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import inside
from conftest import opened
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from robustlda.report.document import Document, Heading, Picture, ReportTable, Text

ATTACKS = [
    "</script><script>window.hacked=1</script>",
    "\"><img src=x onerror='window.hacked=1'>",
    "</title></style></textarea><svg onload=window.hacked=1>",
    "[click](javascript:window.hacked=1)",
    "{{ 7*7 }}${window.hacked=1}<!--",
]
HOLES = """<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">
<svg onload="window.hacked = 1"></svg><a id=trap href="javascript:window.hacked = 1">x</a>
<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>
<iframe src="data:text/html,<script>fetch('SERVER')</script>"></iframe>
<base href="SERVER"><script src="SERVER"></script><link rel=stylesheet href="SERVER">
<style>@import url(SERVER); body { background: url(SERVER) }</style>
<img src="SERVER"><object data="SERVER"></object><embed src="SERVER"><video src="SERVER" autoplay></video>
<form action="SERVER" id=form><input name=q><button id=send>x</button></form>"""


@pytest.fixture(scope="module")
def server():
    """Counts who asks for something; on this machine only."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}/x", asked
    listening.shutdown()
    listening.server_close()


@pytest.fixture(scope="module")
def audit_of_attacks(tmp_path_factory):
    """The page of a table in which every name, label, id and text is an attack, as the command writes it."""
    folder = tmp_path_factory.mktemp("audit")
    X, y = load_iris(return_X_y=True)
    given = y.copy()
    given[:6] = 1
    columns = {f"{attack}{j}": X[:, j] for j, attack in enumerate(ATTACKS[:4])}
    texts = {
        ATTACKS[4]: [f"{ATTACKS[i % 5]}" for i in range(150)],
        "id" + ATTACKS[0]: [f"{ATTACKS[i % 5]}{i}" for i in range(150)],
    }
    table = folder / "<img src=x onerror=window.hacked=1>.parquet"
    pq.write_table(pa.table({**columns, **texts, "l": np.array(ATTACKS)[given]}), table)
    words = ["--label", "l", "--id", "id" + ATTACKS[0], "--out", str(folder / "out")]
    result = inside("audit", str(table), *words)
    assert result.returncode == 0, result.stderr
    return folder / "out" / "report.html"


@pytest.fixture(scope="module")
def report_of_attacks(tmp_path_factory):
    """A report of experiments with an attack in every block."""
    folder = tmp_path_factory.mktemp("report")
    blocks = []
    for k, attack in enumerate(ATTACKS):
        drawing = Figure()
        drawing.subplots().set_title(attack.replace("$", ""))
        blocks += [Heading(attack), Text(attack), ReportTable([attack], [[attack]]), Picture(f"p{k}", drawing, attack)]
    Document(ATTACKS[2], blocks).write(folder)
    return folder / "report.html"


@pytest.fixture(params=["audit_of_attacks", "report_of_attacks"], ids=["audit", "experiments"])
def page(request):
    return request.getfixturevalue(request.param)


def test_the_policy_comes_before_everything_that_could_break_it(page):
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert policy
    assert re.fullmatch(
        r'\s*<!doctype html>\s*<html lang="en">\s*(<head>\s*)?<meta charset="utf-8">\s*', text[: policy.start()]
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in rules.get("script-src", "")


def test_attacks_are_only_shown(browser, page):
    with opened(browser, page, 1200, "light") as shown:
        assert shown.evaluate("window.hacked") is None
        assert shown.locator("img[src=x], svg[onload], a[href^='javascript']").count() == 0
        assert ATTACKS[0] in shown.locator("body").inner_text()


def visited(browser, path, asked):
    """Whether a page with holes ran anything or asked anybody."""
    del asked[:]
    shown = browser.new_page()
    shown.goto(path.as_uri())
    shown.evaluate("document.getElementById('trap').click()")
    shown.wait_for_timeout(300)
    ran = shown.evaluate("window.hacked")
    shown.evaluate("document.getElementById('send').click()")
    shown.wait_for_timeout(300)
    shown.close()
    return ran, list(asked)


def test_nothing_gets_through_a_hole(browser, page, server, tmp_path):
    address, asked = server
    text = page.read_text(encoding="utf-8")
    holes = re.sub(r"(<body[^>]*>)", lambda body: body[0] + HOLES.replace("SERVER", address), text, count=1)
    (tmp_path / "hole.html").write_text(holes, encoding="utf-8")
    assert visited(browser, tmp_path / "hole.html", asked) == (None, [])
    without = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", holes)
    (tmp_path / "open.html").write_text(without, encoding="utf-8")
    ran, answered = visited(browser, tmp_path / "open.html", asked)
    assert ran == 1, "without the policy they do"
    assert answered
