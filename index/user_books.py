"""The user's own books on disk: written whole, checked, then put in use in one step; removed; never a bundled one.

``<data folder>/books/<id>/book.yaml`` names the file of its clauses, ``clauses-<hash>.jsonl``. A new book's clauses are
written beside the old ones and read back; replacing ``book.yaml`` puts them in use. Stopped anywhere, the old book is whole.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock

from index import paths
from index.books import bundled_books, read_folder, user_books_dir
from index.errors import BookError
from index.hashing import sha256_file
from index.readers.stored import write_stored
from index.types import Clause

READER = "stored"
META = "book.yaml"


@dataclass(frozen=True)
class NewBook:
    """A book to be stored; ``sources`` are the names of its source files, each with the SHA-256 of its bytes."""

    id: str
    edition: str
    lang: str
    kind: str
    title: str
    note: str
    in_force: bool
    sources: tuple[tuple[str, str], ...]
    clauses: tuple[Clause, ...]


def is_imported(book_id: str) -> bool:
    """Whether an import made the book of that id: then its text is plain text."""
    folder = _folder(book_id)
    return folder is not None and any(folder.glob("clauses-*.jsonl"))


def check_replaceable(book_id: str) -> None:
    """Raise `BookError` when a book of that id is there that no import made: it is somebody's own work."""
    if (folder := _folder(book_id)) is None:
        return
    with contextlib.suppress(OSError, yaml.YAMLError, AttributeError, ValueError):  # a damaged one may be replaced
        if yaml.safe_load((folder / META).read_text(encoding="utf-8")).get("reader") != READER:
            raise BookError(f"The book {folder.name} was not made by an import and is not replaced; choose another --id.")


def store_book(book: NewBook) -> Path:
    """Keep a book, in the place of the one of the same id; gives its folder.

    Raises `BookError` when the folder cannot be written; then the old book stays in use.
    """
    root = user_books_dir()
    try:
        with _locked(root):
            check_replaceable(book.id)
            folder = _folder(book.id) or root / book.id
            fresh = Path(tempfile.mkdtemp(prefix=".importing-", dir=root))
            try:
                clauses = _write(fresh, book)
                read_folder(fresh)  # what cannot be read back is not put in use
                folder.mkdir(exist_ok=True)
                os.replace(fresh / clauses, folder / clauses)
                os.replace(fresh / META, folder / META)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
            for other in folder.glob("clauses-*.jsonl"):
                if other.name != clauses:
                    other.unlink()
            return folder
    except OSError as error:
        raise BookError(
            f"The book cannot be written to {root} ({error.strerror or error}); make that folder writable, with some space."
        ) from error


def remove_book(book_id: str) -> Path:
    """Remove a book of the user's and its index; gives the folder that is gone. Raises `BookError` for any other."""
    folder = _folder(book_id)
    if folder is None:
        if book_id.lower() in map(str.lower, bundled_books()):
            raise BookError(f"{book_id} comes with the program and is not removed.")
        mine = ", ".join(sorted(f.name for f in _mine())) or "none"
        raise BookError(f'There is no book "{book_id[:60]}" of yours to remove; yours are: {mine}.')
    root = user_books_dir()
    try:
        with _locked(root):
            gone = Path(tempfile.mkdtemp(prefix=".removing-", dir=root))
            os.replace(folder, gone / folder.name)
            shutil.rmtree(gone, ignore_errors=True)
        shutil.rmtree(paths.cache_dir() / "indexes" / folder.name, ignore_errors=True)
    except OSError as error:
        raise BookError(f"{folder} cannot be removed ({error.strerror or error}); make its folder writable.") from error
    return folder


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One writer at a time; what one that was stopped left behind is cleared away."""
    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / ".lock"):
        for left in (*root.glob(".importing-*"), *root.glob(".removing-*")):
            shutil.rmtree(left, ignore_errors=True)
        yield


def _mine() -> Iterator[Path]:
    root = user_books_dir()
    if root.is_dir():
        yield from (f for f in root.iterdir() if f.is_dir() and not f.name.startswith("."))


def _folder(book_id: str) -> Path | None:
    """The folder of a user's book, in whatever case its id is typed (some disks do not tell them apart)."""
    found = [folder for folder in _mine() if folder.name.lower() == book_id.lower()]
    return next((folder for folder in found if folder.name == book_id), found[0] if found else None)


def _write(fresh: Path, book: NewBook) -> str:
    """Write the book's two files into a folder and to the disk; gives the name of the file of the clauses."""
    draft = fresh / "clauses.jsonl"
    write_stored(draft, book.clauses)
    name = f"clauses-{sha256_file(draft)[:16]}.jsonl"
    draft.rename(fresh / name)
    meta: dict[str, Any] = {
        "edition": book.edition,
        "lang": book.lang,
        "kind": book.kind,
        "reader": READER,
        "files": name,
        "title": book.title,
        "licence": "that of the source",
        "source": "imported",
        "note": book.note,
        "in_force": book.in_force,
        "sources": [{"name": source, "sha256": digest} for source, digest in book.sources],
    }
    (fresh / META).write_text(yaml.safe_dump(meta, allow_unicode=True, sort_keys=False), encoding="utf-8")
    for path in (fresh / name, fresh / META):
        with path.open("rb+") as stream:
            os.fsync(stream.fileno())
    return name
