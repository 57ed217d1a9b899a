from __future__ import annotations

from itertools import pairwise

import pytest
from lxml import etree

from rag.draw import Row, draw, rows
from rag.procedure import find_procedure, read_facts, read_procedures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("lang", ["en", "ru"])
@pytest.mark.parametrize("name", sorted(read_procedures()))
def test_every_procedure_is_drawn_whole_and_within_the_page(name: str, lang: str) -> None:
    procedure = find_procedure(name)
    root = etree.fromstring(draw(procedure, lang).encode())
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = root.findall(f"{SVG}rect")[1:]
    assert len(boxes) == len(list(rows(procedure, lang)))
    for box in boxes:
        assert float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) + float(box.get("height")) <= height
        assert float(box.get("width")) > 200
    tops = [(float(box.get("y")), float(box.get("height"))) for box in boxes]
    assert all(y + h <= below for (y, h), (below, _) in pairwise(tops)), "boxes do not overlap"
    text = " ".join("".join(one.itertext()) for one in root.iter(f"{SVG}text"))
    assert procedure.title.of(lang) in text
    for node in procedure.nodes.values():
        assert read_facts()[node.fact].question.of(lang).split()[0] in text


def test_a_question_is_asked_once_and_pointed_to_after_that() -> None:
    found = list(rows(find_procedure("insufficient-bid"), "en"))
    numbers = [row.number for row in found if row.kind == "question"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == len(find_procedure("insufficient-bid").nodes)
    again = [row for row in found if row.kind == "again"]
    assert again
    assert all(1 <= int(row.text.removeprefix("as at ")) <= len(numbers) for row in again)


def test_a_row_names_the_answer_that_leads_to_it() -> None:
    first, second = list(rows(find_procedure("insufficient-bid"), "en"))[:2]
    assert first == Row("question", 0, "", "Has that player's left-hand opponent called after it?", number=1)
    assert (second.level, second.option) == (1, "Yes, LHO has called")
