"""What the organiser's regulations decide (``event.yaml``): told with a ruling whose clauses leave it to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError

from index import paths
from index.errors import ContractError, first_fault
from rag.files import write_file
from rag.procedure import Leaf
from rag.ruling import Sentence
from rag.strings import strings

Minutes = Annotated[int, Field(ge=0, le=7 * 24 * 60)]
TEMPLATE = Path(__file__).with_name("event.yaml")
"""Bundled: every setting unset, with comments that say what it means."""
_UNSET = re.compile(r"^(\w+): null$", re.MULTILINE)
_NEVER_FOLDED = 10_000
_Told = Annotated[str, Field(min_length=1, max_length=300)]


class Event(BaseModel, extra="forbid", frozen=True):
    """The regulations of one event; ``None``: ask the organiser. The bundled ``event.yaml`` says what each setting means."""

    correction_minutes: Minutes | None = None
    appeal_minutes: Minutes | None = None
    opening_lead: Literal["face-down", "face-up"] | None = None
    alerts: _Told | None = None
    comparable_calls: _Told | None = None


DECIDED_BY = {
    "correction_minutes": frozenset({"79C", "79C1"}),
    "appeal_minutes": frozenset({"92B"}),
    "opening_lead": frozenset({"41A"}),
    "alerts": frozenset({"40B2(a)", "40B2(a)(i)", "20F1#fn", "21B1(b)"}),
    "comparable_calls": frozenset({"23A", "23A1", "23A2", "23A3"}),
}
"""Setting -> the clauses that leave it to the organiser, or turn on it."""


def event_path() -> Path:
    """Where the settings of this machine lie."""
    return paths.data_dir() / "event.yaml"


def read_event() -> Event:
    """The settings; all unset where there is no file. Raises `ContractError` when the file cannot be used."""
    path = event_path()
    if not path.exists():
        return Event()
    try:
        return Event.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except ValidationError as error:
        raise ContractError(f"{path}: {first_fault(error)}; mend the file.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ContractError(f"{path} cannot be read ({error}); mend the file.") from error


def write_event(event: Event) -> None:
    """Keep the settings in the file, whole, between the comments of the bundled one. Raises `ContractError`."""
    values = event.model_dump()

    def line(unset: re.Match[str]) -> str:
        return yaml.safe_dump({unset[1]: values[unset[1]]}, allow_unicode=True, width=_NEVER_FOLDED).strip()

    text = _UNSET.sub(line, TEMPLATE.read_text(encoding="utf-8"))
    path = event_path()
    instead = "free some space, or set TABLELAW_HOME"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ContractError(f"{path} cannot be written ({error.strerror}); {instead}.") from error
    write_file(path, [text], instead)


def regulations(leaf: Leaf, lang: str, event: Event) -> Iterator[Sentence]:
    """A sentence for each setting that a ruling turns on: what holds here, or that the organiser must be asked."""
    text = strings(lang)
    for setting, clauses in DECIDED_BY.items():
        turning = tuple(clause for clause in leaf.cites if clause in clauses)
        if turning:
            value = getattr(event, setting)
            value = text.get(f"event_{value}", value)
            sentence = text[f"event_{setting}"].format(value=value) if value is not None else text[f"event_{setting}_unset"]
            yield Sentence(sentence, turning[:1], "later")
