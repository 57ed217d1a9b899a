"""The page of the settings: those of this device, the event's regulations, and what the log keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError

from index.books import read_book
from index.errors import ContractError, TablelawError
from rag.event import Event, read_event, write_event
from rag.log import Log, LogSettings, open_log
from rag.page.frame import Page, Refused, Typed, render, status_of, tell, typed
from rag.page.settings import allowed, choose, keep_settings, language_of, read_settings
from rag.strings import languages, strings

_SEE_OTHER = 303
_DAY_DIGITS = 5
Form = Annotated[Typed, Depends(typed)]


@dataclass(frozen=True)
class Faults:
    """What is wrong with the event's regulations or the log, and what was typed there, to be shown again."""

    event: str = ""
    log: str = ""
    typed: Mapping[str, str] | None = None


def settings_router(book: str, log: Callable[[], Log] = open_log) -> APIRouter:
    """All routes of the settings; ``book`` is the one that is served."""
    router = APIRouter(route_class=Page, include_in_schema=False)

    @router.get("/settings")
    def shown(request: Request) -> Response:
        """The settings as they are."""
        lang = language_of(request)
        said = strings(lang)["settings_said"] if request.query_params.get("said") == "saved" else ""
        return HTMLResponse(_html(request, book, log, Faults(), said))

    @router.post("/settings/device")
    def keep_device(form: Form, request: Request) -> Response:
        """Keep the choices of this device in its cookies."""
        response = _saved()
        keep_settings(response, choose(read_settings(request.cookies), form.fields), request.url.scheme == "https")
        return response

    @router.post("/settings/event")
    def keep_event(form: Form, request: Request) -> Response:
        """Write ``event.yaml``; a damaged one is replaced."""
        try:
            write_event(_event(form))
        except TablelawError as error:
            faults = Faults(event=tell(error, language_of(request)), typed=form.fields)
            return HTMLResponse(_html(request, book, log, faults), status_of(error))
        return _saved()

    @router.post("/settings/log")
    def keep_log(form: Form, request: Request) -> Response:
        """Change what the log keeps from now on."""
        try:
            log().set_settings(LogSettings(form.get("keep_names") == "yes", _days(form.get("retention_days").strip())))
        except TablelawError as error:
            faults = Faults(log=tell(error, language_of(request)), typed=form.fields)
            return HTMLResponse(_html(request, book, log, faults), status_of(error))
        return _saved()

    return router


def _saved() -> Response:
    return RedirectResponse("/settings?said=saved", _SEE_OTHER)


def _html(request: Request, book: str, log: Callable[[], Log], faults: Faults, said: str = "") -> str:
    lang, device = language_of(request), read_settings(request.cookies)
    event, event_fault = _event_fields()
    kept, log_fault = _log_fields(log)
    if faults.event and faults.typed is not None:
        event |= {name: faults.typed.get(name, "") for name in event}
    if faults.log and faults.typed is not None:
        kept = {name: faults.typed.get(name, "") for name in kept}
    return render(
        "settings.html",
        lang,
        "settings",
        said=said,
        device=device,
        book=device.book or book,
        books=[(one, read_book(one).title) for one in dict.fromkeys((book, *allowed("book"))) if one],
        languages=[(code, strings(code)["language_name"]) for code in languages()],
        event=event,
        event_fault=faults.event or event_fault,
        log=kept,
        log_fault=faults.log or log_fault,
    )


def _event_fields() -> tuple[dict[str, str], str]:
    """The regulations as the form shows them, and what is wrong with the file that holds them."""
    try:
        event, fault = read_event(), ""
    except ContractError as error:
        event, fault = Event(), str(error)
    return {name: "" if value is None else str(value) for name, value in event.model_dump().items()}, fault


def _log_fields(log: Callable[[], Log]) -> tuple[dict[str, Any], str]:
    try:
        found, fault = log().settings(), ""
    except ContractError as error:
        found, fault = LogSettings(), str(error)
    days = "" if found.retention_days is None else str(found.retention_days)
    return {"keep_names": "yes" if found.keep_names else "", "retention_days": days}, fault


def _event(form: Typed) -> Event:
    """The regulations that were typed; empty: ask the organiser. Raises `Refused`."""
    told = {name: " ".join(form.get(name).split()) for name in Event.model_fields}
    try:
        return Event.model_validate({name: value or None for name, value in told.items()})
    except ValidationError as error:
        setting = str(error.errors()[0]["loc"][0])
        raise Refused(422, f"event_bad_{setting}") from error


def _days(text: str) -> int | None:
    """Days to keep a case; empty: for ever. Raises `Refused`."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _DAY_DIGITS and int(text) > 0):
        raise Refused(422, "settings_bad_days")
    return int(text)
