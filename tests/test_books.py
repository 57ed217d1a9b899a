from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from index.books import DEFAULT_BOOK, clause_list, export_clause, find_clause, list_books, read_book
from index.clause_id import parse_clause_id
from index.errors import BookError, UnknownClause
from index.paths import bundled_books_dir
from tests.conftest import SHARED, needs_shared

ROOT = Path(__file__).resolve().parents[1]
ORDER = {parse_clause_id(text): k for k, text in enumerate((bundled_books_dir() / "clauses-2017.txt").read_text().split())}


def test_the_bundled_book_says_what_it_is() -> None:
    book = read_book(DEFAULT_BOOK)
    assert (book.edition, book.lang, book.kind, book.source, book.licence) == ("2017", "en", "law", "restated", "CC-BY-4.0")
    assert "not the official text" in book.note
    assert "official wording decides" in book.note


def test_the_bundled_book_stands_in_the_order_of_the_laws() -> None:
    numbered = [clause.id for clause in read_book(DEFAULT_BOOK).clauses if clause.id.law and not clause.id.is_footnote]
    assert numbered == sorted(numbered, key=lambda clause: ORDER[clause])


@pytest.mark.parametrize("law", [9, 10, 11, 16, 23, 25, 26, 27, 41, 47, 50, 53, 54, 55, 56, 61, 62, 63, 64, 68, 69, 70])
def test_every_clause_of_the_laws_begun_is_there(law: int) -> None:
    written = {clause.id for clause in read_book(DEFAULT_BOOK).clauses}
    assert {clause for clause in clause_list("2017") if clause.law == law} <= written


def test_what_a_clause_says_is_the_rule_and_not_only_present() -> None:
    book = read_book(DEFAULT_BOOK)
    assert "one of the tricks" in find_clause(book, "64A1").text
    assert "must pass" in find_clause(book, "27B2").text
    assert "Law 16C" in find_clause(book, "27B1(b)").text
    assert "twelve" in find_clause(book, "64B6").text


def test_an_exported_clause_has_the_promised_keys() -> None:
    line = export_clause(find_clause(read_book(DEFAULT_BOOK), "27A2"))
    assert list(line) == ["id", "heading", "text", "asked", "see", "complete"]
    assert line["see"] == ["31"]
    assert all(isinstance(text, str) for text in line["asked"])


@needs_shared
def test_the_bundled_book_passes_the_checker() -> None:
    lines = "\n".join(json.dumps(export_clause(clause)) for clause in read_book(DEFAULT_BOOK).clauses)
    command = [sys.executable, str(SHARED / "tools" / "check_book.py")]
    report = subprocess.run(command, input=lines, capture_output=True, text=True, check=False).stdout.splitlines()
    assert report[-1].startswith("clauses 758:")
    assert [row for row in report[:-1] if not row.startswith("missing\t")] == []


@needs_shared
def test_nothing_under_version_control_is_copied() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.split("\0") if name and not name.startswith("LICENSE")]
    texts = [name for name in files if Path(name).suffix in {".md", ".yaml", ".py", ".txt", ".html", ".js", ".jsonl", ".tsv"}]
    assert len(texts) > 50
    command = [sys.executable, str(SHARED / "tools" / "check_book.py"), "--prose", *texts]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_an_unknown_book_is_told_which_there_are() -> None:
    with pytest.raises(BookError, match=DEFAULT_BOOK):
        read_book("laws-2050-en")


def test_a_number_the_laws_do_not_have_is_unknown_and_one_not_written_yet_is_said_to_be() -> None:
    book = read_book(DEFAULT_BOOK)
    with pytest.raises(UnknownClause, match='have no clause "27Q"'):
        find_clause(book, "27Q")
    missing = sorted(clause_list("2017") - set(book.by_id), key=str)
    if missing:
        with pytest.raises(UnknownClause, match="not yet in the book"):
            find_clause(book, str(missing[0]))


def test_a_book_of_the_user_stands_beside_the_bundled_ones(small_book: str) -> None:
    assert list_books() == (DEFAULT_BOOK, small_book)
    book = read_book(small_book)
    clause = find_clause(book, "27a1")
    assert book.heading_path(clause) == "Law 27 Insufficient bid > 27A When it is accepted > 27A1"
    assert [str(c.id) for c in book.branch(parse_clause_id("27B"))] == ["27B", "27B1"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("book.yaml", "edition: [", "damaged or incomplete"),
        ("book.yaml", "just text", "damaged or incomplete"),
        ("book.yaml", "edition: '2017'", "damaged or incomplete"),
        ("028.md", "## 27A1\n\nAgain.\n", "27A1 stands twice"),
        ("028.md", "## 28Q9\n\nText.\n", "have no clause 28Q9"),
        ("028.md", "## 28A\n\nT.\n\n```yaml\nsee: [28Q]\n```\n", "have no clause 28Q"),
        (
            "028.md",
            '## 28A\n\nT.\n\n```yaml\nasked: {en: ["ONE heart over one spade,  lho passed quickly"]}\n```\n',
            "asked twice",
        ),
        ("028.md", '## 28A\n\nT.\n\n```yaml\nasked: {en: [""]}\n```\n', "empty asked-as line"),
    ],
)
def test_a_fault_in_a_book_is_one_sentence(small_book: str, home: Path, file: str, content: str, message: str) -> None:
    (home / "data" / "books" / small_book / file).write_text(content, encoding="utf-8")
    with pytest.raises(BookError, match=message) as caught:
        read_book(small_book)
    assert "\n" not in str(caught.value)
