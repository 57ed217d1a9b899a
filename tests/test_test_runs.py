from __future__ import annotations

import csv
from pathlib import Path

import pytest

from eval.metrics import rate
from eval.report import Line, Report
from eval.test_runs import COLUMNS, keep_test_run
from index.errors import ContractError

REPORT = Report(
    "Gold rulings, test split",
    (Line("Tablelaw", "all", {"clause recall@5": rate([1.0, 0.0]), "clause recall@10": rate([1.0, 1.0])}),),
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_each_run_is_appended_with_time_commit_and_the_measures_shown(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    keep_test_run(REPORT, path)
    keep_test_run(REPORT, path)
    found = rows(path)
    assert tuple(found[0]) == COLUMNS
    assert [row["measure"] for row in found] == ["clause recall@5"] * 2
    assert found[0]["figure"].startswith("1/2 = 0.500 [")
    assert found[0]["commit"]


def test_a_run_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="must be kept"):
        keep_test_run(REPORT, tmp_path / "none" / "runs.tsv")
