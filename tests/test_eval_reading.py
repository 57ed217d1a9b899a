"""How the reading of stories is calibrated: mixing and thresholds, on guesses worked out by hand."""

from __future__ import annotations

import pytest

from eval.held_out import Guess
from eval.reading import STEPS, Mixed, cross_validated, fit_mixing, mix, thresholds
from rag.mixing import Mixing

HIGHEST = round(float(STEPS[-1]), 2)


def named(count: int, chance: float, truth: str) -> list[Mixed]:
    """Guesses that it was tea."""
    return [Mixed({"tea": chance, "fire": 0.0, "": 0.0}, truth)] * count


def told(count: int, chance: float, truth: str) -> list[Mixed]:
    """Guesses that a fact is "yes"; nothing speaks for "not stated"."""
    return [Mixed({"yes": chance, "no": 0.0, "": 0.0}, truth)] * count


def silent(count: int, chance: float, truth: str) -> list[Mixed]:
    return [Mixed({"yes": 0.0, "no": 0.0, "": chance}, truth)] * count


def test_the_irregularity_is_taken_from_the_lowest_threshold_that_keeps_two_in_three_right() -> None:
    """15 of 25 are right from 0.2 on, 15 of 22 above 0.31: 0.32 is the next step; with one wrong more, from 0.52 on all are."""
    guesses = [*named(15, 0.61, "tea"), *named(7, 0.51, "fire"), *named(3, 0.31, "")]
    assert thresholds(guesses, []).irregularity == 0.32
    assert thresholds([*guesses, *named(1, 0.51, "fire")], []).irregularity == 0.52


def test_a_fact_is_taken_where_nine_in_ten_are_right_and_silence_is_no_fact() -> None:
    """18 of 24 told are right from 0.2 on, 18 of 20 from 0.36 on; the silent ones are wrong, but not told."""
    guesses = [*told(18, 0.71, "yes"), *told(2, 0.51, "no"), *told(4, 0.35, ""), *silent(9, 0.15, "no")]
    assert thresholds([], guesses).fact == 0.36


def test_silence_is_taken_where_nine_in_ten_are_silent() -> None:
    """9 of 13 are silent from 0.2 on, 9 of 10 from 0.56 on; what is told elsewhere does not matter."""
    guesses = [*silent(9, 0.81, ""), *silent(1, 0.81, "yes"), *silent(3, 0.55, "no"), *told(9, 0.9, "no")]
    assert thresholds([], guesses).presume == 0.56


def test_where_all_are_right_the_lowest_step_is_taken_and_the_highest_where_none_is() -> None:
    right = thresholds(named(3, 0.9, "tea"), [*told(3, 0.9, "yes"), *silent(3, 0.9, "")])
    assert (right.irregularity, right.fact, right.presume) == (0.2, 0.2, 0.2)
    wrong = thresholds(named(3, 0.9, "fire"), [*told(3, 0.9, "no"), *silent(3, 0.9, "no")])
    assert (wrong.irregularity, wrong.fact, wrong.presume) == (HIGHEST, HIGHEST, HIGHEST)
    nothing = thresholds([], [])
    assert (nothing.irregularity, nothing.fact, nothing.presume) == (HIGHEST, HIGHEST, HIGHEST)


def test_heads_and_words_are_mixed_by_their_exponents() -> None:
    """The irregularity 0.8 * 0.2 against 0.2 * 0.8; the fact 0.8² against 0.2², and its words do not count."""
    heads, words = {"tea": 0.8, "": 0.2}, {"tea": 0.2, "": 0.8}
    irregularity, fact = Guess("irregularity", heads, words, "tea"), Guess("spilled", heads, words, "")
    first, second = mix([irregularity, fact], Mixing((1, 1), (2, 0)))
    assert (first.chances, first.truth) == (pytest.approx({"tea": 0.5, "": 0.5}), "tea")
    assert (second.chances, second.truth) == (pytest.approx({"tea": 0.64 / 0.68, "": 0.04 / 0.68}), "")
    assert (second.best, second.is_right) == ("tea", False)


def test_without_words_the_heads_decide() -> None:
    (found,) = mix([Guess("irregularity", {"tea": 0.8, "": 0.2}, None, "tea")], Mixing((1, 3), (1, 3)))
    assert found.chances == pytest.approx({"tea": 0.8, "": 0.2})


def test_the_reader_that_is_right_counts_most_for_each_kind_of_question() -> None:
    right, wrong = {"a": 0.8, "": 0.2}, {"a": 0.2, "": 0.8}
    irregularities, facts = [Guess("irregularity", right, wrong, "a")] * 3, [Guess("spilled", wrong, right, "a")] * 3
    assert fit_mixing(irregularities, facts) == Mixing((3.0, 0.0), (0.0, 3.0))


def test_each_fold_is_judged_by_what_was_made_without_it() -> None:
    """Eight of tea are right; two of fire, one fold of their own, are taken for tea by heads and words."""
    chances = {"tea": 0.7, "fire": 0.2, "": 0.1}
    irregularities = [Guess("irregularity", chances, chances, "fire" if k % 5 == 3 else "tea") for k in range(10)]
    facts = [Guess("spilled", {"yes": 0.2, "no": 0.1, "": 0.7}, None, "") for _ in range(10)]
    found = cross_validated(irregularities, facts)
    assert found["irregularity first"] == "8/10"
    assert found["irregularity in the first three"] == "10/10"
    assert found["irregularity first, heads alone"] == found["irregularity first, words alone"] == "8/10"
    assert found["irregularity taken"] == "10/10", "the fold of fire is taken by what the folds of tea made"
    assert found["irregularity right where taken"] == "8/10"
    assert (found["silence right"], found["fact right where taken"], found["stated fact read"]) == ("10/10", "0/0", "0/0")
