from __future__ import annotations

from typing import Any

import pytest

from index.bm25 import stem
from index.errors import BadQuestion
from index.terms import with_terms
from rag.question import MAX_CHARS, read_question

RUSSIAN_BOOK = {stem(word) for word in ("заход", "делать", "карта")}


def knows_russian(word: str) -> bool:
    return word in RUSSIAN_BOOK


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("East led out of turn", "en"),
        ("Восток сделал ход вне очереди", "ru"),
        ("1БК, потом пас", "ru"),
        ("W led H5 oot", "en"),
        ("Партнёр сказал misfit после 1NT", "ru"),
        ("1NT - (2S) - 2H", "en"),
    ],
)
def test_the_language_is_told_by_the_letters(text: str, lang: str) -> None:
    assert read_question(text).lang == lang


def test_a_language_that_is_given_wins() -> None:
    assert read_question("East led out of turn", "ru").lang == "ru"


def test_russian_in_latin_letters_is_searched_in_cyrillic_and_shown_as_typed() -> None:
    question = read_question("zahod ne v ochered", "auto", knows_russian)
    assert question.lang == "ru"
    assert question.search_text == "заход не в очеред"
    assert question.text == "zahod ne v ochered"


@pytest.mark.parametrize("text", ["East led out of turn and the Director was called", "zahod", "LOOT by RHO"])
def test_english_and_single_words_are_not_taken_for_russian(text: str) -> None:
    question = read_question(text, "auto", knows_russian)
    assert (question.lang, question.search_text) == ("en", text)


def test_nothing_is_transliterated_when_the_question_is_said_to_be_english() -> None:
    assert read_question("zahod ne v ochered", "en", knows_russian).search_text == "zahod ne v ochered"


@pytest.mark.parametrize("text", ["", "   ", "\n\t \r\n", "\u200b\ufeff", "???", "—", "\x00\x07"])
def test_an_empty_question_is_told_so(text: str) -> None:
    with pytest.raises(BadQuestion, match="empty"):
        read_question(text)


@pytest.mark.parametrize("value", [None, 27, 2.7, ["East led"], {"question": "East led"}, b"East led", True])
def test_what_is_not_text_is_told_so(value: Any) -> None:
    with pytest.raises(BadQuestion, match="must be text"):
        read_question(value)


def test_20000_characters_are_refused_with_both_numbers() -> None:
    with pytest.raises(BadQuestion, match=r"20,000 characters.*4,000"):
        read_question("a" * 20_000)


def test_the_limit_itself_is_allowed_and_space_around_does_not_count() -> None:
    longest = "a" * MAX_CHARS
    assert read_question(f"  {longest}\n").text == longest


@pytest.mark.parametrize("control", ["\x00", "\x1b", "\x7f", "\u200b", "\u202e", "\u2028", "\ufeff", "\r"])
def test_control_characters_become_spaces(control: str) -> None:
    assert read_question(f"East{control}led").text == "East led"


def test_line_breaks_stay() -> None:
    assert read_question("East led.\nSouth passed.").text == "East led.\nSouth passed."


@pytest.mark.parametrize("lang", ["de", "EN", "", "x" * 500])
def test_a_language_that_we_do_not_have_is_named_with_those_we_have(lang: str) -> None:
    with pytest.raises(BadQuestion, match="use en, ru or auto") as caught:
        read_question("East led out of turn", lang)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what does 27B1 say", ["27B1"]),
        ("Law 64 or law 12 C 1 b?", ["64", "12C1(b)"]),
        ("что в правиле 27В1 и пр.27Б1", ["27B1"]),
        ("zakon 64A", ["64A"]),
        ("12C1(b), then 64A, again 64a", ["12C1(b)", "64A"]),
        ("W led 5C, I bid 4S over 1NT and 2H", []),
        ("South had 13 cards", []),
        ("what about law 94", []),
    ],
)
def test_law_numbers_are_found_and_bids_and_cards_are_not(text: str, named: list[str]) -> None:
    assert [str(clause_id) for clause_id in read_question(text).named] == named


def test_for_a_book_in_another_language_the_terms_are_added() -> None:
    assert with_terms("вистующий сделал фальшренонс", "ru", "en") == "вистующий сделал фальшренонс (defender revoke)"
    assert with_terms("defender revoked", "en", "en") == "defender revoked"
    assert with_terms("defender revoked", "en", "de") == "defender revoked", "there are no terms in German"
    assert with_terms("как сварить рис", "ru", "en") == "как сварить рис"
