"""What an import reads from and gives: source files as pages of text in, clauses and what was left over out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from index.clause_id import ClauseId
from index.types import Clause

MAX_TEXT, MAX_LINES = 3_000_000, 100_000
"""Characters and lines that a source may have; the Laws of Duplicate Bridge have 0.2 million and 3,000."""


@dataclass(frozen=True)
class SourceFile:
    """A file as read: its name and the text of each page, in order; a file without pages is one page.

    A page that could not be read (an image, say) is an empty string; a page with nothing on it is a line end. ``form`` says
    how it was read (``PDF``, ``text in koi8-r``); ``sha256`` is that of the file's bytes.
    """

    name: str
    pages: tuple[str, ...]
    form: str = ""
    sha256: str = ""

    @property
    def text(self) -> str:
        """All pages, a line end between two."""
        return "\n".join(self.pages)


@dataclass(frozen=True)
class Reading:
    """A book as read from its sources.

    ``clauses`` stand in the book's order, each id once. ``unassigned`` is text that should be law but belongs to no clause
    (it is reported, with its share); ``skipped`` is text known to be no law text (contents, index, page numbers, headings of
    chapters); ``twice`` names clauses that the sources hold more than once, the copies left out being no text lost.
    """

    clauses: tuple[Clause, ...]
    unassigned: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    twice: tuple[ClauseId, ...] = ()


ImportReader = Callable[[Sequence[SourceFile]], Reading]
"""A reader of one source layout."""
