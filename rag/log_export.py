"""The ruling log as files: JSON lines that come back without loss, and a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from index.errors import ContractError
from rag.log import Log
from rag.log_entry import Entry, entry_from_json, entry_to_json

COLUMNS = (
    "case turn revision time table board players status question answer cites law book edition model notice note verdict why"
).split()
"""Of the table; ``law`` holds the cited clauses with their texts as they were shown."""
_FORMULA = ("=", "+", "-", "@")
"""A cell that begins so is a formula to a spreadsheet, also after blanks."""


def json_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """A line an entry, with all that the log holds of it."""
    for entry in entries:
        yield json.dumps(entry_to_json(entry), ensure_ascii=False) + "\n"


def csv_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """A row an entry under a row of names; no cell is a formula. Begins with the mark by which spreadsheets know UTF-8."""
    yield "\ufeff" + _row(COLUMNS)
    for entry in entries:
        yield _row(map(_inert, _cells(entry)))


def import_log(log: Log, path: Path) -> int:
    """Add the entries of a file that `json_lines` wrote, all or none; gives how many were new. Raises `ContractError`."""
    try:
        with path.open("rb") as stream:
            return import_lines(log, stream, str(path))
    except OSError as error:
        raise _unreadable(str(path), error) from error


def import_lines(log: Log, lines: Iterable[bytes], name: str) -> int:
    """As `import_log`, from the lines of a file called ``name``."""
    try:
        return log.add(_read(lines, Path(name).name))
    except UnicodeDecodeError as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> ContractError:
    return ContractError(f"{name} cannot be read ({type(error).__name__}); name a UTF-8 file of JSON lines.")


def _read(lines: Iterable[bytes], name: str) -> Iterator[Entry]:
    for number, raw in enumerate(lines, start=1):
        line = raw.decode("utf-8")
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ContractError(f"{name}:{number}: this is no JSON; name a file that tablelaw log export wrote.") from error
        yield entry_from_json(data, f"{name}:{number}")


def _row(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _cells(entry: Entry) -> Iterator[str]:
    ruling: dict[str, Any] = entry.ruling
    made = {
        "players": "; ".join(f"{seat}: {name}" for seat, name in entry.players.items()),
        "cites": " ".join(ruling["cites"]),
        "law": "\n".join(f"{law['id']}: {law['text']}" for law in ruling["laws"] if law["id"] in ruling["cites"]),
        **{name: ruling[name] for name in ("status", "answer", "book", "edition", "model")},
    }
    for column in COLUMNS:
        yield str(made[column] if column in made else getattr(entry, column))


def _inert(cell: str) -> str:
    return f"'{cell}" if cell.lstrip().startswith(_FORMULA) else cell
