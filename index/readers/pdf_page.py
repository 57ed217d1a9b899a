"""One page of a PDF: its words into rows, its columns one after the other, its lines into paragraphs.

Coordinates are in points from the top left corner of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

_SAME_ROW = 0.5
"""Two words stand in one row when their middles are apart by less than this share of the smaller one's height."""
_GUTTER = 1.0
"""Least width of the blank between two columns, in heights of a line; blanks between words are narrower."""
_MIDDLE = (0.35, 0.65)
"""Where the gutter of two columns lies, as shares of the text's width. A narrow first column is a table, read by rows."""
_FULL_ROWS = 0.3
"""Share of rows that may cross the gutter (titles over both columns)."""
_STRAY_ROWS = 0.05
"""Share of rows (one at least) that may run into the gutter without making it narrower."""
_COLUMN_FILL = 0.5
"""Lines of a column fill at least this share of it, as prose does and the columns of a table do not."""
_MIN_COLUMN = 3
"""Rows of a column."""
_TWO_COLUMNS = 0.5
"""Share of pages with two columns that makes them the rule of a book."""
_PARAGRAPH = 1.35
"""A gap this much wider than between the lines of a paragraph starts a new one."""
_SMALL = 0.8
"""A digit under this share of its row's size, and raised, is a mark of a footnote."""
_RAISED = 0.15
"""How far above the foot of its row, in sizes of its row, a raised digit ends."""
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word of a page and its box; ``size`` is that of its letters in points."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    bold: bool

    @property
    def middle(self) -> float:
        """Height of its middle."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Row:
    """Words side by side, from left to right."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words with blanks between."""
        return " ".join(word.text for word in self.words)

    @property
    def top(self) -> float:
        """The height at which it begins."""
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        """The height at which it ends."""
        return max(word.bottom for word in self.words)

    @property
    def style(self) -> tuple[float, bool]:
        """Size and boldness of most of its letters."""
        letters = Counter[tuple[float, bool]]()
        for word in self.words:
            letters[round(word.size), word.bold] += len(word.text)
        return letters.most_common(1)[0][0]


def make_rows(found: Iterable[dict[str, Any]]) -> list[Row]:
    """Rows of the words that pdfplumber gives (with their characters); footnote marks become superscript digits."""
    return [_with_marks(row) for row in rows_of([_word(word) for word in found])]


