from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

import app
from app import make_app, make_page, serve_page
from rag.cases import Cases
from rag.desk import Desk
from rag.page.library import PANEL_HEADER
from rag.running import Running
from tests.fakes import FakeEmbedder
from tests.made import closed_port, make_book
from tests.test_local import WarmBackend

SECONDS = 60.0


@pytest.fixture
def client(small_book: str) -> Iterator[TestClient]:
    """The whole web app over a desk with fakes, on the small book."""
    desk = Desk(FakeEmbedder(), None)
    with TestClient(make_app(lambda: desk, small_book)) as opened:
        yield opened


def test_health_says_which_book_is_served(client: TestClient, small_book: str) -> None:
    assert client.get("/health").json() == {"status": "ok", "loaded": True, "book": small_book}


def test_a_clause_is_a_page_a_panel_or_json_by_what_is_asked_for(client: TestClient) -> None:
    page = client.get("/law/27B1", headers={"Accept": "text/html"})
    panel = client.get("/law/27B1", headers={"Accept": "*/*", PANEL_HEADER: "1"})
    data = client.get("/law/27B1", headers={"Accept": "application/json"})
    assert page.text.startswith("<!doctype html>")
    assert panel.text.startswith("<div")
    assert [clause["id"] for clause in data.json()["clauses"]] == ["27B1"]
    assert {answer.headers["vary"] for answer in (page, panel, data)} == {f"Accept, Accept-Language, Cookie, {PANEL_HEADER}"}


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_an_unknown_clause_is_a_sentence_and_404(client: TestClient, accept: str) -> None:
    answer = client.get("/law/99Z", headers={"Accept": accept})
    assert answer.status_code == 404
    assert "is not a clause number" in answer.text


def test_a_book_that_was_damaged_meanwhile_is_a_sentence(client: TestClient, home: Path, small_book: str) -> None:
    (home / "data" / "books" / small_book / "book.yaml").write_text("edition: [", encoding="utf-8")
    answer = client.get("/law/27B1", headers={"Accept": "application/json"})
    assert answer.status_code == 500
    assert "restore the file" in answer.json()["error"]


def test_what_is_unknown_is_escaped(client: TestClient) -> None:
    assert "<script>alert" not in client.get("/law/<script>alert(1)</script>", headers={"Accept": "text/html"}).text


def test_another_host_name_is_refused(client: TestClient) -> None:
    assert client.get("/health", headers={"Host": "evil.example"}).status_code == 400


def test_at_the_start_the_speed_is_told_and_at_the_end_however_it_ends_what_was_kept(
    small_book: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, lines = WarmBackend(tmp_path / "prefixes"), list[str]()
    before = signal.getsignal(signal.SIGTERM)

    def run_until_it_is_ended(*_: object, **__: object) -> None:
        end = time.monotonic() + SECONDS
        while not any("tokens a second" in line for line in lines):
            assert time.monotonic() < end, lines
            time.sleep(0.01)
        backend.prefixes.hits = 1
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(app, "open_desk", lambda *_, **__: Desk(FakeEmbedder(), backend))
    monkeypatch.setattr(app, "check_models", lambda _: None)
    monkeypatch.setattr(app, "err", lines.append)
    monkeypatch.setattr("uvicorn.run", run_until_it_is_ended)
    try:
        with pytest.raises(SystemExit) as stop:
            serve_page(closed_port(), small_book)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert stop.value.code == 128 + signal.SIGTERM
    assert lines[-1] == "The beginning of the prompt was kept from before for 1 of 1 answers (100%)."
    assert [line for line in lines if "tokens a second" in line] == [
        "fake-model writes 12.3 tokens a second here and reads 82."
    ]


def test_the_pages_around_the_main_one_are_there_and_a_clause_is_in_the_language_of_the_device(client: TestClient) -> None:
    for address in ("/log", "/settings"):
        assert client.get(address).status_code == 200
    assert client.get("/log").headers["referrer-policy"] == "same-origin", "with none, a form of our own names no origin"
    own = {"Origin": "http://testserver"}
    assert client.post("/settings/device", data={"lang": "ru"}, headers=own).status_code == 200
    page = client.get("/law/27B1", headers={"Accept": "text/html"}).text
    assert '<html lang="ru">' in page
    assert "tablelaw_${name}" in page, "text size and dark or light, before the first paint"


class NotedRunning(Running):
    """Notes what it is given instead of answering."""

    given: dict[str, Any] = {}  # noqa: RUF012

    def start(self, device: str, question: str, continues: bool, book: str | None = None, uses_model: bool = True) -> None:
        self.given["start"] = (book, uses_model)

    def change(self, device: str, turn_id: int, fact: str, option: str, uses_model: bool = True) -> None:
        self.given["change"] = uses_model


@pytest.mark.parametrize(("model", "uses_model"), [("on", True), ("off", False), ("maybe", True)])
def test_the_page_follows_the_settings_of_the_device(
    small_book: str, home: Path, tmp_path: Path, model: str, uses_model: bool
) -> None:
    other = make_book(home, "other-2017-en")
    running = NotedRunning(lambda: Desk(FakeEmbedder(), None), Cases(tmp_path / "cases.sqlite3"))
    listeners = {one.fn.__name__: one.fn for one in make_page(running, small_book).fns.values() if one.fn}
    cookies = {"tablelaw_book": other, "tablelaw_model": model, "tablelaw_lang": "ru"}
    request = SimpleNamespace(cookies=cookies, headers={"accept-language": "en"}, session_hash="s")
    (title, _, send, _, books, *_) = next(iter(listeners["on_load"](request)))
    assert (books["value"], send["value"]) == (other, "Решить")
    assert "Правила" in title
    list(listeners["on_ask"]("West bid too low", False, "", request))
    list(listeners["on_set"]("1 fact=option", request))
    assert running.given == {"start": (small_book, uses_model), "change": uses_model}
