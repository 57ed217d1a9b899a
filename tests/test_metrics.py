"""Each measure on numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from index.clause_id import ClauseId

pytest.importorskip("ir_measures")

from eval.metrics import by_law, measure, must_by_law, rate


def ids(text: str) -> tuple[ClauseId, ...]:
    return tuple(map(ClauseId, text.split()))


def must(*sets: str) -> tuple[frozenset[ClauseId], ...]:
    return tuple(frozenset(ids(text)) for text in sets)


RANKED = ids("27B1(a) 25A1 27A1 16C 23A")
NEEDED = must("27A1 27A", "23A", "72C")
"""Hit at rank 3 and at rank 5; the third set is not found."""


def test_recall_takes_any_set_and_sets_their_share() -> None:
    found = measure(RANKED, NEEDED)
    assert [found[f"recall@{k}"] for k in (1, 3, 5, 10)] == [0, 1, 1, 1]
    assert found["sets@5"] == pytest.approx(2 / 3)
    assert found["all-hit@5"] == 0


def test_all_hit_wants_every_set_among_the_first_five() -> None:
    assert measure(RANKED, must("27A1", "23A"))["all-hit@5"] == 1
    assert measure(ids("1 2 3") + RANKED, must("27A1", "23A"))["all-hit@5"] == 0


def test_the_reciprocal_rank_is_that_of_the_first_hit() -> None:
    assert measure(RANKED, NEEDED)["MRR"] == pytest.approx(1 / 3)
    assert measure(RANKED, must("72C"))["MRR"] == 0


def test_ndcg_by_hand() -> None:
    gain = 1 / math.log2(4) + 1 / math.log2(6)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert measure(RANKED, NEEDED)["nDCG@10"] == pytest.approx(gain / ideal)


def test_a_second_alternative_of_a_set_gains_nothing() -> None:
    assert measure(ids("27A1 27A"), must("27A1 27A"))["nDCG@10"] == 1
    found = measure(ids("27A 27A1 23A"), must("27A1 27A", "23A"))
    assert found["nDCG@10"] == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize(("ranked", "needed"), [((), NEEDED), (RANKED, ())])
def test_what_is_missing_counts_nothing(ranked: tuple[ClauseId, ...], needed: tuple[frozenset[ClauseId], ...]) -> None:
    assert set(measure(ranked, needed).values()) == {0.0}


def test_by_law_each_law_stands_once_and_a_definition_for_itself() -> None:
    assert by_law(ids("27B1(a) 27A1 Def:revoke 64A1 27")) == ids("27 Def:revoke 64")
    assert must_by_law(must("27A1 27A", "23A 16C")) == must("27", "23 16")


def test_a_rate_has_counts_and_an_interval_that_holds_it() -> None:
    found = rate([1.0] * 30 + [0.0] * 10)
    assert (found.hits, found.total, found.value) == (30, 40, 0.75)
    assert 0.60 < found.low < 0.65
    assert 0.85 < found.high < 0.90
    assert str(found).startswith("30/40 = 0.750 [0.6")
    assert str(rate([])) == "0/0 = 0.000 [0.000, 0.000]"
