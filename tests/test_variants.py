"""Questions told otherwise: what must change does, and nothing else."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("cyrtranslit")

from eval.gold import of_split, read_gold
from eval.variants import in_latin, mistyped, turned


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("North led, East's king won; South passed, West too.", "East led, South's king won; West passed, North too."),
        ("north, EAST", "east, SOUTH"),
        ("(N) passed - E doubled; W's lead", "(E) passed - S doubled; N's lead"),
        ("W 3♠, N pass, E 4♠, S out", "N 3♠, E pass, S 4♠, W out"),
        ("NS bid on and EW doubled", "EW bid on and SN doubled"),
        ("N/S against E/W", "E/W against S/N"),
        ("N-S: 4H. E-W: X.", "E-W: 4H. S-N: X."),
        ("N–S are vulnerable", "E–W are vulnerable"),
        ("North-South play East-West", "East-West play South-North"),
    ],
)
def test_every_seat_moves_one_place(text: str, moved: str) -> None:
    assert turned(text) == moved


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("Север пошёл, Восток положил, Юг сбросил, Запад взял", "Восток пошёл, Юг положил, Запад сбросил, Север взял"),
        ("Севера Востока Юга Запада", "Востока Юга Запада Севера"),
        ("Северу Востоку Югу Западу", "Востоку Югу Западу Северу"),
        ("Севером Востоком Югом Западом", "Востоком Югом Западом Севером"),
        ("Севере Востоке Юге Западе", "Востоке Юге Западе Севере"),
        ("ход запада, на юге", "ход севера, на западе"),
        ("Север-Юг назначили 4♠", "Восток-Запад назначили 4♠"),
        ("руки N и E", "руки E и S"),
    ],
)
def test_russian_seats_keep_their_case(text: str, moved: str) -> None:
    assert turned(text) == moved


@pytest.mark.parametrize(
    "text",
    [
        "1NT, 2S, 4SX, 3N, S4 and SQ",
        "the ♥S, a ♠E, ♦W, ♣N",
        "we sew new nests; a newest westerner, Southern and northwards",
        "Северный, восточный, южнее, юго",
        "n, e, s, w",
        "",
    ],
)
def test_bids_cards_and_other_words_stay(text: str) -> None:
    assert turned(text) == text


def test_the_letter_of_an_abbreviation_stays() -> None:
    assert turned("E.g. a revoke") == "E.g. a revoke"


def test_russian_seats_in_capitals_move_too() -> None:
    assert turned("СЕВЕР сбросил") == "ВОСТОК сбросил"


def test_four_turns_come_back() -> None:
    text = "North led, E won, юг, Запада; WEST 2S"
    once = turned(text)
    assert once != text
    assert turned(turned(turned(once))) == text


CALLS = re.compile(r"[1-7] ?(?:NT|[SHDC♠♥♦♣])(?!\w)|[♠♥♦♣][\dAKQJTВДКТ]+|\d+")


def test_no_question_of_dev_loses_a_call_a_card_or_its_length_of_words() -> None:
    dev = [one.question for one in of_split(read_gold(), "dev")]
    assert len([text for text in dev if turned(text) != text]) > len(dev) / 3
    for text in dev:
        assert CALLS.findall(turned(text)) == CALLS.findall(text)
        assert len(turned(text).split()) == len(text.split())


def test_heavy_typing_mistakes_are_the_same_ones_each_time() -> None:
    text = "East led the king of hearts out of turn. What may South do now?"
    assert mistyped(text) == mistyped(text) == "East led the kiing of hearts out of turn. What may Souh do now?"
    assert mistyped("Запад пошёл вне очереди пиковым королём") == "Запад поёл вне очереди пикоывм королём"


def test_half_of_the_longer_words_are_mistyped_and_no_short_one() -> None:
    longer = [f"{word}{'abcdefghij'[k % 10]}" for k, word in enumerate(["king", "trump", "revoke", "dummy"] * 100)]
    told = mistyped(" ".join(longer)).split()
    assert 0.4 < sum(a != b for a, b in zip(longer, told, strict=True)) / 400 < 0.6
    short = "LHO bid 1NT and I saw his ♠A, 4SX, 10H-JC; кто же"
    assert mistyped(short) == short


def test_russian_in_latin_letters() -> None:
    assert in_latin("Запад пошёл пикой, чей ход?") == "Zapad poshyol pikoj, chej hod?"
    assert in_latin("щука, эхо, мышь, объявил, яма, Юг") == "shhuka, eho, mysh, obyavil, yama, Yug"
    assert in_latin("1NT - пас - 4♠") == "1NT - pas - 4♠"
    assert in_latin("West led") == "West led"


def test_no_russian_letter_is_left() -> None:
    dev = [one.question for one in of_split(read_gold(), "dev") if one.lang == "ru"]
    assert len(dev) > 10
    assert [text for text in dev if re.search("[а-яё]", in_latin(text), re.IGNORECASE)] == []
