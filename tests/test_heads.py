from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from index.heads import Heads, fit, regression, taught

OPTIONS = {"irregularity": ["tea", "fire", ""], "spilled": ["yes", "no", ""], "who": ["north", ""]}
PLACES = [(question, option) for question, of_one in OPTIONS.items() for option in of_one]
WIDTH = 16


def units(seed: int, *shape: int) -> NDArray[np.float32]:
    """Vectors of length 1, like embeddings."""
    drawn = np.random.default_rng(seed).standard_normal(shape)
    return (drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)).astype(np.float32)


def made(**added: float) -> Heads:
    """Heads of chance weights; ``added``: to the score of an option, by its question (of the first option)."""
    bias = units(2, len(PLACES)).copy()
    for question, value in added.items():
        bias[PLACES.index((question, OPTIONS[question][0]))] += value
    return Heads(OPTIONS, 3 * units(1, len(PLACES), WIDTH), bias)


def best(chances: Mapping[str, float]) -> str:
    return max(chances, key=chances.__getitem__)


def example(seed: int, count: int) -> tuple[NDArray[np.float32], list[dict[str, str]]]:
    """Texts of chance labels; the vector of each is made of what it states, with some noise."""
    rng = np.random.default_rng(seed)
    signs = dict(zip(PLACES, units(7, len(PLACES), WIDTH), strict=True))
    labels = [{question: str(rng.choice(of_one)) for question, of_one in OPTIONS.items()} for _ in range(count)]
    vectors = np.array([sum(signs[stated] for stated in of_one.items()) for of_one in labels])
    vectors += 0.3 * units(seed, count, WIDTH)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


# Reading


def test_the_probabilities_of_each_question_sum_to_one() -> None:
    found = made().read(units(3, 5, WIDTH))
    assert len(found) == 5
    for text in found:
        assert {name: list(chances) for name, chances in text.items()} == OPTIONS
        for chances in text.values():
            assert sum(chances.values()) == pytest.approx(1.0, abs=1e-6)
            assert min(chances.values()) > 0


def test_an_option_is_as_probable_as_its_score_says() -> None:
    """Worked by hand: the scores are 0 and log 3, then 0, log 2 and log 5."""
    options = {"who": ["north", ""], "alarm": ["rang", "silent", ""]}
    weights = np.array([[0, 9], [math.log(3), 9], [0, 9], [0, 9], [math.log(5), 9]], dtype=np.float32)
    bias = np.array([0, 0, 0, math.log(2), 0], dtype=np.float32)
    (found,) = Heads(options, weights, bias).read(np.array([[1, 0]], dtype=np.float32))
    assert found["who"] == pytest.approx({"north": 1 / 4, "": 3 / 4})
    assert found["alarm"] == pytest.approx({"rang": 1 / 8, "silent": 2 / 8, "": 5 / 8})


def test_a_question_is_answered_for_itself_whatever_another_scores() -> None:
    vector = units(3, 1, WIDTH)
    (before,), (after,) = made().read(vector), made(spilled=20.0).read(vector)
    assert after["spilled"]["yes"] > 0.999 > before["spilled"]["yes"]
    assert after["irregularity"] == pytest.approx(before["irregularity"])
    assert after["who"] == pytest.approx(before["who"])


def test_the_probabilities_sum_to_one_however_high_or_low_the_scores() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = made(spilled=2000.0, who=-2000.0).read(units(3, 1, WIDTH))
    assert found["spilled"] == {"yes": 1.0, "no": 0.0, "": 0.0}
    assert found["who"] == {"north": 0.0, "": 1.0}
    assert sum(found["irregularity"].values()) == pytest.approx(1.0)


def test_a_text_reads_the_same_alone_as_among_others() -> None:
    heads, vectors = made(), units(3, 4, WIDTH)
    for row, found in enumerate(heads.read(vectors)):
        (alone,) = heads.read(vectors[row : row + 1])
        for question in OPTIONS:
            assert found[question] == pytest.approx(alone[question], rel=1e-5)


@pytest.mark.parametrize(("weights", "biases"), [(7, 8), (9, 8), (8, 7), (8, 9), (7, 7), (0, 0)])
def test_weights_of_another_count_than_the_options_are_refused(weights: int, biases: int) -> None:
    with pytest.raises(ValueError, match=f"{weights} options are stored, 8 are named"):
        Heads(OPTIONS, units(1, weights, WIDTH), units(2, biases))


