"""Speed and memory of the product on this machine: ``python -m eval.bench`` (or ``make bench``).

Times depend on the machine, so each row also gives a ratio to another row of the same run: those can be compared between
machines. Cold: no index yet. Warm: everything built. All processes are real ones, started as a user starts them.
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from eval.bench_page import page_rows
from eval.bench_row import Row
from eval.devices import Device
from eval.log_bench import FEW, MANY, log_times
from index import paths
from index.books import DEFAULT_BOOK, read_book
from index.search import TOP_K
from rag.desk import find, open_desk

QUESTIONS = (
    "defender led out of turn, what are declarer's options?",
    "RHO bid 1H over my 1S and wants to change it to 2H.",
    "Declarer found out at trick 10 that a defender had revoked.",
    "dummy noticed that declarer revoked, can he say so?",
    "declarer claimed and forgot the outstanding trump",
    "a defender dropped a card face up on the table",
)
NO_PROCEDURE = {"irregularity": "none"}
"""Given with a question, so that the model answers it and no procedure."""
SEARCHES = 120
DEVICES = 20
ROUNDS = 5
TO_THE_MODEL = tuple(f"Law {law}: what does it say that a player must do?" for law in range(4, 4 + DEVICES + 1))
"""Questions that name a Law are the model's: no procedure takes them."""
SPEED = re.compile(r"writes ([\d.]+) tokens a second here and reads (\d+)")
KEPT = re.compile(r"kept from before for (\d+) of (\d+) answers")
WAIT_SECONDS = 600
POLL_SECONDS = 0.05


def main() -> None:
    """Measure and print."""
    console = Console(width=110)
    console.print(f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, {_machine()}")
    rows = [*_starts(console), *_searches(console), *_load(console), *_log(console), *_answers(console)]
    table = Table("what", "measured here", "ratio (same run)", box=box.SIMPLE)
    for row in rows:
        table.add_row(row.name, row.value, row.ratio)
    console.print(table)


def _machine() -> str:
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}, {platform.system()}"


def _starts(console: Console) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as home:
        console.print("cold and warm start …")
        environment = {**os.environ, "TABLELAW_HOME": home, "TABLELAW_MODELS": str(paths.models_dir())}
        log = Path(home) / "serve.log"
        with _server(environment, log) as cold:
            pass
        with _server(environment, log) as warm:
            resident = _peak_mib(warm.pid)
    yield Row("cold start: page ready (no index yet)", f"{cold.page:.1f} s")
    yield Row("cold start: ready to answer, index built", f"{cold.loaded:.1f} s")
    yield Row("warm start: page ready", f"{warm.page:.1f} s", f"{warm.page / cold.page:.2f} of cold")
    yield Row("warm start: ready to answer", f"{warm.loaded:.1f} s", f"{warm.loaded / cold.loaded:.2f} of cold")
    yield Row("memory of the server, models loaded (peak)", f"{resident:,.0f} MiB")


@dataclass(frozen=True)
class _Served:
    """A served page: its address, seconds until it was ready and until the models were loaded, and its process."""

    url: str
    page: float
    loaded: float
    pid: int


