"""How often the search finds the law that decides, beside the embedder alone and BM25 alone on the same book and questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.gold import Gold
from eval.metrics import Rate, by_law, measure, must_by_law, rate
from index.clause_id import ClauseId
from index.embedder import Progress
from index.errors import BookError
from index.search import cosines
from index.store import SearchIndex
from rag.desk import Desk, find

DEPTH = 10
"""Clauses looked at."""
SYSTEMS = ("Tablelaw", "embedder alone", "BM25 alone")
"""The product, and its peers: the nearest clause texts, without asked-as lines; the words, over all that is indexed."""


@dataclass(frozen=True)
class Found:
    """What a system found for a question, best first (at most `DEPTH` ids)."""

    gold: Gold
    system: str
    ranked: tuple[ClauseId, ...]


def retrieve(
    desk: Desk, gold: Sequence[Gold], progress: Progress | None = None, with_peers: bool = True
) -> tuple[tuple[Found, ...], int]:
    """What each system, or the product only, finds for each question that has deciding clauses.

    Also how many questions were left out, since their book is not here.
    """
    found: list[Found] = []
    left_out = 0
    asked = [one for one in gold if one.must_cite]
    for number, one in enumerate(asked, start=1):
        try:
            index = desk.index_of(one.book)
        except BookError:
            left_out += 1
            continue
        question, ranking = find(desk, one.question, DEPTH, one.book)
        ranked = [tuple(hit.clause.id for hit in ranking.hits)]
        if with_peers:
            dense = np.where(index.row_asked, -1.0, cosines(index, [question.text])[0])
            ranked += [_best(index, dense), _best(index, index.bm25.scores(question.text))]
        found += [Found(one, system, ids) for system, ids in zip(SYSTEMS, ranked, strict=False)]
        if progress:
            progress(number, len(asked))
    return tuple(found), left_out


def _best(index: SearchIndex, rows: NDArray[np.float32]) -> tuple[ClauseId, ...]:
    best = np.full(len(index.book.clauses), -np.inf)
    np.maximum.at(best, index.row_clause, rows)
    order = np.argsort(-best, kind="stable")[:DEPTH]
    return tuple(index.book.clauses[k].id for k in order if np.isfinite(best[k]))


def measures(found: Iterable[Found]) -> dict[str, Rate]:
    """All measures over what one system found, each with its interval: by clause, and by law (``law recall@5``)."""
    values: dict[str, list[float]] = defaultdict(list)
    for row in found:
        for name, value in measure(row.ranked, row.gold.must).items():
            values[f"clause {name}" if name.startswith("recall") else name].append(value)
        for name, value in measure(by_law(row.ranked), must_by_law(row.gold.must)).items():
            if name.startswith("recall"):
                values[f"law {name}"].append(value)
    return {name: rate(of_all) for name, of_all in values.items()}


def by(found: Iterable[Found], key: Callable[[Gold], str]) -> dict[str, list[Found]]:
    """What was found, by a property of the question."""
    groups: dict[str, list[Found]] = defaultdict(list)
    for row in found:
        groups[key(row.gold)].append(row)
    return dict(sorted(groups.items()))
