"""Which procedure rules a story, and with which facts: what is given, what is read, what still has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from index.errors import ContractError
from index.lessons import IRREGULARITY, NOT_STATED
from rag.lessons import reachable_facts
from rag.procedure import find_procedure
from rag.reading import CANDIDATES, Reading
from rag.rule import From, Known, Outcome, check_fact, rule
from rag.ruling import State

NONE_OF_THESE = "none"
"""Given as the irregularity: no procedure is to rule."""
ANSWER_CONFIDENCE = 0.4
"""Confidence from which a new text is taken to answer the fact that was asked last."""
STORY_WORDS = 8
"""A continuing text of so many words that tells another irregularity is a second story, not a change of the first."""

Read = Callable[[str], Reading | None]


@dataclass(frozen=True)
class Decided:
    """What was decided. ``outcome`` is ``None`` when the irregularity itself must be asked.

    ``candidates`` are procedures, the likeliest first; ``facts`` is what the case carries on: the irregularity and every fact
    that was given, answered or changed.
    """

    outcome: Outcome | None
    candidates: tuple[str, ...]
    facts: Mapping[str, str]


def decide(
    text: str, state: State, given: Mapping[str, str], read: Read, sources: Mapping[str, From] | None = None
) -> Decided | None:
    """Decide on a text that starts a case, or continues the one that ``state`` carries; ``None``: no procedure rules it.

    ``sources`` says how the given facts are known, where that is not plain: stated, or answered or changed in a case.
    Raises `ContractError` for an unknown irregularity, fact or option, and for facts that nothing uses.
    """
    given = dict(given)
    chosen = given.pop(IRREGULARITY, None)
    if chosen == NONE_OF_THESE:
        return None
    before = state.facts.get(IRREGULARITY) if state.turns else None
    story = state.turns[0].question if before else text
    told, new = read(story), read(text) if before else None
    candidates = tuple(name for name, _ in told.irregularities() if name)[:CANDIDATES] if told else ()
    procedure = chosen or before
    if before and not chosen and new and _is_second_story(text, before, new):
        state, before, procedure, told, new = replace(state, facts={}), None, None, new, None
    if procedure is None:
        if told is None:
            _refuse(given)
            return None
        name, chance = told.irregularities()[0]
        if name == NOT_STATED:
            _refuse(given)
            return None
        if chance < told.thresholds.irregularity:
            return Decided(None, candidates, dict(given))
        procedure = name
    find_procedure(procedure)
    for name, option in given.items():
        check_fact(name, option, procedure)
    known = _carried(state, procedure) if before else {}
    if before and new:
        known |= _said_since(procedure, known, told, new)
    known |= {name: Known(option, (sources or {}).get(name) or _source(name, known, before)) for name, option in given.items()}
    outcome = rule(procedure, known, told)
    facts = {name: one.option for name, one in known.items()}
    others = tuple(name for name in candidates if name != procedure)
    return Decided(outcome, (procedure, *others)[:CANDIDATES], {IRREGULARITY: procedure, **facts})


def _refuse(given: Mapping[str, str]) -> None:
    """Facts that nothing uses are an error, not something to pass over."""
    if given:
        raise ContractError(f'No procedure uses the fact "{next(iter(given))[:40]}"; leave --fact out.')


def _is_second_story(text: str, before: str, new: Reading) -> bool:
    name, chance = new.irregularities()[0]
    is_other = name not in {before, NOT_STATED} and chance >= new.thresholds.irregularity
    return is_other and len(text.split()) >= STORY_WORDS


def _carried(state: State, procedure: str) -> dict[str, Known]:
    """The facts of the case that the procedure can use; those of another irregularity are left behind."""
    usable = reachable_facts(procedure)
    return {name: Known(option, "answered") for name, option in state.facts.items() if name in usable}


def _source(name: str, known: Mapping[str, Known], before: str | None) -> From:
    if not before:
        return "stated"
    return "changed" if name in known else "answered"


def _said_since(procedure: str, known: Mapping[str, Known], told: Reading | None, new: Reading) -> dict[str, Known]:
    """The facts that the new text of a case tells: the one that was asked, and changes of others."""
    found: dict[str, Known] = {}
    asked = rule(procedure, known, told).ask
    if asked:
        options = {option: chance for option, chance in new.chances.get(asked.id, {}).items() if option != NOT_STATED}
        best = max(options, key=lambda option: options[option], default=None)
        if best is not None and asked.has(best) and options[best] >= ANSWER_CONFIDENCE:
            found[asked.id] = Known(best, "answered", round(options[best], 3))
    for name in reachable_facts(procedure) - set(found):
        if fact := new.fact(name):
            read = told.fact(name) if told else None
            was = known[name].option if name in known else read[0] if read else None
            if fact[0] != was:
                found[name] = Known(fact[0], "changed", round(fact[1], 3))
    return found
