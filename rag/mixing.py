"""The two readers of a story mixed: the embedder's heads and the words (`rag.lexical`); weights in ``calibration.yaml``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from index.embedder import Chances, Embedder, Vectors
from index.lessons import IRREGULARITY
from rag.lexical import lexical

LEAST = 1e-4
"""A probability is never taken for less: one reader cannot rule out an option alone."""


@dataclass(frozen=True)
class Mixing:
    """How much the heads and the words count, for the irregularity and for facts: exponents of their probabilities."""

    irregularity: tuple[float, float]
    fact: tuple[float, float]

    def mix(self, heads: Chances, words: Chances | None) -> dict[str, dict[str, float]]:
        """``p ~ heads**a * words**b``, scaled to sum to 1 for each question; what only one of them knows is taken from it."""
        found: dict[str, dict[str, float]] = {}
        for question, options in heads.items():
            a, b = self.irregularity if question == IRREGULARITY else self.fact
            other = (words or {}).get(question)
            logits = {name: a * _log(chance) for name, chance in options.items()}
            if other:
                logits = {name: logit + b * _log(other.get(name, 0.0)) for name, logit in logits.items()}
            found[question] = _softmax(logits)
        return found


def read_text(embedder: Embedder, text: str, mixing: Mixing | None) -> tuple[Vectors, Chances | None]:
    """The text's vector, and what it tells: by heads and words, or by the heads alone where no mixing is calibrated."""
    vector, heads = embedder.read(text)
    reader = lexical() if heads and mixing else None
    return vector, mixing.mix(heads, reader.read(text) if reader else None) if heads and mixing else heads


def _log(chance: float) -> float:
    return math.log(max(chance, LEAST))


def _softmax(logits: Mapping[str, float]) -> dict[str, float]:
    highest = max(logits.values())
    exponentials = {name: math.exp(value - highest) for name, value in logits.items()}
    total = sum(exponentials.values())
    return {name: value / total for name, value in exponentials.items()}
