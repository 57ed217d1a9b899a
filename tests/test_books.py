from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import cli
from index import paths
from index.books import DEFAULT_BOOK, clause_list, export_clause, find_clause, list_books, read_book
from index.clause_id import parse_clause_id
from index.errors import BookError, UnknownClause
from index.types import Clause
from tests.conftest import BOOK_YAML, SHARED, SMALL_BOOK, needs_shared
from tests.made import make_book

ROOT = Path(__file__).resolve().parents[1]
CHECKER = [sys.executable, str(SHARED / "tools" / "check_book.py")]
ORDER = {
    parse_clause_id(text): k for k, text in enumerate((paths.bundled_books_dir() / "clauses-2017.txt").read_text().split())
}


@pytest.fixture(scope="module")
def bundled() -> tuple[Clause, ...]:
    """The clauses of the bundled book, read once."""
    return read_book(DEFAULT_BOOK).clauses


def test_the_bundled_book_says_what_it_is() -> None:
    book = read_book(DEFAULT_BOOK)
    assert (book.edition, book.lang, book.kind, book.source, book.licence) == ("2017", "en", "law", "restated", "CC-BY-4.0")
    assert book.in_force
    assert "restatement" in book.note
    assert "not the official text" in book.note
    assert "official wording decides" in book.note


def test_every_clause_of_the_bundled_book_is_one_of_the_laws_and_stands_once(bundled: tuple[Clause, ...]) -> None:
    ids = Counter(str(clause.id) for clause in bundled)
    assert set(ids) <= set(map(str, ORDER))
    assert [text for text, count in ids.items() if count > 1] == []


def test_the_clauses_of_each_file_stand_in_the_order_of_the_laws(bundled: tuple[Clause, ...]) -> None:
    for name in {clause.file for clause in bundled}:
        ids = [clause.id for clause in bundled if clause.file == name]
        assert list(map(str, ids)) == list(map(str, sorted(ids, key=ORDER.__getitem__))), name


def test_the_bundled_book_stands_in_the_order_of_the_laws(bundled: tuple[Clause, ...]) -> None:
    numbered = [clause.id for clause in bundled if clause.id.law and not clause.id.is_footnote]
    assert numbered == sorted(numbered, key=lambda clause: ORDER[clause])


def test_a_file_of_the_bundled_book_holds_the_law_that_its_name_says(bundled: tuple[Clause, ...]) -> None:
    assert [str(clause.id) for clause in bundled if int(clause.file[:3]) != (clause.id.law or 0)] == []


def test_every_reference_of_the_bundled_book_leads_to_a_clause_of_the_laws(bundled: tuple[Clause, ...]) -> None:
    refs = {ref for clause in bundled for ref in clause.see}
    refs |= {ref for clause in bundled for line in clause.asked for ref in line.also}
    assert [str(ref) for ref in refs if ref not in ORDER] == []


def test_no_question_is_asked_twice_in_the_bundled_book(bundled: tuple[Clause, ...]) -> None:
    asked = Counter(" ".join(line.text.casefold().split()) for clause in bundled for line in clause.asked)
    assert [text for text, count in asked.items() if count > 1 or not text] == []


def test_a_clause_of_the_bundled_book_without_text_stands_over_others(bundled: tuple[Clause, ...]) -> None:
    parents = {above for clause in bundled for above in clause.id.ancestors()}
    assert [str(clause.id) for clause in bundled if not clause.text and clause.id not in parents] == []


@pytest.mark.parametrize("law", [9, 10, 11, 16, 23, 25, 26, 27, 41, 47, 50, 53, 54, 55, 56, 61, 62, 63, 64, 68, 69, 70])
def test_every_clause_of_the_laws_begun_is_there(law: int, bundled: tuple[Clause, ...]) -> None:
    written = {clause.id for clause in bundled}
    assert {clause for clause in clause_list("2017") if clause.law == law} <= written


@pytest.mark.parametrize(
    ("clause_id", "words"),
    [("64A1", "one of the tricks"), ("27B2", "must pass"), ("27B1(b)", "Law 16C"), ("64B6", "twelve")],
)
def test_what_a_clause_says_is_the_rule_and_not_only_present(clause_id: str, words: str) -> None:
    assert words in find_clause(read_book(DEFAULT_BOOK), clause_id).text


def test_an_exported_clause_has_the_promised_keys() -> None:
    line = export_clause(find_clause(read_book(DEFAULT_BOOK), "27A2"))
    assert list(line) == ["id", "heading", "text", "asked", "see", "complete"]
    assert line["see"] == ["31"]
    assert all(isinstance(text, str) for text in line["asked"])


def test_an_exported_clause_says_what_the_file_says(small_book: str) -> None:
    assert export_clause(find_clause(read_book(small_book), "27A1")) == {
        "id": "27A1",
        "heading": "",
        "text": "The next player may accept a bid that is too low by calling over it.",
        "asked": [
            "someone bid too low and I like it, can I keep it",
            "one heart over one spade, LHO passed quickly",
            "заявка ниже, можно принять?",
        ],
        "see": ["25A", "27B"],
        "complete": True,
    }


