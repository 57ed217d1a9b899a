"""Many questions at once: JSON lines in, JSON lines out, in input order; a line that fails carries ``error``."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from index.books import DEFAULT_BOOK
from index.embedder import Progress
from index.errors import ContractError, TablelawError
from rag.desk import Ask, Desk, answer_whole, find
from rag.files import write_file
from rag.ruling import State, state_from_json, state_to_json, to_json


def parse_facts(pairs: Sequence[str]) -> dict[str, str]:
    """``F=V`` options as a mapping. Raises `ContractError` for one without an equals sign."""
    facts = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ContractError(f'"{pair[:40]}" is not a fact; write it as --fact name=value.')
        facts[name.strip()] = value.strip()
    return facts


def read_state(path: Path) -> State | None:
    """The case kept in a file, or ``None`` when there is no file yet. Raises `ContractError` for a damaged one."""
    try:
        if not path.exists():
            return None
        return state_from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise ContractError(f"{path} does not hold a case ({type(error).__name__}); name another file.") from error


def write_state(path: Path, state: State) -> None:
    """Keep the case in a file, replaced in one step. Raises `ContractError` when it cannot be written."""
    write_file(path, [json.dumps(state_to_json(state), ensure_ascii=False, indent=1)])


def search_json(desk: Desk, ask: Ask, k: int) -> dict[str, Any]:
    """The contract of ``tablelaw search --json``."""
    started = time.perf_counter()
    question, ranking = find(desk, ask.question, k, ask.book, ask.lang)
    elapsed = round(1000 * (time.perf_counter() - started), 1)
    book = desk.index_of(ask.book or DEFAULT_BOOK).book
    shown = [
        {"id": str(hit.clause.id), "heading": book.heading_path(hit.clause), "text": hit.clause.text, "score": hit.score}
        for hit in ranking.hits
    ]
    return {"question": question.text, "book": book.id, "hits": shown, "search_ms": elapsed}


def run_ask_batch(desk: Desk, source: Path, target: Path, defaults: Ask, progress: Progress | None = None) -> None:
    """``ask --batch``: keys ``id, question, book, lang, facts, state`` of a line win over the defaults."""
    _run(source, target, defaults, lambda ask: to_json(answer_whole(desk, ask).ruling), progress)


def run_search_batch(desk: Desk, source: Path, target: Path, defaults: Ask, k: int, progress: Progress | None = None) -> None:
    """``search --batch``: as `run_ask_batch`, with the hits instead of the answer."""
    _run(source, target, defaults, lambda ask: search_json(desk, ask, k), progress)


def _run(
    source: Path,
    target: Path,
    defaults: Ask,
    work: Callable[[Ask], Mapping[str, Any]],
    progress: Progress | None,
) -> None:
    try:
        lines = [line for line in source.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"{source} cannot be read ({type(error).__name__}); give a UTF-8 file of JSON lines.") from error
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("w", encoding="utf-8", errors="replace") as out:
            for number, line in enumerate(lines, start=1):
                out.write(json.dumps(_answer_line(line, defaults, work), ensure_ascii=False) + "\n")
                out.flush()
                if progress:
                    progress(number, len(lines))
        os.replace(part, target)
    except OSError as error:
        raise ContractError(f"{target} cannot be written ({error.strerror}); name another file.") from error
    except KeyboardInterrupt as error:
        raise ContractError(f"Stopped; the answers so far are in {part}.") from error


def _answer_line(line: str, defaults: Ask, work: Callable[[Ask], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The answer to one line, or the line's id and question with ``error``: no line stops the others."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"error": f"This line is not JSON ({type(error).__name__}: {error})."}
    if not isinstance(data, dict):
        return {"error": "A batch line must be a JSON object with id and question."}
    try:
        return {"id": data.get("id"), **work(_ask_of(data, defaults))}
    except TablelawError as error:
        return {"id": data.get("id"), "question": data.get("question"), "error": str(error)}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return {"id": data.get("id"), "question": data.get("question"), "error": f"Unexpected, please report: {reason}"}


def _ask_of(data: Mapping[str, Any], defaults: Ask) -> Ask:
    facts = defaults.facts if data.get("facts") is None else data["facts"]
    if not isinstance(facts, dict):
        raise ContractError("facts must be a JSON object of names and values.")
    for key in ("book", "lang"):
        if not isinstance(data.get(key), str | None):
            raise ContractError(f"{key} must be a text.")
    state = data.get("state")
    return replace(
        defaults,
        question=data.get("question"),
        book=data.get("book") or defaults.book,
        lang=data.get("lang") or defaults.lang,
        facts={str(name): str(value) for name, value in facts.items()},
        state=state_from_json(state) if state else defaults.state,
    )
