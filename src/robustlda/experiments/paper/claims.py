"""The paper's claims, each with the measurement, the verdict that follows from it, and the source of the numbers."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from scipy import stats

from robustlda.datasets.catalogue import CATALOGUE
from robustlda.experiments.methods import method_named
from robustlda.experiments.paper.convergence import ObjectivePath, of_ratio
from robustlda.experiments.paper.results import Results
from robustlda.experiments.paper.toy import DISTANCES, STRETCHES, Angle
from robustlda.experiments.protocol import Row
from robustlda.experiments.tables import means, with_reference
from robustlda.linalg import Array

AS_PUBLISHED = ("rlda_1nn", "rlda_pca_1nn")
OURS = "robust_1nn"
NOT_MEASURED = "not measured"
STABLE = 5.0
"""Percentage points that may be lost from 0 to 40 %."""


@dataclass(frozen=True)
class Claim:
    """What the paper says, what was measured, whether it holds, and the rows of the CSV file behind the numbers.

    `ours` says whether `RobustLDA` keeps it, where that was measured.
    """

    says: str
    found: str
    verdict: str
    source: str
    ours: str = "–"


@dataclass(frozen=True)
class Rank:
    """Mean rank and accuracy of a method, and its comparison with a reference method over the data sets."""

    method: str
    rank: float
    accuracy: float
    better: int
    worse: int
    p: float


def all_claims(results: Results) -> list[Claim]:
    """Those for which there are results."""
    labels = [row for row in results.wrong_labels if row.succeeded]
    corrupted = [row for row in results.corrupted_samples if row.succeeded]
    paths = [path for path in results.paths if path.succeeded]
    measured = of_algorithm(paths, "plain")
    found: list[Claim] = []
    if measured:
        found += [monotone(paths), within_twenty(paths), stationary(paths), global_limit(paths), quadratic(paths)]
    if results.angles:
        found.append(toy(results.angles))
    if labels:
        found += [stable(labels, "noisy"), stable(labels, "clean"), best(labels, "noisy"), best(labels, "clean")]
    if measured:
        found.append(cost(paths))
    if corrupted:
        found.append(outliers(corrupted))
    return found


def of_algorithm(paths: Sequence[ObjectivePath], algorithm: str) -> list[ObjectivePath]:
    return [path for path in paths if path.algorithm == algorithm]


def monotone(paths: Sequence[ObjectivePath]) -> Claim:
    increases, steps = _increases(of_ratio(paths))
    ours = of_algorithm(paths, "believed")
    return Claim(
        "J decreases in every iteration",
        f"{increases} increases in {steps} iterations",
        "holds" if increases == 0 else "does not hold",
        "`convergence.csv`, column path",
        "holds for its own objective: {} increases in {} iterations".format(*_increases(ours)) if ours else "–",
    )


def _increases(paths: Sequence[ObjectivePath]) -> tuple[int, int]:
    """How many steps go up, and of how many."""
    steps = np.concatenate([np.diff(p.objective) / np.abs(p.objective[:-1]) for p in paths])
    return int((steps > 1e-12).sum()), len(steps)


def within_twenty(paths: Sequence[ObjectivePath]) -> Claim:
    plain = of_algorithm(paths, "plain")
    absolute = [path.iterations_to(1e-6, relative=False) for path in plain]
    limit = [path.iterations_within(1e-6) for path in plain]
    share = _share_within_twenty([path.iterations for path in plain])
    return Claim(
        "Converges within 20 iterations (change of J below 1e-6)",
        f"relative change: {_iterations(paths, 'plain')}, {_iterations(paths, 'accelerated')}; plain, absolute change: "
        f"{_share_within_twenty(absolute):.0%}; plain, J within 1e-6 of its limit: {_share_within_twenty(limit):.0%}",
        "holds" if share == 1 else "does not hold" if share < 0.5 else "holds on some data",
        "`convergence.csv`, column path; iterations in the table below",
        _our_iterations(of_algorithm(paths, "believed")),
    )


def _our_iterations(paths: Sequence[ObjectivePath]) -> str:
    counts = [path.steps for path in paths]
    if not counts:
        return "–"
    verdict = "holds" if max(counts) <= 20 else "does not hold"
    return f"{verdict}: {min(counts)} to {max(counts)} iterations, to its own tolerance"


def _iterations(paths: Sequence[ObjectivePath], algorithm: str) -> str:
    counts = [path.iterations for path in of_algorithm(paths, algorithm)]
    known = [count for count in counts if count is not None]
    slow = f", {len(counts) - len(known)} not within 300" if len(known) < len(counts) else ""
    fast = f"{min(known)} to {max(known)} iterations" if known else "none of them"
    return f"{algorithm} {_share_within_twenty(counts):.0%} of {len(counts)} runs ({fast}{slow})"


def _share_within_twenty(counts: Sequence[int | None]) -> float:
    return sum(count is not None and count <= 20 for count in counts) / max(len(counts), 1)


def stationary(paths: Sequence[ObjectivePath]) -> Claim:
    gradients = [path.stationarity for path in of_algorithm(paths, "plain")]
    return Claim(
        "The limit is a stationary point",
        f"relative gradient at the end: median {median(gradients):.0e}, maximum {max(gradients):.0e}",
        "holds" if max(gradients) < 1e-2 else "does not hold",
        "`convergence.csv`, column stationarity",
    )


def spread(paths: Sequence[ObjectivePath]) -> dict[str, float]:
    """For every data set, the largest relative difference between the limits from different starts."""
    limits = defaultdict(list)
    for path in of_ratio(paths):
        limits[path.dataset].append(path.objective[-1])
    return {name: max(values) / min(values) - 1 for name, values in limits.items()}


def global_limit(paths: Sequence[ObjectivePath]) -> Claim:
    differences = spread(paths)
    several = [name for name, value in differences.items() if value > 1e-4]
    worst = max(differences, key=lambda name: differences[name])
    where = f"; by at most {differences[worst]:.1%}, on {CATALOGUE[worst].title}" if several else ""
    return Claim(
        "The global optimum is found (theorem on Algorithm 1)",
        f"limits from different starts differ by more than 1e-4 on {len(several)} of {len(differences)} sets{where}",
        "does not hold for Algorithm 2" if several else "not refuted",
        "`convergence.csv`, last number of column path",
    )


def quadratic(paths: Sequence[ObjectivePath]) -> Claim:
    says, source = "Convergence is quadratic (theorem on Algorithm 1)", "`convergence.csv`, column path"
    plain = [path.rate for path in of_algorithm(paths, "plain") if not np.isnan(path.rate)]
    trace = [path.steps for path in of_algorithm(paths, "trace_ratio")]
    if not plain or not trace:
        return Claim(says, "no run is long enough to tell", NOT_MEASURED, source)
    return Claim(
        says,
        f"the distance of J from its limit shrinks to {median(plain):.0%} per step (median; {min(plain):.0%} to "
        f"{max(plain):.0%}), a linear rate; trLDA, to which the theorem applies, converges in {min(trace)} to "
        f"{max(trace)} steps",
        f"{'holds' if median(plain) < 0.02 else 'does not hold'} for Algorithm 2, "
        f"{'holds' if max(trace) <= 20 else 'does not hold'} for trLDA",
        source,
    )


def toy(angles: Sequence[Angle]) -> Claim:
    says, source = (
        "With outliers, rLDA keeps the right direction while LDA and trLDA lose it (toy figure)",
        "`toy.csv`, column median",
    )
    at = {(a.method, a.stretch, a.distance): a.median for a in angles}
    cells = [(stretch, distance) for stretch in STRETCHES for distance in DISTANCES if distance > 0]
    if not all((method, *cell) in at for method in ("LDA", "rLDA") for cell in cells):
        return Claim(says, "LDA and rLDA were not run in every setting", NOT_MEASURED, source)
    wins = sum(at["rLDA", s, d] < at["LDA", s, d] for s, d in cells)
    return Claim(
        says,
        f"median angle to the optimal direction, round classes, outliers at 10: LDA {at['LDA', 1, 10]:.0f}°, rLDA "
        f"{at['rLDA', 1, 10]:.0f}°; at 40: {at['LDA', 1, 40]:.0f}° and {at['rLDA', 1, 40]:.0f}°; classes four times as "
        f"long as wide, at 10: {at['LDA', 4, 10]:.0f}° and {at['rLDA', 4, 10]:.0f}°. rLDA is closer in {wins} of "
        f"{len(cells)} settings",
        "holds for round classes and moderate outliers only" if wins < len(cells) else "holds",
        source,
        _our_toy(at, cells),
    )


def _our_toy(at: dict[tuple[str, float, float], float], cells: list[tuple[float, float]]) -> str:
    others = ("LDA", "trLDA", "rLDA")
    if not all((method, *cell) in at for method in ("RobustLDA", *others) for cell in cells):
        return "–"
    wins = sum(at["RobustLDA", s, d] < min(at[m, s, d] for m in others) for s, d in cells)
    verdict = "holds" if wins >= 0.75 * len(cells) else "does not hold"
    return f"{verdict}: nearer than LDA, trLDA and rLDA in {wins} of {len(cells)} settings"


def drop(rows: Sequence[Row], method: str) -> float:
    """Percentage points lost between no contamination and 40 %, averaged over the data sets; NaN if not measured."""
    table = {name: by for (name, m), by in means(rows).items() if m == method and {0.0, 0.4} <= set(by)}
    return 100 * fmean(by[0.0] - by[0.4] for by in table.values()) if table else float("nan")


def stable(rows: Sequence[Row], reference: str) -> Claim:
    says = f"Accuracy hardly drops as label noise increases ({PROTOCOL[reference]})"
    source = f"`comparison.csv`, kind uniform, column {COLUMN[reference]}"
    rows = with_reference(rows, reference)
    lost = {name: drop(rows, name) for name in (*AS_PUBLISHED, "pca_1nn", "trlda_1nn", "knn", "rlda")}
    ours = _our_stability(drop(rows, OURS), lost["rlda"] if reference == "noisy" else None)
    if any(np.isnan(lost[name]) for name in (*AS_PUBLISHED, "pca_1nn")):
        return Claim(says, "rLDA or PCA was not run with 0 and 40 % wrong labels", NOT_MEASURED, source, ours)
    with_default = f"; `RobustLDA()`, which does not use 1-NN: {_points(lost['rlda'])}" if reference == "noisy" else ""
    return Claim(
        says,
        f"points lost from 0 to 40 % wrong labels, mean over the sets: rLDA {lost['rlda_1nn']:.1f} when started from "
        f"trLDA, {lost['rlda_pca_1nn']:.1f} from principal axes; PCA {lost['pca_1nn']:.1f}, trLDA "
        f"{_points(lost['trlda_1nn'])}, no projection {_points(lost['knn'])}{with_default}",
        _stability_verdict(lost),
        source,
        ours,
    )


def _points(lost: float) -> str:
    return NOT_MEASURED if np.isnan(lost) else f"{lost:.1f}"


def _our_stability(projected: float, own_rule: float | None) -> str:
    if np.isnan(projected):
        return "–"
    verdict = "holds" if projected <= STABLE else "does not hold"
    found = f"{verdict} for its projection with 1-NN: {projected:.1f} points lost"
    if own_rule is None or np.isnan(own_rule):
        return found
    return f"{found}; {'holds' if own_rule <= STABLE else 'does not hold'} for its own decision: {own_rule:.1f}"


def _stability_verdict(lost: dict[str, float]) -> str:
    """Stable means at most five points lost; PCA, which ignores the labels, is the control."""
    starts = {
        "when started from trLDA": lost["rlda_1nn"] <= STABLE,
        "from principal axes": lost["rlda_pca_1nn"] <= STABLE,
    }
    held = [start for start, holds in starts.items() if holds]
    if not held:
        return "does not hold"
    verdict = "holds" if len(held) == 2 else f"holds {held[0]} only"
    as_stable = lost["pca_1nn"] <= min(lost[name] for name in AS_PUBLISHED) + 2
    return verdict + (", but not because of rLDA: PCA is equally stable" if as_stable else "")


PROTOCOL = {"noisy": "protocol A: 1-NN uses the noisy labels", "clean": "protocol B: 1-NN uses the correct labels"}
COLUMN = {"noisy": "accuracy", "clean": "clean_reference"}


def ranks(rows: Sequence[Row], reference: str, against: str = "rlda_1nn") -> list[Rank]:
    """Mean ranks over data sets and levels, and Wilcoxon's signed-rank test over data sets, with Holm's correction.

    Only data sets and levels on which every method was run count; a method's accuracy on a data set is the mean over
    folds and levels. Without any, or without the reference method, nothing can be ranked.
    """
    table = means(with_reference([r for r in rows if r.succeeded and r.method not in ("svm", "rlda")], reference))
    names = sorted({method for _, method in table})
    complete = sorted({d for d, _ in table if all((d, name) in table for name in names)})
    levels = {d: sorted(set.intersection(*(set(table[d, name]) for name in names))) for d in complete}
    sets = [d for d in complete if levels[d]]
    if not sets or against not in names:
        return []
    blocks = np.array([[table[d, name][p] for name in names] for d in sets for p in levels[d]])
    mean = {name: np.array([fmean(table[d, name][p] for p in levels[d]) for d in sets]) for name in names}
    place = dict(zip(names, stats.rankdata(-blocks, axis=1).mean(axis=0), strict=True))
    difference = {name: mean[name] - mean[against] for name in names}
    p = _holm({name: _wilcoxon(difference[name]) for name in names if name != against})
    found = [_rank(name, place[name], mean[name], difference[name], p.get(name, float("nan"))) for name in names]
    return sorted(found, key=lambda rank: rank.rank)


def _rank(name: str, rank: float, accuracy: Array, difference: Array, p: float) -> Rank:
    better, worse = int((difference > 5e-4).sum()), int((difference < -5e-4).sum())
    return Rank(name, float(rank), float(accuracy.mean()), better, worse, p)


def _wilcoxon(difference: Array) -> float:
    return float(stats.wilcoxon(difference).pvalue) if difference.any() else 1.0


def _holm(p: dict[str, float]) -> dict[str, float]:
    found, largest = {}, 0.0
    for i, name in enumerate(sorted(p, key=lambda name: p[name])):
        largest = max(largest, min(1.0, (len(p) - i) * p[name]))
        found[name] = largest
    return found


def best(rows: Sequence[Row], reference: str) -> Claim:
    """Among the methods of the paper; RobustLDA among all, on the data sets it was run on."""
    order = ranks([row for row in rows if row.method != OURS], reference)
    place = {rank.method: i + 1 for i, rank in enumerate(order)}
    rank = {r.method: r for r in order}
    says = f"rLDA is better than the others ({PROTOCOL[reference]})"
    source, ours = f"`comparison.csv`, kind uniform, column {COLUMN[reference]}", _our_place(rows, reference)
    if not rank.keys() >= {*AS_PUBLISHED, "pca_1nn"}:
        return Claim(says, "rLDA, PCA and the others were not run on the same data", NOT_MEASURED, source, ours)
    first = order[0]
    return Claim(
        says,
        f"mean rank of {len(order)}: {rank['rlda_1nn'].rank:.1f} when started from trLDA (place {place['rlda_1nn']}), "
        f"{rank['rlda_pca_1nn'].rank:.1f} from principal axes (place {place['rlda_pca_1nn']}); PCA "
        f"{rank['pca_1nn'].rank:.1f}; the best is {method_named(first.method).label} with {first.rank:.1f}",
        "holds" if first.method in AS_PUBLISHED else "does not hold",
        f"{source}; rank table below",
        ours,
    )


def _our_place(rows: Sequence[Row], reference: str) -> str:
    sets = {row.dataset for row in rows if row.method == OURS}
    order = ranks(rows, reference) if sets else []
    if not order:
        return "–"
    place, rank = next((i + 1, rank) for i, rank in enumerate(order) if rank.method == OURS)
    verdict = "holds" if place == 1 else "does not hold"
    return f"{verdict}: mean rank {rank.rank:.1f} of {len(order)} (place {place}), on {len(sets)} data sets"


def cost(paths: Sequence[ObjectivePath]) -> Claim:
    says, source = "An iteration costs as much as one of trLDA", "`convergence.csv`, start pca, column seconds"
    traces = {path.dataset: path for path in of_algorithm(paths, "trace_ratio")}
    per_step, total = [], []
    for path in of_algorithm(paths, "plain"):
        trace = traces.get(path.dataset)
        if trace and path.start == "pca" and path.iterations is not None:
            per_step.append(path.seconds_per_step / trace.seconds_per_step)
            total.append(path.seconds_per_step * max(path.iterations, 1) / trace.seconds)
    if not total:
        return Claim(says, "no run ended within 300 iterations", NOT_MEASURED, source)
    return Claim(
        says,
        f"plain rLDA takes {min(per_step):.1f} to {max(per_step):.1f} times as long per iteration (median "
        f"{median(per_step):.1f}), and {min(total):.1f} to {max(total):.1f} times in total (median "
        f"{median(total):.1f})",
        _cost_verdict(median(per_step), median(total)),
        source,
    )


def _cost_verdict(per_step: float, total: float) -> str:
    if per_step >= 5:
        return "does not hold"
    return "same order per iteration, not in total" if total >= 2 * per_step else "holds"


def outliers(rows: Sequence[Row]) -> Claim:
    says = "Lengths instead of squares make rLDA robust to corrupted samples (not measured in the paper)"
    source = "`comparison.csv`, kinds occlude, salt_and_pepper, gross_rows"
    lost = {name: drop(rows, name) for name in (*AS_PUBLISHED, "lda_1nn", "trlda_1nn", "pca_1nn", "rlda")}
    if np.isnan(lost["rlda_1nn"]) or np.isnan(lost["lda_1nn"]):
        return Claim(says, "rLDA or LDA was not run with 0 and 40 % corrupted images", NOT_MEASURED, source)
    names = {name: method_named(name).label for name in lost} | {"rlda": "`RobustLDA()`"}
    order = sorted((name for name in lost if not np.isnan(lost[name])), key=lambda name: lost[name])
    return Claim(
        says,
        "points lost with 40 % corrupted images, mean over face data sets and kinds of corruption: "
        + ", ".join(f"{names[name]} {lost[name]:.1f}" for name in order),
        "holds against LDA" if lost["rlda_1nn"] < lost["lda_1nn"] - 1 else "does not hold",
        source,
        _our_outliers(drop(rows, OURS), lost["rlda"], lost["lda_1nn"]),
    )


def _our_outliers(projected: float, own_rule: float, lda: float) -> str:
    found = {"its projection with 1-NN": projected, "its own decision": own_rule}
    known = {what: lost for what, lost in found.items() if not np.isnan(lost)}
    return (
        "; ".join(
            f"{'holds' if lost < lda else 'does not hold'} for {what}: {lost:.1f} points lost, LDA {lda:.1f}"
            for what, lost in known.items()
        )
        or "–"
    )
