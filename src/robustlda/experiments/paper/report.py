"""What came of the paper's experiments, as a document: verdicts first, then figures, tables and how it was done."""

import platform
from collections.abc import Sequence
from importlib.metadata import version

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


def document(results: Results, command: str) -> Document:
    """The whole report; `command` is what repeats the experiments."""
    labels = results.wrong_labels
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
    return Document("The paper's claims, measured", blocks)


def _panels(rows: Sequence[protocol.Row], reference: str) -> Picture:
    folds = "protocol A: 1-NN votes with the noisy labels of the training samples"
    if reference == "clean":
        folds = "protocol B: 1-NN votes with the right labels, and only the projection saw noisy ones"
    return Picture(
        f"accuracy_{_LETTER[reference]}",
        figures.accuracy_against_noise(
            [row for row in rows if row.succeeded], reference=reference, columns=3, apart=False
        ),
        f"Accuracy against the share of wrong training labels, {folds}. The SVM and `RobustLDA()` decide by "
        "themselves, and see the same noisy labels under both.",
    )


def _verdicts(found: Sequence[claims.Claim]) -> list[Block]:
    rows = [(c.says, c.found, f"**{c.verdict}**", c.source) for c in found]
    return [Heading("Claims"), ReportTable(("claim", "measured", "verdict", "lines behind it"), rows, prose=True)]


def _accuracy(rows: Sequence[protocol.Row]) -> list[Block]:
    blocks: list[Block] = [
        Heading("Accuracy against wrong labels"),
        Text(
            "The paper does not say which labels 1-NN votes with. A wrong label of the nearest neighbour is copied "
            "whatever the projection, so with noisy labels (protocol A, above) 1-NN loses about as many points as "
            "labels are wrong. Protocol B shows the projection alone."
        ),
        _panels(rows, "clean"),
    ]
    for reference in ("noisy", "clean"):
        blocks += [
            Heading(f"Protocol {_LETTER[reference]}: ranks", 3),
            Text(
                "Among methods that let 1-NN vote: mean rank over data sets and levels (1 is best), mean accuracy, and "
                "on how many data sets a method is better or worse than rLDA from the start of trLDA. p is Wilcoxon's "
                "signed-rank test over data sets, after Holm."
            ),
            _rank_table(rows, reference),
            Heading(f"Protocol {_LETTER[reference]}: accuracy by data set", 3),
            _by_set(rows, reference),
        ]
    return blocks


def _rank_table(rows: Sequence[protocol.Row], reference: str) -> ReportTable:
    lines = [
        (
            method_named(r.method).label,
            f"{r.rank:.2f}",
            f"{r.accuracy:.3f}",
            *(("–",) * 3 if np.isnan(r.p) else (str(r.better), str(r.worse), f"{r.p:.3f}")),
        )
        for r in claims.ranks(rows, reference)
    ]
    return ReportTable(("method", "mean rank", "accuracy", "better on", "worse on", "p"), lines)


def _by_set(rows: Sequence[protocol.Row], reference: str) -> ReportTable:
    """Mean accuracy with right labels, 20 and 40 % wrong ones."""
    mean = means(with_reference([row for row in rows if row.succeeded], reference))
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
        Heading("Spoiled images"),
        Text(
            "Labels are right; a share of the training images is spoiled: partly covered by a block, by salt and "
            "pepper, or replaced by gross outliers. Test images are clean."
        ),
    ]
    for kind in schedule.CORRUPTIONS:
        here = [row for row in rows if row.kind == kind and row.succeeded]
        if here:
            drawing = figures.accuracy_against_noise(here, apart=False)
            blocks.append(Picture(f"corrupted_{kind}", drawing, f"Accuracy against {figures.CONTAMINATION[kind]}."))
    return blocks


def _convergence(paths: Sequence[convergence.ObjectivePath]) -> list[Block]:
    names = list(dict.fromkeys(path.dataset for path in paths))
    differ = claims.spread([path for path in paths if path.succeeded])
    lines = []
    for name in names:
        cells = []
        for algorithm in ("plain", "accelerated"):
            for start in convergence.STARTS:
                chosen = [p for p in paths if (p.dataset, p.algorithm, p.start) == (name, algorithm, start)]
                cells.append(_iterations(chosen))
        trace = [
            len(p.objective) - 1 for p in paths if p.dataset == name and p.algorithm == "trace_ratio" and p.succeeded
        ]
        lines.append(
            (CATALOGUE[name].title, *cells, str(trace[0]) if trace else "–", f"{differ.get(name, np.nan):.1e}")
        )
    heads = [f"{a}, {s.replace('_', ' ')}" for a in ("plain", "accelerated") for s in convergence.STARTS]
    missing = sorted({_why(p) for p in paths if not p.succeeded})
    times = []
    for name in names:
        by = {p.algorithm: p for p in paths if p.dataset == name and p.start == "pca" and p.succeeded}
        pairs = [_seconds(by.get(algorithm)) for algorithm in convergence.ALGORITHMS]
        times.append((CATALOGUE[name].title, *(cell for pair in pairs for cell in pair)))
    heads_of_times = [f"{a.replace('_', ' ')}, {x}" for a in convergence.ALGORITHMS for x in ("ms per iteration", "s")]
    return [
        Heading("Convergence"),
        Picture(
            "convergence",
            convergence.figure(paths),
            "J after every iteration, relative to the lowest limit found on the data set, from principal axes, from "
            "trLDA and from random frames. A line that stays up has found another limit.",
        ),
        Text(
            "Iterations until J never again changes by more than 1e-6 of itself (a solver with that tolerance stops at "
            "the first short step, which may be earlier), and by how much the limits differ. "
            "Several numbers: several random frames."
        ),
        ReportTable(("", *heads, "trLDA", "limits differ"), lines),
        *(Text(f"“–”: {reason}.") for reason in missing),
        Heading("Cost", 3),
        Text(
            "From principal axes, one thread, beside other fits: milliseconds per iteration, and seconds until the "
            "change is below 1e-6 (the start included). trLDA forms its two scatter matrices once; rLDA weighs the "
            "samples anew in every iteration."
        ),
        ReportTable(("", *heads_of_times), times),
    ]


