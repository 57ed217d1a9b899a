from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from index.books import read_book
from index.clause_id import ClauseId
from index.errors import BadQuestion, BookError, ContractError
from index.types import Book, Clause, Hit
from rag.desk import Ask, Desk, Update, _material, answer, answer_whole, find
from rag.generate import CONTEXT_CLAUSES
from rag.ruling import State, Turn
from rag.strings import strings
from tests.fakes import FakeBackend, FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, make_book

REFUSED = "The offender must replace the low bid. Nobody else may help:"
PASSES = "the offender's partner passes until the end, unless the new call is comparable."
RUSSIAN = "Соперник заявил слишком низко, можно принять?"


def desk(text: str | None = f"{ACCEPT} [27A1]", fails: bool = False) -> Desk:
    """A desk whose model writes the text; no model for ``None``."""
    return Desk(FakeEmbedder(), None if text is None else FakeBackend(text, fails))


def prompts_of(made: Desk) -> list[str]:
    assert isinstance(made.backend, FakeBackend)
    return [prompt.user for prompt in made.backend.prompts]


def texts(update: Update) -> list[str]:
    return [sentence.text for sentence in update.ruling.sentences]


@pytest.mark.usefixtures("calibrated")
def test_a_copied_clause_becomes_the_ruling(small_book: str) -> None:
    update = answer_whole(desk(), Ask(KEEP_IT, small_book))
    assert update.ruling.status == "ruling"
    assert update.ruling.answer == ACCEPT
    assert update.ruling.cites == ("27A1",)
    assert update.ruling.model == "fake-model"
    assert update.notice == ""


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("text", [f"{ACCEPT} [27A1]", None])
def test_what_the_book_does_not_cover_is_said_with_or_without_a_model(small_book: str, text: str | None) -> None:
    made = desk(text)
    ruling = answer_whole(made, Ask("rice cooking recipes, please", small_book)).ruling
    assert ruling.status == "not-covered"
    assert "The book does not cover this" in ruling.answer
    assert "2017" in ruling.answer
    assert (ruling.sentences, ruling.cites) == ((), ())
    assert len(ruling.laws) <= 3
    assert text is None or prompts_of(made) == [], "the model was not asked"


@pytest.mark.usefixtures("calibrated")
def test_a_clause_named_by_number_is_covered_whatever_else_is_asked(small_book: str) -> None:
    ruling = answer_whole(desk(), Ask("rice cooking and 27A1", small_book)).ruling
    assert ruling.status == "ruling"
    assert ruling.laws[0].id == "27A1"


@pytest.mark.usefixtures("calibrated")
def test_without_a_model_the_best_clauses_are_quoted(small_book: str) -> None:
    update = answer_whole(desk(None), Ask(KEEP_IT, small_book))
    assert update.ruling.status == "quote"
    assert texts(update)[0] == ACCEPT
    assert update.ruling.model == "none"
    assert update.notice == strings("en")["quote_no_model"]


def test_with_an_embedder_that_was_not_calibrated_the_law_is_only_quoted(small_book: str) -> None:
    made = desk()
    update = answer_whole(made, Ask(KEEP_IT, small_book))
    assert (update.ruling.status, update.notice) == ("quote", strings("en")["quote_uncalibrated"])
    assert prompts_of(made) == []


@pytest.mark.usefixtures("calibrated")
def test_a_model_that_fails_ends_in_quotes_with_the_reason(small_book: str) -> None:
    update = answer_whole(desk(fails=True), Ask(KEEP_IT, small_book))
    assert update.ruling.status == "quote"
    assert texts(update)[0] == ACCEPT
    assert update.notice == strings("en")["quote_model_failed"]


@pytest.mark.usefixtures("calibrated")
def test_why_the_model_failed_is_told_to_the_one_who_runs_the_server(small_book: str) -> None:
    said: list[str] = []
    answer_whole(replace(desk(fails=True), say=said.append), Ask(KEEP_IT, small_book))
    assert "http://127.0.0.1:1" in said[-1]


@pytest.mark.usefixtures("calibrated")
def test_when_nothing_the_model_wrote_stands_in_the_book_the_law_is_quoted(small_book: str) -> None:
    update = answer_whole(desk("West loses three tricks and the board is scored as average. [27A1]"), Ask(KEEP_IT, small_book))
    assert (update.ruling.status, update.notice) == ("quote", strings("en")["quote_unverified"])
    assert texts(update)[0] == ACCEPT