# Fitting

labels_of_three = [{"who": "north"}, {"spilled": ""}, {"who": "", "spilled": "no"}]


@pytest.mark.parametrize(
    ("question", "rows", "told"), [("who", [0, 2], ["north", ""]), ("spilled", [1, 2], ["", "no"]), ("alarm", [], [])]
)
def test_a_text_teaches_only_the_questions_that_it_says_something_of(question: str, rows: list[int], told: list[str]) -> None:
    assert taught(question, labels_of_three) == (rows, told)


@pytest.mark.models
def test_what_the_vectors_tell_apart_is_read_from_others_of_their_kind() -> None:
    heads = fit(OPTIONS, *example(seed=3, count=300))
    vectors, labels = example(seed=4, count=200)
    read = heads.read(vectors)
    for question in OPTIONS:
        right = [best(found[question]) == stated[question] for found, stated in zip(read, labels, strict=True)]
        assert sum(right) / len(right) > 0.9, question


@pytest.mark.models
def test_a_text_that_says_nothing_of_a_question_does_not_change_it() -> None:
    vectors, labels = example(seed=3, count=60)
    fewer = [{"who": stated["who"]} if row % 2 else stated for row, stated in enumerate(labels)]
    by_halves, of_half = fit(OPTIONS, vectors, fewer), fit(OPTIONS, vectors[::2], labels[::2])
    (found,), (expected,), (of_all,) = (one.read(vectors[1:2]) for one in (by_halves, of_half, fit(OPTIONS, vectors, labels)))
    assert found["spilled"] == pytest.approx(expected["spilled"], abs=1e-3)
    assert found["spilled"] != pytest.approx(of_all["spilled"], abs=1e-3)
    assert found["who"] == pytest.approx(of_all["who"], abs=1e-3), "of which they say something"


@pytest.mark.models
def test_a_question_of_two_options_gives_both() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [-1, 0], [-0.8, 0.6]], dtype=np.float32)
    heads = fit(["who"], vectors, [{"who": one} for one in ("south", "south", "north", "north")])
    assert heads.weights.shape == (2, 2)
    for found, right in zip(heads.read(vectors), ("south", "south", "north", "north"), strict=True):
        assert set(found["who"]) == {"north", "south"}
        assert sum(found["who"].values()) == pytest.approx(1.0)
        assert found["who"][right] > 0.9


@pytest.mark.models
@pytest.mark.parametrize("told", [["yes", "no"], ["yes", "no", ""]])
def test_the_probabilities_are_those_of_the_library(told: Sequence[str]) -> None:
    from sklearn.linear_model import LogisticRegression

    vectors, stated = units(5, 30, WIDTH), [told[k % len(told)] for k in range(30)]
    classes, weights, bias = regression(vectors, stated, strength=2.0, iterations=200)
    model = LogisticRegression(C=2.0, max_iter=200).fit(vectors, stated)
    assert (weights.shape, bias.shape) == ((len(told), WIDTH), (len(told),))
    other = units(6, 4, WIDTH)
    for found, chances in zip(Heads({"q": classes}, weights, bias).read(other), model.predict_proba(other), strict=True):
        assert found["q"] == pytest.approx(dict(zip(model.classes_, chances, strict=True)), abs=1e-6)


@pytest.mark.models
def test_a_question_of_which_one_option_or_none_was_taught_is_left_out() -> None:
    vectors, labels = example(seed=3, count=40)
    labels = [{**stated, "cloth": "yes"} for stated in labels]
    heads = fit(["cloth", *OPTIONS, "alarm"], vectors, labels)
    assert list(heads.options) == list(OPTIONS)
    assert list(heads.read(vectors[:1])[0]) == list(OPTIONS)


@pytest.mark.models
def test_only_options_that_were_taught_are_given() -> None:
    vectors, labels = example(seed=3, count=60)
    kept = [row for row, stated in enumerate(labels) if stated["irregularity"] != "fire"]
    heads = fit(OPTIONS, vectors[kept], [labels[row] for row in kept])
    assert set(heads.options["irregularity"]) == {"tea", ""}
    assert {name: set(of_one) for name, of_one in heads.options.items() if name != "irregularity"} == {
        "spilled": {"yes", "no", ""},
        "who": {"north", ""},
    }
