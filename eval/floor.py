"""Calibrate what tells whether the book covers a question: a floor, and a linear head over the question's embedding.

Covered questions are the book's asked-as lines, each searched with its own row left out; uncovered ones are
``off_topic.yaml`` and the unanswerable gold questions of the train split. The floor is the cosine that keeps `KEEP` of the
covered ones; the head is a logistic regression, moved so that it keeps `HEAD_KEEP` of those that it was not made from. Figures
come from cross-validation, over Laws and over the uncovered questions: each fold is judged by what was made without it. Run
``python -m eval.floor`` to print, ``--write`` to store.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from eval.gold import of_split, read_gold
from eval.held_out import guesses
from eval.reading import cross_validated as cross_validated_reading
from eval.reading import fit_mixing, mix, thresholds
from index.books import DEFAULT_BOOK, read_book
from index.embedder import Vectors
from index.search import similarities
from index.store import SearchIndex, open_index
from index.terms import with_terms
from rag.calibration import PATH, judge
from rag.models import open_embedder

KEEP = 0.995
"""Share of covered questions that must stay above the floor: a false refusal costs more than an idle quote."""
HEAD_KEEP = 0.96
"""Share of covered questions that the head must keep: at most one in twenty may be refused."""
HEAD_C = 100.0
"""Inverse strength of the head's regularisation."""
FOLDS = 5
EVERY = 3
"""One asked-as line in so many is used."""
BATCH = 256
"""Questions measured at once."""
OFF_TOPIC = Path(__file__).resolve().parent / "off_topic.yaml"


def nearest_other(index: SearchIndex, vectors: Vectors, own_rows: Sequence[int]) -> NDArray[np.float32]:
    """Cosine of each query vector to its nearest row other than its own (``-1``: none to leave out), shape ``(queries,)``.

    The same cosines as `index.search.Ranking.nearest`, which the product holds against the floor.
    """
    nearest = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), BATCH):
        rows = similarities(index, vectors[start : start + BATCH])
        for k, own in enumerate(own_rows[start : start + BATCH]):
            if own >= 0:
                rows[k, own] = -1.0
        nearest[start : start + BATCH] = rows.max(axis=1)
    return nearest


def cross_validated(covered: NDArray[np.float32], laws: NDArray[np.int64]) -> tuple[int, int]:
    """How many covered questions stay above the floor set without their fold, of how many; folds are whole Laws."""
    kept = 0
    for fold in range(FOLDS):
        inside = laws % FOLDS == fold
        if inside.any():
            kept += int((covered[inside] >= floor_of(covered[~inside])).sum())
    return kept, len(covered)


def floor_of(covered: NDArray[np.float32]) -> float:
    """The floor that keeps `KEEP` of these."""
    return float(np.quantile(covered, 1 - KEEP))


def head_of(covered: Vectors, laws: NDArray[np.int64], uncovered: Vectors) -> NDArray[np.float32]:
    """Weights and bias, shape ``(dimension + 1,)``, moved to keep `HEAD_KEEP` of the covered vectors, each judged unseen."""
    weights = _regression(covered, uncovered)
    return np.append(weights, -np.quantile(_out_of_fold(covered, laws, uncovered), 1 - HEAD_KEEP)).astype(np.float32)


def head_cross_validated(covered: Vectors, laws: NDArray[np.int64], uncovered: Vectors) -> tuple[int, int]:
    """Covered questions kept and uncovered ones refused by heads made without their fold."""
    kept = refused = 0
    folds = np.arange(len(uncovered)) % FOLDS
    for fold in range(FOLDS):
        head = head_of(covered[laws % FOLDS != fold], laws[laws % FOLDS != fold], uncovered[folds != fold])
        kept += int(judge(head, covered[laws % FOLDS == fold]).sum())
        refused += int((~judge(head, uncovered[folds == fold])).sum())
    return kept, refused


