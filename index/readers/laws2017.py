"""The Laws of Duplicate Bridge of 2017 in English, from the text of a printed book: ``--reader laws-2017``.

Made for raw extractions from PDF (page numbers in the flow, several clauses on a line, footnotes in mid-text, contents before
and an index behind), and for tidier texts of the same Laws. Structure comes from layout and numbering only; nothing here knows
the book's sentences. What is missing leaves a gap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from index.clause_id import ClauseId
from index.readers.clause_parts import Part, split_parts
from index.readers.definitions import read_definitions
from index.readers.law_headings import LawHeading, find_law_headings
from index.readers.mending import mend
from index.readers.page_notes import marks_in, strip_marks, take_notes
from index.readers.reading import Reading, SourceFile
from index.readers.sheets import Line, from_roman, read_lines
from index.readers.titles import capital_pairs, is_title, part_title
from index.types import Clause

VERBS_EXPLAINED = 3
"""So many of the verbs may, does, should, shall and must, put in quotation marks, make a text the one that explains them."""

_DEFINITIONS = re.compile(r"\W*definitions\W*", re.IGNORECASE)
_BACK = re.compile(r"(?:alphabetical |general )?(?:index|appendix|glossary)\b.{0,40}", re.IGNORECASE)
_DIVISION = re.compile(r"(?:chapter|part|section)\s+(?:[ivxlc]+|\d+)\b.{0,60}", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[\"'“‘(]?[A-Z])")
_ENDED = re.compile(r"[.][\"'”’)\]]*$")
_VERB = re.compile(r"[\"“'‘](may|does|should|shall|must)(?: not)?[\"”'’]")
_ID = re.compile(r"(\d+)([A-Z])?(\d+)?(?:\((\w)\))?(?:\(([ivx]+)\))?(?:#fn(\d*))?")


@dataclass(frozen=True)
class _Division:
    """The lines of a file: before the definitions, the definitions, the laws, and what stands behind them."""

    front: tuple[Line, ...]
    definitions: tuple[Line, ...]
    laws: tuple[Line, ...]
    back: tuple[Line, ...]


@dataclass(frozen=True)
class _Draft:
    """A clause with the marks of its notes still in heading and text."""

    id: ClauseId
    heading: str
    text: str
    line: int


@dataclass(frozen=True)
class _Law:
    """A Law: its heading and the lines below it."""

    heading: LawHeading
    line: int
    lines: tuple[Line, ...]


def read_laws_2017(sources: Sequence[SourceFile]) -> Reading:
    """Read the sources, each by itself; of a clause that stands in several, the longest copy is kept."""
    readings = [_read_file(source) for source in sources]
    best: dict[ClauseId, Clause] = {}
    twice: dict[ClauseId, None] = {}
    for clause in (clause for reading in readings for clause in reading.clauses):
        if clause.id in best:
            twice[clause.id] = None
        if clause.id not in best or len(clause.text) > len(best[clause.id].text):
            best[clause.id] = clause
    clauses = best.values() if len(readings) == 1 else sorted(best.values(), key=_place)
    return Reading(
        clauses=tuple(clauses),
        unassigned=tuple(text for reading in readings for text in reading.unassigned),
        skipped=tuple(text for reading in readings for text in reading.skipped),
        twice=tuple(twice),
    )


def _place(clause: Clause) -> tuple[int, ...]:
    """Where a clause stands in the book: named ones first, a note right behind its clause."""
    match = _ID.fullmatch(clause.id.text)
    if match is None:
        return ()
    law, letter, digit, small, last, note = match.groups()
    levels = [int(law), letter and ord(letter), digit and int(digit), small and ord(small), last and from_roman(last)]
    place = [level for level in levels if level]
    return (*place, 0, int(note or 1)) if note is not None else tuple(place)


def _read_file(source: SourceFile) -> Reading:
    pages = read_lines([mend("\f".join(source.pages))])
    division = _divide(pages.lines)
    noted = take_notes((*division.definitions, *division.laws))
    first_law = division.laws[0].number if division.laws else math.inf
    definitions = read_definitions([line for line in noted.lines if line.number < first_law])
    laws = tuple(_laws([line for line in noted.lines if line.number >= first_law]))
    names = capital_pairs(" ".join(line.text for line in pages.lines))
    drafts = [
        *_verbs(division.front),
        *(_Draft(entry.id, entry.term, entry.text, entry.line) for entry in definitions.entries),
        *(draft for law in laws for draft in _law_drafts(law, names)),
    ]
    front = tuple(line.text for line in division.front)
    # Before the first law of a book stand contents and preface; before a later one the end of a law whose heading is lost.
    front_is_law = not definitions.entries and (not laws or laws[0].heading.law > 1)
    before = tuple(line.text for line in definitions.before)
    lost_notes = set(range(len(noted.notes))).difference(*(marks_in(draft.heading + draft.text) for draft in drafts))
    back = tuple(line.text for line in division.back)
    return Reading(
        clauses=tuple(_clauses(drafts, noted.notes, source.name)),
        unassigned=(*(front if front_is_law else ()), *before, *(strip_marks(noted.notes[k]) for k in sorted(lost_notes))),
        skipped=(*(() if front_is_law else front), *back, *pages.dropped),
    )


def _divide(lines: Sequence[Line]) -> _Division:
    headings = find_law_headings(lines)
    start = headings[0].start if headings else len(lines)
    end = len(lines)
    if headings:
        below = range(headings[-1].end, len(lines))
        end = next((k for k in below if _BACK.fullmatch(lines[k].text) and is_title(lines[k].text)), end)
    titles = [k for k in range(start) if _DEFINITIONS.fullmatch(lines[k].text)]
    if not titles or not read_definitions(lines[titles[-1] + 1 : start]).entries:
        return _Division(tuple(lines[:start]), (), tuple(lines[start:end]), tuple(lines[end:]))
    middle = titles[-1]
    return _Division(tuple(lines[:middle]), tuple(lines[middle + 1 : start]), tuple(lines[start:end]), tuple(lines[end:]))


def _laws(lines: Sequence[Line]) -> Iterator[_Law]:
    """The Laws, without titles of chapters and without the heading printed again at the top of each page."""
    headings = find_law_headings(lines)
    ends = [heading.start for heading in headings[1:]] + [len(lines)]
    for heading, end in zip(headings, ends, strict=False):
        own = lines[heading.start].text.casefold()
        below = [line for line in lines[heading.end : end] if line.text.casefold() != own and not _is_division(line.text)]
        yield _Law(heading, lines[heading.start].number, tuple(below))


def _is_division(text: str) -> bool:
    return bool(_DIVISION.fullmatch(text)) and is_title(text)


def _law_drafts(law: _Law, names: Container[tuple[str, str]]) -> Iterator[_Draft]:
    text = "\n".join(line.text for line in law.lines)
    for part in _with_flush_text(split_parts(text)):
        where = law.lines[text.count("\n", 0, part.start)].number if part.id else law.line
        clause_id = ClauseId(f"{law.heading.law}{part.id}")
        if not part.id:
            yield _Draft(clause_id, law.heading.title, part.text, where)
        elif len(part.id) == 1 or part.id[1:].isdecimal():
            titled = part_title(part.text, sure=len(part.id) > 1, names=names)
            yield _Draft(clause_id, titled.title, titled.text, where)
        else:
            yield _Draft(clause_id, "", part.text, where)


def _with_flush_text(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Text that goes on below a list of parts belongs to what stands above the list.

    It can be told only where each part has one line of its own: then a line that starts a sentence behind the last goes on.
    """
    mended = list(parts)
    for k, parent in enumerate(parts):
        end = next((j for j in range(k + 1, len(parts)) if not parts[j].id.startswith(parent.id)), len(parts))
        children = range(k + 1, end)
        *others, last = children or (k,)
        if not others or not parent.text.rstrip().endswith(":") or not all(parts[j].own_line for j in children):
            continue
        lines = parts[last].text.strip().split("\n")
        one_line_each = not any("\n" in parts[j].text.strip() for j in others)
        if one_line_each and len(lines) > 1 and _ENDED.search(lines[0]) and lines[1][0].isupper():
            mended[k] = replace(parent, text=f"{parent.text.rstrip()} […] {' '.join(lines[1:])}")
            mended[last] = replace(parts[last], text=lines[0])
    return tuple(mended)


