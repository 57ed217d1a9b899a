from __future__ import annotations

import pytest

from index.books import DEFAULT_BOOK, read_book
from index.spelling import Spelling


@pytest.fixture(scope="module")
def spelling() -> Spelling:
    return Spelling(read_book(DEFAULT_BOOK))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("declaerr", "declarer"),
        ("Revokd", "revoke"),
        ("penalyt", "penalty"),
        ("трупм", "трупм"),
        ("штарфную", "штрафную"),
        ("разыргывающий", "разыгрывающий"),
        ("очердь", "очередь"),
    ],
)
def test_a_word_nobody_knows_becomes_the_books_word_one_slip_away(spelling: Spelling, typed: str, meant: str) -> None:
    assert spelling.mended(typed) == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1NT - (2S) - 2H, W led H5 oot",
        "AKxx Kxxx xxxx ♠AQ10xx",
        "LHO RHO IMPs BAM TD",
        "declarer would have ruffed; nevertheless the aardvark doubled",
        "Разыгрывающий сбросил, но велосипед не фальшренонс",
        "Jonhson Przybora",
    ],
)
def test_known_words_notation_and_names_stay(spelling: Spelling, text: str) -> None:
    assert spelling.mended(text) == text


def test_all_between_the_words_stays(spelling: Spelling) -> None:
    assert spelling.mended("  West\tled the  declaerr's — card?!\n") == "  West\tled the  declarer's — card?!\n"


def test_a_long_text_without_a_known_word_is_mended_in_bounded_work(spelling: Spelling) -> None:
    text = "qwzrtk " * 500
    assert spelling.mended(text) == text
