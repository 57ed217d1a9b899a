from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from index.errors import BackendError, ModelError
from rag.backends import llamacpp, open_backend, pulse
from rag.backends import server as server_module
from rag.backends.base import MAX_TOKENS
from rag.backends.server import RETRIES, ServerBackend
from rag.backends.tokens import COMMON_TOKENS
from rag.models import LANGUAGE_MODELS
from rag.prompt import Prompt
from tests.made import QuietHandler, closed_port, serving

SECONDS = 30.0
"""Longest that a test waits for what must come."""
PROMPT = Prompt("You are the law book.", "Law 56", "Question: who leads?", ("West leads. [56A]",), 'root ::= "West"')


def event(**choice: Any) -> bytes:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice] if choice else []}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def delta(text: str | None, finish: str | None = None) -> bytes:
    return event(index=0, delta={"content": text} if text is not None else {"role": "assistant"}, finish_reason=finish)


def pieces(stream: Iterator[str]) -> list[str]:
    """What was written, without the pulse of a slow machine."""
    return [piece for piece in stream if piece]


class ModelServer(QuietHandler):
    """An OpenAI-like server: lists models, and streams the events given."""

    models: tuple[Any, ...] = ({"id": "local-model", "object": "model"},)
    events: list[bytes]
    status = 200
    sent: list[Any]
    paths: list[str]

    def do_GET(self) -> None:  # noqa: N802
        self.paths.append(self.path)
        self.send(200, json.dumps({"object": "list", "data": self.models}).encode(), "application/json")

    def do_POST(self) -> None:  # noqa: N802
        self.paths.append(self.path)
        self.sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.status != 200:
            self.send(self.status, b'{"error": {"message": "no"}}', "application/json")
            return
        self.send(200, b"".join(self.events), "text/event-stream")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> type[ModelServer]:
    events = [delta(None), delta("West"), delta(" leads."), delta(None, "stop"), event(), b"data: [DONE]\n\n"]
    return type("FreshServer", (ModelServer,), {"events": events, "sent": [], "paths": []})


