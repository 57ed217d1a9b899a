"""Each measure on numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from eval.metrics import all_hit, by_law, must_by_law, ndcg, rate, recall, reciprocal_rank, set_recall
from index.clause_id import ClauseId


def ids(text: str) -> tuple[ClauseId, ...]:
    return tuple(map(ClauseId, text.split()))


def must(*sets: str) -> tuple[frozenset[ClauseId], ...]:
    return tuple(frozenset(ids(text)) for text in sets)


RANKED = ids("27B1(a) 25A1 27A1 16C 23A")
NEEDED = must("27A1 27A", "23A", "72C")
"""Hit at rank 3 and at rank 5; the third set is not found."""


@pytest.mark.parametrize(("k", "any_hit", "share"), [(1, 0, 0), (2, 0, 0), (3, 1, 1 / 3), (5, 1, 2 / 3), (10, 1, 2 / 3)])
def test_recall_takes_any_set_and_set_recall_their_share(k: int, any_hit: float, share: float) -> None:
    assert recall(RANKED, NEEDED, k) == any_hit
    assert set_recall(RANKED, NEEDED, k) == pytest.approx(share)
    assert all_hit(RANKED, NEEDED, k) == 0


def test_all_hit_wants_every_set() -> None:
    assert all_hit(RANKED, must("27A1", "23A"), 5) == 1
    assert all_hit(RANKED, must("27A1", "23A"), 4) == 0


def test_the_reciprocal_rank_is_that_of_the_first_hit() -> None:
    assert reciprocal_rank(RANKED, NEEDED) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, must("72C")) == 0


def test_ndcg_by_hand() -> None:
    gain = 1 / math.log2(4) + 1 / math.log2(6)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg(RANKED, NEEDED, 10) == pytest.approx(gain / ideal)
    assert ndcg(RANKED, NEEDED, 3) == pytest.approx(0.5 / ideal)


def test_a_second_alternative_of_a_set_gains_nothing() -> None:
    assert ndcg(ids("27A1 27A"), must("27A1 27A"), 10) == 1
    assert ndcg(ids("27A 27A1 23A"), must("27A1 27A", "23A"), 10) == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


def test_what_is_missing_counts_nothing() -> None:
    nothing: tuple[ClauseId, ...] = ()
    assert (recall(nothing, NEEDED, 5), set_recall(nothing, NEEDED, 5), ndcg(nothing, NEEDED, 5)) == (0, 0, 0)
    assert (set_recall(RANKED, (), 5), all_hit(RANKED, (), 5), ndcg(RANKED, (), 5)) == (0, 0, 0)


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
