"""Put together words that a line end has split, with a hyphen or without one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from index.readers.russian import Words, in_dictionary, is_function_word

_LAST = re.compile(r"(?:^|(?<=[\s(\"«,.:;-]))[а-яё]+$", re.IGNORECASE)
_FIRST = re.compile(r"^[а-яё]+", re.IGNORECASE)
_LONGEST_WORD = 60  # letters: as much of a line's end is looked at
_VOWEL = re.compile(r"[аеёиоуыэюя]", re.IGNORECASE)
# A dash has blanks on both sides; a hyphen with a blank behind it only is a line end.
_HYPHEN = re.compile(r"(?<=[^\W\d_])-\s+(?=[^\W\d_])")
_BEFORE = re.compile(r"[^\W\d_]+$")
_AFTER = re.compile(r"[^\W\d_]+")
# "двух- и трёхкратный": the hyphen stands for the rest of the word.
_SUSPENDED = frozenset({"и", "или"})


def join_lines(lines: Iterable[str], words: Words) -> str:
    """The lines as one, words split at line ends put together."""
    text = ""
    for line in lines:
        text = join_two(text, line.strip(), words)
    return text


def join_two(left: str, right: str, words: Words) -> str:
    """Two lines as one: nothing between them where a word was split, else a blank."""
    if not left or not right:
        return left or right
    rest, end = left[:-_LONGEST_WORD], left[-_LONGEST_WORD:]
    if end.endswith("-") and not end.endswith(" -"):
        return rest + join_hyphens(f"{end} {right}", words)
    before, after = _LAST.search(end), _FIRST.match(right)
    split = before is not None and after is not None and is_split(before[0], after[0], words)
    return left + ("" if split else " ") + right


def is_split(left: str, right: str, words: Words) -> bool:
    """Whether two pieces with a line end between them are one word.

    They are when together they make a word and apart they do not. Where both readings are words, the book decides: the one
    that it has elsewhere. Where it has neither, they are one, unless the first is a preposition, conjunction or particle.
    """
    # Russian words are split between syllables and never leave a single letter.
    if min(len(left), len(right)) < 2 or not (_VOWEL.search(left) and _VOWEL.search(right)) or right[0].isupper():  # noqa: PLR2004
        return False
    if not words.known(left + right):
        return not words.known(left) and not words.known(right)
    if not words.known(left) or not words.known(right):
        return True
    if words.in_book_in_some_form(left + right):
        return not (words.in_book(left) and words.in_book(right))
    return not is_function_word(left)


def join_hyphens(text: str, words: Words) -> str:
    """The text with words put together that a hyphen and a blank split (``ко- торое``); true hyphens stay (``из- за``)."""

    def joined(match: re.Match[str]) -> str:
        left, right = _BEFORE.search(text, 0, match.start()), _AFTER.match(text, match.end())
        if not left or not right:
            return match[0]
        if right[0].lower() in _SUSPENDED and not words.known(left[0] + right[0]):
            return match[0]
        return "-" if keeps_hyphen(left[0], right[0], words) else ""

    return _HYPHEN.sub(joined, text)


def keeps_hyphen(left: str, right: str, words: Words) -> bool:
    """Whether a word split at its hyphen is written with it (``что-`` + ``либо``): only then is it a word."""
    return not words.known(left + right) and (in_dictionary(f"{left}-{right}") or words.in_book(f"{left}-{right}"))
