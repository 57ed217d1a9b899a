from __future__ import annotations

from pathlib import Path

import pytest

from index.books import read_book
from index.clause_id import ClauseId
from index.errors import UnknownClause
from index.wording import Shown, comments, find_shown, law_books, shown, with_lines, wordings
from rag.desk import Ask, Desk, answer_whole, find
from rag.page.render import law_html
from tests.fakes import FakeEmbedder
from tests.made import KEEP_IT, make_book

OFFICIAL = """---
law: 27
heading: Official heading
---

## 27 Official heading

## 27A1

Invented official words: the next player is free to accept.

```yaml
complete: {complete}
```
"""
RUSSIAN = OFFICIAL.replace(
    "Invented official words: the next player is free to accept.", "Выдуманный текст: следующий может принять."
)
OLD = OFFICIAL.replace("the next player is free to accept", "nobody may accept anything")


def make_official(
    home: Path, book_id: str = "official-2017-en", text: str = OFFICIAL, complete: str = "true", **meta: object
) -> str:
    return make_book(home, book_id, text.replace("{complete}", complete), **{"source": "imported", **meta})


@pytest.fixture
def desk() -> Desk:
    return Desk(FakeEmbedder(), None)


def test_the_imported_wording_of_the_same_edition_takes_the_place_of_ours(small_book: str, home: Path, desk: Desk) -> None:
    make_official(home)
    ruling = answer_whole(desk, Ask(KEEP_IT, small_book)).ruling
    law = next(law for law in ruling.laws if law.id == "27A1")
    assert law.text == "Invented official words: the next player is free to accept."
    assert (law.book, law.source) == ("official-2017-en", "imported")
    assert ruling.sentences[0].text == law.text
    assert next(law for law in ruling.laws if law.id == "27B1").book == small_book, "what the import lacks stays ours"


def test_another_edition_never_lends_its_words(small_book: str, home: Path, desk: Desk) -> None:
    make_official(home, "old-1987-en", OLD, edition="1987", in_force=False)
    assert all(law.book == small_book for law in answer_whole(desk, Ask(KEEP_IT, small_book)).ruling.laws)


def test_the_same_number_of_two_editions_is_two_rules(small_book: str, home: Path, desk: Desk) -> None:
    make_official(home, "old-1987-en", OLD, edition="1987", in_force=False)
    new, old = (answer_whole(desk, Ask("what does 27A1 say", book)).ruling for book in (small_book, "old-1987-en"))
    assert (new.edition, old.edition) == ("2017", "1987")
    assert "nobody may accept" not in str(new)
    assert "nobody may accept" in old.answer
    assert old.status == "quote"


def test_asked_as_lines_of_the_edition_find_the_clause_in_an_imported_book(small_book: str, home: Path, desk: Desk) -> None:
    book = make_official(home)
    _, ranking = find(desk, KEEP_IT, 3, book)
    assert str(ranking.hits[0].clause.id) == "27A1"
    assert ranking.nearest == pytest.approx(1.0), "the line itself is a row of the index"
    assert KEEP_IT in [line.text for line in with_lines(read_book(book)).get(ClauseId("27A1")).asked]


def test_asked_as_lines_do_not_cross_editions(small_book: str, home: Path) -> None:
    book = read_book(make_official(home, "old-1987-en", OLD, edition="1987", in_force=False))
    assert with_lines(book) is book


def test_a_clause_that_is_imported_in_part_is_shown_in_our_words(small_book: str, home: Path) -> None:
    make_official(home, complete="false")
    book = read_book(small_book)
    assert shown(wordings(book, "en"), ClauseId("27A1")).book.id == small_book


def test_the_wording_in_the_language_of_the_question_comes_first(small_book: str, home: Path) -> None:
    make_official(home)
    make_official(home, "official-2017-ru", RUSSIAN, lang="ru")
    book = read_book(small_book)
    assert [other.id for other in wordings(book, "ru")] == ["official-2017-ru", "official-2017-en", small_book]
    assert [other.id for other in wordings(book, "en")] == ["official-2017-en", small_book]


def test_a_question_can_be_put_to_books_of_laws_only(small_book: str, home: Path) -> None:
    make_official(home)
    make_official(home, "comments-2017-en", kind="commentary")
    assert law_books() == ("laws-2017-en", "official-2017-en", small_book)


def test_commentary_never_lends_its_words(small_book: str, home: Path) -> None:
    make_official(home, "notes-2017-en", kind="commentary")
    assert [other.id for other in wordings(read_book(small_book), "en")] == [small_book]


def test_a_damaged_import_does_not_stop_the_others(small_book: str, home: Path, desk: Desk) -> None:
    book = make_official(home)
    (home / "data" / "books" / book / "book.yaml").write_text("edition: [", encoding="utf-8")
    assert answer_whole(desk, Ask(KEEP_IT, small_book)).ruling.laws[0].book == small_book


def test_the_page_of_a_law_names_the_source_of_every_text(small_book: str, home: Path) -> None:
    make_official(home, title="The official book")
    book = read_book(small_book)
    page = law_html(Shown(book.get(ClauseId("27")), book), "en")
    assert "the official text as imported · The official book" in page
    assert "our own restatement, not the official text" in page
    assert (
        page.index("Invented official words") < page.index("the official text as imported") < page.index("our own restatement")
    )


NOTE = """---
law: 27
heading: Note on low bids
---

## Note:27 Low bids

Ask first whether the next player has called.

```yaml
see: [27, 25A]
```
"""


def test_a_law_and_the_note_on_it_are_linked_both_ways(home: Path) -> None:
    make_book(home, "notes-1987-en", NOTE, kind="commentary", edition="1987", in_force=False)
    book = read_book(make_book(home, "laws-1987-en", edition="1987", in_force=False))
    assert [(str(one.clause.id), one.book.id) for one in comments(book, 27)] == [("Note:27", "notes-1987-en")]
    assert comments(book, 25) == comments(book, None) == ()
    law = law_html(Shown(book.get(ClauseId("27A1")), book), "en")
    assert '<a class="tl-cite" href="/law/Note%3A27?book=notes-1987-en">Note:27</a> Low bids' in law
    note = find_shown(book, "Note:27")
    assert note.book.id == "notes-1987-en"
    assert 'href="/law/25A?book=notes-1987-en"' in law_html(note, "en")


def test_the_bundled_notes_are_on_the_laws_of_their_edition(small_book: str) -> None:
    assert [str(one.clause.id) for one in comments(read_book(small_book), 27)] == ["Note:27"]
    assert find_shown(read_book(small_book), "note:27").book.id == "notes-2017-en"


def test_a_note_on_another_edition_is_not_found(home: Path) -> None:
    book = read_book(make_book(home, "laws-1987-en", edition="1987", in_force=False))
    assert comments(book, 27) == ()
    with pytest.raises(UnknownClause):
        find_shown(book, "Note:27")
