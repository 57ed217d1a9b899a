"""Finds where each Law of a book starts: the headings ``LAW 27`` of its body, not those of its contents nor "see⏎Law 27"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from index.readers.sheets import Line
from index.readers.titles import CONNECTORS, is_capitals, is_title

HIGHEST_LAW = 199
"""Greater numbers are no law numbers (and bound the work on hostile text)."""

TITLE_LINES = 4
"""A title runs over no more lines."""

FULL = 400
"""A heading with so many characters below it is as good as one with more: contents have fewer."""

LONG_RUN, CONTENTS, CONTENTS_SHARE = 5, 200, 0.25
"""`LONG_RUN` headings or more are contents if the typical text below one is under `CONTENTS` characters and this share of
another run's."""

REFERRING = frozenset(
    "law laws see in under of by to and or with per from than but as that for either both except "
    "section sections paragraph clause item".split()
)
"""A number behind one of these words refers to a clause; it does not start one."""

_WORD = re.compile(r"[^\W\d_]+,?$")


@dataclass(frozen=True)
class LawHeading:
    """Where a Law starts: its number, its title, and the lines (by index) of the heading: ``start`` to ``end``, exclusive."""

    law: int
    title: str
    start: int
    end: int


class _Found(NamedTuple):
    """A heading, and how many characters stand between it and the next."""

    heading: LawHeading
    text: int


@dataclass(frozen=True)
class _Chain:
    worth: float
    heading: LawHeading
    before: _Chain | None


def find_law_headings(lines: Sequence[Line], words: Sequence[str] = ("law",)) -> tuple[LawHeading, ...]:
    """The headings of the body, in order, their numbers going up (with gaps where a Law is missing).

    ``words`` are the words that a heading starts with, in small letters. Among all lines that have the shape of a heading the
    chain is taken that has the most text below it: so contents (little text), references (out of order) and an index fall out.
    """
    pattern = re.compile(
        rf"(?:{'|'.join(map(re.escape, words))})\W{{0,3}}\s(\d{{1,3}})(?![\w(])\s*[-–—.:]?\s*(.*)", re.IGNORECASE
    )
    headings = [heading for k in range(len(lines)) if (heading := _heading_at(lines, k, pattern))]
    ends = [heading.start for heading in headings[1:]] + [len(lines)]
    texts = [sum(len(line.text) for line in lines[h.end : end]) for h, end in zip(headings, ends, strict=False)]
    best: dict[int, _Chain] = {}
    for heading, text in _without_contents([_Found(*pair) for pair in zip(headings, texts, strict=True)]):
        worth = 1 + min(text, FULL) / FULL + is_capitals(lines[heading.start].text) / 2
        before = max((best[n] for n in best if n < heading.law), key=lambda chain: chain.worth, default=None)
        chain = _Chain(worth + (before.worth if before else 0), heading, before)
        if heading.law not in best or chain.worth > best[heading.law].worth:
            best[heading.law] = chain
    return tuple(_unchain(max(best.values(), key=lambda chain: chain.worth, default=None)))


def _without_contents(found: Sequence[_Found]) -> Iterator[_Found]:
    """The headings without long runs of going-up numbers that have little text below each: those are contents."""
    runs: list[list[_Found]] = []
    for one in found:
        if not runs or one.heading.law <= runs[-1][-1].heading.law:
            runs.append([])
        runs[-1].append(one)
    typical = [median(one.text for one in run) for run in runs]
    least = min(CONTENTS, CONTENTS_SHARE * max(typical, default=0))
    for run, text in zip(runs, typical, strict=True):
        if len(run) < LONG_RUN or text >= least:
            yield from run


def _unchain(last: _Chain | None) -> Sequence[LawHeading]:
    headings: list[LawHeading] = []
    while last:
        headings.append(last.heading)
        last = last.before
    return headings[::-1]


def refers(text_before: str) -> bool:
    """Whether the text breaks off behind a word after which a number is a reference ("see", "under", "Law 27 and")."""
    word = _WORD.search(text_before.rstrip()[-40:])
    return word is not None and word[0].rstrip(",").lower() in REFERRING


def _heading_at(lines: Sequence[Line], k: int, pattern: re.Pattern[str]) -> LawHeading | None:
    match = pattern.fullmatch(lines[k].text)
    if match is None or not 0 < int(match[1]) <= HIGHEST_LAW or (k and refers(lines[k - 1].text)):
        return None
    title = match[2]
    if title and not is_title(title):
        return None
    more = list(_title_lines(lines, k, title))
    if not title and not more and not is_capitals(lines[k].text):
        return None
    return LawHeading(int(match[1]), " ".join(filter(None, [title, *more])), k, k + 1 + len(more))


def _title_lines(lines: Sequence[Line], k: int, title: str) -> Iterator[str]:
    """The lines below that go on with the title: all capitals, or a title's words where it has none yet or breaks off."""
    for line in lines[k + 1 : k + 1 + TITLE_LINES]:
        unfinished = not title or title.rsplit(maxsplit=1)[-1].lower() in CONNECTORS or title.endswith(("-", "–"))
        if not (is_title(line.text) and (is_capitals(line.text) or (unfinished and not is_capitals(title)))):
            return
        if re.match(r"[A-Z][.]|\(?\d|law\s+\d", line.text, re.IGNORECASE):
            return
        yield line.text
        title = line.text
