"""What a report says in Markdown, CSV, on the terminal and in its plots."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ir_measures")

from eval import report as module
from eval.expected import Compared, Expected
from eval.metrics import Rate
from eval.report import Line, Report, print_report, write_report
from index.errors import ContractError

HALF = Rate(5, 10, 0.2, 0.8)
MOST = Rate(9, 10, 0.7, 1.0)
SEARCH = {"clause recall@1": HALF, "clause recall@3": HALF, "clause recall@5": MOST, "clause recall@10": MOST}
ANSWERS = {"ruling accuracy": HALF, "seconds to the answer": Rate(30, 10, 2.0, 4.0)}
PNG = b"\x89PNG\r\n\x1a\n"


def judged(verdict: Any) -> Compared:
    return Compared(Expected(system="Tablelaw", part="all", measure="MRR", aim=0.8, accepted=0.7), MOST, verdict)


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.mark.usefixtures("no_matplotlib")
def test_the_markdown_page_has_title_notes_verdicts_and_a_table_for_each_set_of_measures(tmp_path: Path) -> None:
    lines = (
        Line("Tablelaw", "all", {"MRR": HALF, "sets@5": MOST}),
        Line("Tablelaw", "in other words", {"MRR": HALF, "same first law": MOST}),
        Line("BM25 alone", "all", {"MRR": MOST, "sets@5": HALF}),
    )
    write_report(Report("Gold rulings, dev split", lines, (judged("OK"),), ("3 questions are left out.",)), tmp_path)
    assert (
        (tmp_path / "report.md").read_text(encoding="utf-8")
        == f"""# Gold rulings, dev split

{date.today().isoformat()}. Rates are hits/questions = rate [95% bootstrap interval].

3 questions are left out.

| system | questions | measure | measured | aim | verdict |
| --- | --- | --- | --- | --- | --- |
| Tablelaw | all | MRR | 9/10 = 0.900 [0.700, 1.000] | 0.8 | OK |

| system | questions | MRR | sets@5 |
| --- | --- | --- | --- |
| Tablelaw | all | 5/10 = 0.500 [0.200, 0.800] | 9/10 = 0.900 [0.700, 1.000] |
| BM25 alone | all | 9/10 = 0.900 [0.700, 1.000] | 5/10 = 0.500 [0.200, 0.800] |

