"""What the ruling log holds: an `Entry` is one turn of a case as it was ruled; its JSON line is what an export carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from index.errors import ContractError, first_fault
from rag.ruling import Ruling

LINE_VERSION = 1
"""Version of the JSON lines; stands in each as ``tablelaw_log``."""
_VERSION_KEY = "tablelaw_log"
Verdict = Literal["", "right", "wrong"]
_Number = Annotated[int, Field(ge=1, lt=2**63)]


@dataclass(frozen=True)
class Entry:
    """One revision of a turn of a case. Nothing in it is ever changed: a correction is a new revision.

    ``turn`` is the number that the case's store gave the question, ``revision`` counts from 1 within it. ``ruling`` has the
    form of ``ask --json``; its ``laws`` hold the text of each clause as it was shown. ``hashes`` names what it was made from
    (`rag.provenance`); ``notice`` is what was said beside the answer. ``verdict`` and ``why`` are the director's feedback on
    this ruling. ``players`` maps seats to names, and is empty unless names are kept. ``time`` is UTC, in ISO form.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    case: Annotated[str, Field(min_length=1)]
    turn: _Number
    revision: _Number
    time: str
    question: str
    ruling: dict[str, Any]
    hashes: dict[str, str] = field(default_factory=dict)
    notice: str = ""
    table: str = ""
    board: str = ""
    note: str = ""
    verdict: Verdict = ""
    why: str = ""
    players: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """The ruling's status."""
        return str(self.ruling["status"])


@dataclass(frozen=True)
class Place:
    """Where a case happened, as typed: the table and the board, each empty until told."""

    table: str = ""
    board: str = ""


NOWHERE = Place()
"""Where a case happened that nobody has told of."""


@dataclass(frozen=True)
class Correction:
    """What is set in a new revision of a turn; ``None`` leaves it as it was."""

    table: str | None = None
    board: str | None = None
    note: str | None = None
    verdict: Verdict | None = None
    why: str | None = None
    players: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.verdict is not None and self.verdict not in get_args(Verdict):
            raise ContractError(f'The verdict cannot be "{self.verdict[:40]}"; it is right, wrong or empty.')

    @property
    def changes(self) -> dict[str, Any]:
        """The fields that are set."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "players"}
        set_: dict[str, Any] = {name: _whole(value) for name, value in found.items() if value is not None}
        if self.players is not None:
            set_["players"] = {_whole(seat): _whole(name) for seat, name in self.players.items()}
        return set_


def _whole(text: str) -> str:
    """Typed text without half characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def utc_text(time: datetime) -> str:
    """A time as the log writes it: UTC to the millisecond, so that the order of texts is the order of times."""
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """The form of an export's line."""
    return {_VERSION_KEY: LINE_VERSION, **asdict(entry)}


def entry_from_json(data: Any, where: str) -> Entry:
    """Read what `entry_to_json` wrote. Raises `ContractError`, beginning with ``where``, for anything else."""
    if not isinstance(data, dict) or _VERSION_KEY not in data:
        raise ContractError(f"{where}: this is not an entry of a ruling log; name a file that tablelaw log export wrote.")
    if data[_VERSION_KEY] != LINE_VERSION:
        raise ContractError(f"{where}: the entry is of version {data[_VERSION_KEY]!r}, not {LINE_VERSION}; update the program.")
    try:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()  # half a character, or what is no number in JSON
        entry = _ENTRY.validate_python({name: value for name, value in data.items() if name != _VERSION_KEY})
        _RULING.validate_python(entry.ruling)
        is_ours = entry.time == utc_text(datetime.fromisoformat(entry.time))
    except ValidationError as error:
        raise ContractError(f"{where}: {first_fault(error)}; export the log again.") from error
    except ValueError as error:
        raise ContractError(f"{where}: {error}; export the log again.") from error
    if not is_ours:
        raise ContractError(f"{where}: {entry.time[:40]!r} is not a time as the log writes it; export the log again.")
    return entry


_ENTRY = TypeAdapter(Entry)
_RULING = TypeAdapter(Ruling)