@pytest.mark.usefixtures("calibrated")
def test_a_question_in_another_language_is_answered_in_the_words_of_the_book_and_told_so(small_book: str) -> None:
    made = desk()
    update = answer_whole(made, Ask(RUSSIAN, small_book))
    assert (update.ruling.status, update.ruling.lang, update.ruling.answer) == ("ruling", "ru", ACCEPT)
    assert update.notice == strings("ru")["quote_other_language"]
    (prompt,) = prompts_of(made)
    assert prompt.endswith(f"Question: {RUSSIAN}")


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize(
    ("text", "fails", "notice"), [("Nonsense. [12C1]", False, "quote_other_language"), ("", True, "quote_model_failed")]
)
def test_a_question_in_another_language_is_quoted_where_the_model_is_of_no_use(
    small_book: str, text: str, fails: bool, notice: str
) -> None:
    update = answer_whole(desk(text, fails), Ask(RUSSIAN, small_book))
    assert (update.ruling.status, update.notice) == ("quote", strings("ru")[notice])


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize(("lang", "label"), [("ru", "Вопрос"), ("de", "Question")])
def test_an_english_question_over_a_book_in_another_language_is_put_as_the_book_is(home: Path, lang: str, label: str) -> None:
    """In English where there is no prompt in its language."""
    made = desk()
    update = answer_whole(made, Ask(KEEP_IT, make_book(home, f"small-2017-{lang}", lang=lang)))
    assert (update.ruling.status, update.ruling.answer) == ("ruling", ACCEPT)
    assert update.notice == strings("en")["quote_other_language"]
    assert prompts_of(made)[0].endswith(f"{label}: {KEEP_IT}")


# What is put before the model


def put_first(hits: Sequence[tuple[str, float]], book: Book) -> list[str]:
    """Ids of the Law that is put first, whole, for clauses found with these scores."""
    found = [Hit(clause, score, score) for name, score in hits if (clause := book.get(ClauseId(name)))]
    assert len(found) == len(hits)
    material = _material(book, found, [hit.clause for hit in found], "en")
    assert list(material.clauses) == [hit.clause for hit in found], "those that were found may be quoted, and no others"
    return [str(clause.id) for clause in material.law]


@pytest.mark.parametrize(
    ("hits", "first"),
    [
        ([("27A1", 0.9), ("25A", 0.5)], ["27", "27A", "27A1", "27B"]),
        ([("27A1", 0.9), ("25A", 0.5), ("25B", 0.5)], ["25", "25A", "25B"]),
        ([("Def:call", 0.9), ("25A", 0.5)], []),
        ([("Def:call", 0.5), ("25A", 0.9)], ["25", "25A", "25B"]),
        ([], []),
    ],
    ids=["the best", "two together", "a definition", "a law before a definition", "nothing"],
)
def test_the_law_whose_clauses_rank_highest_together_is_put_first_whole(
    small_book: str, hits: list[tuple[str, float]], first: list[str]
) -> None:
    names = ("Def:call", "25", "25A", "25B", "27", "27A", "27A1", "27B")
    clauses = tuple(Clause(ClauseId(name), "", f"Text of {name}.") for name in names)
    assert put_first(hits, replace(read_book(small_book), clauses=clauses)) == first


def test_the_law_put_first_is_in_the_official_wording_where_that_was_imported(small_book: str, home: Path) -> None:
    make_book(home, "official-2017-en", "## 27A1\n\nThe official words.\n", source="imported")
    book = read_book(small_book)
    hits = [Hit(book.by_id[ClauseId("27B1")], 1.0, 1.0)]
    law = {str(clause.id): clause.text for clause in _material(book, hits, [], "en").law}
    assert (law["27A1"], law["27B1"]) == ("The official words.", PASSES)


@pytest.mark.usefixtures("calibrated")
def test_what_repeats_in_two_prompts_on_the_same_law_is_the_same(small_book: str) -> None:
    made = desk()
    for question in (KEEP_IT, "who replaces the low bid?"):
        answer_whole(made, Ask(question, small_book))
    assert isinstance(made.backend, FakeBackend)
    first, second = made.backend.prompts
    assert (first.system, first.law) == (second.system, second.law)
    assert all(f"[{name}]" in first.law for name in ("27A1", "27B", "27B1"))


# The queue before the model


def waits(count: int, lang: str = "en") -> str:
    return strings(lang)["waits"].format(count=count)


def begun(made: Desk, book: str, question: str = KEEP_IT) -> Iterator[Update]:
    """An answer whose law cards have been shown."""
    updates = answer(made, Ask(question, book))
    update = next(updates)
    assert update.ruling.laws
    assert (update.done, update.notice) == (False, "")
    return updates


