r"""
A ratio that is not LDA: joules per megabit
===========================================

:func:`~robustlda.minimize_ratio` is the general algorithm of the paper, for any ratio :math:`f(v)/g(v)` with
:math:`g > 0` whose difference :math:`f - \lambda g` is easy to minimize. (Dinkelbach described it in 1967.) It repeats
two steps: take the ratio at the current point as :math:`\lambda`, then move to the minimizer of
:math:`f - \lambda g`. The ratio never rises, and no step size has to be chosen. If the minimizer is always a global
one, so is the result.

Here it divides the power of a transmitter among its carriers so that a megabit costs as little energy as possible.
"""

import matplotlib.pyplot as plt
import numpy as np

from robustlda import minimize_ratio

# %%
# The problem
# -----------
# A transmitter has 32 carriers of 1 MHz each. Power :math:`p_i` on carrier i gives it :math:`\log_2(1 + a_i p_i)`
# megabits per second, by Shannon's formula, where the gains :math:`a_i` differ as the signal fades. Whatever is sent,
# the electronics need 5 W. With at most 2 W per carrier we want
#
# .. math:: \min_{0 \le p_i \le 2} \frac{5 + \sum_i p_i}{\sum_i \log_2(1 + a_i p_i)},
#
# in watts per megabit per second, that is joules per megabit. Little power wastes the 5 W on few bits, much power pays
# for bits that become dearer and dearer.

gains = 4 * np.random.default_rng(0).exponential(size=32)


def power(p):
    return 5 + p.sum()


def rate(p):
    return np.log2(1 + gains * p).sum()


# %%
# The inner problem
# -----------------
# :math:`f - \lambda g` falls apart into one convex function for each carrier. Its derivative
# :math:`1 - \lambda a_i / ((1 + a_i p_i) \ln 2)` vanishes at :math:`p_i = \lambda / \ln 2 - 1/a_i`: power is poured
# over the carriers up to a common water level, and carriers whose floor :math:`1/a_i` is higher stay dry.


def pour(ratio, p):
    return np.clip(ratio / np.log(2) - 1 / gains, 0, 2)


start = np.full(32, 2.0)
result = minimize_ratio(power, rate, pour, start)
for step, ratio in enumerate(result.history):
    print(f"step {step}: {ratio:.12f} J/Mbit")
print(f"converged: {result.converged}")

# %%
# Is it the minimum?
# ------------------
# At the optimal :math:`\lambda`, the smallest value of :math:`f - \lambda g` is zero: then no other point has a smaller
# ratio. That is a certificate, as our inner minimizers are global.

best = pour(result.ratio, result.v)
print(f"smallest value of f - λg: {power(best) - result.ratio * rate(best):.1e} W")
print(f"full power everywhere: {power(start) / rate(start):.3f} J/Mbit, {rate(start):.0f} Mbit/s")
print(f"least energy per bit:  {result.ratio:.3f} J/Mbit, {rate(result.v):.0f} Mbit/s")

# %%
# As all minimizers are given by a water level, the problem can be drawn: on the left the ratio at every level, with the
# steps of the algorithm. In the middle is the distance to the end. On the right are the carriers, in the order of their
# floors.

fig, (curve, descent, carriers) = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")

levels = np.linspace(0.15, 1.5, 300)
allocations = [np.clip(level - 1 / gains, 0, 2) for level in levels]
curve.plot(levels, [power(p) / rate(p) for p in allocations], color="#56b4e9", linewidth=2)
# Step k pours up to the level that the ratio before it asks for.
curve.plot(result.history[:-1] / np.log(2), result.history[1:], "o", color="#c0143c", label="steps")
for step in (1, 2):
    place = result.history[step - 1] / np.log(2), result.history[step]
    curve.annotate(str(step), place, textcoords="offset points", xytext=(6, 6), color="#c0143c")
curve.set(xlabel="water level (W)", ylabel="energy (J/Mbit)", title="The ratio, and the steps", ylim=(None, 0.7))
curve.legend()

above = result.history - result.history[-1]
descent.semilogy(np.arange(len(above))[above > 0], above[above > 0], "o-", color="#c0143c")
descent.set(xlabel="step", ylabel="energy above the minimum (J/Mbit)", title="Monotone, and faster and faster")
descent.xaxis.get_major_locator().set_params(integer=True)

order = np.argsort(-gains)
floor = np.minimum(1 / gains[order], 1.2)
carriers.bar(range(32), floor, color="#999999", width=1, label="floor, 1/gain")
carriers.bar(range(32), result.v[order], bottom=floor, color="#0072b2", width=1, label="power")
carriers.set(xlabel="carrier, best first", ylabel="power (W)", title="Least energy per bit", ylim=(0, 1.2))
carriers.legend(loc="upper left")
for ax in (curve, descent):
    ax.grid(color="#dddddd", linewidth=0.6)
plt.show()
