"""``tablelaw eval``: measure the product on gold rulings and print tables; ``--out`` writes them as Markdown and CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from eval.gold import Gold, Split, of_split, read_gold
from eval.metrics import Rate
from eval.retrieval import SYSTEMS, by, measures, retrieve
from index.embedder import Progress
from index.errors import ContractError
from rag.desk import Desk

SHOWN = ("clause recall@1", "clause recall@5", "clause recall@10", "law recall@5", "sets of clauses@5", "all-hit@5", "MRR")


@dataclass(frozen=True)
class Line:
    """One line of the report: a system, the questions it is measured on, and its measures."""

    system: str
    part: str
    rates: dict[str, Rate]


def evaluate(desk: Desk, files: Sequence[Path], split: Split | None, progress: Progress | None = None) -> tuple[Line, ...]:
    """Measure the search on a split of the bundled gold, or on all of the files given. Raises `ContractError`."""
    gold = read_gold(files) if files else of_split(read_gold(), split or "dev")
    if not any(one.must_cite for one in gold):
        raise ContractError("No gold ruling here names a clause; give another --gold file.")
    found, left_out = retrieve(desk, gold, progress)
    if left_out and desk.say:
        desk.say(f"{left_out} questions are left out: their book is not on this machine (see: tablelaw book import).")
    lines = []
    for system in SYSTEMS:
        mine = [row for row in found if row.system == system]
        lines.append(Line(system, "all", measures(mine)))
        if split != "test":  # of the test split only totals are printed
            for label, key in (("", _book_and_language), ("difficulty ", _difficulty), ("topic ", _topic)):
                lines += [Line(system, f"{label}{part}", measures(rows)) for part, rows in by(mine, key).items()]
        else:
            lines += [Line(system, part, measures(rows)) for part, rows in by(mine, _book_and_language).items()]
    return tuple(lines)


def _book_and_language(gold: Gold) -> str:
    return f"{gold.book}, {gold.lang}"


def _difficulty(gold: Gold) -> str:
    return gold.difficulty


def _topic(gold: Gold) -> str:
    return gold.topic


def write_report(lines: Sequence[Line], folder: Path) -> None:
    """Write ``retrieval.md`` and ``retrieval.csv`` into the folder. Raises `ContractError` when it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            f"| {line.system} | {line.part} | " + " | ".join(str(line.rates[name]) for name in SHOWN) + " |" for line in lines
        ]
        head = f"| system | questions | {' | '.join(SHOWN)} |\n|{'---|' * (len(SHOWN) + 2)}\n"
        note = f"{date.today().isoformat()}; hits/questions = rate [95% bootstrap interval]\n\n"
        (folder / "retrieval.md").write_text(note + head + "\n".join(rows) + "\n", encoding="utf-8")
        with (folder / "retrieval.csv").open("w", encoding="utf-8", newline="") as out:
            table = csv.writer(out)
            table.writerow(["system", "questions", "measure", "hits", "total", "rate", "low", "high"])
            for line in lines:
                for name, value in line.rates.items():
                    table.writerow([line.system, line.part, name, value.hits, value.total, value.value, value.low, value.high])
    except OSError as error:
        raise ContractError(f"The report cannot be written to {folder} ({error.strerror}); name another --out.") from error
