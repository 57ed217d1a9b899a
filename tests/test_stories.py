from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from index import paths
from index.books import DEFAULT_BOOK, read_book
from index.clause_id import parse_clause_id
from index.errors import BookError
from index.stories import LONG_LINE, Story, is_held_out, read_stories, with_stories
from index.types import Asked
from tests.made import make_clause

TEA: dict[str, Any] = {
    "lang": "en",
    "q": "North poured tea over the bid",
    "clauses": ["27A1", "27B", "Def:call"],
    "procedure": "insufficient-bid",
    "facts": {"stage": "auction"},
    "also_procedure": "claim",
}
PLAIN: dict[str, Any] = {"lang": "ru", "q": "Пролили чай", "clauses": ["27b1"]}
LONG = [f"Story {k} is long enough: ".ljust(LONG_LINE, "x") for k in range(200)]


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    """A file of stories, one a line; gives its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "stories.jsonl").write_text(text + "\n", encoding="utf-8")
    return folder


def test_stories_are_read_in_order_and_empty_lines_passed_over(tmp_path: Path) -> None:
    first, second = read_stories(write(tmp_path, "", TEA, "  ", PLAIN, ""))
    assert first == Story(**TEA, line=2)
    assert second.line == 4
    assert (second.q, second.procedure, second.facts, second.also_procedure) == ("Пролили чай", "", {}, "")


def test_a_book_without_the_file_has_no_stories(tmp_path: Path) -> None:
    assert read_stories(tmp_path) == ()
    assert read_stories(write(tmp_path, "")) == ()


def test_a_separator_within_a_line_does_not_end_it(tmp_path: Path) -> None:
    (story,) = read_stories(write(tmp_path, {**PLAIN, "q": "чай\u2028и сушки\x85"}))
    assert story.q == "чай\u2028и сушки\x85"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"lang": "en", "clauses": ["1"]}, "q: Field required."),
        ({"q": "x", "clauses": ["1"]}, "lang: Field required."),
        ({**PLAIN, "q": ""}, "q: String should have at least 1 character."),
        ({**PLAIN, "clauses": []}, "clauses: List should have at least 1 item after validation, not 0."),
        ({**PLAIN, "clauses": ["27A", 5]}, "clauses.1: Input should be a valid string."),
        ({**PLAIN, "clauses": "27A"}, "clauses: Input should be a valid list."),
        ({**PLAIN, "facts": {"stage": 1}}, "facts.stage: Input should be a valid string."),
        ({**PLAIN, "procedure": None}, "procedure: Input should be a valid string."),
        ({**PLAIN, "colour": "red"}, "colour: Extra inputs are not permitted."),
    ],
)
def test_a_fault_is_told_with_file_and_line(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(BookError) as caught:
        read_stories(write(tmp_path, TEA, "", line, PLAIN))
    assert str(caught.value) == f"stories.jsonl:3: {message}"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "'list' object"),
        ("5", "'int' object"),
        ("null", "'NoneType' object"),
        ("nonsense", "Expecting value"),
    ],
)
def test_a_line_that_is_no_story_at_all_is_told_with_file_and_line(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(BookError, match=rf"^stories\.jsonl:2: this is not a JSON object \({reason}[^\n]*\)\.$"):
        read_stories(write(tmp_path, TEA, line))


@pytest.mark.parametrize("line", ["{", "[]"])
def test_the_sentence_has_no_empty_place(tmp_path: Path, line: str) -> None:
    with pytest.raises(BookError) as caught:
        read_stories(write(tmp_path, TEA, line))
    assert ": :" not in str(caught.value)


def test_a_file_that_is_no_utf8_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "stories.jsonl").write_bytes(b'{"q": "\xff"}\n')
    with pytest.raises(BookError, match=r"stories\.jsonl"):
        read_stories(tmp_path)


# Lines of clauses


def test_a_story_is_a_line_of_its_first_clause_and_names_the_others() -> None:
    own = Asked("may I keep it", "en")
    clauses = [make_clause("27A", "a"), make_clause("27A1", "b"), make_clause("27B1", "c")]
    clauses[1] = clauses[1].__class__(clauses[1].id, "Accepted", "b", (own,), (parse_clause_id("25A"),))
    alone, told, russian = with_stories(
        clauses, [Story(**TEA), Story(**PLAIN), Story(**{**TEA, "q": "again", "clauses": ["27A1"]})]
    )
    assert alone is clauses[0]
    also = (parse_clause_id("27B"), parse_clause_id("Def:call"))
    assert told.asked == (own, Asked(TEA["q"], "en", also), Asked("again", "en", ()))
    assert (told.heading, told.text, told.see) == ("Accepted", "b", (parse_clause_id("25A"),))
    assert russian.asked == (Asked("Пролили чай", "ru", ()),)


def test_without_stories_clauses_stay_as_they_are() -> None:
    clauses = (make_clause("27A", "a"), make_clause("27B", "b"))
    assert with_stories(clauses, []) == clauses


@pytest.mark.parametrize("clauses", [["27 and more"], ["27A", "club"]])
def test_a_clause_that_cannot_be_read_is_told_with_its_story(clauses: list[str]) -> None:
    with pytest.raises(BookError) as caught:
        with_stories(
            [make_clause("27A", "a"), make_clause("27B1", "b")],
            [Story(**PLAIN, line=1), Story(**{**TEA, "clauses": clauses, "line": 4})],
        )
    assert str(caught.value) == (
        f'stories.jsonl:4: "{clauses[-1]}" is not a clause number; write it like 27B1(a), Law 64 or Def:trick.'
    )


def test_a_clause_that_the_book_does_not_have_is_told_with_its_story() -> None:
    stories = [
        Story(**{**PLAIN, "clauses": [clause], "q": clause, "line": k}) for k, clause in enumerate(("27A", "64A", "12C"))
    ]
    with pytest.raises(BookError) as caught:
        with_stories([make_clause("27A", "a")], stories)
    assert str(caught.value) == "stories.jsonl:1: the book has no clause 64A."


def test_a_clause_beside_the_first_need_not_be_in_the_book_but_in_the_list_of_its_edition() -> None:
    story = Story(**{**PLAIN, "clauses": ["27A", "64A"], "line": 7})
    listed = [parse_clause_id(text) for text in ("27A", "64B")]
    (clause,) = with_stories([make_clause("27A", "a")], [story])
    assert clause.asked == (Asked("Пролили чай", "ru", (parse_clause_id("64A"),)),)
    with pytest.raises(BookError) as caught:
        with_stories([make_clause("27A", "a")], [story], listed)
    assert str(caught.value) == "stories.jsonl:7: the book has no clause 64A."


@pytest.mark.parametrize("again", ["may i   KEEP it", "May I keep it "])
def test_a_story_that_is_a_line_of_a_clause_already_is_told_twice_whatever_case_and_spaces(again: str) -> None:
    clause = make_clause("27A", "a")
    asked = clause.__class__(clause.id, "", "a", (Asked("may I keep it", "en"),))
    with pytest.raises(BookError, match=r"^stories\.jsonl:3: this is told twice, or empty: "):
        with_stories([asked], [Story(**{**PLAIN, "q": again, "clauses": ["27A"], "line": 3})])


def test_the_lines_of_a_book_hold_its_stories_and_its_hash_covers_them(small_book: str, home: Path) -> None:
    before = read_book(small_book)
    write(home / "data" / "books" / small_book, TEA, PLAIN)
    book = read_book(small_book)
    assert book.hash != before.hash
    accept, replaced = book.get(parse_clause_id("27A1")), book.get(parse_clause_id("27B1"))
    assert accept is not None
    assert replaced is not None
    assert [line.text for line in accept.asked[-2:]] == ["заявка ниже, можно принять?", "North poured tea over the bid"]
    assert replaced.asked == (Asked("Пролили чай", "ru"),)


@pytest.mark.parametrize(
    "story",
    [
        {**PLAIN, "clauses": ["64A"]},
        {**PLAIN, "clauses": ["27A1", "99Z"]},
        {**PLAIN, "clauses": ["27A1", "27H9"]},
        {**PLAIN, "q": TEA["q"]},
        {**PLAIN, "q": " "},
    ],
    ids=["unknown", "unreadable", "unknown beside", "twice", "blank"],
)
def test_a_story_that_does_not_fit_the_book_is_told_with_file_and_line(
    small_book: str, home: Path, story: dict[str, Any]
) -> None:
    write(home / "data" / "books" / small_book, TEA, "", story)
    with pytest.raises(BookError, match=r"stories\.jsonl:3: "):
        read_book(small_book)


# What is held out


def test_the_same_lines_are_held_out_for_ever() -> None:
    """Another choice would let the heads be judged by what the last training saw."""
    assert [k for k, line in enumerate(LONG[:70]) if is_held_out(line)] == [9, 40, 41, 43, 60]


def test_about_one_long_line_in_ten_is_held_out() -> None:
    assert 0.07 < sum(is_held_out(f"{line}{k}") for line in LONG for k in range(10)) / 2000 < 0.13


def test_a_line_is_held_out_only_from_110_characters_on() -> None:
    assert LONG_LINE == 110
    assert any(is_held_out(line) for line in LONG)
    assert not any(is_held_out(line[:-1]) for line in LONG)


def test_characters_count_not_bytes() -> None:
    russian = [f"Случай {k}: ".ljust(LONG_LINE - 1, "ж") for k in range(200)]
    assert not any(map(is_held_out, russian))
    assert any(is_held_out(line + "ж") for line in russian)


def test_about_a_tenth_of_the_bundled_stories_is_held_out_in_both_languages() -> None:
    stories = read_stories(paths.bundled_books_dir() / DEFAULT_BOOK)
    for lang in ("en", "ru"):
        long = [story for story in stories if story.lang == lang and len(story.q) >= LONG_LINE]
        held = [story for story in long if is_held_out(story.q)]
        assert 0.07 < len(held) / len(long) < 0.13
        assert {story.procedure for story in held} > {""}
