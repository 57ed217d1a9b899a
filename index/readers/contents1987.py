"""Contents pages: which they are, and the titles that they give. They are no law text, but they know lost numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from index.readers.join_words import join_lines
from index.readers.outline1987 import Labels, fill_lost, label_of, next_labels
from index.readers.russian import Words

_LEADER = re.compile(r"(?<!\.)\.{3,}\s?\d")
_FEW = 3
_ENTRY = re.compile(r"(?P<title>.{1,200}?)(?<!\.)\.{2,}\s?(?P<page>\d{1,3})(?=\s|\Z)", re.DOTALL)
_LABEL = re.compile(
    r"(?:Правило (?P<law>\d{1,2})|(?P<section>[A-H])|(?P<item>\d{1,2})|\((?P<subitem>[A-H])\)|\((?P<last>\d{1,2})\))\.\s?(?=\S)"
)


@dataclass(frozen=True)
class Entry:
    """A line of the contents: labels of the clause, its title, the printed page where it stands."""

    labels: Labels
    title: str
    page: int


def is_contents(text: str) -> bool:
    """Whether a page is contents or index: dot leaders with numbers behind them."""
    return len(_LEADER.findall(text)) >= _FEW


def read_contents(text: str, words: Words) -> tuple[Entry, ...]:
    """The entries of one contents page that name a clause, in order; chapters and an index give none."""
    entries: list[Entry] = []
    path: Labels = ()
    for title, page in _entries(join_lines((line for line in text.split("\n") if line.strip()), words)):
        label = _LABEL.match(title)
        labels = next_labels(path, *label_of(label)) if label else None
        if label and labels:
            path = labels
            entries.append(Entry(labels, title[label.end() :].strip(), page))
    filled = fill_lost([entry.labels for entry in entries])
    return tuple(Entry(labels, entry.title, entry.page) for labels, entry in zip(filled, entries, strict=True))


def _entries(text: str) -> Iterator[tuple[str, int]]:
    for entry in _ENTRY.finditer(text):
        yield entry["title"].strip(), int(entry["page"])
