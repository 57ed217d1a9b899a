"""Law books on disk: find them, read them, check them, print them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from index import paths
from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.hashing import sha256_folder
from index.readers import READERS
from index.stories import read_stories, with_stories
from index.types import Book, Clause

DEFAULT_BOOK = "laws-2017-en"
"""The book in use whatever the language of the question."""
EDITION_IN_FORCE = "2017"
"""Any other edition is superseded (or another game's): it gives search and quotes only."""


def list_books() -> tuple[str, ...]:
    """Ids of the books that can be opened: the bundled ones, then the imported ones."""
    return tuple(folder.name for folder in _book_folders())


@lru_cache(maxsize=8)
def _read(folder: Path, digest: str) -> Book:
    meta_path = folder / "book.yaml"
    try:
        meta = yaml.safe_load(meta_path.read_text(encoding="utf-8"))
        files = sorted(folder.glob(meta.get("files", "*.md")))
        reader = READERS[meta["reader"]]
        book = Book(
            id=folder.name,
            edition=str(meta["edition"]),
            lang=meta["lang"],
            kind=meta["kind"],
            title=meta["title"],
            licence=meta["licence"],
            source=meta["source"],
            note=" ".join(meta["note"].split()),
            in_force=bool(meta["in_force"]),
            folder=folder,
            hash=digest,
            clauses=with_stories(reader(files), read_stories(folder), clause_list(str(meta["edition"]))),
            sources=tuple(str(source["name"]) for source in meta.get("sources", ())),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise BookError(f"{meta_path}: damaged or incomplete ({error!r}); restore the file.") from error
    _check(book)
    return book


def read_book(book_id: str) -> Book:
    """Read and check one book. Raises `BookError` when it is unknown or has a fault (with file and line)."""
    for folder in _book_folders():
        if folder.name == book_id:
            return read_folder(folder)
    raise BookError(f'There is no book "{book_id[:60]}"; the books here are: {", ".join(list_books())}.')


def read_folder(folder: Path) -> Book:
    """Read and check the book in a folder. Raises `BookError` when it has a fault (with file and line)."""
    return _read(folder, sha256_folder(folder))


def bundled_books() -> tuple[str, ...]:
    """Ids of the books that come with the program: they are never replaced or removed."""
    return tuple(folder.name for folder in _folders(paths.bundled_books_dir()))


def user_books_dir() -> Path:
    """Folder of the user's own books, a folder each."""
    return paths.data_dir() / "books"


def find_clause(book: Book, text: str) -> Clause:
    """The clause that ``text`` names. Raises `UnknownClause` for what is no clause id or not in this book."""
    wanted = parse_clause_id(text, book.last_law)
    clause = book.get(wanted)
    if clause is None:
        if wanted in clause_list(book.edition):
            raise UnknownClause(f"Clause {wanted} is not yet in the book {book.id}; look it up in the printed Laws.")
        raise UnknownClause(f'The Laws of {book.edition} have no clause "{wanted}"; check the number.')
    return clause


def listed_clause(text: str, edition: str) -> ClauseId:
    """The clause id that ``text`` writes. Raises `UnknownClause` for none, or for one that the edition's list does not have."""
    clause = parse_clause_id(text)
    known = clause_list(edition)
    if known and clause not in known:
        raise UnknownClause(f"the Laws of {edition} have no clause {text}.")
    return clause


@lru_cache(maxsize=4)
def clause_list(edition: str) -> frozenset[ClauseId]:
    """Every clause id that the edition has, written yet or not; empty when no list of it is bundled."""
    path = paths.bundled_books_dir() / f"clauses-{edition}.txt"
    if not path.exists():
        return frozenset()
    return frozenset(map(parse_clause_id, path.read_text(encoding="utf-8").split()))


def _book_folders() -> Iterator[Path]:
    for root in (paths.bundled_books_dir(), user_books_dir()):
        yield from _folders(root)


def _folders(root: Path) -> Iterator[Path]:
    """The folders of books in a folder; one whose name begins with a dot is being written or removed."""
    if root.is_dir():
        yield from sorted(f for f in root.iterdir() if not f.name.startswith(".") and (f / "book.yaml").is_file())


def _check(book: Book) -> None:
    known = clause_list(book.edition)
    seen: dict[ClauseId, Clause] = {}
    asked: dict[str, Clause] = {}
    for clause in book.clauses:
        where = f"{book.id}/{clause.file}:{clause.line}"
        if clause.id in seen:
            raise BookError(f"{where}: clause {clause.id} stands twice; it is also in {seen[clause.id].file}.")
        seen[clause.id] = clause
        own = (clause.id,) if book.kind == "law" else ()  # commentary has numbers of its own
        unknown = [ref for ref in (*own, *clause.see) if known and ref not in known]
        unknown += [ref for line in clause.asked for ref in line.also if known and ref not in known]
        if unknown:
            raise BookError(f"{where}: the Laws of {book.edition} have no clause {unknown[0]}.")
        for line in clause.asked:
            key = " ".join(line.text.casefold().split())
            if not key:
                raise BookError(f"{where}: clause {clause.id} has an empty asked-as line.")
            if key in asked:
                raise BookError(f'{where}: asked twice, here and under {asked[key].id}: "{line.text[:60]}".')
            asked[key] = clause


def export_clause(clause: Clause) -> dict[str, Any]:
    """One line of ``book export --json``."""
    return {
        "id": str(clause.id),
        "heading": clause.heading,
        "text": clause.text,
        "asked": [line.text for line in clause.asked],
        "see": [str(ref) for ref in clause.see],
        "complete": clause.complete,
    }
