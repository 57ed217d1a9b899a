from __future__ import annotations

import json
import random
import signal
import sqlite3
import string
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from index import paths
from index.errors import ContractError
from rag import log_schema
from rag.log import Log, LogSettings, open_log
from rag.log_entry import Correction, Entry
from rag.log_schema import MIGRATIONS
from rag.ruling import to_json
from tests.made import ACCEPT, make_ruling

ROOT = Path(__file__).resolve().parents[1]
HASHES = {"book": "b" * 64, "prompt": "p" * 64}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "log.sqlite3"


@pytest.fixture
def log(path: Path) -> Log:
    return Log(path)


def ruling(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(to_json(make_ruling(**changes))))


def put(log: Log, case: str = "c1", turn: int = 1, question: str = "West bid too low", **changes: Any) -> Entry:
    return log.record(case, turn, question, to_json(make_ruling(question=question, **changes)), HASHES)


def at_times(log: Log, *times: datetime, **fields: Any) -> list[Entry]:
    """An entry of a case of its own for each time."""
    made = [Entry(f"case {k}", 1, 1, time.isoformat(timespec="milliseconds"), f"question {k}", ruling(), **fields)
            for k, time in enumerate(times)]  # fmt: skip
    log.add(made)
    return made


def cases(entries: tuple[Entry, ...]) -> list[str]:
    return [entry.case for entry in entries]


def day(number: int) -> datetime:
    return datetime(2026, 5, number, 12, tzinfo=timezone.utc)


# What an entry holds


def test_an_answer_is_kept_with_all_that_it_was(log: Log, path: Path) -> None:
    before = datetime.now(timezone.utc)
    made = log.record("c1", 3, "West bid too low", to_json(make_ruling()), HASHES, "only quoted")
    assert (made.case, made.turn, made.revision, made.question) == ("c1", 3, 1, "West bid too low")
    assert (made.ruling, made.hashes, made.notice, made.status) == (ruling(), HASHES, "only quoted", "ruling")
    assert made.ruling["laws"][0]["text"] == ACCEPT, "the law text as it was shown"
    assert (made.table, made.board, made.note, made.verdict, made.why, made.players) == ("", "", "", "", "", {})
    time = datetime.fromisoformat(made.time)
    assert time.utcoffset() == timedelta(0)
    assert before - timedelta(seconds=1) <= time <= datetime.now(timezone.utc)
    assert Log(path).case("c1") == (made,)


def test_the_log_lies_in_the_data_folder(home: Path) -> None:
    put(open_log())
    assert (paths.data_dir() / "log.sqlite3").is_file()


def test_a_new_ruling_of_a_turn_is_a_revision_and_nothing_is_overwritten(log: Log) -> None:
    first = put(log)
    second = put(log, answer="No.", status="judgement")
    assert (second.revision, second.ruling["answer"]) == (2, "No.")
    assert log.case("c1") == (first, second)
    assert log.find() == (second,)


def test_a_correction_is_a_revision_with_the_rest_as_it_was(log: Log) -> None:
    first = put(log)
    second = log.correct("c1", 1, Correction(table="5", board="12"))
    third = log.correct("c1", 1, Correction(note="Both pairs heard."))
    fourth = log.correct("c1", 1, Correction(verdict="wrong", why="27B1 applies"))
    assert second == replace(first, revision=2, time=second.time, table="5", board="12")
    assert third == replace(second, revision=3, time=third.time, note="Both pairs heard.")
    assert fourth == replace(third, revision=4, time=fourth.time, verdict="wrong", why="27B1 applies")
    assert log.case("c1") == (first, second, third, fourth)


def test_a_new_ruling_keeps_table_board_and_note_but_not_the_feedback_on_the_old_one(log: Log) -> None:
    put(log)
    log.correct("c1", 1, Correction(table="5", board="12", note="n", verdict="wrong", why="no"))
    after = put(log, answer="Another.")
    assert (after.table, after.board, after.note, after.verdict, after.why) == ("5", "12", "n", "", "")


