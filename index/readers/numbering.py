"""Which marks at line starts number clauses, and what each stands for: the reading of the whole book that fits best.

A mark alone says little: ``2.`` may be Law 2, the second part of a section, or an item of a list; ``(i)`` a letter or a roman
number; "Law 64." the end of a sentence that began on the line above. A reading of the whole text costs nothing where each
number follows the one before, something for each gap, and something for each mark taken for plain text. The cheapest reading
is found line by line, keeping the best few (a beam search).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from index.readers.markers import DIGIT, LAW, LETTER, SMALL, Mark, Place, find_mark

Places = tuple[Place, ...]
"""The places of a clause number, from the law down."""

BEAM = 24
"""Readings kept from line to line."""
_LAW_GAP, _PER_LAW, _MOST_LAWS = 1.0, 0.02, 25
_GAP, _PER_STEP, _MOST_STEPS = 0.6, 0.15, 6
_RESTART, _BARE_RESTART = 4.0, 6.0
"""For a law number below the one before (contents before the text, the second of two texts), and for a bare one."""
_REPEATED_AT_TOP, _REPEATED = 0.2, 2.5
"""For the heading of the law that is open already, at the top of a page (a running head) and elsewhere."""
_TEXT = {"explicit": 5.0, "full": 2.0, "number": 1.2, "bare": 0.5, "letter": 1.2}
"""For a mark taken for plain text."""
_WRAPPED_TEXT = {"explicit": 0.8, "full": 0.3, "number": 0.6, "bare": 0.1, "letter": 0.9}
"""The same where the line goes on with a sentence of the line above."""
_BRACKETS = 0.1
"""For ``(B)`` as the letter of a section rather than of a part of it."""
_INSIDE = -0.1
"""For a mark inside a line that follows exactly: better than to take it for text, which costs nothing there."""
_NO_PLACE = 0.2
"""For a letter or number taken for text where no part with it could follow."""
_NO_TITLE, _TITLE = 0.3, 0.05
"""For ``2.`` as a law without a title behind it, and as a part of a section with one."""


@dataclass(frozen=True)
class Line:
    """A line of text. ``wrapped``: it goes on with the sentence above; ``titled``: it is short, with no full stop.

    ``at_top``: first of its page; ``opens_file``: no line before it in its file begins with a law's heading; ``inside``: it is
    not a line of its own, so its mark counts only where it follows exactly on the one before; ``is_reference``: the line above
    ends with "Law".
    """

    text: str
    wrapped: bool = False
    titled: bool = False
    at_top: bool = False
    opens_file: bool = False
    inside: bool = False
    is_reference: bool = False


@dataclass(frozen=True)
class Opening:
    """A clause that begins on line ``line`` with the text from ``start`` on; ``path`` is empty for a running head."""

    line: int
    path: Places
    start: int


class _Reading(NamedTuple):
    cost: float
    path: Places
    openings: _Trail | None


class _Trail(NamedTuple):
    last: Opening
    before: _Trail | None


def number_clauses(lines: Sequence[Line]) -> list[Opening]:
    """The clauses that begin in the lines, in their order. The text of a clause runs to the next opening."""
    only_words = _has_law_words(lines)
    readings = [_Reading(0.0, (), None)]
    for number, line in enumerate(lines):
        mark = find_mark(line.text)
        if mark is None or line.is_reference or not (places := _readings(mark, only_words)):
            continue
        best: dict[Places, _Reading] = {}
        for reading in readings:
            for option in _options(reading, number, line, mark, places, only_words):
                if option.path not in best or option.cost < best[option.path].cost:
                    best[option.path] = option
        readings = sorted(best.values(), key=lambda reading: reading.cost)[:BEAM]
    return list(_unwind(readings[0].openings))[::-1]


def _has_law_words(lines: Sequence[Line]) -> bool:
    """Whether laws are headed by a word or sign; then a bare number is no law."""
    marks = filter(None, (find_mark(line.text) for line in lines))
    return len({mark.readings[0][0].value for mark in marks if mark.explicit}) > 1


def _readings(mark: Mark, only_words: bool) -> list[Places]:
    bare_law = only_words and not mark.explicit
    return [places for places in mark.readings if not (bare_law and len(places) == 1 and places[0].level == LAW)]


def _options(
    reading: _Reading, number: int, line: Line, mark: Mark, places: Sequence[Places], only_words: bool
) -> Iterator[_Reading]:
    """The readings that one line makes of one: its mark as text, or as each of the places it may stand for."""
    yield reading._replace(cost=reading.cost + _text_cost(mark, line, reading.path))
    for reading_places in places:
        if (cost := _cost(reading.path, reading_places, line, mark)) is None:
            continue
        if _is_open_law(reading.path, reading_places) and not line.opens_file:
            running_head = Opening(number, (), len(line.text))
            yield _Reading(reading.cost + cost, reading.path, _Trail(running_head, reading.openings))
            continue
        path = (*reading.path[: reading_places[0].level], *reading_places)
        opened = _Reading(reading.cost + cost, path, _Trail(Opening(number, path, mark.length), reading.openings))
        yield opened
        yield from _nested(opened, number, line, mark.length, only_words)


def _nested(reading: _Reading, number: int, line: Line, start: int, only_words: bool) -> Iterator[_Reading]:
    """A second mark right behind the first (``A. 1. Text``), as the first clause below it."""
    mark = find_mark(line.text[start:])
    if mark is None or mark.explicit:
        return
    for places in _readings(mark, only_words):
        if len(places) == 1 and places[0].level == len(reading.path) and places[0].value == 1:
            end = start + mark.length
            opened = reading._replace(
                cost=reading.cost - _PER_LAW,  # of two readings that fit, the one that uses the mark
                path=(*reading.path, places[0]),
                openings=_Trail(Opening(number, (*reading.path, places[0]), end), reading.openings),
            )
            yield opened
            yield from _nested(opened, number, line, end, only_words)


def _cost(path: Places, places: Places, line: Line, mark: Mark) -> float | None:
    """What it costs to go on from a clause to the places of a mark; ``None``: it cannot be."""
    level = places[0].level
    if level > len(path) or (_is_open_law(path, places) and not mark.explicit):
        return None
    if _is_open_law(path, places):
        return _PER_LAW if line.opens_file else _REPEATED_AT_TOP if line.at_top else _REPEATED
    new = (*(place.value for place in path[:level]), *(place.value for place in places))
    old = tuple(place.value for place in path)
    first = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if first == len(new):
        return None
    step = new[first] - (old[first] if first < len(old) else 0)
    below = sum(_gap(k, new[k]) for k in range(first + 1, len(new)))
    if line.inside:
        return _INSIDE if step == 1 and not below and first != LAW else None
    if step > 0:
        return below + _gap(first, step) + _shape_cost(places, line, mark)
    return below + _restart_cost(line, mark) if first == LAW else None


def _restart_cost(line: Line, mark: Mark) -> float:
    if line.opens_file:
        return _PER_LAW
    return _RESTART if mark.explicit or len(mark.readings[0]) > 1 else _BARE_RESTART


def _is_open_law(path: Places, places: Places) -> bool:
    return len(places) == 1 and places[0].level == LAW and path[:1] == places


def _gap(level: int, step: int) -> float:
    if step == 1:
        return 0.0
    if level == LAW:
        return _LAW_GAP + _PER_LAW * min(step, _MOST_LAWS)
    return _GAP + _PER_STEP * min(step - 1, _MOST_STEPS)


def _shape_cost(places: Places, line: Line, mark: Mark) -> float:
    if len(mark.readings) == 1 or mark.explicit:
        return 0.0
    if places[0].level == LAW and len(places) == 1:
        return 0.0 if line.titled else _NO_TITLE
    if any(other[0].level == SMALL for other in mark.readings) and places[0].level == LETTER:
        return _BRACKETS
    return _TITLE if places[0].level == DIGIT and line.titled else 0.0


def _text_cost(mark: Mark, line: Line, path: Places) -> float:
    """What it costs to take a mark for text: little where no clause could begin with it, the path being open."""
    if line.inside:
        return 0.0
    if mark.explicit:
        kind = "explicit"
    elif len(mark.readings[0]) > 1:
        kind = "full"
    else:
        parts = [places[0] for places in mark.readings if places[0].level != LAW]
        kind = "bare" if not parts else "number" if parts[0].level == DIGIT else "letter"
        if parts and not any(_goes_on(path, part) for part in parts):
            return _NO_PLACE
    return (_WRAPPED_TEXT if line.wrapped else _TEXT)[kind]


def _goes_on(path: Places, part: Place) -> bool:
    """Whether a part of the open clause, or of one above it, can follow with this number."""
    return LAW < part.level <= len(path) and part.value > (path[part.level].value if part.level < len(path) else 0)


def _unwind(trail: _Trail | None) -> Iterator[Opening]:
    while trail:
        yield trail.last
        trail = trail.before
