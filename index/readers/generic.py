"""A law book in any language, of bridge or another game, whose clauses are numbered law, letter, digit, (letter), (roman).

Laws are headed "Law 27", "Правило 27", "§ 27" (see `index.readers.markers`) or by their bare number; each mark stands at the
beginning of a line. What stands before the first law is given back as unassigned: only a person can tell what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from index.clause_id import HIGHEST_LAW, ClauseId, find_clause_ids
from index.readers.english import is_word
from index.readers.ligatures import restore_ligatures
from index.readers.markers import DIGIT, LAW, calls_law, is_law_heading
from index.readers.numbering import Line, Opening, Places, number_clauses
from index.readers.page_lines import KeptLines, SourceLine, lines_of_sources, paragraphs_of
from index.readers.reading import Reading, SourceFile
from index.types import Clause

_HEADING_LETTERS = {LAW: 160}
_OTHER_HEADING = 100
"""Longest heading of a law, and of a section."""
_ENDS_SENTENCE = tuple(".;:,?!")
_CONTENTS_SHARE = 0.1
"""A run of laws of which fewer than this share have text is a list of contents."""


_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_ENGLISH_SHARE = 0.8
"""Letters looked at, and share of English words among them, to tell an English text."""


@dataclass
class _Found:
    """A clause as it stands in the sources: its lines, without its mark."""

    path: Places
    lines: list[SourceLine] = field(default_factory=list)

    @property
    def id(self) -> ClauseId:
        return ClauseId("".join(place.shown for place in self.path))


@dataclass
class _Cut:
    """The lines of the sources by the clause that they belong to; ``of_line`` is the clause of each line, if any."""

    found: list[_Found] = field(default_factory=list)
    before: list[SourceLine] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    of_line: list[_Found | None] = field(default_factory=list)


def read_generic(sources: Sequence[SourceFile]) -> Reading:
    """Read the clauses of the sources in the order in which they stand there.

    Of a clause that stands twice the fuller copy is kept; what the other says beyond it is given back as unassigned.
    """
    kept = lines_of_sources([_with_ligatures(source) for source in sources])
    cut = _cut(kept.lines, number_clauses(_as_lines(kept.lines)))
    contents = [one for run in _contents(cut.found) for one in run]
    parents = {above for one in cut.found for above in one.id.ancestors()}
    copies: dict[ClauseId, list[Clause]] = {}
    for one in cut.found:
        if not any(one is entry for entry in contents):
            copies.setdefault(one.id, []).append(_clause(one, one.id in parents))
    clauses = {clause_id: max(same, key=lambda copy: len(_words(copy))) for clause_id, same in copies.items()}
    other = [copy for clause_id, same in copies.items() for copy in same if _words(copy) not in _words(clauses[clause_id])]
    notes, loose = _footnotes(kept, cut, clauses)
    return Reading(
        clauses=tuple(_with_references([copy for clause in clauses.values() for copy in (clause, *notes.get(clause.id, ()))])),
        unassigned=(*paragraphs_of(cut.before), *loose, *(f"{copy.id} {copy.heading} {copy.text}" for copy in other)),
        skipped=(*kept.skipped, *cut.heads, *(line.text for entry in contents for line in entry.lines)),
        twice=tuple(clause_id for clause_id, same in copies.items() if len(same) > 1),
    )


def _with_ligatures(source: SourceFile) -> SourceFile:
    """The source with the ligatures that its extraction lost, where it is in English."""
    words = _WORD.findall(source.text[:_SAMPLE])
    if sum(map(is_word, words)) < _ENGLISH_SHARE * len(words) or not words:
        return source
    return replace(source, pages=tuple(map(restore_ligatures, source.pages)))


def _as_lines(lines: Sequence[SourceLine]) -> list[Line]:
    """The lines with what tells a heading from a sentence that goes on."""
    out = []
    begun: set[str] = set()
    above: SourceLine | None = None
    for line in lines:
        wrapped = above is not None and above.file == line.file and not line.begins and not above.text.endswith(_ENDS_SENTENCE)
        titled = len(line.text) <= _OTHER_HEADING and not line.text.endswith(_ENDS_SENTENCE)
        refers = above is not None and calls_law(above.text)
        out.append(Line(line.text, wrapped, titled, line.at_top, line.file not in begun, line.inside, refers))
        if is_law_heading(line.text):
            begun.add(line.file)
        above = line
    return out


def _cut(lines: Sequence[SourceLine], openings: Sequence[Opening]) -> _Cut:
    at: dict[int, list[Opening]] = {}
    for opening in openings:
        at.setdefault(opening.line, []).append(opening)
    cut = _Cut()
    for number, line in enumerate(lines):
        starts = at.get(number, [])
        if starts and not starts[0].path:
            cut.heads.append(line.text)
        else:
            cut.found += [_Found(opening.path) for opening in starts]
            text = line.text[starts[-1].start :] if starts else line.text
            (cut.found[-1].lines if cut.found else cut.before).append(replace(line, text=text))
        cut.of_line.append(cut.found[-1] if cut.found else None)
    return cut


def _contents(found: Sequence[_Found]) -> list[list[_Found]]:
    """Lists of headings only: of the runs between two places where the numbers begin anew, those without text."""
    runs: list[list[_Found]] = []
    highest = 0
    for one in found:
        law = one.path[LAW].value
        if not runs or law < highest:
            runs.append([])
        runs[-1].append(one)
        highest = law
    if len(runs) < 2:  # noqa: PLR2004 - nothing begins anew
        return []
    parents = {above for one in found for above in one.id.ancestors()}
    return [run for run in runs if sum(_has_text(_clause(one, one.id in parents)) for one in run) <= _CONTENTS_SHARE * len(run)]


def _words(clause: Clause) -> str:
    """What a clause says, to tell a copy from another wording."""
    return " ".join(_WORD.findall(f"{clause.heading} {clause.text}".lower()))


def _has_text(clause: Clause) -> bool:
    return len(clause.text) > _OTHER_HEADING or clause.text.endswith(_ENDS_SENTENCE)


def _clause(one: _Found, has_parts: bool) -> Clause:
    paragraphs = paragraphs_of(one.lines)
    heading = ""
    level = len(one.path) - 1
    if level <= DIGIT and paragraphs and _is_heading(paragraphs, level, has_parts):
        heading = paragraphs.pop(0)
        heading = heading.rstrip(" .:") if level == LAW else heading
    return Clause(one.id, heading, "\n\n".join(paragraphs))


def _is_heading(paragraphs: Sequence[str], level: int, has_parts: bool) -> bool:
    first = paragraphs[0]
    if len(first) > _HEADING_LETTERS.get(level, _OTHER_HEADING) or first[0].islower():
        return False
    if level == LAW and first.rstrip(".").count(". ") == 0 and (has_parts or len(paragraphs) > 1):
        return not first.endswith((";", ":", ","))
    return not first.endswith(_ENDS_SENTENCE) and (has_parts or len(paragraphs) > 1 or level == LAW)


def _footnotes(kept: KeptLines, cut: _Cut, clauses: dict[ClauseId, Clause]) -> tuple[dict[ClauseId, list[Clause]], list[str]]:
    """The footnotes by the clause whose text bears their mark, and those of no clause."""
    notes: dict[ClauseId, list[Clause]] = {}
    loose = []
    for note in kept.notes:
        owner = cut.of_line[note.line]
        if owner is None or owner.id not in clauses:
            loose.append(note.text)
            continue
        of_owner = notes.setdefault(owner.id, [])
        number = str(len(of_owner) + 1) if of_owner else ""
        of_owner.append(Clause(ClauseId(f"{owner.id}#fn{number}"), "", note.text))
    return notes, loose


def _with_references(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """The clauses with the others of the book that their texts name."""
    known = {clause.id: clause.id for clause in clauses}
    for clause in clauses:
        named = (known.get(named) for named in find_clause_ids(clause.text, HIGHEST_LAW))
        yield replace(clause, see=tuple(ref for ref in named if ref is not None and ref != clause.id))
