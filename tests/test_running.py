from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.errors import ContractError, ModelError
from rag import running as running_module
from rag import turns as turns_module
from rag.calibration import Calibration
from rag.cases import Case, Cases, CaseTurn
from rag.desk import Desk
from rag.log import Log, LogSettings, open_log
from rag.log_entry import Correction, Entry, Place
from rag.prompt import Prompt
from rag.running import Running
from rag.strings import strings
from tests.fakes import FakeBackend, FakeEmbedder
from tests.invented import LIMITS, heard, invented_procedures
from tests.made import ACCEPT, KEEP_IT
from tests.test_desk_procedures import ListeningEmbedder
from tests.test_log import FullDisk, put

PASSES = "the offender's partner passes until the end, unless the new call is comparable."
SECONDS = 60.0


class GatedBackend:
    """Writes one sentence, waits until ``gate`` is set, then writes another; or fails in an unexpected way."""

    name = "gated"
    is_bound, at_once = False, 1

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = threading.Event()
        self.error = error
        self.asked: list[str] = []

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.asked.append(prompt.question.rpartition("Question: ")[2])
        yield f"{ACCEPT} [27A1]\n"
        assert self.gate.wait(SECONDS)
        if self.error:
            raise self.error
        yield f"{PASSES} [27B1]\n"


@pytest.fixture(autouse=True)
def _no_answer_outlives_its_test(home: Path) -> Iterator[None]:
    """An answer that goes on would write into another home's log."""
    yield
    wait_until_ended()


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    return Cases(tmp_path / "cases.sqlite3")


