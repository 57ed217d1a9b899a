"""The guard before every path (page, API, Gradio's routes, files, MCP, websockets): hosts, origins, and on a network the PIN.

Pure ASGI around the whole app, so that no route can be forgotten. What it refuses, it answers itself, in one sentence.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import Self

from rag.page import lan as network
from rag.page.devices import KEPT_DAYS
from rag.page.lan import PIN_DIGITS, Lan
from rag.page.limit import read_whole
from rag.page.render import FOLDER, templates
from rag.page.settings import language_of
from rag.strings import strings

TOKEN_COOKIE = "tablelaw_key"  # noqa: S105 - a name
PIN_PATH, JOIN_PATH = "/pin", "/join"
_FORM_BYTES = 4096
_SAFE = ("GET", "HEAD")
_REFUSED = 1008
"""Close code of a websocket: against the rules of the server."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FORWARDED = ("forwarded", "via", "client-ip", "x-client-ip", "x-real-ip", "x-host", "true-client-ip", "cf-connecting-ip")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Host:
    """A name or address and a port, as a browser writes them."""

    name: str
    port: int | None

    @classmethod
    def read(cls, text: str) -> Self | None:
        """``name``, ``name:port`` or ``[address]:port``; ``None`` for anything else."""
        try:
            parts = urlsplit(f"//{text}")
            name, port = parts.hostname, parts.port
        except ValueError:
            return None
        if not name or parts.netloc != text or "@" in text or text != text.strip():
            return None
        return cls(name.rstrip("."), port)


@dataclass(frozen=True)
class Refusal:
    """Why somebody is not let in: the HTTP status, and the sentence by its key in the string files."""

    status: int
    key: str
    wait: int = 0


class Guard:
    """Lets through whom it may, and answers all others. Without ``lan`` this machine alone is served, and needs no PIN."""

    def __init__(self, app: ASGIApp, lan: Lan | None = None) -> None:
        self._app = app
        self._lan = lan

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, websocket, or the start and end of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asks = HTTPConnection(scope)
        answer = await self._answer(asks, receive)
        if answer is None:
            # Nobody behind the guard reads a forwarded host or address: anybody can write one.
            kept = [(name, value) for name, value in scope["headers"] if not _is_forwarded(name.decode("latin-1"))]
            await self._app({**scope, "headers": kept}, receive, send)
        elif scope["type"] == "http":
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _REFUSED})

    async def _answer(self, asks: HTTPConnection, receive: Receive) -> Response | None:
        """What the guard answers itself; ``None`` for whom it lets through."""
        if refusal := self._refusal(asks):
            return _refuse(asks, refusal)
        path, is_http = asks.scope["path"], asks.scope["type"] == "http"
        if path == JOIN_PATH and is_http:
            return self._join(asks)
        if self._lan is None:
            return None
        is_known = is_here(asks) or self._lan.devices.knows(_token(asks))
        if path == PIN_PATH and is_http:
            return await self._pin(self._lan, Request(asks.scope, receive), is_known)
        return None if is_known else _ask(asks, Refusal(401, "pin_needed"), _target(asks))

    def _refusal(self, asks: HTTPConnection) -> Refusal | None:
        """Why nobody at all is answered who asks like this, PIN or not."""
        host = self._host(asks.headers)
        if host is None:
            return Refusal(400, "guard_host")
        if not _is_near(asks):
            return Refusal(403, "guard_far")
        return Refusal(403, "guard_origin") if _is_foreign(asks, host) else None

    def _host(self, headers: Headers) -> Host | None:
        """The host asked for, when it is one of ours: another name that leads here is a trick (DNS rebinding)."""
        given = headers.getlist("host")
        host = Host.read(given[0].lower()) if len(given) == 1 else None
        ours = self._lan.hosts() if self._lan else network.LOOPBACK_HOSTS
        if host and (host.name in ours or f"*.{host.name.partition('.')[2]}" in ours):
            return host
        return None

    def _join(self, asks: HTTPConnection) -> Response:
        """The QR codes and the PIN, for the laptop's own screen."""
        if not is_here(asks):
            return _refuse(asks, Refusal(403, "join_elsewhere"))
        if self._lan is None:
            return _refuse(asks, Refusal(404, "join_not_open"))
        return _page(asks, "join.html", 200, codes=self._lan.codes(), pin=self._lan.spoken_pin, scheme=self._lan.scheme)

    async def _pin(self, lan: Lan, request: Request, is_known: bool) -> Response:
        """The page that asks for the PIN, and what becomes of it."""
        if request.method in _SAFE:
            return RedirectResponse("/", 303) if is_known else _ask(request, None, "/")
        if request.method != "POST":
            return _refuse(request, Refusal(405, "pin_needed"))
        body = await read_whole(request.receive, _FORM_BYTES)
        form = _form(body) if body is not None else {}
        target = _inside(form.get("next", "/"))
        pin = "".join(char for char in form.get("pin", "") if not char.isspace() and char != "-")
        if len(pin) != PIN_DIGITS or not (pin.isascii() and pin.isdigit()):  # no guess, for it cannot be right
            return _ask(request, Refusal(400, "pin_form"), target)
        address = _address(request)
        if wait := lan.guesses.wait(address):  # not even compared, so that waiting tells nothing
            return _ask(request, Refusal(429, "pin_wait", wait), target)
        if not secrets.compare_digest(pin, lan.pin):
            lan.guesses.wrong(address)
            wait = lan.guesses.wait(address)
            return _ask(request, Refusal(429, "pin_wait", wait) if wait else Refusal(401, "pin_wrong"), target)
        lan.guesses.right(address)
        return _let_in(request, lan, target)


