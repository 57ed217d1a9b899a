"""Walk a procedure with the facts that are known: to the ruling, or to the fact that must be asked first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from index.errors import ContractError
from rag.procedure import LINK, Fact, Leaf, Procedure, find_procedure, read_facts, read_procedures

From = Literal["stated", "presumed", "set"]
MAX_THEN = 4
"""Procedures that may follow one another; a longer chain is a fault in the trees."""


@dataclass(frozen=True)
class Step:
    """A fact on the path, the option taken, and whether it was stated, presumed, or set by the ruling before."""

    fact: str
    option: str
    source: From


@dataclass(frozen=True)
class Outcome:
    """Where the walk ended: at a ``leaf``, or at the fact to ``ask``; ``then`` are the rulings that follow, in order.

    ``procedure`` is the one in which it ended, which a link can make another one than it began in.
    """

    procedure: Procedure
    path: tuple[Step, ...]
    leaf: Leaf | None
    ask: Fact | None
    then: tuple[Outcome, ...] = ()


def rule(procedure_id: str, facts: Mapping[str, str]) -> Outcome:
    """Rule by a procedure. Raises `ContractError` for an unknown procedure, fact or option."""
    procedure = find_procedure(procedure_id)
    known = read_facts()
    for fact, option in facts.items():
        if fact not in known:
            raise ContractError(f'There is no fact "{fact[:40]}"; see: tablelaw procedure show {procedure_id}')
        if not known[fact].has(option):
            options = ", ".join(one.id for one in known[fact].options)
            raise ContractError(f'{fact} cannot be "{option[:40]}"; it is one of: {options}.')
    return _walk(procedure, facts, {}, 0)


def _walk(procedure: Procedure, stated: Mapping[str, str], fixed: Mapping[str, str], depth: int) -> Outcome:
    path: list[Step] = []
    at = procedure.start
    while at not in procedure.leaves:
        if at.startswith(LINK):
            procedure = read_procedures()[at[len(LINK) :]]
            at = procedure.start
            continue
        node = procedure.nodes[at]
        taken = [step for step in path if step.fact == node.fact]
        if taken:
            step = taken[0]
        elif node.fact in fixed:
            step = Step(node.fact, fixed[node.fact], "set")
        elif node.fact in stated:
            step = Step(node.fact, stated[node.fact], "stated")
        elif node.presume is not None:
            step = Step(node.fact, node.presume, "presumed")
        else:
            return Outcome(procedure, tuple(path), None, read_facts()[node.fact])
        if not taken:
            path.append(step)
        at = node.to[step.option]
    leaf = procedure.leaves[at]
    then: tuple[Outcome, ...] = ()
    if depth < MAX_THEN:
        then = tuple(_walk(read_procedures()[name], stated, {**fixed, **leaf.sets}, depth + 1) for name in leaf.then)
    return Outcome(procedure, tuple(path), leaf, None, then)
