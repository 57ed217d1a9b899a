from __future__ import annotations

from collections.abc import Iterator

import pytest

from index.books import read_book
from index.errors import BackendError
from index.types import Book, Clause
from rag import generate as generate_module
from rag.generate import MAX_WORDS, generate
from rag.prompt import Material, Prompt
from tests.fakes import FakeBackend
from tests.made import ACCEPT, PieceBackend, make_clause

REFUSE = "The offender must replace the low bid and partner keeps silent."
FOUND = Material((), [make_clause("27A1", ACCEPT), make_clause("27B", REFUSE)])
LINE = f"{ACCEPT} [27A1]\n"
ALIKE = ("The bid stands if it is called over.", "The bid stands if it is not seen.", "The bid is taken back.")


@pytest.fixture
def book(small_book: str) -> Book:
    return read_book(small_book)


def long_clauses(count: int) -> list[Clause]:
    """Clauses of thirty words, none like another."""
    return [make_clause(f"{n + 1}A", " ".join(f"Word{n}x{k}" for k in range(30)) + ".") for n in range(count)]


def test_a_sentence_comes_as_soon_as_it_is_written(book: Book) -> None:
    backend = PieceBackend([ACCEPT, " [27A1]\n", REFUSE, " [27B]\n"])
    answer = generate(backend, book, FOUND, "too low")
    assert next(answer).text == ACCEPT
    assert backend.written == 1
    assert next(answer).cites == ("27B",)
    assert backend.written == 3


def test_a_sentence_in_small_pieces_comes_with_its_last_piece(book: Book) -> None:
    backend = PieceBackend([*(f"{word} " for word in ACCEPT.split()), "more ", "words"])
    assert next(generate(backend, book, FOUND, "too low")).text == ACCEPT
    assert backend.written == len(ACCEPT.split())


def test_what_the_model_makes_up_never_comes(book: Book) -> None:
    backend = PieceBackend(["West wins three tricks. [27A1]\n", ACCEPT + "\n", "The Director goes home.\n"])
    assert [sentence.text for sentence in generate(backend, book, FOUND, "too low")] == [ACCEPT]


def test_a_sentence_written_twice_comes_once(book: Book) -> None:
    backend = PieceBackend([ACCEPT + "\n", "Once more: " + ACCEPT + "\n"])
    assert [sentence.text for sentence in generate(backend, book, FOUND, "too low")] == [ACCEPT]


def test_a_model_that_repeats_itself_is_stopped(book: Book) -> None:
    backend = PieceBackend([f"{ACCEPT} [27A1]\n"] * 50)
    assert [sentence.text for sentence in generate(backend, book, FOUND, "too low")] == [ACCEPT]
    assert backend.written == 2


def test_an_answer_that_gets_too_long_is_stopped(book: Book) -> None:
    clauses = long_clauses(12)
    backend = PieceBackend([clause.text + "\n" for clause in clauses])
    shown = list(generate(backend, book, Material((), clauses), "too low"))
    assert len(shown) == backend.written == MAX_WORDS // 30


def test_the_first_token_is_told_once(book: Book) -> None:
    told: list[float] = []
    list(generate(PieceBackend(["It", " is", " so.\n"]), book, FOUND, "too low", first_token=told.append))
    assert len(told) == 1
    assert 0 <= told[0] < 5


def test_a_model_that_writes_nothing_gives_no_sentence_and_no_first_token(book: Book) -> None:
    told: list[float] = []
    assert list(generate(PieceBackend([]), book, FOUND, "too low", first_token=told.append)) == []
    assert told == []


def test_question_clauses_and_earlier_questions_are_put_before_the_model(book: Book) -> None:
    backend = FakeBackend("")
    list(generate(backend, book, FOUND, "may I keep it", ["West bid too low"]))
    (prompt,) = backend.prompts
    assert prompt.lines == (f"{ACCEPT} [27A1]", f"{REFUSE} [27B]")
    assert f"{ACCEPT} [27A1]" in prompt.user
    assert "West bid too low" in prompt.user
    assert prompt.user.endswith("may I keep it")


