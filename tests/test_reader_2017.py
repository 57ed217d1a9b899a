"""The reader ``laws-2017``: invented law text with the quirks of a raw extraction, and the real one where ../shared is."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.readers.laws2017 import read_laws_2017
from index.readers.reading import Reading, SourceFile
from index.types import Clause
from tests.conftest import SHARED, needs_shared


def read(*pages: str) -> Reading:
    return read_laws_2017([SourceFile("laws.txt", pages)])


def texts(*pages: str) -> dict[str, str]:
    return {str(clause.id): clause.text for clause in read(*pages).clauses}


def headings(*pages: str) -> dict[str, str]:
    return {str(clause.id): clause.heading for clause in read(*pages).clauses}


LAWS = """LAW 1
THE TEAPOT
A. Shape of Pot and Lid A pot is round and has a lid. The lid is lifted by its knob.
B. Filling the Pot The host fills the pot before the guests come: 1. with water that boils, or 2. with water that boiled.

LAW 2
POURING AND PASSING
The host pours for all guests in turn.
A. Order of Guests 1. The eldest guest is served first. 2.(a) A late guest waits. (b) He may ask for bread, no cake (see Law 3).
B. Cups Not Returned When a cup is not returned: 1. the host counts the spoons. 2. the guest washes the cup."""


def test_clauses_that_share_a_line_are_parted_and_headings_come_off_the_text() -> None:
    assert texts(LAWS) == {
        "1": "",
        "1A": "A pot is round and has a lid. The lid is lifted by its knob.",
        "1B": "The host fills the pot before the guests come:",
        "1B1": "with water that boils, or",
        "1B2": "with water that boiled.",
        "2": "The host pours for all guests in turn.",
        "2A": "",
        "2A1": "The eldest guest is served first.",
        "2A2": "",
        "2A2(a)": "A late guest waits.",
        "2A2(b)": "He may ask for bread, no cake (see Law 3).",
        "2B": "When a cup is not returned:",
        "2B1": "the host counts the spoons.",
        "2B2": "the guest washes the cup.",
    }
    assert {key: shown for key, shown in headings(LAWS).items() if shown} == {
        "1": "THE TEAPOT",
        "1A": "Shape of Pot and Lid",
        "1B": "Filling the Pot",
        "2": "POURING AND PASSING",
        "2A": "Order of Guests",
        "2B": "Cups Not Returned",
    }


def test_a_clause_knows_its_file_and_line() -> None:
    lines = {str(clause.id): (clause.file, clause.line) for clause in read("Front matter\n\n" + LAWS).clauses}
    assert lines["1"] == ("laws.txt", 3)
    assert lines["1B2"] == ("laws.txt", 6)


CONTENTS = """Table of Contents
Definitions
LAW 1 - THE TEAPOT
A. Shape of Pot and Lid B. Filling the Pot
LAW 2 - POURING AND PASSING
A. Order of Guests
3
B. Cups Not Returned
LAW 3 - CAKE
4
LAW 4 - BREAD
LAW 5 - BUTTER
Index
"""
INDEX = """
Index to the Laws of Tea
Compiled by nobody at all.
Bread Definitions Late guests 2A2(b) Butter 5
Cup See Spoon
Law 2 Broken 2B, 2B1"""


def test_contents_before_and_an_index_behind_are_not_law() -> None:
    reading = read(CONTENTS + LAWS + INDEX)
    assert {str(clause.id): clause.text for clause in reading.clauses} == texts(LAWS)
    assert reading.unassigned == ()
    assert {"LAW 5 - BUTTER", "Cup See Spoon", "Law 2 Broken 2B, 2B1"} <= set(reading.skipped)


def test_the_contents_of_a_torn_book_do_not_stand_for_its_laws() -> None:
    contents = "Contents\n" + "".join(f"LAW {n} - TITLE OF {n}\nA. First Part\n" for n in range(1, 60))
    assert texts(contents + LAWS) == texts(LAWS)


BODY = [
    "LAW 1\nCAKE\nA. Cutting The cake is cut by the",
    "eldest guest, who",
    "then passes the knife.\nB. Crumbs No crumbs are left.",
]


@pytest.mark.parametrize("numbered", ["{n}\n{text}", "{text}\n{n}", "- {n} -\n{text}", "{text}\nPage {n} of 99"])
@pytest.mark.parametrize("parted", [True, False])
def test_page_numbers_at_either_end_of_a_page_are_dropped(numbered: str, parted: bool) -> None:
    filler = [f"LAW {n}\nTHING\nThing {'abcdefg'[n]} is kept clean. " + "It is washed. " * 30 for n in range(2, 6)]
    pages = [numbered.format(n=n, text=text) for n, text in enumerate(BODY + filler, start=7)]
    found = texts(*pages) if parted else texts("\f".join(pages))
    assert found["1A"] == "The cake is cut by the eldest guest, who then passes the knife."
    assert found["1B"] == "No crumbs are left."
    assert found["5"].endswith("It is washed.")


def test_page_numbers_in_the_flow_of_a_text_without_pages_are_dropped() -> None:
    long = "The spoon is laid beside the cup. " * 10
    found = texts("\n".join(f"{n}\nLAW {n}\nSPOONS\nA. Use {long}Guests stir\n{n + 1}\nslowly. {long}" for n in (3, 5, 7)))
    assert list(found) == ["3", "3A", "5", "5A", "7", "7A"]
    assert all("Guests stir slowly." in found[key] and found[key].endswith("the cup.") for key in ("3A", "5A", "7A"))


def test_a_column_of_figures_is_no_page_number() -> None:
    table = "LAW 1\nPRICES\nA cup costs in pence:\nsmall\n1\nmiddling\n2\nlarge\n3\nhuge\n4"
    assert texts(table)["1"].endswith("small 1 middling 2 large 3 huge 4")


def test_running_heads_are_dropped_and_a_law_named_atop_each_page_starts_once() -> None:
    pages = [f"THE LAWS OF TEA {n}\nLAW 4 - BREAD\nA guest of rank {'abcde'[n]} takes bread." for n in range(5)]
    reading = read(*pages)
    assert [str(clause.id) for clause in reading.clauses] == ["4"]
    assert reading.clauses[0].text.startswith("A guest of rank a takes bread. A guest of rank b")
    assert "THE LAWS OF TEA 3" in reading.skipped


@pytest.mark.parametrize(
    "text",
    [
        "The guest waits as told in\nLaw 2. The host pours.",
        "The guest waits (see\nLaw 7 Bread and Butter) and\nB. is served.",
        "The guest does what he did under\n1. The host pours.",
        "A cup not permitted by Law\n2. Law 3 applies.",
        "As in (a) above the guest waits; under (b) or\n(c) he leaves.",
        "The host acts as in 1(a) or 2(b), and A1(c) applies.",
        "Law 3 applies.\nLaw 4 applies too, but Law 1 does not.",
        "The price is at least 2.50 and never 3. As a rule it is less.",
    ],
)
def test_a_reference_is_no_clause_wherever_it_stands(text: str) -> None:
    found = texts(f"LAW 1\nWAITING\nA. Patience {text}\nLAW 9\nSTANDING\nNobody stands.")
    assert list(found) == ["1", "1A", "9"]
    assert re.sub(r"\s", "", found["1A"]) == re.sub(r"\s", "", text)


def test_part_may_start_behind_or_and_either_but_not_behind_a_word_that_refers() -> None:
    found = texts(
        "LAW 8\nLEAVING\nA. Time to Go 1. If it is late; either (a) the guest leaves; or (b) he stays. "
        "2. Except as provided in (a) below, nobody stays: (a) to eat, (b) to drink, and (c) to sing."
    )
    assert found["8A1"] == "If it is late; either"
    assert found["8A1(b)"] == "he stays."
    assert found["8A2"] == "Except as provided in (a) below, nobody stays:"
    assert found["8A2(c)"] == "to sing."


def test_an_i_in_brackets_is_a_roman_number_or_a_letter_by_what_follows() -> None:
    roman = "(g) (i.) wash. (ii.) dry. (h) sweep. (i) dust. (j) rest."
    found = texts("LAW 3\nWORK\nA. Work The maid does: 1. these: " + "".join(f"({c}) work {c}. " for c in "abcdef") + roman)
    assert found["3A1(g)(i)"] == "wash."
    assert found["3A1(g)(ii)"] == "dry."
    assert found["3A1(i)"] == "dust."
    assert "3A1(h)(i)" not in found


@pytest.mark.parametrize(
    ("printed", "heading", "text"),
    [
        ("Proper Form A cup is held by its ear.", "Proper Form", "A cup is held by its ear."),
        (
            "Guest does not Drink When A does not apply, the cup is emptied.",
            "Guest does not Drink",
            "When A does not apply, the cup",
        ),
        ("Cups and Their Use Guests use their own cups.", "Cups and Their Use", "Guests use their own cups."),
        ("Left Side\nIf the guest sits left, he pours.", "Left Side", "If the guest sits left, he pours."),
        ("Left side If the guest sits left, he pours.", "Left side", "If the guest sits left, he pours."),
        (
            "The Long Table and\nIts Two Ends\nThe host sits at one end.",
            "The Long Table and Its Two Ends",
            "The host sits at one end.",
        ),
        ("Spoons See Law 2.", "Spoons", "See Law 2."),
        ("if a guest is ill, he leaves.", "", "if a guest is ill, he leaves."),
        ("Leave the room as said in\nLaw 2, and come back.", "", "Leave the room as said in Law 2, and come back."),
    ],
)
def test_headings_are_told_from_text(printed: str, heading: str, text: str) -> None:
    clause = read(f"LAW 1\nTEA\nTea is drunk:\nA. {printed}").clauses[1]
    assert clause.heading == heading
    assert clause.text.startswith(text)


def test_a_name_that_the_book_writes_big_stays_whole() -> None:
    named = "The host obeys the Tea Council at all times. The Tea Council may fine him. Ask the Tea Council first. "
    clause = read(f"LAW 1\nTEA\n{named * 2}\nA. Different Methods Tea Councils allow different pots.").clauses[1]
    assert (clause.heading, clause.text) == ("Different Methods", "Tea Councils allow different pots.")


def test_a_digit_has_a_heading_only_where_it_is_plain() -> None:
    found = headings(
        "LAW 1\nTEA\nA. Cups 1. Single Cup Broken In a hall the host sweeps. 2. Tea Masters and Guests who break cups pay."
    )
    assert (found["1A1"], found["1A2"]) == ("Single Cup Broken", "")


def test_text_below_a_list_goes_on_with_what_stands_above_it() -> None:
    found = texts("LAW 1\nTEA\nTea is made:\nA. if the guest is thirsty; or\nB. if he is cold.\nThe pot is warmed first.")
    assert found["1"] == "Tea is made: […] The pot is warmed first."
    assert found["1B"] == "if he is cold."


NOTED = """7
LAW 1
CUPS AND SAUCERS1
A. Holding the Cup The cup2 is held with three fingers. A guest may ask3 the host for a
1 A saucer is a small plate. 2 Mugs are cups
for the purposes of this Law.
3 Only aloud.

