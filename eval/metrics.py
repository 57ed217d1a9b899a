"""Retrieval metrics by clause and by law. ``ranked`` is what was found, best first; what is missing counts 0.

``must`` is a tuple of sets of alternatives (see `eval.gold.Gold`): a set is hit at k when one of its ids is among the first k.
The same measures at the level of laws take an id for its law (a definition for itself).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from index.clause_id import ClauseId

Must = Sequence[frozenset[ClauseId]]
RESAMPLES = 2000
"""Bootstrap samples behind an interval."""


def recall(ranked: Sequence[ClauseId], must: Must, k: int) -> float:
    """1 when a deciding clause is among the first ``k``: ``max over sets of [set & ranked[:k]]``."""
    top = set(ranked[:k])
    return float(any(top & alternatives for alternatives in must))


def set_recall(ranked: Sequence[ClauseId], must: Must, k: int) -> float:
    """Share of the sets hit among the first ``k``: ``|{s: s & ranked[:k]}| / |must|``."""
    top = set(ranked[:k])
    return sum(bool(top & alternatives) for alternatives in must) / len(must) if must else 0.0


def all_hit(ranked: Sequence[ClauseId], must: Must, k: int) -> float:
    """1 when every set is hit among the first ``k``."""
    return float(bool(must) and set_recall(ranked, must, k) == 1.0)


def reciprocal_rank(ranked: Sequence[ClauseId], must: Must) -> float:
    """``1 / rank`` of the first deciding clause, 0 when there is none."""
    for rank, clause in enumerate(ranked, start=1):
        if any(clause in alternatives for alternatives in must):
            return 1.0 / rank
    return 0.0


def ndcg(ranked: Sequence[ClauseId], must: Must, k: int) -> float:
    """Normalised discounted cumulative gain at ``k`` (Järvelin and Kekäläinen 2002, binary relevance).

    Each set gains 1 once, at its first hit, divided by ``log2(rank + 1)``; the ideal hits one set after the other.
    """
    open_sets = list(must)
    gain = 0.0
    for rank, clause in enumerate(ranked[:k], start=1):
        hit = next((alternatives for alternatives in open_sets if clause in alternatives), None)
        if hit is not None:
            open_sets.remove(hit)
            gain += 1.0 / math.log2(rank + 1)
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(len(must), k) + 1))
    return gain / ideal if ideal else 0.0


def by_law(ids: Sequence[ClauseId]) -> tuple[ClauseId, ...]:
    """The laws of some clauses, each once, in order."""
    return tuple(dict.fromkeys(_law(clause) for clause in ids))


def must_by_law(must: Must) -> tuple[frozenset[ClauseId], ...]:
    """The sets with each id taken for its law."""
    return tuple(frozenset(map(_law, alternatives)) for alternatives in must)


def _law(clause: ClauseId) -> ClauseId:
    return ClauseId(str(clause.law)) if clause.law else clause


@dataclass(frozen=True)
class Rate:
    """A rate ``hits / total`` with its 95% bootstrap interval; ``hits`` may be a sum of shares."""

    hits: float
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The rate; 0 when nothing was counted."""
        return self.hits / self.total if self.total else 0.0

    def __str__(self) -> str:
        return f"{self.hits:g}/{self.total} = {self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def rate(values: Sequence[float], seed: int = 0) -> Rate:
    """The mean of values in [0, 1] with its percentile bootstrap interval (Efron 1979)."""
    if not values:
        return Rate(0.0, 0, 0.0, 0.0)
    array = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = array[rng.integers(0, len(array), (RESAMPLES, len(array)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Rate(round(float(array.sum()), 3), len(array), float(low), float(high))
