"""The contents of a book: its laws (or definitions, or notes) in order, gathered by the chapters of the Laws."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from index.clause_id import ClauseId
from index.types import Book, Clause

DEFINITIONS = "definitions"
"""Key of the chapter of words: the definitions, and how strong the verbs are."""
CHAPTERS = {
    DEFINITIONS: 0,
    "before": 5,
    "boards": 8,
    "irregularities": 16,
    "auction": 22,
    "auction-irregularities": 40,
    "play": 45,
    "play-irregularities": 60,
    "revokes": 64,
    "tricks": 71,
    "conduct": 76,
    "score": 79,
    "organization": 80,
    "director": 91,
    "appeals": 93,
}
"""Chapters in our own words (strings ``chapter_…``), each with its last law: the grouping that holds since 1987."""
CHAPTERED = ("1987", "2017")
"""The editions whose laws are so numbered; what else was imported has one chapter."""
WHOLE = "whole"
"""Key of the only chapter of a book that has none."""


@dataclass(frozen=True)
class Section:
    """What is read on one page: a law with all its clauses, all definitions (no heading), or a note; ``law`` is its subject."""

    id: str
    heading: str
    law: int | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Chapter:
    """A chapter and its sections."""

    key: str
    sections: tuple[Section, ...]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """All clauses of the chapter."""
        return tuple(clause for section in self.sections for clause in section.clauses)


def sections(book: Book) -> tuple[Section, ...]:
    """The sections of a book in its order."""
    return tuple(_section(book, top, tuple(clauses)) for top, clauses in groupby(book.clauses, _top))


def section_of(book: Book, clause: Clause) -> Section:
    """The section in which a clause stands."""
    return next(section for section in sections(book) if clause in section.clauses)


def chapters(book: Book) -> tuple[Chapter, ...]:
    """The chapters of a book that have anything in it."""
    return tuple(Chapter(key, tuple(found)) for key, found in groupby(sections(book), lambda section: _chapter(book, section)))


def _top(clause: Clause) -> ClauseId:
    """The highest id above a clause; all definitions, and what else is only named, stand under their kind."""
    kind, _, name = str(clause.id).partition(":")
    if name and kind in ("Def", "Intro"):
        return ClauseId(kind)
    return next(reversed(clause.id.ancestors()), clause.id)


def _section(book: Book, top: ClauseId, clauses: tuple[Clause, ...]) -> Section:
    head = book.get(top)
    first = head or clauses[0]
    law = first.id.law or (first.see[0].law if book.kind != "law" and first.see else None)
    heading = first.heading if head or len(clauses) == 1 else ""
    return Section(str(first.id), heading, law, clauses)


def chapter_of(law: int) -> str:
    """Key of the chapter in which a law of a chaptered edition stands."""
    return next((key for key, last in CHAPTERS.items() if law <= last), WHOLE)


def _chapter(book: Book, section: Section) -> str:
    if book.edition not in CHAPTERED:
        return WHOLE
    return DEFINITIONS if section.law is None else chapter_of(section.law)