def _clauses(drafts: Iterable[_Draft], notes: Sequence[str], file: str) -> Iterator[Clause]:
    """The clauses, each footnote behind the first clause that refers to it."""
    placed: set[int] = set()
    for draft in drafts:
        yield Clause(draft.id, _clean(draft.heading), _clean(draft.text), file=file, line=draft.line)
        new = [mark for mark in dict.fromkeys(marks_in(draft.heading + draft.text)) if mark not in placed and mark < len(notes)]
        for count, mark in enumerate(new, start=1):
            placed.add(mark)
            note_id = ClauseId(f"{draft.id}#fn{count if count > 1 else ''}")
            yield Clause(note_id, "", _clean(notes[mark]), file=file, line=draft.line)


def _clean(text: str) -> str:
    return " ".join(strip_marks(text).split())


def _verbs(lines: Sequence[Line]) -> Iterator[_Draft]:
    """The sentences of the introduction that explain what "may", "should" and "must" mean in the Laws."""
    sentences = _SENTENCE_END.split(" ".join(line.text for line in lines if not is_title(line.text)))
    runs = [" ".join(run) for explains, run in groupby(sentences, key=lambda text: bool(_VERB.search(text))) if explains]
    best = max(runs, key=lambda run: len(set(_VERB.findall(run))), default="")
    if len(set(_VERB.findall(best))) >= VERBS_EXPLAINED:
        yield _Draft(ClauseId("Intro:verbs"), "", best, lines[0].number)
