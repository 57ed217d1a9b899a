"""The pages of the ruling log: list, case, corrections, feedback, deletion, and files out and in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from index.errors import TablelawError
from rag.log import Log, UnknownCase, open_log
from rag.log_entry import Correction, Entry, Place
from rag.log_export import csv_lines, import_lines, json_lines
from rag.log_gold import gold_candidates
from rag.page.appeal import appeal_html
from rag.page.frame import Page, Refused, Typed, from_here, render, status_of, tell, typed, uploaded
from rag.page.log_view import SEATS, case_html, case_path, check_length, empty_list_html, list_html, read_query
from rag.page.settings import language_of
from rag.strings import strings

IMPORT_BYTES = 256_000_000
"""Largest export that can be uploaded; a larger one is imported at the command line."""
_TURN_DIGITS = 18
_SEE_OTHER = 303
Form = Annotated[Typed, Depends(typed)]


def log_router(
    delete: Callable[[str], bool], log: Callable[[], Log] = open_log, moved: Callable[[str, Place], None] | None = None
) -> APIRouter:
    """All routes of the log.

    ``delete`` deletes a case wherever it is kept, and gives whether it was there; ``moved`` is told where a whole case
    happened when that was corrected.
    """
    router = APIRouter(route_class=Page, include_in_schema=False)

    @router.get("/log")
    def rulings(request: Request) -> Response:
        """The list, newest first."""
        lang, query = language_of(request), read_query(request.query_params)
        try:
            return HTMLResponse(list_html(log(), query, lang, said=_said(request, lang)))
        except Refused as error:
            return HTMLResponse(empty_list_html(query, lang, tell(error, lang)), error.status)

    @router.get("/log.jsonl")
    def as_json(case: str | None = None) -> Response:
        """All entries, or those of a case, to keep and to import again."""
        return _download(json_lines(_entries(log(), case)), "tablelaw-log", case, "jsonl")

    @router.get("/log.csv")
    def as_csv(case: str | None = None) -> Response:
        """The same as a table."""
        return _download(csv_lines(_entries(log(), case)), "tablelaw-log", case, "csv")

    @router.get("/log-gold.jsonl")
    def as_gold(case: str | None = None) -> Response:
        """What there is feedback on, as candidates for the gold set."""
        opened = log()
        _entries(opened, case)
        return _download((f"{line}\n" for line in gold_candidates(opened, case)), "tablelaw-gold", case, "jsonl")

    @router.post("/log-import")
    async def bring_in(request: Request) -> Response:
        """Add an export to the log, all of it or nothing."""
        file = await uploaded(request, IMPORT_BYTES)
        try:
            added = await run_in_threadpool(lambda: import_lines(log(), file.file, file.filename or "export"))
        except TablelawError as error:
            raise Refused(422, "import_failed", reason=error) from error
        return RedirectResponse(f"/log?said=imported&count={added}", _SEE_OTHER)

    _add_case_pages(router, log, delete)
    _add_corrections(router, log, moved)
    return router


def _add_corrections(router: APIRouter, log: Callable[[], Log], moved: Callable[[str, Place], None] | None) -> None:
    @router.post("/log/{case:path}/correct")
    def correct(case: str, form: Form, request: Request) -> Response:
        """Set table, board, players and notes, each as new revisions where it changes something."""
        return _written(log(), case, form, request, _correction, moved)

    @router.post("/log/{case:path}/feedback")
    def feedback(case: str, form: Form, request: Request) -> Response:
        """Keep whether an answer was right, and why; an empty verdict takes it back."""
        return _written(log(), case, form, request, _feedback)


def _add_case_pages(router: APIRouter, log: Callable[[], Log], delete: Callable[[str], bool]) -> None:
    @router.get("/log/{case:path}/appeal")
    def appeal(case: str) -> Response:
        """The page to print for an appeals committee."""
        return HTMLResponse(appeal_html(log().case(case)))

    @router.get("/log/{case:path}/delete")
    def ask_first(case: str, request: Request) -> Response:
        """What would be deleted for good."""
        entries = log().case(case)
        questions = list(dict.fromkeys(entry.question for entry in entries))
        shown = {"case": case, "questions": questions, "revisions": len(entries), "path": case_path}
        return HTMLResponse(render("log_delete.html", language_of(request), "log", **shown))

    @router.post("/log/{case:path}/delete", dependencies=[Depends(from_here)])
    def forget(case: str) -> Response:
        """Delete a case for good."""
        if not delete(case):
            raise UnknownCase(f'The log has no case "{case[:60]}".')
        return RedirectResponse("/log?said=deleted", _SEE_OTHER)

    @router.get("/log/{case:path}")
    def one_case(case: str, request: Request) -> Response:
        """A case with all its questions and revisions."""
        lang, opened = language_of(request), log()
        keeps_names = opened.settings().keep_names
        return HTMLResponse(case_html(opened.case(case), lang, keeps_names, said=_said(request, lang)))


def _written(
    log: Log,
    case: str,
    form: Typed,
    request: Request,
    read: Callable[[Typed], Correction],
    moved: Callable[[str, Place], None] | None = None,
) -> Response:
    """Write what was typed; where that fails on a page, show it again with what was typed and the reason."""
    lang = language_of(request)
    try:
        entries = [log.correct(case, turn, read(form)) for turn in _turns(log, case, form)]
    except UnknownCase:
        raise
    except TablelawError as error:
        if form.is_json:
            raise
        page = case_html(log.case(case), lang, log.settings().keep_names, form, fault=tell(error, lang))
        return HTMLResponse(page, status_of(error))
    if moved and not form.get("turn") and {"table", "board"} & form.fields.keys():
        moved(case, Place(entries[-1].table, entries[-1].board))
    if form.is_json:
        return JSONResponse({"case": case, "turns": [_brief(entry) for entry in entries]})
    place = f"#turn-{entries[0].turn}" if form.get("turn") else ""
    return RedirectResponse(f"{case_path(case)}?said=saved{place}", _SEE_OTHER)


def _turns(log: Log, case: str, form: Typed) -> tuple[int, ...]:
    """The question that a form names, or all of the case."""
    turn = form.get("turn")
    if not turn:
        return tuple(dict.fromkeys(entry.turn for entry in log.case(case)))
    if not (turn.isascii() and turn.isdecimal() and len(turn) <= _TURN_DIGITS):
        raise UnknownCase(f'The log has no question "{turn[:20]}".')
    return (int(turn),)


def _correction(form: Typed) -> Correction:
    fields: dict[str, Any] = {
        name: check_length(name, form.get(name)) for name in ("table", "board", "note") if name in form.fields
    }
    players = {seat: check_length("player", form.get(f"player_{seat}")) for seat in SEATS if f"player_{seat}" in form.fields}
    named = {seat: name for seat, name in players.items() if name.strip()}
    return Correction(**fields, players=named if players else None)


def _feedback(form: Typed) -> Correction:
    if form.get("verdict") not in {"", "right", "wrong"}:
        raise Refused(422, "feedback_verdict")
    if not form.get("turn"):
        raise UnknownCase("Feedback names the question that it is about.")
    why = check_length("why", form.get("why")) if form.get("verdict") else ""
    return Correction(verdict=form.get("verdict"), why=why)  # type: ignore[arg-type]


def _brief(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("turn", "revision", "table", "board", "note", "verdict", "why")}


def _entries(log: Log, case: str | None) -> Iterable[Entry]:
    return log.entries() if case is None else log.case(case)


def _download(lines: Iterable[str], name: str, case: str | None, ending: str) -> Response:
    kinds = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
    whole = f"{name}-{case}.{ending}" if case else f"{name}.{ending}"
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(whole, safe='')}"}
    return StreamingResponse(lines, media_type=kinds[ending], headers=headers)


def _said(request: Request, lang: str) -> str:
    """What was done just before, as the address says; nothing of it is shown but our own words and a number."""
    text, said, count = strings(lang), request.query_params.get("said", ""), request.query_params.get("count", "")
    if said == "imported" and count.isascii() and count.isdecimal() and len(count) <= _TURN_DIGITS:
        return text["log_said_imported"].format(count=count)
    return text[f"log_said_{said}"] if said in {"saved", "deleted"} else ""
