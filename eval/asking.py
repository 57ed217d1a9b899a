"""Put gold questions to the product and keep each answer, so that a run that was cut short goes on where it stopped.

An answer is kept under the hash of everything it depends on: question, book, program, prompts, procedures, index and model.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import index as index_package
import prompts as prompts_package
import rag as rag_package
from eval.answers import Answer, Answered
from eval.gold import Gold
from eval.kept import keep, kept
from index.books import user_books_dir
from index.embedder import Progress
from index.errors import BookError, TablelawError
from index.hashing import sha256_file, sha256_folder, sha256_value
from rag.desk import Ask, Desk, answer_whole
from rag.ruling import NO_MODEL, to_json
from rag.strings import strings


def ask_all(desk: Desk, gold: Sequence[Gold], progress: Progress | None = None, is_kept: bool = True) -> tuple[Answered, ...]:
    """Answers to all questions whose book is here; a question that fails has no answer."""
    found = []
    for number, one in enumerate(gold, start=1):
        try:
            desk.index_of(one.book)
        except BookError:
            continue
        found.append(Answered(one, _answer(desk, one, is_kept)))
        if progress:
            progress(number, len(gold))
    return tuple(found)


def _answer(desk: Desk, gold: Gold, is_kept: bool) -> Answer | None:
    key = _key(desk, gold)
    if is_kept and (before := kept(key)) is not None:
        return before
    try:
        update = answer_whole(desk, Ask(gold.question, gold.book))
    except TablelawError:
        return None
    answer = to_json(update.ruling)
    text = strings(update.ruling.lang)
    if is_kept and update.notice not in {text["quote_model_failed"], text["cut_off"]}:
        keep(key, answer)
    return answer


def _key(desk: Desk, gold: Gold) -> str:
    model = desk.backend.name if desk.backend else NO_MODEL
    index = desk.index_of(gold.book).hash
    own_books = sha256_folder(user_books_dir())  # an imported wording changes what is quoted
    return sha256_value([gold.question, gold.book, model, desk.embedder.hash, index, own_books, program_hash()])


@lru_cache(maxsize=1)
def program_hash() -> str:
    """Hash over the code, prompts, books and procedures that answers come from."""
    roots = [Path(str(package.__file__)).parent for package in (index_package, prompts_package, rag_package)]
    files = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
    return sha256_value([[path.name, sha256_file(path)] for path in files])
