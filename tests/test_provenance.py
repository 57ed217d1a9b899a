from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from index.books import read_book
from index.hashing import sha256_file
from rag import provenance as module
from rag.desk import Desk
from rag.procedure import FACTS
from rag.prompt import Prompt
from rag.provenance import provenance
from rag.ruling import LawCard, State
from tests.fakes import FakeBackend, FakeEmbedder
from tests.invented import invented_procedures
from tests.made import make_book, make_ruling


class FileBackend:
    """A model from a file of this machine."""

    name, at_once = "model.gguf", 1

    def __init__(self, path: Path) -> None:
        self.path = path

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield ""


@pytest.fixture
def desk(small_book: str) -> Desk:
    return Desk(FakeEmbedder(), None)


def test_book_index_embedder_and_prompt_are_named(desk: Desk, small_book: str) -> None:
    index = desk.index_of(small_book)
    found = provenance(desk, make_ruling())
    assert (found["book"], found["index"], found["embedder"]) == (read_book(small_book).hash, index.hash, FakeEmbedder.hash)
    assert set(found) == {"book", "index", "embedder", "prompt"}
    assert found == provenance(desk, make_ruling())


def test_another_prompt_has_another_hash(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = provenance(desk, make_ruling())["prompt"]
    (tmp_path / "answer.yaml").write_text("system: other", encoding="utf-8")
    monkeypatch.setattr("rag.prompt.FOLDER", tmp_path)
    module._prompts.cache_clear()
    assert provenance(desk, make_ruling())["prompt"] != before
    module._prompts.cache_clear()


def test_the_file_of_the_model_is_named_where_it_wrote_the_answer(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF weights")
    desk = replace(desk, backend=FileBackend(path))
    assert provenance(desk, make_ruling())["model"] == sha256_file(path)
    assert "model" not in provenance(desk, make_ruling(model="none"))
    path.unlink()
    assert "model" not in provenance(desk, make_ruling())


def test_a_model_on_a_server_has_no_file(desk: Desk) -> None:
    assert "model" not in provenance(replace(desk, backend=FakeBackend("")), make_ruling())


def test_other_books_whose_words_were_shown_are_named(desk: Desk, home: Path) -> None:
    other = make_book(home, "official-2017-en", source="imported")
    cards = tuple(LawCard("27A1", "", "t", 1.0, book, "imported") for book in (other, "gone-2017-en", "small-2017-en"))
    found = provenance(desk, make_ruling(then=(make_ruling(laws=cards),)))
    assert found[f"book:{other}"] == read_book(other).hash
    assert "book:gone-2017-en" not in found
    assert "book:small-2017-en" not in found


def test_the_procedures_that_ruled_are_named_with_the_one_it_began_in(desk: Desk, tmp_path: Path) -> None:
    def by(name: str) -> dict[str, object]:
        return {"id": name, "facts": {}, "path": []}

    folder = tmp_path / "procedures"
    folder.mkdir()
    with invented_procedures(folder):
        state = State("small-2017-en", "en", facts={"irregularity": "fire"})
        found = provenance(desk, make_ruling(procedure=by("tea"), then=(make_ruling(procedure=by("mop")),), state=state))
        files = {f"procedure:{name}": sha256_file(folder / f"{name}.yaml") for name in ("tea", "mop", "fire")}
        expected = {**files, "facts": sha256_file(folder / FACTS)}
    assert {name: value for name, value in found.items() if name in expected} == expected
