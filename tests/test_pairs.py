from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from index.books import DEFAULT_BOOK, read_book
from index.noise import MIN_LETTERS
from index.pairs import NOISY_SHARE, TERMS_SHARE, Pair, batches, phrase_batches, trained
from index.stories import LONG_LINE, is_held_out
from index.terms import with_terms

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
        line, other = pair.lines
        lines = {asked.text: asked for asked in trained(book.get(pair.clause))}
        passages = [f"passage: {book.heading_path(c)}\n{c.text}" for c in map(book.get, [pair.clause, *lines[line].also]) if c]
        if other:
            assert (pair.positive, other in lines, other != line) == (f"query: {other}", True, True)
        else:
            assert pair.positive in passages
        kinds["line" if other else "passage" if pair.positive == passages[0] else "passage of another clause"] += 1
    assert kinds["passage"] > kinds["line"] > kinds["passage of another clause"] > 0


def test_a_batch_is_of_stories_or_of_short_lines_and_most_are_of_stories() -> None:
    kinds = [{len(pair.lines[0]) >= LONG_LINE for pair in batch} for batch in made(60)]
    assert all(len(kind) == 1 for kind in kinds)
    assert 0.4 < kinds.count({True}) / 60 < 0.8


def test_an_anchor_is_its_line_now_and_then_mistyped_and_with_the_terms_of_the_book() -> None:
    book = read_book(DEFAULT_BOOK)
    langs = {line.text: line.lang for clause in book.clauses for line in clause.asked}
    mistyped, with_term = [], []
    for pair in (pair for batch in made(40) for pair in batch):
        line, anchor = pair.lines[0], pair.anchor.removeprefix("query: ")
        words = line.split(" ")
        changed = [word for word, seen in zip(words, anchor.split(" "), strict=False) if seen != word]
        assert all(len(word) >= MIN_LETTERS and word.isalpha() for word in changed), (line, anchor)
        mistyped.append(bool(changed))
        if not changed:
            assert anchor in {line, with_terms(line, langs[line], book.lang)}
            if with_terms(line, langs[line], book.lang) != line:
                with_term.append(anchor != line)
    assert 0.5 * NOISY_SHARE < sum(mistyped) / len(mistyped) < 1.2 * NOISY_SHARE, "in a few no word is hit"
    assert abs(sum(with_term) / len(with_term) - TERMS_SHARE) < 0.12


def test_what_is_held_out_is_in_no_pair() -> None:
    book = read_book(DEFAULT_BOOK)
    held = {line.text for clause in book.clauses for line in clause.asked if is_held_out(line.text)}
    assert held
    for clause in book.clauses:
        assert [line for line in clause.asked if line.text not in held] == trained(clause)
    assert not held & {line for batch in made(40) for pair in batch for line in pair.lines}


def test_a_line_comes_again_only_when_all_of_its_clause_have_come(small_book: str) -> None:
    book = read_book(small_book)
    (clause,) = [clause for clause in book.clauses if clause.asked]
    lines = [pair.lines[0] for (pair,) in batches(book, PREFIXES, 1, 9, 0)]
    for start in (0, 3, 6):
        assert sorted(lines[start : start + 3]) == sorted(line.text for line in clause.asked)


def test_a_batch_holds_clauses_of_one_law_that_are_hard_to_tell_apart() -> None:
    laws = Counter(pair.clause.law for pair in made(1)[0])
    assert laws.most_common(1)[0][1] >= 3


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert made(3) == made(3)
    assert made(3) != made(3, seed=2)


def test_too_few_clauses_for_a_batch_are_told(small_book: str) -> None:
    with pytest.raises(ValueError, match="too few for batches of 32"):
        list(batches(read_book(small_book), PREFIXES, 32, 1, 0))


PHRASES = [(["a1", "a2", "a3"], {}), (["b1", "b2"], {}), (["c1", "c2"], {})]


def test_phrases_that_say_the_same_are_pairs_each_of_another_group() -> None:
    for batch in islice(phrase_batches(PHRASES, "query: ", 3, 1), 20):
        assert sorted(pair.lines[0][0] for pair in batch) == ["a", "b", "c"]
        for pair in batch:
            anchor, positive = pair.lines
            assert (anchor[0], anchor == positive) == (positive[0], False)
            assert (pair.anchor, pair.positive, pair.clause) == (f"query: {anchor}", f"query: {positive}", None)


def test_every_phrase_comes_and_the_same_seed_gives_the_same() -> None:
    first, again, other = (list(islice(phrase_batches(PHRASES, "", 2, seed), 30)) for seed in (1, 1, 2))
    assert {pair.anchor for batch in first for pair in batch} == {"a1", "a2", "a3", "b1", "b2", "c1", "c2"}
    assert first == again != other
