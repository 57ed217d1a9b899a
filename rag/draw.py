"""A procedure as a flow chart (SVG): questions, their answers indented below, rulings at the ends.

To be printed, or on the page: then the path that was taken is marked, and each box leads to where it stands.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from rag.procedure import LINK, Procedure, read_facts, read_procedures
from rag.strings import authority, strings

WIDTH, NARROW, INDENT, LINE, GAP = 1000, 820, 34, 18, 10
"""Pixels: of a printed page, of a chart on the page, a level, a line of text, and between rows."""
TAPPED = 44
"""Pixels: least height of a box that can be tapped."""
CHARACTER, CYRILLIC, BOLD = 7.3, 7.9, 1.13
"""Mean width of a letter of 13 px in a wide font (DejaVu Sans), in pixels, for breaking lines; and how much wider bold is."""
_COLOURS = {"question": "#e8f1ee", "ruling": "#ffffff", "judgement": "#fff6e0", "link": "#eef0f6", "again": "#ffffff"}


@dataclass(frozen=True)
class Answer:
    """The option taken of a fact at a node of the tree."""

    node: str
    fact: str
    option: str


@dataclass(frozen=True)
class Walked:
    """A path through a procedure: the answers, and the node, leaf or link where it ended."""

    answers: tuple[Answer, ...]
    end: str


@dataclass(frozen=True)
class Frame:
    """Where a box stands, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Row:
    """One box of the chart; ``option`` is the answer that leads to it, ``number`` that of a question.

    ``at`` is the node, leaf or link it stands for, ``path`` the answers that lead to it from the start.
    """

    kind: Literal["question", "ruling", "judgement", "link", "again"]
    level: int
    option: str
    text: str
    cites: str = ""
    number: int = 0
    at: str = field(default="", compare=False)
    path: tuple[Answer, ...] = field(default=(), compare=False)

    @property
    def facts(self) -> dict[str, str] | None:
        """The facts with which the walk comes here; ``None`` when the path would need two answers to one question."""
        facts: dict[str, str] = {}
        for one in self.path:
            if facts.setdefault(one.fact, one.option) != one.option:
                return None
        return facts


Link = Callable[[Mapping[str, str]], str]
"""The address at which the walk stands with these facts."""


def walk(procedure: Procedure, known: Mapping[str, str]) -> Walked:
    """The path through one procedure with the facts that are known."""
    answers: list[Answer] = []
    at = procedure.start
    while at in procedure.nodes and (option := known.get(procedure.nodes[at].fact)):
        node = procedure.nodes[at]
        answers.append(Answer(at, node.fact, option))
        at = node.to[option]
    return Walked(tuple(answers), at)


def draw(procedure: Procedure, lang: str, walked: Walked | None = None, link: Link | None = None) -> str:
    """The chart as an SVG document in a language; with ``link``, each box that the walk can come to is one."""
    wide = NARROW if link else WIDTH
    boxes: list[Markup] = []
    heights: dict[int, float] = {}
    y = 64.0
    for row in rows(procedure, lang):
        x = 20 + row.level * INDENT
        is_taken = walked is not None and _is_taken(row, walked)
        letter = (CYRILLIC if lang == "ru" else CHARACTER) * (BOLD if row.kind == "question" else 1)
        lines = textwrap.wrap(_label(row), max(24, int((wide - x - 30) / letter)))
        height = max(len(lines) * LINE + 10, TAPPED if link else 0)
        boxes += _connector(x, y, heights.get(row.level - 1, y), row.level, is_taken)
        box = _box(row, lines, Frame(x, y, wide - x - 20, height), is_taken)
        is_end = is_taken and walked is not None and row.at == walked.end
        boxes.append(_linked(box, row, link, is_taken, is_end) if link else box)
        heights[row.level] = y + height
        y += height + GAP
    title = Markup('<text x="20" y="30" font-size="20" font-weight="700">{}</text>').format(procedure.title.of(lang))
    note = authority(lang, procedure.edition, "restated")
    foot = Markup('<text x="20" y="{}" font-size="11" fill="#4a5a68">{}</text>').format(round(y + 16), note)
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif" '
        'font-size="13" lang="{2}"><rect width="100%" height="100%" fill="#ffffff"/>'
    ).format(wide, round(y + 34), lang)
    return str(Markup("\n").join([head, title, *boxes, foot, Markup("</svg>")])) + "\n"


