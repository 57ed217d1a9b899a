"""Pages of a text with printed page numbers in its flow, their footnotes, and which of them follow one another.

The number is a footer: it belongs to the text before it. Two forms are met: a line that begins with ``- 39`` (the next page
goes on behind it in the same line), and ``  - 49 - `` within a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

UNDERLINE = "\uf8ff"
"""Stands for the underline of a heading (a run of ``?``, ``=`` or ``-``) in the text of a run."""

_FIRST_MARK, _LAST_MARK = 0xE000, 0xF8FE
NOTE_MARK = re.compile(f"[{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}]")
"""One character that stands for a footnote mark with a note: ``chr(0xE000 + n)`` for ``Run.notes[n]``."""

_PAGE_MARK = re.compile(r"^- (?P<line>\d{1,3})(?=\s|$)|(?:^|(?<=\s)) - (?P<inline>\d{1,3}) -(?=\s|$)", re.MULTILINE)
_RULE = r"(?:[?=_-]{4,}|(?:(?:\?\?|==|--)[ ]+){2,}(?:\?\?|==|--))"
_NOTES = re.compile(rf"{UNDERLINE}(?=\(\*+\)\s*-\s)(?P<notes>.*)\Z", re.DOTALL)
_NOTE = re.compile(r"\((?P<mark>\*+)\)\s*-\s(?P<text>.*?)(?=\(\*+\)\s*-\s|\Z)", re.DOTALL)
_MARK = re.compile(r"\((\*+)\)")


@dataclass(frozen=True)
class Page:
    """The text above a printed page number; ``number`` is ``None`` for text behind the last one."""

    number: int | None
    text: str


@dataclass(frozen=True)
class Note:
    """A footnote: the page it stands on, its mark there (``*``, ``**``) and its text."""

    page: int | None
    mark: str
    text: str


@dataclass(frozen=True)
class Run:
    """Pages that follow one another, joined: ``text`` has underlines and footnote marks as single characters."""

    pages: tuple[int | None, ...]
    text: str
    notes: tuple[Note, ...] = ()


def split_pages(text: str) -> tuple[Page, ...]:
    """The pages of a text, in its order. Text behind the last number gets the number that the others make certain."""
    text = re.sub(r"\n\s{2,}", "\n\n", re.sub(r"[ \t]{3,}", "  ", text))
    pages, start = [], 0
    for mark in _PAGE_MARK.finditer(text):
        pages.append(Page(int(mark["line"] or mark["inline"]), text[start : mark.start()]))
        start = mark.end()
    if text[start:].strip() or not pages:
        pages.append(Page(_next_number([page.number for page in pages]), text[start:]))
    return tuple(pages)


def _next_number(numbers: Sequence[int | None]) -> int | None:
    """The number after the last ones, where these stand equally far apart (29, 33, 37 or 49, 50, 51)."""
    last = [number for number in numbers[-3:] if number is not None]
    steps = {after - before for before, after in pairwise(last)}
    return last[-1] + steps.pop() if len(steps) == 1 else None


def join_pages(pages: Sequence[Page]) -> tuple[Run, ...]:
    """Runs of pages with successive numbers; a page without a number, or after a gap, begins a new run."""
    groups: list[list[Page]] = []
    for page in pages:
        before = groups[-1][-1].number if groups else None
        if before is not None and page.number == before + 1:
            groups[-1].append(page)
        else:
            groups.append([page])
    return tuple(_run(group) for group in groups)


def _run(pages: Sequence[Page]) -> Run:
    bodies: list[str] = []
    notes: list[Note] = []
    for page in pages:
        body, page_notes = _split_notes(page.number, _mark_underlines(page.text))
        bodies.append(_mark_notes(body, page_notes, len(notes)))
        notes += page_notes
    # A page that has no line ends at all goes on in mid-line on the next.
    text = ("\n" if any("\n" in body.strip() for body in bodies) else " ").join(bodies)
    return Run(tuple(page.number for page in pages), _one_blank(text), tuple(notes))


def _mark_underlines(text: str) -> str:
    """The text of a page with each underline or rule as one character, and without such characters of its own."""
    return re.sub(rf"\s*{_RULE}\s*", UNDERLINE, NOTE_MARK.sub("", text.replace(UNDERLINE, "")))


def _split_notes(page: int | None, text: str) -> tuple[str, list[Note]]:
    """The text of a page without its notes, and these; marks start anew on every page."""
    found = _NOTES.search(text)
    if found is None:
        return text, []
    notes = [Note(page, note["mark"], without_marks(note["text"]).strip()) for note in _NOTE.finditer(found["notes"])]
    return text[: found.start()], notes


def _mark_notes(body: str, notes: Sequence[Note], first: int) -> str:
    """Marks with a note become one character; a mark whose note is on no page is dropped."""
    places = {note.mark: chr(_FIRST_MARK + first + k) for k, note in enumerate(notes)}
    return _MARK.sub(lambda mark: places.get(mark[1], ""), body)


def _one_blank(text: str) -> str:
    text = re.sub(rf"\s*{UNDERLINE}\s*", UNDERLINE, text)
    return re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()


def note_indices(text: str) -> Iterator[int]:
    """Places in ``Run.notes`` of the marks in a text, in order."""
    return (ord(mark) - _FIRST_MARK for mark in NOTE_MARK.findall(text))


def without_marks(text: str) -> str:
    """The text without footnote marks and underlines."""
    return NOTE_MARK.sub("", text).replace(UNDERLINE, " ")
