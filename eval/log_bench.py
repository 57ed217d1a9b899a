"""How quick the pages of the ruling log are with many entries, beside the same with few."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from statistics import median

from index.books import DEFAULT_BOOK, read_book
from rag.log import Log
from rag.log_entry import Entry, utc_text
from rag.page.log_view import Query, list_html
from rag.ruling import NO_MODEL, LawCard, Ruling, Sentence, State, Timings, to_json

FEW, MANY = 500, 50_000
TABLES = 40
LAWS = 5
"""Clauses that an entry holds with their texts."""
ROUNDS = 5
PAGES = {
    "first page, filtered by table": Query(table="7"),
    "word search": Query(text="revoke trick"),
    "page 9": Query(page=9),
}
"""What is looked for; each gives full pages with few entries, too, but for the table."""
_STORIES = (
    "East led out of turn against 4S",
    "declarer claimed and forgot the outstanding trump",
    "a defender revoked at trick {n} and the next trick was begun",
    "insufficient bid, 1 heart over 1 spade",
    "dummy was asked for a card that is not there at trick {n}",
)


@dataclass(frozen=True)
class PageTime:
    """Milliseconds in which a page is made, from `FEW` entries and from `MANY`."""

    name: str
    few: float
    many: float


def log_times(few: int = FEW, many: int = MANY) -> list[PageTime]:
    """Make two logs and measure the list's pages on both, median of some rounds."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [make_log(Path(folder) / f"{count}.sqlite3", count) for count in (few, many)]
        return [PageTime(name, *(_ms(log, query) for log in logs)) for name, query in PAGES.items()]


def make_log(path: Path, count: int) -> Log:
    """A log of so many questions, each of a case of its own, one a minute."""
    log = Log(path)
    log.add(_entries(count))
    return log


def _entries(count: int) -> Iterator[Entry]:
    clauses = [clause for clause in read_book(DEFAULT_BOOK).clauses if clause.text]
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    for number in range(count):
        story = _STORIES[number % len(_STORIES)].format(n=number % 13 + 1)
        found = [clauses[(7 * number + k) % len(clauses)] for k in range(LAWS)]
        laws = tuple(LawCard(str(one.id), one.heading, one.text, 0.9, DEFAULT_BOOK, "restated") for one in found)
        said = Sentence(found[0].text, (str(found[0].id),))
        ruling = Ruling(
            question=story, lang="en", book=DEFAULT_BOOK, edition="2017", status="quote", answer=said.text, sentences=(said,),
            cites=said.cites, laws=laws, ask=(), procedure=None, then=(), state=State(DEFAULT_BOOK, "en"), model=NO_MODEL,
            timings=Timings(1.0, 2.0, None, 3.0),
        )  # fmt: skip
        when = utc_text(start + timedelta(minutes=number))
        yield Entry(f"{number:016x}", 1, 1, when, story, to_json(ruling), table=str(number % TABLES + 1))


def _ms(log: Log, query: Query) -> float:
    seconds = []
    for _ in range(1 + ROUNDS):  # the first warms the file's pages up
        begun = time.perf_counter()
        list_html(log, query, "en")
        seconds.append(time.perf_counter() - begun)
    return 1000 * median(seconds[1:])
