"""How good answers are: measures of one answer against its gold ruling, and of many (missing answers count 0).

An answer is the JSON of ``tablelaw ask --json``; ``None`` where there is none (an error, or a run that was cut short).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.gold import Gold
from eval.metrics import Rate, rate
from index.books import clause_list
from index.clause_id import ClauseId, parse_clause_id
from index.errors import UnknownClause
from rag.ruling import with_following

Answer = Mapping[str, Any]
MAX_WORDS = 120
"""A longer answer is not read at a table."""
MAX_OTHER_CITES = 4
"""Clauses outside ``must_cite`` and ``may_cite`` that an accurate answer may name at most."""


@dataclass(frozen=True)
class Answered:
    """A gold ruling and the answer that was given to its question."""

    gold: Gold
    answer: Answer | None


def cited(answer: Answer) -> list[ClauseId]:
    """The clauses an answer cites, those of a second irregularity with them; what is no clause id is left out."""
    found: list[ClauseId] = []
    for text in (clause for part in with_following(answer) for clause in part["cites"]):
        try:
            found.append(parse_clause_id(text))
        except UnknownClause:
            continue
    return list(dict.fromkeys(found))


def words_of(answer: Answer) -> str:
    """All that an answer says: its sentences of every part, and those of a second irregularity."""
    texts = [sentence["text"] for one in with_following(answer) for sentence in one["sentences"]]
    return " ".join([answer["answer"], *texts])


def citation_validity(one: Answered) -> list[float]:
    """For each id cited, by a second ruling, too: 1 when the edition has a clause of that number."""
    if not one.answer:
        return []
    known = clause_list(one.answer["edition"])
    return [float(_is_clause(text, known)) for part in with_following(one.answer) for text in part["cites"]]


def _is_clause(text: str, known: frozenset[ClauseId]) -> bool:
    try:
        return parse_clause_id(text) in known or not known
    except UnknownClause:
        return False


def provenance(one: Answered) -> list[float]:
    """For each id cited: 1 when its law card stands beside the answer, so that it can be read."""
    if not one.answer:
        return []
    shown = [({law["id"] for law in part["laws"]}, part["cites"]) for part in with_following(one.answer)]
    return [float(clause in laws) for laws, cites in shown for clause in cites]


def citation_precision(one: Answered) -> list[float]:
    """For each id cited in answer to a question that has deciding clauses: 1 when gold names it as must or may."""
    if not one.answer or not one.gold.must_cite:
        return []
    return [float(clause in one.gold.good_cites) for clause in cited(one.answer)]


def citation_recall(one: Answered) -> float:
    """Share of the ``must_cite`` sets of which the answer cites one."""
    if not one.answer or not one.gold.must_cite:
        return 0.0
    found = set(cited(one.answer))
    return sum(bool(found & alternatives) for alternatives in one.gold.must) / len(one.gold.must)


def says_right(one: Answered) -> bool:
    """Whether of each set of ``say`` one expression matches the answer, and none of ``never_say`` does."""
    if not one.answer:
        return False
    text = words_of(one.answer)

    def matches(expression: str) -> bool:
        return re.search(expression, text, re.IGNORECASE) is not None

    return all(any(map(matches, forms)) for forms in one.gold.say) and not any(map(matches, one.gold.never_say))


def is_accurate(one: Answered) -> bool:
    """Whether the ruling is right.

    Every ``must_cite`` set is cited, none of ``never_cite``, at most `MAX_OTHER_CITES` clauses beyond must and may; it says
    what is right (`says_right`), in at most `MAX_WORDS` words.
    """
    if not one.answer or one.answer["status"] in {"ask", "not-covered"}:
        return False
    found = set(cited(one.answer))
    return (
        citation_recall(one) == 1.0
        and not found & set(map(parse_clause_id, one.gold.never_cite))
        and len(found - one.gold.good_cites) <= MAX_OTHER_CITES
        and says_right(one)
        and len(one.answer["answer"].split()) <= MAX_WORDS
    )


def refuses(one: Answered) -> bool:
    """Whether the answer says that the book does not cover the question."""
    return bool(one.answer) and one.answer["status"] == "not-covered"  # type: ignore[index]


def asks_right(one: Answered) -> bool:
    """Whether the answer asks the missing fact: one of ``asks`` where gold names them, else any fact."""
    asked = {fact["fact"] for fact in _asked(one.answer)} if one.answer else set()
    return bool(asked & set(one.gold.asks)) if one.gold.asks else bool(asked)


def _asked(answer: Answer) -> list[Mapping[str, Any]]:
    return [fact for part in with_following(answer) for fact in part["ask"]]


def is_premature(one: Answered) -> bool:
    """Whether the answer rules though a fact is missing, without giving all clauses between which that fact decides.

    A judgement states no result, so it is never premature.
    """
    return bool(one.answer) and one.answer["status"] == "ruling" and citation_recall(one) < 1.0  # type: ignore[index]


def is_right_irregularity(one: Answered) -> bool:
    """Whether a procedure rules that gold names."""
    return bool(one.answer and one.answer["procedure"] and _started(one.answer) in one.gold.procedure)


def _started(answer: Answer) -> str:
    """The procedure that was recognised: a link may have led on to another one."""
    return str(answer["state"]["facts"].get("irregularity", answer["procedure"]["id"]))


def laws_cited(answer: Answer | None) -> frozenset[int | None]:
    """The laws of the clauses cited: what must not change when the seats are turned."""
    return frozenset(clause.law for clause in cited(answer)) if answer else frozenset()


def measures(answered: Sequence[Answered]) -> dict[str, Rate]:
    """All measures with their intervals; each over the questions (or citations) that it is about."""
    answerable = [one for one in answered if one.gold.answerable == "yes" or one.gold.is_false_premise]
    lacking = [one for one in answered if one.gold.answerable == "needs-fact"]
    uncovered = [one for one in answered if one.gold.is_uncovered]
    refused = [one for one in answered if refuses(one)]
    by_procedure = [one for one in answered if one.gold.procedure and one.gold.answerable != "no"]
    of_procedure = [one for one in by_procedure if one.gold.answerable == "yes"]
    return {
        "citation validity": rate([value for one in answered for value in citation_validity(one)]),
        "provenance": rate([value for one in answered for value in provenance(one)]),
        "citation precision": rate([value for one in answerable for value in citation_precision(one)]),
        "citation recall": rate([citation_recall(one) for one in answerable]),
        "says right": _share(answerable, says_right),
        "ruling accuracy": _share(answerable, is_accurate),
        "refusal precision": rate([float(one.gold.is_uncovered) for one in refused]),
        "refusal recall": _share(uncovered, refuses),
        "false refusals": _share([one for one in answered if not one.gold.is_uncovered], refuses),
        "missing facts asked": _share(lacking, asks_right),
        "asks some fact": _share(lacking, lambda one: bool(one.answer and _asked(one.answer))),
        "premature rulings": _share(lacking, is_premature),
        "irregularity": _share(by_procedure, is_right_irregularity),
        "ruling accuracy where a procedure covers it": _share(of_procedure, is_accurate),
        "seconds to the first sentence": rate([_seconds(one.answer, "first_token_ms") for one in answered if one.answer]),
        "seconds to the answer": rate([_seconds(one.answer, "total_ms") for one in answered if one.answer]),
    }


def _seconds(answer: Answer, event: str) -> float:
    return float(answer["timings"][event] or 0.0) / 1000


def _share(answered: Sequence[Answered], is_so: Callable[[Answered], bool]) -> Rate:
    return rate([float(is_so(one)) for one in answered])
