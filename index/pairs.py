"""What the embedder is trained on: asked-as lines with the clause that answers them, and with each other. All texts are ours.

A pair is (anchor, positive): a line, and the passage or another line (often of the other language) of its clause. The other
positives of a batch are its negatives, so a batch holds several clauses of a law, which are hard to tell apart, but none twice
and none that answers another one's lines, too.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from index.clause_id import ClauseId
from index.types import Book, Clause

LINES_SHARE = 0.4
"""Share of batches whose positives are other lines; in the others they are the clauses' passages."""
OF_ONE_LAW = 4
"""Clauses that a batch takes from a law, where it has as many."""


@dataclass(frozen=True)
class Pair:
    """Two texts with their prefixes that belong to one clause."""

    anchor: str
    positive: str
    clause: ClauseId


def batches(book: Book, prefixes: dict[str, str], batch_size: int, count: int, seed: int) -> Iterator[list[Pair]]:
    """``count`` batches of pairs; a line is an anchor again only when all lines of its clause have been one."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    asked = [clause for clause in book.clauses if clause.text and clause.asked]
    if len(asked) < batch_size:
        raise ValueError(f"{book.id} has {len(asked)} clauses with lines, too few for batches of {batch_size}")
    laws: dict[object, list[Clause]] = defaultdict(list)
    for clause in asked:
        laws[clause.id.law].append(clause)
    near = {
        clause.id: {clause.id, *clause.id.ancestors(), *(ref for line in clause.asked for ref in line.also)} for clause in asked
    }
    lines = {clause.id: _in_turn([line.text for line in clause.asked], rng) for clause in asked}
    groups = _in_turn(_groups(laws, rng), rng)
    for _ in range(count):
        chosen: dict[ClauseId, Clause] = {}
        while len(chosen) < batch_size:
            for clause in next(groups):
                apart = not any(clause.id in near[other] or other in near[clause.id] for other in chosen)
                if apart and len(chosen) < batch_size:
                    chosen[clause.id] = clause
        of_lines = rng.random() < LINES_SHARE
        yield [_pair(book, clause, next(lines[clause.id]), of_lines, prefixes, rng) for clause in chosen.values()]


def _groups(laws: dict[object, list[Clause]], rng: random.Random) -> list[list[Clause]]:
    """The clauses of each law in groups; a clause with many lines stands in several, so that its lines come as often."""
    groups = []
    for clauses in laws.values():
        often = [clause for clause in clauses for _ in range(max(1, round(len(clause.asked) / 5)))]
        rng.shuffle(often)
        groups += [often[k : k + OF_ONE_LAW] for k in range(0, len(often), OF_ONE_LAW)]
    return groups


def _in_turn(values: list, rng: random.Random) -> Iterator:  # type: ignore[type-arg]
    """All values in random order, then all again in another one, without end."""
    while True:
        yield from rng.sample(values, len(values))


def _pair(book: Book, clause: Clause, line: str, of_lines: bool, prefixes: dict[str, str], rng: random.Random) -> Pair:
    others = [asked.text for asked in clause.asked if asked.text != line]
    if of_lines and others:
        positive = prefixes["query"] + rng.choice(others)
    else:
        positive = f"{prefixes['passage']}{book.heading_path(clause)}\n{clause.text}"
    return Pair(prefixes["query"] + line, positive, clause.id)
