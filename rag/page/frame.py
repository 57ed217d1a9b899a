"""Pages of our own around the main one: their frame, the forms they take, and how a fault is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from index.errors import TablelawError
from rag.log import UnknownCase
from rag.page.render import css, look_script, templates
from rag.page.settings import language_of
from rag.strings import strings

FORM_BYTES = 100_000
"""Largest form but for an uploaded file."""


class Refused(TablelawError):
    """What a page does not take: ``key`` names the sentence in the string files, ``status`` is HTTP's."""

    def __init__(self, status: int, key: str, **values: Any) -> None:
        super().__init__(strings("en")[key].format(**values))
        self.status, self.key, self.values = status, key, values


@dataclass(frozen=True)
class Typed:
    """What came with a form or as JSON: its fields, and whether a program sent it."""

    fields: Mapping[str, str]
    is_json: bool

    def get(self, name: str) -> str:
        """A field, or nothing."""
        return self.fields.get(name, "")


def render(template: str, lang: str, here: str, **values: Any) -> str:
    """A page in the frame; ``here`` is the place in the navigation."""
    frame = {"said": "", "fault": "", "is_wide": False, "css": css(), "look": look_script()}
    return templates().get_template(template).render(**{**frame, **values}, lang=lang, text=strings(lang), here=here)


def tell(error: TablelawError, lang: str) -> str:
    """An error in the language of the page, where there are words for it."""
    if isinstance(error, Refused):
        return strings(lang)[error.key].format(**error.values)
    return strings(lang)["log_unknown"] if isinstance(error, UnknownCase) else str(error)


def status_of(error: TablelawError) -> int:
    """HTTP's number for an error: what is asked for is not there, cannot be taken, or cannot be done just now."""
    if isinstance(error, Refused):
        return error.status
    return 404 if isinstance(error, UnknownCase) else 503


class Page(APIRoute):
    """A route that tells an error in one sentence: on a page, or as JSON to a program."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the errors that people see caught."""
        handle = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await handle(request)
            except TablelawError as error:
                return fault_page(request, error)

        return told


def fault_page(request: Request, error: TablelawError) -> Response:
    """The sentence and a way back."""
    lang, status = language_of(request), status_of(error)
    if _is_program(request):
        return JSONResponse({"error": tell(error, lang)}, status)
    here = "settings" if request.url.path.startswith("/settings") else "log"
    return HTMLResponse(render("message.html", lang, here, reason=tell(error, lang), back=f"/{here}"), status)


def _is_program(request: Request) -> bool:
    """Whether JSON is sent, or asked for and no page."""
    accept = request.headers.get("accept", "")
    return _sends_json(request) or ("application/json" in accept and "text/html" not in accept)


def _sends_json(request: Request) -> bool:
    return request.headers.get("content-type", "").split(";")[0] == "application/json"


def from_here(request: Request) -> None:
    """Raises `Refused` for a form that another site sent in the name of this device.

    A browser names the page's site in ``Origin`` whatever the method is; programs send neither header.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site not in {None, "same-origin"} or (origin is not None and urlsplit(origin).netloc != request.headers.get("host")):
        raise Refused(403, "form_elsewhere")


async def typed(request: Request) -> Typed:
    """The fields of a form or of a JSON object. Raises `Refused` for what is neither, too long, or from another site."""
    from_here(request)
    _check_length(request, FORM_BYTES)
    is_json = _sends_json(request)
    try:
        data = json.loads(await request.body()) if is_json else dict(await request.form())
        fields = {str(name): _whole(str(value)) for name, value in data.items() if value is not None}
    except (ValueError, AttributeError, RecursionError, HTTPException) as error:
        raise Refused(400, "form_unreadable") from error
    return Typed(fields, is_json)


def _whole(text: str) -> str:
    """Typed text without half characters, which no page can show."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def uploaded(request: Request, limit: int) -> UploadFile:
    """The file of an upload form. Raises `Refused` where there is none, or more than ``limit`` bytes."""
    from_here(request)
    _check_length(request, limit)
    try:
        file = (await request.form()).get("file")
    except HTTPException as error:
        raise Refused(400, "form_unreadable") from error
    if not isinstance(file, UploadFile) or not file.size:
        raise Refused(400, "import_none")
    return file


def _check_length(request: Request, limit: int) -> None:
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > limit:
        raise Refused(413, "form_long", limit=f"{limit / 1_000_000:g}")
