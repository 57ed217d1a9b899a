from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.errors import ModelError
from rag import running as running_module
from rag.cases import Case, Cases, CaseTurn
from rag.desk import Desk
from rag.prompt import Prompt
from rag.running import Running
from tests.fakes import FakeBackend, FakeEmbedder
from tests.made import ACCEPT, KEEP_IT

PASSES = "the offender's partner passes until the end, unless the new call is comparable."
SECONDS = 10.0


class GatedBackend:
    """Writes one sentence, waits until ``gate`` is set, then writes another; or fails in an unexpected way."""

    name = "gated"

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = threading.Event()
        self.error = error

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield f"{ACCEPT} [27A1]\n"
        assert self.gate.wait(SECONDS)
        if self.error:
            raise self.error
        yield f"{PASSES} [27B1]\n"


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    return Cases(tmp_path / "cases.sqlite3")


@pytest.fixture
def gated(calibrated: float, monkeypatch: pytest.MonkeyPatch) -> GatedBackend:
    monkeypatch.setattr(running_module, "WATCH_SECONDS", 0.05)
    return GatedBackend()


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
def test_an_unexpected_error_ends_the_answer_with_its_name(cases: Cases, small_book: str, gated: GatedBackend) -> None:
    gated.error = ZeroDivisionError("by zero")
    gated.gate.set()
    running_over(cases, gated).start("phone", KEEP_IT, False, small_book)
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
