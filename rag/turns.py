"""Whose turn it is to be answered by the model: first come, first served, and everyone knows how many stand before them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

NOTICE_SECONDS = 1.0
"""Who waits looks up at least this often, to notice that nobody waits for the answer any more."""


class Turns:
    """A line of people before a model that writes ``at_once`` answers at a time. Safe to use from several threads."""

    def __init__(self, at_once: int = 1) -> None:
        self._at_once = at_once
        self._line: list[object] = []
        self._moved = threading.Condition()

    @contextmanager
    def wait(self) -> Iterator[Iterator[int]]:
        """Stand in line until the block ends: gives how many are before, again and again, and stops when it is one's turn."""
        me = object()
        with self._moved:
            self._line.append(me)
        try:
            yield self._places(me)
        finally:
            with self._moved:
                self._line.remove(me)
                self._moved.notify_all()

    def _places(self, me: object) -> Iterator[int]:
        while before := self._before(me):
            yield before
            with self._moved:
                if self._line.index(me) >= self._at_once:
                    self._moved.wait(NOTICE_SECONDS)

    def _before(self, me: object) -> int:
        """How many answers must end before it is one's turn."""
        with self._moved:
            return max(0, self._line.index(me) - self._at_once + 1)
