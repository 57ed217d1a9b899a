from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from index.embedder import Vectors
from index.errors import ContractError
from index.terms import with_terms
from rag.calibration import Calibration
from rag.desk import Ask, Desk, Update, answer, answer_whole
from rag.reading import Thresholds
from rag.ruling import AskedFact, Ruling, Sentence, State, Turn, state_from_json, state_to_json, to_json
from rag.strings import strings
from tests.fakes import FakeBackend, FakeEmbedder
from tests.invented import LIMITS, Chances, heard
from tests.made import ACCEPT, KEEP_IT, make_book

STORY = "North bid too low over the pot"
UNRELATED = "South knocked a cup down"
"""Shares no word with the small book, so the book does not cover it."""
TEA = {"tea": 0.75, "dry": 0.125, "mop": 0.0625}
DECK = heard(TEA, spilled={"yes": 0.9}, who={"north": 0.8})
"""Leads to a new deck."""
KEYS = [
    "question",
    "lang",
    "book",
    "edition",
    "status",
    "answer",
    "sentences",
    "cites",
    "laws",
    "ask",
    "procedure",
    "then",
    "state",
    "model",
    "timings",
]
"""Of ``tablelaw ask --json``, as the design promises them."""


class ListeningEmbedder(FakeEmbedder):
    """Reads of each text what it was told to; ``heard`` are the texts it was given to read."""

    def __init__(self, told: Mapping[str, Chances] | None) -> None:
        super().__init__()
        self.told = told
        self.heard: list[str] = []

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        self.heard.append(text)
        return self.encode([text], "query"), self._told(text)

    def _told(self, text: str) -> Chances | None:
        """A text that goes on with a case is searched with the question before it; of the two together nothing is told."""
        if self.told is None or text in self.told:
            return None if self.told is None else self.told[text]
        assert any(text.startswith(f"{one} ") for one in self.told), text
        return heard({})


pytestmark = pytest.mark.usefixtures("invented")


