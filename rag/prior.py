"""The clauses that procedures lead one to expect: the trees of likely irregularities, walked by all that a story may mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from index.clause_id import ClauseId, parse_clause_id
from index.embedder import Chances
from index.lessons import NOT_STATED
from rag.procedure import LINK, Node, Procedure, read_procedures
from rag.reading import irregularities

LIKELY = 5
"""Irregularities that are walked, the likeliest first."""
FAINT = 0.01
"""A branch less likely than this is left out."""
_AT_ONCE = ("now", "options")


def expected_clauses(chances: Chances | None) -> dict[ClauseId, float]:
    """Clause -> probability that the ruling cites it now or among the options, by what the heads read; none without heads.

    A fact that is not stated leads to what is presumed, or else into all branches alike.
    """
    expected: dict[ClauseId, float] = defaultdict(float)
    for name, chance in irregularities(chances)[:LIKELY] if chances else ():
        if name:
            _walk(read_procedures()[name], chances or {}, chance, expected)
    return dict(expected)


def _walk(start: Procedure, chances: Mapping[str, Mapping[str, float]], chance: float, out: dict[ClauseId, float]) -> None:
    still = [(start, start.start, chance, dict[str, str]())]
    while still:
        procedure, at, share, taken = still.pop()
        if share < FAINT:
            continue
        if at.startswith(LINK):
            procedure = read_procedures()[at[len(LINK) :]]
            still.append((procedure, procedure.start, share, taken))
        elif at in procedure.leaves:
            for clause in {c for s in procedure.leaves[at].sentences if s.part in _AT_ONCE for c in s.cites}:
                out[parse_clause_id(clause)] += share
        else:
            node = procedure.nodes[at]
            for option, weight in _branches(node, chances, taken).items():
                still.append((procedure, node.to[option], share * weight, {**taken, node.fact: option}))


def _branches(node: Node, chances: Mapping[str, Mapping[str, float]], taken: Mapping[str, str]) -> dict[str, float]:
    """The options of a node with their probabilities."""
    if node.fact in taken:
        return {taken[node.fact]: 1.0}
    told = chances.get(node.fact, {})
    silent = max(0.0, 1.0 - sum(told.get(option, 0.0) for option in node.to)) if told else 1.0
    if NOT_STATED in told:
        silent = told[NOT_STATED]
    branches = {option: told.get(option, 0.0) for option in node.to}
    for option in branches:
        branches[option] += silent * (float(option == node.presume) if node.presume else 1 / len(branches))
    return branches
