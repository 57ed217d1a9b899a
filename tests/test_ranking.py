"""The features of search on a small made book, worked out by hand; and the weights, bound to their embedder."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log1p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from index import ranking
from index.books import read_book
from index.clause_id import parse_clause_id
from index.errors import ContractError
from index.ranking import COLD, FEATURES, WARM, best_by_clause, features, weights_for
from index.store import SearchIndex, open_index
from index.structure import structure_of
from index.types import Asked, Book, Clause
from tests.fakes import FakeEmbedder

CLAUSES = (
    Clause(
        parse_clause_id("27A"),
        "",
        "first",
        (Asked("a", "en"), Asked("b", "en", (parse_clause_id("27B"), parse_clause_id("12C1(b)")))),
        (parse_clause_id("27B"), parse_clause_id("12C1(b)")),
    ),
    Clause(parse_clause_id("27B"), "A heading", "", (), (parse_clause_id("64A"),)),
    Clause(parse_clause_id("64A"), "", "third", (Asked("c", "en", (parse_clause_id("27A"),)),), (parse_clause_id("Def:call"),)),
    Clause(parse_clause_id("Def:call"), "", "fourth"),
)
"""12C1(b) is not in the book."""
ROW_CLAUSE = np.array([0, 0, 0, 2, 2, 3])
ROW_ASKED = np.array([False, True, True, False, True, False])
COSINE = np.array([0.5, 0.4, 0.2, 0.3, 0.6, 0.1], dtype=np.float32)
"""The middle of them is 0.35."""
WORDS = np.array([2, 0, 0, 1, 4, 0], dtype=np.float32)


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    book = Book("b", "2017", "en", "law", "B", "CC", "restated", "", in_force=True, folder=tmp_path, hash="h", clauses=CLAUSES)
    nothing: Any = None
    return SearchIndex(book, FakeEmbedder(), nothing, nothing, ROW_CLAUSE, ROW_ASKED, "h")


def column(index: SearchIndex, name: str, **prior: float) -> list[float]:
    """A feature of the four clauses."""
    made = features(index, COSINE, WORDS, {parse_clause_id(clause): share for clause, share in prior.items()})
    assert made.shape == (4, len(FEATURES))
    return [float(value) for value in made[:, FEATURES.index(name)]]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("clause cosine", [1.5, -1, -0.5, -1]),  # ten times above the middle, at least -1
        ("line cosine", [0.5, -1, 2.5, -1]),
        ("clause rank", [10 / 11, 10 / 14, 10 / 12, 10 / 13]),  # 27B has no text: last
        ("line rank", [10 / 12, 10 / 13, 10 / 11, 10 / 14]),
        ("clause words rank", [10 / 11, 0, 10 / 12, 0]),  # nothing for no shared word
        ("line words rank", [0, 0, 10 / 11, 0]),
        ("clause words", [1, 0, 0.5, 0]),  # shares of the best
        ("line words", [0, 0, 1, 0]),
        ("nearest row of the law", [1.5, 1.5, 2.5, -1]),
        ("nearest clause of the law", [1.5, 1.5, -0.5, -1]),
        ("words of the law", [0.4, 0.4, 1, 0]),  # texts and lines together: 2 of 5
        ("has text", [1, 0, 1, 1]),
        ("lines", [0.2, 0, 0.1, 0]),
        ("expected", [0, 0, 0, 0]),
        ("expected of the law", [0, 0, 0, 0]),
    ],
)
def test_a_feature_of_four_clauses(index: SearchIndex, name: str, values: list[float]) -> None:
    assert column(index, name) == pytest.approx(values, abs=1e-5)


@pytest.mark.parametrize(("name", "temperature"), [("cold votes", COLD), ("warm votes", WARM)])
def test_the_nearest_lines_vote_for_their_clauses_and_by_half_for_those_they_need(
    index: SearchIndex, name: str, temperature: float
) -> None:
    """The lines lie at 0.6 (64A, needs 27A), 0.4 (27A) and 0.2 (27A, needs 27B)."""
    best, second, third = 1.0, exp(-0.2 / temperature), exp(-0.4 / temperature)
    whole = best + second + third
    votes = [(second + third + 0.5 * best) / whole, 0.5 * third / whole, best / whole, 0.0]
    assert column(index, name) == pytest.approx([log1p(20 * vote) for vote in votes], abs=1e-4)
    of_law = [votes[0] + votes[1], votes[0] + votes[1], votes[2], 0.0]
    assert column(index, f"{name} of the law") == pytest.approx([log1p(20 * vote) for vote in of_law], abs=1e-4)


def test_what_is_expected_counts_for_its_clause_and_its_law(index: SearchIndex) -> None:
    prior = {"27B": 0.25, "12C1(b)": 0.9}
    assert column(index, "expected", **prior) == pytest.approx([0, log1p(5), 0, 0])
    assert column(index, "expected of the law", **prior) == pytest.approx([log1p(5), log1p(5), 0, 0])


def test_a_clause_gets_what_the_best_that_refers_to_it_has(index: SearchIndex) -> None:
    """27A refers to 27B, 27B to 64A, 64A to the definition: the cold votes, or what is expected if that is more."""
    second, third = exp(-0.2 / COLD), exp(-0.4 / COLD)
    whole = 1 + second + third
    first, best = (second + third + 0.5) / whole, 1 / whole
    values = [0, log1p(20 * first), log1p(20 * 0.25), log1p(20 * best)]
    assert column(index, "referred to", **{"27B": 0.25}) == pytest.approx(values, abs=1e-4)


def test_a_clause_counts_by_its_best_row_in_the_mask() -> None:
    assert best_by_clause(COSINE, ROW_ASKED, ROW_CLAUSE, 4) == pytest.approx([0.4, -1, 0.6, -1])
    assert best_by_clause(COSINE, ~ROW_ASKED, ROW_CLAUSE, 4) == pytest.approx([0.5, -1, 0.3, 0.1])


def test_features_without_a_line_are_finite(tmp_path: Path) -> None:
    clauses = (Clause(parse_clause_id("27A"), "", "first"), Clause(parse_clause_id("27B"), "", "second"))
    book = Book("b", "2017", "en", "law", "B", "CC", "restated", "", in_force=True, folder=tmp_path, hash="h", clauses=clauses)
    nothing: Any = None
    made = SearchIndex(book, FakeEmbedder(), nothing, nothing, np.array([0, 1]), np.array([False, False]), "h")
    found = features(made, np.array([0.5, 0.1], np.float32), np.zeros(2, np.float32), {})
    assert np.isfinite(found).all()


# Structure


def test_the_structure_of_a_book(index: SearchIndex) -> None:
    made = index.structure
    assert made.row_also == ((), (), (1,), (), (0,), ()), "12C1(b) is not in the book"
    assert [made.position[clause.id] for clause in CLAUSES] == [0, 1, 2, 3]
    assert (made.has_text.tolist(), made.lines.tolist()) == ([1, 0, 1, 1], [0.2, 0, 0.1, 0])
    assert made.law[0] == made.law[1]
    assert len(set(made.law.tolist())) == 3, "the definition stands alone"


def test_values_of_a_law_are_summed_or_their_best_taken(index: SearchIndex) -> None:
    values = np.array([-3.0, -1.0, 4.0, -5.0])
    assert index.structure.of_law(values).tolist() == [-4, -4, 4, -5]
    assert index.structure.of_law(values, best=True).tolist() == [-1, -1, 4, -5]


def test_two_definitions_are_not_one_law(tmp_path: Path) -> None:
    clauses = tuple(Clause(parse_clause_id(text), "", "x") for text in ("Def:call", "Def:trick", "27A"))
    book = Book("b", "2017", "en", "law", "B", "CC", "restated", "", in_force=True, folder=tmp_path, hash="h", clauses=clauses)
    made = structure_of(book, np.arange(3), np.zeros(3, dtype=np.bool_))
    assert made.of_law(np.array([1.0, 2.0, 4.0])).tolist() == [1, 2, 4]


def test_the_lines_of_an_opened_index_need_the_clauses_that_the_book_says(small_book: str) -> None:
    made = open_index(read_book(small_book), FakeEmbedder())
    needed = [tuple(str(made.book.clauses[k].id) for k in also) for also in made.structure.row_also]
    lines = [needed[row] for row in np.flatnonzero(made.row_asked)]
    assert lines == [(), ("27B",), ()]
    assert all(needed[row] == () for row in np.flatnonzero(~made.row_asked))


# Weights


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "ranking.yaml"
    monkeypatch.setattr(ranking, "PATH", path)
    ranking._read.cache_clear()
    yield path
    ranking._read.cache_clear()


def stored(**changes: Any) -> str:
    weights = {name: float(k) for k, name in enumerate(FEATURES)}
    return yaml.safe_dump({"embedder_sha256": "abc", "weights": {**weights, **changes}})


def test_the_weights_come_in_the_order_of_the_features(own_file: Path) -> None:
    own_file.write_text(stored(), encoding="utf-8")
    found = weights_for("abc")
    assert found is not None
    assert found.tolist() == list(range(len(FEATURES)))


@pytest.mark.parametrize("other", ["abd", "", "ABC"])
def test_the_weights_are_refused_for_another_embedder(own_file: Path, other: str) -> None:
    own_file.write_text(stored(), encoding="utf-8")
    assert weights_for(other) is None


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "[]",
        "a: [\n",
        "embedder_sha256: abc\n",
        "embedder_sha256: abc\nweights: 5\n",
        "embedder_sha256: abc\nweights: {has text: 1.0}\n",
        stored(**{"has text": "much"}),
        stored(**{"has text": None}),
    ],
)
def test_a_damaged_file_is_one_sentence_that_says_how_to_make_it_anew(own_file: Path, content: str | None) -> None:
    if content is not None:
        own_file.write_text(content, encoding="utf-8")
    with pytest.raises(ContractError, match=r"^ranking\.yaml is damaged \([^\n]*\); run: python -m eval\.weights --write$"):
        weights_for("abc")


def test_the_file_that_is_shipped_holds_a_weight_for_every_feature_and_a_hash() -> None:
    shipped = yaml.safe_load(ranking.PATH.read_text(encoding="utf-8"))
    assert len(shipped["embedder_sha256"]) == 64
    assert set(shipped["weights"]) == set(FEATURES)
    assert all(np.isfinite(value) for value in shipped["weights"].values())
