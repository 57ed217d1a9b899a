"""Mends typing mistakes in a question: a word that nobody knows becomes the commonest word of the book that is one slip away.

A slip: a letter dropped, added, replaced, or two swapped (Damerau 1964). Known are the words of the book and its asked-as
lines, of an English word list (pyspellchecker's) and of the Russian morphology (pymorphy3).
"""

from __future__ import annotations

import re
from collections import Counter

from spellchecker import SpellChecker

from index.readers.english import is_word
from index.readers.russian import in_dictionary
from index.types import Book

SHORTEST = 4
"""Letters of the shortest word that is mended: cards, calls and abbreviations must stay what they are."""
HOLDING = "xx"
"""Small cards, as in ``AKxx``: no word."""
COMMON = 2
"""Times that a word must occur in the book to be put in another's place."""

_WORD = re.compile(r"[^\W\d_]+")
_RUSSIAN = re.compile(r"[а-яё]")


class Spelling:
    """Mends by the vocabulary of one book."""

    def __init__(self, book: Book) -> None:
        counts = Counter(word for text in _texts(book) for word in _WORD.findall(text.lower()))
        self._known = frozenset(counts)
        _ = is_word("a"), in_dictionary("я")  # read the word lists now, not while somebody waits
        self._book = SpellChecker(language=None, distance=1)
        self._book.word_frequency.load_json({word: count for word, count in counts.items() if count >= COMMON})

    def mended(self, text: str) -> str:
        """The text with its mistyped words mended; the others, and all between, stay as they are."""
        return _WORD.sub(lambda found: self._mend(found[0]), text)

    def _mend(self, word: str) -> str:
        lower = word.lower()
        if len(lower) < SHORTEST or HOLDING in lower or lower in self._known or _is_a_word(lower):
            return word
        likely = self._book.candidates(lower) or ()
        return max(sorted(likely), key=self._book.word_usage_frequency, default=word)


def _texts(book: Book) -> list[str]:
    return [text for one in book.clauses for text in (one.heading, one.text, *(line.text for line in one.asked))]


def _is_a_word(word: str) -> bool:
    return in_dictionary(word) if _RUSSIAN.search(word) else is_word(word)
