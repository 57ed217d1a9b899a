"""What programs get, as JSON values: the command line with ``--json``, the API and MCP all give these."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from index.books import DEFAULT_BOOK, export_clause, find_clause, list_books, read_book
from index.clause_id import ClauseId
from index.errors import ModelError
from index.types import Book
from rag.batch import search_json
from rag.desk import Ask, Desk, answer
from rag.procedure import find_procedure, read_procedures
from rag.rule import rule
from rag.ruled import to_ruling
from rag.ruling import to_json

ASKS_AT_ONCE = 8
"""Questions of programs that may be under way: each holds a thread, and the page needs some, too."""
_BOOK_KEYS = ("id", "edition", "lang", "kind", "source", "licence", "title", "in_force")


class Busy(ModelError):
    """The models are still being loaded, or as many questions are under way as may be."""


@dataclass(frozen=True)
class Programs:
    """What programs may ask of the desk that is served; ``book`` is taken where they name none."""

    desk: Callable[[], Desk]
    book: str
    places: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(ASKS_AT_ONCE))

    def ask(self, ask: Ask, uses_model: bool, stop: threading.Event) -> dict[str, Any] | None:
        """The contract of ``tablelaw ask --json``; ``None`` when ``stop`` was set, as nobody waits for it any more.

        It stands in the line before the model like everybody else (`Desk.turns`), and is written to no log.
        Raises `Busy` and what `answer` raises.
        """
        book = ask.book or (None if ask.state else self.book)
        with self._opened() as desk:
            own = desk if uses_model else replace(desk, backend=None)
            # Who stops listening leaves the line before the model.
            heard = deque(takewhile(lambda _: not stop.is_set(), answer(own, replace(ask, book=book))), maxlen=1)
        return None if stop.is_set() else to_json(heard[-1].ruling)

    def search(self, ask: Ask, k: int) -> dict[str, Any]:
        """The contract of ``tablelaw search --json``. Raises `Busy` and what `find` raises."""
        with self._opened() as desk:
            return search_json(desk, replace(ask, book=ask.book or self.book), k)

    @contextmanager
    def _opened(self) -> Iterator[Desk]:
        """The desk, and a place at it until the block ends."""
        if getattr(self.desk, "is_loading", False):
            raise Busy("The models are being loaded; ask again in a moment.")
        if not self.places.acquire(blocking=False):
            raise Busy("As many questions are under way as there are places for; ask again in a few seconds.")
        try:
            yield self.desk()
        finally:
            self.places.release()


def law_json(clause: str, book_id: str | None) -> dict[str, Any]:
    """A Law or clause with all below it. Raises `UnknownClause`, `BookError`."""
    book = read_book(book_id or DEFAULT_BOOK)
    return branch_json(book, find_clause(book, clause).id)


def branch_json(book: Book, clause: ClauseId) -> dict[str, Any]:
    """A clause of a book with all below it."""
    return {"book": book.id, "edition": book.edition, "clauses": [export_clause(one) for one in book.branch(clause)]}


def books_json() -> list[dict[str, Any]]:
    """The books on this machine."""
    books = map(read_book, list_books())
    return [{**{key: getattr(book, key) for key in _BOOK_KEYS}, "clauses": len(book.clauses)} for book in books]


def procedures_json() -> list[dict[str, Any]]:
    """The procedures and the Laws they rule by."""
    return [{"id": p.id, "title": p.title.en, "laws": ", ".join(p.laws), "kind": p.kind} for p in read_procedures().values()]


def procedure_json(procedure_id: str) -> dict[str, Any]:
    """A procedure whole: nodes, leaves, sentences. Raises `ContractError` when there is none of that id."""
    return find_procedure(procedure_id).model_dump()


def rule_json(procedure_id: str, facts: Mapping[str, str], lang: str) -> dict[str, Any]:
    """The ruling by a procedure, in the form of ``ask --json``. Raises `ContractError`."""
    return to_json(to_ruling(rule(procedure_id, facts), lang))
