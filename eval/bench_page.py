"""Weight and speed of the served page in headless Chromium, as a phone opens it: ``python -m eval.bench_page PORT``.

First visit: a device that was never there. Again: the same device comes back, its browser's cache filled. Only this machine's
own loopback address is opened.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from eval.bench_row import Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""With these Chromium calls nobody by itself; the browser tests start it so, too."""
WIDTH, HEIGHT = 390, 844
ROUNDS = 5
QUIET_SECONDS = 2.0
"""A visit is over when nothing more was fetched for so long; the page's open stream of events is not waited for."""
WAIT_SECONDS = 60
_STEP_MS = 50
# The box can be typed in when a tap in its middle would reach it. Looked at before each frame that is painted.
_PROBE = """
const look = () => {
  const box = document.querySelector("#tl-question textarea");
  const at = box?.getBoundingClientRect();
  const isHit = at && document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2) === box;
  if (isHit && !box.disabled && !box.readOnly) window.tlUsable = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@dataclass(frozen=True)
class Visit:
    """What one visit fetched over the network (bodies as sent, and headers), and milliseconds since it began."""

    kib: float
    requests: float
    paint_ms: float
    usable_ms: float


@dataclass(frozen=True)
class Pair:
    """A device's first visit, and its next."""

    first: Visit
    again: Visit


def page_rows(url: str, say: Callable[[str], None]) -> list[Row]:
    """The page at ``url``, medians of `ROUNDS` devices; none, and one line said, where no browser can be driven."""
    if lacking := missing():
        say(f"the page is not measured: {lacking}")
        return []
    say(f"the page in Chromium, {ROUNDS} devices, two visits each …")
    pairs = measure(url)
    return list(rows(Pair(middle([one.first for one in pairs]), middle([one.again for one in pairs]))))


def missing() -> str:
    """What a browser would need and is not here; empty when all is."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed (pip install -c constraints.txt playwright)"
    return "" if Path(CHROMIUM).exists() else f"there is no {CHROMIUM} (Debian: apt-get install chromium)"


def measure(url: str) -> list[Pair]:
    """Two visits of each of `ROUNDS` devices, one after the other. Raises Playwright's errors, `TimeoutError`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            return [_device(browser, url) for _ in range(ROUNDS)]
        finally:
            browser.close()


def middle(visits: Sequence[Visit]) -> Visit:
    """The median of each value."""
    return Visit(*(median(getattr(one, name) for one in visits) for name in Visit.__dataclass_fields__))


def rows(pair: Pair) -> Iterator[Row]:
    """Two rows a value, the second compared with the first."""
    first, again = pair.first, pair.again
    size = f"page at {WIDTH}x{HEIGHT}"
    for name, unit, before, after in (
        ("fetched", "KiB", first.kib, again.kib),
        ("requests", "", first.requests, again.requests),
        ("first contentful paint", "ms", first.paint_ms, again.paint_ms),
        ("question box can be typed in", "ms", first.usable_ms, again.usable_ms),
    ):
        yield Row(f"{size}, first visit: {name}", f"{before:,.0f} {unit}".strip())
        yield Row(f"{size}, warm cache: {name}", f"{after:,.0f} {unit}".strip(), f"{after / before:.2f} of first visit")


class Weight:
    """Adds up what Chromium tells of its network, by request; what its caches gave is none of it."""

    def __init__(self) -> None:
        self._bytes: dict[str, float] = {}
        self._cached: set[str] = set()
        self._changed = time.monotonic()

    def on_cached(self, event: dict[str, Any]) -> None:
        """``Network.requestServedFromCache``: from the page's own memory."""
        self._cached.add(event["requestId"])

    def on_response(self, event: dict[str, Any]) -> None:
        """``Network.responseReceived``: the headers are there."""
        answer, request = event["response"], event["requestId"]
        is_kept = answer.get("fromDiskCache") or request in self._cached
        if not is_kept and answer["url"].startswith("http"):  # data: and blob: are in the page already
            self._bytes[request] = answer["encodedDataLength"]
        self._changed = time.monotonic()

    def on_data(self, event: dict[str, Any]) -> None:
        """``Network.dataReceived``: a part of the body, which may have no end that is told (the page closes its streams)."""
        # Not its encodedDataLength: Chromium tells that one part late, and never the last one's. Streams aren't compressed.
        if event["requestId"] in self._bytes:
            self._bytes[event["requestId"]] += event["dataLength"]
        self._changed = time.monotonic()

    def on_end(self, event: dict[str, Any]) -> None:
        """``Network.loadingFinished``: the sum of headers and body."""
        if event["requestId"] in self._bytes:
            self._bytes[event["requestId"]] = event["encodedDataLength"]
        self._changed = time.monotonic()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing came for `QUIET_SECONDS`."""
        return time.monotonic() - self._changed > QUIET_SECONDS

    @property
    def kib(self) -> float:
        """All that came over the network."""
        return sum(self._bytes.values()) / 1024

    @property
    def requests(self) -> int:
        """How many answers came over the network."""
        return len(self._bytes)


def _device(browser: Browser, url: str) -> Pair:
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB")
    try:
        context.add_init_script(_PROBE)
        return Pair(_visit(context, url), _visit(context, url))
    finally:
        context.close()


def _visit(context: BrowserContext, url: str) -> Visit:
    page, weight = context.new_page(), Weight()
    session = context.new_cdp_session(page)
    session.on("Network.requestServedFromCache", weight.on_cached)
    session.on("Network.responseReceived", weight.on_response)
    session.on("Network.dataReceived", weight.on_data)
    session.on("Network.loadingFinished", weight.on_end)
    session.send("Network.enable")
    page.goto(url, timeout=1000 * WAIT_SECONDS)
    page.wait_for_function("window.tlUsable", timeout=1000 * WAIT_SECONDS)
    usable = float(page.evaluate("window.tlUsable"))
    _until_quiet(page, weight)
    paint = float(page.evaluate(_PAINT))
    page.close()
    return Visit(weight.kib, weight.requests, paint, usable)


def _until_quiet(page: Page, weight: Weight) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not weight.is_quiet:
        if time.monotonic() > end:
            raise TimeoutError(f"the page went on fetching for {WAIT_SECONDS} s")
        page.wait_for_timeout(_STEP_MS)


def main() -> None:
    """Measure what is served on the port that is given."""
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():  # noqa: PLR2004 - the program and its port
        raise SystemExit("Give the port of a page that is being served: python -m eval.bench_page 7860")
    for row in page_rows(f"http://127.0.0.1:{sys.argv[1]}", print):
        print(f"{row.name:60}{row.value:>12}  {row.ratio}")


if __name__ == "__main__":
    main()
