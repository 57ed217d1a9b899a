"""Learn the weights of search (`index.ranking`): ``python -m eval.weights`` prints, ``--write`` stores.

Learned on the stories that the embedder was not trained on, each searched with its own row left out; regularised listwise
softmax regression. Dev is not used; ``--ablation`` measures on it what each group of features adds.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np
import yaml
from numpy.typing import NDArray

from eval.gold import Gold, of_split, read_gold
from eval.held_out import held_out, searched
from eval.metrics import by_law, measure, must_by_law, rate
from index.books import DEFAULT_BOOK
from index.clause_id import parse_clause_id
from index.ranking import FEATURES, PATH, features
from index.search import similarities
from index.store import SearchIndex
from index.structure import Structure
from index.terms import with_terms
from rag.calibration import calibration_for
from rag.desk import open_desk
from rag.mixing import read_text
from rag.prior import expected_clauses
from rag.terminal import print_table

L2 = 2e-3
"""Strength of the regularisation of standardised weights."""
LATER = 0.5
"""Weight of a story's second deciding clause against its first, and so on."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "clause vectors": ("clause cosine", "clause rank"),
    "+ lines as vectors": ("line cosine", "line rank", "lines"),
    "+ words (BM25)": ("clause words rank", "line words rank", "clause words", "line words"),
    "+ votes of lines": ("cold votes", "warm votes"),
    "+ the law as a whole": (
        "cold votes of the law",
        "warm votes of the law",
        "nearest row of the law",
        "nearest clause of the law",
        "words of the law",
        "has text",
    ),
    "+ references": ("referred to",),
    "+ irregularity and facts": ("expected", "expected of the law"),
}


def features_of(index: SearchIndex, text: str, own: str = "") -> NDArray[np.float64]:
    """The features of a question; the row of the line ``own`` is left out."""
    calibration = calibration_for(index.embedder.hash)
    query, chances = read_text(index.embedder, text, calibration.mixing if calibration else None)
    (cosine,) = similarities(index, query)
    words = index.bm25.scores(text)
    if own:
        left_out = [row for row, line in enumerate(index.structure.row_line) if line and line.text == own]
        cosine[left_out], words[left_out] = -1.0, 0.0
    return features(index, cosine, words, expected_clauses(chances))


def learn(given: NDArray[np.float64], wanted: NDArray[np.float64], columns: Sequence[int]) -> NDArray[np.float64]:
    """Weights of the columns: ``given`` of shape ``(questions, clauses, features)``, ``wanted`` ``(questions, clauses)``."""
    import torch

    chosen = torch.tensor(given[:, :, list(columns)])
    scale = chosen.std(dim=(0, 1)) + 1e-9
    weights = torch.zeros(len(columns), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (chosen / scale) @ weights
        value = -(torch.tensor(wanted) * scores.log_softmax(1)).sum(1).mean() + L2 * (weights**2).sum()
        value.backward()
        return value

    optimizer.step(loss)
    return np.asarray((weights / scale).detach().numpy())


def main() -> None:
    """Learn, print, and store or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    options = parser.parse_args()
    desk = open_desk("none", print)
    index = desk.index_of(DEFAULT_BOOK)
    made = index.structure
    stories = held_out()
    given = np.stack([features_of(index, searched(story), story.q) for story in stories])
    wanted = np.zeros(given.shape[:2])
    for row, story in enumerate(stories):
        for place, clause in enumerate(map(parse_clause_id, story.clauses)):
            if clause in made.position:
                wanted[row, made.position[clause]] = LATER**place
    wanted /= wanted.sum(1, keepdims=True)
    weights = learn(given, wanted, range(len(FEATURES)))
    print(f"learned on {len(stories)} stories")
    if options.ablation:
        _ablation(index, made, given, wanted)
    if options.write:
        record = {
            "embedder_sha256": index.embedder.hash,
            "date": date.today().isoformat(),
            "stories": len(stories),
            "weights": {name: round(float(weight), 5) for name, weight in zip(FEATURES, weights, strict=True)},
        }
        note = "# Made by: python -m eval.weights --write. Bound to the embedder: not used with another one.\n"
        PATH.write_text(note + yaml.safe_dump(record, sort_keys=False), encoding="utf-8")
        print(f"written to {PATH}")


def _ablation(index: SearchIndex, made: Structure, given: NDArray[np.float64], wanted: NDArray[np.float64]) -> None:
    dev = [one for one in of_split(read_gold(), "dev") if one.must_cite and one.book == DEFAULT_BOOK]
    texts = [with_terms(one.question, one.lang, index.book.lang) for one in dev]
    asked = np.stack([features_of(index, text) for text in texts])
    rows = []
    columns: list[int] = []
    for name, group in GROUPS.items():
        columns += [FEATURES.index(feature) for feature in group]
        rows.append({"features": name, **_rates(made, asked[:, :, columns] @ learn(given, wanted, columns), dev)})
    for name, group in GROUPS.items():
        kept = [k for k, feature in enumerate(FEATURES) if feature not in group]
        scores = asked[:, :, kept] @ learn(given, wanted, kept)
        rows.append({"features": f"all but {name.removeprefix('+ ')}", **_rates(made, scores, dev)})
    print_table(rows, tuple(rows[0]))


def _rates(made: Structure, scores: NDArray[np.float64], gold: Sequence[Gold]) -> dict[str, str]:
    """Recall at 5 by clause and law, in all, in English and in Russian."""
    found: dict[str, list[float]] = {}
    for one, row in zip(gold, scores, strict=True):
        ranked = [made.book.clauses[k].id for k in np.argsort(-row, kind="stable")[:10]]
        clause = measure(ranked, one.must)["recall@5"]
        law = measure(by_law(ranked), must_by_law(one.must))["recall@5"]
        for part in ("all", one.lang):
            found.setdefault(f"clause@5 {part}", []).append(clause)
            found.setdefault(f"law@5 {part}", []).append(law)
    return {name: str(rate(values)) for name, values in sorted(found.items())}


if __name__ == "__main__":
    main()