@contextmanager
def _server(environment: dict[str, str], log: Path) -> Iterator[_Served]:
    """A server as a user starts it, which writes what it tells to ``log``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = time.perf_counter()
    command = [sys.executable, "-m", "cli", "serve", "--port", str(port)]
    with log.open("wb") as told:
        process = subprocess.Popen(command, env=environment, stderr=told)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, bool)
        page = time.perf_counter() - started
        _wait(f"{url}/health", lambda body: json.loads(body)["loaded"])
        yield _Served(url, page, time.perf_counter() - started, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def _wait(url: str, good: Callable[[bytes], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - loopback
                if good(answer.read()):
                    return
        except OSError:
            pass
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"{url} did not get ready in {WAIT_SECONDS} s")


def _peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def _searches(console: Console) -> Iterator[Row]:
    console.print(f"{SEARCHES} searches …")
    desk = open_desk("none")
    asked = [line.text for clause in read_book(DEFAULT_BOOK).clauses for line in clause.asked]
    questions = asked[:: max(1, len(asked) // SEARCHES)][:SEARCHES]
    find(desk, questions[0], TOP_K)  # the first call warms the libraries up
    whole, embedding = [], []
    for question in questions:
        start = time.perf_counter()
        desk.embedder.encode([question], "query")
        embedding.append(time.perf_counter() - start)
        start = time.perf_counter()
        find(desk, question, TOP_K)
        whole.append(time.perf_counter() - start)
    middle, high, embed = _ms(whole, 50), _ms(whole, 95), _ms(embedding, 50)
    yield Row("search with query embedding, p50", f"{middle:.0f} ms", f"{middle / embed:.2f} of the embedding alone")
    yield Row("search with query embedding, p95", f"{high:.0f} ms", f"{high / middle:.2f} of p50")


def _ms(seconds: Sequence[float], percentile: float) -> float:
    return float(1000 * np.percentile(seconds, percentile))


def _load(console: Console) -> Iterator[Row]:
    """How soon the page is there, and the law: for one device, and for twenty at once while an answer is being written."""
    console.print(f"the page, then {DEVICES} devices at once, {ROUNDS} times …")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "serve.log"
        with _server(_environment(Path(folder) / "home"), log) as served:
            speed = _told(log, SPEED)  # told when the model is warmed up: the server is idle from here on
            page = page_rows(served.url, console.print)
            device = Device(served.url)
            idle = [_seconds_to_cards(device, question, whole=True) for question in QUESTIONS * ROUNDS]
            busy = [seconds for _ in range(ROUNDS) for seconds in _round(served.url)]
            resident = _peak_mib(served.pid)
        kept = _told(log, KEPT)
    middle, high = _ms(idle, 50), _ms(busy, 95)
    yield from page
    yield Row("speed of the language model, warmed up", f"{speed[0]} tokens/s written", f"{speed[1]} read")
    yield Row("law cards over HTTP, idle, p50", f"{middle:.0f} ms")
    yield Row(
        f"law cards, {DEVICES} at once while one answer is written, p95", f"{high:.0f} ms", f"{high / middle:.1f} of idle"
    )
    yield Row("memory of the server under load (peak)", f"{resident:,.0f} MiB")
    yield Row("beginnings of prompts that the server had kept", f"{kept[0]}/{kept[1]}")


def _round(url: str) -> list[float]:
    """Seconds to the law cards of each of `DEVICES`, while the answer to another is written; then all are put away."""
    with ThreadPoolExecutor(DEVICES) as people:
        devices = list(people.map(lambda _: Device(url), range(1 + DEVICES)))
        _seconds_to_cards(devices[0], TO_THE_MODEL[0])
        seconds = list(people.map(_seconds_to_cards, devices[1:], TO_THE_MODEL[1:]))
        list(people.map(Device.new_case, reversed(devices)))
    return seconds


def _seconds_to_cards(device: Device, question: str, whole: bool = False) -> float:
    """Until the law cards are there; ``whole`` waits for the rest of the answer too."""
    start = time.perf_counter()
    seconds: float | None = None
    cases = device.ask(question, DEFAULT_BOOK)
    for case in cases:
        if seconds is None and "tl-card" in case:
            seconds = time.perf_counter() - start
            if not whole:
                break
    if seconds is None:
        raise SystemExit(f"no law cards came for: {question}")
    return seconds


def _log(console: Console) -> Iterator[Row]:
    console.print(f"the ruling log with {MANY:,} entries …")
    for one in log_times():
        name = f"ruling log of {MANY:,} entries, {one.name}, p50"
        yield Row(name, f"{one.many:.0f} ms", f"{one.many / one.few:.1f} of the same with {FEW}")


def _told(log: Path, pattern: re.Pattern[str]) -> tuple[str, str]:
    """Two numbers in a line that the program tells."""
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if match := pattern.search(log.read_text(encoding="utf-8")):
            return match[1], match[2]
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"the program did not tell {pattern.pattern!r}")


def _environment(home: Path) -> dict[str, str]:
    """A home in which nothing is kept but the indexes, which are built already."""
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "indexes").symlink_to(paths.cache_dir() / "indexes")
    return {**os.environ, "TABLELAW_HOME": str(home), "TABLELAW_MODELS": str(paths.models_dir())}


def _answers(console: Console) -> Iterator[Row]:
    """Answers of the model, each question twice: the beginning of its prompt computed, then kept."""
    console.print(f"{len(QUESTIONS)} questions to the language model, twice …")
    with tempfile.TemporaryDirectory() as folder:
        source, log = Path(folder) / "in.jsonl", Path(folder) / "ask.log"
        lines = [json.dumps({"id": k, "question": q, "facts": NO_PROCEDURE}) for k, q in enumerate(QUESTIONS)]
        source.write_text("\n".join(lines), encoding="utf-8")
        environment = _environment(Path(folder) / "home")
        cold, memory = _asked(source, Path(folder) / "cold.jsonl", environment, log)
        cold_found = _told(log, KEPT)
        kept, _ = _asked(source, Path(folder) / "kept.jsonl", environment, log)
        found = _told(log, KEPT)
    for name, event in (
        ("the model's own first token", "model_first_token_ms"),
        ("first shown sentence", "first_token_ms"),
        ("whole answer", "total_ms"),
    ):
        before, after = (_median_seconds(answers, event) for answers in (cold, kept))
        yield Row(f"{name}, median, beginning of the prompt computed", f"{before:.1f} s")
        yield Row(f"{name}, median, beginning kept on disk", f"{after:.1f} s", f"{before / after:.1f} times sooner")
    rates = "/".join(cold_found), "/".join(found)
    yield Row("beginnings of prompts found kept, the second time", rates[1], f"{rates[0]} the first time")
    ruled = sum(answer["status"] == "ruling" for answer in kept)
    yield Row("answers with a verified sentence of the model", f"{ruled}/{len(kept)}")
    yield Row("memory of tablelaw ask with the model (peak)", f"{memory:,.0f} MiB")


def _asked(source: Path, target: Path, environment: dict[str, str], log: Path) -> tuple[list[dict[str, Any]], float]:
    """The answers to a batch, and the peak memory of the process in MiB."""
    command = [sys.executable, "-m", "cli", "ask", "--batch", str(source), "--out", str(target)]
    with log.open("wb") as told:
        process = subprocess.Popen(command, env=environment, stderr=told)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("tablelaw ask --batch failed; run it by hand to see why")
    answers = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    failed = [answer["error"] for answer in answers if "error" in answer]
    if failed:
        raise SystemExit(f"{len(failed)}/{len(answers)} questions failed, the first one: {failed[0]}")
    return answers, usage.ru_maxrss / 1024


def _median_seconds(answers: Sequence[dict[str, Any]], event: str) -> float:
    return float(np.median([answer["timings"][event] for answer in answers if answer["timings"][event]])) / 1000


if __name__ == "__main__":
    main()
