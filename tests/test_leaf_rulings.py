"""Every leaf against what somebody who had not seen the trees wrote from the Laws (``leaf_rulings.jsonl``)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from index.books import listed_clause
from rag.procedure import read_procedures
from rag.rule import Outcome, rule

TESTS = [json.loads(line) for line in (Path(__file__).parent / "leaf_rulings.jsonl").read_text(encoding="utf-8").splitlines()]


def rulings(outcome: Outcome) -> list[Outcome]:
    """The ruling and those that follow it."""
    return [outcome, *(below for then in outcome.then for below in rulings(then))]


@pytest.mark.parametrize("test", TESTS, ids=[test["id"] for test in TESTS])
def test_a_leaf_rules_as_the_laws_do(test: dict[str, Any]) -> None:
    outcome = rule(test["procedure"], test["facts"])
    assert outcome.leaf, f"{outcome.ask.id if outcome.ask else ''} is still asked"
    assert outcome.leaf.kind == test["kind"]
    leaves = [one.leaf for one in rulings(outcome) if one.leaf]
    cites = {clause for leaf in leaves for clause in leaf.cites}
    said = " ".join(sentence.en for leaf in leaves for sentence in leaf.sentences)
    own = " ".join(sentence.en for sentence in outcome.leaf.sentences)
    for alternatives in test["cites"]:
        assert cites & set(alternatives), f"none of {alternatives} is cited"
    assert not set(outcome.leaf.cites) & set(test["never_cites"])
    for forms in test["says"]:
        assert any(re.search(form, said, re.IGNORECASE) for form in forms), f"none of {forms} is said: {said}"
    for form in test["never_says"]:
        assert not re.search(form, own, re.IGNORECASE), f"{form} is said: {own}"


def test_every_leaf_has_a_test() -> None:
    reached = set()
    for test in TESTS:
        outcome = rule(test["procedure"], test["facts"])
        reached |= {(outcome.procedure.id, name) for name, leaf in outcome.procedure.leaves.items() if leaf is outcome.leaf}
    leaves = {(procedure.id, name) for procedure in read_procedures().values() for name in procedure.leaves}
    assert leaves - reached == set()


def test_the_clauses_that_tests_name_exist() -> None:
    for test in TESTS:
        for clause in (*test["never_cites"], *(clause for alternatives in test["cites"] for clause in alternatives)):
            listed_clause(clause, "2017")
