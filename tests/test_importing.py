from __future__ import annotations

import json
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from index import books, importing, user_books
from index.bm25 import words
from index.books import DEFAULT_BOOK, bundled_books, find_clause, list_books, read_book
from index.clause_id import ClauseId, parse_clause_id
from index.errors import BookError, IndexFault, UnknownClause
from index.import_report import ImportReport, gaps, report_json, suspicious
from index.importing import ImportOrder, import_book
from index.passages import passages_of
from index.readers import IMPORT_READERS
from index.readers.reading import Reading, SourceFile
from index.readers.stored import read_stored, write_stored
from index.types import Clause
from index.user_books import is_imported, remove_book
from tests.conftest import SHARED, needs_shared
from tests.fakes import FakeEmbedder
from tests.made import make_clause
from tests.made_laws import expected, text_of_laws

GOOD = (
    "Law 1. Jars\nA. Size\nA jar is round and holds ten pebbles (see Law 2A).\nLaw 2. Lids\nA. Shape\nA lid is flat, always.\n"
)
BETTER = GOOD + "B. Colour\nA lid is blue, mostly.\n"


def order(tmp_path: Path, text: str | bytes = GOOD, **changes: Any) -> ImportOrder:
    """An order to import one text as the book ``pebbles``."""
    path = tmp_path / changes.pop("name", "laws.txt")
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return replace(ImportOrder((path,), "pebbles", "1", "en"), **changes)


def reading(monkeypatch: pytest.MonkeyPatch, *clauses: Clause, **parts: Any) -> None:
    """The reader ``made`` gives these clauses, whatever the sources."""

    def read(_: Sequence[SourceFile]) -> Reading:
        return Reading(clauses, **parts)

    monkeypatch.setitem(IMPORT_READERS, "made", read)


# the book


def test_an_imported_book_is_one_of_the_books(tmp_path: Path, home: Path) -> None:
    report = import_book(order(tmp_path, text_of_laws()))
    assert list_books() == (*bundled_books(), "pebbles")
    book = read_book("pebbles")
    assert {str(c.id): (c.heading, c.text) for c in book.clauses} == expected()
    assert (book.edition, book.lang, book.kind, book.source, book.wording) == ("1", "en", "law", "imported", "imported")
    assert book.sources == ("laws.txt",)
    assert report.stored == str(home / "data" / "books" / "pebbles")
    assert is_imported("pebbles")
    assert not is_imported(DEFAULT_BOOK)


def test_the_book_keeps_the_names_and_hashes_of_its_sources(tmp_path: Path, home: Path) -> None:
    report = import_book(order(tmp_path))
    meta = yaml.safe_load((home / "data" / "books" / "pebbles" / "book.yaml").read_text(encoding="utf-8"))
    assert meta["reader"] == "stored"
    assert meta["sources"] == [{"name": "laws.txt", "sha256": report.sources[0].sha256}]


@pytest.mark.parametrize(("edition", "in_force"), [("2017", True), ("1987", False), ("2007", False)])
def test_only_the_edition_of_2017_is_in_force(tmp_path: Path, edition: str, in_force: bool) -> None:
    import_book(order(tmp_path, edition=edition))
    assert read_book("pebbles").in_force is in_force


def test_two_editions_stand_side_by_side(tmp_path: Path) -> None:
    import_book(order(tmp_path, book="pebbles-1", edition="1"))
    import_book(order(tmp_path, BETTER, book="pebbles-2", edition="2", lang="ru"))
    assert list_books() == (*bundled_books(), "pebbles-1", "pebbles-2")
    assert find_clause(read_book("pebbles-2"), "2B").text
    with pytest.raises(UnknownClause, match='Laws of 1 have no clause "2B"'):
        find_clause(read_book("pebbles-1"), "2B")


def test_laws_above_those_of_bridge_can_be_asked_for(tmp_path: Path) -> None:
    import_book(order(tmp_path, "".join(f"Law {n}. Title\nA. Pebble {n} is round.\n" for n in range(90, 131))))
    assert find_clause(read_book("pebbles"), "law 130a").text == "Pebble 130 is round."
    with pytest.raises(UnknownClause, match='"131" is not a clause number'):
        find_clause(read_book("pebbles"), "131")
    with pytest.raises(UnknownClause, match='"130" is not a clause number'):
        find_clause(read_book(DEFAULT_BOOK), "130")


