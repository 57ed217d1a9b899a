"""Typing mistakes, made on purpose: to train the embedder on them and to measure what they cost."""

from __future__ import annotations

import random

_ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя")
MIN_LETTERS = 4
"""Shorter words are left as they are: seats, cards and calls must stay what they are."""


def with_typos(text: str, rng: random.Random, share: float) -> str:
    """The text with about ``share`` of its longer words mistyped: a letter dropped, doubled, replaced, or two swapped."""
    return " ".join(
        _mistyped(word, rng) if len(word) >= MIN_LETTERS and word.isalpha() and rng.random() < share else word
        for word in text.split(" ")
    )


def _mistyped(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    alphabet = next((letters for letters in _ALPHABETS if word[at].lower() in letters), "")
    ways = [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + (rng.choice(alphabet) if alphabet else word[at]) + word[at + 1 :],
    ]
    return rng.choice(ways)
