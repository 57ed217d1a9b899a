from __future__ import annotations

import pytest

from index.books import read_book
from index.types import Book, Clause
from rag.generate import MAX_WORDS, generate
from tests.fakes import FakeBackend
from tests.made import ACCEPT, PieceBackend, make_clause

REFUSE = "The offender must replace the low bid and partner keeps silent."
CLAUSES = [make_clause("27A1", ACCEPT), make_clause("27B", REFUSE)]


@pytest.fixture
def book(small_book: str) -> Book:
    return read_book(small_book)


def long_clauses(count: int) -> list[Clause]:
    """Clauses of thirty words, none like another."""
    return [make_clause(f"{n + 1}A", " ".join(f"Word{n}x{k}" for k in range(30)) + ".") for n in range(count)]


def test_a_sentence_comes_as_soon_as_it_is_written(book: Book) -> None:
    backend = PieceBackend([ACCEPT, " [27A1]\n", REFUSE, " [27B]\n"])
    answer = generate(backend, book, CLAUSES, "too low")
    assert next(answer).text == ACCEPT
    assert backend.written == 1
    assert next(answer).cites == ("27B",)
    assert backend.written == 3


def test_a_sentence_in_small_pieces_comes_with_its_last_piece(book: Book) -> None:
    backend = PieceBackend([*(f"{word} " for word in ACCEPT.split()), "more ", "words"])
    assert next(generate(backend, book, CLAUSES, "too low")).text == ACCEPT
    assert backend.written == len(ACCEPT.split())


def test_what_the_model_makes_up_never_comes(book: Book) -> None:
    backend = PieceBackend(["West wins three tricks. [27A1]\n", ACCEPT + "\n", "The Director goes home.\n"])
    assert [sentence.text for sentence in generate(backend, book, CLAUSES, "too low")] == [ACCEPT]


def test_a_sentence_written_twice_comes_once(book: Book) -> None:
    backend = PieceBackend([ACCEPT + "\n", "Once more: " + ACCEPT + "\n"])
    assert [sentence.text for sentence in generate(backend, book, CLAUSES, "too low")] == [ACCEPT]


def test_a_model_that_repeats_itself_is_stopped(book: Book) -> None:
    backend = PieceBackend([f"{ACCEPT} [27A1]\n"] * 50)
    assert [sentence.text for sentence in generate(backend, book, CLAUSES, "too low")] == [ACCEPT]
    assert backend.written == 2


def test_an_answer_that_gets_too_long_is_stopped(book: Book) -> None:
    clauses = long_clauses(12)
    backend = PieceBackend([clause.text + "\n" for clause in clauses])
    shown = list(generate(backend, book, clauses, "too low"))
    assert len(shown) == backend.written == MAX_WORDS // 30


def test_the_first_token_is_told_once(book: Book) -> None:
    told: list[float] = []
    list(generate(PieceBackend(["It", " is", " so.\n"]), book, CLAUSES, "too low", first_token=told.append))
    assert len(told) == 1
    assert 0 <= told[0] < 5


def test_a_model_that_writes_nothing_gives_no_sentence_and_no_first_token(book: Book) -> None:
    told: list[float] = []
    assert list(generate(PieceBackend([]), book, CLAUSES, "too low", first_token=told.append)) == []
    assert told == []


def test_question_clauses_and_earlier_questions_are_put_before_the_model(book: Book) -> None:
    backend = FakeBackend("")
    list(generate(backend, book, CLAUSES, "may I keep it", ["West bid too low"]))
    (prompt,) = backend.prompts
    assert prompt.ids == ("27A1", "27B")
    assert f"{ACCEPT} [27A1]" in prompt.user
    assert "West bid too low" in prompt.user
    assert prompt.user.endswith("may I keep it")


def test_a_last_line_without_a_full_stop_counts(book: Book) -> None:
    backend = PieceBackend([ACCEPT.removesuffix(".")])
    assert [sentence.text for sentence in generate(backend, book, CLAUSES, "too low")] == [ACCEPT]
