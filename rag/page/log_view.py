"""The ruling log as pages: what is looked for, the list that is found, and one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, get_args
from urllib.parse import quote, urlencode

from rag.log import Log
from rag.log_entry import Entry
from rag.page.appeal import turn_views
from rag.page.frame import Refused, Typed, render
from rag.ruling import Status
from rag.strings import strings

PAGE = 50
"""Rulings on a page of the list."""
LIMITS = {"text": 200, "table": 40, "board": 40, "note": 4000, "why": 2000, "player": 80}
"""Characters that a field takes."""
SEATS = ("N", "E", "S", "W")
_LAST_PAGE = 1_000_000


@dataclass(frozen=True)
class Query:
    """What is looked for, as it was typed."""

    text: str = ""
    table: str = ""
    board: str = ""
    since: str = ""
    until: str = ""
    status: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether anything but words is looked for."""
        return any((self.table, self.board, self.since, self.until, self.status))

    def link(self, page: int) -> str:
        """The address of a page of the same list."""
        wanted = {name: value for name, value in asdict(replace(self, page=page)).items() if value}
        return f"/log?{urlencode(wanted)}"


def read_query(params: Mapping[str, str]) -> Query:
    """The query in an address; a page or a status that cannot be is none."""
    page = params.get("page", "")
    status = params.get("status", "")
    typed = {name: params.get(name, "").strip() for name in ("text", "table", "board", "since", "until")}
    return Query(
        **typed,
        status=status if status in get_args(Status) else "",
        page=min(max(int(page), 1), _LAST_PAGE) if page.isascii() and page.isdecimal() and len(page) < 8 else 1,  # noqa: PLR2004
    )


def find(log: Log, query: Query) -> tuple[Entry, ...]:
    """The rulings of a page of the list, and one more where there is a next page. Raises `Refused` for a bad field."""
    for name in ("text", "table", "board"):
        check_length(name, getattr(query, name))
    return log.find(
        text=query.text,
        table=query.table,
        board=query.board,
        since=_midnight(query.since, 0),
        until=_midnight(query.until, 1),
        status=query.status,
        limit=PAGE + 1,
        offset=PAGE * (query.page - 1),
    )


def check_length(name: str, value: str) -> str:
    """The value, if the field takes it. Raises `Refused`."""
    if len(value) > LIMITS[name]:
        raise Refused(422, "field_long", chars=len(value), limit=LIMITS[name])
    return value


def _midnight(day: str, days_later: int) -> datetime | None:
    """When a day begins on this machine's clock."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + timedelta(days=days_later), time()).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise Refused(422, "log_bad_date", day=day[:40]) from error


def list_html(log: Log, query: Query, lang: str, **values: Any) -> str:
    """The list. Raises `ContractError` when the log cannot be read, `Refused` for a bad field."""
    found = find(log, query)
    is_more = len(found) > PAGE
    return _list(query, lang, found[:PAGE], is_more, **values)


def empty_list_html(query: Query, lang: str, fault: str) -> str:
    """The form as it was filled in, with what is wrong."""
    return _list(query, lang, (), False, fault=fault)


def _list(query: Query, lang: str, found: Sequence[Entry], is_more: bool, **values: Any) -> str:
    return render(
        "log.html", lang, "log", is_wide=True, query=query, found=found, is_more=is_more, statuses=get_args(Status),
        limits=LIMITS, when=when, path=case_path, **values,
    )  # fmt: skip


def case_html(entries: Sequence[Entry], lang: str, keeps_names: bool, typed: Typed | None = None, **values: Any) -> str:
    """A case: its questions with rulings and revisions, and forms to correct it; ``typed`` is put back into them."""
    turns = turn_views(entries)
    latest = [turn.entry for turn in reversed(turns)]  # a later question may have been asked before the table was set
    known = {name: next(filter(None, (getattr(one, name) for one in latest)), "") for name in ("table", "board")}
    return render(
        "log_case.html", lang, "log", is_wide=True, turns=turns, case=latest[0].case, known=known,
        players=next(filter(None, (one.players for one in latest)), {}), seats=SEATS if keeps_names else (),
        typed=typed.fields if typed else {}, limits=LIMITS, when=when, path=case_path, text_of=strings, changes=changes,
        **values,
    )  # fmt: skip


def changes(before: Entry | None, after: Entry) -> tuple[str, ...]:
    """Names of the fields in which a revision differs from the one before it."""
    if before is None or before.ruling != after.ruling:
        return ("ruling",)
    names = ("table", "board", "note", "verdict", "why", "players")
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


def when(entry: Entry) -> str:
    """Date and time on this machine's clock, which is the club's."""
    return f"{datetime.fromisoformat(entry.time).astimezone():%Y-%m-%d %H:%M}"


def case_path(case: str, *more: str) -> str:
    """The address of a case's page, or of one below it; an imported case may be called anything."""
    return "/".join(("/log", quote(case, safe=""), *more))
