"""Numbers that stand on a missing page: found from the neighbours, the contents list, or another copy of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from index.readers.outline1987 import Labels, Piece, fill_lost
from index.readers.russian import fold

# Where no other text is at hand, these titles tell the law of a page that has no law number on it (52 stands on no other page).
_TITLES = {
    "Первая заявка легальна": ("25", "B", "2", "B"),
    "До того, как любой игрок сделал назначение": ("30", "A"),
    "Карта болвана": ("45", "C", "3"),
    "Вистующий играет другой картой": ("52", "B"),
}
_THIS_SECTION = re.compile(r"раздел[а-я]*\s+[\"«(]?([A-H])[\"»)]?\s+этого\s+правила")


@dataclass(frozen=True)
class Title:
    """A clause known by title, from a contents list (then with its page) or another text."""

    labels: Labels
    title: str
    page: int | None = None


def number_pieces(pieces: Sequence[Piece], page: int | None, titles: Iterable[Title]) -> tuple[Piece, ...]:
    """The pieces of a run with their lost labels filled in where these can be known; ``page`` is where the run begins.

    In turn: what follows in the same run (Law 11 stands before "Правило 12"), titles of other texts and of the contents list
    for that page, the section that the text itself names, and a short table.
    """
    labels = fill_lost([piece.labels for piece in pieces])
    lost = [k for k, found in enumerate(labels) if None in found]
    if lost:
        group = [k for k in lost if _gap(labels[k]) == _gap(labels[lost[0]])]
        at_hand = [title for title in titles if title.page in (None, page)]
        prefix = (
            _by_title([(labels[k], pieces[k].heading) for k in group], at_hand)
            or _by_naming(labels[group[0]], (pieces[k].text for k in group))
            or _by_title(
                [(labels[k], pieces[k].heading) for k in group], [Title(known, title) for title, known in _TITLES.items()]
            )
        )
        for k in group if prefix else ():
            labels[k] = (*prefix, *labels[k][len(prefix) :])
    return tuple(replace(piece, labels=found) for piece, found in zip(pieces, labels, strict=True))


def _gap(labels: Labels) -> tuple[int, ...]:
    return tuple(level for level, label in enumerate(labels) if label is None)


def _by_title(lost: Sequence[tuple[Labels, str]], titles: Sequence[Title]) -> Labels:
    """The upper labels that most titles agree on; none when two readings have as many."""
    votes: Counter[Labels] = Counter()
    for labels, heading in lost:
        length = _gap(labels)[-1] + 1
        for known in titles:
            same = len(known.labels) == len(labels) and all(a in (None, b) for a, b in zip(labels, known.labels, strict=True))
            if same and None not in known.labels and _plain(heading) == _plain(known.title):
                votes[known.labels[:length]] += 1
    best = votes.most_common(2)
    return best[0][0] if best and (len(best) == 1 or best[0][1] > best[1][1]) else ()


def _by_naming(labels: Labels, texts: Iterable[str]) -> Labels:
    """The section that the texts call one of "this law", when only the section is lost and they name one alone."""
    named = {match[1] for text in texts for match in _THIS_SECTION.finditer(text)}
    return (labels[0], named.pop()) if _gap(labels) == (1,) and len(named) == 1 else ()


def _plain(title: str) -> str:
    return re.sub(r"[\W\d_]+", "", fold(title))


def named_sections(pieces: Iterable[Piece]) -> set[Labels]:
    """The sections that texts call a section "of this law"."""
    return {(piece.labels[0], match[1]) for piece in pieces for match in _THIS_SECTION.finditer(piece.text)}
