"""Pieces from a source that may be silent for long, with a pulse, so that who waits for them can stop waiting."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator

from rag.backends.base import PULSE_SECONDS


def with_pulse(pieces: Generator[str, None, None]) -> Iterator[str]:
    """The pieces as they come, and an empty one for every `PULSE_SECONDS` without any.

    They are read in a thread of their own, which closes them with the next piece once nobody takes them any more.
    """
    came: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
    gone = threading.Event()

    def read() -> None:
        end: Exception | None = None
        try:
            for piece in pieces:
                came.put(piece)
                if gone.is_set():
                    break
            pieces.close()
        except Exception as error:  # raised where the pieces are taken
            end = error
        came.put(end)

    threading.Thread(target=read, daemon=True, name="read-pieces").start()
    try:
        while True:
            try:
                piece = came.get(timeout=PULSE_SECONDS)
            except queue.Empty:
                piece = ""
            if piece is None:
                return
            if isinstance(piece, Exception):
                raise piece
            yield piece
    finally:
        gone.set()
