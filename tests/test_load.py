"""Twenty devices at once before a real server with fakes behind it; and the server killed in the middle of an answer."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
import yaml
from lxml import html

from eval.devices import Device
from index import paths
from index.books import read_book
from index.store import open_index
from rag.strings import strings
from tests.fake_server import CLAUSES, NOUNS, book_markdown, clause_text, question
from tests.fakes import FakeEmbedder
from tests.made import closed_port, make_book

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300.0
"""Longest that a test waits for what must come."""
POLL_SECONDS = 0.1
ROUNDS = 2
GROWTH_MIB = 150
"""More than this from the first round to the last would be a leak: a round leaves twenty cases, of which nothing stays."""


@pytest.fixture
def book(home: Path) -> str:
    return make_book(home, "things-2017-en", book_markdown())


@contextmanager
def serving_fakes(tmp_path: Path, book: str, pause: float) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server in a process of its own, and its address; killed and waited for at the end."""
    floors, port, log = tmp_path / "floors.yaml", closed_port(), tmp_path / "server.log"
    floors.write_text(yaml.safe_dump({"embedder_sha256": FakeEmbedder.hash, "floor": 0.05}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.fake_server", str(port), book, str(floors), str(pause)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, env={**os.environ, "NO_PROXY": "127.0.0.1"})
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(process, url, log)
        yield process, url
    finally:
        process.kill()
        process.wait(timeout=SECONDS)


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError:
            time.sleep(POLL_SECONDS)
    pytest.fail(f"the server did not get ready: {log.read_text(errors='replace')}")


def texts(case: str, element: str) -> list[str]:
    """The texts of the elements of a class in the case as shown."""
    return [" ".join(found.text_content().split()) for found in html.fromstring(case).find_class(element)]


def is_whole(case: str) -> bool:
    return 'aria-busy="false"' in case and 'aria-busy="true"' not in case


def resident_mib(process: subprocess.Popen[bytes]) -> float:
    """Memory of the server, 0 where the system does not tell."""
    status = Path(f"/proc/{process.pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def test_twenty_devices_at_once_get_each_their_own_answer_and_the_server_lives(tmp_path: Path, book: str) -> None:
    sentences = {noun: f"{clause_text(noun)} {number}" for noun, number in CLAUSES.items()}
    with serving_fakes(tmp_path, book, pause=0.005) as (process, url), ThreadPoolExecutor(len(NOUNS)) as people:
        devices = dict(zip(NOUNS, people.map(lambda _: Device(url), NOUNS), strict=True))
        assert len({tuple(device.cookie.items()) for device in devices.values()}) == len(NOUNS)
        resident: list[float] = []
        waited = 0
        for _ in range(ROUNDS):
            seen = dict(zip(NOUNS, people.map(lambda noun: list(devices[noun].ask(question(noun), book)), NOUNS), strict=True))
            for noun, cases in seen.items():
                assert is_whole(cases[-1])
                assert texts(cases[-1], "tl-question") == [question(noun)]
                assert texts(cases[-1], "tl-sentence") == [sentences[noun]]
                assert {text for case in cases for text in texts(case, "tl-sentence")} == {sentences[noun]}
                with_cards = next(case for case in cases if texts(case, "tl-card"))
                assert not texts(with_cards, "tl-sentence"), "the law is there before the model has written"
                waited += any("Before yours the model writes" in text for case in cases for text in texts(case, "tl-notice"))
            resident.append(resident_mib(process))
        assert waited > 0, "they came at once"
        assert resident[-1] - resident[0] < GROWTH_MIB, resident
        for noun, case in zip(NOUNS, people.map(lambda noun: devices[noun].shown(), NOUNS), strict=True):
            assert texts(case, "tl-sentence") == [sentences[noun]], "nor is one mixed up when the page is loaded again"
        assert process.poll() is None
        assert httpx.get(f"{url}/health", trust_env=False).json()["status"] == "ok"


def test_killed_in_the_middle_of_an_answer_it_starts_again_with_cases_and_index_whole(tmp_path: Path, book: str) -> None:
    first, second = NOUNS[:2]
    with serving_fakes(tmp_path, book, pause=0.3) as (process, url):
        device = Device(url)
        *_, before = device.ask(question(first), book)
        assert is_whole(before)
        with pytest.raises(httpx.HTTPError):
            for case in device.ask(question(second), book, continues=True):
                if len(html.fromstring(case).xpath('//article[@aria-busy="true"]//details[@class="tl-card"]')):
                    process.kill()
    said: list[str] = []
    open_index(read_book(book), FakeEmbedder(), said.append)
    assert said == [], "the index is not built anew"
    with closing(sqlite3.connect(paths.data_dir() / "cases.sqlite3")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with serving_fakes(tmp_path, book, pause=0.0) as (_, url):
        again = Device(url, device.cookie)
        case = again.shown()
        assert is_whole(case)
        assert texts(case, "tl-question") == [question(first), question(second)]
        assert texts(case, "tl-sentence")[:1] == texts(before, "tl-sentence")
        assert texts(case, "tl-notice") == [strings("en")["interrupted"]]
        *_, after = again.ask(question(second), book, continues=True)
        assert texts(after, "tl-sentence")[-1].startswith(clause_text(second))
