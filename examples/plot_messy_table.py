"""
A messy table: audited, reviewed, corrected
===========================================

Labels go wrong where people keep tables, and such tables have units in their cells, gaps, question marks and columns
that mean nothing. :class:`~robustlda.LabelAudit` takes a DataFrame as it is: name the column that holds the labels.
Here a person then checks thirty rows, and the audit learns from that.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from robustlda import LabelAudit
from robustlda.report.displays import ProjectionDisplay

# %%
# A table as people keep it
# -------------------------
# These are the chemical analyses of 178 wines that come with scikit-learn, made messy. The grapes of 18 wines, drawn at
# random, are wrong on purpose; one is spelled differently, and two are missing.

rng = np.random.default_rng(0)
wine = load_wine(as_frame=True)
measured, n = wine.data, len(wine.data)
grapes = np.array(["Barolo", "Grignolino", "Barbera"])
truth = grapes[wine.target]

frame = pd.DataFrame(
    {
        "bottle": [f"W-{i:03d}" for i in range(n)],
        "alcohol": [f"{value:.2f} %" for value in measured.alcohol],
        "proline": [f"{value:,.0f} mg/l" for value in measured.proline],
        "flavanoids": measured.flavanoids.where(rng.random(n) > 0.1),
        "color": pd.cut(measured.color_intensity, [0, 3, 5, 7, 20], labels=["pale", "medium", "deep", "opaque"]),
        "hue": measured.hue,
        "malic acid": measured.malic_acid.astype(str).where(rng.random(n) > 0.06, "?"),
        "tasted": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 60, n), "D"),
        "grape": truth,
    }
)
wrong = rng.choice(n, 18, replace=False)
frame.loc[wrong, "grape"] = [rng.choice(grapes[grapes != grape]) for grape in truth[wrong]]
frame.loc[3, "grape"] = " barolo"
frame.loc[[20, 90], "grape"] = None
frame.head()

# %%
# Audit
# -----
# The audit keeps what became of every column, and why:

audit = LabelAudit().fit(frame, "grape")
for column in audit.preparation_.columns_:
    print(f"{column.name:11} {column.kind:9}", column.note or ", ".join(column.features))

# %%
# The most suspicious labels come first. As the errors were planted, we know which labels are wrong; with a table of
# your own, you would look at the bottles. ``id`` is the row of the table, as no column was named for it.

print(audit.to_frame()[["id", "given", "suggested", "probability_wrong", "finding"]].head(6).round(3).to_string())
flagged = audit.ids_[audit.flags()]
print(f"{len(flagged)} labels are flagged, of which {np.isin(flagged, wrong).sum()} are wrong")

# %%
# How many labels are wrong in all? The interval is wide, and the audit says why.

low, high = audit.noise_interval_
print(f"{audit.noise_rate_:.1%} ({low:.1%} to {high:.1%})")
print(textwrap.fill(audit.noise_reason_, 80))

# %%
# Review
# ------
# ``to_review`` names the rows whose check teaches the audit most. They are not those that are most surely wrong, about
# which there is little to learn; most of them turn out to be right. Our person knows the truth.

rows = audit.to_review(30)
reviewed = LabelAudit().fit(frame, "grape", verified={row: truth[row] for row in rows})
print(f"{np.isin(rows, wrong).sum()} of the {len(rows)} labels checked were wrong")
low, high = reviewed.noise_interval_
print(f"{reviewed.noise_rate_:.1%} ({low:.1%} to {high:.1%})")
print(textwrap.fill(reviewed.noise_reason_, 80))

# %%
# Correct
# -------
# ``cleaned`` replaces what is flagged, and what was checked. Rows without a label have no part in it, so the result
# goes back to the rows in ``ids_``.

corrected = frame.copy()
labels, is_no_outlier = reviewed.cleaned()
corrected.loc[reviewed.ids_, "grape"] = labels
before = np.isin(wrong, audit.ids_).sum()
after = (corrected.grape[reviewed.ids_] != truth[reviewed.ids_]).sum()
print(f"{before} labels were wrong, {after} are now")

# %%
# The plane shows where the wines lie and which labels are flagged; on the right, what thirty checks have told about the
# share of wrong labels.

fig, (plane, interval) = plt.subplots(1, 2, figsize=(11, 5), width_ratios=[2.4, 1], layout="constrained")
ProjectionDisplay.from_audit(reviewed, ax=plane)
plane.set_title("Wines by given label; ellipses contain 95 % of a class", fontsize=11)
plane.xaxis.label.set_fontsize(9)
plane.yaxis.label.set_fontsize(9)
for place, judged in enumerate((audit, reviewed)):
    low, high = (100 * bound for bound in judged.noise_interval_)
    rate = 100 * judged.noise_rate_
    interval.errorbar(place, rate, [[rate - low], [high - rate]], fmt="o", color="#0072b2", capsize=6, linewidth=2)
interval.axhline(100 * before / len(audit.ids_), color="black", linestyle=":", label="truth")
interval.set_xticks([0, 1], ["audit", "after 30 checks"])
interval.set(xlim=(-0.6, 1.6), ylim=(0, None), ylabel="wrong labels (%), with interval")
interval.legend(frameon=False)
plt.show()
