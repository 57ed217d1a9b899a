"""What a story tells: the irregularity and the facts, each with the probability that the embedder's heads give it.

Only what is told with enough confidence is taken; below it the director is asked. The thresholds are calibrated on stories that
were not trained on (`eval.reading`) and bound to the embedder's hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from index.embedder import Chances
from index.lessons import IRREGULARITY, NOT_STATED
from rag.procedure import read_facts, read_procedures

CANDIDATES = 4
"""Irregularities offered for choice: the one ruled by, and the next three."""


@dataclass(frozen=True)
class Thresholds:
    """``irregularity``: ruled by from this probability on; ``fact``: taken as told; ``presume``: taken as not told."""

    irregularity: float
    fact: float
    presume: float


def irregularities(chances: Chances) -> tuple[tuple[str, float], ...]:
    """Procedures (``""``: none of them) with their probability, the likeliest first."""
    names = {*read_procedures(), NOT_STATED}
    known = [(name, chance) for name, chance in chances[IRREGULARITY].items() if name in names]
    return tuple(sorted(known, key=lambda one: -one[1]))


@dataclass(frozen=True)
class Reading:
    """Probabilities of the options of each question, as `index.heads` gives them, and the thresholds that hold for them."""

    chances: Mapping[str, Mapping[str, float]]
    thresholds: Thresholds

    def irregularities(self) -> tuple[tuple[str, float], ...]:
        """Procedures (``""``: none of them) with their probability, the likeliest first."""
        return irregularities(self.chances)

    def fact(self, name: str) -> tuple[str, float] | None:
        """The option that the story tells, with its probability; ``None`` when it tells none, or not clearly."""
        options = self._options(name)
        told = max(options, key=lambda option: options[option], default=NOT_STATED)
        if told == NOT_STATED or options[told] < self.thresholds.fact:
            return None
        return told, options[told]

    def may_presume(self, name: str, option: str) -> bool:
        """Whether the story is silent on a fact, or tells the option that would be presumed."""
        options = self._options(name)
        return not options or options.get(NOT_STATED, 0.0) + options.get(option, 0.0) >= self.thresholds.presume

    def _options(self, name: str) -> Mapping[str, float]:
        facts = read_facts()
        found = self.chances.get(name, {})
        return {option: chance for option, chance in found.items() if option == NOT_STATED or facts[name].has(option)}
