"""A served page and a browser in a network namespace of their own, where nothing but loopback exists.

The server runs under strace, which writes down every address that any of its threads tries to reach.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from eval.bench_page import CHROMIUM, FLAGS
from rag.models import LANGUAGE_MODELS
from tests.conftest import REAL_MODELS

PORT = 7860
LAN_ADDRESS = "10.99.0.1"
READY_SECONDS = 900
LIGHT_SECONDS = 600
SCREENSHOTS = Path(__file__).resolve().parents[1] / "screenshots"
_ADDRESS = re.compile(r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')


def _namespace() -> list[str]:
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]


@dataclass
class Served:
    """A running server: its process, what it printed, and the file in which strace writes."""

    process: subprocess.Popen[str]
    trace: Path
    lines: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{PORT}"

    def addresses(self) -> set[str]:
        """Every network address the server tried to connect or send to."""
        found = _ADDRESS.finditer(self.trace.read_text(encoding="utf-8", errors="replace"))
        return {match[2] or match[3] for match in found}


@pytest.fixture(scope="module")
def served(real_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    trace = tmp_path_factory.mktemp("trace") / "strace.log"
    command = (
        "ip link set lo up && exec strace -f -qq --seccomp-bpf -e trace=connect,sendto,sendmsg,sendmmsg "
        f'-o "{trace}" "{sys.executable}" -m cli serve --port {PORT} --llm "{LANGUAGE_MODELS["small"].path}"'
    )
    environment = {**os.environ, "TABLELAW_HOME": str(real_home), "TABLELAW_MODELS": str(REAL_MODELS)}
    process = subprocess.Popen(
        [*_namespace(), "sh", "-c", command], stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    served = Served(process, trace)
    ready = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            served.lines.append(line.rstrip())
            if line.startswith("Ready to answer"):
                ready.set()

    threading.Thread(target=read, daemon=True).start()
    try:
        assert ready.wait(READY_SECONDS), f"the server did not get ready: {served.lines}"
        yield served
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page over fakes (`tests.browser.light`), without strace: for tests of the page itself, ready in seconds."""
    with _light(tmp_path_factory.mktemp("light"), "ip link set lo up", "") as served:
        yield served


@pytest.fixture(scope="module")
def light_lan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same, open to a network: the namespace has one more address, `LAN_ADDRESS`, which is not loopback."""
    network = f"ip link set lo up && ip addr add {LAN_ADDRESS}/24 dev lo"
    with _light(tmp_path_factory.mktemp("light-lan"), network, "--lan") as served:
        yield served


@contextmanager
def _light(folder: Path, network: str, option: str) -> Iterator[Served]:
    log = folder / "server.log"
    command = f'{network} && exec "{sys.executable}" -m tests.browser.light {PORT} {option}'
    environment = {**os.environ, "TABLELAW_HOME": str(folder / "home"), "TABLELAW_MODELS": str(REAL_MODELS)}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*_namespace(), "sh", "-c", command], stdout=output, stderr=output, text=True, env=environment,
            start_new_session=True, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
    served = Served(process, log)
    try:
        _wait_until_served(served)
        yield served
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _wait_until_served(served: Served) -> None:
    """Ask in the server's namespace, where alone it can be reached."""
    probe = f"import urllib.request as r; r.urlopen('{served.url}/health', timeout=5)"
    end = time.monotonic() + LIGHT_SECONDS
    while subprocess.run([*_inside(served), sys.executable, "-c", probe], capture_output=True, check=False).returncode:
        assert served.process.poll() is None and time.monotonic() < end, served.trace.read_text(encoding="utf-8")
        time.sleep(0.5)


def _inside(served: Served) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", str(served.process.pid), "--net", *user]


@contextmanager
def _chromium(served: Served, folder: Path) -> Iterator[Browser]:
    """Chromium in the server's namespace; Playwright speaks to it through a pipe."""
    wrapper = folder / "chromium-in-namespace"
    wrapper.write_text(f'#!/bin/sh\nexec {" ".join(_inside(served))} {CHROMIUM} "$@"\n')
    wrapper.chmod(0o755)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(wrapper), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def browser(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser beside the real server."""
    with _chromium(served, tmp_path_factory.mktemp("browser")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def light_browser(light: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser beside the page over fakes."""
    with _chromium(light, tmp_path_factory.mktemp("light-browser")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def lan_browser(light_lan: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser in the network of the page over fakes."""
    with _chromium(light_lan, tmp_path_factory.mktemp("lan-browser")) as chromium:
        yield chromium


@pytest.fixture
def lan_page(lan_browser: Browser) -> Iterator[Callable[..., Page]]:
    """As `new_page`, in that network."""
    yield from _pages(lan_browser)


@pytest.fixture
def light_page(light_browser: Browser) -> Iterator[Callable[..., Page]]:
    """As `new_page`, beside the page over fakes."""
    yield from _pages(light_browser)


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page on a fresh device: ``new_page(width, height, locale)``."""
    yield from _pages(browser)


def _pages(browser: Browser) -> Iterator[Callable[..., Page]]:
    contexts: list[BrowserContext] = []

    def open_page(width: int = 390, height: int = 844, locale: str = "en-GB") -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, locale=locale)
        context.set_default_timeout(90_000)
        contexts.append(context)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session", autouse=True)
def screenshots() -> Path:
    SCREENSHOTS.mkdir(exist_ok=True)
    return SCREENSHOTS
