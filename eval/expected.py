"""Compare rates with ``expected.yaml``: OK where the aim is met, okish where the last accepted figure is, else FAIL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel

from eval.metrics import Rate
from index.errors import ContractError

PATH = Path(__file__).resolve().parent / "expected.yaml"
Verdict = Literal["OK", "okish", "FAIL"]


class Expected(BaseModel, extra="forbid", frozen=True):
    """A rate that is expected of a system on a part of the questions.

    ``aim`` is what we want; ``accepted`` what must not get worse; ``is_low`` where lower is better.
    """

    system: str
    part: str
    measure: str
    aim: float
    accepted: float
    is_low: bool = False

    def judge(self, value: float) -> Verdict:
        """OK, okish or FAIL."""
        if self.is_low:
            return "OK" if value <= self.aim else "okish" if value <= self.accepted else "FAIL"
        return "OK" if value >= self.aim else "okish" if value >= self.accepted else "FAIL"


@dataclass(frozen=True)
class Compared:
    """An expectation and what was measured."""

    expected: Expected
    rate: Rate
    verdict: Verdict


def read_expected(path: Path = PATH) -> tuple[Expected, ...]:
    """The expectations. Raises `ContractError` when the file is damaged."""
    try:
        return tuple(Expected.model_validate(row) for row in yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValueError, TypeError) as error:
        raise ContractError(f"{path.name} is damaged ({error}); restore the file.") from error


def compare(rates: Mapping[tuple[str, str, str], Rate], expected: Iterable[Expected] | None = None) -> tuple[Compared, ...]:
    """Judge what was measured, by (system, part, measure); what was not measured in this run is left out."""
    found = []
    for one in expected if expected is not None else read_expected():
        rate = rates.get((one.system, one.part, one.measure))
        if rate is not None and rate.total:
            found.append(Compared(one, rate, one.judge(rate.value)))
    return tuple(found)
