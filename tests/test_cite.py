from __future__ import annotations

import pytest

from rag.cite import WHOLE_CLAUSE_WORDS, check, offers, quotables
from rag.ruling import Sentence
from tests.made import make_clause

NOT = "The offender may not change the card that was led."
PENALTY = "The offending side gives up two tricks at the end of the play."
SHORT = "Declarer may require that the defender take back the faced lead. The card taken back becomes a major penalty card."
LONG_SENTENCES = [
    "The Director first asks the players at the table what has been said and what has been played so far in this deal.",
    "The defender who led out of turn takes the card back and leaves it face up on the table as a major penalty card.",
    "Declarer may then forbid the lead of that suit, and the prohibition lasts for as long as the defender holds the lead.",
]
LONG = " ".join(LONG_SENTENCES)


def shown(written: str, **clauses: str) -> list[Sentence]:
    made = [make_clause(name.removeprefix("law_"), text) for name, text in clauses.items()]
    return check(written, quotables(made))


@pytest.mark.parametrize(
    "written",
    [
        NOT,
        NOT.upper(),
        f"1. {NOT} [56]",
        "The offender may not alter the card that was led.",
        "  the offender — may not change the card, that was led",
        f"As the Law says: {NOT}",
    ],
)
def test_a_copied_sentence_is_recognised_with_small_differences(written: str) -> None:
    assert shown(written, law_56=NOT) == [Sentence(NOT, ("56",))]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "[56]",
        "Declarer scores fifty points and the play goes on.",
        "The offender may change partner.",
        "led was that card the change not may offender The",
        "not not not the the the card card card",
    ],
)
def test_an_invented_sentence_is_dropped(written: str) -> None:
    assert shown(written, law_56=NOT, law_64=PENALTY) == []


def test_a_dropped_not_is_shown_as_the_clause_has_it() -> None:
    assert shown("The offender may change the card that was led.", law_56=NOT) == [Sentence(NOT, ("56",))]


def test_an_altered_number_is_shown_as_the_clause_has_it() -> None:
    written = PENALTY.replace("two tricks", "three tricks")
    assert shown(written, law_64=PENALTY) == [Sentence(PENALTY, ("64",))]


def test_the_clause_number_comes_from_the_clause_and_not_from_the_model() -> None:
    assert shown(f"{NOT} [12C1]", law_56=NOT)[0].cites == ("56",)


def test_words_added_to_a_copied_sentence_are_not_shown() -> None:
    assert shown(f"{NOT} It also scores fifty points.", law_56=NOT) == [Sentence(NOT, ("56",))]


def test_of_a_short_clause_the_whole_is_shown() -> None:
    written = "The card taken back becomes a major penalty card."
    assert shown(written, law_56B=SHORT) == [Sentence(SHORT, ("56B",))]


def test_of_a_long_clause_the_sentence_alone_is_shown() -> None:
    assert len(LONG.split()) > WHOLE_CLAUSE_WORDS
    assert shown(LONG_SENTENCES[1], law_56=LONG) == [Sentence(LONG_SENTENCES[1], ("56",))]


def test_sentences_come_in_the_order_in_which_the_model_wrote_them() -> None:
    written = f"{PENALTY} [64]\n{NOT} [56]"
    assert [sentence.cites for sentence in shown(written, law_56=NOT, law_64=PENALTY)] == [("64",), ("56",)]


def test_a_clause_over_several_lines_is_shown_in_one() -> None:
    assert shown(NOT, law_56=NOT.replace(" change", "\nchange")) == [Sentence(NOT, ("56",))]


def test_a_clause_without_text_offers_nothing() -> None:
    empty = [make_clause("56", ""), make_clause("57", " \n"), make_clause("58", "— …")]
    assert quotables(empty) == offers(empty) == ()


def test_a_short_clause_is_offered_once_and_a_long_one_by_its_sentences_in_their_order() -> None:
    assert offers([make_clause("56B", SHORT), make_clause("56", LONG), make_clause("64", PENALTY)]) == (
        Sentence(SHORT, ("56B",)),
        *(Sentence(text, ("56",)) for text in LONG_SENTENCES),
        Sentence(PENALTY, ("64",)),
    )


def test_a_sentence_that_a_long_clause_has_twice_is_offered_once() -> None:
    assert [one.text for one in offers([make_clause("56", f"{LONG} {LONG_SENTENCES[0]}")])] == LONG_SENTENCES


def test_the_same_words_in_two_clauses_are_offered_under_each() -> None:
    assert [one.cites for one in offers([make_clause("56", NOT), make_clause("57", NOT)])] == [("56",), ("57",)]


def test_what_is_offered_is_what_copying_it_shows() -> None:
    clauses = [make_clause("56B", SHORT), make_clause("56", LONG), make_clause("64", PENALTY)]
    for one in offers(clauses):
        assert list(dict.fromkeys(check(one.text, quotables(clauses)))) == [one]
