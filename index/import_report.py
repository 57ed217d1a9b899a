"""What an import found, and what a person should look at before trusting it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from index.clause_id import ClauseId
from index.readers.reading import Reading, SourceFile
from index.types import Clause

SHORT_WORDS = 3
"""A whole clause of fewer words is suspicious."""
LONG_WORDS, LONG_TIMES = 250, 8
"""So is one of more words than this and than so many times the median."""
FIRST_LINES, LINE_LETTERS = 5, 100
"""Paragraphs of unassigned text that are shown, and letters of each."""

_PARTS = re.compile(r"\d+|[A-Z]|\([^()]*\)")
_ROMAN_DEPTH = 4  # 30B1(b)(ii): the fifth level, counted from 0
_ROMANS = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()


@dataclass(frozen=True)
class Source:
    """One source file: its name, the SHA-256 of its bytes, how it was read, its pages and those that could not be read."""

    name: str
    sha256: str
    form: str
    pages: int
    unreadable: tuple[int, ...]


@dataclass(frozen=True)
class ImportReport:
    """The outcome of an import; ids as they are printed.

    ``gaps``: numbers left out between two that are there, or, for an edition whose clauses are known, all that are missing.
    ``outside``: numbers that the edition does not have; their text is unassigned. ``twice``: clauses that the sources hold
    more than once. ``unassigned_share``: part of the letters that belongs to no clause. ``stored``: the folder, or ``None``.
    """

    book: str
    edition: str
    lang: str
    kind: str
    reader: str
    sources: tuple[Source, ...]
    clauses: int
    laws: int
    footnotes: int
    incomplete: tuple[str, ...]
    gaps: tuple[str, ...]
    outside: tuple[str, ...]
    twice: tuple[str, ...]
    empty: tuple[str, ...]
    short: tuple[str, ...]
    long: tuple[str, ...]
    unassigned_share: float
    unassigned: tuple[str, ...]
    skipped_letters: int
    stored: str | None


def report_json(report: ImportReport) -> dict[str, Any]:
    """The form that ``book import --json`` prints."""
    return asdict(report)


def describe_source(source: SourceFile) -> Source:
    """What a report says of a source."""
    unreadable = tuple(number for number, page in enumerate(source.pages, start=1) if not page)
    return Source(source.name, source.sha256, source.form, len(source.pages), unreadable)


def unassigned_share(reading: Reading) -> float:
    """Letters that belong to no clause as a share of all that should be law text, 0 to 1."""
    loose = _letters(reading.unassigned)
    kept = _letters(text for clause in reading.clauses for text in (clause.heading, clause.text))
    return round(loose / (loose + kept), 4) if loose else 0.0


def first_lines(texts: Sequence[str]) -> tuple[str, ...]:
    """The first lines of unassigned text, cut short."""
    lines = (line for text in texts for line in text.splitlines() if line.strip())
    return tuple(line[:LINE_LETTERS] for line, _ in zip(lines, range(FIRST_LINES), strict=False))


def suspicious(clauses: Sequence[Clause]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Ids of the clauses that have neither text nor parts, of the very short, and of the very long ones."""
    above = {parent for clause in clauses for parent in clause.id.ancestors()}
    words = {clause.id: len(clause.text.split()) for clause in clauses if clause.text}
    limit = max(LONG_WORDS, LONG_TIMES * median(words.values())) if words else LONG_WORDS
    return (
        tuple(str(clause.id) for clause in clauses if not clause.text and clause.complete and clause.id not in above),
        tuple(str(clause.id) for clause in clauses if clause.complete and 0 < words.get(clause.id, 0) < SHORT_WORDS),
        tuple(str(clause.id) for clause in clauses if words.get(clause.id, 0) > limit),
    )


def gaps(ids: Iterable[ClauseId]) -> tuple[str, ...]:
    """Numbers left out: laws between the first and the last one there, parts of a clause before the last one there."""
    below: dict[str, set[str]] = {}
    for clause_id in {one for given in ids if given.law for one in (given, *given.ancestors())}:
        if not clause_id.is_footnote:
            parts: list[str] = _PARTS.findall(str(clause_id))
            below.setdefault("".join(parts[:-1]), set()).add(parts[-1])
    missing = []
    for above, brothers in below.items():
        depth = len(_PARTS.findall(above))
        values = {_value(part, depth) for part in brothers}
        shown = next(iter(brothers))
        missing += [
            ClauseId(above + _like(shown, value, depth))
            for value in range(min(values) if depth == 0 else 1, max(values))
            if value not in values
        ]
    return tuple(map(str, sorted(missing, key=lambda clause_id: clause_id.order)))


def _value(part: str, depth: int) -> int:
    """The place of a part among its brothers: its number, or that of its letter or roman number."""
    inside = part.strip("()").lower()
    if inside.isdigit():
        return int(inside)
    return _ROMANS.index(inside) + 1 if depth == _ROMAN_DEPTH and inside in _ROMANS else ord(inside[0]) - ord("a") + 1


def _like(part: str, value: int, depth: int) -> str:
    """The part with that place, printed like a brother of it."""
    inside = part.strip("()")
    if inside.isdigit():
        new = str(value)
    elif depth == _ROMAN_DEPTH:
        new = _ROMANS[value - 1]
    else:
        new = chr(ord("a") + value - 1)
    return part.replace(inside, new.upper() if inside.isupper() else new)


def _letters(texts: Iterable[str]) -> int:
    return sum(len(text) - sum(map(str.isspace, text)) for text in texts)
