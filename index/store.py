"""Open the index of a book; what is missing, damaged or made from other inputs is rebuilt, with the reason in one line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from index.bm25 import Bm25
from index.build import (
    BM25_DIR,
    CURRENT,
    MANIFEST,
    PASSAGES,
    VECTORS,
    build_index,
    files_of,
    index_root,
    manifest_of,
    unwritable,
)
from index.embedder import Embedder, Progress
from index.hashing import sha256_file
from index.spelling import Spelling
from index.structure import Structure, structure_of
from index.types import Book

Say = Callable[[str], None]
"""Called with one line for the person: why an index is being built."""


@dataclass(frozen=True)
class SearchIndex:
    """An opened index. Row ``k`` belongs to clause ``row_clause[k]`` of the book; ``row_asked[k]`` marks asked-as lines."""

    book: Book
    embedder: Embedder
    vectors: faiss.Index
    bm25: Bm25
    row_clause: NDArray[np.int64]
    row_asked: NDArray[np.bool_]
    hash: str

    @cached_property
    def structure(self) -> Structure:
        """What the features of search need."""
        return structure_of(self.book, self.row_clause, self.row_asked)

    @cached_property
    def spelling(self) -> Spelling:
        """What mends the questions."""
        return Spelling(self.book)


def open_index(book: Book, embedder: Embedder, say: Say | None = None, progress: Progress | None = None) -> SearchIndex:
    """Open the current index of the book, building it first when there is none that fits. Raises `IndexFault`."""
    root = index_root(book.id)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(root / ".lock")
        lock.acquire()
    except OSError as error:
        raise unwritable(root, error) from error
    with contextlib.ExitStack() as held:
        held.callback(lock.release)
        folder, reason = _usable(root, manifest_of(book, embedder))
        if folder is None:
            if say:
                say(f"Building the index of {book.id}: {reason}.")
            folder = build_index(book, embedder, progress)
        return _load(folder, book, embedder)


def _usable(root: Path, wanted: dict[str, Any]) -> tuple[Path | None, str]:
    pointer = root / CURRENT
    if not pointer.exists():
        return None, "there is none yet"
    try:
        folder = root / pointer.read_text(encoding="utf-8").strip()
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files = manifest["files"]
        for key, value in wanted.items():
            if manifest.get(key) != value:
                return None, f"its {key} changed"
        for name in sorted({*files, *files_of(folder)}):
            if name not in files or sha256_file(folder / name) != files[name]:
                return None, f"the old one is damaged ({name})"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return None, f"the old one is damaged ({type(error).__name__})"
    return folder, ""


def _load(folder: Path, book: Book, embedder: Embedder) -> SearchIndex:
    rows = [json.loads(line) for line in (folder / PASSAGES).read_text(encoding="utf-8").split("\n") if line]
    return SearchIndex(
        book=book,
        embedder=embedder,
        vectors=faiss.read_index(str(folder / VECTORS)),
        bm25=Bm25.load(folder / BM25_DIR),
        row_clause=np.array([row["clause"] for row in rows], dtype=np.int64),
        row_asked=np.array([row["kind"] == "asked" for row in rows], dtype=np.bool_),
        hash=folder.name,
    )
