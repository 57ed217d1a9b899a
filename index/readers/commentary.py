"""A commentary on the Laws: comments numbered by law (``24.1.``) under headings ``Правило 24. …``, each paragraph marked (DC4).

The numbers count the comments on a law; they are no clauses (24.4 is not 24D). Each comment is a clause of its own
(``DC4:24.4``) and refers to its law and to the clauses that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from index.clause_id import ClauseId, parse_clause_id
from index.readers.join_words import join_lines
from index.readers.reading import Reading, SourceFile
from index.readers.references import find_references
from index.readers.russian import Words
from index.readers.spacing import tidy
from index.types import Clause

_NAME = "DC4"
_PAGE = re.compile(r"^\.*\s*page\s*\d+\s*$", re.IGNORECASE)
_MARK = re.compile(rf"\s*\({_NAME}\)", re.IGNORECASE)
_LAW = re.compile(r"^Правило (?P<number>\d{1,2})\.\s*(?P<text>.*)$")
_COMMENT = re.compile(r"^(?P<number>\d{1,2}\.\d{1,2})\.\s*(?P<text>.*)$")
_SENTENCE_END = re.compile(r"[.!?][)\"»]*$")
_STRAY_WORDS = 3


@dataclass
class _Entry:
    number: str
    lines: list[str] = field(default_factory=list)
    is_heading: bool = False


def read_commentary_dc4(sources: Sequence[SourceFile]) -> Reading:
    """Read the comments of all the sources; of two with one number the first is kept.

    A heading over comments is a clause without text (``DC4:24``); text above the first law is ``DC4:0``, incomplete.
    Raises `TablelawError` when the Russian dictionary is not installed.
    """
    clauses: dict[ClauseId, Clause] = {}
    skipped: list[str] = []
    unassigned: list[str] = []
    twice: list[ClauseId] = []
    for source in sources:
        lines = list(_text_lines(source.text, skipped))
        words = Words(" ".join(line.split()[1:-1]) for line in lines)
        entries = list(_entries(lines))
        if not any(entry.is_heading for entry in entries):
            unassigned += [source.text.strip()]
            continue
        for entry in entries:
            clause = _clause(entry, words, source.name)
            if clauses.setdefault(clause.id, clause) is not clause:
                twice.append(clause.id)
    ordered = tuple(sorted(clauses.values(), key=lambda clause: clause.id.order))
    return Reading(ordered, tuple(filter(None, unassigned)), tuple(skipped), tuple(twice))


def _text_lines(text: str, skipped: list[str]) -> Iterator[str]:
    """The lines of text: without page marks and strays, which go into ``skipped``."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    strays = set(_strays(lines))
    for k, line in enumerate(lines):
        if k in strays or _PAGE.match(line):
            skipped.append(line)
        else:
            yield line


def _strays(lines: Sequence[str]) -> Iterator[int]:
    """Places of a short line printed twice running within a sentence, whose words stand in the line above: none is text."""
    for k in range(1, len(lines) - 1):
        above, line, below = lines[k - 1 : k + 2]
        if line == below and len(line.split()) <= _STRAY_WORDS and line in above and not _SENTENCE_END.search(above):
            yield from (k, k + 1)


def _entries(lines: Iterable[str]) -> Iterator[_Entry]:
    entry = _Entry("0")
    for line in lines:
        if start := _LAW.match(line) or _COMMENT.match(line):
            if entry.lines:
                yield entry
            entry = _Entry(start["number"], [start["text"]], is_heading=start.re is _LAW)
        else:
            entry.lines.append(line)
    if entry.lines:
        yield entry


def _clause(entry: _Entry, words: Words, file: str) -> Clause:
    home = parse_clause_id(f"{_NAME}:{entry.number}")
    text = tidy(_MARK.sub("", join_lines(entry.lines, words)))
    law = entry.number.partition(".")[0]
    see = (ClauseId(law),) if law != "0" else ()
    if entry.is_heading:
        return Clause(home, text, "", see=see, file=file)
    see = tuple(dict.fromkeys((*see, *find_references(text, home, ()))))
    whole = bool(_SENTENCE_END.search(text)) and law != "0"
    return Clause(home, "", text, see=see, complete=whole, file=file)
