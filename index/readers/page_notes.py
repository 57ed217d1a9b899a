"""Takes the footnotes out of a book's lines and marks the places that refer to them.

A note stands below the text of its page and starts with the number (or asterisk) that is glued to a word above: ``a sorted
deck1 or …``. In the lines that are left, each such mark becomes one character of the private use area, so that it moves with
the text; `strip_marks` and `marks_in` read them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from index.readers.sheets import Line

FIRST_MARK = 0xE000
MOST_NOTES = 2000

PAGES_ON = 2
"""A note is referred to on its page, and again on so many pages behind it at most."""

LINES_UP = 100
"""So many lines above a note are searched for the place that refers to it."""

_HEADING = re.compile(r"LAW\s+\d+\b")
_STRUCTURE = re.compile(r"(?:law\s+\d+\b|[A-Z]\.\s|\d{1,2}\.\s|\([a-z]{1,4}\)\s)", re.IGNORECASE)
_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*$")
_START = re.compile(r"(?P<mark>\d{1,3}(?=\s)|\*{1,3}|[†‡]{1,2}|[⁰¹²³⁴-⁹]{1,3})\s*(?P<text>[^\W\d].*|['\"‘“(\[].*)")
_MARKS = re.compile(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + MOST_NOTES)}]")


@dataclass(frozen=True)
class Noted:
    """The lines without footnotes, marks in their places, and the notes' texts: mark number -> text."""

    lines: tuple[Line, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Note:
    page: int
    mark: str
    text: str


def take_notes(lines: Sequence[Line]) -> Noted:
    """Part the footnotes from the lines. A line that looks like a note but that nothing on its page refers to stays text."""
    pages: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        pages[line.page].append(replace(line, text=_MARKS.sub("", line.text)))
    found: list[_Note] = []
    for page, sheet in pages.items():
        zones = tuple(_zones(sheet, whole_pages=len(pages) > 1))
        found += [note for start, end in zones for note in _notes(sheet[start:end], sheet[:start])]
        pages[page] = [line for k, line in enumerate(sheet) if not any(start <= k < end for start, end in zones)]
    for k, note in enumerate(found[:MOST_NOTES]):
        pattern, mark = _pattern(note.mark), chr(FIRST_MARK + k)
        for page in range(note.page, _last_page(found, k) + 1):
            pages[page] = [replace(line, text=pattern.sub(mark, line.text)) for line in pages.get(page, [])]
    return Noted(tuple(line for page in sorted(pages) for line in pages[page]), tuple(note.text for note in found[:MOST_NOTES]))


def marks_in(text: str) -> tuple[int, ...]:
    """The numbers of the notes that the text refers to, in order."""
    return tuple(ord(mark) - FIRST_MARK for mark in _MARKS.findall(text))


def strip_marks(text: str) -> str:
    """The text without the marks."""
    return _MARKS.sub("", text)


def _last_page(notes: Sequence[_Note], k: int) -> int:
    """The last page on which the note's mark is its own: numbers go on, asterisks start anew on each page."""
    note = notes[k]
    if not note.mark.isdecimal():
        return note.page
    return min([other.page - 1 for other in notes[k + 1 :] if other.mark == note.mark] + [note.page + PAGES_ON])


def _zones(sheet: Sequence[Line], *, whole_pages: bool) -> Iterator[tuple[int, int]]:
    """Where notes stand on a page: from the first line that is one to the end of the page, or to the next part of the law."""
    k = 0
    while k < len(sheet):
        start = _START.fullmatch(sheet[k].text)
        if start and _refers(sheet[:k], start["mark"]):
            end = k + 1
            while end < len(sheet) and not (_HEADING.match(sheet[end].text) if whole_pages else _text_resumes(sheet, k, end)):
                end += 1
            yield k, end
            k = end
        else:
            k += 1


def _text_resumes(sheet: Sequence[Line], note: int, k: int) -> bool:
    """Whether the law's text goes on at line ``k`` below the notes that start at line ``note``, in a text without pages.

    It does at the next part of the law; and where a sentence that the notes have cut in two takes up again.
    """
    text = sheet[k].text
    if _STRUCTURE.match(text):
        return True
    cut = note > 0 and not _ENDED.search(sheet[note - 1].text)
    return not _START.fullmatch(text) and bool(_ENDED.search(sheet[k - 1].text)) and (cut or text[0].islower())


def _notes(zone: Sequence[Line], above: Sequence[Line]) -> Iterator[_Note]:
    """The notes of a zone: each starts a line, or follows the one before it on its line with the next number."""
    texts: list[tuple[str, list[str]]] = []
    for line in zone:
        start = _START.fullmatch(line.text)
        if start and (not texts or _refers(above, start["mark"])):
            texts.append((start["mark"], [start["text"]]))
        else:
            texts[-1][1].append(line.text)
    for first, parts in texts:
        mark, text = first, " ".join(parts)
        while another := _next_in_line(mark, text, above):
            yield _Note(zone[0].page, mark, text[: another.start()])
            mark, text = another["mark"], text[another.end() :]
        yield _Note(zone[0].page, mark, text)


def _next_in_line(mark: str, text: str, above: Sequence[Line]) -> re.Match[str] | None:
    """Where the note with the next number starts within the text of a note."""
    following = str(int(mark) + 1) if mark.isdecimal() else ""
    if not following or not _refers(above, following):
        return None
    return re.search(rf"\s(?P<mark>{following})\s+(?=[A-Z'\"(])", text)


def _refers(lines: Sequence[Line], mark: str) -> bool:
    pattern = _pattern(mark)
    return any(pattern.search(line.text) for line in lines[-LINES_UP:])


@lru_cache(maxsize=500)
def _pattern(mark: str) -> re.Pattern[str]:
    """The mark glued to a word or to the stop behind it, where it is no part of a law's number (``B1``) or of a figure."""
    if not mark.isdecimal():
        sign = re.escape(mark)
        return re.compile(rf"(?<=[^\s{re.escape(mark[0])}]){sign}(?!{re.escape(mark[0])})")
    glued = r"(?<=[a-z]{2})|(?<=[A-Z]{3})|(?<=[A-Za-z)\]\"”'’][.,;:!?])|(?<=[a-z][)\]\"”’])"
    return re.compile(rf"(?:{glued})(?<!\bLaw)(?<!\bLaws){mark}(?![\dA-Za-z(%]|[.,]\d)")
