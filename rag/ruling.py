"""The answer object: a `Ruling` and its parts, and its JSON form (the contract of ``tablelaw ask --json``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from index.errors import BadQuestion, ContractError
from index.wording import Shown
from rag.question import plain, read_question

NO_MODEL = "none"
"""Name of the model where none wrote the answer."""
Status = Literal["ruling", "judgement", "ask", "quote", "not-covered"]
Part = Literal["now", "options", "later", "say"]
STATE_VERSION = 1


@dataclass(frozen=True)
class Sentence:
    """One checked sentence and the ids of the clauses it rests on."""

    text: str
    cites: tuple[str, ...]
    part: Part = "now"


@dataclass(frozen=True)
class LawCard:
    """A clause as shown beside the answer. ``source`` says whose wording it is: restated, imported or commentary."""

    id: str
    heading: str
    text: str
    score: float
    book: str
    source: str


def card(law: Shown, score: float) -> LawCard:
    """The law card of a clause."""
    book, clause = law.book, law.clause
    return LawCard(str(clause.id), book.heading_path(clause), clause.text, score, book.id, book.wording)


@dataclass(frozen=True)
class AskedFact:
    """A fact that is still to be asked, with its options."""

    fact: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Timings:
    """Milliseconds from the question to each event; ``None`` for what did not happen."""

    search_ms: float
    first_token_ms: float | None
    model_first_token_ms: float | None
    total_ms: float


@dataclass(frozen=True)
class Turn:
    """An earlier question of the same case and what was answered."""

    question: str
    answer: str
    cites: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """What a case carries from one question to the next; travels as JSON in ``--state FILE``.

    ``facts`` were given, answered or changed (``irregularity`` among them); all others are read from ``story``.
    """

    book: str
    lang: str
    turns: tuple[Turn, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    story: str = ""


@dataclass(frozen=True)
class Ruling:
    """The answer to one question. While it grows, each snapshot holds what has been checked so far and nothing else.

    ``candidates`` are the procedures that may rule, the likeliest first: for the page, not part of the contract.
    """

    question: str
    lang: str
    book: str
    edition: str
    status: Status
    answer: str
    sentences: tuple[Sentence, ...]
    cites: tuple[str, ...]
    laws: tuple[LawCard, ...]
    ask: tuple[AskedFact, ...]
    procedure: dict[str, Any] | None
    then: tuple[Ruling, ...]
    state: State
    model: str
    timings: Timings
    candidates: tuple[str, ...] = ()


def to_json(ruling: Ruling) -> dict[str, Any]:
    """The contract's form, keys in its order."""
    data = asdict(ruling)
    del data["candidates"]
    data["state"] = state_to_json(ruling.state)
    data["then"] = [to_json(second) for second in ruling.then]
    return data


def with_following(ruling: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A ruling in the contract's form, then those that follow it (``then``), and those that follow them."""
    return [ruling, *(below for second in ruling["then"] for below in with_following(second))]


def to_page_json(ruling: Ruling) -> dict[str, Any]:
    """What a case keeps of a ruling: the contract's form and the candidates."""
    return {**to_json(ruling), "candidates": list(ruling.candidates)}


def state_to_json(state: State) -> dict[str, Any]:
    """The form that ``--state FILE`` holds."""
    return {"version": STATE_VERSION, **asdict(state)}


def state_from_json(data: Any) -> State:
    """Read what `state_to_json` wrote. Raises `ContractError` for anything else, such as a question that nobody may ask."""
    try:
        if data["version"] != STATE_VERSION:
            version = str(data["version"])[:20]
            raise ContractError(f"The state is of version {version}, not {STATE_VERSION}; start a new case.")
        turns = tuple(
            Turn(read_question(turn["question"]).text, _text(turn["answer"]), tuple(map(_text, _list(turn["cites"]))))
            for turn in _list(data["turns"])
        )
        facts = {_text(fact): _text(value) for fact, value in data["facts"].items()}
        story = read_question(data["story"]).text if data.get("story") else ""
        return State(_text(data["book"]), _text(data["lang"]), turns, facts, story)
    except (KeyError, TypeError, AttributeError, RecursionError, BadQuestion) as error:
        raise ContractError("The state is not one that tablelaw wrote; start a new case with another file.") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return plain(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(type(value).__name__)
    return value
