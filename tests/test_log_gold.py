from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.gold import Gold, read_gold
from index.errors import ContractError
from rag.log import Log, LogSettings
from rag.log_entry import Correction
from rag.log_gold import gold_candidates
from rag.ruling import AskedFact, State, Turn
from tests.invented import invented_procedures
from tests.test_log import put

TOLD = "Table 5, board 12: Ann Example (North) led out of turn, and Bob at table 5 saw it"


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path / "log.sqlite3")
    made.set_settings(LogSettings(keep_names=True))
    return made


def judge(log: Log, verdict: Any = "right", why: str = "", players: Any = None, table: str = "5", **changes: Any) -> None:
    put(log, **{"question": TOLD, **changes})
    log.correct("c1", 1, Correction(verdict=verdict, why=why, players=players, table=table))


def lines(log: Log) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gold_candidates(log)]


def read(log: Log, tmp_path: Path) -> tuple[Gold, ...]:
    """The candidates, read as gold."""
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(gold_candidates(log)), encoding="utf-8")
    return read_gold([path])


def procedure(**facts: str) -> dict[str, Any]:
    known = {name: {"value": value, "from": "read", "confidence": 0.9} for name, value in facts.items()}
    return {"id": "tea", "facts": known, "path": list(facts)}


def test_what_was_right_is_gold_of_its_own_clauses(log: Log, tmp_path: Path) -> None:
    judge(log)
    (gold,) = read(log, tmp_path)
    assert (gold.must_cite, gold.answerable, gold.kind, gold.lang, gold.book) == (
        [["27A1"]], "yes", "book", "en", "small-2017-en",
    )  # fmt: skip
    assert set(lines(log)[0]) == set(Gold.model_fields)


def test_what_was_wrong_must_cite_what_the_director_named(log: Log, tmp_path: Path) -> None:
    judge(log, "wrong", "27B1 applies, and 16B3; the hand was 4S. 99Z9 is no law.", status="judgement")
    (gold,) = read(log, tmp_path)
    assert (gold.must_cite, gold.kind) == ([["27B1"], ["16B3"]], "judgement")
    assert gold.why.startswith("The director found the answer wrong. 27B1 applies")


def test_what_was_wrong_with_no_clause_named_is_refused_until_a_person_fills_it_in(log: Log, tmp_path: Path) -> None:
    judge(log, "wrong", "nonsense")
    (line,) = lines(log)
    Gold.model_validate(line)
    assert (line["must_cite"], line["may_cite"], line["never_cite"]) == ([], [], []), "nothing is made up"
    with pytest.raises(ContractError, match=r"gold\.jsonl:1: log-\w+ is answerable but must cite nothing"):
        read(log, tmp_path)


def test_a_right_question_back_needs_its_fact(log: Log, tmp_path: Path) -> None:
    asked = (AskedFact("spilled", "Has tea been spilled?", ("yes", "no")),)
    judge(log, status="ask", ask=asked, cites=(), sentences=(), procedure=procedure(who="north"))
    (gold,) = read(log, tmp_path)
    assert (gold.answerable, gold.missing_fact, gold.asks, gold.must_cite) == (
        "needs-fact", "Has tea been spilled?", ["spilled"], [],
    )  # fmt: skip
    assert (gold.procedure, gold.facts, gold.topic) == (["tea"], {"who": "north"}, "tea")


def test_a_right_refusal_is_not_covered(log: Log, tmp_path: Path) -> None:
    judge(log, status="not-covered", cites=(), sentences=())
    (gold,) = read(log, tmp_path)
    assert (gold.answerable, gold.must_cite, gold.is_uncovered) == ("no", [], True)


def test_the_question_is_all_that_was_told_in_the_case(log: Log, tmp_path: Path) -> None:
    (tmp_path / "procedures").mkdir()
    found = procedure(who="north", spilled="yes")
    found["facts"]["spilled"] = {"value": "yes", "from": "answered", "confidence": 1.0}
    found["facts"]["cloth"] = {"value": "no", "from": "read", "confidence": None}
    turns = (Turn("East led out of turn", "", ()), Turn("and who plays next?", "", ()))
    with invented_procedures(tmp_path / "procedures"):
        judge(log, question="and who plays next?", procedure=found, state=State("small-2017-en", "en", turns))
        (gold,) = read(log, tmp_path)
        label, asked = "yes spilled", gold.question.splitlines()[2]
    assert gold.question.splitlines()[:2] == ["East led out of turn", "and who plays next?"]
    assert asked.endswith(f"{label}.")
    assert gold.facts == {"who": "north", "spilled": "yes"}, "what was presumed was not told"


@pytest.mark.parametrize(
    ("told", "stripped"),
    [
        (TOLD, "board 12: North (North) led out of turn, and East saw it"),
        ("Example's card, said BOB, was at Table No. 5.", "North's card, said East, was."),
        ("We had nothing to be ashamed of at the 5th table", "We had nothing to be ashamed of"),
        ("on table A12 the bobbin fell", "the bobbin fell"),
        ("Two cards lay on the table, five of them", "Two cards lay on the table, five of them"),
    ],
)
def test_names_and_the_table_are_stripped(log: Log, told: str, stripped: str) -> None:
    judge(log, question=told, players={"north": "Ann Example", "E": "Bob"})
    assert lines(log)[0]["question"] == stripped


@pytest.mark.parametrize(
    ("told", "stripped"),
    [
        ("Стол 5: Иванова зашла не в очередь", "Север зашла не в очередь"),
        ("За столом №5 Иванов сказал Петрову", "Север сказал Восток"),
        ("за 5-м столом сделали ренонс", "сделали ренонс"),
        ("Карта упала на стол, пять очков", "Карта упала на стол, пять очков"),
    ],
)
def test_names_and_the_table_are_stripped_in_russian(log: Log, told: str, stripped: str) -> None:
    judge(log, question=told, lang="ru", players={"север": "Пётр Иванов", "e": "Петров"})
    assert lines(log)[0]["question"] == stripped


def test_a_table_that_has_a_name_is_stripped(log: Log) -> None:
    judge(log, question="At table Blue they led twice", table="Blue")
    assert lines(log)[0]["question"] == "they led twice"


def test_nothing_of_the_entry_leaks_that_names_people_or_the_case(log: Log) -> None:
    judge(log, "wrong", "Ann Example is right, says 27B1", {"north": "Ann Example"})
    log.correct("c1", 1, Correction(note="a secret note"))
    (line,) = gold_candidates(log)
    assert [word for word in ("Ann", "Example", "able 5", "secret", '"c1') if word in line] == []
    assert "North is right, says 27B1" in line


def test_ids_stay_the_same_and_questions_of_one_case_are_a_family(log: Log) -> None:
    judge(log)
    before = lines(log)
    put(log, turn=2, question="and who plays next?")
    log.correct("c1", 2, Correction(verdict="right"))
    after = lines(log)
    assert after[0]["id"] == before[0]["id"]
    assert len({one["id"] for one in after}) == 2
    assert len({one["family"] for one in after}) == 1


@pytest.mark.parametrize("question", ["27A1", "x" * 1501])
def test_questions_that_the_gold_set_does_not_take_are_left_out(log: Log, question: str) -> None:
    judge(log, question=question)
    assert lines(log) == []


def test_without_feedback_there_are_no_candidates(log: Log) -> None:
    put(log)
    assert lines(log) == []
