"""Which procedure rules a story, and with which facts: what is given, what is read, what still has to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from index.errors import ContractError
from index.lessons import IRREGULARITY, NOT_STATED
from rag.lessons import usable_facts
from rag.procedure import Fact, find_procedure
from rag.question import MAX_CHARS
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
    """What was decided. ``outcome`` is ``None`` when no irregularity is clear enough to rule by.

    ``candidates`` are procedures, the likeliest first; ``facts`` is what the case carries on: the irregularity and every fact
    that was given, answered or changed; ``story`` the text that the others are read from.
    """

    outcome: Outcome | None
    candidates: tuple[str, ...]
    facts: Mapping[str, str]
    story: str


def check_given(given: Mapping[str, str]) -> None:
    """Raise `ContractError` for an irregularity, fact or option that there is not, and for facts beside "none of these"."""
    facts = {name: option for name, option in given.items() if name != IRREGULARITY}
    chosen = given.get(IRREGULARITY)
    if chosen == NONE_OF_THESE:
        _refuse(facts)
    elif chosen is not None:
        find_procedure(chosen)
    for name, option in facts.items():
        check_fact(name, option, chosen or "ID")


def decide(
    text: str, state: State, given: Mapping[str, str], read: Read, sources: Mapping[str, From] | None = None
) -> Decided | None:
    """Decide on a text that starts a case, or continues the one that ``state`` carries; ``None``: no procedure is to rule it.

    ``sources`` says how the given facts are known, where that is not plain: stated, or answered or changed in a case.
    Raises `ContractError` as `check_given` does, and for facts that nothing uses.
    """
    check_given(given)
    facts = {name: option for name, option in given.items() if name != IRREGULARITY}
    chosen = given.get(IRREGULARITY)
    if chosen == NONE_OF_THESE:
        return None
    case = _case(text, state, chosen, read)
    procedure = chosen or case.procedure
    candidates = tuple(name for name, _ in case.told.irregularities() if name)[:CANDIDATES] if case.told else ()
    if procedure is None:
        name, chance = case.told.irregularities()[0] if case.told else (NOT_STATED, 1.0)
        if name == NOT_STATED:
            _refuse(facts)
            return None
        assert case.told is not None
        if chance < case.told.thresholds.irregularity:
            return Decided(None, candidates, {**case.facts, **facts}, case.story)
        procedure = name
    usable = usable_facts(find_procedure(procedure).id)  # a case may carry one that there is no more
    known = {name: Known(option, "answered") for name, option in case.facts.items() if name in usable}
    before = rule(procedure, known, case.told)
    if case.new:
        known |= _said_since(before, known, case.new)
    for name, option in facts.items():
        known[name] = Known(option, (sources or {}).get(name) or _source(name, option, known, before, bool(case.procedure)))
    outcome = rule(procedure, known, case.told)
    others = tuple(name for name in candidates if name != procedure)
    carried = {IRREGULARITY: procedure, **{name: one.option for name, one in known.items()}}
    return Decided(outcome, (procedure, *others)[:CANDIDATES], carried, case.story)


@dataclass(frozen=True)
class _Case:
    """The case that a text belongs to: its story and the reading of it.

    In a case that goes on, also the irregularity and the facts carried, and what the new text tells.
    """

    story: str
    told: Reading | None
    procedure: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    new: Reading | None = None


def _case(text: str, state: State, chosen: str | None, read: Read) -> _Case:
    if not state.turns or not state.story:
        return _Case(text, read(text))
    carried = {name: option for name, option in state.facts.items() if name != IRREGULARITY}
    procedure = state.facts.get(IRREGULARITY)
    if procedure is None:  # the irregularity was not clear: it is chosen now, or told in other words
        # A story stays as long as a question may be: what was told last is kept.
        story = state.story if chosen or text == state.story else f"{state.story} {text}"[-MAX_CHARS:].strip()
        return _Case(story, read(story), None, carried)
    new = read(text) if text != state.story else None
    if new and chosen != procedure and _is_second_story(text, procedure, new):
        return _Case(text, new)
    return _Case(state.story, read(state.story), procedure, carried, new)


def _is_second_story(text: str, before: str, new: Reading) -> bool:
    name, chance = new.irregularities()[0]
    is_other = name not in {before, NOT_STATED} and chance >= new.thresholds.irregularity
    return is_other and len(text.split()) >= STORY_WORDS


def _refuse(facts: Mapping[str, str]) -> None:
    """Facts that nothing uses are an error, not something to pass over."""
    if facts:
        raise ContractError(f'No procedure uses the fact "{next(iter(facts))[:40]}"; leave --fact out.')


def _source(name: str, option: str, known: Mapping[str, Known], before: Outcome, continues: bool) -> From:
    """How a fact that was given is known: anew, as the answer to a question, or in the place of what was known or presumed."""
    was = {step.fact: step.known for part in _parts(before) for step in part.path} | dict(known)
    if not continues:
        return "stated"
    return "changed" if name in was and was[name].option != option else "answered"


def _parts(outcome: Outcome) -> Iterator[Outcome]:
    """An outcome and those that follow it."""
    yield outcome
    for then in outcome.then:
        yield from _parts(then)


def _said_since(before: Outcome, known: Mapping[str, Known], new: Reading) -> dict[str, Known]:
    """The facts that the new text of a case tells: the one that was asked, and changes of others."""
    found: dict[str, Known] = {}
    asked = next((part.ask for part in _parts(before) if part.ask), None)
    if asked and (answer := _answer(asked, new)):
        found[asked.id] = answer
    was = {step.fact: step.known.option for part in _parts(before) for step in part.path}
    was |= {name: one.option for name, one in known.items()}
    for name in usable_facts(before.procedure.id) | set(was):
        fact = new.fact(name)
        if fact and name not in found and was.get(name) != fact[0]:
            found[name] = Known(fact[0], "changed" if name in was else "read", round(fact[1], 3))
    return found


def _answer(asked: Fact, new: Reading) -> Known | None:
    """What a new text answers to the fact that was asked, with less confidence than a story needs."""
    options = {option: chance for option, chance in new.chances.get(asked.id, {}).items() if asked.has(option)}
    best = max(options, key=lambda option: options[option], default=None)
    return Known(best, "answered", round(options[best], 3)) if best and options[best] >= ANSWER_CONFIDENCE else None
