"""The marks at the beginning of a line that may number a clause: ``Law 27``, ``§ 27``, ``27.``, ``A.``, ``1)``, ``(b)``.

What a mark means is decided by what comes before and after it (`index.readers.numbering`): ``(i)`` is the ninth letter or the
first roman number, ``2.`` the second law or the second part of a section. Here each mark only says what it may be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

LAW, LETTER, DIGIT, SMALL, LAST = range(5)
"""Levels of a clause number, from the law down: ``27`` ``B`` ``1`` ``(a)`` ``(ii)``."""

LAW_WORDS = (
    "law rule article art правило закон статья ст "
    "regel gesetz artikel règle loi regla ley artículo regola legge articolo regra lei artigo reguła prawo przepis "
    "artykuł pravidlo zákon pravilo zakon член lov lag artikkel sääntö szabály regulă kural madde"
).split()
"""What laws are called in headings, in the languages of bridge federations; ``§`` beside them."""

_WORDS = "|".join(map(re.escape, sorted(LAW_WORDS, key=len, reverse=True)))
_TITLE_MARK = re.compile(r"\s*[.:)\]–—-]?\s*")
_CALLS_LAW = re.compile(rf"\b(?:(?:{_WORDS}|laws|rules|правил\w*)|(?:art|ст|см|пр)\.)$|§$", re.IGNORECASE)
_LAW = re.compile(rf"(?:(?:{_WORDS})\b\.?|§)\s*(?:no\.?\s*|№\s*|nr\.?\s*)?(?P<law>\d{{1,3}})(?!\w|[.,]\d)", re.IGNORECASE)
# "27B1(a)", "27.B.1", "27 B 1"; a blank alone before the letter ("12 A Director") is not enough.
_FULL = re.compile(
    rf"(?:(?i:{_WORDS})\b\.?\s*|§\s*)?(?P<law>\d{{1,3}})(?:\.|\s(?=[A-Z]\s?\d|[A-Z](?:[.:)]|\s*$)))?"
    r"(?P<letter>[A-MА-И])(?:[ .]?(?P<digit>\d{1,2})"
    r"(?:\s?\((?P<small>[A-Za-zа-и])\)(?:\s?\((?P<last>[ivx]+|\d{1,2})\))?)?)?[.:)]?(?=\s|$)"
)
# Behind a mark stands a blank, or, where the blank was lost, a word or the next mark.
_BEHIND = r"(?=\s|$|\(|[A-ZА-ЯЁ][a-zа-яё\s])"
_NUMBER = re.compile(rf"(?P<number>\d{{1,3}})(?:(?P<mark>[.)]){_BEHIND}|(?=\s|$))")
_NUMBER_IN_BRACKETS = re.compile(rf"\((?P<number>\d{{1,2}})\.?\)\.?{_BEHIND}")
_CAPITAL = re.compile(rf"(?P<letter>[A-ZА-Я])[.)]{_BEHIND}")
_CAPITAL_IN_BRACKETS = re.compile(rf"\((?P<letter>[A-ZА-Я])\.?\)\.?{_BEHIND}")
_SMALL_LETTER = re.compile(rf"(?:\((?P<inside>[a-zа-я])\.?\)\.?|(?P<outside>[a-zа-я])[.)]){_BEHIND}")
_ROMAN = re.compile(rf"(?:\((?P<inside>[ivx]{{1,5}})\.?\)\.?|(?P<outside>[ivx]{{1,5}})[.)]){_BEHIND}")
_ROMANS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_INSIDE = re.compile(
    rf"(?<=\s)(?P<mark>[A-ZА-И]\.|\d{{1,2}}\.|\((?:[a-zа-и]|[ivx]{{1,5}}|\d{{1,2}}|[A-ZА-И])\.?\)){_BEHIND}(?=\s*\S)"
)
_BEFORE_MARK = (*'.;:?!)»”"', " and", " or", " и", " или")
_FIRST = frozenset({"A.", "А.", "1.", "(a)", "(а)"})
_HEADING_LETTERS = 80
"""Longest heading behind which, with no full stop, the first clause below may follow on the same line."""
# A Cyrillic letter is the Latin one that looks the same, or has its place in the Russian alphabet; the sequence decides.
_LOOKS = dict(zip("АВСЕКМОРТХ", "ABCEKMOPTX", strict=True))
_ALPHABET = "АБВГДЕЖЗИКЛМН"


@dataclass(frozen=True)
class Place:
    """A level and the number there that a mark may stand for; ``shown`` is how the number is printed inside an id."""

    level: int
    value: int
    shown: str


@dataclass(frozen=True)
class Mark:
    """A mark at the beginning of a text: the places it may stand for (several levels at once for a full number).

    ``length`` is that of the mark and the blanks behind it. ``explicit``: a word or sign says that this is a law.
    """

    readings: tuple[tuple[Place, ...], ...]
    length: int
    explicit: bool = False


def find_mark(text: str) -> Mark | None:
    """The mark that a text begins with, or ``None``."""
    for find in (_full_mark, _law_mark, _number_mark, _letter_mark):
        if mark := find(text):
            return mark
    return None


def split_at_marks(text: str) -> list[str]:
    """A line cut before each mark inside it that may begin a clause (``... it stands. B. Refusal 1. The player ...``)."""
    pieces = []
    start = 0
    for match in _INSIDE.finditer(text):
        near = text[max(start, match.start() - _HEADING_LETTERS - 2) : match.start()].rstrip()
        sentence_before = near.endswith(_BEFORE_MARK) and not calls_law(near)
        is_short = match.start() - start <= _HEADING_LETTERS
        if sentence_before or (match["mark"] in _FIRST and is_short and find_mark(near) is not None):
            pieces.append(text[start : match.start()].rstrip())
            start = match.start()
    return [*pieces, text[start:]]


def calls_law(text: str) -> bool:
    """Whether the text ends with a word for laws: the number behind it, on the next line, is a reference."""
    return _CALLS_LAW.search(text) is not None


def is_law_heading(text: str) -> bool:
    """Whether the text begins with a word for laws and a number."""
    return _law_mark(text.strip()) is not None


def _law_mark(text: str) -> Mark | None:
    match = _LAW.match(text)
    if match is None:
        return None
    end = _TITLE_MARK.match(text, match.end())
    assert end is not None
    rest = text[end.end() :]
    # "Law 64 applies" goes on, and so does "Law 64)" or "Law 64, 65": a sentence that begins a line
    if rest[:1].islower() or rest[:1] in tuple(",;)/") or (text[match.end() :][:1] in tuple("),;")):
        return None
    law = int(match["law"])
    return Mark(((Place(LAW, law, str(law)),),), end.end(), explicit=True) if law else None


def _full_mark(text: str) -> Mark | None:
    match = _FULL.match(text)
    if match is None or text[match.end() :].lstrip()[:1].islower():
        return None
    law = int(match["law"])
    readings = []
    for value, shown in _letter_values(match["letter"]):
        places = [Place(LAW, law, str(law)), Place(LETTER, value, shown)]
        if match["digit"]:
            places.append(Place(DIGIT, int(match["digit"]), match["digit"]))
        if match["small"]:
            small, printed = _letter_values(match["small"])[0]
            places.append(Place(SMALL, small, f"({printed if match['small'].isupper() else printed.lower()})"))
        if match["last"]:
            places.append(_last(match["last"]))
        readings.append(tuple(places))
    return Mark(tuple(readings), _end(text, match.end()))


def _number_mark(text: str) -> Mark | None:
    if match := _NUMBER_IN_BRACKETS.match(text):
        value = int(match["number"])
        readings = ((Place(DIGIT, value, str(value)),), (Place(LAST, value, f"({value})"),))
        return Mark(readings, _end(text, match.end()))
    match = _NUMBER.match(text)
    if match is None or not int(match["number"]):
        return None
    value, end = int(match["number"]), _end(text, match.end())
    rest = text[end:]
    law, digit = (Place(LAW, value, str(value)),), (Place(DIGIT, value, str(value)),)
    if not match["mark"]:
        return Mark((law,), end) if not rest or rest[0].isupper() else None
    return Mark((digit,) if rest[:1].islower() else (law, digit), end)


def _letter_mark(text: str) -> Mark | None:
    readings: list[tuple[Place, ...]] = []
    end = 0
    if match := _CAPITAL.match(text):
        readings = [(Place(LETTER, value, shown),) for value, shown in _letter_values(match["letter"])]
        end = match.end()
    elif match := _CAPITAL_IN_BRACKETS.match(text):
        values = _letter_values(match["letter"])
        readings = [(Place(LETTER, value, shown),) for value, shown in values]
        readings += [(Place(SMALL, value, f"({shown})"),) for value, shown in values]
        end = match.end()
    else:
        if match := _SMALL_LETTER.match(text):
            values = _letter_values(match["inside"] or match["outside"])
            readings = [(Place(SMALL, value, f"({shown.lower()})"),) for value, shown in values]
            end = match.end()
        if (match := _ROMAN.match(text)) and (match["inside"] or match["outside"]) in _ROMANS:
            readings.append((_last(match["inside"] or match["outside"]),))
            end = match.end()
    return Mark(tuple(readings), _end(text, end)) if readings else None


def _last(text: str) -> Place:
    return Place(LAST, int(text) if text.isdigit() else _ROMANS.index(text) + 1, f"({text})")


def _letter_values(letter: str) -> list[tuple[int, str]]:
    """The places in the alphabet that a letter may have, each with the Latin capital of that place."""
    letter = letter.upper()
    latin = [letter] if letter.isascii() else [_LOOKS[letter]] if letter in _LOOKS else []
    if letter in _ALPHABET:
        latin.append(chr(ord("A") + _ALPHABET.index(letter)))
    return [(ord(capital) - ord("A") + 1, capital) for capital in dict.fromkeys(latin)]


def _end(text: str, start: int) -> int:
    return start + len(list(takewhile(str.isspace, text[start:])))
