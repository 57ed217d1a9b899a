"""Walk a procedure with the facts that are known: to the ruling, or to the fact that must be asked first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from index.errors import ContractError
from rag.procedure import LINK, Fact, Leaf, Node, Procedure, find_procedure, read_facts, read_procedures
from rag.reading import Reading

From = Literal["stated", "read", "answered", "changed", "presumed", "set"]
MAX_THEN = 4
"""Procedures that may follow one another; a longer chain is a fault in the trees."""


@dataclass(frozen=True)
class Known:
    """The option of a fact, and how it is known.

    ``stated`` outright, ``answered`` when asked, ``changed`` since, ``read`` from the story with a confidence (a probability),
    ``presumed`` as the story is silent, or ``set`` by the ruling before.
    """

    option: str
    source: From = "stated"
    confidence: float | None = 1.0


@dataclass(frozen=True)
class Step:
    """A fact on the path and what is known of it."""

    fact: str
    known: Known


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


def rule(procedure_id: str, facts: Mapping[str, str | Known], reading: Reading | None = None) -> Outcome:
    """Rule by a procedure with the facts given and those that a story tells.

    Raises `ContractError` for an unknown procedure, fact or option.
    """
    procedure = find_procedure(procedure_id)
    known = {name: one if isinstance(one, Known) else Known(one) for name, one in facts.items()}
    for name, one in known.items():
        check_fact(name, one.option, procedure_id)
    return _walk(procedure, _Facts(known, reading), {}, 0)


def check_fact(name: str, option: str, procedure_id: str = "ID") -> None:
    """Raise `ContractError` when there is no such fact, or it has no such option."""
    facts = read_facts()
    if name not in facts:
        raise ContractError(f'There is no fact "{name[:40]}"; see: tablelaw procedure show {procedure_id}')
    if not facts[name].has(option):
        options = ", ".join(one.id for one in facts[name].options)
        raise ContractError(f'{name} cannot be "{option[:40]}"; it is one of: {options}.')


@dataclass(frozen=True)
class _Facts:
    given: Mapping[str, Known]
    reading: Reading | None

    def of(self, node: Node, fixed: Mapping[str, str]) -> Known | None:
        """What is known of a node's fact: set by the ruling before, given, read, or presumed."""
        if node.fact in fixed:
            return Known(fixed[node.fact], "set")
        if node.fact in self.given:
            return self.given[node.fact]
        if self.reading and (told := self.reading.fact(node.fact)):
            return Known(told[0], "read", round(told[1], 3))
        if node.presume is not None and (not self.reading or self.reading.may_presume(node.fact, node.presume)):
            return Known(node.presume, "presumed", None)
        return None


def _walk(procedure: Procedure, facts: _Facts, fixed: Mapping[str, str], depth: int) -> Outcome:
    path: list[Step] = []
    at = procedure.start
    while at not in procedure.leaves:
        if at.startswith(LINK):
            procedure = read_procedures()[at[len(LINK) :]]
            at = procedure.start
            continue
        node = procedure.nodes[at]
        known = next((step.known for step in path if step.fact == node.fact), None)
        if known is None:
            known = facts.of(node, fixed)
            if known is None:
                return Outcome(procedure, tuple(path), None, read_facts()[node.fact])
            path.append(Step(node.fact, known))
        at = node.to[known.option]
    leaf = procedure.leaves[at]
    then: tuple[Outcome, ...] = ()
    if depth < MAX_THEN:
        then = tuple(_walk(read_procedures()[name], facts, {**fixed, **leaf.sets}, depth + 1) for name in leaf.then)
    return Outcome(procedure, tuple(path), leaf, None, then)
