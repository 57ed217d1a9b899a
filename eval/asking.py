"""Put gold questions to the product and keep each answer, so that a run that was cut short goes on where it stopped.

An answer is kept under the hash of everything it depends on: question, book, program, prompts, procedures, index and model.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import index as index_package
import prompts as prompts_package
import rag as rag_package
from eval.answers import Answer, Answered
from eval.gold import Gold
from index import paths
from index.books import user_books_dir
from index.embedder import Progress
from index.errors import BookError, TablelawError
from index.hashing import sha256_file, sha256_folder, sha256_value
from rag.desk import Ask, Desk, answer_whole
from rag.ruling import NO_MODEL, to_json
from rag.strings import strings


def ask_all(desk: Desk, gold: Sequence[Gold], progress: Progress | None = None, keep: bool = True) -> tuple[Answered, ...]:
    """Answers to all questions whose book is here; a question that fails has no answer."""
    found = []
    for number, one in enumerate(gold, start=1):
        try:
            desk.index_of(one.book)
        except BookError:
            continue
        found.append(Answered(one, _answer(desk, one, keep)))
        if progress:
            progress(number, len(gold))
    return tuple(found)


def _answer(desk: Desk, gold: Gold, keep: bool) -> Answer | None:
    path = folder() / f"{_key(desk, gold)}.json"
    if keep and path.exists():
        with contextlib.suppress(ValueError):  # a damaged one is asked for again
            kept: Answer = json.loads(path.read_text(encoding="utf-8"))
            return kept
    try:
        update = answer_whole(desk, Ask(gold.question, gold.book))
    except TablelawError:
        return None
    answer = to_json(update.ruling)
    text = strings(update.ruling.lang)
    if keep and update.notice not in {text["quote_model_failed"], text["cut_off"]}:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
        os.replace(part, path)
    return answer


def folder() -> Path:
    """Where answers are kept."""
    return paths.cache_dir() / "answers"


def _key(desk: Desk, gold: Gold) -> str:
    model = desk.backend.name if desk.backend else NO_MODEL
    index = desk.index_of(gold.book).hash
    own_books = sha256_folder(user_books_dir())  # an imported wording changes what is quoted
    return sha256_value([gold.question, gold.book, model, desk.embedder.hash, index, own_books, program_hash()])[:32]


@lru_cache(maxsize=1)
def program_hash() -> str:
    """Hash over the code, prompts, books and procedures that answers come from."""
    roots = [Path(str(package.__file__)).parent for package in (index_package, prompts_package, rag_package)]
    files = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    return sha256_value([[path.name, sha256_file(path)] for path in files])
