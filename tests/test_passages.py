from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from index.books import read_book
from index.errors import IndexFault
from index.passages import passages_of
from tests.fakes import FakeEmbedder
from tests.made import make_book

SENTENCES = [f"Sentence number {k} has exactly seven words." for k in range(9)]


def rows_of(home: Path, text: str, max_tokens: int = 40, heading: str = "") -> list[str]:
    """The texts of the rows of a book with one clause, 28A; the fake counts each word as a token, and two for itself."""
    book = read_book(make_book(home, "long-2017-en", f"## 28A {heading}\n\n{text}\n"))
    return [row.text for row in passages_of(book, FakeEmbedder(max_tokens=max_tokens))]


def parts_of(home: Path, text: str, max_tokens: int = 40) -> list[str]:
    return [row.split("\n", 1)[1] for row in rows_of(home, text, max_tokens)]


def test_passages_carry_the_heading_path_and_asked_lines_stand_alone(small_book: str, embedder: FakeEmbedder) -> None:
    rows = passages_of(read_book(small_book), embedder)
    assert [(str(row.clause), row.kind, row.lang) for row in rows] == [
        ("27A1", "clause", "en"),
        ("27A1", "asked", "en"),
        ("27A1", "asked", "en"),
        ("27A1", "asked", "ru"),
        ("27B", "clause", "en"),
        ("27B1", "clause", "en"),
    ]
    assert rows[0].text.startswith("Law 27 Insufficient bid > 27A When it is accepted > 27A1\nThe next player")
    assert rows[1].text == "someone bid too low and I like it, can I keep it"


@pytest.mark.parametrize(
    ("head", "path"),
    [
        ("41 Start of play", "Law 41 Start of play"),
        ("41A", "Law 41 Start of play > 41A"),
        ("41A#fn", "Law 41 Start of play > 41A#fn"),
        ("41B First card", "Law 41 Start of play > 41B First card"),
        ("41B#fn2", "Law 41 Start of play > 41B First card > 41B#fn2"),
        ("27B1(a)", "27B1(a)"),
        ("Def:trick Trick", "Def:trick Trick"),
    ],
)
def test_the_heading_path_leads_from_the_law_to_the_clause(home: Path, embedder: FakeEmbedder, head: str, path: str) -> None:
    heads = ["41 Start of play", "41A", "41A#fn", "41B First card", "41B#fn2", "27B1(a)", "Def:trick Trick"]
    book = read_book(make_book(home, "paths-2017-en", "".join(f"## {head}\n\nText.\n\n" for head in heads)))
    texts = {str(row.clause): row.text for row in passages_of(book, embedder)}
    assert texts[head.split(maxsplit=1)[0]] == f"{path}\nText."


def test_a_clause_that_fits_is_one_row_as_it_stands_in_the_book(home: Path) -> None:
    assert rows_of(home, "One.\n\n- two;\n- three.") == ["28A\nOne.\n\n- two;\n- three."]


def test_a_clause_of_exactly_the_limit_is_not_split(home: Path) -> None:
    text = " ".join(SENTENCES[:2])
    assert rows_of(home, text, max_tokens=2 + 1 + 14) == [f"28A\n{text}"]


def test_a_long_clause_is_split_at_sentence_ends_with_overlap(home: Path) -> None:
    parts = parts_of(home, " ".join(SENTENCES))
    assert " ".join([parts[0], *(part.split(". ", 1)[1] for part in parts[1:])]) == " ".join(SENTENCES), "nothing is lost"
    assert all(part.endswith(".") for part in parts)
    for before, after in pairwise(parts):
        assert before.split(". ")[-1] == after.split(". ")[0] + "."


def test_every_part_of_a_long_clause_fits_and_has_the_heading_path(home: Path) -> None:
    rows = rows_of(home, " ".join(SENTENCES), max_tokens=30, heading="Calls in rotation")
    assert {row.split("\n")[0] for row in rows} == {"28A Calls in rotation"}
    assert [row for row in rows if FakeEmbedder().count_tokens(row, "passage") > 30] == []
    assert any(SENTENCES[-1] in row for row in rows)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("First one here. Second one there.", ["First one here.", "Second one there."]),
        ("Is it first? It is second!", ["Is it first?", "It is second!"]),
        ("either this one; or that one.", ["either this one;", "or that one."]),
        ("one of these: that other one", ["one of these:", "that other one"]),
        ("a first paragraph\n\na second one", ["a first paragraph", "a second one"]),
        ("- the first item\n- the second item", ["- the first item", "- the second item"]),
    ],
)
def test_a_sentence_ends_at_a_mark_a_paragraph_or_a_list_item(home: Path, text: str, pieces: list[str]) -> None:
    assert parts_of(home, text, max_tokens=7) == pieces


def test_a_point_within_a_number_ends_no_sentence(home: Path) -> None:
    with pytest.raises(IndexFault, match="a sentence of clause 28A"):
        parts_of(home, "pay 1.5 or 2.5 tricks", max_tokens=6)


def test_the_overlap_is_left_out_where_it_would_not_fit(home: Path) -> None:
    short, long, last = "a b.", "c d e f g h i j.", "k l."
    assert parts_of(home, f"{short} {long} {last}", max_tokens=11) == [short, long, last]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("## 28A\n\nShort. " + "word " * 80 + "\n", "a sentence"),
        ("## 28A\n\n" + "word " * 80 + "end. Short.\n", "a sentence"),
        ("## 28A " + "heading " * 40 + "\n\nShort.\n", "a sentence"),
        ('## 28A\n\nT.\n\n```yaml\nasked: {en: ["' + "word " * 80 + '"]}\n```\n', "an asked-as line"),
    ],
)
def test_what_the_embedder_would_cut_off_is_refused_with_the_clause_named(home: Path, body: str, what: str) -> None:
    book = read_book(make_book(home, "long-2017-en", "## 27\n\n" + body))
    message = f"^long-2017-en/027.md:3: {what} of clause 28A is over the embedder's limit of 40 tokens; shorten it"
    with pytest.raises(IndexFault, match=message):
        passages_of(book, FakeEmbedder(max_tokens=40))


def test_an_asked_as_line_of_exactly_the_limit_is_kept_whole(home: Path) -> None:
    line = " ".join(["word"] * 38)
    book = read_book(make_book(home, "long-2017-en", f"## 28A\n\nT.\n\n```yaml\nasked: {{en: [{line}]}}\n```\n"))
    assert [row.text for row in passages_of(book, FakeEmbedder(max_tokens=40)) if row.kind == "asked"] == [line]
