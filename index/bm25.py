"""Keyword search (BM25, Lucene's variant) with Snowball stemmers, English and Russian side by side.

Source: Robertson & Zaragoza, The Probabilistic Relevance Framework (2009); the scorer is bm25s.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

# Texts and questions typed without ё, or in Latin letters, where е, ё and э are all e ("etot", "ee").
_SAME_LETTER = str.maketrans("ёэ", "ее")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CYRILLIC = re.compile(r"[а-я]")
STOP_WORDS = frozenset(
    word.translate(_SAME_LETTER)
    for word in """
    a an the of to in on at is are was were be been it its this that these those and or i my me we our he she his
    her they their you your with for as by from do does did has have had what which can could would should there so
    if but и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня
    еще о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом
    себя ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет
    тогда кто этот того
    """.split()
)
"""Function words of both languages: no help in finding a clause, but a sure sign of the language."""
_NEGATION = frozenset({"not", "не", "ни", "без"})


class _Stemmers(threading.local):
    """A stemmer keeps a cache of its own: one for each thread."""

    def __init__(self) -> None:
        self.english = Stemmer.Stemmer("english")
        self.russian = Stemmer.Stemmer("russian")


_STEMMERS = _Stemmers()


def split_words(text: str) -> list[str]:
    """The words of a text in lower case, in composed form, ё and э folded to е."""
    return _WORD.findall(unicodedata.normalize("NFC", text).lower().translate(_SAME_LETTER).replace("’", "'"))


def stem(word: str) -> str:
    """The word's stem, by the Snowball stemmer of its script."""
    return str((_STEMMERS.russian if _CYRILLIC.search(word) else _STEMMERS.english).stemWord(word))


def words(text: str) -> list[str]:
    """Stemmed words of a text; stop words out, negations stay."""
    return [stem(word) for word in split_words(text) if word in _NEGATION or word not in STOP_WORDS]


class Bm25:
    """A BM25 index over texts; ``scores`` gives one score a text, 0 where no word is shared."""

    def __init__(self, retriever: bm25s.BM25) -> None:
        self._retriever = retriever

    @classmethod
    def build(cls, texts: Sequence[str]) -> Bm25:
        """Index the texts, in their order."""
        retriever = bm25s.BM25(method="lucene")
        retriever.index([words(text) or ["\0"] for text in texts], show_progress=False)
        return cls(retriever)

    @classmethod
    def load(cls, folder: Path) -> Bm25:
        """Open what `save` wrote."""
        return cls(bm25s.BM25.load(str(folder)))

    def save(self, folder: Path) -> None:
        """Write plain arrays and JSON into the folder."""
        self._retriever.save(str(folder), show_progress=False)

    def knows(self, word: str) -> bool:
        """Whether a stemmed word occurs in any text."""
        return word in self._retriever.vocab_dict

    def scores(self, text: str) -> NDArray[np.float32]:
        """BM25 of the text against each indexed text, shape ``(texts,)``."""
        known = [word for word in words(text) if self.knows(word)]
        if not known:
            return np.zeros(self._retriever.scores["num_docs"], dtype=np.float32)
        return np.asarray(self._retriever.get_scores(known), dtype=np.float32)
