"""What speaks against a label: the features that make another class more probable, and rows to compare with.

The projection W measures rows in units in which the believed classes share one round scatter, so with the robust
centers μ of the classes, the features of a row x prefer class s to its given class g by the log-ratio

    log p(x | s) / p(x | g) = (μ_s − μ_g)ᵀ W Wᵀ (x − (μ_s + μ_g) / 2) = Σ_j b_j (x_j − (μ_s + μ_g)_j / 2),

b = W Wᵀ (μ_s − μ_g). WWᵀ is the inverse of the shared covariance, as the fit has regularized it, within the directions
in which centers differ. Term j is what feature j contributes. No matrix of features × features is needed, so this holds
for tables as for more features than samples, and for sparse rows.

The audit itself does not judge by this formula but by a committee of rules, most of which are not linear: contributions
explain a judgement, they do not make it.

Cost: rows × features, with at most `MAX_FEATURES` of them; of more, those with the largest loadings on directions in
which centers differ. The log-ratio is complete all the same, as it comes from the projection.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from robustlda.data.store import Rows, Store, row_slices
from robustlda.linalg import Array

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit

MAX_FEATURES = 2000
"""Features whose contributions are computed."""

MAX_MEMBERS = 20_000
"""Members of a class among which neighbors are looked for, at equal distances in the data."""

_BLOCK = 4_000_000  # entries


@dataclass(frozen=True)
class Explanations:
    """For every explained row, by its place in the audit's attributes, what speaks against its label.

    `against` is the class that the label is compared with (an index): the suggested one, or the nearest other class
    where the suggested one is the given. Of each row, `features` are those that contribute most, or groups of features
    if there were any, the strongest first, −1 where fewer speak against the label. `near_given` and `near_against` are
    places of the nearest rows of both classes whose labels are believed, −1 where there are fewer.
    """

    rows: Array
    against: Array
    log_ratio: Array
    features: Array
    contributions: Array
    near_given: Array
    near_against: Array


def explain(
    audit: "LabelAudit", rows: Array, *, n_features: int = 3, n_neighbors: int = 2, groups: Array | None = None
) -> Explanations | None:
    """Explain rows of a fitted audit; None if it has no centers and no projection, or not the rows any more.

    `groups` gives every feature the number of a group, such as the column it was made of, or −1 to leave it out;
    contributions are then summed over groups.
    """
    X, model = audit.listed_rows(), audit.listed_model()
    if X is None or not all(hasattr(model, name) for name in ("components_", "class_centers_", "validated_store")):
        return None
    assert model is not None
    store: Store = model.validated_store(X)
    Z = np.asarray(model.transform(X), float)
    W, M = np.asarray(model.components_, float), np.asarray(model.class_centers_, float)
    centers = (M - np.asarray(model.center_, float)) @ W.T
    given = given_classes(audit)[rows]
    against = _compared_with(Z[rows], centers, given, np.searchsorted(audit.classes_, audit.suggested_[rows]))
    log_ratio = np.einsum(
        "ij,ij->i", centers[against] - centers[given], Z[rows] - (centers[against] + centers[given]) / 2
    )
    features, contributions = _strongest(store.take(np.asarray(rows)), W, M, given, against, groups, n_features)
    believed = (audit.probability_wrong_ < 0.5) & (audit.finding_ == "")
    labels = given_classes(audit)
    near = [_neighbors(Z, labels, believed, rows, classes, n_neighbors) for classes in (given, against)]
    return Explanations(np.asarray(rows), against, log_ratio, features, contributions, *near)


def given_classes(audit: "LabelAudit") -> Array:
    """The class of every given label; the right one where checks have left no row in the given one."""
    there = np.isin(audit.given_, audit.classes_)
    return np.searchsorted(audit.classes_, np.where(there, audit.given_, audit.suggested_))


def _compared_with(Z: Array, centers: Array, given: Array, suggested: Array) -> Array:
    """The suggested class, or the nearest other one."""
    far = ((Z[:, None, :] - centers) ** 2).sum(axis=2) if len(Z) * centers.size < 5e7 else _distances(Z, centers)
    far[np.arange(len(Z)), given] = np.inf
    return np.where(suggested == given, far.argmin(axis=1), suggested)


def _distances(Z: Array, centers: Array) -> Array:
    return np.asarray((centers**2).sum(axis=1) - 2 * Z @ centers.T)


def contributions(rows: Array, W: Array, centers: Array, given: Array, against: Array) -> Array:
    """Terms of the log-ratio of `against` to `given`, feature by feature."""
    differences = centers[against] - centers[given]
    slopes = (differences @ W.T) @ W
    return np.asarray(slopes * (rows - (centers[against] + centers[given]) / 2))


def _strongest(
    store: Store, W: Array, centers: Array, given: Array, against: Array, groups: Array | None, n: int
) -> tuple[Array, Array]:
    """The features, or groups of them, that contribute most to every row; −1 and 0 where fewer do."""
    d = W.shape[1]
    chosen = np.arange(d) if d <= MAX_FEATURES else np.sort(np.argsort(-_potential(W, centers))[:MAX_FEATURES])
    named = None if groups is None else groups[chosen]
    slopes = centers @ W.T @ W[:, chosen]  # of every class; a difference of two is that of a pair
    M = centers[:, chosen]
    n = min(n, len(chosen) if named is None else int(named.max(initial=-1)) + 1)
    index = np.full((len(given), n), -1)
    values = np.zeros((len(given), n))
    for part in row_slices(len(given), max(1, _BLOCK // max(d, 1))):
        g, a = given[part], against[part]
        x = store.block(part).compact()[:, chosen]
        x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, float)
        terms = (slopes[a] - slopes[g]) * (x - (M[a] + M[g]) / 2)
        terms = terms if named is None else _summed(terms, named)
        order = np.argsort(-terms, axis=1, kind="stable")[:, :n]
        top = np.take_along_axis(terms, order, axis=1)
        index[part], values[part] = np.where(top > 0, order if named is not None else chosen[order], -1), top.clip(0)
    return index, values


def _summed(terms: Array, groups: Array) -> Array:
    """Contributions of groups of features."""
    total = np.zeros((int(groups.max(initial=-1)) + 1, len(terms)))
    np.add.at(total, groups[groups >= 0], terms.T[groups >= 0])
    return total.T


def _potential(W: Array, centers: Array) -> Array:
    """What a feature can contribute: how far its typical values are apart, times its loading on the projection."""
    return np.asarray(np.ptp(centers, axis=0) * np.sqrt((W**2).sum(axis=0)))


def _neighbors(Z: Array, labels: Array, believed: Array, rows: Array, classes: Array, n: int) -> Array:
    """Places of the nearest believed rows of a class for each row, which is never its own neighbor."""
    found = np.full((len(rows), n), -1)
    for k in np.unique(classes):
        members = np.flatnonzero(believed & (labels == k))
        members = members[:: max(1, -(-len(members) // MAX_MEMBERS))]
        if not len(members):
            continue
        asking = np.flatnonzero(classes == k)
        search = NearestNeighbors(n_neighbors=min(n + 1, len(members))).fit(Z[members])
        near = members[search.kneighbors(Z[rows[asking]], return_distance=False)]
        itself = near == rows[asking][:, None]
        others = np.take_along_axis(near, np.argsort(itself, axis=1, kind="stable"), axis=1)
        m = min(n, others.shape[1])
        found[asking, :m] = np.where(np.sort(itself, axis=1)[:, :m], -1, others[:, :m])
    return found


def unusual(audit: "LabelAudit", rows: Array, n_features: int = 3, groups: Array | None = None) -> Array | None:
    """For every row the features in which it differs most from the center of its class, in spreads of the feature.

    −1 where there are fewer, as where groups have no feature. For outliers, against which no other class speaks. None
    under the same conditions as `explain`, and with more than `MAX_FEATURES` features, of which one or another is
    always far off.
    """
    X, model = audit.listed_rows(), audit.listed_model()
    if X is None or not all(hasattr(model, name) for name in ("class_centers_", "validated_store")):
        return None
    assert model is not None
    store: Store = model.validated_store(X)
    d = store.shape[1]
    if d > MAX_FEATURES:
        return None
    spread = _spread(store, np.asarray(model.center_, float), max(1, _BLOCK // d))
    given = given_classes(audit)[rows]
    chosen, M = store.take(np.asarray(rows)), np.asarray(model.class_centers_, float)
    parts = []
    for part in row_slices(len(rows), max(1, _BLOCK // d)):
        terms = np.abs(chosen.block(part).rows() - M[given[part]]) / spread
        terms = terms if groups is None else _summed(terms, groups)
        order = np.argsort(-terms, axis=1, kind="stable")[:, :n_features]
        parts.append(np.where(np.take_along_axis(terms, order, axis=1) > 0, order, -1))
    return np.concatenate(parts) if parts else np.empty((0, n_features), int)


def _spread(store: Store, center: Array, step: int) -> Array:
    """Of every feature about the center; infinite where there is none."""
    n = store.shape[0]
    (squares,) = Rows(store, step).reduce(lambda block, ones: (block.column_squares(ones, center),), np.ones(n))
    spread = np.sqrt(np.maximum(np.asarray(squares, float) / n, 0))
    return np.where(spread > 0, spread, np.inf)


@dataclass(frozen=True)
class ClassSummary:
    """A class: labels given, how many of them are expected to be wrong, the class most of these are of, and its share.

    `missing` is the expected number of samples of this class under another label.
    """

    label: Any
    given: float
    doubted: float
    missing: float
    confused_with: Any
    confused: float


@dataclass(frozen=True)
class PairSummary:
    """Samples of one class under the label of another: how many to expect, and how many that are listed are flagged."""

    given: Any
    true: Any
    expected: float
    flagged: int


def by_class(audit: "LabelAudit") -> list[ClassSummary]:
    """Every class, the most doubted first."""
    counts = np.asarray(audit.confusion_, float)
    wrong = counts - np.diag(np.diag(counts))
    most = wrong.argmax(axis=1)
    found = [
        ClassSummary(
            label, counts[k].sum(), wrong[k].sum(), wrong[:, k].sum(), audit.classes_[most[k]], wrong[k, most[k]]
        )
        for k, label in enumerate(audit.classes_)
    ]
    return sorted(found, key=lambda one: -one.doubted)


def by_pair(audit: "LabelAudit", n: int = 12) -> list[PairSummary]:
    """The pairs of classes with the most label errors, at least half a sample each."""
    wrong = np.array(audit.confusion_, float)
    np.fill_diagonal(wrong, 0)
    flagged = audit.finding_ == "mislabeled"
    found = []
    for place in np.argsort(-wrong, axis=None, kind="stable")[:n]:
        g, t = divmod(int(place), len(wrong))
        if wrong[g, t] < 0.5:
            break
        given, true = audit.classes_[g], audit.classes_[t]
        here = flagged & (audit.given_ == given) & (audit.suggested_ == true)
        found.append(PairSummary(given, true, wrong[g, t], int(here.sum())))
    return found
