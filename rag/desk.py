"""The front desk: a question comes in, a growing `Ruling` goes out. Read from here downwards.

question -> search (law cards at once) -> floor ("the book does not cover it") -> model (checked sentences) -> or quotes.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from index.books import DEFAULT_BOOK, EDITION_IN_FORCE, clause_list, read_book
from index.clause_id import ClauseId
from index.embedder import Chances, Embedder, Progress, Vectors
from index.errors import BackendError, ContractError, ModelError
from index.search import Ranking, rank, with_items
from index.store import Say, SearchIndex, open_index
from index.terms import with_terms
from index.types import Book, Clause, Hit
from index.wording import Shown, shown, with_lines, wordings
from rag.backends import Backend, open_backend
from rag.calibration import Calibration, calibration_for
from rag.decide import Decided, check_given, decide
from rag.generate import CONTEXT_CLAUSES, generate
from rag.mixing import read_text
from rag.models import open_embedder
from rag.prior import expected_clauses
from rag.prompt import Material
from rag.question import Question, read_question
from rag.reading import Reading
from rag.rule import From, Outcome
from rag.ruled import to_ruling
from rag.ruling import NO_MODEL, LawCard, Ruling, Sentence, State, Status, Timings, Turn, card
from rag.strings import strings
from rag.turns import Turns

QUOTED_CLAUSES = 2
"""Clauses quoted when there is no generated answer."""
NEAREST_WHEN_NOT_COVERED = 3
"""Cards shown beside "the book does not cover it", in case it does after all."""
EARLIER_QUESTIONS = 2
"""Questions of the same case that the model sees before the new one: more would not fit its context."""


@dataclass(frozen=True)
class Ask:
    """One question as it comes in from the command line, a batch line or the page."""

    question: Any
    book: str | None = None
    lang: str = "auto"
    facts: Mapping[str, str] = field(default_factory=dict)
    state: State | None = None
    sources: Mapping[str, From] = field(default_factory=dict)


@dataclass(frozen=True)
class Update:
    """A snapshot of the answer while it grows; ``notice`` says in one sentence why it only quotes."""

    ruling: Ruling
    done: bool
    notice: str = ""


@dataclass
class Desk:
    """The opened models and indexes; safe to use from several threads (models lock themselves)."""

    embedder: Embedder
    backend: Backend | None
    say: Say | None = None
    progress: Progress | None = None
    _indexes: dict[str, SearchIndex] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.backend.at_once if self.backend else 1)

    def index_of(self, book_id: str) -> SearchIndex:
        """The index of a book, opened (and built if need be) once, opened anew when the book's files change."""
        book = with_lines(read_book(book_id))
        with self._lock:
            index = self._indexes.get(book_id)
            if index is None or index.book.hash != book.hash:
                index = open_index(book, self.embedder, self.say, self.progress)
                _ = index.spelling  # made now, not while somebody waits
                self._indexes[book_id] = index
            return index

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        """The vector of a text as it is searched, and what it tells."""
        calibration = calibration_for(self.embedder.hash)
        return read_text(self.embedder, text, calibration.mixing if calibration else None)


def open_desk(llm: str | None = None, say: Say | None = None, progress: Progress | None = None) -> Desk:
    """Load the embedder and the language model (`open_backend` on ``llm``).

    A default model that cannot be used is told through ``say`` and done without. Raises `ModelError` for the embedder and
    for a model that was asked for.
    """
    embedder = open_embedder()
    try:
        backend = open_backend(llm)
    except ModelError as error:
        if llm is not None:
            raise
        backend = None
        if say:
            say(f"{error} Until then the law is quoted.")
    return Desk(embedder, backend, say, progress)


def find(desk: Desk, text: Any, k: int, book_id: str | None = None, lang: str = "auto") -> tuple[Question, Ranking]:
    """Read a question and search for it. Raises `BadQuestion`, `BookError`, `IndexFault`."""
    read_question(text, lang)  # a bad question is refused before an index is built for it
    index = desk.index_of(book_id or DEFAULT_BOOK)
    question = _read(text, lang, index)
    return question, _search(desk, index, question.search_text, k, question)[0]


def _search(desk: Desk, index: SearchIndex, text: str, k: int, question: Question) -> tuple[Ranking, Chances | None]:
    """The ranking for a text, with what the procedures lead one to expect; and what the text tells."""
    vector, chances = desk.read(text)
    prior = expected_clauses(chances) if index.book.edition == EDITION_IN_FORCE else {}
    return rank(index, text, k, question.named, prior, vector), chances


