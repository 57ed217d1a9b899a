from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import cli
from eval.bench import KEPT, SPEED
from index.books import read_book
from index.errors import BackendError
from rag.backends.budget import Speed
from rag.backends.local import tell_kept, warm_up
from rag.backends.prefixes import Prefixes
from rag.desk import Desk
from rag.prompt import system_prompt
from tests.fakes import FakeBackend, FakeEmbedder
from tests.made import ACCEPT, KEEP_IT

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
    match = SPEED.search(told(backend))
    assert match
    assert match.groups() == ("12.3", "82"), "the bench reads it there"


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
    match = KEPT.search(lines[0])
    assert match
    assert match.groups() == ("3", "4"), "the bench reads it there"


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WarmBackend:
    """The model of every desk that a command opens."""
    backend = WarmBackend(tmp_path / "prefixes")
    backend.text = f"{ACCEPT} [27A1]"
    monkeypatch.setattr("rag.desk.open_desk", lambda *_: Desk(FakeEmbedder(), backend))
    return backend


def ask(*arguments: object) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["ask", *map(str, arguments)])
    assert stop.value.code == 0
    for thread in threading.enumerate():
        if thread.name == "warm-up":
            thread.join(SECONDS)


def test_ask_tells_the_speed_on_stderr_and_not_beside_json(
    warm: WarmBackend, small_book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(KEEP_IT, "--book", small_book, "--json")
    assert "tokens a second" not in capsys.readouterr().err
    assert warm.warmed == []
    ask(KEEP_IT, "--book", small_book)
    shown = capsys.readouterr()
    assert shown.err.count("tokens a second") == 1
    assert "tokens a second" not in shown.out
    assert warm.warmed == [system_prompt(read_book(small_book))]


def test_a_batch_tells_how_often_what_was_kept_was_of_use(
    warm: WarmBackend, small_book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"id": 1, "question": KEEP_IT, "book": small_book}), encoding="utf-8")
    warm.prefixes.hits, warm.prefixes.misses = 1, 1
    ask("--batch", source, "--out", tmp_path / "out.jsonl")
    assert "kept from before for 1 of 2 answers (50%)" in capsys.readouterr().err
