"""Answers under way: each belongs to its case, is written in a thread of its own, and goes on when the page is closed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timezone
from typing import Any

from index.errors import TablelawError
from index.lessons import IRREGULARITY
from rag.backends import Backend
from rag.cases import INTERRUPTED, Case, Cases
from rag.desk import Ask, Desk, Update, answer
from rag.log import Log, open_log
from rag.log_entry import Correction, Place
from rag.prompt import Prompt
from rag.provenance import provenance
from rag.question import plain
from rag.rule import From
from rag.ruling import to_json, to_page_json
from rag.strings import strings

WATCH_SECONDS = 1.0
"""A watcher wakes at least this often, to notice that its page has gone."""


class Running:
    """Starts answers and lets pages watch them grow; each whole answer is written to the ruling log.

    ``log`` opens the log anew for each: one that could not be used may be mended meanwhile.
    """

    def __init__(self, desk: Callable[[], Desk], cases: Cases, log: Callable[[], Log] = open_log) -> None:
        self._desk = desk
        self._cases = cases
        self._log = log
        # No answer is written to the log between the deletions of its case, nor while its place is told.
        self._keeping = threading.Lock()
        self._expired: date | None = None
        self._changed = threading.Condition()
        self._versions: Counter[str] = Counter()  # of what each device shows, so that only its own watchers look again
        self._open: dict[int, threading.Event] = {}

    @property
    def cases(self) -> Cases:
        """The store of the cases."""
        return self._cases

    def start(
        self,
        device: str,
        question: str,
        continues: bool,
        book: str | None = None,
        facts: Mapping[str, str] | None = None,
        uses_model: bool = True,
    ) -> None:
        """Begin to answer; the case shown on the device is then the one this question belongs to.

        ``facts`` are given with the question, the irregularity among them. Without ``uses_model`` no language model writes:
        procedures rule, and else the law is quoted.
        """
        question = plain(question)
        before = self._cases.shown(device) if continues else None
        stop = threading.Event()
        with self._changed:
            turn_id = self._cases.add_turn(device, question, continues)
            self._open[turn_id] = stop
        ask = Ask(question, book, "auto", facts or {}, before.state if before else None)
        self._begin(device, turn_id, ask, stop, uses_model)

    def change(self, device: str, turn_id: int, fact: str, option: str, uses_model: bool = True) -> None:
        """Rule a turn anew with a fact answered or changed, or by another irregularity.

        A turn that the device does not show, or that is still under way, is left as it is.
        """
        case = self._cases.shown(device)
        turns = case.turns if case else ()
        place = next((k for k, turn in enumerate(turns) if turn.id == turn_id and turn.done and turn.ruling), None)
        if case is None or place is None:
            return
        turn, before = turns[place], Case(case.id, turns[:place]).state
        ruling = turn.ruling or {}
        given, sources = _with_fact(ruling, fact, option)
        stop = threading.Event()
        with self._changed:
            self._cases.save_turn(turn_id, ruling, "", done=False)
            self._open[turn_id] = stop
        ask = Ask(turn.question, ruling["book"], "auto", given, before, sources)
        self._begin(device, turn_id, ask, stop, uses_model, ruling)

    def _begin(
        self,
        device: str,
        turn_id: int,
        ask: Ask,
        stop: threading.Event,
        uses_model: bool,
        so_far: dict[str, Any] | None = None,
    ) -> None:
        arguments = (device, turn_id, ask, stop, uses_model, so_far)
        threading.Thread(target=self._run, args=arguments, daemon=True, name=f"answer-{turn_id}").start()

    def _run(
        self,
        device: str,
        turn_id: int,
        ask: Ask,
        stop: threading.Event,
        uses_model: bool,
        so_far: dict[str, Any] | None,
    ) -> None:
        before: Update | None = None
        try:
            desk = self._desk()
            for update in answer(_own(desk, stop, uses_model), ask):
                if update != before:  # who waits in line is told the same place again and again
                    so_far = to_page_json(update.ruling)
                    is_whole = update.done and not stop.is_set()
                    notice = self._record(turn_id, desk, update) if is_whole else update.notice
                    self._cases.save_turn(turn_id, so_far, notice, update.done)
                    self._tell(device)
                before = update
                if stop.is_set() and not update.done:
                    self._cases.save_turn(turn_id, so_far, INTERRUPTED, done=True)
                    return  # nobody looks at it any more: the next in line moves up
            self._expire(desk)
        except TablelawError as error:
            self._cases.save_turn(turn_id, so_far, str(error), done=True)
        except Exception as error:
            self._cases.save_turn(turn_id, so_far, f"{type(error).__name__}: {error}", done=True)
            raise
        finally:
            with self._changed:
                self._open.pop(turn_id, None)
            self._tell(device)

    def _record(self, turn_id: int, desk: Desk, update: Update) -> str:
        """Write a whole answer to the log; gives its notice, which says so when that failed."""
        ruling = update.ruling
        try:
            made_from = provenance(desk, ruling)
            with self._keeping:
                case_id = self._cases.case_of(turn_id)
                if case_id is not None:  # deleted meanwhile, it does not come back through the log
                    place = self._cases.place_of(case_id)
                    self._log().record(case_id, turn_id, ruling.question, to_json(ruling), made_from, update.notice, place)
        except (TablelawError, OSError) as error:
            if desk.say:
                desk.say(f"An answer was not written to the log: {error}")
            return f"{update.notice} {strings(ruling.lang)['log_failed']}".strip()
        return update.notice

    def _expire(self, desk: Desk) -> None:
        """Once a day, delete the cases that are older than the log's setting allows."""
        today = datetime.now(timezone.utc).date()
        with self._changed:
            if self._expired == today:
                return
            self._expired = today
        try:
            for case_id in self._log().expire():
                self._cases.delete(case_id)
        except TablelawError as error:
            if desk.say:
                desk.say(f"Old cases were not deleted: {error}")

    def _tell(self, device: str) -> None:
        with self._changed:
            self._versions[device] += 1
            self._changed.notify_all()

    def show(self, device: str, case_id: str) -> bool:
        """Show another case of the device's own; gives whether there is one. An answer under way goes on."""
        is_own = self._cases.show(device, case_id)
        self._tell(device)
        return is_own

    def set_place(self, device: str, case_id: str, place: Place) -> bool:
        """Say where a case of the device's own happened, in its log entries too; gives whether there is such a case.

        Raises `ContractError` when the log cannot be written: the case itself has its place then.
        """
        with self._keeping:
            if not self._cases.set_place(device, case_id, place):
                return False
            log = self._log()
            for turn in log.turns_of(case_id):
                log.correct(case_id, turn, Correction(table=place.table, board=place.board))
        return True

    def correct_place(self, case_id: str, place: Place) -> None:
        """Say where a case happened, once its log entries say so: later answers and the device's list have it, too."""
        with self._keeping:
            self._cases.correct_place(case_id, place)

    def put_away(self, device: str) -> None:
        """Show no case on the device; an answer that is still being written for it is stopped."""
        case = self._cases.shown(device)
        self._cases.put_away(device)
        with self._changed:
            for turn in case.turns if case else ():
                if stop := self._open.get(turn.id):
                    stop.set()

    def delete(self, case_id: str) -> bool:
        """Delete a case for good, from the log and from the cases; an answer that is being written for it is stopped.

        Gives whether it was there. Raises `ContractError` when it cannot be deleted, or not yet.
        """
        with self._changed:
            under_way = dict(self._open)
        for turn_id, stop in under_way.items():
            if self._cases.case_of(turn_id) == case_id:
                stop.set()
        with self._keeping:
            was_kept = self._cases.delete(case_id)
            return bool(self._log().delete(case_id)) or was_kept

    def watch(self, device: str) -> Iterator[Case | None]:
        """The device's case now, and again each time it changed, until its last answer is whole.

        An answer that ended without being kept whole (a full disk, say) is given as interrupted.
        """
        while True:
            with self._changed:
                seen = self._versions[device]
                under_way = set(self._open)
            case = self._cases.shown(device)
            growing = [turn for turn in case.turns if not turn.done] if case else []
            if case is None or not growing:
                yield case
                return
            if not any(turn.id in under_way for turn in growing):
                ended = (t if t.done else replace(t, done=True, notice=t.notice or INTERRUPTED) for t in case.turns)
                yield replace(case, turns=tuple(ended))
                return
            yield case
            with self._changed:
                self._changed.wait_for(lambda: self._versions[device] != seen, WATCH_SECONDS)  # noqa: B023 - called here