def check_book(lines: str) -> list[str]:
    reviewed = ["--reviewed", str(ROOT / "index" / "books" / "reviewed.tsv")]
    return subprocess.run([*CHECKER, *reviewed], input=lines, capture_output=True, text=True, check=False).stdout.splitlines()


@needs_shared
def test_the_bundled_book_passes_the_checker(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["book", "export", DEFAULT_BOOK, "--json"])
    report = check_book(capsys.readouterr().out)
    assert report == ["clauses 758: 0 missing, 0 unknown, 0 copied, 0 near, 0 thin, 0 lost; 1 reviewed"]


@needs_shared
def test_the_checker_would_notice_the_official_wording() -> None:
    report = check_book(official_clause("27B1(b)"))
    assert [row.split("\t")[:2] for row in report if row.startswith("copied")] == [["copied", "27B1(b)"]]


def official_clause(clause_id: str) -> str:
    lines = (SHARED / "laws-2017" / "official.jsonl").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if json.loads(line)["id"] == clause_id)


def tracked_texts() -> list[str]:
    """Every file under version control that is UTF-8 text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file() and is_text(ROOT / name)]


def is_text(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


@needs_shared
def test_nothing_under_version_control_is_copied() -> None:
    files = tracked_texts()
    assert {"index/books/laws-2017-en/027-insufficient-bid.md", "index/books/terms.yaml", "tests/conftest.py"} <= set(files)
    done = subprocess.run([*CHECKER, "--prose", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@needs_shared
def test_the_search_for_copies_would_notice_the_official_wording(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("A note. " + json.loads(official_clause("27B1(b)"))["text"], encoding="utf-8")
    done = subprocess.run([*CHECKER, "--prose", "notes.md"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split("\t")[:3]) == (1, ["copied", "notes.md", "27B1(b)"])


@pytest.mark.parametrize("book_id", ["laws-2050-en", "", "../books/laws-2017-en", "x" * 5000])
def test_an_unknown_book_is_told_which_there_are(book_id: str, small_book: str) -> None:
    with pytest.raises(BookError, match=f"the books here are: {DEFAULT_BOOK}, notes-2017-en, {small_book}") as caught:
        read_book(book_id)
    assert len(str(caught.value)) < 200, "what was typed is not repeated in full"


def test_a_number_the_laws_do_not_have_is_said_to_be_wrong() -> None:
    with pytest.raises(UnknownClause, match='Laws of 2017 have no clause "27Q"'):
        find_clause(read_book(DEFAULT_BOOK), "27Q")


def test_a_clause_that_is_not_written_yet_is_said_to_be_in_the_printed_laws(small_book: str) -> None:
    with pytest.raises(UnknownClause, match=f"27D is not yet in the book {small_book}; look it up in the printed Laws"):
        find_clause(read_book(small_book), "27D")


def test_what_is_no_clause_number_is_not_looked_up(small_book: str) -> None:
    with pytest.raises(UnknownClause, match='"the revoke law" is not a clause number'):
        find_clause(read_book(small_book), "the revoke law")


def test_a_clause_is_found_however_its_number_is_written(small_book: str) -> None:
    book = read_book(small_book)
    assert {str(find_clause(book, typed).id) for typed in ("27A1", "law 27 a 1", "правило 27А1")} == {"27A1"}


def test_a_book_of_the_user_stands_beside_the_bundled_ones(small_book: str) -> None:
    assert list_books() == (DEFAULT_BOOK, "notes-2017-en", small_book)
    book = read_book(small_book)
    clause = find_clause(book, "27a1")
    assert book.heading_path(clause) == "Law 27 Insufficient bid > 27A When it is accepted > 27A1"
    assert [str(c.id) for c in book.branch(parse_clause_id("27B"))] == ["27B", "27B1"]


def test_a_folder_without_book_yaml_is_not_a_book(small_book: str, home: Path) -> None:
    (home / "data" / "books" / "notes").mkdir()
    assert list_books() == (DEFAULT_BOOK, "notes-2017-en", small_book)


def test_the_same_files_in_two_folders_are_two_books(small_book: str, home: Path) -> None:
    folder = home / "data" / "books" / "twin-2017-en"
    folder.mkdir()
    for name, content in {"book.yaml": BOOK_YAML, "027.md": SMALL_BOOK}.items():
        (folder / name).write_text(content, encoding="utf-8")
    assert [read_book(book_id).id for book_id in (small_book, "twin-2017-en")] == [small_book, "twin-2017-en"]


def test_a_book_that_changed_is_read_anew(small_book: str, home: Path) -> None:
    before = read_book(small_book)
    (home / "data" / "books" / small_book / "028.md").write_text("## 28A\n\nA new clause.\n", encoding="utf-8")
    after = read_book(small_book)
    assert find_clause(after, "28A").text == "A new clause."
    assert before.hash != after.hash


def test_an_edition_without_a_list_of_its_clauses_may_have_any(home: Path) -> None:
    book = read_book(make_book(home, "old-1987-en", "## 27B1(A)\n\nText.\n\n```yaml\nsee: [27Q]\n```\n", edition="1987"))
    assert str(find_clause(book, "27b1(a)").id) == "27B1(A)"
    with pytest.raises(UnknownClause, match='Laws of 1987 have no clause "27C"'):
        find_clause(book, "27C")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("book.yaml", "edition: [", "book.yaml: damaged or incomplete"),
        ("book.yaml", "just text", "book.yaml: damaged or incomplete"),
        ("book.yaml", "", "book.yaml: damaged or incomplete"),
        ("book.yaml", "- a list", "book.yaml: damaged or incomplete"),
        ("book.yaml", "edition: '2017'", "book.yaml: damaged or incomplete .*reader"),
        ("book.yaml", BOOK_YAML.replace("markdown", "pdf"), "book.yaml: damaged or incomplete .*pdf"),
        ("book.yaml", BOOK_YAML.replace("note: Invented for tests.", "note:"), "book.yaml: damaged or incomplete"),
        ("book.yaml", BOOK_YAML.replace("licence: CC-BY-4.0\n", ""), "book.yaml: damaged or incomplete .*licence"),
        ("028.md", "## 27A1\n\nAgain.\n", "028.md:1: clause 27A1 stands twice; it is also in 027.md"),
        ("028.md", "\n\n## 28Q9\n\nText.\n", "028.md:.*have no clause 28Q9"),
        ("028.md", "## 28A\n\nT.\n\n```yaml\nsee: [28Q]\n```\n", "028.md:1: .*have no clause 28Q"),
        (
            "028.md",
            "## 28A\n\nT.\n\n```yaml\nasked: {en: [{q: why, also: [28Q]}]}\n```\n",
            "028.md:1: .*have no clause 28Q",
        ),
        (
            "028.md",
            '## 28A\n\nT.\n\n```yaml\nasked: {en: ["ONE heart over one spade,  lho passed quickly"]}\n```\n',
            "028.md:1: asked twice, here and under 27A1",
        ),
        ("028.md", '## 28A\n\nT.\n\n```yaml\nasked: {en: [" "]}\n```\n', "28A has an empty asked-as line"),
        ("028.md", "## 28A\n\nT.\n\n```yaml\nasked: {en: [{also: [27A]}]}\n```\n", "a yaml block holds"),
    ],
)
def test_a_fault_in_a_book_is_one_sentence(small_book: str, home: Path, file: str, content: str, message: str) -> None:
    (home / "data" / "books" / small_book / file).write_text(content, encoding="utf-8")
    with pytest.raises(BookError, match=message) as caught:
        read_book(small_book)
    assert "\n" not in str(caught.value)


def test_a_damaged_book_does_not_hide_the_others(small_book: str, home: Path) -> None:
    (home / "data" / "books" / small_book / "book.yaml").write_text("edition: [", encoding="utf-8")
    assert read_book(DEFAULT_BOOK).id == DEFAULT_BOOK


def test_a_book_yaml_that_is_not_utf8_is_a_fault_of_the_book(small_book: str, home: Path) -> None:
    (home / "data" / "books" / small_book / "book.yaml").write_bytes(BOOK_YAML.encode() + "note: своё".encode("cp1251"))
    with pytest.raises(BookError, match=r"book\.yaml"):
        read_book(small_book)


def test_a_book_that_changed_in_a_folder_below_is_read_anew(small_book: str, home: Path) -> None:
    folder = home / "data" / "books" / small_book
    (folder / "book.yaml").write_text(BOOK_YAML + 'files: "**/*.md"\n', encoding="utf-8")
    (folder / "more").mkdir()
    (folder / "more" / "028.md").write_text("## 28A\n\nBefore.\n", encoding="utf-8")
    assert find_clause(read_book(small_book), "28A").text == "Before."
    (folder / "more" / "028.md").write_text("## 28A\n\nAfter.\n", encoding="utf-8")
    assert find_clause(read_book(small_book), "28A").text == "After."


def test_the_bundled_book_is_complete_clause_by_clause_in_order() -> None:
    listed = (paths.bundled_books_dir() / "clauses-2017.txt").read_text(encoding="utf-8").split()
    book = read_book(DEFAULT_BOOK)
    assert [str(clause.id) for clause in book.clauses] == listed
    assert all(clause.complete for clause in book.clauses)
    dangling = [(str(c.id), str(ref)) for c in book.clauses for ref in c.see if book.get(ref) is None]
    assert dangling == []


def test_the_notes_are_forty_and_rest_on_clauses_that_exist() -> None:
    laws, notes = read_book(DEFAULT_BOOK), read_book("notes-2017-en")
    assert len(notes.clauses) == 40
    for note in notes.clauses:
        assert note.see, note.id
        assert str(note.id) == f"Note:{note.see[0].law}"
        assert [str(ref) for ref in note.see if laws.get(ref) is None] == []


def test_asked_as_lines_are_enough_in_both_languages() -> None:
    lines = [line for clause in read_book(DEFAULT_BOOK).clauses for line in clause.asked]
    assert sum(line.lang == "en" for line in lines) >= 3500
    assert sum(line.lang == "ru" for line in lines) >= 1200
    assert all(clause.asked for clause in read_book(DEFAULT_BOOK).clauses if clause.text)
