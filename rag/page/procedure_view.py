"""What the page shows of a procedure: the irregularity and others that may fit, facts as chips, the open question, the path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from index.lessons import IRREGULARITY
from rag.decide import NONE_OF_THESE
from rag.procedure import Fact, Words, read_facts, read_procedures
from rag.strings import strings


@dataclass(frozen=True)
class Choice:
    """A button: what it sets (``fact=option``) and what stands on it; ``is_taken`` for the option in use."""

    value: str
    label: str
    is_taken: bool = False


@dataclass(frozen=True)
class FactView:
    """A fact on the path, as a chip that opens its options: the question, what is taken, and how that is known."""

    id: str
    question: str
    why: str
    source: str
    taken: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class ProcedureView:
    """Everything about one ruling's procedure; ``asked`` is the open question, ``candidates`` are the other irregularities."""

    title: str
    candidates: tuple[Choice, ...]
    facts: tuple[FactView, ...]
    asked: FactView | None


def view(ruling: Mapping[str, Any], candidates: Sequence[str], lang: str, carried: Mapping[str, str]) -> ProcedureView | None:
    """The view of a ruling (JSON form); ``None`` when no procedure rules or could. ``carried``: facts of the case's state."""
    procedures, facts = read_procedures(), read_facts()
    found = ruling["procedure"]
    asked = next(iter(ruling["ask"]), None)
    if found is None:
        return ProcedureView("", _irregularities(candidates, "", lang), (), None) if candidates else None
    if found["id"] not in procedures:  # the case is older than the procedures
        return None
    started = carried.get(IRREGULARITY, found["id"])
    shown = tuple(_fact(facts[name], found["facts"][name], lang) for name in found["path"] if name in facts)
    question = _fact(facts[asked["fact"]], {"value": "", "from": ""}, lang) if asked and asked["fact"] in facts else None
    title = procedures[found["id"]].title.of(lang)
    return ProcedureView(title, _irregularities(candidates, started, lang), shown, question)


def _irregularities(candidates: Sequence[str], started: str, lang: str) -> tuple[Choice, ...]:
    procedures = read_procedures()
    named = [name for name in candidates if name in procedures]
    choices = [Choice(f"{IRREGULARITY}={name}", procedures[name].title.of(lang), name == started) for name in named]
    return (*choices, Choice(f"{IRREGULARITY}={NONE_OF_THESE}", strings(lang)["none_of_these"]))


def _fact(fact: Fact, known: Mapping[str, Any], lang: str) -> FactView:
    labels: dict[str, Words] = {option.id: option.label for option in fact.options}
    value = str(known["value"])
    choices = tuple(Choice(f"{fact.id}={name}", label.of(lang), name == value) for name, label in labels.items())
    source = "presumed" if known["from"] == "read" and known.get("confidence") is None else str(known["from"])
    taken = labels[value].of(lang) if value in labels else ""
    return FactView(fact.id, fact.question.of(lang), fact.why.of(lang), source, taken, choices)