def test_importing_again_replaces_the_book(tmp_path: Path, home: Path) -> None:
    import_book(order(tmp_path))
    before = read_book("pebbles")
    import_book(order(tmp_path, BETTER))
    after = read_book("pebbles")
    assert (len(before.clauses), len(after.clauses)) == (4, 5)
    assert before.hash != after.hash
    assert len(list((home / "data" / "books" / "pebbles").iterdir())) == 2, "nothing old is left"


def test_importing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    import_book(order(tmp_path))
    before = read_book("pebbles").hash
    import_book(order(tmp_path))
    assert read_book("pebbles").hash == before, "the index need not be built anew"


def test_a_dry_run_keeps_nothing(tmp_path: Path, home: Path) -> None:
    report = import_book(order(tmp_path), dry_run=True)
    assert (report.clauses, report.stored) == (4, None)
    assert list_books() == bundled_books()
    assert not (home / "data").exists()


def test_long_sentences_of_an_imported_book_are_split_for_the_embedder(tmp_path: Path, small_book: str) -> None:
    import_book(order(tmp_path, f"Law 1. Jars\nA. {'pebble ' * 300}is round.\n"))
    embedder = FakeEmbedder(max_tokens=64)
    rows = passages_of(read_book("pebbles"), embedder)
    assert all(embedder.count_tokens(row.text, "passage") <= 64 for row in rows)
    assert sum(words(row.text).count("pebbl") for row in rows) >= 300
    with pytest.raises(IndexFault, match="over the embedder's limit"):
        passages_of(read_book(small_book), FakeEmbedder(max_tokens=12))


# what goes wrong leaves the old book in use


