"""Which clauses the trees can rule by: all that can decide, but those that ``clauses_not_reached.txt`` lists with a reason."""

from __future__ import annotations

from pathlib import Path

from index.books import DEFAULT_BOOK, read_book
from index.clause_id import ClauseId, parse_clause_id
from rag.procedure import read_procedures


def listed() -> set[ClauseId]:
    lines = (Path(__file__).parent / "clauses_not_reached.txt").read_text(encoding="utf-8").splitlines()
    ids = [line.split(": ")[0].split() for line in lines if not line.startswith("#")]
    return {parse_clause_id(one) for group in ids for one in group}


def test_the_clauses_that_no_leaf_cites_are_the_listed_ones() -> None:
    procedures = read_procedures().values()
    cited = {parse_clause_id(clause) for one in procedures for leaf in one.leaves.values() for clause in leaf.cites}
    laws = {parse_clause_id(law).law for one in procedures for law in one.laws}
    clauses = [clause for clause in read_book(DEFAULT_BOOK).clauses if clause.text and not clause.is_lead_in]
    assert {clause.id for clause in clauses if clause.id.law in laws and clause.id not in cited} == listed()


def test_the_laws_that_no_procedure_names_order_the_game_only() -> None:
    laws = {parse_clause_id(law).law for one in read_procedures().values() for law in one.laws}
    assert set(range(1, 94)) - laws == {1, 3, 4, 5, 44, 78, 80}
