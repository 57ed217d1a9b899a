"""Definitions set in two columns, copied line by line: the term, its meaning and the English term are mixed.

The first lines of an entry have run into one: ``term | meaning, 1st line | (english) | meaning, 2nd line``. The English term
may thus stand in the middle of a word; the second line of a long term may stand within the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from index.readers.join_words import join_two
from index.readers.russian import Words, part_of_speech

ENGLISH = re.compile(r"\s*\((?P<english>[A-Za-z][A-Za-z-]+(?: [A-Za-z. -]+)?)\)\s*(?:-\s)?")
"""The English term of an entry; it stands at the end of one line of the meaning and the beginning of the next."""

_LINE_ENDS = re.compile(r"[.;:)]$|^$")
# Where the meaning begins: a word with a capital, or a number, behind the first word of the term.
_MEANING = re.compile(r"(?<=\s)(?=[А-ЯЁ]|\d)")
_ABBREVIATION = re.compile(r"[A-Z]{2,}$")
_CLAUSE = re.compile(r"^(?:Правило \d|[A-H]\.\w|\d\.\w)", re.MULTILINE)
_FEW = 2


@dataclass(frozen=True)
class Definition:
    """A term, its English name (in full, and as ``printed``) and its meaning.

    ``within`` is the English name of the entry that it stands in.
    """

    term: str
    english: str
    meaning: str
    printed: str
    within: str = ""


def is_definitions(text: str) -> bool:
    """Whether a page holds definitions: English terms in brackets, and no law or section."""
    found = [term for term in ENGLISH.finditer(text) if not term["english"].isupper()]
    return len(found) >= _FEW and not _CLAUSE.search(text)


def read_definitions(text: str, words: Words) -> tuple[Definition, ...]:
    """The entries of a page of definitions, in order; lines above the first have neither term nor English name."""
    entries: list[list[str]] = []
    before = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        if _begins_entry(line, before) or not entries:
            entries.append([line])
        else:
            entries[-1].append(line)
        before = line
    return tuple(_within_parents([_read(lines, words) for lines in entries]))


def _begins_entry(line: str, before: str) -> bool:
    """Whether a line has an English term behind a capital, and the one before it ended a sentence or is not of this column."""
    found = ENGLISH.search(line)
    if found is None or not line[0].isupper():
        return False
    initials = re.fullmatch(r"(?:[A-Z]\.)+", line[: found.start()])
    return initials is None or bool(_LINE_ENDS.search(before))


def _read(lines: list[str], words: Words) -> Definition:
    first = lines[0]
    found = ENGLISH.search(first)
    if found is None:
        return Definition("", "", _join(lines, words), "")
    left, right = first[: found.start()], first[found.end() :]
    if _ABBREVIATION.fullmatch(left):
        return Definition(left, found["english"], _join([right, *lines[1:]], words), found["english"])
    starts = _MEANING.search(left, 1)
    term, meaning = (left[: starts.start()].strip(), left[starts.start() :]) if starts else (left, "")
    if term.endswith(","):
        more = _second_line_of_term(meaning)
        term, meaning = f"{term} {more}", meaning.replace(more, " ", 1)
    return Definition(term, found["english"], _join([meaning, right, *lines[1:]], words), found["english"])


def _second_line_of_term(meaning: str) -> str:
    """The noun phrase within the first line of the meaning that does not belong to it.

    A term that ends in a comma goes on in the left column: an adjective and a noun, both in the nominative and agreeing with
    each other, but not with the word before them.
    """
    words = meaning.split()
    for k in range(1, len(words) - 1):
        before, adjective, noun = words[k - 1 : k + 2]
        cases = _nominatives(adjective, "ADJF") & _nominatives(noun, "NOUN")
        if cases - _nominatives(before, "ADJF"):
            return f"{adjective} {noun}"
    return ""


def _nominatives(word: str, part: str) -> set[str]:
    """Gender and number of the word's nominatives as this part of speech; a plural has no gender."""
    return {
        "plur" if tag.endswith("plur") else tag.removeprefix(f"{part},nomn,")
        for tag in part_of_speech(word)
        if tag.startswith(f"{part},nomn")
    }


def _join(lines: list[str], words: Words) -> str:
    """Lines of a meaning as one; each numbered point begins a line of its own."""
    text = ""
    for line in lines:
        text = join_two(text, line.strip(), words)
    return re.sub(r"\s+(?=\d\)\s)", "\n", " ".join(text.split()))


def _within_parents(entries: list[Definition]) -> Iterator[Definition]:
    """Entries with those that end in an abbreviated parent ("right-hand o." under "opponent") tied to it."""
    parent = ""
    for entry in entries:
        short = re.search(r"(\b[a-z])\.$", entry.english)
        if short and parent.startswith(short[1]):
            full = entry.english[: short.start()] + parent
            yield replace(entry, english=full, within=parent)
        else:
            parent = entry.english
            yield entry
