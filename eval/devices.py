"""Devices that ask over HTTP as the page's own script does: for load, where twenty browsers would be the load themselves."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx

SILENCE_SECONDS = 300.0
"""Longest that a device waits for the next thing the server says."""


class Device:
    """A phone on which the page is open; ``cookie`` is that of an earlier one, to be the same device again."""

    def __init__(self, url: str, cookie: dict[str, str] | None = None) -> None:
        self._http = httpx.Client(base_url=url, timeout=SILENCE_SECONDS, trust_env=False, cookies=cookie)
        self._http.get("/").raise_for_status()
        config = self._http.get("/config").raise_for_status().json()
        self._elements = {one["id"]: one["props"].get("elem_id") for one in config["components"]}
        self._events = config["dependencies"]

    @property
    def cookie(self) -> dict[str, str]:
        """Who the device is."""
        return dict(self._http.cookies)

    def ask(self, question: str, book: str, continues: bool = False) -> Iterator[str]:
        """The case as HTML, each time that the page would show it anew, until the answer is whole."""
        return self._cases(self._event("tl-send", "click"), [question, continues, book])

    def shown(self) -> str:
        """The case that the page shows when it is loaded again, once its answers are whole."""
        *_, last = self._cases(self._event(None, "load"), [])
        return last

    def new_case(self) -> None:
        """Put the case away, which stops its answer."""
        for _ in self._cases(self._event("tl-new", "click"), []):
            pass

    def _event(self, element: str | None, name: str) -> dict[str, Any]:
        return next(
            event
            for event in self._events
            if any(kind == name and self._elements.get(target) == element for target, kind in event["targets"])
        )

    def _cases(self, event: dict[str, Any], data: list[Any]) -> Iterator[str]:
        place = [self._elements[output] for output in event["outputs"]].index("tl-case")
        session = secrets.token_hex(6)
        body = {"fn_index": event["id"], "data": data, "session_hash": session, "simple_format": True}
        self._http.post("/gradio_api/queue/join", json=body).raise_for_status()
        with self._http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as said:
            for line in said.iter_lines():
                message = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {}
                if message.get("success") is False:
                    raise RuntimeError(f"the page shows an error: {message}")
                if message.get("msg") in ("process_generating", "process_completed"):
                    case = message["output"]["data"][place]
                    if isinstance(case, str):
                        yield case
                if message.get("msg") == "process_completed":
                    return
