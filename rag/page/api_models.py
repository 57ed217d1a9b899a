"""What the API takes and gives, for ``/api/openapi.json``; tests hold the answers against these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from rag.ruling import Part, Status


class Given(BaseModel, extra="forbid"):
    """What is sent: a key that does not exist is a mistake, not nothing."""


class Told(BaseModel, extra="forbid"):
    """What is answered."""


class AskIn(Given):
    """A question of the table."""

    question: str = Field(description="What happened, in plain words, English or Russian.", examples=["East led out of turn"])
    book: str | None = Field(None, description="Law book to use (default: the case's, or the one that is served).")
    lang: str = Field("auto", description="Language of the question and the answer: en, ru, or auto.")
    facts: dict[str, str | int] = Field({}, description="Facts that are known, by their ids; see /api/procedures/{id}.")
    state: dict[str, Any] | None = Field(None, description="`state` of the answer before, to go on with the same case.")
    llm: bool = Field(True, description="Whether the language model may phrase an answer; else the law is quoted.")


class RuleIn(Given):
    """The facts to rule by."""

    facts: dict[str, str | int] = Field({}, description="Facts that are known; the first one missing is asked back.")
    lang: Literal["en", "ru"] = Field("en", description="Language of the ruling.")


class Error(Told):
    """Why there is no answer."""

    error: str = Field(description="One sentence: what is wrong and what to do.")


class SentenceOut(Told):
    """One checked sentence of an answer."""

    text: str
    cites: list[str] = Field(description="Clauses that carry it.")
    part: Part = Field(
        description="now: to be done; options: choices to be offered; later: at the end of play; say: read aloud."
    )


class LawOut(Told):
    """A clause as it is shown beside an answer."""

    id: str
    heading: str
    text: str
    score: float
    book: str
    source: str = Field(description="Whose wording: restated (ours), imported (official), commentary.")


class AskedOut(Told):
    """A fact that must be known first."""

    fact: str
    question: str
    options: list[str]


class KnownOut(Told):
    """What is known of a fact."""

    value: str
    from_: str = Field(alias="from", description="stated, read (from the story), answered or changed.")
    confidence: float | None = Field(description="Probability; null for what is presumed or set by the ruling before.")


class PathOut(Told):
    """The way through a procedure."""

    id: str
    facts: dict[str, KnownOut]
    path: list[str]


class TimingsOut(Told):
    """Milliseconds since the question came in."""

    search_ms: float
    first_token_ms: float | None
    model_first_token_ms: float | None
    total_ms: float


class Answer(Told):
    """A ruling, as `tablelaw ask --json` prints it."""

    question: str
    lang: str
    book: str
    edition: str
    status: Status
    answer: str
    sentences: list[SentenceOut]
    cites: list[str]
    laws: list[LawOut]
    ask: list[AskedOut]
    procedure: PathOut | None
    then: list[Answer] = Field(description="The rulings that follow, for a second irregularity.")
    state: dict[str, Any] = Field(description="Send it with the next question of the same case.")
    model: str
    timings: TimingsOut


class HitOut(Told):
    """A clause found."""

    id: str
    heading: str
    text: str
    score: float


class Found(Told):
    """Clauses found, best first."""

    question: str
    book: str
    hits: list[HitOut]
    search_ms: float


class ClauseOut(Told):
    """A clause of a book."""

    id: str
    heading: str
    text: str
    asked: list[str] = Field(description="Questions of the table that it answers.")
    see: list[str] = Field(description="Clauses that it refers to.")
    complete: bool = Field(description="False when the book has it only in part.")


class Branch(Told):
    """A Law or clause with all below it."""

    book: str
    edition: str
    clauses: list[ClauseOut]


class BookOut(Told):
    """A book on this machine."""

    id: str
    edition: str
    lang: str
    kind: str
    source: str
    licence: str
    title: str
    in_force: bool
    clauses: int


class ProcedureRow(Told):
    """A procedure in the list."""

    id: str
    title: str
    laws: str
    kind: Literal["book", "judgement", "mixed"]
