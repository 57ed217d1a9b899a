"""From the pages of sources to the lines of their law text: contents, index, chapter headings and footnotes set apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from index.readers.hyphens import join_hyphenated
from index.readers.markers import find_mark, is_law_heading, split_at_marks
from index.readers.reading import SourceFile

_WRAPPED_WIDTH = 120
"""A text whose lines are mostly longer than this has one paragraph a line."""
_SHORT_LINE = 0.75
"""A line that would have had room, within this share of the usual width, for the next word ends its paragraph."""
_TITLE_LETTERS = 100
_MIN_CONTENTS, _MIN_INDEX = 5, 20
"""Lines in a row that must look like contents, or like an index, to be taken for it."""
_INDEX_SHARE = 0.8
_MIN_HEADINGS, _MIN_NUMBERS, _MOST_MISSING = 2, 5, 8
"""Headings with a word, numbers that count up, and numbers left out between two of them, for numbers to be those of pages."""
_LINE_END = 200
"""Letters at the end of a line that are looked at; whole books stand on one line."""
SENTENCE_ENDS = tuple('.;:?!»”"')

_ALONE = re.compile(r"[\s\-–—]*(\d{1,3})[\s\-–—]*")
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*[\divxlc]*\s*$|…\s?…[\s….]*[\divxlc]*\s*$", re.IGNORECASE)
_ENDS_IN_NUMBER = re.compile(r"\s(\d{1,3})\s*$")
_ENDS_IN_REFERENCE = re.compile(r"[^\W\d_].*[\s,.]\d{1,3}[A-Z]?\d{0,2}(?:\([a-z]\))?[.,;]?$")
_CHAPTER_WORDS = (
    "chapter part section division глава часть раздел kapitel teil abschnitt chapitre partie titre capítulo parte sección "
    "capitolo sezione rozdział część dział hoofdstuk deel afdeling kapittel del avsnitt luku osa fejezet rész bölüm kısım"
).split()
_CHAPTER = re.compile(rf"(?:{'|'.join(_CHAPTER_WORDS)})\s+(?:[IVXLC]+|\d{{1,2}}|[^\W\d_]+)\b\W*(?P<title>.*)", re.IGNORECASE)
_MARK = r"(?P<mark>\(\*{1,4}\)|\*{1,4}(?!\*)|[†‡]|[¹²³⁰⁴-⁹]{1,2})"
_NOTE = re.compile(rf"{_MARK}\s*(?:[-–—]\s+)?(?=\S)")
_MARK_BEHIND_WORD = re.compile(rf"(?<=[\w.,;:)»”\"'])\s?{_MARK}(?![\w)¹²³⁰⁴-⁹])")


@dataclass(frozen=True)
class SourceLine:
    """A line of law text; ``begins``: a paragraph begins with it; ``at_top``: it is the first of a page.

    ``inside``: it was cut off another line because a clause may begin here.
    """

    text: str
    file: str
    begins: bool
    at_top: bool = False
    inside: bool = False


@dataclass
class Note:
    """A footnote: its lines, and the number of the line of law text that bears its mark."""

    lines: list[str]
    line: int

    @property
    def text(self) -> str:
        """The lines as one."""
        return " ".join(self.lines)


@dataclass
class KeptLines:
    """The lines of law text of all sources, the footnotes taken out of them, and what is no law text.

    ``marks`` is the last line that has each footnote mark.
    """

    lines: list[SourceLine] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def lines_of_sources(sources: Sequence[SourceFile]) -> KeptLines:
    """The lines of the sources' law text, in their order."""
    kept = KeptLines()
    for source in sources:
        pages = _without_page_numbers(join_hyphenated([page.split("\n") for page in source.pages]))
        width = _width(line for page in pages for line in page)
        first = len(kept.lines)
        above = ""
        for number, page in enumerate(pages):
            lines, skipped = _law_text(list(_with_begins(page, source.name, width, above, at_top=number > 0)))
            kept.skipped += skipped
            _take_page(kept, list(_cut_inside(lines)), len(kept.lines) if len(pages) > 1 else first)
            above = lines[-1].text if lines else above
    return kept


def paragraphs_of(lines: Iterable[SourceLine]) -> list[str]:
    """The lines as paragraphs; a sentence that a page or a stray empty line cuts in two is put together."""
    paragraphs: list[list[str]] = []
    for line in lines:
        if not line.text:
            continue
        goes_on = line.text[0].islower() and paragraphs and not paragraphs[-1][-1].endswith(SENTENCE_ENDS)
        if paragraphs and (goes_on or not line.begins):
            paragraphs[-1].append(line.text)
        else:
            paragraphs.append([line.text])
    return [" ".join(paragraph) for paragraph in paragraphs]


def _without_page_numbers(pages: list[list[str]]) -> list[list[str]]:
    """The lines without those that are a number alone and count from one to the next, in a book that heads laws by a word."""
    if sum(is_law_heading(line) for page in pages for line in page) < _MIN_HEADINGS:
        return pages
    places = [(p, k) for p, page in enumerate(pages) for k in range(len(page))]
    longest: dict[int, list[tuple[int, int]]] = {}
    for p, k in places:
        if match := _ALONE.fullmatch(pages[p][k]):
            number = int(match[1])
            runs: list[list[tuple[int, int]]] = [longest.get(number - step, []) for step in range(1, _MOST_MISSING)]
            before = sorted(runs, key=len)[-1]
            if len(before) >= len(longest.get(number, [])):
                longest[number] = [*before, (p, k)]
    out = set(sorted(longest.values(), key=len)[-1]) if longest else set()
    if len(out) < _MIN_NUMBERS:
        return pages
    return [[line for k, line in enumerate(page) if (p, k) not in out] for p, page in enumerate(pages)]


