from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest

from index.errors import ContractError
from rag.cases import INTERRUPTED, RECENT, SCHEMA_VERSION, Case, Cases, delete_case
from rag.log_entry import Place
from rag.ruling import State, Turn, to_json
from tests.made import make_ruling

STATE = State("small-2017-en", "en", (Turn("West bid too low", "so", ("27A1",)),))
RULING = json.loads(json.dumps(to_json(make_ruling(state=STATE))))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "cases.sqlite3"


@pytest.fixture
def cases(path: Path) -> Cases:
    return Cases(path)


def shown(cases: Cases, device: str = "phone") -> Case:
    case = cases.shown(device)
    assert case is not None
    return case


def questions(cases: Cases, device: str = "phone") -> list[str]:
    return [turn.question for turn in shown(cases, device).turns]


def test_a_new_device_has_no_case(cases: Cases) -> None:
    assert cases.shown("phone") is None


def test_a_question_makes_a_case_that_waits_for_its_answer(cases: Cases) -> None:
    turn_id = cases.add_turn("phone", "West bid too low", continues=False)
    (turn,) = shown(cases).turns
    assert (turn.id, turn.question, turn.ruling, turn.notice, turn.done) == (turn_id, "West bid too low", None, "", False)
    assert shown(cases).state is None


def test_an_answer_is_kept_as_it_grows(cases: Cases) -> None:
    turn_id = cases.add_turn("phone", "West bid too low", continues=False)
    cases.save_turn(turn_id, {**RULING, "answer": ""}, "", done=False)
    assert [(turn.done, turn.ruling and turn.ruling["answer"]) for turn in shown(cases).turns] == [(False, "")]
    assert shown(cases).state is None, "what is not whole is not built on"
    cases.save_turn(turn_id, RULING, "only quoted", done=True)
    (turn,) = shown(cases).turns
    assert (turn.done, turn.notice, turn.ruling) == (True, "only quoted", RULING)
    assert shown(cases).state == STATE


def test_a_question_that_continues_joins_the_case_shown(cases: Cases) -> None:
    for question in ("first", "second"):
        cases.add_turn("phone", question, continues=True)
    assert questions(cases) == ["first", "second"]


def test_a_question_that_does_not_continue_starts_a_new_case(cases: Cases) -> None:
    cases.add_turn("phone", "first", continues=True)
    before = shown(cases).id
    cases.add_turn("phone", "second", continues=False)
    assert questions(cases) == ["second"]
    assert shown(cases).id != before


def test_the_state_comes_from_the_last_answer_that_is_whole(cases: Cases) -> None:
    cases.save_turn(cases.add_turn("phone", "first", continues=True), RULING, "", done=True)
    cases.save_turn(cases.add_turn("phone", "failed", continues=True), None, "no book", done=True)
    cases.add_turn("phone", "under way", continues=True)
    assert shown(cases).state == STATE


def test_a_case_put_away_is_not_shown_and_not_continued(cases: Cases) -> None:
    cases.add_turn("phone", "first", continues=True)
    cases.put_away("phone")
    cases.put_away("phone")
    assert cases.shown("phone") is None
    cases.add_turn("phone", "second", continues=True)
    assert questions(cases) == ["second"]


def test_a_case_put_away_stays_in_the_file(cases: Cases, path: Path) -> None:
    cases.add_turn("phone", "first", continues=True)
    cases.put_away("phone")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT device, question FROM turns JOIN cases ON cases.id = case_id").fetchall() == [
            ("phone", "first")
        ]


def test_two_devices_are_never_mixed(cases: Cases) -> None:
    for question in ("one", "two", "three"):
        for device in ("phone", "laptop"):
            cases.add_turn(device, f"{device} {question}", continues=True)
    assert questions(cases, "phone") == ["phone one", "phone two", "phone three"]
    assert questions(cases, "laptop") == ["laptop one", "laptop two", "laptop three"]
    cases.put_away("phone")
    assert questions(cases, "laptop") == ["laptop one", "laptop two", "laptop three"]


