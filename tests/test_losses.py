"""Every loss is concave in the squared length, and its weight is its derivative."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robustlda import losses

MEMBERS = [
    *[kind() for kind in losses.LOSSES.values()],
    losses.Lp(p=1.5),
    losses.Capped(cap=0.3),
    losses.Welsch(0.5),
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