def answer(desk: Desk, ask: Ask) -> Iterator[Update]:
    """Answer one question: first a snapshot with the law cards, then one a checked sentence, last the whole (``done``).

    Raises `BadQuestion`, `BookError`, `ContractError`, `IndexFault`; a failing model is no error but ends in quotes.
    """
    started = time.perf_counter()
    # A bad question is refused before an index is built for it; from here on it is plain text.
    ask = replace(ask, question=read_question(ask.question, ask.lang).text)
    check_given(ask.facts)
    state = ask.state or State(ask.book or DEFAULT_BOOK, ask.lang)
    index = desk.index_of(ask.book or state.book)
    question = _read(ask.question, ask.lang, index)
    earlier = tuple(turn.question for turn in state.turns[-EARLIER_QUESTIONS:])
    # What is new stands first: the embedder cuts off what is too long at the end.
    told = " ".join([question.search_text, *earlier[-1:]])
    ranking, chances = _search(desk, index, told, CONTEXT_CLAUSES, question)
    hits = with_items(index.book, ranking.hits)
    laws = _as_shown(index.book, hits, question.lang)
    clock = _Clock(started, _ms(started))
    cards = tuple(card(law, hit.score) for law, hit in zip(laws, hits, strict=True))
    draft = _draft(index.book, question, cards, state, desk.backend, clock)
    yield Update(draft, done=False)

    floor = calibration_for(desk.embedder.hash)
    # Who names a clause wants to read it; a case that is being ruled goes on all the same.
    names_law = bool(question.named) and not ask.facts and not state.facts
    decided = None if names_law else _decided(desk, ask, state, index, floor, {told: chances})
    is_ruled = bool(ask.facts or state.facts) and decided is not None and decided.outcome is not None
    if floor and not floor.covers(ranking) and not is_ruled:
        yield _finish(_not_covered(draft), clock)
        return
    if decided and decided.outcome:
        yield _finish(_ruled(draft, decided, decided.outcome), clock)
        return
    # Without a ruling the case carries the story, from which one can be chosen; what was refused does not come back.
    kept = replace(draft.state, facts=dict(decided.facts) if decided else {}, story=decided.story if decided else "")
    draft = replace(draft, state=kept, candidates=decided.candidates if decided else ())
    backend, notice = _usable_backend(desk.backend, index.book, floor, question.lang)
    if backend is None:
        yield _finish(_quote(draft), clock, notice)
        return
    material = _material(index.book, hits, [law.clause for law in laws], question.lang)
    yield from _generated(desk, backend, index.book, question, earlier, draft, material, clock, notice)


def _decided(
    desk: Desk,
    ask: Ask,
    state: State,
    index: SearchIndex,
    calibration: Calibration | None,
    chances_of: dict[str, Chances | None],
) -> Decided | None:
    """What the procedures make of the question, where they are of the book's edition; ``chances_of``: texts read already."""
    thresholds = calibration.reading if calibration else None

    def read(text: str) -> Reading | None:
        told = _read(text, ask.lang, index)
        if thresholds and told.search_text not in chances_of:
            chances_of[told.search_text] = desk.read(told.search_text)[1]
        chances = chances_of.get(told.search_text)
        return Reading(chances, thresholds) if chances and thresholds else None

    if index.book.edition != EDITION_IN_FORCE:
        if ask.facts:
            raise ContractError(f"Procedures rule by the Laws of {EDITION_IN_FORCE} only; leave --fact out.")
        return None
    return decide(ask.question, state, ask.facts, read, ask.sources)


def _ruled(draft: Ruling, decided: Decided, outcome: Outcome) -> Ruling:
    """The draft with what a procedure rules or asks; its clauses lead the law cards."""
    ruling = to_ruling(outcome, draft.lang)
    told = ruling.laws if outcome.leaf else ()  # while a fact is asked, what was found tells more than the headings
    cited = {law.id for law in told}
    laws = (*told, *(law for law in draft.laws if law.id not in cited))
    state = replace(draft.state, facts=dict(decided.facts), story=decided.story)
    return replace(ruling, question=draft.question, book=draft.book, laws=laws, state=state, candidates=decided.candidates)


def answer_whole(desk: Desk, ask: Ask) -> Update:
    """The last snapshot of `answer`."""
    return last(answer(desk, ask))


def last(updates: Iterable[Update]) -> Update:
    """The last of some updates."""
    (update,) = deque(updates, maxlen=1)
    return update


@dataclass
class _Clock:
    started: float
    search_ms: float
    first_token_ms: float | None = None
    model_first_token_ms: float | None = None

    def timings(self) -> Timings:
        return Timings(self.search_ms, self.first_token_ms, self.model_first_token_ms, _ms(self.started))


def _ms(since: float) -> float:
    return round(1000 * (time.perf_counter() - since), 1)


def _read(text: Any, lang: str, index: SearchIndex) -> Question:
    book, question = index.book, read_question(text, lang, index.bm25.knows)
    known = clause_list(book.edition) or {clause.id for clause in book.clauses}
    return replace(
        question,
        search_text=with_terms(index.spelling.mended(question.search_text), question.lang, book.lang),
        named=tuple(clause_id for clause_id in question.named if clause_id in known),
    )


