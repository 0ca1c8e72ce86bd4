"""The figures of the README, but for the picture of the page: `python docs/readme/draw.py`."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from robustlda import RobustLDA
from robustlda.datasets.contaminate import flip_labels

HERE = Path(__file__).parent
KEPT = [0, 1, 2, 3, 4, 6]
COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#8c8c8c", "#d55e00"]


def plane() -> plt.Figure:
    """Six digits in two directions, learned from labels of which 40 % are wrong, colored by the true ones."""
    X, y = load_digits(return_X_y=True)
    X, y = X[np.isin(y, KEPT)], y[np.isin(y, KEPT)]
    noisy, _ = flip_labels(y, 0.4, np.random.default_rng(0))
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.9))
    models = {
        "LDA": LinearDiscriminantAnalysis(n_components=2),
        "RobustLDA": RobustLDA(n_components=2),
    }
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        Z = model.fit(X, noisy).transform(X)
        for digit, color in zip(KEPT, COLORS, strict=True):
            ax.scatter(*Z[y == digit].T, s=5, color=color, alpha=0.7, linewidths=0)
            ax.annotate(str(digit), np.median(Z[y == digit], axis=0), weight="bold", size=13, ha="center", va="center",
                        bbox={"boxstyle": "circle,pad=.15", "fc": "white", "ec": color, "alpha": 0.85})  # fmt: skip
        low, high = np.quantile(Z, [0.002, 0.998], axis=0)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
        ax.set_title(f"{name}, 40 % of the labels wrong")
    return fig


def main() -> None:
    plt.switch_backend("Agg")
    figures = runpy.run_path(str(HERE.parent / "figures.py"))
    style = {"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
             "figure.constrained_layout.use": True}  # fmt: skip
    with plt.rc_context(style):
        for name, fig in {"accuracy": figures["accuracy"]("light"), "plane": plane()}.items():
            fig.savefig(HERE / f"{name}.png", dpi=130, facecolor="white")


if __name__ == "__main__":
    main()
