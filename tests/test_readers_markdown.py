from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from index.errors import BookError
from index.readers.markdown import read_markdown
from index.types import Clause

HEAD = "---\nlaw: 27\nheading: Insufficient bid\n---\n\n"


def read(tmp_path: Path, body: str, head: str = HEAD) -> tuple[Clause, ...]:
    path = tmp_path / "027.md"
    path.write_bytes((head + body).encode())
    return read_markdown([path])


def with_yaml(block: str) -> str:
    return f"## 27A\n\nText.\n\n```yaml\n{block}\n```\n"


def test_a_clause_has_id_heading_text_questions_and_references(tmp_path: Path) -> None:
    body = (
        "## 27A When it is accepted\n\nFirst.\n\nSecond.\n\n"
        '```yaml\nsee: [31, 47E1, 12E1, 41A#fn]\nasked:\n  en:\n    - "a bid too low?"\n'
        '    - {q: "no: yes", also: [27B1(a)]}\n  ru: ["ниже"]\n```\n'
    )
    (clause,) = read(tmp_path, body)
    assert (str(clause.id), clause.heading, clause.text) == ("27A", "When it is accepted", "First.\n\nSecond.")
    assert [str(ref) for ref in clause.see] == ["31", "47E1", "12E1", "41A#fn"]
    assert [(line.text, line.lang) for line in clause.asked] == [("a bid too low?", "en"), ("no: yes", "en"), ("ниже", "ru")]
    assert [str(ref) for ref in clause.asked[1].also] == ["27B1(a)"]
    assert (clause.file, clause.line) == ("027.md", 6)


@pytest.mark.parametrize("ref", ["31", "47E1", "12E1", "12E3", "50E1", "20F5(b)(i)", "80B2(g)(i)", "9", "10"])
@pytest.mark.parametrize("place", ["see: [{}]", "see:\n  - {}", "asked: {{en: [{{q: why, also: [{}]}}]}}"])
def test_an_id_that_yaml_would_take_for_a_number_stays_an_id(tmp_path: Path, place: str, ref: str) -> None:
    (clause,) = read(tmp_path, with_yaml(place.format(ref)))
    refs = clause.see or clause.asked[0].also
    assert [str(found) for found in refs] == [ref]


@pytest.mark.parametrize("word", ["no", "yes", "on", "12", "1e3", "2017-01-01", "~", "null"])
def test_a_question_that_yaml_would_take_for_something_else_stays_text(tmp_path: Path, word: str) -> None:
    (clause,) = read(tmp_path, with_yaml(f"asked: {{en: [{word}]}}"))
    assert [line.text for line in clause.asked] == [word]


@pytest.mark.parametrize("block", ["", "see:", "asked:", "asked: {en: }", "see: []"])
def test_an_empty_part_of_the_yaml_block_is_nothing(tmp_path: Path, block: str) -> None:
    (clause,) = read(tmp_path, with_yaml(block))
    assert (clause.text, clause.see, clause.asked) == ("Text.", (), ())


@pytest.mark.parametrize(("block", "complete"), [("see: [31]", True), ("complete: true", True), ("complete: false", False)])
def test_a_clause_is_complete_unless_it_says_otherwise(tmp_path: Path, block: str, complete: bool) -> None:
    assert read(tmp_path, with_yaml(block))[0].complete is complete


def test_a_heading_alone_is_a_clause_without_text(tmp_path: Path) -> None:
    first, second = read(tmp_path, "## 27\n\n## 27A\n\nText.\n")
    assert first.text == ""
    assert second.text == "Text."


@pytest.mark.parametrize(
    "inside", ["```\n## 27B\n```", "~~~\n## 27B\n~~~", "    ## 27B", "> ## 27B", "- item\n\n  ## 27B", "### 27B"]
)
def test_a_heading_inside_something_else_is_not_a_clause(tmp_path: Path, inside: str) -> None:
    clauses = read(tmp_path, f"## 27A\n\nBefore.\n\n{inside}\n\nAfter.\n\n## 27C\n\nNext.\n")
    assert [str(clause.id) for clause in clauses] == ["27A", "27C"]
    assert "27B" in clauses[0].text
    assert clauses[0].text.endswith("After.")


def test_a_table_stays_in_the_text(tmp_path: Path) -> None:
    table = "| tricks | points |\n|---|---|\n| 1 | 50 |"
    assert read(tmp_path, f"## 27A\n\n{table}\n")[0].text == table