def _usable_backend(backend: Backend | None, book: Book, floor: Calibration | None, lang: str) -> tuple[Backend | None, str]:
    """The backend, or none with the reason in one sentence."""
    text = strings(lang)
    if not book.in_force:
        return None, text["not_in_force"].format(edition=book.edition)
    if backend is None:
        return None, text["quote_no_model"]
    if floor is None:
        return None, text["quote_uncalibrated"]
    return backend, "" if lang == book.lang else text["quote_other_language"]


def _as_shown(book: Book, hits: Sequence[Hit], lang: str) -> list[Shown]:
    """The clauses found, in the official wording where that was imported."""
    books = wordings(book, lang)
    return [shown(books, hit.clause.id) or Shown(hit.clause, book) for hit in hits]


def _material(book: Book, hits: Sequence[Hit], clauses: Sequence[Clause], lang: str) -> Material:
    """What is put before the model: the Law of the clauses that rank highest, whole, and the clauses found."""
    scores: dict[int | None, float] = defaultdict(float)
    for hit in hits:
        scores[hit.clause.id.law] += hit.score
    first = max(scores, key=lambda law: scores[law], default=None)
    if first is None:  # definitions belong to no Law
        return Material((), clauses)
    books = wordings(book, lang)
    whole = [shown(books, clause.id) for clause in book.clauses if clause.id.law == first]
    return Material(tuple(one.clause for one in whole if one), clauses)


def _draft(
    book: Book, question: Question, laws: tuple[LawCard, ...], state: State, backend: Backend | None, clock: _Clock
) -> Ruling:
    return Ruling(
        question=question.text,
        lang=question.lang,
        book=book.id,
        edition=book.edition,
        status="quote",
        answer="",
        sentences=(),
        cites=(),
        laws=laws,
        ask=(),
        procedure=None,
        then=(),
        state=replace(state, book=book.id, lang=question.lang),
        model=backend.name if backend else NO_MODEL,
        timings=clock.timings(),
    )


def _generated(  # noqa: PLR0913, PLR0917 - all that an answer is made of
    desk: Desk,
    backend: Backend,
    book: Book,
    question: Question,
    earlier: Sequence[str],
    draft: Ruling,
    material: Material,
    clock: _Clock,
    notice: str,
) -> Iterator[Update]:
    asked_at = _ms(clock.started)

    def first_token(seconds: float) -> None:
        clock.model_first_token_ms = round(asked_at + 1000 * seconds, 1)

    text = strings(question.lang)
    sentences: list[Sentence] = []
    try:
        with desk.turns.wait() as places:
            before = 0
            for before in places:
                yield Update(draft, done=False, notice=text["waits"].format(count=before))
            if before:
                yield Update(draft, done=False)  # its turn: the notice goes
            asked_at = _ms(clock.started)
            for sentence in generate(backend, book, material, question.text, earlier, first_token):
                clock.first_token_ms = clock.first_token_ms or _ms(clock.started)
                sentences.append(sentence)
                yield Update(_with(draft, sentences, "ruling"), done=False)
    except BackendError as error:
        if desk.say:
            desk.say(str(error))
        notice = text["cut_off"] if sentences else text["quote_model_failed"]
    if sentences:
        yield _finish(_with(draft, sentences, "ruling"), clock, notice)
    else:
        yield _finish(_quote(draft), clock, notice or text["quote_unverified"])


def _with(draft: Ruling, sentences: Sequence[Sentence], status: Status) -> Ruling:
    cites = tuple(dict.fromkeys(clause_id for sentence in sentences for clause_id in sentence.cites))
    whole = " ".join(sentence.text for sentence in sentences)
    return replace(draft, status=status, answer=whole, sentences=tuple(sentences), cites=cites)


def _quote(draft: Ruling) -> Ruling:
    """The best clauses in the book's own words: what is shown when nothing else can be vouched for."""
    texts = [law for law in draft.laws if law.text]
    quoted: list[LawCard] = []
    for law in texts[:QUOTED_CLAUSES]:
        below = [other for other in texts if ClauseId(law.id) in ClauseId(other.id).ancestors()]
        quoted += [card for card in (law, *(below if law.text.endswith(":") else ())) if card not in quoted]
    return _with(draft, [Sentence(law.text, (law.id,)) for law in quoted], "quote")


def _not_covered(draft: Ruling) -> Ruling:
    sentence = strings(draft.lang)["not_covered"].format(edition=draft.edition)
    return replace(draft, status="not-covered", answer=sentence, laws=draft.laws[:NEAREST_WHEN_NOT_COVERED])


def _finish(ruling: Ruling, clock: _Clock, notice: str = "") -> Update:
    if clock.first_token_ms is None:
        clock.first_token_ms = _ms(clock.started)
    turn = Turn(ruling.question, ruling.answer, ruling.cites)
    state = replace(ruling.state, turns=(*ruling.state.turns, turn))
    return Update(replace(ruling, state=state, timings=clock.timings()), done=True, notice=notice)
