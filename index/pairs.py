"""What the embedder is trained on: asked-as lines and stories with the clause that answers them, and with each other.

A pair is (anchor, positive): a line, and the passage or another line (often of the other language) of its clause. The other
positives of a batch are its negatives, so a batch holds several clauses of a law, which are hard to tell apart, but none twice
and none that answers another one's lines, too. A batch is of short lines or of long ones, so that little is padded. Some
anchors are mistyped; Russian ones get the English terms they contain, as questions do when they are searched.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index.clause_id import ClauseId
from index.lessons import Labels
from index.noise import with_typos
from index.stories import LONG_LINE, is_held_out
from index.terms import with_terms
from index.types import Asked, Book, Clause

LONG_SHARE = 0.6
"""Share of batches of long lines."""
LINES_SHARE = 0.4
"""Share of batches whose positives are other lines; in the others they are the clauses' passages."""
ALSO_SHARE = 0.25
"""Share of lines that need several clauses whose positive is one of the others."""
OF_ONE_LAW = 4
"""Clauses that a batch takes from a law, where it has as many."""
NOISY_SHARE, NOISY_WORDS = 0.3, 0.35
"""Share of mistyped anchors, and of the longer words in them that are."""
TERMS_SHARE = 0.7
"""Share of anchors in another language than the book's that get its terms."""


@dataclass(frozen=True)
class Pair:
    """Two texts with their prefixes that belong together; ``lines`` are the plain lines behind them, "" for a passage."""

    anchor: str
    positive: str
    lines: tuple[str, str]
    clause: ClauseId | None = None


class _Lines:
    """The clauses that have lines of one length, and their lines in turn."""

    def __init__(self, clauses: list[Clause], is_long: bool, rng: random.Random) -> None:
        self.of = {c.id: [line for line in trained(c) if (len(line.text) >= LONG_LINE) == is_long] for c in clauses}
        laws: dict[object, list[Clause]] = defaultdict(list)
        for clause in clauses:
            if self.of[clause.id]:
                laws[clause.id.law].append(clause)
        self.count = sum(map(len, laws.values()))
        self.groups = _in_turn(self._groups(laws, rng), rng)
        self.next = {key: _in_turn(lines, rng) for key, lines in self.of.items()}

    def _groups(self, laws: dict[object, list[Clause]], rng: random.Random) -> list[list[Clause]]:
        """The clauses of each law in groups; one with many lines stands in several, so that its lines come as often."""
        groups = []
        for clauses in laws.values():
            often = [clause for clause in clauses for _ in range(max(1, round(len(self.of[clause.id]) / 5)))]
            rng.shuffle(often)
            groups += [often[k : k + OF_ONE_LAW] for k in range(0, len(often), OF_ONE_LAW)]
        return groups


def trained(clause: Clause) -> list[Asked]:
    """The lines of a clause that are trained on."""
    return [line for line in clause.asked if not is_held_out(line.text)]


def batches(book: Book, prefixes: dict[str, str], batch_size: int, count: int, seed: int) -> Iterator[list[Pair]]:
    """``count`` batches of pairs; a line is an anchor again only when all lines of its clause have been one."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    asked = [clause for clause in book.clauses if clause.text and trained(clause)]
    pools = [pool for pool in (_Lines(asked, is_long, rng) for is_long in (False, True)) if pool.count >= batch_size]
    if not pools:
        raise ValueError(f"{book.id} has {len(asked)} clauses with lines, too few for batches of {batch_size}")
    near = {
        clause.id: {clause.id, *clause.id.ancestors(), *(ref for line in clause.asked for ref in line.also)} for clause in asked
    }
    for _ in range(count):
        pool = pools[-1] if rng.random() < LONG_SHARE else pools[0]
        chosen: dict[ClauseId, Clause] = {}
        while len(chosen) < batch_size:
            for clause in next(pool.groups):
                apart = not any(clause.id in near[other] or other in near[clause.id] for other in chosen)
                if apart and len(chosen) < batch_size:
                    chosen[clause.id] = clause
        of_lines = rng.random() < LINES_SHARE
        yield [_pair(book, clause, next(pool.next[clause.id]), of_lines, prefixes, rng) for clause in chosen.values()]


def _in_turn(values: list, rng: random.Random) -> Iterator:  # type: ignore[type-arg]
    """All values in random order, then all again in another one, without end."""
    while True:
        yield from rng.sample(values, len(values))


def _pair(book: Book, clause: Clause, line: Asked, of_lines: bool, prefixes: dict[str, str], rng: random.Random) -> Pair:
    others = [asked.text for asked in trained(clause) if asked.text != line.text]
    other = ""
    if of_lines and others:
        other = rng.choice(others)
        positive = prefixes["query"] + other
    else:
        also = [found for found in map(book.get, line.also) if found and found.text]
        told = rng.choice(also) if also and rng.random() < ALSO_SHARE else clause
        positive = f"{prefixes['passage']}{book.heading_path(told)}\n{told.text}"
    anchor = with_typos(line.text, rng, NOISY_WORDS) if rng.random() < NOISY_SHARE else line.text
    if rng.random() < TERMS_SHARE:
        anchor = with_terms(anchor, line.lang, book.lang)
    return Pair(prefixes["query"] + anchor, positive, (line.text, other), clause.id)


def phrase_batches(
    phrases: Sequence[tuple[Sequence[str], Labels]], prefix: str, batch_size: int, seed: int
) -> Iterator[list[Pair]]:
    """Batches, without end, of two phrases that say the same, each pair of another group."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    groups = _in_turn([tuple(texts) for texts, _ in phrases], rng)
    while True:
        chosen = [rng.sample(next(groups), 2) for _ in range(batch_size)]
        yield [Pair(prefix + anchor, prefix + positive, (anchor, positive)) for anchor, positive in chosen]
