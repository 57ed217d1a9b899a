"""Each measure of answers on numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("ir_measures")

from eval.answers import (
    MAX_OTHER_CITES,
    MAX_WORDS,
    Answered,
    asks_right,
    citation_precision,
    citation_recall,
    citation_validity,
    cited,
    is_accurate,
    is_premature,
    is_right_irregularity,
    laws_cited,
    measures,
    provenance,
    refuses,
    says_right,
    words_of,
)
from eval.gold import Gold
from index.clause_id import ClauseId
from rag.ruling import AskedFact, Ruling, Sentence, State, Timings, to_json
from tests.made import make_ruling

TWO_SETS = [["27A1", "27A"], ["23A"]]
OTHERS = ("64A1", "64A2", "25A1", "12C1(b)", "16B1", "41A")
"""Clauses of 2017 that the gold ruling names nowhere."""


def gold(**changes: Any) -> Gold:
    parts: dict[str, Any] = {
        "id": "x-1", "lang": "en", "book": "laws-2017-en", "question": "West bid too low, now what?", "topic": "call",
        "family": "f", "kind": "book", "must_cite": TWO_SETS, "may_cite": ["27B1(a)"], "never_cite": ["72C"],
        "say": [["ACCEPT", "принять"]], "never_say": ["penalty card"], "answerable": "yes", "missing_fact": "",
        "difficulty": "easy", "why": "",
    }  # fmt: skip
    return Gold(**{**parts, **changes})


def answered(one: Gold | None = None, then: tuple[Ruling, ...] = (), **changes: Any) -> Answered:
    changes = {"cites": ("27A1", "23A"), "timings": Timings(1.0, 500.0, None, 2000.0), **changes}
    return Answered(one or gold(), to_json(make_ruling(then=then, **changes)))


def missing(one: Gold | None = None) -> Answered:
    return Answered(one or gold(), None)


def refusal(one: Gold | None = None, **changes: Any) -> Answered:
    return answered(one, **{"status": "not-covered", "answer": "Not covered.", "sentences": (), "cites": (), **changes})


def asking(one: Gold | None = None, fact: str = "lho-called", **changes: Any) -> Answered:
    asked = (AskedFact(fact, "Did LHO call?", ("yes", "no")),)
    return answered(one, **{"status": "ask", "answer": "Did LHO call?", "sentences": (), "cites": (), "ask": asked, **changes})


def ids(text: str) -> list[ClauseId]:
    return list(map(ClauseId, text.split()))


def test_what_is_cited_is_each_clause_once_with_those_of_a_second_irregularity() -> None:
    second = make_ruling(cites=("64A1", "27A1"))
    one = answered(then=(second,), cites=("27A1", "23A", "the revoke law", "27 a 1"))
    assert one.answer is not None
    assert cited(one.answer) == ids("27A1 23A 64A1")


def test_an_answer_says_its_sentences_and_those_that_follow() -> None:
    second = make_ruling(answer="unused", sentences=(Sentence("Score the board.", ("64A1",)),))
    one = answered(then=(second,), answer="Whole.", sentences=(Sentence("First.", ("27A1",)), Sentence("Say it.", (), "say")))
    assert one.answer is not None
    assert words_of(one.answer) == "Whole. First. Say it. Score the board."


@pytest.mark.parametrize(
    ("edition", "values"),
    [
        ("2017", [1.0, 1.0, 0.0, 0.0, 0.0]),
        ("no-list", [1.0, 1.0, 1.0, 0.0, 0.0]),
    ],
)
def test_a_citation_is_valid_where_the_edition_has_the_clause(edition: str, values: list[float]) -> None:
    one = answered(edition=edition, cites=("27A1", "27 a 1", "27Q", "99A", "the revoke law"))
    assert citation_validity(one) == values


def test_provenance_is_a_law_card_beside_the_answer() -> None:
    assert provenance(answered()) == [1.0, 0.0]
    assert provenance(answered(laws=())) == [0.0, 0.0]


def test_an_invented_clause_of_a_second_irregularity_is_not_valid() -> None:
    one = answered(then=(make_ruling(cites=("27Q",)),), cites=("27A1",))
    assert (citation_validity(one), provenance(one)) == ([1.0, 0.0], [1.0, 0.0])


def test_precision_counts_every_alternative_and_what_may_be_cited() -> None:
    one = answered(cites=("27A", "27A1", "27B1(a)", "72C", "64A1"))
    assert citation_precision(one) == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert citation_precision(answered(gold(must_cite=[], answerable="no"))) == []


@pytest.mark.parametrize(
    ("cites", "share"),
    [(("27A", "23A"), 1.0), (("27A", "27A1"), 0.5), (("23A", "64A1"), 0.5), (("27", "23"), 0.0), ((), 0.0)],
)
def test_recall_is_the_share_of_the_sets_of_which_one_is_cited(cites: tuple[str, ...], share: float) -> None:
    assert citation_recall(answered(cites=cites)) == share


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("The next player may accept it.", True),
        ("Сосед слева может принять заявку.", True),
        ("The next player may call.", False),
        ("He may accept it. It is a Penalty Card.", False),
    ],
)
def test_one_form_of_each_set_is_said_and_nothing_wrong(text: str, is_right: bool) -> None:
    assert says_right(answered(answer=text, sentences=())) is is_right


def test_every_set_must_be_said_and_none_asks_for_nothing() -> None:
    two = gold(say=[["accept"], ["next player", "LHO"]])
    assert says_right(answered(two, answer="LHO may accept", sentences=()))
    assert not says_right(answered(two, answer="East may accept", sentences=()))
    assert says_right(answered(gold(say=[]), answer="Anything.", sentences=()))


def test_what_a_second_irregularity_says_counts() -> None:
    wrong = make_ruling(sentences=(Sentence("It becomes a penalty card.", ("50B",)),))
    assert not says_right(answered(then=(wrong,)))
    assert says_right(answered(then=(make_ruling(),), answer="", sentences=()))


@pytest.mark.parametrize(
    ("changes", "is_right"),
    [
        ({}, True),
        ({"status": "quote"}, True),
        ({"status": "judgement"}, True),
        ({"status": "ask"}, False),
        ({"status": "not-covered"}, False),
        ({"cites": ("27A1",)}, False),
        ({"cites": ("27A1", "23A", "72C")}, False),
        ({"cites": ("27A1", "23A", "27B1(a)", *OTHERS[:MAX_OTHER_CITES])}, True),
        ({"cites": ("27A1", "23A", *OTHERS[: MAX_OTHER_CITES + 1])}, False),
        ({"answer": " ".join(["accept"] * MAX_WORDS)}, True),
        ({"answer": " ".join(["accept"] * (MAX_WORDS + 1))}, False),
        ({"answer": "Nothing.", "sentences": ()}, False),
    ],
)
def test_an_accurate_answer_cites_says_and_is_short(changes: dict[str, Any], is_right: bool) -> None:
    assert is_accurate(answered(**changes)) is is_right


def test_a_clause_of_a_second_irregularity_may_complete_an_accurate_answer() -> None:
    assert is_accurate(answered(then=(make_ruling(cites=("23A",)),), cites=("27A1",)))
    assert not is_accurate(answered(then=(make_ruling(cites=("72C",)),)))


def test_only_not_covered_is_a_refusal() -> None:
    assert [refuses(one) for one in (refusal(), asking(), answered(), missing())] == [True, False, False, False]


def test_the_missing_fact_is_asked_by_name_or_any_where_none_is_named() -> None:
    named = gold(asks=["other", "lho-called"])
    assert asks_right(asking(named))
    assert not asks_right(asking(named, fact="trick"))
    assert asks_right(asking(fact="trick"))
    assert not asks_right(answered())


def test_a_fact_may_be_asked_for_a_second_irregularity() -> None:
    second = make_ruling(ask=(AskedFact("lho-called", "Did LHO call?", ("yes", "no")),))
    assert asks_right(answered(gold(asks=["lho-called"]), then=(second,)))


def test_a_ruling_without_a_needed_fact_is_premature_unless_it_gives_all_cases() -> None:
    assert is_premature(answered(cites=("27A1",)))
    assert not is_premature(answered(cites=("27A1", "23A")))
    assert not is_premature(answered(cites=("27A1",), status="quote"))
    assert not is_premature(asking())


def test_a_judgement_states_no_result_and_is_never_premature() -> None:
    assert not is_premature(answered(cites=("27A1",), status="judgement"))


def test_a_question_that_lacks_a_fact_may_have_no_deciding_clause() -> None:
    one = gold(must_cite=[], answerable="needs-fact", missing_fact="who dealt")
    assert measures([answered(one)])["premature rulings"].total == 1


def test_the_irregularity_is_the_one_that_was_recognised_not_the_one_it_led_to() -> None:
    one = gold(procedure=["insufficient-bid", "change-of-call"])
    state = State("laws-2017-en", "en", facts={"irregularity": "insufficient-bid"})
    assert is_right_irregularity(answered(one, procedure={"id": "change-of-call"}))
    assert is_right_irregularity(answered(one, procedure={"id": "comparable-call"}, state=state))
    assert not is_right_irregularity(answered(one, procedure={"id": "comparable-call"}))
    assert not is_right_irregularity(answered(one, procedure=None, state=state))
    assert not is_right_irregularity(answered(gold(), procedure={"id": "insufficient-bid"}))


def test_laws_cited_are_numbers_each_once() -> None:
    assert laws_cited(answered(cites=("27A1", "27B1(a)", "64A1")).answer) == {27, 64}
    assert laws_cited(answered(cites=("Def:revoke",)).answer) == {None}
    assert laws_cited(None) == frozenset()


def test_a_missing_answer_is_nothing_right_and_nothing_wrong() -> None:
    one = missing(gold(procedure=["insufficient-bid"]))
    assert (citation_validity(one), provenance(one), citation_precision(one), citation_recall(one)) == ([], [], [], 0.0)
    checks = (says_right, is_accurate, refuses, asks_right, is_premature, is_right_irregularity)
    assert [check(one) for check in checks] == [False] * len(checks)


LACKS: dict[str, Any] = {"answerable": "needs-fact", "missing_fact": "who called"}
UNCOVERED: dict[str, Any] = {"answerable": "no", "must_cite": [], "say": []}
LOW: dict[str, Any] = {"procedure": ["insufficient-bid"]}
TEN = (
    answered(gold(**LOW), cites=("27A1", "23A", "64A1"), procedure={"id": "insufficient-bid"}),
    missing(gold(**LOW)),
    refusal(),
    asking(gold(**LACKS, **LOW, asks=["lho-called"]), procedure={"id": "insufficient-bid"}),
    answered(gold(**LACKS, procedure=["revoke-established"]), cites=("27A1",)),
    missing(gold(**LACKS)),
    refusal(gold(**UNCOVERED), timings=Timings(1.0, None, None, 2000.0)),
    answered(gold(**UNCOVERED)),
    missing(gold(**UNCOVERED)),
    answered(gold(answerable="no", **LOW, must_cite=[["27A1"], ["64A1"]]), cites=("27A1", "99Z")),
)
"""Three that the Laws answer, three that lack a fact, three that are not covered, and a false premise, half right."""


@pytest.mark.parametrize(
    ("name", "hits", "total"),
    [
        ("citation validity", 7, 8),
        ("provenance", 4, 8),
        ("citation precision", 3, 4),
        ("citation recall", 1.5, 4),
        ("says right", 2, 4),
        ("ruling accuracy", 1, 4),
        ("refusal precision", 1, 2),
        ("refusal recall", 1, 3),
        ("false refusals", 1, 7),
        ("missing facts asked", 1, 3),
        ("asks some fact", 1, 3),
        ("premature rulings", 1, 3),
        ("irregularity", 2, 4),
        ("ruling accuracy where a procedure covers it", 1, 2),
        ("seconds to the first sentence", 3, 7),
        ("seconds to the answer", 14, 7),
    ],
)
def test_the_measures_of_ten_questions(name: str, hits: float, total: int) -> None:
    found = measures(TEN)[name]
    assert (found.hits, found.total) == (hits, total)


def test_a_false_refusal_of_a_false_premise_spoils_the_precision_of_refusals() -> None:
    premise = gold(answerable="no", must_cite=[["27A1"]])
    found = measures([refusal(premise), refusal(gold(**UNCOVERED))])
    assert (found["refusal precision"].value, found["false refusals"].value, found["refusal recall"].value) == (0.5, 1.0, 1.0)


def test_where_all_answers_are_missing_every_measure_is_none_of_its_questions() -> None:
    found = measures([replace(one, answer=None) for one in TEN])
    assert {rate.hits for rate in found.values()} == {0.0}
    assert (found["ruling accuracy"].total, found["missing facts asked"].total, found["refusal recall"].total) == (4, 3, 3)
    assert {rate.total for rate in measures([]).values()} == {0}