def _out_of_fold(covered: Vectors, laws: NDArray[np.int64], uncovered: Vectors) -> NDArray[np.float32]:
    """Scores of the covered vectors by regressions made without their Laws, shape ``(covered,)``."""
    scores = np.zeros(len(covered), dtype=np.float32)
    for inside in (laws % FOLDS == fold for fold in range(FOLDS)):
        if inside.any():
            scores[inside] = covered[inside] @ _regression(covered[~inside], uncovered)
    return scores


def _regression(covered: Vectors, uncovered: Vectors) -> NDArray[np.float32]:
    """Weights of a logistic regression, shape ``(dimension,)``; its bias is of no use, as the head is moved."""
    from sklearn.linear_model import LogisticRegression

    labels = np.r_[np.ones(len(covered)), np.zeros(len(uncovered))]
    model = LogisticRegression(C=HEAD_C, class_weight="balanced", max_iter=3000).fit(np.r_[covered, uncovered], labels)
    weights: NDArray[np.float32] = model.coef_[0].astype(np.float32)
    return weights


def uncovered_questions(book_lang: str) -> list[str]:
    """Questions that the book does not cover, as they are searched."""
    off_topic = yaml.safe_load(OFF_TOPIC.read_text(encoding="utf-8"))
    asked = [(text, lang) for lang, texts in off_topic.items() for text in texts]
    asked += [(one.question, one.lang) for one in of_split(read_gold(), "train") if one.is_uncovered]
    return [with_terms(text, lang, book_lang) for text, lang in asked]


def main() -> None:
    """Print the figures; with ``--write`` store floor and head in ``rag/calibration.yaml``."""
    book = read_book(DEFAULT_BOOK)
    index = open_index(book, open_embedder(), print)
    rows = np.flatnonzero(index.row_asked)[::EVERY]
    asked = [with_terms(line.text, line.lang, book.lang) for clause in book.clauses for line in clause.asked][::EVERY]
    laws = np.array([book.clauses[index.row_clause[row]].id.law or 0 for row in rows], dtype=np.int64)
    vectors = index.embedder.encode(asked, "query")
    nearest = nearest_other(index, vectors, [int(row) for row in rows])
    outside = index.embedder.encode(uncovered_questions(book.lang), "query")
    floor, (above, total) = floor_of(nearest), cross_validated(nearest, laws)
    kept, refused = head_cross_validated(vectors, laws, outside)
    print(f"floor {floor:.4f} on {date.today().isoformat()}: covered questions above it {above}/{total} (cross-validated)")
    irregularities, facts = guesses(index.embedder)
    print(f"head: covered questions kept {kept}/{total}, uncovered ones refused {refused}/{len(outside)} (cross-validated)")
    told = cross_validated_reading(irregularities, facts)
    mixing = fit_mixing(irregularities, facts)
    reading = thresholds(mix(irregularities, mixing), mix(facts, mixing))
    print(f"reading of {len(irregularities)} stories (cross-validated): {told}; {mixing}; {reading}")
    if "--write" in sys.argv:
        head = [round(float(value), 4) for value in head_of(vectors, laws, outside)]
        figures = {
            "above_floor": f"{above}/{total}",
            "head_kept": f"{kept}/{total}",
            "head_refused": f"{refused}/{len(outside)}",
        }
        figures |= {name.replace(" ", "_"): value for name, value in told.items()}
        record = {
            "embedder_sha256": index.embedder.hash,
            "floor": round(floor, 4),
            "reading": asdict(reading),
            "mixing": {name: list(pair) for name, pair in asdict(mixing).items()},
            **figures,
            "head": head,
        }
        note = "# Made by: python -m eval.floor --write. Bound to the embedder: refused with another one.\n"
        PATH.write_text(note + yaml.safe_dump(record, sort_keys=False, default_flow_style=None), encoding="utf-8")
        print(f"written to {PATH}")


if __name__ == "__main__":
    main()
