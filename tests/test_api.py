"""The API for programs and MCP: the same answers as the command line, errors in one sentence, nothing logged."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient
from mcp import Client
from pydantic import TypeAdapter

from app import make_app
from rag import programs
from rag.desk import Ask, Desk, answer_whole
from rag.log import open_log
from rag.page import api_models
from rag.page.limit import API_BYTES
from rag.page.render import FOLDER
from rag.procedure import Procedure, read_procedures
from rag.ruling import to_json
from tests.fakes import FakeBackend, FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, closed_port

SECONDS = 120.0
ADDRESS = "127.0.0.1:7860"
"""The address in the examples."""
FACTS = {"call": "bid"}


@pytest.fixture
def desk() -> Desk:
    return Desk(FakeEmbedder(), FakeBackend(f"{ACCEPT} [27A1]"))


@pytest.fixture
def client(desk: Desk, small_book: str) -> Iterator[TestClient]:
    with TestClient(make_app(lambda: desk, small_book)) as opened:
        yield opened


def timeless(ruling: dict[str, Any]) -> dict[str, Any]:
    """A ruling as it is sent, without the times that it took."""
    sent = json.loads(json.dumps(ruling))
    return {**sent, "timings": list(sent["timings"])}


@pytest.mark.usefixtures("calibrated")
def test_ask_gives_what_the_command_line_gives(client: TestClient, desk: Desk, small_book: str) -> None:
    answer = client.post("/api/ask", json={"question": KEEP_IT})
    assert answer.status_code == 200
    expected = to_json(answer_whole(desk, Ask(KEEP_IT, small_book)).ruling)
    assert list(answer.json()) == list(expected)
    told = answer.json()
    assert timeless(told) == timeless(expected)
    assert (told["status"], told["cites"], told["model"]) == ("ruling", ["27A1"], "fake-model")


@pytest.mark.usefixtures("calibrated")
def test_without_the_model_the_law_is_quoted(client: TestClient, desk: Desk) -> None:
    answer = client.post("/api/ask", json={"question": KEEP_IT, "llm": False}).json()
    assert (answer["status"], answer["model"]) == ("quote", "none")
    assert desk.backend is not None
    assert desk.backend.prompts == []  # type: ignore[attr-defined]


@pytest.mark.usefixtures("calibrated")
def test_the_state_goes_on_with_the_case_and_its_book(client: TestClient) -> None:
    first = client.post("/api/ask", json={"question": KEEP_IT}).json()
    second = client.post("/api/ask", json={"question": "and if LHO passed quickly", "state": first["state"]}).json()
    assert [turn["question"] for turn in second["state"]["turns"]] == [KEEP_IT, "and if LHO passed quickly"]


@pytest.mark.usefixtures("calibrated")
def test_nothing_that_programs_ask_is_logged_or_kept_as_a_case(client: TestClient, home: Path) -> None:
    client.post("/api/ask", json={"question": KEEP_IT})
    client.get("/api/search", params={"q": KEEP_IT})
    client.post("/api/rule/insufficient-bid", json={"facts": {}})
    assert list(open_log().entries()) == []
    with sqlite3.connect(home / "data" / "cases.sqlite3") as cases:
        assert cases.execute("SELECT count(*) FROM turns").fetchone() == (0,)


@pytest.mark.usefixtures("calibrated")
def test_every_answer_is_of_the_form_that_is_described(client: TestClient, small_book: str) -> None:
    ask = client.post("/api/ask", json={"question": KEEP_IT}).json()
    rule = client.post("/api/rule/insufficient-bid", json={"lang": "ru"}).json()
    for ruling in (ask, rule):
        api_models.Answer.model_validate(ruling)
    assert rule["status"] == "ask"
    fact = rule["ask"][0]
    ruled = client.post("/api/rule/insufficient-bid", json={"facts": {fact["fact"]: fact["options"][0]}}).json()
    assert api_models.Answer.model_validate(ruled).procedure is not None
    api_models.Found.model_validate(client.get("/api/search", params={"q": KEEP_IT, "k": 2}).json())
    api_models.Branch.model_validate(client.get("/api/law/27B").json())
    TypeAdapter(list[api_models.BookOut]).validate_python(client.get("/api/books").json())
    TypeAdapter(list[api_models.ProcedureRow]).validate_python(client.get("/api/procedures").json())
    Procedure.model_validate(client.get("/api/procedures/insufficient-bid").json())


def test_a_description_of_the_api_is_there_and_names_every_route(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()["paths"]
    ours = {path: list(methods) for path, methods in described.items() if path.startswith("/api/")}
    assert ours == {
        "/api/ask": ["post"],
        "/api/search": ["get"],
        "/api/law/{clause}": ["get"],
        "/api/books": ["get"],
        "/api/procedures": ["get"],
        "/api/procedures/{procedure}": ["get"],
        "/api/rule/{procedure}": ["post"],
    }
    assert list(described["/api/ask"]["post"]["responses"]) == ["200", "4XX", "503"]


def test_search_law_books_and_procedures(client: TestClient, small_book: str) -> None:
    found = client.get("/api/search", params={"q": KEEP_IT, "k": 1}).json()
    assert (found["book"], [hit["id"] for hit in found["hits"]]) == (small_book, ["27A1"])
    branch = client.get("/api/law/27 B 1").json()
    assert (branch["book"], [clause["id"] for clause in branch["clauses"]]) == (small_book, ["27B1"])
    assert client.get("/api/law/41A%23fn?book=laws-2017-en").json()["clauses"][0]["id"] == "41A#fn"
    assert small_book in [book["id"] for book in client.get("/api/books").json()]
    assert {row["id"] for row in client.get("/api/procedures").json()} == set(read_procedures())


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "ask", {}, 400, "question: Field required"),
        ("POST", "ask", {"question": ""}, 400, "question is empty"),
        ("POST", "ask", {"question": "x" * 5000}, 400, "5,000 characters"),
        ("POST", "ask", {"question": 7}, 400, "question: Input should be a valid string"),
        ("POST", "ask", {"question": "a", "fact": {}}, 400, "fact: Extra inputs"),
        ("POST", "ask", {"question": "27A1", "lang": "de"}, 400, 'no language "de"'),
        ("POST", "ask", {"question": "27A1", "facts": {"trick": 6}}, 400, 'no fact "trick"'),
        ("POST", "ask", {"question": "27A1", "state": {"version": 9}}, 400, "state is of version 9"),
        ("POST", "ask", {"question": "27A1", "state": {}}, 400, "start a new case"),
        ("POST", "ask", {"question": "27A1", "book": "../../etc"}, 404, 'no book "../../etc"'),
        ("POST", "ask", [], 400, "/api/openapi.json"),
        ("GET", "search", None, 400, "q: Field required"),
        ("GET", "search?q=a&k=0", None, 400, "k: Input should be greater"),
        ("GET", "search?q=a&book=none", None, 404, "no book"),
        ("GET", "law/27Q", None, 404, "27Q"),
        ("GET", "law/hearts", None, 404, "is not a clause number"),
        ("GET", "law/27B?book=x", None, 404, 'no book "x"'),
        ("GET", "procedures/none", None, 404, 'no procedure "none"'),
        ("POST", "rule/none", {}, 404, 'no procedure "none"'),
        ("POST", "rule/insufficient-bid", {"facts": {"x": "y"}}, 400, 'no fact "x"'),
        ("POST", "rule/insufficient-bid", {"lang": "de"}, 400, "lang"),
        ("GET", "ask", None, 404, "no GET /api/ask"),
        ("GET", "nothing/at/all", None, 404, "no GET /api/nothing/at/all"),
    ],
)
def test_a_mistake_is_one_sentence(client: TestClient, method: str, path: str, body: Any, status: int, words: str) -> None:
    answer = client.request(method, f"/api/{path}", json=body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    sentence = answer.json()["error"]
    assert words in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"question": "\\ud800 27A1"}', b"[" * 50_000, b"", b'{"question": NaN}'])
def test_what_is_no_json_is_told_or_taken_as_text(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {200, 400}
    assert answer.status_code == 200 or list(answer.json()) == ["error"]


@pytest.mark.parametrize("path", ["/api/ask", "/mcp", "/api/rule/insufficient-bid"])
def test_what_is_too_long_is_refused_unread(client: TestClient, path: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * (API_BYTES // 16)

    for content in (b"x" * (API_BYTES + 1), pieces()):
        answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, "longer than" in answer.json()["error"]) == (413, True)


def test_a_damaged_book_is_this_machines_fault(client: TestClient, home: Path, small_book: str) -> None:
    (home / "data" / "books" / small_book / "book.yaml").write_text("edition: [", encoding="utf-8")
    answer = client.get("/api/law/27B1")
    assert answer.status_code == 503
    assert "restore the file" in answer.json()["error"]


def test_while_the_models_are_loaded_it_says_so(small_book: str) -> None:
    class Loading:
        is_loading = True

        def __call__(self) -> Desk:
            raise AssertionError("nobody waits for it")

    with TestClient(make_app(Loading(), small_book)) as client:
        answers = [client.post("/api/ask", json={"question": "27A1"}), client.get("/api/search", params={"q": "27A1"})]
        assert [(a.status_code, a.headers["retry-after"]) for a in answers] == [(503, "5"), (503, "5")]
        assert "being loaded" in answers[0].json()["error"]
        assert client.get("/api/law/27B1").status_code == 200, "the book needs no model"


@pytest.mark.usefixtures("calibrated")
def test_programs_take_no_more_than_their_places(desk: Desk, small_book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "ASKS_AT_ONCE", 1)
    with TestClient(make_app(lambda: desk, small_book)) as client:
        task = threading.Thread(target=client.post, args=("/api/ask",), kwargs={"json": {"question": KEEP_IT}}, daemon=True)
        with desk.turns.wait():  # somebody else is being answered
            task.start()
            end = time.monotonic() + SECONDS
            while len(desk.turns._line) < 2:
                assert time.monotonic() < end
                time.sleep(0.05)
            answer = client.get("/api/search", params={"q": "27A1"})
        task.join(SECONDS)
    assert (answer.status_code, "ask again" in answer.json()["error"]) == (503, True)
    assert not task.is_alive()


# against a running server


@contextmanager
def running(desk: Desk, book: str) -> Iterator[str]:
    """The app on a free port of 127.0.0.1."""
    port = closed_port()
    server = uvicorn.Server(uvicorn.Config(make_app(lambda: desk, book), host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + SECONDS
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end
        time.sleep(0.05)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(SECONDS)


@pytest.fixture
def address(desk: Desk, small_book: str) -> Iterator[str]:
    with running(desk, small_book) as served:
        yield served


def examples(language: str) -> list[str]:
    """The blocks of a language in the README's part for programs, then those of API.md."""
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
    documented = readme.partition("## For programs")[2].partition("\n## ")[0] + (FOLDER / "API.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", documented, re.DOTALL)


