"""Table stories: situations as directors tell them, with the clauses that decide, the procedure that rules, the facts told.

``stories.jsonl`` in a book's folder, one JSON a line: ``lang``, ``q``, ``clauses`` (the most important first), ``procedure``
("" for none), ``facts`` (fact -> option, only what is told), ``also_procedure`` (of a second irregularity). In the index a
story is an asked-as line of its first clause; in training it teaches to recognise the irregularity and to read the facts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause, first_fault
from index.hashing import sha256_value
from index.json_lines import numbered_lines
from index.types import Asked, Clause

FILE = "stories.jsonl"
LONG_LINE = 110
"""Characters from which a line is as long as a story."""
HELD_OUT = 10
"""One story in so many is not trained on: search and heads are calibrated and judged on those."""


class Story(BaseModel, extra="forbid", frozen=True):
    """One story; the module says what its fields mean."""

    lang: str
    q: str = Field(min_length=1)
    clauses: list[str] = Field(min_length=1)
    procedure: str = ""
    facts: dict[str, str] = {}
    also_procedure: str = ""
    line: int = 0


def is_held_out(line: str) -> bool:
    """Whether a line is kept out of training, by the hash of its text; only long lines, stories, are."""
    return len(line) >= LONG_LINE and int(sha256_value(line)[:8], 16) % HELD_OUT == 0


def read_stories(folder: Path) -> tuple[Story, ...]:
    """The stories of the book in a folder, none where there is no file. Raises `BookError` with file and line."""
    path = folder / FILE
    if not path.exists():
        return ()
    found = []
    for number, line in numbered_lines(path, _unreadable):
        try:
            found.append(Story.model_validate({**json.loads(line), "line": number}))
        except (ValidationError, ValueError, TypeError) as error:
            raise BookError(f"{FILE}:{number}: {_reason(error)}.") from error
    return tuple(found)


def _unreadable(reason: str) -> BookError:
    return BookError(f"{FILE} cannot be read ({reason}); it must be a UTF-8 file of JSON lines.")


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return first_fault(error)
    return f"this is not a JSON object ({error})"


def with_stories(clauses: Sequence[Clause], stories: Sequence[Story], listed: Collection[ClauseId] = ()) -> tuple[Clause, ...]:
    """The clauses, each with the stories that it decides as asked-as lines. Raises `BookError` for one that does not fit.

    ``listed``: every clause of the edition, where there is a list.
    """
    known = {clause.id for clause in clauses}
    lines: dict[ClauseId, list[Asked]] = defaultdict(list)
    seen = {_flat(line.text) for clause in clauses for line in clause.asked}
    for story in stories:
        where = f"{FILE}:{story.line}"
        try:
            ids = [parse_clause_id(clause) for clause in story.clauses]
        except UnknownClause as error:
            raise BookError(f"{where}: {error}") from error
        unlisted = [clause for clause in ids if listed and clause not in listed]
        if missing := [*unlisted, *(clause for clause in ids[:1] if clause not in known)]:
            raise BookError(f"{where}: the book has no clause {missing[0]}.")
        if _flat(story.q) in seen or not _flat(story.q):
            raise BookError(f'{where}: this is told twice, or empty: "{story.q[:60]}".')
        seen.add(_flat(story.q))
        lines[ids[0]].append(Asked(story.q, story.lang, tuple(ids[1:])))
    return tuple(replace(one, asked=(*one.asked, *lines[one.id])) if one.id in lines else one for one in clauses)


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
