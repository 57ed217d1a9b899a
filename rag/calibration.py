"""Thresholds measured for one embedder, in ``calibration.yaml``; refused when another embedder is in use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from index.errors import ContractError

PATH = Path(__file__).resolve().parent / "calibration.yaml"


@dataclass(frozen=True)
class Calibration:
    """``floor``: a question whose nearest row has a cosine below it is not covered by the book."""

    embedder_sha256: str
    floor: float


@lru_cache(maxsize=1)
def _read() -> Calibration:
    try:
        data = yaml.safe_load(PATH.read_text(encoding="utf-8"))
        return Calibration(str(data["embedder_sha256"]), float(data["floor"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ContractError(f"{PATH.name} is damaged ({error}); run: python -m eval.floor --write") from error


def calibration_for(embedder_sha256: str) -> Calibration | None:
    """The calibration, or ``None`` when it was made with another embedder: then the law is only quoted."""
    found = _read()
    return found if found.embedder_sha256 == embedder_sha256 else None