@pytest.fixture
def silent(server: type[ModelServer], monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The server answers only once this is set."""
    speaks, send = threading.Event(), server.send

    def wait_and_send(self: ModelServer, status: int, body: bytes, kind: str = "", **headers: str) -> None:
        if kind == "text/event-stream":
            assert speaks.wait(SECONDS)
        with suppress(OSError):  # nobody listens any more
            send(self, status, body, kind, **headers)

    monkeypatch.setattr(server, "send", wait_and_send)
    yield speaks
    speaks.set()


@pytest.fixture
def url(server: type[ModelServer]) -> Iterator[str]:
    with serving(server) as base:
        yield base


@pytest.fixture
def no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty models folder."""
    monkeypatch.setenv("TABLELAW_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files opened by a fake in the place of llama.cpp."""
    files: list[Path] = []
    monkeypatch.setattr(llamacpp, "is_installed", lambda: True)
    monkeypatch.setattr(llamacpp, "LlamaBackend", files.append)
    return files


def test_a_server_writes_its_answer_in_pieces(url: str) -> None:
    assert pieces(ServerBackend(url).stream(PROMPT)) == ["West", " leads."]


def test_a_server_is_sent_messages_grammar_and_limit(url: str, server: type[ModelServer]) -> None:
    list(ServerBackend(url).stream(PROMPT))
    (sent,) = server.sent
    user = "Law 56\nQuestion: who leads?"
    assert sent["messages"] == [{"role": "system", "content": PROMPT.system}, {"role": "user", "content": user}]
    assert (sent["model"], sent["grammar"], sent["max_tokens"]) == ("local-model", PROMPT.grammar, MAX_TOKENS)
    assert (sent["temperature"], sent["stream"]) == (0.0, True)


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
def test_the_address_may_be_given_with_or_without_v1(url: str, server: type[ModelServer], end: str) -> None:
    list(ServerBackend(url + end).stream(PROMPT))
    assert server.paths == ["/v1/models", "/v1/chat/completions"]


def test_the_model_is_asked_for_once(url: str, server: type[ModelServer]) -> None:
    backend = ServerBackend(url)
    for _ in range(2):
        list(backend.stream(PROMPT))
    assert server.paths.count("/v1/models") == 1


def test_a_server_that_lists_no_models_is_asked_for_its_default(url: str, server: type[ModelServer]) -> None:
    server.models = ()
    list(ServerBackend(url).stream(PROMPT))
    assert server.sent[0]["model"] == "default"


def test_a_model_of_several_is_named_behind_the_address(url: str, server: type[ModelServer]) -> None:
    backend = ServerBackend(f"{url}/v1#larger-model")
    list(backend.stream(PROMPT))
    assert server.paths == ["/v1/chat/completions"]
    assert server.sent[0]["model"] == "larger-model"


def test_a_server_that_knows_no_grammars_is_asked_again_without_one(url: str, server: type[ModelServer]) -> None:
    class Strict(server):  # type: ignore[valid-type, misc]
        def do_POST(self) -> None:  # noqa: N802
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.sent.append(body)
            if "grammar" in body:
                self.send(400, b'{"error": {"message": "unknown field grammar"}}', "application/json")
                return
            self.send(200, b"".join(self.events), "text/event-stream")

    with serving(Strict) as base:
        backend = ServerBackend(base)
        assert ["".join(backend.stream(PROMPT)) for _ in range(2)] == ["West leads."] * 2
    assert ["grammar" in body for body in server.sent] == [True, False, False]


def test_a_server_may_write_something_else_than_the_lines_and_several_answers_at_once(url: str) -> None:
    backend = ServerBackend(url)
    assert not backend.is_bound, "its grammar may have been passed over in silence"
    first, second = (filter(None, backend.stream(PROMPT)) for _ in range(2))
    assert backend.at_once > 1
    assert [next(first), next(second), *first, *second] == ["West", "West", " leads.", " leads."]


def test_proxy_settings_do_not_apply_to_this_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    assert pieces(ServerBackend(url).stream(PROMPT)) == ["West", " leads."]


@pytest.mark.parametrize("status", [400, 404])
def test_a_server_that_refuses_is_named(url: str, server: type[ModelServer], status: int) -> None:
    server.status = status
    with pytest.raises(BackendError, match=f"The server {url} did not answer .*; start it or use --llm none"):
        list(ServerBackend(url).stream(PROMPT))


def test_a_server_that_reports_an_error_in_the_stream_is_named(url: str, server: type[ModelServer]) -> None:
    server.events = [delta("West"), b'data: {"error": {"message": "out of memory"}}\n\n']
    stream = filter(None, ServerBackend(url).stream(PROMPT))
    assert next(stream) == "West"
    with pytest.raises(BackendError, match="did not answer"):
        next(stream)


def test_a_server_that_breaks_off_in_the_middle_is_named(url: str, server: type[ModelServer]) -> None:
    """As llama_cpp.server does with one answer when another is asked for."""
    server.events = [delta(None), delta("West"), b"data: [DONE]\n\n"]
    stream = filter(None, ServerBackend(url).stream(PROMPT))
    assert next(stream) == "West"
    with pytest.raises(BackendError, match=f"The server {url} broke off"):
        next(stream)


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (500, 1 + RETRIES), (503, 1 + RETRIES)])
def test_why_a_server_did_not_answer_is_said_and_what_may_pass_is_tried_again(
    url: str, server: type[ModelServer], status: int, asked: int
) -> None:
    server.status = status
    with pytest.raises(BackendError, match=rf"did not answer \(HTTP {status}") as caught:
        list(ServerBackend(f"{url}#larger-model").stream(PROMPT))
    assert ('no model "larger-model"' in str(caught.value)) == (status == 404)
    assert len(server.sent) == asked


