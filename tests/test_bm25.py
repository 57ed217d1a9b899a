from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from index.bm25 import Bm25, split_words, stem, words

TEXTS = ("declarer led out of turn", "a defender revoked, then another defender revoked", "вистующий сделал фальшренонс")


@pytest.fixture(params=["built", "loaded"])
def bm25(request: pytest.FixtureRequest, tmp_path: Path) -> Bm25:
    """The index as built, and as saved and loaded: everything holds for both."""
    made = Bm25.build(TEXTS)
    if request.param == "built":
        return made
    made.save(tmp_path)
    return Bm25.load(tmp_path)


@pytest.mark.parametrize(
    "forms",
    [
        ["bid", "bids", "bidding", "BID"],
        ["revoke", "revokes", "revoked", "Revoking"],
        ["заявка", "заявки", "заявку", "Заявкой"],
        ["взятка", "взятки", "взятку"],
        ["фальшренонс", "фальшренонсы", "фальшренонса"],
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: list[str]) -> None:
    assert {word for form in forms for word in words(form)} == {stem(forms[0])}


@pytest.mark.parametrize(("one", "other"), [("penalty", "penitent"), ("ход", "заход"), ("double", "redouble")])
def test_different_words_stay_different(one: str, other: str) -> None:
    assert words(one) != words(other)


@pytest.mark.parametrize(
    ("printed", "typed"),
    [("ёлка", "елка"), ("Пошёл ЕЩЁ", "пошел еще"), ("партнёр", "партнер"), ("ЭХО поэта", "ехо поета"), ("этого", "етого")],
)
def test_yo_ye_and_e_are_one_letter(printed: str, typed: str) -> None:
    assert split_words(printed) == split_words(typed)
    assert words(printed) == words(typed)


def test_a_function_word_with_e_is_left_out_however_it_is_typed() -> None:
    assert words("этот того етот") == []


@pytest.mark.parametrize("text", ["партнёр", "второй", "café"])
def test_a_letter_of_two_code_points_does_not_split_a_word(text: str) -> None:
    assert split_words(unicodedata.normalize("NFD", text)) == split_words(text)


def test_punctuation_separates_words_and_apostrophes_do_not() -> None:
    assert split_words("West's 5-card suit: 1NT/2♥ (27B1)") == ["west's", "5", "card", "suit", "1nt", "2", "27b1"]
    assert split_words("didn’t") == ["didn't"]


@pytest.mark.parametrize("text", ["the of to in", "и в на что он", "Ещё", "", "?! ♠"])
def test_function_words_are_left_out(text: str) -> None:
    assert words(text) == []


@pytest.mark.parametrize("negation", ["not", "не", "ни", "без", "Not", "НЕ"])
def test_negations_stay(negation: str) -> None:
    assert words(f"{negation} the") == [negation.lower()]


def test_a_negation_tells_two_texts_apart() -> None:
    scores = Bm25.build(["dummy may lead", "dummy may not lead"]).scores("dummy may not lead")
    assert scores[1] > scores[0] > 0


@pytest.mark.parametrize(
    ("question", "best"),
    [("whose turn, declarers?", 0), ("did the defenders revoke?", 1), ("фальшренонсы", 2), ("WHO REVOKED фальш", 1)],
)
def test_the_text_that_shares_the_words_is_best(bm25: Bm25, question: str, best: int) -> None:
    scores = bm25.scores(question)
    assert scores.argmax() == best
    assert scores[best] > 0


def test_a_text_without_a_shared_word_gets_nothing(bm25: Bm25) -> None:
    assert (bm25.scores("фальшренонс") > 0).tolist() == [False, False, True]


@pytest.mark.parametrize("question", ["zzz", "", "the", "борщ", "?!"])
def test_words_that_no_text_has_give_zeros(bm25: Bm25, question: str) -> None:
    assert bm25.scores(question).tolist() == [0.0, 0.0, 0.0]


def test_an_unknown_word_beside_a_known_one_changes_nothing(bm25: Bm25) -> None:
    np.testing.assert_array_equal(bm25.scores("zzz revoked"), bm25.scores("revoked"))


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    scores = Bm25.build(["lead card", "lead trick", "lead claim", "claim trick card"]).scores("lead claim")
    assert scores.argmax() == 2
    assert scores[3] > scores[0], "claim is in two texts, lead in three"


def test_the_words_of_the_texts_are_known_by_their_stems(bm25: Bm25) -> None:
    assert [bm25.knows(word) for word in ("revok", "revoked", "фальшренонс", "the", "zzz")] == [True, False, True, False, False]


def test_a_saved_index_gives_the_same_scores(tmp_path: Path) -> None:
    made = Bm25.build(TEXTS)
    made.save(tmp_path)
    np.testing.assert_array_equal(Bm25.load(tmp_path).scores("declarer revoked"), made.scores("declarer revoked"))


def test_texts_without_words_are_never_found() -> None:
    assert Bm25.build(["", "the", "revoke"]).scores("the revoke of a").astype(bool).tolist() == [False, False, True]
