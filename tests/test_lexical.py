from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from index.errors import ModelError
from index.lessons import IRREGULARITY, Lessons, Taught
from index.stories import is_held_out
from index.trained_part import FILE
from rag.lexical import PATH, lexical, load, train

pytestmark = pytest.mark.models

TEA = ["tea was spilled over the cards", "she spilled her tea on the table", "a cup of tea fell over"]
FIRE = ["the curtain caught fire", "there was a fire in the kitchen", "smoke and fire everywhere"]
NORTH = ["north spilled it", "it was north who did it"]
SOUTH = ["south spilled it", "it was south who did it"]


def lessons() -> Lessons:
    questions = {
        IRREGULARITY: Taught("What happened?", {"tea": TEA, "fire": FIRE, "": []}),
        "who": Taught("Who?", {"north": NORTH, "south": SOUTH, "": []}),
        "never": Taught("Never taught?", {"yes": [], "": []}),
    }
    phrases = [(TEA, {IRREGULARITY: "tea", "who": ""}), (FIRE, {IRREGULARITY: "fire", "who": ""})]
    return Lessons(questions, {}, [*phrases, (NORTH, {"who": "north"}), (SOUTH, {"who": "south"})])


def test_it_tells_what_words_tell_and_knows_nothing_of_what_was_not_taught() -> None:
    made = train(lessons(), {})
    told = made.read("north spilled tea")
    assert set(told) == {IRREGULARITY, "who"}
    assert max(told[IRREGULARITY], key=told[IRREGULARITY].__getitem__) == "tea"
    assert max(told["who"], key=told["who"].__getitem__) == "north"
    assert all(sum(options.values()) == pytest.approx(1.0) for options in told.values())


def test_two_options_are_told_apart_by_one_row_of_the_library() -> None:
    fire = train(lessons(), {}).read("fire fire fire")[IRREGULARITY]
    assert set(fire) == {"tea", "fire"}
    assert fire["fire"] > 0.5 > fire["tea"]


def test_what_is_stored_reads_the_same(tmp_path: Path) -> None:
    made = train(lessons(), {})
    made.save(tmp_path / "words.npz")
    again = load(tmp_path / "words.npz")
    for question, options in made.read("a fire at the table of south").items():
        assert again.read("a fire at the table of south")[question] == pytest.approx(options, abs=0.01)


def test_a_line_is_learned_as_it_is_searched_and_one_held_out_is_not() -> None:
    told = Lessons(lessons().questions, {"чай": {IRREGULARITY: "fire"}}, lessons().phrases)
    plain, translated = train(told, {}), train(told, {"чай": "чай tea"})
    assert translated.read("tea")[IRREGULARITY]["fire"] > plain.read("tea")[IRREGULARITY]["fire"]
    held = next(text for k in range(1000) if is_held_out(text := f"{k} " + "the smoke was everywhere " * 6))
    with_held = Lessons(lessons().questions, {held: {IRREGULARITY: "tea"}}, lessons().phrases)
    told = [train(one, {}).read("smoke")[IRREGULARITY]["tea"] for one in (with_held, lessons())]
    assert np.isclose(*told)


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04 nothing"])
def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "words.npz").write_bytes(text)
    with pytest.raises(ModelError, match=r"words\.npz is damaged"):
        load(tmp_path / "words.npz")


def test_the_bundled_weights_know_revokes_from_claims() -> None:
    reader = lexical()
    assert reader is not None
    assert PATH.stat().st_size + FILE.stat().st_size < 30_000_000, (
        "what was trained comes with the program: both files together"
    )
    told = reader.read("East did not follow suit and had a heart in his hand, found two tricks later")[IRREGULARITY]
    assert sorted(told, key=told.__getitem__)[-1].startswith("revoke")
    told = reader.read("Declarer put his cards on the table and said the rest are mine, forgetting a trump")[IRREGULARITY]
    assert sorted(told, key=told.__getitem__)[-1] == "claim"
