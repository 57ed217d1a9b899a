"""The phone's routes beside the page: tiles, recent cases, where a case happened, what was promised, what is shown now.

Every route speaks for the device whose cookie it is asked with, and of that device's own cases alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from index.books import DEFAULT_BOOK, EDITION_IN_FORCE, read_book
from index.errors import TablelawError
from index.lessons import IRREGULARITY
from rag.cases import Case, Cases
from rag.log_entry import Place
from rag.page.promises import promises_of
from rag.page.render import templates, version_of
from rag.page.settings import language_of, read_settings
from rag.page.tiles import question_of
from rag.running import Running
from rag.strings import languages, strings

PLACE_CHARS = 20
"""A table or a board longer than this is none."""
FIRST_WORDS = 80
"""Characters of a case's question in the list."""
DONE = 204
FORBIDDEN = 403
NOT_FOUND = 404
NOT_UNDERSTOOD = 422
FAILED = 500
_NOT_KEPT = {"Cache-Control": "no-store"}


@dataclass(frozen=True)
class _TileTapped:
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    irregularity: str


@dataclass(frozen=True)
class _CaseTapped:
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    case: str


@dataclass(frozen=True)
class _PlaceTold:
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    case: str
    table: Annotated[str, Field(max_length=1000)]
    board: Annotated[str, Field(max_length=1000)]


@dataclass(frozen=True)
class _PromiseTicked:
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    case: str
    text: str
    kept: bool


@dataclass(frozen=True)
class CaseLine:
    """A case in the list: where, its first words, how it stands (a key of the strings), when it was last asked about."""

    id: str
    place: Place
    words: str
    status: str
    asked: str
    is_shown: bool


@dataclass(frozen=True)
class _Asker:
    """Who asks: a device, in a language."""

    device: str
    lang: str
    uses_model: bool


class _TooLong(Exception):
    """A table or a board that is none."""


def phone_router(running: Running, book: str, device_cookie: str) -> APIRouter:
    """The routes under ``/cases``."""
    router = APIRouter(prefix="/cases", include_in_schema=False)

    def asker_of(request: Request) -> _Asker:
        return _Asker(request.cookies.get(device_cookie, ""), _lang(request), read_settings(request.cookies).uses_model)

    @router.get("/now")
    def now(request: Request) -> Response:
        """The version of what the device shows."""
        case = next(running.watch(asker_of(request).device))
        return JSONResponse({"version": version_of(case)}, headers=_NOT_KEPT)

    @router.get("/lists")
    def lists(request: Request) -> Response:
        """The bar with its counts, the recent cases, and the come back list, as HTML."""
        return HTMLResponse(_lists_html(running.cases, asker_of(request)), headers=_NOT_KEPT)

    def add(path: str, kind: type[Any], act: Callable[[_Asker, Any], bool], missing: str) -> None:
        async def post(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(_done, asker_of(request), kind, body, act, missing)

        router.add_api_route(path, post, methods=["POST"], name=path.strip("/"))

    add("/tile", _TileTapped, lambda who, body: _start(running, book, who, body), "phone_no_tile")
    add("/show", _CaseTapped, lambda who, body: running.show(who.device, body.case), "phone_no_case")
    add("/place", _PlaceTold, lambda who, body: _set_place(running, who, body), "phone_no_case")
    add("/kept", _PromiseTicked, lambda who, body: _tick(running.cases, who, body), "phone_no_case")
    return router


def _done(who: _Asker, kind: type[Any], body: bytes, act: Callable[[_Asker, Any], bool], missing: str) -> Response:
    """Read the body, act on it, and say in one sentence what is wrong if something is; ``missing``: what is not there."""
    text = strings(who.lang)
    if not who.device:  # cases of nobody would be everybody's
        return JSONResponse({"error": text["phone_no_device"]}, FORBIDDEN)
    try:
        is_done = act(who, TypeAdapter(kind).validate_json(body))
    except ValidationError:
        return JSONResponse({"error": text["phone_not_understood"]}, NOT_UNDERSTOOD)
    except _TooLong:
        return JSONResponse({"error": text["phone_place_long"].format(limit=PLACE_CHARS)}, NOT_UNDERSTOOD)
    except TablelawError as error:
        return JSONResponse({"error": str(error)}, FAILED)
    return Response(status_code=DONE) if is_done else JSONResponse({"error": text[missing]}, NOT_FOUND)


def _start(running: Running, book: str, who: _Asker, body: _TileTapped) -> bool:
    """Start a case with its irregularity given."""
    question = question_of(body.irregularity, who.lang)
    if question is None:
        return False
    given = {IRREGULARITY: body.irregularity}
    running.start(who.device, question, False, _book_in_force(book), given, who.uses_model)
    return True


def _set_place(running: Running, who: _Asker, body: _PlaceTold) -> bool:
    told = Place(" ".join(body.table.split()), " ".join(body.board.split()))
    if max(map(len, (told.table, told.board))) > PLACE_CHARS:
        raise _TooLong
    return running.set_place(who.device, body.case, told)


def _tick(cases: Cases, who: _Asker, body: _PromiseTicked) -> bool:
    """Tick a promise off, or take the tick back."""
    is_made = any((one.case, one.text) == (body.case, body.text) for one in promises_of(cases, who.device))
    return is_made and cases.set_kept(who.device, body.case, body.text, body.kept)


def _lists_html(cases: Cases, who: _Asker) -> str:
    shown, promises = cases.shown(who.device), promises_of(cases, who.device)
    lines = [_line(case, bool(shown and case.id == shown.id)) for case in cases.recent(who.device)]
    due = sum(not promise.is_kept for promise in promises)
    page = templates().get_template("phone.html")
    return page.render(text=strings(who.lang), cases=lines, promises=promises, due=due)


def _line(case: Case, is_shown: bool) -> CaseLine:
    first, last = case.turns[0], case.turns[-1]
    status = "phone_answering"
    if last.done:
        status = f"status_{last.ruling['status']}" if last.ruling else "phone_no_answer"
    words = first.question if len(first.question) <= FIRST_WORDS else f"{first.question[:FIRST_WORDS].rstrip()} …"
    return CaseLine(case.id, case.place, words, status, last.asked, is_shown)


def _book_in_force(book: str) -> str:
    """The book served, where procedures rule by its edition; else the one they were made for."""
    return book if read_book(book).edition == EDITION_IN_FORCE else DEFAULT_BOOK


def _lang(request: Request) -> str:
    """The language that the page is shown in, as it says; else that of the device."""
    asked = request.query_params.get("lang", "")
    return asked if asked in languages() else language_of(request)
