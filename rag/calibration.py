"""Thresholds measured for one embedder, in ``calibration.yaml``; refused when another embedder is in use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from index.errors import ContractError
from index.search import Ranking
from rag.mixing import Mixing
from rag.reading import Thresholds

PATH = Path(__file__).resolve().parent / "calibration.yaml"


@dataclass(frozen=True)
class Calibration:
    """What tells whether the book covers a question.

    ``floor``: the nearest row has at least this cosine. ``head``: weights and bias of a linear classifier over the question's
    embedding, zero or more where it is about the Laws; without a head the floor alone decides. ``mixing`` and ``reading``: how
    the readers of a story count, and from which confidence on an irregularity and a fact are taken as told.
    """

    embedder_sha256: str
    floor: float
    head: tuple[float, ...] = ()
    reading: Thresholds | None = None
    mixing: Mixing | None = None

    def covers(self, ranking: Ranking) -> bool:
        """Whether the book covers the question; one that names a clause is always covered."""
        if ranking.is_named:
            return True
        if ranking.nearest < self.floor:
            return False
        return not self.head or bool(judge(np.array(self.head, dtype=np.float32), ranking.vector))


def judge(head: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether a head (weights and bias, shape ``(dimension + 1,)``) takes each of the vectors for covered."""
    judged: NDArray[np.bool_] = vectors @ head[:-1] + head[-1] >= 0
    return judged


@lru_cache(maxsize=1)
def _read() -> Calibration:
    try:
        data = yaml.safe_load(PATH.read_text(encoding="utf-8"))
        reading = Thresholds(**{name: float(value) for name, value in data["reading"].items()}) if "reading" in data else None
        mixing = Mixing(**{name: (float(a), float(b)) for name, (a, b) in data["mixing"].items()}) if "mixing" in data else None
        head = tuple(map(float, data.get("head", ())))
        return Calibration(str(data["embedder_sha256"]), float(data["floor"]), head, reading, mixing)
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ContractError(f"{PATH.name} is damaged ({error}); run: python -m eval.floor --write") from error


def calibration_for(embedder_sha256: str) -> Calibration | None:
    """The calibration, or ``None`` when it was made with another embedder: then the law is only quoted."""
    found = _read()
    return found if found.embedder_sha256 == embedder_sha256 else None
