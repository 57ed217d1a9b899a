"""Finds the numbered parts of a law in its running text: ``A.``, ``1.``, ``(a)``, ``(i)``, several on a line or one a line.

A mark is taken for the start of a part only if its number is the next that the text must come to at one of the open levels,
and if what stands around it is no reference ("as in (a) above", "see Law⏎27. The"). A missing part leaves a gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from index.readers.law_headings import refers
from index.readers.sheets import from_roman, to_roman
from index.readers.titles import is_title

LARGEST_GAP = 3
"""A part at the start of a line may follow one that stands so many numbers before it: what lies between is lost."""

FAR = 200
"""So many marks ahead are searched for the part that seems to be missing."""

NEAR = 120
"""Characters around a mark that tell whether it is a reference."""

_REFERS_ON = re.compile(r"\s*(?:above|below|hereunder|(?:,|and\b|or\b)\s*\()")
_MAY_REFER_ON = re.compile(r"\s*(?:foregoing|preceding|following|applies|apply)\b")
_JOINED = re.compile(r"[,;:]\s*(?:and|or|either|but|if|when)$")
_ENDED = re.compile(r"[.:;!?)\]][\"'”’)\]\ue000-\uf8ff]*$")


@dataclass(frozen=True)
class Level:
    """One level of numbering: the pattern of its mark (group 1 the number), its number's value, how ids show it."""

    pattern: str
    value: Callable[[str], int]
    shown: Callable[[int], str]


LETTER = Level(r"([A-Z])\.(?![A-Z]\.)", lambda text: ord(text) - 64, lambda n: chr(64 + n))
DIGIT = Level(r"(\d{1,2})\.(?![\d,])", int, str)
SMALL = Level(r"\(([a-z])\.?\)", lambda text: ord(text) - 96, lambda n: f"({chr(96 + n)})")
ROMAN = Level(r"\(([ivx]{1,5})\.?\)", from_roman, lambda n: f"({to_roman(n)})")

LAW_LEVELS = (LETTER, DIGIT, SMALL, ROMAN)
"""The levels of the Laws of bridge in English: ``27B1(a)(i)``."""


@dataclass(frozen=True)
class Part:
    """A numbered part: its id below the law's number (``B1(a)``, empty for what stands first) and its text as it stands.

    ``start`` is where its mark stands in the law's text; ``own_line``: whether that is the start of a line.
    """

    id: str
    text: str
    start: int = 0
    own_line: bool = False


@dataclass(frozen=True)
class _Mark:
    """A mark in the text: where it starts and ends, the level and number it may have."""

    start: int
    end: int
    level: int
    number: int
    own_line: bool


@dataclass(frozen=True)
class _State:
    """Where the reading stands: the number reached at each open level, and the end of the last mark taken."""

    path: tuple[int, ...] = ()
    end: int = 0


def split_parts(text: str, levels: Sequence[Level] = LAW_LEVELS) -> tuple[Part, ...]:
    """Split a law's text (its lines parted by line ends) into its numbered parts, in order; the first is what precedes all."""
    marks = tuple(_marks(text, levels))
    taken: list[tuple[_Mark, tuple[int, ...]]] = []
    state = _State()
    for k, mark in enumerate(marks):
        if mark.start < state.end or not _step(mark, state) or not _is_start(mark, state, text):
            continue
        if not _reads_lower(marks, k, state) and not _comes_later(marks, k, state):
            state = _State((*state.path[: mark.level], mark.number), mark.end)
            taken.append((mark, state.path))
    ends = [mark.start for mark, _ in taken] + [len(text)]
    parts = [Part("", text[: ends[0]])]
    for (mark, path), end in zip(taken, ends[1:], strict=True):
        shown = "".join(levels[k].shown(n) for k, n in enumerate(path))
        parts.append(Part(shown, text[mark.end : end], mark.start, mark.own_line))
    return tuple(parts)


def _marks(text: str, levels: Sequence[Level]) -> Iterator[_Mark]:
    """All marks in the text, in order; one that may belong to two levels ((i), (v)) stands twice, the upper level first."""
    found = []
    for number, level in enumerate(levels):
        for match in re.finditer(level.pattern, text):
            if value := level.value(match[1]):
                line_start = text.rfind("\n", 0, match.start()) + 1
                own_line = text[line_start : match.start()].strip() == ""
                found.append(_Mark(match.start(), match.end(), number, value, own_line))
    return iter(sorted(found, key=lambda mark: (mark.start, mark.level)))


def _step(mark: _Mark, state: _State) -> int:
    """How many numbers on this mark is at an open level or the one below; 0 if it cannot come here.

    Only at the start of a line may it leave a gap.
    """
    if mark.level > len(state.path):
        return 0
    step = mark.number - (state.path[mark.level] if mark.level < len(state.path) else 0)
    return step if step == 1 or (mark.own_line and 1 < step <= LARGEST_GAP) else 0


def _is_start(mark: _Mark, state: _State, text: str) -> bool:
    """Whether a part may start here, by what stands around the mark."""
    before, after = text[max(state.end, mark.start - NEAR) : mark.start], text[mark.end : mark.end + NEAR]
    if not before.strip():
        return True  # right behind another mark ("1.(a)"), or first of all
    if not before[-1].isspace() or _REFERS_ON.match(after):
        return False
    before = before.rstrip()
    whole_title = mark.number == 1 and mark.start - state.end <= NEAR and is_title(text[state.end : mark.start])
    if whole_title or _JOINED.search(before):
        return True
    if refers(before) or _MAY_REFER_ON.match(after):
        return False
    in_brackets = text[mark.start] == "(" and (mark.number == 1 or before.endswith(","))
    return mark.own_line or in_brackets or bool(_ENDED.search(before))


def _reads_lower(marks: Sequence[_Mark], k: int, state: _State) -> bool:
    """Whether mark ``k`` is also the first of a lower level ((i): a letter or a roman number) and (ii) comes before (j)."""
    mark, other = marks[k], marks[k + 1] if k + 1 < len(marks) else marks[k]
    if other.start != mark.start or other is mark or not _step(other, state):
        return False
    for later in marks[k + 2 : k + FAR]:
        for reading in (mark, other):
            if (later.level, later.number) == (reading.level, reading.number + 1):
                return reading is other
    return False


def _comes_later(marks: Sequence[_Mark], k: int, state: _State) -> bool:
    """Whether a mark that leaves a gap has the missing number behind it: then it is a reference or a row of a table."""
    mark = marks[k]
    missing = mark.number - _step(mark, state) + 1
    if missing == mark.number:
        return False
    for later in marks[k + 1 : k + FAR]:
        if later.own_line and later.level < mark.level:
            break
        if later.own_line and later.level == mark.level and later.number == missing:
            return True
    return False