@pytest.mark.usefixtures("calibrated")
def test_who_asks_while_answers_are_written_sees_the_law_at_once_and_how_many_are_before(small_book: str) -> None:
    made = desk(f"{ACCEPT} [27A1] {PASSES} [27B1]")
    first, second, third = (begun(made, small_book, question) for question in (KEEP_IT, KEEP_IT, RUSSIAN))
    assert texts(next(first)) == [ACCEPT]
    assert [next(second).notice, next(third).notice] == [waits(1), waits(2, "ru")]
    assert texts(list(first)[-1]) == [ACCEPT, PASSES]
    moved = next(second)
    assert (moved.notice, moved.done, moved.ruling.sentences) == ("", False, ()), "the notice goes when the turn comes"
    assert texts(next(second)) == [ACCEPT]
    assert next(third).notice == waits(1, "ru")
    assert [list(second)[-1].notice, list(third)[-1].notice] == ["", strings("ru")["quote_other_language"]]


@pytest.mark.usefixtures("calibrated")
def test_who_leaves_while_waiting_lets_the_others_move_up(small_book: str) -> None:
    made = desk()
    first, second, third = (begun(made, small_book) for _ in range(3))
    assert [texts(next(first)), next(second).notice, next(third).notice] == [[ACCEPT], waits(1), waits(2)]
    second.close()
    assert next(third).notice == waits(1)
    first.close()
    assert [texts(update) for update in third] == [[], [ACCEPT], [ACCEPT]]


@pytest.mark.usefixtures("calibrated")
def test_a_model_that_writes_two_answers_at_once_lets_the_third_wait(small_book: str) -> None:
    made = Desk(FakeEmbedder(), FakeBackend(f"{ACCEPT} [27A1]", at_once=2))
    first, second, third = (begun(made, small_book) for _ in range(3))
    assert [texts(next(first)), texts(next(second)), next(third).notice] == [[ACCEPT], [ACCEPT], waits(1)]


@pytest.mark.usefixtures("calibrated")
def test_nobody_waits_behind_a_model_that_failed(small_book: str) -> None:
    made = desk(fails=True)
    for _ in range(2):
        assert [update.notice for update in answer(made, Ask(KEEP_IT, small_book))] == ["", strings("en")["quote_model_failed"]]


@pytest.mark.usefixtures("calibrated")
def test_what_needs_no_model_does_not_wait(small_book: str) -> None:
    made = desk()
    first = begun(made, small_book)
    next(first)
    assert [update.notice for update in answer(made, Ask("rice cooking recipes, please", small_book))] == ["", ""]


@pytest.mark.usefixtures("calibrated")
def test_a_superseded_book_is_quoted_and_marked(home: Path) -> None:
    made = desk()
    update = answer_whole(made, Ask(KEEP_IT, make_book(home, "old-1987-en", edition="1987", in_force=False)))
    assert (update.ruling.status, update.ruling.edition) == ("quote", "1987")
    assert update.notice == "Laws of 1987, not in force."
    assert prompts_of(made) == []


def test_a_lead_in_is_quoted_with_the_clauses_below_it(small_book: str) -> None:
    update = answer_whole(desk(None), Ask("27B", small_book))
    assert texts(update)[:2] == [REFUSED, PASSES]
    assert update.ruling.cites[:2] == ("27B", "27B1")


def test_facts_are_refused_by_name_while_no_procedure_uses_them(small_book: str) -> None:
    with pytest.raises(ContractError, match='"trick"'):
        next(answer(desk(), Ask(KEEP_IT, small_book, facts={"trick": "6"})))


@pytest.mark.parametrize("question", ["", None, 5])
def test_a_bad_question_is_refused(small_book: str, question: object) -> None:
    with pytest.raises(BadQuestion):
        answer_whole(desk(), Ask(question, small_book))


def test_a_bad_question_is_refused_before_an_index_is_built(small_book: str) -> None:
    said: list[str] = []
    with pytest.raises(BadQuestion):
        answer_whole(Desk(FakeEmbedder(), None, said.append), Ask("", small_book))
    assert said == []


def test_an_unknown_book_is_refused_with_those_that_are_here(small_book: str) -> None:
    with pytest.raises(BookError, match=small_book):
        answer_whole(desk(), Ask(KEEP_IT, "laws-2099-en"))


@pytest.mark.usefixtures("calibrated")
def test_the_law_cards_come_first_and_each_snapshot_shows_only_checked_sentences(small_book: str) -> None:
    written = f"{ACCEPT} [27A1] The moon is made of cheese. {PASSES} [27B1]"
    updates = list(answer(desk(written), Ask(KEEP_IT, small_book)))
    assert [texts(update) for update in updates] == [[], [ACCEPT], [ACCEPT, PASSES], [ACCEPT, PASSES]]
    assert [update.done for update in updates] == [False, False, False, True]
    assert updates[0].ruling.laws == updates[-1].ruling.laws
    assert "27A1" in [card.id for card in updates[0].ruling.laws]


