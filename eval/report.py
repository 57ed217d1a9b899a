"""Write what was measured: a Markdown page, a CSV file, and plots as PNG."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from eval.expected import Compared
from eval.metrics import CUTS, Rate
from index.errors import ContractError
from rag.terminal import print_table

TOPIC = "topic "
"""Parts that begin so are the questions of one topic."""
SHOWN = (
    ("clause recall@5", "law recall@5", "all-hit@5", "MRR"),
    ("ruling accuracy", "citation precision", "missing facts asked", "premature rulings", "refusal recall"),
)
"""The measures printed on the terminal, of search and of answers; the written report has all."""
COMPARED = ("system", "questions", "measure", "measured", "aim", "verdict")


@dataclass(frozen=True)
class Line:
    """A system, the questions it is measured on, and its measures."""

    system: str
    part: str
    rates: dict[str, Rate]


@dataclass(frozen=True)
class Report:
    """All lines of a run; ``title`` says what was run, ``notes`` what a reader must know (questions that were left out)."""

    title: str
    lines: tuple[Line, ...]
    compared: tuple[Compared, ...] = ()
    notes: tuple[str, ...] = ()

    def rates(self) -> dict[tuple[str, str, str], Rate]:
        """Every rate by (system, part, measure)."""
        return {(line.system, line.part, name): rate for line in self.lines for name, rate in line.rates.items()}

    @property
    def failed(self) -> bool:
        """Whether something got worse than what was accepted."""
        return any(one.verdict == "FAIL" for one in self.compared)


def write_report(report: Report, folder: Path) -> None:
    """Write ``report.md``, ``report.csv`` and the plots. Raises `ContractError` when the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        plots = _plots(report, folder)
        (folder / "report.md").write_text(_markdown(report, plots), encoding="utf-8")
        with (folder / "report.csv").open("w", encoding="utf-8", newline="") as out:
            table = csv.writer(out)
            table.writerow(["system", "questions", "measure", "hits", "total", "rate", "low", "high"])
            for (system, part, name), rate in report.rates().items():
                table.writerow([system, part, name, rate.hits, rate.total, rate.value, rate.low, rate.high])
    except OSError as error:
        raise ContractError(f"The report cannot be written to {folder} ({error.strerror}); name another --out.") from error


def print_report(report: Report) -> None:
    """The main measures on the terminal: one table a kind, then what was expected."""
    for names in SHOWN:
        rows = [
            {"system": line.system, "questions": line.part, **{name: str(line.rates[name]) for name in names}}
            for line in report.lines
            if set(names) <= set(line.rates)
        ]
        if rows:
            print_table(rows, ("system", "questions", *names))
    if report.compared:
        print_table(_compared(report), COMPARED)
    for note in report.notes:
        print(note)


def _compared(report: Report) -> list[dict[str, str]]:
    rows = [
        (one.expected.system, one.expected.part, one.expected.measure, str(one.rate), f"{one.expected.aim:g}", one.verdict)
        for one in report.compared
    ]
    return [dict(zip(COMPARED, row, strict=True)) for row in rows]


def _markdown(report: Report, plots: Sequence[str]) -> str:
    parts = [f"# {report.title}", f"{date.today().isoformat()}. Rates are hits/questions = rate [95% bootstrap interval]."]
    parts += report.notes
    if report.compared:
        parts.append(_table(COMPARED, [tuple(row.values()) for row in _compared(report)]))
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in report.lines:
        groups.setdefault(tuple(line.rates), []).append(line)
    for names, lines in groups.items():
        table = [(line.system, line.part, *(str(line.rates[name]) for name in names)) for line in lines]
        parts.append(_table(("system", "questions", *names), table))
    parts += [f"![{name}]({name})" for name in plots]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = ([cell.replace("|", "\\|") for cell in row] for row in (head, ["---"] * len(head), *rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _plots(report: Report, folder: Path) -> list[str]:
    try:
        import matplotlib as mpl
    except ImportError:
        return []
    mpl.use("Agg")
    made = (_recall_curve(report, folder), _topics(report, folder), _accuracy_and_time(report, folder))
    return [name for name in made if name]


def _recall_curve(report: Report, folder: Path) -> str:
    lines = [line for line in report.lines if line.part == "all" and f"clause recall@{CUTS[0]}" in line.rates]
    if not lines:
        return ""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for line in lines:
        rates = [line.rates[f"clause recall@{k}"] for k in CUTS]
        spread = [[r.value - r.low for r in rates], [r.high - r.value for r in rates]]
        axes.errorbar(CUTS, [r.value for r in rates], yerr=spread, marker="o", capsize=3, label=line.system)
    axes.set(xlabel="clauses looked at", ylabel="a deciding clause is among them", ylim=(0, 1), xticks=CUTS)
    axes.legend()
    figure.savefig(folder / "recall.png", dpi=110)
    return "recall.png"


def _topics(report: Report, folder: Path) -> str:
    lines = [line for line in report.lines if line.part.startswith(TOPIC) and line.system == report.lines[0].system]
    names = [name for name in (lines[0].rates if lines else ()) if "@" in name or "accuracy" in name]
    if not lines or not names:
        return ""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 + 0.75 * len(names), 1.5 + 0.3 * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.imshow(np.array([[line.rates[name].value for name in names] for line in lines]), cmap="RdYlGn", vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(lines)), [line.part.removeprefix(TOPIC) for line in lines])
    for row, line in enumerate(lines):
        for column, name in enumerate(names):
            rate = line.rates[name]
            axes.text(column, row, f"{rate.hits:g}/{rate.total}", ha="center", va="center", fontsize=7)
    figure.savefig(folder / "topics.png", dpi=110)
    return "topics.png"


def _accuracy_and_time(report: Report, folder: Path) -> str:
    lines = [line for line in report.lines if line.part == "all" and "seconds to the answer" in line.rates]
    if not lines:
        return ""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for line in lines:
        accuracy, seconds = line.rates["ruling accuracy"], line.rates["seconds to the answer"]
        spread = [[accuracy.value - accuracy.low], [accuracy.high - accuracy.value]]
        axes.errorbar([max(seconds.value, 0.01)], [accuracy.value], yerr=spread, marker="o", capsize=3, label=line.system)
    axes.set(xlabel="seconds to the whole answer, mean", ylabel="ruling accuracy", ylim=(0, 1), xscale="log")
    axes.legend()
    figure.savefig(folder / "accuracy.png", dpi=110)
    return "accuracy.png"
