"""The page over fakes, in a process of its own: ``python -m tests.fake_server PORT BOOK CALIBRATION PAUSE``.

Its model writes the clause that has the question's noun, a word every ``PAUSE`` seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn

from app import HOST, make_app
from rag import calibration, generate
from rag.desk import Desk
from rag.prompt import Prompt
from tests.fakes import FakeEmbedder

NOUNS = (
    "apple bottle candle drum engine feather guitar hammer island jacket "
    "kettle lemon mirror needle orange pillow quilt ribbon saddle trumpet"
).split()
"""One a clause: what a question about one clause shares with no other."""


def clause_text(noun: str) -> str:
    return f"Whoever has a {noun} at the table puts that {noun} under the chair before the first call is made."


def question(noun: str) -> str:
    return f"my partner has a {noun} at the table"


CLAUSES = dict(
    zip(
        NOUNS,
        "20A 20B 20C 20C1 20C2 20D 20E 20F 20F1 20F2 20F3 20F4 20F4(a) 20F4(b) 20F5 20F6 20G 20G1 20G2 20G3".split(),
        strict=True,
    )
)
"""The number under which each stands: a Law that has that many."""


def book_markdown() -> str:
    clauses = (f"## {number}\n\n{clause_text(noun)}\n" for noun, number in CLAUSES.items())
    return "\n".join(["---\nlaw: 20\nheading: Things at the table\n---\n\n## 20 Things at the table\n", *clauses])


class EchoBackend:
    """Writes the line about the noun that was asked for."""

    name = "echo"
    is_bound, at_once = True, 1

    def __init__(self, pause: float) -> None:
        self.pause = pause

    def stream(self, prompt: Prompt) -> Iterator[str]:
        asked = prompt.question.rpartition("Question: ")[2].split()
        (noun,) = [noun for noun in NOUNS if noun in asked]
        (line,) = [line for line in prompt.lines if noun in line]
        for word in f"{line}\n".split(" "):
            time.sleep(self.pause)
            yield word if word.endswith("\n") else f"{word} "


def main(port: str, book: str, floors: str, pause: str) -> None:
    calibration.PATH = Path(floors)
    generate.MAX_SECONDS = 3600.0  # what is tried here is who gets which answer, on however busy a machine
    desk = Desk(FakeEmbedder(), EchoBackend(float(pause)))
    uvicorn.run(make_app(lambda: desk, book), host=HOST, port=int(port), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
