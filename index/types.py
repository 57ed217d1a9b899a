"""The value types that travel between modules; all frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from index.clause_id import LAST_LAW, ClauseId

_LAW = {"en": "Law", "ru": "Правило"}


@dataclass(frozen=True)
class Asked:
    """A question in the language of the table that a clause answers; ``also`` names other clauses it needs."""

    text: str
    lang: str
    also: tuple[ClauseId, ...] = ()


@dataclass(frozen=True)
class Clause:
    """The smallest numbered unit of a book. ``text`` is empty for clauses that are only a heading over others."""

    id: ClauseId
    heading: str
    text: str
    asked: tuple[Asked, ...] = ()
    see: tuple[ClauseId, ...] = ()
    complete: bool = True
    file: str = ""
    line: int = 0

    @property
    def is_lead_in(self) -> bool:
        """Whether the text only introduces the clauses below it ("may do one of two things:")."""
        return self.text.endswith(":")


@dataclass(frozen=True)
class Book:
    """One text of one edition in one language.

    ``kind`` is law, commentary or regulation; ``source`` says whose wording it is (restated or imported); ``in_force`` is
    false for a superseded edition, which gives search and quotes only; ``hash`` covers the files; ``sources`` names the files
    that an imported book was read from.
    """

    id: str
    edition: str
    lang: str
    kind: str
    title: str
    licence: str
    source: str
    note: str
    in_force: bool
    folder: Path
    hash: str
    clauses: tuple[Clause, ...]
    sources: tuple[str, ...] = ()

    @property
    def wording(self) -> str:
        """Whose words these are: restated or imported for a law, else the kind (commentary, regulation)."""
        return self.source if self.kind == "law" else self.kind

    @cached_property
    def by_id(self) -> Mapping[ClauseId, Clause]:
        """The clauses keyed by id (within one book, hence within one edition)."""
        return {clause.id: clause for clause in self.clauses}

    @cached_property
    def last_law(self) -> int:
        """The highest law number that can be asked for: that of the Laws of Bridge, or the book's own when it goes on."""
        return max((LAST_LAW, *(clause.id.law or 0 for clause in self.clauses)))

    def get(self, clause_id: ClauseId) -> Clause | None:
        """The clause of that id, or ``None``."""
        return self.by_id.get(clause_id)

    def branch(self, clause_id: ClauseId) -> tuple[Clause, ...]:
        """The clause of that id and all below it, in the book's order."""
        return tuple(c for c in self.clauses if c.id == clause_id or clause_id in c.id.ancestors())

    def heading_path(self, clause: Clause) -> str:
        """Headings from the Law down to the clause, as ``Law 27 Insufficient bid > 27B When it is not accepted``."""
        chain = [found for found in map(self.get, reversed(clause.id.ancestors())) if found] + [clause]
        parts = []
        for link in chain:
            label = f"{_LAW.get(self.lang, _LAW['en'])} {link.id}" if link.id.text.isdigit() else str(link.id)
            if link.heading or link is clause:
                parts.append(f"{label} {link.heading}".strip())
        return " > ".join(parts)


@dataclass(frozen=True)
class Passage:
    """What is embedded: one row of the index. ``kind`` is ``clause`` (a text or part of it) or ``asked``."""

    clause: ClauseId
    kind: str
    text: str
    lang: str


@dataclass(frozen=True)
class Hit:
    """A clause found by search. ``score`` orders hits (higher is better); ``cosine`` is the nearest row's, or 1 by number."""

    clause: Clause
    score: float
    cosine: float
