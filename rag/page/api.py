"""The API for programs, under ``/api/``: what the command line gives with ``--json``. Described in ``API.md``."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from index.books import list_books
from index.errors import BackendError, BookError, ContractError, IndexFault, ModelError, TablelawError, UnknownClause
from rag.desk import Ask
from rag.page.api_models import Answer, AskIn, BookOut, Branch, Error, Found, ProcedureRow, RuleIn
from rag.procedure import Procedure, read_procedures
from rag.programs import Busy, Programs, books_json, law_json, procedure_json, procedures_json, rule_json
from rag.ruling import state_from_json

_RETRY_SECONDS = 5
_NOT_OURS = (ModelError, BackendError, IndexFault, BookError)
"""Faults of this machine, not of what was asked."""
T = TypeVar("T")


class UnknownName(ContractError):
    """There is no such procedure, book or path."""


class SentenceRoute(APIRoute):
    """A route whose errors are ``{"error": one sentence}``."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """The route's handler, with errors told."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except RequestValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"][1:])) or str(first["loc"][0])
                return _error(
                    ContractError(f"The request is not of the right form ({place}: {first['msg']}); see /api/openapi.json.")
                )
            except HTTPException as error:  # fastapi's own, when it cannot read a body at all
                return _error(ContractError(f"The request cannot be read ({error.detail}); see /api/openapi.json."))
            except TablelawError as error:
                return _error(error)

        return handle


def add_api(app: FastAPI, programs: Programs) -> None:
    """Add the routes; whatever else is asked for under ``/api/`` is told so."""
    errors: dict[int | str, dict[str, Any]] = {
        "4XX": {"model": Error, "description": "400: the request is wrong; 404: there is no such thing; 413: it is too long"},
        503: {"model": Error, "description": "Not now: the models are being loaded, or too much is asked at once"},
    }
    router = APIRouter(prefix="/api", tags=["api"], route_class=SentenceRoute, responses=errors)
    _add_questions(router, programs)
    _add_books(router, programs)
    _add_procedures(router)

    @router.api_route("/{rest:path}", methods=["GET", "POST", "PUT", "DELETE", "PATCH"], include_in_schema=False)
    def nothing(rest: str, request: Request) -> Response:
        raise UnknownName(f"There is no {request.method} /api/{rest[:60]}; see /api/openapi.json.")

    app.include_router(router)


def _add_questions(router: APIRouter, programs: Programs) -> None:
    @router.post("/ask", responses={200: {"model": Answer}})
    async def ask(given: AskIn, request: Request) -> Response:
        """What the law says: a ruling, a question back, or the law quoted. It is kept in no log."""
        _check_book(given.book)
        state = state_from_json(given.state) if given.state is not None else None
        facts = {name: str(value) for name, value in given.facts.items()}
        asked = Ask(given.question, given.book, given.lang, facts, state)
        found = await _while_connected(request, in_thread(lambda stop: programs.ask(asked, given.llm, stop)))
        return JSONResponse(found) if found else Response(status_code=503)

    @router.get("/search", responses={200: {"model": Found}})
    def search(
        q: Annotated[str, Query(description="What happened, or what is looked for.")],
        k: Annotated[int, Query(ge=1, le=100, description="Clauses to give.")] = 10,
        book: Annotated[str | None, Query(description="Law book (default: the one that is served).")] = None,
        lang: Annotated[str, Query(description="Language of the question: en, ru or auto.")] = "auto",
    ) -> Response:
        """Search the clauses of a book."""
        _check_book(book)
        return JSONResponse(programs.search(Ask(q, book, lang), k))


def _add_books(router: APIRouter, programs: Programs) -> None:
    @router.get("/law/{clause:path}", responses={200: {"model": Branch}})
    def law(clause: str, book: Annotated[str | None, Query(description="Law book.")] = None) -> Response:
        """A Law or one clause with all below it; ids as people write them: 27B1, Def:revoke, 41A%23fn."""
        _check_book(book)
        return JSONResponse(law_json(clause, book or programs.book))

    @router.get("/books", responses={200: {"model": list[BookOut]}})
    def books() -> Response:
        """The books on this machine."""
        return JSONResponse(books_json())


def _add_procedures(router: APIRouter) -> None:
    @router.get("/procedures", responses={200: {"model": list[ProcedureRow]}})
    def procedures() -> Response:
        """The procedures and the Laws they rule by."""
        return JSONResponse(procedures_json())

    @router.get("/procedures/{procedure}", responses={200: {"model": Procedure}})
    def procedure(procedure: str) -> Response:
        """A procedure whole: its nodes with the facts they ask, and what its leaves rule."""
        _check_procedure(procedure)
        return JSONResponse(procedure_json(procedure))

    @router.post("/rule/{procedure}", responses={200: {"model": Answer}})
    def rule(procedure: str, given: RuleIn) -> Response:
        """Rule by a procedure, or say which fact must be known first."""
        _check_procedure(procedure)
        return JSONResponse(rule_json(procedure, {name: str(value) for name, value in given.facts.items()}, given.lang))


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Do the work in a thread; its event is set when nobody waits for it any more."""
    stop = threading.Event()
    try:
        return await to_thread.run_sync(work, stop, abandon_on_cancel=True)
    finally:
        stop.set()


async def _while_connected(request: Request, work: Awaitable[T]) -> T | None:
    """The result of the work; ``None`` when the caller went away before.

    It waits to be told, as Starlette's own streams do: behind its middlewares ``request.is_disconnected`` may miss it.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # the body is read already


def _check_book(book: str | None) -> None:
    """An unknown book is the caller's mistake; one that is damaged is not, and is found out when it is read."""
    if book is not None and book not in list_books():
        raise UnknownName(f'There is no book "{book[:40]}"; see: /api/books')


def _check_procedure(procedure: str) -> None:
    if procedure not in read_procedures():
        raise UnknownName(f'There is no procedure "{procedure[:40]}"; see: /api/procedures')


def _error(error: TablelawError) -> Response:
    if isinstance(error, _NOT_OURS):
        headers = {"Retry-After": str(_RETRY_SECONDS)} if isinstance(error, Busy) else None
        return JSONResponse({"error": str(error)}, 503, headers)
    return JSONResponse({"error": str(error)}, 404 if isinstance(error, UnknownName | UnknownClause) else 400)
