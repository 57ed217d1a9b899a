"""The format of the bundled books: one Markdown file a law.

YAML front matter (``law``, ``heading``), then for each clause a level-2 heading ``## 27A1 optional heading``, its text,
and at the end a fenced ``yaml`` block with ``see:`` (clause ids) and ``asked:`` (language -> questions, each a string or
``{q: ..., also: [ids]}``). Structure is found with markdown-it, so that a heading inside a code block is not a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import frontmatter
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel, BeforeValidator, ValidationError

from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.strict_yaml import StrictLoader
from index.types import Asked, Clause

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def _or_none(empty: Any) -> Any:
    """A key with nothing behind it (an empty string to the base loader) is as if left out."""
    return BeforeValidator(lambda value: value or empty)


_Texts = Annotated[list[str], _or_none([])]


class _Question(BaseModel, extra="forbid"):
    q: str
    also: _Texts = []


class _Block(BaseModel, extra="forbid"):
    see: _Texts = []
    asked: Annotated[dict[str, Annotated[list[str | _Question], _or_none([])]], _or_none({})] = {}
    complete: bool = True


def read_markdown(files: Sequence[Path]) -> tuple[Clause, ...]:
    """Read the clauses of the files, in order. Raises `BookError` with file and line on any fault."""
    return tuple(clause for path in files for clause in _read_file(path))


def _read_file(path: Path) -> Iterable[Clause]:
    try:
        whole = path.read_text(encoding="utf-8-sig")
        body = frontmatter.loads(whole).content
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise BookError(f"{path.name}: not UTF-8 text with YAML front matter ({error}); mend the file.") from error
    offset = whole[: whole.rindex(body)].count("\n") if body else 0
    lines = body.split("\n")
    tokens = _MARKDOWN.parse(body)
    heads = [k for k, t in enumerate(tokens) if t.type == "heading_open" and t.tag == "h2" and t.level == 0]
    if not heads:
        raise BookError(f'{path.name}: no clause heading found; a clause starts with a line like "## 27A1".')
    if heads[0] > 0:
        raise BookError(f"{path.name}:{offset + 1}: text above the first clause heading; put it under one.")
    for k, start in enumerate(heads):
        end = heads[k + 1] if k + 1 < len(heads) else len(tokens)
        yield _read_clause(path, lines, tokens[start:end], offset)


def _read_clause(path: Path, lines: list[str], tokens: list[Token], offset: int) -> Clause:
    first, after_heading = tokens[0].map or [0, 0]
    where = f"{path.name}:{first + offset + 1}"
    head, _, heading = tokens[1].content.partition(" ")
    fences = [t for t in tokens if t.type == "fence" and t.info.strip() == "yaml" and t.map]
    if len(fences) > 1:
        raise BookError(f"{where}: clause {head} has {len(fences)} yaml blocks; put see and asked into one.")
    last = max((t.map[1] for t in tokens if t.map), default=after_heading)
    fence_line = fences[0].map[0] if fences and fences[0].map else last
    block = _read_block(fences[0].content, f"{path.name}:{fence_line + offset + 1}") if fences else _Block()
    if fences and fences[0].map and fences[0].map[1] < last:
        raise BookError(f"{path.name}:{fences[0].map[1] + offset + 1}: text behind the yaml block of {head}; put it above.")
    return Clause(
        id=_id(head, where),
        heading=heading.strip(),
        text="\n".join(lines[after_heading:fence_line]).strip(),
        asked=tuple(_read_asked(block, where)),
        see=tuple(_id(ref, where) for ref in block.see),
        complete=block.complete,
        file=path.name,
        line=first + offset + 1,
    )


def _read_block(text: str, where: str) -> _Block:
    try:
        return _Block.model_validate(yaml.load(text, Loader=StrictLoader) or {})  # noqa: S506 - makes strings only
    except yaml.YAMLError as error:
        raise BookError(f"{where}: the yaml block cannot be read ({error}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the block"
        raise BookError(
            f"{where}: a yaml block holds see (ids), asked (language: questions) and complete only; {place}: {first['msg']}."
        ) from error


def _read_asked(block: _Block, where: str) -> Iterable[Asked]:
    for lang, questions in block.asked.items():
        for question in questions:
            if isinstance(question, str):
                yield Asked(question.strip(), lang)
            else:
                yield Asked(question.q.strip(), lang, tuple(_id(ref, where) for ref in question.also))


def _id(text: str, where: str) -> ClauseId:
    try:
        return parse_clause_id(text)
    except UnknownClause as error:
        raise BookError(f"{where}: {error}") from error
