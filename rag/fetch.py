"""Download files: with progress, resumed where it stopped, and checked against a SHA-256 before anyone uses them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from index.errors import ModelError
from index.hashing import sha256_file

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all; 0 when unknown)."""

CONNECT_SECONDS = 4.0


@dataclass(frozen=True)
class Patience:
    """How often a broken download is resumed, and after how many seconds of silence it counts as broken."""

    attempts: int = 5
    read_seconds: float = 30.0


PATIENT = Patience()


class SourceUnreachable(ModelError):
    """A source did not answer, or does not have the file: another one may."""


def part_of(target: Path) -> Path:
    """Where the part of ``target`` that has arrived is kept."""
    return target.with_name(target.name + ".part")


def fetch(url: str, target: Path, sha256: str, progress: Progress | None = None, patience: Patience = PATIENT) -> Path:
    """Download ``url`` to ``target``, resuming ``target.part``; the file appears only when its SHA-256 is right.

    Raises `SourceUnreachable` when the source delivers nothing or another file, `ModelError` when it cannot be written.
    """
    if target.exists() and sha256_file(target) == sha256:
        return target
    part = part_of(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for attempt in Retrying(
            retry=retry_if_exception_type((httpx.ReadError, httpx.RemoteProtocolError, httpx.ReadTimeout)),
            stop=stop_after_attempt(patience.attempts),
            wait=wait_exponential(max=8),
            reraise=True,
        ):
            with attempt:
                _download(url, part, progress, httpx.Timeout(patience.read_seconds, connect=CONNECT_SECONDS))
    except httpx.HTTPError as error:
        host = httpx.URL(url).host
        raise SourceUnreachable(
            f"{target.name} could not be fetched from {host} ({type(error).__name__}); check the network and run it again: "
            "what has arrived is kept."
        ) from error
    except OSError as error:
        raise ModelError(
            f"{target.name} cannot be written to {target.parent} ({error.strerror}); make room there, or set TABLELAW_HOME."
        ) from error
    if sha256_file(part) != sha256:
        part.unlink()
        raise SourceUnreachable(f"What arrived as {target.name} is not that file (SHA-256 differs); run it again.")
    os.replace(part, target)
    return target


def _download(url: str, part: Path, progress: Progress | None, timeout: httpx.Timeout) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=timeout) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # all of it is here already; the hash decides
        answer.raise_for_status()
        resumed = answer.status_code == httpx.codes.PARTIAL_CONTENT
        have = have if resumed else 0
        total = have + int(answer.headers.get("Content-Length", 0))
        with part.open("ab" if resumed else "wb") as out:
            for chunk in answer.iter_raw():
                out.write(chunk)
                have += len(chunk)
                if progress:
                    progress(have, total)
