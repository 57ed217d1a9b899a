"""From what the model wrote to what may be shown: the clauses' own sentences, each under its clause number.

The model is asked to copy the sentences that decide; a bound one can write nothing else (`rag.prompt`). What an unbound one
writes counts when it holds nearly all words of a clause sentence in their order. Shown is the clause's own text, put in by
code: words the model made up, numbers it invented and ids that were not before it cannot reach the reader.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from index.types import Clause
from rag.ruling import Sentence

COPIED_SHARE = 0.85
"""Share of a clause sentence's words that must stand in the model's text, in order, for the sentence to count as copied."""
WHOLE_CLAUSE_WORDS = 60
"""A clause up to this length is shown whole when one of its sentences is copied: alone, a sentence can lose its condition."""
MIN_RUN = 3
"""Words; shorter runs in common are chance."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZА-ЯЁ(«\"])|\n{2,}")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Quotable:
    """The words (lower case) of a clause sentence put before the model, and what is shown when the model copies it."""

    sentence: Sentence
    words: tuple[str, ...]


def offers(clauses: Sequence[Clause]) -> tuple[Sentence, ...]:
    """What an answer from these clauses may show, each once."""
    return tuple(dict.fromkeys(one.sentence for one in quotables(clauses)))


def quotables(clauses: Sequence[Clause]) -> tuple[Quotable, ...]:
    """All sentences that an answer from these clauses may consist of."""
    found = []
    for clause in clauses:
        whole = " ".join(clause.text.split())
        is_short = len(whole.split()) <= WHOLE_CLAUSE_WORDS
        for text in _SENTENCE_END.split(clause.text):
            flat = " ".join(text.split())
            if words := _words(flat):
                found.append(Quotable(Sentence(whole if is_short else flat, (str(clause.id),)), words))
    return tuple(found)


def check(written: str, offered: Sequence[Quotable]) -> list[Sentence]:
    """The offered sentences that ``written`` copies, in the order in which it does."""
    words = _words(written)
    found: list[tuple[int, Sentence]] = []
    for candidate in offered:
        matcher = SequenceMatcher(None, words, candidate.words, autojunk=False)
        runs = [m for m in matcher.get_matching_blocks() if m.size >= min(MIN_RUN, len(candidate.words))]
        if sum(run.size for run in runs) >= COPIED_SHARE * len(candidate.words):
            found.append((runs[0].a, candidate.sentence))
    return [sentence for _, sentence in sorted(found, key=lambda pair: pair[0])]


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))