def _with_fact(ruling: Mapping[str, Any], fact: str, option: str) -> tuple[dict[str, str], dict[str, From]]:
    """The facts given so far and the new one, and how each is known; another irregularity begins with none."""
    if fact == IRREGULARITY:
        return {IRREGULARITY: option}, {}
    known = ruling["procedure"]["facts"] if ruling["procedure"] else {}
    given = {**ruling["state"]["facts"], fact: option}
    sources: dict[str, From] = {name: known[name]["from"] for name in given if name in known}
    is_asked = any(asked["fact"] == fact for asked in ruling["ask"])
    return given, {**sources, fact: "answered" if is_asked else "changed"}


class _Stoppable:
    """A backend that falls silent once ``stop`` is set."""

    def __init__(self, backend: Backend, stop: threading.Event) -> None:
        self.name, self.is_bound, self.at_once = backend.name, backend.is_bound, backend.at_once
        self._backend = backend
        self._stop = stop

    def stream(self, prompt: Prompt) -> Iterator[str]:
        for piece in self._backend.stream(prompt):
            if self._stop.is_set():
                return
            yield piece


def _own(desk: Desk, stop: threading.Event, uses_model: bool) -> Desk:
    """The desk as one answer has it: its model falls silent at ``stop``, or is not used at all."""
    if desk.backend is None:
        return desk
    if not uses_model:
        return replace(desk, backend=None)
    own = replace(desk, backend=_Stoppable(desk.backend, stop))
    own.turns = desk.turns  # one model, one line of people before it
    return own
