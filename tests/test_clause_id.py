from __future__ import annotations

import re

import pytest

from index.clause_id import ClauseId, find_clause_ids, parse_clause_id
from index.errors import UnknownClause
from index.paths import bundled_books_dir

ALL_IDS = (bundled_books_dir() / "clauses-2017.txt").read_text(encoding="utf-8").split()
NUMBERED = [text for text in ALL_IDS if text[0].isdigit()]
LOOK_ALIKE = dict(zip("АВСЕКМОРТХ", "ABCEKMOPTX", strict=True))
BY_PLACE = dict(zip("БГД", "BDE", strict=True))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Law 27 B 1 a", "27B1(a)"),
        ("27b1a", "27B1(a)"),
        ("L27B1(a)", "27B1(a)"),
        ("27.B.1.a", "27B1(a)"),
        ("law 64", "64"),
        ("Laws 64", "64"),
        ("rule 27B1", "27B1"),
        ("правило 27В1", "27B1"),
        ("Правилу 16С1", "16C1"),
        ("пр.27Б1", "27B1"),
        ("пр 27Б1", "27B1"),
        ("п. 27Б1", "27B1"),
        ("закон 27Г", "27D"),
        ("12Д1", "12E1"),
        ("12С1(в)", "12C1(b)"),
        ("30Б1(б)(ii)", "30B1(b)(ii)"),
        ("zakon 27B1", "27B1"),
        ("pravilo 64a", "64A"),
        ("30b1bii", "30B1(b)(ii)"),
        ("80B2i", "80B2(i)"),
        ("80B2(i)", "80B2(i)"),
        ("80B2gi", "80B2(g)(i)"),
        ("80B2(g)(i)", "80B2(g)(i)"),
        ("27B1(A)", "27B1(A)"),
        ("30B2(A)", "30B2(A)"),
        ("41a#FN", "41A#fn"),
        ("41B#fn2", "41B#fn2"),
        ("def:Revoke", "Def:revoke"),
        ("Def:honour", "Def:honor"),
        ("Def: Penalty Card", "Def:penalty-card"),
        ("Def:IMP", "Def:international-matchpoint"),
        ("intro:Verbs", "Intro:verbs"),
        ("note:27", "Note:27"),
        ("dc4:25.1", "DC4:25.1"),
        ("DC4:0", "DC4:0"),
        ("DEF", "Def"),
        ("9A2(B)(1)", "9A2(B)(1)"),
        ("правило 9А2(В)(1)", "9A2(B)(1)"),
        ("§ 16", "16"),
        (" 27\u00a0B1\n", "27B1"),
    ],
)
def test_every_spelling_people_use_is_read(typed: str, meant: str) -> None:
    assert str(parse_clause_id(typed)) == meant


@pytest.mark.parametrize(("cyrillic", "latin"), [*LOOK_ALIKE.items(), *BY_PLACE.items()])
def test_a_cyrillic_letter_stands_for_a_latin_one_in_either_case(cyrillic: str, latin: str) -> None:
    assert str(parse_clause_id(f"27{cyrillic}1")) == f"27{latin}1"
    assert str(parse_clause_id(f"27{cyrillic.lower()}1")) == f"27{latin}1"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "abc",
        "0",
        "00",
        "94",
        "100A",
        "27B1(a)(i)(x)",
        "27B1(a",
        "27B1a)",
        "Def:",
        "Def:#",
        "#fn",
        "27-Я",
        "law",
        "1" * 5000,
    ],
)
def test_what_is_no_clause_number_is_told_how_to_write_one(typed: str) -> None:
    with pytest.raises(UnknownClause, match=r"write it like 27B1\(a\)"):
        parse_clause_id(typed)


def test_the_examples_in_the_message_are_clauses_of_the_laws() -> None:
    with pytest.raises(UnknownClause) as caught:
        parse_clause_id("?")
    examples = re.findall(r"27B1\(a\)|(?<=Law )\d+|Def:[a-z-]+", str(caught.value))
    assert set(examples) <= set(ALL_IDS)


@pytest.mark.parametrize("typed", ["7.3", "7-3", "7 3", "-5"])
def test_digits_are_not_glued_together_to_another_law(typed: str) -> None:
    with pytest.raises(UnknownClause):
        parse_clause_id(typed)


def test_the_british_plural_is_the_same_definition() -> None:
    assert parse_clause_id("Def:honours") == parse_clause_id("Def:honor")


def test_every_id_of_the_edition_is_read_as_itself() -> None:
    assert [str(parse_clause_id(text)) for text in ALL_IDS] == ALL_IDS
    assert len(set(map(parse_clause_id, ALL_IDS))) == len(ALL_IDS)


def test_every_id_of_the_edition_may_be_typed_in_small_letters_without_brackets() -> None:
    typed = [re.sub(r"[()]", "", text).lower() for text in NUMBERED]
    assert [str(parse_clause_id(text)) for text in typed] == NUMBERED


def test_every_id_of_the_edition_may_be_typed_with_spaces_between_its_parts() -> None:
    typed = ["Law " + " ".join(re.findall(r"\d+|[A-Z]|\([a-z]+\)|#.*", text)) for text in NUMBERED]
    assert [str(parse_clause_id(text)) for text in typed] == NUMBERED


def test_every_id_of_the_edition_may_be_typed_with_cyrillic_look_alikes() -> None:
    cyrillic = str.maketrans({latin: letter for letter, latin in LOOK_ALIKE.items()})
    assert [str(parse_clause_id("правило " + text.translate(cyrillic))) for text in NUMBERED] == NUMBERED