@pytest.fixture(autouse=True)
def small(small_book: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The small book is the one whose clauses rulings show: the bundled ones take a second to read."""
    monkeypatch.setattr("rag.ruled.DEFAULT_BOOK", small_book)
    monkeypatch.setattr("index.wording.list_books", lambda: (small_book,))
    calibrate(monkeypatch, LIMITS)
    return small_book


def calibrate(monkeypatch: pytest.MonkeyPatch, reading: Thresholds | None, floor: float = 0.2) -> None:
    made = Calibration(FakeEmbedder.hash, floor, reading=reading)
    monkeypatch.setattr("rag.desk.calibration_for", lambda sha256: made if sha256 == FakeEmbedder.hash else None)


def desk(told: Mapping[str, Chances] | None, text: str | None = None) -> Desk:
    """A desk whose heads read what is told, and whose model writes the text; no model for ``None``."""
    return Desk(ListeningEmbedder(told), None if text is None else FakeBackend(text))


def put(told: Mapping[str, Chances] | None, question: str = STORY, **given: str) -> Update:
    return answer_whole(desk(told), Ask(question, "small-2017-en", facts=given))


def ids(ruling: Ruling) -> list[str]:
    return [law.id for law in ruling.laws]


def facts(ruling: Ruling) -> dict[str, Any]:
    assert ruling.procedure is not None
    return dict(ruling.procedure["facts"])


def test_a_story_is_ruled_by_its_procedure() -> None:
    update = put({STORY: DECK})
    ruling = update.ruling
    assert (update.done, update.notice) == (True, "")
    assert (ruling.question, ruling.lang, ruling.book, ruling.edition) == (STORY, "en", "small-2017-en", "2017")
    assert (ruling.status, ruling.model, ruling.ask) == ("ruling", "none", ())
    assert ruling.answer == "A new deck is brought. West may choose its colour."
    assert ruling.sentences == (
        Sentence("A new deck is brought.", ("27B1",), "now"),
        Sentence("West may choose its colour.", ("27A1",), "options"),
        Sentence("Count it after the board.", ("27B1",), "later"),
        Sentence("Please wait.", ("27A1",), "say"),
    )
    assert ruling.cites == ("27B1", "27A1")
    assert ruling.procedure == {
        "id": "tea",
        "facts": {
            "spilled": {"value": "yes", "from": "read", "confidence": 0.9},
            "who": {"value": "north", "from": "read", "confidence": 0.8},
        },
        "path": ["spilled", "who"],
    }
    assert ruling.candidates == ("tea", "dry", "mop", "fire")
    assert ruling.state == State(
        "small-2017-en", "en", (Turn(STORY, ruling.answer, ("27B1", "27A1")),), {"irregularity": "tea"}, STORY
    )


def test_what_follows_stands_in_then_with_a_ruling_and_a_fact_to_ask() -> None:
    dry, mop = put({STORY: DECK}).ruling.then
    assert (dry.question, dry.status, dry.answer, dry.cites) == ("The dry", "ruling", "Play on.", ("27A1",))
    assert facts(dry) == {"spilled": {"value": "no", "from": "read", "confidence": 1.0}}
    assert (mop.status, mop.answer, mop.sentences, mop.cites) == ("ask", "Is there a cloth?", (), ())
    assert mop.ask == (AskedFact("cloth", "Is there a cloth?", ("yes", "no")),)


def test_the_clauses_of_the_ruling_lead_the_law_cards_and_none_stands_twice() -> None:
    ruling = put({STORY: DECK}).ruling
    assert ids(ruling)[:2] == ["27B1", "27A1"]
    assert len(ids(ruling)) == len(set(ids(ruling))) > 2
    assert [law.score for law in ruling.laws][:2] == [1.0, 1.0]
    assert ruling.laws[1].text == ACCEPT
    assert ruling.laws[1].heading == "Law 27 Insufficient bid > 27A When it is accepted > 27A1"


def test_the_law_cards_come_first_without_a_ruling() -> None:
    made = desk({STORY: DECK})
    first, whole = answer(made, Ask(STORY, "small-2017-en"))
    assert (first.done, first.ruling.procedure, first.ruling.sentences) == (False, None, ())
    assert first.ruling.laws
    assert whole.done
    timings = whole.ruling.timings
    assert timings.first_token_ms is not None
    assert timings.model_first_token_ms is None
    assert 0 <= timings.search_ms <= timings.first_token_ms <= timings.total_ms


def test_a_judgement_states_what_to_do_and_is_none_of_the_law() -> None:
    ruling = put({STORY: heard(TEA, spilled={"yes": 0.9})}).ruling
    assert (ruling.status, ruling.answer, ruling.cites) == ("judgement", "Record how wet it is.", ("27B1",))
    assert facts(ruling)["who"] == {"value": "south", "from": "read", "confidence": None}, "presumed"
    assert ruling.then == ()


def test_a_fact_that_the_story_does_not_tell_is_asked() -> None:
    ruling = put({STORY: heard(TEA, spilled={"yes": 0.7})}).ruling
    assert (ruling.status, ruling.answer, ruling.sentences, ruling.cites) == ("ask", "Has tea been spilled?", (), ())
    assert ruling.ask == (AskedFact("spilled", "Has tea been spilled?", ("yes", "no")),)
    assert ruling.procedure == {"id": "tea", "facts": {}, "path": []}
    assert ids(ruling)[0] == "27A1", "what was found, not the headings of the procedure's laws"


def test_a_ruling_is_in_the_language_of_the_question() -> None:
    text = "Север опрокинул чайник, заявка ниже"
    searched = with_terms(text, "ru", "en")
    assert searched != text, "it is read with the book's terms"
    ruled = put({searched: DECK}, text).ruling
    assert (ruled.lang, ruled.answer) == ("ru", "Приносят новую колоду. Цвет выбирает Запад.")
    assert [second.answer for second in ruled.then] == ["Играйте дальше.", "Есть тряпка?"]
    asked = put({searched: heard({"tea": 0.25, "fire": 0.375})}, text, irregularity="fire").ruling
    assert asked.answer == "Кто это сделал?"


def test_an_irregularity_that_is_not_told_surely_is_offered_beside_the_law() -> None:
    ruling = put({KEEP_IT: heard({"fire": 0.375, "tea": 0.25, "dry": 0.125, "noise": 0.0625, "mop": 0.03125})}, KEEP_IT).ruling
    assert (ruling.status, ruling.procedure, ruling.ask) == ("quote", None, ())
    assert ruling.candidates == ("fire", "tea", "dry", "noise")
    assert (ruling.state.story, ruling.state.facts) == (KEEP_IT, {})
    assert ids(ruling)[0] == "27A1"
    assert ruling.sentences, "the law is quoted meanwhile"


def test_the_irregularity_is_not_asked_where_the_book_does_not_cover_the_question() -> None:
    ruling = put({UNRELATED: heard({"tea": 0.375, "fire": 0.25})}, UNRELATED).ruling
    assert (ruling.status, ruling.ask) == ("not-covered", ())
    assert ruling.state.facts == {}


@pytest.mark.parametrize("told", [DECK, heard(TEA), heard({})], ids=["ruled", "asked", "nothing"])
def test_what_heads_alone_make_of_a_question_that_the_book_does_not_cover_is_not_ruled(told: Chances) -> None:
    ruling = put({UNRELATED: told}, UNRELATED).ruling
    assert (ruling.status, ruling.procedure, ruling.sentences, ruling.ask) == ("not-covered", None, (), ())
    assert (ruling.state.facts, ruling.state.story) == ({}, "")


@pytest.mark.parametrize(
    ("given", "status"),
    [({"irregularity": "tea"}, "ask"), ({"spilled": "no"}, "ruling"), ({"irregularity": "none"}, "not-covered")],
)
def test_what_is_given_is_ruled_whatever_search_finds(given: dict[str, str], status: str) -> None:
    assert put({UNRELATED: heard(TEA)}, UNRELATED, **given).ruling.status == status


def test_a_case_goes_on_whatever_search_finds_and_a_new_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk({STORY: heard(TEA), "yes": heard({}, spilled={"yes": 0.9})})
    first = answer_whole(made, Ask(STORY, "small-2017-en")).ruling
    calibrate(monkeypatch, LIMITS, floor=1.1)
    assert answer_whole(made, Ask("yes", state=first.state)).ruling.status == "judgement"
    assert answer_whole(made, Ask("yes", "small-2017-en")).ruling.status == "not-covered"


@pytest.mark.parametrize(
    ("told", "given"),
    [(heard({"tea": 0.25}), {}), (DECK, {"irregularity": "none"})],
    ids=["none is likeliest", "none is chosen"],
)
def test_where_no_procedure_rules_the_law_is_quoted_or_the_model_asked(told: Chances, given: dict[str, str]) -> None:
    quoted = put({KEEP_IT: told}, KEEP_IT, **given)
    assert (quoted.ruling.status, quoted.notice) == ("quote", strings("en")["quote_no_model"])
    assert (quoted.ruling.answer.startswith(ACCEPT), quoted.ruling.procedure, quoted.ruling.ask) == (True, None, ())
    assert quoted.ruling.candidates == ()
    written = answer_whole(desk({KEEP_IT: told}, f"{ACCEPT} [27A1]"), Ask(KEEP_IT, "small-2017-en", facts=given)).ruling
    assert (written.status, written.answer, written.model, written.procedure) == ("ruling", ACCEPT, "fake-model", None)
    assert put({UNRELATED: told}, UNRELATED, **given).ruling.status == "not-covered"


def test_a_procedure_rules_without_asking_the_model() -> None:
    made = desk({STORY: DECK}, f"{ACCEPT} [27A1]")
    ruling = answer_whole(made, Ask(STORY, "small-2017-en")).ruling
    assert (ruling.status, ruling.model) == ("ruling", "none")
    assert isinstance(made.backend, FakeBackend)
    assert made.backend.prompts == []


@pytest.mark.parametrize("state", ["not calibrated for reading", "another embedder", "no heads"])
def test_nothing_is_taken_as_told_without_thresholds_or_heads(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    made = desk(None if state == "no heads" else {KEEP_IT: DECK})
    if state == "not calibrated for reading":
        calibrate(monkeypatch, None)
    if state == "another embedder":
        monkeypatch.setattr("rag.desk.calibration_for", lambda sha256: None)
    assert answer_whole(made, Ask(KEEP_IT, "small-2017-en")).ruling.status == "quote"
    assert isinstance(made.embedder, ListeningEmbedder)
    assert made.embedder.heard == [KEEP_IT], "for its vector, in one pass"
    chosen = Ask(KEEP_IT, "small-2017-en", facts={"irregularity": "tea", "spilled": "no"})
    ruling = answer_whole(made, chosen).ruling
    assert (ruling.status, ruling.answer) == ("ruling", "Play on.")
    assert facts(ruling) == {"spilled": {"value": "no", "from": "stated", "confidence": 1.0}}


def test_a_ruling_names_the_book_that_was_asked(home: Path) -> None:
    other = make_book(home, "other-2017-en")
    ruling = answer_whole(desk({STORY: DECK}), Ask(STORY, other)).ruling
    assert (ruling.status, ruling.book, ruling.state.book) == ("ruling", other, other)


def test_procedures_rule_by_the_laws_in_force_only(home: Path) -> None:
    old = make_book(home, "old-1987-en", edition="1987", in_force=False)
    made = desk({KEEP_IT: DECK})
    assert answer_whole(made, Ask(KEEP_IT, old)).ruling.status == "quote"
    with pytest.raises(ContractError) as caught:
        answer_whole(made, Ask(KEEP_IT, old, facts={"spilled": "yes"}))
    assert str(caught.value) == "Procedures rule by the Laws of 2017 only; leave --fact out."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"irregularity": "coffee"}, 'There is no procedure "coffee"'),
        ({"colour": "red"}, 'There is no fact "colour"'),
        ({"spilled": "maybe"}, 'spilled cannot be "maybe"'),
    ],
)
def test_what_is_unknown_is_an_error(given: dict[str, str], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        put({STORY: DECK}, **given)


def test_an_unknown_fact_is_refused_before_anything_is_shown() -> None:
    with pytest.raises(ContractError, match="colour"):
        next(answer(desk({STORY: DECK}), Ask(STORY, "small-2017-en", facts={"colour": "red"})))


# A case


def test_a_case_goes_from_the_irregularity_to_the_fact_to_the_ruling_with_its_state_as_json() -> None:
    told = {KEEP_IT: heard({"tea": 0.375, "fire": 0.25}), "yes": heard({}), "North": heard({}, who={"north": 0.8})}
    made = desk(told)
    first = answer_whole(made, Ask(KEEP_IT, "small-2017-en")).ruling
    assert (first.status, first.candidates[:2]) == ("quote", ("tea", "fire"))
    second = answer_whole(made, Ask(KEEP_IT, state=again(first.state), facts={"irregularity": "tea"})).ruling
    assert (second.status, second.ask[0].fact, second.state.facts) == ("ask", "spilled", {"irregularity": "tea"})
    third = answer_whole(made, Ask("yes", state=again(second.state), facts={"spilled": "yes"})).ruling
    assert (third.status, third.book) == ("judgement", "small-2017-en")
    assert facts(third)["spilled"] == {"value": "yes", "from": "answered", "confidence": 1.0}
    last = answer_whole(made, Ask("North", state=again(third.state))).ruling
    assert (last.status, last.answer) == ("ruling", "A new deck is brought. West may choose its colour.")
    assert facts(last)["who"] == {"value": "north", "from": "changed", "confidence": 0.8}
    assert last.state.facts == {"irregularity": "tea", "spilled": "yes", "who": "north"}
    assert [turn.question for turn in last.state.turns] == [KEEP_IT, KEEP_IT, "yes", "North"]


def again(state: State) -> State:
    """The state as it comes back from a file."""
    return state_from_json(json.loads(json.dumps(state_to_json(state))))


def test_how_a_fact_is_known_may_come_with_it() -> None:
    ask = Ask(STORY, "small-2017-en", facts={"irregularity": "tea", "spilled": "no"}, sources={"spilled": "changed"})
    ruling = answer_whole(desk({STORY: DECK}), ask).ruling
    assert facts(ruling)["spilled"] == {"value": "no", "from": "changed", "confidence": 1.0}


def test_one_desk_keeps_cases_apart() -> None:
    made = desk({STORY: heard(TEA), "yes": heard({})})
    ask = Ask(STORY, "small-2017-en")
    answered = answer_whole(made, Ask(STORY, "small-2017-en", facts={"spilled": "no"})).ruling
    assert answered.status == "ruling"
    fresh = answer_whole(made, ask).ruling
    assert (fresh.status, fresh.state.facts, len(fresh.state.turns)) == ("ask", {"irregularity": "tea"}, 1)


def test_a_case_does_not_go_back_to_an_irregularity_that_was_refused() -> None:
    made = desk({KEEP_IT: DECK, "none of these": heard({}), "and who calls next over the bid?": heard({})})
    first = answer_whole(made, Ask(KEEP_IT, "small-2017-en")).ruling
    second = answer_whole(made, Ask("none of these", state=first.state, facts={"irregularity": "none"})).ruling
    assert second.status == "quote"
    assert (second.state.facts, second.state.story) == ({}, "")
    third = answer_whole(made, Ask("and who calls next over the bid?", state=second.state)).ruling
    assert third.procedure is None


# The form that others rely on


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (DECK, "ruling"),
        (heard(TEA, spilled={"yes": 0.9}), "judgement"),
        (heard(TEA), "ask"),
        (heard({"tea": 0.375, "fire": 0.25}), "quote"),
        (heard({}), "quote"),
    ],
)
def test_the_json_has_the_promised_keys_in_their_order_and_no_others(told: Chances, status: str) -> None:
    data = json.loads(json.dumps(to_json(put({KEEP_IT: told}, KEEP_IT).ruling)))
    assert data["status"] == status
    check_keys(data)
    assert len(data["then"]) == (2 if told is DECK else 0)
    assert data["state"]["turns"] == [{"question": KEEP_IT, "answer": data["answer"], "cites": data["cites"]}]


def check_keys(data: dict[str, Any]) -> None:
    """The form of an answer, and of those that follow it."""
    assert list(data) == KEYS
    assert list(data["timings"]) == ["search_ms", "first_token_ms", "model_first_token_ms", "total_ms"]
    assert list(data["state"]) == ["version", "book", "lang", "turns", "facts", "story"]
    for sentence in data["sentences"]:
        assert list(sentence) == ["text", "cites", "part"]
        assert sentence["part"] in {"now", "options", "later", "say"}
        assert set(sentence["cites"]) <= set(data["cites"])
    for law in data["laws"]:
        assert list(law) == ["id", "heading", "text", "score", "book", "source"]
    for asked in data["ask"]:
        assert list(asked) == ["fact", "question", "options"]
    if data["procedure"] is not None:
        assert list(data["procedure"]) == ["id", "facts", "path"]
        assert list(data["procedure"]["facts"]) == data["procedure"]["path"]
        for fact in data["procedure"]["facts"].values():
            assert list(fact) == ["value", "from", "confidence"]
            assert fact["from"] in {"stated", "read", "answered", "changed"}
    for second in data["then"]:
        check_keys(second)
