"""What a benchmark tells of one thing it measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured value; ``ratio`` compares it with another one of the same run."""

    name: str
    value: str
    ratio: str = ""
