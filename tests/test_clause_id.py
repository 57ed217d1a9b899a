from __future__ import annotations

import pytest

from index.clause_id import ClauseId, find_clause_ids, parse_clause_id
from index.errors import UnknownClause
from index.paths import bundled_books_dir

ALL_IDS = (bundled_books_dir() / "clauses-2017.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Law 27 B 1 a", "27B1(a)"),
        ("27b1a", "27B1(a)"),
        ("L27B1(a)", "27B1(a)"),
        ("law 64", "64"),
        ("правило 27В1", "27B1"),
        ("пр.27Б1", "27B1"),
        ("закон 27Г", "27D"),
        ("12Д1", "12E1"),
        ("12С1(в)", "12C1(b)"),
        ("zakon 27B1", "27B1"),
        ("30b1bii", "30B1(b)(ii)"),
        ("80B2i", "80B2(i)"),
        ("80B2gi", "80B2(g)(i)"),
        ("27B1(A)", "27B1(A)"),
        ("41a#FN", "41A#fn"),
        ("41B#fn2", "41B#fn2"),
        ("def:Revoke", "Def:revoke"),
        ("Def:honour", "Def:honor"),
        ("Def: Penalty Card", "Def:penalty-card"),
        ("note:27", "Note:27"),
        ("dc4:25.1", "DC4:25.1"),
        ("§ 16", "16"),
    ],
)
def test_every_spelling_people_use_is_read(typed: str, meant: str) -> None:
    assert str(parse_clause_id(typed)) == meant


@pytest.mark.parametrize("typed", ["", "abc", "0", "94", "100A", "27B1(a)(i)(x)", "Def:", "27-Я", "law", "1" * 5000])
def test_what_is_no_clause_number_is_told_how_to_write_one(typed: str) -> None:
    with pytest.raises(UnknownClause, match=r"write it like 27B1\(a\)"):
        parse_clause_id(typed)


def test_every_id_of_the_edition_is_read_as_itself() -> None:
    assert [str(parse_clause_id(text)) for text in ALL_IDS] == ALL_IDS
    assert len(set(map(parse_clause_id, ALL_IDS))) == len(ALL_IDS)


def test_ids_are_compared_case_folded_and_shown_as_printed() -> None:
    old = parse_clause_id("27B1(A)")
    assert old == parse_clause_id("27b1(a)")
    assert str(old) == "27B1(A)"


@pytest.mark.parametrize(
    ("clause", "above"),
    [
        ("30B1(b)(ii)", ["30B1(b)", "30B1", "30B", "30"]),
        ("12C", ["12"]),
        ("12", []),
        ("50D2(a)#fn", ["50D2(a)", "50D2", "50D", "50"]),
        ("Def:revoke", []),
    ],
)
def test_ancestors_go_up_to_the_law(clause: str, above: list[str]) -> None:
    assert [str(a) for a in ClauseId(clause).ancestors()] == above


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what do Law 27B1a and 16C say", ["27B1(a)", "16C"]),
        ("правило 27В1 или пр.64А1?", ["27B1", "64A1"]),
        ("law 27 b 1 a, L64", ["27B1(a)", "64"]),
        ("see 12C1(b) twice: 12c1b", ["12C1(b)"]),
        ("he opened 1NT, then 4S; led the 5C, 10 cards left, 12 tricks", []),
        ("1D - 1H - 2C and 3d", []),
        ("13 H, 10 C cards, lost 9 d tricks", []),
        ("law 94", []),
        ("", []),
    ],
)
def test_law_numbers_in_running_text_are_found_and_bids_are_not(text: str, named: list[str]) -> None:
    assert [str(clause) for clause in find_clause_ids(text)] == named
