"""The stories that were not trained on: search and heads are calibrated on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from index.books import DEFAULT_BOOK, read_book
from index.embedder import Chances, Embedder
from index.lessons import IRREGULARITY
from index.stories import Story, is_held_out, read_stories
from index.terms import with_terms
from rag.lessons import labels_of
from rag.lexical import lexical


@dataclass(frozen=True)
class Guess:
    """What the readers make of one question of a story, heads and words each, and the truth ("" for not stated)."""

    question: str
    heads: Mapping[str, float]
    words: Mapping[str, float] | None
    truth: str


@lru_cache(maxsize=1)
def held_out() -> tuple[Story, ...]:
    """The stories that were not trained on."""
    return tuple(story for story in read_stories(read_book(DEFAULT_BOOK).folder) if is_held_out(story.q))


def searched(story: Story) -> str:
    """The text as it is searched and read."""
    return with_terms(story.q, story.lang, read_book(DEFAULT_BOOK).lang)


def guesses(embedder: Embedder) -> tuple[tuple[Guess, ...], tuple[Guess, ...]]:
    """The guesses at the irregularity and at the facts of all held-out stories."""
    irregularities: list[Guess] = []
    facts: list[Guess] = []
    reader = lexical()
    for story in held_out():
        heads: Chances = embedder.read(searched(story))[1] or {}
        words: Chances = reader.read(searched(story)) if reader else {}
        for question, truth in labels_of(story).items():
            if question in heads:
                guess = Guess(question, heads[question], words.get(question), truth)
                (irregularities if question == IRREGULARITY else facts).append(guess)
    return tuple(irregularities), tuple(facts)
