from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.agreement import PATH, Labelled, agreement, is_right, read_labelled
from eval.answers import Answered
from eval.gold import Gold, of_split, read_gold
from index.errors import ContractError

GOLD = {
    "id": "x-1",
    "lang": "en",
    "book": "laws-2017-en",
    "question": "East bid 1H over 1S. What now?",
    "topic": "auction",
    "family": "insufficient",
    "kind": "book",
    "must_cite": [["27A1"]],
    "may_cite": [],
    "never_cite": [],
    "say": [["accept"]],
    "never_say": [],
    "answerable": "yes",
    "missing_fact": "",
    "difficulty": "easy",
    "why": "made",
}


def answer(status: str, text: str = "", cites: tuple[str, ...] = (), asks: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "status": status,
        "answer": text,
        "sentences": [],
        "cites": list(cites),
        "ask": [{"fact": fact, "question": "?", "options": []} for fact in asks],
        "then": [],
    }


LACKING = {"answerable": "needs-fact", "missing_fact": "LHO", "asks": ["lho-accepts"]}
RIGHT = answer("ruling", "LHO may accept it.", ("27A1",))
WRONG = answer("ruling", "It is cancelled.", ("25A",))


def labelled(label: str, given: dict[str, Any]) -> Labelled:
    return Labelled.model_validate({"id": "x-1", "system": "made", "label": label, "why": "made", "answer": given})


@pytest.mark.parametrize(
    ("changes", "given", "right"),
    [
        ({}, RIGHT, True),
        ({}, WRONG, False),
        (
            {"answerable": "needs-fact", "missing_fact": "LHO", "asks": ["lho-accepts"]},
            answer("ask", asks=("lho-accepts",)),
            True,
        ),
        ({"answerable": "needs-fact", "missing_fact": "LHO", "asks": ["lho-accepts"]}, RIGHT, False),
        ({"answerable": "no", "must_cite": [], "say": []}, answer("not-covered"), True),
        ({"answerable": "no", "must_cite": [], "say": []}, RIGHT, False),
    ],
)
def test_an_answer_is_judged_by_the_kind_of_its_question(changes: dict[str, Any], given: dict[str, Any], right: bool) -> None:
    assert is_right(Answered(Gold.model_validate({**GOLD, **changes}), given)) is right


def test_agreement_counts_partly_right_as_not_right() -> None:
    gold = {"x-1": Gold.model_validate(GOLD)}
    found = agreement(
        (labelled("right", RIGHT), labelled("partly", RIGHT), labelled("wrong", WRONG), labelled("partly", WRONG)), gold
    )
    assert (found.hits, found.total) == (3, 4)


def test_a_label_of_an_unknown_question_is_named() -> None:
    with pytest.raises(ContractError, match="x-1"):
        agreement((labelled("right", RIGHT),), {})


@pytest.mark.parametrize("line", ["{", '{"id": "x-1"}', '{"id": "x", "system": "s", "label": "fine", "why": "", "answer": {}}'])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(ContractError, match=r"labelled\.jsonl:2: "):
        read_labelled(path)


def test_forty_answers_to_dev_questions_are_labelled_and_none_of_the_test_split() -> None:
    found = read_labelled(PATH)
    dev = {one.id for one in of_split(read_gold(), "dev")}
    assert len(found) >= 40
    assert {one.id for one in found} <= dev
    assert len({(one.id, one.system) for one in found}) == len(found)