def test_a_last_line_without_a_full_stop_counts(book: Book) -> None:
    backend = PieceBackend([ACCEPT.removesuffix(".")])
    assert [sentence.text for sentence in generate(backend, book, FOUND, "too low")] == [ACCEPT]


def test_a_law_put_first_is_read_and_not_quoted(book: Book) -> None:
    law = Material([make_clause("27A1", ACCEPT), make_clause("27B", REFUSE)], [make_clause("27B", REFUSE)])
    backend = FakeBackend(f"{ACCEPT} [27A1]\n{REFUSE} [27B]\n")
    assert [sentence.text for sentence in generate(backend, book, law, "too low")] == [REFUSE]
    assert ACCEPT in backend.prompts[0].law


def test_without_anything_to_quote_the_model_is_not_asked(book: Book) -> None:
    backend = FakeBackend(LINE)
    assert list(generate(backend, book, Material(FOUND.clauses, [make_clause("27", "")]), "too low")) == []
    assert backend.prompts == []


def test_a_line_that_begins_like_a_sentence_but_goes_on_otherwise_is_not_shown(book: Book) -> None:
    begun = ACCEPT.split(" by ")[0]
    backend = PieceBackend([begun, " only while", " the Director is at the table.\n"])
    assert list(generate(backend, book, FOUND, "too low")) == []


