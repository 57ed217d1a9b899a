"""Calibrate from which confidence on an irregularity and a fact are taken as told, on the stories that were not trained on.

Each threshold is the lowest that keeps a share of what passes it right: a premature ruling is worse than a question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eval.held_out import Guess
from index.lessons import NOT_STATED
from rag.reading import Thresholds

RIGHT_IRREGULARITY = 0.85
"""Share of the irregularities ruled by that must be right."""
RIGHT_FACT = 0.92
"""Share of the facts taken as told that must be right."""
RIGHT_SILENCE = 0.92
"""Share of the facts taken as not told that must be so."""
STEPS = np.arange(0.2, 0.981, 0.02)


def thresholds(irregularities: Sequence[Guess], facts: Sequence[Guess]) -> Thresholds:
    """The thresholds for these guesses."""
    return Thresholds(
        irregularity=_lowest(irregularities, lambda guess: guess.chances[guess.best], _is_right, RIGHT_IRREGULARITY),
        fact=_lowest([g for g in facts if g.best != NOT_STATED], lambda g: g.chances[g.best], _is_right, RIGHT_FACT),
        presume=_lowest(facts, lambda g: g.chances.get(NOT_STATED, 0.0), lambda g: g.truth == NOT_STATED, RIGHT_SILENCE),
    )


def cross_validated(irregularities: Sequence[Guess], facts: Sequence[Guess], folds: int = 5) -> dict[str, str]:
    """What the thresholds of the other folds do to a fold: shares as k/n."""
    counts = {
        name: [0, 0] for name in ("irregularity right", "irregularity taken", "fact right", "fact taken", "silence right")
    }

    def count(name: str, hits: int, total: int) -> None:
        counts[name][0] += hits
        counts[name][1] += total

    for fold in range(folds):
        made = thresholds(_without(irregularities, fold, folds), _without(facts, fold, folds))
        named = [g for g in irregularities[fold::folds] if g.chances[g.best] >= made.irregularity]
        count("irregularity right", sum(map(_is_right, named)), len(named))
        count("irregularity taken", len(named), len(irregularities[fold::folds]))
        told = [g for g in facts[fold::folds] if g.best != NOT_STATED and g.chances[g.best] >= made.fact]
        stated = [g for g in facts[fold::folds] if g.truth != NOT_STATED]
        count("fact right", sum(map(_is_right, told)), len(told))
        count("fact taken", sum(g.best == g.truth and g.chances[g.best] >= made.fact for g in stated), len(stated))
        silent = [g for g in facts[fold::folds] if g.chances.get(NOT_STATED, 0.0) >= made.presume]
        count("silence right", sum(g.truth == NOT_STATED for g in silent), len(silent))
    return {name: f"{hits}/{total}" for name, (hits, total) in counts.items()}


def _without(guesses: Sequence[Guess], fold: int, folds: int) -> list[Guess]:
    return [guess for k, guess in enumerate(guesses) if k % folds != fold]


def _is_right(guess: Guess) -> bool:
    return guess.best == guess.truth


def _lowest(
    guesses: Sequence[Guess], value: Callable[[Guess], float], is_right: Callable[[Guess], bool], share: float
) -> float:
    """The lowest threshold at which that share of what reaches it is right; the highest step when none does."""
    for step in STEPS:
        passed = [guess for guess in guesses if value(guess) >= step]
        if passed and sum(map(is_right, passed)) >= share * len(passed):
            return round(float(step), 2)
    return round(float(STEPS[-1]), 2)
