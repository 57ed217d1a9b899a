"""What belongs to an edition and not to one text of it: asked-as lines, references, and whose words a clause is shown in.

Everything is matched by (edition, id): the same number of another edition is another rule.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from index.books import find_clause, list_books, read_book
from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.hashing import sha256_value
from index.types import Book, Clause


@dataclass(frozen=True)
class Shown:
    """A clause in the words that are shown, and the book these are taken from."""

    clause: Clause
    book: Book


def with_lines(book: Book) -> Book:
    """An imported law book with the asked-as lines and references that our restatement of its edition has."""
    if book.kind != "law" or book.source != "imported":
        return book
    clauses, hashes = book.clauses, [book.hash]
    for ours in _law_books(book.edition, "restated"):
        clauses = tuple(_with_lines_of(clause, ours.get(clause.id)) for clause in clauses)
        hashes.append(ours.hash)
    return replace(book, clauses=clauses, hash=sha256_value(hashes)) if len(hashes) > 1 else book


def _with_lines_of(clause: Clause, ours: Clause | None) -> Clause:
    if ours is None:
        return clause
    return replace(clause, asked=(*clause.asked, *ours.asked), see=tuple(dict.fromkeys((*clause.see, *ours.see))))


def wordings(book: Book, lang: str) -> tuple[Book, ...]:
    """The books whose words are shown for clauses of ``book``, first choice first.

    For our restatement: the official wordings of its edition that were imported, those in ``lang`` before those in the
    book's language, then the restatement itself. Any other book was asked for by name and is shown as it is.
    """
    if book.source != "restated" or book.kind != "law":
        return (book,)
    imported = tuple(_law_books(book.edition, "imported"))
    languages = dict.fromkeys((lang, book.lang))
    return (*(other for wanted in languages for other in imported if other.lang == wanted), book)


def shown(books: Sequence[Book], clause_id: ClauseId) -> Shown | None:
    """The clause in the first of the books that has its whole text; a heading alone does for what is a heading everywhere."""
    found = [Shown(clause, book) for book in books if (clause := book.get(clause_id))]
    whole = [one for one in found if one.clause.text and one.clause.complete]
    return next(iter(whole or found), None)


def beside(book: Book, lang: str) -> Book | None:
    """The other wording of a law book's edition, to be read beside it: the official one beside ours, ours beside that one.

    Of several official ones, one in ``lang`` before one in the book's language, and that before any other.
    """
    if book.kind != "law":
        return None
    others = list(_law_books(book.edition, "imported" if book.source == "restated" else "restated"))
    return min(others, key=lambda other: (other.lang != lang, other.lang != book.lang), default=None)


def find_shown(book: Book, text: str) -> Shown:
    """The clause that ``text`` names, in the book or in a commentary on its edition. Raises `UnknownClause`."""
    try:
        return Shown(find_clause(book, text), book)
    except UnknownClause:
        for other in _books(book.edition, "commentary"):
            if clause := other.get(parse_clause_id(text)):
                return Shown(clause, other)
        raise


def comments(book: Book, law: int | None) -> tuple[Shown, ...]:
    """Comments on a Law in the commentaries on the book's edition; a comment names the Law it is about first."""
    if law is None or book.kind != "law":
        return ()
    return tuple(
        Shown(clause, other)
        for other in _books(book.edition, "commentary")
        for clause in other.clauses
        if clause.see and clause.see[0].law == law
    )


def _law_books(edition: str, source: str) -> Iterator[Book]:
    return (book for book in _books(edition, "law") if book.source == source)


def _books(edition: str, kind: str) -> Iterator[Book]:
    return (book for book in _readable() if (book.edition, book.kind) == (edition, kind))


def law_books() -> tuple[str, ...]:
    """Ids of the books that a question can be put to: those of laws, not commentary."""
    return tuple(book.id for book in _readable() if book.kind == "law")


def _readable() -> Iterator[Book]:
    for book_id in list_books():
        with contextlib.suppress(BookError):  # told where it is opened by name; it must not stop the others
            yield read_book(book_id)