def test_a_correction_that_changes_nothing_writes_nothing(log: Log) -> None:
    put(log)
    made = log.correct("c1", 1, Correction(note="n"))
    assert log.correct("c1", 1, Correction(note=" n ")) == made
    assert log.correct("c1", 1, Correction()) == made
    assert len(log.case("c1")) == 2


def test_what_was_set_can_be_emptied(log: Log) -> None:
    put(log)
    log.correct("c1", 1, Correction(verdict="right", why="yes"))
    assert log.correct("c1", 1, Correction(verdict="", why="")).verdict == ""


def test_a_verdict_is_right_or_wrong() -> None:
    with pytest.raises(ContractError, match='verdict cannot be "maybe"'):
        Correction(verdict="maybe")  # type: ignore[arg-type]


def test_a_case_or_question_that_is_not_there_is_told(log: Log) -> None:
    put(log)
    for case, turn in (("c2", 1), ("c1", 2)):
        with pytest.raises(ContractError, match="The log has no case"):
            log.correct(case, turn, Correction(note="n"))
    with pytest.raises(ContractError, match='no case "c2"; see: tablelaw log list'):
        log.case("c2")


@pytest.mark.parametrize("text", ["Ход «не в очередь»", "'; DROP TABLE entries; --", "East 🃏\nled", '{"a": 1}'])
def test_any_text_comes_back_as_it_was(log: Log, text: str) -> None:
    put(log, question=text, answer=text)
    made = log.correct("c1", 1, Correction(table=text, board=text, note=text, why=text))
    assert log.find() == (made,)
    assert {made.question, made.ruling["answer"], made.table, made.board, made.note, made.why} == {text}


def test_half_a_character_in_a_note_is_replaced(log: Log) -> None:
    put(log)
    assert log.correct("c1", 1, Correction(note="a\ud800b")).note == "a?b"


def test_entries_cannot_be_changed_in_the_file_either(log: Log, path: Path) -> None:
    put(log)
    with closing(sqlite3.connect(path)) as db, pytest.raises(sqlite3.IntegrityError, match="entries are not changed"):
        db.execute("UPDATE entries SET note = 'other'")


# Names


def test_names_are_dropped_unless_they_are_kept(log: Log) -> None:
    put(log)
    before = log.correct("c1", 1, Correction(note="n", players={"north": "Ann Example"}))
    assert before.players == {}
    assert log.correct("c1", 1, Correction(players={"north": "Ann Example"})) == before, "no revision for what is not kept"
    log.set_settings(LogSettings(keep_names=True))
    assert log.correct("c1", 1, Correction(players={"north": "Ann Example"})).players == {"north": "Ann Example"}
    assert put(log, answer="Another.").players == {"north": "Ann Example"}
    log.set_settings(LogSettings())
    assert put(log, answer="A third.").players == {}
    assert log.correct("c1", 1, Correction(note="m")).players == {}


def test_names_are_dropped_on_import_too(log: Log) -> None:
    at_times(log, day(1), players={"N": "Ann"})
    assert log.find()[0].players == {}
    assert log.add([replace(log.find()[0], players={"N": "Ann"})]) == 0


def test_settings_are_kept(log: Log, path: Path) -> None:
    assert log.settings() == LogSettings(keep_names=False, retention_days=None)
    log.set_settings(LogSettings(keep_names=True, retention_days=30))
    assert Log(path).settings() == LogSettings(keep_names=True, retention_days=30)
    with pytest.raises(ContractError, match="0 days; give 1 or more"):
        log.set_settings(LogSettings(retention_days=0))


# Finding


def test_entries_are_found_newest_first_a_page_at_a_time(log: Log) -> None:
    at_times(log, day(2), day(5), day(1), day(3))
    assert cases(log.find()) == ["case 1", "case 3", "case 0", "case 2"]
    assert cases(log.find(limit=2)) == ["case 1", "case 3"]
    assert cases(log.find(limit=2, offset=2)) == ["case 0", "case 2"]
    assert log.find(offset=4) == ()


