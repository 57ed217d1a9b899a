"""Things made for tests: clauses, books, rulings, models that write given pieces, and servers on 127.0.0.1."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from index.clause_id import parse_clause_id
from index.types import Clause
from rag.prompt import Prompt
from rag.ruling import LawCard, Ruling, Sentence, State, Timings
from tests.conftest import BOOK_YAML, SMALL_BOOK

ACCEPT = "The next player may accept a bid that is too low by calling over it."
"""Clause 27A1 of the small book."""
KEEP_IT = "someone bid too low and I like it, can I keep it"
"""A question that 27A1 answers, word for word."""


def make_clause(clause_id: str, text: str, heading: str = "") -> Clause:
    return Clause(parse_clause_id(clause_id), heading, text)


def make_book(home: Path, book_id: str, markdown: str = SMALL_BOOK, **meta: Any) -> str:
    """A book like the small one, with other metadata; gives its id."""
    folder = home / "data" / "books" / book_id
    folder.mkdir(parents=True)
    data = {**yaml.safe_load(BOOK_YAML), **meta}
    (folder / "book.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    (folder / "027.md").write_text(markdown, encoding="utf-8")
    return book_id


def make_ruling(**changes: Any) -> Ruling:
    """A ruling of one sentence under 27A1."""
    parts: dict[str, Any] = {
        "question": "West bid too low",
        "lang": "en",
        "book": "small-2017-en",
        "edition": "2017",
        "status": "ruling",
        "answer": ACCEPT,
        "sentences": (Sentence(ACCEPT, ("27A1",)),),
        "cites": ("27A1",),
        "laws": (LawCard("27A1", "Law 27 Insufficient bid", ACCEPT, 0.9, "small-2017-en", "restated"),),
        "ask": (),
        "procedure": None,
        "then": (),
        "state": State("small-2017-en", "en"),
        "model": "fake-model",
        "timings": Timings(1.0, 2.0, 1.5, 1.2),
    }
    return Ruling(**{**parts, **changes})


class PieceBackend:
    """A model that writes exactly these pieces; ``written`` counts those that were asked for."""

    name = "pieces"
    at_once = 1

    def __init__(self, pieces: Sequence[str], is_bound: bool = False) -> None:
        self.pieces = pieces
        self.is_bound = is_bound
        self.written = 0

    def stream(self, prompt: Prompt) -> Iterator[str]:
        for piece in self.pieces:
            self.written += 1
            yield piece


class QuietHandler(BaseHTTPRequestHandler):
    """A request handler that writes no log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass

    def send(self, status: int, body: bytes, kind: str = "application/octet-stream", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on 127.0.0.1 that answers with the handler."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
