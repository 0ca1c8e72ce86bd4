"""`python -m benchmarks.audit OUT --data-dir FOLDER`: how well wrong labels are found, against cleanlab and plain LDA.

Average precision of the ranking, the share of rows flagged and the share of correct labels among them, for labels that
were flipped (uniformly, or 30 % of every other class into the next one or into the nearest) and for labels that people
got wrong (labelme and sentiment). Large sets are sampled down to 3000 rows. cleanlab gets out-of-sample probabilities
of logistic regression from five folds, on at most 200 principal components; all three of its scores are shown. Cases
already in the file are not computed again.
"""

from collections import defaultdict
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

from benchmarks import kept
from benchmarks.judgement import by_people
from robustlda import LabelAudit
from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments.baselines import inner_folds

CASES = (
    ("uniform", 0.0),
    ("uniform", 0.1),
    ("uniform", 0.2),
    ("uniform", 0.3),
    ("next_class", 0.3),
    ("nearest_class", 0.3),
)
PEOPLE = ("labelme majority", "labelme one", "sentiment majority", "sentiment one")
SCORES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
FIELDS = ["data", "kind", "share", "method", "average_precision", "flagged", "false_share", "noise_rate"]


def load(name: str) -> tuple[Any, np.ndarray]:
    dataset = catalogue.dataset_named(name)
    X, y = dataset.load()
    rng = np.random.default_rng(0)
    # Classes of one or two rows cannot be judged out of sample by any of the methods.
    keep = np.flatnonzero(np.bincount(y)[y] >= 3)
    keep = np.sort(rng.permutation(keep)[:3000])
    keep = keep[np.bincount(y[keep], minlength=y.max() + 1)[y[keep]] >= 3]
    return dataset.scaling().fit_transform(X[keep]), np.unique(y[keep], return_inverse=True)[1]


def few(X: Any) -> np.ndarray:
    """At most 200 components, for the other methods."""
    if X.shape[1] <= 200:
        return X
    reduce = TruncatedSVD if hasattr(X, "toarray") else PCA
    return reduce(min(200, min(X.shape) - 1), random_state=0).fit_transform(X)


def problem(name: str, kind: str, share: float) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, labels as given, and which of them are wrong."""
    if kind == "people":
        X, given, true = by_people(*name.split())
        return X, given, given != true
    X, y = load(name)
    return X, *contaminate(X, y, kind, share, np.random.default_rng(1))[1:]


def rows(name: str, kind: str, share: float, groups: list[str]) -> list[dict[str, str]]:
    """Results of us, of the others, or of both."""
    X, noisy, wrong = problem(name, kind, share)
    found, rate = {}, np.nan
    if "robustlda" in groups:
        audit = LabelAudit().fit(X, noisy)
        found["robustlda"], rate = (audit.probability_wrong_, audit.flags()), audit.noise_rate_
    if "others" in groups:
        found |= _peers(few(X), np.unique(noisy, return_inverse=True)[1])
    result = []
    for method, (ranking, flags) in found.items():
        precision = average_precision_score(wrong, ranking) if wrong.any() else np.nan
        false = (~wrong[flags]).mean() if flags.any() else 0.0
        numbers = (precision, flags.mean(), false, rate if method == "robustlda" else np.nan)
        values = (name, kind, f"{share:g}", method, *(f"{x:.4f}" for x in numbers))
        result.append(dict(zip(FIELDS, values, strict=True)))
    return result


def _peers(Z: np.ndarray, labels: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Scores and flags of cleanlab and of LDA."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    model = LogisticRegression(max_iter=300)
    p = cross_val_predict(model, Z, labels, cv=inner_folds(labels, 5), method="predict_proba")
    found = {}
    for score in SCORES:
        ranking = 1 - get_label_quality_scores(labels, p, method=score)
        found[f"cleanlab, {score}"] = ranking, find_label_issues(labels, p, n_jobs=1)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(Z, labels)
    suspicion = 1 - lda.predict_proba(Z)[np.arange(len(labels)), labels]
    return {**found, "LDA, in sample": (suspicion, lda.predict(Z) != labels)}


def summarize(lines: list[dict[str, str]]) -> str:
    """Tables of average precision per data set, and of flags."""
    text = [line for kind, share in (*CASES[1:], ("people", 0.0)) for line in _precisions(lines, kind, share)]
    return "\n".join(text + _flags(lines)) + "\n"


def _precisions(lines: list[dict[str, str]], kind: str, share: float) -> list[str]:
    here = [r for r in lines if (r["kind"], float(r["share"])) == (kind, share)]
    value = {(r["data"], r["method"]): float(r["average_precision"]) for r in here}
    methods = sorted({r["method"] for r in lines}, key=lambda m: (m != "robustlda", m.startswith("LDA"), m))
    names = [*catalogue.CATALOGUE, *PEOPLE]
    sets = sorted({d for d, _ in value if all((d, m) in value for m in methods)}, key=names.index)
    if not sets:
        return []
    title = "labels by people" if kind == "people" else f"{kind.replace('_', ' ')} flips, {share:.0%}"
    text = [f"### Average precision, {title}", ""]
    text += ["| data | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for d in sets:
        cells = " | ".join(f"{value[d, m]:.3f}" for m in methods)
        text.append(f"| {d if d in PEOPLE else catalogue.CATALOGUE[d].title} | {cells} |")
    means = " | ".join(f"**{fmean(value[d, m] for d in sets):.3f}**" for m in methods)
    return [*text, f"| mean | {means} |", ""]


def _flags(lines: list[dict[str, str]]) -> list[str]:
    text = ["### Flags at `max_false_alarm=0.05`", "", "| | flagged | of these correct |", "|---|---|---|"]
    by_case: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for line in lines:
        if line["method"] == "robustlda":
            by_case[line["kind"], line["share"]].append(line)
    for (kind, share), chosen in by_case.items():
        flagged = fmean(float(r["flagged"]) for r in chosen)
        # Where nothing is flagged, nothing can be a false alarm.
        false = fmean([float(r["false_share"]) for r in chosen if float(r["flagged"]) > 0] or [0.0])
        # Where no label is wrong, every flag is false, and only their number is informative.
        shown_false = "–" if float(share) == 0 and kind != "people" else f"{false:.3f}"
        title = "by people" if kind == "people" else f"{kind.replace('_', ' ')}, {float(share):.0%}"
        text.append(f"| {title} | {flagged:.3f} | {shown_false} |")
    return text


def main() -> None:
    parser = kept.parser("audit", __doc__)
    parser.add_argument("--data", default="digits,wine,breast_cancer," + ",".join(list(catalogue.CATALOGUE)[4:]))
    arguments = kept.arguments(parser)
    found = _run(arguments.data.split(","), arguments.out / "audit.csv")
    kept.tell(arguments.out, "Finding wrong labels", summarize(found))


def _group(method: str) -> str:
    return "robustlda" if method == "robustlda" else "others"


def _run(names: list[str], path: Path) -> list[dict[str, str]]:
    """Append the cases that the file lacks."""
    found = kept.Lines(path, FIELDS)
    done = {(r["data"], r["kind"], float(r["share"]), _group(r["method"])) for r in found}
    cases = [(name, kind, share) for name, (kind, share) in product(names, CASES)]
    for case in cases + [(name, "people", 0.0) for name in PEOPLE]:
        name, kind, share = case
        groups = [group for group in ("robustlda", "others") if (*case, group) not in done]
        if groups:
            new = rows(*case, groups)
            found.keep(*new)
            print(name, kind, share, {r["method"]: r["average_precision"] for r in new}, flush=True)
    return found


if __name__ == "__main__":
    main()