def test_clauses_come_in_the_order_of_the_files_given(tmp_path: Path) -> None:
    for name, body in {"a.md": "## 28A\n\n## 27A\n", "b.md": "## 3\n"}.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    clauses = read_markdown([tmp_path / "b.md", tmp_path / "a.md"])
    assert [(clause.file, str(clause.id)) for clause in clauses] == [("b.md", "3"), ("a.md", "28A"), ("a.md", "27A")]


@pytest.mark.parametrize("head", ["", HEAD, HEAD + "\n\n\n", "\ufeff" + HEAD])
def test_the_line_of_a_clause_is_the_line_of_its_heading_in_the_file(tmp_path: Path, head: str) -> None:
    body = "## 27A\n\nOne\ntwo.\n\n## 27B\n\nThree.\n"
    lines = (head + body).split("\n")
    assert [clause.line for clause in read(tmp_path, body, head)] == [lines.index("## 27A") + 1, lines.index("## 27B") + 1]


def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    body = with_yaml("see: [31]") + "\n## 27B\n\nOne\ntwo.\n"
    assert read(tmp_path, body.replace("\n", "\r\n"), HEAD.replace("\n", "\r\n")) == read(tmp_path, body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", r"^027.md: no clause heading"),
        ("text only\n", r"^027.md: no clause heading"),
        ("# 27\n\n### 27A\n", r"^027.md: no clause heading"),
        ("##\n", r'^027.md:6: "" is not a clause number'),
        ("## 27A\n\nT\n\n## wrong id\n", r"^027.md:10: .wrong. is not a clause number"),
        ("## 27A\n\nT\n---\n", r"^027.md:8: .T. is not a clause number"),
        (with_yaml("see: ["), r"^027.md:10: the yaml block cannot be read"),
        (with_yaml("see: [41A #fn]"), r"^027.md:10: the yaml block cannot be read"),
        (with_yaml("seen: [1]"), r"^027.md:10: a yaml block holds see .* seen: Extra inputs"),
        (with_yaml("- 1"), r"^027.md:10: a yaml block holds"),
        (with_yaml("see"), r"^027.md:10: a yaml block holds"),
        (with_yaml("see: [1]") + "\n" + "```yaml\nsee: [2]\n```\n", r"^027.md:6: clause 27A has 2 yaml blocks"),
        (with_yaml("see: [99]"), r"^027.md:6: .99. is not a clause number"),
        (with_yaml("asked: {en: [{q: why, also: [99]}]}"), r"^027.md:6: .99. is not a clause number"),
        (with_yaml("asked: [x]"), r"^027.md:10: a yaml block holds .* asked"),
    ],
)
def test_a_fault_names_file_and_line(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(BookError, match=message):
        read(tmp_path, body)


@pytest.mark.parametrize("content", [(HEAD + "## 27A\n\nправило\n").encode("cp1251"), b"---\nlaw: [\n---\n\n## 27A\n"])
def test_a_file_that_is_not_utf8_or_has_broken_front_matter_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "027.md").write_bytes(content)
    with pytest.raises(BookError, match=r"^027.md: not UTF-8 text with YAML front matter"):
        read_markdown([tmp_path / "027.md"])


@pytest.mark.parametrize("block", ["see: 31", "asked: {en: why?}", "asked: {en: [{q: why, also: 27}]}"])
def test_one_value_where_a_list_belongs_is_a_fault(tmp_path: Path, block: str) -> None:
    with pytest.raises(BookError, match=r"^027.md:\d+: "):
        read(tmp_path, with_yaml(block))


@pytest.mark.parametrize(
    "block",
    ["asked: {en: [{q: why, alos: [27]}]}", "asked: {en: [why, [what, who]]}", "asked: {en: {q: why}}", "see: [[27A]]"],
)
def test_a_question_or_reference_of_another_form_is_a_fault(tmp_path: Path, block: str) -> None:
    with pytest.raises(BookError, match=r"^027.md:\d+: "):
        read(tmp_path, with_yaml(block))


@pytest.mark.parametrize("word", ["True", "yes"])
def test_every_yaml_word_for_true_means_complete(tmp_path: Path, word: str) -> None:
    assert read(tmp_path, with_yaml(f"complete: {word}"))[0].complete


def test_a_key_given_twice_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BookError, match=r"^027.md:\d+: "):
        read(tmp_path, with_yaml("see: [31]\nsee: [12]"))


@pytest.mark.parametrize("body", [with_yaml("see: [31]") + "\nLost.\n", "Lost.\n\n## 27A\n\nText.\n"])
def test_no_words_of_a_file_are_lost_without_a_fault(tmp_path: Path, body: str) -> None:
    with suppress(BookError):
        assert "Lost." in " ".join(clause.text for clause in read(tmp_path, body))
