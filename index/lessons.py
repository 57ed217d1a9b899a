"""What the heads are taught: questions with the texts of their options, and texts with the options they state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from index.stories import is_held_out

IRREGULARITY = "irregularity"
"""The question whose options are the procedures."""
NOT_STATED = ""
"""The option of a question that the story does not answer."""

Labels = Mapping[str, str]
"""Question -> the option that a text states (``""``: it is not stated)."""


@dataclass(frozen=True)
class Taught:
    """A question: its text, and for each option the texts that stand for it."""

    text: str
    options: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Lessons:
    """``questions`` by name; ``labels`` of the book's lines, by text; ``phrases``: groups of texts that say the same."""

    questions: Mapping[str, Taught]
    labels: Mapping[str, Labels]
    phrases: Sequence[tuple[Sequence[str], Labels]]

    def lines(self) -> Iterator[tuple[str, Labels]]:
        """Every text that may be learned from, with what it states: the stories but for those held out, and the phrases."""
        yield from ((line, labels) for line, labels in self.labels.items() if not is_held_out(line))
        yield from ((text, labels) for texts, labels in self.phrases for text in texts)
