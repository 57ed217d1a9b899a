"""Feedback as candidates for the gold set, in its format (``eval/gold/README.md``): a person reads and completes each one.

Names of players that the log knows and table numbers are taken out; what else a story tells of people, nobody can know here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from index.books import clause_list
from index.clause_id import find_clause_ids
from index.hashing import sha256_value
from rag.log import Log
from rag.log_entry import Entry
from rag.procedure import read_facts
from rag.ruling import with_following

QUESTION_CHARS = (8, 1500)
"""Shortest and longest question that the gold set takes; others are no candidates."""
TOPIC = "from-the-log"
_SEATS = {"n": ("North", "Север"), "e": ("East", "Восток"), "s": ("South", "Юг"), "w": ("West", "Запад")}
_SEATS |= {name.lower(): names for names in list(_SEATS.values()) for name in names}
_SOMEONE = ("a player", "игрок")
_NAME_PART = 3
"""Letters from which a part of a name is taken out where it stands alone."""
_NUMBER = r"(?:(?:no\.?|number|номер|[#№])\s*)?"
_AT_TABLE = rf"(?:\b(?:at|on|from|за|на|с|у|из)\s+)?\b(?:table|tbl|стол(?:а|у|е|ом)?)\b\.?\s*{_NUMBER}"
_ORDINAL = (
    r"(?:\b(?:за|на|с|у|из)\s+)?\b\d+(?:-?[а-яё]{1,3})?\s+стол(?:а|у|е|ом)?\b"
    r"|\b(?:(?:at|on|from)\s+)?(?:the\s+)?\d+(?:st|nd|rd|th)\s+table\b"
)


def gold_candidates(log: Log, case: str | None = None) -> Iterator[str]:
    """JSON lines, one for each question whose last feedback stands: of the whole log, or of one case.

    What was found wrong must cite the clauses that the director names in saying why; where none is named ``must_cite`` is
    left empty, so that `eval.gold.read_gold` refuses the line until a person has filled it in.
    """
    for entry in log.judged():
        if case not in {None, entry.case}:
            continue
        line = _candidate(entry)
        if QUESTION_CHARS[0] <= len(line["question"]) <= QUESTION_CHARS[1]:
            yield json.dumps(line, ensure_ascii=False)


def _candidate(entry: Entry) -> dict[str, Any]:
    ruling, is_right = entry.ruling, entry.verdict == "right"
    asked = ruling["ask"][0] if is_right and ruling["status"] == "ask" and ruling["ask"] else None
    is_uncovered = is_right and ruling["status"] == "not-covered"
    cites = ruling["cites"] if is_right else _named(entry.why, ruling["edition"])
    procedure = ruling["procedure"] if is_right else None
    said = "right" if is_right else "wrong"
    return {
        "id": f"log-{sha256_value([entry.case, entry.turn])[:12]}",
        "lang": ruling["lang"],
        "book": ruling["book"],
        "question": _stripped(_story(ruling), entry),
        "topic": procedure["id"] if procedure else TOPIC,
        "family": f"log-{sha256_value(entry.case)[:12]}",
        "kind": "judgement" if ruling["status"] == "judgement" else "book",
        "must_cite": [] if asked or is_uncovered else [[clause] for clause in cites],
        "may_cite": [],
        "never_cite": [],
        "say": [],
        "never_say": [],
        "answerable": "needs-fact" if asked else "no" if is_uncovered else "yes",
        "missing_fact": asked["question"] if asked else "",
        "difficulty": "medium",
        "why": _stripped(f"The director found the answer {said}. {entry.why}".strip(), entry),
        "procedure": [procedure["id"]] if procedure else [],
        "facts": _told(procedure) if procedure else {},
        "asks": [asked["fact"]] if asked else [],
        "then": ruling["then"][0]["procedure"]["id"] if procedure and ruling["then"] else "",
    }


def _named(why: str, edition: str) -> list[str]:
    """The clauses of the edition that a text names."""
    known = clause_list(edition)
    return [str(clause) for clause in find_clause_ids(why) if not known or clause in known]


def _story(ruling: Mapping[str, Any]) -> str:
    """All that was told: the questions of the case up to this one, and the facts that were answered or changed by a tap."""
    turns = [turn["question"] for turn in ruling["state"]["turns"]]
    told = turns if turns[-1:] == [ruling["question"]] else [*turns, ruling["question"]]
    facts = read_facts()
    known: dict[str, Any] = {}
    for part in with_following(ruling):
        known |= part["procedure"]["facts"] if part["procedure"] else {}
    for name, one in known.items():
        if one["from"] in {"answered", "changed"} and name in facts:
            fact, lang = facts[name], ruling["lang"]
            label = next((option.label.of(lang) for option in fact.options if option.id == one["value"]), one["value"])
            told.append(f"{fact.question.of(lang)} {label}.")
    return "\n".join(told)


def _told(procedure: Mapping[str, Any]) -> dict[str, str]:
    """The facts that the story states; what was presumed it does not."""
    return {name: one["value"] for name, one in procedure["facts"].items() if one.get("confidence") is not None}


def _stripped(text: str, entry: Entry) -> str:
    """The text with the seat in the place of each player's name, and without the table's number."""
    for seat, name in entry.players.items():
        instead = _SEATS.get(seat.strip().lower(), _SOMEONE)[entry.ruling["lang"] == "ru"]
        whole = " ".join(name.split())
        if whole:
            text = re.sub(rf"(?<!\w){re.escape(whole)}(?!\w)", instead, text, flags=re.IGNORECASE)
        for part in re.findall(r"[^\W\d_]+", whole):
            if len(part) >= _NAME_PART:  # as a name is written, with the endings of Russian cases
                text = re.sub(rf"(?<!\w){part[0].upper()}{part[1:]}[а-яё]{{0,3}}(?!\w)", instead, text)
    numbers = "|".join([r"[a-zа-я]?\d+[a-zа-я]?", *([re.escape(entry.table)] if entry.table else [])])
    for pattern in (rf"{_AT_TABLE}(?:{numbers})(?!\w)", _ORDINAL):
        text = re.sub(pattern, "", text, flags=re.IGNORECASE)
    return re.sub(r"[ \t]+([,.;:!?])", r"\1", re.sub(r"[ \t]{2,}", " ", text)).strip(" ,;:\n")
