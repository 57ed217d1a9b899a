"""``tablelaw eval``: measure the product on gold rulings, beside its peers, and compare with what is expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from eval import variants
from eval.answers import Answered, laws_cited
from eval.answers import measures as answer_measures
from eval.asking import ask_all
from eval.expected import compare
from eval.gold import Gold, Split, of_split, read_gold
from eval.metrics import Rate, by_law, rate
from eval.paraphrases import retold
from eval.report import TOPIC, Line, Report
from eval.retrieval import SYSTEMS, Found, by, measures, retrieve
from index.books import DEFAULT_BOOK
from index.embedder import Progress
from index.errors import ContractError
from rag.desk import Desk

Mode = Literal["retrieval", "answers", "all"]
_PARTS: tuple[Callable[[Gold], str], ...] = (
    lambda gold: f"{gold.book}, {gold.lang}",
    lambda gold: f"difficulty {gold.difficulty}",
    lambda gold: f"{TOPIC}{gold.topic}",
)


def evaluate(
    desk: Desk, files: Sequence[Path], split: Split, mode: Mode = "retrieval", progress: Progress | None = None
) -> Report:
    """Measure on a split of the bundled gold, or on all of the files given; of the test split totals only.

    Raises `ContractError` when no question can be measured.
    """
    gold = read_gold(files) if files else of_split(read_gold(), split)
    parts = _PARTS if files or split != "test" else _PARTS[:1]
    lines: list[Line] = []
    notes: list[str] = []
    if mode != "answers":
        found, left_out = retrieve(desk, gold, progress)
        if not found:
            raise ContractError("No gold ruling here names a clause of a book on this machine; give another --gold file.")
        if left_out:
            notes.append(f"{left_out} questions are left out: their book is not on this machine (see: tablelaw book import).")
        lines += [line for system in SYSTEMS for line in _lines(system, [f for f in found if f.system == system], parts)]
        if split != "test" or files:
            lines += _told_otherwise(desk, gold, found, progress)
    if mode != "retrieval":
        answered = ask_all(desk, gold, progress)
        system = f"Tablelaw, {desk.backend.name}" if desk.backend else "Tablelaw, no model"
        lines += answer_lines(system, answered, parts)
        if split != "test" or files:
            lines += _turned(desk, system, answered, progress)
    title = "Gold rulings of one's own" if files else f"Gold rulings, {split} split"
    report = Report(title, tuple(lines), notes=tuple(notes))
    return replace(report, compared=() if files or split != "dev" else compare(report.rates()))


def _lines(system: str, found: Sequence[Found], parts: Sequence[Callable[[Gold], str]]) -> list[Line]:
    lines = [Line(system, "all", measures(found))]
    for key in parts:
        lines += [Line(system, part, measures(rows)) for part, rows in by(found, key).items()]
    return lines


def answer_lines(system: str, answered: Sequence[Answered], parts: Sequence[Callable[[Gold], str]] = ()) -> list[Line]:
    """The measures of one system's answers, over all questions and by the parts they fall into."""
    lines = [Line(system, "all", answer_measures(answered))]
    for key in parts:
        for part in sorted({key(one.gold) for one in answered}):
            lines.append(Line(system, part, answer_measures([one for one in answered if key(one.gold) == part])))
    return lines


def _told_otherwise(desk: Desk, gold: Sequence[Gold], found: Sequence[Found], progress: Progress | None) -> list[Line]:
    """The same questions told otherwise: recall, and how often the first law stays the same."""
    first = {row.gold.id: _first_law(row) for row in found if row.system == SYSTEMS[0]}
    asked = [one for one in gold if one.must_cite and one.book == DEFAULT_BOOK and one.id in first]
    told: Mapping[str, list[Gold]] = {
        "seats turned": _changed(asked, variants.turned),
        "heavy typing mistakes": _changed(asked, variants.mistyped),
        "Russian in Latin letters": _changed([one for one in asked if one.lang == "ru"], variants.in_latin),
        "in other words": retold(asked, "paraphrase"),
        "in the other language": retold(asked, "translation"),
    }
    lines = []
    for name, questions in told.items():
        rows, _ = retrieve(desk, questions, progress, with_peers=False)
        if rows:
            same = rate([float(_first_law(row) == first[row.gold.id]) for row in rows])
            lines.append(Line(SYSTEMS[0], name, {**measures(rows), "same first law": same}))
    return lines


def _changed(gold: Sequence[Gold], change: Callable[[str], str]) -> list[Gold]:
    """The questions that the change makes different."""
    return [one.model_copy(update={"question": change(one.question)}) for one in gold if change(one.question) != one.question]


def _first_law(row: Found) -> object:
    return next(iter(by_law(row.ranked)), None)


def _turned(desk: Desk, system: str, answered: Sequence[Answered], progress: Progress | None) -> list[Line]:
    """Whether an answer cites the same laws when the seats are turned by one."""
    if desk.backend:  # the model would write every answer anew; its citing is measured by the others
        return []
    before = {one.gold.id: laws_cited(one.answer) for one in answered}
    turned = ask_all(desk, _changed([one.gold for one in answered], variants.turned), progress)
    same: dict[str, Rate] = {"same laws cited": rate([float(laws_cited(one.answer) == before[one.gold.id]) for one in turned])}
    return [Line(system, "seats turned", same)]
