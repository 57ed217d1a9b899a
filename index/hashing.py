"""SHA-256 of files and values: what binds an index to its books and a download to its source."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file, read in pieces of 1 MiB."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_value(value: Any) -> str:
    """Hex SHA-256 of a JSON value, independent of key order."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def sha256_folder(folder: Path) -> str:
    """Hex SHA-256 over names and contents of all files in a folder and those below it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return sha256_value([[path.relative_to(folder).as_posix(), sha256_file(path)] for path in files])


def remembered_sha256(path: Path) -> str:
    """Like `sha256_file`, but remembered in ``<name>.sha256`` beside it while size and time of the file are the same.

    A model of a gigabyte is not read in full at each start. A folder that cannot be written is hashed each time.
    """
    stamp = path.with_name(path.name + ".sha256")
    state = f"{path.stat().st_size} {path.stat().st_mtime_ns}"
    try:
        value, seen = stamp.read_text(encoding="utf-8").strip().split(" ", 1)
        if seen == state:
            return value
    except (OSError, ValueError):
        pass
    value = sha256_file(path)
    with contextlib.suppress(OSError):
        stamp.write_text(f"{value} {state}\n", encoding="utf-8")
    return value