@pytest.mark.usefixtures("calibrated")
@pytest.mark.parametrize("question", [KEEP_IT, "27B", "who replaces the low bid?", RUSSIAN, "rice cooking recipes, please"])
@pytest.mark.parametrize("text", [f"{ACCEPT} [64A]", "Nonsense. [12C1]", None])
def test_only_laws_that_are_shown_are_cited_and_in_their_own_words(small_book: str, question: str, text: str | None) -> None:
    for update in answer(desk(text), Ask(question, small_book)):
        cards = {card.id: card.text for card in update.ruling.laws}
        assert set(update.ruling.cites) <= set(cards)
        for sentence in update.ruling.sentences:
            assert sentence.text in cards[sentence.cites[0]]


@pytest.mark.usefixtures("calibrated")
def test_the_page_shows_as_many_laws_as_the_model_reads() -> None:
    made = desk()
    ruling = answer_whole(made, Ask("defender led out of turn, what are declarer's options?")).ruling
    assert len(ruling.laws) == CONTEXT_CLAUSES
    (prompt,) = prompts_of(made)
    assert [f"[{card.id}]" in prompt for card in ruling.laws if card.text] == [True] * CONTEXT_CLAUSES


@pytest.mark.usefixtures("calibrated")
def test_a_case_goes_on_with_its_book_and_earlier_questions(small_book: str) -> None:
    made = desk()
    first = answer_whole(made, Ask(KEEP_IT, small_book)).ruling
    assert first.state.turns == (Turn(KEEP_IT, ACCEPT, ("27A1",)),)
    second = answer_whole(made, Ask("and who calls next over the bid?", state=first.state)).ruling
    assert second.book == small_book
    assert [turn.question for turn in second.state.turns] == [KEEP_IT, "and who calls next over the bid?"]
    assert KEEP_IT not in prompts_of(made)[0].split("Question:")[0]
    assert f"Told before: {KEEP_IT}\n" in prompts_of(made)[1]


@pytest.mark.usefixtures("calibrated")
def test_the_question_before_helps_to_find_the_law(small_book: str) -> None:
    vague = "and afterwards?"
    assert answer_whole(desk(), Ask(vague, small_book)).ruling.status == "not-covered"
    state = State(small_book, "en", (Turn(KEEP_IT, ACCEPT, ("27A1",)),))
    assert answer_whole(desk(), Ask(vague, state=state)).ruling.status == "ruling"


def test_a_snapshot_does_not_count_the_question_as_answered(small_book: str) -> None:
    first, *_, last = answer(desk(None), Ask(KEEP_IT, small_book))
    assert len(first.ruling.state.turns) == 0
    assert len(last.ruling.state.turns) == 1


@pytest.mark.usefixtures("calibrated")
def test_times_are_told_in_their_order(small_book: str) -> None:
    timings = answer_whole(desk(), Ask(KEEP_IT, small_book)).ruling.timings
    assert timings.first_token_ms is not None
    assert timings.model_first_token_ms is not None
    assert 0 <= timings.search_ms <= timings.model_first_token_ms <= timings.first_token_ms <= timings.total_ms
    assert answer_whole(desk(None), Ask(KEEP_IT, small_book)).ruling.timings.model_first_token_ms is None


def test_a_book_that_changes_is_opened_anew(small_book: str, home: Path) -> None:
    made = desk(None)
    assert texts(answer_whole(made, Ask("27A1", small_book)))[0] == ACCEPT
    path = home / "data" / "books" / small_book / "027.md"
    path.write_text(path.read_text(encoding="utf-8").replace("The next player", "The player to the left"), encoding="utf-8")
    assert texts(answer_whole(made, Ask("27A1", small_book)))[0].startswith("The player to the left")


def test_an_index_is_built_once_and_the_reason_is_said(small_book: str) -> None:
    said: list[str] = []
    made = Desk(FakeEmbedder(), None, said.append)
    for _ in range(2):
        find(made, KEEP_IT, 3, small_book)
    assert said == [f"Building the index of {small_book}: there is none yet."]


def test_find_gives_the_best_clauses_and_no_more_than_asked_for(small_book: str) -> None:
    question, ranking = find(desk(), KEEP_IT, 2, small_book)
    assert question.text == KEEP_IT
    assert str(ranking.hits[0].clause.id) == "27A1"
    assert len(ranking.hits) == 2