def printed(command: list[str], address: str, code: str) -> str:
    done = subprocess.run(
        [*command, code.replace(ADDRESS, address)], capture_output=True, text=True, timeout=SECONDS,
        env={**os.environ, "NO_PROXY": "127.0.0.1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("calibrated")
def test_the_examples_of_the_documentation_work(address: str) -> None:
    curl, _with_pin = examples("sh")
    assert '"status":"ruling"' in printed(["bash", "-ec"], address, curl)
    with_httpx, with_mcp = examples("python")
    assert "27A1" in printed([sys.executable, "-c"], address, with_httpx)
    told = printed([sys.executable, "-c"], address, with_mcp)
    assert "['ask', 'law', 'procedures', 'rule', 'search']" in told
    assert "27" in told


@pytest.mark.usefixtures("calibrated")
def test_mcp_gives_what_the_api_gives_and_tells_mistakes(address: str, desk: Desk, small_book: str) -> None:
    async def talk() -> None:
        async with Client(f"http://{address}/mcp") as client:
            asked = (await client.call_tool("ask", {"question": KEEP_IT})).structured_content
            assert timeless(asked) == timeless(to_json(answer_whole(desk, Ask(KEEP_IT, small_book)).ruling))
            found = (await client.call_tool("search", {"q": KEEP_IT, "k": 1})).structured_content
            assert [hit["id"] for hit in found["hits"]] == ["27A1"]
            law = (await client.call_tool("law", {"clause": "27b1"})).structured_content
            assert law["clauses"][0]["id"] == "27B1"
            rows = (await client.call_tool("procedures", {})).structured_content["procedures"]
            assert {row["id"] for row in rows} == set(read_procedures())
            whole = (await client.call_tool("procedures", {"procedure": "insufficient-bid"})).structured_content
            assert whole["id"] == "insufficient-bid"
            rule = (await client.call_tool("rule", {"procedure": "insufficient-bid"})).structured_content
            assert rule["status"] == "ask"
            for tool, arguments, words in (
                ("law", {"clause": "27Q"}, "27Q"),
                ("ask", {"question": " "}, "question is empty"),
                ("rule", {"procedure": "none"}, "no procedure"),
                ("rule", {"procedure": "insufficient-bid", "facts": {"x": "y"}}, "no fact"),
            ):
                wrong = await client.call_tool(tool, arguments)
                assert wrong.is_error
                assert words in wrong.content[0].text

    asyncio.run(talk())


@pytest.mark.usefixtures("calibrated")
def test_who_goes_away_leaves_the_line(address: str, desk: Desk) -> None:
    with desk.turns.wait() as places, httpx.Client(base_url=f"http://{address}", timeout=1.0) as client:
        assert list(places) == []
        with pytest.raises(httpx.ReadTimeout):
            client.post("/api/ask", json={"question": KEEP_IT})
        client.close()
        end = time.monotonic() + SECONDS
        while len(desk.turns._line) > 1:
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.mark.usefixtures("calibrated")
def test_who_goes_away_leaves_the_line_however_soon(address: str, desk: Desk) -> None:
    with desk.turns.wait() as places:
        assert list(places) == []
        for seconds in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5) * 4:
            with httpx.Client(base_url=f"http://{address}", timeout=seconds) as client, suppress(httpx.TimeoutException):
                client.post("/api/ask", json={"question": KEEP_IT})
        time.sleep(1.0)  # the last of them may only just have come into the line
        end = time.monotonic() + SECONDS
        while len(desk.turns._line) > 1:
            assert time.monotonic() < end
            time.sleep(0.05)


def test_the_app_may_be_started_twice(desk: Desk, small_book: str) -> None:
    app = make_app(lambda: desk, small_book)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"accept": "application/json, text/event-stream"}
    for _ in range(2):
        with TestClient(app) as client:
            assert client.post("/mcp", json=call, headers=headers).status_code == 200
