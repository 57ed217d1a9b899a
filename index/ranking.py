"""A clause's score as a weighted sum of what tells for it; the weights are learned (`eval.weights`) for one embedder.

Listwise softmax regression over all clauses of the book (Cao et al. 2007, ListNet, top one). With another embedder the lists
are fused by reciprocal rank instead (`index.search`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from index.clause_id import ClauseId
from index.errors import ContractError
from index.store import SearchIndex
from index.structure import Structure

PATH = Path(__file__).resolve().parent / "ranking.yaml"
RANK_K = 10
"""Constant of the reciprocal ranks: the larger, the less the first places count."""
VOTERS = 60
"""Nearest lines that vote for their clauses."""
WARM, COLD = 0.08, 0.03
"""Temperatures of the votes: cold, the nearest lines decide; warm, many have a say."""
ALSO_SHARE = 0.5
"""Share of its vote that a line gives to each of the other clauses that it needs."""
FEATURES = (
    "clause cosine",
    "line cosine",
    "clause rank",
    "line rank",
    "clause words rank",
    "line words rank",
    "clause words",
    "line words",
    "cold votes",
    "warm votes",
    "cold votes of the law",
    "warm votes of the law",
    "nearest row of the law",
    "nearest clause of the law",
    "words of the law",
    "has text",
    "lines",
    "expected",
    "expected of the law",
    "referred to",
)
Prior = Mapping[ClauseId, float]
"""How much each clause is expected before the search, for example since a procedure cites it."""


def features(index: SearchIndex, cosine: NDArray[np.float32], words: NDArray[np.float32], prior: Prior) -> NDArray[np.float64]:
    """Features of every clause, shape ``(clauses, len(FEATURES))``; ``cosine`` and ``words`` (BM25) have one value a row."""
    made, asked, clauses = index.structure, index.row_asked, len(index.book.clauses)
    near = {kind: best_by_clause(cosine, mask, index.row_clause, clauses) for kind, mask in ((0, ~asked), (1, asked))}
    said = {kind: best_by_clause(words, mask, index.row_clause, clauses).clip(0) for kind, mask in ((0, ~asked), (1, asked))}
    middle = float(np.median(cosine))
    cold, warm = _votes(index, cosine)
    expected = np.zeros(clauses)
    for clause, share in prior.items():
        if (k := made.position.get(clause)) is not None:
            expected[k] = share
    nearest = np.maximum(near[0], near[1]).astype(np.float64)
    columns = [
        _above(near[0], middle),
        _above(near[1], middle),
        _reciprocal_rank(near[0]),
        _reciprocal_rank(near[1]),
        _reciprocal_rank(said[0]) * (said[0] > 0),
        _reciprocal_rank(said[1]) * (said[1] > 0),
        _of_best(said[0]),
        _of_best(said[1]),
        np.log1p(20 * cold),
        np.log1p(20 * warm),
        np.log1p(20 * made.of_law(cold)),
        np.log1p(20 * made.of_law(warm)),
        _above(made.of_law(nearest, best=True), middle),
        _above(made.of_law(near[0].astype(np.float64), best=True), middle),
        _of_best(made.of_law((said[0] + said[1]).astype(np.float64), best=True)),
        made.has_text,
        made.lines,
        np.log1p(20 * expected),
        np.log1p(20 * made.of_law(expected, best=True)),
        np.log1p(20 * _referred(made, np.maximum(cold, expected))),
    ]
    return np.stack(columns, axis=1)


def best_by_clause(
    rows: NDArray[np.float32], mask: NDArray[np.bool_], row_clause: NDArray[np.int64], clauses: int
) -> NDArray[np.float32]:
    """For each clause the best value of its rows in the mask; -1 where it has none."""
    best = np.full(clauses, -1.0, dtype=np.float32)
    np.maximum.at(best, row_clause[mask], rows[mask])
    return best


def _above(values: NDArray[np.floating], middle: float) -> NDArray[np.float64]:
    """Ten times how far a cosine lies above the middle of all rows, at least -1."""
    return np.asarray(10 * np.maximum(values - middle, -0.1), dtype=np.float64)


def _reciprocal_rank(values: NDArray[np.floating]) -> NDArray[np.float64]:
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return RANK_K / (RANK_K + ranks)


def _of_best(values: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(values / max(float(values.max()), 1e-6), dtype=np.float64)


def _votes(index: SearchIndex, cosine: NDArray[np.float32]) -> tuple[NDArray[np.float64], ...]:
    """The nearest lines vote for their clauses, by softmax over their cosines; once cold, once warm."""
    lines = np.where(index.row_asked, cosine, -1.0)
    voters = np.argsort(-lines, kind="stable")[:VOTERS]
    found = []
    for temperature in (COLD, WARM):
        weights = np.exp((lines[voters] - lines[voters[0]]) / temperature)
        votes = np.zeros(len(index.book.clauses))
        for row, weight in zip(voters, weights / weights.sum(), strict=True):
            votes[index.row_clause[row]] += weight
            for other in index.structure.row_also[row]:
                votes[other] += ALSO_SHARE * weight
        found.append(votes)
    return tuple(found)


def _referred(made: Structure, votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """What clauses get from the ones that refer to them: the best votes of a referrer."""
    out = np.zeros(len(votes))
    for k in np.argsort(-votes, kind="stable")[:VOTERS]:
        for clause in made.book.clauses[k].see:
            if (other := made.position.get(clause)) is not None:
                out[other] = max(out[other], votes[k])
    return out


@lru_cache(maxsize=1)
def _read() -> tuple[str, tuple[float, ...]]:
    try:
        data = yaml.safe_load(PATH.read_text(encoding="utf-8"))
        return str(data["embedder_sha256"]), tuple(float(data["weights"][name]) for name in FEATURES)
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ContractError(f"{PATH.name} is damaged ({error}); run: python -m eval.weights --write") from error


def weights_for(embedder_sha256: str) -> NDArray[np.float64] | None:
    """The weights in the order of `FEATURES`, or ``None`` when they were learned with another embedder."""
    learned_with, weights = _read()
    return np.array(weights) if learned_with == embedder_sha256 else None