def _cut_inside(lines: Iterable[SourceLine]) -> Iterator[SourceLine]:
    for line in lines:
        first, *rest = split_at_marks(line.text)
        yield replace(line, text=first)
        yield from (SourceLine(text, line.file, begins=False, inside=True) for text in rest)


def _width(lines: Iterable[str]) -> int:
    """Usual width of a full line in characters; 0 for a text that has a paragraph on each line."""
    lengths = sorted(len(line) for line in map(str.strip, lines) if line)
    usual = lengths[int(0.9 * (len(lengths) - 1))] if lengths else 0
    return usual if usual <= _WRAPPED_WIDTH else 0


def _with_begins(page: Sequence[str], file: str, width: int, above: str, at_top: bool) -> Iterator[SourceLine]:
    """The lines of a page; ``above``: the last line before it, empty for the first page."""
    begins = not above
    for raw in page:
        line = " ".join(raw.split())
        if not line:
            begins = True
            continue
        begins = begins or _ends_paragraph(above, line, width)
        yield SourceLine(line, file, begins, at_top)
        above, begins, at_top = line, False, False


def _ends_paragraph(above: str, line: str, width: int) -> bool:
    if not width:
        return True
    if is_law_heading(above) and not above.endswith(SENTENCE_ENDS) and line[0].isupper() and line.endswith(SENTENCE_ENDS):
        return True  # a title, and below it a sentence
    room = len(above) + 1 + len(line.split(" ", 1)[0]) < _SHORT_LINE * width
    return room and not line[0].islower()


def _law_text(lines: list[SourceLine]) -> tuple[list[SourceLine], list[str]]:
    """The lines of a page without contents, index, chapter headings and running heads; and those."""
    out: set[int] = set()
    texts = [line.text for line in lines]
    if texts and is_law_heading(texts[0]) and texts[0].casefold() in map(str.casefold, texts[1:]):
        out.add(0)  # the head of the page names a law that begins further down
    out |= {k for k, text in enumerate(texts) if _LEADERS.search(text[-_LINE_END:])}
    out |= _contents(texts) | _index(texts) | _chapters(lines)
    return [line for k, line in enumerate(lines) if k not in out], [texts[k] for k in sorted(out)]


def _contents(texts: Sequence[str]) -> set[int]:
    """Lines of a list of headings with page numbers that grow."""
    out: set[int] = set()
    run: list[int] = []
    last = 0
    for k, text in enumerate([*texts, ""]):
        number = _ENDS_IN_NUMBER.search(text)
        if number and int(number[1]) >= last:
            run.append(k)
            last = int(number[1])
            continue
        if len(run) >= _MIN_CONTENTS and 2 * sum(find_mark(texts[j]) is not None for j in run) >= len(run):
            out.update(run)
        run, last = ([k], int(number[1])) if number else ([], 0)
    return out


def _index(texts: Sequence[str]) -> set[int]:
    """Lines of an alphabetical index: many in a row that end in a number."""
    ends = [bool(_ENDS_IN_REFERENCE.search(text[-_LINE_END:])) and not is_law_heading(text) for text in texts]
    out: set[int] = set()
    for k in range(len(texts) - _MIN_INDEX + 1):
        found = [j for j in range(k, k + _MIN_INDEX) if ends[j]]
        if len(found) >= _INDEX_SHARE * _MIN_INDEX:
            out.update(range(found[0], found[-1] + 1))
    return out


def _chapters(lines: Sequence[SourceLine]) -> set[int]:
    """Headings of chapters, parts and sections, and their titles in capitals on a line of their own."""
    out: set[int] = set()
    for k, line in enumerate(lines):
        if is_law_heading(line.text) or line.text.endswith((".", ";", ",", ":")) or len(line.text) > _TITLE_LETTERS:
            continue
        chapter = _CHAPTER.fullmatch(line.text)
        is_heading = chapter is not None and line.begins and not chapter["title"][:1].islower()
        follows_heading = k - 1 in out and not line.begins
        next_is_law = k + 1 < len(lines) and is_law_heading(lines[k + 1].text)
        is_capitals = line.text.isupper() and find_mark(line.text) is None and line.begins
        above_is_law = k > 0 and is_law_heading(lines[k - 1].text)
        if is_heading or follows_heading or (is_capitals and (k - 1 in out or (next_is_law and not above_is_law))):
            out.add(k)
    return out


def _take_page(kept: KeptLines, lines: Sequence[SourceLine], first: int) -> None:
    """Add the lines of a page; what is a footnote to a line from ``first`` on becomes a note."""
    note: Note | None = None
    for line in lines:
        match = _NOTE.match(line.text)
        anchor = kept.marks.get(match["mark"], -1) if match else -1
        if match and anchor >= first:
            note = Note([line.text[match.end() :]], anchor)
            kept.notes.append(note)
        elif note and not line.begins:
            note.lines.append(line.text)
        else:
            note = None
            kept.marks.update((mark, len(kept.lines)) for mark in _MARK_BEHIND_WORD.findall(line.text))
            kept.lines.append(line)
