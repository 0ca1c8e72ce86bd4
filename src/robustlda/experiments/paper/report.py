"""The results of the paper's experiments as a document: verdicts first, then figures, tables and the procedure."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from itertools import product

import numpy as np

from robustlda.datasets.catalogue import CATALOGUE
from robustlda.experiments import figures, protocol
from robustlda.experiments.methods import METHODS, method_named
from robustlda.experiments.paper import claims, convergence, schedule, toy
from robustlda.experiments.paper.results import Results
from robustlda.experiments.records import Outcome
from robustlda.experiments.tables import accuracies, means, with_reference
from robustlda.report.document import Block, Document, Heading, Picture, ReportTable, Text

_LETTER = {"noisy": "A", "clean": "B"}


TITLE = "The paper's claims, measured"
FIGURES = ("accuracy_A", "accuracy_B", *(f"corrupted_{kind}" for kind in schedule.CORRUPTIONS), "convergence", "toy")


def document(results: Results, command: str) -> Document:
    """The whole report; `command` is what repeats the experiments."""
    labels = [row for row in results.wrong_labels if row.succeeded]
    blocks: list[Block] = []
    if labels:
        blocks.append(_panels(labels, "noisy"))
    blocks += _verdicts(claims.all_claims(results))
    if labels:
        blocks += _accuracy(labels)
    blocks += _corrupted(results.corrupted_samples)
    if results.paths:
        blocks += _convergence(results.paths)
    if results.angles:
        blocks += _toy(results.angles)
    blocks += _how(results.rows, command)
    return Document(TITLE, blocks)


def _panels(rows: Sequence[protocol.Row], reference: str) -> Picture:
    labels = "protocol A: 1-NN uses the noisy labels of the training samples"
    if reference == "clean":
        labels = "protocol B: 1-NN uses the correct labels, and only the projection is trained on noisy ones"
    return Picture(
        f"accuracy_{_LETTER[reference]}",
        figures.accuracy_against_noise(rows, reference=reference, columns=3, apart=False),
        f"Accuracy against the share of wrong training labels, {labels}. The SVM and `RobustLDA()` have decision rules "
        "of their own and are trained on the same noisy labels under both protocols.",
    )


def _verdicts(found: Sequence[claims.Claim]) -> list[Block]:
    rows = [(c.says, c.found, f"**{c.verdict}**", c.ours, c.source) for c in found]
    head = ("claim", "measured", "verdict on the paper's method", "`RobustLDA`", "source")
    return [Heading("Claims"), ReportTable(head, rows, prose=True)]


def _accuracy(rows: Sequence[protocol.Row]) -> list[Block]:
    blocks: list[Block] = [
        Heading("Accuracy against wrong labels"),
        Text(
            "The paper does not say which labels 1-NN uses. It copies the nearest neighbor's label, wrong or not, "
            "whatever the projection, so with noisy labels (protocol A, above) 1-NN loses about as many points as "
            "labels are wrong. Protocol B shows the effect of the projection alone."
        ),
        _panels(rows, "clean"),
    ]
    for reference in ("noisy", "clean"):
        blocks += _ranks_and_accuracies(rows, reference)
    return blocks


def _ranks_and_accuracies(rows: Sequence[protocol.Row], reference: str) -> list[Block]:
    ranks = claims.ranks(rows, reference)
    return [
        *(_ranks(ranks, reference) if ranks else []),
        Heading(f"Protocol {_LETTER[reference]}: accuracy by data set", 3),
        _by_set(rows, reference),
    ]


def _ranks(ranks: Sequence[claims.Rank], reference: str) -> list[Block]:
    return [
        Heading(f"Protocol {_LETTER[reference]}: ranks", 3),
        Text(
            "Among the methods that use 1-NN: mean rank over data sets and levels (1 is best), mean accuracy, and the "
            "number of data sets on which a method is better or worse than rLDA started from trLDA. p is from "
            "Wilcoxon's signed-rank test over data sets, with Holm's correction."
        ),
        _rank_table(ranks),
    ]


def _rank_table(ranks: Sequence[claims.Rank]) -> ReportTable:
    lines = [
        (
            method_named(r.method).label,
            f"{r.rank:.2f}",
            f"{r.accuracy:.3f}",
            *(("–",) * 3 if np.isnan(r.p) else (str(r.better), str(r.worse), f"{r.p:.3f}")),
        )
        for r in ranks
    ]
    return ReportTable(("method", "mean rank", "accuracy", "better on", "worse on", "p"), lines)


def _by_set(rows: Sequence[protocol.Row], reference: str) -> ReportTable:
    """Mean accuracy with correct labels and with 20 and 40 % wrong ones."""
    mean = means(with_reference(rows, reference))
    sets = [name for name in schedule.NINE if any(name == d for d, _ in mean)]
    levels = (0.0, 0.2, 0.4)
    lines = []
    for method in METHODS:
        if any((d, method) in mean for d in sets):
            cells = [_triple([mean.get((d, method), {}).get(level) for level in levels]) for d in sets]
            lines.append((method_named(method).label, *cells))
    return ReportTable(("at 0 / 20 / 40 %", *(CATALOGUE[d].title for d in sets)), lines)


def _triple(values: Sequence[float | None]) -> str:
    return " ".join("–" if value is None else f"{value:.3f}".lstrip("0") for value in values)


def _corrupted(rows: Sequence[protocol.Row]) -> list[Block]:
    if not rows:
        return []
    blocks: list[Block] = [
        Heading("Corrupted images"),
        Text(
            "All labels are correct; a share of the training images is corrupted: partly covered by a block, sprinkled "
            "with salt and pepper, or replaced by gross outliers. Test images are clean."
        ),
    ]
    for kind in schedule.CORRUPTIONS:
        here = [row for row in rows if row.kind == kind and row.succeeded]
        if here:
            drawing = figures.accuracy_against_noise(here, apart=False)
            caption = f"Accuracy against the share of {figures.CONTAMINATION[kind]}."
            blocks.append(Picture(f"corrupted_{kind}", drawing, caption))
    return blocks


def _convergence(paths: Sequence[convergence.ObjectivePath]) -> list[Block]:
    return [
        Heading("Convergence"),
        *_gaps_of_objective(paths),
        Text(
            "Iterations until the relative change of J stays below 1e-6 (a solver with that tolerance stops at the "
            "first step below it, which may be earlier), and the relative difference between the limits. Several "
            "numbers stand for several random frames."
        ),
        _iteration_table(paths),
        *(Text(f"“–”: {reason}.") for reason in sorted({_why(p) for p in paths if not p.succeeded})),
        Heading("Cost", 3),
        Text(
            "Started from principal axes, one thread, on a machine shared with other fits: milliseconds per iteration "
            "(the whole fit with its start, divided by its iterations), and seconds until the change is below 1e-6 at "
            "that pace. trLDA forms its two scatter matrices once; rLDA reweights the samples in every iteration."
        ),
        _cost_table(paths),
    ]


def _gaps_of_objective(paths: Sequence[convergence.ObjectivePath]) -> list[Block]:
    """The figure, if there is a descent of the paper's objective to draw."""
    drawn = convergence.of_ratio([path for path in paths if path.succeeded])
    if not drawn:
        return []
    caption = (
        "J after every iteration, relative to the lowest limit found on the data set, started from principal axes, "
        "from trLDA and from random frames. A curve that levels off above the others has reached another limit."
    )
    return [Picture("convergence", convergence.figure(drawn), caption)]


