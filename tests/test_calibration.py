from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eval.floor import FOLDS, HEAD_KEEP, KEEP, cross_validated, floor_of, head_cross_validated, head_of, nearest_other
from index.books import read_book
from index.errors import ContractError
from index.search import Ranking
from index.store import open_index
from rag import calibration
from rag.calibration import Calibration, calibration_for, judge
from rag.mixing import Mixing
from rag.reading import Thresholds
from tests.fakes import FakeEmbedder


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "calibration.yaml"
    monkeypatch.setattr(calibration, "PATH", path)
    calibration._read.cache_clear()
    yield path
    calibration._read.cache_clear()


def test_the_floor_is_given_for_the_embedder_it_was_made_with(own_file: Path) -> None:
    own_file.write_text("embedder_sha256: abc\nfloor: 0.75\ncovered_kept: 9/10\n", encoding="utf-8")
    assert calibration_for("abc") == Calibration("abc", 0.75)


def test_how_stories_are_read_stands_beside_the_floor(own_file: Path) -> None:
    lines = (
        "embedder_sha256: abc\nfloor: 0.75\nhead: [1, -2.5]\n"
        "reading: {irregularity: 0.5, fact: 0.75, presume: 1}\nmixing: {irregularity: [1, 0.5], fact: [0, 2]}\n"
    )
    own_file.write_text(lines, encoding="utf-8")
    reading, mixing = Thresholds(0.5, 0.75, 1.0), Mixing((1.0, 0.5), (0.0, 2.0))
    assert calibration_for("abc") == Calibration("abc", 0.75, (1.0, -2.5), reading, mixing)


DAMAGED = [
    "reading: 5",
    "reading: {irregularity: 0.5}",
    "reading: {irregularity: 0.5, fact: high, presume: 0.5}",
    "reading: {irregularity: 0.5, fact: 0.5, presume: 0.5, colour: 0.5}",
    "mixing: {irregularity: [1, 1]}",
    "mixing: {irregularity: [1, 1], fact: [1]}",
    "mixing: {irregularity: [1, 1], fact: 2}",
    "head: [a]",
]


@pytest.mark.parametrize("other", ["abd", "", "ABC"])
def test_the_floor_is_refused_for_another_embedder(own_file: Path, other: str) -> None:
    own_file.write_text("embedder_sha256: abc\nfloor: 0.75\n", encoding="utf-8")
    assert calibration_for(other) is None


@pytest.mark.parametrize(
    "content",
    [None, "", "[]", "floor: 0.75\n", "embedder_sha256: abc\n", "embedder_sha256: abc\nfloor: high\n", "a: [\n"]
    + [f"embedder_sha256: abc\nfloor: 0.75\n{more}\n" for more in DAMAGED],
)
def test_a_damaged_file_says_how_to_make_it_anew(own_file: Path, content: str | None) -> None:
    if content is not None:
        own_file.write_text(content, encoding="utf-8")
    with pytest.raises(ContractError, match=r"(?s)^calibration\.yaml is damaged .*; run: python -m eval\.floor --write$"):
        calibration_for("abc")


def test_a_damaged_file_is_told_in_one_line(own_file: Path) -> None:
    own_file.write_text("a: [\n", encoding="utf-8")
    with pytest.raises(ContractError) as caught:
        calibration_for("abc")
    assert "\n" not in str(caught.value)


def test_the_file_that_is_shipped_holds_a_cosine_and_a_hash() -> None:
    shipped = calibration._read()
    assert 0 < shipped.floor < 1
    assert len(shipped.embedder_sha256) == 64


def test_the_floor_keeps_the_promised_share_of_covered_questions() -> None:
    covered = np.linspace(0.0, 1.0, 101, dtype=np.float32)
    assert floor_of(covered) == pytest.approx(1 - KEEP)
    assert int((covered >= floor_of(covered)).sum()) == 100


def test_cross_validation_sets_the_floor_without_the_fold() -> None:
    # Law 1 alone is low: the floor made of the others leaves it out; the floors of the other folds keep all of theirs.
    laws = np.array([1, 2, 3, 4, 5])
    assert cross_validated(np.array([0.1, 0.9, 0.9, 0.9, 0.9], np.float32), laws) == (4, 5)
    assert cross_validated(np.array([0.9] * FOLDS, np.float32), laws) == (FOLDS, FOLDS)


def test_a_question_is_measured_against_all_rows_but_its_own(small_book: str) -> None:
    index = open_index(read_book(small_book), FakeEmbedder())
    row = int(np.flatnonzero(index.row_asked)[0])
    text = index.book.get(index.book.clauses[index.row_clause[row]].id).asked[0].text
    own, other = (float(nearest_other(index, index.embedder.encode([text], "query"), [left_out])[0]) for left_out in (-2, row))
    assert own == pytest.approx(1.0, abs=1e-5)
    assert 0 <= other < 0.9


def ranking(vector: list[float], nearest: float = 0.9, is_named: bool = False) -> Ranking:
    return Ranking((), nearest, np.array(vector, np.float32), is_named)


def test_floor_and_head_must_both_let_a_question_through() -> None:
    made = Calibration("abc", 0.5, (1.0, -1.0, 0.25))
    assert made.covers(ranking([0.5, 0.75]))
    assert not made.covers(ranking([0.5, 0.76]))
    assert not made.covers(ranking([0.5, 0.1], nearest=0.49))
    assert made.covers(ranking([0.0, 9.0], nearest=0.1, is_named=True)), "a clause named by number is in the book"
    assert Calibration("abc", 0.5).covers(ranking([0.0, 9.0]))


@pytest.mark.models
def test_a_head_keeps_its_share_and_tells_the_two_apart() -> None:
    rng = np.random.default_rng(1)
    inside, outside = rng.normal(1, 0.3, (400, 4)).astype(np.float32), rng.normal(-1, 0.3, (60, 4)).astype(np.float32)
    head = head_of(inside, np.arange(len(inside)), outside)
    assert judge(head, inside).mean() == pytest.approx(HEAD_KEEP, abs=0.01)
    assert not judge(head, outside).any()
    kept, refused = head_cross_validated(inside, np.arange(400), outside)
    assert kept > 370
    assert refused == 60
