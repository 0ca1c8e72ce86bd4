"""Every row of the table of extremes, for every estimator."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.extremes import EXTREMES, PAGE, blobs, page
from tests.oracle import checked_fit

CASES = [(case, kind) for case in EXTREMES for kind in case.kinds]


def of_kind(case, kind):
    known = kind().get_params()
    return kind(**{name: value for name, value in case.settings.items() if name in known})


@pytest.mark.parametrize(("case", "kind"), CASES, ids=[f"{case.group}: {case.name}-{k.__name__}" for case, k in CASES])
def test_extreme(case, kind):
    X, y, *more = case.make()
    arguments = more[0] if more else {}
    others = None if case.others is None else case.others()
    found = checked_fit(of_kind(case, kind), X, y, others=others, **arguments)
    if case.says:
        assert isinstance(found, Exception)
        assert case.says in str(found)
        return
    assert not isinstance(found, Exception), found
    if case.right:
        assert found.score(X, y) >= case.right


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.extremes"
    assert len(EXTREMES) >= 60
    assert len({(case.group, case.name) for case in EXTREMES}) == len(EXTREMES)


@pytest.mark.parametrize("kind", EXTREMES[0].kinds)
def test_a_failed_fit_leaves_the_model_as_it_was(kind):
    X, y = blobs()
    model = kind().fit(X, y)
    before, answers = dict(vars(model)), model.predict_proba(X)
    wrong = [
        (X[:, :3] * 1e150, y, {}),
        (np.full((40, 3), 0.1), y, {}),
        (X[:, :2], y * 0, {}),
        (X[:, :2], np.array([1, "one"], object)[y], {}),
    ]
    for rows, labels, arguments in wrong:
        with pytest.raises(ValueError):  # noqa: PT011 - which one is a matter of the table
            model.fit(rows, labels, **arguments)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.predict_proba(X), answers)


@pytest.mark.parametrize("kind", EXTREMES[0].kinds)
def test_a_refit_forgets_all_of_an_earlier_fit(kind):
    X, y = blobs()
    model, fresh = kind(), kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(np.hstack([X, X**2]), np.arange(40) % 4)
        model.fit(X, y)
    assert vars(model).keys() == vars(clone(fresh).fit(X, y)).keys()
    assert_array_equal(model.predict_proba(X), fresh.fit(X, y).predict_proba(X))
