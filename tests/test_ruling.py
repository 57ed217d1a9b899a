from __future__ import annotations

import json
from typing import Any

import pytest

from index.errors import ContractError
from rag.ruling import AskedFact, Sentence, State, Turn, state_from_json, state_to_json, to_json
from tests.made import ACCEPT, make_ruling

RULING_KEYS = "question lang book edition status answer sentences cites laws ask procedure then state model timings".split()
STATE = State("laws-2017-en", "ru", (Turn("Кто ходит?", "West.", ("54A", "53")), Turn("И ещё?", "", ())), {"trick": "6"})


def as_read(ruling: Any) -> dict[str, Any]:
    """The JSON as somebody else reads it."""
    return json.loads(json.dumps(to_json(ruling), ensure_ascii=False))


def test_the_keys_of_a_ruling_are_those_of_the_contract_in_its_order() -> None:
    assert list(as_read(make_ruling())) == RULING_KEYS


def test_the_keys_of_its_parts_are_those_of_the_contract_in_its_order() -> None:
    data = as_read(make_ruling(ask=(AskedFact("faced", "Was the card faced?", ("yes", "no")),)))
    assert list(data["sentences"][0]) == ["text", "cites", "part"]
    assert list(data["laws"][0]) == ["id", "heading", "text", "score", "book", "source"]
    assert list(data["ask"][0]) == ["fact", "question", "options"]
    assert set(data["timings"]) == {"search_ms", "first_token_ms", "model_first_token_ms", "total_ms"}


def test_the_timings_are_in_the_order_of_the_contract() -> None:
    timings = as_read(make_ruling())["timings"]
    assert list(timings) == ["search_ms", "first_token_ms", "model_first_token_ms", "total_ms"]


def test_the_values_are_there() -> None:
    data = as_read(make_ruling(sentences=(Sentence(ACCEPT, ("27A1", "27B"), "options"),)))
    assert data["sentences"] == [{"text": ACCEPT, "cites": ["27A1", "27B"], "part": "options"}]
    assert (data["status"], data["procedure"], data["ask"]) == ("ruling", None, [])


def test_a_second_irregularity_has_the_same_shape() -> None:
    data = as_read(make_ruling(then=(make_ruling(question="and a revoke"),)))
    assert list(data["then"][0]) == RULING_KEYS
    assert data["then"][0]["question"] == "and a revoke"
    assert data["then"][0]["state"]["version"] == 1


@pytest.mark.parametrize("state", [STATE, State("laws-2017-en", "auto")])
def test_a_state_survives_being_written_and_read(state: State) -> None:
    assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state


def test_the_state_of_a_ruling_can_be_read_back() -> None:
    assert state_from_json(as_read(make_ruling(state=STATE))["state"]) == STATE


@pytest.mark.parametrize("data", [None, [], "a case", 5, {}, {"version": 1}])
def test_what_is_no_state_is_told_so(data: Any) -> None:
    with pytest.raises(ContractError, match="not one that tablelaw wrote; start a new case"):
        state_from_json(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [("turns", 5), ("turns", ["a"]), ("turns", [{"question": "q"}]), ("facts", None), ("facts", ["a"])],
)
def test_a_damaged_state_is_told_so(key: str, value: Any) -> None:
    with pytest.raises(ContractError, match="not one that tablelaw wrote; start a new case"):
        state_from_json({**state_to_json(STATE), key: value})


def test_a_state_of_another_version_is_told_so() -> None:
    with pytest.raises(ContractError, match="of version 2, not 1"):
        state_from_json({**state_to_json(STATE), "version": 2})
