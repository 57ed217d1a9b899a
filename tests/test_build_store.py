"""Building and opening an index. Its files are damaged, its book changed and its build broken off in every way that counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from index import build
from index.books import read_book
from index.build import CURRENT, MANIFEST, build_index, index_root
from index.errors import IndexFault
from index.hashing import sha256_file
from index.passages import passages_of
from index.search import search
from index.store import SearchIndex, open_index
from index.types import Hit
from tests.fakes import FakeEmbedder
from tests.made import KEEP_IT

NEW_CLAUSE = "## 28A\n\nA new clause.\n"


def opened(book_id: str, embedder: FakeEmbedder) -> tuple[SearchIndex, list[str]]:
    """The index, and what was said about building it."""
    said: list[str] = []
    return open_index(read_book(book_id), embedder, said.append), said


def add_clause(home: Path, book_id: str) -> Path:
    path = home / "data" / "books" / book_id / "028.md"
    path.write_text(NEW_CLAUSE, encoding="utf-8")
    return path


def folders(book_id: str) -> list[str]:
    return [path.name for path in index_root(book_id).iterdir() if path.is_dir()]


def current(book_id: str) -> str:
    return (index_root(book_id) / CURRENT).read_text(encoding="utf-8").strip()


def manifest(index: SearchIndex) -> dict[str, Any]:
    path = index_root(index.book.id) / index.hash / MANIFEST
    return dict(json.loads(path.read_text(encoding="utf-8")))


def answers(index: SearchIndex) -> list[list[Hit]]:
    return [search(index, question) for question in (KEEP_IT, "bid too low", "offender partner", "заявка")]


# Build and open


def test_an_index_is_built_once_and_then_opened(small_book: str, embedder: FakeEmbedder) -> None:
    built, first = opened(small_book, embedder)
    embedder.encoded.clear()
    again, second = opened(small_book, embedder)
    assert (first, second) == ([f"Building the index of {small_book}: there is none yet."], [])
    assert embedder.encoded == []
    assert answers(again) == answers(built)


def test_the_manifest_says_what_the_index_was_made_from(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    found = manifest(index)
    files = found.pop("files")
    assert found == {
        "format": build.FORMAT,
        "book": small_book,
        "edition": "2017",
        "book_sha256": read_book(small_book).hash,
        "embedder": "fake",
        "embedder_sha256": "fake-hash",
        "trained_part": None,
        "dimension": 256,
        "prefixes": {"query": "query: ", "passage": "passage: "},
        "counts": {"clauses": 5, "passages": 6, "asked": 3},
    }
    folder = index_root(small_book) / index.hash
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(files) == there - {MANIFEST}
    assert {"clauses.jsonl", "passages.jsonl", "faiss.index"} <= set(files)
    assert files == {name: sha256_file(folder / name) for name in files}


def test_each_row_holds_the_vector_of_its_text_and_knows_its_clause(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    rows = passages_of(index.book, embedder)
    vectors = index.vectors.reconstruct_n(0, index.vectors.ntotal)
    np.testing.assert_allclose(vectors, embedder.encode([row.text for row in rows], "passage"), rtol=1e-6)
    assert [index.book.clauses[k].id for k in index.row_clause] == [row.clause for row in rows]
    assert index.row_asked.tolist() == [row.kind == "asked" for row in rows]


def test_the_rows_on_disk_can_be_read_by_people_and_other_programs(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    text = (index_root(small_book) / index.hash / "passages.jsonl").read_text(encoding="utf-8")
    assert "заявка ниже, можно принять?" in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["clause"], row["id"], row["kind"], row["lang"]) for row in rows][2:4] == [
        (2, "27A1", "asked", "en"),
        (2, "27A1", "asked", "ru"),
    ]


def test_a_book_without_text_cannot_be_indexed(small_book: str, home: Path, embedder: FakeEmbedder) -> None:
    (home / "data" / "books" / small_book / "027.md").write_text("## 27 Heading\n", encoding="utf-8")
    with pytest.raises(IndexFault, match=f"The book {small_book} has no text to index"):
        opened(small_book, embedder)


def test_progress_is_reported_for_the_texts_embedded(small_book: str, embedder: FakeEmbedder) -> None:
    steps: list[tuple[int, int]] = []
    open_index(read_book(small_book), embedder, progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (6, 6)


def test_two_that_open_at_once_build_once(small_book: str) -> None:
    said: list[str] = []
    book = read_book(small_book)
    with ThreadPoolExecutor(4) as pool:
        indexes = list(pool.map(lambda _: open_index(book, FakeEmbedder(), said.append), range(4)))
    assert said == [f"Building the index of {small_book}: there is none yet."]
    assert {index.hash for index in indexes} == {current(small_book)}


# Rebuild


def test_a_changed_book_is_indexed_anew_and_only_new_texts_are_embedded(
    small_book: str, embedder: FakeEmbedder, home: Path
) -> None:
    opened(small_book, embedder)
    add_clause(home, small_book)
    embedder.encoded.clear()
    index, said = opened(small_book, embedder)
    assert said == [f"Building the index of {small_book}: its book_sha256 changed."]
    assert embedder.encoded == ["28A\nA new clause."]
    assert search(index, "a new clause")[0].clause.text == "A new clause."


def test_vectors_taken_over_are_those_of_the_same_texts(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    opened(small_book, embedder)
    (home / "data" / "books" / small_book / "026.md").write_text("## 26A\n\nA clause before all.\n", encoding="utf-8")
    index, _ = opened(small_book, embedder)
    texts = [row.text for row in passages_of(index.book, embedder)]
    assert "before all" in texts[0], "every row has moved"
    vectors = index.vectors.reconstruct_n(0, index.vectors.ntotal)
    np.testing.assert_allclose(vectors, embedder.encode(texts, "passage"), rtol=1e-6)


def test_a_clause_under_another_heading_is_embedded_anew(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    opened(small_book, embedder)
    path = home / "data" / "books" / small_book / "027.md"
    path.write_text(path.read_text(encoding="utf-8").replace("When it is refused", "Refused"), encoding="utf-8")
    embedder.encoded.clear()
    opened(small_book, embedder)
    assert [text.split("\n")[0].split(" > ")[1] for text in embedder.encoded] == ["27B Refused", "27B Refused"]


@pytest.mark.parametrize(
    ("attribute", "value", "key"),
    [
        ("hash", "other-hash", "embedder_sha256"),
        ("name", "other", "embedder"),
        ("dimension", 128, "dimension"),
        ("prefixes", {"query": "", "passage": ""}, "prefixes"),
    ],
)
def test_another_embedder_means_another_index(
    small_book: str, embedder: FakeEmbedder, attribute: str, value: Any, key: str
) -> None:
    opened(small_book, embedder)
    other = FakeEmbedder()
    setattr(other, attribute, value)
    index, said = opened(small_book, other)
    assert said == [f"Building the index of {small_book}: its {key} changed."]
    assert index.vectors.d == other.dimension


@pytest.mark.parametrize(
    ("attribute", "value"), [("hash", "other-hash"), ("dimension", 128), ("prefixes", {"query": "", "passage": ""})]
)
def test_vectors_of_another_embedder_are_not_taken_over(small_book: str, attribute: str, value: Any) -> None:
    first, other = FakeEmbedder(), FakeEmbedder()
    setattr(other, attribute, value)
    opened(small_book, first)
    opened(small_book, other)
    assert other.encoded == first.encoded


def test_another_format_means_another_index(small_book: str, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(small_book, embedder)
    monkeypatch.setattr(build, "FORMAT", build.FORMAT + 1)
    embedder.encoded.clear()
    _, said = opened(small_book, embedder)
    assert said == [f"Building the index of {small_book}: its format changed."]
    assert KEEP_IT in embedder.encoded, "rows of another format are not taken over"


def test_the_index_before_is_removed_once_the_new_one_is_current(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    old, _ = opened(small_book, embedder)
    add_clause(home, small_book)
    new, _ = opened(small_book, embedder)
    assert old.hash != new.hash
    assert (folders(small_book), current(small_book)) == ([new.hash], new.hash)


def test_an_index_already_opened_still_answers_after_a_rebuild(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    old, _ = opened(small_book, embedder)
    before = answers(old)
    add_clause(home, small_book)
    opened(small_book, embedder)
    assert answers(old) == before


def test_the_indexes_of_two_books_leave_each_other_alone(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    index, _ = opened(small_book, embedder)
    twin = home / "data" / "books" / "twin-2017-en"
    twin.mkdir()
    for name in ("book.yaml", "027.md"):
        (twin / name).write_bytes((twin.parent / small_book / name).read_bytes())
    opened(twin.name, embedder)
    assert opened(small_book, embedder)[1] == []
    assert current(small_book) == index.hash != current(twin.name)


# Damage


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "lengthened": lambda data: data + b"\0",
    "flipped": flip,
    "removed": lambda data: None,
}
INDEX_FILES = [
    "clauses.jsonl",
    "passages.jsonl",
    "faiss.index",
    *(f"bm25/{name}" for name in ("data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy")),
    "bm25/params.index.json",
    "bm25/vocab.index.json",
]


def damage_file(path: Path, how: str) -> None:
    damaged = DAMAGE[how](path.read_bytes())
    path.unlink() if damaged is None else path.write_bytes(damaged)


def test_the_files_that_are_damaged_below_are_all_there_are(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    assert sorted(manifest(index)["files"]) == sorted(INDEX_FILES)


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", [*INDEX_FILES, MANIFEST])
def test_a_damaged_index_is_never_served_but_built_anew(small_book: str, embedder: FakeEmbedder, name: str, how: str) -> None:
    index, _ = opened(small_book, embedder)
    good = answers(index)
    damage_file(index_root(small_book) / index.hash / name, how)
    again, said = opened(small_book, embedder)
    assert [line.startswith(f"Building the index of {small_book}: the old one is damaged (") for line in said] == [True]
    assert answers(again) == good
    assert opened(small_book, embedder)[1] == [], "the new one is whole"


@pytest.mark.parametrize("name", INDEX_FILES)
def test_the_reason_names_the_file_that_is_damaged(small_book: str, embedder: FakeEmbedder, name: str) -> None:
    index, _ = opened(small_book, embedder)
    damage_file(index_root(small_book) / index.hash / name, "flipped")
    assert opened(small_book, embedder)[1] == [f"Building the index of {small_book}: the old one is damaged ({name})."]


def test_vectors_of_a_damaged_index_are_not_taken_over(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    damage_file(index_root(small_book) / index.hash / "faiss.index", "flipped")
    embedder.encoded.clear()
    opened(small_book, embedder)
    assert embedder.encoded == [row.text for row in passages_of(index.book, embedder)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no-such-index\n",
        b"../..\n",
        b"\0",
        b"\xff\xfe",
    ],
)
def test_a_damaged_pointer_is_put_right(small_book: str, embedder: FakeEmbedder, content: bytes) -> None:
    index, _ = opened(small_book, embedder)
    good = answers(index)
    (index_root(small_book) / CURRENT).write_bytes(content)
    again, said = opened(small_book, embedder)
    assert [line.startswith(f"Building the index of {small_book}: ") for line in said] == [True]
    assert answers(again) == good
    assert current(small_book) == again.hash


@pytest.mark.parametrize(
    "content",
    ["{}", '{"files": 1, "counts": 2}', "[]", "null", "5"],
)
def test_a_manifest_of_another_form_means_another_index(small_book: str, embedder: FakeEmbedder, content: str) -> None:
    index, _ = opened(small_book, embedder)
    (index_root(small_book) / index.hash / MANIFEST).write_text(content, encoding="utf-8")
    assert opened(small_book, embedder)[1] != []
    assert set(manifest(index)["files"]) == set(INDEX_FILES)


def test_a_manifest_that_vouches_for_no_file_is_not_believed(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    path = index_root(small_book) / index.hash / MANIFEST
    path.write_text(json.dumps({**manifest(index), "files": {}}), encoding="utf-8")
    assert opened(small_book, embedder)[1] != []


# A build that breaks off


def break_off(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (FakeEmbedder, "encode"),
        (build.Bm25, "save"),
        (build.faiss, "write_index"),
        (build, "sha256_file"),
        (build, "_make_current"),
    ],
)
def test_a_build_that_breaks_off_leaves_the_old_index_in_use(
    small_book: str, embedder: FakeEmbedder, home: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str
) -> None:
    index, _ = opened(small_book, embedder)
    good = answers(index)
    added = add_clause(home, small_book)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, break_off)
        with pytest.raises(KeyboardInterrupt):
            build_index(read_book(small_book), embedder)
    assert (current(small_book), folders(small_book)) == (index.hash, [index.hash]), "nothing half built is left"
    added.unlink()
    again, said = opened(small_book, embedder)
    assert said == []
    assert answers(again) == good


def test_a_build_that_breaks_off_at_the_swap_leaves_the_old_index_in_use(
    small_book: str, embedder: FakeEmbedder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, _ = opened(small_book, embedder)
    added = add_clause(home, small_book)
    replace = build.os.replace

    def all_but_the_pointer(source: Path, target: Path) -> None:
        if target.name == CURRENT:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(build.os, "replace", all_but_the_pointer)
        with pytest.raises(KeyboardInterrupt):
            build_index(read_book(small_book), embedder)
    added.unlink()
    assert opened(small_book, embedder)[1] == []
    assert current(small_book) == index.hash


def test_what_a_killed_build_left_is_swept_away_by_the_next(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    opened(small_book, embedder)
    left = index_root(small_book) / ".building-killed"
    left.mkdir()
    (left / "faiss.index").write_bytes(b"half")
    add_clause(home, small_book)
    index, _ = opened(small_book, embedder)
    assert folders(small_book) == [index.hash]


def test_a_passage_over_the_limit_fails_the_build_and_keeps_the_old_index(
    small_book: str, embedder: FakeEmbedder, home: Path
) -> None:
    index, _ = opened(small_book, embedder)
    path = home / "data" / "books" / small_book / "028.md"
    path.write_text("## 28A\n\n" + "word " * 600 + "\n", encoding="utf-8")
    with pytest.raises(IndexFault, match=r"028.md:1: a sentence of clause 28A is over the embedder's limit of 512 tokens"):
        opened(small_book, embedder)
    assert current(small_book) == index.hash


# A folder that cannot be written (as root no folder is unwritable: something else lies in the way)


@pytest.mark.parametrize("way", ["cache", "cache/indexes", "cache/indexes/small-2017-en"])
def test_a_folder_that_cannot_be_made_gives_one_sentence(small_book: str, embedder: FakeEmbedder, home: Path, way: str) -> None:
    (home / way).parent.mkdir(parents=True, exist_ok=True)
    (home / way).write_text("a file in the way", encoding="utf-8")
    with pytest.raises(IndexFault, match=r"^The index cannot be written to .*small-2017-en .*; make that folder writable"):
        opened(small_book, embedder)


def test_a_pointer_that_cannot_be_written_gives_one_sentence(small_book: str, embedder: FakeEmbedder) -> None:
    (index_root(small_book) / CURRENT).mkdir(parents=True)
    with pytest.raises(IndexFault, match=r"^The index cannot be written to "):
        opened(small_book, embedder)


def test_a_folder_in_which_no_lock_can_be_made_gives_one_sentence(small_book: str, embedder: FakeEmbedder) -> None:
    (index_root(small_book) / ".lock").mkdir(parents=True)
    with pytest.raises(IndexFault, match=r"^The index cannot be written to "):
        opened(small_book, embedder)


def test_a_full_disk_gives_one_sentence(small_book: str, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    write_index = faiss.write_index
    monkeypatch.setattr(build.faiss, "write_index", lambda index, _: write_index(many_rows(), "/dev/full"))
    with pytest.raises(IndexFault, match=r"^The index cannot be written to "):
        opened(small_book, embedder)


def many_rows() -> faiss.Index:
    """More than a file's buffer, so that the write itself fails."""
    index = faiss.IndexFlatIP(256)
    index.add(np.ones((5000, 256), dtype=np.float32))
    return index
