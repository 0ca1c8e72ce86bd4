"""`python -m benchmarks.judgement OUT --data-dir FOLDER`: is what the audit says about labels true?

Labels that people got wrong (labelme and sentiment, each with the majority of several answers and with one answer), and
errors planted in digits, vehicle, breast cancer and dermatology (2000 rows at most): uniform; 30 % of every other class
called like the class nearest to it; one class against the rest at 2, 6 and 20 %, a fifth of its size flipped each way
or a quarter of it one way; none. For each: the estimated share of wrong labels and its interval, flags at 5 and 20 % of
tolerated false alarms, the largest recall at which the ranking itself still has a precision of 95 % (attainable),
average precision, and how far stated probabilities are off (calibration: mean difference over ten bins). `after_30` is
the share after 30 rows that `to_review` chose were checked. Beside it:

- cleanlab, with out-of-sample probabilities of logistic regression;
- consensus: the share of the trees of a random forest, of those that have not seen the sample, that speak against its
  label. An idea of ensemble filters (Brodley and Friedl 1999), and of the consensus detectors in Orange's benchmark of
  mislabeled data;
- margin: how far the given label is behind the best other one while a linear model is being trained, the mean over
  passes (area under the margin, Pleiss et al. 2020), in the same benchmark.

The latter two only rank. Cases already in the file are not computed again.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from benchmarks import kept
from robustlda import LabelAudit
from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments.baselines import inner_folds
from robustlda.report.document import png, save

PLANTED = ("digits", "vehicle", "breast_cancer", "dermatology")
KINDS = {
    "people": ("labelme majority", "labelme one", "sentiment majority", "sentiment one"),
    "uniform": ("uniform 10", "uniform 30"),
    "one way": ("one way",),
    "imbalanced": tuple(f"imbalanced {share} {how}" for share in (2, 6, 20) for how in ("both", "one")),
    "none": ("none",),
}
MEASURES = ["precision_5", "recall_5", "precision_20", "recall_20", "attainable", "average_precision", "calibration"]
FIELDS = ["data", "kind", "seed", "method", "wrong", "rate", "low", "high", "after_30", *MEASURES, "flagged", "met"]
BINS = 10


def cases(seeds: list[int]) -> Iterator[tuple[str, str, int]]:
    """Data set, kind of error, and seed."""
    for kind in KINDS["people"]:
        yield kind.split()[0], kind, 0
    for seed in seeds:
        for data in PLANTED:
            for group in ("uniform", "one way", "imbalanced", "none"):
                for kind in KINDS[group]:
                    if kind != "none" or seed == seeds[0]:
                        yield data, kind, seed


def problem(data: str, kind: str, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels as given, and true ones."""
    if kind in KINDS["people"]:
        return by_people(data, kind.split()[1])
    X, y = _table(data)
    rng = np.random.default_rng(seed)
    if kind == "none":
        return X, y, y
    if kind.startswith("uniform"):
        return X, contaminate(X, y, "uniform", int(kind.split()[1]) / 100, rng)[1], y
    if kind == "one way":
        return X, contaminate(X, y, "nearest_class", 0.3, rng)[1], y
    _, share, how = kind.split()
    return imbalanced(X, y, rng, int(share) / 100, both=how == "both")


def _table(data: str) -> tuple[np.ndarray, np.ndarray]:
    dataset = catalogue.dataset_named(data)
    X, y = dataset.load()
    keep = np.sort(np.random.default_rng(0).permutation(len(y))[:2000])
    return dataset.scaling().fit_transform(X[keep]), y[keep]


