"""The stories that were not trained on: search and heads are calibrated on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from index.books import DEFAULT_BOOK, read_book
from index.embedder import Chances, Embedder
from index.lessons import IRREGULARITY, NOT_STATED
from index.stories import Story, is_held_out, read_stories
from index.terms import with_terms
from rag.lessons import labels_of


@dataclass(frozen=True)
class Guess:
    """What the heads make of one question of a story: its probabilities and the truth ("" for not stated)."""

    question: str
    chances: dict[str, float]
    truth: str

    @property
    def best(self) -> str:
        """The likeliest option."""
        return max(self.chances, key=lambda option: self.chances[option])


@lru_cache(maxsize=1)
def held_out() -> tuple[Story, ...]:
    """The stories that were not trained on."""
    return tuple(story for story in read_stories(read_book(DEFAULT_BOOK).folder) if is_held_out(story.q))


def searched(story: Story) -> str:
    """The text as it is searched and read."""
    return with_terms(story.q, story.lang, read_book(DEFAULT_BOOK).lang)


def guesses(embedder: Embedder) -> tuple[tuple[Guess, ...], tuple[Guess, ...]]:
    """The heads' guesses at the irregularity and at the facts of all held-out stories."""
    irregularities: list[Guess] = []
    facts: list[Guess] = []
    for story in held_out():
        chances: Chances = embedder.read(searched(story)) or {}
        for question, truth in labels_of(story).items():
            if question in chances:
                guess = Guess(question, dict(chances[question]), truth)
                (irregularities if question == IRREGULARITY else facts).append(guess)
    return tuple(irregularities), tuple(facts)


def fact_told(guess: Guess, floor: float) -> bool:
    """Whether a fact is taken as told."""
    return guess.best != NOT_STATED and guess.chances[guess.best] >= floor
