"""What a machine can read and write within the time limit: on a slow one fewer lines, and then no Law before the clauses.

A line costs what it takes to choose it, token by token until no other begins so, and the rest of it is read like a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from rag.backends.base import MAX_LINES, MAX_SECONDS

PLANNED_SHARE = 0.8
"""Share of the time limit that is planned with: searches and other programs want some of the machine."""


@dataclass(frozen=True)
class Speed:
    """Tokens a second of a model on this machine: ``reading`` a prompt, ``writing`` one after the other."""

    reading: float
    writing: float


def lines_within(speed: Speed, to_read: int, lines: Sequence[list[int]]) -> int:
    """How many of the dearest lines (tokens) can be written behind a prompt of ``to_read`` tokens; 0: not even one."""
    left = PLANNED_SHARE * MAX_SECONDS - to_read / speed.reading
    count = 0
    for seconds in sorted(_seconds_of(speed, lines), reverse=True)[:MAX_LINES]:
        left -= seconds
        if left < 0:
            break
        count += 1
    return count


def _seconds_of(speed: Speed, lines: Sequence[list[int]]) -> list[float]:
    """What each line costs; lines that begin alike stand next to each other when sorted."""
    ordered = sorted(lines)
    shared = [0, *map(_shared, ordered, ordered[1:]), 0]
    chosen = [1 + max(shared[k : k + 2]) for k in range(len(ordered))]
    return [
        count / speed.writing + max(0, len(line) - count) / speed.reading for line, count in zip(ordered, chosen, strict=True)
    ]


def _shared(one: list[int], other: list[int]) -> int:
    """Tokens with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
