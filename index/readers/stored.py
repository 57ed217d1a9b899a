"""The format of imported books: one JSON a line with the id, heading, text, references and completeness of a clause."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from index.clause_id import HIGHEST_LAW, ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.types import Clause


class _Line(BaseModel, extra="forbid", strict=True):
    id: str
    heading: str
    text: str
    see: list[str]
    complete: bool


def read_stored(files: Sequence[Path]) -> tuple[Clause, ...]:
    """Read the clauses that `write_stored` wrote. Raises `BookError` with file and line on any fault."""
    return tuple(clause for path in files for clause in _read_file(path))


def write_stored(path: Path, clauses: Iterable[Clause]) -> None:
    """Write the clauses, one a line. Asked-as lines are not kept: they belong to the edition, not to its wording."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for clause in clauses:
            see = [str(ref) for ref in clause.see]
            line = _Line(id=str(clause.id), heading=clause.heading, text=clause.text, see=see, complete=clause.complete)
            out.write(json.dumps(line.model_dump(), ensure_ascii=False) + "\n")


def _read_file(path: Path) -> Iterator[Clause]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BookError(f"{path.name}: not UTF-8 text; import the book again.") from error
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            read = _Line.model_validate_json(line)
            see = tuple(map(_id, read.see))
            yield Clause(_id(read.id), read.heading, read.text, (), see, read.complete, path.name, number)
        except (ValidationError, UnknownClause) as error:
            raise BookError(f"{path.name}:{number}: not a clause as an import stores it; import the book again.") from error


def _id(text: str) -> ClauseId:
    """An id just as it was written: one that would be read as another is no id."""
    clause_id = parse_clause_id(text, HIGHEST_LAW)
    if str(clause_id) != text:
        raise UnknownClause(f'"{text[:40]}" is not written as clause ids are.')
    return clause_id