def test_entries_are_found_from_a_time_on_and_before_one(log: Log) -> None:
    at_times(log, day(1), day(2), day(3))
    assert cases(log.find(since=day(2))) == ["case 2", "case 1"]
    assert cases(log.find(until=day(2))) == ["case 0"]
    moscow = timezone(timedelta(hours=3))
    assert cases(log.find(since=datetime(2026, 5, 2, 15, tzinfo=moscow), until=day(3))) == ["case 1"]


def test_entries_are_found_by_table_board_and_status_as_they_are_now(log: Log) -> None:
    put(log, "c1")
    put(log, "c2", status="judgement")
    log.correct("c1", 1, Correction(table="5", board="12"))
    log.correct("c2", 1, Correction(table="6", board="12"))
    assert cases(log.find(table="5")) == ["c1"]
    assert cases(log.find(board="12")) == ["c2", "c1"]
    assert cases(log.find(board="12", status="ruling")) == ["c1"]
    log.correct("c1", 1, Correction(table="7"))
    assert log.find(table="5") == ()
    assert log.find(status="quote") == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("revoked", ["en"]),
        ("REVOK", ["en"]),
        ("east trick", ["en"]),
        ("east diamond", []),
        ("фальшренонс", ["ru"]),
        ("Фальшрен", ["ru"]),
        ("27a1", ["ru", "en"]),
        ("angry", ["ru"]),
        ("accept", ["ru", "en"]),
        ("", ["ru", "en"]),
        ("  ", ["ru", "en"]),
        ("?!", []),
        ('east" OR "x', []),
        ("east NEAR(trick)", []),
        ("question:east", []),
        ("'; DROP TABLE words; --", []),
    ],
)
def test_entries_are_found_by_their_words(log: Log, text: str, found: list[str]) -> None:
    put(log, "en", question="East revoked at trick ten")
    put(log, "ru", question="Восток сделал фальшренонс")
    log.correct("ru", 1, Correction(note="South was angry"))
    assert cases(log.find(text=text)) == found


def test_words_that_are_in_an_old_revision_only_are_not_found(log: Log) -> None:
    put(log)
    log.correct("c1", 1, Correction(note="misplaced"))
    log.correct("c1", 1, Correction(note="put right"))
    assert log.find(text="misplaced") == ()
    assert len(log.find(text="right")) == 1


