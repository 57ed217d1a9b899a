"""A procedure as a flow chart (SVG) for printing: questions, their answers indented below, rulings at the ends."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from rag.procedure import LINK, Procedure, read_facts, read_procedures
from rag.strings import authority, strings

WIDTH, INDENT, LINE, GAP = 1000, 34, 18, 10
"""Pixels: of the page, a level, a line of text, and between rows."""
CHARACTER = 7.2
"""Mean width of a letter of 13 px, in pixels, for breaking lines."""
_COLOURS = {"question": "#e8f1ee", "ruling": "#ffffff", "judgement": "#fff6e0", "link": "#eef0f6", "again": "#ffffff"}


@dataclass(frozen=True)
class Row:
    """One box of the chart; ``option`` is the answer that leads to it, ``number`` that of a question."""

    kind: Literal["question", "ruling", "judgement", "link", "again"]
    level: int
    option: str
    text: str
    cites: str = ""
    number: int = 0


def draw(procedure: Procedure, lang: str) -> str:
    """The chart as an SVG document in a language."""
    boxes: list[Markup] = []
    heights: dict[int, float] = {}
    y = 64.0
    for row in rows(procedure, lang):
        x = 20 + row.level * INDENT
        lines = textwrap.wrap(_label(row), max(24, int((WIDTH - x - 30) / CHARACTER)))
        height = len(lines) * LINE + 10
        boxes += _connector(x, y, heights.get(row.level - 1, y), row.level)
        boxes.append(_box(row, lines, x, y, height))
        heights[row.level] = y + height
        y += height + GAP
    title = Markup('<text x="20" y="30" font-size="20" font-weight="700">{}</text>').format(procedure.title.of(lang))
    note = authority(lang, procedure.edition, "restated")
    foot = Markup('<text x="20" y="{}" font-size="11" fill="#4a5a68">{}</text>').format(round(y + 16), note)
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif" '
        'font-size="13" lang="{2}"><rect width="100%" height="100%" fill="#ffffff"/>'
    ).format(WIDTH, round(y + 34), lang)
    return str(Markup("\n").join([head, title, *boxes, foot, Markup("</svg>")])) + "\n"


def rows(procedure: Procedure, lang: str) -> Iterator[Row]:
    """The boxes from top to bottom; a question that stands above already is only pointed to."""
    numbers: dict[str, int] = {}
    facts, text = read_facts(), strings(lang)

    def below(at: str, level: int, option: str) -> Iterator[Row]:
        if at.startswith(LINK):
            yield Row("link", level, option, f"→ {read_procedures()[at[len(LINK) :]].title.of(lang)}")
        elif at in procedure.leaves:
            leaf = procedure.leaves[at]
            first = next((one for one in leaf.sentences if one.part in {"now", "options"}), leaf.sentences[0])
            kind: Literal["judgement", "ruling"] = "judgement" if leaf.kind == "judgement" else "ruling"
            yield Row(kind, level, option, first.ru if lang == "ru" else first.en, ", ".join(leaf.cites))
        elif at in numbers:
            yield Row("again", level, option, text["as_at"].format(number=numbers[at]))
        else:
            numbers[at] = len(numbers) + 1
            node = procedure.nodes[at]
            fact = facts[node.fact]
            yield Row("question", level, option, fact.question.of(lang), number=numbers[at])
            for one in fact.options:
                yield from below(node.to[one.id], level + 1, one.label.of(lang))

    yield from below(procedure.start, 0, "")


def _label(row: Row) -> str:
    number = f"{row.number}. " if row.number else ""
    option = f"[{row.option}] " if row.option else ""
    return f"{option}{number}{row.text}" + (f" ({row.cites})" if row.cites else "")


def _connector(x: float, y: float, above: float, level: int) -> list[Markup]:
    if not level:
        return []
    left = x - INDENT + 12
    line = Markup('<path d="M{0} {1}V{2}H{3}" fill="none" stroke="#9aa8a4"/>')
    return [line.format(left, round(above), round(y + 14), x)]


def _box(row: Row, lines: list[str], x: float, y: float, height: float) -> Markup:
    frame = Markup('<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="{}" stroke="#0b5c46" stroke-width="{}"/>').format(
        x, round(y), WIDTH - x - 20, height, _COLOURS[row.kind], 2 if row.kind == "question" else 1
    )
    weight = "600" if row.kind == "question" else "400"
    texts = [
        Markup('<text x="{}" y="{}" font-weight="{}">{}</text>').format(x + 8, round(y + 18 + k * LINE), weight, line)
        for k, line in enumerate(lines)
    ]
    return Markup("").join([frame, *texts])