def test_the_ids_of_a_book_are_sorted_level_by_level_and_notes_behind_their_clause() -> None:
    ordered = (
        "Def:revoke 9 9A2(B) 9A2(B)(1) 9A2(B)(2) 9A2(B)(10) 9B 10 20B 20B#fn 20B#fn2 20B1 20C 26 26#fn 26A "
        "30B1(b)(ii) 30B1(b)(iv) 30B1(b)(ix) 80B2(h) 80B2(i) 80B2(j)"
    ).split()
    for several in (ordered, ["DC4:0", "DC4:24", "DC4:24.2", "DC4:24.10", "DC4:25"], ["Def", "Def:alert", "Note:2", "27"]):
        ids = list(map(ClauseId, several))
        assert sorted(set(ids), key=lambda clause: clause.order) == ids


def test_ids_are_compared_case_folded_and_shown_as_printed() -> None:
    old = parse_clause_id("27B1(A)")
    assert old == parse_clause_id("27b1(a)")
    assert {old: "found"}[parse_clause_id("27b1a")] == "found"
    assert str(old) == "27B1(A)"


@pytest.mark.parametrize(
    ("clause", "above"),
    [
        ("30B1(b)(ii)", ["30B1(b)", "30B1", "30B", "30"]),
        ("80B2(g)(i)", ["80B2(g)", "80B2", "80B", "80"]),
        ("30B2(A)", ["30B2", "30B", "30"]),
        ("12C", ["12"]),
        ("12", []),
        ("50D2(a)#fn", ["50D2(a)", "50D2", "50D", "50"]),
        ("41B#fn2", ["41B", "41"]),
        ("Def:revoke", []),
        ("Note:27", []),
        ("25B2(B)(1)", ["25B2(B)", "25B2", "25B", "25"]),
        ("DC4:25.1", ["DC4:25"]),
        ("DC4:25", []),
        ("Def", []),
    ],
)
def test_ancestors_go_up_to_the_law(clause: str, above: list[str]) -> None:
    assert [str(a) for a in ClauseId(clause).ancestors()] == above


def test_every_ancestor_of_an_id_of_the_edition_is_in_the_edition_too() -> None:
    assert {str(above) for text in ALL_IDS for above in ClauseId(text).ancestors()} <= set(ALL_IDS)


@pytest.mark.parametrize(
    ("clause", "law", "is_footnote"),
    [("27B1(a)", 27, False), ("41B#fn2", 41, True), ("Def:revoke", None, False), ("Note:27", None, False)],
)
def test_an_id_knows_its_law_and_whether_it_is_a_footnote(clause: str, law: int | None, is_footnote: bool) -> None:
    parsed = parse_clause_id(clause)
    assert (parsed.law, parsed.is_footnote) == (law, is_footnote)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what do Law 27B1a and 16C say", ["27B1(a)", "16C"]),
        ("правило 25B2(B)(1) или 30B2(A)", ["25B2(B)(1)", "30B2(A)"]),
        ("правило 27В1 или пр.64А1?", ["27B1", "64A1"]),
        ("судья назвал закон 27 Б 1 и п.16", ["27B1", "16"]),
        ("po zakonu 27b1 i pravilu 16C", ["27B1", "16C"]),
        ("law 27 b 1 a, L64", ["27B1(a)", "64"]),
        ("(27B1)/27C-27D.", ["27B1", "27C", "27D"]),
        ("see 12C1(b) twice: 12c1b", ["12C1(b)"]),
        ("Law 30B1(b)(ii), 12C1(e)", ["30B1(b)(ii)", "12C1(e)"]),
        ("LAW 5A, 7B2 and 9B1", ["5A", "7B2", "9B1"]),
        ("law 5C but I bid 5C", ["5C"]),
        ("he opened 1NT, then 4S; led the 5C, 10 cards left, 12 tricks", []),
        ("1D - 1H - 2C and 3d", []),
        ("1БК - 2Б - 3Г, положил 5В, осталось 10 карт", []),
        ("13 H, 10 C cards, lost 9 d tricks", []),
        ("27B1x, 127B1, a27B1, 100A1", []),
        ("table 12, round 3, at 19.30", []),
        ("law 94", []),
        ("", []),
    ],
)
def test_law_numbers_in_running_text_are_found_and_bids_are_not(text: str, named: list[str]) -> None:
    assert [str(clause) for clause in find_clause_ids(text)] == named


def test_no_bid_of_any_level_is_taken_for_a_law() -> None:
    bids = [f"{level}{strain}" for level in range(1, 8) for strain in ("C", "D", "H", "S", "NT", "c", "d", "h", "s", "nt")]
    assert find_clause_ids(", ".join(bids)) == ()


def test_every_id_of_the_edition_is_found_after_the_word_law() -> None:
    texts = [text for text in NUMBERED if "#" not in text]
    assert [[str(found) for found in find_clause_ids(f"does Law {text}, say so?")] for text in texts] == [[t] for t in texts]


@pytest.mark.parametrize("text", ["West led the 8D", "I played 9C", "covered with the 10D", "сыграл 10Б"])
def test_a_card_over_seven_is_not_taken_for_a_law(text: str) -> None:
    assert find_clause_ids(text) == ()


@pytest.mark.parametrize("text", ["1C1D", "1c1h 2c2d"])
def test_bids_written_in_one_piece_are_not_taken_for_a_law(text: str) -> None:
    assert find_clause_ids(text) == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("does law 64 a revoke by dummy count", ["64"]),
        ("по закону 64 в третьей взятке", ["64"]),
        ("правило 16 с партнёром не обсуждали", ["16"]),
    ],
)
def test_a_word_of_one_letter_is_not_a_section(text: str, named: list[str]) -> None:
    assert [str(clause) for clause in find_clause_ids(text)] == named
