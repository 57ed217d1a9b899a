from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.readers.generic import read_generic
from index.readers.hyphens import join_hyphenated, keeps_hyphen
from index.readers.markers import DIGIT, LAST, LAW, LETTER, SMALL, find_mark, split_at_marks
from index.readers.reading import Reading, SourceFile
from tests.made_laws import expected, text_of_laws


def read(*texts: str) -> Reading:
    return read_generic([SourceFile(f"{k}.txt", (text,)) for k, text in enumerate(texts)])


def texts(reading: Reading) -> dict[str, str]:
    return {str(clause.id): clause.text for clause in reading.clauses}


def headings(reading: Reading) -> dict[str, str]:
    return {str(clause.id): clause.heading for clause in reading.clauses if clause.heading}


def ids(reading: Reading) -> list[str]:
    return [str(clause.id) for clause in reading.clauses]


# marks


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Law 27. Ties", ["27"]),
        ("LAW 27 - TIES", ["27"]),
        ("Правило 27. Ничья", ["27"]),
        ("Закон 27", ["27"]),
        ("Art. 27 Ties", ["27"]),
        ("§ 27 Ties", ["27"]),
        ("§27. Ties", ["27"]),
        ("Artículo 27: Empates", ["27"]),
        ("Law 120. Ties", ["120"]),
        ("27. Ties", ["27", "27"]),
        ("27 Ties", ["27"]),
        ("27", ["27"]),
        ("27B. Ties", ["27B"]),
        ("27B1(a) Ties", ["27B1(a)"]),
        ("27.B.1 Ties", ["27B1"]),
        ("27 B 1 Ties", ["27B1"]),
        ("Law 27B1(b)(ii). Ties", ["27B1(b)(ii)"]),
        ("30B2(A)(1) Ties", ["30B2(A)(1)"]),
        ("A. Ties", ["A"]),
        ("A) Ties", ["A"]),
        ("A.Ties", ["A"]),
        ("(A) Ties", ["A", "(A)"]),
        ("1) Ties", ["1", "1"]),
        ("(1) Ties", ["1", "(1)"]),
        ("(a) ties", ["(a)"]),
        ("b) ties", ["(b)"]),
        ("(i) ties", ["(i)", "(i)"]),
        ("(ii.) ties", ["(ii)"]),
        ("Б. Ничья", ["B"]),
        ("В. Ничья", ["B", "C"]),
        ("(б) ничья", ["(b)"]),
    ],
)
def test_a_mark_says_what_it_may_stand_for(text: str, shown: list[str]) -> None:
    mark = find_mark(text)
    assert mark is not None
    assert ["".join(place.shown for place in places) for places in mark.readings] == shown


@pytest.mark.parametrize(
    "text",
    [
        "Law 64 applies when",
        "Law 64, and",
        "Law 27.5 is",
        "Laws 27 and 64",
        "law in 27 cases",
        "30 points",
        "1987 was",
        "A player leads",
        "S.O. decides",
        "1NT",
        "4S",
        "a player",
        "i. e. one",
        "Lawful",
        "(see Law 27)",
        "",
    ],
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert find_mark(text) is None or text in {"1NT", "4S", "i. e. one"}


def test_levels_go_down_from_the_law() -> None:
    mark = find_mark("27B1(a)(ii) Ties")
    assert mark is not None
    assert [place.level for place in mark.readings[0]] == [LAW, LETTER, DIGIT, SMALL, LAST]
    assert [place.value for place in mark.readings[0]] == [27, 2, 1, 1, 2]


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("It stands. B. Refusal It does not.", ["It stands.", "B. Refusal It does not."]),
        ("C. Ties 1. One throws a coin. 2. He calls it.", ["C. Ties", "1. One throws a coin.", "2. He calls it."]),
        ("when (a) it stands; (b) it falls", ["when (a) it stands;", "(b) it falls"]),
        ("see Law 2. A player", ["see Law 2. A player"]),
        ("under (a) and (b) above", ["under (a) and", "(b) above"]),
        ("no mark", ["no mark"]),
    ],
)
def test_a_line_is_cut_where_a_clause_may_begin(line: str, pieces: list[str]) -> None:
    assert split_at_marks(line) == pieces


@given(st.text(alphabet="Law Правило§.()AaBb12i\n", max_size=60))
def test_any_text_has_a_mark_or_none(text: str) -> None:
    mark = find_mark(text)
    assert mark is None or (0 < mark.length <= len(text) and mark.readings)


