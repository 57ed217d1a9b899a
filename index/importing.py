"""Import a law book from the files that people have: read the sources, find the clauses, report, and keep the book.

sources -> a reader of their layout -> clauses that the edition can have -> report -> the user's data folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from index.books import EDITION_IN_FORCE, bundled_books, clause_list
from index.clause_id import ClauseId
from index.embedder import Progress
from index.errors import BookError
from index.import_report import (
    ImportReport,
    describe_source,
    first_lines,
    gaps,
    suspicious,
    unassigned_share,
)
from index.readers import IMPORT_READERS
from index.readers.reading import Reading, SourceFile
from index.readers.source import read_source
from index.types import Clause
from index.user_books import NewBook, check_replaceable, store_book

DEFAULT_READER = "generic"
KINDS = ("law", "commentary")
MAX_FILES = 50

_BOOK_ID = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_EDITION = re.compile(r"\w[\w.\-]{0,29}")
_LANG = re.compile(r"[a-z]{2,3}")
_MAX_ID = 60


@dataclass(frozen=True)
class ImportOrder:
    """What is to be imported: the sources, in the order of the book, and what they are."""

    files: tuple[Path, ...]
    book: str
    edition: str
    lang: str
    kind: str = "law"
    reader: str = DEFAULT_READER


def import_book(order: ImportOrder, dry_run: bool = False, progress: Progress | None = None) -> ImportReport:
    """Import a book and report; with ``dry_run`` nothing is kept. ``progress`` gets pages read and in all, file by file.

    A book that is there already, the user's own, is replaced once the new one is complete on disk. Raises `BookError`,
    which leaves everything as it was, for a wrong order, a file that cannot be read, and sources without law numbers.
    """
    _check(order)
    sources = [read_source(path, progress) for path in order.files]
    _check_different(sources)
    reading = IMPORT_READERS[order.reader](sources)
    reading, doubled = _once(reading)
    reading, outside = _of_edition(reading, order)
    if not any(clause.id.law or order.kind != "law" for clause in reading.clauses):
        names = ", ".join(source.name for source in sources)
        raise BookError(f"No law numbers were found in {names[:200]}; check the file, or name another --reader.")
    if not any(clause.text for clause in reading.clauses):
        raise BookError(f"Only headings were found, no text; check the file, or name another --reader than {order.reader}.")
    report = _report(order, sources, reading, doubled, outside)
    if dry_run:
        return report
    folder = store_book(_new_book(order, sources, reading.clauses))
    return replace(report, stored=str(folder))


def _check(order: ImportOrder) -> None:
    if not _BOOK_ID.fullmatch(order.book) or len(order.book) > _MAX_ID:
        raise BookError(f'"{order.book[:60]}" is no book id: letters, digits and hyphens between them, at most {_MAX_ID}.')
    if order.book.lower() in map(str.lower, bundled_books()):
        raise BookError(f"{order.book} comes with the program and is not replaced; choose another --id.")
    if not _EDITION.fullmatch(order.edition):
        raise BookError(f'"{order.edition[:30]}" cannot be an edition; give its year, like 2017.')
    if not _LANG.fullmatch(order.lang):
        raise BookError(f'"{order.lang[:30]}" is no language code; write it like en or ru.')
    if order.kind not in KINDS:
        raise BookError(f'There is no kind "{order.kind[:30]}" of book to import; the kinds are: {", ".join(KINDS)}.')
    if order.reader not in IMPORT_READERS:
        raise BookError(f'There is no reader "{order.reader[:30]}"; the readers are: {", ".join(sorted(IMPORT_READERS))}.')
    if not order.files:
        raise BookError("No file is named; name the files of the book, in its order.")
    if len(order.files) > MAX_FILES:
        raise BookError(f"{len(order.files)} files are too many for one book; put them together into at most {MAX_FILES}.")
    check_replaceable(order.book)


def _check_different(sources: Sequence[SourceFile]) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        if source.sha256 in seen:
            raise BookError(f"{source.name} and {seen[source.sha256]} are the same file; name each file once.")
        seen[source.sha256] = source.name


def _once(reading: Reading) -> tuple[Reading, tuple[ClauseId, ...]]:
    """The reading with each clause once, the fuller copy, and the clauses that came more than once."""
    kept: dict[ClauseId, Clause] = {}
    doubled = list(reading.twice)
    for clause in reading.clauses:
        if clause.id in kept:
            doubled.append(clause.id)
        kept[clause.id] = max(kept.get(clause.id, clause), clause, key=lambda copy: (copy.complete, len(copy.text)))
    return replace(reading, clauses=tuple(kept.values())), tuple(dict.fromkeys(doubled))


def _of_edition(reading: Reading, order: ImportOrder) -> tuple[Reading, tuple[ClauseId, ...]]:
    """The reading without numbers and references that the edition does not have; the text of such numbers is unassigned."""
    known = clause_list(order.edition)
    if not known:
        return reading, ()
    outside = [clause for clause in reading.clauses if order.kind == "law" and clause.id not in known]
    clauses = tuple(
        replace(clause, see=tuple(ref for ref in clause.see if ref in known))
        for clause in reading.clauses
        if clause not in outside
    )
    loose = tuple(f"{clause.id} {clause.heading} {clause.text}" for clause in outside)
    return replace(reading, clauses=clauses, unassigned=(*reading.unassigned, *loose)), tuple(c.id for c in outside)


def _report(
    order: ImportOrder,
    sources: Sequence[SourceFile],
    reading: Reading,
    doubled: Sequence[ClauseId],
    outside: Sequence[ClauseId],
) -> ImportReport:
    clauses = reading.clauses
    known = clause_list(order.edition) if order.kind == "law" else frozenset()
    ids = {clause.id for clause in clauses}
    missing = tuple(map(str, sorted(known - ids, key=lambda clause_id: clause_id.order))) if known else gaps(ids)
    empty, short, long = suspicious(clauses)
    return ImportReport(
        book=order.book,
        edition=order.edition,
        lang=order.lang,
        kind=order.kind,
        reader=order.reader,
        sources=tuple(map(describe_source, sources)),
        clauses=len(clauses),
        laws=len({clause.id.law for clause in clauses if clause.id.law}),
        footnotes=sum(clause.id.is_footnote for clause in clauses),
        incomplete=tuple(str(clause.id) for clause in clauses if not clause.complete),
        gaps=missing,
        outside=tuple(map(str, outside)),
        twice=tuple(map(str, doubled)),
        empty=empty,
        short=short,
        long=long,
        unassigned_share=unassigned_share(reading),
        unassigned=first_lines(reading.unassigned),
        skipped_letters=sum(map(len, reading.skipped)),
        stored=None,
    )


def _new_book(order: ImportOrder, sources: Sequence[SourceFile], clauses: Sequence[Clause]) -> NewBook:
    names = ", ".join(source.name for source in sources)
    what = "Laws" if order.kind == "law" else "Commentary on the Laws"
    return NewBook(
        id=order.book,
        edition=order.edition,
        lang=order.lang,
        kind=order.kind,
        title=f"{what} of {order.edition} ({order.lang}), imported from {names}",
        note=f"Imported by the user from {names} with the reader {order.reader}; the wording is that of the source.",
        in_force=order.edition == EDITION_IN_FORCE,
        sources=tuple((source.name, source.sha256) for source in sources),
        clauses=tuple(clauses),
    )
