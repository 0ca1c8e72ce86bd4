"""
Two directions for a picture, with wrong labels
===============================================

LDA is often used to draw data: the two directions in which the classes differ most make a picture. If many of the
labels are wrong, LDA looks for directions that separate the wrong labels as well, and finds a plane that shows little.
:class:`~robustlda.RobustLDA` learns its plane from what it believes the labels should be.

The data are scikit-learn's digits from 0 to 5, as a plane has little room for all ten.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from robustlda import LabelAudit, RobustLDA
from robustlda.datasets.contaminate import flip_labels
from robustlda.report.displays import ProjectionDisplay

X, y = load_digits(n_class=6, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=500, stratify=y, random_state=0)
noisy, wrong = flip_labels(y_train, 0.4, np.random.default_rng(1))

# %%
# Planes
# ------
# Every plane is learned from 500 training images, above with correct labels and below with 40 % wrong ones. What is
# drawn are the test images, in the colors and shapes of their true digits. The number is the accuracy of five nearest
# neighbors in the plane with correct labels: it judges the plane alone.

methods = {
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "LDA, shrunk": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto", n_components=2),
    "RobustLDA": RobustLDA(n_components=2),
}
colors = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#333333")

fig, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
for row, labels, kind in zip(axes, (y_train, noisy), ("labels correct", "40 % wrong"), strict=True):
    for ax, (name, method) in zip(row, methods.items(), strict=True):
        plane = method.fit(X_train, labels).transform
        neighbors = KNeighborsClassifier(5).fit(plane(X_train), y_train)
        accuracy = neighbors.score(plane(X_test), y_test)
        print(f"{name:11} {kind:14} {accuracy:.3f}")
        for digit, color, marker in zip(range(6), colors, "os^Dvp", strict=True):
            points = plane(X_test[y_test == digit])
            ax.scatter(*points.T, s=12, color=color, marker=marker, linewidth=0, alpha=0.8, label=str(digit))
        ax.set_title(f"{name}, {kind}: {accuracy:.0%}", fontsize=10)
        # A few images lie far outside; they would squeeze the others together.
        low, high = np.quantile(plane(X_test), [0.01, 0.99], axis=0)
        margin = 0.15 * (high - low)
        ax.set(xlim=(low[0] - margin[0], high[0] + margin[0]), ylim=(low[1] - margin[1], high[1] + margin[1]))
        ax.set_xticks([])
        ax.set_yticks([])
    row[0].set_ylabel("second direction")
for ax in axes[1]:
    ax.set_xlabel("first direction")
handles, names = axes[0, 0].get_legend_handles_labels()
fig.legend(handles, names, loc="outside right center", title="digit", markerscale=2, frameon=False)

# %%
# With correct labels there is little between the three planes. With 40 % wrong ones, LDA's digits run into each other;
# shrinkage helps, and the plane of ``RobustLDA`` looks nearly as if all labels were correct.
#
# The plane of an audit
# ---------------------
# :class:`~robustlda.LabelAudit` draws its plane with what it has found. These are the training images, in the colors of
# the labels they were given.

audit = LabelAudit().fit(X_train, noisy)
display = ProjectionDisplay.from_audit(audit)
display.ax_.set_title("Training images by given label; ellipses contain 95 % of a class", fontsize=11)
plt.show()

flagged = audit.flags()
print(f"{wrong.sum()} labels are wrong; {flagged.sum()} are flagged, of which {(flagged & wrong).sum()} are wrong")