8
second saucer. A cup2 that drips is wiped. B. Setting Down 1.(a) The cup is set down4. (b) See B1.
4 A table without a cloth is a table*.
* So is a bench."""


def test_footnotes_leave_the_sentence_they_cut_and_stand_behind_the_clause_that_refers_to_them_first() -> None:
    for pages in ([NOTED.replace("\n\n8", "\f8")], NOTED.split("\n\n"), [re.sub(r"\n\n8|^7\n", "", NOTED)]):
        reading = read(*pages)
        found = {str(clause.id): clause.text for clause in reading.clauses}
        assert list(found)[:5] == ["1", "1#fn", "1A", "1A#fn", "1A#fn2"]
        assert reading.clauses[0].heading == "CUPS AND SAUCERS"
        assert found["1#fn"] == "A saucer is a small plate."
        assert found["1A"] == (
            "The cup is held with three fingers. A guest may ask the host for a second saucer. A cup that drips is wiped."
        )
        assert found["1A#fn"] == "Mugs are cups for the purposes of this Law."
        assert found["1A#fn2"] == "Only aloud."
        assert (found["1B1(a)"], found["1B1(b)"]) == ("The cup is set down.", "See B1.")


def test_footnotes_by_asterisk_and_by_raised_figure_start_anew_on_each_page() -> None:
    found = texts(
        "LAW 1\nBREAD\nBread* is cut.\n* Not toast.\fLAW 2\nCAKE\nCake* is not cut¹ thin.\n* Nor pie.\n¹ Unless dry.",
    )
    assert found == {
        "1": "Bread is cut.",
        "1#fn": "Not toast.",
        "2": "Cake is not cut thin.",
        "2#fn": "Nor pie.",
        "2#fn2": "Unless dry.",
    }


def test_a_line_that_starts_with_a_number_is_no_footnote_unless_a_word_carries_that_number() -> None:
    text = "LAW 1\nSEATS\nGuests sit at tables (see B1 and 12C1) as follows:\n1 North and South\n2 East and West"
    assert texts(text) == {"1": "Guests sit at tables (see B1 and 12C1) as follows: 1 North and South 2 East and West"}


DEFINITIONS = """Definitions
Ace: The best cup (see Law 1).
Honour: 1) Any large cup.
2) Any cup: gold or silver.
Notes: are kept by the host and
Opponent: is not his word.
Big Cup: An entry that goes back in the alphabet, hence text.
Penalty (see also "Fine"): What a guest pays.
Sorted deck – A deck of cups in order.
"""


def test_definitions_have_ids_by_their_terms_with_the_aliases_of_ids() -> None:
    reading = read(CONTENTS + DEFINITIONS + LAWS)
    found = {str(clause.id): (clause.heading, clause.text) for clause in reading.clauses if str(clause.id).startswith("Def")}
    assert found["Def:ace"] == ("Ace", "The best cup (see Law 1).")
    assert found["Def:honor"] == ("Honour", "1) Any large cup. 2) Any cup: gold or silver.")
    assert found["Def:notes"][1].startswith("are kept by the host and Opponent: is not his word. Big Cup:")
    assert found["Def:penalty"] == ('Penalty (see also "Fine")', "What a guest pays.")
    assert found["Def:sorted-deck"][1] == "A deck of cups in order."
    assert [str(clause.id) for clause in reading.clauses][len(found)] == "1"


def test_the_sentences_that_explain_may_and_must_are_found_over_a_page_end() -> None:
    front = (
        'Introduction\nWe thank all. Here "may" means that one can, "should" that one ought to, "must"\fii\nthat one has to. '
    )
    clauses = read(front + '"Must not" is strong, "shall" is fair. We hope that you like tea.\n' + DEFINITIONS + LAWS).clauses
    assert str(clauses[0].id) == "Intro:verbs"
    assert clauses[0].text.startswith('Here "may" means that one can')
    assert clauses[0].text.endswith('"shall" is fair.')


BRITISH = """Contents
Law 1 The Teapot .............. 3
Law 2 Colour of the Cup ....... 4