def test_a_server_that_is_silent_is_given_up(
    url: str, server: type[ModelServer], silent: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "TIMEOUT", openai.Timeout(1.0))
    with pytest.raises(BackendError, match="no answer in time"):
        list(ServerBackend(f"{url}#model").stream(PROMPT))
    silent.set()
    assert len(server.sent) == 1 + RETRIES


def test_who_waits_for_a_silent_server_can_stop(
    url: str, server: type[ModelServer], silent: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "PULSE_SECONDS", 0.02)
    stream = ServerBackend(url).stream(PROMPT)
    assert [next(stream) for _ in range(3)] == [""] * 3
    assert isinstance(stream, Generator)
    stream.close()
    silent.set()
    (reader,) = [one for one in threading.enumerate() if one.name == "read-pieces"]
    reader.join(SECONDS)
    assert not reader.is_alive()


def test_a_server_that_is_down_is_named_within_seconds() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    start = time.monotonic()
    with pytest.raises(BackendError, match=f"The server {url} did not answer"):
        list(ServerBackend(url).stream(PROMPT))
    assert time.monotonic() - start < 5


def test_a_server_that_streams_something_else_is_named(url: str, server: type[ModelServer]) -> None:
    server.events = [b"data: not JSON\n\n"]
    with pytest.raises(BackendError):
        list(ServerBackend(url).stream(PROMPT))


def test_what_a_server_streams_in_the_place_of_text_is_passed_over(url: str, server: type[ModelServer]) -> None:
    odd = [event(index=0, delta={"content": content}) for content in (5, ["West"], {"a": "b"}, True, "")]
    server.events = [*odd, delta("West", "stop"), b"data: [DONE]\n\n"]
    assert list(ServerBackend(url).stream(PROMPT)) == ["West"]


def test_a_server_is_sent_no_control_token_in_the_data(url: str, server: type[ModelServer]) -> None:
    evil = " ".join(COMMON_TOKENS)
    list(ServerBackend(url).stream(replace(PROMPT, law=evil, question=f"Question: {evil}")))
    (sent,) = server.sent
    assert not [token for token in COMMON_TOKENS if token in sent["messages"][1]["content"]]


def test_an_address_that_is_no_model_server_is_named() -> None:
    class WebPage(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802
            self.send(200, b"<h1>Router</h1>", "text/html")

    with serving(WebPage) as url, pytest.raises(BackendError):
        list(ServerBackend(url).stream(PROMPT))


def test_none_opens_no_backend(opened: list[Path]) -> None:
    assert open_backend("none") is None
    assert opened == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://127.0.0.1:9/v1"])
def test_an_address_opens_a_server_without_asking_it(url: str) -> None:
    backend = open_backend(url)
    assert isinstance(backend, ServerBackend)
    assert backend.name == url


@pytest.mark.usefixtures("no_model")
def test_without_a_choice_and_a_model_there_is_no_backend(opened: list[Path]) -> None:
    assert open_backend(None) is None
    assert opened == []


@pytest.mark.usefixtures("no_model")
def test_without_a_choice_and_llama_cpp_there_is_no_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llamacpp, "is_installed", lambda: False)
    LANGUAGE_MODELS["llm"].path.write_bytes(b"GGUF")
    assert open_backend(None) is None


def test_a_path_opens_that_file(tmp_path: Path, opened: list[Path]) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(b"GGUF and so on")
    open_backend(str(path))
    assert opened == [path]


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("llm", ["llm", "small", "nothing.gguf"])
def test_an_explicit_choice_that_is_not_here_is_an_error(opened: list[Path], llm: str) -> None:
    with pytest.raises(ModelError, match="is not there"):
        open_backend(llm)
    assert opened == []


def test_an_explicit_choice_without_llama_cpp_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llamacpp, "is_installed", lambda: False)
    path = tmp_path / "other.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="llama-cpp-python is not installed; run: make llm"):
        open_backend(str(path))