@pytest.mark.parametrize("is_bound", [True, False])
def test_a_model_that_takes_too_long_is_stopped_within_its_line(
    book: Book, is_bound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [LINE, REFUSE[:4], REFUSE[4:], " [27B]\n"]
    assert len(list(generate(PieceBackend(written, is_bound), book, FOUND, "too low"))) == 2
    slow = PieceBackend(written, is_bound)
    answer = generate(slow, book, FOUND, "too low")
    assert next(answer).text == ACCEPT
    monkeypatch.setattr(generate_module, "MAX_SECONDS", 0.0)
    with pytest.raises(BackendError, match="was stopped after"):
        next(answer)
    assert slow.written == 1


def test_a_line_that_could_still_become_another_is_not_shown_when_the_time_is_over(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = PieceBackend([ALIKE[0][:12], ALIKE[0][12:]], is_bound=True)
    monkeypatch.setattr(generate_module, "MAX_SECONDS", 0.0)
    with pytest.raises(BackendError):
        next(generate(slow, book, alike(), "too low"))
    assert slow.written == 1


def test_a_model_that_is_at_work_and_writes_nothing_is_stopped_too(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr(generate_module, "MAX_SECONDS", 0.0)
    silent = PieceBackend([""] * 9)
    with pytest.raises(BackendError):
        list(generate(silent, book, FOUND, "too low", first_token=told.append))
    assert (silent.written, told) == (1, [])


def test_empty_pieces_are_not_the_first_token(book: Book) -> None:
    backend, written_then = PieceBackend(["", "", LINE[:9], "", LINE[9:]]), list[int]()
    answer = generate(backend, book, FOUND, "too low", first_token=lambda _: written_then.append(backend.written))
    assert [sentence.text for sentence in answer] == [ACCEPT]
    assert written_then == [3]


@pytest.mark.parametrize("piece", ["word. ", "x" * 50, "line\n", "\n"])
def test_a_model_that_never_ends_is_stopped(book: Book, piece: str) -> None:
    backend = PieceBackend([f"{ACCEPT}\n", *[piece] * 10_000])
    assert [sentence.text for sentence in generate(backend, book, FOUND, "too low")] == [ACCEPT]
    assert backend.written * len(piece) <= generate_module.MAX_CHARS + len(ACCEPT) + len(piece)


@pytest.mark.parametrize("error", [RuntimeError("decode"), KeyError("id"), MemoryError()])
def test_whatever_fails_in_a_model_is_a_failing_model(book: Book, error: Exception) -> None:
    class Broken(PieceBackend):
        def stream(self, prompt: Prompt) -> Iterator[str]:
            yield from super().stream(prompt)
            raise error

    written = generate(Broken([f"{ACCEPT}\n"]), book, FOUND, "too low")
    assert next(written).text == ACCEPT
    with pytest.raises(BackendError, match=rf"pieces failed \({type(error).__name__}.*\); the law is quoted instead"):
        next(written)


# A model that can write nothing but the lines


def alike() -> Material:
    """Clauses of which two begin with the same four words, and all with the same two."""
    return Material((), [make_clause(f"27{letter}", text) for letter, text in zip("ABC", ALIKE, strict=True)])


def comes_with(backend: PieceBackend, book: Book, material: Material) -> list[tuple[str, int]]:
    """Each sentence with the number of pieces that were written when it came."""
    return [(sentence.text, backend.written) for sentence in generate(backend, book, material, "too low")]


@pytest.mark.parametrize("chosen", range(3))
def test_a_bound_sentence_comes_as_soon_as_no_other_line_begins_so_and_never_before(book: Book, chosen: int) -> None:
    written = f"{ALIKE[chosen]} [27{'ABC'[chosen]}]\n"
    certain = next(n for n in range(len(written)) if sum(text.startswith(written[:n]) for text in ALIKE) == 1)
    assert comes_with(PieceBackend(list(written), is_bound=True), book, alike()) == [(ALIKE[chosen], certain)]


def test_a_blank_can_make_a_bound_sentence_certain(book: Book) -> None:
    material = Material((), [make_clause("27A", "The lead stands."), make_clause("27B", "There is no lead.")])
    assert comes_with(PieceBackend(["The", " ", "lead"], is_bound=True), book, material) == [("The lead stands.", 2)]


def test_a_bound_line_that_stands_at_the_beginning_of_another_comes_with_its_end(book: Book) -> None:
    """An imported clause may hold the words of another with its number."""
    longer = f"Pass. [27A] {'again ' * 60}"
    material = Material((), [make_clause("27A", "Pass."), make_clause("27B", longer)])
    assert comes_with(PieceBackend(["Pass.", " [27A]", "\n"], is_bound=True), book, material) == [("Pass.", 3)]


def test_the_same_words_in_two_clauses_come_under_the_clause_that_the_bound_model_names(book: Book) -> None:
    material = Material((), [make_clause("27A", "Pass."), make_clause("27B", "Pass.")])
    backend = PieceBackend(["Pass. ", "[27", "B", "]\n"], is_bound=True)
    answer = generate(backend, book, material, "too low")
    assert next(answer).cites == ("27B",)
    assert backend.written == 3


def test_bound_lines_come_one_after_the_other(book: Book) -> None:
    pieces = ["The bid is", " taken back. [27C]\n", "The bid stands if it is c", "alled over. [27A]\n"]
    assert comes_with(PieceBackend(pieces, is_bound=True), book, alike()) == [(ALIKE[2], 1), (ALIKE[0], 3)]


def test_a_bound_line_that_was_cut_before_it_was_certain_is_not_shown(book: Book) -> None:
    assert comes_with(PieceBackend(["The bid ", "stands if it is "], is_bound=True), book, alike()) == []


def test_a_bound_model_that_only_ends_a_line_says_nothing(book: Book) -> None:
    one = Material((), [make_clause("27A", "Pass.")])
    assert comes_with(PieceBackend(["\n", " "], is_bound=True), book, one) == []


def test_a_model_that_wrongly_claims_to_be_bound_shows_nothing_of_its_own(book: Book) -> None:
    backend = FakeBackend("West wins three tricks. [27A1]\nThe bid", is_bound=True)
    assert list(generate(backend, book, FOUND, "too low")) == []