def by_people(data: str, which: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels that people gave (majority, one), and true ones."""
    X, given, true, train = _all_of(data, which)
    return X[train], given[train], true[train]


def people_split(data: str, which: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Training features and labels that people gave; test features and their true labels."""
    X, given, true, train = _all_of(data, which)
    rest = np.setdiff1d(np.arange(len(true)), train)
    return X[train], given[train], X[rest], true[rest]


def _all_of(data: str, which: str) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """All rows, scaled by the training rows; labels by people and true ones; which rows are for training."""
    folder = Path(os.environ[catalogue.FOLDER_VARIABLE])
    if data == "labelme":
        stored = np.load(folder / "labelme.npz")
        train = np.flatnonzero(stored["is_train"])
        X, y = StandardScaler().fit(stored["X"][train]).transform(stored["X"]), stored["y"]
    else:
        stored = np.load(folder / "sentiment.labels.npz")
        train = np.flatnonzero(stored["is_train"])
        X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(sp.load_npz(folder / "sentiment.X.npz")))
        y = np.load(folder / "sentiment.y.npy")
    return X, stored[f"y_{which}"].astype(int), y.astype(int), train


def imbalanced(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, share: float, *, both: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One class, drawn at random and thinned out to a share, against the rest."""
    k = rng.integers(y.max() + 1)
    few, rest = rng.permutation(np.flatnonzero(y == k)), rng.permutation(np.flatnonzero(y != k))
    few = few[: max(8, round(share * len(rest) / (1 - share)))]
    rows = np.sort(np.concatenate([few, rest[: round(len(few) * (1 - share) / share)]]))
    true = (y[rows] == k).astype(int)
    given = true.copy()
    flips = max(1, round((0.2 if both else 0.25) * true.sum()))
    given[rng.permutation(np.flatnonzero(true == 1))[:flips]] = 0
    if both:
        given[rng.permutation(np.flatnonzero(true == 0))[:flips]] = 1
    return X[rows], given, true


def rows(data: str, kind: str, seed: int, methods: list[str]) -> list[dict[str, str]]:
    """What is said about one case, by each method."""
    X, given, true = problem(data, kind, seed)
    wrong = given != true
    base = {"data": data, "kind": kind, "seed": str(seed), "wrong": f"{wrong.mean():.4f}"}
    return [base | {"method": method} | _texts(METHODS[method](X, given, true)) for method in methods]


def _ours(X: Any, given: np.ndarray, true: np.ndarray) -> dict[str, Any]:
    audit = LabelAudit().fit(X, given)
    checked = audit.to_review(30)
    after = LabelAudit().fit(X, given, verified={int(i): true[i] for i in checked}).noise_rate_
    found = measures(given != true, audit.probability_wrong_, audit.flags(), audit.flags(0.2))
    low, high = audit.noise_interval_
    return found | {"rate": audit.noise_rate_, "low": low, "high": high, "after_30": after}


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else f"{value:.4f}" for name, value in values.items()}


def measures(wrong: np.ndarray, stated: np.ndarray, flags: np.ndarray, more: np.ndarray) -> dict[str, Any]:
    """How good flags, ranking and stated probabilities are."""
    bins = np.minimum((BINS * stated).astype(int), BINS - 1)
    inside = [bins == k for k in range(BINS)]
    off = sum(b.mean() * abs(stated[b].mean() - wrong[b].mean()) for b in inside if b.any())
    curve = [f"{b.sum()}:{stated[b].mean():.3f}:{wrong[b].mean():.3f}" for b in inside if b.any()]
    return {
        "precision_5": wrong[flags].mean() if flags.any() else np.nan,
        "recall_5": wrong[flags].sum() / wrong.sum() if wrong.any() else np.nan,
        "precision_20": wrong[more].mean() if more.any() else np.nan,
        "recall_20": wrong[more].sum() / wrong.sum() if wrong.any() else np.nan,
        "attainable": _attainable(wrong, stated),
        "average_precision": average_precision_score(wrong, stated) if wrong.any() else np.nan,
        "calibration": off,
        "flagged": flags.mean(),
        "met": " ".join(curve),
    }


def _attainable(wrong: np.ndarray, stated: np.ndarray) -> float:
    if not wrong.any():
        return np.nan
    found = np.cumsum(wrong[np.argsort(-stated, kind="stable")])
    good = np.flatnonzero(found >= 0.95 * np.arange(1, len(wrong) + 1))
    return float(found[good[-1]] / wrong.sum()) if len(good) else 0.0


def _reduced(X: Any) -> np.ndarray:
    """At most 200 features."""
    if X.shape[1] <= 200:
        return np.asarray(X)
    reduce = TruncatedSVD if hasattr(X, "toarray") else PCA
    return reduce(min(200, min(X.shape) - 1), random_state=0).fit_transform(X)


def _ranking(wrong: np.ndarray, suspicion: np.ndarray) -> dict[str, Any]:
    """What can be asked of a score that is no probability."""
    return {
        "attainable": _attainable(wrong, suspicion),
        "average_precision": average_precision_score(wrong, suspicion) if wrong.any() else np.nan,
    }


def _consensus(X: Any, given: np.ndarray, true: np.ndarray) -> dict[str, Any]:
    forest = RandomForestClassifier(300, oob_score=True, n_jobs=1, random_state=0).fit(_reduced(X), given)
    own = np.searchsorted(forest.classes_, given)
    votes = np.nan_to_num(forest.oob_decision_function_, nan=1 / len(forest.classes_))
    return _ranking(given != true, 1 - votes[np.arange(len(given)), own])


def _margin(X: Any, given: np.ndarray, true: np.ndarray, passes: int = 20) -> dict[str, Any]:
    X = StandardScaler().fit_transform(_reduced(X))
    model, classes = SGDClassifier(loss="log_loss", alpha=1e-3, random_state=0), np.unique(given)
    own = np.arange(len(given)), np.searchsorted(classes, given)
    total = np.zeros(len(given))
    for _ in range(passes):
        model.partial_fit(X, given, classes=classes)
        scores = model.decision_function(X)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        mine = scores[own]
        scores[own] = -np.inf
        total += mine - scores.max(axis=1)
    return _ranking(given != true, -total / passes)


def _cleanlab(X: Any, given: np.ndarray, true: np.ndarray) -> dict[str, Any]:
    from cleanlab.count import estimate_joint
    from cleanlab.filter import find_label_issues

    X, wrong = _reduced(X), given != true
    model = LogisticRegression(max_iter=300)
    p = cross_val_predict(model, X, given, cv=inner_folds(given, 5), method="predict_proba")
    flags = find_label_issues(given, p, n_jobs=1)
    found = measures(wrong, 1 - p[np.arange(len(given)), given], flags, flags)
    return found | {"rate": 1 - float(np.trace(estimate_joint(given, p)))}


METHODS: dict[str, Callable[[Any, np.ndarray, np.ndarray], dict[str, Any]]] = {
    "robustlda": _ours,
    "cleanlab": _cleanlab,
    "consensus": _consensus,
    "margin": _margin,
}
"""Each is given features, labels and true labels, the latter to be judged by."""


# The tables and the figure


def _number(line: dict[str, str], name: str) -> float:
    return float(line[name]) if line[name] not in ("", "nan") else np.nan


def _mean(lines: list[dict[str, str]], name: str) -> str:
    values = [v for line in lines if not np.isnan(v := _number(line, name))]
    return f"{fmean(values):.3f}".replace("0.", ".", 1) if values else "–"


def summarize(lines: list[dict[str, str]]) -> str:
    """One table of means for each method, and one of the cases where we are most wrong."""
    text: list[str] = []
    for method in METHODS:
        head = "errors | wrong | rate off by | covered | after 30 checks | precision 5 % | recall | attainable"
        head += " | average precision | calibration | flagged"
        text += [f"### {method}", "", f"| {head} |", "|---" * (head.count("|") + 1) + "|"]
        for name, members in _groups().items():
            chosen = [line for line in lines if line["method"] == method and line["kind"] in members]
            if chosen:
                text.append(f"| {name} | " + " | ".join(_cells(chosen)) + " |")
        text.append("")
    ours = [line for line in lines if line["method"] == "robustlda"]
    worst = sorted(ours, key=lambda line: -abs(_number(line, "rate") - _number(line, "wrong")))[:12]
    text += ["### Where the estimated share is most wrong", "", "| data | errors | seed | wrong | stated | interval |"]
    text.append("|---" * 6 + "|")
    for line in worst:
        cells = (line["data"], line["kind"], line["seed"], line["wrong"], line["rate"], f"{line['low']}–{line['high']}")
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def _groups() -> dict[str, tuple[str, ...]]:
    people = KINDS["people"]
    return {"labelme": people[:2], "sentiment": people[2:]} | {k: v for k, v in KINDS.items() if k != "people"}


def _cells(lines: list[dict[str, str]]) -> list[str]:
    off = [{"x": str(abs(_number(line, "rate") - _number(line, "wrong")))} for line in lines if line["rate"]]
    known = [line for line in lines if line["low"]]
    inside = [_number(n, "low") <= _number(n, "wrong") <= _number(n, "high") for n in known]
    checked = [{"x": str(abs(_number(n, "after_30") - _number(n, "wrong")))} for n in lines if n["after_30"]]
    names = ("precision_5", "recall_5", "attainable", "average_precision", "calibration", "flagged")
    covered = f"{sum(inside)} of {len(inside)}" if known else "–"
    return [_mean(lines, "wrong"), _mean(off, "x"), covered, _mean(checked, "x"), *(_mean(lines, n) for n in names)]


def figure(lines: list[dict[str, str]]) -> Any:
    """Share of wrong labels against the stated probability, for each kind of error."""
    from matplotlib.figure import Figure

    shown = Figure(figsize=(11, 2.6), layout="constrained")
    groups = [(k, v) for k, v in _groups().items() if k != "none"]
    for axes, (name, members) in zip(shown.subplots(1, len(groups), sharey=True), groups, strict=True):
        axes.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        for method, color in (("cleanlab", "0.55"), ("robustlda", "#0072b2")):
            points = _curve([n for n in lines if n["method"] == method and n["kind"] in members])
            axes.plot(points[:, 0], points[:, 1], color=color, marker="o", markersize=3, label=method)
        axes.set(title=name, xlabel="stated probability", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    shown.axes[0].set_ylabel("share of wrong labels")
    shown.axes[0].legend(frameon=False, fontsize=8)
    return shown


def _curve(lines: list[dict[str, str]]) -> np.ndarray:
    sums = np.zeros((BINS, 3))
    for line in lines:
        for part in line["met"].split():
            n, stated, met = map(float, part.split(":"))
            sums[min(int(BINS * stated), BINS - 1)] += n * np.array([1, stated, met])
    sums = sums[sums[:, 0] >= 10]
    return sums[:, 1:] / sums[:, :1]


def main() -> None:
    parser = kept.parser("judgement", __doc__)
    parser.add_argument("--seeds", default="10,11,12", help="Comma-separated; constants were tuned on 0, 1 and 2.")
    arguments = kept.arguments(parser)
    found = _run([int(seed) for seed in arguments.seeds.split(",")], arguments.out / "judgement.csv")
    kept.tell(arguments.out, "What is said about labels", summarize(found))
    save(arguments.out / "calibration.png", png(figure(found)))


def _run(seeds: list[int], path: Path) -> list[dict[str, str]]:
    """Append the cases that the file lacks."""
    found = kept.Lines(path, FIELDS)
    done = {(line["data"], line["kind"], line["seed"], line["method"]) for line in found}
    for case in cases(seeds):
        missing = [method for method in METHODS if (case[0], case[1], str(case[2]), method) not in done]
        if not missing:
            continue
        new = rows(*case, missing)
        found.keep(*new)
        print(*case, {line["method"]: line["rate"] for line in new}, "true", new[0]["wrong"], flush=True)
    return found


if __name__ == "__main__":
    main()
