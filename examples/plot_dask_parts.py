"""
Rows in parts, with Dask
========================

:class:`~robustlda.RobustLDA` takes Dask arrays and DataFrames, whose rows are in parts: in files, or in the memory of
several machines. The answer is that of rows in memory, however they are divided. The data of this example would fit
into memory a thousand times over, so that we can compare the two. Dask runs on two threads of this process here; with
``dask.distributed.Client`` the same lines run on a cluster.
"""

import matplotlib.pyplot as plt
import numpy as np

from robustlda import RobustLDA
from robustlda.datasets.contaminate import flip_labels

try:
    import dask
    import dask.array as da
except ImportError:
    da = None
    print("Dask is not installed, so this example has nothing to show: pip install 'robustlda[dask]'.")

# %%
# Data
# ----
# Four classes in twenty features, 20 % of the labels wrong. The rows are sorted by label, so that most parts hold rows
# of a single class, which is the hardest order for anything that is learned part by part.

rng = np.random.default_rng(0)
truth = rng.integers(0, 4, 3000)
X = rng.standard_normal((4, 20))[truth] + rng.standard_normal((3000, 20)) * np.linspace(0.5, 2, 20)
y, _ = flip_labels(truth, 0.2, rng)
order = np.argsort(y, kind="stable")
X, y, truth = X[order], y[order], truth[order]

in_memory = RobustLDA().fit(X, y)
probabilities = in_memory.predict_proba(X)
print(f"in memory: {in_memory.noise_rate_:.4f} of the labels are said to be wrong, {(y != truth).mean():.4f} are")

# %%
# In parts
# --------
# Nothing but the arrays changes. What ``predict_proba`` returns is a Dask array, of which nothing has been computed
# until ``compute`` is called.


def largest_differences(n_parts):
    """From rows in memory: of a probability, and of an entry of the projection relative to the largest."""
    cuts = np.sort(np.random.default_rng(n_parts).choice(np.arange(1, len(X)), n_parts - 1, replace=False))
    sizes = tuple(np.diff([0, *cuts, len(X)]).tolist())
    X_parts, y_parts = da.from_array(X, chunks=(sizes, 20)), da.from_array(y, chunks=(sizes,))
    with dask.config.set(scheduler="threads", num_workers=2):
        model = RobustLDA().fit(X_parts, y_parts)
        found = model.predict_proba(X_parts).compute()
    turned = np.abs(model.components_ - in_memory.components_).max() / np.abs(in_memory.components_).max()
    apart = np.abs(found - probabilities).max()
    changed = (found.argmax(axis=1) != probabilities.argmax(axis=1)).sum()
    print(f"{n_parts} parts of {min(sizes)} to {max(sizes)} rows: {changed} predictions differ,")
    print(f"  probabilities by at most {apart:.0e}, the projection by {turned:.0e}")
    return apart, turned


# %%
# Rounding, carried through the iterations, is all that remains. The dotted line is the difference that the tests of the
# project tolerate.

if da is not None:
    numbers = (2, 5, 20)
    differences = np.transpose([largest_differences(n_parts) for n_parts in numbers])

    fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    names = ("of a probability", "of an entry of the projection")
    for line, name, color, marker in zip(differences, names, ("#0072b2", "#c0143c"), "so", strict=True):
        # A difference of zero has no logarithm, so it is drawn at the last digit.
        ax.loglog(numbers, np.maximum(line, np.finfo(float).eps), label=name, color=color, marker=marker)
    ax.axhline(1e-6, color="black", linestyle=":")
    ax.set(xlabel="parts of random sizes", ylabel="largest difference from rows in memory", ylim=(1e-17, 1e-4))
    ax.set_xticks(numbers, map(str, numbers))
    ax.minorticks_off()
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.legend()
plt.show()
