from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from index import build
from index.bm25 import Bm25, words
from index.books import read_book
from index.build import CURRENT, MANIFEST, build_index, index_root
from index.clause_id import parse_clause_id
from index.errors import IndexFault
from index.passages import passages_of
from index.search import search
from index.store import SearchIndex, open_index
from index.terms import read_terms, translate_terms
from tests.fakes import FakeEmbedder


def opened(book_id: str, embedder: FakeEmbedder) -> tuple[SearchIndex, list[str]]:
    said: list[str] = []
    return open_index(read_book(book_id), embedder, said.append), said


def test_passages_carry_the_heading_path_and_asked_lines_stand_alone(small_book: str, embedder: FakeEmbedder) -> None:
    rows = passages_of(read_book(small_book), embedder)
    assert [(str(row.clause), row.kind, row.lang) for row in rows] == [
        ("27A1", "clause", "en"),
        ("27A1", "asked", "en"),
        ("27A1", "asked", "en"),
        ("27A1", "asked", "ru"),
        ("27B", "clause", "en"),
        ("27B1", "clause", "en"),
    ]
    assert rows[0].text.startswith("Law 27 Insufficient bid > 27A When it is accepted > 27A1\nThe next player")
    assert rows[1].text == "someone bid too low and I like it, can I keep it"


def test_a_long_clause_is_split_at_sentence_ends_with_overlap(small_book: str, home: Path) -> None:
    sentences = [f"Sentence number {k} has exactly seven words." for k in range(9)]
    path = home / "data" / "books" / small_book / "028.md"
    path.write_text(f"## 28A\n\n{' '.join(sentences)}\n", encoding="utf-8")
    rows = [row for row in passages_of(read_book(small_book), FakeEmbedder(max_tokens=40)) if str(row.clause) == "28A"]
    parts = [row.text.split("\n", 1)[1] for row in rows]
    assert len(parts) > 1
    assert all(part.endswith(".") for part in parts)
    for before, after in pairwise(parts):
        assert before.split(". ")[-1].rstrip(".") == after.split(". ")[0].rstrip(".")
    assert all(any(sentence in part for part in parts) for sentence in sentences)


@pytest.mark.parametrize(
    "body", ["## 28A\n\n" + "word " * 80 + "\n", '## 28A\n\nT.\n\n```yaml\nasked: {en: ["' + "word " * 80 + '"]}\n```\n']
)
def test_what_the_embedder_would_cut_off_fails_the_build_with_the_clause_named(small_book: str, home: Path, body: str) -> None:
    (home / "data" / "books" / small_book / "028.md").write_text(body, encoding="utf-8")
    with pytest.raises(IndexFault, match=r"028.md:1: .*clause 28A is over the embedder's limit of 40 tokens"):
        build_index(read_book(small_book), FakeEmbedder(max_tokens=40))


