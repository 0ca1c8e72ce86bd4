"""The paper's experiments, planned: what is run, on what, in which order, and what is left out for which reason.

Every part is a list of units whose results are lines of a CSV file. Folds come one after the other, so that a run that
is broken off has whole figures with fewer folds, and a run that is started again does only what is missing.
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
VOTING = (
    "rlda_1nn",
    "rlda_pca_1nn",
    "trlda_1nn",
    "lda_1nn",
    "lpp_1nn",
    "mmc_1nn",
    "dle_1nn",
    "knn",
    "pca_1nn",
)
DECIDING = ("svm", "rlda")
CORRUPTIONS = ("occlude", "salt_and_pepper", "gross_rows")


@dataclass(frozen=True)
class Part:
    """Units of one kind, the function that carries one out, and the file and type of what comes out."""

    title: str
    units: Sequence[Any]
    run: Callable[[Any], Any]
    file: str
    kind: type

    def unfinished(self, folder: Path) -> list[Any]:
        """What is not in the folder yet."""
        return records.unfinished(self.units, records.read(folder / self.file, self.kind))


def parts(datasets: Sequence[str], *, quick: bool = False) -> list[Part]:
    """All parts, for those of the nine data sets that are at hand."""
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
    """Wrong labels, five folds; on large data methods that decide by themselves run the first only."""
    levels = (0.0, 0.2, 0.4) if quick else (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    units = []
    for name in datasets:
        large = name in LARGE
        voting, deciding = (1, 1) if quick else (5, 1) if large else (5, 5)
        some = (0.0, 0.4) if quick and name in TEXT else levels
        units += protocol.units([name], VOTING, some, first=voting)
        units += protocol.units([name], DECIDING, some, first=deciding)
    return sorted(units, key=lambda unit: unit.fold)


def corruption_units(datasets: Sequence[str], quick: bool) -> list[protocol.Unit]:
    """Spoiled training images with right labels, on the faces."""
    units = []
    for name in (name for name in datasets if name in FACES and not (quick and name == "pie")):
        folds = 1 if quick or name in LARGE else 5
        levels = (0.0, 0.2, 0.4) if quick or name in LARGE else (0.0, 0.1, 0.2, 0.3, 0.4)
        for kind in CORRUPTIONS:
            units += protocol.units([name], (*VOTING, "rlda"), levels, first=folds, kind=kind)
    return sorted(units, key=lambda unit: unit.fold)


def _convergence_units(datasets: Sequence[str], quick: bool) -> list[convergence.Descent]:
    chosen = [name for name in datasets if not (quick and name in ("coil20", *LARGE))]
    return [unit for name in chosen for unit in convergence.descents(name, seeds=1 if quick or name in TEXT else 3)]


def reason_to_skip(unit: protocol.Unit, quick: bool) -> str:
    """Why a unit is not run; empty if it is."""
    if quick and (unit.dataset, unit.method) in _MINUTES:
        return "takes minutes, which the quick version does not have"
    if unit.method == "svm" and unit.dataset in TEXT and unit.noise not in (0.0, 0.2, 0.4):
        return "on text the tuned SVM is run at 0, 20 and 40 % only"
    return ""


_MINUTES = {("tdt2", "svm"), *(("20newsgroups", method) for method in ("svm", "lpp_1nn", "dle_1nn"))}


def run_full(unit: protocol.Unit) -> protocol.Row:
    """Carry out a unit of a comparison, or say why not."""
    return _run(unit, reason_to_skip(unit, quick=False))


def run_quick(unit: protocol.Unit) -> protocol.Row:
    """The same with less patience."""
    return _run(unit, reason_to_skip(unit, quick=True))


def _run(unit: protocol.Unit, reason: str) -> protocol.Row:
    return protocol.Row(**asdict(unit), skipped=reason) if reason else protocol.run(unit)
