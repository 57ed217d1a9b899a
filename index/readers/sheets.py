"""The lines of a document in reading order, without what the printer added to each page: page numbers and running heads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

PROGRESSION = 3
"""So many page numbers in step make a progression; fewer may be chance."""

HEAD_SHARE = 0.2
"""A line that stands at the edge of this share of the pages (and of `PROGRESSION` pages at least) is a running head."""

EDGE = 2
"""A running head is one of this many lines at the top or bottom of a page."""

PAGE_SIZE = 300
"""Between two page numbers in a text without page breaks stand at least so many characters: columns of figures do not count."""

RUNS = 3
"""Front pages, contents and body are numbered apart."""

_NUMBER = re.compile(r"(?:page\s+|[-–—|]\s*)?(?P<number>\d{1,4}|[ivxlc]{1,8})(?:\s*[-–—|])?(?:\s+of\s+\d+)?", re.IGNORECASE)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_LAW = re.compile(r"\W*law\s+\d", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of text, its blanks made single. ``page`` counts from 0; ``number`` is the line's in its file, from 1."""

    text: str
    page: int
    number: int


@dataclass(frozen=True)
class PageLines:
    """The lines that are text, in order, none empty, and those that are page numbers or running heads."""

    lines: tuple[Line, ...]
    dropped: tuple[str, ...]


def read_lines(pages: Sequence[str]) -> PageLines:
    """Split pages into lines. A form feed inside a page starts another; a text of one page is parted by its page numbers."""
    lines = tuple(_split(pages))
    furniture = _edge_numbers(lines) | _running_heads(lines)
    if not any(line.page for line in lines):
        numbers = _numbers_in_flow(lines)
        furniture |= numbers
        lines = tuple(_parted(lines, numbers))
    kept = tuple(line for line in lines if line.number not in furniture)
    return PageLines(kept, tuple(line.text for line in lines if line.number in furniture))


def from_roman(text: str) -> int:
    """The value of a roman number in small letters, 0 if it is none: ``xiv`` is 14."""
    values = [_ROMAN.get(letter, 0) for letter in text]
    if not values or 0 in values:
        return 0
    total = sum(-v if v < max(values[k + 1 :], default=0) else v for k, v in enumerate(values))
    return total if text == to_roman(total) else 0


def to_roman(number: int) -> str:
    """A number up to 399 in small roman letters: 14 is ``xiv``."""
    parts = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    shown = ""
    for value, letters in parts:
        count, number = divmod(number, value)
        shown += letters * count
    return shown


def _split(pages: Sequence[str]) -> Iterator[Line]:
    page, number = 0, 0
    for whole in pages:
        for sheet in whole.split("\f"):
            for text in re.split(r"\r\n?|\n|\v|\u2028|\u2029", sheet):
                number += 1
                if shown := " ".join(text.split()):
                    yield Line(shown, page, number)
            page += 1


def _value(line: Line) -> int:
    """The page number that a line is, 0 if it is none."""
    match = _NUMBER.fullmatch(line.text)
    if match is None:
        return 0
    return int(match["number"]) if match["number"].isdecimal() else from_roman(match["number"].lower())


def _pages(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    start = 0
    for k in range(1, len(lines) + 1):
        if k == len(lines) or lines[k].page != lines[start].page:
            yield lines[start:k]
            start = k


def _edge_numbers(lines: Sequence[Line]) -> set[int]:
    """Numbers that stand alone at the top or bottom of pages and go up with them."""
    edges = [(line.page, line) for page in _pages(lines) for line in {page[0], page[-1]} if _value(line)]
    steps = Counter(_value(line) - page for page, line in edges)
    least = max(2, min(PROGRESSION, len({line.page for line in lines})))
    return {line.number for page, line in edges if steps[_value(line) - page] >= least}


def _running_heads(lines: Sequence[Line]) -> set[int]:
    """Lines that come back at the edges of many pages, numbers apart; the heading of a law is none."""
    pages = list(_pages(lines))
    edges = [line for page in pages for line in {*page[:EDGE], *page[-EDGE:]} if not _LAW.match(line.text)]
    keys = {line.number: re.sub(r"\d+", "#", line.text.casefold()) for line in edges}
    counts = Counter(keys.values())
    least = max(PROGRESSION, HEAD_SHARE * len(pages))
    return {n for n, key in keys.items() if counts[key] >= least and re.search(r"[^\W\d_]{3}", key)}


@dataclass(frozen=True)
class _Chain:
    length: int
    offset: int
    line: Line
    before: _Chain | None


def _numbers_in_flow(lines: Sequence[Line]) -> set[int]:
    """Runs of numbers n, n+1, n+2 … that stand alone on lines a page apart: of the body, of the front pages."""
    numbers: set[int] = set()
    for _ in range(RUNS):
        numbers |= _longest_run([line for line in lines if line.number not in numbers])
    return numbers


def _longest_run(lines: Sequence[Line]) -> set[int]:
    chains: dict[str, _Chain] = {}
    longest: _Chain | None = None
    offset = 0
    for line in lines:
        offset += len(line.text)
        value = _value(line)
        if not value:
            continue
        kind = "arabic" if any(map(str.isdecimal, line.text)) else "roman"
        before = chains.get(f"{kind} {value - 1}")
        if before and offset - before.offset < PAGE_SIZE:
            before = None
        chain = _Chain(before.length + 1 if before else 1, offset, line, before)
        known = chains.get(f"{kind} {value}")
        if known is None or chain.length >= known.length:
            chains[f"{kind} {value}"] = chain
        longest = max(longest or chain, chain, key=lambda chain: chain.length)
    numbers: set[int] = set()
    while longest and longest.length + len(numbers) >= PROGRESSION:
        numbers.add(longest.line.number)
        longest = longest.before
    return numbers


def _parted(lines: Sequence[Line], numbers: set[int]) -> Iterator[Line]:
    page = 0
    for line in lines:
        page += line.number in numbers
        yield replace(line, page=page)
