"""The format of the bundled books: one Markdown file a law.

YAML front matter (``law``, ``heading``), then for each clause a level-2 heading ``## 27A1 optional heading``, its text,
and at the end a fenced ``yaml`` block with ``see:`` (clause ids) and ``asked:`` (language -> questions, each a string or
``{q: ..., also: [ids]}``). Structure is found with markdown-it, so that a heading inside a code block is not a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import frontmatter
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, UnknownClause
from index.types import Asked, Clause

_MARKDOWN = MarkdownIt("commonmark").enable("table")
# The base loader keeps every scalar a string: in YAML 1.1 a bare 31 is a number and 12E1 may be one.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


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
    data = _read_yaml(fences[0].content, f"{path.name}:{fence_line + offset + 1}") if fences else {}
    return Clause(
        id=_id(head, where),
        heading=heading.strip(),
        text="\n".join(lines[after_heading:fence_line]).strip(),
        asked=tuple(_read_asked(data.get("asked") or {}, where)),
        see=tuple(_id(ref, where) for ref in data.get("see") or ()),
        complete=data.get("complete", "true") == "true",
        file=path.name,
        line=first + offset + 1,
    )


def _read_yaml(text: str, where: str) -> Mapping[str, Any]:
    try:
        data = yaml.load(text, Loader=_LOADER) or {}  # noqa: S506 - the base loader makes strings only
    except yaml.YAMLError as error:
        raise BookError(f"{where}: the yaml block cannot be read ({error}).") from error
    if not isinstance(data, dict) or set(data) - {"see", "asked", "complete"}:
        raise BookError(f"{where}: a yaml block holds see, asked and complete only.")
    return data


def _read_asked(data: Any, where: str) -> Iterable[Asked]:
    if not isinstance(data, dict):
        raise BookError(f"{where}: asked maps a language to a list of questions.")
    for lang, questions in data.items():
        for question in questions:
            if isinstance(question, dict):
                also = tuple(_id(ref, where) for ref in question.get("also", ()))
                yield Asked(str(question.get("q", "")).strip(), lang, also)
            else:
                yield Asked(str(question).strip(), lang)


def _id(text: str, where: str) -> ClauseId:
    try:
        return parse_clause_id(text)
    except UnknownClause as error:
        raise BookError(f"{where}: {error}") from error
