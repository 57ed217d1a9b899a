"""Reads the definitions of a law book: ``Term: what it means``, one a paragraph, in the order of the alphabet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from index.clause_id import ClauseId, parse_clause_id
from index.errors import UnknownClause
from index.readers.page_notes import strip_marks
from index.readers.sheets import Line

MOST_WORDS = 8
"""A term with what stands in brackets behind it has no more words."""

_ENTRY = re.compile(r"(?P<term>[^\W\d_][^:;.–—\d]{0,90}?)(?:\s*:\s+|\s+[–—-]\s+)(?P<text>\S.*)")
_ENDED = re.compile(r"[.!?:)\]][\"'”’)\]]*$")
_BRACKETS = re.compile(r"\s*[(\[][^()]*[)\]]?")


@dataclass(frozen=True)
class Definition:
    """A term as the book prints it, its id (``Def:odd-trick``), what it means, and the line it starts on."""

    id: ClauseId
    term: str
    text: str
    line: int


@dataclass(frozen=True)
class Definitions:
    """The entries, and the lines before the first."""

    entries: tuple[Definition, ...]
    before: tuple[Line, ...]


def read_definitions(lines: Sequence[Line]) -> Definitions:
    """Split lines into entries: each starts with a term whose first letter does not go back in the alphabet."""
    starts: list[int] = []
    entries: list[Definition] = []
    for k, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line.text)
        unfinished = bool(starts) and not _ENDED.search(strip_marks(lines[k - 1].text))
        if entry is None or unfinished or len(entry["term"].split()) > MOST_WORDS or not entry["term"][0].isupper():
            continue
        term_id = definition_id(entry["term"])
        if term_id is None or (entries and entry["term"][0] < entries[-1].term[0]):
            continue
        starts.append(k)
        entries.append(Definition(term_id, entry["term"], entry["text"], line.number))
    ends = [*starts[1:], len(lines)]
    whole = tuple(
        Definition(entry.id, entry.term, " ".join([entry.text, *(line.text for line in lines[start + 1 : end])]), entry.line)
        for entry, start, end in zip(entries, starts, ends, strict=False)
    )
    return Definitions(whole, tuple(lines[: starts[0]] if starts else lines))


def definition_id(term: str) -> ClauseId | None:
    """``Penalty (see also "Rectification")`` is ``Def:penalty``; ``None`` if the term has no letters."""
    slug = re.sub(r"[^a-z0-9]+", "-", strip_marks(_BRACKETS.sub(" ", term)).strip().lower()).strip("-")
    try:
        return parse_clause_id(f"Def:{slug}")
    except UnknownClause:
        return None
