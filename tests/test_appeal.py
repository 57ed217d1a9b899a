from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from index import paths
from index.books import DEFAULT_BOOK, find_clause, read_book
from rag.log import Log, LogSettings
from rag.log_entry import Correction
from rag.page.appeal import appeal_html
from rag.ruling import AskedFact, LawCard, Sentence, to_json
from rag.strings import languages, strings
from tests.invented import invented_procedures
from tests.made import ACCEPT, make_ruling
from tests.test_log import put

EVIL = "<script>alert(1)</script>"
REFUSED = "The offender must replace the low bid."
OTHER = LawCard("27B", "Law 27 > 27B", REFUSED, 0.5, "small-2017-en", "restated")


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path / "log.sqlite3")
    made.set_settings(LogSettings(keep_names=True))
    return made


def page(log: Log, case: str = "c1") -> str:
    return appeal_html(log.case(case))


def flat(html: str) -> str:
    """What is read on the page."""
    body = re.sub(r"<style>.*?</style>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def clause_text(clause: str) -> str:
    return find_clause(read_book(DEFAULT_BOOK), clause).text


def event(home: Path, text: str) -> None:
    paths.data_dir().mkdir(parents=True, exist_ok=True)
    (paths.data_dir() / "event.yaml").write_text(text, encoding="utf-8")


def test_the_page_holds_situation_ruling_law_and_who_may_appeal_in_this_order(log: Log) -> None:
    put(log, question="East bid 1H over 1S", laws=(LawCard("27A1", "Law 27", ACCEPT, 0.9, "small-2017-en", "restated"), OTHER))
    log.correct("c1", 1, Correction(table="5", board="12", note="Heard both sides.", players={"north": "Ann"}))
    read = flat(page(log))
    parts = [
        "Record of a ruling, for an appeals committee", "Case c1", "What was told", "Table 5", "Board 12", "Players north: Ann",
        "East bid 1H over 1S", "The ruling as Tablelaw advised it", "What the law says", f"{ACCEPT} [27A1]",
        "Tablelaw advises, the Director rules (Law 81C). Laws of 2017", "The Director's note", "Heard both sides.",
        "The law in full, as it was shown", f"27A1 Law 27 {ACCEPT}", "How it came about", "Revision 1", "Revision 2",
        "Who may appeal, and until when", "92A Law 92", clause_text("92A"), clause_text("92B"), clause_text("79C1"),
    ]  # fmt: skip
    places = [read.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert REFUSED not in read, "a clause that is not cited is left out"
    assert "b" * 64 in read, "what it was made from"


def test_without_a_setting_the_organiser_is_asked_for_the_times(log: Log) -> None:
    put(log)
    read = flat(page(log))
    assert "Time limit for appeals: ask the organiser." in read
    assert "Time limit for corrections: ask the organiser." in read


def test_the_times_of_the_event_are_told(log: Log, home: Path) -> None:
    event(home, "appeal_minutes: 45\ncorrection_minutes: 20\n")
    put(log)
    read = flat(page(log))
    assert "Time limit for appeals at this event: 45 minutes" in read
    assert "Time limit for corrections at this event: 20 minutes" in read


def test_the_page_is_in_the_language_of_the_case(log: Log) -> None:
    put(log, question="Восток заявил ниже", lang="ru")
    html = page(log)
    read = flat(html)
    assert '<html lang="ru">' in html
    for words in ("Запись решения", "Срок подачи апелляций: спросите организатора.", "Что говорят правила", "решает судья"):
        assert words in read


def test_the_law_is_shown_as_it_was_then_and_not_as_the_book_has_it_now(log: Log) -> None:
    put(log, laws=(LawCard("27A1", "Law 27", "An old wording.", 0.9, "gone-2017-en", "imported"),))
    assert "An old wording." in flat(page(log))


def test_facts_are_told_in_words_with_how_they_are_known(log: Log, tmp_path: Path) -> None:
    (tmp_path / "procedures").mkdir()
    facts = {
        "spilled": {"value": "yes", "from": "answered", "confidence": 1.0},
        "who": {"value": "north", "from": "read", "confidence": None},
    }
    found = {"id": "tea", "facts": facts, "path": ["spilled", "who"]}
    second = make_ruling(procedure={"id": "mop", "facts": {}, "path": []}, sentences=(Sentence("Wipe.", ("27B",)),),
                         cites=("27B",), laws=(OTHER,))  # fmt: skip
    with invented_procedures(tmp_path / "procedures"):
        put(log, procedure=found, then=(second,))
        read = flat(page(log))
    assert "The tea" in read
    assert "yes spilled your answer" in read
    assert "north who presumed, not told" in read
    assert "Then: The mop" in read
    assert "Wipe. [27B]" in read
    assert REFUSED in read, "the law of what follows, too"


def test_a_procedure_that_there_is_no_more_is_told_in_its_names(log: Log) -> None:
    facts = {"teapot": {"value": "cracked", "from": "stated", "confidence": 1.0}}
    put(log, procedure={"id": "tea-ceremony", "facts": facts, "path": ["teapot"]})
    assert "teapot cracked given" in flat(page(log))


def test_an_open_question_and_feedback_are_told(log: Log) -> None:
    asked = (AskedFact("spilled", "Has tea been spilled?", ("yes", "no")),)
    put(log, status="ask", ask=asked, sentences=(), cites=(), answer="Has tea been spilled?")
    log.correct("c1", 1, Correction(verdict="wrong", why="It was coffee."))
    read = flat(page(log))
    assert "Still to be asked: Has tea been spilled?" in read
    assert "The Director found the advice wrong. It was coffee." in read
    assert ACCEPT in read, "where nothing is cited, all that was shown"


def test_all_questions_of_a_case_are_on_the_page_each_as_it_was_last_ruled(log: Log) -> None:
    put(log, question="first", answer="Old.", sentences=(Sentence("Old.", ("27A1",)),))
    put(log, question="first", answer="New.", sentences=(Sentence("New.", ("27A1",)),))
    put(log, turn=2, question="second")
    read = flat(page(log))
    assert "New. [27A1]" in read
    assert "Old. [27A1]" not in read
    assert read.index("What the law says: Old.") < read.index("What the law says: New."), "the history has both"
    assert read.count("What was told") == 2


def test_by_another_edition_nothing_is_said_about_appeals_from_the_book_of_today(log: Log) -> None:
    put(log, edition="1987")
    read = flat(page(log))
    assert "by the Laws of 1987, which are not in force: ask the organiser who may appeal" in read
    assert clause_text("92A") not in read


@pytest.mark.parametrize("field", ["question", "note", "table", "board", "why", "players"])
def test_what_was_typed_is_text_on_the_page(log: Log, field: str) -> None:
    put(log, question=EVIL if field == "question" else "q")
    changes: dict[str, Any] = {"players": {EVIL: EVIL}} if field == "players" else {field: EVIL}
    log.correct("c1", 1, Correction(verdict="right", **({} if field == "question" else changes)))
    html = page(log)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_the_page_calls_nothing_from_outside(log: Log) -> None:
    put(log)
    assert re.findall(r"https?://|src=|<script|@import|url\(", page(log)) == []


@pytest.mark.parametrize("lang", languages())
def test_every_verdict_has_a_sentence(lang: str) -> None:
    assert all(strings(lang)[f"appeal_verdict_{verdict}"] for verdict in ("right", "wrong"))


def test_a_ruling_of_the_bundled_procedures_is_printed(log: Log) -> None:
    from rag.rule import rule
    from rag.ruled import to_ruling

    ruling = to_json(to_ruling(rule("appeal", {}), "ru"))
    log.record("c1", 1, "Хотят подать апелляцию", json.loads(json.dumps(ruling)), {})
    assert "Ещё нужно спросить:" in flat(page(log)) or "[92" in flat(page(log))