def _iteration_table(paths: Sequence[convergence.ObjectivePath]) -> ReportTable:
    runs = list(product(("plain", "accelerated"), convergence.STARTS))
    differences = claims.spread([path for path in paths if path.succeeded])
    lines = []
    for name, here in _by_dataset(paths).items():
        cells = [_iterations([p for p in here if (p.algorithm, p.start) == run]) for run in runs]
        others = [_steps([p for p in here if p.algorithm == other]) for other in ("trace_ratio", "believed")]
        difference = f"{differences.get(name, np.nan):.1e}"
        lines.append((CATALOGUE[name].title, *cells, *others, difference))
    heads = [f"{algorithm}, {start.replace('_', ' ')}" for algorithm, start in runs]
    return ReportTable(("", *heads, "trLDA", "RobustLDA", "limits differ"), lines)


def _steps(paths: Sequence[convergence.ObjectivePath]) -> str:
    return ", ".join(str(path.steps) for path in paths if path.succeeded) or "–"


_COMPARED = ("plain", "accelerated", "trace_ratio")


def _cost_table(paths: Sequence[convergence.ObjectivePath]) -> ReportTable:
    lines = []
    for name, here in _by_dataset(paths).items():
        by = {p.algorithm: p for p in here if p.start == "pca" and p.succeeded}
        pairs = [_seconds(by.get(algorithm)) for algorithm in _COMPARED]
        lines.append((CATALOGUE[name].title, *(cell for pair in pairs for cell in pair)))
    units = ("ms per iteration", "s")
    heads = [f"{a.replace('_', ' ')}, {unit}" for a in _COMPARED for unit in units]
    return ReportTable(("", *heads), lines)


def _by_dataset(paths: Sequence[convergence.ObjectivePath]) -> dict[str, list[convergence.ObjectivePath]]:
    return {name: [p for p in paths if p.dataset == name] for name in dict.fromkeys(p.dataset for p in paths)}


def _iterations(paths: Sequence[convergence.ObjectivePath]) -> str:
    counts = [path.iterations for path in paths if path.succeeded]
    return ", ".join(f"> {convergence.LIMIT}" if count is None else str(count) for count in counts) or "–"


