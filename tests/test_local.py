from __future__ import annotations

import threading
from pathlib import Path

import pytest

from index.errors import BackendError
from rag.backends.budget import Speed
from rag.backends.local import tell_kept, warm_up
from rag.backends.prefixes import Prefixes
from tests.fakes import FakeBackend

SECONDS = 30.0


class WarmBackend(FakeBackend):
    """A fake that claims to be a model in this process."""

    def __init__(self, folder: Path, error: BackendError | None = None) -> None:
        super().__init__("")
        self.prefixes = Prefixes(folder)
        self.warmed: list[str] = []
        self.error = error

    def warm_up(self, system: str) -> Speed:
        self.warmed.append(system)
        if self.error:
            raise self.error
        return Speed(reading=81.7, writing=12.34)


def told(backend: WarmBackend) -> str:
    lines: list[str] = []
    said = threading.Event()
    warm_up(backend, "You are a book.", lambda line: (lines.append(line), said.set()))
    assert said.wait(SECONDS)
    (line,) = lines
    return line


def test_the_speed_of_a_model_in_this_process_is_told_in_one_line(tmp_path: Path) -> None:
    backend = WarmBackend(tmp_path)
    assert told(backend) == "fake-model writes 12.3 tokens a second here and reads 82."
    assert backend.warmed == ["You are a book."]


def test_a_model_that_fails_while_it_is_warmed_up_says_so(tmp_path: Path) -> None:
    assert told(WarmBackend(tmp_path, BackendError("The language model broke."))) == "The language model broke."


@pytest.mark.parametrize("backend", [None, FakeBackend("")])
def test_of_any_other_backend_nothing_is_told(backend: FakeBackend | None) -> None:
    lines: list[str] = []
    threads = threading.active_count()
    warm_up(backend, "You are a book.", lines.append)
    tell_kept(backend, lines.append)
    assert (lines, threading.active_count()) == ([], threads)


def test_how_often_what_was_kept_was_of_use(tmp_path: Path) -> None:
    backend, lines = WarmBackend(tmp_path), list[str]()
    tell_kept(backend, lines.append)
    assert lines == [], "nothing was asked"
    backend.prefixes.put("a", b"state")
    for key in ("a", "b", "a", "a"):
        backend.prefixes.get(key)
    backend.prefixes.peek("a")
    tell_kept(backend, lines.append)
    assert lines == ["The beginning of the prompt was kept from before for 3 of 4 answers (75%)."]
