"""Every loss is concave in the squared length, and its weight is its derivative."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from robustlda import RatioLDA, losses

MEMBERS = [
    *[kind() for kind in losses.LOSSES.values()],
    losses.Lp(p=1.5),
    losses.Capped(cap=0.3),
    losses.Welsch(0.5),
    losses.Cauchy(0.5),
]
t = np.concatenate([[0.0], np.geomspace(1e-8, 1e3, 400)])


@pytest.mark.parametrize("loss", MEMBERS, ids=str)
def test_weight_is_the_derivative(loss):
    middle, step = np.geomspace(1e-4, 50, 60), 1e-6
    smooth = np.abs(np.sqrt(middle) - getattr(loss, "cap", np.inf)) > 1e-3
    slope = (loss.value(middle * (1 + step)) - loss.value(middle * (1 - step))) / (2 * step * middle)
    assert_allclose(loss.weight(middle)[smooth], slope[smooth], rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("loss", MEMBERS, ids=str)
def test_tangent_lies_above_the_loss(loss):
    tangent = loss.value(t)[:, None] + loss.weight(t)[:, None] * (t[None, :] - t[:, None])
    assert (loss.value(t)[None, :] <= tangent + 1e-9 * (1 + np.abs(tangent))).all()


@pytest.mark.parametrize("loss", MEMBERS, ids=str)
def test_value_never_falls_and_weight_never_rises(loss):
    assert (np.diff(loss.value(t)) >= 0).all()
    assert (np.diff(loss.weight(t)) <= 0).all()
    assert (loss.weight(t) >= 0).all()


def test_lp_with_p_one_is_l12_and_with_p_two_is_squared():
    assert_allclose(losses.Lp(p=1).value(t), losses.L12().value(t))
    assert_allclose(losses.Lp(p=1).weight(t), losses.L12().weight(t))
    assert_allclose(losses.Lp(p=2).weight(t), losses.Squared().weight(t))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: losses.Lp(p=0), r"p=0 must lie in \(0, 2\]"),
        (lambda: losses.Lp(p=2.5), r"p=2.5 must lie in \(0, 2\]"),
        (lambda: losses.L12(smoothing=0), "smoothing=0 must be positive"),
        (lambda: losses.Capped(cap=-1), "cap=-1 must be positive"),
        (lambda: losses.Welsch(scale=0), "scale=0 must be positive"),
        (lambda: losses.Cauchy(scale=0), "scale=0 must be positive"),
        (lambda: losses.Welsch(1e160), "scale=1e\\+160 must be positive, from 1e-30 to 1e\\+30"),
        (lambda: losses.Cauchy(1e-160), "scale=1e-160 must be positive, from 1e-30 to 1e\\+30"),
        (lambda: losses.resolve("huber"), "loss='huber' is not one of 'squared'"),
        (lambda: losses.resolve(3), "loss=3 must be a name or an object"),
    ],
)
def test_bad_settings_get_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class Geman:
    """A loss of one's own, after Geman and McClure: levels off at s²."""

    max_exponent = 1.0

    def __init__(self, scale=2.0):
        self.scale = scale

    def value(self, t):
        return t / (1 + t / self.scale**2)

    def weight(self, t):
        return 1 / (1 + t / self.scale**2) ** 2


def test_a_new_loss_is_one_small_class():
    X, y = load_wine(return_X_y=True)
    model = RatioLDA(4, loss=Geman()).fit(StandardScaler().fit_transform(X), y)
    assert (np.diff(model.objective_path_) <= 1e-12).all()
    assert model.score(StandardScaler().fit_transform(X), y) > 0.95
    test_weight_is_the_derivative(Geman())
    test_tangent_lies_above_the_loss(Geman())


def test_settings_are_those_of_the_documentation():
    assert losses.Capped() == losses.Capped(cap=2.0, smoothing=1e-6)


@pytest.mark.parametrize("loss", MEMBERS, ids=str)
def test_settings_stay_as_they_were_checked(loss):
    for name in vars(loss):
        with pytest.raises(FrozenInstanceError):
            setattr(loss, name, 0.0)


def midpoint_above(loss, exponent, a, b):
    """Whether N^q at the midpoint lies above the mean of its values at both ends, N being the sum of the loss."""
    at_ends = [loss.value(ends).sum(axis=-1) ** exponent for ends in (a, b)]
    return loss.value((a + b) / 2).sum(axis=-1) ** exponent >= np.mean(at_ends, axis=0) * (1 - 1e-12)


@pytest.mark.parametrize("loss", MEMBERS, ids=str)
def test_the_largest_exponent_is_the_largest_that_is_concave(loss):
    a, b = np.random.default_rng(0).lognormal(sigma=3, size=(2, 500, 4))
    assert midpoint_above(loss, loss.max_exponent, a, b).all()
    near_zero = np.array([[2e-5]]), np.array([[4e-3]])
    assert not midpoint_above(loss, 1.1 * loss.max_exponent, *near_zero).any()
