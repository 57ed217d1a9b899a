"""Answers kept on disk, so that a long run that was cut short goes on where it stopped."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from eval.answers import Answer
from index import paths


def folder() -> Path:
    """Where answers are kept."""
    return paths.cache_dir() / "answers"


def kept(key: str) -> Answer | None:
    """The answer that was kept under a key; ``None`` for none, or a damaged one, which is asked for again."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        found: Answer = json.loads(_path(key).read_text(encoding="utf-8"))
        return found
    return None


def keep(key: str, answer: Answer) -> None:
    """Keep an answer, replaced in one step."""
    path = _path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
    os.replace(part, path)


def _path(key: str) -> Path:
    return folder() / f"{key[:32]}.json"
