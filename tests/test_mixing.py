from __future__ import annotations

import pytest

from index.lessons import IRREGULARITY
from rag import mixing as mixing_module
from rag.mixing import LEAST, Mixing, read_text
from tests.fakes import FakeEmbedder

HEADS = {IRREGULARITY: {"tea": 0.5, "fire": 0.25, "": 0.25}, "who": {"north": 0.8, "": 0.2}}
WORDS = {IRREGULARITY: {"tea": 0.25, "fire": 0.75}}


def test_probabilities_are_multiplied_as_powers_and_scaled() -> None:
    mixed = Mixing((1.0, 1.0), (1.0, 1.0)).mix(HEADS, {**WORDS, "who": {"north": 0.5, "": 0.5}})
    total = 0.5 * 0.25 + 0.25 * 0.75 + 0.25 * LEAST
    assert mixed[IRREGULARITY] == pytest.approx({"tea": 0.125 / total, "fire": 0.1875 / total, "": 0.25 * LEAST / total})
    assert mixed["who"] == pytest.approx({"north": 0.8, "": 0.2})


def test_the_irregularity_and_facts_have_exponents_of_their_own() -> None:
    mixed = Mixing((0.0, 1.0), (2.0, 1.0)).mix(HEADS, WORDS)
    assert mixed[IRREGULARITY] == pytest.approx(
        {"tea": 0.25 / (1 + LEAST), "fire": 0.75 / (1 + LEAST), "": LEAST / (1 + LEAST)}
    )
    assert mixed["who"]["north"] == pytest.approx(0.64 / 0.68)


def test_a_question_that_the_words_do_not_know_is_taken_from_the_heads() -> None:
    assert Mixing((1.0, 1.0), (1.0, 1.0)).mix(HEADS, None)[IRREGULARITY] == pytest.approx(HEADS[IRREGULARITY])


class _Heads(FakeEmbedder):
    def read(self, text: str):
        return self.encode([text], "query"), HEADS


class _Words:
    def read(self, text: str) -> dict[str, dict[str, float]]:
        return WORDS


def test_without_a_mixing_or_words_the_heads_alone_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixing_module, "lexical", _Words)
    assert read_text(_Heads(), "tea", None)[1] == HEADS
    mixed = read_text(_Heads(), "tea", Mixing((0.0, 1.0), (1.0, 0.0)))[1]
    assert mixed is not None
    assert mixed[IRREGULARITY]["fire"] == pytest.approx(0.75 / (1 + LEAST))
    monkeypatch.setattr(mixing_module, "lexical", lambda: None)
    alone = read_text(_Heads(), "tea", Mixing((1.0, 1.0), (1.0, 0.0)))[1]
    assert alone is not None
    assert alone[IRREGULARITY] == pytest.approx(HEADS[IRREGULARITY])


def test_an_embedder_without_heads_reads_nothing() -> None:
    assert read_text(FakeEmbedder(), "tea", Mixing((1.0, 1.0), (1.0, 1.0)))[1] is None