@pytest.mark.parametrize("text", ["Ход «не в очередь»", "'; DROP TABLE turns; --", "East 🃏\nled", '{"a": 1}'])
def test_any_text_comes_back_as_it_was(cases: Cases, text: str) -> None:
    cases.save_turn(cases.add_turn(text, text, continues=False), {"answer": text}, text, done=True)
    (turn,) = shown(cases, text).turns
    assert (turn.question, turn.ruling, turn.notice) == (text, {"answer": text}, text)


def test_after_a_restart_cases_are_there_and_unfinished_answers_are_marked(cases: Cases, path: Path) -> None:
    cases.save_turn(cases.add_turn("phone", "first", continues=True), RULING, "", done=True)
    cases.save_turn(cases.add_turn("phone", "second", continues=True), RULING, "", done=False)
    first, second = shown(Cases(path)).turns
    assert (first.done, first.notice) == (True, "")
    assert (second.done, second.notice) == (True, INTERRUPTED)
    assert second.ruling is not None, "the law cards that were there stay"


def test_a_file_of_a_newer_schema_is_refused_and_left_alone(cases: Cases, path: Path) -> None:
    cases.add_turn("phone", "first", continues=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(ContractError, match="written by a newer Tablelaw; update the program"):
        Cases(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT done FROM turns").fetchall() == [(0,)]


@pytest.mark.parametrize("content", [b"no database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_told_in_one_sentence(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ContractError, match=r"cannot be used \(.*\); free some space, or move the file away") as caught:
        Cases(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    with pytest.raises(ContractError, match=r"cannot be kept in .*; set TABLELAW_HOME"):
        Cases(tmp_path / "data" / "cases.sqlite3")


def test_many_threads_write_and_nothing_is_lost(cases: Cases) -> None:
    faults: list[Exception] = []

    def work(device: str) -> None:
        try:
            for n in range(5):
                turn_id = cases.add_turn(device, f"{device} {n}", continues=True)
                cases.save_turn(turn_id, {"answer": f"{device} {n}"}, "", done=True)
        except Exception as error:
            faults.append(error)

    devices = [f"device {n}" for n in range(8)]
    threads = [threading.Thread(target=work, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for device in devices:
        assert questions(cases, device) == [f"{device} {n}" for n in range(5)]
        assert all(turn.ruling == {"answer": turn.question} and turn.done for turn in shown(cases, device).turns)


def test_the_case_of_a_turn_is_known_until_it_is_deleted(cases: Cases, path: Path) -> None:
    turn_id = cases.add_turn("phone", "first", continues=False)
    case_id = shown(cases).id
    assert cases.case_of(turn_id) == case_id
    assert cases.delete(case_id)
    assert cases.case_of(turn_id) is None
    cases.save_turn(turn_id, RULING, "", done=True)
    assert cases.shown("phone") is None


def test_a_deleted_case_is_gone_from_the_bytes_of_the_files(cases: Cases, path: Path) -> None:
    secret = "zzqxvillainous"
    cases.add_turn("tablet", "the other one", continues=False)
    turn_id = cases.add_turn("phone", secret, continues=False)
    for length in (10, 4000, 20):
        cases.save_turn(turn_id, {**RULING, "answer": secret * length}, "", done=True)
    assert delete_case(path, shown(cases).id)
    assert secret.encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert questions(cases, "tablet") == ["the other one"]


def test_deleting_what_is_not_there_does_nothing(cases: Cases, path: Path, tmp_path: Path) -> None:
    cases.add_turn("phone", "first", continues=False)
    assert not delete_case(path, "unknown")
    assert not delete_case(tmp_path / "none.sqlite3", "unknown")
    assert not (tmp_path / "none.sqlite3").exists()
    assert questions(cases) == ["first"]


def test_a_damaged_file_is_told_when_a_case_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "cases.sqlite3").write_bytes(b"no database at all" * 500)
    with pytest.raises(ContractError, match="cannot be used"):
        delete_case(tmp_path / "cases.sqlite3", "c")


# Where it happened, what was promised, and files of the first schema

FIRST_SCHEMA = """
CREATE TABLE cases (id TEXT PRIMARY KEY, device TEXT NOT NULL, created TEXT NOT NULL);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id), asked TEXT NOT NULL, question TEXT NOT NULL,
    ruling TEXT, notice TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX turns_by_case ON turns(case_id);
CREATE TABLE shown (device TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id));
INSERT INTO cases VALUES ('old', 'phone', '2026-01-02T03:04:05+00:00');
INSERT INTO turns (case_id, asked, question, done) VALUES ('old', '2026-01-02T03:04:05+00:00', 'West bid too low', 1);
INSERT INTO shown VALUES ('phone', 'old');
PRAGMA user_version = 1;
"""


def test_a_file_of_the_first_schema_is_brought_to_todays_and_loses_nothing(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FIRST_SCHEMA)
    cases = Cases(path)
    assert (shown(cases).id, questions(cases), shown(cases).place) == ("old", ["West bid too low"], Place())
    assert cases.set_place("phone", "old", Place("7", "12"))
    assert shown(Cases(path)).place == Place("7", "12"), "opened again, it is not migrated again"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


def test_an_old_file_has_the_same_tables_as_a_new_one(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FIRST_SCHEMA)
    Cases(path)
    Cases(tmp_path / "new.sqlite3")
    columns = []
    for file in (path, tmp_path / "new.sqlite3"):
        with closing(sqlite3.connect(file)) as db:
            columns.append(db.execute("SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c").fetchall())
    assert columns[0] == columns[1] != []


def test_a_case_is_deleted_from_a_file_of_the_first_schema(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(FIRST_SCHEMA)
    assert delete_case(path, "old")


def begun(cases: Cases, device: str, question: str) -> str:
    cases.add_turn(device, question, continues=False)
    return shown(cases, device).id


def test_recent_cases_are_the_devices_own_the_one_asked_about_last_first(cases: Cases) -> None:
    first, second = begun(cases, "phone", "first"), begun(cases, "phone", "second")
    begun(cases, "laptop", "not the phone's")
    assert [case.id for case in cases.recent("phone")] == [second, first]
    assert cases.show("phone", first)
    cases.add_turn("phone", "more of the first", continues=True)
    assert [case.id for case in cases.recent("phone")] == [first, second]
    assert [turn.question for turn in cases.recent("phone")[0].turns] == ["first", "more of the first"]
    assert cases.recent("nobody") == ()


def test_of_very_many_cases_the_newest_are_listed(cases: Cases) -> None:
    ids = [begun(cases, "phone", f"case {n}") for n in range(RECENT + 2)]
    assert [case.id for case in cases.recent("phone")] == ids[:1:-1]


def test_cases_since_a_moment_are_those_asked_about_since(cases: Cases, path: Path) -> None:
    old, new = begun(cases, "phone", "old"), begun(cases, "phone", "new")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE turns SET asked = '2020-01-01T00:00:00+00:00' WHERE case_id = ?", (old,))
    assert [case.id for case in cases.recent("phone", datetime(2026, 1, 1, tzinfo=timezone.utc))] == [new]
    assert [case.id for case in cases.recent("phone")] == [new, old]


def test_a_device_shows_places_and_ticks_its_own_cases_only(cases: Cases) -> None:
    own, other = begun(cases, "phone", "own"), begun(cases, "laptop", "other")
    for refused in (
        cases.show("phone", other),
        cases.show("phone", "unknown"),
        cases.set_place("phone", other, Place("1", "2")),
        cases.set_kept("phone", other, "come back", is_kept=True),
    ):
        assert not refused
    assert (shown(cases, "phone").id, shown(cases, "laptop").place, shown(cases, "laptop").kept) == (own, Place(), frozenset())


def test_a_kept_promise_is_ticked_and_unticked_and_survives(cases: Cases, path: Path) -> None:
    case_id = begun(cases, "phone", "first")
    for promise in ("Вернуться в конце", "poll five peers"):
        assert cases.set_kept("phone", case_id, promise, is_kept=True)
    assert shown(Cases(path)).kept == {"Вернуться в конце", "poll five peers"}
    assert cases.set_kept("phone", case_id, "poll five peers", is_kept=False)
    assert shown(cases).kept == {"Вернуться в конце"}


def test_the_place_of_a_case_is_known_without_its_device(cases: Cases) -> None:
    case_id = begun(cases, "phone", "first")
    assert cases.place_of(case_id) == cases.place_of("unknown") == Place()
    cases.set_place("phone", case_id, Place("12А", "3"))
    assert cases.place_of(case_id) == Place("12А", "3")
