"""Is this a Russian word, and how is it spelt: a morphological dictionary together with the words of the book itself.

The dictionary is OpenCorpora's, read by pymorphy3 (Korobov, Morphological Analyzer and Generator for Russian and Ukrainian
Languages, 2015). A book's own terms (фальшренонс, алерт) stand in no dictionary: words that it prints in one piece count too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

from index.errors import TablelawError

# Names, abbreviations and misspellings are in the dictionary too: in a law book "роны" is the rest of "стороны", not a name.
_ODD_TAGS = frozenset({"Name", "Surn", "Patr", "Geox", "Orgn", "Trad", "Abbr", "Init", "Dist", "Erro", "Infr", "Slng", "Arch"})
_FUNCTION_TAGS = frozenset({"PREP", "CONJ", "PRCL"})
_NEGATED_TAGS = frozenset({"ADJF", "ADJS", "PRTF", "PRTS", "ADVB", "NOUN"})
_WORD = re.compile(r"[а-яё]+(?:-[а-яё]+)*", re.IGNORECASE)
_LETTERS = re.compile(r"[а-яё-]+", re.IGNORECASE)


class Words:
    """The words that may be met: those of the dictionary and, for one book, those in ``own`` texts (words in one piece)."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._own = frozenset(_plain(word) for text in own for word in _WORD.findall(text))

    @cached_property
    def _own_lemmas(self) -> frozenset[str]:
        return frozenset(lemma for word in self._own for lemma in _lemmas(word))

    def known(self, word: str) -> bool:
        """Whether this is a word of the dictionary or of the book."""
        return in_dictionary(word) or _plain(word) in self._own

    def in_book(self, word: str) -> bool:
        """Whether the book has this very form."""
        return _plain(word) in self._own

    def in_book_in_some_form(self, word: str) -> bool:
        """Whether the book has this word in any of its forms."""
        return _plain(word) in self._own or not self._own_lemmas.isdisjoint(_lemmas(_plain(word)))


def fold(word: str) -> str:
    """The word in lower case with ё and э as е, as search compares them."""
    return _plain(word).replace("э", "е")


def _plain(word: str) -> str:
    return word.lower().replace("ё", "е")


def in_dictionary(word: str) -> bool:
    """Whether the dictionary has the word (ё may be written е), names, abbreviations and misspellings apart.

    A word with не- in front counts when the rest is an adjective, participle, adverb or noun.
    """
    word = word.lower()
    if not _LETTERS.fullmatch(word):
        return False
    return bool(_readings(word)) or (
        word.startswith("не") and any(reading.tag.POS in _NEGATED_TAGS for reading in _readings(word[2:]))
    )


def is_function_word(word: str) -> bool:
    """Whether this is a preposition, conjunction or particle: it stands before another word and is no beginning of one."""
    return any(reading.tag.POS in _FUNCTION_TAGS for reading in _readings(word.lower()))


def part_of_speech(word: str) -> frozenset[str]:
    """The grammemes that the word can have, as ``{"ADJF,nomn,masc,sing", ...}``: part of speech, case, gender, number."""
    tags = [reading.tag for reading in _readings(word.lower())]
    return frozenset(",".join(str(part) for part in (tag.POS, tag.case, tag.gender, tag.number)) for tag in tags)


def with_yo(word: str) -> str:
    """The word with its ё where the dictionary knows no other spelling (``еще`` -> ``ещё``; ``все`` stays)."""
    spellings = {reading.word for reading in _readings(word.lower())}
    if len(spellings) != 1 or not (spelling := spellings.pop()).count("ё"):
        return word
    return "".join(right.upper() if left.isupper() else right for left, right in zip(word, spelling, strict=True))


@lru_cache(maxsize=1)
def _analyzer() -> Any:
    try:
        import pymorphy3

        return pymorphy3.MorphAnalyzer(lang="ru")
    except (ImportError, ValueError) as error:  # ValueError: the dictionary package is missing
        raise TablelawError(
            "Reading Russian law texts needs a dictionary: install pymorphy3 and pymorphy3-dicts-ru, then import again."
        ) from error


@lru_cache(maxsize=50_000)
def _readings(word: str) -> tuple[Any, ...]:
    """What the dictionary says of a word in lower case; nothing of a word it guesses."""
    return tuple(
        reading for reading in _analyzer().parse(word) if reading.is_known and _ODD_TAGS.isdisjoint(reading.tag.grammemes)
    )


def _lemmas(word: str) -> frozenset[str]:
    return frozenset(_plain(reading.normal_form) for reading in _readings(word))
