"""The web app: FastAPI with routes of our own, and the page (Gradio) mounted at ``/``. ``python app.py`` serves it."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # before gradio is imported
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gradio as gr
import uvicorn
from fastapi import FastAPI, Request, Response
from filelock import FileLock, Timeout

from index import paths
from index.books import DEFAULT_BOOK, read_book
from index.errors import BadQuestion, ModelError, ServerError, TablelawError
from index.wording import law_books
from rag.backends.local import tell_kept, warm_up
from rag.cases import CASES_FILE, Cases
from rag.desk import Desk, open_desk
from rag.models import check_models
from rag.page.api import add_api
from rag.page.certificate import Certificate
from rag.page.guard import JOIN_PATH, Guard
from rag.page.installable import add_installable
from rag.page.installable import head as installable_head
from rag.page.lan import EVERYWHERE, Lan, open_lan
from rag.page.library import add_library
from rag.page.limit import BodyLimit
from rag.page.log_pages import log_router
from rag.page.mcp_server import add_mcp
from rag.page.phone import phone_router
from rag.page.render import case_html, head, main_css, title_html
from rag.page.settings import language_of, read_settings
from rag.page.settings_pages import settings_router
from rag.programs import Programs
from rag.prompt import system_prompt
from rag.question import read_question
from rag.running import Running
from rag.strings import strings
from rag.terminal import err, print_lan

HOST = "127.0.0.1"
DEVICE_COOKIE = "tablelaw_device"
_YEAR = 365 * 24 * 3600
_TURN_DIGITS = 18
Tell = Callable[[dict[str, Any]], None]

# The page must work with no internet at all: the browser itself refuses every other address.
CONTENT_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; frame-ancestors 'none'"
)


class LazyDesk:
    """The desk, loaded in the background so that the page is there at once; a question waits for it."""

    def __init__(self, llm: str | None, book: str) -> None:
        self._llm, self._book = llm, book
        self._loaded = threading.Event()
        self._desk: Desk | None = None
        self._fault: TablelawError | None = None
        threading.Thread(target=self._load, daemon=True, name="load-models").start()

    def _load(self) -> None:
        try:
            desk = open_desk(self._llm, say=err)
            desk.index_of(self._book)
            self._desk = desk
            err(f"Ready to answer from {self._book} with {desk.backend.name if desk.backend else 'no language model'}.")
            warm_up(desk.backend, system_prompt(read_book(self._book)), err)
        except TablelawError as error:
            self._fault = error
            err(str(error))
        except Exception as error:
            self._fault = ModelError(f"The models could not be loaded ({type(error).__name__}: {error}); see the log.")
            raise
        finally:
            self._loaded.set()

    @property
    def is_loaded(self) -> bool:
        """Whether questions are answered without waiting."""
        return self._desk is not None

    @property
    def is_loading(self) -> bool:
        """Whether a question would have to wait for the models."""
        return not self._loaded.is_set()

    def tell_kept(self) -> None:
        """Say how often what the model had kept was of use."""
        if self._desk is not None:
            tell_kept(self._desk.backend, err)

    def __call__(self) -> Desk:
        """The desk, once loaded. Raises what went wrong while loading."""
        self._loaded.wait()
        if self._desk is None:
            raise self._fault or ModelError("The models could not be loaded; see the log.")
        return self._desk


def make_app(desk: Callable[[], Desk], book: str = DEFAULT_BOOK, lan: Lan | None = None) -> FastAPI:
    """The whole web app over a desk; later routes are added here, before Gradio takes the rest.

    ``lan`` opens it to the club's network; without it this machine alone is served.
    """
    app = FastAPI(title="Tablelaw", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    _add_middleware(app)

    @app.get("/health")
    def health() -> dict[str, Any]:
        """Whether the server lives and the models are loaded."""
        return {"status": "ok", "loaded": getattr(desk, "is_loaded", True), "book": book}

    add_library(app, book)
    programs = Programs(desk, book)
    add_api(app, programs)
    add_mcp(app, programs)
    add_installable(app)
    running = Running(desk, Cases(paths.data_dir() / CASES_FILE))
    app.include_router(log_router(running.delete, moved=running.correct_place))
    app.include_router(settings_router(book))
    app.include_router(phone_router(running, book, DEVICE_COOKIE))
    theme = gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["monospace"])
    mounted: FastAPI = gr.mount_gradio_app(
        app,
        make_page(running, book),
        path="/",
        footer_links=[],
        theme=theme,
        css=main_css(),
        head=head() + installable_head(),
        show_error=True,
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
    )
    mounted.add_middleware(BodyLimit)
    mounted.add_middleware(Guard, lan=lan)  # added last, it stands before all else
    return mounted


def make_page(running: Running, book: str) -> gr.Blocks:
    """The page itself: question box on top, the case below."""
    english = strings("en")
    with gr.Blocks(title="Tablelaw", analytics_enabled=False) as page:
        title = gr.HTML(elem_id="tl-title", value=title_html("en"))
        question = gr.Textbox(
            label=english["ask_label"],
            placeholder=english["ask_placeholder"],
            lines=2,
            max_lines=8,
            elem_id="tl-question",
        )
        with gr.Row():
            send = gr.Button(english["send"], variant="primary", elem_id="tl-send")
            fresh = gr.Button(english["new_case"], elem_id="tl-new")
        others = gr.Dropdown(choices=[book], value=book, label=english["book"], visible=False, elem_id="tl-book")
        continues = gr.Checkbox(label=english["continue_case"], visible=False, elem_id="tl-continue")
        case = gr.HTML(elem_id="tl-case", value=case_html(None, "en"))
        # The page's script puts "turn fact=option" here and presses the button, when a chip or an answer is tapped.
        set_box = gr.Textbox(elem_id="tl-set-box", container=False)
        set_send = gr.Button(elem_id="tl-set-send")
        refresh = gr.Button(elem_id="tl-refresh")  # pressed by the script: the device shows another case, or was away

        def on_load(request: gr.Request) -> Iterator[tuple[Any, ...]]:
            lang = language_of(request)
            chosen = {"value": read_settings(request.cookies).book or book}
            text, books = strings(lang), list(dict.fromkeys((book, *law_books())))
            for now in running.watch(_device(request)):
                yield (
                    title_html(lang),
                    gr.update(label=text["ask_label"], placeholder=text["ask_placeholder"]),
                    gr.update(value=text["send"]),
                    gr.update(value=text["new_case"]),
                    gr.update(label=text["book"], choices=books, visible=len(books) > 1, **chosen),
                    gr.update(label=text["continue_case"], visible=now is not None),
                    case_html(now, lang),
                )
                chosen = {}  # another book may be chosen while the answer grows

        def on_refresh(request: gr.Request) -> Iterator[tuple[Any, ...]]:
            for now in running.watch(_device(request)):
                yield gr.update(visible=now is not None), case_html(now, language_of(request))

        def on_ask(typed: str, goes_on: bool, chosen: str, request: gr.Request) -> Iterator[tuple[Any, ...]]:
            device, lang = _device(request), language_of(request)
            try:
                read_question(typed)
            except BadQuestion as error:
                raise gr.Error(strings(lang)[error.key].format(**error.values), duration=8, print_exception=False) from error
            running.start(device, typed, goes_on, chosen or book, uses_model=read_settings(request.cookies).uses_model)
            yield "", gr.update(value=False, visible=True), gr.skip()
            before = None
            for now in running.watch(device):
                if now != before:  # what is typed meanwhile is left alone
                    yield gr.skip(), gr.skip(), case_html(now, lang)
                before = now

        def on_new(request: gr.Request) -> tuple[Any, ...]:
            running.put_away(_device(request))
            return "", gr.update(value=False, visible=False), case_html(None, language_of(request))

        shown = [question, continues, case]
        whole = [title, question, send, fresh, others, continues, case]
        page.load(on_load, None, whole, show_progress="hidden", api_visibility="private")
        gr.on(
            [send.click, question.submit],
            on_ask,
            [question, continues, others],
            shown,
            show_progress="hidden",
            concurrency_limit=None,
            trigger_mode="multiple",  # a second question may be sent while the first is being answered
            api_visibility="private",
        )
        set_send.click(
            _setter(running),
            [set_box],
            [case],
            show_progress="hidden",
            concurrency_limit=None,
            trigger_mode="multiple",
            api_visibility="private",
        )
        refresh.click(
            on_refresh,
            None,
            [continues, case],
            show_progress="hidden",
            concurrency_limit=None,
            trigger_mode="multiple",
            api_visibility="private",
        )
        fresh.click(on_new, None, shown, show_progress="hidden", api_visibility="private")
    page.queue(default_concurrency_limit=None)
    return page


def _setter(running: Running) -> Callable[..., Iterator[str]]:
    def on_set(what: str, request: gr.Request) -> Iterator[str]:
        """Rule a turn anew: ``what`` is ``turn fact=option``, as a chip or an answer button has it."""
        turn, _, setting = what.partition(" ")
        fact, _, option = setting.partition("=")
        if turn.isdecimal() and len(turn) <= _TURN_DIGITS:
            running.change(_device(request), int(turn), fact, option, read_settings(request.cookies).uses_model)
        for now in running.watch(_device(request)):
            yield case_html(now, language_of(request))

    return on_set


def serve_page(
    port: int,
    book: str | None = None,
    llm: str | None = None,
    tell: Tell | None = None,
    lan: bool = False,
    certificate: Certificate | None = None,
) -> None:
    """Serve until stopped: on this machine only, or with ``lan`` on the club's network, by HTTPS with a ``certificate``.

    ``tell`` gets ``{"url", "book"}`` when it begins, with ``lan`` ``urls`` and ``pin``, too.
    Raises `ModelError`, `BookError`, `ServerError`, `ContractError`.
    """
    chosen = book or DEFAULT_BOOK
    read_book(chosen)
    check_models(llm)
    host = EVERYWHERE if lan else HOST
    _check_port(port, host)
    with _sole_server():
        opened = open_lan(port, certificate, err) if lan else None
        desk = LazyDesk(llm, chosen)
        app = make_app(desk, chosen, opened)
        url = f"{opened.scheme if opened else 'http'}://{HOST}:{port}/"
        err(f"Tablelaw: {url} (Ctrl+C stops it)")
        if opened:
            print_lan(opened.urls(), opened.spoken_pin, f"{url}{JOIN_PATH[1:]}")
        if tell:
            network = {"urls": opened.urls(), "pin": opened.pin} if opened else {}
            tell({"url": url, "book": chosen, **network})
        signal.signal(signal.SIGTERM, _end)  # else it would end without a word, and without putting the lock away
        # Forwarded headers are for the guard to see: uvicorn would take the address of the caller from them.
        options: dict[str, Any] = {"log_level": "warning", "timeout_graceful_shutdown": 2, "proxy_headers": False}
        if certificate:
            options |= {"ssl_certfile": certificate.file, "ssl_keyfile": certificate.key}
        try:
            uvicorn.run(app, host=host, port=port, **options)
        finally:
            desk.tell_kept()


def _end(number: int, _: Any) -> None:
    raise SystemExit(128 + number)


@contextmanager
def _sole_server() -> Iterator[None]:
    """Cases have one server: a second one would take the first one's unfinished answers for interrupted ones."""
    folder = paths.data_dir()
    lock = FileLock(folder / "serve.lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise ServerError(
            f"Another Tablelaw serves the cases in {folder} already; use its page, stop it, or set TABLELAW_HOME."
        ) from error
    except OSError as error:
        raise ServerError(f"The cases cannot be kept in {folder} ({error.strerror}); set TABLELAW_HOME.") from error
    try:
        yield
    finally:
        lock.release()


def _add_middleware(app: FastAPI) -> None:
    @app.middleware("http")
    async def device_and_policy(request: Request, follow: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await follow(request)
        response.headers["Content-Security-Policy"] = CONTENT_POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        # Not "no-referrer": with that a browser sends a form of our own page as from nowhere (``Origin: null``).
        response.headers["Referrer-Policy"] = "same-origin"
        if request.url.path == "/" and DEVICE_COOKIE not in request.cookies:
            response.set_cookie(DEVICE_COOKIE, secrets.token_hex(16), max_age=_YEAR, httponly=True, samesite="strict")
        return response


def _device(request: gr.Request) -> str:
    return str(request.cookies.get(DEVICE_COOKIE) or request.session_hash)


def _check_port(port: int, host: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServerError(f"Port {port} is in use ({error.strerror}); choose another with --port.") from error


if __name__ == "__main__":
    from cli import main

    main(["serve", *sys.argv[1:]])