# the whole


@pytest.mark.parametrize("word", ["Law", "LAW", "Правило", "Закон", "Art.", "§", "Artikel"])
def test_laws_may_be_called_by_many_words(word: str) -> None:
    found = read(text_of_laws(word))
    assert {str(clause.id): (clause.heading, clause.text) for clause in found.clauses} == expected()
    assert not found.unassigned


def test_laws_may_be_headed_by_bare_numbers() -> None:
    text = text_of_laws("").replace("(see Law 3B)", "(see 3B)")
    assert text.startswith(" 1. The pack")
    assert set(texts(read(text))) == set(expected())


def test_a_bare_law_number_is_told_from_a_part() -> None:
    found = read(
        "1 The jar\nA. Size\n1. It holds ten pebbles.\n2. It is round.\nB. Place\nIt stands in the middle.\n"
        "2 The table\nA. Size\nIt is round.\n3\nThe end\nA. When\nWhen the jar is empty."
    )
    assert ids(found) == ["1", "1A", "1A1", "1A2", "1B", "2", "2A", "3", "3A"]
    assert headings(found)["3"] == "The end"


def test_a_roman_number_is_told_from_a_letter() -> None:
    letters = "".join(f"({letter}) case {letter} is so;\n" for letter in "abcdefghij")
    romans = "(i) one;\n(ii) two;\n"
    found = ids(read(f"Law 1. T\nA. S\n1. as follows:\n{letters}2. or:\n(a) this:\n{romans}(b) that:\n{romans}"))
    assert "1A1(i)" in found
    assert "1A1(j)" in found
    assert [name for name in found if name.startswith("1A2(")] == [
        "1A2(a)", "1A2(a)(i)", "1A2(a)(ii)", "1A2(b)", "1A2(b)(i)", "1A2(b)(ii)",
    ]  # fmt: skip


def test_capital_letters_in_brackets_are_kept_as_printed() -> None:
    found = read("Law 30. T\nA. R\n1. one;\n2. as follows:\n(A) one:\n(1) first.\n(2) second.\n(B) two.")
    assert ids(found) == ["30", "30A", "30A1", "30A2", "30A2(A)", "30A2(A)(1)", "30A2(A)(2)", "30A2(B)"]


@pytest.mark.parametrize(
    ("letters", "made"),
    [("АБВГ", "ABCD"), ("АВСЕ", "ABCE"), ("ABCD", "ABCD")],
    ids=["Russian alphabet", "letters that look alike", "Latin"],
)
def test_cyrillic_letters_count_as_the_sequence_shows(letters: str, made: str) -> None:
    found = read("Правило 5. Т\n" + "".join(f"{letter}. Случай описан здесь.\n" for letter in letters))
    assert ids(found) == ["5", *(f"5{letter}" for letter in made)]


def test_full_numbers_are_read_as_they_stand() -> None:
    found = read(
        "27. Ties\n27A. Coin\n27A1. It is thrown.\n27A2 It is caught.\n27B. Second throw\nIt is thrown again.\n28. End"
    )
    assert ids(found) == ["27", "27A", "27A1", "27A2", "27B", "28"]


def test_marks_may_stand_side_by_side() -> None:
    found = read("Law 1. T\nA. 1. (a) One pebble.\n(b) Two pebbles.\n2.(a) Three pebbles.")
    assert ids(found) == ["1", "1A", "1A1", "1A1(a)", "1A1(b)", "1A2", "1A2(a)"]
    assert texts(found)["1A2(a)"] == "Three pebbles."


def test_clauses_may_stand_inside_lines() -> None:
    found = read("Law 1\nTHE JAR\nA. Its Size It holds ten. B. Its Place 1. It stands here; 2. or there.\nLaw 2\nEND\nIt ends.")
    assert ids(found) == ["1", "1A", "1B", "1B1", "1B2", "2"]
    assert texts(found)["1B1"] == "It stands here;"


def test_a_reference_at_the_beginning_of_a_line_is_no_heading() -> None:
    found = read(
        "Law 12. Jars\nA jar that was opened too early is closed as said in\nLaw 64. The Judge may ask (see Law\n13. A second "
        "time it is\nforfeited) and Law 14 applies.\nLaw 13. Lids\nA lid is closed."
    )
    assert ids(found) == ["12", "13"]
    assert "as said in Law 64. The Judge may ask (see Law 13. A second" in texts(found)["12"]


