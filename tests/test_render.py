from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.books import DEFAULT_BOOK, find_clause, read_book
from index.errors import UnknownClause
from index.types import Book
from index.wording import Shown
from rag.cases import INTERRUPTED, Case, CaseTurn
from rag.page.law_page import law_page
from rag.page.procedure_view import Choice, FactView, view
from rag.page.render import case_html, choose_language, law_html
from rag.ruling import AskedFact, LawCard, Ruling, Sentence, State, to_page_json
from rag.strings import strings
from tests.invented import invented_procedures
from tests.made import ACCEPT, make_book, make_ruling

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def card(clause_id: str = "27A1", text: str = ACCEPT, heading: str = "Law 27") -> LawCard:
    return LawCard(clause_id, heading, text, 0.9, "small-2017-en", "restated")


def case(
    question: str = "West bid too low", notice: str = "", done: bool = True, has_ruling: bool = True, **changes: Any
) -> Case:
    ruling = json.loads(json.dumps(to_page_json(make_ruling(**changes)))) if has_ruling else None
    return Case("c", (CaseTurn(1, question, ruling, notice, done),))


@pytest.fixture
def book(small_book: str) -> Book:
    return read_book(small_book)


def panel(book: Book, clause_id: str, lang: str = "en") -> str:
    return law_html(Shown(find_clause(book, clause_id), book), lang)


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
    assert (
        f'<p class="tl-sentence tl-part-now">{ACCEPT} <a class="tl-cite" href="{href}?book=small-2017-en">{clause_id}</a></p>'
        in page
    )


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
    page = panel(book, "27A")
    assert "Part of" in page
    assert '<a class="tl-cite" href="/law/27?book=small-2017-en">27</a> Insufficient bid' in page
    assert ACCEPT in page
    assert "27B1" not in page


def test_a_clause_links_to_what_it_refers_to(book: Book) -> None:
    page = panel(book, "27A1")
    links = [f'<a class="tl-cite" href="/law/{number}?book=small-2017-en">{number}</a>' for number in ("25A", "27B")]
    assert f"See {' '.join(links)}" in page


def test_a_clause_as_a_page_of_its_own_has_title_language_and_style(book: Book) -> None:
    page = law_page(Shown(find_clause(book, "27A1"), book), "ru")
    assert page.startswith("<!doctype html>")
    assert '<html lang="ru">' in page
    assert "<title>27A1" in page
    assert ".tl-" in page
    assert "решает судья" in page


def test_html_in_a_clause_of_a_book_is_escaped(home: Any) -> None:
    made = make_book(home, "evil-2017-en", f"## 27A1 Heading {EVIL}\n\nText {EVIL}\n", title=EVIL)
    for page in (panel(read_book(made), "27A1"), law_page(Shown(find_clause(read_book(made), "27A1"), read_book(made)), "en")):
        assert "<script>alert" not in page
        assert "<img" not in page


def test_a_table_in_a_clause_becomes_a_table(home: Any) -> None:
    made = make_book(home, "table-2017-en", "## 27A1\n\n| bid | points |\n|---|---|\n| 1S | 30 |\n")
    assert "<td>1S</td>" in panel(read_book(made), "27A1")


def test_a_clause_that_is_only_in_part_in_the_book_says_so(home: Any) -> None:
    made = make_book(home, "part-2017-en", "## 27A1\n\nText.\n\n```yaml\ncomplete: false\n```\n")
    assert "only part of this clause is in the book" in panel(read_book(made), "27A1")


def test_every_clause_of_the_bundled_book_can_be_shown() -> None:
    book = read_book(DEFAULT_BOOK)
    for clause in book.clauses:
        assert f'<span class="tl-id">{clause.id}</span>' in law_html(Shown(clause, book), "en")


def test_a_clause_that_is_not_there_is_no_page(book: Book) -> None:
    with pytest.raises(UnknownClause):
        panel(book, "93C")


# Procedures


@pytest.fixture
def invented(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "procedures").mkdir()
    with invented_procedures(tmp_path / "procedures"):
        yield


READ = {"value": "yes", "from": "read", "confidence": 0.9}
PRESUMED = {"value": "south", "from": "read", "confidence": None}
TEA = {"id": "tea", "facts": {"spilled": READ, "who": PRESUMED}, "path": ["spilled", "who"]}
TEA_STATE = State("small-2017-en", "en", facts={"irregularity": "tea"})
CLOTH = AskedFact("cloth", "Is there a cloth?", ("yes", "no"))
PARTS = (
    Sentence("Please wait.", ("27A1",), "say"),
    Sentence("Count it.", ("27B1",), "later"),
    Sentence("West may choose.", ("27A1",), "options"),
    Sentence("A new deck is brought.", ("27B1",), "now"),
)


