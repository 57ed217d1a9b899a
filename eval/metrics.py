"""Retrieval metrics by clause and by law, computed by ir-measures. ``ranked`` is what was found, best first.

``must`` is a tuple of sets of alternatives (see `eval.gold.Gold`): a set is hit by the first of its ids that is found; what is
missing counts 0. The same measures at the level of laws take an id for its law (a definition for itself).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from ir_measures import RR, R, Success, nDCG

from index.clause_id import ClauseId

Must = Sequence[frozenset[ClauseId]]
CUTS = (1, 3, 5, 10)
RESAMPLES = 2000
"""Bootstrap samples behind an interval."""
_MEASURES = {**{f"recall@{k}": Success @ k for k in CUTS}, "sets@5": R @ 5, "MRR": RR, "nDCG@10": nDCG @ 10}


def measure(ranked: Sequence[ClauseId], must: Must) -> Mapping[str, float]:
    """The measures of one ranking.

    - ``recall@k``: 1 when a set is hit among the first k, ``max over sets of [set & ranked[:k]]``;
    - ``sets@5``: share of the sets hit, ``|{s: s & ranked[:5]}| / |must|``; ``all-hit@5``: 1 when every set is hit;
    - ``MRR``: ``1 / rank`` of the first hit, averaged over questions by `rate`;
    - ``nDCG@10``: normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): each set gains 1 once, at its first
      hit, divided by ``log2(rank + 1)``; the ideal hits one set after the other.
    """
    names = dict.fromkeys((*_MEASURES, "all-hit@5"), 0.0)
    if not must:
        return names
    documents = _documents(ranked, must)
    qrels = [ir_measures.Qrel("q", _set_name(number), 1) for number in range(len(must))]
    run = [ir_measures.ScoredDoc("q", document, -float(rank)) for rank, document in enumerate(documents)]
    if run:
        found = {str(one.measure): float(one.value) for one in ir_measures.iter_calc(_MEASURES.values(), qrels, run)}
        names |= {name: found[str(one)] for name, one in _MEASURES.items()}
    return {**names, "all-hit@5": float(names["sets@5"] == 1.0)}


def _documents(ranked: Sequence[ClauseId], must: Must) -> list[str]:
    """The ranking as documents: the first hit of a set stands for it, so that a second alternative gains nothing."""
    still_open = dict(enumerate(must))
    documents = []
    for clause in ranked:
        hit = next((number for number, alternatives in still_open.items() if clause in alternatives), None)
        documents.append(str(clause) if hit is None else _set_name(hit))
        still_open.pop(hit, None)  # type: ignore[arg-type]
    return documents


def _set_name(number: int) -> str:
    return f"set {number}"


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
