"""Typing mistakes made on purpose: each of four ways, in longer words only."""

from __future__ import annotations

import random

import pytest

from index.noise import MIN_LETTERS, with_typos

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar".split()


def outcomes(word: str, times: int = 3000) -> set[str]:
    rng = random.Random(1)
    return {with_typos(word, rng, 1.0) for _ in range(times)}


def test_a_letter_is_dropped_doubled_swapped_or_replaced_never_the_first_nor_the_last() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    dropped, doubled, swapped = {"crd", "cad"}, {"caard", "carrd"}, {"crad", "cadr"}
    replaced = {f"c{letter}rd" for letter in letters} | {f"ca{letter}d" for letter in letters}
    assert outcomes("card") == dropped | doubled | swapped | replaced


def test_a_russian_letter_is_replaced_by_a_russian_one() -> None:
    letters = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
    replaced = {f"м{letter}сть" for letter in letters} | {f"ма{letter}ть" for letter in letters}
    replaced |= {f"мас{letter}ь" for letter in letters}
    assert outcomes("масть", 6000) == replaced | {"мсть", "мать", "мась"} | {"маасть", "массть", "мастть"} | {
        "мсать",
        "матсь",
        "масьт",
    }


def test_a_letter_of_no_alphabet_is_replaced_by_none() -> None:
    assert outcomes("ёёёё", 100) == {"ёёё", "ёёёё", "ёёёёё"}


@pytest.mark.parametrize(
    "text", ["", "led the ace", "1NT 4SXX 10♠ ♥AKQJ", "king's lead, turn. out-of-turn", "  a  b\nNorth\tled "]
)
def test_short_words_calls_and_what_is_not_letters_only_stay(text: str) -> None:
    assert with_typos(text, random.Random(2), 1.0) == text


def test_a_word_of_just_enough_letters_may_be_mistyped() -> None:
    assert outcomes("a" + "b" * (MIN_LETTERS - 2)) == {"abb"}
    assert len(outcomes("abc" + "d" * (MIN_LETTERS - 3))) > 1


def test_spaces_and_the_words_beside_stay_as_they_are() -> None:
    for seed in range(50):
        told = with_typos("led  trumps   now", random.Random(seed), 1.0)
        assert told.startswith("led  t")
        assert told.endswith("   now")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.8])
def test_about_the_share_is_mistyped(share: float) -> None:
    words = WORDS * 200
    told = with_typos(" ".join(words), random.Random(3), share).split(" ")
    changed = sum(a != b for a, b in zip(words, told, strict=True)) / len(words)
    assert changed == pytest.approx(share, abs=0.04)


def test_a_share_of_none_changes_nothing() -> None:
    text = " ".join(WORDS)
    assert with_typos(text, random.Random(4), 0.0) == text


def test_the_same_random_numbers_give_the_same_mistakes() -> None:
    text = " ".join(WORDS)
    assert with_typos(text, random.Random(5), 0.5) == with_typos(text, random.Random(5), 0.5)
    assert with_typos(text, random.Random(5), 0.5) != with_typos(text, random.Random(6), 0.5)
