from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from index.books import read_book
from index.clause_id import parse_clause_id
from index.ranking import FEATURES, best_by_clause
from index.search import NEIGHBOUR_SHARE, cosines, rank, search, with_items
from index.store import SearchIndex, open_index
from index.types import Hit
from tests.fakes import FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, make_book

# No word of a question below stands in a clause that is to be pulled in: it comes only by way of another.
LINKED = """
## 27 Alpha

## 27A

Choose any.

```yaml
see: [27D, 27, 12A]
```

## 27B

Bravo of the following:

## 27B1

golf one;

## 27B1(a)

echo two;

## 27B2

golf three.

## 27C

Charlie.

## 27D

Foxtrot.
"""


def opened(book_id: str) -> SearchIndex:
    return open_index(read_book(book_id), FakeEmbedder())


def ids(hits: Sequence[Hit]) -> list[str]:
    return [str(hit.clause.id) for hit in hits]


def by_number(index: SearchIndex, *named: str, question: str = "zzz", k: int = 10) -> list[Hit]:
    return search(index, question, k, [parse_clause_id(text) for text in named])


@pytest.fixture
def small(small_book: str) -> SearchIndex:
    return opened(small_book)


@pytest.fixture
def linked(home: Path) -> SearchIndex:
    return opened(make_book(home, "linked-2017-en", LINKED))


def test_a_clause_named_by_number_comes_first_with_its_branch(small: SearchIndex) -> None:
    hits = by_number(small, "27B", question=KEEP_IT)
    assert ids(hits) == ["27B", "27B1", "27A1"]
    assert [(hit.score, hit.cosine) for hit in hits[:2]] == [(1.0, 1.0), (1.0, 1.0)]


def test_clauses_named_by_number_come_in_the_order_of_the_question(small: SearchIndex) -> None:
    assert ids(by_number(small, "27B1", "27A1")) == ["27B1", "27A1"]


def test_a_clause_named_with_its_law_comes_once(small: SearchIndex) -> None:
    assert ids(by_number(small, "27B1", "27", "27B1")) == ["27B1", "27", "27A1", "27B"]


def test_a_heading_named_by_number_is_shown_though_it_has_no_text(small: SearchIndex) -> None:
    assert ids(by_number(small, "27A")) == ["27A", "27A1"]


@pytest.mark.parametrize("named", ["28A", "27D", "Def:revoke"])
def test_a_number_that_the_book_does_not_have_changes_nothing(small: SearchIndex, named: str) -> None:
    assert by_number(small, named, question=KEEP_IT) == search(small, KEEP_IT)


@pytest.mark.parametrize("question", [KEEP_IT, "LHO passed quickly, one heart over one spade", "можно ли принять заявку ниже?"])
def test_an_asked_line_finds_its_clause(small: SearchIndex, question: str) -> None:
    best = search(small, question)[0]
    assert (str(best.clause.id), best.clause.text) == ("27A1", ACCEPT)


def test_the_text_of_a_clause_finds_it_too(small: SearchIndex) -> None:
    assert ids(search(small, "unless the new call is comparable"))[0] == "27B1"


def test_a_question_and_text_that_both_fit_stand_before_either_alone(home: Path) -> None:
    asked = "```yaml\nasked: {en: [kiwi plum?]}\n```\n\n"
    body = f"## 27A\n\nKiwi plum.\n\n## 27B\n\nKiwi plum.\n\n{asked}## 27C\n\nOther.\n\n{asked.replace('plum', 'plum fig')}"
    assert ids(search(opened(make_book(home, "fruit-2017-en", body)), "kiwi plum?"))[0] == "27B"


def test_a_lead_in_brings_all_that_stands_below_it_right_behind_it(linked: SearchIndex) -> None:
    hits = search(linked, "bravo following")
    assert ids(hits) == ["27B", "27B1", "27B1(a)", "27B2"]
    assert {hit.score for hit in hits} == {hits[0].score}
    assert {hit.cosine for hit in hits[1:]} == {0.0}, "they share no word with the question"