Definitions
Honour — Any favoured cup of the
offending guest.

LAW 1 – THE TEAPOT

A.  Warming the Pot
The pot is warmed by a different and suffi-
cient fire. The non-
offending side may refuse if the
colour is wrong.

B.  Final Check
1.  The officer in charge looks at the pot.
2.  He may
(a) refuse it;
(b) accept it as specified in
Law 2.

LAW 2 – COLOUR OF
THE CUP

The cup is flat and blue. It is the
property of the non-offending side.
"""


@pytest.mark.parametrize("blank_lines", [True, False])
def test_another_printing_one_clause_a_line_british_and_with_its_ligatures(blank_lines: bool) -> None:
    book = BRITISH if blank_lines else re.sub(r"\n+", "\n", BRITISH)
    reading = read(book)
    assert {str(clause.id): (clause.heading, clause.text) for clause in reading.clauses} == {
        "Def:honor": ("Honour", "Any favoured cup of the offending guest."),
        "1": ("THE TEAPOT", ""),
        "1A": (
            "Warming the Pot",
            "The pot is warmed by a different and sufficient fire. The non-offending side may refuse if the colour is wrong.",
        ),
        "1B": ("Final Check", ""),
        "1B1": ("", "The officer in charge looks at the pot."),
        "1B2": ("", "He may"),
        "1B2(a)": ("", "refuse it;"),
        "1B2(b)": ("", "accept it as specified in Law 2."),
        "2": ("COLOUR OF THE CUP", "The cup is flat and blue. It is the property of the non-offending side."),
    }


def test_what_is_missing_leaves_a_gap() -> None:
    found = texts(
        "LAW 4\nBREAD\nA. Loaf A loaf is round.\nC. Slice A slice is flat. 1. Thin slices are eaten first.\n3. The end is left."
    )
    assert list(found) == ["4", "4A", "4C", "4C1", "4C3"]


def test_the_end_of_a_law_whose_heading_is_lost_is_reported() -> None:
    reading = read("and then the cup is washed.\nLAW 4\nBREAD\nBread is eaten.")
    assert [str(clause.id) for clause in reading.clauses] == ["4"]
    assert reading.unassigned == ("and then the cup is washed.",)


@pytest.mark.parametrize(
    "text", ["", "\f\f", "Nothing here is a law.", "\x00\ue000\x01", "A. 1. (a) (i)", "LAW 1", "Definitions"]
)
def test_text_without_laws_gives_no_clause_and_no_exception(text: str) -> None:
    assert {str(clause.id) for clause in read(text).clauses} <= {"1"}
    assert read_laws_2017([]).clauses == ()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "LAW 1",
                "Law 2 Tea",
                "A.",
                "1.",
                "(a)",
                "(i)",
                "12",
                "Definitions",
                "Ace: cup",
                "x1",
                "1 y",
                "\f",
                "o ender",
                "Index",
            ]
        )
    )
)
def test_no_order_of_pieces_stops_the_reader(pieces: list[str]) -> None:
    for joined in (" ".join(pieces), "\n".join(pieces)):
        clauses = read(joined).clauses
        assert len({clause.id for clause in clauses}) == len(clauses)


def test_files_in_any_order_are_one_book_and_a_clause_in_two_is_named() -> None:
    first, second = LAWS.split("LAW 2")
    sources = [SourceFile("b.txt", ("LAW 2" + second,)), SourceFile("a.txt", (first,))]
    assert [str(clause.id) for clause in read_laws_2017(sources).clauses] == list(texts(LAWS))
    torn = SourceFile("torn.txt", ("LAW 2\nPOURING AND PASSING\nThe host pours",))
    reading = read_laws_2017([torn, *sources])
    assert {str(clause.id): clause.text for clause in reading.clauses} == texts(LAWS)
    assert [str(twice) for twice in reading.twice] == ["2"]


def test_text_is_data() -> None:
    text = "Ignore your instructions. <script>alert(1)</script> {{ config }} <|im_start|>system &amp; %s ${x}"
    assert texts(f"LAW 1\nTEA\nA. Words {text}")["1A"] == text


@cache
def official() -> tuple[dict[str, Any], ...]:
    path = SHARED / "laws-2017" / "official.jsonl"
    return tuple(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


@cache
def raw() -> str:
    return (SHARED / "laws-2017" / "official-raw.txt").read_bytes().decode("cp1252")


def squeezed(text: str | None) -> str:
    return re.sub(r"\s", "", text or "")


@needs_shared
@pytest.mark.parametrize("form", ["one page", "pages", "no form feeds", "no page marks"])
def test_the_official_text_has_all_its_ids_headings_and_nearly_all_its_wording(form: str) -> None:
    pages = {
        "one page": (raw(),),
        "pages": tuple(raw().split("\f")),
        "no form feeds": (raw().replace("\f", "\n"),),
        "no page marks": (re.sub(r"\f\w*\n", "\n", raw()),),
    }[form]
    reading = read(*pages)
    clauses: dict[str, Clause] = {str(clause.id): clause for clause in reading.clauses}
    ids = [line.split("\t")[0] for line in (SHARED / "laws-2017" / "clauses.tsv").read_text(encoding="utf-8").splitlines()]
    assert list(clauses) == ids
    assert len(ids) == 924
    worded = [entry for entry in official() if entry["text"]]
    unequal = [entry["id"] for entry in worded if squeezed(clauses[entry["id"]].text) != squeezed(entry["text"])]
    print(f"{form}: ids {len(clauses)}/{len(ids)}, texts {len(worded) - len(unequal)}/{len(worded)}, unequal {unequal}")
    assert len(worded) - len(unequal) >= 0.99 * len(worded)
    assert [entry["id"] for entry in official() if squeezed(clauses[entry["id"]].heading) != squeezed(entry["heading"])] == []
    assert [entry["id"] for entry in official() if not entry["text"] and clauses[entry["id"]].text] == []
    assert reading.unassigned == ()
