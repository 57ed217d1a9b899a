"""The law book's pages: contents, look-up, a law with what stands beside it, procedures walked by links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from lxml import etree, html

from index.books import DEFAULT_BOOK, read_book
from index.types import Book
from index.wording import beside
from rag.draw import Answer, Walked, draw, walk
from rag.page.contents import CHAPTERS, chapters, sections
from rag.page.library import PANEL_HEADER, add_library
from rag.page.lookup import look_up
from rag.page.walk import matching, walk_through
from rag.procedure import find_procedure, read_procedures
from rag.strings import languages, strings
from tests.made import make_book
from tests.test_wording import make_official

EVIL = "<img src=x onerror=alert(1)>"
RUSSIAN = {"Accept-Language": "ru"}
INSUFFICIENT = "/procedure/insufficient-bid"


def serve(book: str) -> TestClient:
    app = FastAPI()
    add_library(app, book)
    return TestClient(app, follow_redirects=False)


@pytest.fixture(scope="module")
def library() -> Iterator[TestClient]:
    """The pages over the bundled book."""
    with serve(DEFAULT_BOOK) as client:
        yield client


@pytest.fixture
def small(small_book: str) -> Iterator[TestClient]:
    """The pages over the small book."""
    with serve(small_book) as client:
        yield client


@pytest.fixture(scope="module")
def laws() -> Book:
    """The bundled book, read once."""
    return read_book(DEFAULT_BOOK)


def ids(book: Book, typed: str, most: int = 20) -> list[str]:
    return [str(one.clause.id) for one in look_up(book, typed, most)]


# Contents


def test_the_contents_hold_every_clause_once_in_chapters_in_the_order_of_the_laws(laws: Book) -> None:
    found = chapters(laws)
    assert [chapter.key for chapter in found] == list(CHAPTERS)
    assert [clause for chapter in found for clause in chapter.clauses] == list(laws.clauses)
    numbers = [section.law for chapter in found for section in chapter.sections if section.law]
    assert numbers == list(range(1, 94))


@pytest.mark.parametrize("lang", languages())
def test_every_chapter_has_a_name(lang: str) -> None:
    assert [key for key in (*CHAPTERS, "whole") if not strings(lang).get(f"chapter_{key}")] == []


def test_notes_stand_in_the_chapter_of_the_law_they_are_about() -> None:
    found = {chapter.key: [section.id for section in chapter.sections] for chapter in chapters(read_book("notes-2017-en"))}
    assert found["revokes"] == ["Note:61", "Note:62", "Note:63", "Note:64"]


def test_a_book_of_another_game_has_one_chapter(home: Path) -> None:
    book = read_book(make_book(home, "pebbles", edition="1"))
    assert [chapter.key for chapter in chapters(book)] == ["whole"]
    assert [section.id for section in sections(book)] == ["27"]


def test_the_contents_name_the_laws_and_lead_to_them(library: TestClient) -> None:
    page = html.fromstring(library.get("/book").text)
    link = page.xpath('//a[@href="/law/27?book=laws-2017-en"]')[0]
    assert " ".join(link.text_content().split()) == "27 Insufficient bid"
    assert page.xpath('//nav[@class="tl-books"]/a[@aria-current]/@href') == ["/book/laws-2017-en"]
    assert library.get("/book/notes-2017-en").status_code == 200


def test_a_book_that_is_not_there_is_a_sentence(library: TestClient) -> None:
    answer = library.get("/book/nope")
    assert answer.status_code == 404
    assert "There is no book" in answer.text
    assert library.get("/book/find?q=x&book=nope").status_code == 404


# Look-up


@pytest.mark.parametrize("typed", ["27B1", "27б1", "пр. 27Б1", "Law 27 B 1", "l27b1"])
def test_a_number_finds_its_clause_first_then_those_below(laws: Book, typed: str) -> None:
    assert ids(laws, typed) == ["27B1", "27B1(a)", "27B1(b)"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [("trick", "Def:trick"), ("board", "Def:board"), ("comparable call", "23A"), ("law 27 insufficient", "27")],
)
def test_words_find_definitions_headings_and_numbers_among_them(laws: Book, typed: str, first: str) -> None:
    assert ids(laws, typed)[0] == first


@pytest.mark.parametrize("typed", ["revoke", "rev", "фальшренонс", "фальш"])
def test_words_of_both_languages_and_their_beginnings_find_the_clauses(laws: Book, typed: str) -> None:
    found = ids(laws, typed, 6)
    assert {"61A", "63A"} <= set(found), found


@pytest.mark.parametrize("typed", ["", "   ", "zzzz", "!?", "\x00", "Ы" * 5000])
def test_what_leads_nowhere_finds_nothing(laws: Book, typed: str) -> None:
    assert ids(laws, typed) == []


def test_the_words_looked_for_are_marked_where_they_stand(laws: Book) -> None:
    found = next(one for one in look_up(laws, "hesitancy") if str(one.clause.id) == "73D2")
    text = "".join(piece.text for piece in found.excerpt)
    assert "hesitancy" in {piece.text for piece in found.excerpt if piece.is_hit}
    assert text.startswith("… ")
    assert len(text) < 250


def test_a_look_up_is_a_part_of_the_page_and_without_script_a_whole_one(small: TestClient) -> None:
    part, whole = small.get("/book/find?q=27A1").text, small.get("/book?q=27A1").text
    assert part.startswith('<ol class="tl-found" data-said="Found: 1">')
    assert '<a class="tl-open" href="/law/27A1?book=small-2017-en"' in part
    assert whole.startswith("<!doctype html>")
    assert '<a class="tl-open" href="/law/27A1?book=small-2017-en"' in whole
    assert 'value="27A1"' in whole


def test_nothing_found_is_a_sentence_that_says_what_to_do_and_is_escaped(small: TestClient) -> None:
    for path in ("/book/find", "/book"):
        answer = small.get(path, params={"q": EVIL}, headers=RUSSIAN)
        assert "попробуйте другое слово" in answer.text
        assert "<img" not in answer.text


# A law


def test_a_law_is_shown_whole_with_the_clause_marked_and_its_neighbours_linked(library: TestClient) -> None:
    page = html.fromstring(library.get("/law/27b1", headers={"Accept": "text/html"}).text)
    here = [one.xpath("string(.//h2/a)") for one in page.xpath('//section[contains(@class, "tl-here")]')]
    assert here == ["27B1", "27B1(a)", "27B1(b)"]
    every = page.xpath('//section[contains(@class, "tl-clause")]//h2/a/text()')
    assert every[0] == "27A"
    assert every[-1] == "27D"
    assert page.xpath('//a[@rel="prev"]/@href') == ["/law/26?book=laws-2017-en"]
    assert page.xpath('//a[@rel="next"]/@href') == ["/law/28?book=laws-2017-en"]
    assert page.xpath('//section[@class="tl-note"]//a[@class="tl-cite"]/text()') == ["Note:27"]
    assert "/procedure/insufficient-bid" in page.xpath('//section[@class="tl-procedures"]//a/@href')


def test_whatever_can_be_cited_has_a_page(library: TestClient) -> None:
    whole = ("1", "Intro:verbs", "Note:27")
    for clause in (*whole, "93C3(b)", "Def:trick", "Def:adjusted-score", "41A#fn"):
        answer = library.get("/law/" + clause.replace("#", "%23"), headers={"Accept": "text/html"})
        assert answer.status_code == 200, clause
        marked = html.fromstring(answer.text).xpath('//*[@id="tl-here"]')
        assert len(marked) == (clause not in whole), clause


def test_the_official_wording_stands_beside_ours(small_book: str, home: Path, small: TestClient) -> None:
    official = make_official(home, title="The official book")
    for book in (small_book, official):
        page = html.fromstring(small.get(f"/law/27A1?book={book}").text)
        texts = [" ".join(one.text_content().split()) for one in page.xpath('//*[@id="tl-here"]//*[@class="tl-text"]')]
        assert len(texts) == 2
        assert {"Invented official words" in text for text in texts} == {True, False}
        assert "The official book" in page.xpath('string(//p[@class="tl-wordings"])')
    assert "27B1" in page.xpath('//h2/a[@class="tl-id"]/text()'), "what the import lacks is there in our words"


def test_another_edition_or_kind_never_stands_beside(small_book: str, home: Path) -> None:
    make_official(home, "old-1987-en", edition="1987", in_force=False)
    make_official(home, "comment-2017-en", kind="commentary")
    assert beside(read_book(small_book), "en") is None


def test_of_several_official_wordings_the_one_in_the_language_of_the_page_stands_beside(small_book: str, home: Path) -> None:
    make_official(home)
    make_official(home, "official-2017-ru", lang="ru")
    assert [beside(read_book(small_book), lang).id for lang in ("en", "ru", "de")] == [
        "official-2017-en",
        "official-2017-ru",
        "official-2017-en",
    ]


def test_the_panel_leads_to_the_whole_page_and_stays_a_part(small: TestClient) -> None:
    panel = small.get("/law/27A1", headers={PANEL_HEADER: "1"}).text
    assert panel.startswith("<div")
    assert '<a class="tl-page-link" href="/law/27A1?book=small-2017-en">' in panel
    assert small.get("/law/99Z", headers={PANEL_HEADER: "1"}).text.startswith('<p class="tl-notice"')


def test_an_unknown_clause_is_a_sentence_with_the_way_to_the_contents(small: TestClient) -> None:
    answer = small.get("/law/99Z")
    assert answer.status_code == 404
    assert "is not a clause number" in answer.text
    assert 'href="/book"' in answer.text


def test_an_unknown_clause_is_told_in_the_language_of_the_page(small: TestClient) -> None:
    page = small.get("/law/99<b>Z", headers={"Accept-Language": "ru"}).text
    assert "Пункта «99&lt;b&gt;Z» в этой книге нет" in page


def test_the_pages_of_the_library_mark_their_place_in_the_navigation(small: TestClient) -> None:
    for path, here in [("/book", "/book"), ("/law/27A1", "/book"), ("/procedures", "/procedures"),
                       ("/procedure/insufficient-bid", "/procedures")]:  # fmt: skip
        marked = re.findall(r'<a href="([^"]*)" aria-current="page">', small.get(path).text.split("</nav>")[0])
        assert marked == [here], path


# Procedures


def test_every_procedure_is_listed_once_and_opens(library: TestClient) -> None:
    page = html.fromstring(library.get("/procedures").text)
    links = page.xpath('//div[@id="tl-procedures"]//li/a/@href')
    assert sorted(links) == sorted(f"/procedure/{name}" for name in read_procedures())


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_every_procedure_can_be_walked_to_an_end_by_its_links(lang: str) -> None:
    for name in sorted(read_procedures()):
        given: list[tuple[str, str]] = []
        for _ in range(30):
            walked = walk_through(name, given, lang)
            assert walked.refused == ()
            asked = next((stage.view.asked for stage in walked.stages if stage.view.asked), None)
            if asked is None:
                break
            fact, _, option = asked.choices[-1].value.partition("=")
            given.append((fact, option))
        assert all(stage.ruling["sentences"] for stage in walked.stages)
        assert [stage.is_next for stage in walked.stages].count(True) == 1, name


def test_an_answer_is_a_link_and_the_ruling_follows(library: TestClient) -> None:
    page = html.fromstring(library.get(INSUFFICIENT).text)
    links = page.xpath('//div[@id="tl-next"]//a/@href')
    assert links == [f"{INSUFFICIENT}?lho-called=yes#tl-next", f"{INSUFFICIENT}?lho-called=no#tl-next"]
    ruled = html.fromstring(library.get(f"{INSUFFICIENT}?lho-called=yes").text)
    assert "27A1" in ruled.xpath('//div[@id="tl-next"]//a[@class="tl-cite"]/text()')
    taken = ruled.xpath('//a[contains(@class, "tl-answer-link") and @aria-current]/text()')
    assert taken[0] == "Yes, LHO has called"


def test_a_wrong_answer_in_the_address_is_told_and_the_others_stay(library: TestClient) -> None:
    answer = library.get(INSUFFICIENT, params={"lho-called": "yes", "weather": EVIL, "declarer": "x"})
    assert answer.status_code == 400
    assert "Left out" in answer.text
    assert "weather=" in answer.text
    assert "<img" not in answer.text
    assert "Yes, LHO has called" in html.fromstring(answer.text).xpath('//ol[@class="tl-steps"]//b/text()')


def test_a_short_name_leads_to_the_only_one_or_lists_those_that_fit(library: TestClient) -> None:
    only = library.get("/procedure/psychic?x=1")
    assert (only.status_code, only.headers["location"]) == (307, "/procedure/psychic-call?x=1")
    several = html.fromstring(library.get("/procedure/revoke").text)
    names = several.xpath('//div[@id="tl-procedures"]//li/a/@href')
    assert set(names) >= {"/procedure/revoke-established", "/procedure/revoke-not-established"}
    assert len(names) < 10
    missed = library.get("/procedure/nothing-like-it", headers=RUSSIAN)
    assert missed.status_code == 404
    assert "попробуйте другое слово" in missed.text
    assert len(html.fromstring(missed.text).xpath('//div[@id="tl-procedures"]//li')) == len(read_procedures())


def test_a_procedure_is_found_by_its_title_in_either_language() -> None:
    assert "revoke-established" in {one.id for one in matching("фальшренонс")}
    assert "insufficient-bid" in {one.id for one in matching("Insuff BID")}


# Charts


def test_the_path_is_walked_as_far_as_the_facts_are_known() -> None:
    procedure = find_procedure("insufficient-bid")
    assert walk(procedure, {}) == Walked((), procedure.start)
    first = Answer(procedure.start, "lho-called", "yes")
    assert walk(procedure, {"lho-called": "yes"}).answers[0] == first


@pytest.mark.parametrize("name", sorted(read_procedures()))
def test_on_a_chart_the_path_is_marked_and_every_box_that_can_be_reached_leads_there(name: str) -> None:
    procedure = find_procedure(name)
    walked = walk(procedure, {node.fact: next(iter(node.to)) for node in procedure.nodes.values()})
    root = etree.fromstring(draw(procedure, "en", walked, lambda facts: f"/to?{sorted(facts.items())}").encode())
    links = root.findall("{*}a")
    assert links
    current = [one for one in links if one.get("aria-current")]
    assert current or not walked.answers
    assert all("tl-taken" in one.get("class") for one in current)
    marked = [one for one in root.iter("{*}path") if one.get("class") == "tl-taken"]
    assert len(marked) == len(walked.answers)
    assert all(float(box.get("height")) >= 44 for box in root.iter("{*}rect") if box.get("class"))


def test_a_box_of_the_chart_leads_to_where_it_stands(library: TestClient) -> None:
    page = html.fromstring(library.get("/procedure/revoke-established").text)
    hrefs = [link.get("href") for link in page.xpath('//div[@class="tl-chart"]//a')]
    assert len(hrefs) > 20
    target = next(href for href in hrefs if href.count("=") >= 4)
    followed = html.fromstring(library.get(target.partition("#")[0]).text)
    current = followed.xpath('//div[@class="tl-chart"]//a[@aria-current]/@href')
    assert target in current


def test_charts_go_on_where_a_link_leads(library: TestClient) -> None:
    linking = next(
        (procedure, node, option)
        for procedure in read_procedures().values()
        for node in [procedure.nodes.get(procedure.start)]
        if node
        for option, target in node.to.items()
        if target.startswith("->")
    )
    procedure, node, option = linking
    charts = walk_through(procedure.id, [(node.fact, option)], "en").charts
    assert len(charts) >= 2
    assert all(re.search(rf'href="/procedure/{procedure.id}\?[^"]*{node.fact}={option}', chart) for chart in charts[1:])
