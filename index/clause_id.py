"""Clause ids: ``64A1``, ``12C1(b)``, ``30B1(b)(ii)``, ``Def:revoke``, ``41A#fn``, ``Note:27``, ``DC4:25.1``.

A clause id says nothing about the edition: everything that stores one keys it by (edition, id), because the same
number can be another rule in another year.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from index.errors import UnknownClause

LAST_LAW = 93
"""Number of the last Law in the editions since 1987."""

HIGHEST_LAW = 999
"""Highest number of a law in a book of another game."""

HIGHEST_CARD = 13
"""A bare number with a letter up to this may be a bid, a card or a table ("10C", "table 12A"); above it, it is a law."""

HIGHEST_BID = 7

# Cyrillic letters that look like a Latin one stand for it; Б, Г and Д stand for the 2nd, 4th and 5th of the alphabet.
_CYRILLIC = str.maketrans("АВСЕКМОРТХБГДавсекмортхбгд", "ABCEKMOPTXBDEabcekmoptxbde")
_WORD = r"(?:laws?|rules?|правил[а-я]*|пр|закон[а-я]*|zakon[a-z]*|pravil[a-z]*|l|п|§|art)"
_PREFIX = re.compile(rf"^{_WORD}\.?\s*(?=\d)", re.IGNORECASE)
_SHAPE = re.compile(
    r"(?P<law>\d{1,3})(?:(?P<letter>[A-Z])(?:(?P<digit>\d{1,2})"
    r"(?:(?:\((?P<small>[A-Z])\)|(?P<bare>[A-Z]))(?:\(?(?P<last>[IVX]+|\d{1,2})\)?)?)?)?)?(?P<note>#FN\d*)?",
    re.IGNORECASE,
)
# Spaces and marks between the parts of an id; between two digits they part two numbers, and stay.
_MARKS = re.compile(r"(?<=[A-Z)])[\s.,:\-]+|(?<=\d)[\s.,:\-]+(?!\d)", re.IGNORECASE)
_NAMED = re.compile(r"(?P<kind>def|intro|note|dc\d+)\s*:\s*(?P<name>[\w.][\w. \-]*)", re.IGNORECASE)
_ROMAN = {numeral: value for value, numeral in enumerate("i ii iii iv v vi vii viii ix x xi xii".split(), start=1)}
_ROMAN_DEPTH = 4  # 30B1(b)(ii): the fifth level, counted from 0
_NAMED_KINDS = {"def": "Def", "intro": "Intro", "note": "Note"}
_ALIASES = {
    "honour": "honor",
    "honours": "honor",
    "honors": "honor",
    "imp": "international-matchpoint",
    "canceled": "cancelled",
    "psych": "psychic-call",
    "psyche": "psychic-call",
    "left-hand-opponent": "lho",
    "right-hand-opponent": "rho",
    "deck": "pack",
}

# In running text a bare id must not be taken for a bid or a card ("4S", "1NT", "5C"): without the word "law" in front
# it is written in one piece and needs a digit behind the letter, or a number over thirteen.
_LEVELS = (
    r"(?P<law{n}>\d{{1,{digits}}})(?:{gap}(?P<letter{n}>[A-HАВСЕБГД])(?:{gap}(?P<digit{n}>\d{{1,2}})"
    r"(?:{gap}(?:\((?P<small{n}>[a-zа-я])\)|(?P<bare{n}>[a-hавсебгд]))(?:{gap}\(?(?P<last{n}>[ivx]+|(?<=\()\d{{1,2}})\)?)?)?)?)?"
)
_IN_TEXT = re.compile(
    rf"(?<![\w.])(?:(?P<word>{_WORD})\.?\s*{_LEVELS.format(n=1, digits=3, gap=' ?')}"
    rf"|{_LEVELS.format(n=2, digits=2, gap='')})(?!\w)",
    re.IGNORECASE,
)
# "Laws 27 and 64": what follows a plural.
_PLURAL = re.compile(r"laws|rules|правила|правил|законы", re.IGNORECASE)
_FOLLOWER = re.compile(
    r"\s*(?:,|&|and|or|и|или)\s*(\d{1,2}(?:[A-HАВСЕБГД](?:\d{1,2}(?:\([a-zа-я]\))?)?)?)(?![\w(])", re.IGNORECASE
)


@dataclass(frozen=True)
class ClauseId:
    """One clause id, shown as ``text`` and compared by ``key`` (case folded)."""

    text: str = field(compare=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.text.casefold())

    def __str__(self) -> str:
        return self.text

    @property
    def law(self) -> int | None:
        """Number of the Law, or ``None`` for definitions, notes and commentary."""
        match = re.match(r"\d+", self.text)
        return int(match[0]) if match else None

    @property
    def is_footnote(self) -> bool:
        """Whether this is a footnote of another clause."""
        return "#fn" in self.key

    @property
    def order(self) -> tuple[tuple[int, int | str], ...]:
        """A key that sorts the ids of one book: laws by their numbers level by level, a footnote behind its clause.

        Definitions and what else has no number come before the laws, by name; comments by law and number.
        """
        base, _, note = self.key.partition("#fn")
        numbered = re.fullmatch(r"(?P<comments>dc\d+:)?(?P<number>\d.*)", base)
        name = base if numbered is None else numbered["comments"]
        levels: list[tuple[int, int | str]] = [(0, name)] if name else []
        for depth, part in enumerate(re.findall(r"\d+|[a-z]+", numbered["number"] if numbered else "")):
            roman = _ROMAN.get(part) if depth == _ROMAN_DEPTH else None
            levels.append((1, int(part) if part.isdigit() else roman or part))
        return (*levels, (0, int(note or 1))) if self.is_footnote else tuple(levels)

    def ancestors(self) -> tuple[ClauseId, ...]:
        """The ids above this one, nearest first: ``30B1(b)(ii)`` gives ``30B1(b)``, ``30B1``, ``30B``, ``30``."""
        base, _, note = self.text.partition("#")
        above = [base] if note else []
        if not self.law:
            if re.fullmatch(r"DC\d+:\d+\.\d+", base):  # a comment, under the heading of its law
                above.append(base.partition(".")[0])
            return tuple(map(ClauseId, above))
        while (shorter := re.sub(r"(\([^()]*\)|\d+|[A-Z])$", "", base)) and shorter != base:
            above.append(shorter)
            base = shorter
        return tuple(map(ClauseId, above))


def parse_clause_id(text: str, last_law: int = LAST_LAW) -> ClauseId:
    """Read a clause id however people write it: ``Law 27 B 1 a``, ``27b1a``, ``правило 27В1``, ``zakon 27B1``.

    ``last_law`` is the highest law number there can be. Raises `UnknownClause` when the text is not a clause id at all;
    whether a book has it is the book's business.
    """
    found = _named(text.strip()) or _numbered(text, last_law)
    if found is None:
        shown = text.strip()[:40]
        raise UnknownClause(f'"{shown}" is not a clause number; write it like 27B1(a), Law 64 or Def:trick.')
    return found


def find_clause_ids(text: str, last_law: int = LAST_LAW) -> tuple[ClauseId, ...]:
    """The law numbers named in running text, in order, each once; bids and cards (``4S``, ``1NT``) are not among them.

    ``last_law`` is the highest law number there can be.
    """
    found: dict[str, ClauseId] = {}
    for match in _IN_TEXT.finditer(text):
        clause = _in_text(match, last_law)
        if clause is not None:
            found.setdefault(clause.key, clause)
        more = match.end()
        while match["word"] and _PLURAL.fullmatch(match["word"]) and (follower := _FOLLOWER.match(text, more)):
            if clause := _numbered(follower[1], last_law):
                found.setdefault(clause.key, clause)
            more = follower.end()
    return tuple(found.values())


def _in_text(match: re.Match[str], last_law: int) -> ClauseId | None:
    n = 1 if match["law1"] else 2
    law, letter, digit, small, bare, last = (
        match[f"{part}{n}"] or "" for part in ("law", "letter", "digit", "small", "bare", "last")
    )
    if n == 1:
        letter_apart = bool(letter) and match.start("letter1") > match.end("law1")
        if letter_apart and letter.islower() and not digit:
            letter = ""  # "law 64 a revoke": a word, not a section
        if bare and not letter_apart and match.start("bare1") > match.end("digit1"):
            bare = last = ""
    elif not digit and (not letter or int(law) <= HIGHEST_CARD):
        return None
    elif bare and max(int(law), int(digit)) <= HIGHEST_BID:
        return None  # "1C1D": two bids
    return _numbered(law + letter + digit + (f"({small})" if small else bare) + last, last_law)


def _named(text: str) -> ClauseId | None:
    if text.casefold() in ("def", "intro"):  # the chapter as a whole
        return ClauseId(_NAMED_KINDS[text.casefold()])
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    kind = match["kind"].casefold()
    name = re.sub(r"[\s_]+", "-", match["name"].strip().casefold())
    if kind == "def":
        name = _ALIASES.get(name, name)
    return ClauseId(f"{_NAMED_KINDS.get(kind, kind.upper())}:{name}")


def _numbered(text: str, last_law: int) -> ClauseId | None:
    bare = _PREFIX.sub("", text.strip()).translate(_CYRILLIC)
    bare = _MARKS.sub("", bare)
    match = _SHAPE.fullmatch(bare)
    if match is None or not 1 <= int(match["law"]) <= last_law:
        return None
    small = match["small"] or (match["bare"] or "").lower()
    last = match["last"] and match["last"].lower()
    shown = str(int(match["law"])) + (match["letter"] or "").upper() + (match["digit"] or "")
    shown += f"({small})" if small else ""
    shown += f"({last})" if last else ""
    return ClauseId(shown + (match["note"] or "").lower())
