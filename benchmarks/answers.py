"""`python -m benchmarks.answers OUT --data-dir FOLDER`: several answers per row, against other ways to use them.

labelme (59 people, 2547 answers about 1000 images), and digits and vehicle with twenty planted annotators who are right
in 40 to 95 % of their answers, three answers per row. For each way: the share of training rows whose agreed label is
the true one, and the accuracy of `RobustLDA` fitted to it on test rows. The ways: what most people said; Dawid and
Skene's model; CROWDLAB (cleanlab) with held-out probabilities of the same classifier fitted to what most people said;
and the answers themselves, as `y`.
"""

import csv
import os
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks import measured
from robustlda import LabelAudit, RobustLDA
from robustlda.datasets import catalogue
from robustlda.experiments.baselines import inner_folds

_MARK = "<!-- answers -->"
WAYS = {
    "majority": "most people",
    "dawid_skene": "Dawid and Skene",
    "crowdlab": "CROWDLAB",
    "robustlda": "answers as `y`",
}


def problem(data: str, seed: int) -> tuple[np.ndarray, ...]:
    """Training rows, answers about them and true labels, test rows and their labels."""
    if data == "labelme":
        stored = np.load(Path(os.environ[catalogue.FOLDER_VARIABLE]) / "labelme.npz")
        train = stored["is_train"].astype(bool)
        scale = StandardScaler().fit(stored["X"][train])
        X, y = scale.transform(stored["X"]), stored["y"].astype(int)
        return X[train], stored["answers"][train].astype(int), y[train], X[~train], y[~train]
    dataset = catalogue.dataset_named(data)
    X, y = dataset.load()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    scale = dataset.scaling().fit(X)
    return scale.transform(X), planted(y, np.random.default_rng(seed)), y, scale.transform(X_test), y_test


def planted(y: np.ndarray, rng: np.random.Generator, people: int = 20, each: int = 3) -> np.ndarray:
    """Answers of people of different skill, some about each row; errors go to one other class more than to the rest."""
    c = y.max() + 1
    skill, favorite = rng.uniform(0.4, 0.95, people), rng.integers(1, c, (people, c))
    answers = np.full((len(y), people), -1)
    for row, true in enumerate(y):
        for a in rng.choice(people, each, replace=False):
            off = favorite[a, true] if rng.random() < 0.5 else rng.integers(1, c)
            answers[row, a] = true if rng.random() < skill[a] else (true + off) % c
    return answers


def majority(answers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ties are broken at random."""
    votes = np.stack([(answers == k).sum(axis=1) for k in range(answers.max() + 1)], axis=1)
    return (votes + rng.uniform(0, 0.5, votes.shape)).argmax(axis=1)


def dawid_skene(answers: np.ndarray) -> np.ndarray:
    """Expectation and maximization over the confusion of each annotator, as in the paper of 1979."""
    c = answers.max() + 1
    R = np.stack([(answers == k).sum(axis=1) for k in range(c)], axis=1).astype(float)
    R /= R.sum(axis=1, keepdims=True)
    for _ in range(100):
        scores = np.tile(np.log(R.mean(axis=0) + 1e-9), (len(R), 1))
        for column in answers.T:
            rows = np.flatnonzero(column >= 0)
            T = np.stack([R[rows[column[rows] == k]].sum(axis=0) for k in range(c)], axis=1) + 0.01
            scores[rows] += np.log(T / T.sum(axis=1, keepdims=True))[:, column[rows]].T
        R = np.exp(scores - scores.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
    return R.argmax(axis=1)


def crowdlab(X: np.ndarray, answers: np.ndarray, voted: np.ndarray) -> np.ndarray:
    from cleanlab.multiannotator import get_label_quality_multiannotator

    p = cross_val_predict(RobustLDA(), X, voted, cv=inner_folds(voted, 5), method="predict_proba")
    table = pd.DataFrame(np.where(answers >= 0, answers, np.nan))
    table = table.loc[:, table.notna().any()]
    found = get_label_quality_multiannotator(table, p, verbose=False)
    return found["label_quality"]["consensus_label"].to_numpy().astype(int)


def tried(data: str, seed: int) -> list[dict[str, str]]:
    X, answers, y, X_test, y_test = problem(data, seed)
    voted = majority(answers, np.random.default_rng(seed))
    labels = {"majority": voted, "dawid_skene": dawid_skene(answers), "crowdlab": crowdlab(X, answers, voted)}
    found = {
        way: ((given == y).mean(), RobustLDA().fit(X, given).score(X_test, y_test)) for way, given in labels.items()
    }
    audit = LabelAudit().fit(X, answers)
    found["robustlda"] = (audit.suggested_ == y).mean(), audit.estimator_.score(X_test, y_test)
    return [
        {"data": data, "seed": str(seed), "way": way, "agreed": f"{agreed:.4f}", "test": f"{test:.4f}"}
        for way, (agreed, test) in found.items()
    ]


def table(lines: list[dict[str, str]]) -> str:
    sets = list(dict.fromkeys(line["data"] for line in lines))
    text = ["| | " + " | ".join(f"{s}: agreed label right | {s}: test accuracy" for s in sets) + " |"]
    text.append("|---" * (1 + 2 * len(sets)) + "|")
    for way, title in WAYS.items():
        cells = [
            f"{fmean(float(n[what]) for n in lines if (n['data'], n['way']) == (data, way)):.3f}"
            for data in sets
            for what in ("agreed", "test")
        ]
        text.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main() -> None:
    parser = measured.parser("answers", __doc__)
    parser.add_argument("--seeds", default="10,11,12")
    arguments = measured.read(parser)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    cases = [("labelme", seeds[0])] + [(data, seed) for data in ("digits", "vehicle") for seed in seeds]
    lines: list[dict[str, str]] = []
    for case in cases:
        lines += tried(*case)
        print(*case, {line["way"]: line["test"] for line in lines[-4:]}, flush=True)
    with (arguments.out / "answers.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    readme = arguments.out / "README.md"
    before, after = readme.read_text(encoding="utf-8").split(_MARK)[::2]
    readme.write_text(f"{before}{_MARK}\n\n{table(lines)}\n{_MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
