"""`python -m benchmarks.any_classifier OUT --data-dir FOLDER`: audits by other classifiers, beside cleanlab's.

Errors planted in digits, vehicle, breast cancer and dermatology as in `benchmarks.judgement`: uniform, 10 and 30 %;
30 % of every other class called like the class nearest to it; none. Held-out probabilities of a classifier (five folds,
the same for both) are explained by `LabelAudit.from_probabilities`, which is what `LabelAudit(classifier)` does, and by
cleanlab: ranking by the probability of the given label, flags by `find_label_issues`, rate from its joint. The first
method is `LabelAudit()` itself. Cases already in the file are not computed again.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks import kept
from benchmarks.judgement import PLANTED, measures, problem
from robustlda import LabelAudit
from robustlda.audit.by_classifier import as_labels, held_out_probabilities
from robustlda.decision.rule import Checks

CLASSIFIERS = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "random forest": RandomForestClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}
KINDS = {"uniform 10 %": "uniform 10", "uniform 30 %": "uniform 30", "one way": "one way", "none": "none"}
MEASURES = ("average_precision", "precision_5", "recall_5", "calibration", "flagged")
FIELDS = ["data", "kind", "seed", "classifier", "method", "wrong", "rate", "low", "high", *MEASURES]


def cases(seeds: list[int]) -> Iterator[tuple[str, str, int, str]]:
    """Data set, kind of error, seed and classifier."""
    for seed in seeds:
        for classifier in ("RobustLDA", *CLASSIFIERS):
            for data in PLANTED:
                for kind in KINDS.values():
                    if kind != "none" or seed == seeds[0]:
                        yield data, kind, seed, classifier


def rows(data: str, kind: str, seed: int, classifier: str) -> list[dict[str, str]]:
    """What is said about one case."""
    X, given, true = problem(data, kind, seed)
    wrong = given != true
    base = {"data": data, "kind": kind, "seed": str(seed), "classifier": classifier, "wrong": f"{wrong.mean():.4f}"}
    if classifier == "RobustLDA":
        return [base | {"method": "robustlda"} | _said(LabelAudit().fit(X, given), wrong)]
    classes, indices = np.unique(given, return_inverse=True)
    labels = as_labels(Checks(indices, np.full(len(given), -1)), len(classes))
    rng = np.random.RandomState(0)
    P = held_out_probabilities(CLASSIFIERS[classifier], X, classes, labels, 5, rng)
    return [
        base | {"method": "robustlda"} | _said(LabelAudit.from_probabilities(P, given), wrong),
        base | {"method": "cleanlab"} | _cleanlab(P, indices, wrong),
    ]


def _said(audit: LabelAudit, wrong: np.ndarray) -> dict[str, str]:
    found = measures(wrong, audit.probability_wrong_, audit.flags(), audit.flags(0.2))
    low, high = audit.noise_interval_
    return _texts(found | {"rate": audit.noise_rate_, "low": low, "high": high})


def _cleanlab(P: np.ndarray, given: np.ndarray, wrong: np.ndarray) -> dict[str, str]:
    from cleanlab.count import estimate_joint
    from cleanlab.filter import find_label_issues

    flags = find_label_issues(given, P, n_jobs=1)
    found = measures(wrong, 1 - P[np.arange(len(given)), given], flags, flags)
    return _texts(found | {"rate": 1 - float(np.trace(estimate_joint(given, P)))})


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {name: f"{value:.4f}" for name, value in values.items() if name in FIELDS}


def summarize(lines: list[dict[str, str]]) -> str:
    """Means over data sets and seeds: one table for each kind of error."""
    text: list[str] = []
    for name, kind in KINDS.items():
        columns = "average precision | rate off by | covered | precision of flags at 5 % | recall | flagged"
        text += [f"### {name}", "", f"| classifier | noise model | {columns} |", "|---" * 8 + "|"]
        for classifier in ("RobustLDA", *CLASSIFIERS):
            for method in ("robustlda", "cleanlab"):
                wanted = (kind, classifier, method)
                chosen = [n for n in lines if (n["kind"], n["classifier"], n["method"]) == wanted]
                if chosen:
                    text.append(f"| {classifier} | {method} | " + " | ".join(_cells(chosen)) + " |")
        text.append("")
    return "\n".join(text)


def _cells(lines: list[dict[str, str]]) -> list[str]:
    off = [abs(float(n["rate"]) - float(n["wrong"])) for n in lines]
    known = [n for n in lines if n["low"]]
    inside = sum(float(n["low"]) <= float(n["wrong"]) <= float(n["high"]) for n in known)
    covered = f"{inside} of {len(known)}" if known else "–"
    named = {name: _mean([float(n[name]) for n in lines]) for name in MEASURES}
    flags = named["precision_5"], named["recall_5"], named["flagged"]
    return [named["average_precision"], _mean(off), covered, *flags]


def _mean(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return f"{fmean(known):.3f}".removeprefix("0") if known else "–"


def main() -> None:
    parser = kept.parser("any_classifier", __doc__)
    parser.add_argument("--seeds", default="11", help="Comma-separated; constants were tuned on 0 and 10.")
    arguments = kept.arguments(parser)
    found = _run([int(seed) for seed in arguments.seeds.split(",")], arguments.out / "any_classifier.csv")
    head = "# Audits by other classifiers\n\nMeans over data sets and seeds; see `benchmarks/any_classifier.py`. "
    head += f"Seed {arguments.seeds}; constants were tuned on 0 and 10.\n\n"
    (arguments.out / "README.md").write_text(head + summarize(found), encoding="utf-8")


def _run(seeds: list[int], path: Path) -> list[dict[str, str]]:
    """Append the cases that the file lacks."""
    found = kept.Lines(path, FIELDS)
    done = {(line["data"], line["kind"], line["seed"], line["classifier"]) for line in found}
    for case in cases(seeds):
        if (case[0], case[1], str(case[2]), case[3]) in done:
            continue
        new = rows(*case)
        found.keep(*new)
        print(*case, {line["method"]: line["rate"] for line in new}, "true", new[0]["wrong"], flush=True)
    return found


if __name__ == "__main__":
    main()
