from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.floor import OFF_TOPIC
from eval.gold import Gold, of_split, read_gold, read_splits
from index.books import DEFAULT_BOOK, read_book
from index.errors import ContractError
from rag.procedure import read_facts, read_procedures
from rag.strings import languages, strings

RIGHT: dict[str, Any] = {
    "id": "x-1", "lang": "en", "book": "laws-2017-en", "question": "Who may lead now?", "topic": "revoke", "family": "f",
    "kind": "book", "must_cite": [["64A1"]], "may_cite": [], "never_cite": [], "say": [["trick"]], "never_say": [],
    "answerable": "yes", "missing_fact": "", "difficulty": "easy", "why": "64A1",
}  # fmt: skip


def write(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_the_bundled_gold_is_valid_and_every_family_has_a_split() -> None:
    gold = read_gold()
    assert {one.family for one in gold} == set(read_splits())
    assert {one.book for one in gold} == {"laws-2017-en", "laws-1987-ru"}


@pytest.mark.parametrize("split", ["dev", "test"])
def test_dev_and_test_hold_enough_of_what_must_not_be_ruled(split: Any) -> None:
    counts = Counter(one.answerable for one in of_split(read_gold(), split))
    assert counts["needs-fact"] >= 30
    assert counts["no"] >= 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"must_cite": [["27Q"]]}, "the Laws of 2017 have no clause 27Q"),
        ({"may_cite": ["revoke law"]}, '"revoke law" is not a clause number'),
        ({"must_cite": []}, "x-1 is answerable but must cite nothing"),
        ({"must_cite": [[]]}, "must_cite.0: List should have at least 1 item"),
        ({"say": [["(trick"]]}, "is no regular expression"),
        ({"answerable": "needs-fact"}, "x-1 needs a fact but does not say which"),
        ({"lang": "fr"}, "lang: Input should be 'en' or 'ru'"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = write(tmp_path, RIGHT, {**RIGHT, "id": "x-2", **change})
    with pytest.raises(ContractError, match=r"gold\.jsonl:2: ") as caught:
        read_gold([path])
    assert message.replace("x-1", "x-2") in str(caught.value)


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"gold\.jsonl:2: the id x-1 stands twice"):
        read_gold([write(tmp_path, RIGHT, RIGHT)])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="cannot be read"):
        read_gold([tmp_path / "none.jsonl"])


def grams(text: str) -> frozenset[str]:
    flat = " ".join(text.casefold().split())
    return frozenset(flat[k : k + 5] for k in range(max(1, len(flat) - 4)))


def near_copies(gold: list[Gold], texts: list[str]) -> list[str]:
    """Gold questions that share half of their character 5-grams (Jaccard 0.5) with a text."""
    others = [grams(text) for text in texts]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, other in enumerate(others):
        for gram in other:
            holders[gram].append(number)
    found = []
    for one in gold:
        mine = grams(one.question)
        shared = Counter(number for gram in mine for number in holders.get(gram, ()))
        found += [one.id for number, both in shared.items() if both / (len(mine) + len(others[number]) - both) >= 0.5]
    return found


def test_the_search_for_near_copies_would_notice_one() -> None:
    gold = [Gold(**{**RIGHT, "question": "East led the king of hearts out of turn, face up. What may South do now?"})]
    assert near_copies(gold, ["East led the king of hearts out of turn, face up, what may South do?"]) == ["x-1"]
    assert near_copies(gold, ["West revoked on trick two and won it."]) == []


def test_dev_and_test_are_apart_from_all_that_is_trained_on_or_shown() -> None:
    gold = [*of_split(read_gold(), "dev"), *of_split(read_gold(), "test")]
    texts = [line.text for clause in read_book(DEFAULT_BOOK).clauses for line in clause.asked]
    texts += [part for note in read_book("notes-2017-en").clauses for part in note.text.split("\n") if part.strip()]
    texts += [strings(lang)[f"example_{n}"] for lang in languages() for n in (1, 2, 3)]
    texts += [one.question for one in of_split(read_gold(), "train")]
    texts += [text for p in read_procedures().values() for text in (*p.recognise.en, *p.recognise.ru)]
    texts += [text for f in read_facts().values() for o in f.options for text in (*o.examples.en, *o.examples.ru)]
    texts += [text for questions in yaml.safe_load(OFF_TOPIC.read_text(encoding="utf-8")).values() for text in questions]
    assert near_copies(gold, texts) == []


def test_no_two_questions_of_dev_and_test_are_near_copies() -> None:
    dev, test = (list(of_split(read_gold(), split)) for split in ("dev", "test"))
    assert near_copies(dev, [one.question for one in test]) == []
