"""Mends what an extraction from PDF does to English text besides ligatures: hyphens, dashes, suit symbols, quotation marks.

Every function keeps the number of lines and leaves sound text as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Set as AbstractSet

from index.readers.english import commonness, is_word
from index.readers.ligatures import restore_ligatures

COMMON_PART = -6.2
"""A word split in two where a hyphen may be lost: each part is at least this common (1,000 in 1.6 billion)."""

SHORT_PART = 3
"""A first part of only so many letters is one that the text hyphens elsewhere (``non``)."""

SAME_STEM = 8
"""Words that begin with this many equal letters are forms of one word."""

PROOFS = 2
"""So many words that stand in the text both with and without their hyphen show that hyphens at line ends are lost."""

_LIGATURE_SIGN = re.compile("[\ufb00-\ufb06]")
_SUITS = {"spade": "♠", "heart": "♥", "diamond": "♦", "club": "♣"}
_LOST_SUIT = re.compile(r"\b(spade|heart|diamond|club)(s?) ?\( ?\)", re.IGNORECASE)
_SOFT_DASH = re.compile(r"(?<![^\W\d_])\u00ad|\u00ad(?![^\W\d_])")
_BROKEN_LINE = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,30})[-\u2010]\n([^\W\d_]{2,30})(\S*)[ ]?")
_COMPOUND = re.compile(r"(?<![\w-])([A-Za-z]{2,})-([A-Za-z]{2,})(?![\w-])")
_WORD = re.compile(r"(?<![\w./@])[A-Za-z]{7,}")
_ANY_WORD = re.compile(r"[^\W\d_]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


def mend(text: str) -> str:
    """All mending in its order: signs for ligatures, dashes and quotes, line ends, lost ligatures and hyphens, suit symbols."""
    text = _LIGATURE_SIGN.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = _SOFT_DASH.sub("–", text).replace("\u00ad", "").replace("`", "'")
    return restore_suits(restore_hyphens(restore_ligatures(join_broken_lines(text))))


def join_broken_lines(text: str) -> str:
    """A word broken over a line end is written whole on the first line.

    Its hyphen goes if the dictionary or the text has it without: ``over-⏎lapping``, not ``non-⏎offending``.
    """
    if not _BROKEN_LINE.search(text):
        return text
    compounds = {match[0].lower() for match in _COMPOUND.finditer(text)}
    words = {match[0].lower() for match in _ANY_WORD.finditer(text)}

    def whole(match: re.Match[str]) -> str:
        left, right, rest = match[1], match[2], match[3]
        joined = (left + right).lower()
        keep = f"{left}-{right}".lower() in compounds or not (joined in words or is_word(joined))
        return f"{left}{'-' if keep else ''}{right}{rest}\n"

    return _BROKEN_LINE.sub(whole, text)


def restore_suits(text: str) -> str:
    """``spades ()`` lost its symbol: ``spades (♠)``."""
    return _LOST_SUIT.sub(lambda match: f"{match[1]}{match[2]} ({_SUITS[match[1].lower()]})", text)


def restore_hyphens(text: str) -> str:
    """Puts back hyphens lost at the line ends of the print: ``nonoffending`` where the text has ``non-offending`` elsewhere.

    Where such words show that hyphens are lost, a word that is in no dictionary, stands only once, and is two common words
    written as one (``higherranking``), is taken for a hyphened one too.
    """
    compounds = {(match[1] + match[2]).lower(): match for match in _COMPOUND.finditer(text)}
    stems = Counter(match[0][:SAME_STEM].lower() for match in _WORD.finditer(text))
    unhyphened = [match for match in _WORD.finditer(text) if match[0].lower() in compounds and not is_word(match[0])]
    prefixes = {match[1].lower() for match in compounds.values()} if len(unhyphened) >= PROOFS else set()

    def mended(match: re.Match[str]) -> str:
        word = match[0]
        if is_word(word):
            return word
        if known := compounds.get(word.lower()):
            place = len(known[1])
        else:
            place = _seam(word, prefixes) if prefixes and stems[word[:SAME_STEM].lower()] == 1 else 0
        return f"{word[:place]}-{word[place:]}" if place else word

    return _WORD.sub(mended, text)


def _seam(word: str, prefixes: AbstractSet[str]) -> int:
    """Where two common words meet in one, 0 if nowhere; a short first part must be one that the text hyphens elsewhere."""
    if inner := _INNER_CAPITAL.search(word):
        return inner.start()
    places = [k for k in range(SHORT_PART, len(word) - SHORT_PART) if k > SHORT_PART or word[:k].lower() in prefixes]
    worth = {k: min(commonness(word[:k]), commonness(word[k:])) for k in places}
    best = max(worth, key=worth.__getitem__, default=0)
    return best if best and worth[best] >= COMMON_PART else 0