def is_here(asks: HTTPConnection) -> bool:
    """Whether this machine itself asks: over loopback, and not on behalf of somebody else."""
    address = _ip(asks)
    return address is not None and address.is_loopback and not any(map(_is_forwarded, asks.headers))


def _is_forwarded(header: str) -> bool:
    name = header.lower()
    return name in _FORWARDED or name.startswith(("x-forwarded", "x-original-"))


def _is_near(asks: HTTPConnection) -> bool:
    """Whether the caller is no address of the open internet."""
    address = _ip(asks)
    return address is None or not address.is_global


def _is_foreign(asks: HTTPConnection, host: Host) -> bool:
    """Whether another page sent this. A browser names the origin of all but plain GETs; a program that names none may ask.

    ``null`` is foreign: our pages send ``Referrer-Policy: same-origin``, with which a browser names them in forms, too.
    """
    origins = asks.headers.getlist("origin")
    if not origins:
        # Only browsers send it, only where they trust the address, and no page can change it.
        site = asks.headers.get("sec-fetch-site", "none")
        return asks.scope.get("method", "GET") not in _SAFE and site not in ("none", "same-origin")
    secure = asks.scope["scheme"] in ("https", "wss")
    scheme = "https" if secure else "http"
    given, _, rest = origins[0].lower().partition("://")
    origin = Host.read(rest)
    if len(origins) != 1 or given != scheme or origin is None:
        return True
    default = _DEFAULT_PORTS[scheme]
    return (origin.name, origin.port or default) != (host.name, host.port or default)


def _ip(asks: HTTPConnection) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(asks.client.host if asks.client else "")
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _address(asks: HTTPConnection) -> str:
    return str(_ip(asks) or "")


def _token(asks: HTTPConnection) -> str | None:
    """The device's token: a browser has it in the cookie, a program sends ``Authorization: Bearer TOKEN``."""
    kind, _, token = asks.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else asks.cookies.get(TOKEN_COOKIE)


def _let_in(request: Request, lan: Lan, target: str) -> Response:
    """The token of one more device: for a browser as a cookie that no script can read, for a program as JSON."""
    token = lan.devices.add()
    response: Response
    if _wants_page(request):
        response = RedirectResponse(target, 303)
        response.set_cookie(
            TOKEN_COOKIE, token, max_age=KEPT_DAYS * 24 * 3600, path="/",
            secure=lan.certificate is not None, httponly=True, samesite="strict",
        )  # fmt: skip
    else:
        response = JSONResponse({"token": token})
    response.headers["Cache-Control"] = "no-store"
    return response


def _form(body: bytes) -> dict[str, str]:
    try:
        return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace"), max_num_fields=8).items()}
    except ValueError:
        return {}


def _target(asks: HTTPConnection) -> str:
    """Where a page that was asked for is found once the PIN has been given."""
    if asks.scope.get("method") not in _SAFE:
        return "/"
    query = asks.scope["query_string"].decode("latin-1")
    return _inside(quote(asks.scope["path"]) + (f"?{query}" if query else ""))


def _inside(target: str) -> str:
    """The target when it is a path of ours, else the page itself."""
    is_path = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_path and urlsplit(target).path != PIN_PATH else "/"


def _wants_page(asks: HTTPConnection) -> bool:
    return "text/html" in asks.headers.get("accept", "")


def _ask(asks: HTTPConnection, refusal: Refusal | None, target: str) -> Response:
    """The page that asks for the PIN, with what was wrong; for a program, and for what a page fetches, the sentence alone."""
    if refusal and not _wants_page(asks):
        return _refuse(asks, refusal)
    status = refusal.status if refusal else 200
    fault = _sentence(asks, refusal) if refusal and refusal.key != "pin_needed" else ""
    response = _page(asks, "pin.html", status, target=target, fault=fault, digits=PIN_DIGITS)
    return _with_wait(response, refusal)


def _refuse(asks: HTTPConnection, refusal: Refusal) -> Response:
    sentence = _sentence(asks, refusal)
    if _wants_page(asks):
        return _page(asks, "refused.html", refusal.status, sentence=sentence)
    response = JSONResponse({"error": sentence}, refusal.status, _headers())
    if refusal.status == 401:  # noqa: PLR2004
        response.headers["WWW-Authenticate"] = 'Bearer realm="tablelaw"'
    return _with_wait(response, refusal)


def _with_wait(response: Response, refusal: Refusal | None) -> Response:
    if refusal and refusal.wait:
        response.headers["Retry-After"] = str(refusal.wait)
    return response


def _sentence(asks: HTTPConnection, refusal: Refusal) -> str:
    return strings(language_of(asks))[refusal.key].format(seconds=refusal.wait, digits=PIN_DIGITS)


def _page(asks: HTTPConnection, template: str, status: int, **shown: object) -> Response:
    lang = language_of(asks)
    css = (FOLDER / "guard.css").read_text(encoding="utf-8")
    page = templates().get_template(template).render(text=strings(lang), lang=lang, css=css, **shown)
    return HTMLResponse(page, status, {**_headers(), "Content-Security-Policy": _POLICY})


def _headers() -> dict[str, str]:
    return {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
