"""Find the clauses that answer a question.

With the embedder that the weights of `index.ranking` were learned with, a clause scores by them. With another one, four ranked
lists are fused by reciprocal rank (Cormack, Clarke & Büttcher 2009): dense and BM25, each over the clause texts and over the
asked-as lines, a clause counting by its best row; clauses that the best ones refer to follow with a share of their score.
Clauses named by number come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from index.clause_id import ClauseId
from index.ranking import Prior, best_by_clause, features, weights_for
from index.store import SearchIndex
from index.types import Book, Hit

TOP_K = 10
"""Clauses a search gives unless told otherwise."""
RRF_K = 10
"""Constant of reciprocal rank fusion: the larger, the less the first places count."""
DEPTH = 50
"""Clauses of each list that take part in the fusion."""
LIST_WEIGHTS = {"dense-clause": 1.0, "dense-asked": 1.0, "bm25-clause": 0.5, "bm25-asked": 0.5}
"""Weights of the four lists."""
NEIGHBOUR_SOURCES = 3
"""The best clauses whose cross references are pulled in."""
NEIGHBOUR_SHARE = 0.5
"""Share of its referrer's score that a clause pulled in by a cross reference gets."""


@dataclass(frozen=True)
class Ranking:
    """The hits, best first, and what tells whether the book covers the question.

    ``nearest`` is the cosine of the nearest row of all; ``vector`` the question's embedding, shape ``(dimension,)``;
    ``is_named`` whether a clause of the book is named by its number.
    """

    hits: tuple[Hit, ...]
    nearest: float
    vector: NDArray[np.float32] = field(compare=False)
    is_named: bool = False


def search(index: SearchIndex, question: str, k: int = TOP_K, named: Sequence[ClauseId] = ()) -> list[Hit]:
    """The ``k`` best clauses, best first. ``named``: ids that stand in the question; they and their branches lead.

    Scores are in (0, 1], the best clause's near 1; a clause named by number scores 1.
    """
    return list(rank(index, question, k, named).hits)


def rank(
    index: SearchIndex,
    question: str,
    k: int = TOP_K,
    named: Sequence[ClauseId] = (),
    prior: Prior | None = None,
    vector: NDArray[np.float32] | None = None,
) -> Ranking:
    """As `search`, with the cosine that tells whether the book covers the question at all.

    ``prior``: see `index.ranking`; ``vector``: the question's, shape ``(1, dimension)``, where it is made already.
    """
    clauses = index.book.clauses
    query = index.embedder.encode([question], "query") if vector is None else vector
    (cosine_rows,) = similarities(index, query)
    words = index.bm25.scores(question)
    weights = weights_for(index.embedder.hash)
    if weights is None:
        fused = _fused(index, cosine_rows, words)
    else:
        scores = features(index, cosine_rows, words, prior or {}) @ weights
        fused = np.exp(scores - scores.max())
    cosine = best_by_clause(cosine_rows, np.ones_like(index.row_asked), index.row_clause, len(clauses))
    ranked = _named_first(index, named)
    taken = set(ranked)
    ranked += [int(c) for c in np.argsort(-fused, kind="stable") if fused[c] > 0 and int(c) not in taken]
    hits = []
    for c in ranked[:k]:
        by_number = c in taken
        score = 1.0 if by_number else float(fused[c])
        hits.append(Hit(clauses[c], round(score, 6), 1.0 if by_number else float(max(cosine[c], 0.0))))
    return Ranking(tuple(hits), float(cosine_rows.max()), query[0], bool(taken))


def cosines(index: SearchIndex, questions: Sequence[str]) -> NDArray[np.float32]:
    """Cosine of each question to every row, shape ``(questions, rows)``."""
    return similarities(index, index.embedder.encode(questions, "query"))


def similarities(index: SearchIndex, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosine of each query vector to every row, shape ``(queries, rows)``."""
    count = index.vectors.ntotal
    scores, rows = index.vectors.search(query, count)
    out = np.empty_like(scores)
    np.put_along_axis(out, rows, scores, axis=1)
    return out


def _fused(index: SearchIndex, cosine: NDArray[np.float32], words: NDArray[np.float32]) -> NDArray[np.float64]:
    """Reciprocal rank fusion of the four lists, with the neighbours of the best."""
    lists = {}
    for name, rows in (("dense", cosine), ("bm25", words)):
        for kind, mask in (("clause", ~index.row_asked), ("asked", index.row_asked)):
            lists[f"{name}-{kind}"] = best_by_clause(rows, mask, index.row_clause, len(index.book.clauses))
    fused = _fuse(lists)
    _pull_in_neighbours(index, fused)
    return fused


def _fuse(lists: dict[str, NDArray[np.float32]]) -> NDArray[np.float64]:
    total = sum(LIST_WEIGHTS.values()) / (RRF_K + 1)
    fused = np.zeros(len(next(iter(lists.values()))))
    for name, scores in lists.items():
        order = np.argsort(-scores, kind="stable")[:DEPTH]
        for rank, clause in enumerate(order, start=1):
            if scores[clause] > 0:
                fused[clause] += LIST_WEIGHTS[name] / (RRF_K + rank) / total
    return fused


def with_items(book: Book, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, each that only leads in ("may do one of these:") followed by what stands below it, with its score."""
    found: dict[ClauseId, Hit] = {}
    for hit in hits:
        below = book.branch(hit.clause.id)[1:] if hit.clause.is_lead_in else ()
        for one in (hit, *(Hit(clause, hit.score, hit.cosine) for clause in below if clause.text)):
            found.setdefault(one.clause.id, one)
    return tuple(found.values())


def _pull_in_neighbours(index: SearchIndex, fused: NDArray[np.float64]) -> None:
    book, position = index.book, index.structure.position
    for best in np.argsort(-fused, kind="stable")[:NEIGHBOUR_SOURCES]:
        clause = book.clauses[best]
        pulled = [(ref, NEIGHBOUR_SHARE) for ref in clause.see]
        if clause.is_lead_in:  # "may do one of these:" says nothing without what stands below it
            pulled += [(below.id, 1.0) for below in book.branch(clause.id)[1:]]
        for ref, share in pulled:
            if (k := position.get(ref)) is not None and book.clauses[k].text:
                fused[k] = max(fused[k], share * fused[best])


def _named_first(index: SearchIndex, named: Iterable[ClauseId]) -> list[int]:
    position = index.structure.position
    found: list[int] = []
    for clause_id in named:
        branch = [position[c.id] for c in index.book.branch(clause_id) if c.text or c.id == clause_id]
        found += [k for k in branch if k not in found]
    return found
