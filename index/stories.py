"""Table stories: situations as directors tell them, with the clauses that decide, the procedure that rules, the facts told.

``stories.jsonl`` in a book's folder, one JSON a line: ``lang``, ``q``, ``clauses`` (the most important first), ``procedure``
("" for none), ``facts`` (fact -> option, only what is told), ``also_procedure`` (of a second irregularity). In the index a
story is an asked-as line of its first clause; in training it teaches to recognise the irregularity and to read the facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.hashing import sha256_value
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


def is_held_out(line: str) -> bool:
    """Whether a line is kept out of training, by the hash of its text; only long lines, stories, are."""
    return len(line) >= LONG_LINE and int(sha256_value(line)[:8], 16) % HELD_OUT == 0


def read_stories(folder: Path) -> tuple[Story, ...]:
    """The stories of the book in a folder, none where there is no file. Raises `BookError` with file and line."""
    path = folder / FILE
    if not path.exists():
        return ()
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            try:
                found.append(Story.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                raise BookError(f"{FILE}:{number}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    return tuple(found)


def with_stories(clauses: Sequence[Clause], stories: Sequence[Story]) -> tuple[Clause, ...]:
    """The clauses, each with the stories that it decides as asked-as lines. Raises `BookError` for a clause not there."""
    lines: dict[ClauseId, list[Asked]] = defaultdict(list)
    for number, story in enumerate(stories, start=1):
        try:
            first, *also = map(parse_clause_id, story.clauses)
        except UnknownClause as error:
            raise BookError(f"{FILE}, story {number}: {error}") from error
        lines[first].append(Asked(story.q, story.lang, tuple(also)))
    missing = set(lines) - {clause.id for clause in clauses}
    if missing:
        raise BookError(f"{FILE}: the book has no clause {', '.join(sorted(map(str, missing)))}.")
    return tuple(replace(one, asked=(*one.asked, *lines[one.id])) if one.id in lines else one for one in clauses)
