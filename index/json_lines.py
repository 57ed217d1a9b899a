"""Files of JSON lines: the lines that hold something, with their numbers, so that a fault can be named with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from index.errors import TablelawError


def numbered_lines(path: Path, unreadable: Callable[[str], TablelawError]) -> list[tuple[int, str]]:
    """Number (from 1) and text of each line that is not blank. Raises ``unreadable(reason)`` for what is no UTF-8 file."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(type(error).__name__) from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