def _iterations(paths: Sequence[convergence.ObjectivePath]) -> str:
    counts = [path.iterations for path in paths if path.succeeded]
    return ", ".join("> 300" if count is None else str(count) for count in counts) or "–"


def _seconds(path: convergence.ObjectivePath | None) -> tuple[str, str]:
    if path is None:
        return "–", "–"
    steps = len(path.objective) - 1
    needed = steps if path.algorithm == "trace_ratio" else path.iterations or steps
    return f"{1000 * path.seconds / steps:.3g}", f"{path.seconds * needed / steps:.3g}"


def _toy(angles: Sequence[toy.Angle]) -> list[Block]:
    lines = []
    at = {(a.method, a.stretch, a.distance): a for a in angles}
    for stretch in toy.STRETCHES:
        for distance in toy.DISTANCES:
            shown = [f"{at[name, stretch, distance].median:.1f}" for name in toy.DIRECTIONS]
            lines.append((f"{stretch:g}, {f'at {distance:g}' if distance else 'none'}", *shown))
    return [
        Heading("The toy figure"),
        Text(
            f"Two Gaussian classes of {toy.PER_CLASS}, {toy.OUTLIERS} outliers in one of them, along the longer axis "
            "of the classes; the angle between each method's direction and the one that is right without outliers, "
            f"over {angles[0].draws} draws."
        ),
        Picture(
            "toy", toy.figure(list(angles)), "One draw, and the angle to the right direction: median and quartiles."
        ),
        ReportTable(("length of the classes, outliers", *toy.DIRECTIONS), lines),
    ]


def _how(rows: Sequence[protocol.Row], command: str) -> list[Block]:
    table = accuracies([row for row in rows if row.kind == "uniform" and row.succeeded])
    lines = []
    for name in schedule.NINE:
        voting = [by for (d, method), by in table.items() if d == name and METHODS[method].votes]
        if voting:
            machine = table.get((name, "svm"), {})
            lines.append(
                (
                    CATALOGUE[name].title,
                    _folds(voting[0]),
                    ", ".join(f"{level:.0%}" for level in machine) or "not run",
                    _folds(machine) if machine else "–",
                    _folds(table[name, "rlda"]) if (name, "rlda") in table else "–",
                )
            )
    failed = sorted({(row.dataset, row.method, _why(row)) for row in rows if not row.succeeded})
    absent = [CATALOGUE[name].title for name in schedule.NINE if name not in {row.dataset for row in rows}]
    sentences = [f"Not at hand: {', '.join(absent)}"] if absent else []
    sentences += [f"{method_named(m).label} on {CATALOGUE[d].title}: {reason}" for d, m, reason in failed]
    missing = [Text("; ".join(sentences) + ".")] if sentences else []
    packages = ", ".join(f"{name} {version(name)}" for name in ("robustlda", "numpy", "scipy", "scikit-learn"))
    return [
        Heading("How it was done"),
        Text(
            "Stratified folds, seed 0; exactly the given share of the training labels is flipped, uniformly over the "
            "other classes; every method meets the same folds and flips as far as it was run (see the table), and test "
            "labels are never touched. Scaling, imputation and tuning happen inside the training fold. Projections "
            "have three dimensions per class, as in the paper, LDA, LPP and DLE one less than there are classes. Terms "
            "of text are kept by total count (above 50 for Reuters, above 100 for the others) and weighted by tf-idf; "
            "LDA gets 300 latent semantic components of them. In Reuters, classes with fewer documents than folds are "
            "missing from some training or test folds. DLE is a reconstruction."
        ),
        ReportTable(("data set", "folds run of 5", "SVM: levels", "SVM: folds", "RobustLDA(): folds"), lines),
        *missing,
        Text(f"Python {platform.python_version()}, {packages}. To run it again, or to go on with it:"),
        Text(f"`{command}`"),
        Text(
            "`comparison.csv` has a line per data set, contamination, level, fold and method; `convergence.csv` one "
            "per data set, algorithm and start; `toy.csv` one per setting and method."
        ),
    ]


def _folds(by_noise: dict[float, list[float]]) -> str:
    counts = sorted({len(values) for values in by_noise.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _why(record: Outcome) -> str:
    """Why there is no result."""
    return f"not run: {record.skipped}" if record.skipped else record.error
