"""Running heads, footers and page numbers: rows at the edges of pages that say the same, or count, from page to page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from index.readers.markers import is_law_heading
from index.readers.pdf_page import Row

_EDGE = 2
"""Rows at the top and at the foot of a page that may be running heads."""
_NEAR = 4.0
"""Points by which the place of a running head may differ between pages."""
_OFTEN = 3
"""Pages on which a row must stand alike to be a running head, in a book of more than `_SHORT` pages."""
_SHORT = 4
_ISOLATED = 1.5
"""On a single page, a number below a gap of this many line distances is its page number."""
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ENDS = re.compile(r"^\W*(?P<first>\d{1,4}|[ivxlc]{1,7})\b|\b(?P<last>\d{1,4}|[ivxlc]{1,7})\W*$", re.IGNORECASE)
_ONLY_A_LAW = re.compile(r"\W*[^\W\d]*\W*\d+\W*")
_NUMBER_ALONE = re.compile(
    r"\W*(?:[^\W\d_]{1,5}\.?\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|[^\W\d_]{1,3})\s*\d{1,4})?\W*", re.IGNORECASE
)


def without_running_heads(pages: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The rows of each page without running heads, footers and page numbers.

    A row that names a law at its beginning is only one of them when the number of the page stands at its end: the heading
    of a law that goes on over several pages is told from a running head by the reader, which knows what law is open.
    """
    numbers = _page_numbers(pages)
    repeated = _repeated(pages)
    kept = []
    for number, rows in enumerate(pages):
        dropped = set()
        for k in _edges(rows):
            is_head = _key(rows[k]) in repeated and not is_law_heading(rows[k].text)
            if (number, k) in numbers or is_head or _is_lone_page_number(pages, rows, k):
                dropped.add(k)
        kept.append([row for k, row in enumerate(rows) if k not in dropped])
    return kept


def _edges(rows: Sequence[Row]) -> Iterator[int]:
    """Rows that may be running heads, as positions; a page of few rows has but its first and its last."""
    depth = _EDGE if len(rows) > 2 * _EDGE else 1
    yield from sorted({k for k in (*range(depth), *range(len(rows) - depth, len(rows))) if 0 <= k < len(rows)})


def _page_numbers(pages: Sequence[Sequence[Row]]) -> set[tuple[int, int]]:
    """The rows with the number of their page, as (page, row): at one height, a number that counts on from page to page."""
    votes: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for number, rows in enumerate(pages):
        for k in _edges(rows):
            for found in _numbers(rows[k].text):
                votes.setdefault((found - number, _height(rows[k])), set()).add((number, k))
    filled = sum(map(bool, pages))
    best: set[tuple[int, int]] = set()
    for (shift, height), places in votes.items():
        near = places | votes.get((shift, height + 1), set())
        best = max(best, near, key=len)
    return best if len(best) >= max(2, filled / 2) else set()


def _numbers(text: str) -> set[int]:
    """Numbers at the two ends of a row; that of a law is none."""
    if _ONLY_A_LAW.fullmatch(text) and is_law_heading(text):
        return set()
    found = (match["first"] or match["last"] for match in _ENDS.finditer(text))
    return {int(part) if part.isdigit() else _roman(part) for part in found}


def _roman(text: str) -> int:
    values = [_ROMAN[letter] for letter in text.lower()]
    return sum(-value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True))


def _repeated(pages: Sequence[Sequence[Row]]) -> set[tuple[str, int]]:
    places = Counter[tuple[str, int]]()
    for rows in pages:
        for key in {_key(rows[k]) for k in _edges(rows)}:
            places[key] += 1
    enough = _OFTEN if len(pages) > _SHORT else 2
    return {key for key, count in places.items() if count + max(places[key[0], key[1] + d] for d in (-1, 1)) >= enough}


def _key(row: Row) -> tuple[str, int]:
    return row.text.casefold(), _height(row)


def _height(row: Row) -> int:
    return round(row.top / _NEAR)


def _is_lone_page_number(pages: Sequence[Sequence[Row]], rows: Sequence[Row], k: int) -> bool:
    """Whether the last row of the only page is a number apart from the text."""
    if len(pages) > 1 or k != len(rows) - 1 or k < 2 or not _NUMBER_ALONE.fullmatch(rows[k].text):  # noqa: PLR2004
        return False
    steps = [below.top - above.top for above, below in pairwise(rows)]
    return steps[-1] > _ISOLATED * median(steps[:-1])
