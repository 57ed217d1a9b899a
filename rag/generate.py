"""Have the model answer from the retrieved clauses; give the sentences that pass their check, as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from index.types import Book, Clause
from rag.backends.base import Backend
from rag.cite import check, quotables
from rag.prompt import answer_prompt
from rag.ruling import Sentence

CONTEXT_CLAUSES = 5
"""Clauses put before the model; the page shows the same ones."""
MAX_WORDS = 120
"""An answer longer than this is not read at a table: the model is stopped there."""

_PAUSE = (".", "!", "?", ";", ":", "]", "\n")


def generate(
    backend: Backend,
    book: Book,
    clauses: Sequence[Clause],
    question: str,
    earlier: Sequence[str] = (),
    first_token: Callable[[float], None] | None = None,
) -> Iterator[Sentence]:
    """Checked sentences, one by one, each as soon as the model's text vouches for it.

    ``first_token`` is called once with the seconds to the model's first piece. Raises `BackendError` when the model fails.
    """
    prompt = answer_prompt(book, clauses, question, earlier)
    offered = quotables(clauses)
    start = time.perf_counter()
    line, words, shown, lines = "", 0, set[str](), set[str]()
    for number, piece in enumerate(backend.stream(prompt)):
        if number == 0 and first_token:
            first_token(time.perf_counter() - start)
        line += piece
        if not piece.rstrip(" ").endswith(_PAUSE):
            continue
        for sentence in check(line, offered):
            if sentence.text not in shown:
                shown.add(sentence.text)
                words += len(sentence.text.split())
                yield sentence
        if "\n" in piece:
            if line in lines or words >= MAX_WORDS:
                return  # the model repeats itself, or has said enough
            lines.add(line)
            line = ""
    yield from (sentence for sentence in check(line, offered) if sentence.text not in shown)
