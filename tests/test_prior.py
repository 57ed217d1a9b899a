"""The clauses that procedures lead one to expect, on the invented ones, worked out by hand."""

from __future__ import annotations

import pytest

from index.clause_id import parse_clause_id
from rag.prior import FAINT, LIKELY, expected_clauses
from tests.invented import Chances, heard

pytestmark = pytest.mark.usefixtures("invented")


def expected(chances: Chances | None) -> dict[str, float]:
    return {str(clause): share for clause, share in expected_clauses(chances).items()}


def test_without_heads_nothing_is_expected() -> None:
    assert expected(None) == {}
    assert expected(heard({})) == {}


def test_what_is_told_surely_leads_to_one_leaf() -> None:
    """A new deck: 27B1 now and 27A1 among the options, each once though cited twice; ``then`` is another ruling."""
    assert expected(heard({"tea": 1.0}, spilled={"yes": 1.0}, who={"north": 1.0})) == {"27B1": 1.0, "27A1": 1.0}


def test_what_is_not_stated_leads_to_what_is_presumed() -> None:
    """South is presumed: the judgement, which cites 27B1."""
    assert expected(heard({"tea": 0.75}, spilled={"yes": 1.0})) == {"27B1": 0.75}


def test_what_is_not_stated_and_not_presumed_leads_into_all_branches_alike() -> None:
    """Tea: spilled or not by halves. Spilled: South presumed, 27B1. Not spilled: the link to dry, 27A1 whatever it takes."""
    assert expected(heard({"tea": 1.0})) == {"27B1": 0.5, "27A1": 0.5}


def test_each_branch_counts_by_its_probability() -> None:
    """Spilled 0.75 + 0.25 / 2 = 0.875; North 0.5, South 0 + 0.5 presumed.

    New deck 0.875 * 0.5 = 0.4375 for 27B1 and 27A1, judgement 0.4375 for 27B1, dry 0.125 for 27A1.
    """
    found = expected(heard({"tea": 1.0}, spilled={"yes": 0.75}, who={"north": 0.5}))
    assert found == pytest.approx({"27B1": 0.875, "27A1": 0.5625})


def test_likely_irregularities_add_up_by_their_probability() -> None:
    """Tea 0.5: 27B1 0.25, 27A1 0.25. Mop 0.25: 27B. Dry 0.125: 27A1. What is none of them adds nothing."""
    assert expected(heard({"tea": 0.5, "mop": 0.25, "dry": 0.125})) == {"27B1": 0.25, "27A1": 0.375, "27B": 0.25}


def test_a_fact_taken_on_a_path_is_not_open_again_behind_a_link() -> None:
    """Fire: South and spilled go on to tea, where both are taken: the judgement only, and not dry."""
    assert expected(heard({"fire": 1.0}, who={"south": 1.0}, spilled={"yes": 1.0})) == {"27B1": 1.0}


def test_the_branches_of_a_likely_irregularity_sum_to_it() -> None:
    """Fire by halves: North makes noise (27B 0.5); South and spilled 0.25 the judgement; South and not spilled 0.25 out."""
    assert expected(heard({"fire": 1.0})) == {"27B": 0.75, "27B1": 0.25}


def test_a_faint_branch_is_left_out() -> None:
    assert expected(heard({"mop": FAINT})) == {}, "its branches are fainter"
    assert expected(heard({"mop": 2 * FAINT})) == pytest.approx({"27B": 2 * FAINT})
    found = expected(heard({"tea": 1.0}, spilled={"yes": 0.995, "no": 0.005}, who={"south": 1.0}))
    assert found == pytest.approx({"27B1": 0.995})


def test_only_the_likeliest_are_walked() -> None:
    """None of them is one of the five; the sixth, mop, is left out."""
    assert LIKELY == 5
    told = heard(
        {"tea": 0.25, "dry": 0.1875, "fire": 0.125, "noise": 0.09375, "mop": 0.0625}, spilled={"no": 1.0}, alarm={"yes": 1.0}
    )
    assert told["irregularity"][""] == 0.28125
    assert set(expected(told)) == {"27A1", "27B"}
    assert expected(told)["27B"] == pytest.approx(0.125 + 0.09375), "fire and noise"


def test_a_fact_that_the_heads_were_not_taught_is_open() -> None:
    assert expected({"irregularity": {"mop": 0.5, "": 0.5}}) == {"27B": 0.5}


def test_a_procedure_that_is_gone_since_the_training_is_not_expected() -> None:
    assert expected({"irregularity": {"flood": 0.75, "mop": 0.25, "": 0.0}}) == {"27B": 0.25}


def test_clauses_are_named_as_the_book_names_them() -> None:
    assert set(expected_clauses(heard({"mop": 1.0}))) == {parse_clause_id("27B")}