def test_all_entries_are_gone_through_in_the_order_of_writing(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.log._PAGE", 2)
    made = [put(log, f"c{k % 3}", answer=str(k)) for k in range(5)]
    assert list(log.entries()) == made


def test_feedback_is_given_once_a_question_unless_it_was_taken_back(log: Log) -> None:
    for case in ("stands", "taken back", "moved on", "twice", "none"):
        put(log, case)
    for case in ("stands", "taken back", "moved on", "twice"):
        log.correct(case, 1, Correction(verdict="wrong", why="first"))
    log.correct("stands", 1, Correction(table="5"))
    log.correct("taken back", 1, Correction(verdict="", why=""))
    put(log, "moved on", answer="Another.")
    put(log, "twice", answer="Another.")
    log.correct("twice", 1, Correction(verdict="right"))
    found = {entry.case: (entry.verdict, entry.table) for entry in log.judged()}
    assert found == {"stands": ("wrong", "5"), "moved on": ("wrong", ""), "twice": ("right", "")}
    assert len(log.judged()) == 3


class TracedLog(Log):
    """A log that remembers the statements it was read with, values filled in."""

    seen: list[str] = []  # noqa: RUF012

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with super()._open() as db:
            db.set_trace_callback(self.seen.append)
            yield db


@pytest.mark.parametrize("name", ["time", "table", "board", "status", "text"])
def test_many_entries_are_found_through_an_index(log: Log, path: Path, name: str) -> None:
    """No filter goes through all rulings or sorts them: SQLite's own plan says so, on every machine."""
    put(log)
    traced = TracedLog(path)
    traced.seen.clear()
    traced.find(**{} if name == "time" else {name: "5"})  # type: ignore[arg-type]
    (query,) = [one for one in traced.seen if one.startswith("SELECT") and "FROM entries" in one]
    with closing(sqlite3.connect(path)) as db:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
    used = "time" if name == "text" else name
    assert any(f"INDEX entries_by_{used}" in step for step in plan), plan
    assert not any("USE TEMP B-TREE FOR ORDER BY" in step for step in plan[:-1]), plan
    assert not any(step.startswith("SCAN e") and "INDEX" not in step for step in plan), plan


# Forgetting


def bytes_of(path: Path) -> bytes:
    """All that lies in the log's files: the database, its write-ahead log and whatever else is beside them."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()))


def test_a_deleted_case_is_gone_from_the_bytes_of_the_files(log: Log, path: Path) -> None:
    secret = "zzqxvillainous"
    put(log, "stays", question="the other one")
    put(log, "goes", question=f"East {secret}1", answer=f"{secret}2")
    log.correct("goes", 1, Correction(note=f"{secret}3", table=f"{secret}4", board=f"{secret}5", why=f"{secret}6"))
    assert secret.encode() in bytes_of(path)
    assert log.delete("goes") == 2
    assert secret.encode() not in bytes_of(path)
    assert cases(log.find()) == ["stays"]
    assert log.find(text=secret) == ()
    assert log.delete("goes") == 0


def test_of_many_deleted_cases_nothing_is_left_after_pages_were_split_and_merged(path: Path) -> None:
    chance = random.Random(8)

    def words(count: int) -> str:
        return " ".join("".join(chance.choices(string.ascii_lowercase, k=7)) for _ in range(count))

    marks = {f"c{k}": "zq" + "".join(chance.choices(string.ascii_lowercase, k=14)) for k in range(60)}
    log = Log(path)
    for case, mark in marks.items():
        put(log, case, question=f"{mark} {words(chance.randint(2, 40))}", answer=words(chance.choice([5, 400, 1500])))
        log.correct(case, 1, Correction(note=f"n{mark}"))
    gone = chance.sample(sorted(marks), 20)
    for case in gone:
        log.delete(case)
    data = bytes_of(path)
    # The text index shortens a word by what it shares with the one before it.
    assert [case for case in gone if marks[case][3:].encode() in data] == []
    assert all(marks[case][3:].encode() in data for case in marks if case not in gone)


def test_a_deletion_is_told_as_unfinished_while_another_program_reads(
    log: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(log, "goes", question="zzqxvillainous")
    connect = sqlite3.connect
    monkeypatch.setattr("rag.log.sqlite3.connect", lambda *args, **more: connect(*args, **{**more, "timeout": 0.05}))
    with closing(connect(path)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM entries").fetchone()
        with pytest.raises(ContractError, match="as another program reads it; delete it again"):
            log.delete("goes")
        other.execute("ROLLBACK")
    log.delete("goes")
    assert b"zzqxvillainous" not in bytes_of(path)


def test_cases_that_are_old_are_forgotten_whole(log: Log, path: Path) -> None:
    at_times(log, day(1), day(2), day(9))
    log.add([Entry("case 1", 2, 1, day(8).isoformat(timespec="milliseconds"), "went on", ruling())])
    assert log.forget(day(5)) == ("case 0",)
    assert log.forget(day(5)) == ()
    assert cases(log.find()) == ["case 2", "case 1", "case 1"]
    assert b"question 0" not in bytes_of(path)


def test_nothing_is_forgotten_by_default_and_what_is_older_than_the_setting_is(log: Log) -> None:
    now = datetime.now(timezone.utc)
    at_times(log, now - timedelta(days=4000), now - timedelta(days=31), now - timedelta(days=29))
    assert log.expire() == ()
    log.set_settings(LogSettings(retention_days=30))
    assert set(log.expire()) == {"case 0", "case 1"}
    assert cases(log.find()) == ["case 2"]


# Files of other versions, damaged and unwritable ones


def test_a_file_of_a_newer_version_is_refused_and_left_alone(log: Log, path: Path) -> None:
    put(log)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(ContractError, match=r"log\.sqlite3 was written by a newer Tablelaw; update the program\.$"):
        Log(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (1,)


NEXT = """CREATE TABLE more (id INTEGER PRIMARY KEY);
CREATE TRIGGER more_stay BEFORE UPDATE ON more BEGIN SELECT RAISE(ABORT, 'no'); END;
ALTER TABLE entries ADD COLUMN event TEXT NOT NULL DEFAULT '';
"""


def test_a_file_of_an_older_version_comes_to_that_of_today_with_its_entries(
    log: Log, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = put(log)
    monkeypatch.setattr(log_schema, "MIGRATIONS", (*MIGRATIONS, NEXT, "CREATE TABLE third (id);"))
    assert Log(path).find() == (made,)
    assert Log(path).find() == (made,)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 2,)
        assert db.execute("SELECT event FROM entries").fetchall() == [("",)]


def test_a_migration_that_fails_leaves_the_file_as_it_was(log: Log, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = put(log)
    monkeypatch.setattr(log_schema, "MIGRATIONS", (*MIGRATIONS, NEXT, "CREATE TABLE third (id);\nDROP TABLE no_table;"))
    with pytest.raises(ContractError, match="no such table: no_table"):
        Log(path)
    monkeypatch.undo()
    assert Log(path).find() == (made,)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('more', 'third')").fetchone() == (0,)


def test_many_programs_that_open_a_new_log_at_once_make_it_once(path: Path) -> None:
    faults: list[Exception] = []

    def work(name: str) -> None:
        try:
            put(Log(path), name)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(f"c{k}",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sorted(cases(Log(path).find())) == [f"c{k}" for k in range(6)]


def test_writers_of_one_turn_get_revisions_of_their_own(log: Log) -> None:
    put(log)
    threads = [threading.Thread(target=log.correct, args=("c1", 1, Correction(note=f"note {k}"))) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.revision for entry in log.case("c1")] == list(range(1, 8))
    assert {entry.note for entry in log.case("c1")} == {"", *(f"note {k}" for k in range(6))}


@pytest.mark.parametrize("content", [b"no database at all" * 500, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_told_in_one_sentence(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ContractError, match=r"cannot be used \(.*\); free some space, or move the file away") as caught:
        Log(path)
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    with pytest.raises(ContractError, match=r"cannot be kept in .*; set TABLELAW_HOME"):
        Log(tmp_path / "data" / "log.sqlite3")


class FullDisk(Log):
    """A log on a disk that has no room for another page."""

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with super()._open() as db:
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            db.execute(f"PRAGMA max_page_count = {pages}")
            yield db


def test_a_full_disk_is_told_and_what_was_there_stays(log: Log, path: Path) -> None:
    made = put(log)
    with pytest.raises(ContractError, match=r"cannot be used \(database or disk is full\); free some space"):
        put(FullDisk(path), "c2", answer="long " * 20_000)
    assert log.find() == (made,)
    assert put(log, "c2").revision == 1


# A program that is killed

WRITER = """
import sys
from pathlib import Path
from rag.log import Log
from rag.ruling import to_json
from tests.made import make_ruling

log = Log(Path(sys.argv[1]))
number = 0
while True:
    number += 1
    log.record("c1", number, f"question {number}", to_json(make_ruling(answer="long " * 3000)), {})
    print(number, flush=True)
"""


def test_a_program_killed_while_it_writes_loses_nothing_that_was_confirmed(path: Path) -> None:
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        confirmed = [int(writer.stdout.readline()) for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        confirmed += [int(line) for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        assert writer.wait(timeout=60) == -signal.SIGKILL
    found = {entry.turn: entry for entry in Log(path).case("c1")}
    assert set(confirmed) <= set(found)
    assert len(found) - len(confirmed) in (0, 1), "one may have been written and not yet told"
    assert all(found[number].question == f"question {number}" for number in confirmed)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_every_field_of_an_entry_is_in_the_file(log: Log, path: Path) -> None:
    """A field that is added without a column would be lost."""
    log.set_settings(LogSettings(keep_names=True))
    whole = Entry("c", 2, 3, day(1).isoformat(timespec="milliseconds"), "q", ruling(), HASHES, "notice", "5", "12", "note",
                  "right", "why", {"north": "Ann"})  # fmt: skip
    assert all(asdict(whole).values())
    log.add([whole])
    assert Log(path).find() == (whole,)