def rows(procedure: Procedure, lang: str) -> Iterator[Row]:
    """The boxes from top to bottom; a question that stands above already is only pointed to."""
    numbers: dict[str, int] = {}
    facts, text = read_facts(), strings(lang)

    def below(at: str, level: int, option: str, path: tuple[Answer, ...]) -> Iterator[Row]:
        if at.startswith(LINK):
            title = read_procedures()[at[len(LINK) :]].title.of(lang)
            yield Row("link", level, option, f"→ {title}", at=at, path=path)
        elif at in procedure.leaves:
            leaf = procedure.leaves[at]
            first = next((one for one in leaf.sentences if one.part in {"now", "options"}), leaf.sentences[0])
            kind: Literal["judgement", "ruling"] = "judgement" if leaf.kind == "judgement" else "ruling"
            told = first.ru if lang == "ru" else first.en
            yield Row(kind, level, option, told, ", ".join(leaf.cites), at=at, path=path)
        elif at in numbers:
            yield Row("again", level, option, text["as_at"].format(number=numbers[at]), at=at, path=path)
        else:
            numbers[at] = len(numbers) + 1
            node = procedure.nodes[at]
            fact = facts[node.fact]
            yield Row("question", level, option, fact.question.of(lang), number=numbers[at], at=at, path=path)
            for one in fact.options:
                yield from below(node.to[one.id], level + 1, one.label.of(lang), (*path, Answer(at, fact.id, one.id)))

    yield from below(procedure.start, 0, "", ())


def _is_taken(row: Row, walked: Walked) -> bool:
    """Whether the path comes to a box by the answer above it; to a question also when it comes from elsewhere."""
    if row.path and row.path[-1] in walked.answers:
        return True
    return row.kind == "question" and row.at in {walked.end, *(one.node for one in walked.answers)}


def _label(row: Row) -> str:
    number = f"{row.number}. " if row.number else ""
    option = f"[{row.option}] " if row.option else ""
    return f"{option}{number}{row.text}" + (f" ({row.cites})" if row.cites else "")


def _connector(x: float, y: float, above: float, level: int, is_taken: bool) -> list[Markup]:
    if not level:
        return []
    left = x - INDENT + 12
    look = Markup('stroke="#0b5c46" stroke-width="4" class="tl-taken"') if is_taken else Markup('stroke="#9aa8a4"')
    line = Markup('<path d="M{0} {1}V{2}H{3}" fill="none" {4}/>')
    return [line.format(left, round(above), round(y + 14), x, look)]


def _box(row: Row, lines: list[str], at: Frame, is_taken: bool) -> Markup:
    line_width = 4 if is_taken else 2 if row.kind == "question" else 1
    frame = Markup(
        '<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="{}" stroke="#0b5c46" stroke-width="{}" class="tl-box-{}"/>'
    ).format(at.x, round(at.y), at.width, at.height, _COLOURS[row.kind], line_width, row.kind)
    weight = "600" if row.kind == "question" or is_taken else "400"
    texts = [
        Markup('<text x="{}" y="{}" font-weight="{}">{}</text>').format(at.x + 8, round(at.y + 18 + k * LINE), weight, line)
        for k, line in enumerate(lines)
    ]
    return Markup("").join([frame, *texts])


def _linked(box: Markup, row: Row, link: Link, is_taken: bool, is_end: bool) -> Markup:
    facts = row.facts
    look = Markup("tl-node tl-taken") if is_taken else Markup("tl-node")
    if facts is None:
        return Markup('<g class="{}">{}</g>').format(look, box)
    current = Markup(' aria-current="step"') if is_end else ""
    return Markup('<a href="{}" class="{}"{}>{}</a>').format(link(facts), look, current, box)
