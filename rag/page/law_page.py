"""A law as a whole page: the clause asked for among the others, the other wording and the notes beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from index.clause_id import ClauseId
from index.types import Book, Clause
from index.wording import Shown, beside, comments
from rag.page.contents import Section, section_of, sections
from rag.page.library_frame import page
from rag.page.render import clause_source
from rag.procedure import Procedure, read_procedures
from rag.strings import authority

LEVELS_SHOWN = 3
"""Steps by which clauses are moved in; deeper ones stand under the third."""


@dataclass(frozen=True)
class Line:
    """One clause in the wording of the book and in the other one; ``is_here`` marks the one asked for and those below it."""

    id: ClauseId
    level: int
    own: Clause | None
    other: Clause | None
    see: tuple[ClauseId, ...]
    is_here: bool

    @property
    def heading(self) -> str:
        """The heading, in the first wording that has one."""
        return next((one.heading for one in (self.own, self.other) if one and one.heading), "")


def law_page(law: Shown, lang: str) -> str:
    """The page of the law in which a clause stands."""
    book, clause = law.book, law.clause
    every = sections(book)
    section = section_of(book, clause)
    at = every.index(section)
    other = beside(book, lang)
    return page(
        "law_page.html",
        lang,
        law=law,
        book=book,
        section=section,
        lines=_lines(book, other, section, clause.id),
        other=other,
        before=every[at - 1] if at else None,
        after=every[at + 1] if at + 1 < len(every) else None,
        notes=comments(book, section.law),
        procedures=_procedures(book, section.law),
        sources=[clause_source(Shown(clause, one), lang) for one in (book, other) if one],
        authority=authority(lang, book.edition, book.wording),
    )


def _lines(book: Book, other: Book | None, section: Section, here: ClauseId) -> Sequence[Line]:
    ids = dict.fromkeys(clause.id for clause in section.clauses)
    marked = {clause.id for clause in book.branch(here)}
    if marked >= ids.keys():  # a law asked for as a whole has nothing to be marked in it
        marked = set()
    if other and section.law and book.kind == "law":
        more = [clause.id for clause in other.branch(ClauseId(str(section.law)))]
        ids = dict.fromkeys(sorted({*ids, *more}, key=lambda one: one.order))
    return [_line(book, other, one, one in marked) for one in ids]


def _line(book: Book, other: Book | None, one: ClauseId, is_here: bool) -> Line:
    own = book.get(one)
    level = min(len([above for above in one.ancestors() if book.get(above)]), LEVELS_SHOWN)
    return Line(one, level, own, other.get(one) if other else None, own.see if own else (), is_here)


def _procedures(book: Book, law: int | None) -> tuple[Procedure, ...]:
    """The procedures that rule by a law of the book's edition."""
    if law is None:
        return ()
    every = read_procedures().values()
    return tuple(one for one in every if one.edition == book.edition and law in {ClauseId(text).law for text in one.laws})