| system | questions | MRR | same first law |
| --- | --- | --- | --- |
| Tablelaw | in other words | 5/10 = 0.500 [0.200, 0.800] | 9/10 = 0.900 [0.700, 1.000] |
"""
    )


@pytest.mark.usefixtures("no_matplotlib")
def test_nothing_measured_is_a_page_with_its_title_and_a_csv_with_its_head(tmp_path: Path) -> None:
    write_report(Report("Empty", ()), tmp_path / "new" / "folder")
    page = (tmp_path / "new" / "folder" / "report.md").read_text(encoding="utf-8")
    assert page.startswith("# Empty\n\n")
    assert "|" not in page
    assert (tmp_path / "new" / "folder" / "report.csv").read_bytes() == (
        b"system,questions,measure,hits,total,rate,low,high\r\n"
    )


@pytest.mark.usefixtures("no_matplotlib")
def test_the_csv_has_a_row_for_every_rate(tmp_path: Path) -> None:
    lines = (
        Line("Tablelaw, no model", "all", {"MRR": HALF, "citation recall": Rate(2.5, 4, 0.25, 1.0)}),
        Line("Tablelaw, no model", "topic ход", {"MRR": Rate(0.0, 0, 0.0, 0.0)}),
    )
    write_report(Report("Gold", lines), tmp_path)
    with (tmp_path / "report.csv").open(encoding="utf-8", newline="") as rows:
        assert list(csv.reader(rows)) == [
            ["system", "questions", "measure", "hits", "total", "rate", "low", "high"],
            ["Tablelaw, no model", "all", "MRR", "5", "10", "0.5", "0.2", "0.8"],
            ["Tablelaw, no model", "all", "citation recall", "2.5", "4", "0.625", "0.25", "1.0"],
            ["Tablelaw, no model", "topic ход", "MRR", "0.0", "0", "0.0", "0.0", "0.0"],
        ]


def test_rates_are_named_by_system_part_and_measure() -> None:
    made = Report("Gold", (Line("A", "all", {"MRR": HALF}), Line("A", "seats turned", {"MRR": MOST}), Line("B", "all", {})))
    assert made.rates() == {("A", "all", "MRR"): HALF, ("A", "seats turned", "MRR"): MOST}


@pytest.mark.parametrize(
    ("verdicts", "failed"), [((), False), (("OK", "okish"), False), (("FAIL",), True), (("OK", "FAIL", "OK"), True)]
)
def test_a_report_failed_when_one_verdict_is_fail(verdicts: Sequence[str], failed: bool) -> None:
    assert Report("Gold", (), tuple(map(judged, verdicts))).failed is failed


@pytest.mark.usefixtures("no_matplotlib")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ContractError, match=r"^The report cannot be written to .+file \(File exists\); name another --out\.$"):
        write_report(Report("Gold", ()), tmp_path / "file")
    (tmp_path / "out" / "report.csv").mkdir(parents=True)
    with pytest.raises(ContractError, match=r"\(Is a directory\); name another --out\.$"):
        write_report(Report("Gold", ()), tmp_path / "out")


@pytest.mark.usefixtures("no_matplotlib")
def test_without_matplotlib_there_are_no_plots_and_the_rest_is_written(tmp_path: Path) -> None:
    write_report(Report("Gold", (Line("Tablelaw", "all", {**SEARCH, **ANSWERS}),)), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.csv", "report.md"]
    assert "![" not in (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_matplotlib")
def test_a_bar_in_a_name_does_not_part_a_cell(tmp_path: Path) -> None:
    write_report(Report("Gold", (Line("Tablelaw", "topic bids|calls", {"MRR": HALF}),)), tmp_path)
    row = (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()[-1]
    assert row.replace("\\|", "").count("|") == 4


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, ...]]]:
    """The tables printed: the head, then each row."""
    printed: list[list[tuple[str, ...]]] = []

    def table(rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> None:
        printed.append([tuple(columns), *(tuple(row[column] for column in columns) for row in rows)])

    monkeypatch.setattr(module, "print_table", table)
    return printed


def test_the_terminal_shows_the_main_measures_of_each_kind_then_verdicts_and_notes(
    tables: list[list[tuple[str, ...]]], capsys: pytest.CaptureFixture[str]
) -> None:
    search = {"clause recall@5": HALF, "law recall@5": MOST, "all-hit@5": HALF, "MRR": MOST, "clause recall@1": HALF}
    answers = dict.fromkeys(module.SHOWN[1], HALF)
    lines = (
        Line("Tablelaw", "all", search),
        Line("Tablelaw, no model", "all", {**answers, "provenance": MOST}),
        Line("Tablelaw, no model", "seats turned", {"same laws cited": MOST}),
    )
    print_report(Report("Gold", lines, (judged("FAIL"),), ("3 questions are left out.", "Another note.")))
    assert tables == [
        [("system", "questions", *module.SHOWN[0]), ("Tablelaw", "all", str(HALF), str(MOST), str(HALF), str(MOST))],
        [("system", "questions", *module.SHOWN[1]), ("Tablelaw, no model", "all", *[str(HALF)] * 5)],
        [
            ("system", "questions", "measure", "measured", "aim", "verdict"),
            ("Tablelaw", "all", "MRR", str(MOST), "0.8", "FAIL"),
        ],
    ]
    assert capsys.readouterr().out == "3 questions are left out.\nAnother note.\n"


def test_a_kind_that_was_not_measured_is_not_printed(
    tables: list[list[tuple[str, ...]]], capsys: pytest.CaptureFixture[str]
) -> None:
    print_report(Report("Gold", (Line("Tablelaw", "seats turned", {"same laws cited": MOST}),)))
    assert (tables, capsys.readouterr().out) == ([], "")


def test_a_table_reaches_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(Report("Gold", (), (judged("okish"),)))
    out = capsys.readouterr().out
    assert "okish" in out
    assert "verdict" in out


@pytest.mark.parametrize(
    ("lines", "plots"),
    [
        ((Line("Tablelaw", "all", SEARCH),), ["recall.png"]),
        ((Line("Tablelaw, no model", "all", ANSWERS),), ["accuracy.png"]),
        ((Line("Tablelaw", "topic call", SEARCH),), ["topics.png"]),
        (
            (
                Line("Tablelaw", "all", {**SEARCH, **ANSWERS}),
                Line("Tablelaw", "topic call", {**SEARCH, **ANSWERS}),
                Line("Tablelaw", "topic ход", {**SEARCH, **ANSWERS}),
            ),
            ["recall.png", "topics.png", "accuracy.png"],
        ),
        ((Line("Tablelaw", "difficulty easy", SEARCH), Line("Tablelaw", "topic call", {"MRR": HALF})), []),
        ((Line("Tablelaw", "all", {"MRR": HALF}), Line("Another", "topic call", SEARCH)), []),
        ((), []),
    ],
)
def test_a_plot_is_written_where_its_measures_are_there(tmp_path: Path, lines: tuple[Line, ...], plots: list[str]) -> None:
    pytest.importorskip("matplotlib")
    write_report(Report("Gold", lines), tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.png")) == sorted(plots)
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in plots)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("![")]
    assert shown == [f"![{name}]({name})" for name in plots]


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was drawn: label, places, values, and how far each interval goes down and up."""
    axes = pytest.importorskip("matplotlib.axes").Axes
    drawn: list[tuple[Any, ...]] = []
    draw = axes.errorbar

    def errorbar(self: Any, x: Any, y: Any, yerr: Any, **options: Any) -> Any:
        drawn.append((options["label"], list(x), list(y), [[round(value, 6) for value in side] for side in yerr]))
        return draw(self, x, y, yerr=yerr, **options)

    monkeypatch.setattr(axes, "errorbar", errorbar)
    return drawn


