from __future__ import annotations

import json
import re
from typing import Any

import pytest

from index.books import DEFAULT_BOOK, find_clause, read_book
from index.errors import UnknownClause
from index.types import Book
from index.wording import Shown
from rag.cases import INTERRUPTED, Case, CaseTurn
from rag.page.render import case_html, choose_language, law_html
from rag.ruling import LawCard, Sentence, to_json
from tests.made import ACCEPT, make_book, make_ruling

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def card(clause_id: str = "27A1", text: str = ACCEPT, heading: str = "Law 27") -> LawCard:
    return LawCard(clause_id, heading, text, 0.9, "small-2017-en", "restated")


def case(
    question: str = "West bid too low", notice: str = "", done: bool = True, has_ruling: bool = True, **changes: Any
) -> Case:
    ruling = json.loads(json.dumps(to_json(make_ruling(**changes)))) if has_ruling else None
    return Case("c", (CaseTurn(1, question, ruling, notice, done),))


@pytest.fixture
def book(small_book: str) -> Book:
    return read_book(small_book)


def law_page(book: Book, clause_id: str, lang: str = "en", whole_page: bool = False) -> str:
    return law_html(Shown(find_clause(book, clause_id), book), lang, whole_page)


@pytest.mark.parametrize(
    "made",
    [
        case(question=EVIL),
        case(notice=EVIL),
        case(question=EVIL, notice=EVIL, has_ruling=False),
        case(laws=(card(text=EVIL),)),
        case(laws=(card(heading=EVIL),)),
        case(laws=(card(clause_id=EVIL),)),
        case(sentences=(Sentence(EVIL, (EVIL,)),)),
        case(sentences=(), answer=EVIL),
    ],
    ids=["question", "notice", "notice alone", "clause", "heading", "id", "sentence", "answer"],
)
def test_html_in_what_is_shown_is_escaped(made: Case) -> None:
    page = case_html(made, "en")
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def test_links_in_a_clause_cannot_run_scripts() -> None:
    page = case_html(case(laws=(card(text="[press](javascript:alert(1)) and [this](data:text/html,x)"),)), "en")
    assert 'href="javascript' not in page
    assert 'href="data' not in page


@pytest.mark.parametrize(
    ("clause_id", "href"),
    [("27A1", "/law/27A1"), ("12C1(b)", "/law/12C1%28b%29"), ("41A#fn", "/law/41A%23fn"), ("Def:revoke", "/law/Def%3Arevoke")],
)
def test_a_cited_number_links_to_its_clause(clause_id: str, href: str) -> None:
    page = case_html(case(sentences=(Sentence(ACCEPT, (clause_id,)),)), "en")
    assert f'<p class="tl-sentence">{ACCEPT} <a class="tl-cite" href="{href}?book=small-2017-en">{clause_id}</a></p>' in page


def test_an_answer_shows_status_sentences_cards_and_who_rules() -> None:
    page = case_html(case(notice="A notice."), "en")
    places = [
        page.index(text)
        for text in ("West bid too low", "<h2>What the law says</h2>", "A notice.", ACCEPT, "Tablelaw advises", "<details")
    ]
    assert places == sorted(places)
    assert "Laws of 2017" in page
    assert "our own restatement" in page
    assert 'aria-busy="false"' in page


def test_an_answer_under_way_says_so_and_shows_no_status_yet() -> None:
    page = case_html(case(done=False), "en")
    assert 'aria-busy="true"' in page
    assert "Reading the law" in page
    assert "<h2>What the law says</h2>" not in page


def test_before_the_law_cards_are_there_only_the_question_is_shown() -> None:
    page = case_html(case(done=False, has_ruling=False), "en")
    assert "West bid too low" in page
    assert "Reading the law" in page
    assert "<details" not in page


def test_an_error_is_shown_in_the_place_of_the_answer() -> None:
    page = case_html(case(notice="The embedder is not here.", has_ruling=False), "en")
    assert '<p class="tl-notice" role="alert">The embedder is not here.</p>' in page


def test_what_is_not_covered_is_said_with_the_nearest_clauses_closed() -> None:
    page = case_html(case(status="not-covered", sentences=(), answer="The book does not cover this."), "en")
    assert "The book does not cover this." in page
    assert "Nearest clauses, perhaps not about this" in page
    assert "open>" not in page