def tea(**changes: Any) -> Ruling:
    return make_ruling(**{"procedure": TEA, "state": TEA_STATE, "candidates": ("tea", "fire"), "sentences": PARTS, **changes})


def page_of(ruling: Ruling, lang: str = "en") -> str:
    made = json.loads(json.dumps(to_page_json(ruling)))
    return case_html(Case("c", (CaseTurn(7, "West bid too low", made, "", True),)), lang)


def seen(ruling: Ruling, lang: str = "en") -> Any:
    made = json.loads(json.dumps(to_page_json(ruling)))
    return view(made, made["candidates"], lang, made["state"]["facts"])


@pytest.mark.usefixtures("invented")
def test_a_fact_on_the_path_is_a_chip_with_its_options_and_how_it_is_known() -> None:
    spilled, who = seen(tea()).facts
    choices = (Choice("spilled=yes", "yes spilled", True), Choice("spilled=no", "no spilled"))
    assert spilled == FactView("spilled", "Has tea been spilled?", "It matters.", "read", "yes spilled", choices)
    assert (who.source, who.taken) == ("presumed", "south who"), "read without a confidence"
    assert [(one.value, one.is_taken) for one in who.choices] == [("who=north", False), ("who=south", True)]


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("source", ["stated", "answered", "changed"])
def test_what_was_given_is_shown_as_given(source: str) -> None:
    known = {"value": "yes", "from": source, "confidence": None if source == "stated" else 1.0}
    assert seen(tea(procedure={"id": "tea", "facts": {"spilled": known}, "path": ["spilled"]})).facts[0].source == source


@pytest.mark.usefixtures("invented")
def test_the_irregularity_ruled_by_is_the_one_recognised_and_the_others_can_be_chosen() -> None:
    dry = {"id": "dry", "facts": {}, "path": []}
    made = seen(tea(procedure=dry, candidates=("tea", "flood", "fire")))
    assert made.title == "The dry", "a link led on"
    assert made.candidates == (
        Choice("irregularity=tea", "The tea", True),
        Choice("irregularity=fire", "The fire"),
        Choice("irregularity=none", "None of these"),
    ), "flood is gone since"


@pytest.mark.usefixtures("invented")
def test_a_fact_that_is_asked_has_a_button_for_each_option_and_none_is_taken() -> None:
    made = seen(tea(status="ask", sentences=(), ask=(CLOTH,)), "ru")
    assert made.asked == FactView(
        "cloth",
        "Есть тряпка?",
        "Это важно.",
        "",
        "",
        (Choice("cloth=yes", "yes по-русски"), Choice("cloth=no", "no по-русски")),
    )
    assert seen(tea()).asked is None


@pytest.mark.usefixtures("invented")
def test_the_irregularity_is_asked_among_the_candidates() -> None:
    asked = AskedFact("irregularity", "What happened?", ("fire", "tea", "none"))
    made = seen(tea(procedure=None, status="ask", sentences=(), ask=(asked,), candidates=("fire", "tea")))
    assert (made.title, made.facts, made.asked) == ("", (), None)
    assert [(one.value, one.is_taken) for one in made.candidates] == [
        ("irregularity=fire", False),
        ("irregularity=tea", False),
        ("irregularity=none", False),
    ]


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("procedure", [None, {"id": "flood", "facts": {}, "path": []}], ids=["none", "gone since"])
def test_without_a_procedure_nothing_of_it_is_shown(procedure: Any) -> None:
    assert seen(tea(procedure=procedure, candidates=())) is None
    page = page_of(tea(procedure=procedure, candidates=()))
    assert "tl-chip" not in page
    assert "A new deck is brought." in page


@pytest.mark.usefixtures("invented")
def test_a_fact_that_is_gone_since_is_passed_over() -> None:
    facts = {"flooded": READ, "spilled": READ}
    made = seen(tea(procedure={"id": "tea", "facts": facts, "path": list(facts)}))
    assert [fact.id for fact in made.facts] == ["spilled"]


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["Now", "A new deck", "The choices", "West may", "Later", "Count it.", "Say at the table", "Please wait."]),
        ("ru", ["Сейчас", "A new deck", "Что можно выбрать", "West may", "Потом", "Count it.", "Сказать за столом", "Please"]),
    ],
)
def test_the_parts_of_a_ruling_come_in_their_order_each_under_its_name(lang: str, words: list[str]) -> None:
    page = page_of(tea(lang=lang))
    article = page[page.index("tl-answer") : page.index("tl-laws")]
    places = [article.index(word) for word in words]
    assert places == sorted(places)
    assert article.count('<h3 class="tl-part">') == 4


