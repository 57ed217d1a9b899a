"""What an answer was made from, as SHA-256: law books, index, models, prompts and procedures."""

from __future__ import annotations

import contextlib
from functools import lru_cache
from pathlib import Path

from index.books import read_book
from index.errors import BookError
from index.hashing import remembered_sha256, sha256_file, sha256_value
from index.lessons import IRREGULARITY
from rag import procedure, prompt
from rag.desk import Desk
from rag.ruling import NO_MODEL, Ruling


def provenance(desk: Desk, ruling: Ruling) -> dict[str, str]:
    """Name -> hash of what the desk answered from.

    ``book`` and ``index`` (with the embedder it is bound to, ``embedder``); ``book:ID`` for each other book whose words were
    shown; ``model`` where a language model wrote the answer from a file of this machine; ``prompt``; ``procedure:ID`` and
    ``facts`` where procedures ruled. What cannot be read any more is left out.
    """
    index = desk.index_of(ruling.book)
    hashes = {"book": index.book.hash, "index": index.hash, "embedder": index.embedder.hash, "prompt": _prompts()}
    for book in sorted({law.book for part in _parts(ruling) for law in part.laws} - {ruling.book}):
        with contextlib.suppress(BookError):
            hashes[f"book:{book}"] = read_book(book).hash
    path = getattr(desk.backend, "path", None)
    with contextlib.suppress(OSError):
        if path and ruling.model != NO_MODEL:
            hashes["model"] = _model(path, path.stat().st_mtime_ns)
        hashes |= _procedures(ruling)
    return hashes


def _procedures(ruling: Ruling) -> dict[str, str]:
    """The files of the procedures that ruled, that in which the story began among them, and of the facts."""
    used = {part.procedure["id"] for part in _parts(ruling) if part.procedure}
    if not used:
        return {}
    used |= {ruling.state.facts[IRREGULARITY]} if IRREGULARITY in ruling.state.facts else set()
    files = {f"procedure:{name}": procedure.FOLDER / f"{name}.yaml" for name in sorted(used)}
    return {name: sha256_file(path) for name, path in {**files, "facts": procedure.FOLDER / procedure.FACTS}.items()}


def _parts(ruling: Ruling) -> list[Ruling]:
    """The ruling and those that follow it."""
    return [ruling, *(part for second in ruling.then for part in _parts(second))]


@lru_cache(maxsize=1)
def _prompts() -> str:
    return sha256_value([[path.name, sha256_file(path)] for path in sorted(prompt.FOLDER.glob("*.yaml"))])


@lru_cache(maxsize=2)
def _model(path: Path, changed: int) -> str:  # noqa: ARG001 - a file that changed is hashed anew
    return remembered_sha256(path)
