"""Every threshold of the plan decides something, and the memory model follows them."""

from dataclasses import fields, replace

import pytest

from robustlda.plan import Dimensions, Plan

DEFAULT = Plan()


@pytest.mark.parametrize(
    ("field", "ask", "below", "above"),
    [
        ("densify", lambda p, d, n: p.densifies(n, d), True, False),
        ("single_dim", lambda p, d, n: p.single_above(Dimensions(d, n)) < 1, False, True),
        ("subspace_dim", lambda p, d, n: p.use_subspace(Dimensions(d, n), 5), False, True),
        ("whole_space_dim", lambda p, d, n: p.finish_in_whole_space(Dimensions(d, n)), True, False),
        ("linear_rule_dim", lambda p, d, n: p.learn_by_matrix(Dimensions(d, n)), True, False),
        ("factor_features", lambda p, d, n: p.factorize_total_scatter(Dimensions(d, n)), True, False),
    ],
)
def test_a_threshold_of_dimensions_decides(field, ask, below, above):
    plan = replace(DEFAULT, **{field: 1000 * 5000 if field == "densify" else 1000})
    assert ask(plan, 999, 5000) == below
    assert ask(plan, 1001, 5000) == above


def test_components_decide_whether_subspaces_are_small():
    assert DEFAULT.use_subspace(Dimensions(800, 5000), 100)
    assert not DEFAULT.use_subspace(Dimensions(800, 5000), 101)
    assert not replace(DEFAULT, subspace_ratio=9).use_subspace(Dimensions(800, 5000), 100)


def test_samples_decide_what_is_factorized():
    wide = Dimensions(50_000, 9000)
    assert DEFAULT.factorize_inner_products(wide, 1.0)
    assert not DEFAULT.factorize_inner_products(Dimensions(50_000, 15_000), 1.0)
    assert DEFAULT.factorize_inner_products(Dimensions(50_000, 15_000), DEFAULT.little)
    assert not DEFAULT.factorize_inner_products(Dimensions(50_000, 25_000), DEFAULT.little)
    assert DEFAULT.double_inner_products(wide)
    assert not replace(DEFAULT, factor_samples_double=8000).double_inner_products(wide)


def test_distinct_samples_decide_whether_labels_are_memorized():
    assert DEFAULT.memorizes_labels(Dimensions(21, 1000), 100)
    assert not DEFAULT.memorizes_labels(Dimensions(20, 1000), 100)
    assert not replace(DEFAULT, samples_per_dim=0).memorizes_labels(Dimensions(5000, 1000), 100)


def test_blocks_have_at_least_one_row():
    assert DEFAULT.block_rows(100) == (1 << 22) // 100
    assert replace(DEFAULT, block=10).block_rows(100) == 1


@pytest.mark.parametrize("d", [50, 700, 3000])
def test_memory_grows_with_everything(d):
    n, m, c = 4000, 12, 4
    projection, committee = DEFAULT.projection_memory(n, d, m), DEFAULT.committee_memory(n, d, c)
    assert DEFAULT.projection_memory(2 * n, d, m) > projection
    assert DEFAULT.projection_memory(n, 2 * d, m) > projection
    assert DEFAULT.committee_memory(2 * n, d, c) > committee
    assert DEFAULT.committee_memory(n, d, 2 * c) > committee
    assert replace(DEFAULT, max_samples=500).committee_memory(n, d, c) < committee
    assert replace(DEFAULT, landmarks=50).committee_memory(n, d, c) < committee


def test_rows_beyond_a_block_cost_only_what_is_kept_of_each():
    """A table of four million rows takes numbers for each row, and not the table."""
    less, more = (DEFAULT.projection_memory(n, 50, 15, itemsize=4) for n in (2_000_000, 4_000_000))
    assert more - less <= 8 * 20 * 2_000_000


def test_a_plan_cannot_be_changed_by_accident():
    with pytest.raises(AttributeError):
        DEFAULT.block = 1
    assert all(getattr(DEFAULT, field.name) > 0 for field in fields(Plan))