@pytest.mark.parametrize("text", ["No numbers at all.", b"\x00\x01\x02" * 500, "", "CONTENTS\nLaw 1. Jars ..... 5\n"])
def test_a_source_without_laws_leaves_the_old_book(tmp_path: Path, text: str | bytes) -> None:
    import_book(order(tmp_path))
    with pytest.raises(BookError) as caught:
        import_book(order(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert len(read_book("pebbles").clauses) == 4


def test_a_source_without_law_numbers_is_told_in_one_sentence(tmp_path: Path, home: Path) -> None:
    with pytest.raises(
        BookError, match=r"^No law numbers were found in laws\.txt; check the file, or name another --reader\.$"
    ):
        import_book(order(tmp_path, "A poem.\n\nIt has no numbers."))
    assert not (home / "data").exists()


def test_headings_alone_are_no_book(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="Only headings were found"):
        import_book(order(tmp_path, "Law 1. Jars\nLaw 2. Lids\n"))


@pytest.mark.parametrize("step", ["replace", "fsync", "read"])
def test_a_failure_while_writing_leaves_the_old_book(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    import_book(order(tmp_path))
    before = sorted((home / "data" / "books" / "pebbles").iterdir())

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        if step == "read":
            broken.setattr(user_books, "read_folder", full)
        else:
            broken.setattr(os, step, full)
        with pytest.raises(BookError, match=r"cannot be written to .* \(No space left on device\); make that folder writable"):
            import_book(order(tmp_path, BETTER))
    assert sorted((home / "data" / "books" / "pebbles").iterdir()) == before
    assert len(read_book("pebbles").clauses) == 4
    assert list_books() == (*bundled_books(), "pebbles")


def test_an_import_that_was_killed_leaves_no_trace_in_the_list(tmp_path: Path, home: Path) -> None:
    import_book(order(tmp_path))
    left = home / "data" / "books" / ".importing-x"
    left.mkdir()
    (left / "book.yaml").write_text((home / "data" / "books" / "pebbles" / "book.yaml").read_text())
    assert list_books() == (*bundled_books(), "pebbles")
    import_book(order(tmp_path, BETTER))
    assert not left.exists()


def test_a_killed_import_between_its_two_steps_leaves_the_old_book(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_book(order(tmp_path))
    replace_file = os.replace

    def killed(source: Path, target: Path) -> None:
        if Path(target).name == "book.yaml":
            raise KeyboardInterrupt
        replace_file(source, target)

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            import_book(order(tmp_path, BETTER))
    assert len(read_book("pebbles").clauses) == 4


# wrong orders


@pytest.mark.parametrize("book_id", ["", "a b", "../x", "a/b", "-a", "a-", "a--b", "закон", ".hidden", "a" * 61, "a\n"])
def test_a_book_id_is_letters_digits_and_hyphens(tmp_path: Path, book_id: str) -> None:
    with pytest.raises(BookError, match="is no book id: letters, digits and hyphens"):
        import_book(order(tmp_path, book=book_id))


@pytest.mark.parametrize("book_id", [DEFAULT_BOOK, DEFAULT_BOOK.upper()])
def test_a_bundled_book_is_neither_replaced_nor_removed(tmp_path: Path, book_id: str) -> None:
    with pytest.raises(BookError, match="comes with the program and is not replaced; choose another --id"):
        import_book(order(tmp_path, book=book_id))
    with pytest.raises(BookError, match="comes with the program and is not removed"):
        remove_book(book_id)
    assert read_book(DEFAULT_BOOK).source == "restated"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edition": ""}, "cannot be an edition"),
        ({"edition": "x" * 40}, "cannot be an edition"),
        ({"edition": "{% x %}"}, "cannot be an edition"),
        ({"lang": "english"}, "is no language code"),
        ({"lang": "EN"}, "is no language code"),
        ({"kind": "poem"}, 'no kind "poem" of book to import; the kinds are: law, commentary'),
        ({"reader": "ocr"}, 'There is no reader "ocr"; the readers are: .*generic'),
        ({"files": ()}, "No file is named"),
        ({"files": (Path("x"),) * 51}, "51 files are too many"),
    ],
)
def test_a_wrong_order_is_told_in_one_sentence(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BookError, match=words):
        import_book(order(tmp_path, **changes))


def test_the_same_file_twice_is_told(tmp_path: Path) -> None:
    made = order(tmp_path)
    with pytest.raises(BookError, match=r"laws\.txt and laws\.txt are the same file"):
        import_book(replace(made, files=made.files * 2))


def test_a_book_that_nobody_imported_is_not_replaced(tmp_path: Path, small_book: str) -> None:
    with pytest.raises(BookError, match=f"The book {small_book} was not made by an import and is not replaced"):
        import_book(order(tmp_path, book=small_book))
    assert read_book(small_book).source == "restated"


def test_a_damaged_import_can_be_replaced(tmp_path: Path, home: Path) -> None:
    import_book(order(tmp_path))
    (home / "data" / "books" / "pebbles" / "book.yaml").write_text("reader: [", encoding="utf-8")
    import_book(order(tmp_path, BETTER))
    assert len(read_book("pebbles").clauses) == 5


# removing


def test_a_removed_book_is_gone_with_its_index(tmp_path: Path, home: Path) -> None:
    import_book(order(tmp_path))
    index = home / "cache" / "indexes" / "pebbles"
    index.mkdir(parents=True)
    remove_book("pebbles")
    assert list_books() == bundled_books()
    assert not index.exists()
    assert [path.name for path in (home / "data" / "books").iterdir()] == [".lock"]


@pytest.mark.parametrize("book_id", ["nothing", "", "..", "../books", "."])
def test_what_is_no_book_is_not_removed(tmp_path: Path, home: Path, book_id: str) -> None:
    import_book(order(tmp_path))
    with pytest.raises(BookError, match=r"There is no book .* of yours to remove; yours are: pebbles"):
        remove_book(book_id)
    assert (home / "data" / "books" / "pebbles").is_dir()


# the report


def test_the_report_counts(tmp_path: Path) -> None:
    text = "Preface: all is play.\n\n" + GOOD + "C. Third\nIt breaks.\nLaw 5. Last\nIt ends, finally.\n"
    report = import_book(order(tmp_path, text), dry_run=True)
    assert (report.clauses, report.laws, report.footnotes) == (6, 3, 0)
    assert report.gaps == ("2B", "3", "4")
    assert report.short == ("2C",)
    assert report.unassigned == ("Preface: all is play.",)
    assert 0.05 < report.unassigned_share < 0.2
    assert report.sources[0].form == "text in utf-8"


def test_the_report_names_unreadable_pages(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    from tests.test_sources import draw_image

    canvas = Canvas(str(tmp_path / "laws.pdf"))
    for number in (1, 2, 3):
        if number == 2:
            draw_image(canvas)
        else:
            canvas.drawString(100, 700, f"Law {number}. Pebbles number {number} are round.")
        canvas.showPage()
    canvas.save()
    report = import_book(ImportOrder((tmp_path / "laws.pdf",), "pebbles", "1", "en"))
    assert (report.sources[0].pages, report.sources[0].unreadable, report.gaps) == (3, (2,), ("2",))


def test_the_report_says_what_the_edition_lacks_and_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clauses = (make_clause("64A1", "One trick."), make_clause("64X", "No such thing."))
    reading(monkeypatch, replace(clauses[0], see=(ClauseId("62D"), ClauseId("62Q"))), clauses[1], unassigned=("Preface",))
    report = import_book(order(tmp_path, edition="2017", reader="made"))
    assert report.outside == ("64X",)
    assert report.unassigned == ("Preface", "64X  No such thing.")
    assert (len(report.gaps), report.gaps[0], "64A1" in report.gaps) == (923, "Def:adjusted-score", False)
    book = read_book("pebbles")
    assert [(str(c.id), [str(ref) for ref in c.see]) for c in book.clauses] == [("64A1", ["62D"])]


def test_ids_that_came_twice_are_in_the_report_and_once_in_the_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = replace(make_clause("1A", "A jar is round and"), complete=False)
    reading(monkeypatch, part, make_clause("1a", "A jar is round."), make_clause("2", "End of it."), twice=(ClauseId("2"),))
    report = import_book(order(tmp_path, reader="made"))
    assert report.twice == ("2", "1A")
    assert [(str(c.id), c.text) for c in read_book("pebbles").clauses] == [("1A", "A jar is round."), ("2", "End of it.")]


def test_commentary_needs_no_law_numbers_and_may_number_its_own_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, replace(make_clause("DC4:24.1", "On jars."), see=(ClauseId("24"),)))
    report = import_book(order(tmp_path, edition="2017", kind="commentary", reader="made"))
    assert (report.outside, report.gaps, report.laws) == ((), (), 0)
    assert (read_book("pebbles").wording, [str(c.id) for c in read_book("pebbles").clauses]) == ("commentary", ["DC4:24.1"])


@pytest.mark.parametrize(
    ("ids", "missing"),
    [
        ("1 2 4", "3"),
        ("27A 27C", "27B"),
        ("27B1", "27A"),
        ("27A 27A1 27A3", "27A2"),
        ("30B1(a) 30B1(d)", "30A 30B1(b) 30B1(c)"),
        ("80A1(a)(i) 80A1(a)(iv)", "80A1(a)(ii) 80A1(a)(iii)"),
        ("80B2(i)", "80A 80B1 80B2(a) 80B2(b) 80B2(c) 80B2(d) 80B2(e) 80B2(f) 80B2(g) 80B2(h)"),
        ("9A2(B)(2)", "9A1 9A2(A) 9A2(B)(1)"),
        ("41A 41A#fn 41A#fn2", ""),
        ("Def:jar DC4:24.1 DC4:24.3 Note:2", ""),
        ("", ""),
    ],
)
def test_gaps_are_numbers_left_out(ids: str, missing: str) -> None:
    assert " ".join(gaps(map(parse_clause_id, ids.split()))) == missing


def test_suspicious_clauses() -> None:
    usual = [make_clause(f"{n}A", "some ten words that a clause of usual length has") for n in range(1, 9)]
    odd = [make_clause("9", "", "Nothing below"), make_clause("10A", "Pass."), make_clause("11A", "word " * 300)]
    assert suspicious([*usual, *odd]) == (("9",), ("10A",), ("11A",))
    assert suspicious([]) == ((), (), ())


def test_the_report_is_plain_json(tmp_path: Path) -> None:
    report = import_book(order(tmp_path), dry_run=True)
    data = json.loads(json.dumps(report_json(report)))
    assert set(data) == set(ImportReport.__dataclass_fields__)
    assert data["sources"][0]["name"] == "laws.txt"


# storing


IDS = [
    "1",
    "27B1(a)",
    "30B2(A)",
    "9A2(B)(1)",
    "30B1(b)(ii)",
    "41A#fn",
    "41B#fn2",
    "Def:revoke",
    "Def",
    "Intro:verbs",
    "DC4:25.1",
    "130A",
]
SEE = st.lists(st.sampled_from(IDS).map(ClauseId), max_size=3).map(tuple)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=80)


@given(
    st.lists(
        st.builds(
            lambda clause_id, heading, text, complete, see: Clause(ClauseId(clause_id), heading, text, (), see, complete),
            st.sampled_from(IDS), TEXTS, TEXTS, st.booleans(), SEE,
        ),
        max_size=6,
    )
)  # fmt: skip
@settings(deadline=None)
def test_whatever_a_clause_says_it_comes_back_as_stored(
    tmp_path_factory: pytest.TempPathFactory, clauses: list[Clause]
) -> None:
    path = tmp_path_factory.mktemp("stored") / "clauses-1.jsonl"
    write_stored(path, clauses)
    back = read_stored([path])
    assert [replace(clause, file="", line=0) for clause in back] == clauses
    assert [str(clause.id) for clause in back] == [str(clause.id) for clause in clauses]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": "27B", "heading": "", "text": ""}',
        '{"id": "27B", "heading": "", "text": 5, "see": [], "complete": true}',
        '{"id": "27B", "heading": "", "text": "", "see": [], "complete": true, "asked": []}',
        '{"id": "27b\\" | \\"x", "heading": "", "text": "", "see": [], "complete": true}',
        '{"id": "law 27b", "heading": "", "text": "", "see": [], "complete": true}',
        '{"id": "../27", "heading": "", "text": "", "see": [], "complete": true}',
        '{"id": "27B", "heading": "", "text": "", "see": ["<b>"], "complete": true}',
    ],
)
def test_a_damaged_line_is_told_with_its_number(tmp_path: Path, home: Path, line: str) -> None:
    import_book(order(tmp_path))
    (path,) = (home / "data" / "books" / "pebbles").glob("*.jsonl")
    path.write_text(path.read_text() + line + "\n", encoding="utf-8")
    with pytest.raises(BookError, match=r"clauses-\w+\.jsonl:5: not a clause as an import stores it; import the book again"):
        read_book("pebbles")


