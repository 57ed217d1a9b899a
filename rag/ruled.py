"""The outcome of a procedure as a `Ruling`: the answer object that the page and the command line show."""

from __future__ import annotations

import time

from index.books import DEFAULT_BOOK, read_book
from index.clause_id import parse_clause_id
from index.wording import shown, wordings
from rag.event import read_event, regulations
from rag.rule import Outcome
from rag.ruling import NO_MODEL, AskedFact, LawCard, Ruling, Sentence, State, Status, Timings, card

TOLD_AT_ONCE = ("now", "options")
"""Parts that make up the answer's text; what comes later or is to be said stands in the sentences."""
PRESUMED_AS = "read"
"""How the contract names what is presumed or set by the ruling before; its confidence is null."""


def to_ruling(outcome: Outcome, lang: str) -> Ruling:
    """The ruling in a language: sentences with their clauses, or the fact to ask; with what follows (``then``)."""
    started = time.perf_counter()
    procedure, leaf, asked = outcome.procedure, outcome.leaf, outcome.ask
    status: Status = "ask" if leaf is None else "judgement" if leaf.kind == "judgement" else "ruling"
    said = leaf.sentences if leaf else []
    sentences = tuple(Sentence(one.ru if lang == "ru" else one.en, tuple(one.cites), one.part) for one in said)
    if leaf:
        told = tuple(regulations(leaf, lang, read_event()))
        spoken = [k for k, one in enumerate(sentences) if one.part == "say"]
        at = spoken[0] if spoken else len(sentences)
        sentences = (*sentences[:at], *told, *sentences[at:])
    cites = tuple(leaf.cites) if leaf else ()
    question = asked.question.of(lang) if asked else ""
    laws = _laws(cites or tuple(procedure.laws), lang)
    total = round(1000 * (time.perf_counter() - started), 1)
    return Ruling(
        question=procedure.title.of(lang),
        lang=lang,
        book=DEFAULT_BOOK,
        edition=procedure.edition,
        status=status,
        answer=question or " ".join(sentence.text for sentence in sentences if sentence.part in TOLD_AT_ONCE),
        sentences=sentences,
        cites=cites,
        laws=laws,
        ask=(AskedFact(asked.id, question, tuple(option.id for option in asked.options)),) if asked else (),
        procedure={
            "id": procedure.id,
            "facts": {
                step.fact: {
                    "value": step.known.option,
                    "from": PRESUMED_AS if step.known.source in {"presumed", "set"} else step.known.source,
                    "confidence": step.known.confidence,
                }
                for step in outcome.path
            },
            "path": [step.fact for step in outcome.path],
        },
        then=tuple(to_ruling(one, lang) for one in outcome.then),
        state=State(DEFAULT_BOOK, lang, facts={s.fact: s.known.option for s in outcome.path if s.known.source == "stated"}),
        model=NO_MODEL,
        timings=Timings(0.0, None, None, total),
    )


def _laws(cites: tuple[str, ...], lang: str) -> tuple[LawCard, ...]:
    books = wordings(read_book(DEFAULT_BOOK), lang)
    found = [shown(books, parse_clause_id(clause)) for clause in cites]
    return tuple(card(law, 1.0) for law in found if law)
