"""The schedule of the paper's experiments: what is run, in which order, and what is skipped for which reason.

Every part is a list of units whose results are rows of a CSV file. Folds are run one after the other, so that an
interrupted run still gives complete figures from fewer folds; a restarted run does only what is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robustlda.experiments import protocol, records
from robustlda.experiments.paper import convergence, toy

NINE = ("vehicle", "dermatology", "coil20", "orl", "yale", "pie", "reuters21578", "tdt2", "20newsgroups")
FACES = ("orl", "yale", "pie")
LARGE = ("pie", "reuters21578", "tdt2", "20newsgroups")
TEXT = ("reuters21578", "tdt2", "20newsgroups")
WITH_1NN = (
    "rlda_1nn",
    "rlda_pca_1nn",
    "robust_1nn",
    "trlda_1nn",
    "lda_1nn",
    "lpp_1nn",
    "mmc_1nn",
    "dle_1nn",
    "knn",
    "pca_1nn",
)
OWN_RULE = ("svm", "rlda")
CORRUPTIONS = ("occlude", "salt_and_pepper", "gross_rows")


@dataclass(frozen=True)
class Part:
    """Units of one kind, the function that runs one, and the file and type of the results."""

    title: str
    units: Sequence[Any]
    run: Callable[[Any], Any]
    file: str
    kind: type

    def unfinished(self, folder: Path) -> list[Any]:
        """The units without a result in the folder."""
        return records.unfinished(self.units, records.resumed(folder / self.file, self.kind))


def parts(datasets: Sequence[str], *, quick: bool = False) -> list[Part]:
    """All parts, for those of the nine data sets that are available."""
    run = run_quick if quick else run_full
    return [
        Part("toy figure", toy.settings(10 if quick else 100), toy.run, "toy.csv", toy.Angle),
        Part("accuracy", accuracy_units(datasets, quick), run, "comparison.csv", protocol.Row),
        Part("corrupted images", corruption_units(datasets, quick), run, "comparison.csv", protocol.Row),
        Part(
            "convergence",
            _convergence_units(datasets, quick),
            convergence.run,
            "convergence.csv",
            convergence.ObjectivePath,
        ),
    ]


def accuracy_units(datasets: Sequence[str], quick: bool) -> list[protocol.Unit]:
    """Wrong labels, five folds; on large data, methods with a decision rule of their own run the first fold only."""
    levels = (0.0, 0.2, 0.4) if quick else (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    units = []
    for name in datasets:
        large = name in LARGE
        with_1nn, own_rule = (1, 1) if quick else (5, 1) if large else (5, 5)
        some = (0.0, 0.4) if quick and name in TEXT else levels
        units += protocol.units([name], WITH_1NN, some, first=with_1nn)
        units += protocol.units([name], OWN_RULE, some, first=own_rule)
    return sorted(units, key=lambda unit: unit.fold)


def corruption_units(datasets: Sequence[str], quick: bool) -> list[protocol.Unit]:
    """Corrupted training images with correct labels, on the face data sets."""
    units = []
    for name in (name for name in datasets if name in FACES and not (quick and name == "pie")):
        folds = 1 if quick or name in LARGE else 5
        levels = (0.0, 0.2, 0.4) if quick or name in LARGE else (0.0, 0.1, 0.2, 0.3, 0.4)
        for kind in CORRUPTIONS:
            units += protocol.units([name], (*WITH_1NN, "rlda"), levels, first=folds, kind=kind)
    return sorted(units, key=lambda unit: unit.fold)


def _convergence_units(datasets: Sequence[str], quick: bool) -> list[convergence.Descent]:
    chosen = [name for name in datasets if not (quick and name in ("coil20", *LARGE))]
    return [unit for name in chosen for unit in convergence.descents(name, seeds=1 if quick or name in TEXT else 3)]


def reason_to_skip(unit: protocol.Unit, quick: bool) -> str:
    """Why a unit is not run; empty if it is."""
    if quick and (unit.dataset, unit.method) in _SLOW:
        return "takes minutes, too long for the quick version"
    if unit.method == "svm" and unit.dataset in TEXT and unit.noise not in (0.0, 0.2, 0.4):
        return "on text the tuned SVM is run at 0, 20 and 40 % only"
    return ""


_SLOW = {("tdt2", "svm"), *(("20newsgroups", method) for method in ("svm", "lpp_1nn", "dle_1nn"))}


def run_full(unit: protocol.Unit) -> protocol.Row:
    """Run a unit of the comparison, or record why it is skipped."""
    return _run(unit, reason_to_skip(unit, quick=False))


def run_quick(unit: protocol.Unit) -> protocol.Row:
    """The same for the quick version, which skips more."""
    return _run(unit, reason_to_skip(unit, quick=True))


def _run(unit: protocol.Unit, reason: str) -> protocol.Row:
    return protocol.Row(**asdict(unit), skipped=reason) if reason else protocol.run(unit)
