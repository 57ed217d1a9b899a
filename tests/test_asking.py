"""Answers to gold questions are kept, and asked for again when anything they depend on changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ir_measures")

from eval import asking
from eval.answers import Answered
from eval.asking import ask_all, program_hash
from eval.gold import Gold
from eval.kept import folder
from index import wording
from index.books import user_books_dir
from rag.desk import Ask, Desk, Update
from rag.ruling import NO_MODEL
from tests.fakes import FakeBackend, FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, make_book
from tests.test_gold import RIGHT

pytestmark = pytest.mark.usefixtures("calibrated")

REPLACE = "who replaces the low bid, and may anybody else help?"


def gold(book: str, question: str = KEEP_IT, **changes: Any) -> Gold:
    return Gold(**{**RIGHT, "book": book, "question": question, **changes})


def desk(text: str | None = f"{ACCEPT} [27A1]") -> Desk:
    return Desk(FakeEmbedder(), None if text is None else FakeBackend(text))


@pytest.fixture(autouse=True)
def _own_books(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wordings are looked for among the books of the test: reading the bundled ones anew takes most of the time."""
    monkeypatch.setattr(wording, "list_books", lambda: tuple(path.name for path in user_books_dir().iterdir()))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that the desk was really asked."""
    questions: list[str] = []
    whole = asking.answer_whole

    def answer_whole(made: Desk, ask: Ask) -> Update:
        questions.append(ask.question)
        return whole(made, ask)

    monkeypatch.setattr(asking, "answer_whole", answer_whole)
    return questions


def kept() -> list[Path]:
    return sorted(folder().iterdir()) if folder().exists() else []


def status(found: tuple[Answered, ...]) -> list[str | None]:
    return [one.answer["status"] if one.answer else None for one in found]


def test_an_answer_is_the_json_of_the_ruling_beside_its_gold(small_book: str, asked: list[str]) -> None:
    questions = [gold(small_book), gold(small_book, REPLACE, id="x-2")]
    found = ask_all(desk(), questions)
    assert [one.gold for one in found] == questions
    first = found[0].answer
    assert first is not None
    assert (first["question"], first["book"], first["answer"]) == (KEEP_IT, small_book, ACCEPT)
    assert (first["status"], list(first["cites"]), first["model"]) == ("ruling", ["27A1"], "fake-model")
    assert first["laws"][0]["id"] == "27A1"
    assert asked == [KEEP_IT, REPLACE]


def test_a_second_run_does_not_ask_again_and_finds_the_same(small_book: str, asked: list[str]) -> None:
    questions = [gold(small_book), gold(small_book, REPLACE, id="x-2")]
    first = ask_all(desk(), questions)
    second = ask_all(desk(), questions)
    assert asked == [KEEP_IT, REPLACE]
    assert [json.dumps(one.answer) for one in second] == [json.dumps(one.answer) for one in first]
    assert [path.suffix for path in kept()] == [".json", ".json"]


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(
    small_book: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = [gold(small_book), gold(small_book, REPLACE, id="x-2")]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask_all(desk(), questions, stop)
    assert asked == [KEEP_IT]
    assert status(ask_all(desk(), questions)) == ["ruling", "ruling"]
    assert asked == [KEEP_IT, REPLACE]


@pytest.mark.parametrize("damage", [b"", b'{"status": "ru', b"\xff\xfe\x00", b"no json"])
def test_a_damaged_kept_answer_is_asked_for_again_and_mended(small_book: str, asked: list[str], damage: bytes) -> None:
    ask_all(desk(), [gold(small_book)])
    (path,) = kept()
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_bytes(damage)
    (again,) = ask_all(desk(), [gold(small_book)])
    assert asked == [KEEP_IT, KEEP_IT]
    assert again.answer is not None
    assert again.answer["answer"] == whole["answer"] == ACCEPT
    assert ask_all(desk(), [gold(small_book)])[0].answer is not None
    assert len(asked) == 2, "the mended one is kept"


def test_nothing_is_kept_nor_read_when_it_is_not_wanted(small_book: str, asked: list[str]) -> None:
    ask_all(desk(), [gold(small_book)], is_kept=False)
    assert kept() == []
    ask_all(desk(), [gold(small_book)])
    ask_all(desk(), [gold(small_book)], is_kept=False)
    assert asked == [KEEP_IT] * 3


def test_kept_answers_lie_in_the_cache_of_the_home(home: Path, small_book: str) -> None:
    ask_all(desk(), [gold(small_book)])
    assert folder() == home / "cache" / "answers"
    assert len(kept()) == 1


def other_model(monkeypatch: pytest.MonkeyPatch, home: Path) -> Desk:
    made = desk()
    assert made.backend is not None
    made.backend.name = "other-model"
    return made


def no_model(monkeypatch: pytest.MonkeyPatch, home: Path) -> Desk:
    return desk(None)


def other_embedder(monkeypatch: pytest.MonkeyPatch, home: Path) -> Desk:
    made = desk()
    made.embedder.hash = "other-hash"
    return made


def other_words(monkeypatch: pytest.MonkeyPatch, home: Path) -> Desk:
    path = home / "data" / "books" / "small-2017-en" / "027.md"
    path.write_text(path.read_text(encoding="utf-8").replace("The next player", "The player to the left"), encoding="utf-8")
    return desk()


def other_program(monkeypatch: pytest.MonkeyPatch, home: Path) -> Desk:
    monkeypatch.setattr(asking, "program_hash", lambda: "other")
    return desk()


@pytest.mark.parametrize("change", [other_model, no_model, other_embedder, other_words, other_program])
def test_what_an_answer_depends_on_is_asked_again_when_it_changes(
    small_book: str, home: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    ask_all(desk(), [gold(small_book)])
    made = change(monkeypatch, home)
    for _ in range(2):
        ask_all(made, [gold(small_book)])
    assert asked == [KEEP_IT, KEEP_IT]
    assert len(kept()) == 2


def test_what_gold_says_of_a_question_does_not_matter_to_its_answer(small_book: str, asked: list[str]) -> None:
    ask_all(desk(), [gold(small_book)])
    ask_all(desk(), [gold(small_book, id="x-9", must_cite=[["27A1"]], why="mended")])
    assert asked == [KEEP_IT]


def test_the_same_question_to_another_book_is_another_answer(small_book: str, home: Path, asked: list[str]) -> None:
    other = make_book(home, "other-2017-en")
    found = ask_all(desk(), [gold(small_book), gold(other)])
    assert asked == [KEEP_IT, KEEP_IT]
    assert [one.answer["book"] for one in found if one.answer] == [small_book, other]


def test_without_a_model_the_answer_says_so(small_book: str) -> None:
    (found,) = ask_all(desk(None), [gold(small_book)])
    assert found.answer is not None
    assert (found.answer["status"], found.answer["model"]) == ("quote", NO_MODEL)


def test_a_question_whose_book_is_not_here_is_left_out_and_the_rest_is_told(small_book: str, asked: list[str]) -> None:
    told: list[tuple[int, int]] = []
    questions = [gold("laws-2099-en"), gold(small_book), gold(small_book, REPLACE, id="x-2")]
    found = ask_all(desk(), questions, lambda done, total: told.append((done, total)))
    assert [one.gold.id for one in found] == ["x-1", "x-2"]
    assert asked == [KEEP_IT, REPLACE]
    assert told == [(2, 3), (3, 3)]


def test_a_question_that_fails_has_no_answer_and_is_asked_again(small_book: str, asked: list[str]) -> None:
    empty = gold(small_book, " " * 10)
    assert status(ask_all(desk(), [empty, gold(small_book)])) == [None, "ruling"]
    assert len(kept()) == 1
    assert status(ask_all(desk(), [empty])) == [None]
    assert asked == [empty.question, KEEP_IT, empty.question]


def test_an_answer_that_the_model_failed_to_write_is_asked_again(small_book: str) -> None:
    broken = desk()
    assert isinstance(broken.backend, FakeBackend)
    broken.backend.fails = True
    assert status(ask_all(broken, [gold(small_book)])) == ["quote"]
    assert status(ask_all(desk(), [gold(small_book)])) == ["ruling"]


def test_an_answer_is_asked_again_when_the_official_wording_was_imported(small_book: str, home: Path) -> None:
    one = gold(small_book)
    official = "Any insufficient bid may be accepted by offender's LHO."
    before = ask_all(desk(None), [one])[0].answer
    make_book(home, "official-2017-en", f"---\nlaw: 27\nheading: Bid\n---\n\n## 27A1\n\n{official}\n", source="imported")
    fresh = ask_all(desk(None), [one], is_kept=False)[0].answer
    assert before is not None
    assert fresh is not None
    assert (before["laws"][0]["text"], fresh["laws"][0]["text"]) == (ACCEPT, official)
    after = ask_all(desk(None), [one])[0].answer
    assert after is not None
    assert after["laws"][0]["text"] == official


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three packages in place of those of the program, a file in each."""
    for name in ("index", "prompts", "rag"):
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / "below" / "a.yaml").write_text(name, encoding="utf-8")
        monkeypatch.setattr(asking, f"{name}_package", SimpleNamespace(__file__=str(tmp_path / name / "__init__.py")))
    program_hash.cache_clear()
    yield tmp_path
    program_hash.cache_clear()


def hashed() -> str:
    program_hash.cache_clear()
    return program_hash()


@pytest.mark.parametrize("package", ["index", "prompts", "rag"])
def test_the_hash_of_the_program_covers_every_file_but_compiled_ones(program: Path, package: str) -> None:
    before = hashed()
    (program / package / "below" / "a.pyc").write_bytes(b"compiled")
    assert hashed() == before
    (program / package / "below" / "a.yaml").write_text("changed", encoding="utf-8")
    changed = hashed()
    assert changed != before
    (program / package / "new.py").write_text("", encoding="utf-8")
    assert hashed() not in {before, changed}


def test_the_hash_of_the_program_is_made_once_a_run(program: Path) -> None:
    before = program_hash()
    (program / "rag" / "below" / "a.yaml").write_text("changed", encoding="utf-8")
    assert program_hash() == before