def test_the_first_two_cards_are_open() -> None:
    page = case_html(case(laws=tuple(card(clause_id) for clause_id in ("27A1", "27B", "27B1"))), "en")
    assert len(re.findall(r'<details class="tl-card" data-key="\d+ 27[AB]1?" open>', page)) == 2
    assert page.count("<details") == 3


@pytest.mark.parametrize(("lang", "words"), [("en", "The server was stopped"), ("ru", "Сервер остановили")])
def test_an_answer_that_was_interrupted_says_so_in_the_language_of_the_page(lang: str, words: str) -> None:
    assert words in case_html(case(notice=INTERRUPTED, has_ruling=False), lang)


def test_an_answer_is_labelled_in_the_language_of_its_question() -> None:
    page = case_html(case(lang="ru"), "en")
    assert "<h2>Что говорят правила</h2>" in page
    assert "решает судья" in page


def test_turns_come_in_their_order() -> None:
    turns = tuple(CaseTurn(n, f"question {n}", None, "so", True) for n in (1, 2, 3))
    page = case_html(Case("c", turns), "en")
    assert page.index("question 1") < page.index("question 2") < page.index("question 3")


@pytest.mark.parametrize(("lang", "example"), [("en", "Defender led out of turn"), ("ru", "Вистующий зашёл не в свою очередь")])
def test_an_empty_page_gives_examples(lang: str, example: str) -> None:
    page = case_html(None, lang)
    assert page.count('class="tl-example"') == 3
    assert example in page


@pytest.mark.parametrize(
    ("accepted", "lang"),
    [
        ("ru-RU,ru;q=0.9,en;q=0.8", "ru"),
        ("de-DE,RU;q=0.5", "ru"),
        ("en-GB", "en"),
        ("de,fr", "en"),
        ("*", "en"),
        ("", "en"),
        (None, "en"),
        (";;,,", "en"),
    ],
)
def test_the_page_speaks_the_first_language_of_the_browser_that_we_have(accepted: str | None, lang: str) -> None:
    assert choose_language(accepted) == lang


def test_a_clause_is_shown_with_those_above_and_below(book: Book) -> None:
    page = law_page(book, "27A")
    assert "Part of" in page
    assert '<a class="tl-cite" href="/law/27?book=small-2017-en">27</a> Insufficient bid' in page
    assert ACCEPT in page
    assert "27B1" not in page


def test_a_clause_links_to_what_it_refers_to(book: Book) -> None:
    page = law_page(book, "27A1")
    links = [f'<a class="tl-cite" href="/law/{number}?book=small-2017-en">{number}</a>' for number in ("25A", "27B")]
    assert f"See {' '.join(links)}" in page


def test_a_clause_as_a_page_of_its_own_has_title_language_and_style(book: Book) -> None:
    page = law_page(book, "27A1", "ru", whole_page=True)
    assert page.startswith("<!doctype html>")
    assert '<html lang="ru">' in page
    assert "<title>27A1" in page
    assert ".tl-" in page
    assert "решает судья" in page


def test_html_in_a_clause_of_a_book_is_escaped(home: Any) -> None:
    made = make_book(home, "evil-2017-en", f"## 27A1 Heading {EVIL}\n\nText {EVIL}\n", title=EVIL)
    page = law_page(read_book(made), "27A1", whole_page=True)
    assert "<script" not in page
    assert "<img" not in page


def test_a_table_in_a_clause_becomes_a_table(home: Any) -> None:
    made = make_book(home, "table-2017-en", "## 27A1\n\n| bid | points |\n|---|---|\n| 1S | 30 |\n")
    assert "<td>1S</td>" in law_page(read_book(made), "27A1")


def test_a_clause_that_is_only_in_part_in_the_book_says_so(home: Any) -> None:
    made = make_book(home, "part-2017-en", "## 27A1\n\nText.\n\n```yaml\ncomplete: false\n```\n")
    assert "only part of this clause is in the book" in law_page(read_book(made), "27A1")


def test_every_clause_of_the_bundled_book_can_be_shown() -> None:
    book = read_book(DEFAULT_BOOK)
    for clause in book.clauses:
        assert f'<span class="tl-id">{clause.id}</span>' in law_html(Shown(clause, book), "en", whole_page=False)


def test_a_clause_that_is_not_there_is_no_page(book: Book) -> None:
    with pytest.raises(UnknownClause):
        law_page(book, "93C")
