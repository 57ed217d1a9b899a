"""The outline of a run of pages: laws, lettered sections, numbered items, each with heading and text.

Levels go down from the law (``Правило 27.``) over ``A.``, ``1.``, ``(A).`` to ``(1).``; a mark counts only where it continues
the numbering, so that a stray letter with a full stop is no section. At the beginning of a run the upper levels may stand on a
missing page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from index.clause_id import LAST_LAW
from index.readers.join_words import join_lines
from index.readers.pages1987 import UNDERLINE
from index.readers.russian import Words

Labels = tuple[str | None, ...]
"""Numbers and letters from the law down, as ``("30", "B", "2", "A")``; ``None`` where a number stands on a missing page."""

LAW, SECTION, ITEM, SUBITEM, LAST = range(5)

_TITLE = rf"(?P<title>[^{UNDERLINE}\n]{{1,150}}(?:\n[^{UNDERLINE}\n]{{1,80}})?)"
CHAPTER = re.compile(rf"(?:Глава|Часть|Раздел) [IVXL]+ - (?P<title>[^{UNDERLINE}\n]{{1,150}}(?:[{UNDERLINE}\n]|\Z))")
"""The heading of a chapter, part or section; it belongs to no clause."""
_MARKS = re.compile(
    rf"""
    (?:^|(?<=[\s{UNDERLINE}]))(?:
      (?P<chapter>{CHAPTER.pattern.replace(" ", r"[ ]").replace("title", "name")})
      # A heading may go on behind its underline, in small letters, and is then underlined again.
      | Правило\ (?P<law>\d{{1,2}})\.\s?(?:{_TITLE}{UNDERLINE}(?:(?P<more>[а-яё][^{UNDERLINE}.:;]{{0,80}}){UNDERLINE})?
                                         |(?P<line>[^{UNDERLINE}\n]{{1,150}})(?:\n|\Z))
      | (?P<section>[A-H])\.(?=[^\W\d_]|[\["«])
      | (?P<item>\d{{1,2}})\.(?=[^\W\d_]|[\["«])
      | \((?P<subitem>[A-H])\)\.(?=\S)
      | \((?P<last>\d{{1,2}})\)\.(?=\S)
    )""",
    re.VERBOSE,
)
_LEVELS = ("law", "section", "item", "subitem", "last")
_SENTENCE_END = re.compile(r"[.!?:;,)]$")
_LONG = 80  # letters: a paragraph with a full stop that is longer is no heading
# A new sentence: a word with a capital and small letters. Abbreviations (LHO, S.O.) may begin one too, or stand in a heading.
_CAPITAL_WORD = re.compile(r"(?<=\s)[А-ЯЁ](?:[а-яё]|(?=\s[а-яё(]))")
_ABBREVIATION = re.compile(r"(?<=\s)(?:[A-Z]{2,}|(?:[A-Z]\.){2,})(?=\s)")
_SENTENCE = re.compile(r"(?<![A-Z])[.!?:;]\s")


@dataclass(frozen=True)
class Piece:
    """A clause as found in a run: its labels, heading and text (both raw), and whether its text reaches a gap at either end."""

    labels: Labels
    heading: str = ""
    text: str = ""
    starts_late: bool = False
    ends_early: bool = False


@dataclass(frozen=True)
class Outline:
    """The pieces of a run in its order, the text before the first of them, and the headings of chapters that it passed."""

    pieces: tuple[Piece, ...]
    before: str
    chapters: tuple[str, ...]


def read_outline(text: str, words: Words) -> Outline:
    """Find the clauses in the text of a run (`index.readers.pages1987.Run.text`)."""
    marks = list(_marks(text))
    chapters = [m[0].replace(UNDERLINE, "").strip() for m, labels in marks if not labels]
    before = text[: marks[0][0].start()] if marks else text
    pieces = []
    ends = [mark.start() for mark, _ in marks[1:]] + [len(text)]
    for (mark, labels), end in zip(marks, ends, strict=False):
        if labels:
            pieces.append(_piece(mark, labels, text[mark.end() : end], words, flat="\n" not in text))
    return Outline(tuple(pieces), before.strip(), tuple(chapters))


def _marks(text: str) -> Iterator[tuple[re.Match[str], Labels]]:
    """The marks that count, each with its labels; none for the heading of a chapter."""
    path: Labels = ()
    for mark in _MARKS.finditer(text):
        if mark["chapter"]:
            yield mark, ()
        elif not (mark["law"] and not 1 <= int(mark["law"]) <= LAST_LAW) and (labels := next_labels(path, *label_of(mark))):
            path = labels
            yield mark, labels


def label_of(mark: re.Match[str]) -> tuple[int, str]:
    """Level and number or letter of a mark (a match with groups law, section, item, subitem, last)."""
    return next((level, mark[name]) for level, name in enumerate(_LEVELS) if mark[name])


def next_labels(path: Labels, level: int, value: str) -> Labels | None:
    """The labels of a clause that follows the one of labels ``path``; ``None`` when that number cannot follow.

    An empty ``path`` is the beginning of a run, where any number may stand; so may one on a level not seen yet.
    """
    if level == LAW:
        return (value,)
    if not path:
        return (*[None] * level, value)
    if len(path) < level:
        return None
    if len(path) == level:
        return (*path, value) if value in ("A", "1") else None
    before = path[level]
    follows = before is None or value == successor(before)
    return (*path[:level], value) if follows else None


def successor(label: str) -> str:
    """The number or letter after this one."""
    return str(int(label) + 1) if label.isdigit() else chr(ord(label) + 1)


def predecessor(label: str) -> str | None:
    """The number or letter before this one; ``None`` before the first."""
    return None if label in ("1", "A") else str(int(label) - 1) if label.isdigit() else chr(ord(label) - 1)


def _piece(mark: re.Match[str], labels: Labels, text: str, words: Words, *, flat: bool) -> Piece:
    if mark["law"]:
        title = [*(mark["title"] or mark["line"]).split("\n"), mark["more"] or ""]
        return Piece(labels, join_lines(title, words), text.strip())
    heading, body = _split_flat(text.strip()) if flat else _split_lines(text.strip(), words)
    return Piece(labels, heading.removesuffix("."), body)


def _split_lines(text: str, words: Words) -> tuple[str, str]:
    """Heading and text of a section in lines: the heading ends where a line begins with a capital letter."""
    lines = text.split("\n")
    length = 1 + next((k for k, line in enumerate(lines[1:]) if not line[:1].islower()), len(lines) - 1)
    heading, rest = join_lines(lines[:length], words), "\n".join(lines[length:])
    is_text = _SENTENCE_END.search(heading) and (len(heading) > _LONG or (not rest and not heading.endswith(")")))
    return ("", text) if is_text else (heading, rest)


def _split_flat(text: str) -> tuple[str, str]:
    """Heading and text of a section in one line, with no mark between: the text begins with the second capital letter.

    The capitals of LHO, RHO and S.O. begin the text only when no other does before the first sentence ends.
    """
    first_end = _SENTENCE.search(text)
    end = first_end.start() if first_end else len(text)
    start = _CAPITAL_WORD.search(text, 1, end) or _ABBREVIATION.search(text, 1, end)
    if start:
        return text[: start.start()].strip(), text[start.start() :]
    return ("", text) if first_end or _SENTENCE_END.search(text) else (text, "")


def join_paragraphs(text: str, words: Words) -> str:
    """The paragraphs of a clause: a line goes on with the one before when it begins small or that one ended no sentence."""
    paragraphs: list[list[str]] = []
    for line in text.replace(UNDERLINE, "\n").split("\n"):
        if paragraphs and (line[:1].islower() or not _SENTENCE_END.search(paragraphs[-1][-1].strip())):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return "\n".join(filter(None, (join_lines(lines, words) for lines in paragraphs)))


def fill_lost(pieces: Sequence[Labels]) -> list[Labels]:
    """Labels with the lost ones that follow from the numbering: those before ``F.`` are of E, those before Law 12 of Law 11."""
    filled = list(pieces)
    for level in (SUBITEM, ITEM, SECTION, LAW):
        lost = [k for k, labels in enumerate(filled) if len(labels) > level and labels[level] is None]
        after = next((k for k, labels in enumerate(filled) if len(labels) > level and labels[level]), None)
        if not lost or after is None or filled[after][:level] != filled[lost[0]][:level]:
            continue
        before = predecessor(str(filled[after][level]))
        filled = [
            (*labels[:level], before, *labels[level + 1 :]) if k in lost and k < after else labels
            for k, labels in enumerate(filled)
        ]
    return filled
