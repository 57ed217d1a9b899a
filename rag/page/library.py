"""The law book on the page: contents, look-up, a law with what stands beside it, and procedures to walk through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.background import BackgroundTask

from index.books import DEFAULT_BOOK, list_books, read_book
from index.errors import BookError, TablelawError, UnknownClause
from index.types import Book
from index.wording import find_shown
from rag.page.contents import chapters
from rag.page.law_page import law_page
from rag.page.library_frame import fragment, page
from rag.page.lookup import LONGEST, look_up, warm
from rag.page.render import law_html
from rag.page.settings import language_of
from rag.page.walk import grouped, haystack, matching, walk_through
from rag.procedure import read_procedures
from rag.programs import branch_json
from rag.strings import authority, strings

PANEL_HEADER = "X-Tablelaw-Panel"
"""Sent by the page's script, which shows a clause in a panel and needs no page around it."""
NOT_FOUND = 404
BAD_REQUEST = 400


def add_library(app: FastAPI, book: str) -> None:
    """Add the routes of the law book and of the procedures; ``book`` is the one shown unless another is named."""
    router = APIRouter()
    _add_book(router, book)
    _add_law(router, book)
    _add_procedures(router)
    app.include_router(router)


def _add_book(router: APIRouter, default: str) -> None:
    @router.get("/book/find")
    def find(request: Request, q: str = "", book: str = default) -> Response:
        """What a number or words lead to, as a part of the page."""
        lang = language_of(request)
        return _with_book(book, lang, lambda found: HTMLResponse(fragment("find.html", lang, **_finding(found, q, lang))))

    @router.get("/book/side")
    def side(request: Request, book: str = default) -> Response:
        """The look-up and a place for clauses, beside the chat."""
        lang = language_of(request)
        return _with_book(book, lang, lambda found: _warmed(fragment("side.html", lang, book=found, q=""), found))

    @router.get("/book/keys")
    def keys(request: Request) -> Response:
        """The list of keyboard short cuts."""
        return HTMLResponse(fragment("keys.html", language_of(request)))

    @router.get("/book")
    @router.get("/book/{book}")
    def contents(request: Request, book: str = default, q: str = "") -> Response:
        """The contents of a book by chapters, with look-up."""
        lang = language_of(request)

        def whole(found: Book) -> Response:
            made = page("book.html", lang, books=_books(), chapters=chapters(found), **_finding(found, q, lang))
            return _warmed(made, found)

        return _with_book(book, lang, whole)


def _add_law(router: APIRouter, default: str) -> None:
    @router.get("/law/{clause_id:path}")
    def law(clause_id: str, request: Request, book: str = default) -> Response:
        """A clause as a page, as a panel of the page, or as JSON, by what the caller accepts; ``?book=`` names another book."""
        accept = request.headers.get("accept", "")
        wants_json = "application/json" in accept and "text/html" not in accept
        is_panel = PANEL_HEADER in request.headers
        lang = language_of(request)
        response: Response
        try:
            law = find_shown(read_book(book), clause_id)
        except (UnknownClause, BookError) as error:
            told = _told(error, clause_id, lang)
            response = JSONResponse({"error": str(error)}) if wants_json else _fault(told, lang, is_panel)
            response.status_code = 500 if isinstance(error, BookError) and book in list_books() else NOT_FOUND
        else:
            if wants_json:
                response = JSONResponse(branch_json(law.book, law.clause.id))
            else:
                response = HTMLResponse(law_html(law, lang) if is_panel else law_page(law, lang))
        response.headers["Vary"] = f"Accept, Accept-Language, Cookie, {PANEL_HEADER}"
        return response


def _add_procedures(router: APIRouter) -> None:
    @router.get("/procedures")
    def procedures(request: Request, q: str = "") -> Response:
        """All procedures, or those that have the words."""
        return HTMLResponse(_listed(language_of(request), q[:LONGEST]))

    @router.get("/procedure/{name}")
    def procedure(name: str, request: Request) -> Response:
        """A procedure as a walk; a short form (``revoke``) leads to the only one that it fits, or lists those that it does."""
        lang = language_of(request)
        if name not in read_procedures():
            fitting = matching(name[:LONGEST])
            if len(fitting) == 1:
                query = f"?{request.url.query}" if request.url.query else ""
                return RedirectResponse(f"/procedure/{quote(fitting[0].id)}{query}")
            return HTMLResponse(_listed(lang, name[:LONGEST]), 200 if fitting else NOT_FOUND)
        walked = walk_through(name, request.query_params.multi_items(), lang)
        laws = read_book(DEFAULT_BOOK)  # to_ruling cites it
        line = authority(lang, walked.procedure.edition, laws.wording)
        return HTMLResponse(page("walk.html", lang, walk=walked, book=laws, authority=line),
                            BAD_REQUEST if walked.refused else 200)  # fmt: skip


def _listed(lang: str, q: str) -> str:
    """The list of procedures; with words that none has, all of them and a sentence that says so."""
    fitting = matching(q)
    return page("procedures.html", lang, groups=grouped(fitting or read_procedures().values()), q=q, is_missed=not fitting,
                haystack=haystack)  # fmt: skip


def _finding(book: Book, q: str, lang: str) -> dict[str, Any]:
    """What the templates need of a look-up."""
    found = look_up(book, q)
    text = strings(lang)
    said = text["find_count"].format(count=len(found)) if found else text["find_nothing"].format(words=q[:LONGEST].strip())
    return {"book": book, "q": q[:LONGEST], "found": found, "said": said if q.strip() else ""}


def _with_book(book: str, lang: str, show: Callable[[Book], Response]) -> Response:
    try:
        return show(read_book(book))
    except BookError as error:
        response = _fault(str(error), lang, is_panel=False)
        response.status_code = 500 if book in list_books() else NOT_FOUND
        return response


def _warmed(made: str, book: Book) -> Response:
    """A page from which somebody will look up something: the first letter must not wait for the word index."""
    return HTMLResponse(made, background=BackgroundTask(warm, book))


def _told(error: TablelawError, clause_id: str, lang: str) -> str:
    """An error in the language of the page, where there are words for it."""
    return strings(lang)["no_clause"].format(what=clause_id[:LONGEST]) if isinstance(error, UnknownClause) else str(error)


def _fault(message: str, lang: str, is_panel: bool) -> Response:
    """A sentence that says what is wrong, with the way to the contents."""
    made = fragment("fault_panel.html", lang, message=message) if is_panel else page("fault.html", lang, message=message)
    return HTMLResponse(made)


def _books() -> list[Book]:
    """The books that can be read; one that is damaged is told of when it is opened by name."""
    found = []
    for book_id in list_books():
        try:
            found.append(read_book(book_id))
        except BookError:
            continue
    return found
