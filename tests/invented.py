"""Invented irregularities at a tea table, in the place of the bundled procedures, and what heads would read of a story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag.lessons import reachable_facts, usable_facts
from rag.page.tiles import read_tiles
from rag.procedure import read_facts, read_procedures
from rag.reading import Reading, Thresholds

Chances = Mapping[str, Mapping[str, float]]
LIMITS = Thresholds(irregularity=0.5, fact=0.75, presume=0.625)
"""All of them exact in binary, so that what lies on a threshold lies on it."""


def _both(en: str, ru: str) -> dict[str, str]:
    return {"en": en, "ru": ru}


def _fact(name: str, en: str, ru: str, *options: str) -> dict[str, Any]:
    shown = [
        {
            "id": one,
            "label": _both(f"{one} {name}", f"{one} по-русски"),
            "examples": {"en": [f"{name}: {one}"], "ru": [f"«{one}»"]},
        }
        for one in options
    ]
    return {"id": name, "question": _both(en, ru), "why": _both("It matters.", "Это важно."), "options": shown}


def _said(part: str, clause: str, en: str, ru: str) -> dict[str, Any]:
    return {"part": part, "cites": [clause], "en": en, "ru": ru}


def _leaf(*sentences: dict[str, Any], kind: str = "book", **more: Any) -> dict[str, Any]:
    cites = list(dict.fromkeys(clause for one in sentences for clause in one["cites"]))
    return {"kind": kind, "cites": cites, "sentences": list(sentences), **more}


def _tree(name: str, nodes: Mapping[str, Any], leaves: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "edition": "2017",
        "title": _both(f"The {name}", f"{name} по-русски"),
        "laws": ["27A"],
        "kind": "mixed",
        "recognise": {"en": [f"there was {name}"], "ru": [f"случилось {name}"]},
        "start": "n1",
        "nodes": nodes,
        "leaves": leaves,
    }


FACTS = [
    _fact("spilled", "Has tea been spilled?", "Пролили чай?", "yes", "no"),
    _fact("who", "Who did it?", "Кто это сделал?", "north", "south"),
    _fact("cloth", "Is there a cloth?", "Есть тряпка?", "yes", "no"),
    _fact("alarm", "Did the alarm ring?", "Звенела ли тревога?", "yes", "no"),
]
TREES = [
    _tree(
        "tea",
        {
            "n1": {"fact": "spilled", "to": {"yes": "n2", "no": "->dry"}},
            "n2": {"fact": "who", "presume": "south", "to": {"north": "new-deck", "south": "judge"}},
        },
        {
            "new-deck": _leaf(
                _said("now", "27B1", "A new deck is brought.", "Приносят новую колоду."),
                _said("options", "27A1", "West may choose its colour.", "Цвет выбирает Запад."),
                _said("later", "27B1", "Count it after the board.", "Пересчитайте её после сдачи."),
                _said("say", "27A1", "Please wait.", "Подождите."),
                then=["dry", "mop"],
                sets={"spilled": "no"},
            ),
            "judge": _leaf(
                _said("now", "27B1", "Record how wet it is.", "Запишите, насколько мокро."),
                kind="judgement",
            ),
        },
    ),
    _tree(
        "dry",
        {"n1": {"fact": "spilled", "to": {"yes": "go-on", "no": "go-on"}}},
        {"go-on": _leaf(_said("now", "27A1", "Play on.", "Играйте дальше."))},
    ),
    _tree(
        "mop",
        {"n1": {"fact": "cloth", "to": {"yes": "wipe", "no": "wipe"}}},
        {"wipe": _leaf(_said("now", "27B", "Wipe the table.", "Вытрите стол."))},
    ),
    _tree(
        "fire",
        {
            "n1": {"fact": "who", "to": {"north": "->noise", "south": "n2"}},
            "n2": {"fact": "spilled", "to": {"yes": "->tea", "no": "out"}},
        },
        {"out": _leaf(_said("now", "27B", "Go out.", "Выходите."))},
    ),
    _tree(
        "noise",
        {"n1": {"fact": "alarm", "to": {"yes": "hush", "no": "hush"}}},
        {"hush": _leaf(_said("now", "27B", "Hush.", "Тише."))},
    ),
]
"""``tea`` goes on in ``dry`` by a link, ``fire`` in ``noise`` and ``tea``; a new deck is followed by ``dry`` and ``mop``."""


@contextmanager
def invented_procedures(folder: Path) -> Iterator[None]:
    """Puts the invented facts and trees in the place of the bundled ones."""
    read_tiles()  # they name bundled procedures, and are remembered
    for name, data in {"facts": FACTS, **{tree["id"]: tree for tree in TREES}}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag.procedure.FOLDER", folder)
        _forget()
        yield
    _forget()


def _forget() -> None:
    for remembered in (read_facts, read_procedures, reachable_facts, usable_facts):
        remembered.cache_clear()


def heard(irregularity: Mapping[str, float], **facts: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Probabilities as the heads give them: every option of every question, what is left going to "not stated"."""
    options = {"irregularity": [tree["id"] for tree in TREES], **{f["id"]: [o["id"] for o in f["options"]] for f in FACTS}}
    told = {"irregularity": irregularity, **facts}
    assert set(told) <= set(options)
    found = {}
    for question, of_one in options.items():
        chances = told.get(question, {})
        assert set(chances) <= set(of_one)
        found[question] = {option: chances.get(option, 0.0) for option in of_one} | {"": 1 - sum(chances.values())}
    return found


def reading(irregularity: Mapping[str, float] | None = None, **facts: Mapping[str, float]) -> Reading:
    """What a story tells, judged by `LIMITS`."""
    return Reading(heard(irregularity or {}, **facts), LIMITS)
