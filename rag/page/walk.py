"""A procedure walked by links: each answer is in the address (``?fact=option``), so that going back works; no model, no log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

from index.clause_id import ClauseId
from index.errors import ContractError
from rag.draw import Walked, draw, walk
from rag.page.contents import chapter_of
from rag.page.procedure_view import ProcedureView, view
from rag.procedure import LINK, Procedure, find_procedure, read_procedures
from rag.rule import Outcome, check_fact, rule
from rag.ruled import to_ruling
from rag.ruling import to_json, with_following

NEXT = "tl-next"
"""Id of the open question or the ruling, to which each answer leads."""


@dataclass(frozen=True)
class Stage:
    """One procedure of a walk: the ruling in the contract's form, what the page shows of it, and the address of its own walk.

    ``is_next`` marks the one that the last answers belong to: the page opens there.
    """

    ruling: Mapping[str, Any]
    view: ProcedureView
    own: str
    is_next: bool


@dataclass(frozen=True)
class Walk:
    """A procedure walked with some facts: the stages, the first of which it began with, and the charts passed through.

    ``refused`` are names and options in the address that there are not.
    """

    procedure: Procedure
    facts: Mapping[str, str]
    stages: tuple[Stage, ...]
    charts: tuple[str, ...]
    refused: tuple[str, ...]

    def href(self, setting: str) -> str:
        """The address of the walk with one more answer (``fact=option``), or another one in its place."""
        fact, _, option = setting.partition("=")
        return address(self.procedure.id, {**self.facts, fact: option})


def address(procedure_id: str, facts: Mapping[str, str]) -> str:
    """The address of a walk with these facts."""
    query = f"?{urlencode(facts)}" if facts else ""
    return f"/procedure/{quote(procedure_id)}{query}#{NEXT}"


def walk_through(procedure_id: str, given: Iterable[tuple[str, str]], lang: str) -> Walk:
    """Walk a procedure with the facts of an address; what is no fact is refused and left out. Raises `ContractError`."""
    procedure = find_procedure(procedure_id)
    facts: dict[str, str] = {}
    refused: list[str] = []
    for fact, option in given:
        try:
            check_fact(fact, option)
            facts[fact] = option
        except ContractError:
            refused.append(f"{fact}={option}"[:60])
    outcome = rule(procedure.id, facts)
    charts = tuple(_charts(procedure, outcome, facts, lang))
    return Walk(procedure, facts, tuple(_stages(outcome, facts, lang)), charts, tuple(refused))


def _stages(outcome: Outcome, given: Mapping[str, str], lang: str) -> Iterator[Stage]:
    rulings = with_following(to_json(to_ruling(outcome, lang)))
    paths = [ruling["procedure"]["facts"] for ruling in rulings]
    last = max((k for k, path in enumerate(paths) if given.keys() & path.keys()), default=0)
    for k, (ruling, path) in enumerate(zip(rulings, paths, strict=True)):
        if shown := view(ruling, (), lang, {}):
            passed = {fact: known["value"] for fact, known in path.items()}
            yield Stage(ruling, shown, address(ruling["procedure"]["id"], passed), k == last)


def _charts(procedure: Procedure, outcome: Outcome, given: Mapping[str, str], lang: str) -> Iterator[str]:
    """The chart of the procedure with the path marked, and of each that a link led on to."""
    known = {step.fact: step.known.option for step in outcome.path}
    at = procedure
    while True:
        walked = walk(at, known)
        yield _chart(procedure, at, walked, given, lang)
        if not walked.end.startswith(LINK):
            return
        at = read_procedures()[walked.end[len(LINK) :]]


def _chart(start: Procedure, at: Procedure, walked: Walked, given: Mapping[str, str], lang: str) -> str:
    before = given if at is not start else {}  # in the chart of a later one, what led to it stays answered

    def link(facts: Mapping[str, str]) -> str:
        return address(start.id, {**before, **facts})

    return draw(at, lang, walked, link)


def matching(words: str) -> tuple[Procedure, ...]:
    """The procedures whose id or title, in either language, or laws have all the words (or beginnings of words) in them."""
    wanted = words.lower().replace("-", " ").split()
    return tuple(one for one in read_procedures().values() if all(word in haystack(one) for word in wanted))


def haystack(procedure: Procedure) -> str:
    """What a procedure is found by, in small letters."""
    parts = (procedure.id.replace("-", " "), procedure.title.en, procedure.title.ru, " ".join(procedure.laws))
    return " ".join(parts).lower()


@dataclass(frozen=True)
class Group:
    """The procedures that rule by the laws of one chapter."""

    key: str
    procedures: tuple[Procedure, ...]


def grouped(procedures: Iterable[Procedure]) -> tuple[Group, ...]:
    """The procedures by the chapter of the first law that each rules by, in the order of the laws."""
    ordered = sorted(procedures, key=_first_law)
    return tuple(Group(key, tuple(found)) for key, found in groupby(ordered, lambda one: chapter_of(_first_law(one))))


def _first_law(procedure: Procedure) -> int:
    return ClauseId(procedure.laws[0]).law or 0