@pytest.mark.usefixtures("invented")
def test_what_is_to_be_said_at_the_table_is_said_without_numbers() -> None:
    page = page_of(tea())
    assert '<p class="tl-sentence tl-part-say">Please wait. </p>' in page
    assert '<p class="tl-sentence tl-part-later">Count it. <a class="tl-cite"' in page


def test_what_a_model_wrote_stands_under_no_name() -> None:
    assert "tl-part-now" in case_html(case(), "en")
    assert '<h3 class="tl-part">' not in case_html(case(), "en")


@pytest.mark.usefixtures("invented")
def test_chips_say_what_is_taken_and_how_it_is_known_and_their_buttons_name_turn_and_option() -> None:
    page = page_of(tea())
    assert (
        '<details class="tl-chip" data-key="7 irregularity"><summary><span class="tl-chip-name">What happened:</span>' in page
    )
    assert '<details class="tl-chip tl-from-read" data-key="7 spilled">' in page
    assert '<b>yes spilled</b> <span class="tl-source">read from what you wrote</span>' in page
    assert '<b>south who</b> <span class="tl-source">presumed, not told</span>' in page
    assert 'class="tl-set tl-taken" data-turn="7" data-set="spilled=yes" aria-pressed="true">yes spilled</button>' in page
    assert 'class="tl-set" data-turn="7" data-set="spilled=no">no spilled</button>' in page
    assert 'data-turn="7" data-set="irregularity=none">None of these</button>' in page


@pytest.mark.usefixtures("invented")
def test_the_path_ends_at_the_ruling_or_at_the_open_question() -> None:
    ruled, asking = page_of(tea()), page_of(tea(status="ask", sentences=(), answer=CLOTH.question, ask=(CLOTH,)))
    assert '<li class="tl-taken-branch">yes spilled</li><li>no spilled</li>' in ruled
    assert '<li class="tl-end">Ruling</li></ol>' in ruled
    assert "<li><span>Is there a cloth?</span> ?</li></ol>" in asking
    assert "tl-end" not in asking


@pytest.mark.usefixtures("invented")
def test_an_open_question_is_asked_once_with_why_it_matters() -> None:
    page = page_of(
        tea(status="ask", sentences=(), answer=CLOTH.question, ask=(CLOTH,), procedure={**TEA, "facts": {}, "path": []})
    )
    assert '<div class="tl-ask" role="group" aria-label="Is there a cloth?">' in page
    assert '<p class="tl-ask-question">Is there a cloth?</p>' in page
    assert '<p class="tl-why">It matters.</p>' in page
    assert 'data-set="cloth=yes"' in page
    assert page.count("Is there a cloth?</p>") == 1
    assert "<h2>To be asked</h2>" in page


@pytest.mark.usefixtures("invented")
def test_candidates_are_offered_below_what_is_quoted() -> None:
    page = page_of(tea(procedure=None, status="quote", candidates=("fire",)))
    assert page.index("A new deck is brought.") < page.index(strings("en")["ask_irregularity"])
    assert page.index(strings("en")["ask_irregularity"]) < page.index('data-set="irregularity=fire">The fire<')


@pytest.mark.usefixtures("invented")
def test_rulings_that_follow_stand_below_with_their_own_questions_and_those_that_follow_them() -> None:
    third = tea(procedure={"id": "mop", "facts": {}, "path": []}, status="ask", sentences=(), ask=(CLOTH,))
    second = tea(
        procedure={"id": "dry", "facts": {}, "path": []},
        sentences=(Sentence("Play on.", ("27A1",)),),
        then=(third,),
        candidates=(),
    )
    page = page_of(tea(then=(second,)))
    assert page.count('<div class="tl-then">') == 2
    places = [page.index(text) for text in ("<b>The dry</b></h2>", "Play on.", "<b>The mop</b></h2>", 'data-set="cloth=yes"')]
    assert places == sorted(places)
    assert page.count('data-set="irregularity=none"') == 1, "the irregularity is chosen once"


@pytest.mark.usefixtures("invented")
def test_html_in_what_a_procedure_shows_is_escaped() -> None:
    for ruling in (tea(sentences=(), answer=EVIL), tea(sentences=(Sentence(EVIL, (EVIL,), "say"),))):
        page = page_of(ruling)
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page
