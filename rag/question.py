"""Read a question: its language, law numbers named in it, Russian written in Latin letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cyrtranslit

from index.bm25 import STOP_WORDS, split_words, stem
from index.clause_id import ClauseId, find_clause_ids
from index.errors import BadQuestion
from rag.strings import strings

MAX_CHARS = 4000
"""Longest question, in characters: a page of text. Longer ones are told so, not cut."""
LANGUAGES = ("en", "ru")
LONG_WORD = 4
"""Letters from which a word known to the book tells the language; shorter ones coincide too often."""

_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Question:
    """A question as read: ``text`` as typed, ``search_text`` as searched (Cyrillic, terms added), ``named`` clause ids."""

    text: str
    lang: str
    search_text: str
    named: tuple[ClauseId, ...]


def read_question(text: Any, lang: str = "auto", knows: Callable[[str], bool] | None = None) -> Question:
    """Read what was typed. ``knows`` tells whether a stemmed word occurs in the book or its asked-as lines.

    Raises `BadQuestion` for what cannot be a question: not text, empty, over `MAX_CHARS` characters.
    """
    if not isinstance(text, str):
        raise _bad("question_no_text")
    clean = plain(text)
    if not clean or not any(char.isalnum() for char in clean):
        raise _bad("question_empty")
    if len(clean) > MAX_CHARS:
        raise _bad("question_long", chars=f"{len(clean):,}", limit=f"{MAX_CHARS:,}")
    if lang not in ("auto", *LANGUAGES):
        raise _bad("question_language", lang=lang[:20], known=", ".join(LANGUAGES))
    cyrillic, latin = len(_CYRILLIC.findall(clean)), len(_LATIN.findall(clean))
    search_text, written = clean, "ru" if 2 * cyrillic > latin else "en"
    if written == "en" and lang != "en" and knows and _is_transliterated(clean, knows):
        search_text, written = to_cyrillic(clean), "ru"
    return Question(clean, written if lang == "auto" else lang, search_text, find_clause_ids(clean))


def plain(text: str) -> str:
    """The text without control characters, direction marks and halves of surrogate pairs, which no model and no file takes."""
    return _NO_TEXT.sub(" ", text.encode("utf-8", "replace").decode("utf-8")).strip()


def _bad(key: str, **values: str) -> BadQuestion:
    return BadQuestion(strings("en")[key].format(**values), key, values)


def to_cyrillic(text: str) -> str:
    """Russian in Latin letters to Cyrillic (``zahod ne v ochered`` -> ``заход не в очеред``)."""
    return str(cyrtranslit.to_cyrillic(text, "ru"))


def _is_transliterated(text: str, knows: Callable[[str], bool]) -> bool:
    """Whether more words count as Russian than as English, and at least two: function words, and longer words known."""
    russian = _familiar(to_cyrillic(text), knows)
    return russian > max(1, _familiar(text, knows))


def _familiar(text: str, knows: Callable[[str], bool]) -> int:
    words = split_words(text)
    return sum(word in STOP_WORDS or (len(word) >= LONG_WORD and knows(stem(word))) for word in words)
