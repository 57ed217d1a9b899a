from __future__ import annotations

from pathlib import Path

import pytest

from index.errors import BookError
from index.readers.markdown import read_markdown
from index.types import Clause

HEAD = "---\nlaw: 27\nheading: Insufficient bid\n---\n\n"


def read(tmp_path: Path, body: str) -> tuple[Clause, ...]:
    path = tmp_path / "027.md"
    path.write_text(HEAD + body, encoding="utf-8")
    return read_markdown([path])


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
    assert clause.line == 6


def test_a_heading_alone_is_a_clause_without_text(tmp_path: Path) -> None:
    first, second = read(tmp_path, "## 27\n\n## 27A\n\nText.\n")
    assert first.text == ""
    assert second.text == "Text."


def test_a_heading_inside_a_code_block_is_not_a_clause(tmp_path: Path) -> None:
    (clause,) = read(tmp_path, "## 27A\n\n```\n## 27B\n```\n")
    assert "## 27B" in clause.text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("text only\n", r"027.md: no clause heading"),
        ("## 27A\n\nT\n\n## wrong id\n", r"027.md:10: .wrong. is not a clause number"),
        ("## 27A\n\nT\n\n```yaml\nsee: [\n```\n", r"027.md:10: the yaml block cannot be read"),
        ("## 27A\n\n```yaml\nsee: [1]\n```\n\n```yaml\nsee: [2]\n```\n", r"027.md:6: clause 27A has 2 yaml blocks"),
        ("## 27A\n\n```yaml\nseen: [1]\n```\n", r"027.md:8: a yaml block holds"),
        ("## 27A\n\n```yaml\nsee: [99]\n```\n", r"027.md:6: .99. is not a clause number"),
        ("## 27A\n\n```yaml\nasked: [x]\n```\n", r"027.md:6: asked maps"),
    ],
)
def test_a_fault_names_file_and_line(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(BookError, match=message):
        read(tmp_path, body)


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    path = tmp_path / "027.md"
    path.write_bytes(HEAD.encode() + "## 27A\n\nправило\n".encode("cp1251"))
    with pytest.raises(BookError, match=r"027.md: not UTF-8"):
        read_markdown([path])
