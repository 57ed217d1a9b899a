"""A case of the ruling log as a page to print, for an appeals committee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from index.books import DEFAULT_BOOK, EDITION_IN_FORCE, read_book
from index.clause_id import parse_clause_id
from index.wording import shown, wordings
from rag.event import Event, read_event
from rag.log_entry import Entry
from rag.page.procedure_view import view
from rag.page.render import templates
from rag.procedure import read_procedures
from rag.ruling import card, with_following
from rag.strings import authority, strings

APPEAL_CLAUSES = ("92A", "92B", "79C1", "79C1#fn", "79C2")
"""Who may appeal, until when, and until when a score is corrected (Laws of 2017)."""
TIME_LIMITS = ("appeal_minutes", "correction_minutes")


@dataclass(frozen=True)
class FactRow:
    """A fact that a ruling rests on, in words: the question, what was taken, and how it is known."""

    question: str
    taken: str
    source: str


@dataclass(frozen=True)
class RulingView:
    """One ruling of a turn, or one that follows it; ``laws`` are the cards to print in full."""

    title: str
    ruling: Mapping[str, Any]
    facts: tuple[FactRow, ...]


@dataclass(frozen=True)
class TurnView:
    """One question of the case: its latest revision, all of them, and the law as it was shown."""

    entry: Entry
    revisions: tuple[Entry, ...]
    rulings: tuple[RulingView, ...]
    laws: tuple[Mapping[str, Any], ...]
    authority: str


def appeal_html(entries: Sequence[Entry]) -> str:
    """The page of one case from all its revisions, by question and revision, in the language of its last question.

    Raises `ContractError` when the event's regulations cannot be read.
    """
    last = entries[-1]
    lang, edition = str(last.ruling["lang"]), str(last.ruling["edition"])
    turns = turn_views(entries)
    in_force = edition == EDITION_IN_FORCE
    return (
        templates()
        .get_template("appeal.html")
        .render(
            case=last.case,
            lang=lang,
            text=strings(lang),
            turns=turns,
            edition=edition,
            in_force=in_force,
            limits=_limits(read_event(), lang) if in_force else [],
            appeal=_appeal_clauses(lang) if in_force else [],
        )
    )


def turn_views(entries: Sequence[Entry]) -> list[TurnView]:
    """The questions of a case from all its revisions, by question and revision."""
    return [_turn(tuple(revisions)) for _, revisions in groupby(entries, key=lambda entry: entry.turn)]


def _turn(revisions: tuple[Entry, ...]) -> TurnView:
    entry = revisions[-1]
    ruling = entry.ruling
    laws = _laws(ruling)
    line = authority(ruling["lang"], ruling["edition"], laws[0]["source"]) if laws else ""
    return TurnView(entry, revisions, tuple(_rulings(ruling, ruling["lang"])), laws, line)


def _rulings(ruling: Mapping[str, Any], lang: str) -> Iterator[RulingView]:
    """The ruling and those that follow it."""
    for one in with_following(ruling):
        found = one["procedure"]
        procedure = read_procedures().get(found["id"]) if found else None
        title = procedure.title.of(lang) if procedure else found["id"] if found else ""
        yield RulingView(title, one, tuple(_facts(one, lang)))


def _facts(ruling: Mapping[str, Any], lang: str) -> Iterator[FactRow]:
    """The facts on the path; in their names where the procedures of today do not have them any more."""
    found = ruling["procedure"]
    if not found:
        return
    today = view(ruling, (), lang, {})
    words = {fact.id: fact for fact in today.facts} if today else {}
    for name, known in found["facts"].items():
        fact = words.get(name)
        is_presumed = known["from"] == "read" and known.get("confidence") is None
        source = strings(lang)["from_presumed" if is_presumed else f"from_{known['from']}"]
        yield FactRow(fact.question if fact else name, (fact.taken if fact else "") or str(known["value"]), source)


def _laws(ruling: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The clauses that the ruling and those that follow it cite, as they were shown; all that was shown where none is cited."""
    parts = with_following(ruling)
    cited = {law["id"]: law for part in reversed(parts) for law in part["laws"] if law["id"] in part["cites"]}
    order = dict.fromkeys(clause for part in parts for clause in part["cites"] if clause in cited)
    return tuple(cited[clause] for clause in order) or tuple(ruling["laws"])


def _limits(event: Event, lang: str) -> list[str]:
    text = strings(lang)
    values = {setting: getattr(event, setting) for setting in TIME_LIMITS}
    return [
        text[f"event_{setting}_unset"] if value is None else text[f"event_{setting}"].format(value=value)
        for setting, value in values.items()
    ]


def _appeal_clauses(lang: str) -> list[Mapping[str, Any]]:
    books = wordings(read_book(DEFAULT_BOOK), lang)
    found = [shown(books, parse_clause_id(clause)) for clause in APPEAL_CLAUSES]
    return [vars(card(law, 1.0)) for law in found if law]