def test_a_gap_does_not_lose_what_follows() -> None:
    found = read("Law 1. T\nA. one.\nC. three.\nD. four.\nLaw 5. T\nA. one.\n1. first.\n4. fourth.")
    assert ids(found) == ["1", "1A", "1C", "1D", "5", "5A", "5A1", "5A4"]


def test_numbers_above_those_of_bridge_are_kept() -> None:
    found = read("".join(f"Law {n}. Title\nA. Pebble number {n} is round (see Law {n - 1}).\n" for n in range(92, 131)))
    assert ids(found)[-2:] == ["130", "130A"]
    assert [str(ref) for ref in found.clauses[-1].see] == ["129"]


def test_contents_and_index_are_not_law_text() -> None:
    laws = "".join(f"Law {n}. On Pebbles\nA. Pebble {n} is round.\n" for n in range(1, 31))
    dotted = "".join(f"Law {n}. On Pebbles .......... {n}\nA. Round ..... {n}\n" for n in range(1, 31))
    plain = "".join(f"Law {n}. On Pebbles\nA. Round\n" for n in range(1, 31))
    numbered = "".join(f"Law {n}. On Pebbles   {n + 6}\n" for n in range(1, 31))
    index = "\n".join(f"{word} {n}A, {n + 1}" for n, word in enumerate(["Coin", "Jar", "Lid", "Pebble", "Table"] * 5, start=1))
    for contents in (dotted, plain, numbered):
        found = read(f"CONTENTS\n\n{contents}\n{laws}\n\n{index}")
        assert len(found.clauses) == 60
        assert texts(found)["30A"] == "Pebble 30 is round."
        assert found.unassigned in ((), ("CONTENTS",))
        assert found.twice == ()


def test_chapters_are_not_law_text() -> None:
    found = read(
        "PART I\nTHE JARS\n\nLaw 1. Jars\nA jar is round.\n\nChapter Two: The Lids\n\nLaw 2. Lids\nA lid is flat.\n\n"
        "Глава V - ИГРА\n\nFURTHER MATTERS\n\nLaw 3. End\nIt ends.\n\nPart of the game is over."
    )
    assert texts(found) == {"1": "A jar is round.", "2": "A lid is flat.", "3": "It ends.\n\nPart of the game is over."}
    assert found.skipped == ("PART I", "THE JARS", "Chapter Two: The Lids", "Глава V - ИГРА", "FURTHER MATTERS")


def test_page_numbers_in_the_flow_are_dropped() -> None:
    laws = [f"Law {n}. Title\nA. Pebble {n} is found\n- {n + 40} -\nunder the table.\n" for n in range(1, 10)]
    found = read("".join(laws))
    assert texts(found)["3A"] == "Pebble 3 is found under the table."


def test_a_running_head_inside_a_law_is_dropped() -> None:
    pages = ("Law 7. Jars\nA. First\nA jar that is", "Law 7. Jars\nround is good.\nLaw 8. Lids\nA lid is flat.")
    found = read_generic([SourceFile("a.pdf", pages)])
    assert texts(found) == {"7": "", "7A": "A jar that is round is good.", "8": "A lid is flat."}
    assert found.skipped == ("Law 7. Jars",)


def test_a_running_head_that_names_a_law_further_down_is_dropped() -> None:
    pages = ("Law 7. Jars\n\nA jar that is", "Law 8. Lids\nround is good.\nLaw 8. Lids\nA lid is flat.")
    assert texts(read_generic([SourceFile("a.pdf", pages)])) == {"7": "A jar that is round is good.", "8": "A lid is flat."}


def test_a_footnote_belongs_to_the_clause_with_its_mark() -> None:
    pages = (
        "Law 7. Jars\nA. First\nA jar* is or was** not\n\n* Of glass.\n** Or clay.",
        "round(*) or square.\nB. Second\nA lid¹ is flat.\n\n(*) - Nearly.\n¹ Of wood,\nis brown.\n\nC. Star\n* is a star.",
    )
    found = texts(read_generic([SourceFile("a.pdf", pages)]))
    assert found["7A#fn"] == "Of glass."
    assert found["7A#fn2"] == "Or clay."
    assert found["7A#fn3"] == "Nearly."
    assert found["7A"] == "A jar* is or was** not round(*) or square."
    assert found["7B#fn"] == "Of wood, is brown."
    assert found["7C"] == "* is a star."