def rows_of(words: Sequence[Word]) -> list[Row]:
    """Words grouped into rows, from the top down."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: word.middle):
        if rows:
            height = min(word.bottom - word.top, rows[-1][0].bottom - rows[-1][0].top)
            if word.middle - median(other.middle for other in rows[-1][-8:]) < _SAME_ROW * height:
                rows[-1].append(word)
                continue
        rows.append([word])
    return [Row(tuple(sorted(row, key=lambda word: word.x0))) for row in rows]


def lines_of(pages: Sequence[Sequence[Row]]) -> list[list[str]]:
    """The lines of each page in reading order, an empty one between paragraphs."""
    blocks = [_blocks(rows, gutter) if rows else [] for rows, gutter in zip(pages, _gutters(pages), strict=True)]
    pitches = _pitches([block for page in blocks for block in page])
    lines: list[list[str]] = []
    above: Row | None = None
    for page in blocks:
        lines.append([])
        for block in page:
            for k, row in enumerate(block):
                if above and _begins(row, above, pitches, k == 0):
                    lines[-1].append("")
                lines[-1].append(row.text)
                above = row
        above = _last_of_text(page) or above
    return lines


def _word(found: dict[str, Any]) -> Word:
    chars = found["chars"]
    largest, foot = max(char["size"] for char in chars), max(char["bottom"] for char in chars)
    text = ""
    for char in chars:
        letter = _LIGATURES.get(char["text"], char["text"])
        is_mark = char["size"] < _SMALL * largest and char["bottom"] < foot - _RAISED * largest
        text += letter.translate(_SUPERSCRIPTS) if is_mark else letter
    bold = 2 * sum(bool(_BOLD.search(char["fontname"])) for char in chars) > len(chars)
    return Word(text, found["x0"], found["x1"], found["top"], found["bottom"], median(char["size"] for char in chars), bold)


def _with_marks(row: Row) -> Row:
    size, foot = row.style[0], median(word.bottom for word in row.words)
    return Row(
        tuple(
            replace(word, text=word.text.translate(_SUPERSCRIPTS))
            if word.text.isdigit() and word.size < _SMALL * size and word.bottom < foot - _RAISED * size
            else word
            for word in row.words
        )
    )


def _gutters(pages: Sequence[Sequence[Row]]) -> list[float | None]:
    """The gutter of each page; one whose columns are too short to be told gets the usual one, if hardly a row crosses it."""
    gutters = [find_gutter(rows) for rows in pages]
    found = [gutter for gutter in gutters if gutter is not None]
    if not found or len(found) < _TWO_COLUMNS * sum(map(bool, pages)):
        return gutters
    usual = median(found)
    return [
        usual if gutter is None and sum(_crosses(row, usual) for row in rows) <= _FULL_ROWS * len(rows) else gutter
        for rows, gutter in zip(pages, gutters, strict=True)
    ]


def _blocks(rows: Sequence[Row], gutter: float | None) -> list[list[Row]]:
    """The rows in reading order: above a title over both columns first the left column, then the right one."""
    if gutter is None:
        return [list(rows)]
    blocks: list[list[Row]] = []
    band: list[Row] = []
    for row in [*rows, None]:
        if row is not None and not _crosses(row, gutter):
            band.append(row)
            continue
        words = [word for other in band for word in other.words]
        for side in ([w for w in words if w.x1 <= gutter], [w for w in words if w.x1 > gutter]):
            if side:
                blocks.append(rows_of(side))
        band = []
        if row is not None:
            blocks.append([row])
    return blocks


def find_gutter(rows: Sequence[Row]) -> float | None:
    """Where the blank between two columns of prose lies, or ``None`` when the page has one column."""
    if len(rows) < 2 * _MIN_COLUMN:
        return None
    left = min(row.words[0].x0 for row in rows)
    right = max(row.words[-1].x1 for row in rows)
    start, stop = (left + share * (right - left) for share in _MIDDLE)
    places = [start + 2 * k for k in range(int((stop - start) / 2) + 1)]
    crossing = [sum(_crosses(row, place) for row in rows) for place in places]
    fewest = min(crossing)
    if fewest > _FULL_ROWS * len(rows):
        return None
    gutter = _middle_of_longest(places, [count <= fewest + max(1, _STRAY_ROWS * len(rows)) for count in crossing])
    words = [word for row in rows if not _crosses(row, gutter) for word in row.words]
    columns = (
        (rows_of([w for w in words if w.x1 <= gutter]), gutter - left),
        (rows_of([w for w in words if w.x1 > gutter]), right - gutter),
    )
    return gutter if all(_is_prose(column, width) for column, width in columns) else None


def _middle_of_longest(places: Sequence[float], fits: Sequence[bool]) -> float:
    """The middle of the longest run of neighbouring places that fit."""
    runs: list[list[float]] = [[]]
    for place, fit in zip(places, fits, strict=True):
        if fit:
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    longest = sorted(runs, key=len)[-1]
    return longest[len(longest) // 2]


def _is_prose(column: Sequence[Row], width: float) -> bool:
    if len(column) < _MIN_COLUMN:
        return False
    return median(row.words[-1].x1 - row.words[0].x0 for row in column) >= _COLUMN_FILL * width


def _crosses(row: Row, place: float) -> bool:
    """Whether text of the row runs over the place: a word does, or the blank there is one between words."""
    left = [word for word in row.words if word.x1 <= place]
    right = [word for word in row.words if word.x0 >= place]
    if len(left) + len(right) < len(row.words):
        return True
    if not left or not right:
        return False
    return right[0].x0 - left[-1].x1 < _GUTTER * (row.bottom - row.top)


def _begins(row: Row, above: Row, pitches: Mapping[float, float], elsewhere: bool) -> bool:
    """Whether a paragraph begins with the row: it looks otherwise than the one above, or stands further below it.

    ``elsewhere``: the one above is the last of another column or page, so that their distance says nothing.
    """
    if row.style != above.style:
        return True
    pitch = pitches.get(row.style[0])
    return not elsewhere and pitch is not None and row.top - above.top > _PARAGRAPH * pitch


def _pitches(blocks: Sequence[Sequence[Row]]) -> dict[float, float]:
    """From line to line within paragraphs, by the size of the letters: the smallest distance that comes more than once."""
    steps: dict[float, Counter[int]] = {}
    for block in blocks:
        for above, below in pairwise(block):
            if below.style == above.style and below.top > above.top:
                steps.setdefault(below.style[0], Counter())[round(below.top - above.top)] += 1
    return {size: min([step for step, n in counts.items() if n > 1] or counts) for size, counts in steps.items()}


def _last_of_text(page: Sequence[Sequence[Row]]) -> Row | None:
    """The last row of a page that is not in smaller letters than most of it, as footnotes are."""
    rows = [row for block in page for row in block]
    if not rows:
        return None
    usual = median(row.style[0] for row in rows)
    return next((row for row in reversed(rows) if row.style[0] >= usual), None)