@pytest.fixture
def gated(calibrated: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[GatedBackend]:
    monkeypatch.setattr(running_module, "WATCH_SECONDS", 0.05)
    backend = GatedBackend()
    yield backend
    backend.gate.set()  # no thread waits on into another test


def running_over(cases: Cases, backend: FakeBackend | GatedBackend | None = None) -> Running:
    desk = Desk(FakeEmbedder(), backend)
    return Running(lambda: desk, cases)


def last_turn(case: Case | None) -> CaseTurn:
    assert case is not None
    return case.turns[-1]


def sentences(turn: CaseTurn) -> list[str]:
    return [sentence["text"] for sentence in turn.ruling["sentences"]] if turn.ruling else []


def wait_until_done(cases: Cases, device: str = "phone") -> CaseTurn:
    """The last turn once it is whole, looked up in the store and not through a watcher."""
    end = time.monotonic() + SECONDS
    while not (turn := last_turn(cases.shown(device))).done:
        assert time.monotonic() < end, "the answer did not end"
        time.sleep(0.01)
    return turn


@pytest.mark.usefixtures("calibrated")
def test_an_answer_goes_on_with_nobody_watching(cases: Cases, small_book: str) -> None:
    running_over(cases, FakeBackend(f"{ACCEPT} [27A1]")).start("phone", KEEP_IT, False, small_book)
    turn = wait_until_done(cases)
    assert sentences(turn) == [ACCEPT]
    assert turn.ruling is not None
    assert turn.ruling["status"] == "ruling"


def test_an_answer_goes_on_when_its_watcher_leaves(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    watcher = running.watch("phone")
    next(watcher)
    watcher.close()
    gated.gate.set()
    assert sentences(wait_until_done(cases)) == [ACCEPT, PASSES]


def test_a_watcher_sees_the_answer_grow_and_end(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    seen = []
    for case in running.watch("phone"):
        turn = last_turn(case)
        seen.append((sentences(turn), turn.done))
        if sentences(turn):
            gated.gate.set()
    assert ([ACCEPT], False) in seen
    assert seen[-1] == ([ACCEPT, PASSES], True)
    assert [len(texts) for texts, _ in seen] == sorted(len(texts) for texts, _ in seen)


def test_a_second_watcher_sees_the_same(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    first, second = running.watch("phone"), running.watch("phone")
    next(first)
    next(second)
    gated.gate.set()
    assert list(first)[-1] == list(second)[-1] == cases.shown("phone")


def test_without_a_case_a_watcher_sees_nothing_and_ends(cases: Cases) -> None:
    assert list(running_over(cases).watch("phone")) == [None]


def test_a_finished_case_is_seen_once(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_done(cases)
    assert [last_turn(case).done for case in running.watch("phone")] == [True]


@pytest.mark.parametrize(("question", "book", "notice"), [("", None, "empty"), (KEEP_IT, "laws-2099-en", "no book")])
def test_an_error_becomes_the_notice(cases: Cases, question: str, book: str | None, notice: str) -> None:
    running = running_over(cases)
    running.start("phone", question, False, book)
    turn = last_turn(list(running.watch("phone"))[-1])
    assert (turn.done, turn.ruling) == (True, None)
    assert notice in turn.notice


def test_models_that_did_not_load_become_the_notice(cases: Cases) -> None:
    def no_desk() -> Desk:
        raise ModelError("The embedder is not on this machine; run: tablelaw models fetch embedder")

    Running(no_desk, cases).start("phone", KEEP_IT, False)
    assert wait_until_done(cases).notice.startswith("The embedder is not on this machine")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_unexpected_error_ends_the_answer_with_its_name(cases: Cases, small_book: str) -> None:
    def broken() -> Desk:
        raise ZeroDivisionError("by zero")

    Running(broken, cases).start("phone", KEEP_IT, False, small_book)
    assert wait_until_done(cases).notice == "ZeroDivisionError: by zero"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_law_cards_and_checked_sentences_stay_when_the_answer_fails_later(
    cases: Cases, small_book: str, gated: GatedBackend
) -> None:
    gated.error = ZeroDivisionError("by zero")
    gated.gate.set()
    running_over(cases, gated).start("phone", KEEP_IT, False, small_book)
    turn = wait_until_done(cases)
    assert turn.ruling is not None
    assert sentences(turn) == [ACCEPT]


def test_a_question_that_continues_builds_on_the_one_before(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    for question in (KEEP_IT, "and who calls next?"):
        running.start("phone", question, True, small_book)
        turn = wait_until_done(cases)
    assert turn.ruling is not None
    assert [earlier["question"] for earlier in turn.ruling["state"]["turns"]] == [KEEP_IT, "and who calls next?"]


def test_a_new_case_forgets_the_one_before(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    for _ in range(2):
        running.start("phone", KEEP_IT, False, small_book)
        turn = wait_until_done(cases)
    assert turn.ruling is not None
    assert len(turn.ruling["state"]["turns"]) == 1


def test_a_case_put_away_is_not_watched(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_done(cases)
    running.put_away("phone")
    assert list(running.watch("phone")) == [None]


# Several devices before one model


def wait_for(cases: Cases, device: str, notice: str, texts: list[str]) -> None:
    """Until the last turn of the device has this notice and these sentences."""
    end = time.monotonic() + SECONDS
    while (seen := last_turn(cases.shown(device))).notice != notice or sentences(seen) != texts:
        assert time.monotonic() < end, (device, seen.notice, sentences(seen))
        time.sleep(0.01)


def waits(count: int) -> str:
    return strings("en")["waits"].format(count=count)


def test_answers_for_several_devices_wait_for_one_another(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    for place, device in enumerate(("phone", "tablet", "laptop")):
        running.start(device, f"{KEEP_IT}, {device}", False, small_book)
        wait_for(cases, device, waits(place) if place else "", [] if place else [ACCEPT])
    assert gated.asked == [f"{KEEP_IT}, phone"]
    gated.gate.set()
    for device in ("phone", "tablet", "laptop"):
        assert sentences(wait_until_done(cases, device)) == [ACCEPT, PASSES]
    assert gated.asked == [f"{KEEP_IT}, {device}" for device in ("phone", "tablet", "laptop")]


def test_who_waits_is_not_written_down_again_and_again(
    cases: Cases, small_book: str, gated: GatedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty who wait would write twenty times a second, and each time all their watchers would look."""
    monkeypatch.setattr(turns_module, "NOTICE_SECONDS", 0.01)
    saved: list[tuple[int, str]] = []
    save = cases.save_turn

    def remember(turn_id: int, ruling: dict[str, Any] | None, notice: str, done: bool) -> None:
        saved.append((turn_id, notice))
        save(turn_id, ruling, notice, done)

    monkeypatch.setattr(cases, "save_turn", remember)
    running = running_over(cases, gated)
    for place, device in enumerate(("phone", "tablet")):
        running.start(device, f"{KEEP_IT}, {device}", False, small_book)
        wait_for(cases, device, waits(place) if place else "", [] if place else [ACCEPT])
    time.sleep(0.3)  # it is told its place some thirty times
    gated.gate.set()
    wait_until_done(cases, "tablet")
    waiting = last_turn(cases.shown("tablet")).id
    assert saved.count((waiting, waits(1))) == 1


def test_a_watcher_is_not_woken_by_the_answers_of_others(
    cases: Cases, small_book: str, gated: GatedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "WATCH_SECONDS", SECONDS)
    running = running_over(cases, gated)
    for place, device in enumerate(("phone", "tablet")):
        running.start(device, f"{KEEP_IT}, {device}", False, small_book)
        wait_for(cases, device, waits(place) if place else "", [] if place else [ACCEPT])
    watcher = running.watch("phone")
    next(watcher)
    looked: list[str] = []
    shown = cases.shown
    monkeypatch.setattr(cases, "shown", lambda device: (looked.append(device), shown(device))[1])
    thread = threading.Thread(target=lambda: next(watcher), daemon=True)
    thread.start()
    for _ in range(5):
        running._tell("tablet")
    assert looked == []
    running._tell("phone")
    thread.join(SECONDS)
    assert set(looked) == {"phone"}


def test_a_case_that_is_put_away_while_it_waits_gives_up_its_place(
    cases: Cases, small_book: str, gated: GatedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "NOTICE_SECONDS", 0.05)
    running = running_over(cases, gated)
    for place, device in enumerate(("phone", "tablet", "laptop")):
        running.start(device, f"{KEEP_IT}, {device}", False, small_book)
        wait_for(cases, device, waits(place) if place else "", [] if place else [ACCEPT])
    running.put_away("tablet")
    wait_for(cases, "laptop", waits(1), [])
    gated.gate.set()
    assert sentences(wait_until_done(cases, "laptop")) == [ACCEPT, PASSES]
    assert gated.asked == [f"{KEEP_IT}, phone", f"{KEEP_IT}, laptop"]


# Facts answered and changed on the page

TEA = heard({"tea": 0.75, "dry": 0.125})
MORE = "and if it had been South?"


@pytest.fixture
def ruled(small_book: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The small book, with the invented procedures and readings of stories."""
    (tmp_path / "procedures").mkdir()
    made = Calibration(FakeEmbedder.hash, 0.2, reading=LIMITS)
    monkeypatch.setattr("rag.desk.calibration_for", lambda sha256: made)
    monkeypatch.setattr("rag.ruled.DEFAULT_BOOK", small_book)
    monkeypatch.setattr("index.wording.list_books", lambda: (small_book,))
    monkeypatch.setattr(running_module, "WATCH_SECONDS", 0.05)
    with invented_procedures(tmp_path / "procedures"):
        yield small_book


def reading_over(cases: Cases, backend: FakeBackend | GatedBackend | None = None) -> Running:
    desk = Desk(ListeningEmbedder({KEEP_IT: TEA, MORE: heard({})}), backend)
    return Running(lambda: desk, cases)


def begun(cases: Cases, book: str, backend: FakeBackend | GatedBackend | None = None) -> tuple[Running, CaseTurn]:
    """A case whose first turn asks whether tea has been spilled."""
    running = reading_over(cases, backend)
    running.start("phone", KEEP_IT, False, book)
    turn = wait_until_done(cases)
    assert asked(turn) == ["spilled"]
    return running, turn


def asked(turn: CaseTurn) -> list[str]:
    assert turn.ruling is not None
    return [one["fact"] for one in turn.ruling["ask"]]


def known(turn: CaseTurn) -> dict[str, tuple[str, str]]:
    """The facts on the path, with how they are known."""
    assert turn.ruling is not None
    return {name: (one["value"], one["from"]) for name, one in turn.ruling["procedure"]["facts"].items()}


def changed(running: Running, cases: Cases, turn: CaseTurn, fact: str, option: str) -> CaseTurn:
    running.change("phone", turn.id, fact, option)
    return wait_until_done(cases)


def test_a_fact_that_was_asked_is_answered_and_rules_the_same_turn(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    after = changed(running, cases, turn, "spilled", "yes")
    assert after.ruling is not None
    assert (after.id, after.question, after.ruling["status"], after.ruling["answer"]) == (
        turn.id, KEEP_IT, "judgement", "Record how wet it is."
    )  # fmt: skip
    assert known(after) == {"spilled": ("yes", "answered"), "who": ("south", "read")}
    assert after.ruling["state"]["facts"] == {"irregularity": "tea", "spilled": "yes"}
    assert [one["question"] for one in after.ruling["state"]["turns"]] == [KEEP_IT], "no second turn"


def test_a_fact_answered_presumed_or_read_is_changed_and_the_others_keep_how_they_are_known(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    turn = changed(running, cases, turn, "spilled", "yes")
    turn = changed(running, cases, turn, "who", "north")
    assert known(turn) == {"spilled": ("yes", "answered"), "who": ("north", "changed")}
    turn = changed(running, cases, turn, "spilled", "no")
    assert known(turn) == {"spilled": ("no", "changed")}
    assert turn.ruling is not None
    assert turn.ruling["answer"] == "Play on."


def test_a_fact_that_a_ruling_which_follows_asks_is_taken_too(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    for fact, option in (("spilled", "yes"), ("who", "north"), ("cloth", "yes")):
        turn = changed(running, cases, turn, fact, option)
    assert turn.ruling is not None
    assert [second["answer"] for second in turn.ruling["then"]] == ["Play on.", "Wipe the table."]


def test_another_irregularity_begins_with_no_facts_and_none_of_them_quotes(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    turn = changed(running, cases, turn, "spilled", "no")
    turn = changed(running, cases, turn, "irregularity", "fire")
    assert asked(turn) == ["who"]
    assert turn.ruling is not None
    assert turn.ruling["state"]["facts"] == {"irregularity": "fire"}
    turn = changed(running, cases, turn, "irregularity", "none")
    assert turn.ruling is not None
    assert (turn.ruling["status"], turn.ruling["procedure"], turn.ruling["state"]["facts"]) == ("quote", None, {})


def test_what_was_changed_is_carried_on_by_the_next_question(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    changed(running, cases, turn, "spilled", "yes")
    running.start("phone", MORE, True, ruled)
    assert known(wait_until_done(cases))["spilled"] == ("yes", "answered")


def test_a_turn_of_another_device_or_none_at_all_is_left_as_it_is(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    before = cases.shown("phone")
    running.change("tablet", turn.id, "spilled", "yes")
    running.change("phone", turn.id + 1, "spilled", "yes")
    running.put_away("phone")
    running.change("phone", turn.id, "spilled", "yes")
    assert before is not None
    assert before.turns == (turn,)


def test_a_turn_that_is_still_under_way_is_left_as_it_is(cases: Cases, ruled: str) -> None:
    backend = GatedBackend()
    running, turn = begun(cases, ruled, backend)
    running.change("phone", turn.id, "irregularity", "none")
    running.change("phone", turn.id, "spilled", "no")
    backend.gate.set()
    after = wait_until_done(cases)
    assert after.ruling is not None
    assert (after.ruling["model"], after.ruling["procedure"], sentences(after)) == ("gated", None, [ACCEPT, PASSES])


def test_an_earlier_turn_is_watched_until_it_is_whole_too(cases: Cases, ruled: str) -> None:
    backend = GatedBackend()
    running, first = begun(cases, ruled, backend)
    running.start("phone", MORE, True, ruled)
    wait_until_done(cases)
    running.change("phone", first.id, "irregularity", "none")
    seen = []
    for case in running.watch("phone"):
        assert case is not None
        seen.append(case.turns[0].done)
        backend.gate.set()
    assert seen[-1]


@pytest.mark.parametrize(("fact", "option"), [("spilled", "maybe"), ("colour", "red"), ("irregularity", "flood")])
def test_a_change_that_is_refused_says_why_and_leaves_the_ruling(cases: Cases, ruled: str, fact: str, option: str) -> None:
    """As with a page that was open since before the procedures changed."""
    running, turn = begun(cases, ruled)
    after = changed(running, cases, turn, fact, option)
    assert option in after.notice or fact in after.notice
    assert after.ruling == turn.ruling


# The ruling log


def logged() -> tuple[Entry, ...]:
    """All revisions, in the order of writing."""
    return tuple(open_log().entries())


@pytest.mark.usefixtures("calibrated")
def test_a_whole_answer_is_written_to_the_log(cases: Cases, small_book: str) -> None:
    running_over(cases, FakeBackend(f"{ACCEPT} [27A1]")).start("phone", KEEP_IT, False, small_book)
    turn = wait_until_done(cases)
    case = cases.shown("phone")
    (entry,) = logged()
    assert case is not None
    assert turn.ruling is not None
    assert (entry.case, entry.turn, entry.revision, entry.question) == (case.id, turn.id, 1, KEEP_IT)
    assert entry.ruling == {name: value for name, value in turn.ruling.items() if name != "candidates"}
    assert next(law["text"] for law in entry.ruling["laws"] if law["id"] == "27A1") == ACCEPT
    assert set(entry.hashes) == {"book", "index", "embedder", "prompt"}
    assert (entry.notice, entry.players) == ("", {})


def test_what_is_said_beside_an_answer_is_in_the_log(cases: Cases, small_book: str) -> None:
    running_over(cases).start("phone", KEEP_IT, False, small_book)
    assert wait_until_done(cases).notice == logged()[0].notice == strings("en")["quote_no_model"]


def test_each_changed_fact_is_a_revision_with_the_note_so_far(cases: Cases, ruled: str) -> None:
    running, turn = begun(cases, ruled)
    open_log().correct(logged()[0].case, turn.id, Correction(table="5", note="n"))
    turn = changed(running, cases, turn, "spilled", "yes")
    changed(running, cases, turn, "who", "north")
    entries = logged()
    assert [(entry.turn, entry.revision, entry.status, entry.note) for entry in entries] == [
        (turn.id, 1, "ask", ""), (turn.id, 2, "ask", "n"), (turn.id, 3, "judgement", "n"), (turn.id, 4, "ruling", "n"),
    ]  # fmt: skip
    assert {"procedure:tea", "facts"} <= set(entries[-1].hashes)


def test_the_questions_of_a_case_are_turns_of_one_case_in_the_log(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    for question, continues in ((KEEP_IT, False), ("and who calls next?", True), (KEEP_IT, False)):
        running.start("phone", question, continues, small_book)
        wait_until_done(cases)
    first, second, third = logged()
    assert first.case == second.case != third.case
    assert first.turn != second.turn


def test_an_answer_that_was_put_away_is_not_logged(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    for case in running.watch("phone"):
        if sentences(last_turn(case)):
            break
    running.put_away("phone")
    gated.gate.set()
    wait_until_ended()
    assert logged() == ()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), ContractError("no")])
def test_an_answer_that_broke_off_is_not_logged(cases: Cases, small_book: str, error: Exception) -> None:
    def broken() -> Desk:
        raise error

    Running(broken, cases).start("phone", KEEP_IT, False, small_book)
    wait_until_done(cases)
    assert logged() == ()


def test_an_answer_whose_model_broke_off_is_logged_with_what_was_said_of_it(
    cases: Cases, small_book: str, gated: GatedBackend
) -> None:
    gated.error = ZeroDivisionError("by zero")
    gated.gate.set()
    running_over(cases, gated).start("phone", KEEP_IT, False, small_book)
    assert wait_until_done(cases).notice == logged()[0].notice == strings("en")["cut_off"]


def wait_until_ended() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("answer-"):
            thread.join(SECONDS)
            assert not thread.is_alive()


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("why", ["read-only", "full", "newer"])
def test_a_log_that_cannot_be_written_is_told_beside_the_answer(
    cases: Cases, small_book: str, tmp_path: Path, why: str
) -> None:
    path = tmp_path / "log" / "log.sqlite3"
    said: list[str] = []
    if why == "read-only":
        (tmp_path / "log").write_text("a file", encoding="utf-8")
    elif why == "full":
        Log(path)
        with pytest.raises(ContractError, match="disk is full"):
            for k in range(200):
                put(FullDisk(path), f"c{k}")
    else:
        Log(path)
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version = 99")
    desk = Desk(FakeEmbedder(), FakeBackend(f"{ACCEPT} [27A1]"), said.append)
    running = Running(lambda: desk, cases, lambda: (FullDisk if why == "full" else Log)(path))
    running.start("phone", KEEP_IT, False, small_book)
    turn = wait_until_done(cases)
    wait_until_ended()
    assert sentences(turn) == [ACCEPT]
    assert turn.notice == strings("en")["log_failed"]
    (reason,) = [line for line in said if line.startswith("An answer was not written to the log: ")]
    assert {"read-only": "cannot be kept", "full": "full", "newer": "newer Tablelaw"}[why] in reason


def test_the_failing_log_is_told_after_what_is_said_anyway_and_in_the_language(
    cases: Cases, small_book: str, tmp_path: Path
) -> None:
    desk = Desk(FakeEmbedder(), None)
    (tmp_path / "log").write_text("a file", encoding="utf-8")
    Running(lambda: desk, cases, lambda: Log(tmp_path / "log" / "l")).start("phone", "Можно принять заявку?", False, small_book)
    text = strings("ru")
    assert wait_until_done(cases).notice == f"{text['quote_no_model']} {text['log_failed']}"


def test_a_case_deleted_while_it_is_answered_does_not_come_back(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    case = next(running.watch("phone"))
    assert case is not None
    cases.delete(case.id)
    gated.gate.set()
    wait_until_ended()
    assert logged() == ()
    assert cases.shown("phone") is None


def test_old_cases_are_deleted_from_the_log_and_from_the_page_where_that_is_set(cases: Cases, small_book: str) -> None:
    open_log().set_settings(LogSettings(retention_days=30))
    old = cases.case_of(cases.add_turn("tablet", KEEP_IT, continues=False))
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    turn = wait_until_done(cases)
    wait_until_ended()
    made = logged()[0]
    assert old is not None
    open_log().add([replace(made, case=old, turn=turn.id + 1, time="2020-01-01T00:00:00.000+00:00")])
    running_over(cases).start("phone", KEEP_IT, False, small_book)  # as after a restart
    wait_until_done(cases)
    wait_until_ended()
    assert {entry.case for entry in logged()} == {made.case, logged()[-1].case}
    assert cases.shown("tablet") is None
    assert cases.shown("phone") is not None


# Without the model, on a device that wants none


def test_without_the_model_the_law_is_quoted_and_the_model_is_not_asked(
    cases: Cases, small_book: str, gated: GatedBackend
) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book, uses_model=False)
    turn = wait_until_done(cases)
    assert turn.ruling is not None
    assert (turn.ruling["status"], turn.ruling["model"], turn.notice) == ("quote", "none", strings("en")["quote_no_model"])
    assert gated.asked == []
    running.start("tablet", KEEP_IT, False, small_book)
    wait_for(cases, "tablet", "", [ACCEPT])
    assert gated.asked == [KEEP_IT], "other devices have it as before"


def test_a_change_without_the_model_does_not_ask_it_either(cases: Cases, ruled: str) -> None:
    backend = GatedBackend()
    running, turn = begun(cases, ruled, backend)
    running.change("phone", turn.id, "irregularity", "none", uses_model=False)
    after = wait_until_done(cases)
    assert after.ruling is not None
    assert (after.ruling["status"], after.ruling["model"], backend.asked) == ("quote", "none", [])


# Deleting a case


def test_a_case_is_deleted_from_the_log_and_from_the_device(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_done(cases)
    (entry,) = logged()
    assert running.delete(entry.case)
    assert cases.shown("phone") is None
    assert logged() == ()
    assert not running.delete(entry.case)


def test_an_answer_under_way_is_stopped_and_does_not_bring_its_deleted_case_back(
    cases: Cases, small_book: str, gated: GatedBackend
) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    wait_for(cases, "phone", "", [ACCEPT])
    running.start("tablet", KEEP_IT, False, small_book)
    wait_for(cases, "tablet", waits(1), [])
    case = cases.shown("phone")
    assert case is not None
    assert running.delete(case.id)
    gated.gate.set()
    assert sentences(wait_until_done(cases, "tablet")) == [ACCEPT, PASSES]
    wait_until_ended()
    assert cases.shown("phone") is None
    assert case.id not in {entry.case for entry in logged()}


# Where it happened


def places(case_id: str) -> list[tuple[int, str, str]]:
    return [(entry.revision, entry.table, entry.board) for entry in open_log().case(case_id)]


def test_the_place_is_in_the_log_whether_told_before_or_after_the_answer(
    cases: Cases, small_book: str, gated: GatedBackend
) -> None:
    running = running_over(cases, gated)
    running.start("phone", KEEP_IT, False, small_book)
    case = next(running.watch("phone"))
    assert case is not None
    assert running.set_place("phone", case.id, Place("7", ""))
    gated.gate.set()
    wait_until_ended()
    assert places(case.id) == [(1, "7", "")]
    assert running.set_place("phone", case.id, Place("7", "12"))
    assert places(case.id) == [(1, "7", ""), (2, "7", "12")]
    running.start("phone", KEEP_IT, True, small_book)
    wait_until_ended()
    assert places(case.id)[-1] == (1, "7", "12"), "the next question of the case has it from the start"


def test_the_place_of_another_devices_case_is_not_set(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_ended()
    case = cases.shown("phone")
    assert case is not None
    assert not running.set_place("tablet", case.id, Place("9", "9"))
    assert places(case.id) == [(1, "", "")]


def test_a_place_corrected_in_the_log_is_the_cases_own(cases: Cases, small_book: str) -> None:
    running = running_over(cases)
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_ended()
    case = cases.shown("phone")
    assert case is not None
    running.correct_place(case.id, Place("7", "12"))
    running.correct_place("unknown", Place("9", "9"))
    assert [one.place for one in cases.recent("phone")] == [Place("7", "12")]
    assert places(case.id) == [(1, "", "")], "the log has its own already"


def test_a_place_that_the_log_cannot_take_is_told_and_stays_with_the_case(
    cases: Cases, small_book: str, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text("a file", encoding="utf-8")
    desk = Desk(FakeEmbedder(), None)
    running = Running(lambda: desk, cases, lambda: Log(tmp_path / "log" / "l"))
    running.start("phone", KEEP_IT, False, small_book)
    wait_until_ended()
    case = cases.shown("phone")
    assert case is not None
    with pytest.raises(ContractError, match="cannot be kept"):
        running.set_place("phone", case.id, Place("7", "12"))
    assert cases.place_of(case.id) == Place("7", "12")


def test_a_question_starts_with_facts_given(cases: Cases, ruled: str) -> None:
    reading_over(cases).start("phone", KEEP_IT, False, ruled, {"irregularity": "fire"})
    assert asked(wait_until_done(cases)) == ["who"]


def test_another_case_is_shown_and_the_answer_under_way_goes_on(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    running = running_over(cases, gated)
    running.start("phone", f"{KEEP_IT}, first", False, small_book)
    first = cases.shown("phone")
    running.start("phone", KEEP_IT, False, small_book)
    assert first is not None
    assert running.show("phone", first.id)
    gated.gate.set()
    wait_until_ended()
    shown = cases.shown("phone")
    assert shown is not None
    assert shown.id == first.id
    assert all(turn.done for case in cases.recent("phone") for turn in case.turns)
    assert [len(sentences(case.turns[0])) for case in cases.recent("phone")] == [2, 2]
    assert not running.show("tablet", first.id)
