"""
Several people answered, and one of them guesses
================================================

Where labels come from people, each sample is often shown to several of them, and a majority vote decides. A vote treats
all of them alike. :class:`~robustlda.RobustLDA` takes all answers instead, one column per person, and finds out who
confuses what: from the answers, as Dawid and Skene did (1979), and from the features.

Five people are simulated here on scikit-learn's digits. Three of them err at random, each at a rate of their own. One
is good but confuses certain digits, and the last one guesses.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from robustlda import LabelAudit, RobustLDA

# %%
# Answers
# -------
# A person is a table: row k has the probabilities of the answers to an image that shows a k. Every image is shown to
# three of the five; −1 is for those who were not asked.


def person(right):
    table = np.full((10, 10), (1 - right) / 9)
    np.fill_diagonal(table, right)
    return table


people = {
    "careful": person(0.85),
    "quick": person(0.75),
    "careless": person(0.6),
    "confuses": person(0.8),
    "guesses": person(0.1),
}
for shown, answered, share in ((4, 9, 0.7), (9, 4, 0.5), (3, 8, 0.5)):
    people["confuses"][shown] = 0
    people["confuses"][shown, [shown, answered]] = 1 - share, share

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=600, stratify=y, random_state=0)

rng = np.random.default_rng(0)
answers = np.full((len(y_train), len(people)), -1)
for image, shown in enumerate(y_train):
    for asked in rng.choice(len(people), 3, replace=False):
        answers[image, asked] = rng.choice(10, p=list(people.values())[asked][shown])
print(answers[:5])

# %%
# Vote, or model
# --------------
# Ties of the vote are broken at random.

counts = (answers[:, :, None] == np.arange(10)).sum(axis=1)
vote = (counts + 0.5 * rng.random(counts.shape)).argmax(axis=1)

from_votes = RobustLDA().fit(X_train, vote)
from_answers = RobustLDA().fit(X_train, answers)
audit = LabelAudit().fit(X_train, answers)

print(f"right labels of the training images: vote {(vote == y_train).mean():.3f}")
print(f"                                     answers and features {(audit.suggested_ == y_train).mean():.3f}")
print(f"accuracy on test images: fitted to votes   {from_votes.score(X_test, y_test):.3f}")
print(f"                         fitted to answers {from_answers.score(X_test, y_test):.3f}")

# %%
# The model that was fitted to votes also knows that labels are wrong, and is therefore much better than the votes are.
# It cannot know whose votes they were.
#
# Who confuses what
# -----------------
# ``annotator_confusion_`` has a table for each person. Above is what it says, below the truth.

fig, axes = plt.subplots(2, len(people), figsize=(11, 4.5), sharex=True, sharey=True, layout="constrained")
for j, (name, truth) in enumerate(people.items()):
    for ax, table in zip(axes[:, j], (from_answers.annotator_confusion_[j], truth), strict=True):
        image = ax.imshow(table, vmin=0, vmax=1, cmap="cividis")
        ax.set_xticks(range(0, 10, 3))
        ax.set_yticks(range(0, 10, 3))
    axes[0, j].set_title(f"{name}: {audit.annotator_accuracy_[j]:.0%} right", fontsize=10)
    axes[1, j].set_xlabel("answer")
axes[0, 0].set_ylabel("estimated\ndigit shown")
axes[1, 0].set_ylabel("true\ndigit shown")
fig.colorbar(image, ax=axes, label="probability of the answer", shrink=0.8)
plt.show()

# %%
# The one who guesses and the digits that the fourth person confuses are found, although nobody has said which answers
# are right. Every person answered some 36 times about a digit, so single entries are rough:

for name, truth, found in zip(people, people.values(), from_answers.annotator_confusion_, strict=True):
    error = np.abs(found - truth)
    print(f"{name:9} largest error of an entry {error.max():.2f}, mean {error.mean():.3f}")