def test_a_clause_that_is_no_lead_in_brings_nothing_below_it(linked: SearchIndex) -> None:
    assert set(ids(search(linked, "golf"))) == {"27B1", "27B2"}, "not 27B1(a)"


def test_a_cross_reference_is_pulled_in_with_a_share_of_the_score(linked: SearchIndex) -> None:
    best, referred = search(linked, "choose any")
    assert (str(best.clause.id), str(referred.clause.id)) == ("27A", "27D"), "neither the bare heading nor a missing clause"
    assert referred.score == pytest.approx(NEIGHBOUR_SHARE * best.score, abs=1e-6)


def test_a_cross_reference_never_lowers_a_clause_found_by_itself(linked: SearchIndex) -> None:
    alone = search(linked, "foxtrot")[0]
    together = {str(hit.clause.id): hit.score for hit in search(linked, "foxtrot choose any")}
    assert str(alone.clause.id) == "27D"
    assert together["27D"] > NEIGHBOUR_SHARE * together["27A"]


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_k_hits_are_given_and_they_are_the_best_ones(small: SearchIndex, k: int) -> None:
    question = "bid low offender partner"
    assert search(small, question, k) == search(small, question)[:k]


def test_clauses_named_by_number_count_among_the_k(small: SearchIndex) -> None:
    assert ids(by_number(small, "27", question=KEEP_IT, k=2)) == ["27", "27A1"]


@pytest.mark.parametrize("question", ["bid low offender partner", KEEP_IT, "the offender must replace", "call comparable"])
@pytest.mark.parametrize("named", [[], ["27B1"], ["27"]])
def test_scores_fall_from_one_towards_nothing(small: SearchIndex, question: str, named: list[str]) -> None:
    scores = [hit.score for hit in by_number(small, *named, question=question)]
    assert scores == sorted(scores, reverse=True)
    assert 1 >= scores[0] >= scores[-1] > 0


def test_a_clause_that_is_best_everywhere_scores_one(home: Path) -> None:
    body = "## 27A\n\nKiwi.\n\n```yaml\nasked: {en: [kiwi?]}\n```\n\n## 27B\n\nPlum.\n"
    assert [(str(h.clause.id), h.score) for h in search(opened(make_book(home, "one-2017-en", body)), "kiwi")] == [("27A", 1.0)]


@pytest.mark.parametrize("question", ["zzz", "погода", "?!"])
def test_a_question_that_shares_nothing_with_the_book_finds_nothing(small: SearchIndex, question: str) -> None:
    assert search(small, question) == []


def test_a_bare_heading_is_never_found_by_its_words(linked: SearchIndex) -> None:
    assert "27" not in ids(search(linked, "alpha"))


def test_the_same_question_finds_the_same_again(small: SearchIndex) -> None:
    assert search(small, KEEP_IT) == search(small, KEEP_IT)


# Two editions

OLD = "## 27A1\n\nIn those days the low bid was simply cancelled.\n\n```yaml\nsee: [27B]\n```\n\n## 27B\n\nAn old rule.\n"


@pytest.fixture
def old(home: Path, small: SearchIndex) -> SearchIndex:
    """A book of 1987 beside the small one of 2017: 27A1 and 27B are other rules there."""
    return opened(make_book(home, "old-1987-en", OLD, edition="1987", in_force=False))


@pytest.mark.parametrize("question", ["27A1", "bid too low", KEEP_IT, "simply cancelled low bid"])
@pytest.mark.parametrize("named", [[], ["27A1"], ["27B"]])
def test_the_same_number_of_another_edition_is_another_rule(
    small: SearchIndex, old: SearchIndex, question: str, named: list[str]
) -> None:
    for index in (old, small):
        clauses = [hit.clause for hit in by_number(index, *named, question=question)]
        assert all(clause is index.book.get(clause.id) for clause in clauses)


def test_each_edition_answers_with_its_own_text(small: SearchIndex, old: SearchIndex) -> None:
    assert by_number(small, "27A1")[0].clause.text == ACCEPT
    assert by_number(old, "27A1")[0].clause.text == "In those days the low bid was simply cancelled."
    assert (small.book.edition, old.book.edition) == ("2017", "1987")


