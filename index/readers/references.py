"""References within a law text: laws by number, sections of the same law by letter (``раздел A2B``, ``пункт 3``, ``(B1)``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from index.clause_id import ClauseId, parse_clause_id
from index.errors import UnknownClause

# Cyrillic letters printed for the Latin ones they look like.
_LETTER = "[A-HАВСЕ]"
_LATIN = str.maketrans("АВСЕ", "ABCE")
_ID = rf"\d{{1,2}}(?:{_LETTER}\d{{0,2}}(?:\({_LETTER}\)|{_LETTER})?(?:\(?\d\)?)?)?"
_PART = rf"[\"«(]?(?:{_LETTER}\d{{0,2}}(?:\({_LETTER}\)|{_LETTER})?|\d{{1,2}})[\"»)]?"
_AND = r"(?:\s*,\s*|\s+(?:и|или)\s+|,?\s+а\s+также\s+)"
_LAWS = re.compile(rf"[Пп]равил[а-я]*\s*({_ID}(?:{_AND}{_ID})*)(?!\w)")
_PARTS = re.compile(
    rf"(?:[Рр]аздел|[Пп]ункт)[а-я]*\s+({_PART}(?:{_AND}{_PART})*)(?![\w(])|(\({_LETTER}\d\)(?:{_AND}\({_LETTER}\d\))*)"
)
_IN_BRACKETS = re.compile(r"[A-H]\d+$|\)$")  # below 31A2 and 31A2(B) labels stand in brackets


def find_references(text: str, home: ClauseId, known: Collection[ClauseId]) -> tuple[ClauseId, ...]:
    """The clauses named in the text of clause ``home``, each once, ``home`` itself apart.

    A section named by its letter alone is looked for beside ``home`` and then ever higher up; it counts when it is among the
    ``known`` ids of the book. A law named by number counts whether the book has it or not.
    """
    found = [*_laws(text), *_parts(text, home, known)]
    return tuple(ref for ref in dict.fromkeys(found) if ref != home)


def _laws(text: str) -> Iterator[ClauseId]:
    for match in _LAWS.finditer(text):
        for number in re.findall(_ID, match[1]):
            try:
                yield parse_clause_id(_with_brackets(number))
            except UnknownClause:  # "правило 105" of another book
                continue


def _with_brackets(number: str) -> str:
    """A law's number with its fourth level in brackets and capitals, as this edition prints it."""
    number = number.translate(_LATIN)
    return re.sub(r"(?<=\d)([A-H])$", r"(\1)", number) if re.match(r"\d+[A-H]\d", number) else number


def _parts(text: str, home: ClauseId, known: Collection[ClauseId]) -> Iterator[ClauseId]:
    for match in _PARTS.finditer(text):
        for part in re.findall(rf"{_LETTER}\d*(?:\({_LETTER}\)|{_LETTER})?|\d+", match[1] or match[2]):
            levels = re.findall(r"[A-H]|\d+", part.translate(_LATIN))
            place = next((ref for ref in _candidates(levels, home) if ref in known), None)
            if place is not None:
                yield place


def _candidates(levels: list[str], home: ClauseId) -> Iterator[ClauseId]:
    """Ids that end in these levels, the nearest to ``home`` first: ``B1`` in 25B2(C) is 25B2(B)(1), then 25B1."""
    base = home.ancestors()[0] if home.is_footnote else home
    for above in (base, *base.ancestors()):
        text = str(above)
        for level in levels:
            if text[-1].isdigit() and level.isdigit():
                break
            text += f"({level})" if _IN_BRACKETS.search(text) else level
        else:
            yield ClauseId(text)
