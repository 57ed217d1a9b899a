"""Answers under way: each belongs to its case, is written in a thread of its own, and goes on when the page is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from index.errors import TablelawError
from rag.cases import Case, Cases
from rag.desk import Ask, Desk, answer
from rag.ruling import to_json

WATCH_SECONDS = 1.0
"""A watcher wakes at least this often, to notice that its page has gone."""


class Running:
    """Starts answers and lets pages watch them grow."""

    def __init__(self, desk: Callable[[], Desk], cases: Cases) -> None:
        self._desk = desk
        self._cases = cases
        self._changed = threading.Condition()
        self._open: set[int] = set()

    def start(self, device: str, question: str, continues: bool, book: str | None = None) -> None:
        """Begin to answer; the case shown on the device is then the one this question belongs to."""
        before = self._cases.shown(device) if continues else None
        turn_id = self._cases.add_turn(device, question, continues)
        ask = Ask(question, book, "auto", {}, before.state if before else None)
        with self._changed:
            self._open.add(turn_id)
        threading.Thread(target=self._run, args=(turn_id, ask), daemon=True, name=f"answer-{turn_id}").start()

    def _run(self, turn_id: int, ask: Ask) -> None:
        so_far: dict[str, Any] | None = None
        try:
            for update in answer(self._desk(), ask):
                so_far = to_json(update.ruling)
                self._cases.save_turn(turn_id, so_far, update.notice, update.done)
                self._tell()
        except TablelawError as error:
            self._cases.save_turn(turn_id, so_far, str(error), done=True)
        except Exception as error:
            self._cases.save_turn(turn_id, so_far, f"{type(error).__name__}: {error}", done=True)
            raise
        finally:
            with self._changed:
                self._open.discard(turn_id)
            self._tell()

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def put_away(self, device: str) -> None:
        """Show no case on the device."""
        self._cases.put_away(device)

    def watch(self, device: str) -> Iterator[Case | None]:
        """The device's case now, and again each time it may have changed, until its last answer is whole."""
        while True:
            case = self._cases.shown(device)
            yield case
            last = case.turns[-1] if case and case.turns else None
            if last is None or last.done or last.id not in self._open:
                final = self._cases.shown(device)
                if final != case:
                    yield final
                return
            with self._changed:
                self._changed.wait(WATCH_SECONDS)
