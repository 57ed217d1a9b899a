"""A real `llama_cpp.server` with the 0.5B model: asked, and killed in the middle; and servers that are slow or broken."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import openai
import pytest

from index.errors import BackendError
from rag import generate as generate_module
from rag.backends import pulse
from rag.backends import server as server_module
from rag.backends.base import CONTEXT_TOKENS, MAX_LINES
from rag.backends.server import RETRIES, ServerBackend
from rag.desk import Ask, Desk, Update, answer, answer_whole
from rag.models import LANGUAGE_MODELS
from rag.prompt import Prompt
from rag.strings import strings
from tests.conftest import REAL_MODELS
from tests.fakes import FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, QuietHandler, closed_port, serving
from tests.test_backends import delta

SECONDS = 120.0
"""Longest that a test waits for what must come."""
SLOW_SECONDS = 600.0
"""Longest that the real model may write on a machine that does other things too."""
POLL_SECONDS = 0.2
NEEDED = ("llama_cpp", "sse_starlette", "starlette_context", "pydantic_settings")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]

LINES = (f"{ACCEPT} [27A1]", "The offender must replace the low bid, and nobody else at the table may help. [27B]")
GRAMMAR = "root ::= line line? line?\nline ::= " + " | ".join(f'"{line}\\n"' for line in LINES)
PROMPT = Prompt(
    system="You are the law book of a bridge tournament director. Copy the lines that answer the question.",
    law="\n".join(LINES),
    question="Question: may I accept a bid that is too low?",
    lines=LINES,
    grammar=GRAMMAR,
)


@dataclass
class Served:
    """A model server that a test started, and its address."""

    process: subprocess.Popen[bytes]
    url: str

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=SECONDS)


@pytest.fixture
def model_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """`python -m llama_cpp.server` on a port of 127.0.0.1, ready to answer; killed and waited for at the end."""
    monkeypatch.setenv("TABLELAW_MODELS", str(REAL_MODELS))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    port = closed_port()
    arguments = {"model": LANGUAGE_MODELS["small"].path, "port": port, "n_ctx": CONTEXT_TOKENS, "n_threads": 1}
    options = [part for name, value in {"host": "127.0.0.1", **arguments}.items() for part in (f"--{name}", str(value))]
    log = tmp_path / "server.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "llama_cpp.server", *options]
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "OMP_NUM_THREADS": "1"})
    served = Served(process, f"http://127.0.0.1:{port}")
    try:
        wait_until_ready(served, log)
        yield served
    finally:
        served.kill()


def wait_until_ready(served: Served, log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        assert served.process.poll() is None, log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"{served.url}/v1/models", timeout=5) as answer:
                assert json.load(answer)["data"]
                return
        except OSError:
            time.sleep(POLL_SECONDS)
    pytest.fail(f"the server did not get ready: {log.read_text(errors='replace')}")


class KillsServer(ServerBackend):
    """Kills the server behind the first piece of an answer."""

    served: Served

    def stream(self, prompt: Prompt) -> Iterator[str]:
        for piece in super().stream(prompt):
            if piece and self.served.process.poll() is None:
                self.served.kill()
            yield piece


def pieces_until_it_fails(backend: ServerBackend) -> str:
    """What was written before it failed, which it must; that the failure names the server is checked."""
    text = ""
    with pytest.raises(BackendError, match=f"The server {backend.name} (did not answer|broke off)"):
        for piece in backend.stream(PROMPT):
            text += piece
    return text


@pytest.mark.models
@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
@pytest.mark.usefixtures("calibrated")
def test_a_real_server_writes_the_lines_and_when_it_is_killed_the_law_is_quoted(
    model_server: Served, small_book: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate_module, "MAX_SECONDS", SLOW_SECONDS)
    monkeypatch.setattr(server_module, "TIMEOUT", openai.Timeout(SLOW_SECONDS, connect=4.0))
    text = "".join(ServerBackend(model_server.url).stream(PROMPT))
    lines = text.splitlines()
    assert 1 <= len(lines) <= MAX_LINES
    assert set(lines) <= set(LINES), "it is bound by the grammar"

    assert "".join(ServerBackend(f"{model_server.url}/v1#no-such-model").stream(PROMPT)), "this one serves what it has"

    whole = ask(ServerBackend(model_server.url), small_book)
    assert (whole.ruling.status, whole.notice) == ("ruling", "")
    assert {sentence.cites for sentence in whole.ruling.sentences} <= {("27A1",), ("27B",), ("27B1",)}

    backend = KillsServer(model_server.url)
    backend.served = model_server
    cut = ask(backend, small_book)
    text = strings("en")
    assert (cut.ruling.status, cut.notice) in [("ruling", text["cut_off"]), ("quote", text["quote_model_failed"])]
    assert cut.ruling.sentences

    after = ask(ServerBackend(model_server.url), small_book)
    assert (after.ruling.status, after.notice) == ("quote", text["quote_model_failed"])
    assert pieces_until_it_fails(ServerBackend(model_server.url)) == ""


def ask(backend: ServerBackend, book: str) -> Update:
    return answer_whole(Desk(FakeEmbedder(), backend), Ask(KEEP_IT, book))


# Servers that are slow or broken


class SlowServer(QuietHandler):
    """Writes a piece of the first line, and then nothing until ``goes_on`` is set."""

    goes_on: threading.Event
    asked: list[int]
    pieces: tuple[str, ...] = (ACCEPT[:20],)
    wrote: Callable[[], None] = staticmethod(lambda: None)

    def do_GET(self) -> None:  # noqa: N802
        self.send(200, json.dumps({"object": "list", "data": [{"id": "slow", "object": "model"}]}).encode(), "application/json")

    def do_POST(self) -> None:  # noqa: N802
        self.asked.append(int(self.headers["Content-Length"]))
        self.rfile.read(self.asked[-1])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in self.pieces:
            self.wfile.write(delta(piece))
            self.wfile.flush()
        self.wrote()
        self.goes_on.wait(SECONDS)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[SlowServer]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(pulse, "PULSE_SECONDS", 0.02)
    handler = type("FreshSlowServer", (SlowServer,), {"goes_on": threading.Event(), "asked": []})
    yield handler
    handler.goes_on.set()


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize(
    ("pieces", "over_when", "status", "notice"),
    [
        ((), "written", "quote", "quote_model_failed"),
        ((ACCEPT[:20],), "written", "quote", "quote_model_failed"),
        ((f"{ACCEPT} [27A1]\n", "The offender must "), "shown", "ruling", "cut_off"),
    ],
)
def test_a_server_that_falls_silent_is_stopped_by_the_time_limit(
    slow: type[SlowServer],
    small_book: str,
    pieces: tuple[str, ...],
    over_when: str,
    status: str,
    notice: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def time_is_over() -> None:
        monkeypatch.setattr(generate_module, "MAX_SECONDS", 0.0)

    slow.pieces = pieces
    if over_when == "written":
        slow.wrote = staticmethod(time_is_over)
    said: list[str] = []
    with serving(slow) as url:
        for update in answer(Desk(FakeEmbedder(), ServerBackend(url), said.append), Ask(KEEP_IT, small_book)):
            if update.ruling.sentences:
                time_is_over()
        slow.goes_on.set()
    assert (update.ruling.status, update.notice) == (status, strings("en")[notice])
    assert len(slow.asked) == 1
    assert any("was stopped after" in line for line in said)
    assert [sentence.text for sentence in update.ruling.sentences][:1] == [ACCEPT], "a sentence is whole, or quoted"


@pytest.mark.usefixtures("calibrated")
def test_a_server_that_is_silent_within_an_answer_is_not_asked_again(
    slow: type[SlowServer], small_book: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would write the same once more; what fails before it begins is tried again (`tests/test_backends.py`)."""
    assert RETRIES >= 1
    monkeypatch.setattr(server_module, "TIMEOUT", openai.Timeout(2.0))
    with serving(slow) as url:
        update = answer_whole(Desk(FakeEmbedder(), ServerBackend(url)), Ask(KEEP_IT, small_book))
        slow.goes_on.set()
    assert (update.ruling.status, update.notice) == ("quote", strings("en")["quote_model_failed"])
    assert len(slow.asked) == 1


class BrokenServer(SlowServer):
    """Answers every question with a status."""

    status = 500

    def do_POST(self) -> None:  # noqa: N802
        self.asked.append(1)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send(self.status, b'{"error": {"message": "the model is not there"}}', "application/json")


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize(("status", "asked", "says"), [(404, 1, 'no model "llama-9"'), (500, 1 + RETRIES, "HTTP 500")])
def test_a_wrong_name_and_a_broken_server_end_in_quotes_and_one_sentence(
    slow: type[SlowServer], small_book: str, status: int, asked: int, says: str
) -> None:
    handler = type("FreshBrokenServer", (BrokenServer,), {"status": status, "asked": [], "goes_on": slow.goes_on})
    said: list[str] = []
    with serving(handler) as url:
        desk = Desk(FakeEmbedder(), ServerBackend(f"{url}#llama-9"), said.append)
        update = answer_whole(desk, Ask(KEEP_IT, small_book))
    assert (update.ruling.status, update.notice) == ("quote", strings("en")["quote_model_failed"])
    (line,) = [line for line in said if "did not answer" in line]
    assert says in line
    assert len(handler.asked) == asked
