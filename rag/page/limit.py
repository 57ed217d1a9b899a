"""How much may be sent to what programs use: read up to a limit, before anything looks into it."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API_BYTES = 1024 * 1024
"""Longest request to the API and to MCP: a question is a page of text, and a case carries all of its own."""
LIMITED = ("/api/", "/mcp")


async def read_whole(receive: Receive, limit: int) -> bytes | None:
    """The body of a request; ``None`` when it is longer than ``limit``, or its sender has gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return body


class BodyLimit:
    """ASGI middleware: what is too long is answered with 413 and one sentence."""

    def __init__(self, app: ASGIApp, limit: int = API_BYTES) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; others than those of programs pass as they are."""
        if scope["type"] != "http" or not scope["path"].startswith(LIMITED):
            await self._app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "0")
        is_long = told.isdecimal() and len(told) < 20 and int(told) > self._limit  # noqa: PLR2004 - digits of any real length
        body = None if is_long else await read_whole(receive, self._limit)
        if body is None:
            sentence = f"The request is longer than {self._limit:,} bytes; send one question and its case."
            await JSONResponse({"error": sentence}, 413)(scope, receive, send)
            return
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        await self._app(scope, replay, send)
