"""Have the model answer from the retrieved clauses; give the sentences that pass their check, as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from index.errors import BackendError, TablelawError
from index.types import Book
from rag.backends.base import MAX_SECONDS, Backend
from rag.cite import check, offers, quotables
from rag.prompt import Material, Prompt, answer_prompt
from rag.ruling import Sentence

CONTEXT_CLAUSES = 5
"""Clauses that may be quoted; the page shows the same ones."""
MAX_WORDS = 120
"""An answer longer than this is not read at a table: the model is stopped there."""
MAX_CHARS = 4000
"""A model that has written so much is stopped, as a server's may that minds no limit."""

_PAUSE = (".", "!", "?", ";", ":", "]", "\n")


def generate(
    backend: Backend,
    book: Book,
    material: Material,
    question: str,
    earlier: Sequence[str] = (),
    first_token: Callable[[float], None] | None = None,
) -> Iterator[Sentence]:
    """Checked sentences, one by one, each as soon as the model's text vouches for it.

    ``first_token`` is called once with the seconds to the model's first piece. Raises `BackendError` when the model fails,
    or is stopped because it took too long: at whatever piece that is, in the middle of a line too, of which nothing is shown.
    """
    prompt = answer_prompt(book, material, question, earlier)
    if not prompt.lines:
        return
    read = _bound_reader(prompt.lines, offers(material.clauses)) if backend.is_bound else _free_reader(material)
    line, words, shown, lines, written = "", 0, set[str](), set[str](), 0
    for piece in _timed(backend, prompt, first_token):
        line += piece[:MAX_CHARS]
        written += len(piece)
        for sentence in read(line, piece):
            if sentence.text not in shown:
                shown.add(sentence.text)
                words += len(sentence.text.split())
                yield sentence
        if "\n" in piece:
            if line in lines or words >= MAX_WORDS:
                return  # the model repeats itself, or has said enough
            lines.add(line)
            line = ""
        if written > MAX_CHARS:
            return
    yield from (sentence for sentence in read(line, "\n") if sentence.text not in shown)


def _timed(backend: Backend, prompt: Prompt, first_token: Callable[[float], None] | None) -> Iterator[str]:
    """What the model writes, for `MAX_SECONDS` at most."""
    start = time.perf_counter()
    for piece in _pieces(backend, prompt):
        if piece:
            if first_token:
                first_token(time.perf_counter() - start)
                first_token = None
            yield piece
        if time.perf_counter() - start > MAX_SECONDS:
            raise BackendError(f"The language model {backend.name} was stopped after {MAX_SECONDS:.0f} seconds.")


def _pieces(backend: Backend, prompt: Prompt) -> Iterator[str]:
    """What the model writes; whatever fails in it or its library is a `BackendError`: the law can still be quoted."""
    try:
        yield from backend.stream(prompt)
    except TablelawError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:100]
        raise BackendError(f"The language model {backend.name} failed ({reason}); the law is quoted instead.") from error


_Read = Callable[[str, str], Sequence[Sentence]]
"""(line so far, its last piece) -> the sentences that it vouches for."""


def _bound_reader(lines: Sequence[str], sentences: Sequence[Sentence]) -> _Read:
    """Of a model that can write nothing but ``lines``: a sentence is certain as soon as no other begins so."""

    def read(line: str, _: str) -> Sequence[Sentence]:
        begun = line.lstrip()
        matching = [one for text, one in zip(lines, sentences, strict=True) if begun and f"{text}\n".startswith(begun)]
        return matching if len(matching) == 1 else ()

    return read


def _free_reader(material: Material) -> _Read:
    """Of any other model: a sentence counts when it was copied."""
    offered = quotables(material.clauses)
    return lambda line, piece: check(line, offered) if piece.rstrip(" ").endswith(_PAUSE) else ()
