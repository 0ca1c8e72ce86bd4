"""Methods of a comparison that scikit-learn does not provide ready-made, each built from its parts."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.covariance import MinCovDet
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from robustlda.data import as_store
from robustlda.data.centering import geometric_median
from robustlda.data.store import Rows
from robustlda.linalg import Array


def classical_lda() -> Any:
    """LDA after the null space of S_t is removed; a ridge of 1e-6 of the mean eigenvalue inverts a singular S_w."""
    return make_pipeline(PCA(1 - 1e-12, svd_solver="full"), LinearDiscriminantAnalysis(solver="eigen", shrinkage=1e-6))


def inner_folds(y: Array, folds: int = 3) -> StratifiedKFold:
    """Folds for tuning within a training set: as many as its smallest class allows, at least two."""
    return StratifiedKFold(
        max(2, min(folds, int(np.unique(y, return_counts=True)[1].min()))), shuffle=True, random_state=0
    )


class TunedSVM(ClassifierMixin, BaseEstimator):
    """RBF SVM with C and γ from 10^-5 to 10^5, by cross-validation on the given training labels.

    Of the 121 pairs, the 25 with even exponents up to ±4 are tried first, then the neighbors of the best; tuning uses
    at most `tuning_samples` samples, the final fit all of them.
    """

    def __init__(self, tuning_samples: int = 600) -> None:
        self.tuning_samples = tuning_samples

    def fit(self, X: Array, y: Array) -> Self:
        Z, z = _subsample(X, y, self.tuning_samples)
        best = {"C": 0, "gamma": 0}
        for step, reach in ((2, 4), (1, 1)):
            around = {
                name: [10.0**e for e in range(middle - reach, middle + reach + 1, step) if abs(e) <= 5]
                for name, middle in best.items()
            }
            search = GridSearchCV(SVC(), around, cv=inner_folds(z)).fit(Z, z)
            best = {name: round(np.log10(value)) for name, value in search.best_params_.items()}
        self.machine_ = SVC(**search.best_params_).fit(X, y)
        self.classes_ = self.machine_.classes_
        return self

    def predict(self, X: Array) -> Array:
        return self.machine_.predict(X)


class TunedNeighbors(ClassifierMixin, BaseEstimator):
    """k-NN with k by cross-validation on the given training labels."""

    def fit(self, X: Array, y: Array) -> Self:
        folds = inner_folds(y, 5)
        smallest = len(y) - -(-len(y) // folds.get_n_splits())
        grid = {"n_neighbors": [k for k in (1, 3, 5, 9, 15, 25, 41) if k <= smallest]}
        self.search_ = GridSearchCV(KNeighborsClassifier(), grid, cv=folds).fit(X, y)
        self.classes_ = self.search_.classes_
        return self

    def predict(self, X: Array) -> Array:
        return self.search_.predict(X)


class Tuned(ClassifierMixin, BaseEstimator):
    """A classifier with its parameters from a grid, by cross-validation on the given training labels."""

    def __init__(self, classifier: Any, grid: dict[str, list[Any]]) -> None:
        self.classifier = classifier
        self.grid = grid

    def fit(self, X: Array, y: Array) -> Self:
        self.search_ = GridSearchCV(self.classifier, self.grid, cv=inner_folds(y)).fit(X, y)
        self.classes_ = self.search_.classes_
        return self

    def predict(self, X: Array) -> Array:
        return self.search_.predict(X)


def forest() -> Any:
    """Random forest: how small leaves may be, and how many features a split may choose from."""
    trees = RandomForestClassifier(200, random_state=0)
    return Tuned(trees, {"min_samples_leaf": [1, 3, 10], "max_features": ["sqrt", 0.5]})


def boosting() -> Any:
    """Gradient boosting of trees: steps, and how small leaves may be; steps end early where they stop helping."""
    trees = HistGradientBoostingClassifier(early_stopping=True, random_state=0)
    return Tuned(trees, {"learning_rate": [0.03, 0.1], "min_samples_leaf": [5, 20, 50]})


class RobustCovarianceLDA(ClassifierMixin, BaseEstimator):
    """LDA with robust location and scatter from the minimum covariance determinant, as in R's rrcov.

    Location and scatter are estimated in every class, and the scatters averaged. Where the smallest class has too few
    samples for that, the classes are centered at their geometric medians and pooled for a single estimate. The data are
    reduced to principal components first, at most one per five samples and `max_components`, because the estimate needs
    many samples per dimension.
    """

    def __init__(self, max_components: int = 40, random_state: Any = 0) -> None:
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X: Array, y: Array) -> Self:
        self.classes_, labels = np.unique(y, return_inverse=True)
        counts = np.bincount(labels)
        n_components = min(self.max_components, X.shape[1], (len(X) - len(counts)) // 5)
        self.pca_ = PCA(max(1, n_components), random_state=0).fit(X)
        Z = self.pca_.transform(X)
        per_class = counts.min() > 2 * Z.shape[1]
        centers, scatter = (self._per_class if per_class else self._pooled)(Z, labels, counts)
        self.directions_ = np.linalg.pinv(scatter, hermitian=True) @ centers.T
        self.offset_ = np.log(counts / len(X)) - 0.5 * np.einsum("ij,ji->i", centers, self.directions_)
        return self

    def _per_class(self, Z: Array, labels: Array, counts: Array) -> tuple[Array, Array]:
        fits = [MinCovDet(random_state=self.random_state).fit(Z[labels == i]) for i in range(len(counts))]
        scatter = sum(count * fit.covariance_ for count, fit in zip(counts, fits, strict=True)) / len(Z)
        return np.array([fit.location_ for fit in fits]), scatter

    def _pooled(self, Z: Array, labels: Array, counts: Array) -> tuple[Array, Array]:
        classes = range(len(counts))
        centers = np.array([_median(Z[labels == i]) for i in classes])
        fit = MinCovDet(random_state=self.random_state).fit(Z - centers[labels])
        trusted = [Z[fit.support_ & (labels == i)] for i in classes]
        return np.array([t.mean(axis=0) if len(t) else centers[i] for i, t in enumerate(trusted)]), fit.covariance_

    def predict(self, X: Array) -> Array:
        return self.classes_[(self.pca_.transform(X) @ self.directions_ + self.offset_).argmax(axis=1)]


class ConfidentFilter(ClassifierMixin, BaseEstimator):
    """Confident learning: cleanlab removes the labels it finds wrong, logistic regression is fitted to the rest."""

    def fit(self, X: Array, y: Array) -> Self:
        from cleanlab.filter import find_label_issues

        self.classes_, labels = np.unique(y, return_inverse=True)
        model = LogisticRegression(max_iter=1000)
        probability = cross_val_predict(model, X, labels, cv=inner_folds(labels, 5), method="predict_proba")
        keep = ~find_label_issues(labels, probability, n_jobs=1)
        if len(np.unique(labels[keep])) < 2:
            keep[:] = True
        self.model_ = model.fit(X[keep], labels[keep])
        return self

    def predict(self, X: Array) -> Array:
        return self.classes_[self.model_.predict(X)]


def _subsample(X: Array, y: Array, size: int) -> tuple[Array, Array]:
    if len(y) <= size:
        return X, y
    counts = np.unique(y, return_counts=True)[1]
    stratify = y if counts.min() >= 2 and size >= len(counts) else None
    Z, _, z, _ = train_test_split(X, y, train_size=size, stratify=stratify, random_state=0)
    return Z, z


def _median(Z: Array) -> Array:
    """Geometric median of the rows."""
    return geometric_median(Rows(as_store(Z), 4096), np.ones(len(Z)))
