"""How well the automatic judgement of answers agrees with people's: ``python -m eval.agreement``.

``labelled.jsonl``: answers to dev questions, each read by a person against the Laws and called right, partly right or wrong.
Automatically an answer is right when it is accurate (`eval.answers.is_accurate`); where a fact is missing, when it asks that
fact; where the Laws do not answer, when it says so. What is partly right counts as not right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from eval.answers import Answer, Answered, asks_right, is_accurate, refuses
from eval.gold import Gold, read_gold
from eval.metrics import Rate, rate
from index.errors import ContractError, first_fault

PATH = Path(__file__).resolve().parent / "labelled.jsonl"
Label = Literal["right", "partly", "wrong"]


class Labelled(BaseModel, extra="forbid", frozen=True):
    """An answer (``system`` gave it) to a gold question, what a person calls it, and why."""

    id: str
    system: str
    label: Label
    why: str
    answer: Answer


def read_labelled(path: Path = PATH) -> tuple[Labelled, ...]:
    """The labelled answers. Raises `ContractError` with file and line."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"{path.name} cannot be read ({type(error).__name__}); restore the file.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(Labelled.model_validate(json.loads(line)))
            except (ValidationError, ValueError) as error:
                reason = first_fault(error) if isinstance(error, ValidationError) else str(error)
                raise ContractError(f"{path.name}:{number}: {reason}.") from error
    return tuple(found)


def is_right(one: Answered) -> bool:
    """The automatic judgement, by what kind of question it is."""
    if one.gold.answerable == "needs-fact":
        return asks_right(one)
    return refuses(one) if one.gold.is_uncovered else is_accurate(one)


def agreement(labelled: tuple[Labelled, ...], gold: dict[str, Gold]) -> Rate:
    """Share of the answers on which the automatic judgement and the label agree."""
    missing = [one.id for one in labelled if one.id not in gold]
    if missing:
        raise ContractError(f"{PATH.name} names {missing[0]}, which is no gold question.")
    return rate([float(is_right(Answered(gold[one.id], one.answer)) == (one.label == "right")) for one in labelled])


def main() -> None:
    """Print the agreement, and where there is none."""
    gold = {one.id: one for one in read_gold()}
    labelled = read_labelled()
    for one in labelled:
        automatic = "right" if is_right(Answered(gold[one.id], one.answer)) else "not right"
        if (automatic == "right") != (one.label == "right"):
            print(f"{one.id} ({one.system}): {one.label} by eye ({one.why}), automatically {automatic}")
    print(f"agreement of the automatic judgement with labels by eye: {agreement(labelled, gold)}")


if __name__ == "__main__":
    main()
