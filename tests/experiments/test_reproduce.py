"""The paper's experiments end to end: a killed run resumes, verdicts follow the numbers, and the page is complete."""

import contextlib
import csv
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command import call
from conftest import opened

from robustlda.cli.reproduce import _verdicts
from robustlda.cli.screen import Screen
from robustlda.experiments import protocol, records
from robustlda.experiments.paper import claims, convergence, report, results, schedule, toy
from robustlda.experiments.paper.results import whole_folds
from robustlda.report.document import Document, Heading, ReportTable, Text

KILLS = int(os.environ.get("ROBUSTLDA_TEST_KILLS", "0"))
"""How often the run is killed at a random moment besides; `ROBUSTLDA_TEST_KILLS=50` for a thorough test."""

RESULTS = Path(__file__).parents[2] / "results"
FILES = ("toy.csv", "comparison.csv", "convergence.csv")


@pytest.fixture(scope="session")
def small_data(tmp_path_factory):
    """A table and faces of six by six pixels, in place of the paper's."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    for name, d in (("vehicle", 8), ("yale", 36)):
        X = rng.random((3, d))[y] + 0.1 * rng.standard_normal((60, d))
        np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


def contents(folder):
    return {name: (folder / name).read_bytes() if (folder / name).exists() else b"" for name in FILES}


@pytest.fixture(scope="session")
def reproduction(small_data, tmp_path_factory):
    """A quick run that was killed and started again; with KILLS, after others that were killed at random moments."""
    folder = tmp_path_factory.mktemp("reproduction")
    words = ["reproduce", "--quick", "--jobs", "2", "--data-dir", str(small_data), "--out"]
    # A disk that was full, or a power failure, may have left files without anything in them.
    (folder / "toy.csv").touch()
    draw, kills = random.Random(0), 0
    while kills < KILLS:
        process = started([*words, str(folder)])
        if draw.random() < 0.8:
            wait_for_more(folder, process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0, 5))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        if process.returncode == 0:
            # Nothing is left to do: the next runs begin anew, and the whole one is compared later.
            folder.rename(folder.with_name(f"finished-{len(list(folder.parent.glob('finished-*')))}"))
            folder.mkdir()
        else:
            assert process.returncode == -signal.SIGKILL, "what was killed before is no reason to fail"
    process = started([*words, str(folder)])
    try:
        begin = time.monotonic()
        while contents(folder)["comparison.csv"].count(b"\n") < 12 and time.monotonic() - begin < 120:
            time.sleep(0.05)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = contents(folder)
    # A process may be killed while writing a line.
    with (folder / "comparison.csv").open("a") as file:
        file.write("vehicle,0.4,0,sv")
    again = call(*words, str(folder), timeout=600)
    assert again.returncode == 0, again.stderr
    return folder, before, again.stdout


def started(words):
    command = [sys.executable, "-c", "from robustlda.cli import main; main()", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def wait_for_more(folder, process):
    """Until something is written, so that moments are not all of those in which Python is starting."""
    before = contents(folder)
    while process.poll() is None and contents(folder) == before:
        time.sleep(0.02)


def test_a_killed_run_resumes_where_it_stopped(reproduction):
    folder, before, shown = reproduction
    after = contents(folder)
    parts = schedule.parts(["vehicle", "yale"], quick=True)
    finished, all_of_them = (found["comparison.csv"].count(b"\n") for found in (before, after))
    assert 12 <= finished < all_of_them + (KILLS > 0)  # with many kills nothing may be left to do
    for name in FILES:
        kept = before[name][: before[name].rfind(b"\n") + 1]
        assert after[name].startswith(kept), "what was finished is neither lost nor done again"
        with (folder / name).open() as file:
            assert len(list(csv.reader(file))) == 1 + sum(len(part.units) for part in parts if part.file == name)
    assert "skipped" in shown
    assert "lacks coil20.npz" in shown.replace("\n", "")
    third = call("reproduce", "--quick", "--data-dir", str(folder.parent), "--out", str(folder))
    assert third.returncode == 2, "a folder without data is refused before anything is written"


def but_for_times(record):
    timed = {"seconds": 0.0, "start_seconds": 0.0}
    return repr(replace(record, **{name: value for name, value in timed.items() if hasattr(record, name)}))


def test_what_a_killed_run_has_recorded_is_what_an_undisturbed_one_finds(reproduction, small_data, monkeypatch):
    folder, _, _ = reproduction
    monkeypatch.setenv("ROBUSTLDA_DATA", str(small_data))
    for part in schedule.parts(["vehicle", "yale"], quick=True):
        found = {record.unit: record for record in records.read(folder / part.file, part.kind)}
        for unit in list(part.units)[:: max(1, len(part.units) // (2 if KILLS == 0 else 1000))]:
            records.write([part.run(unit)], folder / "again.csv", part.kind)
            (again,) = records.read(folder / "again.csv", part.kind)
            (folder / "again.csv").unlink()
            assert but_for_times(found[unit]) == but_for_times(again)


def test_all_runs_end_alike_however_often_they_were_killed(reproduction):
    folder, _, _ = reproduction
    for part in schedule.parts(["vehicle", "yale"], quick=True):
        expected = sorted(but_for_times(record) for record in records.read(folder / part.file, part.kind))
        for finished in folder.parent.glob("finished-*"):
            assert sorted(map(but_for_times, records.read(finished / part.file, part.kind))) == expected


def test_rows_of_other_experiments_in_the_folder_are_not_reported(reproduction, tmp_path):
    folder, _, _ = reproduction
    for name in FILES:
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    expected = results.read(tmp_path)
    records.append(protocol.Row("iris", 0.0, 0, "knn", accuracy=1.0), tmp_path / "comparison.csv")
    records.append(protocol.Row("yale", 0.0, 0, "magic", accuracy=1.0), tmp_path / "comparison.csv")
    records.append(convergence.ObjectivePath("iris", "plain", "pca", path="1 1"), tmp_path / "convergence.csv")
    assert repr(results.read(tmp_path)) == repr(expected)


def test_report_has_a_verdict_on_every_claim(reproduction):
    folder, _, shown = reproduction
    text = (folder / "README.md").read_text()
    assert text.startswith("# The paper's claims, measured\n\n![Accuracy against")
    table = text[text.index("| claim |") : text.index("## Accuracy")].strip().splitlines()[2:]
    assert len(table) == 12
    assert all(line.count("**") == 2 and ".csv`" in line for line in table)
    assert "What holds of the paper's claims" in shown
    assert {path.stem for path in folder.glob("*.png")} == set(report.FIGURES)
    for name in report.FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{name}.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_page_is_complete_in_a_browser(browser, reproduction, width, scheme):
    folder, _, _ = reproduction
    with opened(browser, folder / "report.html", width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        drawn = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height)")
        assert len(drawn) == 7
        assert min(drawn) > 100
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids)), "drawings must not share names"
        assert page.locator("table").count() >= 7


def test_missing_data_sets_are_reported_in_one_line(tmp_path):
    result = call("reproduce", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out"))
    assert result.returncode == 2
    assert "None of the paper's data sets is available" in result.stderr
    assert not (tmp_path / "out").exists()


def path(*objective, algorithm="plain", dataset="orl", **more):
    return convergence.ObjectivePath(
        dataset, algorithm, "pca", path=" ".join(map(str, objective)), **{"seconds": 1, "stationarity": 1e-5, **more}
    )


def test_a_report_alone_needs_records_and_no_data(reproduction, tmp_path):
    nothing = call("reproduce", "--report-only", "--out", str(tmp_path / "empty"))
    assert nothing.returncode == 2
    assert nothing.stderr.strip().endswith("holds no results to report; run the command without --report-only first.")
    assert not (tmp_path / "empty").exists()
    shutil.copytree(reproduction[0], tmp_path / "copy")
    again = call("reproduce", "--report-only", "--out", str(tmp_path / "copy"))
    assert again.returncode == 0, again.stderr
    assert "skipped" not in again.stdout
    assert (tmp_path / "copy" / "report.html").read_bytes()


def test_iterations_are_counted_to_the_last_long_step():
    slow = path(2, 1, 1 - 1e-9, 0.9, 0.9 - 1e-8)
    assert slow.iterations == 4
    assert path(2, 1, 0.5).iterations is None
    assert path(1, 1).iterations == 1
    assert path(1e-3, 1e-3 - 5e-7, 1e-3 - 5e-7).iterations_to(1e-6, relative=False) == 1
    halving = path(*(1 + 0.5**k for k in range(60)))
    assert halving.rate == pytest.approx(0.5, abs=1e-3)


def test_a_terminal_shows_where_a_claim_ends():
    screen = Screen(file=io.StringIO(), width=80)
    wide = [claims.Claim(f"claim {k}", "what was measured, " * 9, "holds", "toy.csv") for k in range(3)]
    screen.print(_verdicts(wide))
    lines = [line.strip() for line in screen.file.getvalue().splitlines()]
    assert any("rLDA is the paper's method" in line for line in lines), "the names in the verdicts are explained"
    for k in (1, 2):
        assert not lines[next(i for i, line in enumerate(lines) if f"claim {k}" in line) - 1]


def test_verdicts_depend_on_the_numbers():
    falling = [2.0, 1.5, 1.2, 1.1, 1.1]
    trace = path(1, 0.5, 0.5, algorithm="trace_ratio")
    assert claims.monotone([path(*falling)]).verdict == "holds"
    assert claims.monotone([path(*falling, 1.2)]).verdict == "does not hold"
    assert claims.within_twenty([path(*falling), path(*falling, algorithm="accelerated")]).verdict == "holds"
    slow = path(*(1 + 0.9**k for k in range(200)))
    assert claims.within_twenty([slow, path(*falling, algorithm="accelerated")]).verdict == "does not hold"
    assert claims.stationary([path(*falling)]).verdict == "holds"
    assert claims.stationary([path(*falling, stationarity=0.5)]).verdict == "does not hold"
    assert claims.global_limit([path(*falling), path(*falling)]).verdict == "not refuted"
    assert "does not hold" in claims.global_limit([path(*falling), path(3, 2, 2)]).verdict
    assert claims.cost([path(*falling), path(*falling, algorithm="trace_ratio")]).verdict == "holds"
    assert "not in total" in claims.cost([path(*(1 + 0.5**k for k in range(60)), seconds=59), trace]).verdict
    assert claims.quadratic([path(*(1 + 0.5**k for k in range(60))), trace]).verdict.startswith("does not hold")
    assert claims.cost([path(*falling, seconds=50), trace]).verdict == "does not hold"


def test_descents_that_begin_at_their_limit_have_verdicts_and_costs():
    """As many dimensions as there are: nothing is left to choose, and no step to take."""
    still = [path(0.5, algorithm=algorithm, seconds=0.002) for algorithm in ("plain", "accelerated", "trace_ratio")]
    assert (still[0].iterations, still[0].steps, still[0].seconds_per_step) == (0, 0, 0.002)
    assert "1.0 to 1.0 times as long per iteration" in claims.cost(still).found
    assert claims.quadratic(still).verdict == "not measured"
    table = report._cost_table(still)
    assert table.rows == [("ORL", *("2", "0.002") * 3)]
    assert len(claims.all_claims(results.Results([], [], still))) == 6
    assert claims.all_claims(results.Results([], [], still[1:])) == []
    slow = path(*(1 + 0.9**k for k in range(20)))
    assert "none of them, 1 not within 300" in claims.within_twenty([slow, *still[1:]]).found
    assert claims.cost([slow, still[2]]).verdict == "not measured"
    assert claims.cost(still[:1]).verdict == "not measured"


def test_what_robust_lda_keeps_depends_on_its_numbers():
    falling = [2.0, 1.5, 1.2, 1.1, 1.1]
    plain, ours = path(*falling), path(1.0, -1.0, -1.5, algorithm="believed")
    assert claims.monotone([plain]).ours == "–"
    assert claims.monotone([plain, ours]).ours.endswith("0 increases in 2 iterations")
    assert claims.monotone([plain, path(-1.0, -0.5, algorithm="believed")]).verdict == "holds", "J is the paper's"
    assert "2 to 2 iterations" in claims.within_twenty([plain, ours, path(*falling, algorithm="accelerated")]).ours
    long = path(*range(30, 0, -1), algorithm="believed")
    assert claims.within_twenty([plain, long, path(*falling, algorithm="accelerated")]).ours.startswith("does not")
    best_of = {name: 0.9 - 0.05 * i for i, name in enumerate(schedule.WITH_1NN)} | {"rlda": 0.9}
    kept = rows(lambda name, i, noise: 0.9 - (0.01 if name == "robust_1nn" else noise))
    assert claims.stable(kept, "clean").ours == "holds for its projection with 1-NN: 0.0 points lost"
    assert claims.stable(kept, "noisy").ours.endswith("does not hold for its own decision: 40.0")
    first = rows(lambda name, i, noise: 0.95 if name == "robust_1nn" else best_of[name])
    assert claims.best(first, "clean").ours == "holds: mean rank 1.0 of 10 (place 1), on 6 data sets"
    assert claims.outliers(kept).ours.startswith("holds for its projection with 1-NN: 0.0 points lost, LDA 40.0")
    without = [row for row in kept if row.method != "robust_1nn"]
    assert claims.stable(without, "clean").ours == claims.best(without, "clean").ours == "–"


def rows(accuracy):
    """Rows of every method with 1-NN, and of rLDA, on six sets; accuracy as a function of method, set and level."""
    found = []
    for name in (*schedule.WITH_1NN, "rlda"):
        for i, dataset in enumerate(schedule.NINE[:6]):
            for noise in (0.0, 0.4):
                both = accuracy(name, i, noise)
                found.append(protocol.Row(dataset, noise, 0, name, accuracy=both, clean_reference=both))
    return found


def test_ranks_and_verdicts_on_accuracy_follow_the_rows():
    best_first = {name: 0.9 - 0.05 * i for i, name in enumerate(schedule.WITH_1NN)} | {"rlda": 0.95}
    stable = rows(lambda name, i, noise: best_first[name] - 0.001 * i)
    order = claims.ranks(stable, "clean")
    assert [rank.method for rank in order] == list(schedule.WITH_1NN)
    assert [rank.rank for rank in order] == list(range(1, 11))
    assert {(rank.better, rank.worse) for rank in order[1:]} == {(0, 6)}
    assert order[-1].p == pytest.approx(9 * 2 / 2**6), "Holm multiplies the smallest by the number of tests"
    assert claims.best(stable, "clean").verdict == "holds"
    assert claims.stable(stable, "clean").verdict == "holds, but not because of rLDA: PCA is equally stable"
    one_start = rows(lambda name, i, noise: best_first[name] - (noise if name == "rlda_1nn" else 0))
    assert claims.stable(one_start, "clean").verdict.startswith("holds from principal axes only, but not because")
    falling = rows(lambda name, i, noise: best_first[name] - noise)
    assert claims.stable(falling, "noisy").verdict == "does not hold"
    only_ours = rows(lambda name, i, noise: 0.9 - (0 if "rlda" in name else noise))
    assert claims.stable(only_ours, "clean").verdict == "holds"
    worst = rows(lambda name, i, noise: 0.5 if "rlda" in name else best_first[name])
    assert claims.best(worst, "noisy").verdict == "does not hold"


@pytest.fixture(scope="module")
def published():
    if not (RESULTS / "paper" / "toy.csv").exists():
        pytest.skip("results are published with the repository, not with the package")
    return results.read(RESULTS / "paper")


def some_of(found, draw):
    """Records as an interrupted run, other methods or failures leave them."""
    kept = list(found)
    draw.shuffle(kept)
    kept = kept[: int(len(kept) * draw.random() ** 4)] if draw.random() < 0.5 else list(found)
    for name in ("dataset", "method", "algorithm", "start", "noise", "stretch", "distance"):
        if kept and hasattr(kept[0], name) and draw.random() < 0.3:
            values = sorted({getattr(record, name) for record in kept})
            some = set(draw.sample(values, draw.randint(1, len(values))))
            kept = [record for record in kept if getattr(record, name) in some]
    if draw.random() < 0.3:
        kept = kept[: draw.randint(0, 20)]
    if draw.random() < 0.2:
        share = draw.choice([0.3, 1.0])
        kept = [replace(record, error="boom") if draw.random() < share else record for record in kept]
    return kept


def test_a_part_of_the_records_has_a_report(published):
    """Figures and claims whose records are missing are left out, or not measured."""
    draw = random.Random(0)
    for number in range(60):
        part = results.Results(*(some_of(found, draw) for found in (published.angles, published.rows, published.paths)))
        for claim in claims.all_claims(part):
            assert not re.search(r"\bnan\b", f"{claim.found} {claim.ours}")
        if number % 12 == 0:
            assert report.document(part, "x").markdown()


def test_the_published_report_is_the_one_of_the_published_records(published):
    there = (RESULTS / "paper" / "README.md").read_text(encoding="utf-8").splitlines()
    again = report.document(published, "robustlda reproduce --data-dir FOLDER").markdown().splitlines()
    others = [(a, b) for a, b in zip(there, again, strict=True) if a != b]
    assert all(line.startswith("Python ") for pair in others for line in pair), "versions may differ"


def test_the_time_of_a_fit_is_shared_out_to_its_iterations():
    """The start is not measured apart: the seconds to a change of 1e-6 hold as much of it as they do of the steps."""
    descent = path(2, 1.5, 1.2, 1.2 - 1e-8, 1.2 - 2e-8, seconds=8.0)
    assert (descent.steps, descent.iterations) == (4, 3)
    assert report._seconds(descent) == ("2e+03", "6")
    shown = report.document(results.Results([], [], [descent]), "x").markdown()
    assert "(the whole fit with its start, divided by its iterations)" in shown


def test_the_first_records_of_a_run_have_a_report():
    angle = toy.Angle(1.0, 0.0, "LDA", 10, low=1.0, median=2.0, high=3.0)
    trace = path(0.5, 0.4, 0.39, algorithm="trace_ratio")
    row = protocol.Row("orl", 0.0, 0, "rlda_1nn", accuracy=0.8, clean_reference=0.8)
    failed = results.Results(
        [], [replace(row, error="boom")], [replace(trace, algorithm="plain", path="", error="bang")]
    )
    for first, words in [
        (results.Results([angle], [], []), ("not measured", "| 1, none | 2.0 | – |")),
        (results.Results([], [row], []), ("not measured", ".800 – –")),
        (results.Results([], [], [trace]), ("## Convergence",)),
        (failed, ("boom", "bang")),
    ]:
        text = report.document(first, "x").markdown()
        assert all(word in text for word in words)
        assert "](convergence.png)" not in text


def test_without_contaminated_rows_there_is_no_verdict_on_what_they_cost():
    everything = rows(lambda name, i, noise: 0.9 - noise)
    for level in (0.0, 0.4):
        some = [row for row in everything if row.noise == level]
        for claim in (claims.stable(some, "noisy"), claims.stable(some, "clean"), claims.outliers(some)):
            assert (claim.verdict, claim.ours) == ("not measured", "–")
    for name in ("lda_1nn", "pca_1nn"):
        some = [row for row in everything if row.method != name or row.noise == 0]
        assert (claims.outliers(some).verdict == "not measured") == (name == "lda_1nn")
        assert (claims.stable(some, "noisy").verdict == "not measured") == (name == "pca_1nn")


def test_the_most_draws_of_a_setting_are_shown(tmp_path):
    few = [toy.Angle(s.stretch, s.distance, s.method, 10, low=1.0, median=2.0, high=3.0) for s in toy.settings()]
    many = [replace(angle, draws=100, median=4.0) for angle in few]
    for found, draws in ((few, "10"), (few + many[:1], "10 to 100"), (few + many, "100"), (many + few, "100")):
        records.write(found, tmp_path / "toy.csv", toy.Angle)
        angles = results.read(tmp_path).angles
        assert [a.median for a in angles].count(4.0) == len([a for a in found if a.draws == 100])
        assert len(angles) == len(few)
        assert f"over {draws} draws" in report.document(results.Results(angles, [], []), "x").markdown()


def test_incomplete_folds_are_not_shown():
    done = [protocol.Row("orl", noise, fold, m) for noise in (0.0, 0.4) for fold in (0, 1) for m in ("knn", "pca_1nn")]
    own_rule = [protocol.Row("orl", noise, 0, "svm") for noise in (0.0, 0.4)]
    assert whole_folds(done + own_rule) == done + own_rule
    part = protocol.Row("orl", 0.0, 2, "knn")
    assert whole_folds([*done, part, *own_rule]) == done + own_rule


def test_records_come_back_as_they_were_written(tmp_path):
    row = protocol.Row("wine", 0.2, 1, "knn", accuracy=0.5, error='a, b "c"')
    records.append(row, tmp_path / "rows.csv")
    records.append(replace(row, fold=2), tmp_path / "rows.csv")
    (first, second) = records.read(tmp_path / "rows.csv", protocol.Row)
    assert first.unit == row.unit
    assert (first.error, second.fold) == (row.error, 2)
    assert records.unfinished([row.unit], [first]) == [row.unit], "a failure is tried again"
    assert records.unfinished([row.unit], [replace(row, error="", skipped="too slow")]) == []


@pytest.mark.parametrize(
    ("file", "kind", "skipped"),
    [
        ("paper/comparison.csv", protocol.Row, 9),
        ("paper/convergence.csv", convergence.ObjectivePath, 6),
        ("paper/toy.csv", toy.Angle, 0),
        ("robustness/comparison.csv", protocol.Row, 0),
    ],
)
def test_published_records_can_be_read_and_give_reasons_for_skipped_units(file, kind, skipped):
    if not (RESULTS / file).exists():
        pytest.skip("results are published with the repository, not with the package")
    published = records.read(RESULTS / file, kind)
    assert not any(record.error for record in published)
    assert sum(not record.succeeded for record in published) == skipped
    assert records.unfinished([record.unit for record in published], published) == []


def test_a_document_has_the_same_content_in_both_formats():
    document = Document(
        "A & B", [Heading("x < y"), Text("`a<b` and **bold**"), ReportTable(("p", "q"), [("1 & 2", "*three*")])]
    )
    page, text = document.html({}), document.markdown()
    assert "<h1>A &amp; B</h1>" in page
    assert "<h2>x &lt; y</h2>" in page
    assert "<code>a&lt;b</code> and <b>bold</b>" in page
    assert "<td>1 &amp; 2</td><td><i>three</i></td>" in page
    assert "| p | q |\n|---|---|\n| 1 & 2 | *three* |" in text
