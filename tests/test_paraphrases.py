"""Dev questions told by another person and in the other language."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from eval import paraphrases
from eval.gold import Gold, of_split, read_gold
from eval.paraphrases import retold
from index.books import DEFAULT_BOOK, read_book
from index.errors import ContractError
from tests.test_gold import RIGHT, grams, near_copies

ROWS: list[dict[str, str]] = [
    json.loads(line) for line in paraphrases.PATH.read_text(encoding="utf-8").split("\n") if line.strip()
]


@lru_cache(maxsize=1)
def whole() -> tuple[Gold, ...]:
    return read_gold()


def of(split: Any) -> tuple[Gold, ...]:
    return of_split(whole(), split)


def bundled(how: Any) -> list[Gold]:
    return retold(whole(), how)


def of_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = tmp_path / "told.jsonl"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(paraphrases, "PATH", path)


GOLD = [Gold(**RIGHT), Gold(**{**RIGHT, "id": "x-2", "lang": "ru"}), Gold(**{**RIGHT, "id": "x-3"})]
TOLD = [
    {"id": "x-2", "paraphrase": "Кто же ходит?", "translation": "Whose lead is it?"},
    {"id": "x-1", "paraphrase": "Whose turn is it?", "translation": "Чей теперь ход?"},
]


@pytest.mark.parametrize(
    ("how", "questions"),
    [
        ("paraphrase", [("x-1", "en", "Whose turn is it?"), ("x-2", "ru", "Кто же ходит?")]),
        ("translation", [("x-1", "ru", "Чей теперь ход?"), ("x-2", "en", "Whose lead is it?")]),
    ],
)
def test_those_that_were_retold_come_in_the_order_of_gold_in_the_language_they_are_now_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Any, questions: list[tuple[str, str, str]]
) -> None:
    of_tests(tmp_path, monkeypatch, "\n".join(map(json.dumps, TOLD)))
    found = retold(GOLD, how)
    assert [(one.id, one.lang, one.question) for one in found] == questions
    before = {"question", "lang"}
    assert found[0].model_dump(exclude=before) == GOLD[0].model_dump(exclude=before)
    assert GOLD[0].question == RIGHT["question"]


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "x-1", "paraphrase": ',
        '{"paraphrase": "a", "translation": "b"}',
        '{"id": "x-1", "translation": "b"}',
        f"{json.dumps(TOLD[0])}\n\n{json.dumps(TOLD[1])}",
        pytest.param("5"),
        pytest.param('["x-1"]'),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    of_tests(tmp_path, monkeypatch, text)
    with pytest.raises(ContractError, match=r"^told\.jsonl is damaged \(.+\); restore the file\.$"):
        retold(GOLD, "paraphrase")


def test_a_missing_file_or_one_that_is_no_text_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paraphrases, "PATH", tmp_path / "none.jsonl")
    with pytest.raises(ContractError, match=r"^none\.jsonl is damaged"):
        retold(GOLD, "paraphrase")
    (tmp_path / "none.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ContractError, match=r"^none\.jsonl is damaged"):
        retold(GOLD, "paraphrase")


def test_every_bundled_row_is_of_a_question_of_dev_each_once() -> None:
    ids = [row["id"] for row in ROWS]
    assert len(ids) >= 50
    assert sorted(set(ids) - {one.id for one in of("dev")}) == []
    assert [one for one, times in Counter(ids).items() if times > 1] == []
    assert [row["id"] for row in ROWS if set(row) != {"id", "paraphrase", "translation"}] == []


@pytest.mark.parametrize("how", ["paraphrase", "translation"])
def test_every_bundled_form_is_a_question_that_gold_would_take_and_no_other_form_of_it(how: Any) -> None:
    before = {one.id: one.question for one in whole()}
    found = bundled(how)
    assert len(found) == len(ROWS)
    for one in found:
        assert Gold.model_validate(one.model_dump()) == one
        assert one.question.strip() == one.question
        assert one.question != before[one.id]
    assert len({one.question for one in found}) == len(found)


def test_a_translation_is_written_in_its_language_and_all_of_the_russian_ones_in_russian_letters() -> None:
    def is_russian(text: str) -> bool:
        return len(re.findall("[а-яё]", text, re.IGNORECASE)) > len(re.findall("[a-z]", text, re.IGNORECASE))

    assert [one.id for one in bundled("translation") if is_russian(one.question) != (one.lang == "ru")] == []
    assert [one.id for one in bundled("paraphrase") if is_russian(one.question) and one.lang == "en"] == []


# The copies are named before the assertion, so that a failure shows ids of dev only and never a question of test.


def test_no_form_is_a_near_copy_of_a_question_of_test() -> None:
    texts = [one.question for one in of("test")]
    found = near_copies([*bundled("paraphrase"), *bundled("translation")], texts)
    assert found == []


def test_no_form_is_a_near_copy_of_the_question_it_retells_or_of_one_that_is_trained_on() -> None:
    forms = [*bundled("paraphrase"), *bundled("translation")]
    texts = [one.question for one in (*of("train"), *of("dev"))]
    texts += [line.text for clause in read_book(DEFAULT_BOOK).clauses for line in clause.asked]
    half = min(len(grams(one.question)) for one in forms) / 2  # a text with fewer letters has too few 5-grams to share
    found = near_copies(forms, [text for text in texts if len(text) >= half])
    assert found == []
