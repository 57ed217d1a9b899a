"""How common an English word is, from pyspellchecker's word list (MIT, offline, 160,000 words with counts)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from spellchecker import SpellChecker

UNKNOWN = -11.0
"""What a word that is not in the list counts: far below the rarest word in it (about -7.5)."""

LONGEST = 30
"""No word has more letters."""

# The list is American: (British, American) endings, so that "offence" counts as "offense" does.
_ENDINGS = tuple(
    (re.compile(rf"{british}(?={rest}$)"), re.compile(rf"{american}(?={rest}$)"), british, american)
    for british, american, rest in (
        ("our", "or", "(?:s|ed|ing|able|ably|ite|ites)?"),
        ("ence", "ense", "s?"),
        ("is", "iz", "(?:e|ed|es|er|ers|ing|ation|ations)"),
        ("ll", "l", "(?:ed|ing|er|ers)"),
        ("fil", "fill", "(?:s|ment)?"),
        ("tre", "ter", "s?"),
        ("bre", "ber", "s?"),
    )
)


@lru_cache(maxsize=1)
def english_words() -> Mapping[str, int]:
    """The word list with its counts, read once: 0.2 s and 30 MB."""
    words: Mapping[str, int] = SpellChecker(language="en", distance=1).word_frequency.dictionary
    return words


@lru_cache(maxsize=1)
def _total() -> int:
    return sum(english_words().values())


def british(word: str) -> Iterator[str]:
    """The British spellings that an American word may have, by its ending (some of them no words)."""
    for _, american, by, _ in _ENDINGS:
        if american.search(word):
            yield american.sub(by, word)


@lru_cache(maxsize=50_000)
def commonness(word: str) -> float:
    """The decimal logarithm of the word's share of all words written (``the`` about -1.5), `UNKNOWN` if it is in no list.

    A single letter other than *a* and *I* is no word.
    """
    low = word.lower()
    if len(low) > LONGEST or (len(low) == 1 and low not in "ai"):
        return UNKNOWN
    counts = english_words()
    count = counts.get(low, 0)
    if not count:
        american = (pattern.sub(by, low) for pattern, _, _, by in _ENDINGS)
        count = max((counts.get(spelling, 0) for spelling in american), default=0)
    return math.log10(count / _total()) if count else UNKNOWN


def is_word(word: str) -> bool:
    """Whether the word is in the list, in American or British spelling, in any case."""
    return commonness(word) > UNKNOWN