def test_a_reference_stays_within_its_edition(old: SearchIndex) -> None:
    assert [hit.clause.text for hit in search(old, "simply cancelled")][1] == "An old rule."


def test_what_was_asked_of_one_edition_does_not_find_the_other(old: SearchIndex) -> None:
    assert search(old, "can I keep it") == []


# With the weights of the embedder


@pytest.fixture
def weigh(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Weights for the fake embedder; those not named are 0."""

    def weigh_by(**weights: float) -> None:
        made = np.array([weights.get(name.replace(" ", "_"), 0.0) for name in FEATURES])
        monkeypatch.setattr("index.search.weights_for", lambda sha256: made if sha256 == FakeEmbedder.hash else None)

    return weigh_by


def test_a_clause_scores_by_the_weights_of_its_embedder(small: SearchIndex, weigh: Callable[..., None]) -> None:
    """By text alone: 10 times the difference of the cosines is what the logarithms of the scores differ by."""
    weigh(clause_cosine=1.0)
    first, second = search(small, "unless the new call is comparable")[:2]
    assert (str(first.clause.id), first.score) == ("27B1", 1.0)
    rows = cosines(small, ["unless the new call is comparable"])[0]
    near, middle = best_by_clause(rows, ~small.row_asked, small.row_clause, 5), float(np.median(rows))
    position = small.structure.position
    far, best = (max(float(near[position[hit.clause.id]]) - middle, -0.1) for hit in (second, first))
    assert second.score == pytest.approx(math.exp(10 * (far - best)), rel=1e-3)


def test_what_is_expected_leads_where_it_weighs_enough(small: SearchIndex, weigh: Callable[..., None]) -> None:
    weigh(line_cosine=1.0, expected=100.0)
    prior = {parse_clause_id("27B1"): 0.5}
    assert ids(rank(small, KEEP_IT).hits)[0] == "27A1"
    assert ids(rank(small, KEEP_IT, prior=prior).hits)[0] == "27B1"


def test_with_weights_what_stands_below_a_lead_in_takes_no_place_from_others(
    linked: SearchIndex, weigh: Callable[..., None]
) -> None:
    weigh(clause_cosine=1.0)
    hits = rank(linked, "bravo following", 2).hits
    assert ids(hits)[0] == "27B"
    assert len(hits) == 2
    shown = with_items(linked.book, hits)
    assert ids(shown)[:4] == ["27B", "27B1", "27B1(a)", "27B2"]
    assert {hit.score for hit in shown[:4]} == {1.0}
    assert set(ids(hits)) <= set(ids(shown))
    assert len(set(ids(shown))) == len(shown)


def test_a_hit_that_leads_in_to_nothing_stays_alone(linked: SearchIndex) -> None:
    hits = rank(linked, "choose any", 3).hits
    plain = [hit for hit in hits if not hit.clause.is_lead_in]
    assert with_items(linked.book, plain) == tuple(plain)


def test_with_weights_a_cross_reference_counts_only_as_a_feature(linked: SearchIndex, weigh: Callable[..., None]) -> None:
    weigh(clause_cosine=1.0)
    scores = {str(hit.clause.id): hit.score for hit in search(linked, "choose any")}
    assert scores["27A"] == 1.0
    assert scores["27D"] < NEIGHBOUR_SHARE


def test_with_weights_a_clause_named_by_number_still_leads(small: SearchIndex, weigh: Callable[..., None]) -> None:
    weigh(line_cosine=1.0)
    hits = by_number(small, "27B", question=KEEP_IT)
    assert ids(hits)[:3] == ["27B", "27B1", "27A1"]


def test_a_vector_that_is_made_already_is_not_made_again(small: SearchIndex) -> None:
    made = small.embedder.encode([KEEP_IT], "query")
    assert isinstance(small.embedder, FakeEmbedder)
    before = len(small.embedder.encoded)
    ranking = rank(small, KEEP_IT, vector=made)
    assert len(small.embedder.encoded) == before
    assert ranking == rank(small, KEEP_IT)
    assert (ranking.vector == made[0]).all()