def test_an_index_is_built_once_and_then_opened(small_book: str, embedder: FakeEmbedder) -> None:
    _, first = opened(small_book, embedder)
    index, second = opened(small_book, embedder)
    assert first == [f"Building the index of {small_book}: there is none yet."]
    assert second == []
    manifest = json.loads((index_root(small_book) / index.hash / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["counts"] == {"clauses": 5, "passages": 6, "asked": 3}
    assert manifest["embedder_sha256"] == "fake-hash"
    assert manifest["prefixes"] == {"query": "query: ", "passage": "passage: "}


def test_a_changed_book_is_indexed_anew_and_only_new_texts_are_embedded(
    small_book: str, embedder: FakeEmbedder, home: Path
) -> None:
    opened(small_book, embedder)
    (home / "data" / "books" / small_book / "028.md").write_text("## 28A\n\nA new clause.\n", encoding="utf-8")
    embedder.encoded.clear()
    index, said = opened(small_book, embedder)
    assert said == [f"Building the index of {small_book}: its book_sha256 changed."]
    assert embedder.encoded == ["28A\nA new clause."]
    assert search(index, "a new clause")[0].clause.text == "A new clause."


def test_another_embedder_means_another_index(small_book: str, embedder: FakeEmbedder) -> None:
    opened(small_book, embedder)
    other = FakeEmbedder()
    other.hash = "other"
    _, said = opened(small_book, other)
    assert said == [f"Building the index of {small_book}: its embedder_sha256 changed."]
    assert len(other.encoded) == 6, "vectors of another embedder are not taken over"


def test_another_format_means_another_index(small_book: str, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(small_book, embedder)
    monkeypatch.setattr(build, "FORMAT", build.FORMAT + 1)
    _, said = opened(small_book, embedder)
    assert said == [f"Building the index of {small_book}: its format changed."]


@pytest.mark.parametrize("damage", ["truncate", "flip", "remove"])
@pytest.mark.parametrize("pattern", ["faiss.index", "passages.jsonl", "clauses.jsonl", "bm25/*", MANIFEST])
def test_a_damaged_index_is_never_served(small_book: str, embedder: FakeEmbedder, pattern: str, damage: str) -> None:
    index, _ = opened(small_book, embedder)
    good = [hit.clause.id for hit in search(index, "bid too low")]
    path = sorted((index_root(small_book) / index.hash).glob(pattern))[0]
    data = bytearray(path.read_bytes())
    if damage == "remove":
        path.unlink()
    elif damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    again, said = opened(small_book, embedder)
    assert len(said) == 1
    assert "damaged" in said[0] or "changed" in said[0]
    assert [hit.clause.id for hit in search(again, "bid too low")] == good


def test_a_build_that_breaks_off_leaves_the_old_index_in_use(
    small_book: str, embedder: FakeEmbedder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, _ = opened(small_book, embedder)
    root = index_root(small_book)
    (home / "data" / "books" / small_book / "028.md").write_text("## 28A\n\nA new clause.\n", encoding="utf-8")

    def break_off(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build.Bm25, "save", break_off)
    with pytest.raises(KeyboardInterrupt):
        build_index(read_book(small_book), embedder)
    assert (root / CURRENT).read_text(encoding="utf-8").strip() == index.hash
    assert [p.name for p in root.iterdir() if p.is_dir()] == [index.hash], "nothing half built is left"


def test_a_folder_that_cannot_be_written_gives_one_sentence(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "indexes").write_text("a file in the way", encoding="utf-8")
    with pytest.raises(IndexFault, match="cannot be written"):
        opened(small_book, embedder)


def test_a_clause_named_by_number_comes_first_with_its_branch(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    hits = search(index, "keep it", named=[parse_clause_id("27B")])
    assert [str(hit.clause.id) for hit in hits][:2] == ["27B", "27B1"]
    assert hits[0].score == 1.0


def test_an_asked_line_finds_its_clause(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    assert str(search(index, "LHO passed quickly, one heart over one spade")[0].clause.id) == "27A1"


def test_a_lead_in_brings_what_stands_below_it_and_references_are_pulled_in(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    found = [str(hit.clause.id) for hit in search(index, "offender must replace; nobody else may help")]
    assert found[:2] == ["27B", "27B1"]
    assert "27B" in [str(hit.clause.id) for hit in search(index, "keep it")], "see: [27B] of 27A1"


def test_scores_fall_and_k_is_kept(small_book: str, embedder: FakeEmbedder) -> None:
    index, _ = opened(small_book, embedder)
    scores = [hit.score for hit in search(index, "bid low offender partner", k=2)]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_the_same_number_of_another_edition_is_another_rule(small_book: str, embedder: FakeEmbedder, home: Path) -> None:
    folder = home / "data" / "books" / "old-1987-en"
    folder.mkdir()
    meta = (home / "data" / "books" / small_book / "book.yaml").read_text(encoding="utf-8")
    (folder / "book.yaml").write_text(meta.replace('"2017"', '"1987"').replace("in_force: true", "in_force: false"))
    (folder / "027.md").write_text("## 27A1\n\nIn those days the bid was simply cancelled.\n", encoding="utf-8")
    new, _ = opened(small_book, embedder)
    old, _ = opened("old-1987-en", embedder)
    named = [parse_clause_id("27A1")]
    assert "calling over it" in search(new, "27A1", named=named)[0].clause.text
    assert "simply cancelled" in search(old, "27A1", named=named)[0].clause.text
    assert (old.book.edition, new.book.edition) == ("1987", "2017")


def test_words_are_stemmed_by_script_and_negations_stay() -> None:
    assert words("Bidding bids, the bid!") == ["bid", "bid", "bid"]
    assert words("взятки взятку") == ["взятк", "взятк"]
    assert words("ещё всё-таки не") == words("еще все-таки не")
    assert "not" in words("may not lead")


def test_bm25_scores_by_shared_words_and_survives_saving(tmp_path: Path) -> None:
    bm25 = Bm25.build(["declarer led out of turn", "a defender revoked", "вистующий сделал фальшренонс"])
    bm25.save(tmp_path)
    again = Bm25.load(tmp_path)
    for index in (bm25, again):
        assert index.scores("who revoked").argmax() == 1
        assert index.scores("фальшренонсы").argmax() == 2
        assert index.scores("zzz").tolist() == [0.0, 0.0, 0.0]


def test_terms_are_found_by_stem_longest_first() -> None:
    gloss = translate_terms("Вистующий пошёл не в свою очередь, у него штрафная карта", "ru", "en")
    assert {"defender", "lead out of turn", "penalty card"} <= set(gloss.split(" ")) | {"lead out of turn", "penalty card"}
    assert "lead out of turn" in gloss
    assert "penalty card" in gloss
    assert translate_terms("как сварить рис", "ru", "en") == ""


def test_the_list_of_terms_names_each_once() -> None:
    names = [term.name["en"] for term in read_terms()]
    assert len(names) == len(set(names))
    assert all(term.name["ru"] for term in read_terms())
