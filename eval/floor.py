"""Calibrate the floor under which the book does not cover a question.

Covered questions are the book's asked-as lines, each searched with its own row left out; uncovered ones are
``off_topic.yaml``. The floor is the cosine that keeps `KEEP` of the covered ones; its figures come from cross-validation
over Laws (each fold's floor is set without the fold). Run ``python -m eval.floor`` to print, ``--write`` to store.
"""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from index.books import DEFAULT_BOOK, read_book
from index.search import cosines
from index.store import SearchIndex, open_index
from rag.calibration import PATH
from rag.models import open_embedder
from rag.question import with_terms

KEEP = 0.98
"""Share of covered questions that must stay above the floor: a false refusal costs more than an idle quote."""
FOLDS = 5
BATCH = 256
"""Questions measured at once."""
OFF_TOPIC = Path(__file__).resolve().parent / "off_topic.yaml"


def nearest_other(index: SearchIndex, texts: list[str], own_rows: list[int]) -> NDArray[np.float32]:
    """Cosine of each text to its nearest row other than its own (``-1``: none to leave out), shape ``(texts,)``.

    The same cosines as `index.search.Ranking.nearest`, which the product holds against the floor.
    """
    nearest = np.empty(len(texts), dtype=np.float32)
    for start in range(0, len(texts), BATCH):
        rows = cosines(index, texts[start : start + BATCH])
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


def main() -> None:
    """Print the figures; with ``--write`` store the floor in ``rag/calibration.yaml``."""
    book = read_book(DEFAULT_BOOK)
    index = open_index(book, open_embedder(), print)
    rows = np.flatnonzero(index.row_asked)
    asked = [with_terms(line.text, line.lang, book.lang) for clause in book.clauses for line in clause.asked]
    covered = nearest_other(index, asked, [int(row) for row in rows])
    laws = np.array([book.clauses[index.row_clause[row]].id.law or 0 for row in rows], dtype=np.int64)
    off_topic = yaml.safe_load(OFF_TOPIC.read_text(encoding="utf-8"))
    questions = [with_terms(text, lang, book.lang) for lang, texts in off_topic.items() for text in texts]
    uncovered = nearest_other(index, questions, [-1] * len(questions))
    floor = floor_of(covered)
    kept, total = cross_validated(covered, laws)
    refused = int((uncovered < floor).sum())
    print(f"floor {floor:.4f} on {date.today().isoformat()}")
    print(f"covered questions kept {kept}/{total} (cross-validated), off-topic questions refused {refused}/{len(uncovered)}")
    if "--write" in sys.argv:
        figures = {"covered_kept": f"{kept}/{total}", "off_topic_refused": f"{refused}/{len(uncovered)}"}
        record = {"embedder_sha256": index.embedder.hash, "floor": round(floor, 4), **figures}
        head = "# Made by: python -m eval.floor --write. Bound to the embedder: refused with another one.\n"
        PATH.write_text(head + yaml.safe_dump(record, sort_keys=False), encoding="utf-8")
        print(f"written to {PATH}")


if __name__ == "__main__":
    main()
