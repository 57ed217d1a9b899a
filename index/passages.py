"""Clauses become passages: what is embedded and searched, one row each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from index.embedder import Embedder
from index.errors import IndexFault
from index.types import Book, Clause, Passage

OVERLAP_SENTENCES = 1
"""A long clause is split at sentence ends; each part repeats the last sentence of the one before."""

_SENTENCE_END = re.compile(r"(?<=[.;:?!])\s+|\n{2,}|\n(?=[-|])")


def passages_of(book: Book, embedder: Embedder) -> tuple[Passage, ...]:
    """All rows of a book: each clause with its heading path, then its asked-as lines.

    A clause over the embedder's limit is split with overlap. Raises `IndexFault` naming the clause when a single sentence
    or an asked-as line is over the limit, for then the embedder would cut it off without a word; only in an imported book
    sentences are split, too.
    """
    return tuple(row for clause in book.clauses for row in _rows(book, clause, embedder))


def _rows(book: Book, clause: Clause, embedder: Embedder) -> Iterator[Passage]:
    if clause.text:
        path = book.heading_path(clause)
        for part in _split(book, clause, path, embedder):
            yield Passage(clause.id, "clause", f"{path}\n{part}", book.lang)
    for line in clause.asked:
        if embedder.count_tokens(line.text, "passage") > embedder.max_tokens:
            raise _too_long(book, clause, "an asked-as line", embedder)
        yield Passage(clause.id, "asked", line.text, line.lang)


def _split(book: Book, clause: Clause, path: str, embedder: Embedder) -> Iterator[str]:
    def fits(part: list[str]) -> bool:
        return embedder.count_tokens(f"{path}\n{' '.join(part)}", "passage") <= embedder.max_tokens

    if fits([clause.text]):
        yield clause.text
        return
    part: list[str] = []
    sentences = _SENTENCE_END.split(clause.text)
    if book.source == "imported":  # nobody can shorten the wording of a federation
        sentences = [piece for sentence in sentences for piece in _halves(sentence, fits)]
    for sentence in sentences:
        if part and not fits([*part, sentence]):
            yield " ".join(part)
            part = part[-OVERLAP_SENTENCES:]
            if not fits([*part, sentence]):
                part = []
        part.append(sentence)
        if not fits(part):
            raise _too_long(book, clause, "a sentence", embedder)
    yield " ".join(part)


def _halves(sentence: str, fits: Callable[[list[str]], bool]) -> Iterator[str]:
    """The sentence, or, when it is over the limit, its halves, and theirs, between words."""
    words = sentence.split(" ")
    if len(words) == 1 or fits([sentence]):
        yield sentence
        return
    middle = len(words) // 2
    for half in (words[:middle], words[middle:]):
        yield from _halves(" ".join(half), fits)


def _too_long(book: Book, clause: Clause, what: str, embedder: Embedder) -> IndexFault:
    return IndexFault(
        f"{book.id}/{clause.file}:{clause.line}: {what} of clause {clause.id} is over the embedder's limit of "
        f"{embedder.max_tokens} tokens; shorten it."
    )
