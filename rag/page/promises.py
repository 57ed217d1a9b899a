"""What was promised for the end of the play or of the round, over a device's cases of the day: the "come back" list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from rag.cases import Case, Cases
from rag.log_entry import Place
from rag.ruling import with_following

OPEN_FOR = timedelta(hours=24)
"""A case is open for so long after its last question: a session lasts an afternoon, a promise no longer than that."""


@dataclass(frozen=True)
class Promise:
    """One sentence of a ruling that is for later; ``lang`` is the ruling's language."""

    case: str
    place: Place
    text: str
    lang: str
    is_kept: bool


def promises_of(cases: Cases, device: str) -> tuple[Promise, ...]:
    """The promises of the device's open cases, newest case first."""
    since = datetime.now(timezone.utc) - OPEN_FOR
    return tuple(promise for case in cases.recent(device, since) for promise in _promises(case))


def _promises(case: Case) -> Iterable[Promise]:
    """Those of each procedure's last ruling: a ruling anew takes the place of the one before."""
    latest: dict[str, dict[str, str]] = {}
    for turn in case.turns:
        for ruling in with_following(turn.ruling) if turn.ruling and turn.done else ():
            name = ruling["procedure"]["id"] if ruling["procedure"] else f"turn {turn.id}"
            latest[name] = {one["text"]: ruling["lang"] for one in ruling["sentences"] if one["part"] == "later"}
    texts = {text: lang for promised in latest.values() for text, lang in promised.items()}
    return [Promise(case.id, case.place, text, lang, text in case.kept) for text, lang in texts.items()]