def test_the_recall_curve_has_a_line_for_each_system_over_all_questions(tmp_path: Path, bars: list[tuple[Any, ...]]) -> None:
    other = dict.fromkeys(SEARCH, HALF)
    lines = (Line("Tablelaw", "all", SEARCH), Line("Tablelaw", "topic call", other), Line("BM25 alone", "all", other))
    write_report(Report("Gold", lines), tmp_path)
    assert bars == [
        ("Tablelaw", [1, 3, 5, 10], [0.5, 0.5, 0.9, 0.9], [[0.3, 0.3, 0.2, 0.2], [0.3, 0.3, 0.1, 0.1]]),
        ("BM25 alone", [1, 3, 5, 10], [0.5] * 4, [[0.3] * 4, [0.3] * 4]),
    ]


def test_accuracy_stands_over_the_mean_time_and_no_time_is_drawn_at_a_hundredth(
    tmp_path: Path, bars: list[tuple[Any, ...]]
) -> None:
    quick = {"ruling accuracy": MOST, "seconds to the answer": Rate(0.0, 10, 0.0, 0.0)}
    write_report(Report("Gold", (Line("A", "all", ANSWERS), Line("B", "all", quick))), tmp_path)
    assert bars == [("A", [3.0], [0.5], [[0.3], [0.3]]), ("B", [0.01], [0.9], [[0.2], [0.1]])]


def test_the_topics_of_the_first_system_are_told_with_their_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    axes = pytest.importorskip("matplotlib.axes").Axes
    told: list[tuple[int, int, str]] = []
    names: dict[str, list[str]] = {}
    monkeypatch.setattr(axes, "text", lambda self, x, y, text, **options: told.append((x, y, text)))
    for side in ("set_xticks", "set_yticks"):
        monkeypatch.setattr(axes, side, lambda self, ticks, labels, side=side, **options: names.update({side: list(labels)}))
    rates = {"clause recall@5": HALF, "provenance": MOST, "ruling accuracy": Rate(1, 3, 0.0, 1.0)}
    lines = (Line("A", "topic call", rates), Line("A", "topic ход", dict.fromkeys(rates, MOST)), Line("B", "topic call", rates))
    write_report(Report("Gold", lines), tmp_path)
    assert names == {"set_xticks": ["clause recall@5", "ruling accuracy"], "set_yticks": ["call", "ход"]}
    assert told == [(0, 0, "5/10"), (1, 0, "1/3"), (0, 1, "9/10"), (1, 1, "9/10")]
