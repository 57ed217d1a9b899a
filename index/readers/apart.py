"""Read a PDF, Word file or web page in a process of its own, with bounds on its time and memory.

Such files come from anywhere, and a damaged or malicious one can make a library loop, or fill the memory. Then that process
is ended and this one goes on. It writes one JSON a line: ``[done, total]`` for progress, then ``{"pages", "encoding"}`` or
``{"error"}``.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from index.errors import BookError

STEP_SECONDS = 60.0
"""Longest time for one page, or for a file without pages."""
ALL_SECONDS = 900.0
"""Longest time for a whole file."""
MAX_MEMORY = 1 << 30
"""Bytes of address space of the reading process (not on Windows)."""
_ROOT = Path(__file__).resolve().parents[2]


def read_apart(form: str, path: Path, progress: Callable[[int, int], None] | None = None) -> tuple[tuple[str, ...], str]:
    """The pages of the file and, for a web page, its encoding. Raises `BookError` in one sentence for what cannot be read."""
    command = [sys.executable, "-m", "index.readers.apart", form, str(path.resolve())]
    lines: queue.Queue[bytes] = queue.Queue()
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        threading.Thread(target=_pump, args=(child.stdout, lines), daemon=True).start()
        try:
            return _result(path.name, lines, progress)
        finally:
            child.kill()


def _pump(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _result(name: str, lines: queue.Queue[bytes], progress: Callable[[int, int], None] | None) -> tuple[tuple[str, ...], str]:
    deadline = time.monotonic() + ALL_SECONDS
    while True:
        try:
            line = lines.get(timeout=max(0.0, min(STEP_SECONDS, deadline - time.monotonic())))
        except queue.Empty as error:
            raise BookError(f"{name} takes too long to read; print it to a new PDF, or save its text as .txt.") from error
        if not line:
            raise BookError(f"{name} cannot be read: it is damaged, or needs too much memory; save its text as .txt.")
        found: Any = json.loads(line)
        if isinstance(found, list):
            if progress:
                progress(*found)
        elif "error" in found:
            raise BookError(found["error"])
        else:
            return tuple(found["pages"]), found["encoding"]


def _bound_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # not everywhere
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def _say(value: Any) -> None:
    sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def _read(form: str, path: Path) -> dict[str, Any]:
    if form == "pdf":
        from index.readers.pdf import read_pdf

        return {"pages": read_pdf(path, lambda done, total: _say([done, total])), "encoding": ""}
    if form == "docx":
        from index.readers.docx import read_docx

        return {"pages": [read_docx(path)], "encoding": ""}
    from index.readers.html import read_html

    text, encoding = read_html(path.name, path.read_bytes())
    return {"pages": [text], "encoding": encoding}


def main(form: str, path: Path) -> None:
    """What the process does: read the file and say what came of it."""
    _bound_memory()
    try:
        found = _read(form, path)
    except BookError as error:
        found = {"error": str(error)}
    except Exception as error:  # a library can raise anything on a damaged file
        found = {"error": f"{path.name} cannot be read ({type(error).__name__}): it is damaged; save its text as .txt."}
    _say(found)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
