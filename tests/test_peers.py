"""The questions that peers are asked, and how their answers are kept and measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ir_measures")

from eval import peers
from eval.answers import Answered, citation_precision, cited, measures, provenance
from eval.gold import Gold, of_split, read_gold
from eval.kept import folder
from eval.peers import Peer, _as_answer, ask_peer, peer_questions
from index.books import DEFAULT_BOOK
from index.errors import ContractError
from tests.test_gold import RIGHT

GOLD = [Gold(**{**RIGHT, "id": f"x-{k}", "question": f"West bid too low {k}"}) for k in (1, 2)]


def test_the_questions_are_twenty_english_and_ten_russian_ones_of_the_dev_split() -> None:
    found = peer_questions()
    assert Counter(one.lang for one in found) == {"en": 20, "ru": 10}
    assert len({one.id for one in found}) == 30
    assert {one.book for one in found} == {DEFAULT_BOOK}
    dev = {one.id for one in of_split(read_gold(), "dev")}
    assert {one.id for one in found} <= dev


@pytest.mark.parametrize("content", [None, "", "5", "- [x-1, 2", "- nobody-1"])
def test_a_damaged_list_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None) -> None:
    path = tmp_path / "peers.yaml"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setattr(peers, "QUESTIONS", path)
    monkeypatch.setattr(peers, "read_gold", lambda: tuple(GOLD))
    with pytest.raises(ContractError, match=r"^peers\.yaml is damaged \([^\n]+\); restore the file\.$"):
        peer_questions()


def test_a_peer_cites_the_numbers_in_its_text() -> None:
    answer = _as_answer("Law 27B1 applies; see 64A1, and 27B1 again. 4S is a bid.", ["72C", "16B"], 1500.0)
    assert answer["cites"] == ["27B1", "64A1"]
    assert [law["id"] for law in answer["laws"]] == ["72C", "16B"]


@pytest.mark.parametrize(("sources", "cites"), [(["27A1", "23A", "64A1"], ["27A1", "23A"]), (["27A1"], ["27A1"]), ([], [])])
def test_a_peer_that_names_none_cites_its_two_best_sources(sources: list[str], cites: list[str]) -> None:
    assert _as_answer("The bid may be accepted.", sources, 1.0)["cites"] == cites


def test_the_answer_of_a_peer_can_be_measured_like_ours() -> None:
    answer = _as_answer("You may accept it: 27A1 and 93Z.", ["27A1", "23A"], 1500.0)
    one = Answered(GOLD[0].model_copy(update={"must_cite": [["27A1"]], "may_cite": []}), answer)
    assert [str(clause) for clause in cited(answer)][:1] == ["27A1"]
    assert provenance(one)[0] == 1.0
    assert citation_precision(one)[0] == 1.0
    found = measures([one])
    assert found["seconds to the answer"].value == found["seconds to the first sentence"].value == 1.5
    assert found["citation recall"].value == 1.0
    assert found["irregularity"].hits == 0


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """How often a peer was loaded, and the questions it was asked."""
    seen: list[Any] = []

    def load(model: Path, embedder: Path) -> Peer:
        seen.append((model.name, embedder.name))

        def answer(question: str) -> tuple[str, Sequence[str]]:
            seen.append(question)
            return "27A1", ["27A1"]

        return answer

    monkeypatch.setitem(peers.PEERS, "a peer", load)
    return seen


def ask(gold: Sequence[Gold] = GOLD, model: str = "m.gguf", base_hash: str = "h", name: str = "a peer") -> list[Answered]:
    return list(ask_peer(name, gold, Path(model), Path("e"), base_hash))


def test_a_peer_is_loaded_once_and_only_when_an_answer_is_not_kept(loads: list[Any]) -> None:
    first = ask(GOLD[:1])
    assert loads == [("m.gguf", "e"), GOLD[0].question]
    again = ask()
    assert loads[2:] == [("m.gguf", "e"), GOLD[1].question]
    assert again[0] == first[0]
    assert [one.gold for one in again] == GOLD
    assert ask() == again
    assert len(loads) == 4
    assert [path.suffix for path in sorted(folder().iterdir())] == [".json", ".json"]


@pytest.mark.parametrize("change", [{"model": "n.gguf"}, {"base_hash": "i"}, {"name": "another"}])
def test_another_model_embedder_or_peer_is_asked_anew(
    loads: list[Any], monkeypatch: pytest.MonkeyPatch, change: dict[str, str]
) -> None:
    monkeypatch.setitem(peers.PEERS, "another", peers.PEERS["a peer"])
    ask(GOLD[:1])
    ask(GOLD[:1], **change)
    assert loads.count(GOLD[0].question) == 2