def _seconds(path: convergence.ObjectivePath | None) -> tuple[str, str]:
    if path is None:
        return "–", "–"
    needed = path.steps if path.algorithm == "trace_ratio" else path.iterations or path.steps
    return f"{1000 * path.seconds_per_step:.3g}", f"{path.seconds_per_step * max(needed, 1):.3g}"


def _toy(angles: Sequence[toy.Angle]) -> list[Block]:
    lines = []
    at = {(a.method, a.stretch, a.distance): a for a in angles}
    for stretch, distance in product(toy.STRETCHES, toy.DISTANCES):
        cells = [at.get((name, stretch, distance)) for name in toy.DIRECTIONS]
        shown = ["–" if cell is None else f"{cell.median:.1f}" for cell in cells]
        lines.append((f"{stretch:g}, {f'at {distance:g}' if distance else 'none'}", *shown))
    return [
        Heading("The toy figure"),
        Text(
            f"Two Gaussian classes of {toy.PER_CLASS} samples each, with {toy.OUTLIERS} outliers in one of them along "
            "the long axis of the classes. The table gives the median angle in degrees between each method's direction "
            f"and the one that is optimal without outliers, over {_draws(angles)} draws."
        ),
        Picture(
            "toy", toy.figure(list(angles)), "One draw, and the angle to the optimal direction: median and quartiles."
        ),
        ReportTable(("length of the classes, outliers", *toy.DIRECTIONS), lines),
    ]


def _draws(angles: Sequence[toy.Angle]) -> str:
    """Of how many, which differ where a full run that follows a quick one was interrupted."""
    fewest, most = min(a.draws for a in angles), max(a.draws for a in angles)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _how(rows: Sequence[protocol.Row], command: str) -> list[Block]:
    packages = ", ".join(f"{name} {version(name)}" for name in ("robustlda", "numpy", "scipy", "scikit-learn"))
    return [
        Heading("How it was done"),
        Text(_METHOD),
        _coverage(rows),
        *_gaps(rows),
        Text(f"Python {platform.python_version()}, {packages}. To repeat the experiments, or to resume them:"),
        Text(f"`{command}`"),
        Text(
            "`comparison.csv` has a row per data set, contamination, level, fold and method; `convergence.csv` one per "
            "data set, algorithm and start; `toy.csv` one per setting and method."
        ),
    ]


_METHOD = (
    "Stratified folds, seed 0; exactly the given share of the training labels is flipped, uniformly over the other "
    "classes; every method gets the same folds and flips as far as it was run (see the table), and test labels are "
    "never changed. Scaling, imputation and tuning happen inside the training fold. Projections have three dimensions "
    "per class, as in the paper; LDA, LPP and DLE have one fewer than there are classes. Terms of text are kept by "
    "total count (above 50 for Reuters, above 100 for the others) and weighted by tf-idf; LDA gets 300 latent semantic "
    "components of them. In Reuters, classes with fewer documents than folds are missing from some training or test "
    "folds. DLE is a reconstruction."
)


def _coverage(rows: Sequence[protocol.Row]) -> ReportTable:
    """Which folds and levels were run."""
    table = accuracies([row for row in rows if row.kind == "uniform" and row.succeeded])
    lines = []
    for name in schedule.NINE:
        with_1nn = [by for (d, method), by in table.items() if d == name and METHODS[method].uses_1nn]
        if with_1nn:
            svm = table.get((name, "svm"), {})
            levels = ", ".join(f"{level:.0%}" for level in svm) or "not run"
            folds = (_folds(by_noise) for by_noise in (svm, table.get((name, "rlda"), {})))
            lines.append((CATALOGUE[name].title, _folds(with_1nn[0]), levels, *folds))
    return ReportTable(("data set", "folds run of 5", "SVM: levels", "SVM: folds", "RobustLDA(): folds"), lines)


def _gaps(rows: Sequence[protocol.Row]) -> list[Block]:
    """What was not run or failed, and why, in one paragraph."""
    absent = [CATALOGUE[name].title for name in schedule.NINE if name not in {row.dataset for row in rows}]
    sentences = [f"Not available: {', '.join(absent)}"] if absent else []
    reasons = sorted({(row.dataset, row.method, _why(row)) for row in rows if not row.succeeded})
    sentences += [f"{method_named(m).label} on {CATALOGUE[d].title}: {reason}" for d, m, reason in reasons]
    return [Text("; ".join(sentences) + ".")] if sentences else []


def _folds(by_noise: dict[float, list[float]]) -> str:
    counts = sorted({len(values) for values in by_noise.values()})
    if not counts:
        return "–"
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _why(record: Outcome) -> str:
    """Why there is no result."""
    return f"not run: {record.skipped}" if record.skipped else record.error