# the real texts


@needs_shared
@pytest.mark.parametrize(
    ("names", "options", "clauses", "laws"),
    [
        (["seeds/laws-1987-ru-a.txt", "seeds/laws-1987-ru-b.txt", "seeds/laws-1987-translit.txt"],
         {"edition": "1987", "lang": "ru", "reader": "laws-1987-ru"}, 284, 44),
        (["seeds/commentary-dc4-ru.txt"], {"edition": "1987", "lang": "ru", "kind": "commentary", "reader": "dc4-ru"}, 14, 0),
        (["laws-2017/official-raw.txt"], {"edition": "2017", "lang": "en", "reader": "laws-2017"}, 924, 93),
    ],
    ids=["laws of 1987", "commentary", "laws of 2017"],
)  # fmt: skip
def test_the_real_texts_become_books(
    tmp_path: Path, names: list[str], options: dict[str, Any], clauses: int, laws: int
) -> None:
    made = replace(order(tmp_path, **options), files=tuple(SHARED / name for name in names), book="real")
    report = import_book(made)
    assert (report.clauses, report.laws, report.outside, report.unassigned_share) == (clauses, laws, (), 0.0)
    book = read_book("real")
    assert len(book.clauses) == clauses
    assert passages_of(book, FakeEmbedder(max_tokens=512))
    assert book.sources == tuple(Path(name).name for name in names)


@needs_shared
def test_the_generic_reader_finds_nearly_all_of_the_official_text(tmp_path: Path) -> None:
    made = replace(order(tmp_path, edition="2017"), files=(SHARED / "laws-2017" / "official-raw.txt",))
    report = import_book(made, dry_run=True)
    numbered = [name for name in report.gaps if name[0].isdigit() and "#" not in name]
    assert (report.laws, report.outside) == (93, ())
    assert len(numbered) <= 20


@pytest.mark.parametrize("seed", range(3))
def test_pages_of_another_game_in_any_order_lose_nothing(tmp_path: Path, seed: int) -> None:
    laws = [f"Law {n}. Title\nA. Pebble number {n} is round.\nB. Pebble number {n} is blue.\n" for n in range(1, 21)]
    random.Random(seed).shuffle(laws)
    report = import_book(order(tmp_path, "\f".join(laws)), dry_run=True)
    assert (report.clauses, report.gaps, report.unassigned_share) == (60, (), 0.0)


def test_everything_is_told_of_the_readers() -> None:
    assert importing.DEFAULT_READER in IMPORT_READERS
    assert books.READERS.keys() >= {"markdown", "stored"}
