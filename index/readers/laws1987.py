"""The Russian Laws of 1987 as they went round in the nineties: pages copied from a book, or typed in Latin letters.

Of several such texts each has some pages; together they make one book. Pages that do not follow one another are never joined:
what a gap has cut is kept and marked incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from index.readers.clauses1987 import definition_clauses, definitions_chapter, law_clauses, merge, with_references
from index.readers.contents1987 import is_contents, read_contents
from index.readers.cuts1987 import mark_cuts
from index.readers.definitions1987 import ENGLISH, is_definitions, read_definitions
from index.readers.numbering1987 import Title, number_pieces
from index.readers.outline1987 import CHAPTER, Outline, read_outline
from index.readers.pages1987 import Run, join_pages, split_pages, without_marks
from index.readers.reading import Reading, SourceFile
from index.readers.russian import Words
from index.readers.translit import from_translit, is_transliterated

_SENTENCE = re.compile(r"[а-яё]{2}[.!?]")
_SHORT = 100  # letters: less than this without a full stop, and no clause in it, is a title of the file


@dataclass(frozen=True)
class _Part:
    """A run of pages of one source, in Cyrillic."""

    file: str
    run: Run


def read_laws_1987(sources: Sequence[SourceFile]) -> Reading:
    """Read the laws from any of these texts, in any order; of a clause that several have, the whole one is kept.

    Raises `TablelawError` when the Russian dictionary is not installed.
    """
    in_latin = {source: is_transliterated(source.text) for source in sources}
    ordered = sorted(in_latin, key=lambda source: (in_latin[source], source.name))  # Cyrillic copies are preferred
    pages = {source: split_pages(source.text) for source in ordered}
    contents = [page for source in ordered for page in pages[source] if is_contents(page.text)]
    parts = [
        _Part(source.name, _to_cyrillic(run) if in_latin[source] else run)
        for source in ordered
        for run in join_pages([page for page in pages[source] if not is_contents(page.text)])
    ]
    words = Words(whole for part in parts for whole in _words_in_one_piece(part.run.text))
    titles = [Title(e.labels, e.title, e.page) for page in contents for e in read_contents(page.text, words)]

    glossaries = sorted((p for p in parts if is_definitions(p.run.text)), key=lambda part: part.run.pages[0] or 0)
    defined = [_read_glossary(part, words) for part in glossaries]
    laws = _read_laws([part for part in parts if part not in glossaries], titles, words)
    clauses, twice = merge(clause for reading in (*defined, *laws) for clause in reading.clauses)
    numbered = [clause for clause in clauses if clause.id.law]
    clauses = [c for c in clauses if not c.id.law] + sorted(numbered, key=lambda clause: clause.id.order)
    return Reading(
        tuple(with_references(clauses)),
        unassigned=tuple(text for reading in (*defined, *laws) for text in reading.unassigned),
        skipped=(
            *(page.text.strip() for page in contents),
            *(f"- {page.number}" for source in ordered for page in pages[source] if page.number is not None),
            *(text for reading in (*defined, *laws) for text in reading.skipped),
        ),
        twice=tuple(twice),
    )


def _to_cyrillic(run: Run) -> Run:
    words = Words()
    notes = tuple(replace(note, text=from_translit(note.text, words)) for note in run.notes)
    return replace(run, text=from_translit(run.text, words), notes=notes)


def _words_in_one_piece(text: str) -> Iterator[str]:
    """The lines of a text without their first and last words, which may be halves."""
    for line in re.split(rf"\n|{ENGLISH.pattern}", without_marks(text)):
        yield " ".join((line or "").split()[1:-1])


def _read_glossary(part: _Part, words: Words) -> Reading:
    chapter = CHAPTER.match(part.run.text)
    text = part.run.text[chapter.end() :] if chapter else part.run.text
    entries = read_definitions(without_marks(text), words)
    clauses = definition_clauses([entry for entry in entries if entry.english], part.file)
    if chapter:
        clauses.insert(0, definitions_chapter(chapter["title"], part.run, words, part.file))
    return Reading(tuple(clauses), unassigned=tuple(entry.meaning for entry in entries if not entry.english))


def _read_laws(parts: Sequence[_Part], titles: Sequence[Title], words: Words) -> list[Reading]:
    outlines = [read_outline(part.run.text, words) for part in parts]
    known = [*titles, *(Title(piece.labels, piece.heading) for outline in outlines for piece in outline.pieces)]
    return [_read_run(part, outline, known, words) for part, outline in zip(parts, outlines, strict=True)]


def _read_run(part: _Part, outline: Outline, titles: Sequence[Title], words: Words) -> Reading:
    pieces = number_pieces(outline.pieces, part.run.pages[0], titles)
    placed = [piece for piece in pieces if None not in piece.labels]
    unassigned = [f"{piece.heading}\n{piece.text}" for piece in pieces if None in piece.labels]
    skipped = list(outline.chapters)
    tail = outline.before
    if tail and (not pieces or pieces != tuple(placed) or len(pieces[0].labels) == 1):
        no_law = not pieces and len(tail) < _SHORT and not _SENTENCE.search(tail)
        (skipped if no_law else unassigned).append(tail)
        tail = ""
    clauses = law_clauses(mark_cuts(placed, tail, titles), part.run, words, part.file)
    return Reading(tuple(clauses), tuple(map(without_marks, unassigned)), tuple(skipped))
