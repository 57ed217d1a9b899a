"""Blanks of a Russian text as they should be: one between words, one behind a comma, none before it."""

from __future__ import annotations

import re

# "(см.правило 12)", "коробки,соответствующего", "торговли(см. ...)": the blank was lost. Initials (п.р., S.O.) have none.
_AFTER_STOP = re.compile(r"(?<=[^\W\d_]{2})([.!?])(?=[^\W\d_]|\()")
_AFTER_COMMA = re.compile(r"([,;:])(?=[^\W\d_]|[(\"«])|(?<=[^\W\d_)])([,;:])(?=\d)")
_IN_LIST = re.compile(r"(?<=\d),(?=\d+(?:,\s?\d+)*\s+(?:и|или)\s+\d)")  # "30,31 или 32", but not "0,5"
_BEFORE_BRACKET = re.compile(r"(?<=[а-яё.,)])(?=\()", re.IGNORECASE)
_BEFORE_STOP = re.compile(r"[^\S\n]+(?=[,.;:)!?](?:\s|$|[,.;:)]))")


def tidy(text: str) -> str:
    """The text with its lost blanks back and surplus ones gone; line ends stay."""
    text = re.sub(r"[^\S\n]+", " ", text)
    text = _AFTER_STOP.sub(r"\1 ", text)
    text = _AFTER_COMMA.sub(lambda match: f"{match[0]} ", text)
    text = _IN_LIST.sub(", ", text)
    text = _BEFORE_BRACKET.sub(" ", text)
    text = _BEFORE_STOP.sub("", text)
    return re.sub(r" *\n *", "\n", text).strip()
