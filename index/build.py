"""Build the index of a book: passages, their vectors in FAISS, their words in BM25, and a manifest, written whole.

An index is a folder ``<book>/<hash>/`` in the cache; it becomes the one in use when the file ``current`` is replaced,
in one step. A build that fails or is interrupted leaves the index in use untouched.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from index import paths
from index.bm25 import Bm25
from index.embedder import Embedder, Progress, Vectors
from index.errors import IndexFault
from index.hashing import sha256_file, sha256_value
from index.passages import passages_of
from index.types import Book, Clause, Passage

FORMAT = 2
"""Version of the folder's layout and of the way passages and their words are made; raise it when one changes (2: э as е)."""

CURRENT = "current"
MANIFEST = "manifest.json"
CLAUSES, PASSAGES, VECTORS, BM25_DIR = "clauses.jsonl", "passages.jsonl", "faiss.index", "bm25"


def manifest_of(book: Book, embedder: Embedder) -> dict[str, Any]:
    """What an index of this book by this embedder is bound to; equal manifests mean the same index."""
    return {
        "format": FORMAT,
        "book": book.id,
        "edition": book.edition,
        "book_sha256": book.hash,
        "embedder": embedder.name,
        "embedder_sha256": embedder.hash,
        "trained_part": embedder.trained_part,
        "dimension": embedder.dimension,
        "prefixes": embedder.prefixes,
    }


def index_root(book_id: str) -> Path:
    """Folder that holds the indexes of a book and the ``current`` file."""
    return paths.cache_dir() / "indexes" / book_id


def build_index(book: Book, embedder: Embedder, progress: Progress | None = None) -> Path:
    """Build the index and make it current; gives its folder. Vectors of unchanged texts are taken from the old one.

    Raises `IndexFault` when a passage is over the embedder's limit or the folder cannot be written.
    """
    rows = passages_of(book, embedder)
    if not rows:
        raise IndexFault(f"The book {book.id} has no text to index; restore its files.")
    vectors = _embed(rows, embedder, index_root(book.id), progress)
    manifest = manifest_of(book, embedder)
    root = index_root(book.id)
    try:
        root.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".building-", dir=root))
        try:
            _write(fresh, book.clauses, rows, vectors, manifest)
            return _make_current(root, fresh, manifest)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except (OSError, RuntimeError) as error:  # faiss tells a full disk by a RuntimeError
        raise unwritable(root, error) from error


def unwritable(root: Path, error: OSError | RuntimeError) -> IndexFault:
    """The error for an index folder that cannot be made or written."""
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
    return IndexFault(f"The index cannot be written to {root} ({reason}); make that folder writable, with some space.")


def files_of(folder: Path) -> tuple[str, ...]:
    """Names, relative to the index folder, of all its files but the manifest."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return tuple(sorted(name for name in files if name != MANIFEST))


def _embed(rows: Sequence[Passage], embedder: Embedder, root: Path, progress: Progress | None) -> Vectors:
    old = _old_vectors(root, embedder)
    keys = [_vector_key(row) for row in rows]
    new = [k for k, key in enumerate(keys) if key not in old]
    vectors = np.empty((len(rows), embedder.dimension), dtype=np.float32)
    if new:
        vectors[new] = embedder.encode([rows[k].text for k in new], "passage", progress)
    for k, key in enumerate(keys):
        if key in old:
            vectors[k] = old[key]
    return vectors


def _old_vectors(root: Path, embedder: Embedder) -> dict[str, Vectors]:
    try:
        folder = root / (root / CURRENT).read_text(encoding="utf-8").strip()
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        bound = ("format", "embedder_sha256", "dimension", "prefixes")
        fresh = {"format": FORMAT, "embedder_sha256": embedder.hash, "dimension": embedder.dimension}
        fresh["prefixes"] = embedder.prefixes
        if any(manifest[key] != fresh[key] for key in bound):
            return {}
        if any(sha256_file(folder / name) != digest for name, digest in manifest["files"].items()):
            return {}
        lines = (folder / PASSAGES).read_text(encoding="utf-8").rstrip("\n").split("\n")
        vectors = faiss.read_index(str(folder / VECTORS)).reconstruct_n(0, len(lines))
        return {json.loads(line)["key"]: vector for line, vector in zip(lines, vectors, strict=True)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError):
        return {}  # nothing usable to take over: everything is embedded anew


def _vector_key(row: Passage) -> str:
    return sha256_value(row.text)[:24]


def _write(
    folder: Path, clauses: Sequence[Clause], rows: Sequence[Passage], vectors: Vectors, manifest: dict[str, Any]
) -> None:
    order = {clause.id: k for k, clause in enumerate(clauses)}
    with (folder / CLAUSES).open("w", encoding="utf-8") as out:
        for clause in clauses:
            out.write(json.dumps({"id": str(clause.id), "heading": clause.heading, "text": clause.text}) + "\n")
    with (folder / PASSAGES).open("w", encoding="utf-8") as out:
        for row in rows:
            record = {"clause": order[row.clause], "id": str(row.clause), "kind": row.kind, "lang": row.lang}
            out.write(json.dumps({**record, "key": _vector_key(row), "text": row.text}, ensure_ascii=False) + "\n")
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    faiss.write_index(flat, str(folder / VECTORS))
    Bm25.build([row.text for row in rows]).save(folder / BM25_DIR)
    counts = {"clauses": len(clauses), "passages": len(rows), "asked": sum(row.kind == "asked" for row in rows)}
    hashes = {name: sha256_file(folder / name) for name in files_of(folder)}
    text = json.dumps({**manifest, "counts": counts, "files": hashes}, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _make_current(root: Path, fresh: Path, manifest: dict[str, Any]) -> Path:
    name = sha256_value(manifest)[:16]
    final = root / name
    if final.exists():
        shutil.rmtree(final)
    os.replace(fresh, final)
    pointer = root / f".{CURRENT}.new"
    pointer.write_text(name + "\n", encoding="utf-8")
    os.replace(pointer, root / CURRENT)
    for other in root.iterdir():
        if other.is_dir() and other != final:
            shutil.rmtree(other, ignore_errors=True)
    return final
