"""Calibrate the reading of stories on those that were not trained on: how heads and words are mixed, and what is taken as told.

The mixing maximises the likelihood of the truth. Each threshold is the lowest that keeps a share of what passes it right: a
premature ruling is worse than a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.held_out import Guess
from index.lessons import NOT_STATED
from rag.mixing import Mixing
from rag.reading import Thresholds

RIGHT_IRREGULARITY = 0.67
"""Share of the irregularities ruled by that must be right: a wrong one is seen at once, and changed by a tap."""
RIGHT_FACT = 0.90
"""Share of the facts taken as told that must be right."""
RIGHT_SILENCE = 0.90
"""Share of the facts taken as not told that must be so."""
STEPS = np.arange(0.2, 0.981, 0.02)
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
FOLDS = 5


@dataclass(frozen=True)
class Mixed:
    """A guess after mixing."""

    chances: Mapping[str, float]
    truth: str

    @property
    def best(self) -> str:
        """The likeliest option."""
        return max(self.chances, key=lambda option: self.chances[option])

    @property
    def is_right(self) -> bool:
        """Whether that is the truth."""
        return self.best == self.truth


def fit_mixing(irregularities: Sequence[Guess], facts: Sequence[Guess]) -> Mixing:
    """The exponents under which the truth is likeliest."""
    return Mixing(_likeliest(irregularities), _likeliest(facts))


def _likeliest(guesses: Sequence[Guess]) -> tuple[float, float]:
    def loss(pair: tuple[float, float]) -> float:
        mixed = mix(guesses, Mixing(pair, pair))
        return -sum(float(np.log(max(one.chances.get(one.truth, 0.0), 1e-6))) for one in mixed)

    pairs = [(a, b) for a in EXPONENTS for b in EXPONENTS if a or b]
    return min(pairs, key=loss)


def mix(guesses: Sequence[Guess], mixing: Mixing) -> list[Mixed]:
    """The guesses mixed."""
    found = []
    for guess in guesses:
        words = {guess.question: guess.words} if guess.words else None
        found.append(Mixed(mixing.mix({guess.question: guess.heads}, words)[guess.question], guess.truth))
    return found


def thresholds(irregularities: Sequence[Mixed], facts: Sequence[Mixed]) -> Thresholds:
    """The thresholds for these mixed guesses."""
    told = [one for one in facts if one.best != NOT_STATED]
    return Thresholds(
        irregularity=_lowest(irregularities, _confidence, lambda one: one.is_right, RIGHT_IRREGULARITY),
        fact=_lowest(told, _confidence, lambda one: one.is_right, RIGHT_FACT),
        presume=_lowest(facts, _silence, lambda one: one.truth == NOT_STATED, RIGHT_SILENCE),
    )


def cross_validated(irregularities: Sequence[Guess], facts: Sequence[Guess]) -> dict[str, str]:
    """What mixing and thresholds made from the other folds do to a fold: shares as k/n; heads and words alone beside it."""
    counts: dict[str, list[int]] = {}

    def count(name: str, values: Sequence[bool]) -> None:
        found = counts.setdefault(name, [0, 0])
        found[0], found[1] = found[0] + sum(values), found[1] + len(values)

    for fold in range(FOLDS):
        mixing = fit_mixing(_others(irregularities, fold), _others(facts, fold))
        made = thresholds(mix(_others(irregularities, fold), mixing), mix(_others(facts, fold), mixing))
        named, told = mix(irregularities[fold::FOLDS], mixing), mix(facts[fold::FOLDS], mixing)
        count("irregularity first", [one.is_right for one in named])
        count("irregularity in the first three", [one.truth in _first(one, 3) for one in named])
        count("irregularity right where taken", [one.is_right for one in named if _confidence(one) >= made.irregularity])
        count("irregularity taken", [_confidence(one) >= made.irregularity for one in named])
        taken = [one for one in told if one.best != NOT_STATED and _confidence(one) >= made.fact]
        count("fact right where taken", [one.is_right for one in taken])
        stated = [one for one in told if one.truth != NOT_STATED]
        count("stated fact read", [one.is_right and _confidence(one) >= made.fact for one in stated])
        count("silence right", [one.truth == NOT_STATED for one in told if _silence(one) >= made.presume])
    for name, alone in {"heads": Mixing((1, 0), (1, 0)), "words": Mixing((0, 1), (0, 1))}.items():
        count(f"irregularity first, {name} alone", [one.is_right for one in mix(irregularities, alone)])
        count(f"stated fact first, {name} alone", [one.is_right for one in mix(facts, alone) if one.truth != NOT_STATED])
    return {name: f"{hits}/{total}" for name, (hits, total) in counts.items()}


def _others(guesses: Sequence[Guess], fold: int) -> list[Guess]:
    return [guess for k, guess in enumerate(guesses) if k % FOLDS != fold]


def _first(one: Mixed, count: int) -> list[str]:
    return sorted(one.chances, key=lambda option: -one.chances[option])[:count]


def _confidence(one: Mixed) -> float:
    return one.chances[one.best]


def _silence(one: Mixed) -> float:
    return one.chances.get(NOT_STATED, 0.0)


def _lowest(
    guesses: Sequence[Mixed], value: Callable[[Mixed], float], is_right: Callable[[Mixed], bool], share: float
) -> float:
    """The lowest threshold at which that share of what reaches it is right; the highest step when none does."""
    for step in STEPS:
        passed = [guess for guess in guesses if value(guess) >= step]
        if passed and sum(map(is_right, passed)) >= share * len(passed):
            return round(float(step), 2)
    return round(float(STEPS[-1]), 2)
