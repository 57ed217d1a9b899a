"""Look-up in a law book as one types: by number, then by words; no model, only the book's own texts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from threading import Lock

import numpy as np

from index.bm25 import Bm25, split_words, words
from index.books import read_book
from index.clause_id import ClauseId, find_clause_ids, parse_clause_id
from index.errors import UnknownClause
from index.terms import LANGUAGES, with_terms
from index.types import Book, Clause
from index.wording import with_lines

MOST = 20
"""Clauses shown of what was found."""
LONGEST = 100
"""Characters that are looked at of what was typed."""
SHORTEST_BEGINNING = 2
"""Letters from which the last word may still be growing: it then stands for the words that begin so."""
BEGINNINGS = 6
"""Words put in the place of one that is still growing, the commonest first."""
WEIGHTS = {"heading": 1.5, "text": 1.0, "asked": 0.7}
"""What a word counts in a clause's headings, its text, and the questions it answers."""
AROUND = 70
"""Characters shown before and behind the first word found."""
_RUSSIAN = re.compile(r"[а-яё]", re.IGNORECASE)
_MARKUP = re.compile(r"[*|`#]+|^-{3,}$", re.MULTILINE)
_TOKEN = re.compile(r"([^\W_]+(?:['’][^\W_]+)?)")
_BUILDING = Lock()


@dataclass(frozen=True)
class Piece:
    """A piece of a text; ``is_hit`` for a word that was looked for."""

    text: str
    is_hit: bool = False


@dataclass(frozen=True)
class Found:
    """A clause found, the headings from its Law down, and the part of its text where the words stand."""

    clause: Clause
    heading: str
    excerpt: tuple[Piece, ...]


@dataclass(frozen=True)
class _Words:
    """The word indexes over the clauses of a book, and its vocabulary in alphabetical order."""

    book: Book
    indexes: dict[str, Bm25]
    vocabulary: tuple[str, ...]
    counts: Counter[str]


def look_up(book: Book, typed: str, most: int = MOST) -> tuple[Found, ...]:
    """The clauses that a number or words lead to, best first: those named by number, with all below them, then by words."""
    typed = typed[:LONGEST].strip()
    if not typed:
        return ()
    found = dict.fromkeys(clause.id for clause in _by_number(book, typed))
    stems: frozenset[str] = frozenset()
    if not found or not _is_number(book, typed):
        known = _words_of(book)
        asked = _with_terms(book, _completed(known, typed))
        found |= dict.fromkeys(clause.id for clause in _by_words(known, asked, most))
        stems = frozenset(words(asked))
    return tuple(_found(book, book.by_id[one], stems) for one in list(found)[:most])


def warm(book: Book) -> None:
    """Make ready what the first look-up would wait for."""
    _words_of(book)


def _is_number(book: Book, typed: str) -> bool:
    try:
        parse_clause_id(typed, book.last_law)
    except UnknownClause:
        return False
    return True


def _by_number(book: Book, typed: str) -> Iterator[Clause]:
    """The clauses that the text names, each with its branch; a word that is defined names its definition."""
    named: list[ClauseId] = []
    for text in (typed, f"Def:{typed}"):
        try:
            named.append(parse_clause_id(text, book.last_law))
        except UnknownClause:
            continue
    for clause_id in (*named, *find_clause_ids(typed, book.last_law)):
        yield from book.branch(clause_id)


def _by_words(known: _Words, asked: str, most: int) -> Iterator[Clause]:
    scores = np.sum([weight * known.indexes[name].scores(asked) for name, weight in WEIGHTS.items()], axis=0)
    for k in np.argsort(-scores, kind="stable")[:most]:
        if scores[k] > 0:
            yield known.book.clauses[k]


def _completed(known: _Words, typed: str) -> str:
    """The text, its last word followed by the book's words that begin so: it may not be typed to its end yet."""
    last = next(reversed(split_words(typed)), "")
    if len(last) < SHORTEST_BEGINNING or not typed[-1].isalnum():
        return typed
    start = bisect_left(known.vocabulary, last)
    longer = takewhile(lambda word: word.startswith(last), known.vocabulary[start:])
    return " ".join((typed, *sorted(longer, key=lambda word: -known.counts[word])[:BEGINNINGS]))


def _with_terms(book: Book, text: str) -> str:
    """The text followed by the book's own terms for what it says in the other language."""
    lang = "ru" if _RUSSIAN.search(text) else "en"
    return with_terms(text, lang, book.lang) if book.lang in LANGUAGES else text


def _words_of(book: Book) -> _Words:
    with _BUILDING:  # while one request makes it, those typed after it wait instead of making it, too
        return _build(book.id, book.hash)


@lru_cache(maxsize=4)
def _build(book_id: str, _hash: str) -> _Words:
    book = with_lines(read_book(book_id))
    texts = {
        "heading": [book.heading_path(clause) for clause in book.clauses],
        "text": [clause.text for clause in book.clauses],
        "asked": [" ".join(line.text for line in clause.asked) for clause in book.clauses],
    }
    counts = Counter(word for name in texts for text in texts[name] for word in split_words(text))
    return _Words(book, {name: Bm25.build(rows) for name, rows in texts.items()}, tuple(sorted(counts)), counts)


def _found(book: Book, clause: Clause, stems: frozenset[str]) -> Found:
    heading = book.heading_path(clause).removesuffix(f" > {clause.id}")  # its own number stands before it
    return Found(clause, heading, _excerpt(_plain(clause.text), stems))


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


def _excerpt(text: str, stems: frozenset[str]) -> tuple[Piece, ...]:
    """The text around the first word that was looked for, or its beginning; words looked for are hits."""
    first = next((match.start() for match in _TOKEN.finditer(text) if stems & set(words(match[0]))), 0)
    start = text.rfind(" ", 0, max(first - AROUND, 0)) + 1 if first > AROUND else 0
    stop = text.find(" ", first + AROUND)
    cut = text[start : stop if stop >= 0 else len(text)]
    pieces = [Piece(part, k % 2 == 1 and bool(stems & set(words(part)))) for k, part in enumerate(_TOKEN.split(cut)) if part]
    before = (Piece("… "),) if start else ()
    after = (Piece(" …"),) if start + len(cut) < len(text) else ()
    return (*before, *pieces, *after)
