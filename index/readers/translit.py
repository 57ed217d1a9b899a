"""Russian in Latin letters, as typed in the nineties, back into Cyrillic.

The table is that of the old KOI-7 printers and of library cards (shch щ, zh ж, h х, c ц, j й, y ы, ' ь); ъ came through as ®
and a capital Э as a bar. The letters alone do not say everything (sh may be с and х; e may be е, э or ё); the dictionary does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from index.readers.join_words import keeps_hyphen
from index.readers.russian import Words, with_yo

_TABLE = {
    "shch": "щ", "zh": "ж", "ch": "ч", "sh": "ш", "yu": "ю", "ya": "я",
    "a": "а", "b": "б", "v": "в", "g": "г", "d": "д", "e": "е", "z": "з", "i": "и", "j": "й", "k": "к", "l": "л", "m": "м",
    "n": "н", "o": "о", "p": "п", "r": "р", "s": "с", "t": "т", "u": "у", "f": "ф", "h": "х", "c": "ц", "y": "ы",
    "'": "ь", "®": "ъ", "|": "э",
}  # fmt: skip
# What a spelling may also stand for, tried when the plain reading is no word: isho- is исхо-, eto is это.
_OTHERWISE = {"sh": ["сх"], "shch": ["шч"], "zh": ["зх"], "ch": ["цх"], "e": ["э"]}
_UNIT = re.compile("|".join(map(re.escape, _TABLE)), re.IGNORECASE)
_MAX_DOUBTS = 6  # letters of a word that are tried both ways

_SOFT = "\u00ad"  # a hyphen at a line end, until the word is read
_LETTER = r"[A-Za-z'®|]"
_LINE_END = re.compile(rf"(?<={_LETTER})-\s+(?=(?!i(?:li)? ){_LETTER})")
_WORD = re.compile(rf"{_LETTER}+(?:{_SOFT}{_LETTER}+)*")
# Left in Latin: clause numbers (23A, A2B, 12C1), letters of clauses (A. (A) "razdel A"), initials (S.O.), roman numbers.
_KEPT = re.compile(
    r"\d+[A-H]\d*\w*|\b[A-H]\d+[A-H]?\d*\b|(?:\b[A-Z]\.){2,}|\b[A-H]\.(?=[A-Z|])|(?<=\()[A-H](?=\))"
    r"|(?<=[Rr]azdel )[A-H]\b|(?<=[Rr]azdel[aeuy] )[A-H]\b|(?<=Glava )[IVXL]+\b|(?<=CHast' )[IVXL]+\b|(?<=Razdel )[IVXL]+\b"
)
_ONE_LETTER_WORDS = frozenset("AIVKOSU")  # а и в к о с у; before a comma or a full stop a letter is just a letter
_SAMPLE = 400


def is_transliterated(text: str) -> bool:
    """Whether a text is Russian in Latin letters: hardly any Cyrillic, and most of its words (the first 400) are Russian."""
    latin, cyrillic = len(re.findall(r"[A-Za-z]", text)), len(re.findall(r"[А-Яа-яЁё]", text))
    sample = [word for word in _WORD.findall(text) if len(word) > len("sht")][:_SAMPLE]
    words = Words()
    russian = sum(any(map(words.known, _readings(word))) for word in sample)
    return latin > 20 * cyrillic and russian > len(sample) / 2


def from_translit(text: str, words: Words) -> str:
    """The text in Cyrillic; clause numbers and letters, initials and Latin abbreviations (LHO) stay.

    Words split by a hyphen at a line end (``ko- toroe``) come out whole: the letters of the two halves are read apart, for
    a line never ends within sh or shch.
    """
    text = _LINE_END.sub(_SOFT, text)
    out, end = [], 0
    for kept in _KEPT.finditer(text):
        out += [_words_to_cyrillic(text[end : kept.start()], words), kept[0]]
        end = kept.end()
    return "".join([*out, _words_to_cyrillic(text[end:], words)])


def _words_to_cyrillic(text: str, words: Words) -> str:
    return _WORD.sub(lambda match: _word_to_cyrillic(match, words), text)


def _word_to_cyrillic(match: re.Match[str], words: Words) -> str:
    latin = match[0]
    if len(latin) == 1 and latin.isupper():
        is_word = latin in _ONE_LETTER_WORDS and match.string[match.end() : match.end() + 1] in (" ", "")
        return next(_readings(latin)) if is_word else latin
    readings = list(_readings(latin))
    found = next((word for word in readings if words.known(word.replace("-", "")) or words.known(word)), None)
    if latin.isupper() and len(latin) > 1 and found is None:
        return latin  # LHO: no Russian word
    word = found or readings[0]
    if "-" in word:
        left, _, right = word.partition("-")
        word = word if keeps_hyphen(left, right, words) else left + right.replace("-", "")
    return with_yo(word)


def _readings(latin: str) -> Iterator[str]:
    """What the letters may stand for, the plain reading first; a line end within the word is a hyphen."""
    units = [unit for half in latin.split(_SOFT) for unit in (*_UNIT.findall(half), "-")][:-1]
    choices = [[_TABLE.get(unit.lower(), unit), *_OTHERWISE.get(unit.lower(), [])] for unit in units]
    choices = [[_in_case(letters, unit, latin) for letters in choice] for choice, unit in zip(choices, units, strict=True)]
    plain = [choice[0] for choice in choices]
    both = [k for k, choice in enumerate(choices) if len(choice) > 1][:_MAX_DOUBTS]
    for taken in sorted(product((0, 1), repeat=len(both)), key=sum):
        reading = list(plain)
        for k, other in zip(both, taken, strict=True):
            reading[k] = choices[k][other]
        yield "".join(reading)


def _in_case(letters: str, unit: str, latin: str) -> str:
    return letters.upper() if unit == "|" or unit[0].isupper() or (unit == "'" and latin.isupper()) else letters