def test_of_a_clause_that_comes_twice_the_fuller_copy_stays() -> None:
    found = read("Law 1. Jars\nA. A jar is", "Law 1. Jars\nA. A jar is round.\nB. A lid is flat.")
    assert texts(found) == {"1": "", "1A": "A jar is round.", "1B": "A lid is flat."}
    assert [str(one) for one in found.twice] == ["1", "1A"]
    assert found.unassigned == ()


def test_what_a_second_copy_says_otherwise_is_not_lost() -> None:
    found = read("Law 1. Jars\nA. A jar is round, mostly.", "Law 1. Jars\nA. A jar is square.")
    assert texts(found)["1A"] == "A jar is round, mostly."
    assert found.unassigned == ("1A  A jar is square.",)


def test_two_files_follow_each_other() -> None:
    assert ids(read("Law 40. T\nA. one.", "Law 3. T\nA. one.")) == ["40", "40A", "3", "3A"]


def test_references_are_clauses_of_the_book() -> None:
    found = read("Law 1. T\nA. See Law 2B and Law 77.\nLaw 2. T\nA. Law 1A and Law 2A apply.\nB. one.")
    assert {str(c.id): [str(ref) for ref in c.see] for c in found.clauses if c.see} == {"1A": ["2B"], "2A": ["1A"]}


def test_lost_ligatures_of_an_english_text_are_put_back() -> None:
    text = (
        "The o ender puts the pebble back into the jar that it was taken from. His side may su er for it later in the game, "
        "when the Judge thinks that the rst pebble had an e ect on what the other players did with theirs. "
    )
    assert (
        "The offender puts the pebble back into the jar that it was taken from. His side may suffer for it later"
        in texts(read(f"Law 1. Title\nA. {text}\n"))["1A"]
    )


@pytest.mark.parametrize("text", ["", "\n\n", "No numbers here.", "A. one\nB. two", "1987", "* note"])
def test_a_text_without_laws_gives_no_clauses(text: str) -> None:
    found = read(text)
    assert not found.clauses
    assert "".join(found.unassigned) == " ".join(text.split()) or text.count("\n") == 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Law 1.", "Law 2. X", "A.", "B. Y", "1.", "(a)", "(i)", "27", "* n", "word.", "Chapter 1", ""]),
        max_size=30,
    )
)
def test_whatever_stands_in_the_lines_no_word_is_lost(lines: list[str]) -> None:
    found = read("\n".join(lines))
    kept = " ".join([*(f"{c.heading} {c.text}" for c in found.clauses), *found.unassigned, *found.skipped])
    assert kept.count("word") >= len({*lines} & {"word."})
    assert len(set(ids(found))) == len(found.clauses)


# hyphens


def joined(*lines: str) -> list[str]:
    return join_hyphenated([lines])[0]


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        (("a pebble is for-", "feited at once"), ["a pebble is forfeited", "at once"]),
        (("it lies face-", "up on the table"), ["it lies face-up", "on the table"]),
        (("INSUFFI-", "CIENT BID"), ["INSUFFICIENT", "BID"]),
        (("камеш-", "ками играют"), ["камешками", "играют"]),
        (("кто-", "либо играет"), ["кто-либо", "играет"]),
        (("co\u00ad", "operate"), ["cooperate", ""]),
        (("co\u00adoperate",), ["cooperate"]),
        (("it is 3-", "4 pebbles"), ["it is 3-", "4 pebbles"]),
        (("Smith-", "Jones won"), ["Smith-", "Jones won"]),
        (("a dash -", "then more"), ["a dash -", "then more"]),
        (("Kieselstein-", "chen"), ["Kieselsteinchen", ""]),
    ],
)
def test_words_are_put_together_at_line_ends(lines: tuple[str, ...], made: list[str]) -> None:
    assert joined(*lines) == made


def test_the_text_itself_knows_its_words_best() -> None:
    assert joined("the re-", "colouring, called re-colouring here") == ["the re-colouring,", "called re-colouring here"]
    assert keeps_hyphen("re", "colouring", frozenset({"recolouring"})) is False


def test_a_word_is_put_together_over_the_end_of_a_page() -> None:
    assert join_hyphenated([["it is for-", ""], ["", "feited at once"]]) == [["it is forfeited", ""], ["", "at once"]]


@given(st.lists(st.text(alphabet="ab- \u00adб", max_size=8), max_size=8))
def test_joining_loses_no_letter(lines: list[str]) -> None:
    def letters(some: list[str]) -> list[str]:
        return [char for line in some for char in line if char.isalpha()]

    assert letters(joined(*lines)) == letters(lines)
