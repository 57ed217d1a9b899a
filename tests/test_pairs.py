from __future__ import annotations

from collections import Counter

import pytest

from index.books import DEFAULT_BOOK, read_book
from index.pairs import Pair, batches

PREFIXES = {"query": "query: ", "passage": "passage: "}


def made(count: int = 20, seed: int = 1, size: int = 32) -> list[list[Pair]]:
    return list(batches(read_book(DEFAULT_BOOK), PREFIXES, size, count, seed))


def test_a_batch_holds_a_clause_once_and_none_that_answers_the_same_line() -> None:
    book = read_book(DEFAULT_BOOK)
    for batch in made():
        ids = [pair.clause for pair in batch]
        assert len(set(ids)) == len(ids) == 32
        for pair in batch:
            also = {ref for line in book.get(pair.clause).asked for ref in line.also}
            assert not (also | set(pair.clause.ancestors())) & set(ids)


def test_a_pair_is_a_line_of_the_clause_with_its_passage_or_another_line() -> None:
    book = read_book(DEFAULT_BOOK)
    kinds = Counter()
    for pair in (pair for batch in made() for pair in batch):
        clause = book.get(pair.clause)
        lines = {f"query: {line.text}" for line in clause.asked}
        assert pair.anchor in lines
        assert pair.positive != pair.anchor
        assert pair.positive in {*lines, f"passage: {book.heading_path(clause)}\n{clause.text}"}
        kinds[pair.positive.split(":")[0]] += 1
    assert kinds["passage"] > kinds["query"] > 0


def test_a_batch_holds_clauses_of_one_law_that_are_hard_to_tell_apart() -> None:
    laws = Counter(pair.clause.law for pair in made(1)[0])
    assert laws.most_common(1)[0][1] >= 3


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert made(3) == made(3)
    assert made(3) != made(3, seed=2)


def test_too_few_clauses_for_a_batch_are_told(small_book: str) -> None:
    with pytest.raises(ValueError, match="too few for batches of 32"):
        list(batches(read_book(small_book), PREFIXES, 32, 1, 0))
