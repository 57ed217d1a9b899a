"""Tells titles from sentences, and parts a title from the text that follows it on the same line.

English titles have capitals on all but the small words. Where print sets the heading apart by its type, an extraction gives
``Proper Form A bid designates a number …``: the text starts at the last capital before the small letters of a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

CONNECTORS = frozenset(
    "a an the of and or nor to in on up by for from with at as is be are not does do did than after before during between "
    "under into about per his her its their when if out without within against upon".split()
)
"""Words that a title writes small."""

OPENERS = frozenset(
    "a an the if when whenever where while in on at by as after before until unless once during following except subject "
    "any all each every no none neither either this that these those there it he she they to for from with under upon "
    "regardless irrespective only such should see".split()
)
"""Words that open sentences: written with a capital in the midst of a line, they start one."""

SHORT = 4
"""A line of so many words may be a title though it writes them small: ``Initial position``."""

AHEAD = 4
"""A sentence shows a small word that is no connector among so many words behind its first."""

OFTEN = 3
"""So many times a pair of words is written with capitals if it is a name."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_STOP = re.compile(r"[.;:!?]['\"”’)\]]*$")
_SECTION = frozenset("ABCDEFGH")


@dataclass(frozen=True)
class Titled:
    """A text parted from its title; either may be empty."""

    title: str
    text: str


def is_capitals(text: str) -> bool:
    """Whether the text has letters and all are capitals."""
    return text.isupper()


def is_title(text: str) -> bool:
    """Whether all words but the small ones start with a capital, and no sentence ends in it."""
    words = text.split()
    return bool(words) and not _STOP.search(text) and _starts_big(words[0]) and all(map(_titular, words)) and ". " not in text


def part_title(text: str, *, sure: bool = False, names: Container[tuple[str, str]] = ()) -> Titled:
    """Part the title from the text behind it. ``sure``: only a title of several capitals before a word that opens a sentence.

    Line ends count: a title on lines of its own is the whole of them. ``names`` are pairs of words (small letters) that the
    book writes with capitals in its sentences ("Regulating Authority"): they are not parted.
    """
    own = _title_lines(text, least=2 if sure else 1) or (None if sure else _short_line(text))
    if own:
        return own
    words = text.split()
    place = _opener(words, sure=sure) or (0 if sure else _last_capital(words, names))
    return Titled(" ".join(words[:place]), " ".join(words[place:]))


def _title_lines(text: str, *, least: int) -> Titled | None:
    """A title on lines of its own, with at least so many capitals; where nothing follows, only if one capital will do."""
    lines = text.strip().split("\n")
    for k in range(1, len(lines) + 1):
        title, rest = " ".join(lines[:k]), " ".join(lines[k:])
        if not is_title(title):
            return None
        finished = title.rsplit(maxsplit=1)[-1].lower() not in CONNECTORS and not (rest and is_title(lines[k]))
        if not rest and least == 1:
            return Titled(title, "")
        if rest and finished and _starts_big(rest) and _big_words(title.split()) >= least:
            return Titled(title, rest)
    return None


def _short_line(text: str) -> Titled | None:
    """A title in small letters: a short line without a stop, above one that starts a sentence."""
    first, _, rest = text.strip().partition("\n")
    words = first.split()
    if not rest or len(words) > SHORT or not _starts_big(first) or not _starts_big(rest):
        return None
    if re.search(r"[\d.,;:!?]$", first) or words[-1].lower() in CONNECTORS:
        return None
    return Titled(first, " ".join(rest.split()))


def _opener(words: Sequence[str], *, sure: bool) -> int:
    """Where a word that opens sentences stands with a capital behind a title; 0 if nowhere."""
    may_be_small, least = (0, 2) if sure else (SHORT, 1)
    for k in range(1, len(words)):
        before = words[k - 1]
        if _STOP.search(before) or before.endswith(",") or (k > may_be_small and not _titular(before)):
            return 0
        opens = words[k].rstrip(",").lower() in OPENERS and _starts_big(words[k])
        if opens and before.lower() not in CONNECTORS and _sentence_follows(words, k) and _big_words(words[:k]) >= least:
            return k
    return 0


def _last_capital(words: Sequence[str], names: Container[tuple[str, str]]) -> int:
    """The last capital before the small letters of a sentence, names kept whole; 0 if there is no such place."""
    small = next((k for k, word in enumerate(words) if not _titular(word) or _STOP.search(word)), 0)
    for k in range(small - 1, 0, -1):
        if not words[k][0].isupper() or words[k - 1].lower() in CONNECTORS:
            continue
        if k > 1 and (_stem(words[k - 1]), _stem(words[k])) in names and words[k - 2].lower() not in CONNECTORS:
            return k - 1
        return k
    return 0


def _sentence_follows(words: Sequence[str], k: int) -> bool:
    if words[k] in _SECTION and k + 1 < len(words) and words[k + 1].lower() in {"above", "below", "applies", "and", "or"}:
        return False  # "as in A above": a section, no article
    ahead = words[k + 1 : k + 1 + AHEAD]
    small = any(word[:1].islower() and word.lower() not in CONNECTORS for word in ahead)
    return small or any(word.endswith(",") or _STOP.search(word) for word in [words[k], *ahead])


def _titular(word: str) -> bool:
    letters = _LETTERS.search(word)
    return letters is None or letters[0][0].isupper() or letters[0].lower() in CONNECTORS


def _starts_big(text: str) -> bool:
    letters = _LETTERS.search(text[:40])
    return letters is not None and letters[0][0].isupper()


def _big_words(words: Sequence[str]) -> int:
    return sum(map(_starts_big, words))


def _stem(word: str) -> str:
    """The first letters of a word, the same for singular and plural."""
    return re.sub(r"[^a-z]", "", word.lower())[:7]


def capital_pairs(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of words that the text often writes with capitals behind a small word, by the stems that `part_title` compares."""
    pairs = re.findall(r"(?<![^\s(])[a-z]+ ([A-Z][a-z]+) ([A-Z][a-z]+)", text)
    counts = Counter((_stem(first), _stem(second)) for first, second in pairs)
    return frozenset(pair for pair, count in counts.items() if count >= OFTEN)
